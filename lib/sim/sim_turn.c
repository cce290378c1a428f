/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A device's turn, as an lcore of the host has it: what has come to each port,
 * what becomes of it in the core, and what goes. Whoever of the device is woken,
 * the device has a turn, one for all of it that is due at an instant.
 *
 * An lcore looks at every port in every turn, as it cannot know. Here it is
 * known: a port that nobody has woken, and whose own time has not come, has
 * nothing to take; it has nothing to send unless its core was polled, and did
 * anything or gave back credits. So these halves of a turn are left out.
 */

#include "sim_priv.h"

void
sim_turn_ready(struct rl_sim *s, uint32_t role)
{
	const uint32_t core = s->dev_role[s->role[role].dev];

	if (s->in_ring[core])
		return;
	s->in_ring[core] = true;
	s->ready[s->ready_tail++ & s->ready_mask] = core;
}

/* What has come to the ports. */
static void
turn_in(struct rl_sim *s, uint32_t core, uint16_t nports)
{
	struct sim_role *r = &s->role[core];

	for (uint32_t p = 1; p <= nports; p++) {
		r[p].sends = s->is_ready[core + p];
		if (!r[p].sends)
			continue;
		s->is_ready[core + p] = false;
		sim_role_begin(s, &r[p]);
		if (r[p].end->dozes)
			sim_doze_end(s, &r[p]);
		if (rl_role_port_in(r[p].rp, s->now_ns) == 0)
			s->st.idle_polls++;
		else if (r[p].rp->moved != 0 ||
			 rl_core_tx_pending(r->rc->core, (uint16_t)(p - 1)))
			s->is_ready[core] = true;
	}
}

/* What goes: of all of them, where the core has done anything. */
static void
turn_out(struct rl_sim *s, uint32_t core, uint16_t nports, bool all)
{
	struct sim_role *r = &s->role[core];

	for (uint32_t p = 1; p <= nports; p++) {
		if (!all && !r[p].sends)
			continue;
		if (r[p].end->dozes)
			sim_doze_end(s, &r[p]);
		if (rl_role_port_out(r[p].rp, s->now_ns) != 0 &&
		    rl_core_tx_pending(r->rc->core, (uint16_t)(p - 1)))
			sim_wake_at(s, core, s->now_ns + SIM_SPIN_PORT_NS);
		sim_port_polled(s, core + p);
	}
}

/* Nobody polls a device that is dead. */
static void
turn_dead(struct rl_sim *s, uint32_t core, uint16_t nports)
{
	for (uint32_t i = core; i <= core + nports; i++) {
		s->is_ready[i] = false;
		s->role[i].ext_ns = RL_NEVER;
	}
	s->in_ring[core] = false;
}

void
sim_turn(struct rl_sim *s, uint32_t dev)
{
	const uint32_t core = s->dev_role[dev];
	const uint16_t nports = s->role[core].rc->nports;
	struct rl_sim_mem *mem = s->mem;
	bool all = false, again = false;

	if (s->dead[dev]) {
		turn_dead(s, core, nports);
		return;
	}
	if (rl_unlikely(mem->cache.count < SIM_FLITS_LOW))
		sim_flits_grow(mem); /* if not: as on lcores, flits run out */
	turn_in(s, core, nports);
	if (s->is_ready[core]) {
		s->is_ready[core] = false;
		all = sim_poll_core(s, core) != 0;
	}
	turn_out(s, core, nports, all);
	s->in_ring[core] = false; /* until now, so that it is not put there */
	for (uint32_t i = core; i <= core + nports; i++)
		again |= s->is_ready[i];
	if (again)
		sim_turn_ready(s, core);
	s->st.flits_peak = rl_max_u64(s->st.flits_peak,
				      mem->flits - mem->cache.count);
}
