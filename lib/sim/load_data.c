/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Contents of packets. The first eight bytes are the time at which the packet
 * was made (if it is long enough); the rest follows from its key
 * (rl_content.h).
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

void
load_fill(void *ctx, uint8_t *to, uint32_t off, uint32_t len)
{
	const struct load_packet *p = ctx;
	const uint32_t first = off == 0 && len >= 8 ? 8 : 0;

	if (p->bytes != NULL) {
		memcpy(to, p->bytes + off, len);
		return;
	}
	memcpy(to, &p->made_ns, first);
	rl_content_fill(p->key, to + first, off + first, len - first);
}

bool
load_same(const struct load_packet *p, const uint8_t *data, uint32_t off,
	  uint32_t len)
{
	const uint32_t first = off == 0 && len >= 8 ? 8 : 0;

	if (p->bytes != NULL)
		return memcmp(data, p->bytes + off, len) == 0;
	return rl_content_same(p->key, data + first, off + first, len - first);
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
load_time_take(struct load_times *t, uint32_t tag)
{
	if (tag - t->first >= t->next - t->first)
		return RL_NEVER;
	t->first = tag + 1;
	return t->ns[tag & t->mask];
}
