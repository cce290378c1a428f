/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_OOB_H
#define HOST_OOB_H

/**
 * @file
 * The controller of a fabric in several processes [RES-1]: what host_resil.c
 * does in one, with the store of drivers/oob between them. Each process serves
 * the local controllers of its own devices; the one that is elected serves the
 * controller, too. Where a process is the only one, all of it works the same.
 *
 * Tables are made in each process from the recipe that the controller has put
 * into the store (rl_tables.h); a device waits until its process has them.
 *
 * Everything here is the control thread's, but for what the job's thread makes.
 */

#include "rl_oob.h"

struct host;

/** Recipes that are remembered: what the store keeps, and some more. */
#define HOST_RECIPES 32

struct host_recipe {
	struct rl_oob_recipe *recipe; /**< NULL: none */
	bool bad; /**< could not be made; why was said */
};

struct host_oob {
	struct rl_oob *oob; /**< NULL: one process, no store; the caller's */
	struct host_recipe recipe[HOST_RECIPES];
	struct rl_oob_recipe *making; /**< the job's thread makes it */
	uint32_t newest;   /**< epoch of any recipe seen */
	uint32_t *epoch;   /**< [ndev] of others: tables they say they have */
	bool office;	   /**< ours: a controller is to be here */
	bool crashed;	   /**< by command: none is to be here */
	uint64_t incarnation; /**< of the controller that is to begin */
	uint32_t storing;  /**< epoch of a result that waits for the store; 0 */
	char why[RL_ERR_MAX]; /**< tables that could not be made; "" */
};

/** What the store has to say. A controller begins or ends here. */
void host_oob_step(struct host *h, uint64_t now_ns);

/** Whether host_oob_step() has something to do. */
bool host_oob_ready(const struct host *h);

/** Sends a message to where it belongs, if that is not in this process.
    @return whether it was */
bool host_oob_send(struct host *h, const struct rl_resil_msg *m,
		   uint64_t now_ns);

/** What a device elsewhere says it has; before the controller hears of it. */
void host_oob_heard(struct host *h, const struct rl_resil_msg *m);

/** The recipe that is to be made next; NULL: none, the controller may go on. */
struct rl_oob_recipe *host_oob_wanted(struct host *h);

/** It was made, or not. */
void host_oob_made(struct host *h, int status, const char *why);

/** Tables of an epoch are not here: whether they may still come. */
bool host_oob_awaits(const struct host *h, uint32_t dev, uint32_t epoch);
/** The same of tables that a device is to change to by tokens. */
bool host_oob_stages(const struct host *h, uint32_t dev, uint32_t epoch);

/** The controller is elsewhere: nothing is under way to it, or from it. */
bool host_oob_idle(const struct host *h);

/** A result that is to be told to the others first.
    @return whether it is: rl_controller_done() has to wait */
bool host_oob_tell(struct host *h, const struct rl_controller_result *res);

/** By command: whether a controller may be here; another process may have it.
    @return 0 or -EALREADY */
int host_oob_stand(struct host *h, bool stand);

void host_oob_close(struct host *h);

#endif /* HOST_OOB_H */
