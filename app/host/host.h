/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_H
#define HOST_H

/**
 * @file
 * The lcore host: a fabric of roles on DPDK lcores, with rings as pipes and
 * ethdevs as wires. The control thread (main lcore) opens, starts, monitors and
 * closes it. While it runs, the control thread reaches the lcores only through
 * atomics and rings: port orders, the fault layer, and the switches of clients.
 *
 * With one lcore only, the main lcore polls the roles itself, in slices between
 * its other work: then the fabric only runs inside host_run(), which control
 * must call often.
 *
 * Order of calls: host_plan() (before EAL), rte_eal_init(), host_open(),
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
#include "rl_inject.h"
#include "rl_route.h"
#include "rl_wires.h"

/** Between looks at whether all lcores stand still, or may go on. */
#define HOST_PARK_NAP_NS 20000
#define HOST_ERR_MAX (RL_ERR_MAX + 512)

/** A drop notice on its way to the endpoint that sent the packet. */
struct host_notice {
	uint32_t dev;
	struct rl_ep_notice say;
};

/** Roles of one device that an lcore runs together, once a round. */
struct host_turn {
	struct rl_role_core *core; /**< NULL: another lcore runs it */
	uint32_t port;	 /**< index of the first, in the lcore's list of
			      ports */
	uint32_t nports; /**< 0: other lcores run them */
};

/** Everything that one lcore owns. Other threads only read the atomics. */
struct host_lcore {
	struct host *host;
	unsigned int id;
	struct host_turn *turn;
	uint32_t nturns;
	struct rl_role_port **port; /**< of all turns, in their order */
	uint32_t nports;
	uint32_t ncores;
	struct rl_flit_cache cache;
	uint32_t cache_low;
	uint32_t cache_high;
	struct host_log log;
	struct rte_ring *notices; /**< many producers; this lcore consumes */
	struct host_orders orders;
	_Atomic uint32_t parked; /**< paused, see host_dev_crash() */
	uint64_t drops[RL_DROP_REASON_COUNT];	    /**< packets */
	_Atomic uint64_t notices_lost; /**< drops that a source was not told
					    of */
	uint64_t busy_ns; /**< time of the last poll with work */
	struct host_pace pace;
	uint32_t nth;	  /**< index among the host's lcores */
	uint64_t late_ns; /**< time that the roles do not count */
	uint64_t left_out_ns; /**< of this, what its ports know of */
	_Atomic uint32_t ended; /**< its roles have no owner any more */
	_Atomic uint64_t loops;
	_Atomic uint64_t loops_busy;
} RL_ALIGNED(RL_CACHE_LINE);

struct host_params {
	const struct rl_config *cfg;
	const struct rl_route *route;
	uint64_t seed;
	uint64_t incarnation;  /**< of this process; 0: random, so that no two
				    starts are alike */
	uint32_t classes;      /**< classes of service in use; 0: one */
	uint32_t ring_frames;  /**< capacity of a direction of a wire */
	uint32_t frame_bytes;  /**< largest frame on software wires */
	uint32_t idle_sleep_ns; /**< nap of an idle lcore; 0: never */
	int process;	       /**< index in cfg->process; 0 if one process runs
				    all */
	const struct rl_auth_root *key; /**< of wires; NULL: none */
	struct rl_oob *oob;    /**< channel to other processes; NULL: none */
};

/** Resources that a fabric needs, known before EAL starts. */
struct host_plan {
	uint32_t frames;     /**< mbufs in the pool of all wires */
	uint32_t frame_bytes;
	uint64_t flits;
	uint32_t eal_mb;     /**< memory to request from EAL */
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
	uint32_t nshared; /**< lcores left idle: another one polls on their
			       CPU */
	uint32_t long_nap_ns; /**< of an lcore long idle; 0: never */
	bool sliced; /**< the main lcore runs the roles */
	bool running;
	struct rte_mempool *pool;
	struct rte_ring *free_flits; /**< flits that are in no cache */
	struct rl_wires wires;
	struct rl_wire_dev *wire_dev; /**< [2 * entry of cfg->wire + end] */
	struct host_steer *steer; /**< [2 * entry of cfg->wire + end] */
	uint64_t steer_due_ns;	  /**< when to renew the steering lease */
	struct rl_auth **key; /**< [2 * link + end]; NULL: none */
	struct host_unplug *unplug; /**< [2 * entry of cfg->wire + end] */
	struct rl_carrier carrier; /**< of wires over ethdevs */
	bool carrier_on;
	struct rl_inject_link *fault; /**< [nlink] */
	struct rl_phy_eth *phy;	     /**< [2 * link + end] */
	struct rl_fabric fabric;
	struct rl_fabric_host callbacks; /**< roles keep pointers into it */
	struct client_gen **gen; /**< [nep]; get reports; NULL: none */
	struct proof **proof;	 /**< [dst * nep + src], owned by clients; get
				      reports, too; NULL: none */
	bool *dead;	     /**< [ndev] has crashed */
	uint64_t gone_flit_hops; /**< by ports that crashed */
	struct host_resil resil;
	_Atomic uint32_t stop;
	_Atomic uint32_t pause; /**< asks lcores to pause */
};

