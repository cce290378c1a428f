/* SPDX-License-Identifier: BSD-3-Clause */

/* Enters the phases that more than one way leads to. */

#include "ctl_priv.h"

/* The time limit of RELEASE allows for this many answers. */
#define RELEASE_ANSWERS 2

void
ctl_compute(struct rl_controller *c, uint64_t now_ns)
{
	ctl_set_phase(c, RL_CONTROLLER_COMPUTE, now_ns);
	c->due_ns = rl_deadline(now_ns, c->p.cfg->compute_ns);
	c->made = ++c->epoch;
	ctl_record_open(c);
	c->cur.detect_ns = now_ns - rl_min_u64(now_ns, c->cur.at_ns);
	c->changed = c->late = false;
	c->changes = 0;
	c->job_owed = true;
	ctl_job_fill(c);
	/* use the time of the computation to find crashed devices */
	ctl_ask_crashed(c, now_ns);
}

void
ctl_install(struct rl_controller *c, uint64_t now_ns)
{
	ctl_set_phase(c, RL_CONTROLLER_INSTALL, now_ns);
	c->due_ns = rl_deadline(now_ns, ctl_patience(c));
	c->table_epoch = c->made;
	ctl_step(c, now_ns);
}

/* Lets the links of waiting devices train. @return whether there are any. */
static bool
starts(struct rl_controller *c, uint64_t now_ns)
{
	bool any = false;

	for (uint32_t i = 0; i < c->p.topo->ndev; i++) {
		if (!c->dev[i].starts)
			continue;
		any = true;
		ctl_dev_trains(c, i, now_ns);
	}
	return any;
}

void
ctl_released(struct rl_controller *c, uint64_t now_ns)
{
	const bool paused = c->pause_ns != RL_NEVER;

	if (c->recording) {
		c->cur.unquiesce_ns = paused ? now_ns - c->phase_ns : 0;
		ctl_record_paused(c, now_ns);
		ctl_record_close(c, RL_OUTCOME_DONE, now_ns);
	}
	c->pause_ns = RL_NEVER;
	if (c->start && c->cut) /* a degraded link is better than none */
		ctl_degraded_back(c, now_ns);
	if (c->start)
		ctl_removed_down(c, now_ns);
	c->start = false;
	if (c->port_owed == 0) {
		ctl_rest(c, now_ns);
		return;
	}
	ctl_set_phase(c, RL_CONTROLLER_PORTS, now_ns);
	c->due_ns = rl_deadline(now_ns, c->p.cfg->train_ns);
}

void
ctl_release(struct rl_controller *c, bool done, uint64_t now_ns)
{
	const bool tell = c->hold != RL_RESIL_HOLD_NONE || !done;

	ctl_set_phase(c, RL_CONTROLLER_RELEASE, now_ns);
	c->due_ns = rl_deadline(now_ns, ctl_limit(c, c->p.cfg->answer_ns,
						  RELEASE_ANSWERS));
	c->hold = RL_RESIL_HOLD_NONE;
	c->rescue = false;
	c->start = done;
	if (!(done && starts(c, now_ns)) && !tell) {
		ctl_released(c, now_ns);
		return;
	}
	ctl_step(c, now_ns);
}
