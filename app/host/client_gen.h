/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLIENT_GEN_H
#define CLIENT_GEN_H

/**
 * @file
 * The traffic generator and checker (rl_tg.h) as the client of an endpoint on
 * an lcore: what the control thread wants of it is posted here and done at the
 * next poll, on the endpoint's own lcore.
 */

#include <stdatomic.h>

#include "rl_role.h"
#include "rl_tg.h"

/** What the control thread may change of a generator. */
struct client_gen_plan {
	const struct rl_pattern *pattern; /**< outlives the generator */
	double load;		/**< flits per slot; 0: as fast as it goes */
	uint64_t packets;	/**< 0: no limit */
	uint64_t duration_ns;	/**< 0: no limit */
};

enum client_gen_order { GEN_ORDER_NONE, GEN_ORDER_START, GEN_ORDER_STOP };

/** Belongs to the endpoint's lcore; others use the functions. */
struct client_gen {
	struct rl_tg *tg;
	struct client_gen_plan plan; /**< read when START is taken */
	_Atomic uint32_t order;	     /**< enum client_gen_order */
	_Atomic uint32_t done;	     /**< stopped, or its limit is reached */
	bool due; /**< the control thread's: an order is to be given */
};

/** Control thread. @p tg: made by rl_tg_init(), stopped. */
void client_gen_init(struct client_gen *g, struct rl_tg *tg);

/**
 * Control thread. Begins to send by @p plan, which is copied; NULL: stops.
 * If its endpoint is @p dead, no lcore polls it: the order replaces an earlier
 * one, and is taken when the endpoint restarts.
 * @return 0; -EAGAIN: the last order is not taken yet
 */
int client_gen_order(struct client_gen *g, const struct client_gen_plan *plan,
		     bool dead);

/** Any thread. Nothing more will be sent, and all orders are taken. */
bool client_gen_done(const struct client_gen *g);

/** The endpoint's lcore; see struct rl_client. */
unsigned int client_gen_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns);
uint64_t client_gen_deadline(void *ctx);

#endif /* CLIENT_GEN_H */
