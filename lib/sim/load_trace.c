/* SPDX-License-Identifier: BSD-3-Clause */

/* The packets of a trace. */

#include <stdlib.h>
#include <string.h>

#include "load_priv.h"

/* @return the frame that is packet @p number */
static const uint8_t *
frame_of(const struct rl_sim_trace *trace, uint32_t number, uint32_t *len_bytes)
{
	const uint64_t *const off = &trace->off[number % trace->n];

	*len_bytes = (uint32_t)(off[1] - off[0]);
	return trace->data + off[0];
}

int
load_give_frame(const struct rl_sim_trace *trace, struct rl_ep *ep,
		struct rl_stamp *s, uint64_t now_ns, uint32_t *tag)
{
	const uint8_t *const frame = frame_of(trace, s->number, &s->len_bytes);
	const struct rl_ep_msg msg = { s->dst, s->cos, s->class, s->len_bytes };

	return rl_ep_send(ep, now_ns, &msg, frame, tag);
}

bool
load_same_frame(const struct rl_sim_trace *trace, const struct rl_flit *pkt,
		uint32_t number)
{
	uint32_t left;
	const uint8_t *bytes = frame_of(trace, number, &left);

	if (rl_ep_len_bytes(pkt) != left)
		return false;
	for (const struct rl_flit *f = pkt; left > 0; f = f->next) {
		const uint32_t n = rl_min_u32(left, RL_FLIT_DATA_BYTES);

		if (memcmp(f->wire + RL_FLIT_DATA_OFF, bytes, n) != 0)
			return false;
		bytes += n;
		left -= n;
	}
	return true;
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
