/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CTL_PRIV_H
#define CTL_PRIV_H

/**
 * @file
 * The inside of the controller. Who does what:
 *
 *   ctl.c         phases: the one writer, and what each timer does
 *   ctl_hold.c    traffic is held until it has left the fabric, or in vain
 *   ctl_links.c   what is known of links and devices, and what changed
 *   ctl_step.c    one step at a time to all devices, until all have answered
 *   ctl_rx.c      messages
 *   ctl_plan.c    planned changes, and steps by hand
 *   ctl_record.c  recoveries as they are reported
 *   ctl_tokens.c  new tables by tokens
 */

#include "rl_controller.h"
#include "rl_plant.h"

/* What one end of a link said last. */
struct ctl_end {
	uint32_t ver;
	uint32_t order_ver; /* of a port order that is not confirmed; 0 */
	uint8_t state; /* enum rl_resil_link; UNKNOWN: nothing */
	uint8_t order; /* enum rl_local_port_order */
	bool order_sent;
	bool ack_owed; /* ver is to be confirmed; it is in the ring */
};

struct ctl_link {
	bool ok;      /* as of the newest job or change */
	bool removed; /* by command, or failed from the start */
	bool avoided; /* degraded: left before it dies [RES-7] */
	bool down;    /* its ports were ordered down */
	bool left;    /* for its degrading alone: it still works */
	uint64_t ok_ns;	   /* usable from then on; RL_NEVER: an end is dead */
	uint64_t train_ns; /* dead, but taken to be up until then; 0: not */
};

struct ctl_dev {
	uint64_t local_inc; /* 0: never heard of */
	uint64_t answered;  /* newest step it has answered */
	uint64_t sent_ns;   /* when it was last told, RL_NEVER: not yet */
	uint64_t asked_ns;  /* since when it owes an answer */
	uint64_t heard_ns;  /* when it said anything last */
	uint64_t activity;
	uint32_t gave_up; /* newest report of packets without a way */
	uint32_t table_epoch;
	uint32_t hold_epoch;
	uint32_t stage_epoch; /* that it changes to by tokens; 0: none */
	uint8_t hold;	 /* as it says */
	bool quiet;
	bool still; /* quiet at the look before, too, and nothing passed */
	bool waits;	 /* its ports wait for tables */
	bool silent;
	bool removed;
	bool ack_owed;	 /* gave_up is to be confirmed; it is in the ring */
	bool unsure;	 /* was ordered tables, and did not answer */
	bool starts;	 /* waits, and the tables being installed know it */
};

struct rl_controller {
	struct rl_controller_params p;
	enum rl_controller_phase phase;
	uint64_t phase_ns;  /* since when */
	uint64_t due_ns;    /* timer of the phase */
	uint64_t look_ns;   /* DRAIN: when to look next */
	uint64_t retry_ns;  /* when to try again by itself; RL_NEVER */
	uint32_t fails;	    /* recoveries that failed in a row */
	uint32_t restarts;  /* computations begun anew in a row */

	uint32_t epoch;	    /* newest tables ordered or computed */
	uint32_t made;	    /* those that are being put in place */
	uint32_t table_epoch; /* that all are to have */
	uint64_t step;	    /* number of the newest order */
	enum rl_resil_hold hold; /* ordered */
	uint32_t hold_epoch;
	uint32_t stage;	    /* tables to change to by tokens; 0: none */
	bool pass;	    /* all are prepared for that */
	bool start;	    /* ports that wait may train now */
	uint32_t owing;	    /* devices that owe an answer to the step */
	uint32_t unsent;    /* devices that are to be told now */
	uint32_t cursor;    /* where the search for one goes on */
	uint64_t renew_ns;  /* HOLD's lease: when to say it again */
	uint64_t links_ns;  /* when a link's time runs out */
	uint64_t resend_ns; /* when to look who did not answer */
	uint64_t slow_ns;   /* slowest answer to this step yet */
	uint64_t trip_ns;   /* slowest answer to a step, smoothed... */
	uint64_t trip_dev_ns; /* ... and how much it differs */
	uint32_t passed;    /* PASS: devices that have had all tokens */
	uint32_t port_owed; /* port orders not confirmed */
	uint32_t port_ver;
	uint64_t port_ns;   /* when they go again */
	uint32_t ack_head;  /* reports to be confirmed: ring of ends, and of
			       devices behind them */
	uint32_t ack_tail;
	uint32_t ack_mask;
	uint32_t *ack;

