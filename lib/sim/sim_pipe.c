/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Pipes: rings that grow with what is in them, up to the size that the fabric
 * asked for. What does not fit is refused, as a real ring would, and the role
 * that puts it traps: the size was wrong.
 */

#include <string.h>

#include "sim_priv.h"

#define PIPE_FIRST 16

static bool
pipe_grow(struct sim_pipe *sp)
{
	const uint32_t old = sp->mask + 1, n = sp->tail - sp->head;
	void **slot = sim_alloc(sp->sim->mem, 2 * old * sizeof(*slot));

	if (slot == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++)
		slot[i] = sp->slot[(sp->head + i) & sp->mask];
	sp->slot = slot; /* the old one goes with the run's memory */
	sp->mask = 2 * old - 1;
	sp->head = 0;
	sp->tail = n;
	return true;
}

static unsigned int
pipe_put(void *ring, void *const obj[], unsigned int n)
{
	struct sim_pipe *sp = ring;

	n = rl_min_u32(n, sp->limit - (sp->tail - sp->head));
	while (sp->tail - sp->head + n > sp->mask + 1)
		if (!pipe_grow(sp))
			return 0;
	for (unsigned int i = 0; i < n; i++)
		sp->slot[sp->tail++ & sp->mask] = obj[i];
	sim_wake(sp->sim, sp->consumer);
	if (n >= 32) /* a full burst: there may be more */
		sp->sim->role[sp->producer].again = true;
	return n;
}

static unsigned int
pipe_get(void *ring, void *obj[], unsigned int n)
{
	struct sim_pipe *sp = ring;
	const unsigned int have = sp->tail - sp->head;

	if (have == 0)
		return 0;
	if (have >= n)
		sp->sim->role[sp->consumer].again = true;
	else
		n = have;
	for (unsigned int i = 0; i < n; i++)
		obj[i] = sp->slot[sp->head++ & sp->mask];
	return n;
}

void
sim_pipe_make(struct rl_sim *s, struct sim_pipe *sp, uint32_t limit,
	      struct rl_pipe *pipe)
{
	sp->sim = s;
	sp->limit = limit;
	sp->slot = sim_alloc(s->mem, PIPE_FIRST * sizeof(*sp->slot));
	sp->mask = sp->slot == NULL ? 0 : PIPE_FIRST - 1;
	*pipe = (struct rl_pipe){
		.ring = sp,
		.put = pipe_put,
		.get = pipe_get,
	};
}
