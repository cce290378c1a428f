/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The phases of a recovery.
 *
 *            something changed       gather_ns             result ready
 *   LEARN -> IDLE -----------> GATHER --------> COMPUTE ---------------+
 *             ^                  ^    changed, a few times |           |
 *             |                  +-------------------------+           |
 *             |                                         partial, full  | live
 *             |                                     +------------------+
 *             |                                     v                  |
 *             |                            HOLD -> DRAIN --- quiet ----+
 *             |                                     |                  v
 *             +-- PORTS <-- RELEASE <---------------+--------------- INSTALL
 *                              ^  timeout, or the lease of a source ended
 *                              +--- QUIET (by hand)
 *
 * A change in GATHER or COMPUTE restarts the computation, but only a few times
 * in a row: tables that do not know the newest failure are still right, because
 * links act first, and a fabric with continuous failures must get new tables
 * too. A change in a later phase waits until that recovery ends.
 *
 * How each phase fails:
 * - COMPUTE takes too long: tried again later.
 * - COMPUTE is refused: the fabric keeps its tables until something changes.
 * - HOLD or DRAIN takes too long, or a device that holds becomes silent:
 *   released and tried again. If only some flows were held and they do not
 *   drain, the same tables come by tokens, or all flows are held for them.
 * - INSTALL: a device that does not answer for install_ns keeps its old tables,
 *   and the next recovery takes that into account.
 * - RELEASE: a device that does not answer releases when its lease ends.
 */

#include <errno.h>
#include <string.h>

#include "ctl_priv.h"

#define ROUND(n) (((n) + RL_CACHE_LINE - 1) & ~(size_t)(RL_CACHE_LINE - 1))

/* Offsets of the arrays after a controller, in this order. */
struct parts {
	size_t link, end, dev, ack, link_ok, dev_ok, present, unsure, silent,
		waits, all;
	uint32_t nack;
};

static struct parts
parts_of(const struct rl_topo *t)
{
	struct parts p = { .nack = rl_pow2_ceil(2 * t->nlink + t->ndev + 1) };
	size_t at = ROUND(sizeof(struct rl_controller));

#define PART(field, n, type) (p.field = at, at += ROUND((n) * sizeof(type)))
	PART(link, t->nlink, struct ctl_link);
	PART(end, 2 * (size_t)t->nlink, struct ctl_end);
	PART(dev, t->ndev, struct ctl_dev);
	PART(ack, p.nack, uint32_t);
	PART(link_ok, t->nlink, uint8_t);
	PART(dev_ok, t->ndev, uint8_t);
	PART(present, t->ndev, uint32_t);
	PART(unsure, t->ndev, uint8_t);
	PART(silent, t->ndev, uint8_t);
	PART(waits, t->ndev, uint8_t);
#undef PART
	p.all = at;
	return p;
}

size_t
rl_controller_memsize(const struct rl_topo *topo)
{
	return parts_of(topo).all;
}

struct rl_controller *
rl_controller_init(void *mem, const struct rl_controller_params *params,
		   uint64_t now_ns)
{
	const struct parts p = parts_of(params->topo);
	struct rl_controller *c = mem;
	uint8_t *at = mem;

	memset(mem, 0, p.all);
	c->p = *params;
	c->link = (struct ctl_link *)(void *)(at + p.link);
	c->end = (struct ctl_end *)(void *)(at + p.end);
	c->dev = (struct ctl_dev *)(void *)(at + p.dev);
	c->ack = (uint32_t *)(void *)(at + p.ack);
	c->ack_mask = p.nack - 1;
	c->job_link_ok = at + p.link_ok;
	c->job_dev_ok = at + p.dev_ok;
	c->job_present = (uint32_t *)(void *)(at + p.present);
	c->job_unsure = at + p.unsure;
	c->job_silent = at + p.silent;
	c->job_waits = at + p.waits;
	c->epoch = params->epoch;
	c->phase = RL_CONTROLLER_LEARN;
	c->phase_ns = now_ns;
	c->look_ns = c->retry_ns = c->port_ns = RL_NEVER;
	c->due_ns = rl_deadline(now_ns, ctl_patience(c));
	c->pause_ns = RL_NEVER;
	ctl_links_init(c);
	ctl_step(c, now_ns);
	return c;
}

