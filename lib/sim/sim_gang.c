/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Threads that run one part of a fabric each; the caller runs the first part.
 * They start a window together and wait for each other at its end. During a
 * window no thread accesses another's part.
 *
 * A window takes some 100 us, and parts are of similar size. So a waiting
 * thread spins for about that long, and then sleeps, to leave the CPU to other
 * programs. It sleeps at once if there are more threads than CPUs: one of them
 * waits for its CPU then.
 *
 * The release of `turn` publishes the caller's work to the threads, and the
 * release of `left` publishes their work to the caller.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim_priv.h"

#define GANG_SPINS 4000
/* With fewer switches for each thread, a run with little load is no faster than
   with one thread. */
#define SWITCHES_A_THREAD 16

struct gang_thread {
	struct sim_gang *gang;
	struct sim_part *part;
	pthread_t id;
};

struct sim_gang {
	struct rl_sim *sim;
	uint64_t end_ns; /* of the window; set before `turn` */
	bool stop;	 /* set before `turn`, too */
	uint32_t n;
	unsigned int spins;
	struct gang_thread *thread;
	pthread_mutex_t lock; /* for sleeping threads */
	pthread_cond_t begins;
	pthread_cond_t ends;
	_Atomic uint32_t sleepers; /* sleeping threads */
	_Atomic bool waits;	   /* the caller sleeps */
	_Atomic uint32_t turn RL_ALIGNED(2 * RL_CACHE_LINE); /* number of
								windows */
	_Atomic uint32_t left RL_ALIGNED(2 * RL_CACHE_LINE); /* threads still
								running */
};

uint32_t
rl_sim_threads(const struct rl_topo *topo, unsigned int cpus)
{
	uint32_t switches = 0;

	for (uint32_t d = 0; d < topo->ndev; d++)
		switches += topo->dev[d].kind == RL_DEV_SWITCH;
	return rl_max_u32(1, rl_min_u32(rl_min_u32(cpus, RL_SIM_THREADS_MAX),
					switches / SWITCHES_A_THREAD));
}

static inline void
relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	asm volatile("isb"); /* yield does nothing on most */
#endif
}

/* Waits for the window after @p seen. */
static void
await_turn(struct sim_gang *g, uint32_t seen)
{
	for (unsigned int i = 0; i < g->spins; i++) {
		/* acquire: pairs with begin() */
		if (atomic_load_explicit(&g->turn, memory_order_acquire) !=
		    seen)
			return;
		relax();
	}
	pthread_mutex_lock(&g->lock);
	/*
	 * seq_cst: either begin() sees the sleeper, or this thread sees the
	 * turn
	 */
	atomic_fetch_add(&g->sleepers, 1);
	while (atomic_load(&g->turn) == seen)
		pthread_cond_wait(&g->begins, &g->lock);
	atomic_fetch_sub(&g->sleepers, 1);
	pthread_mutex_unlock(&g->lock);
}

static void
begin(struct sim_gang *g)
{
	atomic_store_explicit(&g->left, g->n, memory_order_relaxed);
	/* release: pairs with await_turn() */
	atomic_fetch_add(&g->turn, 1);
	if (atomic_load(&g->sleepers) == 0)
		return;
	pthread_mutex_lock(&g->lock);
	pthread_cond_broadcast(&g->begins);
	pthread_mutex_unlock(&g->lock);
}

static void
end(struct sim_gang *g)
{
	/* release: pairs with await_end() */
	if (atomic_fetch_sub(&g->left, 1) != 1 || !atomic_load(&g->waits))
		return;
	pthread_mutex_lock(&g->lock);
	pthread_cond_signal(&g->ends);
	pthread_mutex_unlock(&g->lock);
}

static void
await_end(struct sim_gang *g)
{
	for (unsigned int i = 0; i < g->spins; i++) {
		/* acquire: pairs with end() */
		if (atomic_load_explicit(&g->left, memory_order_acquire) == 0)
			return;
		relax();
	}
	pthread_mutex_lock(&g->lock);
	atomic_store(&g->waits, true);
	while (atomic_load(&g->left) != 0)
		pthread_cond_wait(&g->ends, &g->lock);
	atomic_store(&g->waits, false);
	pthread_mutex_unlock(&g->lock);
}

static void *
gang_main(void *arg)
{
	const struct gang_thread *const t = arg;
	struct sim_gang *const g = t->gang;

	for (uint32_t seen = 0;; seen++) {
		await_turn(g, seen);
		if (g->stop)
			return NULL;
		sim_turn_run(t->part, g->end_ns);
		end(g);
	}
}

void
sim_gang_run(struct sim_gang *g, uint64_t end_ns)
{
	g->end_ns = end_ns;
	begin(g);
	sim_turn_run(&g->sim->part[0], end_ns);
	await_end(g);
}

void
sim_gang_free(struct sim_gang *g)
{
	if (g == NULL)
		return;
	g->stop = true;
	begin(g);
	for (uint32_t i = 0; i < g->n; i++)
		pthread_join(g->thread[i].id, NULL);
	pthread_cond_destroy(&g->ends);
	pthread_cond_destroy(&g->begins);
	pthread_mutex_destroy(&g->lock);
	free(g->thread);
	free(g);
}

struct sim_gang *
sim_gang_new(struct rl_sim *s)
{
	struct sim_gang *g = aligned_alloc(2 * RL_CACHE_LINE, sizeof(*g));

	if (g == NULL)
		return NULL;
	*g = (struct sim_gang){
		.sim = s,
		.spins = sysconf(_SC_NPROCESSORS_ONLN) < (long)s->nparts
				 ? 0
				 : GANG_SPINS,
		.thread = calloc(s->nparts, sizeof(*g->thread)),
	};
	if (g->thread == NULL) {
		free(g);
		return NULL;
	}
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->begins, NULL);
	pthread_cond_init(&g->ends, NULL);
	for (; g->n + 1 < s->nparts; g->n++) {
		struct gang_thread *const t = &g->thread[g->n];

		t->gang = g;
		t->part = &s->part[g->n + 1];
		if (pthread_create(&t->id, NULL, gang_main, t) != 0) {
			sim_gang_free(g);
			return NULL;
		}
	}
	return g;
}
