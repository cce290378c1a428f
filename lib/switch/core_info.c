/* SPDX-License-Identifier: BSD-3-Clause */

/* What others may ask of a core, and the end of a run. */

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

void
rl_core_flush(struct rl_core *core)
{
	for (uint16_t i = 0; i < core->p.nports; i++) {
		struct core_port *cp = &core->port[i];

		for (unsigned int vc = 0; vc < RL_VCS; vc++) {
			flush_queue(core, &cp->q[vc]);
			flush_queue(core, &cp->begun[vc].rest);
			cp->begun[vc].on = false;
		}
		cp->qmask = 0;
		flush_queue(core, &cp->hold);
	}
	flush_queue(core, &core->local);
	flush_queue(core, &core->local_held);
	flush_queue(core, &core->stranded);
	core->stranded_due_ns = RL_NEVER;
}

enum rl_egress_state
rl_core_egress_state(const struct rl_core *core, uint16_t port)
{
	return core->port[port].state;
}

uint32_t
rl_core_held(const struct rl_core *core, uint16_t port)
{
	return core->port[port].hold.flits;
}

uint32_t
rl_core_flits(const struct rl_core *core)
{
	uint32_t n = core->local.flits + core->local_held.flits +
		     core->stranded.flits;

	for (uint16_t i = 0; i < core->p.nports; i++) {
		const struct core_port *cp = &core->port[i];

		n += cp->hold.flits;
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

const uint64_t *
rl_core_counters(const struct rl_core *core)
{
	return core->c;
}

const char *
rl_core_counter_name(enum rl_core_counter c)
{
	static const char *const names[] = {
#define RL_CORE_NAME(name) #name,
		RL_CORE_COUNTERS(RL_CORE_NAME)
#undef RL_CORE_NAME
	};

	return c < RL_CORE_COUNTER_COUNT ? names[c] : "?";
}

const char *
rl_egress_state_name(enum rl_egress_state s)
{
	static const char *const names[] = {
#define RL_EGRESS_NAME(name, word) word,
		RL_EGRESS_STATES(RL_EGRESS_NAME)
#undef RL_EGRESS_NAME
	};

	return (unsigned int)s < RL_ARRAY_SIZE(names) ? names[s] : "?";
}
