/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runner.h"
#include "stop_signal.h"

#define JOBS_MAX 64

struct run {
	const struct rxl_plan *plan;
	struct rxl_store *store;
	pthread_mutex_t lock; /* all below */
	size_t next;
	size_t done;
	double cost_done; /**< rough seconds, for the time left */
	double cost_todo;
	double t0;
	bool progress;
	bool terminal;
	int error;
};

void
rxl_plan_add(struct rxl_plan *plan, const struct rxl_case *c)
{
	if (plan->n == plan->cap) {
		plan->cap = plan->cap == 0 ? 64 : 2 * plan->cap;
		plan->c = realloc(plan->c, plan->cap * sizeof(*plan->c));
		RL_ASSERT(plan->c != NULL);
	}
	plan->c[plan->n++] = *c;
}

void
rxl_plan_free(struct rxl_plan *plan)
{
	free(plan->c);
	memset(plan, 0, sizeof(*plan));
}

static double
now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** Seconds, roughly; only the proportions matter. */
static double
cost_of(const struct rxl_case *c)
{
	const double links = c->levels + 1;
	double hit;

	if (c->kind == RXL_PATH)
		return (double)c->flits * (c->burst_slots == 1 ? 180e-9
							       : 110e-9);
	hit = c->ber * 2048 + c->byte_bursts + c->lost + c->inside;
	return (double)c->flits * links * (hit < 1 ? hit : 1) * 400e-9;
}

static void
show(const struct run *r, const struct rxl_case *c)
{
	const double spent = now_s() - r->t0;
	const double all = r->cost_done + r->cost_todo;
	const double share = all > 0 ? r->cost_done / all : 1;
	const double left = share > 0 ? spent * (1 - share) / share : 0;
	char key[RXL_KEY_MAX];

	if (!r->progress)
		return;
	rxl_case_key(c, key);
	fprintf(stderr, "%s[%zu/%zu] %3.0f %%, %.0f s left: %.56s%s",
		r->terminal ? "\r\033[K" : "", r->done, r->plan->n,
		100 * share, left, key, r->terminal ? "" : "\n");
	fflush(stderr);
}

/** The next case that is not known; NULL where there is none. */
static const struct rxl_case *
take_next(struct run *r)
{
	char key[RXL_KEY_MAX];

	while (r->error == 0 && stop_asked() == 0 && r->next < r->plan->n) {
		const struct rxl_case *c = &r->plan->c[r->next++];

		rxl_case_key(c, key);
		if (rxl_store_find(r->store, key) == NULL)
			return c;
	}
	return NULL;
}

static void *
work(void *ctx)
{
	struct run *r = ctx;
	struct rxl_outcome out;
	char key[RXL_KEY_MAX];

	pthread_mutex_lock(&r->lock);
	for (;;) {
		const struct rxl_case *c = take_next(r);
		int ret;

		if (c == NULL)
			break;
		pthread_mutex_unlock(&r->lock);
		ret = rxl_case_run(c, &out);
		pthread_mutex_lock(&r->lock);
		rxl_case_key(c, key);
		if (ret == 0)
			ret = rxl_store_add(r->store, key, &out);
		if (ret != 0 && r->error == 0)
			r->error = ret;
		r->done++;
		r->cost_done += cost_of(c);
		r->cost_todo -= cost_of(c);
		show(r, c);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static void
count_known(struct run *r)
{
	char key[RXL_KEY_MAX];

	for (size_t i = 0; i < r->plan->n; i++) {
		rxl_case_key(&r->plan->c[i], key);
		if (rxl_store_find(r->store, key) != NULL)
			r->done++;
		else
			r->cost_todo += cost_of(&r->plan->c[i]);
	}
	if (r->progress && r->done > 0)
		fprintf(stderr, "%zu of %zu simulations are known already\n",
			r->done, r->plan->n);
}

int
rxl_run(const struct rxl_plan *plan, struct rxl_store *store,
	unsigned int jobs, bool progress)
{
	struct run r = { .plan = plan, .store = store, .t0 = now_s(),
			 .progress = progress,
			 .terminal = isatty(STDERR_FILENO) };
	pthread_t thread[JOBS_MAX];
	unsigned int n = 0;

	pthread_mutex_init(&r.lock, NULL);
	count_known(&r);
	if (jobs > JOBS_MAX)
		jobs = JOBS_MAX;
	while (n + 1 < jobs &&
	       pthread_create(&thread[n], NULL, work, &r) == 0)
		n++;
	work(&r); /* this thread is one of them */
	while (n > 0)
		pthread_join(thread[--n], NULL);
	pthread_mutex_destroy(&r.lock);
	if (progress && r.terminal)
		fprintf(stderr, "\r\033[K");
	if (r.error == 0 && r.done < plan->n) {
		fprintf(stderr, "ended after %zu of %zu simulations\n", r.done,
			plan->n);
		return -EINTR;
	}
	return r.error;
}
