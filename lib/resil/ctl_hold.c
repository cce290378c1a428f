/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Holds some flows or all traffic [RES-1, RES-6] until packets that have left
 * their sources have also left the fabric. This is observed, not assumed: two
 * checks in a row must find all devices quiet. Timeouts and aborts are handled
 * here, too.
 */

#include "ctl_priv.h"

/*
 * Share of quiesce_ns in which the held flows must have arrived, if only some
 * are.
 */
#define FLOWS_SHARE 8

/*
 * The time limit allows for this many answers: to the order and to a few
 * checks.
 */
#define HOLD_ANSWERS 16

/*
 * A fabric that did not come to rest in time may only be slow: each further try
 * has twice the time, up to this many times. An order by hand has one try, and
 * all of that time.
 */
#define HOLD_DOUBLINGS 3

/*
 * Time limit of a hold. If only some flows are held, their packets must arrive;
 * packets that wait for the new tables never will. So after a short time all
 * traffic is held instead, which only requires that nothing moves. Modes that
 * forbid a full hold use the whole limit.
 */
static uint64_t
hold_limit(const struct rl_controller *c)
{
	const uint32_t tries = c->manual ? HOLD_DOUBLINGS : c->fails;
	const uint64_t ns = c->p.cfg->quiesce_ns
			    << rl_min_u32(tries, HOLD_DOUBLINGS);
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
 * A silent device is not covered if the tables are not proven together with its
 * old ones and it still has a working link. If packets must stay in order on
 * the way, no silent device is covered: newer packets could overtake those it
 * holds.
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

void
ctl_looked(struct rl_controller *c, uint64_t now_ns)
{
	if (ctl_unproven(c)) { /* the link of a silent device has returned */
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
	/* not installed: devices that wait for tables still do */
	ctl_release(c, false, now_ns);
}
