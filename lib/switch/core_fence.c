/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fences: whether traffic that moves from one egress to another is across, see
 * core_failover.c.
 */

#include "core_priv.h"

void
core_set_due(struct rl_core *core, struct core_port *cp, uint64_t due_ns)
{
	cp->due_ns = due_ns;
	core_arm(core, due_ns);
}

/* Sends a fence through every egress that carries traffic, for a restore. */
static void
core_fence(struct rl_core *core, struct core_port *cp, uint64_t now_ns)
{
	cp->fence_gen = ++core->fence_gen;
	for (uint16_t i = 0; i < core->p.nports; i++) {
		struct core_port *other = &core->port[i];

		if (other->state != RL_EGRESS_ALIVE)
			continue;
		other->fence_want = cp->fence_gen;
		for (unsigned int vc = 0; vc < RL_VCS; vc++) {
			core_fair_level(core, other, vc);
			other->fence_at[vc] = other->ended[vc] +
					      other->q[vc].packets +
					      other->begun[vc].on;
		}
	}
	core_set_due(core, cp, now_ns);
}

/*
 * Traffic moves from a dead port to others, or back to one that returns: once
 * all of it is queued, restores wait until it is across.
 */
void
core_fence_again(struct rl_core *core, uint64_t now_ns)
{
	core->fence_owed = true;
	core_arm(core, now_ns);
}

void
core_fence_all(struct rl_core *core, uint64_t now_ns)
{
	core->fence_owed = false;
	for (uint16_t i = 0; i < core->p.nports; i++)
		if (core->port[i].state == RL_EGRESS_RESTORE)
			core_fence(core, &core->port[i], now_ns);
}

/* Whether every egress that carried rerouted traffic has answered its fence. */
bool
core_fences_done(const struct rl_core *core, uint32_t gen)
{
	for (uint16_t i = 0; i < core->p.nports; i++) {
		const struct core_port *cp = &core->port[i];

		if (cp->state == RL_EGRESS_ALIVE &&
		    !rl_seq_before(cp->fence_want, gen) &&
		    rl_seq_before(cp->fence_done, gen))
			return false;
	}
	return true;
}

bool
core_drains(const struct rl_core *core)
{
	for (uint16_t i = 0; i < core->p.nports; i++)
		if (core->port[i].state == RL_EGRESS_LEAVE ||
		    core->port[i].state == RL_EGRESS_DRAIN ||
		    core->port[i].state == RL_EGRESS_DELAY)
			return true;
	return false;
}
