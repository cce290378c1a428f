/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_ROLE_H
#define RL_ROLE_H

/**
 * @file
 * Roles: what an lcore runs [SW-3]. A port role is one port with its PHY; a
 * core role is the switch core of a device, with the endpoint and its client
 * where the device is one. Roles talk through pipes (rings of one producer
 * and one consumer) and never call each other, so any placement works: all on
 * one lcore, or one each. Only a port that is joined to its core, on one lcore,
 * is called by it (rl_role_join()). The same polls run on lcores, in unit tests
 * and in the simulator; only what stands behind `rl_pipe` and `rl_phy` differs.
 *
 *      PHY <--> port role ==rx pipe==> core role <--> endpoint, client
 *                         ==loop pipe=>
 *                         <==tx pipe===
 */

#include "rl_base.h"
#include "rl_core.h"
#include "rl_endpoint.h"
#include "rl_port.h"
#include "rl_prng.h"

/**
 * A ring of pointers with one producer and one consumer. Both functions are
 * bursts and never block. Pipes are made large enough for all that can be in
 * them, so that put takes everything.
 */
struct rl_pipe {
	void *ring;
	unsigned int (*put)(void *ring, void *const obj[], unsigned int n);
	unsigned int (*get)(void *ring, void *obj[], unsigned int n);
	/** Whether it holds nothing; asked while all is to come to rest. */
	bool (*empty)(const void *ring);
};

/** A frame buffer of a PHY, 64-byte aligned. */
struct rl_phy_frame {
	uint8_t *data;
	uint32_t len;
	uint32_t pad;
	void *cookie; /**< the PHY's */
};

/** What a port role needs of a wire. All calls are its lcore's. */
struct rl_phy_ops {
	/** Up to n frames that arrived; each is given back by rx_free. */
	unsigned int (*rx)(void *phy, struct rl_phy_frame f[], unsigned int n,
			   uint64_t now_ns);
	void (*rx_free)(void *phy, struct rl_phy_frame f[], unsigned int n);
	/** Up to n empty frames that the wire takes now; 0 is backpressure. */
	unsigned int (*tx_alloc)(void *phy, struct rl_phy_frame f[],
				 unsigned int n, uint64_t now_ns);
	/** Sends n frames got by tx_alloc; those with len 0 are given back. */
	void (*tx)(void *phy, struct rl_phy_frame f[], unsigned int n,
		   uint64_t now_ns);
	enum rl_phy_status (*status)(void *phy);
	/** When the wire will take or give frames again; RL_NEVER: unknown. */
	uint64_t (*deadline)(void *phy);
};

struct rl_phy {
	void *ctx;
	const struct rl_phy_ops *ops;
	/** each burst costs a system call: frames go in long ones */
	bool syscalls;
};

/** The client of an endpoint: a generator, or an ethdev. */
struct rl_client {
	void *ctx;
	/** Sends and receives what it can; returns packets moved. */
	unsigned int (*poll)(void *ctx, struct rl_ep *ep, uint64_t now_ns);
	/** When it next wants to send; RL_NEVER: not by itself. */
	uint64_t (*deadline)(void *ctx);
	/** May be NULL: at any time. When it next takes packets. */
	uint64_t (*takes_ns)(void *ctx);
	/** May be NULL. It is told to stop, to go on, or of a peer. */
	void (*event)(void *ctx, const struct rl_ep_event *ev);
};

/** What roles tell the host; called on the role's lcore. */
struct rl_role_sink {
	void *ctx;
	void (*port_event)(void *ctx, uint32_t dev, uint16_t port,
			   const struct rl_port_event *ev);
	void (*core_event)(void *ctx, uint32_t dev,
			   const struct rl_core_event *ev);
	/** May be NULL. The endpoint's client has been told. */
	void (*ep_event)(void *ctx, uint32_t dev,
			 const struct rl_ep_event *ev);
};

/** Orders from other threads to a port, taken at its next poll. */
enum rl_port_order {
	RL_ORDER_NONE,
	RL_ORDER_DOWN,
	RL_ORDER_UP,
	RL_ORDER_DRAIN, /**< down when empty */
	/** a port that is OFF begins to train; a bit, kept beside later ones */
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
	_Atomic uint32_t order; /**< enum rl_port_order, START beside others */
	/** rl_port_idle(), for the control thread: who sees it set, and acquires
	    it, sees all that the role has counted until then */
	_Atomic uint32_t idle;
	uint32_t moved; /**< to the core, by the last rl_role_port_in() */
	bool near; /**< rl_role_join() */
};

