/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The turn of a device, as on an lcore of the host: its ports receive, its core
 * forwards, its ports send. If any role of a device is due, the device has one
 * turn for all its roles that are due at that time.
 *
 * An lcore polls every port in every turn. The simulator knows more: a port
 * that was not woken and is not due has nothing to receive, and nothing to send
 * unless the core gave it packets or returned credits. So it skips these halves
 * of a turn.
 *
 * A device has all turns of a window before the next device has any, while its
 * data is in the cache. sim_apart.c decides how long a window is. The order of
 * devices does not matter; if one can act on another at once, it is that of
 * their numbers.
 *
 * The heap contains devices by the number of their core and the earliest time
 * of their roles.
 */

#include <stdlib.h>

#include "sim_priv.h"

/* A core that moved this much may have left something. */
#define TURN_CORE_FULL 32
/* Most flits to prefetch at once. */
#define TURN_WARM_FLITS 32

/* When a role is due without an event. */
static uint64_t
turn_deadline(const struct sim_part *pt, const struct sim_role *r)
{
	return r->port == SIM_PORT_CORE
		       ? rl_role_core_deadline(r->rc)
		       : rl_role_port_deadline(r->rp, pt->now_ns);
}

/*
 * After a poll: sets the next time. If it is still due, it cannot do anything
 * yet.
 */
static void
turn_next(struct sim_part *pt, uint32_t role, uint64_t next, uint64_t spin_ns)
{
	struct rl_sim *const s = pt->sim;

	if (next <= pt->now_ns) {
		const struct sim_dir *const rx = s->role[role].rx;

		next = pt->now_ns + spin_ns;
		/* a sender that is ahead has already put frames on the wire */
		if (rx != NULL && rx->head != NULL)
			next = rl_min_u64(next, rx->head->at_ns);
	}
	s->key[role] =
		sim_on_tick(s, rl_min_u64(next, s->role[role].ext_ns));
}

static void
turn_warm(const struct sim_role *r)
{
	const struct rl_flit *pkt = rl_port_rx_out(r->rp->port)->head;

	if (r->rc->ep != NULL && pkt != NULL)
		rl_ep_prefetch(r->rc->ep, pkt->src, pkt->wire[6] >> 4);
}

static void
turn_warm_way(const struct sim_role *r, const struct rl_sim_frame *f)
{
	const uint32_t nflits = f->data[15];
	const uint8_t *const flit = f->data + rl_frame_header_bytes(nflits);

	if (nflits != 0 && f->len > RL_FLIT_BYTES)
		rl_core_prefetch_to(r->rc->core, rl_flit_dst(flit),
				    f->data[RL_FRAME_SIDEBAND_OFF] & 7,
				    rl_flit_sl(flit));
}

/*
 * Received frames are copied to free flits from the top of the cache, which
 * come from all over the fabric. Prefetches as many as the frames need.
 */
static void
turn_warm_flits(const struct sim_part *pt, const struct sim_role *r)
{
	const struct rl_flit_cache *c = &pt->mem->cache;
	const struct rl_sim_frame *f = r->rx->head;
	uint32_t n = 0;

	for (; f != NULL && f->at_ns <= pt->now_ns && n < TURN_WARM_FLITS;
	     f = f->next) {
		n += f->len / RL_FLIT_BYTES;
		turn_warm_way(r, f);
	}
	n = rl_min_u32(rl_min_u32(n, TURN_WARM_FLITS), c->count);
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *at = (const uint8_t *)c->slot[c->count - 1 - i];

		for (uint32_t b = 0; b < sizeof(struct rl_flit);
		     b += RL_CACHE_LINE)
			__builtin_prefetch(at + b, 1);
	}
}

static void
turn_in_port(struct sim_part *pt, uint32_t core, uint32_t p)
{
	struct rl_sim *const s = pt->sim;
	struct sim_role *r = &s->role[core + 1 + p];

	s->is_ready[core + 1 + p] = false;
	sim_role_begin(pt, r);
	if (r->end->dozes)
		sim_doze_end(s, r);
	turn_warm_flits(pt, r);
	if (rl_role_port_in(r->rp, pt->now_ns) == 0) {
		pt->st.idle_polls++;
		return;
	}
	if (r->rp->moved != 0) {
		turn_warm(r);
		s->pending[r->dev].rx |= 1ull << (p & 63);
		s->is_ready[core] = true;
	} else if (rl_core_tx_pending(r->rc->core, (uint16_t)p)) {
		s->is_ready[core] = true;
	}
}

