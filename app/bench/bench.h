/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_BENCH_H
#define RL_BENCH_H

/**
 * @file
 * The suites of reflit-bench. A suite measures, beside what it is about, the
 * bare work of the same run, so that its ratios hold on any machine. Figures
 * are medians over repetitions. Throughput is measured in CPU time of the one
 * thread that does the work, so that whatever else runs on the machine counts
 * little; latencies are wall time.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct bench_opts {
	unsigned int reps;  /**< repetitions, of which the median is taken */
	uint64_t seed;
	bool quick;	    /**< small sizes: a smoke test, not a measurement */
	const char *config; /**< fabric file for suites that take one, or NULL */
};

/** A suite writes its figures to @p out and a short table to @p human. */
typedef int (*bench_fn)(const struct bench_opts *o, json_t *out, FILE *human);

int bench_codec(const struct bench_opts *o, json_t *out, FILE *human);
int bench_hop(const struct bench_opts *o, json_t *out, FILE *human);
int bench_replay(const struct bench_opts *o, json_t *out, FILE *human);
int bench_failover(const struct bench_opts *o, json_t *out, FILE *human);
int bench_endpoint(const struct bench_opts *o, json_t *out, FILE *human);
int bench_route(const struct bench_opts *o, json_t *out, FILE *human);
int bench_sim(const struct bench_opts *o, json_t *out, FILE *human);

/** Monotonic wall clock. */
uint64_t bench_now_ns(void);

/** CPU time of the calling thread. */
uint64_t bench_cpu_ns(void);

/** Median of n values; sorts them in place. */
double bench_median(double v[], unsigned int n);

/** Value at fraction q of n sorted values. */
double bench_quantile(const double v[], unsigned int n, double q);

/** Sorts n values in place. */
void bench_sort(double v[], unsigned int n);

/**
 * The bare work of a hop, measured now: FEC check and copy of 256 B out of
 * the second-level cache, in ns per flit.
 */
double bench_bare_hop_ns(unsigned int reps);

/** A plain copy of 256 B out of the second-level cache, in ns. */
double bench_copy_ns(unsigned int reps);

#endif /* RL_BENCH_H */
