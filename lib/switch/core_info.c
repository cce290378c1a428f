/* SPDX-License-Identifier: BSD-3-Clause */

/* Queries on a core, and the end of a run. */

#include "core_priv.h"

static void
flush_queue(struct rl_core *core, struct rl_pktq *q)
{
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(q)) != NULL) {
		core_free_credit(core, pkt);
		rl_packet_put(core->p.cache, pkt);
	}
}

static void
flush_room(struct rl_core *core)
{
	struct rl_wait_flow *f;
	bool more;

	rl_wait_look_all(core->wait);
	while ((f = rl_wait_look(core->wait)) != NULL) {
		struct rl_flit *pkt = rl_wait_pop(core->wait, f, &more);

		core_free_credit(core, pkt);
		rl_packet_put(core->p.cache, pkt);
	}
	core->kept = 0;
}

void
rl_core_flush(struct rl_core *core)
{
	for (uint16_t i = 0; i < core->p.nports; i++) {
		struct core_port *cp = &core->port[i];

		for (unsigned int vc = 0; vc < RL_VCS; vc++) {
			core_fair_level(core, cp, vc);
			flush_queue(core, &cp->q[vc]);
			flush_queue(core, &cp->begun[vc].rest);
			cp->begun[vc].on = false;
		}
		cp->qmask = 0;
	}
	/* nothing waits for tokens; the tables may be gone, and are not read */
	core_set_ways(core, core->fwd);
	flush_queue(core, &core->local);
	flush_queue(core, &core->local_held);
	flush_room(core);
}

const struct rl_fwd *
rl_core_fwd(const struct rl_core *core)
{
	return core->fwd;
}

enum rl_egress_state
rl_core_egress_state(const struct rl_core *core, uint16_t port)
{
	return core->port[port].state;
}

uint32_t
rl_core_held(const struct rl_core *core, uint16_t port)
{
	return rl_wait_at(core->wait, port)->flits;
}

uint32_t
rl_core_flits(const struct rl_core *core)
{
	uint32_t n = core->local.flits + core->local_held.flits +
		     core->wait->flits + core_pass_flits(core);

	for (uint16_t i = 0; i < core->p.nports; i++) {
		const struct core_port *cp = &core->port[i];

		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			n += cp->q[vc].flits + cp->begun[vc].rest.flits;
	}
	return n;
}

bool
rl_core_idle(const struct rl_core *core)
{
	return core->unsettled == 0 && rl_core_flits(core) == 0;
}

uint32_t
rl_core_transit(const struct rl_core *core)
{
	const uint32_t stays =
		core->still && core_all_stay(core)
			? core->wait->flits
			: rl_wait_at(core->wait, RL_WAIT_NOWAY)->flits;

	return rl_core_flits(core) - stays;
}

void
rl_core_wait_info(const struct rl_core *core, struct rl_core_wait_info *info)
{
	const struct rl_wait *w = core->wait;
	const struct rl_wait_place *noway = rl_wait_at(w, RL_WAIT_NOWAY);

	*info = (struct rl_core_wait_info){
		.packets = w->packets,
		.flits = w->flits,
		.no_way_packets = noway->packets,
		.no_way_flits = noway->flits,
		.lent_flits = w->lent_flits,
		.budget_flits = w->p.budget_flits,
		.kept_packets = core->kept,
		.steps = w->steps,
	};
}

const uint64_t *
rl_core_counters(const struct rl_core *core)
{
	return core->c;
}

RL_NAMES(rl_core_counter_name, enum rl_core_counter,
	 RL_CORE_COUNTERS(RL_OWN_NAME))

RL_NAMES(rl_egress_state_name, enum rl_egress_state, RL_EGRESS_STATES(RL_WORD))

void
rl_core_inject_room(const struct rl_core *core, uint32_t limit_flits,
		    uint32_t room[RL_SLS])
{
	for (unsigned int sl = 0; sl < RL_SLS; sl++)
		room[sl] = limit_flits -
			   rl_min_u32(core->own_flits[sl], limit_flits);
}
