/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DUO_H
#define DUO_H

/*
 * Two devices joined by parallel links, as in Figure 1 of the DRL patent: a
 * switch into which the test puts packets, and an endpoint that takes them.
 * Cores, ports and wires are real; the test sets the clock.
 *
 *   duo_send() --> switch core --> port 1 ==wire 0==> port 0 --> endpoint's core
 *                              --> port 2 ==wire 1==> port 1 -->   --> sink
 *                              --> port 3 ==wire 2==> port 2 -->
 */

#include "bench.h"
#include "rl_core.h"

#define DUO_LINKS 8
#define DUO_FLOWS 4 /* by class of SL: flow n starts at link n % links */
#define DUO_EP 2    /* number of the endpoint */

struct duo_dev {
	struct rl_core *core;
	void *mem;
	struct rl_fwd fwd;
	struct rl_fwd_entry *entry;
	uint8_t *sl2vl;
	uint16_t first; /* core's port of link 0 */
	struct bench_end end[DUO_LINKS];
	struct rl_port_shared *shared[DUO_LINKS + 1];
	uint16_t beside[DUO_LINKS + 1]; /* all links are parallel */
	uint64_t drops[RL_DROP_REASON_COUNT];
};

struct duo {
	struct rl_link_cfg cfg;
	unsigned int links;
	uint32_t pool_flits;
	struct bench_pool pool;
	struct bench_wire wire[DUO_LINKS][2];
	struct duo_dev a; /* the switch */
	struct duo_dev b; /* the endpoint */
	struct bench_sink sink;
	uint32_t next_pos[DUO_FLOWS]; /* cut-through: position of the next
					 flit */
	uint64_t again_flits;	      /* cut-through: duplicate flits */
	uint32_t next_tag[DUO_FLOWS];
	uint64_t now_ns;
};

/* First set d->cfg and d->links, and zero the rest. */
void duo_cfg(struct duo *d, unsigned int links);
void duo_open(struct duo *d); /* trains, too */
void duo_run(struct duo *d, uint64_t ns);
/* Runs until nothing is held anywhere; fails after max_ns. */
void duo_settle(struct duo *d, uint64_t max_ns);
void duo_send(struct duo *d, unsigned int flow, unsigned int flits);
/* The same in two steps, to put in parts one by one. */
struct rl_flit *duo_make(struct duo *d, unsigned int flow, unsigned int flits);
void duo_give(struct duo *d, struct rl_flit *part);
/* Cuts both directions of a link; both PHYs report it. */
void duo_kill(struct duo *d, unsigned int link);
void duo_heal(struct duo *d, unsigned int link);
/* Checks that each packet arrived once and in order. */
void duo_check(struct duo *d);
void duo_close(struct duo *d); /* checks for leaks */

#define DUO_COUNTER(dev, name) (rl_core_counters((dev)->core)[RL_CC_##name])

#endif /* DUO_H */
