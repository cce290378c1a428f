/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CORE_H
#define RL_CORE_H

/**
 * @file The switch core of a device [SW-1]: takes packets from the ports, looks
 * them up, queues them per egress and VC, and feeds the ports. When a port's
 * link dies, it reroutes the packets that loop back [DRL-1, DRL-2], holds new
 * packets for that port until the old ones are on their way [DRL-4], and
 * returns to the link when it is back [DRL-8].
 *
 * An endpoint device has the same core; its client side is one more port, the
 * *local* one, without a link. A packet for another endpoint that arrives at an
 * endpoint is reflected once [DRL-10].
 *
 *      port rings --> rl_core_rx() ----+            +--> rl_core_tx() --> ports
 *      loop rings --> rl_core_loop() --+-- route ---+
 *      endpoint ----> rl_core_inject()-+            +--> rl_core_local()
 *
 * A core belongs to one lcore. It is pure: bursts, events and the time go in,
 * bursts and a deadline come out. Its queues have no size of their own: the
 * credits given at the input ports, the replay buffers that loop out, and the
 * budget of the waiting room bound what they hold [DRL-11].
 */

#include "rl_base.h"
#include "rl_flit_cache.h"
#include "rl_fwd_pass.h"
#include "rl_link_cfg.h"
#include "rl_port.h"
#include "rl_shared.h"

#define RL_CORE_EVENTS 64 /* power of two */

/** State of an egress, as its core sees it. X(name, word). */
#define RL_EGRESS_STATES(X)                                                    \
	X(TRAIN, "training")   /* held: not trained since the start */         \
	X(ALIVE, "alive")                                                      \
	X(LEAVE, "leaving")    /* held: planned removal, it runs empty */      \
	X(DRAIN, "draining")   /* held: its packets loop back */               \
	X(DELAY, "delayed")    /* held: the programmable delay after a drain */ \
	X(DEAD, "dead")	       /* traffic goes by the next hop in the list */  \
	X(RESTORE, "restoring") /* held: rerouted packets must arrive first */

enum rl_egress_state {
#define RL_EGRESS_ENUM(name, word) RL_EGRESS_##name,
	RL_EGRESS_STATES(RL_EGRESS_ENUM)
#undef RL_EGRESS_ENUM
};

/** Counters of a core. X(name). */
#define RL_CORE_COUNTERS(X)                                                    \
	X(rx_packets)                                                          \
	X(looped_packets)	/* taken from loop rings */                    \
	X(injected_packets)                                                    \
	X(local_packets)	/* for this device's endpoint */               \
	X(tx_packets)                                                          \
	X(tx_flits)                                                            \
	X(rerouted_packets)	/* not by their first next hop */              \
	X(adaptive_packets)	/* by the adaptive plane */                    \
	X(nonminimal_packets)	/* of them, by a port that leads no nearer */  \
	X(escaped_packets)	/* no port of it had room, or lived */                \
	X(held_packets)                                                        \
	X(released_packets)                                                    \
	X(stranded_packets)	/* no path now; wait for one */                \
	X(evicted_packets)	/* without a path, and no room to wait */      \
	X(drop_no_path)                                                        \
	X(drop_address)		/* no endpoint has this address: altered */    \
	X(drop_hops)                                                           \
	X(drop_misroute)                                                       \
	X(drop_duplicate)	/* by the filter [DRL-5] */                    \
	X(drop_marked)		/* flits marked corrupt or poisoned */         \
	X(drop_fragments)	/* of a packet that is gone */                 \
	X(excised_packets)	/* closed before any flit had left */          \
	X(drop_watchdog)                                                       \
	X(drop_astray)		/* new tables only lead back */                \
	X(drop_init)		/* their link was not trained [LINK-C3] */     \
	X(reflected_packets)                                                   \
	X(rx_tokens)		/* old packets end here [RES-5] */             \
	X(tx_tokens)                                                           \
	X(tokens_overtaken)	/* old packets after it: always 0 */           \
	X(failovers)                                                           \
	X(restores)                                                            \
	X(restore_timeouts)	/* returned without all fences */

enum rl_core_counter {
#define RL_CORE_ENUM(name) RL_CC_##name,
	RL_CORE_COUNTERS(RL_CORE_ENUM)
#undef RL_CORE_ENUM
	RL_CORE_COUNTER_COUNT
};

enum rl_core_event_type {
	RL_CEV_HOLD,	 /**< port died: new traffic for it is held */
	RL_CEV_RESUME,	 /**< held traffic goes on by another port */
	RL_CEV_RESTORE,	 /**< traffic is back on the port */
	RL_CEV_WATCHDOG, /**< packets without a path were given up */
};

