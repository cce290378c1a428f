/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CTL_PRIV_H
#define CTL_PRIV_H

/**
 * @file
 * The inside of the controller:
 *
 *   ctl.c         phases: their only writer, and the timer of each
 *   ctl_hold.c    holds traffic until it has left the fabric, or until it fails
 *   ctl_links.c   what is known of links and devices, and what changed
 *   ctl_step.c    sends one step at a time to all devices until all answered
 *   ctl_rx.c      messages
 *   ctl_plan.c    planned changes, and steps by hand
 *   ctl_record.c  records of recoveries
 *   ctl_tokens.c  new tables by tokens
 */

#include "rl_controller.h"
#include "rl_plant.h"

/* The newest report from one end of a link. */
struct ctl_end {
	uint32_t ver;
	uint32_t order_ver; /* of a port order that is not confirmed; or 0 */
	uint8_t state; /* enum rl_resil_link; UNKNOWN: no report yet */
	uint8_t order; /* enum rl_local_port_order */
	bool order_sent;
	bool ack_owed; /* ver must be confirmed; it is in the ring */
};

struct ctl_link {
	bool ok;      /* as of the newest job or change */
	bool removed; /* by command, or failed from the start */
	bool avoided; /* degraded: not used, as it may die [RES-7] */
	bool down;    /* its ports were ordered down */
	bool left;    /* still works: down only because degraded */
	uint64_t ok_ns;	   /* usable from then on; RL_NEVER: an end is dead */
	uint64_t train_ns; /* dead, but counts as up until then; or 0 */
};

struct ctl_dev {
	uint64_t local_inc; /* 0: never heard of */
	uint64_t answered;  /* newest step it answered */
	uint64_t sent_ns;   /* when it was last told; RL_NEVER: not yet */
	uint64_t asked_ns;  /* when its outstanding answer was asked for */
	uint64_t heard_ns;  /* when it last said anything */
	uint64_t activity;
	uint32_t gave_up; /* newest report of packets given up */
	uint32_t table_epoch;
	uint32_t hold_epoch;
	uint32_t stage_epoch; /* tables that it changes to by tokens; or 0 */
	uint8_t hold;	 /* as it reports */
	bool quiet;
	bool still; /* quiet in two checks, and nothing passed between */
	bool waits;	 /* its ports wait for tables */
	bool silent;
	bool removed;
	bool ack_owed;	 /* gave_up must be confirmed; it is in the ring */
	bool unsure;	 /* ordered to install tables, did not answer */
	bool starts;	 /* waits, and the tables being installed allow for
			    it */
};

struct rl_controller {
	struct rl_controller_params p;
	enum rl_controller_phase phase;
	uint64_t phase_ns;  /* when it began */
	uint64_t due_ns;    /* when it times out */
	uint64_t look_ns;   /* DRAIN: time of the next check */
	uint64_t retry_ns;  /* time of the next automatic attempt; RL_NEVER */
	uint32_t fails;	    /* consecutive failed recoveries */
	uint32_t restarts;  /* consecutive restarts of a computation */

	uint32_t epoch;	    /* newest tables ordered or computed */
	uint32_t made;	    /* tables that are being installed */
	uint32_t table_epoch; /* tables that all devices are to have */
	uint64_t step;	    /* number of the newest order */
	enum rl_resil_hold hold; /* as ordered */
	uint32_t hold_epoch;
	uint32_t stage;	    /* tables to change to by tokens; 0: none */
	bool pass;	    /* all devices are prepared to change */
	bool start;	    /* waiting ports may train now */
	uint32_t owing;	    /* devices that owe an answer to the step */
	uint32_t unsent;    /* devices that must be told now */
	uint32_t cursor;    /* where the search for one continues */
	uint64_t renew_ns;  /* when to renew the lease of HOLD */
	uint64_t links_ns;  /* when a timer of a link expires */
	uint64_t resend_ns; /* when to look for missing answers */
	uint64_t slow_ns;   /* slowest answer to this step so far */
	uint64_t trip_ns;   /* slowest answer to a step, smoothed */
	uint64_t trip_dev_ns; /* its mean deviation */
	uint32_t passed;    /* PASS: devices that got all tokens */
	uint32_t port_owed; /* port orders not confirmed */
	uint32_t port_ver;
	uint64_t port_ns;   /* when to send them again */
	uint32_t ack_head;  /* reports to be confirmed: a ring of ends, and of
			       devices after them */
	uint32_t ack_tail;
	uint32_t ack_mask;
	uint32_t *ack;

