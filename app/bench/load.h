/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_BENCH_LOAD_H
#define RL_BENCH_LOAD_H

/** @file Suite `load`: one fabric under one load. Main thread. */

#include "bench_sim.h"

#define LOAD_FLITS 8 /**< of a packet, or as many as the fabric file allows */
#define LOAD_POINTS 16

/** A fabric, and how long it is measured. */
struct load_rig {
	const char *name;
	struct rl_config cfg;
	struct rl_route *route;
	struct rl_sim_mem mem;
	uint64_t seed;
	uint64_t warmup_ns; /**< that is not counted */
	uint64_t window_ns; /**< that is */
	struct rl_sim_load_window counted; /**< of the last run */
};

/** What came of a load. Rates in flits for each slot and sender. */
struct load_point {
	double offered;
	double delivered;
	double worst; /**< of the sender of which the least arrived */
	double jain;
	double mean, p50, p99; /**< latency in slots */
};

/** The loads tried with a pattern, and what they say. */
struct load_curve {
	struct load_point point[LOAD_POINTS];
	unsigned int n;
	double knee;		/**< highest load still carried */
	struct load_point full; /**< at 1.0 */
	struct load_point half; /**< at half of the knee */
};

/**
 * Runs @p pattern at a load. @p count: sources that count, or NULL.
 * @return 0; -EINVAL: the pattern does not suit the fabric; -EBADMSG: a promise
 *   was broken; -ENOMEM
 */
int load_run(struct load_rig *rig, const struct rl_pattern_cfg *pattern,
	     const bool *count, double load, struct load_point *p);

/** Whether what was offered arrived: 97 % of it, in the window. */
bool load_carried(const struct load_point *p);

/**
 * Finds the knee to 2 %, by halving. Returns as load_run(); after a signal what
 * is known so far.
 */
int load_search(struct load_rig *rig, const struct rl_pattern_cfg *pattern,
		struct load_curve *curve);

#endif /* RL_BENCH_LOAD_H */
