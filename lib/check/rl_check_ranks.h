/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CHECK_RANKS_H
#define RL_CHECK_RANKS_H

/**
 * @file
 * A proof that costs no more than the tables [ROUTE-4].
 *
 * The author of tables gives each channel (directed link, VL) a *rank*. The
 * checker follows what packets can do and checks that every hop, of primary
 * next hops, detours and reflections alike, leads to a channel of higher rank.
 * Then no packet that holds a channel waits for one of lower or the same rank,
 * so no cycle of packets waits for itself: no credit loop, whatever fails. It
 * does not matter how the ranks were found: wrong ranks are refused, and so are
 * wrong tables. `docs/routing.md` has the lemma and its proof.
 *
 * For each destination it follows the states (device, plane, SL) that packets
 * can reach from any source by any next hop, each once. So the work is linear
 * in the entries, and the memory in the fabric.
 *
 * The search for cycles (rl_check.h) needs no ranks; it judges tables that have
 * none, and serves tests as a second opinion.
 *
 * Control path only; everything here allocates.
 */

#include "rl_check.h"

RL_PUBLIC_BEGIN

/** Number of a channel: index into ranks. */
static inline uint32_t
rl_channel(uint32_t link, unsigned int end, unsigned int vl)
{
	return (link * 2 + end) * RL_VCS + vl;
}

/** Number of channels of the links of a topology: length of its ranks. */
static inline uint32_t
rl_channels(const struct rl_topo *t)
{
	return t->nlink * 2 * RL_VCS;
}

/**
 * What has been proven of tables: a digest of all that leads to each
 * destination, and to which switches packets come. By the proofs of old and new
 * tables the flows that a change touches are found (rl_check_hold()).
 */
struct rl_proof;

struct rl_check_ranks {
	const struct rl_topo *topo; /**< failed links don't work */
	const struct rl_fwd *fwd;   /**< [topo->ndev] */
	const uint32_t *rank;	    /**< [rl_channels(topo)] */
	/** packets between endpoints in different parts of a partitioned fabric
	    need not arrive; otherwise each such pair counts as lost */
	bool parts;
};

struct rl_ranks_report {
	uint64_t pairs; /**< of endpoints that are present (and connected) */
	uint64_t reachable; /**< whose packets arrive by the first working next
				 hops */
	uint32_t max_hops;  /**< longest of these paths */
	/** the first pair that does not arrive, if reachable < pairs */
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
 * @param proof  in: an earlier proof, which is freed, or a pointer to NULL; out:
 *   the present one, NULL after a failure. NULL: nothing is kept.
 * @return 0: proven; -ELOOP: a hop that does not ascend (the tables may still
 *   be free of loops: see rl_check()); -EHOSTUNREACH: all hops ascend, but some
 *   pair does not arrive; -ENOMEM
 */
int rl_check_ranks(const struct rl_check_ranks *in, struct rl_proof **proof,
		   struct rl_ranks_report *rep);

/** Control thread. @p proof may be NULL. */
void rl_proof_free(struct rl_proof *proof);

/**
 * Control thread. Finds ranks for any tables: a topological order of the graph
 * of dependencies, all next hops of all entries at once. For engines without
 * ranks of their own, and for imports. rl_check_ranks() must still prove them.
 *
 * @param rank  [rl_channels(topo)], filled; channels not in use get 0, and
 *   links that replace each other (rl_fwd.h) the same
 * @param rep   the report of rl_check() with RL_CHECK_ALL
 * @return 0; -ELOOP: there is a cycle (in @p rep); -ENOMEM
 */
int rl_check_find_ranks(const struct rl_topo *topo, const struct rl_fwd *fwd,
			uint32_t *rank, struct rl_check_report *rep);

RL_PUBLIC_END

#endif /* RL_CHECK_RANKS_H */
