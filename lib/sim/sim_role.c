/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Roles that are polled one by one, as if each had its own lcore. Time stands
 * still while a role is ready; after each poll a role says when it next has
 * something to do.
 *
 * Lcores poll all the time; a simulation must wake roles explicitly: a core
 * with a full egress queue when the port took something, and a port whose core
 * returned credits, to tell its peer.
 */

#include "sim_priv.h"

/* Prefetch distances, in polls: a role, what it points to, and its wire. */
#define WARM_ROLE 8
#define WARM_STATE 4
#define WARM_WIRE 2

void
sim_role_begin(struct sim_part *pt, struct sim_role *r)
{
	pt->st.polls++;
	r->again = false;
	if (r->ext_ns <= pt->now_ns)
		r->ext_ns = RL_NEVER;
}

static void
poll_port(struct rl_sim *s, struct sim_role *r, uint32_t id)
{
	struct sim_part *const pt = &s->part[0];
	const uint64_t now = s->now_ns;
	uint64_t next;

	sim_role_begin(pt, r);
	if (r->end->dozes)
		sim_doze_end(s, r);
	r->end->blocked = false; /* unless it is again */
	if (rl_role_port_poll(r->rp, now) == 0)
		pt->st.idle_polls++;
	else if (rl_core_tx_pending(r->rc->core, (uint16_t)r->port))
		sim_wake_at(s, s->dev_role[r->dev], sim_seen(pt));
	if (s->p.check_packets)
		sim_credit_check(s, r);
	if (r->again || !rl_pktq_empty(rl_port_rx_out(r->rp->port))) {
		sim_ready(s, id);
		return;
	}
	if (s->p.doze && sim_doze(s, id))
		return;
	next = rl_role_port_deadline(r->rp, now);
	if (next <= now)
		next = now + SIM_SPIN_PORT_NS;
	sim_heap_set(s, id, rl_min_u64(next, r->ext_ns));
}

static void
poll_core(struct rl_sim *s, uint32_t id)
{
	struct sim_role *r = &s->role[id];
	struct sim_part *const pt = &s->part[0];
	const uint64_t now = s->now_ns;
	unsigned int work;
	uint64_t freed, next;

	sim_role_begin(pt, r);
	work = rl_role_core_poll(r->rc, now);
	freed = rl_core_freed(r->rc->core);
	for (; freed != 0; freed &= freed - 1) {
		const unsigned int first = (unsigned int)__builtin_ctzll(freed);

		for (uint32_t p = first; p < r->rc->nports; p += 64)
			sim_wake_at(s, id + 1 + p, now + SIM_CREDIT_NS);
	}
	if (work == 0)
		pt->st.idle_polls++;
	if (r->again || (work != 0 && r->rc->ep != NULL)) {
		sim_ready(s, id);
		return;
	}
	next = rl_role_core_deadline(r->rc);
	if (next <= now)
		next = now + SIM_SPIN_CORE_NS;
	sim_heap_set(s, id, rl_min_u64(next, r->ext_ns));
}

static void
poll_role(struct rl_sim *s, uint32_t id)
{
	struct sim_role *r = &s->role[id];

	if (rl_unlikely(s->dead[r->dev])) {
		s->is_ready[id] = false;
		r->ext_ns = RL_NEVER;
		return;
	}
	sim_flits_stock(s->mem);
	s->is_ready[id] = false;
	if (r->port == SIM_PORT_CORE)
		poll_core(s, id);
	else
		poll_port(s, r, id);
	s->flits_peak = rl_max_u64(s->flits_peak, sim_flits_used(s));
}

/*
 * Prefetches what a role needs while others are polled: first the role, then
 * what it points to, then the frame that waits for it. Each step was prefetched
 * by the step before.
 */
static void
warm_state(const struct rl_sim *s, uint32_t id)
{
	const struct sim_role *r = &s->role[id];

	if (r->port == SIM_PORT_CORE) {
		__builtin_prefetch(r->state);
		__builtin_prefetch(r->rc);
		return;
	}
	rl_port_prefetch(r->state);
	__builtin_prefetch(r->rp);
	__builtin_prefetch((const uint8_t *)r->rp + RL_CACHE_LINE);
	__builtin_prefetch(r->end);
	__builtin_prefetch(r->rx);
}

static void
warm_wire(const struct rl_sim *s, uint32_t id)
{
	const struct sim_role *r = &s->role[id];

	if (r->port != SIM_PORT_CORE)
		__builtin_prefetch(r->rx->head);
}

static void
warm_rest(const struct rl_sim *s, uint32_t id)
{
	const struct sim_role *r = &s->role[id];
	const struct rl_sim_frame *f;

	if (r->port == SIM_PORT_CORE) {
		rl_core_prefetch(r->state);
		return;
	}
	f = r->rx->head;
	if (f != NULL)
		for (uint32_t i = 0; i < SIM_WARM_BYTES; i += RL_CACHE_LINE)
			__builtin_prefetch(f->data + i);
}

void
sim_role_ready(struct rl_sim *s)
{
	while (s->ready_head != s->ready_tail) {
		const uint32_t *ring = s->ready, mask = s->ready_mask;
		const uint32_t at = s->ready_head++;
		const uint32_t more = s->ready_tail - s->ready_head;

		if (more >= WARM_ROLE)
			__builtin_prefetch(
				&s->role[ring[(at + WARM_ROLE) & mask]]);
		if (more >= WARM_STATE)
			warm_state(s, ring[(at + WARM_STATE) & mask]);
		if (more >= WARM_WIRE)
			warm_wire(s, ring[(at + WARM_WIRE) & mask]);
		if (more >= 1)
			warm_rest(s, ring[(at + 1) & mask]);
		poll_role(s, ring[at & mask]);
	}
}

void
sim_role_wake(struct rl_sim *s)
{
	const struct sim_part *const pt = &s->part[0];

	while (pt->nheap != 0 && pt->heap[0].key_ns <= s->now_ns) {
		const uint32_t role = pt->heap[0].role;

		sim_heap_set(s, role, RL_NEVER);
		sim_ready(s, role);
	}
}