struct rl_role_core {
	struct rl_core *core;
	struct rl_ep *ep; /**< NULL in a switch */
	struct rl_client client;
	struct rl_pipe *rx;   /**< nports, from the ports */
	struct rl_pipe *loop; /**< nports, from the ports */
	struct rl_pipe *tx;   /**< nports, to the ports */
	struct rl_port **near; /**< nports, see rl_role_join(); NULL: none */
	const struct rl_role_sink *sink;
	uint32_t dev;
	uint16_t nports;
	bool ep_paced; /**< rl_ep_rx_ready() decides what the endpoint takes */
	uint32_t inject_flits; /**< own flits that may be queued in the core */
	/** bit per port, for hosts that know which pipes hold anything: only
	    these are looked into. NULL: all are */
	const uint64_t *rx_pending;
	const uint64_t *loop_pending;
	_Atomic uint32_t hold_vcs; /**< see rl_role_core_hold() */
	_Atomic uint64_t await_ns; /**< see rl_role_core_await(); 0: nothing */
	_Atomic uint32_t soft_ppb; /**< see rl_role_core_soft(); 0: none */
	struct rl_prng soft_prng;
	/** nothing held, sent or unacknowledged; to be acquired, as a port's */
	_Atomic uint32_t idle;
};

/** The role's lcore. One poll. @return work done, 0 where there was none */
unsigned int rl_role_port_poll(struct rl_role_port *r, uint64_t now_ns);

/**
 * The role's lcore. The two halves of a poll, for hosts that run a port and its
 * core on one lcore: first all ports of the device take what has come, then the
 * core is polled, then the ports send. So a flit crosses a device in one turn,
 * while it is near; and when a link dies, what it held leaves by another port
 * in the turn in which that was found.
 *
 * @return work done, 0 where there was none
 */
unsigned int rl_role_port_in(struct rl_role_port *r, uint64_t now_ns);
unsigned int rl_role_port_out(struct rl_role_port *r, uint64_t now_ns);

/**
 * Before the roles run, and only for hosts that poll both by the halves above.
 * From now on packets go from port to core, and from core to port, without a
 * pipe, and past the queues where they are empty. Only what loops out has its
 * pipe still. A host that gives a core `rx_pending` joins none of its ports: a
 * joined port marks no pipe there.
 */
void rl_role_join(struct rl_role_core *core, struct rl_role_port *port);

/** The role's lcore. When a poll next has something to do by itself. */
uint64_t rl_role_port_deadline(const struct rl_role_port *r, uint64_t now_ns);

/** The role's lcore. One poll. @return work done, 0 where there was none */
unsigned int rl_role_core_poll(struct rl_role_core *r, uint64_t now_ns);

/** The role's lcore. When a poll next has something to do by itself. */
uint64_t rl_role_core_deadline(const struct rl_role_core *r);

/** The role's lcore. An rl_ep_event_fn; @p role is the endpoint's. */
void rl_role_core_ep_event(void *role, const struct rl_ep_event *ev);

/**
 * Any thread. Whether somebody is to hear of a packet that was dropped, and of
 * what: the same on all hosts. One packet brings one notice, of all its flits.
 *
 * @param e2e_retry  endpoints send again what is lost
 * @param nep  endpoints of the fabric
 * @return whether there is a notice: @p n, for endpoint n->whose < nep
 */
bool rl_drop_notice(const struct rl_flit *pkt, enum rl_drop_reason why,
		    bool e2e_retry, uint32_t nep, struct rl_ep_notice *n);

/** Any thread. An order for the port; of those but START the last one wins. */
void rl_role_port_order(struct rl_role_port *r, enum rl_port_order order);

/**
 * Any thread; takes effect at the core's next poll. The endpoint takes nothing
 * from the VCs of @p vc_mask until they are no longer held: a receiver that
 * has stopped, for tests of what that does to the other VCs.
 */
void rl_role_core_hold(struct rl_role_core *r, uint32_t vc_mask);

/**
 * Any thread; takes effect at the core's next poll: rl_core_await_routes().
 * For hosts with a controller, when a port of the device has died.
 */
void rl_role_core_await(struct rl_role_core *r, uint64_t until_ns);

/**
 * Any thread; takes effect at the core's next poll. An injected fault: the
 * device alters up to eight bytes of data in a flit of @p ppb of 10^9 packets
 * that come into its core, from its ports and its endpoint. 0: of none.
 */
void rl_role_core_soft(struct rl_role_core *r, uint32_t ppb);

#endif /* RL_ROLE_H */
