/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact model of the FEC, against formulas and against the codec. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rl_rxl_fec.h"
#include "rl_rxl_trial.h"

static double scratch[RL_RXL_FEC_SCRATCH];

static void
near(double got, double want, double part)
{
	if (fabs(got - want) > part * fabs(want))
		fail_msg("%.12g instead of %.12g", got, want);
}

static void
the_four_outcomes_add_up_to_one(void **state)
{
	static const double ber[] = { 0,    1e-9, 1e-6, 1e-5, 1e-4,
				      1e-3, 3e-3, 0.1,	0.5 };
	struct rl_rxl_fec_model m;

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(ber); i++) {
		rl_rxl_fec_model(ber[i], scratch, &m);
		assert_true(m.clean >= 0 && m.corrected >= 0 &&
			    m.detected >= 0 && m.missed >= 0);
		near(m.clean + m.corrected + m.detected + m.missed, 1, 1e-9);
	}
}

/* 1 - sum of the first two terms, where nothing cancels yet. */
static void
two_wrong_bytes_are_binomial(void **state)
{
	const double p = 1 - pow(1 - 1e-3, 8);
	const double first = pow(1 - p, 86);
	const double second = 86 * p * pow(1 - p, 85);

	(void)state;
	near(rl_rxl_two_bytes_wrong(1e-3, 86), 1 - first - second, 1e-9);
	/* and where it would: 86 * 85 / 2 pairs of bytes, 8e-6 squared */
	near(rl_rxl_two_bytes_wrong(1e-6, 86), 3655 * 64e-12, 1e-3);
	assert_true(rl_rxl_two_bytes_wrong(0, 86) == 0);
	assert_true(rl_rxl_two_bytes_wrong(1e-6, 1) == 0);
}

/*
 * The paper's 3e-5 is 43 times what independent errors of 1e-6 do; it takes
 * 6.6e-6 to get there.
 */
static void
the_bound_of_pcie_is_not_the_binomial_value(void **state)
{
	struct rl_rxl_fec_model m;

	(void)state;
	rl_rxl_fec_model(1e-6, scratch, &m);
	near(rl_rxl_fec_uncorrectable(&m), 6.9e-7, 0.01);
	rl_rxl_fec_model(6.6e-6, scratch, &m);
	near(rl_rxl_fec_uncorrectable(&m), 3e-5, 0.01);
}

/*
 * 170 of 255 locators are not there, so two thirds should be detected, as the
 * paper says of bursts. But two lone bits are in the same place of their bytes
 * one time in eight; then P is right, and the decoder blames C.
 */
static void
seven_twelfths_of_two_lone_bits_are_detected(void **state)
{
	struct rl_rxl_fec_model m;

	(void)state;
	rl_rxl_fec_model(1e-6, scratch, &m);
	near(m.detected / rl_rxl_fec_uncorrectable(&m), 7.0 / 12, 0.01);
	/* and 26 of 27 if all three sub-blocks are corrupt [FLIT-4] */
	rl_rxl_fec_model(0.02, scratch, &m);
	near(m.detected / rl_rxl_fec_uncorrectable(&m), 26.0 / 27, 0.01);
}

/**
 * Pairs of lone bits in two bytes of one sub-block, of all there are, that the
 * decoder notices.
 */
static double
noticed_pairs(const struct rl_codec *codec, uint64_t *pairs)
{
	uint8_t flit[RL_FLIT_BYTES] RL_ALIGNED(64) = { 0 };
	const uint8_t *src[1] = { flit };
	uint64_t noticed = 0;
	uint8_t fec;

	*pairs = 0;
	for (int i = 0; i < RL_FLIT_BYTES; i++)
		for (int k = i + 3; k < RL_FLIT_BYTES; k += 3)
			for (int bits = 0; bits < 64; bits++) {
				flit[i] ^= (uint8_t)(1 << (bits & 7));
				flit[k] ^= (uint8_t)(1 << (bits >> 3));
				rl_codec_fec_check(codec, src, 1, &fec);
				noticed += fec == RL_FEC_BAD;
				++*pairs;
				flit[i] = flit[k] = 0;
			}
	return (double)noticed / (double)*pairs;
}

