/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_ROLE_H
#define RL_ROLE_H

/**
 * @file
 * Roles: what an lcore runs [SW-3]. A port role is one port with its PHY. A
 * core role is the switch core of a device, for an endpoint together with the
 * endpoint object and its client. Roles talk through pipes (rings with one
 * producer and one consumer) and never call each other, so any placement works:
 * all on one lcore, or one each. The exception is a port joined to a core on
 * the same lcore, which the core calls (rl_role_join()). Lcores, unit tests and
 * the simulator run the same polls; only the implementations of `rl_pipe` and
 * `rl_phy` differ.
 *
 *      PHY <--> port role ==rx pipe==> core role <--> endpoint, client
 *                         ==loop pipe=>
 *                         <==tx pipe===
 */

#include "rl_base.h"
#include "rl_core.h"
#include "rl_endpoint.h"
#include "rl_fault.h"
#include "rl_phy_frame.h"
#include "rl_port.h"
#include "rl_prng.h"

/**
 * A ring of pointers with one producer and one consumer. Both functions are
 * bursts and never block. Pipes are sized for everything that can be in them,
 * so put always takes all.
 */
struct rl_pipe {
	void *ring;
	unsigned int (*put)(void *ring, void *const obj[], unsigned int n);
	unsigned int (*get)(void *ring, void *obj[], unsigned int n);
	/** Whether it is empty; used by quiescence checks. */
	bool (*empty)(const void *ring);
};

/** What a port role needs from a wire. Only the lcore of the role calls it. */
struct rl_phy_ops {
	/** Returns up to n frames that arrived; the caller frees each by
	    rx_free. */
	unsigned int (*rx)(void *phy, struct rl_phy_frame f[], unsigned int n,
			   uint64_t now_ns);
	void (*rx_free)(void *phy, struct rl_phy_frame f[], unsigned int n);
	/** Returns up to n empty frames that the wire accepts now; 0 is
	    backpressure. */
	unsigned int (*tx_alloc)(void *phy, struct rl_phy_frame f[],
				 unsigned int n, uint64_t now_ns);
	/** Sends n frames from tx_alloc; those with len 0 are returned
	    unused. */
	void (*tx)(void *phy, struct rl_phy_frame f[], unsigned int n,
		   uint64_t now_ns);
	enum rl_phy_status (*status)(void *phy);
	/** When the wire will take or give frames again; RL_NEVER: unknown. */
	uint64_t (*deadline)(void *phy);
};

struct rl_phy {
	void *ctx;
	const struct rl_phy_ops *ops;
	/** each burst costs a system call, so send long bursts */
	bool syscalls;
};

/** The client of an endpoint: a generator, or an ethdev. */
struct rl_client {
	void *ctx;
	/** Sends and receives what it can; returns the number of packets
	    moved. */
	unsigned int (*poll)(void *ctx, struct rl_ep *ep, uint64_t now_ns);
	/** When it next wants to send; RL_NEVER: only after an event. */
	uint64_t (*deadline)(void *ctx);
	/** When it next takes packets. NULL: at any time. */
	uint64_t (*takes_ns)(void *ctx);
	/** Called when it must stop, may go on, or a peer changes. May be
	    NULL. */
	void (*event)(void *ctx, const struct rl_ep_event *ev);
};

/** Events from roles to the host; called on the lcore of the role. */
struct rl_role_sink {
	void *ctx;
	void (*port_event)(void *ctx, uint32_t dev, uint16_t port,
			   const struct rl_port_event *ev);
	void (*core_event)(void *ctx, uint32_t dev,
			   const struct rl_core_event *ev);
	/** Called after the client of the endpoint. May be NULL. */
	void (*ep_event)(void *ctx, uint32_t dev,
			 const struct rl_ep_event *ev);
};

/** Orders from other threads to a port, taken at its next poll. */
enum rl_port_order {
	RL_ORDER_NONE,
	RL_ORDER_DOWN,
	RL_ORDER_UP,
	RL_ORDER_DRAIN, /**< down when empty */
	/** a port that is OFF begins to train; a bit, combined with later
	    orders */
	RL_ORDER_START = 8,
};

struct rl_role_port {
	struct rl_port *port;
	struct rl_phy phy;
	struct rl_pipe rx;   /**< to the core: packets */
	struct rl_pipe loop; /**< to the core: marks and looped packets */
	struct rl_pipe tx;   /**< from the core: packets and marks */
	const struct rl_role_sink *sink;
	uint32_t dev;
	uint16_t index;
	_Atomic uint32_t order; /**< enum rl_port_order; START may be combined
				     with another */
	/** rl_port_idle(), for the control thread: if an acquire load finds it
	    set, all counters up to then are visible */
	_Atomic uint32_t idle;
	uint32_t moved; /**< packets to the core in the last
			     rl_role_port_in() */
	bool near; /**< rl_role_join() */
};

