/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TALLY_H
#define TALLY_H

/**
 * @file
 * Results of the seeds of a campaign, or of a block of them. The report of a
 * block holds all that the report of the whole needs (the histogram of
 * latencies, not only its quantiles), so merged blocks give that of a single run.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "rl_swarm_plan.h"

/** Which seeds, of which campaign. */
struct tally_of {
	uint64_t first_seed;
	uint64_t seeds;
	uint64_t settings; /**< a hash of all that makes a run but its seed */
};

struct tally {
	struct tally_of of;
	uint64_t seeds; /**< done */
	struct rl_sim_load_stats load; /**< sums; the histogram is merged */
	uint64_t flits;
	uint64_t failovers;
	uint64_t recoveries;
	uint64_t oversize; /**< frames of the trace that each run leaves out */
	uint64_t elapsed_ns;
	uint64_t wall_ns; /**< of all blocks together */
	uint64_t failed;
	json_t *failures; /**< array, owned: {seed, broken, fingerprint} */
};

/** Empty, for the seeds of @p of. */
void tally_init(struct tally *t, const struct tally_of *of);
void tally_free(struct tally *t);

/** Adds the result of one seed. */
void tally_add(struct tally *t, uint64_t seed,
	       const struct rl_swarm_verdict *v);

/** Adds a later block of the same campaign. */
void tally_merge(struct tally *to, const struct tally *from);

/** One line on standard output. */
void tally_print(const struct tally *t);

/** Prints it, and writes the report if @p json. @return an exit status */
int tally_end(const struct tally *t, const char *json);

/** The report, the caller's. */
json_t *tally_json(const struct tally *t);

/**
 * Reads what tally_json() made back into @p t, which needs no tally_init(). On failure there
 * is nothing to free.
 * @return 0; -EINVAL with the reason in @p why, which has RL_ERR_MAX bytes
 */
int tally_read(struct tally *t, const json_t *report, char *why);

#endif /* TALLY_H */