	bool changed;	    /* links or devices, since the newest job */
	enum rl_cause why;  /* the first of these changes */
	uint32_t what;
	uint64_t why_ns;
	uint32_t changes;
	bool manual;	    /* quiesced by hand */
	bool rescue;	    /* began held: found a half-done install */
	bool escalate;	    /* holding some flows was not enough */
	bool renewed;	    /* new tables were made because packets were given
			       up: do so again only after another change */
	bool renew;	    /* the next tables are not left to detours */
	bool late;	    /* not proven beside the tables of a silent
			       device */
	bool avoid;	    /* the newest tables avoid degraded links */
	bool cut;	    /* they leave an endpoint without a path */
	bool tokens;	    /* they may come by tokens, too */
	bool job_owed;
	uint64_t pause_ns;  /* when holding began; RL_NEVER: nothing is held */
	uint64_t hold_ns;   /* when the present hold began */

	struct rl_recovery cur;	   /* the recovery in progress */
	bool recording;
	struct rl_recovery record[RL_RECOVERIES];
	uint32_t nrecord;

	struct ctl_link *link; /* [nlink] */
	struct ctl_end *end;   /* [2 * nlink] */
	struct ctl_dev *dev;   /* [ndev] */
	/* arrays of the newest job */
	uint8_t *job_link_ok;
	uint8_t *job_dev_ok;
	uint32_t *job_present;
	uint8_t *job_unsure;
	uint8_t *job_silent;
	uint8_t *job_waits;
};

/* ctl_phase.c */
void ctl_set_phase(struct rl_controller *c, enum rl_controller_phase to,
		   uint64_t now_ns);
/** Takes note of a change; what follows depends on the phase. */
void ctl_changed(struct rl_controller *c, enum rl_cause cause, uint32_t what,
		 uint64_t at_ns, uint64_t now_ns);
/** Ends a recovery: pending changes start the next one. */
void ctl_rest(struct rl_controller *c, uint64_t now_ns);
/** A recovery failed: schedules the next attempt, with a growing delay. */
void ctl_retry(struct rl_controller *c, uint64_t now_ns);

/* ctl_enter.c */
/** Computes new tables, from any phase that allows it. */
void ctl_compute(struct rl_controller *c, uint64_t now_ns);
/** Orders all devices to install the newest tables. */
void ctl_install(struct rl_controller *c, uint64_t now_ns);
/**
 * Releases all traffic. @p done: tables are installed, and waiting ports may
 * train.
 */
void ctl_release(struct rl_controller *c, bool done, uint64_t now_ns);
/** All devices have released theirs. */
void ctl_released(struct rl_controller *c, uint64_t now_ns);

/* ctl.c */
/** All devices have answered the step or are silent. */
void ctl_step_done(struct rl_controller *c, uint64_t now_ns);

/* ctl_hold.c */
/** Orders all devices to hold: @p hold, for the newest epoch. */
void ctl_hold(struct rl_controller *c, enum rl_resil_hold hold,
	      uint64_t now_ns);
/** All devices hold: waits until held traffic has left the fabric. */
void ctl_drain(struct rl_controller *c, uint64_t now_ns);
/** Evaluates the answers to a quiescence check. */
void ctl_looked(struct rl_controller *c, uint64_t now_ns);
/**
 * Ends a recovery that cannot go on: releases traffic and schedules a retry.
 */
void ctl_abort(struct rl_controller *c, uint64_t now_ns);
/** @return whether the proof does not cover a silent device */
bool ctl_unproven(const struct rl_controller *c);

/* ctl_tokens.c */
/** Draining takes too long. @return whether tokens or a larger hold follow */
bool ctl_escalate(struct rl_controller *c, uint64_t now_ns);
/** Orders all devices to prepare for the tables of c->epoch. */
void ctl_stage(struct rl_controller *c, uint64_t now_ns);
/** All devices that answer have done their step. */
void ctl_tokens_step(struct rl_controller *c, uint64_t now_ns);
/** Tokens take too long, or a device is missing: holds all traffic instead. */
void ctl_tokens_fail(struct rl_controller *c, uint64_t now_ns);
/** A new controller found devices that change to the tables of @p epoch. */
void ctl_tokens_resume(struct rl_controller *c, uint32_t epoch,
		       uint64_t now_ns);