bool
rl_controller_job(struct rl_controller *c, struct rl_controller_job *job)
{
	if (!c->job_owed)
		return false;
	c->job_owed = false;
	*job = (struct rl_controller_job){
		.epoch = c->epoch,
		.mode = c->escalate || c->manual ? RL_RESIL_FULL
						 : c->p.cfg->mode,
		.link_ok = c->job_link_ok,
		.dev_ok = c->job_dev_ok,
		.present = c->job_present,
		.unsure = c->job_unsure,
		.silent = c->job_silent,
		.waits = c->job_waits,
		.renew = c->renew,
	};
	return true;
}

/* No new tables: returns to the state before the computation. */
static void
compute_failed(struct rl_controller *c, uint64_t now_ns)
{
	if (c->manual)
		ctl_set_phase(c, RL_CONTROLLER_QUIET, now_ns);
	else if (c->rescue)
		ctl_release(c, false, now_ns);
	else
		ctl_rest(c, now_ns);
}

/*
 * Ends a recovery without tables; retries it if only a late device prevented
 * it.
 */
static void
no_tables(struct rl_controller *c, int status, uint64_t now_ns)
{
	const bool late = status != -EALREADY && status != -EHOSTUNREACH;

	ctl_record_close(c, status == -EALREADY	      ? RL_OUTCOME_DONE
			    : status == -EHOSTUNREACH ? RL_OUTCOME_REFUSED
						      : RL_OUTCOME_TIMEOUT,
			 now_ns);
	if (late)
		ctl_retry(c, now_ns);
	c->late = late;
	compute_failed(c, now_ns);
}

void
rl_controller_done(struct rl_controller *c,
		   const struct rl_controller_result *r, uint64_t now_ns)
{
	if (c->phase != RL_CONTROLLER_COMPUTE || r->epoch != c->epoch)
		return;
	c->restarts = 0;
	c->renew = false;
	c->cur.compute_ns = r->compute_ns;
	c->cur.prove_ns = r->prove_ns;
	c->cur.mode = r->mode;
	if (r->status != 0) {
		no_tables(c, r->status, now_ns);
		return;
	}
	if (c->p.at_rest && !c->manual && ctl_unproven(c)) {
		/*
		 * the fabric would not come to rest, so do not stop traffic for
		 * it
		 */
		ctl_record_close(c, RL_OUTCOME_TIMEOUT, now_ns);
		ctl_retry(c, now_ns);
		compute_failed(c, now_ns);
		return;
	}
	c->avoid = r->avoided;
	c->cut = r->cut;
	c->tokens = r->tokens;
	if (r->mode == RL_RESIL_PARTIAL)
		c->cur.held_flows = r->held_flows;
	if (r->mode == RL_RESIL_FULL)
		c->cur.held_flows = ctl_all_flows(c);
	if (r->mode == RL_RESIL_LIVE || c->manual || c->rescue)
		ctl_install(c, now_ns);
	else if (r->mode == RL_RESIL_TOKENS)
		ctl_stage(c, now_ns);
	else
		ctl_hold(c, r->mode == RL_RESIL_PARTIAL ? RL_RESIL_HOLD_FLOWS
							: RL_RESIL_HOLD_ALL,
			 now_ns);
}

/* All devices that answer have the new tables. */
static void
installed(struct rl_controller *c, uint64_t now_ns)
{
	c->cur.install_ns = now_ns - c->phase_ns;
	for (uint32_t i = 0; i < c->p.topo->ndev; i++)
		c->cur.silent += c->dev[i].silent && !ctl_dev_cut(c, i);
	c->fails = 0;
	c->escalate = false;
	if (c->manual) {
		ctl_record_close(c, RL_OUTCOME_DONE, now_ns);
		ctl_set_phase(c, RL_CONTROLLER_QUIET, now_ns);
		return;
	}
	ctl_release(c, true, now_ns);
}

