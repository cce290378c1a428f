/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_RESIL_H
#define HOST_RESIL_H

/**
 * @file
 * The resiliency controller on lcores [RES-1..4]: the control thread is its
 * host. It serves the controller and the local controllers of all devices, and
 * passes what these order on to the lcores (host_order.h). Messages between
 * them go through rings of the control thread's own: out of band. Of a fabric
 * in several processes host_oob.h tells the rest. Computing has
 * a thread of its own, so that neither the prompt nor, with one lcore, the
 * dataplane waits for it.
 *
 * Everything here is the control thread's.
 */

#include <pthread.h>

#include "host_oob.h"
#include "host_order.h"
#include "rl_controller.h"
#include "rl_recovery_log.h"
#include "rl_tables.h"

struct host;
struct host_rec;

/** An order to an lcore that has not yet been carried out. */
struct host_pending {
	bool on;
	struct host_order order;
	uint64_t nr; /**< 0: not yet given */
};

/** The local controller of a device, and what it waits for. */
struct host_local {
	struct rl_local *local; /**< NULL: its device has crashed */
	void *mem;
	uint64_t due_ns;
	struct host_pending order; /**< its own */
	struct host_pending asked; /**< how its device stands */
	struct rl_local_view view; /**< written by the core's lcore */
};

enum host_job_state { HOST_JOB_NONE, HOST_JOB_RUNS, HOST_JOB_DONE };

struct host_resil {
	bool on;
	struct rl_controller *controller; /**< NULL: crashed, or elsewhere */
	struct host_oob oob;
	bool waits; /**< the fabric ran before us: our ports wait for tables */
	void *mem;
	struct rl_tables *tables;
	struct host_local *local; /**< [ndev]; of others: never in use */
	uint64_t incarnation;
	bool news; /**< of a port, since `since` was taken */
	uint64_t since[RTE_MAX_LCORE]; /**< rounds at the last news of a port */
	uint64_t next_ns; /**< when anything is to be served */
	uint64_t now_ns;  /**< host_resil_now() */
	struct rl_resil_msg *msg; /**< a ring: locals <-> controller */
	uint32_t msg_head;
	uint32_t msg_tail;
	uint32_t msg_lost;
	/* the job's thread; `tables` is its own while a job runs */
	pthread_t thread;
	bool thread_on;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool quit;
	enum host_job_state state;
	bool preparing; /**< the thread gets ready for a job: no result */
	uint64_t prepare_ns; /**< when it is to, if nothing else is; RL_NEVER */
	struct rl_controller_job job;
	struct rl_controller_result result;
	uint8_t *job_mem; /**< copies of the job's arrays */
	int made; /**< what came of a recipe: rl_tables_make() */
	char why[RL_ERR_MAX]; /**< the last job was refused, or not live */
	struct rl_recovery_log log;
};

/**
 * After host_open(), before host_start(). Nothing where the configuration says
 * mode "off". @return 0 or -ENOMEM, -EAGAIN (no thread)
 */
int host_resil_open(struct host *h);

/** Often: whatever is due. Costs nothing where nothing happened. */
void host_resil_step(struct host *h);

/** A record of the lcores' log, each in its order. */
void host_resil_take(struct host *h, const struct host_rec *rec);

/** Nothing to do, and nothing waits to be done. */
bool host_resil_idle(const struct host *h);

/** The controller stops dead, and begins anew. @return 0, -EALREADY, -ENOTSUP */
int host_resil_crash(struct host *h);
int host_resil_restart(struct host *h);

/** For host_crash.c: a device is gone, or begins anew. */
void host_resil_dev_crash(struct host *h, uint32_t dev);
/** @return whether its ports wait for the controller */
bool host_resil_dev_restart(struct host *h, uint32_t dev);

/** Before host_stop(). */
void host_resil_close(struct host *h);

/* For host_oob.c. */
/** A controller begins here. @param epoch  newest of any recipe */
void host_resil_begin(struct host *h, uint64_t incarnation, uint32_t epoch);
/** A message from another process. */
void host_resil_put(struct host *h, const struct rl_resil_msg *m);
/** The result that waited for the store is told to the controller. */
void host_job_stored(struct host *h, uint64_t now_ns);

/**
 * Control thread. The time of the controllers: that of roles, so that nobody
 * falls silent while his lcore is away. Across processes, who have no lcores in
 * common, it is that of the host.
 */
uint64_t host_resil_now(struct host *h);

/* host_job.c, for host_resil.c: control thread. */
int host_job_open(struct host_resil *r);
void host_job_close(struct host_resil *r);
/** Takes a result, and begins what the controller wants computed. */
void host_job_serve(struct host *h, uint64_t now_ns);
/** Whether lcores have orders that they have not yet carried out. */
bool host_resil_orders(const struct host *h);
/** Whether a job runs, or has a result that nobody has taken. */
bool host_job_pending(struct host_resil *r);
/** Whether no job runs: tables may be looked at. */
bool host_job_tables_free(struct host_resil *r);

#endif /* HOST_RESIL_H */
