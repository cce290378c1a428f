/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SIM_H
#define RL_SIM_H

/**
 * @file
 * A fabric in virtual time: the ports, cores and endpoints that also run on
 * lcores, polled by an event loop, over wires that lose, corrupt, duplicate and
 * delay frames, by a seed. The same seed and input give the same run on every
 * machine.
 *
 * One thread owns a simulation and all that belongs to it; rl_sim_run() may use
 * more threads internally. This is no data path of the product, but speed
 * matters: millions of runs look for bugs, and whole fabrics are measured.
 *
 * Life of a run:
 *
 *   rl_sim_mem_init()              once; its memory serves many runs
 *     rl_sim_create()              builds the fabric, links train from 0 ns
 *     rl_sim_run() ...             moves virtual time
 *     rl_sim_settled(), rl_sim_audit()   the oracles that need no traffic
 *     rl_sim_destroy()             takes everything back and checks that
 *   rl_sim_mem_free()
 */

#include "rl_fabric.h"
#include "rl_failover.h"
#include "rl_sim_fault.h"
#include "rl_sim_resil.h"

#define RL_SIM_THREADS_MAX 64

/** Sizes of frame memory: the largest frame, a half of it, a quarter, ... */
#define RL_SIM_FRAME_SIZES 5

/** Memory of simulations: flits, frames, and the objects of fabrics. */
struct rl_sim_mem {
	struct rl_flit_cache cache; /**< free flits */
	struct rl_flit_cache keep;  /**< the same for copies kept by
					 endpoints */
	void **flit_chunk;
	uint32_t nflit_chunk;
	uint64_t flits; /**< allocated in total */
	struct rl_sim_frame *frame[RL_SIM_FRAME_SIZES]; /**< free ones, by
							     size */
	void **frame_chunk;
	uint32_t nframe_chunk;
	uint32_t frame_bytes; /**< size of the largest frame */
	uint64_t frames;      /**< allocated in total */
	uint64_t frames_free;
	void **arena;
	uint32_t narena;
	uint32_t arena_cur; /**< chunk in use, and bytes used of it */
	size_t arena_used;
	void **big; /**< single allocations of the present run */
	uint32_t nbig;
	uint32_t mark; /**< of the last search for flits with two owners */
	struct rl_sim_codec *codec; /**< made for earlier runs */
	void **more; /**< struct rl_sim_mem of other threads; their own `more`
			  is empty */
	uint32_t nmore;
	uint16_t index; /**< position in `more`, from 1; 0: the first */
};

/** A wire, the same in both directions. */
struct rl_sim_wire_cfg {
	uint32_t flit_ps;      /**< time that 256 bytes take; default 2000 */
	uint64_t latency_ns;   /**< default 100 */
	uint32_t queue_frames; /**< frames that may wait for transmission;
				    default 4 */
	uint32_t frame_bytes;  /**< largest frame; default: 32 flits */
};

/** Where the client of an endpoint runs. */
struct rl_sim_seat {
	/** clients of one part run in one thread; those of several parts may
	    run concurrently. Less than the number of threads */
	unsigned int part;
	struct rl_flit_cache *cache; /**< for packets that the client takes */
};

/** What a wire does to a frame. X(name, word). */
#define RL_SIM_FATES(X)                                                        \
	X(SENT, "sent")                                                        \
	X(LOST, "lost")                                                        \
	X(HURT, "corrupted")                                                   \
	X(TWICE, "repeated")

enum rl_sim_fate {
#define RL_SIM_FATE_ENUM(name, word) RL_SIM_FATE_##name,
	RL_SIM_FATES(RL_SIM_FATE_ENUM)
#undef RL_SIM_FATE_ENUM
};

/** How a packet passes between a port and its core. */
enum rl_sim_pass {
	RL_SIM_PASS_IN,	  /**< the port received it */
	RL_SIM_PASS_LOOP, /**< it comes out of a dead port's replay buffer */
	RL_SIM_PASS_OUT,  /**< the core gives it to the port */
};

/**
 * All that flits meet, for a listener. A simulation with one is run by a single
 * thread, without windows, and passes all packets through pipes.
 */
