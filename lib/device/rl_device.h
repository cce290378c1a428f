/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_DEVICE_H
#define RL_DEVICE_H

/**
 * @file
 * A device: a core, its ports, for an endpoint also the endpoint object and its
 * client, and the orders of its local controller. All decisions for a device
 * are made here once; hosts (lcores, simulator, bench, unit tests) supply time,
 * memory, pipes and wires.
 *
 * Threads: the core's thread makes all calls that take a `struct rl_device`,
 * unless stated otherwise. Ports may run on other lcores, and are reached by
 * their mailboxes and pipes. What an order names (tables, lists of flows)
 * belongs to the thread that owns `struct rl_tables`: it fills in the order
 * before the device gets it, and is told when the device is done.
 */

#include "rl_check_mix.h"
#include "rl_local.h"
#include "rl_role.h"
#include "rl_tables.h"

struct rl_device {
	struct rl_role_core core;
	struct rl_role_port *port; /**< [nports] */
	uint16_t nports;
	bool foreign;  /**< another process runs it */
	bool whole;    /**< one thread runs all of its roles */
	_Atomic bool alone; /**< rl_device_alone() */
	uint32_t life; /**< number of restarts */
	/* parameters for a restart */
	uint64_t seed;
	struct rl_port_params *port_params; /**< [nports] */
	struct rl_core_params core_params;
	struct rl_ep_params ep_params;
};

/** An order of a local controller, with the data that it names. */
struct rl_device_order {
	struct rl_local_action act;
	const struct rl_fwd *fwd;	/**< of INSTALL; NULL: superseded */
	const struct rl_fwd_pass *pass; /**< of STAGE, PASS; NULL: superseded */
	const struct rl_flows *flows;	/**< of HOLD; NULL: holds no flow */
};

/**
 * The thread that owns the tables. @return whether an order names tables or
 * flows: only then it needs rl_device_order_find()
 */
bool rl_device_order_names(const struct rl_device_order *o);

/**
 * The thread that owns the tables. Fills in what o->act names; from now on
 * device @p dev may read it.
 * @return false if it is not here: a newer order superseded this one, which
 *   then does nothing, or another process will supply it
 */
bool rl_device_order_find(struct rl_device_order *o, uint32_t dev,
			  struct rl_tables *t);

/** The core's thread. Carries out an order; ports follow at their next poll. */
void rl_device_order(struct rl_device *d, const struct rl_device_order *o,
		     uint64_t now_ns);

/**
 * The thread that owns the tables and the local controller. Device @p dev has
 * carried out an order: the tables learn what it no longer reads.
 */
void rl_device_order_done(const struct rl_device_order *o, uint32_t dev,
			  struct rl_tables *t, struct rl_local *l);

/**
 * The core's thread. Fills in the state of a device, for rl_local_answer().
 *
 * @param held what its local controller holds, and whether tokens pass
 * @param flows the flows of held->hold_epoch; NULL: none
 */
void rl_device_view(const struct rl_device *d, const struct rl_local_info *held,
		    const struct rl_flows *flows, struct rl_local_view *v);

/**
 * A port's thread, called from the host's `port_event`. If the port has died,
 * packets without a path wait for new tables until @p await_ns later, unless
 * the device is alone.
 */
void rl_device_port_event(struct rl_device *d, const struct rl_port_event *ev,
			  uint64_t await_ns);

/**
 * The thread that owns the local controller. Sets whether the device is without
 * a controller; called each time the local one has been served. A device is
 * alone at first.
 */
void rl_device_alone(struct rl_device *d, bool alone);

/**
 * The thread that owns the local controller. Reports an event of a port or of
 * the core to the controller, if it needs to know.
 *
 * @param t_ns time of the event, on the controllers' clock
 * @return whether the local controller must be served now
 */
bool rl_device_report_port(struct rl_local *l, uint16_t port,
			   const struct rl_port_event *ev, uint64_t t_ns);
bool rl_device_report_core(struct rl_local *l, const struct rl_core_event *ev,
			   uint64_t t_ns);

#endif /* RL_DEVICE_H */
