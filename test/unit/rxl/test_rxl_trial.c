/* SPDX-License-Identifier: BSD-3-Clause */
/* Flits over links and switches: what is counted adds up, nothing hides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_rxl_trial.h"

struct fx {
	struct rl_codec *codec;
	void *mem;
	struct rl_rxl_trial_cfg cfg;
};

static void *
take(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) & ~(size_t)63);

	assert_non_null(p);
	return p;
}

static int
open_fx(void **state)
{
	struct fx *fx = calloc(1, sizeof(*fx));

	fx->codec = take(rl_codec_memsize());
	fx->mem = take(rl_rxl_trial_memsize());
	assert_int_equal(rl_codec_init(fx->codec, RL_CRC_BCH, RL_ISN_WIDE,
				       rl_codec_best_isa(512)), 0);
	rl_error_cfg_defaults(&fx->cfg.wire);
	rl_error_cfg_defaults(&fx->cfg.inside);
	fx->cfg.inside.span_bytes = RL_FLIT_FEC_OFF;
	fx->cfg.seed = 1;
	*state = fx;
	return 0;
}

static int
close_fx(void **state)
{
	struct fx *fx = *state;

	free(fx->mem);
	free(fx->codec);
	free(fx);
	return 0;
}

static const struct rl_rxl_trial_tally *
run(struct fx *fx, uint64_t flits)
{
	struct rl_rxl_trial *t = rl_rxl_trial_init(fx->mem, &fx->cfg,
						   fx->codec);

	rl_rxl_trial_run(t, flits);
	return rl_rxl_trial_tally(t);
}

static void
without_errors_nothing_is_simulated_and_all_arrives(void **state)
{
	struct fx *fx = *state;
	const struct rl_rxl_trial_tally *c;

	fx->cfg.levels = 4;
	c = run(fx, 1000000000000ull);
	assert_true(c->flits == 1000000000000ull);
	assert_true(c->arrived_ok == c->flits);
	assert_true(c->touched == 0);
	assert_true(c->link[4].flits == c->flits);
}

static void
every_flit_ends_in_exactly_one_count(void **state)
{
	struct fx *fx = *state;

	fx->cfg.wire.drop_rate = 1e-3;
	fx->cfg.wire.burst_rate = 1e-3;
	fx->cfg.wire.burst_max_bytes = 8;
	fx->cfg.inside.bit_rate = 1e-6;
	fx->cfg.wire.bit_rate = 3e-4;
	for (unsigned int k = 0; k <= 4; k++) {
		const struct rl_rxl_trial_tally *c;
		uint64_t gone = 0;

		fx->cfg.levels = k;
		c = run(fx, 300000);
		assert_true(c->flits == c->dropped + c->arrived_ok +
						c->fec_bad + c->crc_bad +
						c->slipped + c->undetected);
		for (unsigned int i = 0; i <= k; i++) {
			const struct rl_rxl_link_tally *l = &c->link[i];

			assert_true(l->hit == l->corrected + l->detected +
						      l->missed);
			assert_true(l->hit > 1000 && l->detected > 100 &&
				    l->missed > 10 && l->lost > 50);
			/* a link gets what the one before delivered */
			assert_true(l->flits == c->flits - gone);
			gone += l->lost + (i < k ? l->detected : 0);
		}
		assert_true(c->dropped == gone);
		assert_true(c->undetected == 0 && c->slipped == 0);
		assert_true((c->hurt_inside > 0) == (k > 0));
	}
}

/* Miscorrected by one switch, it is a code word for the next [RXL-4]. */
static void
what_a_switch_miscorrects_only_the_crc_finds(void **state)
{
	struct fx *fx = *state;
	const struct rl_rxl_trial_tally *c;
	uint64_t missed = 0;

	fx->cfg.levels = 3;
	fx->cfg.wire.bit_rate = 1e-4;
	c = run(fx, 2000000);
	for (int i = 0; i <= 3; i++)
		missed += c->link[i].missed;
	assert_true(missed > 5000);
	/* but for those that a later link made worse, and noticed */
	assert_true(c->crc_bad <= missed && c->crc_bad > missed * 97 / 100);
	assert_true(c->undetected == 0);
}

/* The switch's FEC is computed over what it altered: only the CRC is left. */
static void
corruption_inside_a_switch_is_found_at_the_destination(void **state)
{
	struct fx *fx = *state;
	const struct rl_rxl_trial_tally *c;

	fx->cfg.levels = 2;
	fx->cfg.inside.burst_rate = 1e-2;
	fx->cfg.inside.burst_max_bytes = 40;
	c = run(fx, 500000);
	assert_true(c->hurt_inside > 9000);
	assert_true(c->fec_bad == 0 && c->dropped == 0);
	/* two hits on one flit count once at the end */
	assert_true(c->crc_bad <= c->hurt_inside);
	assert_true(c->crc_bad > c->hurt_inside * 98 / 100);
	assert_true(c->undetected == 0 && c->slipped == 0);
}

/* The paper, section 2.5: 1 to 3 corrected, then 2/3, 8/9, 26/27 [FLIT-4]. */
static void
byte_bursts_are_detected_as_the_paper_says(void **state)
{
	static const struct {
		uint32_t bytes;
		double detected;
	} t[] = { { 1, 0 },	   { 2, 0 },	     { 3, 0 },
		  { 4, 2.0 / 3 },  { 5, 8.0 / 9 },   { 6, 26.0 / 27 },
		  { 9, 26.0 / 27 }, { 16, 26.0 / 27 } };
	struct fx *fx = *state;

	fx->cfg.wire.burst_rate = 1;
	for (size_t i = 0; i < RL_ARRAY_SIZE(t); i++) {
		const struct rl_rxl_link_tally *l;
		double share;

		fx->cfg.wire.burst_min_bytes = t[i].bytes;
		fx->cfg.wire.burst_max_bytes = t[i].bytes;
		l = &run(fx, 100000)->link[0];
		assert_true(l->hit == 100000);
		share = (double)l->detected / (double)l->hit;
		assert_true(share > t[i].detected - 0.012 &&
			    share < t[i].detected + 0.012);
		if (t[i].bytes <= 3)
			assert_true(l->corrected == l->hit);
		else
			assert_true(l->corrected == 0);
	}
}

static void
two_runs_in_a_row_are_one_long_run(void **state)
{
	struct fx *fx = *state;
	struct rl_rxl_trial_tally once;
	struct rl_rxl_trial *t;

	fx->cfg.levels = 2;
	fx->cfg.wire.bit_rate = 1e-4;
	once = *run(fx, 300000);
	t = rl_rxl_trial_init(fx->mem, &fx->cfg, fx->codec);
	for (int i = 0; i < 3; i++)
		rl_rxl_trial_run(t, 100000);
	assert_memory_equal(rl_rxl_trial_tally(t), &once, sizeof(once));
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_fx, close_fx)
	const struct CMUnitTest tests[] = {
		T(without_errors_nothing_is_simulated_and_all_arrives),
		T(every_flit_ends_in_exactly_one_count),
		T(what_a_switch_miscorrects_only_the_crc_finds),
		T(corruption_inside_a_switch_is_found_at_the_destination),
		T(byte_bursts_are_detected_as_the_paper_says),
		T(two_runs_in_a_row_are_one_long_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
