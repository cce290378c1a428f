/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SIM_H
#define RL_SIM_H

/**
 * @file
 * A fabric in virtual time: the same ports, cores and endpoints that run on
 * lcores, polled by an event loop, over wires that lose, hurt, repeat and
 * delay what they carry, by a seed. The same seed and input give the same run
 * on every machine.
 *
 * One thread owns a simulation and all that belongs to it; within rl_sim_run()
 * others may help it. Nothing here is a data path of the product, but speed
 * matters: millions of runs look for bugs, and whole fabrics are measured.
 *
 * Life of a run:
 *
 *   rl_sim_mem_init()              once; its memory serves many runs
 *     rl_sim_create()              builds the fabric, links train from 0 ns
 *     rl_sim_run() ...             moves virtual time
 *     rl_sim_settled(), rl_sim_audit()   the oracles that need no traffic
 *     rl_sim_destroy()             gives everything back, and checks that
 *   rl_sim_mem_free()
 */

#include "rl_fabric.h"
#include "rl_failover.h"
#include "rl_sim_fault.h"
#include "rl_sim_resil.h"

#define RL_SIM_THREADS_MAX 64

/** Frames have as much memory as they may need: the largest, a half, ... */
#define RL_SIM_FRAME_SIZES 5

/** Memory of simulations: flits, frames, and what fabrics are made of. */
struct rl_sim_mem {
	struct rl_flit_cache cache; /**< free flits */
	struct rl_flit_cache keep;  /**< the same, for endpoints to keep */
	void **flit_chunk;
	uint32_t nflit_chunk;
	uint64_t flits; /**< that exist */
	struct rl_sim_frame *frame[RL_SIM_FRAME_SIZES]; /**< free ones */
	void **frame_chunk;
	uint32_t nframe_chunk;
	uint32_t frame_bytes; /**< of the frames above */
	uint64_t frames;      /**< that exist */
	uint64_t frames_free;
	void **arena;
	uint32_t narena;
	uint32_t arena_cur; /**< chunk in use, and bytes of it */
	size_t arena_used;
	void **big; /**< single allocations of the present run */
	uint32_t nbig;
	uint32_t mark; /**< of the last search for flits with two owners */
	struct rl_sim_codec *codec; /**< that were made for earlier runs */
	void **more; /**< struct rl_sim_mem of further threads, which have no
			  further ones themselves */
	uint32_t nmore;
	uint16_t index; /**< of `more`, from 1 */
};

/** A wire, the same in both directions. */
struct rl_sim_wire_cfg {
	uint32_t flit_ps;      /**< time that 256 bytes take; default 2000 */
	uint64_t latency_ns;   /**< default 100 */
	uint32_t queue_frames; /**< frames that may wait to be sent; default 4 */
	uint32_t frame_bytes;  /**< largest frame; default: 32 flits */
};

/** Where the client of an endpoint is called. */
struct rl_sim_seat {
	/** clients of one part are called by one thread; those of several may
	    be called at once. Less than the number of threads */
	unsigned int part;
	struct rl_flit_cache *cache; /**< of packets that the client takes */
};

/** What a simulation is made of. Pointers must outlive it. */
struct rl_sim_params {
	struct rl_sim_mem *mem;
	const struct rl_config *cfg;
	const struct rl_fwd *fwd; /**< [ndev], as rl_route_compute() makes */
	struct rl_sim_wire_cfg wire;
	enum rl_isa isa;
	uint64_t seed;
	/** a role is polled so long after it got something; 0: at once */
	uint64_t poll_ns;
	/** and up to so much later, at random: lcores that are busy */
	uint64_t poll_jitter_ns;
	/** roles are polled at multiples of this only: 1 (or 0) is exact; with
	    more, a poll finds more to do at once, and a run is faster */
	uint64_t tick_ns;
	/** whoever of a device is polled, all of it is: its ports take, the core
	    forwards, the ports send, as on an lcore of the host; and ports
	    are joined to their core (rl_role_join()); poll_ns is 0 then */
	bool turns;
	/** what the client of one endpoint does depends on that of another only
	    by what comes by the wires: then a device may have its turns of a
	    wire's latency at once, before others have theirs, where nothing
	    comes between (sim_apart.c). Calls of one client come in order of
	    time; calls of the sink and reports come in order of time, but
	    after the turns in which they were due. Where `drop` is set, and
	    while a controller may be needed, it is not done */
	bool apart;
	/** so many threads share the devices then, RL_SIM_THREADS_MAX at most; 0
	    and 1: the caller alone. What a run counts does not depend on it */
	uint32_t threads;
	/** keepalives of links at rest are not sent: their ends are as if they
	    had been (rl_port_rested()), and a run is faster */
	bool doze;
	/** packets may be hurt or marked inside devices, see
	    rl_sim_faults_soft(): that happens in pipes, so no ports are joined */
	bool soft;
	/** a packet dropped by the fabric is told its source after so long;
	    RL_NEVER: not at all [RXL-4] */
	uint64_t notice_ns;
	/** uncorrectable errors are only those that FEC sees: for runs without
	    end-to-end retry, in which nothing else could find them */
	bool fec_safe;
	struct rl_sim_resil_cfg resil;
	bool lives; /**< endpoints may crash: they tell their incarnation */
	bool keyed; /**< frames of all links have a keyed check */
	bool check_packets; /**< look at every packet that passes a pipe */
	rl_drop_fn drop;	/**< told of each packet dropped, or NULL */
	rl_ep_report_fn report; /**< told of each packet reported, or NULL */
	/** told of each event of ports and cores, or NULL; its own ctx */
	const struct rl_role_sink *sink;
	/** told when endpoint @p ep crashes, with all it held; or NULL */
	void (*ep_crash)(void *ctx, uint16_t ep, uint64_t now_ns);
	void *ctx;		/**< of the others */
	/** Sets the client of endpoint @p ep at device @p dev; or NULL. */
	void (*client)(void *ctx, uint32_t dev, uint16_t ep,
		       const struct rl_sim_seat *seat,
		       struct rl_client *client);
};