struct rl_sim_tap {
	void *ctx;
	/** Port @p port of device @p dev has put a frame on its wire. Called
	    with SENT, and then with what happens to it there, if anything */
	void (*frame)(void *ctx, uint32_t dev, uint16_t port,
		      const uint8_t *data, uint32_t len, enum rl_sim_fate fate,
		      uint64_t now_ns);
	/** That port has processed what arrived: its counters tell how. */
	void (*heard)(void *ctx, uint32_t dev, uint16_t port,
		      const struct rl_port *state, uint64_t now_ns);
	void (*packet)(void *ctx, uint32_t dev, uint16_t port,
		       enum rl_sim_pass way, const struct rl_flit *pkt,
		       uint64_t now_ns);
	void (*drop)(void *ctx, const struct rl_flit *pkt,
		     enum rl_drop_reason why, uint64_t now_ns);
	void (*report)(void *ctx, const struct rl_ep_report *report,
		       uint64_t now_ns);
	void (*fault)(void *ctx, const struct rl_fault *f, uint64_t now_ns);
};

/** Parameters of a simulation. All pointers must outlive it. */
struct rl_sim_params {
	struct rl_sim_mem *mem;
	const struct rl_config *cfg;
	const struct rl_fwd *fwd; /**< [ndev], from rl_route_compute() */
	struct rl_sim_wire_cfg wire;
	enum rl_isa isa;
	uint64_t seed;
	/** delay from an event for a role to its poll; 0: immediate */
	uint64_t poll_ns;
	/** random addition to poll_ns, as on busy lcores */
	uint64_t poll_jitter_ns;
	/** roles are polled only at multiples of this time: 1 (or 0) is exact;
	    a larger value gives a poll more work at once, and makes a run
	    faster */
	uint64_t tick_ns;
	/** poll whole devices: if one role is due, the ports receive, the core
	    forwards and the ports send, as on one lcore. Ports are joined to
	    their core (rl_role_join()). Needs poll_ns 0 */
	bool turns;
	/** clients of different endpoints interact only through wires. Then a
	    device may run for the latency of a wire before the others, if
	    nothing else can interfere (sim_apart.c). Calls of one client are in
	    order of time. Calls of the sink and reports are in order of time,
	    too, but come after the turns in which they were due. Not done if
	    `drop` is set, or while a controller may be needed */
	bool apart;
	/** number of threads for `apart`, at most RL_SIM_THREADS_MAX; 0 and 1:
	    the caller only. Results do not depend on it */
	uint32_t threads;
	/** do not send keepalives on links at rest, but leave both ends as if
	    they had been sent (rl_port_rested()): a run is faster */
	bool doze;
	/** packets may be corrupted or marked inside devices, see
	    rl_sim_faults_soft(). This happens in pipes, so no ports are
	    joined */
	bool soft;
	/** delay of the notice of a dropped packet to its source; RL_NEVER: no
	    notices [RXL-4] */
	uint64_t notice_ns;
	/** only make uncorrectable errors that FEC detects: for runs without
	    end-to-end retry, in which nothing else could detect them */
	bool fec_safe;
	struct rl_sim_resil_cfg resil;
	bool lives; /**< endpoints may crash, so they send their incarnation */
	bool keyed; /**< frames of all links have a keyed check */
	bool check_packets; /**< check every packet that passes a pipe */
	rl_drop_fn drop;	/**< called for each dropped packet, or NULL */
	rl_ep_report_fn report; /**< called for each reported packet, or NULL */
	/** called for each event of ports and cores, with its own ctx; or
	    NULL */
	const struct rl_role_sink *sink;
	const struct rl_sim_tap *tap; /**< or NULL */
	/** called when endpoint @p ep crashes and loses its packets; or NULL */
	void (*ep_crash)(void *ctx, uint16_t ep, uint64_t now_ns);
	void *ctx;		/**< of the callbacks above and below */
	/** Fills in the client of endpoint @p ep at device @p dev. NULL: no
	    clients. */
	void (*client)(void *ctx, uint32_t dev, uint16_t ep,
		       const struct rl_sim_seat *seat,
		       struct rl_client *client);
};

/** Counters of a run. */
struct rl_sim_stats {
	uint64_t polls;
	uint64_t idle_polls;	/**< without work */
	uint64_t frames;	/**< sent into wires */
	uint64_t flits;		/**< sent in frames: flits times links
				     crossed */
	uint64_t frames_lost;
	uint64_t frames_corrupt;
	uint64_t frames_dup;
	uint64_t frames_delayed; /**< by noise */
	uint64_t frames_late;	/**< delivered after the end of a cut */
	uint64_t drops[RL_DROP_REASON_COUNT]; /**< packets, by reason */
	uint64_t ctrl_drops[RL_DROP_REASON_COUNT]; /**< of these, packets
							without data */
	uint64_t flits_peak;	/**< most in use at once in the fabric */
};

struct rl_sim;

/** Control thread. @return 0 or -ENOMEM */
int rl_sim_mem_init(struct rl_sim_mem *mem);

/** Control thread. No simulation may still use it. */
void rl_sim_mem_free(struct rl_sim_mem *mem);

