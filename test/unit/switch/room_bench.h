/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROOM_BENCH_H
#define ROOM_BENCH_H

/**
 * @file
 * A core to test the waiting room: ports X, Y and Z, with some flows for each.
 */

#include "core_bench.h"

#define X 1
#define Y 2
#define Z 3
#define IN 0
#define US RL_NS_PER_US
#define PORTS(...)                                                             \
	(const uint16_t[]){ __VA_ARGS__ },                                     \
		sizeof((const uint16_t[]){ __VA_ARGS__ }) / sizeof(uint16_t)

/* Flow 1 by X only, 2 by Y only, 3 by X or Y, 4 by Z; one shared budget. */
static inline void
room_open(struct core_bench *c, uint32_t wait_flits)
{
	cb_cfg(c);
	c->cfg.wait_flits = wait_flits;
	c->cfg.queue_flits = 32;
	c->cfg.restore_delay_ns = 0;
	cb_route(c, 0, 1, PORTS(X));
	cb_route(c, 0, 2, PORTS(Y));
	cb_route(c, 0, 3, PORTS(X, Y));
	cb_route(c, 0, 4, PORTS(Z));
	cb_open(c, -1);
	for (uint16_t p = 0; p < CB_PORTS; p++)
		cb_mark(c, p, RL_MARK_LINK_UP);
}

static inline struct rl_core_wait_info
info(const struct core_bench *c)
{
	struct rl_core_wait_info i;

	rl_core_wait_info(c->core, &i);
	return i;
}

/* The link dies and has drained: packets for this port only have no path. */
static inline void
die(struct core_bench *c, uint16_t port)
{
	cb_mark(c, port, RL_MARK_LOOP_BEGIN);
	cb_mark(c, port, RL_MARK_LOOP_END);
	cb_advance(c, c->cfg.resume_delay_ns);
	assert_int_equal(CB_STATE(c, port), RL_EGRESS_DEAD);
}

/* The link returns, and every fence is answered. */
static inline void
rise(struct core_bench *c, uint16_t port)
{
	cb_mark(c, port, RL_MARK_LINK_UP);
	for (unsigned int i = 0; i < 100 && CB_STATE(c, port) !=
				     RL_EGRESS_ALIVE; i++) {
		for (uint16_t p = 0; p < CB_PORTS; p++) {
			c->fences[p] = 0;
			cb_tx(c, p);
			if (c->fences[p] != 0)
				cb_mark(c, p, RL_MARK_FENCE_DONE);
		}
		cb_advance(c, 0);
	}
	assert_int_equal(CB_STATE(c, port), RL_EGRESS_ALIVE);
}

#endif /* ROOM_BENCH_H */