	bool changed;	    /* links or devices, since the newest job... */
	enum rl_cause why;  /* and the first of these changes */
	uint32_t what;
	uint64_t why_ns;
	uint32_t changes;
	bool manual;	    /* quiesced by hand */
	bool rescue;	    /* held when it began: half an install was found */
	bool escalate;	    /* holding some flows was not enough */
	bool renewed;	    /* packets were given up, and tables made for that:
			       the next time something has to change first */
	bool late;	    /* no tables beside those of a silent device */
	bool avoid;	    /* the newest tables avoid what is degraded */
	bool cut;	    /* they leave somebody out */
	bool tokens;	    /* they may come by tokens, too */
	bool job_owed;
	uint64_t pause_ns;  /* since when something is held; RL_NEVER */
	uint64_t hold_ns;   /* since when what is held now is */

	struct rl_recovery cur;	   /* the recovery that goes on */
	bool recording;
	struct rl_recovery record[RL_RECOVERIES];
	uint32_t nrecord;

	struct ctl_link *link; /* [nlink] */
	struct ctl_end *end;   /* [2 * nlink] */
	struct ctl_dev *dev;   /* [ndev] */
	/* the newest job's */
	uint8_t *job_link_ok;
	uint8_t *job_dev_ok;
	uint32_t *job_present;
	uint8_t *job_unsure;
	uint8_t *job_silent;
	uint8_t *job_waits;
};

/* ctl.c */
void ctl_set_phase(struct rl_controller *c, enum rl_controller_phase to,
		   uint64_t now_ns);
/** Something changed: absorbed in whatever phase this is. */
void ctl_changed(struct rl_controller *c, enum rl_cause cause, uint32_t what,
		 uint64_t at_ns, uint64_t now_ns);
/** A recovery failed: later it is tried again, ever later. */
void ctl_retry(struct rl_controller *c, uint64_t now_ns);
/** All devices have answered the step, or are silent. */
void ctl_step_done(struct rl_controller *c, uint64_t now_ns);
/** New tables are computed, whatever the phase was. */
void ctl_compute(struct rl_controller *c, uint64_t now_ns);
/** All go on. @p done: tables are in place, ports that waited may train. */
void ctl_release(struct rl_controller *c, bool done, uint64_t now_ns);

/** All get the newest tables. */
void ctl_install(struct rl_controller *c, uint64_t now_ns);
/** Flows there are. */
uint32_t ctl_all_flows(const struct rl_controller *c);

/* ctl_hold.c */
/** All are told to hold: @p hold, of the newest epoch. */
void ctl_hold(struct rl_controller *c, enum rl_resil_hold hold,
	      uint64_t now_ns);
/** All hold: has it left the fabric? */
void ctl_drain(struct rl_controller *c, uint64_t now_ns);
/** The answers of a look at that are here. */
void ctl_looked(struct rl_controller *c, uint64_t now_ns);
/** It takes too long. @return whether tokens pass, or more is held, instead */
bool ctl_escalate(struct rl_controller *c, uint64_t now_ns);
/** A recovery can't go on: what is held goes on, and it is tried again. */
void ctl_abort(struct rl_controller *c, uint64_t now_ns);
/** Whether somebody silent is not accounted for by the proof. */
bool ctl_unproven(const struct rl_controller *c);

/* ctl_tokens.c */
/** All prepare to change to the tables of c->epoch. */
void ctl_stage(struct rl_controller *c, uint64_t now_ns);
/** All that answer have done what they were told to. */
void ctl_tokens_step(struct rl_controller *c, uint64_t now_ns);
/** It takes too long, or somebody is missing: all are held instead. */
void ctl_tokens_fail(struct rl_controller *c, uint64_t now_ns);
/** A new controller finds devices that change to tables of @p epoch. */
void ctl_tokens_resume(struct rl_controller *c, uint32_t epoch,
		       uint64_t now_ns);