/**
 * Any thread. @return number of threads that make a run of this fabric faster,
 * at most @p cpus: they synchronise after each wire latency, which must be
 * worth it
 */
uint32_t rl_sim_threads(const struct rl_topo *topo, unsigned int cpus);

/** Any thread. Sets the defaults above. */
void rl_sim_wire_defaults(struct rl_sim_wire_cfg *w);

/**
 * Control thread. Builds a fabric and starts its links at 0 ns.
 *
 * @param sim set to the simulation; rl_sim_destroy() frees it
 * @param err RL_ERR_MAX bytes
 * @return 0; -ENOMEM; or the error of rl_fabric_build()
 */
int rl_sim_create(const struct rl_sim_params *p, struct rl_sim **sim,
		  char *err);

/**
 * Owner. Ends a run: takes back every flit and frame.
 *
 * @param err RL_ERR_MAX bytes, or NULL
 * @return 0; -EUCLEAN if a flit is missing or has two owners
 */
int rl_sim_destroy(struct rl_sim *sim, char *err);

/**
 * Owner. Adds faults to those scheduled; the list is copied. Their times must
 * be after rl_sim_now().
 * @return 0 or -ENOMEM
 */
int rl_sim_schedule(struct rl_sim *sim, const struct rl_sim_faults *list);

/** Owner. Ends every fault at once: repairs all wires, and restarts crashed
    devices and the controller. */
void rl_sim_heal_all(struct rl_sim *sim);

/** Owner. The same, except for lasting faults. @return 0 or -ENOMEM */
int rl_sim_heal_most(struct rl_sim *sim);

/** Owner. Runs until @p until_ns: processes all that is due before it. */
void rl_sim_run(struct rl_sim *sim, uint64_t until_ns);

/** Owner. */
uint64_t rl_sim_now(const struct rl_sim *sim);

/** Owner. A role of device @p dev has work now, for example from its client. */
void rl_sim_wake_core(struct rl_sim *sim, uint32_t dev);

/** Flags of rl_sim_settled(). */
#define RL_SIM_LINKS 1 /**< also require that links are trained and carry
			    traffic again */
/** allow endpoints to keep parts of packets: without end-to-end retry, the rest
    of a reported packet never comes, and no later packet may reveal the gap */
#define RL_SIM_PARTS_OK 2

/**
 * Owner. @return whether everything sent has come to rest: no queue, buffer,
 * pipe or wire holds anything, and nothing is unacknowledged
 *
 * @param flags RL_SIM_LINKS, RL_SIM_PARTS_OK
 * @param why NULL, or RL_ERR_MAX bytes for the reason if it is not at rest
 */
bool rl_sim_settled(const struct rl_sim *sim, unsigned int flags, char *why);

/**
 * Owner. Checks the invariants that hold at any time between runs: every flit
 * has one owner (by count), no receiver was overrun. With @p settled also those
 * at rest: all credits are returned.
 *
 * @param err RL_ERR_MAX bytes
 * @return 0 or -EUCLEAN
 */
int rl_sim_audit(const struct rl_sim *sim, bool settled, char *err);

/** Owner. @return the fabric, for reports and tests */
struct rl_fabric *rl_sim_fabric(struct rl_sim *sim);

/** Owner. */
void rl_sim_stats(const struct rl_sim *sim, struct rl_sim_stats *stats);

/** Owner. @return failovers so far, in order of detection */
const struct rl_failover *rl_sim_failovers(const struct rl_sim *sim,
					   uint32_t *n);

/** Owner. @return recoveries that have ended, in the order of their ends */
const struct rl_recovery *rl_sim_recoveries(const struct rl_sim *sim,
					    uint32_t *n);

struct rl_flows;

/**
 * Owner. @return flows held for the tables of an epoch; NULL: none, or
 * forgotten
 */
const struct rl_flows *rl_sim_held(const struct rl_sim *sim, uint32_t epoch);

/** Owner. @return the controller; NULL: none, or crashed */
const struct rl_controller *rl_sim_controller(const struct rl_sim *sim);

/**
 * Owner. @return whether the controller has nothing to do (or there is none)
 */
bool rl_sim_recovered(const struct rl_sim *sim);

/** Owner. @return whether a device has crashed and not restarted */
bool rl_sim_dev_dead(const struct rl_sim *sim, uint32_t dev);

/**
 * Owner. @return the time since which two endpoints have been connected without
 * a break, judged by wires and devices; RL_NEVER: they are not connected
 */
uint64_t rl_sim_connected_since(struct rl_sim *sim, uint16_t a, uint16_t b);

#endif /* RL_SIM_H */
