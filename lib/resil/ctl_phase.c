/* SPDX-License-Identifier: BSD-3-Clause */

/* Which phase a recovery is in, and what starts the next one; ctl.c has the
   picture. */

#include "ctl_priv.h"

/* Consecutive computations that a change may interrupt. */
#define RESTARTS_MAX 4
#define FAILS_MAX 10

#define TO(phase) (1u << RL_CONTROLLER_##phase)

/* The phases that may follow each. */
static const uint16_t phase_next[] = {
	[RL_CONTROLLER_LEARN] = TO(RELEASE) | TO(HOLD) | TO(STAGE) |
				TO(INSTALL),
	[RL_CONTROLLER_IDLE] = TO(GATHER) | TO(HOLD) | TO(PORTS),
	[RL_CONTROLLER_GATHER] = TO(COMPUTE),
	[RL_CONTROLLER_COMPUTE] = TO(IDLE) | TO(GATHER) | TO(COMPUTE) |
				  TO(HOLD) | TO(STAGE) | TO(INSTALL) |
				  TO(RELEASE) | TO(QUIET),
	[RL_CONTROLLER_HOLD] = TO(DRAIN) | TO(HOLD) | TO(STAGE) | TO(RELEASE),
	[RL_CONTROLLER_DRAIN] = TO(QUIET) | TO(HOLD) | TO(STAGE) | TO(COMPUTE) |
				TO(INSTALL) | TO(RELEASE),
	[RL_CONTROLLER_QUIET] = TO(COMPUTE) | TO(RELEASE),
	[RL_CONTROLLER_STAGE] = TO(PASS) | TO(HOLD),
	[RL_CONTROLLER_PASS] = TO(INSTALL) | TO(HOLD),
	[RL_CONTROLLER_INSTALL] = TO(QUIET) | TO(RELEASE),
	[RL_CONTROLLER_RELEASE] = TO(PORTS) | TO(IDLE),
	[RL_CONTROLLER_PORTS] = TO(IDLE),
};

/* The only writer of the phase. */
void
ctl_set_phase(struct rl_controller *c, enum rl_controller_phase to,
	      uint64_t now_ns)
{
	RL_ASSERT(phase_next[c->phase] >> to & 1);
	c->phase = to;
	c->phase_ns = now_ns;
	c->due_ns = RL_NEVER;
}

static void
ctl_gather(struct rl_controller *c, uint64_t now_ns)
{
	ctl_set_phase(c, RL_CONTROLLER_GATHER, now_ns);
	c->due_ns = rl_deadline(now_ns, c->p.cfg->gather_ns);
}

void
ctl_changed(struct rl_controller *c, enum rl_cause cause, uint32_t what,
	    uint64_t at_ns, uint64_t now_ns)
{
	if (c->changes++ == 0) {
		c->why = cause;
		c->what = what;
		c->why_ns = at_ns;
	}
	c->renewed = cause == RL_CAUSE_GAVE_UP;
	c->renew = c->renew || c->renewed || cause == RL_CAUSE_COMMAND;
	c->changed = !RL_PLANTED(RESIL_CHANGE_LOST) ||
		     c->phase <= RL_CONTROLLER_COMPUTE;
	c->retry_ns = RL_NEVER;
	if (c->phase == RL_CONTROLLER_IDLE) {
		ctl_gather(c, now_ns);
	} else if (c->phase == RL_CONTROLLER_COMPUTE && !c->manual &&
		   !c->rescue && c->restarts < RESTARTS_MAX) {
		c->restarts++;
		ctl_record_close(c, RL_OUTCOME_SUPERSEDED, now_ns);
		ctl_gather(c, now_ns);
	}
}

void
ctl_rest(struct rl_controller *c, uint64_t now_ns)
{
	ctl_set_phase(c, RL_CONTROLLER_IDLE, now_ns);
	if (c->changed)
		ctl_gather(c, now_ns);
}

void
ctl_retry(struct rl_controller *c, uint64_t now_ns)
{
	if (RL_PLANTED(RESIL_NO_RETRY))
		return;
	c->retry_ns = rl_deadline(now_ns, c->p.cfg->retry_ns << c->fails);
	if (c->fails < FAILS_MAX)
		c->fails++;
}
