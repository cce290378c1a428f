/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A device's turn, as an lcore of the host has it: what has come to each port,
 * what becomes of it in the core, and what goes. Whoever of the device is woken,
 * the device has a turn, one for all of it that is due at an instant.
 *
 * An lcore looks at every port in every turn, as it cannot know. Here it is
 * known: a port that nobody has woken, and whose own time has not come, has
 * nothing to take; it has nothing to send unless the core gave it something, or
 * gave back credits. So these halves of a turn are left out.
 *
 * Devices meet nowhere but on wires. What one does is seen by another no sooner
 * than a frame takes to get there. So where nothing else can come between, a
 * device has all turns of so long a time before the next device has any: what
 * it is made of is near for all of them. What becomes of it is the same.
 *
 * A device stands in the heap by its core's number, by the time of the earliest
 * of its roles.
 */

#include "sim_priv.h"

/* A core that has moved so much may have left something. */
#define TURN_CORE_FULL 32
/* So many flits may be fetched at once. */
#define TURN_WARM_FLITS 32

void
sim_turn_ready(struct rl_sim *s, uint32_t role)
{
	const struct sim_role *r = &s->role[role];
	const uint32_t core = s->dev_role[r->dev];

	if (r->port != SIM_PORT_CORE)
		s->pending[r->dev].due |= 1ull << (r->port & 63);
	if (s->running != r->dev && s->now_ns < sim_heap_key(s, core))
		sim_heap_put(s, core, s->now_ns);
}

void
sim_turn_set(struct rl_sim *s, uint32_t role, uint64_t key_ns)
{
	const uint32_t dev = s->role[role].dev, core = s->dev_role[dev];

	s->key[role] = key_ns;
	if (s->running != dev && key_ns < sim_heap_key(s, core))
		sim_heap_put(s, core, key_ns);
}

/* When a role has something to do by itself. */
static uint64_t
turn_deadline(const struct rl_sim *s, const struct sim_role *r)
{
	return r->port == SIM_PORT_CORE
		       ? rl_role_core_deadline(r->rc)
		       : rl_role_port_deadline(r->rp, s->now_ns);
}

/* It was polled. What is due all the same it can do nothing about yet. */
static void
turn_next(struct rl_sim *s, uint32_t role, uint64_t next, uint64_t spin_ns)
{
	if (next <= s->now_ns)
		next = s->now_ns + spin_ns;
	s->key[role] =
		sim_on_tick(s, rl_min_u64(next, s->role[role].ext_ns));
}

/* Of what flow a packet is that has come to its endpoint. */
static void
turn_warm(const struct sim_role *r)
{
	const struct rl_flit *pkt = rl_port_rx_out(r->rp->port)->head;

	if (r->rc->ep != NULL && pkt != NULL)
		rl_ep_prefetch(r->rc->ep, pkt->src, pkt->wire[6] >> 4);
}

/*
 * What has come to a port is copied to flits that are free: those on top, which
 * have come from all over the fabric. They are fetched, as many as frames hold.
 */
static void
turn_warm_flits(const struct rl_sim *s, const struct sim_role *r)
{
	const struct rl_flit_cache *c = &s->mem->cache;
	const struct rl_sim_frame *f = r->rx->head;
	uint32_t n = 0;

	for (; f != NULL && f->at_ns <= s->now_ns && n < TURN_WARM_FLITS;
	     f = f->next)
		n += f->len / RL_FLIT_BYTES;
	n = rl_min_u32(rl_min_u32(n, TURN_WARM_FLITS), c->count);
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *at = (const uint8_t *)c->slot[c->count - 1 - i];

		for (uint32_t b = 0; b < sizeof(struct rl_flit);
		     b += RL_CACHE_LINE)
			__builtin_prefetch(at + b, 1);
	}
}

