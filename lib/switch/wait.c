/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How the waiting room works.
 *
 * Order. All waiting packets of a flow (source, destination, class of service)
 * wait in one queue, oldest first, and while any of them wait, later ones join
 * them. So no packet overtakes another of its flow, however many ticks it takes
 * to empty a full room. A packet that is not new (it looped out of a dead port)
 * may be older than some that wait: its number decides its position. Such
 * packets come in the order of their numbers, so a finger on the last insertion
 * finds the next position in one step.
 *
 * Place. A flow waits where its oldest packet waits: for an egress, or without
 * any path. The flows of a place form a ring. When an egress changes, its ring
 * is joined to the look list as a whole, in one step; when tables change, all
 * rings are. The core then takes flows off the look list, as many as a poll has
 * time for, and looks up the oldest packet's path: it goes, or the flow settles
 * at its new place. There is no search: the cost depends on the number of
 * flows, not of packets that stay.
 *
 * Time. Each flow is in one slot of a wheel, by the deadline of its oldest
 * packet. There are three wheels of 64 slots, each slot as wide as the whole
 * wheel before it. A slot of the first is a sixteenth of no_way_ns, so a packet
 * is given up at most that much after its deadline. A deadline beyond the reach
 * of a wheel goes into the next one, and moves back to the first when its slot
 * there begins. No flow is visited before it is nearly due. Without a path a
 * packet waits no_way_ns from the moment when it lost its last one, or arrived.
 * For a path that is coming it waits bound_ns in total: a backstop, since each
 * egress state has its own time limit.
 *
 * Budget. A waiting packet returns its input credit and is charged to the
 * budget instead, until it has left the core. The room only counts; the core
 * decides which packets give way (core_wait.c).
 *
 * Records. There are as many as the core asked for. For one more flow the core
 * gives up the one that has been without a path for longest (core_wait.c). If
 * all of them have a path coming, further flows share a few queues by their
 * hash. These keep the order of arrival; a flow stays in such a queue until the
 * queue is empty, so its order is kept as well.
 */

#include <string.h>

#include "rl_wait.h"

#define WAIT_TICKS 16 /* length of no_way_ns in slots */
#define WAIT_FAR_NS (1ull << 62)
#define WAIT_ROUND(n)                                                          \
	(((n) + RL_CACHE_LINE - 1) & ~(size_t)(RL_CACHE_LINE - 1))

static uint32_t
wait_buckets(const struct rl_wait_params *p)
{
	return rl_pow2_ceil(p->flows < 16 ? 16 : p->flows);
}

size_t
rl_wait_memsize(const struct rl_wait_params *p)
{
	return WAIT_ROUND(sizeof(struct rl_wait)) +
	       WAIT_ROUND((p->nports + 1u) * sizeof(struct rl_wait_place)) +
	       WAIT_ROUND(RL_WAIT_MIXED * sizeof(struct rl_wait_flow)) +
	       WAIT_ROUND(wait_buckets(p) * sizeof(struct rl_wait_flow *)) +
	       WAIT_ROUND(p->flows * sizeof(struct rl_wait_flow));
}

static void
ring_init(struct rl_wait_link *ring)
{
	ring->next = ring->prev = ring;
}

static bool
ring_empty(const struct rl_wait_link *ring)
{
	return ring->next == ring;
}

static void
ring_add(struct rl_wait_link *ring, struct rl_wait_link *l)
{
	l->next = ring;
	l->prev = ring->prev;
	ring->prev->next = l;
	ring->prev = l;
}

static void
ring_del(struct rl_wait_link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
}

