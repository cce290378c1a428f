/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_LOCAL_H
#define RL_LOCAL_H

/**
 * @file
 * The local controller of a device [RES-1]: reports what its ports find out,
 * and carries the controller's orders to them, to the core and to the client.
 *
 * Pure: events, messages and the time go in; messages, actions and a deadline
 * come out. It belongs to one thread, the host's control thread as a rule: an
 * action is the host's to pass on to the lcore concerned.
 *
 * A host does, whenever something happened or rl_local_deadline() is reached:
 *
 *   rl_local_link(), rl_local_rx()         what happened
 *   rl_local_tick()
 *   while (rl_local_action()) ...          do it; INSTALL: rl_local_installed()
 *                                          when the core has the tables;
 *                                          STAGE: rl_local_staged()
 *   if (rl_local_asked()) rl_local_answer()  with how the device stands now
 *   while (rl_local_tx()) ...              send it
 *
 * What it holds it holds by lease: where the controller falls silent, the
 * device goes on by itself, and will not take tables that were meant for a
 * fabric at rest.
 */

#include "rl_resil_cfg.h"
#include "rl_resil_msg.h"

/** What a port is ordered to do; RL_RESIL_PORT's `link`. */
enum rl_local_port_order {
	RL_LOCAL_PORT_NONE,
	RL_LOCAL_PORT_UP,
	RL_LOCAL_PORT_DOWN,
	RL_LOCAL_PORT_DRAIN, /**< down when it has run empty */
};

enum rl_local_action_type {
	RL_LOCAL_INSTALL, /**< give the core the tables of `epoch` */
	RL_LOCAL_HOLD,	  /**< hold as `hold` says; with FLOWS those of `epoch` */
	RL_LOCAL_RELEASE, /**< hold nothing; the client may go on */
	RL_LOCAL_STAGE,	  /**< prepare the core for the tables of `epoch` */
	RL_LOCAL_PASS,	  /**< all are prepared: rl_core_pass() */
	RL_LOCAL_START,	  /**< ports that waited for tables begin to train */
	RL_LOCAL_PORT,	  /**< `order` for `port` */
	RL_LOCAL_NO_TABLES, /**< none are coming: packets without a way no
				 longer wait for them, rl_core_await_routes() */
};

struct rl_local_action {
	enum rl_local_action_type type;
	enum rl_resil_hold hold;
	enum rl_local_port_order order;
	uint32_t epoch;
	uint16_t port;
};

/** How a device stands: what rl_local_answer() tells. */
struct rl_local_view {
	/** nothing queued, sent or unacknowledged that is held for: with FLOWS
	    of those flows, with ALL of anything; while tokens pass: they have
	    come in and left here */
	bool quiet;
	uint64_t activity; /**< grows with every packet that passes */
};

struct rl_local_params {
	const struct rl_resil_cfg *cfg;
	uint32_t dev;
	uint16_t nports;
	uint64_t incarnation; /**< higher than any that this device had */
	/** the device begins anew in a running fabric: its ports do not train
	    until the controller has given it tables */
	bool waits;
	/** sources hold longer than switches: see local.c */
	bool endpoint;
	/** as in rl_controller_params: who has slept through an install does
	    not make up for it while packets pass */
	bool at_rest;
};

struct rl_local;

/** Any thread. Bytes of a local controller, 64-byte aligned. */
size_t rl_local_memsize(uint16_t nports);

/** Control thread. Builds one in @p mem; returns it (== mem). */
struct rl_local *rl_local_init(void *mem, const struct rl_local_params *p,
			       uint64_t now_ns);

/**
 * Owner. A port found out that its link is up, dead or degraded. What was not
 * yet told of it is replaced. Of a port that never finds out anything it is told
 * that it is dead, four train_ns after the first one has come up.
 */
void rl_local_link(struct rl_local *l, uint16_t port, enum rl_resil_link state,
		   uint8_t detector, uint64_t t_ns);

/**
 * Owner. The watchdog of the core has given up packets: the controller is told,
 * once until it sends other tables [DRL-7].
 */
void rl_local_gave_up(struct rl_local *l, uint64_t t_ns);

/**
 * Owner. Whether no controller answers, as far as is known: then packets do not
 * wait for new tables when a link dies.
 */
bool rl_local_alone(const struct rl_local *l);

/** Owner. A message that arrived; foreign and old ones are thrown away. */
void rl_local_rx(struct rl_local *l, const struct rl_resil_msg *m,
		 uint64_t now_ns);

/** Owner. Timers: what goes again, the lease. */
void rl_local_tick(struct rl_local *l, uint64_t now_ns);

/** Owner. Whether links have yet to come up that @p l has waited for since the
 * first one did. */
bool rl_local_trains(const struct rl_local *l);

/**
 * Owner. Ports of this process have had no turn meanwhile: links that train have
 * at least train_ns more.
 */
void rl_local_late(struct rl_local *l, uint64_t now_ns);

/** Owner. @return whether @p a was filled with something to do now */
bool rl_local_action(struct rl_local *l, struct rl_local_action *a);

/** Owner. The core has the tables of @p epoch. */
void rl_local_installed(struct rl_local *l, uint32_t epoch);

/** Owner. The core is prepared to change to the tables of @p epoch. */
void rl_local_staged(struct rl_local *l, uint32_t epoch);

/** Owner. Whether the controller waits to hear how the device stands. */
bool rl_local_asked(const struct rl_local *l);
void rl_local_answer(struct rl_local *l, const struct rl_local_view *view);

/** Owner. @return whether @p m was filled with a message to be sent now */
bool rl_local_tx(struct rl_local *l, struct rl_resil_msg *m, uint64_t now_ns);

/** Owner. When rl_local_tick() or rl_local_tx() has something to do by itself;
    RL_NEVER: only when something happens. */
uint64_t rl_local_deadline(const struct rl_local *l);

/** A local controller as `show controller` sees it. */
struct rl_local_info {
	uint32_t table_epoch;
	uint32_t want_epoch; /**< newest that it was ordered */
	enum rl_resil_hold hold;
	uint32_t hold_epoch;
	uint32_t stage_epoch;	/**< tables that it changes to; 0: none */
	bool passes;		/**< tokens are under way, as far as it knows */
	uint32_t reports;	/**< not known to have arrived */
	uint32_t lease_ends;	/**< times that it went on by itself */
	bool waits;
};

void rl_local_info(const struct rl_local *l, struct rl_local_info *info);

#endif /* RL_LOCAL_H */
