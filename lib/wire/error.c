/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "rl_error.h"

/* The sum of a position and a distance drawn stays far below 2^64. */
#define FAR (UINT64_MAX / 4)

/** log(1 - p) of a process; 0 if it is off. */
static double
log_miss(double p)
{
	return p >= 1.0 ? -INFINITY : log1p(-p);
}

/** How many trials pass before the next hit. */
static uint64_t
draw_gap(struct rl_prng *prng, double log_miss_p)
{
	/* (0, 1]: the logarithm is finite */
	const double u = 1.0 - rl_prng_double(prng);
	double n;

	if (log_miss_p == 0.0)
		return UINT64_MAX;
	n = log(u) / log_miss_p; /* u == 1 and certain: -0, none */
	return n < (double)FAR ? (uint64_t)n : FAR;
}

/** Advances a position by one and a gap; UINT64_MAX stays. */
static uint64_t
draw_next(struct rl_prng *prng, uint64_t from, double log_miss_p)
{
	const uint64_t gap = draw_gap(prng, log_miss_p);

	return gap == UINT64_MAX || from > UINT64_MAX - gap ? UINT64_MAX
							     : from + gap;
}

static uint64_t
span_bits(const struct rl_error *e)
{
	return 8ull * e->cfg.span_bytes;
}

static void
find_next(struct rl_error *e)
{
	uint64_t next = rl_min_u64(e->burst_next, e->drop_next);

	if (e->bit_next != UINT64_MAX)
		next = rl_min_u64(next, e->bit_next / span_bits(e));
	if (e->carried > 0)
		next = e->now;
	e->next = next;
}

void
rl_error_cfg_defaults(struct rl_error_cfg *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->lanes = 1;
	cfg->burst_min_bytes = 1;
	cfg->burst_max_bytes = 1;
	cfg->span_bytes = RL_ERROR_SPAN_MAX;
}

void
rl_error_init(struct rl_error *e, const struct rl_error_cfg *cfg, uint64_t seed)
{
	memset(e, 0, sizeof(*e));
	e->cfg = *cfg;
	rl_prng_seed(&e->prng, seed);
	e->bit_log = log_miss(cfg->bit_rate);
	e->prop_log = log_miss(1.0 - cfg->propagate);
	e->burst_log = log_miss(cfg->burst_rate);
	e->drop_log = log_miss(cfg->drop_rate);
	e->bit_next = draw_next(&e->prng, 0, e->bit_log);
	e->burst_next = draw_next(&e->prng, 0, e->burst_log);
	e->drop_next = draw_next(&e->prng, 0, e->drop_log);
	find_next(e);
}

/**
 * @p n wrong bits on @p lane from bit @p b of its share of the flit on; bits
 * past the flit's end hit the next one.
 */
static void
run_along_lane(struct rl_error *e, uint8_t *mask, uint32_t lane, uint32_t b,
	       uint32_t n)
{
	const uint32_t lane_bits = 8 * e->cfg.span_bytes / e->cfg.lanes;

	for (; n > 0 && b < lane_bits; n--, b++)
		mask[(b >> 3) * e->cfg.lanes + lane] |=
			(uint8_t)(1u << (b & 7));
	/* of two bursts on one lane the longer one goes on */
	if (n > e->carry[lane]) {
		e->carried += e->carry[lane] == 0;
		e->carry[lane] = n;
	}
}

/** Length of the burst after a first error, by repeated draws. */
static uint32_t
burst_tail(struct rl_error *e)
{
	uint64_t n;

	if (e->cfg.propagate == 0.0)
		return 0;
	n = draw_gap(&e->prng, e->prop_log);
	return n > 8 * RL_ERROR_SPAN_MAX ? 8 * RL_ERROR_SPAN_MAX : (uint32_t)n;
}

static void
bit_errors(struct rl_error *e, uint8_t *mask)
{
	const uint64_t first = e->now * span_bits(e);

	/* a lane uses only its own carry: new carries are for the next flit */
	for (uint32_t lane = 0; e->carried > 0 && lane < e->cfg.lanes; lane++) {
		const uint32_t n = e->carry[lane];

		if (n == 0)
			continue;
		e->carry[lane] = 0;
		e->carried--;
		run_along_lane(e, mask, lane, 0, n);
	}
	while (e->bit_next != UINT64_MAX && e->bit_next - first < span_bits(e)) {
		const uint32_t bit = (uint32_t)(e->bit_next - first);
		const uint32_t byte = bit >> 3;

		run_along_lane(e, mask, byte % e->cfg.lanes,
			       (byte / e->cfg.lanes) * 8 + (bit & 7),
			       1 + burst_tail(e));
		e->bit_next = draw_next(&e->prng, e->bit_next + 1, e->bit_log);
	}
}

static void
byte_burst(struct rl_error *e, uint8_t *mask)
{
	const struct rl_error_cfg *c = &e->cfg;
	const uint32_t n = (uint32_t)rl_prng_range(
		&e->prng, c->burst_min_bytes, c->burst_max_bytes);
	const uint32_t at = rl_prng_below(&e->prng, c->span_bytes - n + 1);

	for (uint32_t i = 0; i < n; i++)
		mask[at + i] = (uint8_t)(1 + rl_prng_below(&e->prng, 255));
}

static struct rl_error_hit
apply(const struct rl_error *e, const uint8_t *mask, uint8_t *wire)
{
	struct rl_error_hit hit = { false, 0, 0 };

	for (uint32_t i = 0; i < e->cfg.span_bytes; i++) {
		if (mask[i] == 0)
			continue;
		wire[i] ^= mask[i];
		hit.bytes++;
		hit.bits += (uint32_t)__builtin_popcount(mask[i]);
	}
	return hit;
}

struct rl_error_hit
rl_error_strike(struct rl_error *e, uint8_t *wire)
{
	uint8_t mask[RL_ERROR_SPAN_MAX];
	struct rl_error_hit hit;

	RL_ASSERT(e->now == e->next);
	memset(mask, 0, e->cfg.span_bytes);
	if (e->burst_next == e->now) {
		byte_burst(e, mask);
		e->burst_next = draw_next(&e->prng, e->now + 1, e->burst_log);
	}
	bit_errors(e, mask);
	if (e->drop_next == e->now) {
		e->drop_next = draw_next(&e->prng, e->now + 1, e->drop_log);
		hit = (struct rl_error_hit){ true, 0, 0 };
	} else {
		hit = apply(e, mask, wire);
		RL_DASSERT(hit.bits > 0);
	}
	e->now++;
	find_next(e);
	return hit;
}
