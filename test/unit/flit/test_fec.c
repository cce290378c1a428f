/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the FEC corrects and detects [FLIT-4]. The code is linear, so errors
 * are laid over the flit of all zeros, whose check bytes are zero.
 */

#include <math.h>
#include <string.h>

#include "codec_test.h"

#define BATCH 64

/** Errors drawn for one share; RL_LONG=1 draws ten times as many. */
static unsigned int
sample_size(void)
{
	return (long_campaign() ? 4000000 : 400000) / BATCH * BATCH;
}

static const uint8_t c_off[3] = { 252, 250, 251 };
static const uint8_t p_off[3] = { 255, 253, 254 };

static void
bursts_of_up_to_three_bytes_are_corrected_at_every_position(void **state)
{
	struct rl_codec *c = codec_best(RL_CRC_BCH, RL_ISN_WIDE);
	uint8_t zero[RL_FLIT_BYTES] = { 0 }, f[RL_FLIT_BYTES], out[256];
	const uint8_t *src = f;
	uint8_t *dst = out, fec;
	struct rl_prng p;

	(void)state;
	rl_prng_seed(&p, 11);
	for (unsigned int len = 1; len <= 3; len++)
		for (unsigned int at = 0; at + len <= RL_FLIT_BYTES; at++)
			for (int i = 0; i < 50; i++) {
				memset(f, 0, sizeof(f));
				for (unsigned int k = 0; k < len; k++)
					f[at + k] = random_change(&p);
				rl_codec_hop(c, &src, &dst, 1, &fec);
				assert_int_equal(fec, RL_FEC_CORRECTED);
				assert_memory_equal(out, zero, sizeof(out));
			}
	free(c);
}

/*
 * Wrong C and P of one group look like an error of value P at the column that
 * C / P names: all 255 of them, most of them absent.
 */
static void
a_correction_that_points_at_an_absent_column_is_a_detected_error(void **state)
{
	(void)state;
	for (int isa = 0; isa < RL_ISA_COUNT; isa++) {
		struct rl_codec *c = codec_new(RL_CRC_BCH, RL_ISN_WIDE, isa);
		unsigned int absent = 0;

		for (unsigned int i = 0; c != NULL && i < 3 * 255 * 4; i++) {
			const unsigned int group = i % 3, e = i / 3 % 255;
			const uint8_t value = (uint8_t)(1 + i / (3 * 255) * 77);
			const int column = 84 - (int)e;
			const int offset = 3 * column + (int)group;
			const bool there = column >= 0 && offset < 250;
			uint8_t f[RL_FLIT_BYTES] = { 0 }, out[RL_FLIT_BYTES];
			const uint8_t *src = f;
			uint8_t *dst = out, fec;

			f[p_off[group]] = value;
			f[c_off[group]] = rl_ref_gf_mul(
				0x11d, value, rl_ref_gf_pow(0x11d, 2, (int)e));
			rl_codec_hop(c, &src, &dst, 1, &fec);
			assert_int_equal(fec,
					 there ? RL_FEC_CORRECTED : RL_FEC_BAD);
			if (there)
				f[offset] ^= value;
			else
				absent++;
			assert_memory_equal(out, f, sizeof(f));
		}
		/* of 255 columns 84, 83 and 83 are there */
		assert_int_equal(absent, c == NULL ? 0 : 4 * (171 + 172 + 172));
		free(c);
	}
}

/** How errors of one kind fare. */
struct fate {
	unsigned int detected, corrected, miscorrected;
};

typedef void (*error_fn)(struct rl_prng *p, uint8_t *flit, unsigned int size);

static void
burst_error(struct rl_prng *p, uint8_t *flit, unsigned int size)
{
	const uint32_t at = rl_prng_below(p, RL_FLIT_BYTES + 1 - size);

	for (unsigned int i = 0; i < size; i++)
		flit[at + i] = random_change(p);
}

static void
scattered_error(struct rl_prng *p, uint8_t *flit, unsigned int size)
{
	while (size > 0) {
		const uint32_t at = rl_prng_below(p, RL_FLIT_BYTES);

		if (flit[at] != 0)
			continue;
		flit[at] = random_change(p);
		size--;
	}
}

static struct fate
fate_of(error_fn error, unsigned int size)
{
	static uint8_t in[BATCH][RL_FLIT_BYTES], out[BATCH][RL_FLIT_BYTES];
	static const uint8_t zero[RL_FLIT_BYTES];
	struct rl_codec *c = codec_best(RL_CRC_BCH, RL_ISN_WIDE);
	const uint8_t *src[BATCH];
	uint8_t *dst[BATCH], fec[BATCH];
	struct fate fate = { 0, 0, 0 };
	struct rl_prng p;

	rl_prng_seed(&p, 1000 + size);
	for (unsigned int n = 0; n < sample_size(); n += BATCH) {
		memset(in, 0, sizeof(in));
		for (unsigned int i = 0; i < BATCH; i++) {
			src[i] = in[i];
			dst[i] = out[i];
			error(&p, in[i], size);
		}
		rl_codec_hop(c, src, dst, BATCH, fec);
		for (unsigned int i = 0; i < BATCH; i++) {
			assert_int_not_equal(fec[i], RL_FEC_CLEAN);
			if (fec[i] == RL_FEC_BAD)
				fate.detected++;
			else if (memcmp(out[i], zero, sizeof(zero)) == 0)
				fate.corrected++;
			else
				fate.miscorrected++;
		}
	}
	free(c);
	return fate;
}

/**
 * Half of the 95 % interval of a share, in per cent. A test allows twice as
 * much: four standard errors, and the draw is seeded.
 */
