/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_ORDER_H
#define HOST_ORDER_H

/**
 * @file
 * Orders of local controllers, from the control thread to the lcore of a role:
 * each lcore has a ring, and takes orders between two polls. So only its own
 * lcore touches a role.
 *
 * An order has a number, and the lcore publishes how many it has done. What an
 * order points to is owned by the control thread and must not change until the
 * order is done.
 */

#include <stdatomic.h>

#include <rte_ring.h>

#include "rl_device.h"

#define HOST_ORDERS 4096 /* outstanding at one lcore; a power of two */

enum host_order_type {
	HOST_ORDER_LOCAL, /**< of a local controller: rl_device_order() */
	HOST_ORDER_VIEW,  /**< fills `view`: rl_device_view() */
	HOST_ORDER_VOID,  /**< ignored: its device has crashed */
};

struct host_order {
	enum host_order_type type;
	uint32_t dev;
	struct rl_device_order local; /**< VIEW: uses its `flows` */
	struct rl_local_info held;    /**< VIEW only */
	struct rl_local_view *view;
};

/** Orders of one lcore. */
struct host_orders {
	struct rte_ring *ring;	    /**< control thread -> lcore */
	uint64_t given;		    /**< by the control thread */
	_Atomic uint64_t done;	    /**< written by the lcore */
};

struct host;
struct host_lcore;

/**
 * Control thread. Gives an order to the lcore that runs the core of o->dev.
 * @return its number there, above 0; 0: the ring is full, try again later
 */
uint64_t host_order_give(struct host *h, const struct host_order *o);

/** Control thread. @return whether order @p nr of that lcore is done */
bool host_order_done(const struct host *h, const struct host_order *o,
		     uint64_t nr);

/** Control thread, with all lcores paused. Voids the orders to @p dev. */
void host_orders_void(struct host_lcore *lc, uint32_t dev);

/** The lcore. Carries out all orders in its ring. @return how many */
unsigned int host_orders_take(struct host_lcore *lc, uint64_t now_ns);

#endif /* HOST_ORDER_H */
