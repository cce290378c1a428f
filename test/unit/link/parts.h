/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINK_PARTS_H
#define LINK_PARTS_H

/*
 * Packets in parts, for cut-through: a maker that hands them over part by part,
 * and a taker that reassembles the output of a port or a core by VC.
 */

#include "bench.h"

/* Splits the first n flits off *pkt as a part; *pkt becomes the rest, or NULL
   if nothing is left. */
struct rl_flit *parts_cut(struct rl_flit **pkt, unsigned int n);

struct parts {
	struct rl_flit *open[RL_VCS]; /* the parts of a packet so far */
	struct rl_pktq whole;	      /* reassembled, in the order of their
					 ends */
	struct rl_pktq closed;	      /* the same, ended by transmit_error */
	unsigned int taken;	      /* parts */
	unsigned int disorder;	      /* unexpected parts */
};

void parts_take(struct parts *p, struct rl_flit *part);
/* Takes all packets that a port gave its core, and returns their credits. */
void parts_accept(struct parts *p, struct bench_end *e);
/* Passes whole packets to a sink that checks them, and frees all flits. */
void parts_finish(struct parts *p, struct bench_pool *pool,
		  struct bench_sink *sink);

/* --- a link in cut-through mode: end 0 sends parts, end 1 takes them ---- */

struct cut {
	struct bench b;
	struct parts in; /* packets that end 1 gave its core */
	uint32_t next_tag[RL_VCS];
};

struct rl_link_cfg cut_cfg(void);
void cut_open(struct cut *g, const struct rl_link_cfg *cfg); /* trains, too */
/* Advances time; the core at end 1 takes all arrivals. */
void cut_run(struct cut *g, unsigned int us);
struct rl_flit *cut_make(struct cut *g, unsigned int vc, unsigned int flits);
/* Gives the next n flits of a packet to the port of end 0. */
void cut_give(struct cut *g, struct rl_flit **pkt, unsigned int n);
void cut_kill(struct cut *g);
/* Checks that nothing is reserved or held, and all credits are returned. */
void cut_at_rest(struct cut *g);
void cut_close(struct cut *g);

#endif /* LINK_PARTS_H */
