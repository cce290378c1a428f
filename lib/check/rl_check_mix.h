/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CHECK_MIX_H
#define RL_CHECK_MIX_H

/**
 * @file
 * Old and new tables at once: what packets may do while devices change from
 * one to the other, and which flows have to be held meanwhile.
 *
 * New tables are free of credit loops, and so were the old ones; their mix
 * usually is not. But most flows never see a difference: all entries that their
 * packets can meet are the same in both. Many of the others do no harm.
 * rl_check_hold() names flows (source, destination) whose absence leaves a mix
 * that is proven: every hop of every packet that is still under way ascends in
 * the ranks of the old tables, or every one in those of the new (or in an order
 * found for the mix), and every packet arrives, whichever device has which
 * table when it passes. The installer of tables holds these flows at their
 * sources, waits until their packets have left the fabric, installs, and
 * releases. If there are none to hold, the tables may be installed under full
 * load.
 *
 * Each set of tables must have been proven by itself (rl_route_accept()): flows
 * that see no difference are not checked again.
 *
 * Control path only; everything here allocates.
 */

#include "rl_check_ranks.h"

RL_PUBLIC_BEGIN

/** A set of flows: pairs (source, destination) of endpoint ids. */
struct rl_flows {
	uint32_t nep;
	uint32_t words;	/**< 64-bit words of a source's row */
	uint64_t *bit;	/**< [nep][words], bit dst % 64 of word dst / 64 */
	uint64_t count; /**< flows in the set */
};

/** Control thread. An empty set for @p nep endpoints: 0 or -ENOMEM. */
int rl_flows_init(struct rl_flows *f, uint32_t nep);

/** Control thread. A zeroed set is valid. */
void rl_flows_free(struct rl_flows *f);

/** Any thread that owns the set. */
void rl_flows_add(struct rl_flows *f, uint32_t src, uint32_t dst);

/** Any thread that owns the set. */
void rl_flows_remove(struct rl_flows *f, uint32_t src, uint32_t dst);

/** Any thread, while the set does not change. */
static inline bool
rl_flows_has(const struct rl_flows *f, uint32_t src, uint32_t dst)
{
	return f->bit[(size_t)src * f->words + dst / 64] >> (dst % 64) & 1;
}

/** Tables that a device may have while the mix lasts. */
#define RL_MIX_OLD 1u
#define RL_MIX_NEW 2u
#define RL_MIX_EITHER 3u

struct rl_check_mix {
	/** as it is during the mix: links that fail then are marked failed
	    here; links that the new tables merely avoid (a planned removal) are
	    not */
	const struct rl_topo *topo;
	const struct rl_fwd *old; /**< [topo->ndev] */
	const struct rl_fwd *fwd; /**< [topo->ndev] the new ones */
	const uint32_t *old_rank; /**< proven for old; NULL: has none */
	const uint32_t *rank;	  /**< proven for fwd; NULL: has none */
	/** results of rl_check_ranks() for each: find the differences without
	    reading all of both again; NULL: read all */
	const struct rl_proof *old_proof;
	const struct rl_proof *proof;
	const uint8_t *may;	  /**< [ndev] RL_MIX_*; NULL: all EITHER */
	/** RL_CHECK_FIRST: a packet takes the first working next hop;
	    RL_CHECK_ALL: any, so that a further failure does no harm. Arrival
	    is by the first in both cases. */
	enum rl_check_alts alts;
	/** links that died after the old tables were made: packets that had
	    crossed them before, or turned round in front of them, may still be
	    anywhere beyond them */
	const uint32_t *dead;
	uint32_t ndead;
	/** flows that send nothing and have nothing under way; NULL: none */
	const struct rl_flows *held;
	/** pairs of endpoints in different parts of a cut fabric don't count */
	bool parts;
};

/** The order in which all hops of a mix ascend. */
enum rl_mix_order {
	RL_MIX_BY_NONE, /**< not proven */
	RL_MIX_BY_NEW,	/**< in the ranks of the new tables */
	RL_MIX_BY_OLD,	/**< in those of the old */
	RL_MIX_BY_FOUND, /**< in an order found by a search */
};

struct rl_check_mix_report {
	uint64_t pairs;	    /**< of endpoints that are present, held ones too */
	uint64_t touched;   /**< of them: may be where old and new tables
				 differ */
	uint64_t held;	    /**< of them: held */
	uint64_t wrong;	    /**< of the others: may take a hop that does not
				 ascend (in the reported order), or not
				 arrive */
	uint32_t max_hops;  /**< longest path of touched, unheld flows */
	uint32_t dsts;	    /**< destinations with any difference */
	enum rl_mix_order order;
	/** the first wrong pair, if wrong != 0 */
	uint32_t src, dst;
	const char *why; /**< static string */
	/** -ELOOP: a cycle, as in rl_check_report */
	uint32_t cycle_len;
	struct rl_check_dep cycle[RL_CHECK_CYCLE_MAX];
};

/**
 * Control thread. Judges a mix. By ranks first, which only takes time for
 * differences; if that proves nothing, by a search for cycles, which reads
 * everything.
 *
 * @return 0: free of credit loops, and all flows that are not held arrive;
 *   -ELOOP: a cycle (in the report); -EHOSTUNREACH: no cycle, but some may not
 *   arrive (no next hop, or bouncing between old and new entries for ever);
 *   -EINVAL: the tables are not of this topology, or have adaptive planes on
 *   two VLs; -ENOMEM
 */
int rl_check_mix(const struct rl_check_mix *mix,
		 struct rl_check_mix_report *rep);

/** Pairs of endpoints up to which rl_check_hold() checks all of them. */
#define RL_CHECK_SPARE_PAIRS 16384u

/**
 * Control thread. Finds flows to hold, so that the mix of all others is proven:
 * those that may take a hop that does not ascend, in whichever of the two
 * orders there are fewer of them, and those that may not arrive. Only
 * differences take time; but if no more than RL_CHECK_SPARE_PAIRS pairs of
 * endpoints exist, all are checked, and a flow is held only if it would close a
 * cycle. rl_check_mix() with the result returns 0.
 *
 * @param held  an empty set of topo->nep endpoints; filled with the flows to
 *   hold (ignores mix->held). Left empty: no flow has to be held.
 * @return 0: proven with these held; -EINVAL (neither has ranks, or as
 *   rl_check_mix()), -ENOMEM: the set is unchanged
 */
int rl_check_hold(const struct rl_check_mix *mix, struct rl_flows *held,
		  struct rl_check_mix_report *rep);

RL_PUBLIC_END

#endif /* RL_CHECK_MIX_H */