struct rl_role_core {
	struct rl_core *core;
	struct rl_ep *ep; /**< NULL in a switch */
	struct rl_client client;
	struct rl_pipe *rx;   /**< [nports] from the ports */
	struct rl_pipe *loop; /**< [nports] from the ports */
	struct rl_pipe *tx;   /**< [nports] to the ports */
	struct rl_port **near; /**< [nports] see rl_role_join(); NULL: none */
	const struct rl_role_sink *sink;
	uint32_t dev;
	uint16_t nports;
	bool ep_paced; /**< rl_ep_rx_ready() limits what the endpoint takes */
	uint32_t inject_flits; /**< limit of the endpoint's flits queued in the
				    core */
	/** a bit for each port, from hosts that know which pipes are not empty:
	    only these are polled. NULL: all are */
	const uint64_t *rx_pending;
	const uint64_t *loop_pending;
	_Atomic uint32_t hold_vcs; /**< see rl_role_core_hold() */
	_Atomic uint64_t await_ns; /**< see rl_role_core_await(); 0: nothing */
	_Atomic uint32_t soft_ppb; /**< see rl_role_core_soft(); 0: none */
	_Atomic uint32_t poison_ppb; /**< see rl_role_core_poison() */
	struct rl_prng soft_prng;
	/** nothing held, sent or unacknowledged; to be acquired, as a port's */
	_Atomic uint32_t idle;
};

/** The lcore of the role. One poll. @return work done; 0: none */
unsigned int rl_role_port_poll(struct rl_role_port *r, uint64_t now_ns);

/**
 * The lcore of the role. The two halves of a poll, for hosts that run a port
 * and its core on one lcore: first all ports of the device receive, then the
 * core is polled, then the ports send. So a flit crosses a device in one turn,
 * while it is in the cache; and after the death of a link, packets leave by
 * another port in the turn that detected it.
 *
 * @return work done; 0: none
 */
unsigned int rl_role_port_in(struct rl_role_port *r, uint64_t now_ns);
unsigned int rl_role_port_out(struct rl_role_port *r, uint64_t now_ns);

/**
 * Before the roles run, and only for hosts that use the halves above. From now
 * on packets go between port and core without a pipe, and bypass empty queues.
 * Only looped packets still use a pipe. A host that gives a core `rx_pending`
 * must not join its ports, because a joined port sets no bit there.
 */
void rl_role_join(struct rl_role_core *core, struct rl_role_port *port);

/** The lcore of the role. @return when the next poll is due without an event */
uint64_t rl_role_port_deadline(const struct rl_role_port *r, uint64_t now_ns);

/** The lcore of the role. One poll. @return work done; 0: none */
unsigned int rl_role_core_poll(struct rl_role_core *r, uint64_t now_ns);

/** The lcore of the role. @return when the next poll is due without an event */
uint64_t rl_role_core_deadline(const struct rl_role_core *r);

/**
 * The lcore of the role. An rl_ep_event_fn; @p role is that of the endpoint.
 */
void rl_role_core_ep_event(void *role, const struct rl_ep_event *ev);

/**
 * Any thread. Decides whether a dropped packet brings a notice, and which: the
 * same on all hosts. One packet brings one notice for all its flits.
 *
 * @param e2e_retry endpoints retransmit lost packets
 * @param nep number of endpoints of the fabric
 * @return whether @p n was filled with a notice for endpoint n->whose < nep
 */
bool rl_drop_notice(const struct rl_flit *pkt, enum rl_drop_reason why,
		    bool e2e_retry, uint32_t nep, struct rl_ep_notice *n);

/**
 * Any thread. Orders a port; START is kept, of the others the last one wins.
 */
void rl_role_port_order(struct rl_role_port *r, enum rl_port_order order);

/**
 * Any thread; takes effect at the core's next poll. The endpoint takes nothing
 * from the VCs of @p vc_mask until they are no longer held. Simulates a stalled
 * receiver, to test its effect on other VCs.
 */
void rl_role_core_hold(struct rl_role_core *r, uint32_t vc_mask);

/**
 * Any thread; takes effect at the core's next poll: rl_core_await_routes(). For
 * hosts with a controller, when a port of the device has died.
 */
void rl_role_core_await(struct rl_role_core *r, uint64_t until_ns);

/**
 * Any thread; takes effect at the core's next poll. An injected fault: the
 * device alters up to eight bytes of data in a flit of @p ppb of 10^9 packets
 * that come into its core, from its ports and its endpoint. 0: of none.
 */
void rl_role_core_soft(struct rl_role_core *r, uint32_t ppb);
/**
 * The same: it marks the first flit of so many packets as bad, as a source does
 * that knows its data is corrupt (poison, [LCB-2]).
 */
void rl_role_core_poison(struct rl_role_core *r, uint32_t ppb);

/** Any thread, one at a time. Carries out SOFT, POISON, BLOCK or UNBLOCK. */
void rl_role_core_fault(struct rl_role_core *r, const struct rl_fault *f);

#endif /* RL_ROLE_H */
