/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CHECK_H
#define RL_CHECK_H

/**
 * @file The independent judge of forwarding tables [ROUTE-4]. It knows a
 * topology, the tables of its devices and how a switch uses them (rl_fwd.h),
 * and nothing of the engines that made them: it follows a packet for every
 * pair, port by port.
 *
 * A channel is a directed link and a VL. A path that uses channel c and then at
 * once channel d makes d a dependency of c: a packet that holds c waits for d.
 * Tables are free of credit loops if the graph of dependencies has no cycle
 * (Dally and Seitz); otherwise a cycle is reported, with a pair for each of its
 * dependencies.
 *
 * Control path only; everything here allocates.
 */

#include <stdint.h>

#include "rl_base.h"
#include "rl_fwd.h"
#include "rl_topo.h"

RL_PUBLIC_BEGIN

/** Longest cycle that a report lists. */
#define RL_CHECK_CYCLE_MAX 64
/** Hops after which a packet counts as looping for ever. */
#define RL_CHECK_HOPS_MAX 255

/** Which of an entry's next hops a packet may take. */
enum rl_check_alts {
	RL_CHECK_FIRST, /**< the first whose link works, as switches do */
	RL_CHECK_ALL,	/**< any whose link works: tolerates further failures */
};

struct rl_check_in {
	const struct rl_topo *topo;
	const struct rl_fwd *fwd; /**< [topo->ndev] */
	/** [topo->ndev] tables that may still be live; NULL: none. Every packet
	    may meet either table at every device. */
	const struct rl_fwd *old;
	enum rl_check_alts alts;
	/** links that died after the tables were made, in addition to the
	    failed marks: their dependencies, before and after, are live
	    together */
	const uint32_t *dead;
	uint32_t ndead;
	/** compare paths with shortest ones; RL_CHECK_FIRST without old only */
	bool stretch;
	/** pairs of endpoints in different parts of a cut fabric don't count */
	bool parts;
	/** packets may leave the adaptive plane wherever they can be (rl_fwd.h);
	    it is judged, too. Without `old` only */
	bool joins;
	/** ranks of channels, by rl_channel(): does every dependency ascend in
	    them (rl_check_report.descends)? NULL: no question */
	const uint32_t *rank;
};

/** A channel, and a pair whose path goes on from it to the next. */
struct rl_check_dep {
	uint32_t link;
	uint8_t end; /**< the link's end that sends */
	uint8_t vl;
	uint32_t src; /**< endpoint ids */
	uint32_t dst;
};

struct rl_check_report {
	uint64_t pairs;	    /**< of endpoints that are present */
	uint64_t reachable; /**< whose packets arrive, whatever the choices */
	uint64_t hops;	    /**< of all paths (links between switches and
				 endpoint links alike); RL_CHECK_FIRST only */
	uint32_t max_hops;  /**< longest path; RL_CHECK_ALL: longest possible */
	uint64_t vl_hops[RL_VCS]; /**< hops on links between switches, per VL */
	uint32_t nvls;		  /**< VLs that any packet may use there */
	uint32_t load_max; /**< paths on the busiest link between switches */
	double load_mean;
	/** mean over pairs of the links between switches that a path crosses,
	    over the fewest possible; 0 if not requested */
	double stretch_mean;
	uint32_t extra_max; /**< most links in excess of the fewest possible */
	uint32_t extra_src, extra_dst; /**< a pair that has them */
	/** (switch, destination, SL) where packets may leave the adaptive plane,
	    and those from which they may not arrive, or destinations of which
	    that plane is wrong */
	uint64_t joins, joins_lost;
	uint64_t channels; /**< in use */
	uint64_t deps;
	bool descends; /**< one of them, in the ranks that were given */
	/** the first pair that does not arrive, if reachable < pairs */
	uint32_t lost_src, lost_dst;
	const char *lost_why; /**< static string */
	/** a shortest cycle among those found; 0: free of credit loops */
	uint32_t cycle_len;
	struct rl_check_dep cycle[RL_CHECK_CYCLE_MAX];
};

/**
 * Control thread. Follows every pair through the tables and judges them.
 *
 * @return 0: all arrive and there is no cycle; -ELOOP: a cycle; -EHOSTUNREACH:
 *   some do not arrive (and no cycle); -ENOMEM
 */
int rl_check(const struct rl_check_in *in, struct rl_check_report *rep);

/** What fails next to a packet, in rl_check_detours(). */
enum rl_check_fail {
	RL_CHECK_LINK,	    /**< the one link it wants to take */
	RL_CHECK_NEIGHBOUR, /**< all links to the neighbour behind it */
	RL_CHECK_SWITCH,    /**< the neighbour, unless the destination */
};

/** Coverage of detours [ROUTE-6]. */
struct rl_check_detours {
	uint64_t ways;	     /**< (device, destination, input) checked */
	/** of them: the failure leaves a path through switches, or a detour */
	uint64_t connected;
	uint64_t covered;    /**< of them: local detours deliver the packet */
	/** in addition: only an endpoint that reflects could help, but none
	    does */
	uint64_t reflectable;
	uint64_t hops_before; /**< of the covered, from the device on */
	uint64_t hops_after;
	uint32_t max_hops;    /**< longest detour, from the device on */
	uint32_t max_extra;   /**< most hops added by the failure */
	/** the first that is not covered: of the connected ones, else of the
	    reflectable ones */
	uint32_t dev, dst, link;
};

/**
 * Control thread. For every place on a packet's path, kills its next link or
 * device, and follows it from there.
 *
 * @return 0 (see covered), -ENOMEM
 */
int rl_check_detours(const struct rl_check_in *in, enum rl_check_fail what,
		     struct rl_check_detours *rep);

/**
 * Any thread. Writes the channels of a cycle, "a:b#k:vl (src->dst)" each, into
 * @p buf (at least 8 bytes), as many as it holds. Returns buf.
 */
char *rl_check_cycle_text(const struct rl_topo *topo,
			  const struct rl_check_report *rep, char *buf,
			  size_t len);

RL_PUBLIC_END

#endif /* RL_CHECK_H */
