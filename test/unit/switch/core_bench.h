/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CORE_BENCH_H
#define CORE_BENCH_H

/*
 * A switch core with ports driven by the test: it puts packets and marks in,
 * and collects the output for each port in a list. No link, no port logic.
 *
 * Destinations are numbered; cb_route() sets the ports to each of them, best
 * first. The VL of a packet is its SL. Packets of a flow have tags 0, 1, 2, ...
 */

#include "bench.h"
#include "rl_core.h"

#define CB_PORTS 6
#define CB_DSTS 8
#define CB_PLANES 2
#define CB_DROPS 512

struct core_bench {
	struct bench_pool pool;
	struct rl_link_cfg cfg;
	struct rl_fwd fwd;
	struct rl_fwd_entry entry[CB_PLANES][CB_DSTS];
	uint8_t sl2vl[CB_PLANES * (CB_PORTS + 1) * CB_PORTS * RL_SLS];
	struct rl_port_shared *shared[CB_PORTS];
	struct rl_core *core;
	void *mem;
	uint64_t now_ns;
	struct rl_pktq out[CB_PORTS]; /* packets from the core */
	unsigned int loop_fences[CB_PORTS];
	unsigned int fences[CB_PORTS];
	bool full[CB_PORTS];	      /* the port takes nothing from its
					 queue */
	struct bench_dropped drop[CB_DROPS];
	unsigned int ndrops;
	uint16_t beside[CB_PORTS]; /* rings of parallel links; 0, 0: none */
	uint32_t next_tag[CB_DSTS];
	bool by_queue;	      /* how the last packet was put in */
};

/* Before cb_open(): cfg, fwd; zeroed: the defaults, one plane. */
void cb_cfg(struct core_bench *c);
void cb_route(struct core_bench *c, unsigned int plane, uint16_t dst,
	      const uint16_t ports[], unsigned int n);
/* ep: the device is endpoint number ep; -1: a switch. */
void cb_open(struct core_bench *c, int ep);
void cb_close(struct core_bench *c);

void cb_mark(struct core_bench *c, uint16_t port, enum rl_pipe_mark m);
/* A new packet of the flow to dst arrives at a port, and holds a credit. */
void cb_rx(struct core_bench *c, uint16_t in_port, uint16_t dst,
	   unsigned int flits);
/* The same, but to be put in by cb_give(), with the next tag. */
struct rl_flit *cb_packet(struct core_bench *c, uint16_t in_port, uint16_t dst,
			  unsigned int flits);
void cb_give(struct core_bench *c, uint16_t in_port, struct rl_flit *pkt);
/* Moves the core's packets for a port to the port. */
void cb_tx(struct core_bench *c, uint16_t port);
void cb_tx_all(struct core_bench *c);
/* Loops the oldest n packets of a port back to the core. */
void cb_loop(struct core_bench *c, uint16_t port, unsigned int n);
/* Advances the clock and ticks. */
void cb_advance(struct core_bench *c, uint64_t ns);
/* The link acknowledges all packets of a port. */
void cb_ack(struct core_bench *c, uint16_t port);
/* Checks that a port got exactly tags from..to of the flow to dst. */
void cb_expect(struct core_bench *c, uint16_t port, uint16_t dst,
	       uint32_t from, uint32_t to);
uint32_t cb_freed(const struct core_bench *c, uint16_t port);

#define CB_COUNTER(c, name) (rl_core_counters((c)->core)[RL_CC_##name])
#define CB_STATE(c, port) rl_core_egress_state((c)->core, port)

#endif /* CORE_BENCH_H */