/** What was counted over a run. */
struct rl_sim_stats {
	uint64_t polls;
	uint64_t idle_polls;	/**< of them without work */
	uint64_t frames;	/**< sent into wires */
	uint64_t flits;		/**< in them: flits times links crossed */
	uint64_t frames_lost;
	uint64_t frames_hurt;
	uint64_t frames_dup;
	uint64_t frames_late;	/**< lingered over a cut */
	uint64_t drops[RL_DROP_REASON_COUNT]; /**< packets, by reason */
	uint64_t ctrl_drops[RL_DROP_REASON_COUNT]; /**< of them no data */
	uint64_t flits_peak;	/**< in use at once, all over the fabric */
};

struct rl_sim;

/** Control thread. @return 0 or -ENOMEM */
int rl_sim_mem_init(struct rl_sim_mem *mem);

/** Control thread. No simulation may use it any more. */
void rl_sim_mem_free(struct rl_sim_mem *mem);

/**
 * Any thread. So many threads make a run of this fabric faster, of @p cpus at
 * most: they meet after each latency of a wire, which has to be worth it.
 */
uint32_t rl_sim_threads(const struct rl_topo *topo, unsigned int cpus);

/** A wire of the defaults above. */
void rl_sim_wire_defaults(struct rl_sim_wire_cfg *w);

/**
 * Control thread. Builds a fabric and starts its links at 0 ns.
 *
 * @param err  RL_ERR_MAX bytes
 * @return 0; what rl_fabric_build() returns; -ENOMEM
 */
int rl_sim_create(const struct rl_sim_params *p, struct rl_sim **sim,
		  char *err);

/**
 * Owner. Ends a run: takes back every flit and frame.
 *
 * @param err  RL_ERR_MAX bytes, or NULL
 * @return 0; -EUCLEAN where a flit was missing, or had two owners
 */
int rl_sim_destroy(struct rl_sim *sim, char *err);

/**
 * Owner. Faults to come, added to those there are; the list is copied. Times
 * lie after rl_sim_now().
 * @return 0 or -ENOMEM
 */
int rl_sim_schedule(struct rl_sim *sim, const struct rl_sim_faults *list);

/** Owner. Ends every fault at once: all wires are as new, and what crashed
    begins anew, the controller too. */
void rl_sim_heal_all(struct rl_sim *sim);

/** Owner. The same but for faults that last. @return 0 or -ENOMEM */
int rl_sim_heal_most(struct rl_sim *sim);

/** Owner. Runs until @p until_ns: all that is due before it is done. */
void rl_sim_run(struct rl_sim *sim, uint64_t until_ns);

/** Owner. */
uint64_t rl_sim_now(const struct rl_sim *sim);

/** Owner. A role of device @p dev has something to do now (its client, ...). */
void rl_sim_wake_core(struct rl_sim *sim, uint32_t dev);

/** What rl_sim_settled() asks for besides. */
#define RL_SIM_LINKS 1 /**< links are trained, and traffic is back on them */
/** endpoints may keep parts of packets: without end-to-end retry the rest of
    one that was given up never comes, and nothing may follow to show it */
#define RL_SIM_PARTS_OK 2

/**
 * Owner. Whether all that was sent has come to rest: nothing in any queue,
 * buffer, pipe or wire, nothing unacknowledged.
 *
 * @param flags  of the above
 * @param why    NULL, or RL_ERR_MAX bytes for what is not at rest
 */
bool rl_sim_settled(const struct rl_sim *sim, unsigned int flags, char *why);

/**
 * Owner. The invariants that hold at any moment between runs: every flit has
 * one owner (by count), no receiver was overrun. With @p settled also those
 * at rest: credits are back.
 *
 * @param err  RL_ERR_MAX bytes
 * @return 0 or -EUCLEAN
 */
int rl_sim_audit(const struct rl_sim *sim, bool settled, char *err);

/** Owner. The fabric itself, for reports and tests. */
struct rl_fabric *rl_sim_fabric(struct rl_sim *sim);

/** Owner. */
void rl_sim_stats(const struct rl_sim *sim, struct rl_sim_stats *stats);

/** Owner. Failovers so far, in the order of detection. */
const struct rl_failover *rl_sim_failovers(const struct rl_sim *sim,
					   uint32_t *n);

/** Owner. Recoveries that have ended, in the order of their ends. */
const struct rl_recovery *rl_sim_recoveries(const struct rl_sim *sim,
					    uint32_t *n);

struct rl_flows;

/** Owner. Flows held for the tables of an epoch; NULL: none, or forgotten. */
const struct rl_flows *rl_sim_held(const struct rl_sim *sim, uint32_t epoch);

/** Owner. The controller, or NULL: none, or it is dead. */
const struct rl_controller *rl_sim_controller(const struct rl_sim *sim);

/** Owner. Whether the controller has nothing to do (or there is none). */
bool rl_sim_recovered(const struct rl_sim *sim);

/** Owner. Whether a device has crashed, and not begun anew. */
bool rl_sim_dev_dead(const struct rl_sim *sim, uint32_t dev);

/**
 * Owner. Since when two endpoints have been connected without a break, as far
 * as wires and devices go; RL_NEVER: they are not.
 */
uint64_t rl_sim_connected_since(struct rl_sim *sim, uint16_t a, uint16_t b);

const char *rl_sim_fault_name(enum rl_sim_fault_kind k);

#endif /* RL_SIM_H */
