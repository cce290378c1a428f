/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a packet holds. The first eight bytes are the time of its making (where
 * it is long enough); the rest are words of a counter-mode generator, so that
 * any part can be made without the parts before it.
 */

#include <stdlib.h>
#include <string.h>

#include "load_priv.h"

static uint64_t
mix(uint64_t x)
{
	return rl_splitmix64(&x);
}

void
load_packet_of(const struct rl_sim_load *load, uint16_t src, uint16_t dst,
	       uint8_t cos, uint32_t tag, struct load_packet *p)
{
	const struct rl_sim_load_cfg *c = &load->cfg;
	const uint64_t name = (uint64_t)src << 48 | (uint64_t)dst << 32 | tag;
	uint32_t flits, spread = c->max_flits - c->min_flits + 1;

	p->key = mix(mix(c->seed + cos) ^ name);
	flits = c->min_flits + (uint32_t)((p->key & 0xffffff) % spread);
	p->len_bytes = flits * RL_FLIT_DATA_BYTES;
	/* the last flit is often not full */
	if (p->key >> 24 & 1)
		p->len_bytes -=
			(uint32_t)(p->key >> 25 & 0xff) % RL_FLIT_DATA_BYTES;
	p->class = c->classes ? (uint8_t)((p->key >> 40 & 0xff) % 3)
			      : RL_CLASS_REQ_POSTED;
	p->made_ns = 0;
	p->bytes = NULL;
	if (c->trace != NULL) {
		const uint32_t i = tag % c->trace->n;

		p->bytes = c->trace->data + c->trace->off[i];
		p->len_bytes = (uint32_t)(c->trace->off[i + 1] -
					  c->trace->off[i]);
	}
}

static inline uint64_t
word(const struct load_packet *p, uint32_t i)
{
	uint64_t z = p->key + (i + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93ull;
	return z ^ (z >> 32);
}

void
load_fill(void *ctx, uint8_t *to, uint32_t off, uint32_t len)
{
	const struct load_packet *p = ctx;
	uint32_t i = 0;
	uint64_t w;

	if (p->bytes != NULL) {
		memcpy(to, p->bytes + off, len);
		return;
	}
	/* off is a multiple of 224, and so of 8 */
	if (off == 0 && len >= 8) {
		memcpy(to, &p->made_ns, 8);
		i = 8;
	}
	for (; i + 8 <= len; i += 8) {
		w = word(p, (off + i) / 8);
		memcpy(to + i, &w, 8);
	}
	if (i < len) {
		w = word(p, (off + i) / 8);
		memcpy(to + i, &w, len - i);
	}
}

bool
load_same(const struct load_packet *p, const uint8_t *data, uint32_t off,
	  uint32_t len)
{
	uint32_t i = off == 0 && len >= 8 ? 8 : 0;
	uint64_t diff = 0, w;

	if (p->bytes != NULL)
		return memcmp(data, p->bytes + off, len) == 0;
	for (; i + 8 <= len; i += 8) {
		memcpy(&w, data + i, 8);
		diff |= w ^ word(p, (off + i) / 8);
	}
	if (i < len) {
		w = word(p, (off + i) / 8);
		diff |= (uint64_t)memcmp(data + i, &w, len - i);
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
		t->first = t->next = flow->sent;
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
