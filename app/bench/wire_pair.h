/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WIRE_PAIR_H
#define WIRE_PAIR_H

/** @file A link between two ethdevs that are joined, full in both directions. */

#include "bench.h"
#include "wire_port.h"

/** Trains, measures and writes the figures. @return 0, or -errno */
int wire_pair(const struct bench_opts *o, struct wire_port port[2],
	      json_t *out, FILE *human);

#endif /* WIRE_PAIR_H */