/*
 * All devices have reported their state. If an earlier controller died during
 * an install, devices have different tables: no device gets new ones before
 * their mix is proven. If that controller had stopped traffic for the install,
 * all traffic stays stopped until there are tables.
 */
static void
learned(struct rl_controller *c, uint64_t now_ns)
{
	uint32_t lowest = UINT32_MAX, highest = 0, staged = 0;
	bool held = false;

	for (uint32_t i = 0; i < c->p.topo->ndev; i++) {
		const struct ctl_dev *d = &c->dev[i];

		held = held || d->hold != RL_RESIL_HOLD_NONE;
		staged = rl_max_u32(staged, d->stage_epoch);
		if (d->local_inc == 0 || d->waits)
			continue;
		lowest = rl_min_u32(lowest, d->table_epoch);
		highest = rl_max_u32(highest, d->table_epoch);
	}
	if (staged != 0 && !held && staged >= highest) {
		c->table_epoch = lowest;
		ctl_tokens_resume(c, staged, now_ns);
		return;
	}
	if (lowest >= highest || RL_PLANTED(RESIL_NO_LEARN)) {
		c->table_epoch = highest;
		/* these tables may leave out links that have returned since:
		   this controller does not know what they were made from */
		if (highest != 0)
			ctl_changed(c, RL_CAUSE_CONTROLLER, 0, now_ns, now_ns);
		ctl_release(c, false, now_ns);
		return;
	}
	ctl_changed(c, RL_CAUSE_CONTROLLER, 0, now_ns, now_ns);
	c->rescue = held;
	if (held)
		ctl_hold(c, RL_RESIL_HOLD_ALL, now_ns);
	else
		ctl_release(c, false, now_ns);
}

void
ctl_step_done(struct rl_controller *c, uint64_t now_ns)
{
	switch (c->phase) {
	case RL_CONTROLLER_LEARN:
		learned(c, now_ns);
		return;
	case RL_CONTROLLER_HOLD:
		ctl_drain(c, now_ns);
		return;
	case RL_CONTROLLER_DRAIN:
		if (c->look_ns == RL_NEVER)
			ctl_looked(c, now_ns);
		return;
	case RL_CONTROLLER_PASS:
		if (c->look_ns == RL_NEVER)
			ctl_tokens_step(c, now_ns);
		return;
	case RL_CONTROLLER_STAGE:
		ctl_tokens_step(c, now_ns);
		return;
	case RL_CONTROLLER_INSTALL:
		installed(c, now_ns);
		return;
	case RL_CONTROLLER_RELEASE:
		ctl_released(c, now_ns);
		return;
	case RL_CONTROLLER_IDLE:
	case RL_CONTROLLER_GATHER:
	case RL_CONTROLLER_COMPUTE:
	case RL_CONTROLLER_QUIET:
	case RL_CONTROLLER_PORTS:
		return;
	}
}

/* Handles the timeout of a phase. */
static void
phase_timeout(struct rl_controller *c, uint64_t now_ns)
{
	switch (c->phase) {
	case RL_CONTROLLER_GATHER:
		ctl_compute(c, now_ns);
		return;
	case RL_CONTROLLER_COMPUTE:
		ctl_record_close(c, RL_OUTCOME_TIMEOUT, now_ns);
		c->job_owed = false;
		ctl_retry(c, now_ns);
		compute_failed(c, now_ns);
		return;
	case RL_CONTROLLER_HOLD:
	case RL_CONTROLLER_DRAIN:
		if (!ctl_escalate(c, now_ns))
			ctl_abort(c, now_ns);
		return;
	case RL_CONTROLLER_STAGE:
	case RL_CONTROLLER_PASS:
		ctl_tokens_fail(c, now_ns);
		return;
	case RL_CONTROLLER_LEARN:
	case RL_CONTROLLER_INSTALL:
	case RL_CONTROLLER_RELEASE:
		ctl_give_up_late(c); /* they may be alive, but too late */
		ctl_step_done(c, now_ns);
		return;
	case RL_CONTROLLER_PORTS: /* orders still owed are sent later */
		ctl_rest(c, now_ns);
		return;
	case RL_CONTROLLER_IDLE:
	case RL_CONTROLLER_QUIET:
		c->due_ns = RL_NEVER;
		return;
	}
}

