/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_ORDER_H
#define HOST_ORDER_H

/**
 * @file
 * What local controllers order, on its way from the control thread to the
 * lcore of the role concerned: a ring to each lcore, which takes orders between
 * two polls. So nothing of a role is touched by anybody but its lcore.
 *
 * An order has a number; the lcore tells how far it is. What an order points to
 * stays the control thread's and must not change until it is done.
 */

#include <stdatomic.h>

#include <rte_ring.h>

#include "rl_device.h"

#define HOST_ORDERS 4096 /* of one lcore under way; power of two */

enum host_order_type {
	HOST_ORDER_LOCAL, /**< a local controller's: rl_device_order() */
	HOST_ORDER_VIEW,  /**< fills `view`: rl_device_view() */
	HOST_ORDER_PROBE, /**< the endpoint probes again who is unreachable */
	HOST_ORDER_VOID,  /**< its device has crashed: nothing */
};

struct host_order {
	enum host_order_type type;
	uint32_t dev;
	struct rl_device_order local; /**< of VIEW: its `flows` */
	struct rl_local_info held;    /**< of VIEW */
	struct rl_local_view *view;
};

/** One lcore's orders. */
struct host_orders {
	struct rte_ring *ring;	    /**< control thread -> lcore */
	uint64_t given;		    /**< control thread's */
	_Atomic uint64_t done;	    /**< written by the lcore */
};

struct host;
struct host_lcore;

/**
 * Control thread. Gives an order to the lcore that runs the core of o->dev.
 * @return its number there, above 0; 0: the ring is full, try again later
 */
uint64_t host_order_give(struct host *h, const struct host_order *o);

/**
 * Control thread. Links came up: all endpoints of this process probe anew whom
 * they cannot reach.
 */
void host_orders_probe(struct host *h);

/** Control thread. Whether order @p nr of that lcore has been carried out. */
bool host_order_done(const struct host *h, const struct host_order *o,
		     uint64_t nr);

/** Control thread, all lcores stand still. Orders to @p dev are void. */
void host_orders_void(struct host_lcore *lc, uint32_t dev);

/** The lcore. Carries out what is there. @return how many */
unsigned int host_orders_take(struct host_lcore *lc, uint64_t now_ns);

#endif /* HOST_ORDER_H */