/** Any thread. Fills in the resources that @p p needs with @p lcores lcores. */
void host_plan(const struct host_params *p, uint32_t lcores,
	       struct host_plan *plan);

/**
 * Control thread, after rte_eal_init(). Places the roles, opens the wires and
 * builds the fabric.
 *
 * @param err HOST_ERR_MAX bytes, one line on failure
 * @return 0 or -errno; in either case call host_close()
 */
int host_open(struct host *h, const struct host_params *p, char *err);

/** Control thread. Links start to train, lcores to poll. @return 0 or -errno */
int host_start(struct host *h);

/**
 * Control thread. Runs for @p ns: polls the roles if the main lcore runs them,
 * otherwise sleeps.
 */
void host_run(struct host *h, uint64_t ns);

/**
 * Control thread. Whether nothing is in flight: no role holds, sends or waits
 * for anything. An lcore that the kernel has stopped in the middle of a round
 * still shows what it last said, so this is only known to be true if it was
 * true all the while that host_rounds_passed() of one round took.
 */
bool host_drained(const struct host *h);

/**
 * Control thread. Stores the rounds of each lcore so far; RTE_MAX_LCORE
 * entries.
 */
void host_rounds(const struct host *h, uint64_t rounds[]);

/** Control thread. Whether every lcore has made @p n whole rounds since. */
bool host_rounds_passed(const struct host *h, const uint64_t since[],
			uint64_t n);

/**
 * Control thread. Waits until every running lcore has made a whole round: it then
 * knows of each order, and has recorded what its ports showed.
 * @return false: not within @p ns
 */
bool host_wait_round(struct host *h, uint64_t ns);

/**
 * Control thread. @return name of a role that is not idle, for messages; or
 * NULL
 */
const char *host_busy_role(const struct host *h, char *buf);

/** Control thread. Stops polling and takes back all flits and frames. */
void host_stop(struct host *h);

/** Records that lcores could not deliver, in total. */
struct host_lost {
	uint64_t events;  /**< of ports, cores and endpoints */
	uint64_t drops;	  /**< records of single packets; the packets are
			       counted */
	uint64_t notices; /**< drops that their sources were not told of */
};

/** Control thread. While lcores run, recent losses may be missing. */
void host_lost(const struct host *h, struct host_lost *lost);

/**
 * Control thread, after host_stop(). @return flits that leaked, which is a bug
 */
uint64_t host_leaked_flits(const struct host *h);

/** Control thread. Frees everything; the host may be all zeroes. */
void host_close(struct host *h);

/** Control thread. Takes the next record of any lcore. @return false: none */
bool host_next_record(struct host *h, struct host_rec *rec);

/** Any thread. @return nanoseconds on the clock of the host */
static inline uint64_t
host_now(const struct host *h)
{
	return host_clock_ns(&h->clock);
}

/** Any thread. Converts the time of a role to the time of the host. */
static inline uint64_t
host_time_of(const struct host *h, uint64_t role_ns)
{
	return role_ns + host_time_left_out(&h->time);
}

/** Control thread. @return the time of roles, to about one round */
static inline uint64_t
host_role_now(const struct host *h)
{
	return host_now(h) - host_time_left_out(&h->time);
}

/**
 * Any thread. @return whether a ring is empty. rte_ring_empty() reads the same
 * two numbers with plain loads, which is a data race between threads.
 */
static inline bool
host_ring_empty(const struct rte_ring *r)
{
	/* acquire: pairs with the release at the end of each en- and dequeue */
	return __atomic_load_n(&r->prod.tail, __ATOMIC_ACQUIRE) ==
	       __atomic_load_n(&r->cons.tail, __ATOMIC_ACQUIRE);
}

/**
 * Control thread. A device crashes and loses its state; it restarts. The caller
 * must darken its links before, and light them after.
 * @return 0; -EALREADY
 */
int host_dev_crash(struct host *h, uint32_t dev);
int host_dev_restart(struct host *h, uint32_t dev);

/**
 * Any thread. The time of roles at the start of the last round of the lcore that
 * has port @p port of a device; -1: its core.
 */
uint64_t host_role_time(const struct host *h, uint32_t dev, int32_t port);

/** Frees the contents of a pipe, while its users are paused. */
void host_flush_pipe(struct rl_pipe *pipe, struct rl_flit_cache *cache);

/**
 * Control thread, while no lcore polls. Assigns roles to lcores by the
 * placement, for all live devices of this process.
 */
void host_lcores_deal(struct host *h);

/** The lcore's loop; arg is its struct host_lcore. For host.c. */
int host_lcore_main(void *arg);

/** One round over all roles of an lcore. @return work done. For host.c. */
unsigned int host_lcore_poll(struct host_lcore *lc, uint64_t now_ns);

/**
 * Any thread. How long one of @p nlcores lcores naps that has long been idle:
 * longer than @p idle_sleep_ns where timers of all links allow it. 0: it never
 * naps.
 */
uint32_t host_long_nap_ns(const struct rl_config *cfg, uint32_t nlcores,
			  uint32_t idle_sleep_ns);

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
