/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Links at rest. If both ends would only send keepalives, and the wire between
 * them works and is empty, nothing can happen but more keepalives. So these
 * ends are not polled until a packet, an order or a fault wakes one of them.
 * Then both are put into the state as if the keepalives had been sent and
 * received on time.
 *
 * An end that trains without a peer rests alone.
 *
 * Only frames on the wire at that moment are missing. Wires with noise,
 * triggers or stalls are not at rest, nor is the silence after a cut: a fault
 * wakes both ends of its wire first.
 */

#include "sim_priv.h"

/* Whether an end, and the wire that it sends on, are at rest. */
static bool
end_rests(const struct rl_sim *s, const struct sim_end *end)
{
	const struct sim_role *r = &s->role[end->role];
	const struct sim_role *far = &s->role[end->tx->rx_role];

	return end->tx->head == NULL && !end->tx->odd && end->phy_up &&
	       end->tx->free_ps <= s->now_ns * 1000 && !s->dead[r->dev] &&
	       !s->is_ready[end->role] &&
	       rl_port_rests(r->rp->port, far->rp->port, s->now_ns);
}

bool
sim_doze(struct rl_sim *s, uint32_t role)
{
	struct sim_end *const a = s->role[role].end;
	struct sim_end *const b = s->role[a->tx->rx_role].end;

	a->calls = a->tx->dark && !s->is_ready[role] &&
		   rl_port_calls(s->role[role].rp->port);
	if (a->calls) {
		a->dozes = true;
		sim_heap_set(s, role,
			     rl_min_u64(a->rx->head == NULL ? RL_NEVER
						      : a->rx->head->at_ns,
				s->role[role].ext_ns));
		return true;
	}
	if (!end_rests(s, a) || !end_rests(s, b))
		return false;
	a->dozes = b->dozes = true;
	sim_heap_set(s, a->role, s->role[a->role].ext_ns);
	sim_heap_set(s, b->role, s->role[b->role].ext_ns);
	return true;
}

void
sim_doze_end(struct rl_sim *s, struct sim_role *r)
{
	struct sim_end *const a = r->end;
	struct sim_role *const far = &s->role[a->tx->rx_role];
	uint64_t next;

	a->dozes = false;
	rl_port_rested(r->rp->port, s->now_ns);
	if (a->calls)
		return;
	far->end->dozes = false;
	rl_port_rested(far->rp->port, s->now_ns);
	next = rl_role_port_deadline(far->rp, s->now_ns);
	if (!s->is_ready[far->end->role])
		sim_heap_set(s, far->end->role,
			     rl_min_u64(rl_max_u64(next, s->now_ns),
					far->ext_ns));
}

void
sim_doze_disturb(struct rl_sim *s, unsigned int dir)
{
	if (s->end[dir].dozes)
		sim_ready(s, s->end[dir].role);
}
