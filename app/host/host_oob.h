/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_OOB_H
#define HOST_OOB_H

/**
 * @file
 * The controller of a fabric in several processes [RES-1]: the work of
 * host_resil.c, with the store of drivers/oob between processes. Each process
 * serves the local controllers of its own devices; the elected one also serves
 * the controller. It works the same with only one process.
 *
 * Each process makes tables from the recipe that the controller put into the
 * store (rl_tables.h); a device waits until its process has made them.
 *
 * Control thread only, except for work of the job thread.
 */

#include "rl_oob.h"

struct host;

/** Recipes that are kept: some more than the store keeps. */
#define HOST_RECIPES 32

struct host_recipe {
	struct rl_oob_recipe *recipe; /**< NULL: none */
	bool bad; /**< could not be made; the reason was logged */
};

struct host_oob {
	struct rl_oob *oob; /**< NULL: one process, no store; the caller's */
	struct host_recipe recipe[HOST_RECIPES];
	struct rl_oob_recipe *making; /**< being made by the job thread */
	uint32_t newest;   /**< epoch of any recipe seen */
	uint32_t *epoch;   /**< [ndev] of other processes: tables that they
				report */
	bool office;	   /**< this process is elected to run the controller */
	bool crashed;	   /**< by command: no controller may run here */
	uint64_t incarnation; /**< of the controller that will start */
	uint32_t storing;  /**< epoch of a result that waits for the store;
				or 0 */
	char why[RL_ERR_MAX]; /**< why the last tables could not be made; "" */
};

/** @return whether there are events of the store, or a controller to start */
bool host_oob_ready(const struct host *h);

/** Sends a message to another process, if its destination is there. @return
    whether it is */
bool host_oob_send(struct host *h, const struct rl_resil_msg *m,
		   uint64_t now_ns);

/**
 * Takes the state that a remote device reports, before the controller sees it.
 * @param tables_free  no job owns the tables
 */
void host_oob_heard(struct host *h, const struct rl_resil_msg *m,
		    bool tables_free);

/**
 * @return the recipe to be made next; NULL: none, so the controller may
 *   continue
 */
struct rl_oob_recipe *host_oob_wanted(struct host *h);

/** A recipe was made, or failed. */
void host_oob_made(struct host *h, int status, const char *why);

/** Tables of an epoch are missing. @return whether they may still come */
bool host_oob_awaits(const struct host *h, uint32_t dev, uint32_t epoch);
/** The same for tables that a device is to change to by tokens. */
bool host_oob_stages(const struct host *h, uint32_t dev, uint32_t epoch);

/**
 * @return whether no message is on its way to or from a controller elsewhere
 */
bool host_oob_idle(const struct host *h);

/** Stores a result that other processes must know first. @return whether it
    does so: then rl_controller_done() must wait */
bool host_oob_tell(struct host *h, const struct rl_controller_result *res);

/** By command: whether a controller may run here; else another process may take
    over. @return 0 or -EALREADY */
int host_oob_stand(struct host *h, bool stand);

void host_oob_close(struct host *h);

#endif /* HOST_OOB_H */
