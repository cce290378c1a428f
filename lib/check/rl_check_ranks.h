/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CHECK_RANKS_H
#define RL_CHECK_RANKS_H

/**
 * @file
 * A proof that costs no more than the tables [ROUTE-4].
 *
 * Whoever makes tables gives each channel (directed link, VL) a *rank*. The
 * checker follows what packets can do and sees that every hop, of primary
 * next hops, detours and reflections alike, leads to a channel of higher rank.
 * Then no packet that holds a channel waits for one of lower or the same rank,
 * so no circle of packets waits for itself: no credit loop, whatever fails.
 * How the ranks were found does not matter; wrong ones are refused, wrong
 * tables are, too. `docs/routing.md` has the lemma and its proof.
 *
 * What is followed, for each destination: the states (device, plane, SL) that
 * packets can come to from any source by any next hop, each looked at once. So
 * the work is linear in the entries, and the memory in the fabric.
 *
 * The search for cycles (rl_check.h) needs no ranks; it judges tables that
 * have none, and is the second opinion in tests.
 *
 * Control path only; everything here allocates.
 */

#include "rl_check.h"

/** Number of a channel: index into ranks. */
static inline uint32_t
rl_channel(uint32_t link, unsigned int end, unsigned int vl)
{
	return (link * 2 + end) * RL_VCS + vl;
}

/** How many channels the links of a topology have: length of its ranks. */
static inline uint32_t
rl_channels(const struct rl_topo *t)
{
	return t->nlink * 2 * RL_VCS;
}

/**
 * What has been proven of tables, so that after an update only what changed is
 * looked at: a digest of all that leads to each destination, and the ranks.
 * The checker finds out by itself what changed; nobody has to tell it.
 */
struct rl_proof;

struct rl_check_ranks {
	const struct rl_topo *topo; /**< as it is: failed links don't work */
	const struct rl_fwd *fwd;   /**< [topo->ndev] */
	const uint32_t *rank;	    /**< [rl_channels(topo)] */
	/** packets between endpoints that lie in different parts of a cut
	    fabric need not arrive; else each of them is a lost pair */
	bool parts;
};

struct rl_ranks_report {
	uint32_t dsts; /**< destinations that were looked at, of all there */
	uint64_t pairs; /**< of endpoints that are there (and together) */
	uint64_t reachable; /**< whose packets arrive by the first next hops
				 that work */
	uint32_t max_hops;  /**< longest of these paths, of what was looked at */
	uint64_t states;    /**< looked at */
	/** the first pair that does not arrive, where reachable < pairs */
	uint32_t lost_src, lost_dst;
	const char *lost_why; /**< static string; NULL: none */
	/** the first hop that does not ascend: from channel `from` to channel
	    `to`, both by rl_channel(); UINT32_MAX: all ascend */
	uint32_t from, to;
	uint32_t dst; /**< of packets that take it */
};

/**
 * Control thread. Proves tables by ranks.
 *
 * @param proof  in: what was proven before of these tables (by this call), so
 *   that only what has changed since is looked at, or a pointer to NULL; out:
 *   what is proven now. NULL where proof itself is: all is looked at, nothing
 *   kept. After a failure *proof is NULL (the old one freed).
 * @return 0: proven; -ELOOP: a hop that does not ascend (the tables may be free
 *   of loops all the same: rl_check() says); -EHOSTUNREACH: all hops ascend,
 *   but some pair does not arrive; -ENOMEM
 */
int rl_check_ranks(const struct rl_check_ranks *in, struct rl_proof **proof,
		   struct rl_ranks_report *rep);

/**
 * Control thread. What was proven of tables, for others that take their place
 * while these are still in use. NULL: no memory, or @p proof is NULL.
 */
struct rl_proof *rl_proof_copy(const struct rl_proof *proof);

/** Control thread. NULL is fine. */
void rl_proof_free(struct rl_proof *proof);

/**
 * Control thread. Finds ranks for any tables: a topological order of the graph
 * of dependencies, all next hops of all entries at once. For engines that have
 * none of their own, and for imports. What it finds is proven by
 * rl_check_ranks(), not believed.
 *
 * @param rank  [rl_channels(topo)], filled; channels not in use get 0, and links
 *   that stand in for each other (rl_fwd.h) the same
 * @param rep   what rl_check() with RL_CHECK_ALL says
 * @return 0; -ELOOP: there is a cycle (in @p rep); -ENOMEM
 */
int rl_check_find_ranks(const struct rl_topo *topo, const struct rl_fwd *fwd,
			uint32_t *rank, struct rl_check_report *rep);

#endif /* RL_CHECK_RANKS_H */
