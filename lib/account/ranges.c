/* SPDX-License-Identifier: BSD-3-Clause */
#include "rl_ranges.h"

/* Lets a concurrent reader notice the change. */
static void
begin_change(struct rl_range_pool *p)
{
	const uint32_t v = atomic_load_explicit(&p->version,
						memory_order_relaxed);

	atomic_store_explicit(&p->version, v + 1, memory_order_relaxed);
	rl_fence_release();
}

static void
end_change(struct rl_range_pool *p)
{
	const uint32_t v = atomic_load_explicit(&p->version,
						memory_order_relaxed);

	/* release: pairs with the acquires of readers, see ledger.c */
	atomic_store_explicit(&p->version, v + 1, memory_order_release);
}

static uint32_t
node_take(struct rl_range_pool *p)
{
	uint32_t i = p->free;

	if (i != RL_RANGE_END) {
		p->free = p->node[i].next;
		return i;
	}
	return p->used < p->cap ? p->used++ : RL_RANGE_END;
}

static void
node_give(struct rl_range_pool *p, uint32_t i)
{
	p->node[i].next = p->free;
	p->free = i;
}

/** Makes a node lo .. hi-1 behind @p prev (RL_RANGE_END: at the front). */
static bool
insert_after(struct rl_range_pool *p, struct rl_ranges *s, uint32_t prev,
	     uint32_t lo, uint32_t hi)
{
	const uint32_t i = node_take(p);
	uint32_t *link = prev == RL_RANGE_END ? &s->head : &p->node[prev].next;

	if (i == RL_RANGE_END) {
		p->lost += hi - lo;
		return false;
	}
	p->node[i] = (struct rl_range){ lo, hi, *link };
	*link = i;
	if (s->tail == prev)
		s->tail = i;
	s->count += hi - lo;
	return true;
}

/** Merges the nodes behind @p i that it now touches. */
static void
join_next(struct rl_range_pool *p, struct rl_ranges *s, uint32_t i)
{
	struct rl_range *r = &p->node[i];

	while (r->next != RL_RANGE_END && p->node[r->next].lo <= r->hi) {
		const uint32_t j = r->next;
		const struct rl_range *n = &p->node[j];

		if (n->hi > r->hi) {
			s->count -= r->hi - n->lo;
			r->hi = n->hi;
		} else {
			s->count -= n->hi - n->lo;
		}
		r->next = n->next;
		if (s->tail == j)
			s->tail = i;
		node_give(p, j);
	}
}

static void
add(struct rl_range_pool *p, struct rl_ranges *s, uint32_t lo, uint32_t hi)
{
	uint32_t prev = RL_RANGE_END, i;
	struct rl_range *r;

	if (s->tail != RL_RANGE_END && p->node[s->tail].hi < lo) {
		insert_after(p, s, s->tail, lo, hi);
		return;
	}
	if (s->tail != RL_RANGE_END && p->node[s->tail].lo <= lo)
		i = s->tail; /* the common case: it grows at its end */
	else
		i = s->head;
	/* first range that ends at or behind lo */
	while (i != RL_RANGE_END && p->node[i].hi < lo) {
		prev = i;
		i = p->node[i].next;
	}
	if (i == RL_RANGE_END || p->node[i].lo > hi) {
		insert_after(p, s, prev, lo, hi);
		return;
	}
	r = &p->node[i];
	if (lo < r->lo) {
		s->count += r->lo - lo;
		r->lo = lo;
	}
	if (hi > r->hi) {
		s->count += hi - r->hi;
		r->hi = hi;
		join_next(p, s, i);
	}
}

void
rl_ranges_add(struct rl_range_pool *p, struct rl_ranges *s, uint32_t lo,
	      uint32_t hi)
{
	RL_ASSERT(lo < hi);
	begin_change(p);
	add(p, s, lo, hi);
	end_change(p);
}

static bool
take(struct rl_range_pool *p, struct rl_ranges *s, uint32_t n)
{
	uint32_t prev = RL_RANGE_END, i = s->head;
	struct rl_range *r;

	while (i != RL_RANGE_END && p->node[i].hi <= n) {
		prev = i;
		i = p->node[i].next;
	}
	if (i == RL_RANGE_END || p->node[i].lo > n)
		return false;
	r = &p->node[i];
	s->count--;
	if (r->hi - r->lo == 1) {
		if (prev == RL_RANGE_END)
			s->head = r->next;
		else
			p->node[prev].next = r->next;
		if (s->tail == i)
			s->tail = prev;
		node_give(p, i);
	} else if (n == r->lo) {
		r->lo++;
	} else if (n == r->hi - 1) {
		r->hi--;
	} else {
		const uint32_t hi = r->hi;

		r->hi = n;
		s->count -= hi - n - 1;
		insert_after(p, s, i, n + 1, hi);
	}
	return true;
}

bool
rl_ranges_take(struct rl_range_pool *p, struct rl_ranges *s, uint32_t n)
{
	bool there;

	begin_change(p);
	there = take(p, s, n);
	end_change(p);
	return there;
}

bool
rl_ranges_has(const struct rl_range_pool *p, const struct rl_ranges *s,
	      uint32_t n)
{
	for (uint32_t i = s->head; i != RL_RANGE_END; i = p->node[i].next)
		if (n < p->node[i].hi)
			return n >= p->node[i].lo;
	return false;
}

void
rl_ranges_clear(struct rl_range_pool *p, struct rl_ranges *s)
{
	begin_change(p);
	while (s->head != RL_RANGE_END) {
		const uint32_t i = s->head;

		s->head = p->node[i].next;
		node_give(p, i);
	}
	*s = (struct rl_ranges){ 0 };
	end_change(p);
}

uint64_t
rl_ranges_common(const struct rl_range_pool *pa, const struct rl_ranges *a,
		 const struct rl_range_pool *pb, const struct rl_ranges *b,
		 uint32_t end)
{
	uint32_t i = a->head, j = b->head;
	uint64_t n = 0, steps = (uint64_t)pa->cap + pb->cap;

	/* lists that change meanwhile may contain a cycle */
	while (i != RL_RANGE_END && j != RL_RANGE_END && i < pa->cap &&
	       j < pb->cap && steps-- > 0) {
		const struct rl_range *x = &pa->node[i], *y = &pb->node[j];
		const uint32_t lo = rl_max_u32(x->lo, y->lo);
		const uint32_t hi = rl_min_u32(rl_min_u32(x->hi, y->hi), end);

		if (lo < hi)
			n += hi - lo;
		if (x->hi < y->hi)
			i = x->next;
		else
			j = y->next;
	}
	return n;
}

uint64_t
rl_ranges_within(const struct rl_range_pool *p, const struct rl_ranges *s,
		 uint32_t lo, uint32_t hi)
{
	struct rl_range all[2] = { { 0 }, { lo, hi, RL_RANGE_END } };
	const struct rl_range_pool pool = { .node = all, .cap = 2 };
	const struct rl_ranges one = { .head = 1, .tail = 1 };

	return rl_ranges_common(p, s, &pool, &one, hi);
}
