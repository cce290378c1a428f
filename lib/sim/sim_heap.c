/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which role is polled next. Roles that are due now are in a ring, first come
 * first served; the others in a 4-ary heap, by the time when they are due. A
 * role is in the heap at most once, at heap_pos. Each part has its own heap.
 */

#include "sim_priv.h"

static void
heap_place(struct sim_part *pt, uint32_t i, struct sim_heap_slot slot)
{
	pt->heap[i] = slot;
	pt->sim->heap_pos[slot.role] = i + 1;
}

static void
heap_up(struct sim_part *pt, uint32_t i, struct sim_heap_slot slot)
{
	while (i > 0) {
		const uint32_t parent = (i - 1) / 4;

		if (pt->heap[parent].key_ns <= slot.key_ns)
			break;
		heap_place(pt, i, pt->heap[parent]);
		i = parent;
	}
	heap_place(pt, i, slot);
}

/*
 * Index of the earliest of four, the first if equal. Without branches, because
 * their outcome would be unpredictable.
 */
static uint32_t
heap_best(const struct sim_heap_slot h[4])
{
	const uint32_t a = h[1].key_ns < h[0].key_ns;
	const uint32_t b = 2 + (h[3].key_ns < h[2].key_ns);
	const uint32_t right = -(uint32_t)(h[b].key_ns < h[a].key_ns);

	return (a & ~right) | (b & right);
}

/* The same for as many as exist, at least @p first. */
static uint32_t
heap_least(const struct sim_part *pt, uint32_t first)
{
	const uint32_t end = rl_min_u32(first + 4, pt->nheap);
	uint32_t best = first;

	if (rl_likely(end == first + 4))
		return first + heap_best(&pt->heap[first]);
	for (uint32_t c = first + 1; c < end; c++)
		if (pt->heap[c].key_ns < pt->heap[best].key_ns)
			best = c;
	return best;
}

uint32_t
sim_heap_due(struct sim_part *pt, uint64_t end_ns)
{
	uint32_t *const due = pt->due;
	uint32_t n = 0;

	if (pt->nheap != 0 && pt->heap[0].key_ns < end_ns)
		due[n++] = 0;
	/* if a node is due, so is its parent. Without branches, because their
	   outcome would be unpredictable */
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t first = 4 * due[i] + 1;
		const uint32_t last = rl_min_u32(first + 4, pt->nheap);

		for (uint32_t c = first; c < last; c++) {
			due[n] = c;
			n += pt->heap[c].key_ns < end_ns;
		}
		due[i] = pt->heap[due[i]].role;
	}
	return n;
}

static void
heap_down(struct sim_part *pt, uint32_t i, struct sim_heap_slot slot)
{
	for (;;) {
		const uint32_t first = 4 * i + 1;
		uint32_t best;

		if (first >= pt->nheap)
			break;
		best = heap_least(pt, first);
		if (pt->heap[best].key_ns >= slot.key_ns)
			break;
		heap_place(pt, i, pt->heap[best]);
		i = best;
	}
	heap_place(pt, i, slot);
}

static void
heap_remove(struct sim_part *pt, uint32_t i)
{
	struct sim_heap_slot last;

	pt->sim->heap_pos[pt->heap[i].role] = 0;
	last = pt->heap[--pt->nheap];
	if (i == pt->nheap)
		return;
	if (i > 0 && pt->heap[(i - 1) / 4].key_ns > last.key_ns)
		heap_up(pt, i, last);
	else
		heap_down(pt, i, last);
}

uint64_t
sim_on_tick(const struct rl_sim *s, uint64_t t_ns)
{
	const uint64_t rest = s->p.tick_ns > 1 && t_ns != RL_NEVER
				      ? t_ns % s->p.tick_ns
				      : 0;

	return rest == 0 ? t_ns : t_ns + (s->p.tick_ns - rest);
}

void
sim_heap_put(struct sim_part *pt, uint32_t role, uint64_t key_ns)
{
	const struct sim_heap_slot slot = { .key_ns = key_ns, .role = role };
	const uint32_t pos = pt->sim->heap_pos[role];

	if (key_ns == RL_NEVER) {
		if (pos != 0)
			heap_remove(pt, pos - 1);
		return;
	}
	if (pos == 0)
		heap_up(pt, pt->nheap++, slot);
	else if (key_ns < pt->heap[pos - 1].key_ns)
		heap_up(pt, pos - 1, slot);
	else if (key_ns > pt->heap[pos - 1].key_ns)
		heap_down(pt, pos - 1, slot);
}

uint64_t
sim_heap_key(const struct sim_part *pt, uint32_t role)
{
	const uint32_t pos = pt->sim->heap_pos[role];

	return pos == 0 ? RL_NEVER : pt->heap[pos - 1].key_ns;
}

/* The same as sim_ready() and sim_heap_set() for devices with turns. */
static void
dev_ready(struct rl_sim *s, uint32_t role)
{
	const struct sim_role *r = &s->role[role];
	const uint32_t core = s->dev_role[r->dev];
	struct sim_part *const pt = &s->part[r->part];

	if (r->port != SIM_PORT_CORE)
		s->pending[r->dev].due |= 1ull << (r->port & 63);
	if (pt->running != r->dev && pt->now_ns < sim_heap_key(pt, core))
		sim_heap_put(pt, core, pt->now_ns);
}

static void
dev_set(struct rl_sim *s, uint32_t role, uint64_t key_ns)
{
	const uint32_t dev = s->role[role].dev, core = s->dev_role[dev];
	struct sim_part *const pt = sim_part_of(s, role);

	s->key[role] = key_ns;
	if (pt->running != dev && key_ns < sim_heap_key(pt, core))
		sim_heap_put(pt, core, key_ns);
}

void
sim_heap_set(struct rl_sim *s, uint32_t role, uint64_t key_ns)
{
	key_ns = sim_on_tick(s, key_ns);
	if (s->key != NULL)
		dev_set(s, role, key_ns);
	else
		sim_heap_put(sim_part_of(s, role), role, key_ns);
}

void
sim_heap_earlier(struct rl_sim *s, uint32_t role, uint64_t key_ns)
{
	if (key_ns < (s->key != NULL
			      ? s->key[role]
			      : sim_heap_key(sim_part_of(s, role), role)))
		sim_heap_set(s, role, key_ns);
}

void
sim_ready(struct rl_sim *s, uint32_t role)
{
	if (s->is_ready[role])
		return;
	s->is_ready[role] = true;
	if (s->key != NULL) {
		dev_ready(s, role);
		return;
	}
	s->ready[s->ready_tail++ & s->ready_mask] = role;
}

void
sim_wake_at(struct rl_sim *s, uint32_t role, uint64_t at_ns)
{
	struct sim_role *r = &s->role[role];

	if (at_ns <= sim_part_of(s, role)->now_ns) {
		sim_ready(s, role);
		return;
	}
	if (at_ns >= r->ext_ns)
		return;
	r->ext_ns = at_ns;
	if (!s->is_ready[role])
		sim_heap_earlier(s, role, at_ns);
}

uint64_t
sim_seen(const struct sim_part *pt)
{
	struct rl_sim *s = pt->sim;
	uint64_t t = pt->now_ns + s->p.poll_ns;

	if (s->p.turns) /* roles of one lcore: the next one polled sees it */
		return pt->now_ns;
	if (s->p.poll_jitter_ns != 0)
		t += rl_prng_range(&s->prng, 0, s->p.poll_jitter_ns);
	return t;
}
