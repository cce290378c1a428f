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

#define BENCH_CASES 16
#define BENCH_PORTS 2

/** What suite hop sends. */
struct bench_case {
	uint32_t packet_flits;
	uint32_t flits_per_frame;
};

struct bench_opts {
	const char *port[BENCH_PORTS]; /**< suite wire: NAME[,ARGS] of ethdevs */
	unsigned int nports;
	unsigned int reps;  /**< repetitions, of which the median is taken */
	uint64_t seed;
	bool quick;	    /**< small sizes: a smoke test, not a measurement */
	const char *config; /**< fabric file for suites that take one, or NULL */
	struct bench_case cases[BENCH_CASES]; /**< --case: these alone */
	unsigned int ncases;		      /**< 0: all */
	unsigned int witness; /**< suite hop: of one flit in so many; 0: off */
	bool lcrc;	      /**< suite hop */
	const char *row; /**< suite recovery: rows whose names hold it; NULL: all */
};

/** A suite writes its figures to @p out and a short table to @p human. */
typedef int (*bench_fn)(const struct bench_opts *o, json_t *out, FILE *human);

int bench_codec(const struct bench_opts *o, json_t *out, FILE *human);
int bench_hop(const struct bench_opts *o, json_t *out, FILE *human);
int bench_replay(const struct bench_opts *o, json_t *out, FILE *human);
int bench_failover(const struct bench_opts *o, json_t *out, FILE *human);
int bench_endpoint(const struct bench_opts *o, json_t *out, FILE *human);
int bench_route(const struct bench_opts *o, json_t *out, FILE *human);
int bench_recovery(const struct bench_opts *o, json_t *out, FILE *human);
int bench_sim(const struct bench_opts *o, json_t *out, FILE *human);
int bench_load(const struct bench_opts *o, json_t *out, FILE *human);
int bench_wire(const struct bench_opts *o, json_t *out, FILE *human);

/** Monotonic wall clock. */
uint64_t bench_now_ns(void);

/** CPU time of the calling thread. */
uint64_t bench_cpu_ns(void);

/** CPU time of all threads of the process. */
uint64_t bench_process_ns(void);

/** Before EAL begins, which pins the thread that began it: notes its CPUs. */
void bench_cpus_note(void);

/** The calling thread, and those that it makes, may run on all of these. */
void bench_cpus_all(void);

/** Median of n values; sorts them in place. */
double bench_median(double v[], unsigned int n);

/** Value at fraction q of n sorted values. */
double bench_quantile(const double v[], unsigned int n, double q);

/** Sorts n values in place. */
void bench_sort(double v[], unsigned int n);

/** A spread above this says that the machine was too busy to say anything. */
#define BENCH_NOISY 0.2

/** Summary of repeated measurements. */
struct bench_stat {
	double median;
	double spread;
	bool noisy;
};

/** Of n values, which it sorts in place. */
void bench_stat(double v[], unsigned int n, struct bench_stat *s);

/**
 * Zeroed memory in huge pages where the kernel has any, so that it doesn't
 * depend on chance which lines share a set of the cache. free() frees it.
 */
void *bench_alloc(size_t bytes);

/** {cpu, codec, cpus}, and a line on @p human. */
json_t *bench_machine(FILE *human);

/**
 * The bare work of a hop, to be measured in turn with a hop itself: FEC check
 * and copy of 256 B out of the second-level cache.
 */
struct bench_bare;
struct bench_bare *bench_bare_new(void); /**< NULL: no memory */
void bench_bare_free(struct bench_bare *b);

/** Flits that bench_bare_ns() checks and copies. */
#define BENCH_BARE_FLITS 41984

/** Now, in ns per flit; takes some tenths of a millisecond. */
double bench_bare_ns(struct bench_bare *b);

/** A plain copy of 256 B out of the second-level cache, the same way. */
double bench_bare_copy_ns(struct bench_bare *b);

#endif /* RL_BENCH_H */
