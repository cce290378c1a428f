/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Pipes: rings that grow as needed, up to the size that the fabric requested. A
 * put beyond it is refused, as by a real ring, and the sending role asserts:
 * the size was wrong.
 *
 * A consumer sees what was put after the poll delay, not before, even if it is
 * polled in the meantime: on lcores, too, one side still works on what it has
 * read while the other continues.
 */

#include <string.h>

#include "sim_priv.h"

#define PIPE_FIRST 16

static bool
pipe_grow(struct sim_pipe *sp)
{
	const uint32_t old = sp->mask + 1, n = sp->tail - sp->head;
	struct sim_pipe_slot *slot =
		sim_alloc(sp->part->mem, 2 * old * sizeof(*slot));

	if (slot == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++)
		slot[i] = sp->slot[(sp->head + i) & sp->mask];
	sp->slot = slot; /* the old one is freed with the memory of the run */
	sp->mask = 2 * old - 1;
	sp->head = 0;
	sp->tail = n;
	return true;
}

/* Corrupts packets from a core to a port, as soft errors demand. */
static void
pipe_corrupt(struct sim_pipe *sp, struct rl_flit *pkt)
{
	struct rl_sim *s = sp->part->sim;
	struct sim_end *end = s->role[sp->consumer].end;

	if (end != NULL && rl_pipe_is_mark(pkt) == RL_MARK_NONE)
		rl_wire_packet(&end->tx->wire, pkt);
}

static unsigned int
pipe_put(void *ring, void *const obj[], unsigned int n)
{
	struct sim_pipe *sp = ring;
	struct rl_sim *s = sp->part->sim;
	uint64_t seen_ns = sim_seen(sp->part);

	n = rl_min_u32(n, sp->limit - (sp->tail - sp->head));
	while (sp->tail - sp->head + n > sp->mask + 1)
		if (!pipe_grow(sp))
			return 0;
	/* a pipe keeps its order */
	if (sp->tail != sp->head)
		seen_ns = rl_max_u64(
			seen_ns, sp->slot[(sp->tail - 1) & sp->mask].seen_ns);
	for (unsigned int i = 0; i < n; i++) {
		if (rl_unlikely(s->soft))
			pipe_corrupt(sp, obj[i]);
		if (s->p.check_packets)
			sim_packet_check(s, sp, obj[i]);
		if (sp->core != NULL)
			rl_core_prefetch_route(sp->core, obj[i]);
		sp->slot[sp->tail++ & sp->mask] =
			(struct sim_pipe_slot){ obj[i], seen_ns };
	}
	if (n != 0 && sp->pending != NULL)
		*sp->pending |= 1ull << sp->port;
	sim_wake_at(s, sp->consumer, seen_ns);
	if (n >= 32) /* a full burst: there may be more */
		s->role[sp->producer].again = true;
	return n;
}

static unsigned int
pipe_get(void *ring, void *obj[], unsigned int n)
{
	struct sim_pipe *sp = ring;
	struct rl_sim *s = sp->part->sim;
	unsigned int got = 0;

	for (; got < n && sp->head != sp->tail; got++) {
		const struct sim_pipe_slot *slot =
			&sp->slot[sp->head & sp->mask];

		if (slot->seen_ns > sp->part->now_ns) {
			sim_wake_at(s, sp->consumer, slot->seen_ns);
			return got;
		}
		obj[got] = slot->obj;
		sp->head++;
	}
	if (sp->head == sp->tail && sp->pending != NULL)
		*sp->pending &= ~(1ull << sp->port);
	if (got == n)
		s->role[sp->consumer].again = true;
	return got;
}

static bool
pipe_empty(const void *ring)
{
	const struct sim_pipe *const sp = ring;

	return sp->head == sp->tail;
}

void
sim_pipe_make(struct sim_part *pt, struct sim_pipe *sp, uint32_t limit,
	      struct rl_pipe *pipe)
{
	sp->part = pt;
	sp->limit = limit;
	sp->slot = sim_alloc(pt->mem, PIPE_FIRST * sizeof(*sp->slot));
	sp->mask = sp->slot == NULL ? 0 : PIPE_FIRST - 1;
	*pipe = (struct rl_pipe){
		.ring = sp,
		.put = pipe_put,
		.get = pipe_get,
		.empty = pipe_empty,
	};
}