/* ctl_links.c */
void ctl_links_init(struct rl_controller *c);
/** Re-evaluates a link. @return whether its usability changed */
bool ctl_link_removed(const struct rl_controller *c, uint32_t link);
bool ctl_link_judge(struct rl_controller *c, uint32_t link, uint64_t now_ns);
void ctl_link_said(struct rl_controller *c, uint32_t end,
		   const struct rl_resil_msg *m, uint64_t now_ns);
/** Counts the links of a device as up for as long as they may train. */
void ctl_dev_trains(struct rl_controller *c, uint32_t dev, uint64_t now_ns);
void ctl_links_tick(struct rl_controller *c, uint64_t now_ns);
/** @return whether no working link leads to a device */
bool ctl_dev_cut(const struct rl_controller *c, uint32_t dev);
void ctl_job_fill(struct rl_controller *c);

/* ctl_step.c */
/** Starts a new step: all devices must be told their new state. */
void ctl_step(struct rl_controller *c, uint64_t now_ns);
/** Tells this device the step again, and expects an answer. */
void ctl_tell(struct rl_controller *c, uint32_t dev, uint64_t now_ns);
/** Asks switches that seem to have crashed to answer. */
void ctl_ask_crashed(struct rl_controller *c, uint64_t now_ns);
/** A device sent a message; @p restarted: the first one since it started. */
void ctl_dev_heard(struct rl_controller *c, uint32_t dev, bool restarted,
		   uint64_t now_ns);
void ctl_dev_answered(struct rl_controller *c, uint32_t dev, uint64_t seq,
		      uint64_t now_ns);
/** Sends the step again to devices that answered it, to renew their leases. */
void ctl_renew(struct rl_controller *c, uint64_t now_ns);
/** Time is up: marks devices that still owe an answer as silent. */
void ctl_give_up_late(struct rl_controller *c);
/** @return how long responsive devices may take to install tables */
uint64_t ctl_patience(const struct rl_controller *c);
/** @return @p ns plus time for @p answers answers, as slow as recently seen */
uint64_t ctl_limit(const struct rl_controller *c, uint64_t ns,
		   unsigned int answers);
bool ctl_step_tx(struct rl_controller *c, struct rl_resil_msg *m,
		 uint64_t now_ns);
/** @return whether a device became silent */
bool ctl_step_tick(struct rl_controller *c, uint64_t now_ns);
/** @return whether all devices were quiet in two checks in a row */
bool ctl_all_still(const struct rl_controller *c);
void ctl_msg(const struct rl_controller *c, uint32_t dev,
	     enum rl_resil_msg_type type, struct rl_resil_msg *m);

/* ctl_plan.c */
/** After the install, orders ports of removed or avoided links down. */
void ctl_removed_down(struct rl_controller *c, uint64_t now_ns);
/** A port that has restarted knows nothing of what it was ordered: again. */
void ctl_port_again(struct rl_controller *c, uint32_t end, uint64_t now_ns);
/** Brings all links back that are down only because they are degraded. */
void ctl_degraded_back(struct rl_controller *c, uint64_t now_ns);
bool ctl_port_tx(struct rl_controller *c, struct rl_resil_msg *m,
		 uint64_t now_ns);
void ctl_port_tick(struct rl_controller *c, uint64_t now_ns);
void ctl_port_confirmed(struct rl_controller *c, uint32_t end, uint32_t ver);

/* ctl_record.c */
/** @return number of flows of the fabric */
uint32_t ctl_all_flows(const struct rl_controller *c);
/** Opens the record of a recovery for the pending changes. */
void ctl_record_open(struct rl_controller *c);
/** Opens one for a quiesce by hand; it is kept only if the quiesce fails. */
void ctl_record_quiesce(struct rl_controller *c);
void ctl_record_close(struct rl_controller *c, enum rl_outcome outcome,
		      uint64_t now_ns);
/** Adds the time for which traffic was held. */
void ctl_record_paused(struct rl_controller *c, uint64_t now_ns);

/* Device at an end of a link, and its port there. */
static inline uint32_t
ctl_end_dev(const struct rl_controller *c, uint32_t end)
{
	return c->p.topo->link[end / 2].dev[end % 2];
}

static inline uint16_t
ctl_end_port(const struct rl_controller *c, uint32_t end)
{
	return c->p.topo->link[end / 2].port[end % 2];
}

#endif /* CTL_PRIV_H */