/* ctl_links.c */
void ctl_links_init(struct rl_controller *c);
/** Looks at a link anew; @return whether it has become usable, or unusable. */
bool ctl_link_removed(const struct rl_controller *c, uint32_t link);
bool ctl_link_judge(struct rl_controller *c, uint32_t link, uint64_t now_ns);
void ctl_link_said(struct rl_controller *c, uint32_t end,
		   const struct rl_resil_msg *m, uint64_t now_ns);
/** Links of a device are taken to be up for as long as training may take. */
void ctl_dev_trains(struct rl_controller *c, uint32_t dev, uint64_t now_ns);
void ctl_links_tick(struct rl_controller *c, uint64_t now_ns);
/** Whether no working link leads to a device. */
bool ctl_dev_cut(const struct rl_controller *c, uint32_t dev);
void ctl_job_fill(struct rl_controller *c);

/* ctl_step.c */
/** A new step: all devices are to be told how they shall be now. */
void ctl_step(struct rl_controller *c, uint64_t now_ns);
/** This device is to be told, and to answer. */
void ctl_tell(struct rl_controller *c, uint32_t dev, uint64_t now_ns);
/** Switches that seem to have crashed are to say that they are there. */
void ctl_ask_crashed(struct rl_controller *c, uint64_t now_ns);
/** A device spoke; @p restarted: for the first time since it began. */
void ctl_dev_heard(struct rl_controller *c, uint32_t dev, bool restarted,
		   uint64_t now_ns);
void ctl_dev_answered(struct rl_controller *c, uint32_t dev, uint64_t seq,
		      uint64_t now_ns);
/** Sends the step again to devices that answered it: renews their leases. */
void ctl_renew(struct rl_controller *c, uint64_t now_ns);
/** Time is over for those that still owe an answer: they are silent. */
void ctl_give_up_late(struct rl_controller *c);
/** How long devices that are there may take for new tables. */
uint64_t ctl_patience(const struct rl_controller *c);
/** A time limit of @p ns that leaves room for @p answers as they were seen. */
uint64_t ctl_limit(const struct rl_controller *c, uint64_t ns,
		   unsigned int answers);
bool ctl_step_tx(struct rl_controller *c, struct rl_resil_msg *m,
		 uint64_t now_ns);
/** @return whether a device has fallen silent */
bool ctl_step_tick(struct rl_controller *c, uint64_t now_ns);
/** Whether two looks in a row found all of them quiet. */
bool ctl_all_still(const struct rl_controller *c);
void ctl_msg(const struct rl_controller *c, uint32_t dev,
	     enum rl_resil_msg_type type, struct rl_resil_msg *m);

/* ctl_plan.c */
void ctl_port_order(struct rl_controller *c, uint32_t link,
		    enum rl_local_port_order order, uint64_t now_ns);
/** Ports of what is removed or avoided are ordered down: after the install. */
void ctl_plan_down(struct rl_controller *c, uint64_t now_ns);
/** Links that were left because they degrade come up again: all of them. */
void ctl_plan_back(struct rl_controller *c, uint64_t now_ns);
bool ctl_port_tx(struct rl_controller *c, struct rl_resil_msg *m,
		 uint64_t now_ns);
void ctl_port_tick(struct rl_controller *c, uint64_t now_ns);
void ctl_port_confirmed(struct rl_controller *c, uint32_t end, uint32_t ver);

/* ctl_record.c */
/** A recovery begins, for what has changed. */
void ctl_record_open(struct rl_controller *c);
/** One by hand, which has no tables: only one that fails is recorded. */
void ctl_record_quiesce(struct rl_controller *c);
void ctl_record_close(struct rl_controller *c, enum rl_outcome outcome,
		      uint64_t now_ns);
/** What was held goes on. */
void ctl_record_paused(struct rl_controller *c, uint64_t now_ns);

/* The device at an end of a link, and its port there. */
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