struct rl_core_event {
	uint64_t t_ns;
	enum rl_core_event_type type;
	uint16_t port;
	uint32_t packets; /**< held or given up */
};

struct rl_core;

/** What a core is made of; pointers stay the caller's and must outlive it. */
struct rl_core_params {
	const struct rl_link_cfg *cfg;
	const struct rl_fwd *fwd;
	struct rl_flit_cache *cache;
	struct rl_port_shared *const *shared; /**< nports of them */
	rl_drop_fn drop;
	void *drop_ctx;
	uint16_t nports;
	/** [nports] the next port to the same neighbour, all in a ring; NULL:
	    no links are parallel */
	const uint16_t *beside;
	bool endpoint;	/**< has a local port, for destination ep_id */
	uint16_t ep_id;
};

/** Any thread. Bytes of a core, 64-byte aligned. */
size_t rl_core_memsize(const struct rl_link_cfg *cfg, uint16_t nports);

/** Control thread. Builds a core in @p mem; returns it (== mem). */
struct rl_core *rl_core_init(void *mem, const struct rl_core_params *p);

/** Owner. Gives back every flit the core holds (end of a run). */
void rl_core_flush(struct rl_core *core);

/**
 * Owner. Replaces the forwarding table; @p fwd must outlive the core or the
 * next call. Packets already queued keep their egress; waiting packets look up
 * their path again, from the next rl_core_tick() on, some hundred packets a
 * tick. Those without one wait on: these tables may not know the newest
 * failure, and others will come.
 */
void rl_core_set_fwd(struct rl_core *core, const struct rl_fwd *fwd);

/**
 * The present table. Any thread that knows that the table is still valid, such
 * as the one that installs tables.
 */
const struct rl_fwd *rl_core_fwd(const struct rl_core *core);

/**
 * Owner. New tables are expected until @p until_ns at the latest: packets
 * without a path may wait for them that long, not only for no_path_ns, but
 * never longer than watchdog_ns. 0: none are expected. Call it before
 * no_path_ns is over.
 */
void rl_core_await_routes(struct rl_core *core, uint64_t until_ns);

/**
 * Owner. While @p on, the fabric, or some flows, are quiesced and get new
 * tables that are not proven together with the old ones [RES-1, RES-6]: packets
 * without a path wait on, even if they find one, for no longer than
 * watchdog_ns; and once there are new tables no packet leaves the waiting room.
 * Packets under way go on. Probes of endpoints, and answers to them, that have
 * no path are dropped as astray: the source of a probe then knows that nothing
 * ahead of it is on its way. Off: all waiting packets look up their path again.
 */
void rl_core_still(struct rl_core *core, bool on);

/**
 * Owner. Prepares a change to new tables by tokens [RES-5]: from now on the
 * core has both, and nothing changes before rl_core_pass() or the first token.
 * Tokens that come in are passed on in the order of ranks, and packets behind
 * them go by the new tables. Once all have come and gone the core has only the
 * new tables, as after rl_core_set_fwd(). That function ends the change at any
 * time, with the tables it is given; packets that waited for a token then wait
 * for a path.
 *
 * Call it only if all devices use the tables that @p to's ranks were proven
 * for, and call rl_core_pass() only when all of them are prepared.
 *
 * @param to  outlives the change
 */
void rl_core_stage(struct rl_core *core, const struct rl_fwd_pass *to);

/**
 * Owner. All are prepared: packets that this device's endpoint injects go by
 * the new tables from now on, and must carry the service levels of these
 * (rl_ep_set_path_sl()); tokens that wait for no other token leave.
 */
void rl_core_pass(struct rl_core *core);

/** Owner. Whether the core still has two tables. */
bool rl_core_passing(const struct rl_core *core);

/**
 * Owner. Prefetches what a poll of the core reads: for hosts with more cores
 * than fit in a cache, one poll ahead.
 */
void rl_core_prefetch(const struct rl_core *core);

/** Owner. Prefetches what rl_core_rx() will look up for @p pkt. */
void rl_core_prefetch_route(const struct rl_core *core,
			    const struct rl_flit *pkt);

/** The same for a packet that has not arrived yet, by a guess of its header. */
void rl_core_prefetch_to(const struct rl_core *core, uint16_t dst,
			 unsigned int vc, unsigned int sl);

/** Owner. Takes @p n packets that came in by @p port; owns them. */
void rl_core_rx(struct rl_core *core, uint16_t port,
		struct rl_flit *const pkts[], unsigned int n, uint64_t now_ns);

/**
 * Owner. The same for all of @p q, which is empty afterwards. Packets with the
 * same lookup key share one lookup.
 */
void rl_core_rx_queue(struct rl_core *core, uint16_t port, struct rl_pktq *q,
		      uint64_t now_ns);

