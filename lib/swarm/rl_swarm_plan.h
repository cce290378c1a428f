/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SWARM_PLAN_H
#define RL_SWARM_PLAN_H

/**
 * @file
 * A plan is all that a run needs: fabric, configuration, traffic, faults. A
 * seed draws one, as in swarm testing: first which kinds of faults and which
 * features exist at all, then how much of each, so that rare combinations come
 * up and common faults do not hide the others.
 *
 * A run of a plan ends in a verdict: all guarantees held, or which one was
 * broken.
 */

#include "rl_config.h"
#include "rl_prng.h"
#include "rl_route.h"
#include "rl_sim.h"
#include "rl_sim_load.h"

struct rl_swarm_plan {
	uint64_t seed;
	struct rl_config cfg;
	struct rl_route *route;
	bool route_lent;   /**< widening must not free it: others need it */
	struct rl_sim_wire_cfg wire;
	uint64_t poll_ns;
	uint64_t poll_jitter_ns;
	uint64_t tick_ns;
	bool turns;
	bool doze;
	uint64_t notice_ns;
	bool fec_safe;
	bool keyed;
	struct rl_sim_resil_cfg resil; /**< without its route, which is that of
					    the plan */
	struct rl_sim_load_cfg load;
	struct rl_sim_faults faults;
	bool controller;   /**< there is a controller, and local ones */
	uint64_t silence_ns; /**< longest silence of a flow with connected ends;
				  0: not checked */
	uint64_t report_ns; /**< longest time from the last news of a flow to a
				 report of its outstanding packets; 0: not
				 checked */
	uint64_t reunite_ns; /**< when all is at rest, lasting faults end after
				  this time; 0: they do not end */
	uint64_t heal_ns;  /**< all but lasting faults end here */
	uint64_t limit_ns; /**< all must be at rest by then */
	bool reports_ok;   /**< packets may be reported (watchdog, policy) */
	bool soft_errors;  /**< flits are corrupted inside switches */
	bool losses_ok;	   /**< and lost: loopback is not "whole-packets" */
	/** failures come one at a time and links are parallel: no flit may
	    overtake another of its flow [DRL-4] */
	bool strict_order;
	const char *shape; /**< name of the drawn fabric */
	uint32_t wide;	   /**< bit per enum rl_swarm_wide applied */
	const struct rl_role_sink *sink; /**< events, or NULL */
	const struct rl_sim_tap *tap;	 /**< or NULL */
	/** called after the run, before the fabric is freed; or NULL */
	void (*inspect)(void *ctx, struct rl_sim *sim);
	void *inspect_ctx;
};

/** Kinds of faults that a swarm may draw. X(name, word). */
#define RL_SWARM_KINDS(X)                                                      \
	X(CUT, "cut")		/* both directions */                          \
	X(ONEWAY, "one-way")	/* cuts of one direction */                    \
	X(SILENT, "silent")	/* cuts that the PHY does not show */          \
	X(NTH, "nth")		/* cuts at an exact frame or flit */           \
	X(FLAP, "flap")		/* many short cuts */                          \
	X(LATE, "late")		/* frames that arrive after a cut */           \
	X(COMMAND, "command")	/* links down and up by command */             \
	X(LOSS, "loss")                                                        \
	X(CORRUPT, "corrupt")                                                  \
	X(DUP, "dup")                                                          \
	X(STALL, "stall")                                                      \
	X(DROP, "drop")		/* n-th frames */                              \
	X(JITTER, "jitter")	/* frames that are overtaken */                \
	X(SOFT, "soft")		/* flits corrupted inside switches */          \
	X(ENDPOINT, "endpoint") /* links of endpoints fail too */

enum rl_swarm_kind {
#define RL_SWARM_KIND_ENUM(name, word) RL_SWARM_KIND_##name,
	RL_SWARM_KINDS(RL_SWARM_KIND_ENUM)
#undef RL_SWARM_KIND_ENUM
	RL_SWARM_KIND_COUNT
};

/**
 * Dimensions in which a swarm may be wide: settings that the plain swarm leaves
 * at their usual values. X(name, word).
 */
