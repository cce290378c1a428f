/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_DEVICE_H
#define RL_DEVICE_H

/**
 * @file
 * A device: a core, its ports, an endpoint and its client where it is one, and
 * what its local controller has it do. What is decided for a device stands here
 * once; hosts (lcores, simulator, bench, unit tests) give time, memory, pipes
 * and wires.
 *
 * Threads: the core's thread makes all calls that take a `struct rl_device`.
 * Ports may run on other lcores, and are reached by their mailboxes and pipes.
 * What an order names (tables, lists of flows) belongs to the thread that has
 * `struct rl_tables`: it fills in the order before the device gets it, and is
 * told when the device is done.
 */

#include "rl_check_mix.h"
#include "rl_local.h"
#include "rl_role.h"
#include "rl_tables.h"

struct rl_device {
	struct rl_role_core core;
	struct rl_role_port *port; /**< nports */
	uint16_t nports;
	bool foreign;  /**< another process runs it */
	bool whole;    /**< one thread runs all of its roles */
	_Atomic bool alone; /**< rl_device_alone() */
	uint32_t life; /**< times it has been made again */
	/* what it is made of, for the next time */
	uint64_t seed;
	struct rl_port_params *port_params; /**< nports */
	struct rl_core_params core_params;
	struct rl_ep_params ep_params;
};

/** What a local controller orders, with what it names. */
struct rl_device_order {
	struct rl_local_action act;
	const struct rl_fwd *fwd;	/**< of INSTALL; NULL: overtaken */
	const struct rl_fwd_pass *pass; /**< of STAGE, PASS; NULL: overtaken */
	const struct rl_flows *flows;	/**< of HOLD; NULL: holds none */
};

/**
 * The thread that has the tables. Whether an order names any of them: only then
 * rl_device_order_find() needs them.
 */
bool rl_device_order_names(const struct rl_device_order *o);

/**
 * The thread that has the tables. Fills in what o->act names; from now on
 * device @p dev may read it.
 * @return false: something is not here. A newer order has overtaken this one, and
 *   it does nothing, or what it names comes from another process
 */
bool rl_device_order_find(struct rl_device_order *o, uint32_t dev,
			  struct rl_tables *t);

/** The core's thread. Carries out an order; ports obey at their next poll. */
void rl_device_order(struct rl_device *d, const struct rl_device_order *o,
		     uint64_t now_ns);

/**
 * The thread that has the tables and the local controller. Device @p dev has
 * carried out an order: the tables learn what it no longer reads.
 */
void rl_device_order_done(const struct rl_device_order *o, uint32_t dev,
			  struct rl_tables *t, struct rl_local *l);

/**
 * The core's thread. How a device stands, for rl_local_answer().
 *
 * @param held  what its local controller holds, and whether tokens pass
 * @param flows  those of held->hold_epoch; NULL: holds none
 */
void rl_device_view(const struct rl_device *d, const struct rl_local_info *held,
		    const struct rl_flows *flows, struct rl_local_view *v);

/**
 * A port's thread, in a host's `port_event`. If the port has died, packets that
 * then have no path wait for new tables until @p await_ns later, unless the
 * device is alone.
 */
void rl_device_port_event(struct rl_device *d, const struct rl_port_event *ev,
			  uint64_t await_ns);

/**
 * The thread that has the local controller. Whether a controller is there: said
 * each time the local one has been served. A device is alone at first.
 */
void rl_device_alone(struct rl_device *d, bool alone);

/**
 * The thread that has the local controller. What a port or the core of its
 * device said: the controller hears of what it is to know, and no more.
 *
 * @param t_ns  when, by the time of the controllers
 * @return whether the local controller is to be served now
 */
bool rl_device_report_port(struct rl_local *l, uint16_t port,
			   const struct rl_port_event *ev, uint64_t t_ns);
bool rl_device_report_core(struct rl_local *l, const struct rl_core_event *ev,
			   uint64_t t_ns);

#endif /* RL_DEVICE_H */