static double
interval_pct(double share_pct)
{
	return 1.96 * sqrt(share_pct * (100 - share_pct) / sample_size());
}

static void
check_share(const char *what, unsigned int size, unsigned int count,
	    double want_pct)
{
	const double pct = 100.0 * count / sample_size();

	print_message("%u bytes %s: %.2f %% +- %.2f (codec.md: %.1f)\n", size,
		      what, pct, interval_pct(pct), want_pct);
	/* the figures to compare with are rounded to 0.1 */
	assert_true(fabs(pct - want_pct) <= 2 * interval_pct(want_pct) + 0.06);
}

static void
bursts_of_four_and_more_bytes_are_detected_in_the_shares_of_codec_md(
	void **state)
{
	static const struct {
		unsigned int bytes;
		double detected_pct;
	} burst[] = { { 4, 67.3 },  { 5, 89.3 },  { 6, 96.5 },	{ 7, 96.4 },
		      { 8, 96.4 },  { 9, 96.4 },  { 12, 96.4 }, { 16, 96.4 } };

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(burst); i++) {
		const struct fate f = fate_of(burst_error, burst[i].bytes);

		check_share("in a burst, detected", burst[i].bytes, f.detected,
			    burst[i].detected_pct);
		assert_int_equal(f.corrected, 0);
	}
}

static void
two_scattered_wrong_bytes_are_corrected_detected_or_miscorrected(void **state)
{
	const struct fate f = fate_of(scattered_error, 2);

	(void)state;
	check_share("scattered, corrected", 2, f.corrected, 67.0);
	check_share("scattered, detected", 2, f.detected, 22.2);
	check_share("scattered, miscorrected", 2, f.miscorrected, 10.8);
}

static void
flip(uint8_t *flit, uint32_t bit)
{
	flit[bit / 8] ^= (uint8_t)(1u << bit % 8);
}

/* Where the CRC looks. */
static unsigned int
wrong_bits(const uint8_t *flit)
{
	unsigned int n = 0;

	/* a correction of a check byte may change all of it: no CRC cares */
	for (unsigned int i = 0; i < RL_FLIT_FEC_OFF; i++)
		n += (unsigned int)__builtin_popcount(flit[i]);
	return n;
}

/* Every two wrong bits of a flit: where FEC lets it pass, 0 to 4 are wrong. */
static void
two_wrong_bits_leave_at_most_four_whichever_they_are(void **state)
{
	struct rl_codec *c = codec_best(RL_CRC_BCH, RL_ISN_WIDE);
	uint8_t f[RL_FLIT_BYTES] = { 0 }, out[RL_FLIT_BYTES], fec;
	const uint8_t *src = f;
	uint8_t *dst = out;
	unsigned int most = 0;

	(void)state;
	for (uint32_t a = 0; a < RL_FLIT_BYTES * 8; a++) {
		for (uint32_t b = 0; b < a; b++) {
			flip(f, a);
			flip(f, b);
			rl_codec_hop(c, &src, &dst, 1, &fec);
			if (fec != RL_FEC_BAD && wrong_bits(out) > most)
				most = wrong_bits(out);
			flip(f, a);
			flip(f, b);
		}
	}
	assert_int_equal(most, 4);
	free(c);
}

/* Of `n` more wrong bits on each of two links; 0 where FEC detects them. */
static unsigned int
left_after_two_links(const struct rl_codec *c, struct rl_prng *p,
		     unsigned int n)
{
	uint8_t a[RL_FLIT_BYTES] = { 0 }, b[RL_FLIT_BYTES], fec;
	const uint8_t *src = a;
	uint8_t *dst = b;
	/* a group's columns are three bytes apart: there they meet */
	const uint32_t group = rl_prng_below(p, 3);

	for (int link = 0; link < 2; link++) {
		for (unsigned int i = 0; i < n; i++) {
			const uint32_t at = rl_prng_below(p, 83) * 3 + group;

			flip(a, at * 8 + rl_prng_below(p, 8));
		}
		rl_codec_hop(c, &src, &dst, 1, &fec);
		if (fec == RL_FEC_BAD)
			return 0;
		memcpy(a, b, sizeof(a));
	}
	return wrong_bits(a);
}

static void
n_wrong_bits_a_link_leave_at_most_2n_for_each_of_two_links(void **state)
{
	struct rl_codec *c = codec_best(RL_CRC_BCH, RL_ISN_WIDE);
	unsigned int most[6] = { 0 };
	struct rl_prng p;

	(void)state;
	rl_prng_seed(&p, 13);
	for (unsigned int n = 1; n <= 5; n++)
		for (unsigned int i = 0; i < sample_size(); i++) {
			const unsigned int left =
				left_after_two_links(c, &p, n);

			if (left > most[n])
				most[n] = left;
		}
	assert_int_equal(most[1], 0);
	for (unsigned int n = 2; n <= 5; n++) {
		assert_in_range(most[n], 2 * n + 1, 4 * n);
		print_message("%u wrong bits a link: at most %u left\n", n,
			      most[n]);
	}
	free(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			bursts_of_up_to_three_bytes_are_corrected_at_every_position),
		cmocka_unit_test(
			a_correction_that_points_at_an_absent_column_is_a_detected_error),
		cmocka_unit_test(
			bursts_of_four_and_more_bytes_are_detected_in_the_shares_of_codec_md),
		cmocka_unit_test(
			two_scattered_wrong_bytes_are_corrected_detected_or_miscorrected),
		cmocka_unit_test(
			two_wrong_bits_leave_at_most_four_whichever_they_are),
		cmocka_unit_test(
			n_wrong_bits_a_link_leave_at_most_2n_for_each_of_two_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
