/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Length and class of packets follow from the seed and their name; contents are
 * stamps (rl_stamp.h), or frames of a trace.
 */

#include <stdlib.h>

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
load_draw(const struct rl_sim_load *load, const struct load_flow *flow,
	  struct rl_stamp *s)
{
	const struct rl_sim_load_cfg *c = &load->cfg;
	const uint64_t name = (uint64_t)s->src << 48 | (uint64_t)s->dst << 32 |
			      (s->number - flow->first);
	const uint64_t key = mix(
		mix(c->seed + s->cos + ((uint64_t)flow->life << 32)) ^ name);
	const uint32_t spread = c->max_flits - c->min_flits + 1;
	const uint32_t flits = c->min_flits + (uint32_t)(key & 0xffffff) % spread;

	s->len_bytes = flits * RL_FLIT_DATA_BYTES;
	/* the last flit is often not full */
	if (key >> 24 & 1)
		s->len_bytes = rl_max_u32(
			s->len_bytes - (uint32_t)(key >> 25 & 0xff) %
					       RL_FLIT_DATA_BYTES,
			RL_STAMP_BYTES);
	s->class = class_of(c, key, s->cos);
}

const uint8_t *
load_frame(const struct rl_sim_trace *trace, uint32_t number,
	   uint32_t *len_bytes)
{
	const uint64_t *const off = &trace->off[number % trace->n];

	*len_bytes = (uint32_t)(off[1] - off[0]);
	return trace->data + off[0];
}

void
load_time_put(struct load_times *t, uint64_t made_ns)
{
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
load_time_take(struct load_times *t, uint32_t number)
{
	if (number - t->first >= t->next - t->first)
		return RL_NEVER;
	t->first = number + 1;
	return t->ns[number & t->mask];
}
