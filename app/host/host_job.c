/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Jobs of the controller: a thread computes and proves tables, so that neither
 * the prompt nor, with one lcore, the data plane waits for it. The thread owns
 * the tables while a job runs: a job starts when no lcore has an order that
 * points into them.
 */

#include <stdio.h>
#include <string.h>

#include "host.h"

/**
 * Delay from a job to the preparation of the next one: failures come in groups.
 */
#define PREPARE_NS (100 * RL_NS_PER_MS)

static enum host_job_state
state_of(struct host_resil *r)
{
	enum host_job_state s;

	pthread_mutex_lock(&r->lock);
	s = r->state;
	pthread_mutex_unlock(&r->lock);
	return s;
}

bool
host_job_tables_free(struct host_resil *r)
{
	return state_of(r) != HOST_JOB_RUNS;
}

bool
host_job_pending(struct host_resil *r)
{
	return state_of(r) != HOST_JOB_NONE;
}

/* The thread of jobs: waits, computes, waits. */
static void *
job_main(void *ctx)
{
	struct host_resil *r = ctx;

	pthread_mutex_lock(&r->lock);
	while (!r->quit) {
		if (r->state != HOST_JOB_RUNS) {
			pthread_cond_wait(&r->wake, &r->lock);
			continue;
		}
		pthread_mutex_unlock(&r->lock);
		if (r->preparing)
			rl_tables_prepare(r->tables);
		else if (r->oob.making != NULL)
			r->made = rl_tables_make(r->tables,
						 &r->oob.making->r);
		else
			rl_tables_compute(r->tables, &r->job, &r->result);
		pthread_mutex_lock(&r->lock);
		r->state = HOST_JOB_DONE;
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/*
 * Copies the arrays, because the controller may change them while the job runs.
 */
static void
copy_job(struct host *h, const struct rl_controller_job *job)
{
	const uint32_t ndev = h->fabric.topo->ndev;
	const uint32_t nlink = h->fabric.topo->nlink;
	struct host_resil *r = &h->resil;
	uint8_t *at = r->job_mem;

	r->job = *job;
	r->job.present = memcpy(at, job->present, 4ull * ndev);
	at += 4ull * ndev;
	r->job.link_ok = memcpy(at, job->link_ok, nlink);
	at += nlink;
	r->job.dev_ok = memcpy(at, job->dev_ok, ndev);
	at += ndev;
	r->job.unsure = memcpy(at, job->unsure, ndev);
	at += ndev;
	r->job.silent = memcpy(at, job->silent, ndev);
	at += ndev;
	r->job.waits = memcpy(at, job->waits, ndev);
}

static void
take_result(struct host *h, uint64_t now_ns)
{
	struct host_resil *r = &h->resil;

	r->state = HOST_JOB_NONE;
	r->prepare_ns = r->preparing ? RL_NEVER : now_ns + PREPARE_NS;
	if (r->preparing) {
		r->preparing = false;
		return;
	}
	if (r->oob.making != NULL) {
		host_oob_made(h, r->made, rl_tables_why(r->tables));
		return;
	}
	snprintf(r->why, sizeof(r->why), "%s", rl_tables_why(r->tables));
	/*
	 * drop it if its controller is gone, or delay it until all processes
	 * know it
	 */
	if (r->controller != NULL && !host_oob_tell(h, &r->result))
		rl_controller_done(r->controller, &r->result, now_ns);
}

void
host_job_stored(struct host *h, uint64_t now_ns)
{
	if (h->resil.controller != NULL)
		rl_controller_done(h->resil.controller, &h->resil.result,
				   now_ns);
}

/* Prepares for the next job while the fabric is healthy. */
static bool
prepare_due(const struct host_resil *r, uint64_t now_ns)
{
	return now_ns >= r->prepare_ns && rl_controller_idle(r->controller);
}

/* Whether lcores have orders that are not done. */
static bool
orders_open(const struct host *h)
{
	for (uint32_t d = 0; d < h->fabric.ndev; d++) {
		const struct host_local *l = &h->resil.local[d];

		if ((l->order.on && l->order.nr != 0) ||
		    (l->asked.on && l->asked.nr != 0))
			return true;
	}
	return false;
}

void
host_job_serve(struct host *h, uint64_t now_ns)
{
	struct host_resil *r = &h->resil;
	struct rl_controller_job job;

	if (!host_job_tables_free(r))
		return; /* one at a time; a void job runs to its end */
	if (r->state == HOST_JOB_DONE)
		take_result(h, now_ns);
	/* a job may overwrite what an outstanding order reads; a result that
	   waits for the store is retried */
	if (orders_open(h) || r->oob.storing != 0)
		return;
	r->oob.making = host_oob_wanted(h);
	if (r->oob.making == NULL) {
		if (r->controller == NULL)
			return;
		if (rl_controller_job(r->controller, &job))
			copy_job(h, &job);
		else if (prepare_due(r, now_ns))
			r->preparing = true;
		else
			return;
	}
	pthread_mutex_lock(&r->lock);
	r->state = HOST_JOB_RUNS;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
}

int
host_job_open(struct host_resil *r)
{
	int ret;

	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->wake, NULL);
	ret = pthread_create(&r->thread, NULL, job_main, r);
	r->thread_on = ret == 0;
	return -ret;
}

void
host_job_close(struct host_resil *r)
{
	if (!r->thread_on)
		return;
	pthread_mutex_lock(&r->lock);
	r->quit = true;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->wake);
}
