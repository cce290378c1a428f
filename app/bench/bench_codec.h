/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_CODEC_H
#define BENCH_CODEC_H

/** @file Suite `codec` of reflit-bench. */

#include <jansson.h>
#include <stdio.h>

/**
 * One thread. Measures every implementation of the codec that this CPU has,
 * on six working sets, beside a bare copy and (where built with ISA-L) its
 * CRC-64 in the same run; medians over @p reps repetitions (0: 15, at most
 * 201).
 *
 * Fills @p out (an object of the caller's): "paths" is an array with an object
 * per path (isa, crc, isn, op, set, burst_flits; ns_per_flit, copy_ns,
 * isal_crc_ns, ratio_vs_isal, ratio_vs_copy; null for what was not measured).
 * Writes tables to @p human as they are ready; NULL: none.
 *
 * @return 0; -ENOMEM; -EBADMSG where an implementation did not accept its own
 *   flits (out is incomplete)
 */
int rl_bench_codec(json_t *out, FILE *human, unsigned int reps);

#endif /* BENCH_CODEC_H */
