/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_APP_H
#define ROUTE_APP_H

/**
 * @file
 * reflit-route: routing offline. One run reads a fabric file, marks failures,
 * computes tables, and prints what it was asked for.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "clock_ns.h"
#include "rl_check.h"
#include "rl_config.h"
#include "rl_route.h"

#define EXIT_BROKEN 1	/**< ran, but a promise was not kept */
#define EXIT_UNUSABLE 2 /**< arguments or configuration */
#define EXIT_REFUSED 3	/**< an unroutable fabric */

#define ROUTE_FAIL_MAX 256

struct route_opts {
	const char *config;
	const char *engine;
	const char *dump;
	const char *dot;
	const char *worst;
	const char *json;
	const char *opensm; /**< folder of a dump of OpenSM */
	const char *fail[ROUTE_FAIL_MAX];
	unsigned int nfail;
	unsigned int vls;   /**< 0: as the fabric file says */
	unsigned int qos_levels;
	uint64_t seed;
	uint32_t random_links; /**< sweep: how many fail */
	uint32_t random_switches;
	uint32_t seeds;
	uint32_t double_failures; /**< pairs of links to try */
	bool sweep;
	bool verify;
	bool time;
	bool stats;
	bool detours;
	bool update;
	bool parts;
	bool progress;
	bool help;
	bool version;
};

struct route_app {
	struct route_opts opt;
	struct rl_config cfg;
	struct rl_route *route;
	struct rl_route *before; /**< --update with --verify: tables then */
	/** --parts, where the fabric is in several: [ndev] the part of each
	    device and its mark before, the tables of each part, and all put
	    together; nparts 0 or 1: not so */
	uint32_t nparts;
	uint32_t *part;
	bool *failed;
	struct rl_route **part_route;
	struct rl_route whole;
	json_t *report;
	int status; /**< exit status, as far as it is known */
};

/** Wall and CPU time to make and to judge a set of tables. */
struct route_times {
	uint64_t wall_ns;
	uint64_t cpu_ns;
};

/**
 * Reads the command line; says on standard error what is wrong.
 * @return 0 or -EINVAL
 */
int route_opts_read(struct route_opts *o, int argc, char **argv);
void route_opts_help(void);

/** Starts a stopwatch. */
static inline void
route_clock(struct route_times *t)
{
	t->wall_ns = clock_ns(CLOCK_MONOTONIC);
	t->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/** Stops it. */
static inline void
route_elapsed(struct route_times *t)
{
	t->wall_ns = clock_ns(CLOCK_MONOTONIC) - t->wall_ns;
	t->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - t->cpu_ns;
}

/** The engine's parameters from options and fabric file. */
struct rl_route_params route_params(const struct route_app *app);

/** Writes the dump of the contract. @return 0 or -errno, after saying why */
int route_dump(const struct route_app *app, const char *path);

/** Writes the fabric as Graphviz. @return 0 or -errno, after saying why */
int route_dot(const struct route_app *app, const char *path);

/** Writes the permutation that the tables carry worst, a pair a line. As
    above. */
int route_worst(const struct route_app *app, const char *path);

/** Judges the tables, and prints the last lines of standard output. */
void route_verify(struct route_app *app);

/** Judges the tables mixed with those before the update, device by device. */
void route_mix(struct route_app *app);

/** Judges the detours: loops, and how many failures they cover. */
void route_detours(struct route_app *app);

/** VLs, loads and lengths of the paths. */
void route_stats(struct route_app *app);

/** Random failures, many times. @return the exit status */
int route_sweep(struct route_app *app);

/**
 * Reads a dump of OpenSM and has @p outputs print all that the options ask for,
 * the checker's judgement too [ROUTE-8]. @return the exit status
 */
int route_opensm(struct route_app *app,
		 int (*outputs)(struct route_app *app));

/** Finds the parts. @return 0 or the exit status, after saying why */
int route_parts_find(struct route_app *app);
/** Marks everything outside a part as failed, and undoes it. Does nothing if
 * the fabric is whole. */
void route_part_enter(struct route_app *app, uint32_t part);
void route_part_leave(struct route_app *app);
/** Names the parts. */
void route_parts_summary(struct route_app *app);

/** Control thread. Names cables that are slower than those beside them. */
void route_cables(struct route_app *app);
/**
 * Has @p route_one compute app->route for each part, and puts the tables
 * together. @return 0 or its exit status
 */
int route_parts_compute(struct route_app *app,
			int (*route_one)(struct route_app *app));
/** Looks at each part that has routes. */
void route_parts_each(struct route_app *app,
		      void (*look)(struct route_app *app));
void route_parts_free(struct route_app *app);

static inline void
route_set(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

/** Mean number of links that a path crosses. */
static inline double
route_mean_hops(const struct rl_check_report *rep)
{
	return rep->reachable != 0 ?
		       (double)rep->hops / (double)rep->reachable : 0;
}

#endif /* ROUTE_APP_H */
