/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINK_PARTS_H
#define LINK_PARTS_H

/*
 * Packets in parts, as cut-through has them: a maker that hands them over part
 * by part, and a taker that puts together what a port or a core gives, by the
 * VC it came by.
 */

#include "bench.h"

/* Takes the first n flits of *pkt off as a part of its own; *pkt is the rest,
 * NULL where none is left. */
struct rl_flit *parts_cut(struct rl_flit **pkt, unsigned int n);

struct parts {
	struct rl_flit *open[RL_VCS]; /* the parts of a packet so far */
	struct rl_pktq whole;	      /* put together, in order of their ends */
	struct rl_pktq closed;	      /* the same, ended by transmit_error */
	unsigned int taken;	      /* parts */
	unsigned int disorder;	      /* a part that should not be there */
};

void parts_take(struct parts *p, struct rl_flit *part);
/* Takes and accounts for all that a port gave its core: credits return. */
void parts_accept(struct parts *p, struct bench_end *e);
/* The whole packets go to a sink that checks them; all flits go home. */
void parts_finish(struct parts *p, struct bench_pool *pool,
		  struct bench_sink *sink);

/* --- a link in cut-through mode: end 0 is given parts, end 1 takes them -- */

struct cut {
	struct bench b;
	struct parts in; /* the packets that end 1 gave its core */
	uint32_t next_tag[RL_VCS];
};

struct rl_link_cfg cut_cfg(void);
void cut_open(struct cut *g, const struct rl_link_cfg *cfg); /* and trains */
/* Time goes on, and the core at end 1 takes what comes. */
void cut_run(struct cut *g, unsigned int us);
struct rl_flit *cut_make(struct cut *g, unsigned int vc, unsigned int flits);
/* Hands the next n flits of a packet to the port of end 0. */
void cut_give(struct cut *g, struct rl_flit **pkt, unsigned int n);
void cut_kill(struct cut *g);
/* Nothing reserved, nothing held, all credits there. */
void cut_at_rest(struct cut *g);
void cut_close(struct cut *g);

#endif /* LINK_PARTS_H */
