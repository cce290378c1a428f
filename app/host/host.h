/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_H
#define HOST_H

/**
 * @file
 * The lcore host: a fabric of roles on DPDK's lcores, with rings as pipes and
 * ethdevs as wires. The control thread (main lcore) opens, starts, watches and
 * closes it. While it runs, control reaches the lcores only through atomics
 * and rings: port orders, the fault layer, and the clients' switches.
 *
 * With one lcore only, the main lcore polls the roles itself, in slices
 * between whatever else control does: then host_run() is where the fabric
 * lives, and control must call it often.
 *
 * Opening order: host_plan() (before EAL), rte_eal_init(), host_open(),
 * clients, host_start(), host_run()..., host_stop(), host_close().
 */

#include <stdatomic.h>

#include <rte_lcore.h>

#include "client_gen.h"
#include "host_clock.h"
#include "host_keys.h"
#include "host_log.h"
#include "host_mem.h"
#include "host_place.h"
#include "host_resil.h"
#include "host_steer.h"
#include "host_time.h"
#include "host_unplug.h"
#include "host_wires.h"
#include "proof.h"
#include "rl_fabric.h"
#include "rl_fault.h"
#include "rl_route.h"
#include "rl_wires.h"

#define HOST_ERR_MAX (RL_ERR_MAX + 512)

/** A drop on the way back to the endpoint that is to be told. */
struct host_notice {
	uint32_t dev;
	struct rl_ep_notice say;
};

/** Roles of one device that an lcore runs together, one turn a round. */
struct host_turn {
	struct rl_role_core *core; /**< NULL: another lcore runs it */
	uint32_t port;	 /**< the first, in the lcore's list of ports */
	uint32_t nports; /**< 0: others run them */
};

/** Everything one lcore owns. Only the atomics are read by others. */
struct host_lcore {
	struct host *host;
	unsigned int id;
	struct host_turn *turn;
	uint32_t nturns;
	struct rl_role_port **port; /**< of all turns, one after the other */
	uint32_t nports;
	uint32_t ncores;
	struct rl_flit_cache cache;
	uint32_t cache_low;
	uint32_t cache_high;
	struct host_log log;
	struct rte_ring *notices; /**< many producers, this consumer */
	struct host_orders orders;
	_Atomic uint32_t parked; /**< stands still, see host_dev_crash() */
	uint64_t drops[RL_DROP_REASON_COUNT];	    /**< packets */
	uint64_t drop_flits[RL_DROP_REASON_COUNT];
	_Atomic uint64_t notices_lost; /**< a source was not told of a drop */
	uint64_t busy_ns; /**< time of the last poll that did something */
	struct host_pace pace;
	uint32_t nth;	  /**< of the host's lcores */
	uint64_t late_ns; /**< what the roles' time lacks of the host's */
	uint64_t left_out_ns; /**< of which its ports know */
	_Atomic uint32_t ended; /**< its roles are nobody's any more */
	_Atomic uint64_t loops;
	_Atomic uint64_t loops_busy;
} RL_ALIGNED(RL_CACHE_LINE);

struct host_params {
	const struct rl_config *cfg;
	const struct rl_route *route;
	uint64_t seed;
	uint64_t incarnation;  /**< of this process; 0: from the entropy of the
				    machine, so that no two starts are alike */
	uint32_t classes;      /**< of service, in use; 0: one */
	uint32_t ring_frames;  /**< a direction of a wire holds */
	uint32_t frame_bytes;  /**< largest frame on software wires */
	uint32_t idle_sleep_ns; /**< nap of an idle lcore; 0: never */
	int process;	       /**< of cfg->process; 0 where one runs all */
	const struct rl_auth_root *key; /**< of wires; NULL: none */
	struct rl_oob *oob;    /**< channel to other processes; NULL: none */
	uint16_t ports_left;   /**< ethdev numbers that others will need */
};

/** What a fabric needs, known before EAL starts. */
struct host_plan {
	uint32_t frames;     /**< mbufs in the pool of all wires */
	uint32_t frame_bytes;
	uint64_t flits;
	uint32_t eal_mb;     /**< memory to ask EAL for */
};

struct host {
	struct host_params p;
	struct host_plan plan;
	struct host_clock clock;
	struct host_time time;
	struct host_pace *pace[RTE_MAX_LCORE]; /**< [nlcores] */
	struct host_mem mem;
	struct host_place place;
	struct host_lcore *lcore[RTE_MAX_LCORE]; /**< NULL: runs nothing */
	uint16_t lcore_id[RTE_MAX_LCORE];
	uint32_t nlcores;
	uint32_t nshared; /**< lcores left idle: another one polls their CPU */
	bool sliced; /**< the main lcore runs the roles */
	bool running;
	struct rte_mempool *pool;
	struct rte_ring *free_flits; /**< what no cache holds */
	struct rl_wires wires;
	struct rl_wire_dev *wire_dev; /**< [2 * entry of cfg->wire + end] */
	struct host_steer *steer; /**< [2 * entry of cfg->wire + end] */
	uint64_t steer_due_ns;	  /**< when to say again that we live */
	struct rl_auth **key; /**< [2 * link + end]; NULL: none */
	struct host_unplug *unplug; /**< [2 * entry of cfg->wire + end] */
	struct rl_carrier carrier; /**< of wires over ethdevs */
	bool carrier_on;
	struct rl_fault_link *fault; /**< [nlink] */
	struct rl_phy_eth *phy;	     /**< [2 * link + end] */
	struct rl_fabric fabric;
	struct rl_fabric_host callbacks; /**< roles keep pointers into it */
	struct client_gen **gen; /**< [nep]; told of reports; NULL: none */
	struct proof **proof;	 /**< [dst * nep + src], the clients'; told as
				      well; NULL: none */
	bool *dead;	     /**< [ndev] crashed */
	uint64_t gone_flit_hops; /**< of ports that crashed */
	struct host_resil resil;
	_Atomic uint32_t stop;
	_Atomic uint32_t pause; /**< lcores stand still */
};

