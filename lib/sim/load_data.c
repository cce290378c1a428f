/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Contents of packets. The first eight bytes are the time at which the packet
 * was made (if it is long enough); the rest are words of a counter-mode
 * generator, so that any part can be computed without the parts before it.
 */

#include <stdlib.h>
#include <string.h>

#include "load_priv.h"

static uint64_t
mix(uint64_t x)
{
	return rl_splitmix64(&x);
}

static uint8_t
class_of(const struct rl_sim_load_cfg *c, uint64_t key, uint8_t cos)
{
	static const uint8_t of_kind[] = {
		[RL_KIND_POSTED] = RL_CLASS_REQ_POSTED,
		[RL_KIND_REQUEST] = RL_CLASS_REQ_NONPOSTED,
		[RL_KIND_RESPONSE] = RL_CLASS_RSP,
	};

	if (c->by_kind)
		return of_kind[cos];
	return (uint32_t)(key >> 33) % 1000000 < c->requests_ppm
		       ? RL_CLASS_REQ_NONPOSTED
		       : RL_CLASS_REQ_POSTED;
}

void
load_packet_of(const struct rl_sim_load *load, uint16_t src, uint16_t dst,
	       uint8_t cos, uint32_t tag, uint32_t life, struct load_packet *p)
{
	const struct rl_sim_load_cfg *c = &load->cfg;
	const uint64_t name = (uint64_t)src << 48 | (uint64_t)dst << 32 | tag;
	uint32_t flits, spread = c->max_flits - c->min_flits + 1;

	p->key = mix(mix(c->seed + cos + ((uint64_t)life << 32)) ^ name);
	flits = c->min_flits + (uint32_t)((p->key & 0xffffff) % spread);
	p->len_bytes = flits * RL_FLIT_DATA_BYTES;
	/* the last flit is often not full */
	if (p->key >> 24 & 1)
		p->len_bytes -=
			(uint32_t)(p->key >> 25 & 0xff) % RL_FLIT_DATA_BYTES;
	p->class = class_of(c, p->key, cos);
	p->made_ns = 0;
	p->bytes = NULL;
	if (c->trace != NULL) {
		const uint32_t i = tag % c->trace->n;

		p->bytes = c->trace->data + c->trace->off[i];
		p->len_bytes = (uint32_t)(c->trace->off[i + 1] -
					  c->trace->off[i]);
	}
}

/*
 * Every byte of a run is generated once and compared once, so the loops over
 * whole words exist twice: the second one uses wide registers.
 */
#define LOAD_INLINE static inline __attribute__((always_inline))

LOAD_INLINE uint64_t
word(uint64_t key, uint32_t i)
{
	uint64_t z = key + (i + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93ull;
	return z ^ (z >> 32);
}

/* Words @p from .. from + n - 1. */
LOAD_INLINE void
fill_words(uint8_t *to, uint64_t key, uint32_t from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t w = word(key, from + i);

		memcpy(to + 8 * (size_t)i, &w, 8);
	}
}

/* @return the bits that differ */
LOAD_INLINE uint64_t
differ_words(const uint8_t *data, uint64_t key, uint32_t from, uint32_t n)
{
	uint64_t diff = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t w;

		memcpy(&w, data + 8 * (size_t)i, 8);
		diff |= w ^ word(key, from + i);
	}
	return diff;
}

#if defined(__x86_64__)

#define LOAD_WIDE __attribute__((target("avx512f,avx512dq,avx512vl")))

static inline bool
has_wide(void)
{
	return __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl");
}

#else

#define LOAD_WIDE

static inline bool
has_wide(void)
{
	return false;
}

#endif

LOAD_WIDE static void
fill_wide(uint8_t *to, uint64_t key, uint32_t from, uint32_t n)
{
	fill_words(to, key, from, n);
}

LOAD_WIDE static uint64_t
differ_wide(const uint8_t *data, uint64_t key, uint32_t from, uint32_t n)
{
	return differ_words(data, key, from, n);
}

void
load_fill(void *ctx, uint8_t *to, uint32_t off, uint32_t len)
{
	const struct load_packet *p = ctx;
	/* off is a multiple of 224, and so of 8 */
	const uint32_t first = off == 0 && len >= 8, n = len / 8;

	if (p->bytes != NULL) {
		memcpy(to, p->bytes + off, len);
		return;
	}
	if (first)
		memcpy(to, &p->made_ns, 8);
	if (has_wide())
		fill_wide(to + 8 * first, p->key, off / 8 + first, n - first);
	else
		fill_words(to + 8 * first, p->key, off / 8 + first, n - first);
	if (len % 8 != 0) {
		const uint64_t w = word(p->key, off / 8 + n);

		memcpy(to + 8 * n, &w, len % 8);
	}
}

bool
load_same(const struct load_packet *p, const uint8_t *data, uint32_t off,
	  uint32_t len)
{
	const uint32_t first = off == 0 && len >= 8, n = len / 8;
	uint64_t diff;

	if (p->bytes != NULL)
		return memcmp(data, p->bytes + off, len) == 0;
	diff = has_wide() ? differ_wide(data + 8 * first, p->key,
					off / 8 + first, n - first)
			  : differ_words(data + 8 * first, p->key,
					 off / 8 + first, n - first);
	if (len % 8 != 0) {
		const uint64_t w = word(p->key, off / 8 + n);

		diff |= (uint64_t)memcmp(data + 8 * n, &w, len % 8);
	}
	return diff == 0;
}

void
load_time_put(struct load_flow *flow, uint64_t made_ns)
{
	struct load_times *t = flow->times;

	if (t == NULL) {
		t = flow->times = calloc(1, sizeof(*t));
		if (t == NULL)
			return;
		t->first = t->next = load_sent(flow);
	}
	if (t->ns == NULL || t->next - t->first == t->mask + 1) {
		const uint32_t n = t->ns == NULL ? 16 : 2 * (t->mask + 1);
		uint64_t *more = malloc(n * sizeof(*more));

		if (more == NULL)
			return;
		for (uint32_t i = t->first; i != t->next; i++)
			more[i & (n - 1)] = t->ns[i & t->mask];
		free(t->ns);
		t->ns = more;
		t->mask = n - 1;
	}
	t->ns[t->next++ & t->mask] = made_ns;
}

uint64_t
load_time_take(struct load_flow *flow, uint32_t tag)
{
	struct load_times *t = flow->times;

	if (t == NULL || tag - t->first >= t->next - t->first)
		return RL_NEVER;
	t->first = tag + 1;
	return t->ns[tag & t->mask];
}
