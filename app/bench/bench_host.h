/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_BENCH_HOST_H
#define RL_BENCH_HOST_H

/**
 * @file
 * A fabric on net_ring wires whose roles are polled by the calling thread, one
 * after the other: what one worker lcore does, without anything beside it.
 * Its clients flood: they send as fast as backpressure lets them, and check
 * that what arrives is whole and in order.
 */

#include <time.h>

#include <rte_mempool.h>

#include "rl_fabric.h"
#include "rl_failover.h"
#include "rl_route.h"
#include "rl_wires.h"

/** Flows of a client, one a VC: one window would not fill a row of links. */
#define BENCH_FLOWS 8

/** A flooding client. */
struct bench_client {
	bool send;
	uint16_t dst;
	uint32_t packet_flits;
	uint64_t sent_packets;
	uint64_t flow_sent[BENCH_FLOWS];
	uint64_t flow_received[BENCH_FLOWS];
	unsigned int turn; /**< flow that sends next */
	uint64_t sent_limit; /**< packets; UINT64_MAX: no end */
	uint64_t received_packets;
	uint64_t received_flits;
	uint64_t wrong; /**< out of order, twice, missing or altered */
	struct rl_flit_cache *cache;
};

/** A fabric to be measured. */
struct bench_host {
	struct rl_config cfg;
	struct rl_route *route;
	struct rl_fabric fabric;
	struct rl_wires wires;
	struct rte_mempool *pool;
	struct rl_phy_eth *phy; /**< [2 * link + end] */
	struct rl_inject_link *fault;
	struct rl_inject_held *fault_line;
	struct rl_flit_cache cache;
	void *flits;
	struct bench_client client[8];
	struct rl_role_port **ports;
	uint32_t nports;
	struct rl_failover_log failovers; /**< by the clock */
	uint64_t drops;
	void *mem[8192];
	uint32_t nmem;
};

/** What is to be built: a row of switches with an endpoint at each end. */
struct bench_shape {
	unsigned int switches;
	unsigned int parallel;	   /**< links between neighbours */
	uint32_t packet_flits;
	uint32_t flits_per_frame;  /**< 0: what 1500 bytes carry */
	unsigned int vcs;	   /**< 1, 2, 4 or 8 used by flows in turn; 0: 1 */
	bool cut_through;
	bool faults;		   /**< with the injection layer */
	uint32_t witness;	   /**< see rl_link_cfg.h */
	bool lcrc;
};

/**
 * Before bench_eal(). A port of --port: if it is a device, EAL is to open it,
 * with hugepages if it can't do without.
 */
void bench_eal_port(const char *port);

/**
 * Once a process: EAL without hugepages, PCI or telemetry, unless a port wants
 * them. 0 or -errno.
 */
int bench_eal(void);

/** At the end: what bench_eal() began, if it did. */
void bench_eal_end(void);

/**
 * Builds and trains. @p tune may change the configuration before it is used.
 * @return 0 or -errno with a line on stderr
 */
int bench_host_open(struct bench_host *h, const struct bench_shape *s,
		    void (*tune)(struct rl_config *cfg));

/**
 * One turn over all roles, at one moment or, with 0, each at its own; returns
 * work done.
 */
unsigned int bench_host_poll(struct bench_host *h, uint64_t now_ns);

/** Polls until nothing is under way, at most @p limit_ns. 0 or -ETIME. */
int bench_host_drain(struct bench_host *h, uint64_t limit_ns);

void bench_host_close(struct bench_host *h);

#endif /* RL_BENCH_HOST_H */
