/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Traffic is held [RES-1, RES-6]: some flows or all of it, until what has left
 * its sources has left the fabric. That is observed: two looks in a row find all
 * devices quiet. The ways out are here, too.
 */

#include "ctl_priv.h"

/* Part of quiesce_ns in which some flows that are held must have arrived. */
#define FLOWS_SHARE 8

/* It is told, and looked at a few times: answers that the limit has room for. */
#define HOLD_ANSWERS 16

/*
 * How long holding may take. Flows that are held alone must have arrived, and
 * those whose packets wait for the new tables never will: then all are held,
 * soon, which asks only that nothing moves. Where that is forbidden they have
 * all of the time.
 */
static uint64_t
hold_limit(const struct rl_controller *c)
{
	const uint64_t ns = c->p.cfg->quiesce_ns;
	const bool some = c->hold == RL_RESIL_HOLD_FLOWS &&
			  c->p.cfg->mode == RL_RESIL_AUTO;

	return ctl_limit(c, some ? ns / FLOWS_SHARE : ns, HOLD_ANSWERS);
}

void
ctl_hold(struct rl_controller *c, enum rl_resil_hold hold, uint64_t now_ns)
{
	ctl_set_phase(c, RL_CONTROLLER_HOLD, now_ns);
	c->pause_ns = rl_min_u64(c->pause_ns, now_ns);
	c->hold_ns = now_ns;
	c->hold = hold;
	c->due_ns = rl_deadline(now_ns, hold_limit(c));
	c->hold_epoch = c->epoch;
	for (uint32_t i = 0; i < c->p.topo->ndev; i++)
		c->dev[i].quiet = c->dev[i].still = false;
	ctl_step(c, now_ns);
}

/*
 * Whether somebody who does not answer is not accounted for: the tables are not
 * proven with what it has, and something of it may get somewhere. Where order
 * rests on the way alone nobody is: what it has may be overtaken.
 */
bool
ctl_unproven(const struct rl_controller *c)
{
	for (uint32_t i = 0; i < c->p.topo->ndev; i++)
		if (c->dev[i].silent && !ctl_dev_cut(c, i) &&
		    (!c->job_silent[i] ||
		     (c->p.at_rest && !RL_PLANTED(RESIL_RESTLESS))))
			return true;
	return false;
}

/* The answers of a look at whether what is held has left the fabric. */
void
ctl_looked(struct rl_controller *c, uint64_t now_ns)
{
	if (ctl_unproven(c)) { /* its link has returned meanwhile */
		ctl_abort(c, now_ns);
		return;
	}
	if (!ctl_all_still(c)) {
		c->look_ns = rl_deadline(now_ns, c->p.cfg->observe_ns);
		return;
	}
	c->look_ns = RL_NEVER;
	if (c->recording)
		c->cur.quiesce_ns = now_ns - c->pause_ns;
	if (c->manual)
		ctl_set_phase(c, RL_CONTROLLER_QUIET, now_ns);
	else if (c->rescue)
		ctl_compute(c, now_ns);
	else
		ctl_install(c, now_ns);
}

void
ctl_drain(struct rl_controller *c, uint64_t now_ns)
{
	ctl_set_phase(c, RL_CONTROLLER_DRAIN, now_ns);
	c->due_ns = rl_deadline(c->hold_ns, hold_limit(c));
	ctl_looked(c, now_ns);
}

void
ctl_abort(struct rl_controller *c, uint64_t now_ns)
{
	const bool all = c->hold == RL_RESIL_HOLD_FLOWS && !c->escalate &&
			 c->p.cfg->mode == RL_RESIL_AUTO;

	const bool by_hand = c->manual;

	c->escalate = c->escalate || all;
	c->manual = false;
	if (by_hand)
		ctl_record_quiesce(c);
	ctl_record_close(c, RL_OUTCOME_TIMEOUT, now_ns);
	if (all)
		c->retry_ns = now_ns; /* at once */
	else if (!by_hand)
		ctl_retry(c, now_ns);
	/* not installed: who waits for tables still does */
	ctl_release(c, false, now_ns);
}

/*
 * Flows that are held alone have not left the fabric: those whose packets wait
 * for the new tables never will. They go on, and the same tables come by tokens;
 * where that may not be, all are held instead. The tables are the same:
 * at rest they need no proof but their own, where everybody comes to rest. Who
 * does not answer and has no link left has crashed, as a rule; then it is quicker
 * to release, and to begin anew without it.
 */
bool
ctl_escalate(struct rl_controller *c, uint64_t now_ns)
{
	if (c->hold != RL_RESIL_HOLD_FLOWS ||
	    c->p.cfg->mode != RL_RESIL_AUTO || RL_PLANTED(RESIL_NO_ESCALATION))
		return false;
	for (uint32_t i = 0; i < c->p.topo->ndev; i++)
		if (c->dev[i].silent ||
		    (c->dev[i].answered != c->step && ctl_dev_cut(c, i)))
			return false;
	if (c->tokens) {
		c->cur.mode = RL_RESIL_TOKENS;
		ctl_stage(c, now_ns);
		return true;
	}
	c->cur.mode = RL_RESIL_FULL;
	c->cur.held_flows = ctl_all_flows(c);
	ctl_hold(c, RL_RESIL_HOLD_ALL, now_ns);
	return true;
}