/* Devices became silent: continues the step without them, if that is safe. */
static void
silence(struct rl_controller *c, uint64_t now_ns)
{
	if (ctl_unproven(c) && (c->phase == RL_CONTROLLER_HOLD ||
			    c->phase == RL_CONTROLLER_DRAIN)) {
		ctl_abort(c, now_ns); /* the device may not hold */
		return;
	}
	if (c->owing == 0)
		ctl_step_done(c, now_ns);
}

void
rl_controller_tick(struct rl_controller *c, uint64_t now_ns)
{
	ctl_links_tick(c, now_ns);
	if (ctl_step_tick(c, now_ns))
		silence(c, now_ns);
	if (now_ns >= c->due_ns)
		phase_timeout(c, now_ns);
	if ((c->phase == RL_CONTROLLER_DRAIN ||
	     c->phase == RL_CONTROLLER_PASS) && now_ns >= c->look_ns) {
		c->look_ns = RL_NEVER;
		ctl_step(c, now_ns);
	} else if (c->hold != RL_RESIL_HOLD_NONE && c->owing == 0 &&
		   c->phase != RL_CONTROLLER_DRAIN && now_ns >= c->renew_ns) {
		ctl_step(c, now_ns); /* a new step with the same state */
	} else if (c->hold != RL_RESIL_HOLD_NONE && now_ns >= c->renew_ns) {
		ctl_renew(c, now_ns); /* a device is late */
	}
	if (now_ns >= c->retry_ns && c->phase == RL_CONTROLLER_IDLE)
		ctl_changed(c, RL_CAUSE_RETRY, 0, now_ns, now_ns);
	ctl_port_tick(c, now_ns);
}

uint64_t
rl_controller_deadline(const struct rl_controller *c)
{
	uint64_t t = rl_min_u64(c->due_ns, c->links_ns);

	if (c->unsent != 0 || c->ack_head != c->ack_tail || c->job_owed)
		return 0;
	t = rl_min_u64(t, c->resend_ns);
	if (c->phase == RL_CONTROLLER_DRAIN || c->phase == RL_CONTROLLER_PASS)
		t = rl_min_u64(t, c->look_ns);
	if (c->hold != RL_RESIL_HOLD_NONE)
		t = rl_min_u64(t, c->renew_ns);
	if (c->phase == RL_CONTROLLER_IDLE)
		t = rl_min_u64(t, c->retry_ns);
	if (c->port_owed != 0)
		t = rl_min_u64(t, c->port_ns);
	return t;
}

bool
rl_controller_idle(const struct rl_controller *c)
{
	return c->phase == RL_CONTROLLER_IDLE && !c->changed &&
	       c->retry_ns == RL_NEVER && c->links_ns == RL_NEVER;
}

int
rl_controller_quiesce(struct rl_controller *c, uint64_t now_ns)
{
	if (c->manual)
		return -EALREADY;
	if (c->phase != RL_CONTROLLER_IDLE)
		return -EBUSY;
	c->manual = true;
	c->epoch++;
	ctl_job_fill(c); /* devices that are silent now are not waited for */
	ctl_hold(c, RL_RESIL_HOLD_ALL, now_ns);
	return 0;
}

int
rl_controller_reroute(struct rl_controller *c, uint64_t now_ns)
{
	if (c->phase == RL_CONTROLLER_IDLE) {
		ctl_changed(c, RL_CAUSE_COMMAND, 0, now_ns, now_ns);
		return 0;
	}
	if (c->phase != RL_CONTROLLER_QUIET)
		return -EBUSY;
	ctl_changed(c, RL_CAUSE_COMMAND, 0, now_ns, now_ns);
	ctl_compute(c, now_ns);
	return 0;
}

int
rl_controller_unquiesce(struct rl_controller *c, uint64_t now_ns)
{
	if (!c->manual)
		return -EINVAL;
	if (c->phase != RL_CONTROLLER_QUIET)
		return -EBUSY;
	c->manual = false;
	ctl_release(c, true, now_ns);
	return 0;
}