/**
 * Owner, before the core runs. Port number @p i is polled by the same lcore, in
 * the same turn: a packet goes into its replay buffer at once if nothing is
 * ahead of it. The caller must hand over at once what rl_core_tx() gives.
 */
void rl_core_join(struct rl_core *core, uint16_t i, struct rl_port *port);

/** Owner. Takes @p n packets or marks from the loop ring of @p port. */
void rl_core_loop(struct rl_core *core, uint16_t port,
		  struct rl_flit *const items[], unsigned int n,
		  uint64_t now_ns);

/** Owner. Takes all packets of @p q from the device's endpoint. */
void rl_core_inject(struct rl_core *core, struct rl_pktq *q, uint64_t now_ns);

/**
 * Owner. Flits that the endpoint may inject now, by service level, without
 * piling up behind a slow link: @p limit_flits less its flits still queued
 * here. Each level has its own room, so a level with a blocked VL takes none
 * from the others.
 */
void rl_core_inject_room(const struct rl_core *core, uint32_t limit_flits,
			 uint32_t room[RL_SLS]);

/**
 * Owner. Next packet for the endpoint; the caller owns it. NULL: none, or only
 * from held VCs.
 */
struct rl_flit *rl_core_local(struct rl_core *core);

/**
 * Owner. From now on rl_core_local() gives no packet that came by a VC of @p
 * vc_mask (a bit a VC): such packets stay here, in order, and keep their
 * credits, so the VC is blocked back to the senders. 0 holds none.
 */
void rl_core_hold_local(struct rl_core *core, uint32_t vc_mask);

/** Owner. Timers: delays, restores, the watchdog. */
void rl_core_tick(struct rl_core *core, uint64_t now_ns);

/**
 * Owner. Gives up to @p max packets and marks for @p port, in order, within
 * the room of its egress queues; the caller owns them and must hand over all.
 * @return how many
 */
unsigned int rl_core_tx(struct rl_core *core, uint16_t port,
			struct rl_flit *out[], unsigned int max);

/** Owner. Whether rl_core_tx() has something for @p port. */
bool rl_core_tx_pending(const struct rl_core *core, uint16_t port);

/**
 * Owner. Ports whose credits were returned since the last call, a bit for port
 * number modulo 64. A host that polls ports only on demand polls these: they
 * may have to tell their peers.
 */
uint64_t rl_core_freed(struct rl_core *core);

/**
 * Owner. The same for ports that got something to send, through rl_core_tx()
 * or, for joined ports, directly from the core.
 */
uint64_t rl_core_given(struct rl_core *core);

/** Owner. When rl_core_tick() next has something to do. */
uint64_t rl_core_deadline(const struct rl_core *core);

/** Owner. @return whether @p ev was filled with the oldest event */
bool rl_core_event_pop(struct rl_core *core, struct rl_core_event *ev);

/** Any thread that tolerates a slightly old value. */
enum rl_egress_state rl_core_egress_state(const struct rl_core *core,
					  uint16_t port);

/** Owner. Nothing queued or waiting, and no port between states. */
bool rl_core_idle(const struct rl_core *core);

/** Owner. Flits the core holds anywhere, for leak checks. */
uint32_t rl_core_flits(const struct rl_core *core);

/**
 * Owner. Flits on their way through the core: queued, or waiting for an egress
 * between states. Packets with no path at all do not count, since they move
 * only with new tables; nor do any waiting packets while tokens pass, or once all
 * is stilled and the tables are new. 0, and the ports idle: nothing is in transit.
 */
uint32_t rl_core_transit(const struct rl_core *core);

/** What the waiting room holds, see rl_wait.h. */
struct rl_core_wait_info {
	uint32_t packets;
	uint32_t flits;
	uint32_t no_way_packets; /**< of them without any path */
	uint32_t no_way_flits;
	uint32_t lent_flits; /**< of the budget, including those still queued
				  since */
	uint32_t budget_flits;
	uint32_t kept_packets; /**< of them that keep their credits:
				    backpressure */
	uint64_t steps;	       /**< packets passed while finding places, ever */
};

/** Owner, or any thread that tolerates torn numbers (show). */
void rl_core_wait_info(const struct rl_core *core,
		       struct rl_core_wait_info *info);

/** Owner. Flits held for @p port. */
uint32_t rl_core_held(const struct rl_core *core, uint16_t port);

/** Any thread; written by the owner. RL_CORE_COUNTER_COUNT numbers. */
const uint64_t *rl_core_counters(const struct rl_core *core);

const char *rl_core_counter_name(enum rl_core_counter c);
const char *rl_egress_state_name(enum rl_egress_state s);

#endif /* RL_CORE_H */