/* Moves all of @p from to the end of @p to. */
static void
ring_join(struct rl_wait_link *to, struct rl_wait_link *from)
{
	if (ring_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	ring_init(from);
}

#define FLOW_AT(l)                                                             \
	((struct rl_wait_flow *)(void *)((uint8_t *)(l) -                      \
					 offsetof(struct rl_wait_flow, at)))
#define FLOW_SLOT(l)                                                           \
	((struct rl_wait_flow *)(void *)((uint8_t *)(l) -                      \
					 offsetof(struct rl_wait_flow, slot)))

/* Records and buckets are first touched when used, not here. */
struct rl_wait *
rl_wait_init(void *mem, const struct rl_wait_params *p)
{
	struct rl_wait *w = mem;
	uint8_t *at = mem;

	RL_ASSERT(p->flows > 0 && p->no_way_ns > 0);
	memset(w, 0, sizeof(*w));
	w->p = *p;
	w->tick_ns = rl_max_u64(1, p->no_way_ns / WAIT_TICKS);
	w->mask = wait_buckets(p) - 1;
	at += WAIT_ROUND(sizeof(*w));
	w->place = (struct rl_wait_place *)(void *)at;
	at += WAIT_ROUND((p->nports + 1u) * sizeof(*w->place));
	w->shared = (struct rl_wait_flow *)(void *)at;
	at += WAIT_ROUND(RL_WAIT_MIXED * sizeof(*w->shared));
	w->bucket = (struct rl_wait_flow **)(void *)at;
	at += WAIT_ROUND((w->mask + 1u) * sizeof(*w->bucket));
	w->flow = (struct rl_wait_flow *)(void *)at;
	memset(w->shared, 0, RL_WAIT_MIXED * sizeof(*w->shared));
	memset(w->bucket, 0, (w->mask + 1u) * sizeof(*w->bucket));
	ring_init(&w->look);
	for (unsigned int i = 0; i < RL_WAIT_WHEELS * RL_WAIT_SLOTS; i++)
		ring_init(&w->wheel[i / RL_WAIT_SLOTS][i % RL_WAIT_SLOTS]);
	for (unsigned int i = 0; i <= p->nports; i++) {
		w->place[i] = (struct rl_wait_place){ .packets = 0 };
		ring_init(&w->place[i].flows);
	}
	return w;
}

static struct rl_wait_place *
wait_place(const struct rl_wait *w, uint16_t place)
{
	return &w->place[place == RL_WAIT_NOWAY ? w->p.nports : place];
}

const struct rl_wait_place *
rl_wait_at(const struct rl_wait *w, uint16_t place)
{
	return wait_place(w, place);
}

static uint32_t
key_hash(uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32);
}

static bool
wait_is_shared(const struct rl_wait *w, const struct rl_wait_flow *f)
{
	return f >= w->shared && f < w->shared + RL_WAIT_MIXED;
}

struct rl_wait_flow *
rl_wait_find(struct rl_wait *w, const struct rl_flit *pkt)
{
	const uint64_t key = rl_wait_key(pkt);
	const uint32_t hash = key_hash(key);
	struct rl_wait_flow *f = w->bucket[hash & w->mask];

	while (f != NULL && f->key != key)
		f = f->next;
	if (rl_unlikely(f == NULL && w->mixed != 0)) {
		f = &w->shared[hash % RL_WAIT_MIXED];
		if (f->packets == 0)
			f = NULL;
	}
	return f;
}

bool
rl_wait_is_oldest(const struct rl_wait_flow *f, const struct rl_flit *pkt)
{
	return rl_wait_key(f->head) == rl_wait_key(pkt) &&
	       rl_wait_older(pkt, f->head);
}

/* A queue for a flow that has no packets here yet. */
static struct rl_wait_flow *
flow_new(struct rl_wait *w, uint64_t key)
{
	const uint32_t hash = key_hash(key);
	struct rl_wait_flow *f = w->free;

	if (f != NULL) {
		w->free = f->next;
	} else if (w->fresh < w->p.flows) {
		f = &w->flow[w->fresh++];
	} else {
		f = &w->shared[hash % RL_WAIT_MIXED];
		*f = (struct rl_wait_flow){ .at_slot = RL_WAIT_SLOT_NONE };
		return f;
	}
	*f = (struct rl_wait_flow){
		.key = key,
		.at_slot = RL_WAIT_SLOT_NONE,
		.next = w->bucket[hash & w->mask],
	};
	w->bucket[hash & w->mask] = f;
	return f;
}

static void
wheel_del(struct rl_wait *w, struct rl_wait_flow *f)
{
	const unsigned int level = f->at_slot / RL_WAIT_SLOTS;
	const unsigned int slot = f->at_slot % RL_WAIT_SLOTS;

	if (f->at_slot == RL_WAIT_SLOT_NONE)
		return;
	ring_del(&f->slot);
	if (ring_empty(&w->wheel[level][slot]))
		w->busy[level] &= ~(1ull << slot);
	f->at_slot = RL_WAIT_SLOT_NONE;
}

/* No packet of the flow waits any more. */
static void
flow_free(struct rl_wait *w, struct rl_wait_flow *f)
{
	struct rl_wait_flow **at;

	ring_del(&f->at);
	wheel_del(w, f);
	if (wait_is_shared(w, f))
		return;
	at = &w->bucket[key_hash(f->key) & w->mask];
	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	f->next = w->free;
	w->free = f;
}

/* When the oldest packet of a flow has waited long enough. */
static uint64_t
flow_deadline(const struct rl_wait *w, const struct rl_wait_flow *f)
{
	const uint64_t since = rl_wait_since_of(f->head);
	const uint64_t bound = rl_deadline(since, w->p.bound_ns);
	uint64_t t;

	if (f->place != RL_WAIT_NOWAY)
		return bound;
	t = rl_deadline(rl_max_u64(since, f->since_ns), w->p.no_way_ns);
	return rl_max_u64(t, rl_min_u64(w->await_ns, bound));
}