/* Lets all due ports receive. @return a bit for each */
static uint64_t
turn_in(struct sim_part *pt, uint32_t core, uint32_t nports)
{
	struct rl_sim *const s = pt->sim;
	struct sim_pending *const pend = &s->pending[s->role[core].dev];
	const uint64_t due = pend->due;

	pend->due = 0;
	for (uint64_t m = due; m != 0; m &= m - 1)
		for (uint32_t p = (uint32_t)__builtin_ctzll(m); p < nports;
		     p += 64)
			if (s->is_ready[core + 1 + p])
				turn_in_port(pt, core, p);
	return due;
}

/* @return ports that may have something to send or to report */
static uint64_t
turn_core(struct sim_part *pt, uint32_t core)
{
	struct rl_sim *const s = pt->sim;
	struct sim_role *r = &s->role[core];
	unsigned int work;
	uint64_t next, sends;

	s->is_ready[core] = false;
	sim_role_begin(pt, r);
	work = rl_role_core_poll(r->rc, pt->now_ns);
	if (!s->p.soft) /* joined: the core has taken everything */
		s->pending[r->dev].rx = 0;
	if (work == 0)
		pt->st.idle_polls++;
	next = turn_deadline(pt, r);
	if (r->again || work >= TURN_CORE_FULL ||
	    (work != 0 && r->rc->ep != NULL && next <= pt->now_ns))
		sim_ready(s, core);
	else
		turn_next(pt, core, next, SIM_SPIN_CORE_NS);
	sends = rl_core_freed(r->rc->core);
	return sends | rl_core_given(r->rc->core);
}

static void
turn_out_port(struct sim_part *pt, uint32_t core, uint32_t p)
{
	struct rl_sim *const s = pt->sim;
	const uint32_t id = core + 1 + p;
	struct sim_role *r = &s->role[id];

	if (r->end->dozes)
		sim_doze_end(s, r);
	r->end->blocked = false; /* unless it is again */
	if (rl_role_port_out(r->rp, pt->now_ns) != 0 &&
	    rl_core_tx_pending(r->rc->core, (uint16_t)p))
		sim_wake_at(s, core, pt->now_ns + SIM_SPIN_PORT_NS);
	if (s->p.check_packets)
		sim_credit_check(s, r);
	if (r->again || !rl_pktq_empty(rl_port_rx_out(r->rp->port)))
		sim_ready(s, id);
	else if (!s->p.doze || !sim_doze(s, id))
		turn_next(pt, id, turn_deadline(pt, r), SIM_SPIN_PORT_NS);
}

static void
turn(struct sim_part *pt, uint32_t core, uint32_t nports)
{
	struct rl_sim *const s = pt->sim;
	uint64_t sends;

	sim_flits_stock(pt->mem);
	sends = turn_in(pt, core, nports);
	if (s->is_ready[core])
		sends |= turn_core(pt, core);
	for (; sends != 0; sends &= sends - 1)
		for (uint32_t p = (uint32_t)__builtin_ctzll(sends); p < nports;
		     p += 64)
			turn_out_port(pt, core, p);
}

static void
dev_wake_role(struct sim_part *pt, uint32_t id)
{
	struct rl_sim *const s = pt->sim;
	const struct sim_role *r = &s->role[id];
	const bool comes = r->rx != NULL && r->rx->head != NULL &&
			   r->rx->head->at_ns <= pt->now_ns;
	uint64_t next;

	s->key[id] = RL_NEVER;
	if (!comes && r->ext_ns > pt->now_ns &&
	    !(r->end != NULL && r->end->dozes)) {
		next = turn_deadline(pt, r);
		if (next > pt->now_ns) { /* it was postponed in the meantime */
			turn_next(pt, id, next, 0);
			return;
		}
	}
	sim_ready(s, id);
}

/* Runs all turns at the present time. @return when the device is next due */
static uint64_t
dev_instant(struct sim_part *pt, uint32_t core, uint32_t nports)
{
	struct rl_sim *const s = pt->sim;
	const uint64_t *const due = &s->pending[s->role[core].dev].due;
	uint64_t next = RL_NEVER;

	for (uint32_t i = core; i <= core + nports; i++)
		if (s->key[i] <= pt->now_ns)
			dev_wake_role(pt, i);
	while (s->is_ready[core] || *due != 0)
		turn(pt, core, nports);
	for (uint32_t i = core; i <= core + nports; i++)
		next = rl_min_u64(next, s->key[i]);
	return next;
}

