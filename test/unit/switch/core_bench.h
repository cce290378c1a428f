/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CORE_BENCH_H
#define CORE_BENCH_H

/*
 * A switch core with its ports driven by hand: packets and marks go in, what
 * it gives to each port comes out into a list. No link, no port logic.
 *
 * Destinations are numbered; cb_route() says by which ports each is reached,
 * best first. The VL of a packet is its SL. Packets of a flow carry tags 0, 1,
 * 2, ...
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
	struct rl_pktq out[CB_PORTS]; /* packets that the core gave */
	unsigned int loop_fences[CB_PORTS];
	unsigned int fences[CB_PORTS];
	bool full[CB_PORTS];	      /* the port takes nothing off its queue */
	struct bench_dropped drop[CB_DROPS];
	unsigned int ndrops;
	uint16_t beside[CB_PORTS]; /* rings of parallel links; 0, 0: none */
	uint32_t next_tag[CB_DSTS];
	bool by_queue;	      /* the last packet was given in so */
};

/* Before cb_open(): cfg, fwd; zeroed: the defaults, one plane. */
void cb_cfg(struct core_bench *c);
void cb_route(struct core_bench *c, unsigned int plane, uint16_t dst,
	      const uint16_t ports[], unsigned int n);
/* ep: the device is endpoint number ep; -1: a switch. */
void cb_open(struct core_bench *c, int ep);
void cb_close(struct core_bench *c);

void cb_mark(struct core_bench *c, uint16_t port, enum rl_pipe_mark m);
/* A new packet of the flow to dst, arriving by a port; credit is held. */
void cb_rx(struct core_bench *c, uint16_t in_port, uint16_t dst,
	   unsigned int flits);
/* The same, ready to be given in by hand, with the next tag. */
struct rl_flit *cb_packet(struct core_bench *c, uint16_t in_port, uint16_t dst,
			  unsigned int flits);
void cb_give(struct core_bench *c, uint16_t in_port, struct rl_flit *pkt);
/* Takes what the core has for a port; then it is the port's. */
void cb_tx(struct core_bench *c, uint16_t port);
void cb_tx_all(struct core_bench *c);
/* Loops out of a port the oldest n packets that it was given. */
void cb_loop(struct core_bench *c, uint16_t port, unsigned int n);
/* Moves the clock and ticks. */
void cb_advance(struct core_bench *c, uint64_t ns);
/* The link acknowledges: packets given to a port are gone. */
void cb_ack(struct core_bench *c, uint16_t port);
/* Checks that a port was given exactly tags from..to of the flow to dst. */
void cb_expect(struct core_bench *c, uint16_t port, uint16_t dst,
	       uint32_t from, uint32_t to);
uint32_t cb_freed(const struct core_bench *c, uint16_t port);

#define CB_COUNTER(c, name) (rl_core_counters((c)->core)[RL_CC_##name])
#define CB_STATE(c, port) rl_core_egress_state((c)->core, port)

#endif /* CORE_BENCH_H */
