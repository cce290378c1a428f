/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHECK_DEPS_H
#define CHECK_DEPS_H

/**
 * @file The graph of channel dependencies: a growing set, and its shortest
 * cycle. A channel's number is (link * 2 + sending end) * RL_VCS + VL.
 */

#include "rl_check.h"

struct check_dep {
	uint32_t from;
	uint32_t to;
	uint32_t src; /**< a pair whose path has this dependency */
	uint32_t dst;
};

struct check_deps {
	struct check_dep *slot; /**< open addressing; from == to: free */
	uint32_t mask;
	uint32_t count;
	bool no_memory;
};

int check_deps_init(struct check_deps *d);
void check_deps_free(struct check_deps *d);

/** Adds a dependency; keeps the pair of the first call that adds it. */
void check_deps_add(struct check_deps *d, uint32_t from, uint32_t to,
		    uint32_t src, uint32_t dst);

/** Empties the set. */
void check_deps_clear(struct check_deps *d);

/**
 * Searches for cycles; writes the shortest one found to @p rep. Returns 0
 * (none), -ELOOP, -ENOMEM.
 */
int check_deps_cycle(const struct check_deps *d, uint32_t nchan,
		     struct rl_check_report *rep);

/**
 * Numbers the channels so that every dependency of @p d, and of @p more if that
 * is not NULL, leads to a higher number. Returns 0; -ELOOP: there is a cycle,
 * and -ENOMEM: @p rank is unchanged.
 */
int check_deps_order(const struct check_deps *d, const struct check_deps *more,
		     uint32_t nchan, uint32_t *rank);

/** Whether every dependency leads to a channel of higher rank. */
bool check_deps_ascend(const struct check_deps *d, const uint32_t *rank);

static inline uint32_t
check_channel(uint32_t link, unsigned int end, unsigned int vl)
{
	return (link * 2 + end) * RL_VCS + vl;
}

#endif /* CHECK_DEPS_H */
