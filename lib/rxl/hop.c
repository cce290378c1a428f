/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "hop.h"

void
rxl_hops_init(struct rxl_hops *h, const struct rl_rxl_trial_cfg *cfg,
	      const struct rl_codec *codec)
{
	uint64_t seed = cfg->seed;

	RL_ASSERT(cfg->levels <= RL_RXL_LEVELS_MAX);
	RL_ASSERT(cfg->wire.span_bytes <= RL_FLIT_BYTES);
	RL_ASSERT(cfg->inside.span_bytes <= RL_FLIT_FEC_OFF);
	memset(h, 0, sizeof(*h));
	h->codec = codec;
	h->levels = cfg->levels;
	for (unsigned int i = 0; i <= cfg->levels; i++)
		rl_error_init(&h->wire[i], &cfg->wire, rl_splitmix64(&seed));
	for (unsigned int i = 0; i < cfg->levels; i++)
		rl_error_init(&h->inside[i], &cfg->inside,
			      rl_splitmix64(&seed));
}

uint64_t
rxl_hops_clean_run(const struct rxl_hops *h)
{
	uint64_t n = rl_error_clean_run(&h->wire[h->levels]);

	for (unsigned int i = 0; i < h->levels; i++) {
		n = rl_min_u64(n, rl_error_clean_run(&h->wire[i]));
		n = rl_min_u64(n, rl_error_clean_run(&h->inside[i]));
	}
	return n;
}

void
rxl_hops_skip(struct rxl_hops *h, uint64_t n)
{
	for (unsigned int i = 0; i <= h->levels; i++) {
		rl_error_skip(&h->wire[i], n);
		h->link[i].flits += n;
	}
	for (unsigned int i = 0; i < h->levels; i++)
		rl_error_skip(&h->inside[i], n);
}

/** FEC of a node, in place, as its port does it. */
static enum rl_fec_status
fec(const struct rxl_hops *h, uint8_t *wire)
{
	uint8_t in[RL_FLIT_BYTES] RL_ALIGNED(RL_CACHE_LINE);
	const uint8_t *src[1] = { in };
	uint8_t *dst[1] = { wire };
	uint8_t status;

	memcpy(in, wire, sizeof(in));
	rl_codec_hop(h->codec, src, dst, 1, &status);
	return (enum rl_fec_status)status;
}

/**
 * A flit that link @p i hits: counts what the FEC behind it makes of it.
 * @p sent is the flit as it was put on the link.
 */
static enum rl_fec_status
judge(struct rxl_hops *h, unsigned int i, uint8_t *wire, const uint8_t *sent)
{
	struct rl_rxl_link_tally *t = &h->link[i];
	const enum rl_fec_status status = fec(h, wire);

	t->hit++;
	if (status == RL_FEC_BAD)
		t->detected++;
	else if (memcmp(wire, sent, RL_FLIT_BYTES) == 0)
		t->corrected++;
	else
		t->missed++;
	return status;
}

/** Link @p i hits the flit. */
static enum rxl_fate
strike(struct rxl_hops *h, unsigned int i, uint8_t *wire)
{
	uint8_t sent[RL_FLIT_BYTES], received[RL_FLIT_BYTES];
	enum rl_fec_status status;
	enum rxl_fate fate;

	memcpy(sent, wire, sizeof(sent));
	if (rl_error_strike(&h->wire[i], wire).dropped) {
		h->link[i].lost++;
		return RXL_LOST;
	}
	memcpy(received, wire, sizeof(received));
	status = judge(h, i, wire, sent);
	fate = memcmp(wire, sent, sizeof(sent)) == 0 ? RXL_RIGHT : RXL_WRONG;
	if (i == h->levels)
		/* the destination has an FEC of its own */
		memcpy(wire, received, sizeof(received));
	else if (status == RL_FEC_BAD)
		fate = RXL_DROPPED;
	return fate;
}

/** Switch @p i + 1: what it alters it forwards with a new FEC. */
static bool
inside(struct rxl_hops *h, unsigned int i, uint8_t *wire)
{
	if (rl_likely(rl_error_pass(&h->inside[i])))
		return false;
	if (rl_error_strike(&h->inside[i], wire).dropped)
		return false; /* not a thing that switches do silently */
	h->hurt_inside++;
	rl_codec_fec_encode(h->codec, wire);
	return true;
}

enum rxl_fate
rxl_hops_cross(struct rxl_hops *h, uint8_t *wire, unsigned int *where)
{
	enum rxl_fate fate = RXL_INTACT;

	*where = 0;
	for (unsigned int i = 0; i <= h->levels; i++) {
		h->link[i].flits++;
		if (rl_unlikely(!rl_error_pass(&h->wire[i]))) {
			const enum rxl_fate f = strike(h, i, wire);

			if (f == RXL_DROPPED || f == RXL_LOST) {
				*where = i + (f == RXL_DROPPED);
				return f;
			}
			/* wrong once is wrong for good */
			if (fate != RXL_WRONG)
				fate = f;
		} else if (h->every_hop && i < h->levels) {
			RL_ASSERT(fec(h, wire) == RL_FEC_CLEAN);
		}
		if (i < h->levels && inside(h, i, wire))
			fate = RXL_WRONG;
	}
	return fate;
}
