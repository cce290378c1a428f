/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * New tables by tokens [RES-5]: nothing is held or drained.
 *
 *   COMPUTE --> STAGE --> PASS --> INSTALL --> RELEASE
 *                 |         |
 *                 +---------+--> HOLD --> DRAIN --> ...   hold all instead
 *
 * It can also start from HOLD or DRAIN, if some flows are held and do not drain
 * in time and the same tables may come by tokens: devices release in STAGE.
 *
 * STAGE    Every device gets the new tables beside the old ones, and the ranks
 *          of its channels. Nothing changes yet.
 * PASS     All devices have them. Sources send by the new tables, after a token
 *          on each channel, and switches pass tokens on (core_pass.c). A device
 *          that got all of its tokens reports that it is quiet.
 * INSTALL  confirms this to all devices; those that have changed do nothing.
 *
 * If a device does not answer, or tokens do not arrive in time (for example
 * because one was lost in a crash), all traffic is held for the same tables:
 * packets behind a missing token wait for a path, the rest leaves the fabric,
 * and the tables are installed at rest. A new controller learns from the
 * devices that tokens are on their way, and continues. If one device has the
 * new tables installed, all tokens have arrived.
 */

#include "ctl_priv.h"

/* Share of quiesce_ns that tokens may take. */
#define PASS_SHARE 8
/* The limit of PASS allows for this many answers. */
#define TOKENS_ANSWERS 32

static uint64_t
pass_end(const struct rl_controller *c, uint64_t now_ns)
{
	return rl_deadline(now_ns, ctl_limit(c, c->p.cfg->quiesce_ns /
							PASS_SHARE,
					     TOKENS_ANSWERS));
}

void
ctl_stage(struct rl_controller *c, uint64_t now_ns)
{
	ctl_set_phase(c, RL_CONTROLLER_STAGE, now_ns);
	c->hold_ns = now_ns;
	c->hold = RL_RESIL_HOLD_NONE;
	c->due_ns = rl_deadline(now_ns, ctl_patience(c));
	ctl_record_paused(c, now_ns);
	c->stage = c->made;
	c->pass = RL_PLANTED(RESIL_PASS_EARLY);
	ctl_step(c, now_ns);
}

static void
ctl_pass(struct rl_controller *c, uint64_t now_ns)
{
	ctl_set_phase(c, RL_CONTROLLER_PASS, now_ns);
	c->due_ns = pass_end(c, now_ns);
	c->look_ns = RL_NEVER;
	c->passed = 0;
	c->pass = true;
	ctl_step(c, now_ns);
}

/* Whether all devices got their tokens. Progress extends the time limit. */
static bool
all_passed(struct rl_controller *c, uint64_t now_ns)
{
	uint32_t passed = 0, owed = 0;

	for (uint32_t i = 0; i < c->p.topo->ndev; i++) {
		passed += c->dev[i].quiet;
		owed += !c->dev[i].quiet && !c->dev[i].silent;
	}
	if (passed > c->passed) {
		c->passed = passed;
		c->due_ns = pass_end(c, now_ns);
	}
	return owed == 0;
}

void
ctl_tokens_step(struct rl_controller *c, uint64_t now_ns)
{
	if (ctl_unproven(c)) {
		ctl_tokens_fail(c, now_ns);
	} else if (c->phase == RL_CONTROLLER_STAGE) {
		ctl_pass(c, now_ns);
	} else if (!all_passed(c, now_ns)) {
		c->look_ns = rl_deadline(now_ns, c->p.cfg->observe_ns);
	} else {
		c->cur.quiesce_ns = now_ns - c->hold_ns;
		c->stage = 0;
		c->pass = false;
		ctl_install(c, now_ns);
	}
}

void
ctl_tokens_fail(struct rl_controller *c, uint64_t now_ns)
{
	c->stage = 0;
	c->pass = false;
	c->cur.mode = RL_RESIL_FULL;
	c->cur.held_flows = ctl_all_flows(c);
	ctl_hold(c, RL_RESIL_HOLD_ALL, now_ns);
}

void
ctl_tokens_resume(struct rl_controller *c, uint32_t epoch, uint64_t now_ns)
{
	c->epoch = rl_max_u32(c->epoch, epoch);
	c->made = epoch;
	ctl_changed(c, RL_CAUSE_CONTROLLER, 0, now_ns, now_ns);
	ctl_record_open(c);
	c->cur.mode = RL_RESIL_TOKENS;
	c->cur.epoch = epoch;
	for (uint32_t i = 0; i < c->p.topo->ndev; i++)
		if (c->dev[i].table_epoch == epoch) {
			ctl_install(c, now_ns);
			return;
		}
	ctl_stage(c, now_ns);
}

/*
 * The held flows have not left the fabric in time: packets that wait for the
 * new tables never will. Release them and bring the same tables by tokens or,
 * if that is not possible, hold all traffic instead. The tables stay the same:
 * if all devices are at rest, they need no proof beyond their own. A device
 * without an answer and without links has usually crashed; then it is faster to
 * release and to start again without it.
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