/* A dead device is never due. */
static void
dev_dead(struct sim_part *pt, uint32_t core, uint32_t nports)
{
	struct rl_sim *const s = pt->sim;

	for (uint32_t i = core; i <= core + nports; i++) {
		s->is_ready[i] = false;
		s->role[i].ext_ns = s->key[i] = RL_NEVER;
	}
	s->pending[s->role[core].dev].due = 0;
	sim_heap_put(pt, core, RL_NEVER);
}

/*
 * Prefetches the data of a device while others run, in steps: each step reads
 * what the one before it prefetched one device earlier.
 */
static void
warm_roles(const struct rl_sim *s, uint32_t core)
{
	const uint8_t *const at = (const uint8_t *)&s->role[core];

	/* hardware fetches the rest for more ports */
	for (uint32_t i = 0; i < 8 * RL_CACHE_LINE; i += RL_CACHE_LINE)
		__builtin_prefetch(at + i, 1);
	__builtin_prefetch(&s->key[core], 1);
}

static void
warm_state(const struct rl_sim *s, uint32_t core)
{
	const struct sim_role *r = &s->role[core];

	__builtin_prefetch(&s->pending[r->dev], 1);
	__builtin_prefetch(r->rc);
	rl_core_prefetch(r->state);
	for (uint32_t i = r->nports; i > 0; i--) {
		r++;
		__builtin_prefetch(r->rp, 1);
		__builtin_prefetch((const uint8_t *)r->rp + RL_CACHE_LINE, 1);
		__builtin_prefetch(r->end, 1);
		__builtin_prefetch(r->rx, 1);
		rl_port_prefetch(r->state);
	}
}

static void
warm_frames(const struct rl_sim *s, uint32_t core)
{
	const struct sim_role *r = &s->role[core];

	for (uint32_t i = r->nports; i > 0; i--) {
		const struct rl_sim_frame *f = (++r)->rx->head;

		rl_port_prefetch_far(r->state);
		__builtin_prefetch(r->end->tx, 1);
		if (f == NULL)
			continue;
		__builtin_prefetch(f->next);
		for (uint32_t b = 0; b < SIM_WARM_BYTES; b += RL_CACHE_LINE)
			__builtin_prefetch(f->data + b);
	}
}

/* Runs a device until @p end_ns. */
static void
dev_run(struct sim_part *pt, uint32_t core, uint64_t end_ns)
{
	struct rl_sim *const s = pt->sim;
	const uint32_t nports = s->role[core].nports;
	const uint32_t dev = s->role[core].dev;
	const uint64_t from_ns = pt->now_ns;
	uint64_t next;

	if (rl_unlikely(s->dead[dev])) {
		dev_dead(pt, core, nports);
		return;
	}
	pt->running = dev;
	while ((next = dev_instant(pt, core, nports)) < end_ns)
		pt->now_ns = rl_max_u64(next, pt->now_ns);
	pt->running = SIM_NO_DEV;
	pt->now_ns = from_ns;
	sim_heap_put(pt, core, next);
}

void
sim_turn_run(struct sim_part *pt, uint64_t end_ns)
{
	const struct rl_sim *const s = pt->sim;
	const uint32_t *const due = pt->due;
	uint32_t n;

	while ((n = sim_heap_due(pt, end_ns)) != 0)
		for (uint32_t i = 0; i < n; i++) {
			if (i + 3 < n)
				warm_roles(s, due[i + 3]);
			if (i + 2 < n)
				warm_state(s, due[i + 2]);
			if (i + 1 < n)
				warm_frames(s, due[i + 1]);
			dev_run(pt, due[i], end_ns);
		}
}

static int
by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void
sim_turn_run_by_number(struct rl_sim *s, uint64_t end_ns)
{
	for (;;) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < s->nparts; i++) {
			struct sim_part *const pt = &s->part[i];
			const uint32_t k = sim_heap_due(pt, end_ns);

			for (uint32_t j = 0; j < k; j++)
				s->due[n++] = pt->due[j];
		}
		if (n == 0)
			return;
		qsort(s->due, n, sizeof(s->due[0]), by_number);
		for (uint32_t i = 0; i < n; i++)
			dev_run(sim_part_of(s, s->due[i]), s->due[i], end_ns);
	}
}
