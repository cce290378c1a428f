/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_ROUTE_H
#define BENCH_ROUTE_H

/** @file Suite `route` of reflit-bench. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * One thread. Measures computing, updating and checking of tables on tori, and
 * what random failures cost; medians over @p reps repetitions (0: 9).
 *
 * Fills @p out: "compute" (an object per fabric and engine: fabric, engine,
 * switches, cpu_ms, wall_ms), "proof" (an object per size: tables, proof,
 * memory), "update" (after a link, after a switch: update, proof, flows to
 * hold), "graphs" (an object per graph: stretch, busiest link), "check",
 * "failures" and "detours".
 * Times are of this thread's CPU clock where they say cpu. @p quick: small
 * fabrics only. Writes a table to @p human; NULL: none.
 *
 * @return 0; -ENOMEM; -EBADMSG where the checker found fault with tables
 */
int rl_bench_route(json_t *out, FILE *human, unsigned int reps, uint64_t seed,
		   bool quick);

#endif /* BENCH_ROUTE_H */