/* If only pairs matter, the model agrees with the decoder to four digits. */
static void
at_vanishing_rates_the_model_is_the_enumeration_of_all_pairs(void **state)
{
	void *mem = aligned_alloc(64, (rl_codec_memsize() + 63) & ~63ull);
	struct rl_rxl_fec_model m;
	uint64_t pairs;
	double share;

	(void)state;
	assert_int_equal(rl_codec_init(mem, RL_CRC_BCH, RL_ISN_WIDE,
				       rl_codec_best_isa(512)), 0);
	share = noticed_pairs(mem, &pairs);
	/* 86 bytes in one sub-block, 85 in the two others */
	assert_int_equal(pairs, 64 * (3655 + 2 * 3570));
	rl_rxl_fec_model(1e-7, scratch, &m);
	near(rl_rxl_fec_uncorrectable(&m), (double)pairs * 1e-14, 3e-4);
	near(m.detected / rl_rxl_fec_uncorrectable(&m), share, 1e-4);
	free(mem);
}

/* Measured by the codec that ships, within five standard deviations. */
static void
the_codec_does_what_the_model_says(void **state)
{
	static const struct {
		double ber;
		uint64_t flits;
	} t[] = { { 3e-5, 40000000 }, { 1e-3, 200000 }, { 1e-2, 20000 } };
	void *mem = aligned_alloc(64, (rl_codec_memsize() + 63) & ~63ull);
	void *trial = aligned_alloc(64,
				    (rl_rxl_trial_memsize() + 63) & ~63ull);

	(void)state;
	assert_int_equal(rl_codec_init(mem, RL_CRC_BCH, RL_ISN_WIDE,
				       RL_ISA_SCALAR), 0);
	for (size_t i = 0; i < RL_ARRAY_SIZE(t); i++) {
		struct rl_rxl_trial_cfg cfg = { .seed = 77 + i };
		const struct rl_rxl_link_tally *l;
		struct rl_rxl_fec_model m;
		double want[4];
		uint64_t got[4];

		rl_error_cfg_defaults(&cfg.wire);
		rl_error_cfg_defaults(&cfg.inside);
		cfg.inside.span_bytes = RL_FLIT_FEC_OFF;
		cfg.wire.bit_rate = t[i].ber;
		rl_rxl_trial_init(trial, &cfg, mem);
		rl_rxl_trial_run(trial, t[i].flits);
		l = &rl_rxl_trial_tally(trial)->link[0];
		rl_rxl_fec_model(t[i].ber, scratch, &m);
		want[0] = 1 - m.clean;
		want[1] = m.corrected;
		want[2] = m.detected;
		want[3] = m.missed;
		got[0] = l->hit;
		got[1] = l->corrected;
		got[2] = l->detected;
		got[3] = l->missed;
		for (int k = 0; k < 4; k++) {
			const double n = (double)t[i].flits * want[k];

			if (fabs((double)got[k] - n) > 5 * sqrt(n) + 1)
				fail_msg("ber %g, outcome %d: %g instead of %g",
					 t[i].ber, k, (double)got[k], n);
		}
	}
	free(trial);
	free(mem);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_four_outcomes_add_up_to_one),
		cmocka_unit_test(two_wrong_bytes_are_binomial),
		cmocka_unit_test(the_bound_of_pcie_is_not_the_binomial_value),
		cmocka_unit_test(
			seven_twelfths_of_two_lone_bits_are_detected),
		cmocka_unit_test(
			at_vanishing_rates_the_model_is_the_enumeration_of_all_pairs),
		cmocka_unit_test(the_codec_does_what_the_model_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
