/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINK_DETECT_H
#define LINK_DETECT_H

/**
 * @file
 * A bench for detectors: all are off except those that a test enables.
 */

#include "bench.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

/* Settings without any detector. */
static inline struct rl_link_cfg
deaf_cfg(void)
{
	struct rl_link_cfg cfg;

	bench_cfg(&cfg);
	cfg.detect_phy = false;
	cfg.keepalive_dead_ns = 0;
	cfg.keepalive_ns = 200 * US;
	cfg.replay_limit = 255;
	cfg.error_window_ns = 0;
	return cfg;
}

static inline void
check_dead(const struct bench_end *e, enum rl_detector why, const char *word)
{
	assert_int_equal(bench_end_events(e, RL_PEV_DEAD), 1);
	assert_int_equal(bench_end_detector(e), why);
	assert_string_equal(rl_detector_name(bench_end_detector(e)), word);
	assert_int_equal(COUNTER(e, deaths), 1);
}

#endif /* LINK_DETECT_H */
