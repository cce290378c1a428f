/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_BENCH_H
#define ROUTE_BENCH_H

/** @file Inside of suite `route`: what its two files share. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "rl_route.h"

/** Repetitions at most. */
#define ROUTE_REPS_MAX 201

struct bench_route {
	json_t *out;
	FILE *human;
	unsigned int reps;
	uint64_t seed;
};

/** A torus of n x n x n. As rl_topo_build(). */
int bench_torus(struct rl_topo *t, unsigned int n);

/** Tables and their proof on tori of several sizes, and the memory they take:
    "proof" of the output. */
int bench_proofs(const struct bench_route *b, bool quick);

/** Updates after a link, or a switch, has failed: their proof, and the flows to
    hold while they are installed: "update". */
int bench_updates(const struct bench_route *b, unsigned int n);

/** Stretch and busiest link on graphs of many shapes: "graphs". */
int bench_graphs(const struct bench_route *b, bool quick);

#endif /* ROUTE_BENCH_H */