/** Any thread. What @p p needs with @p lcores lcores. */
void host_plan(const struct host_params *p, uint32_t lcores,
	       struct host_plan *plan);

/**
 * Control thread, after rte_eal_init(). Places the roles, opens the wires and
 * builds the fabric.
 *
 * @param err  HOST_ERR_MAX bytes, one line on failure
 * @return 0 or -errno; host_close() is due in either case
 */
int host_open(struct host *h, const struct host_params *p, char *err);

/** Control thread. Links train, lcores poll. @return 0 or -errno */
int host_start(struct host *h);

/**
 * Control thread. Lets @p ns pass: polls the roles where the main lcore runs
 * them, else sleeps.
 */
void host_run(struct host *h, uint64_t ns);

/**
 * Control thread. Whether nothing is in flight: no role holds, sends or waits
 * for anything. An lcore that the kernel has stopped in the middle of a round
 * still shows what it last said, so this is only known to be true if it was
 * true all the while that host_rounds_passed() of one round took.
 */
bool host_drained(const struct host *h);

/** Control thread. Rounds of each lcore so far; RTE_MAX_LCORE entries. */
void host_rounds(const struct host *h, uint64_t rounds[]);

/** Control thread. Whether every lcore has made @p n whole rounds since. */
bool host_rounds_passed(const struct host *h, const uint64_t since[],
			uint64_t n);

/** Control thread. Name of a role that is not idle, for messages; or NULL. */
const char *host_busy_role(const struct host *h, char *buf);

/** Control thread. Ends the polling and gives back all flits and frames. */
void host_stop(struct host *h);

/** What lcores had to say and could not, over all of them. */
struct host_lost {
	uint64_t events;  /**< of ports, cores and endpoints */
	uint64_t drops;	  /**< records of single packets: they are counted */
	uint64_t notices; /**< drops that their sources were not told of */
};

/** Control thread. While lcores run, a little less than they have lost. */
void host_lost(const struct host *h, struct host_lost *lost);

/** Control thread, after host_stop(). Flits that nobody gave back: a bug. */
uint64_t host_leaked_flits(const struct host *h);

/** Control thread. Frees everything; a zeroed host is fine. */
void host_close(struct host *h);

/** Control thread. Takes the next record of any lcore. @return whether */
bool host_next_record(struct host *h, struct host_rec *rec);

/** Any thread. Nanoseconds of the host's clock. */
static inline uint64_t
host_now(const struct host *h)
{
	return host_clock_ns(&h->clock);
}

/** Any thread. The host's time of what happened at @p role_ns to a role. */
static inline uint64_t
host_time_of(const struct host *h, uint64_t role_ns)
{
	return role_ns + host_time_left_out(&h->time);
}

/** Control thread. The time of roles, a round more or less. */
static inline uint64_t
host_role_now(const struct host *h)
{
	return host_now(h) - host_time_left_out(&h->time);
}

/**
 * Any thread. Whether a ring holds nothing. rte_ring_empty() reads the same
 * two numbers, but plainly: between threads that is a race.
 */
static inline bool
host_ring_empty(const struct rte_ring *r)
{
	/* acquire: pairs with the release that ends each en- and dequeue */
	return __atomic_load_n(&r->prod.tail, __ATOMIC_ACQUIRE) ==
	       __atomic_load_n(&r->cons.tail, __ATOMIC_ACQUIRE);
}

/**
 * Control thread. A device stops dead, its state is lost; it begins anew. Its
 * links are the caller's to darken before, and to light up after.
 * @return 0; -EALREADY
 */
int host_dev_crash(struct host *h, uint32_t dev);
int host_dev_restart(struct host *h, uint32_t dev);

/** Gives back what lies in a pipe; its users stand still. */
void host_flush_pipe(struct rl_pipe *pipe, struct rl_flit_cache *cache);

/** The lcore. Stands still until it may go on. For host_lcore.c. */
void host_lcore_park(struct host_lcore *lc);

/**
 * Control thread, while no lcore polls. Gives each lcore the roles that the
 * placement has for it, of all devices that are run here and live.
 */
void host_lcores_deal(struct host *h);

/** The lcore's loop; arg is its struct host_lcore. For host.c. */
int host_lcore_main(void *arg);

/** One round over all roles of an lcore. @return work done. For host.c. */
unsigned int host_lcore_poll(struct host_lcore *lc, uint64_t now_ns);

/** Callbacks of roles, see rl_fabric.h; ctx is the host. For host.c. */
void host_on_drop(void *ctx, const struct rl_flit *pkt,
		  enum rl_drop_reason why, uint64_t now_ns);
void host_on_report(void *ctx, const struct rl_ep_report *r, uint64_t now_ns);
void host_on_port_event(void *ctx, uint32_t dev, uint16_t port,
			const struct rl_port_event *ev);
void host_on_ep_event(void *ctx, uint32_t dev, const struct rl_ep_event *ev);
void host_on_core_event(void *ctx, uint32_t dev,
			const struct rl_core_event *ev);

#endif /* HOST_H */
