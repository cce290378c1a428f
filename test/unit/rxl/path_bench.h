/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATH_BENCH_H
#define PATH_BENCH_H

/**
 * @file A path between two endpoints, for tests.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rl_rxl_path.h"

#define LATENCY 25 /* slots */

struct fx {
	struct rl_codec *codec;
	struct rl_rxl_path_cfg cfg;
	struct rl_rxl_path *path;
};

static inline void *
take(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) & ~(size_t)63);

	assert_non_null(p);
	return p;
}

/* No errors, packets of one flit, short timers; no endpoint sends. */
static inline struct fx *
path_open(void)
{
	struct fx *fx = calloc(1, sizeof(*fx));
	struct rl_ep_cfg *c = &fx->cfg.ep;

	fx->codec = take(rl_codec_memsize());
	assert_int_equal(rl_codec_init(fx->codec, RL_CRC_BCH, RL_ISN_WIDE,
				       rl_codec_best_isa(512)), 0);
	rl_ep_cfg_defaults(c);
	c->isn = RL_ISN_WIDE;
	c->retry_mode = RL_RETRY_SELECTIVE;
	c->window_flits = c->tx_buffer_flits = c->rx_buffer_flits = 256;
	c->max_packet_flits = 1;
	c->max_flows = 2;
	c->ack_delay_ns = 100;
	c->retry_timer_min_ns = 200;
	c->retry_timer_max_ns = 20000;
	c->retry_limit = 0;
	rl_error_cfg_defaults(&fx->cfg.way.wire);
	rl_error_cfg_defaults(&fx->cfg.way.inside);
	fx->cfg.way.inside.span_bytes = RL_FLIT_FEC_OFF;
	fx->cfg.way.seed = 1;
	fx->cfg.latency_slots = LATENCY;
	fx->cfg.slot_ns = 2;
	return fx;
}

/* Restarts with the present settings. */
static inline void
start(struct fx *fx)
{
	char err[160];
	const char *key;

	assert_int_equal(rl_ep_cfg_check(&fx->cfg.ep, err, sizeof(err), &key),
			 0);
	free(fx->path);
	fx->path = rl_rxl_path_init(take(rl_rxl_path_memsize(&fx->cfg)),
				    &fx->cfg, fx->codec);
}

static inline int
close_fx(void **state)
{
	struct fx *fx = *state;

	free(fx->path);
	free(fx->codec);
	free(fx);
	return 0;
}

#endif /* PATH_BENCH_H */
