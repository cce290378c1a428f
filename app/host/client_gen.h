/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLIENT_GEN_H
#define CLIENT_GEN_H

/**
 * @file
 * The traffic generator and checker (rl_tg.h) as the client of an endpoint on
 * an lcore. The control thread posts orders here; the next poll carries them
 * out, on the lcore of the endpoint.
 */

#include <stdatomic.h>

#include "rl_role.h"
#include "rl_tg.h"

/** What the control thread can change in a generator. */
struct client_gen_load {
	const struct rl_pattern *pattern; /**< must outlive the generator */
	double load;		/**< flits per slot; 0: no limit */
	uint64_t packets;	/**< 0: no limit */
	uint64_t duration_ns;	/**< 0: no limit */
};

enum client_gen_order { GEN_ORDER_NONE, GEN_ORDER_START, GEN_ORDER_STOP };

/** Owned by the lcore of the endpoint; other threads use the functions. */
struct client_gen {
	struct rl_tg *tg;
	struct client_gen_load ordered; /**< read when START is taken */
	_Atomic uint32_t order;	     /**< enum client_gen_order */
	_Atomic uint32_t done;	     /**< stopped, or its limit reached */
	bool due; /**< control thread only: an order must be given */
};

/** Control thread. @p tg: initialised by rl_tg_init(), stopped. */
void client_gen_init(struct client_gen *g, struct rl_tg *tg);

/**
 * Control thread. Starts to send by @p load, which is copied; NULL: stops. If
 * its endpoint is @p dead, no lcore polls it: the order replaces an earlier
 * one, and is taken when the endpoint restarts.
 * @return 0; -EAGAIN: the last order is not taken yet
 */
int client_gen_order(struct client_gen *g, const struct client_gen_load *load,
		     bool dead);

/**
 * Any thread. @return whether it sends nothing more and has taken all orders
 */
bool client_gen_done(const struct client_gen *g);

/** The endpoint's lcore; see struct rl_client. */
unsigned int client_gen_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns);
uint64_t client_gen_deadline(void *ctx);

#endif /* CLIENT_GEN_H */