static uint64_t
slot_ns(const struct rl_wait *w, unsigned int level)
{
	return w->tick_ns << (6 * level);
}

/*
 * On the first wheel, the slot that begins at the deadline or after it; on the
 * others, the slot that contains it.
 */
static void
wheel_set(struct rl_wait *w, struct rl_wait_flow *f)
{
	const uint64_t due = rl_min_u64(flow_deadline(w, f), WAIT_FAR_NS);
	unsigned int level = 0;
	uint64_t cur = w->at_ns / slot_ns(w, 0);
	uint64_t tick = (due + slot_ns(w, 0) - 1) / slot_ns(w, 0);

	wheel_del(w, f);
	while (tick >= cur + RL_WAIT_SLOTS && level + 1 < RL_WAIT_WHEELS) {
		level++;
		cur = w->at_ns / slot_ns(w, level);
		tick = due / slot_ns(w, level);
	}
	tick = rl_max_u64(tick, cur + 1);
	tick = rl_min_u64(tick, cur + RL_WAIT_SLOTS - 1);
	f->at_slot =
		(uint8_t)(level * RL_WAIT_SLOTS + tick % RL_WAIT_SLOTS);
	w->busy[level] |= 1ull << tick % RL_WAIT_SLOTS;
	ring_add(&w->wheel[level][tick % RL_WAIT_SLOTS], &f->slot);
}

/* The wheels stand still while nothing waits. */
static void
wheel_wind(struct rl_wait *w, uint64_t now_ns)
{
	if (w->packets == 0)
		w->at_ns = now_ns;
}

/* When the next occupied slot of a wheel begins. */
static uint64_t
wheel_due(const struct rl_wait *w, unsigned int level)
{
	const uint64_t cur = w->at_ns / slot_ns(w, level);
	const unsigned int at = (unsigned int)(cur % RL_WAIT_SLOTS);
	uint64_t busy = w->busy[level];

	if (busy == 0)
		return RL_NEVER;
	if (at != 0)
		busy = busy >> at | busy << (RL_WAIT_SLOTS - at);
	return (cur + (unsigned int)__builtin_ctzll(busy)) *
	       slot_ns(w, level);
}

uint64_t
rl_wait_due(const struct rl_wait *w)
{
	uint64_t due = RL_NEVER;

	for (unsigned int level = 0; level < RL_WAIT_WHEELS; level++)
		due = rl_min_u64(due, wheel_due(w, level));
	return due;
}

struct rl_wait_flow *
rl_wait_expired(struct rl_wait *w, uint64_t now_ns)
{
	for (unsigned int level = 0; level < RL_WAIT_WHEELS;) {
		const uint64_t due = wheel_due(w, level);
		struct rl_wait_flow *f;
		uint64_t tick;

		if (due > now_ns || due != rl_wait_due(w)) {
			level++;
			continue;
		}
		/* the current slot stays until it is empty */
		w->at_ns = rl_max_u64(w->at_ns, due);
		tick = due / slot_ns(w, level);
		f = FLOW_SLOT(w->wheel[level][tick % RL_WAIT_SLOTS].next);
		if (flow_deadline(w, f) <= now_ns)
			return f;
		wheel_set(w, f);
		level = 0;
	}
	return NULL;
}

void
rl_wait_await(struct rl_wait *w, uint64_t until_ns)
{
	w->await_ns = until_ns;
}

/* Moves a flow to another place, with its accounts. */
static void
flow_move(struct rl_wait *w, struct rl_wait_flow *f, uint16_t place)
{
	struct rl_wait_place *from = wait_place(w, f->place);
	struct rl_wait_place *to = wait_place(w, place);

	from->packets -= f->packets;
	from->flits -= f->flits;
	to->packets += f->packets;
	to->flits += f->flits;
	f->place = place;
}

void
rl_wait_settle(struct rl_wait *w, struct rl_wait_flow *f, uint16_t place,
	       uint64_t now_ns)
{
	if (f->place != place) {
		flow_move(w, f, place);
		f->since_ns = now_ns;
		wheel_set(w, f);
	} else if (place == RL_WAIT_NOWAY) {
		wheel_set(w, f); /* the wait for tables may end */
	}
	ring_del(&f->at);
	ring_add(&wait_place(w, place)->flows, &f->at);
}

void
rl_wait_renew(struct rl_wait *w, struct rl_wait_flow *f, uint64_t now_ns)
{
	f->since_ns = now_ns;
	wheel_set(w, f);
}

