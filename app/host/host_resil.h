/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_RESIL_H
#define HOST_RESIL_H

/**
 * @file
 * The resiliency controller on lcores [RES-1..4], hosted by the control thread.
 * It serves the controller and the local controllers of all devices, and passes
 * their orders on to the lcores (host_order.h). Their messages go through rings
 * of the control thread, out of band; between processes through host_oob.h. A
 * separate thread computes, so that neither the prompt nor, with one lcore, the
 * data plane waits for it.
 *
 * Control thread only.
 */

#include <pthread.h>

#include "host_oob.h"
#include "host_order.h"
#include "rl_controller.h"
#include "rl_recovery_log.h"
#include "rl_tables.h"

struct host;
struct host_rec;

/** An order to an lcore that is not done yet. */
struct host_pending {
	bool on;
	struct host_order order;
	uint64_t nr; /**< number at the lcore; 0: not given yet */
};

/** The local controller of a device, and what it waits for. */
struct host_local {
	struct rl_local *local; /**< NULL: its device has crashed */
	void *mem;
	uint64_t due_ns;
	struct host_pending order; /**< from the local controller */
	struct host_pending asked; /**< for the state of the device */
	struct rl_local_view view; /**< written by the core's lcore */
};

enum host_job_state { HOST_JOB_NONE, HOST_JOB_RUNS, HOST_JOB_DONE };

struct host_resil {
	bool on;
	struct rl_controller *controller; /**< NULL: crashed, or elsewhere */
	struct host_oob oob;
	bool waits; /**< the fabric was already running: ports wait for
			 tables */
	void *mem;
	struct rl_tables *tables;
	struct host_local *local; /**< [ndev]; unused for devices of other
				       processes */
	uint64_t incarnation;
	bool news; /**< a port had an event since `since` was taken */
	uint64_t since[RTE_MAX_LCORE]; /**< rounds at the last news of a port */
	uint64_t next_ns; /**< when anything is to be served */
	uint64_t now_ns;  /**< host_resil_now() */
	struct rl_resil_msg *msg; /**< a ring between local controllers and
				       controller */
	uint32_t msg_head;
	uint32_t msg_tail;
	uint32_t msg_lost;
	/* the job thread; it owns `tables` while a job runs */
	pthread_t thread;
	bool thread_on;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool quit;
	enum host_job_state state;
	bool preparing; /**< the thread prepares for a job: no result */
	uint64_t prepare_ns; /**< when to prepare, if idle; RL_NEVER */
	struct rl_controller_job job;
	struct rl_controller_result result;
	uint8_t *job_mem; /**< copies of the job's arrays */
	int made; /**< result of a recipe: rl_tables_make() */
	char why[RL_ERR_MAX]; /**< why the last job was refused, or not live */
	struct rl_recovery_log log;
};

/**
 * After host_open(), before host_start(). Does nothing in mode "off".
 * @return 0; -ENOMEM; -EAGAIN: no thread
 */
int host_resil_open(struct host *h);

/** Does all that is due; call it often. Costs nothing if nothing happened. */
void host_resil_step(struct host *h);

/** Takes a record of the lcores' logs, in the order of each log. */
void host_resil_take(struct host *h, const struct host_rec *rec);

/** @return whether there is nothing to do or to wait for */
bool host_resil_idle(const struct host *h);

/** The controller crashes or restarts. @return 0, -EALREADY, -ENOTSUP */
int host_resil_crash(struct host *h);
int host_resil_restart(struct host *h);

/** For host_crash.c: a device crashes or restarts. */
void host_resil_dev_crash(struct host *h, uint32_t dev);
/** @return whether its ports wait for the controller */
bool host_resil_dev_restart(struct host *h, uint32_t dev);

/** Before host_stop(). */
void host_resil_close(struct host *h);

/** Tells the controller the result that waited for the store. */
void host_job_stored(struct host *h, uint64_t now_ns);

/**
 * Control thread. @return the time of the controllers: that of roles, so that a
 * device does not become silent while its lcore is away. With several
 * processes, which share no lcores, it is that of the host.
 */
uint64_t host_resil_now(struct host *h);

/* host_job.c, for host_resil.c: control thread. */
int host_job_open(struct host_resil *r);
void host_job_close(struct host_resil *r);
/** Takes a result, and starts the next job of the controller. */
void host_job_serve(struct host *h, uint64_t now_ns);
/** @return whether a job runs, or has a result that was not taken */
bool host_job_pending(struct host_resil *r);
/** @return whether no job runs, so that tables may be read */
bool host_job_tables_free(struct host_resil *r);

#endif /* HOST_RESIL_H */
