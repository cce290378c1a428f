/* SPDX-License-Identifier: BSD-3-Clause */

/* The packets of a trace. */

#include <stdlib.h>

#include "load_priv.h"

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