/* The packet that @p pkt belongs behind; NULL: ahead of all. */
static struct rl_flit *
flow_before(struct rl_wait *w, const struct rl_wait_flow *f,
	    const struct rl_flit *pkt)
{
	struct rl_flit *before = NULL, *at = f->head;

	if (wait_is_shared(w, f) || !rl_wait_older(pkt, f->tail))
		return f->tail;
	if (f->finger != NULL && !rl_wait_older(pkt, f->finger))
		before = f->finger;
	if (before != NULL)
		at = rl_wait_next_of(before);
	while (!rl_wait_older(pkt, at)) {
		w->steps++;
		before = at;
		at = rl_wait_next_of(at);
	}
	return before;
}

/* @return whether it is now the head */
static bool
flow_insert(struct rl_wait *w, struct rl_wait_flow *f, struct rl_flit *pkt,
	    bool old)
{
	struct rl_flit *before;

	if (f->head == NULL) {
		rl_wait_set_next(pkt, NULL);
		f->head = f->tail = pkt;
		return true;
	}
	before = old ? flow_before(w, f, pkt) : f->tail;
	if (before == NULL) {
		rl_wait_set_next(pkt, f->head);
		f->head = pkt;
	} else {
		rl_wait_set_next(pkt, rl_wait_next_of(before));
		rl_wait_set_next(before, pkt);
	}
	if (before == f->tail)
		f->tail = pkt;
	else
		f->finger = pkt;
	return before == NULL;
}

static void
wait_count(struct rl_wait *w, struct rl_wait_flow *f, uint32_t packets,
	   uint32_t flits)
{
	struct rl_wait_place *place = wait_place(w, f->place);

	w->packets += packets;
	w->flits += flits;
	f->packets += packets;
	f->flits += flits;
	place->packets += packets;
	place->flits += flits;
	if (rl_unlikely(wait_is_shared(w, f)))
		w->mixed += packets;
}

void
rl_wait_put(struct rl_wait *w, struct rl_flit *pkt, uint16_t place, bool old,
	    uint64_t now_ns)
{
	struct rl_wait_flow *f = rl_wait_find(w, pkt);
	const bool fresh = f == NULL || f->packets == 0;
	bool first;

	wheel_wind(w, now_ns);
	if (f == NULL)
		f = flow_new(w, rl_wait_key(pkt));
	rl_wait_set_since(pkt, now_ns);
	first = flow_insert(w, f, pkt, old);
	if (fresh) {
		f->place = place;
		f->since_ns = now_ns;
		ring_init(&f->at);
		ring_add(&wait_place(w, place)->flows, &f->at);
			wheel_set(w, f);
	}
	wait_count(w, f, 1, rl_wait_flits_of(pkt));
	if (!fresh && first)
		rl_wait_settle(w, f, place, now_ns);
}

void
rl_wait_grow(struct rl_wait *w, const struct rl_flit *pkt, uint32_t flits)
{
	wait_count(w, rl_wait_find(w, pkt), 0, flits);
}

struct rl_flit *
rl_wait_pop(struct rl_wait *w, struct rl_wait_flow *f, bool *more)
{
	struct rl_flit *pkt = f->head;

	f->head = rl_wait_next_of(pkt);
	if (f->finger == pkt)
		f->finger = NULL;
	wait_count(w, f, UINT32_MAX, 0u - rl_wait_flits_of(pkt));
	*more = f->head != NULL;
	if (!*more)
		flow_free(w, f);
	return pkt;
}

void
rl_wait_look_place(struct rl_wait *w, uint16_t place)
{
	ring_join(&w->look, &wait_place(w, place)->flows);
}

void
rl_wait_look_all(struct rl_wait *w)
{
	rl_wait_look_place(w, RL_WAIT_NOWAY);
	for (uint16_t i = 0; i < w->p.nports; i++)
		rl_wait_look_place(w, i);
}

struct rl_wait_flow *
rl_wait_look(struct rl_wait *w)
{
	return ring_empty(&w->look) ? NULL : FLOW_AT(w->look.next);
}

void
rl_wait_later(struct rl_wait *w, struct rl_wait_flow *f)
{
	ring_del(&f->at);
	ring_add(&w->look, &f->at);
}

struct rl_wait_flow *
rl_wait_oldest(struct rl_wait *w)
{
	struct rl_wait_link *ring = &wait_place(w, RL_WAIT_NOWAY)->flows;
	struct rl_wait_link *first = ring->next, *second = first->next;

	if (first == ring)
		return NULL;
	/* a flow that has lost its oldest packet steps back for the next */
	if (second != ring && rl_wait_since_of(FLOW_AT(second)->head) <
				      rl_wait_since_of(FLOW_AT(first)->head)) {
		ring_del(first);
		ring_add(ring, first);
		first = second;
	}
	return FLOW_AT(first);
}
