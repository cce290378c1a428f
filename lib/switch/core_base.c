/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What all of a core stands on: credits and the room that a packet takes
 * instead, deadlines, events.
 */

#include "core_priv.h"

/*
 * The flits have left the core, or the buffer they came in by: return what they
 * held: a credit, the endpoint's room to inject, or a part of the waiting
 * room's budget.
 */
void
core_free_credit(struct rl_core *core, struct rl_flit *pkt)
{
	if (rl_unlikely(pkt->flags & RL_FF_LENT)) {
		pkt->flags &= (uint8_t)~RL_FF_LENT;
		rl_wait_repay(core->wait, pkt->pkt_flits);
		return;
	}
	if (!(pkt->flags & RL_FF_CREDIT))
		return;
	pkt->flags &= (uint8_t)~RL_FF_CREDIT;
	if (pkt->in_port == RL_PORT_NONE) {
		core->own_flits[pkt->sl & (RL_SLS - 1)] -= pkt->pkt_flits;
		return;
	}
	core->freed |= 1ull << (pkt->in_port & 63);
	rl_shared_add(&core->port[pkt->in_port].shared->freed[pkt->in_vc],
		      pkt->pkt_flits);
}

uint64_t
rl_core_freed(struct rl_core *core)
{
	const uint64_t freed = core->freed;

	core->freed = 0;
	return freed;
}

uint64_t
rl_core_given(struct rl_core *core)
{
	const uint64_t given = core->given;

	core->given = 0;
	return given;
}

/* From now on the room's budget holds the packet. */
void
core_charge(struct rl_core *core, struct rl_flit *pkt)
{
	if (!RL_PLANTED(WAIT_CREDIT))
		core_free_credit(core, pkt);
	pkt->flags |= RL_FF_LENT;
	rl_wait_lend(core->wait, pkt->pkt_flits);
}

void
core_lend(struct rl_core *core, struct rl_flit *pkt)
{
	if (pkt->flags & RL_FF_CREDIT)
		core_charge(core, pkt);
}

void
core_rest_lend(struct rl_core *core, struct rl_flit *pkt)
{
	if ((pkt->flags & RL_FF_CREDIT) &&
	    rl_wait_affords(core->wait, pkt->pkt_flits))
		core_charge(core, pkt);
}

void
core_arm(struct rl_core *core, uint64_t due_ns)
{
	core->next_due_ns = rl_min_u64(core->next_due_ns, due_ns);
}

void
core_event(struct rl_core *core, enum rl_core_event_type type, uint16_t port,
	   uint32_t packets, uint64_t now_ns)
{
	if (core->ev_tail - core->ev_head == RL_CORE_EVENTS)
		core->ev_head++;
	core->ev[core->ev_tail++ % RL_CORE_EVENTS] = (struct rl_core_event){
		.t_ns = now_ns,
		.type = type,
		.port = port,
		.packets = packets,
	};
}

bool
rl_core_event_pop(struct rl_core *core, struct rl_core_event *ev)
{
	if (core->ev_head == core->ev_tail)
		return false;
	*ev = core->ev[core->ev_head++ % RL_CORE_EVENTS];
	return true;
}
