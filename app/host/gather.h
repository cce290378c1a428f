/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GATHER_H
#define GATHER_H

/**
 * @file
 * When a client writes the frames that it has made. A kernel driver makes one
 * system call for each burst, which costs as much as a few frames. So frames
 * are gathered until they fill a burst, as long as each poll adds some; they
 * are also written after a poll without new frames, and after 50 us.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rl_base.h"

/** Longest time that a frame waits for others. */
#define GATHER_NS (50 * RL_NS_PER_US)

/** Zeroed: no frame waits. Owned by the lcore of the client. */
struct gather {
	uint64_t since_ns; /**< since when the oldest frame waits; 0: none */
};

/**
 * The client's lcore, once a poll. @p held frames wait, @p added of them are
 * from this poll, @p full is a whole burst.
 *
 * @return whether to write them now
 */
static inline bool
gather_due(struct gather *g, uint32_t held, uint32_t added, uint32_t full,
	   uint64_t now_ns)
{
	if (held == 0)
		return false;
	if (g->since_ns == 0)
		g->since_ns = now_ns;
	if (added != 0 && held < full && now_ns - g->since_ns < GATHER_NS)
		return false;
	g->since_ns = 0;
	return true;
}

#endif /* GATHER_H */
