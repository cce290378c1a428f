/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_LOCAL_H
#define RL_LOCAL_H

/**
 * @file
 * The local controller of a device [RES-1]: reports what its ports detect, and
 * passes the orders of the controller on to ports, core and client.
 *
 * Pure: events, messages and the time go in; messages, actions and a deadline
 * come out. One thread owns it, usually the control thread of the host. The
 * host forwards each action to the lcore concerned.
 *
 * When something happened, or at rl_local_deadline(), the host does:
 *
 *   rl_local_link(), rl_local_rx()         what happened
 *   rl_local_tick()
 *   while (rl_local_action()) ...          do it; INSTALL: rl_local_installed()
 *                                          when the core has the tables;
 *                                          STAGE: rl_local_staged()
 *   if (rl_local_asked()) rl_local_answer()  with the present state
 *   while (rl_local_tx()) ...              send it
 *
 * A device holds by lease: if the controller becomes silent, the device
 * releases by itself, and then refuses tables that were meant for a fabric at
 * rest.
 */

#include "rl_resil_cfg.h"
#include "rl_resil_msg.h"

RL_PUBLIC_BEGIN

/** An order to a port; the `link` of RL_RESIL_PORT. */
enum rl_local_port_order {
	RL_LOCAL_PORT_NONE,
	RL_LOCAL_PORT_UP,
	RL_LOCAL_PORT_DOWN,
	RL_LOCAL_PORT_DRAIN, /**< down once it is empty */
};

enum rl_local_action_type {
	RL_LOCAL_INSTALL, /**< give the core the tables of `epoch` */
	RL_LOCAL_HOLD,	  /**< hold as `hold` says; FLOWS: the flows of
			       `epoch` */
	RL_LOCAL_RELEASE, /**< hold nothing; the client may go on */
	RL_LOCAL_STAGE,	  /**< prepare the core for the tables of `epoch` */
	RL_LOCAL_PASS,	  /**< all devices are prepared: rl_core_pass() */
	RL_LOCAL_START,	  /**< ports that waited for tables begin to train */
	RL_LOCAL_PORT,	  /**< carry out `order` on `port` */
	RL_LOCAL_NO_TABLES, /**< no tables are coming: packets without a path
				 stop waiting, rl_core_await_routes() */
};

struct rl_local_action {
	enum rl_local_action_type type;
	enum rl_resil_hold hold;
	enum rl_local_port_order order;
	uint32_t epoch;
	uint16_t port;
};

/** State of a device, for rl_local_answer(). */
struct rl_local_view {
	/** nothing that must be held is queued, sent or unacknowledged: FLOWS:
	    of those flows; ALL: of any flow. While tokens pass: all tokens have
	    arrived and left */
	bool quiet;
	uint64_t activity; /**< grows with every packet that passes */
};

struct rl_local_params {
	const struct rl_resil_cfg *cfg;
	uint32_t dev;
	uint16_t nports;
	uint64_t incarnation; /**< higher than any earlier one of this device */
	/** the device restarts in a running fabric: its ports do not train
	    until the controller has given it tables */
	bool waits;
	/** sources hold longer than switches: see local.c */
	bool endpoint;
	/** as in rl_controller_params: a device that missed an install does not
	    catch up while packets pass */
	bool at_rest;
};

struct rl_local;

/** Any thread. @return bytes of a local controller */
size_t rl_local_memsize(uint16_t nports);

/**
 * Control thread. Builds one in @p mem and returns it (== mem); @p p is copied.
 */
struct rl_local *rl_local_init(void *mem, const struct rl_local_params *p,
			       uint64_t now_ns);

/**
 * Owner. A port detected that its link is up, dead or degraded. This replaces
 * an older report that was not sent yet. If a port reports nothing for four
 * train_ns after the first one came up, or after the first order of a
 * controller, its link is reported dead.
 */
void rl_local_link(struct rl_local *l, uint16_t port, enum rl_resil_link state,
		   uint8_t detector, uint64_t t_ns);

/**
 * Owner. The watchdog of the core has given up packets. Reported once, until
 * the controller sends other tables [DRL-7].
 */
void rl_local_gave_up(struct rl_local *l, uint64_t t_ns);

/**
 * Owner. @return whether no controller answers, as far as is known: then
 * packets do not wait for new tables when a link dies
 */
bool rl_local_alone(const struct rl_local *l);

/** Owner. Takes a message; foreign and outdated ones are ignored. */
void rl_local_rx(struct rl_local *l, const struct rl_resil_msg *m,
		 uint64_t now_ns);

/** Owner. Runs timers: repetitions and the lease. */
void rl_local_tick(struct rl_local *l, uint64_t now_ns);

/**
 * Owner. @return whether it is still open which links of a starting device are
 * dead: from the first link up or the first order, until all have come up or
 * died, or until the time limit
 */
bool rl_local_trains(const struct rl_local *l);

/**
 * Owner. Ports may have had no turn lately: the time limit for links that have
 * not come up is at least train_ns from now.
 */
void rl_local_late(struct rl_local *l, uint64_t now_ns);

/** Owner. @return whether @p a was filled with something to do now */
bool rl_local_action(struct rl_local *l, struct rl_local_action *a);

/** Owner. Confirms INSTALL: the core has the tables of @p epoch. */
void rl_local_installed(struct rl_local *l, uint32_t epoch);

/** Owner. Confirms STAGE: the core is prepared for the tables of @p epoch. */
void rl_local_staged(struct rl_local *l, uint32_t epoch);

/** Owner. @return whether an order waits for rl_local_answer() */
bool rl_local_asked(const struct rl_local *l);
void rl_local_answer(struct rl_local *l, const struct rl_local_view *view);

/** Owner. @return whether @p m was filled with a message to be sent now */
bool rl_local_tx(struct rl_local *l, struct rl_resil_msg *m, uint64_t now_ns);

/** Owner. @return when rl_local_tick() or rl_local_tx() must be called even if
    nothing happens; RL_NEVER: not at all */
uint64_t rl_local_deadline(const struct rl_local *l);

/** A local controller as `show controller` prints it. */
struct rl_local_info {
	uint32_t table_epoch;
	uint32_t want_epoch; /**< newest epoch ordered */
	enum rl_resil_hold hold;
	uint32_t hold_epoch;
	uint32_t stage_epoch;	/**< tables that it changes to by tokens; 0:
				     none */
	bool passes;		/**< tokens are on their way, as far as it
				     knows */
	uint32_t reports;	/**< not confirmed */
	uint32_t lease_ends;	/**< times that its lease ended */
	bool waits;
};

void rl_local_info(const struct rl_local *l, struct rl_local_info *info);

RL_PUBLIC_END

#endif /* RL_LOCAL_H */