#define RL_SWARM_WIDE(X)                                                       \
	X(VCS, "vcs")		/* fewer than supported */                     \
	X(WEIGHTS, "weights")	/* of VCs */                                   \
	X(LONG, "long")		/* packets of more than 32 flits */            \
	X(WINDOW, "window")	/* windows and credits over 256 flits */       \
	X(LATENCY, "latency")	/* wires of less than 10 ns or over 2 us */    \
	X(LIMIT, "limit")	/* of consecutive timeouts, in endpoints */    \
	X(BUFFERS, "buffers")	/* endpoints with room for few flits */        \
	X(SLOW, "slow")		/* clients that take nothing for a while */    \
	X(COMPACT, "compact")	/* profile rxl-compact */                      \
	X(WIDE19, "wide19")                                                    \
	X(KINDS, "kinds")	/* requests and responses on separate VCs */   \
	X(DEVICE, "device")	/* all links of a device go dark at once */    \
	X(REBORN, "reborn")	/* an endpoint crashes, and may restart */     \
	X(KEYED, "keyed")	/* frames have a keyed check */                \
	X(PARTITION, "partition") /* the fabric is cut in two */               \
	X(BUSY, "busy")		/* roles are polled late and unevenly */       \
	X(PATHS, "paths")	/* a flow takes many, most with adaptive routing */ \
	X(CONGESTION, "congestion") /* windows by it; large ones with wide19 */

enum rl_swarm_wide {
#define RL_SWARM_WIDE_ENUM(name, word) RL_SWARM_WD_##name,
	RL_SWARM_WIDE(RL_SWARM_WIDE_ENUM)
#undef RL_SWARM_WIDE_ENUM
	RL_SWARM_WD_COUNT
};

/** Share of seeds for each dimension, 0 to 100 %. */
struct rl_swarm_shares {
	uint8_t pct[RL_SWARM_WD_COUNT];
};

struct rl_swarm_verdict {
	bool ok;
	char why[512];	  /**< the broken guarantee, or "" */
	uint64_t end_ns;  /**< when all was at rest */
	struct rl_sim_stats sim;
	struct rl_sim_load_stats load;
	uint32_t failovers;
	uint32_t recoveries;
	uint64_t hash;	  /**< of the run: equal seeds give equal hashes */
};

/**
 * Control thread. Draws everything from @p seed.
 * @param plan overwritten; rl_swarm_plan_free() frees it
 * @return 0; -ENOMEM; -EINVAL with @p err (RL_ERR_MAX bytes): a bug of the
 *   swarm
 */
int rl_swarm_plan_draw(struct rl_swarm_plan *plan, uint64_t seed, char *err);

/**
 * Control thread. Draws faults between @p from_ns and @p to_ns for the fabric
 * of @p plan, whose cfg, route and load are set; sets heal_ns and limit_ns. @p
 * kinds: bit per enum rl_swarm_kind that may come up.
 * @return 0 or -ENOMEM
 */
int rl_swarm_plan_faults(struct rl_swarm_plan *plan, uint64_t seed,
			 uint32_t kinds, uint64_t from_ns, uint64_t to_ns);

/**
 * Any thread. Parses "all", or a list of dimensions such as "latency,slow=50",
 * with shares in percent; the default share is 25.
 * @return 0; -EINVAL: no such dimension, or an invalid share
 */
int rl_swarm_wide_parse(const char *text, struct rl_swarm_shares *shares);
const char *rl_swarm_wide_name(enum rl_swarm_wide dim);

/**
 * Control thread. Widens a plan, drawn or not: @p seed draws which dimensions,
 * and how far. Dimensions that do not fit the plan are left out; plan->wide has
 * those applied.
 * @return 0 or -ENOMEM
 */
int rl_swarm_plan_widen(struct rl_swarm_plan *plan, uint64_t seed,
			const struct rl_swarm_shares *shares);

/** Control thread. Frees the contents; a zeroed plan is allowed. */
void rl_swarm_plan_free(struct rl_swarm_plan *plan);

/**
 * Control thread. Sets @p p as a plan says, which outlives it: all but the
 * controller's route, callbacks, and how the simulation is run.
 */
void rl_swarm_plan_params(const struct rl_swarm_plan *plan,
			  struct rl_sim_mem *mem, struct rl_sim_params *p);

/**
 * Control thread. Runs a plan to its end and judges it.
 *
 * @param v filled in any case
 * @return 0: see v->ok; a negative errno if it could not be run
 */
int rl_swarm_plan_run(const struct rl_swarm_plan *plan, struct rl_sim_mem *mem,
		      struct rl_swarm_verdict *v);

#endif /* RL_SWARM_PLAN_H */