/* What has come to a port. */
static void
turn_in_port(struct rl_sim *s, uint32_t core, uint32_t p)
{
	struct sim_role *r = &s->role[core + 1 + p];

	s->is_ready[core + 1 + p] = false;
	sim_role_begin(s, r);
	if (r->end->dozes)
		sim_doze_end(s, r);
	turn_warm_flits(s, r);
	if (rl_role_port_in(r->rp, s->now_ns) == 0) {
		s->st.idle_polls++;
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

/* The same of all ports that are due. @return these, a bit each */
static uint64_t
turn_in(struct rl_sim *s, uint32_t core, uint32_t nports)
{
	struct sim_pending *const pend = &s->pending[s->role[core].dev];
	const uint64_t due = pend->due;

	pend->due = 0;
	for (uint64_t m = due; m != 0; m &= m - 1)
		for (uint32_t p = (uint32_t)__builtin_ctzll(m); p < nports;
		     p += 64)
			if (s->is_ready[core + 1 + p])
				turn_in_port(s, core, p);
	return due;
}

/* @return the ports that may have something to send, or to say */
static uint64_t
turn_core(struct rl_sim *s, uint32_t core)
{
	struct sim_role *r = &s->role[core];
	unsigned int work;
	uint64_t next;

	s->is_ready[core] = false;
	sim_role_begin(s, r);
	work = rl_role_core_poll(r->rc, s->now_ns);
	if (!s->p.soft) /* joined: it has taken all there was */
		s->pending[r->dev].rx = 0;
	if (work == 0)
		s->st.idle_polls++;
	next = turn_deadline(s, r);
	if (r->again || work >= TURN_CORE_FULL ||
	    (work != 0 && r->rc->ep != NULL && next <= s->now_ns))
		sim_ready(s, core);
	else
		turn_next(s, core, next, SIM_SPIN_CORE_NS);
	return rl_core_freed(r->rc->core) | rl_core_given(r->rc->core);
}

static void
turn_out_port(struct rl_sim *s, uint32_t core, uint32_t p)
{
	const uint32_t id = core + 1 + p;
	struct sim_role *r = &s->role[id];

	if (r->end->dozes)
		sim_doze_end(s, r);
	r->end->blocked = false; /* unless it is again */
	if (rl_role_port_out(r->rp, s->now_ns) != 0 &&
	    rl_core_tx_pending(r->rc->core, (uint16_t)p))
		sim_wake_at(s, core, s->now_ns + SIM_SPIN_PORT_NS);
	if (s->p.check_packets)
		sim_credit_check(s, r);
	if (r->again || !rl_pktq_empty(rl_port_rx_out(r->rp->port)))
		sim_ready(s, id);
	else if (!s->p.doze || !sim_doze(s, id))
		turn_next(s, id, turn_deadline(s, r), SIM_SPIN_PORT_NS);
}

static void
turn(struct rl_sim *s, uint32_t core, uint32_t nports)
{
	struct rl_sim_mem *mem = s->mem;
	uint64_t sends;

	sim_flits_stock(mem);
	sends = turn_in(s, core, nports);
	if (s->is_ready[core])
		sends |= turn_core(s, core);
	for (; sends != 0; sends &= sends - 1)
		for (uint32_t p = (uint32_t)__builtin_ctzll(sends); p < nports;
		     p += 64)
			turn_out_port(s, core, p);
	s->st.flits_peak = rl_max_u64(s->st.flits_peak,
				      mem->flits - sim_flits_free(mem));
}

/* A role's time has come, as far as was known. */
static void
dev_wake_role(struct rl_sim *s, uint32_t id)
{
	const struct sim_role *r = &s->role[id];
	const bool comes = r->rx != NULL && r->rx->head != NULL &&
			   r->rx->head->at_ns <= s->now_ns;
	uint64_t next;

	s->key[id] = RL_NEVER;
	if (!comes && r->ext_ns > s->now_ns &&
	    !(r->end != NULL && r->end->dozes)) {
		next = turn_deadline(s, r);
		if (next > s->now_ns) { /* it has been moved on since */
			turn_next(s, id, next, 0);
			return;
		}
	}
	sim_ready(s, id);
}

/* Has all turns at this instant. @return when it is next due */
static uint64_t
dev_instant(struct rl_sim *s, uint32_t core, uint32_t nports)
{
	const uint64_t *const due = &s->pending[s->role[core].dev].due;
	uint64_t next = RL_NEVER;

	for (uint32_t i = core; i <= core + nports; i++)
		if (s->key[i] <= s->now_ns)
			dev_wake_role(s, i);
	while (s->is_ready[core] || *due != 0)
		turn(s, core, nports);
	for (uint32_t i = core; i <= core + nports; i++)
		next = rl_min_u64(next, s->key[i]);
	return next;
}

/* Nobody polls a device that is dead. */
static void
dev_dead(struct rl_sim *s, uint32_t core, uint32_t nports)
{
	for (uint32_t i = core; i <= core + nports; i++) {
		s->is_ready[i] = false;
		s->role[i].ext_ns = s->key[i] = RL_NEVER;
	}
	s->pending[s->role[core].dev].due = 0;
	sim_heap_put(s, core, RL_NEVER);
}

/* The first frames that its ports will take are fetched. */
static void
dev_warm(const struct rl_sim *s, uint32_t core, uint32_t nports)
{
	for (uint32_t i = core + 1; i <= core + nports; i++) {
		const struct rl_sim_frame *f = s->role[i].rx->head;

		if (f == NULL)
			continue;
		__builtin_prefetch(f->next);
		for (uint32_t b = 0; b < SIM_WARM_BYTES; b += RL_CACHE_LINE)
			__builtin_prefetch(f->data + b);
	}
}

/* What the next device is made of is fetched while another one runs. */
static void
dev_warm_next(const struct rl_sim *s)
{
	const uint32_t core = sim_heap_second(s);
	const uint32_t nports = s->role[core].rc->nports;

	rl_core_prefetch(s->role[core].state);
	for (uint32_t i = core + 1; i <= core + nports; i++) {
		rl_port_prefetch(s->role[i].state);
		rl_port_prefetch_far(s->role[i].state);
	}
	dev_warm(s, core, nports);
}

/* A device runs until @p end_ns. */
static void
dev_run(struct rl_sim *s, uint32_t core, uint64_t end_ns)
{
	const uint32_t nports = s->role[core].rc->nports;
	const uint32_t dev = s->role[core].dev;
	const uint64_t from_ns = s->now_ns;
	uint64_t next;

	if (rl_unlikely(s->dead[dev])) {
		dev_dead(s, core, nports);
		return;
	}
	s->running = dev;
	dev_warm(s, core, nports);
	while ((next = dev_instant(s, core, nports)) < end_ns)
		s->now_ns = rl_max_u64(next, s->now_ns);
	s->running = SIM_NO_DEV;
	s->now_ns = from_ns;
	sim_heap_put(s, core, next);
}

/*
 * How long devices may go on by themselves: as long as nobody hears of anybody
 * else but by wire. Faults, the controller, links that doze, and whoever looks
 * at both ends of a link at once see more.
 */
static uint64_t
turn_alone_ns(const struct rl_sim *s)
{
	if (!s->p.apart || s->todo.n != 0 || s->ctl != NULL || s->p.doze ||
	    s->p.check_packets)
		return 1;
	/* a frame has a byte, at least */
	return rl_min_u64(s->p.wire.latency_ns + 1,
			  rl_max_u64(s->p.notice_ns, 1));
}

void
sim_turn_run(struct rl_sim *s, uint64_t until_ns)
{
	const uint64_t other_ns =
		rl_max_u64(sim_next_other(s), s->now_ns + 1);
	const uint64_t end_ns =
		rl_min_u64(rl_deadline(s->now_ns, turn_alone_ns(s)),
			   rl_min_u64(other_ns, until_ns));

	while (s->nheap != 0 && s->heap[0].key_ns < end_ns) {
		if (s->nheap > 1)
			dev_warm_next(s);
		dev_run(s, s->heap[0].role, end_ns);
	}
}
