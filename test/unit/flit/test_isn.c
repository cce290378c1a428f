/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From syndromes to slips [FLIT-6], and what can hide a slip [FLIT-5,
 * FLIT-7].
 */

#include <string.h>

#include "codec_test.h"
#include "rl_seq.h"

/** What number @p n adds to the CRC field. */
static uint64_t
mixed(enum rl_crc_kind crc, enum rl_isn_kind isn, uint32_t n)
{
	static const uint8_t zeros[RL_FLIT_BYTES];

	return rl_ref_crc_isn(crc, isn, zeros, n) ^
	       rl_ref_crc_isn(crc, isn, zeros, 0);
}

static void
check_decoded(const struct rl_codec *c, uint64_t syndrome, uint32_t seq,
	      uint32_t eseq, unsigned int bits)
{
	const struct rl_isn_result r = rl_isn_decode(c, syndrome, eseq);
	const int32_t slip = rl_seq_diff_bits(seq, eseq, bits);

	assert_int_equal(r.slip, slip);
	assert_int_equal(r.verdict, slip == 0  ? RL_ISN_OK
				    : slip < 0 ? RL_ISN_BEHIND
					       : RL_ISN_AHEAD);
}

static void
all_1023_slips_are_decoded_with_every_crc_and_mixing(void **state)
{
	(void)state;
	for (int crc = 0; crc < CRC_KINDS; crc++)
		for (int isn = RL_ISN_XOR10; isn <= RL_ISN_WIDE; isn++) {
			struct rl_codec *c = codec_best(crc, isn);

			if (c == NULL)
				continue;
			for (uint32_t diff = 0; diff < 1024; diff++) {
				const uint64_t syn = mixed(crc, isn, diff);

				for (uint32_t e = 0; e < 1024; e += 31)
					check_decoded(c, syn, e ^ diff, e, 10);
			}
			free(c);
		}
}

static void
all_524287_slips_are_decoded_with_wide19(void **state)
{
	struct rl_codec *c = codec_best(RL_CRC_BCH, RL_ISN_WIDE19);
	struct rl_prng p;

	(void)state;
	rl_prng_seed(&p, 5);
	for (uint32_t diff = 0; diff < 1u << 19; diff++) {
		const uint32_t e = (uint32_t)rl_prng_u64(&p);

		check_decoded(c, rl_ref_wide_word(RL_ISN_WIDE19, diff),
			      e ^ diff, e, 19);
	}
	free(c);
}

static void
a_received_flit_tells_its_slip_whatever_its_content(void **state)
{
	struct rl_prng p;

	(void)state;
	rl_prng_seed(&p, 6);
	for (int isn = 0; isn < ISN_KINDS; isn++) {
		struct rl_codec *c = codec_best(RL_CRC_BCH, isn);
		const unsigned int bits = rl_ref_isn_bits(isn);

		for (int i = 0; i < 20000; i++) {
			uint8_t flit[RL_FLIT_BYTES], *f = flit, fec;
			const uint32_t seq = (uint32_t)rl_prng_u64(&p);
			const uint32_t eseq = (uint32_t)rl_prng_u64(&p);
			uint64_t syndrome;

			random_bytes(&p, flit, sizeof(flit));
			rl_codec_tx(c, &f, &seq, 1);
			rl_codec_rx(c, &f, &eseq, 1, &syndrome, &fec);
			assert_int_equal(fec, RL_FEC_CLEAN);
			check_decoded(c, syndrome, seq, eseq, bits);
		}
		free(c);
	}
}

static void
half_the_modulus_counts_as_behind(void **state)
{
	struct rl_codec *c = codec_best(RL_CRC_BCH, RL_ISN_WIDE);
	static const struct {
		uint32_t seq, eseq;
		enum rl_isn_verdict verdict;
		int32_t slip;
	} edge[] = {
		{ 5, 5, RL_ISN_OK, 0 },
		{ 6, 5, RL_ISN_AHEAD, 1 },
		{ 4, 5, RL_ISN_BEHIND, -1 },
		{ 511, 0, RL_ISN_AHEAD, 511 },
		{ 512, 0, RL_ISN_BEHIND, -512 },
		{ 513, 0, RL_ISN_BEHIND, -511 },
		{ 0, 1023, RL_ISN_AHEAD, 1 },
		{ 1023, 1024, RL_ISN_BEHIND, -1 },
		{ 1024, 1023, RL_ISN_AHEAD, 1 },
		{ 2048 + 3, 3, RL_ISN_OK, 0 },
		{ 0, 0xffffffff, RL_ISN_AHEAD, 1 },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(edge); i++) {
		const uint64_t syn = mixed(RL_CRC_BCH, RL_ISN_WIDE,
					   edge[i].seq ^ edge[i].eseq);
		const struct rl_isn_result r =
			rl_isn_decode(c, syn, edge[i].eseq);

		assert_int_equal(r.verdict, edge[i].verdict);
		assert_int_equal(r.slip, edge[i].slip);
	}
	free(c);
}

static void
random_syndromes_are_corrupt(void **state)
{
	struct rl_prng p;

	(void)state;
	rl_prng_seed(&p, 8);
	for (int crc = 0; crc < CRC_KINDS; crc++)
		for (int isn = 0; isn < ISN_KINDS; isn++) {
			struct rl_codec *c = codec_best(crc, isn);

			if (c == NULL)
				continue;
			for (int i = 0; i < 1000000; i++) {
				const struct rl_isn_result r = rl_isn_decode(
					c, rl_prng_u64(&p), (uint32_t)i);

				assert_int_equal(r.verdict, RL_ISN_CORRUPT);
				assert_int_equal(r.slip, 0);
			}
			free(c);
		}
}

static void
a_flit_both_damaged_and_slipped_is_corrupt(void **state)
{
	struct rl_prng p;

	(void)state;
	rl_prng_seed(&p, 9);
	for (int isn = RL_ISN_WIDE; isn < ISN_KINDS; isn++) {
		struct rl_codec *c = codec_best(RL_CRC_BCH, isn);

		for (int i = 0; i < 20000; i++) {
			uint8_t flit[RL_FLIT_BYTES], *f = flit, fec;
			const uint32_t seq = (uint32_t)rl_prng_u64(&p);
			const uint32_t eseq = seq - rl_prng_below(&p, 20);
			const unsigned int bits = 1 + rl_prng_below(&p, 9);
			uint64_t syndrome;

			random_bytes(&p, flit, sizeof(flit));
			rl_codec_tx(c, &f, &seq, 1);
			/* 1 to 9 bits; an odd count can't cancel to none */
			for (unsigned int k = 0; k < (bits | 1); k++) {
				const uint32_t b =
					rl_prng_below(&p, CODE_BITS);

				flit[b / 8] ^= (uint8_t)(1 << b % 8);
			}
			/*
			 * corrupted inside a switch: the next hop's FEC is
			 * right
			 */
			rl_codec_fec_encode(c, flit);
			rl_codec_rx(c, &f, &eseq, 1, &syndrome, &fec);
			assert_int_equal(fec, RL_FEC_CLEAN);
			assert_int_equal(
				rl_isn_decode(c, syndrome, eseq).verdict,
				RL_ISN_CORRUPT);
		}
		free(c);
	}
}

/** Whether the flit @p seq passes for @p eseq once @p change is in it. */
static bool
accepted(struct rl_codec *c, uint32_t seq, uint32_t eseq, uint16_t change)
{
	uint8_t flit[RL_FLIT_BYTES] = { 1, 2, 3, 4, 5 }, *f = flit, fec;
	uint64_t syndrome;

	rl_codec_tx(c, &f, &seq, 1);
	rl_put16(flit + 2, (uint16_t)(rl_get16(flit + 2) ^ change));
	rl_codec_fec_encode(c, flit);
	return rl_codec_rx(c, &f, &eseq, 1, &syndrome, &fec) == 0;
}

/*
 * That no lighter pattern does it follows from the distance of the CRC, see
 * test_distance.c: a pattern of w' bits that hides what these w bits hide
 * would make a code word of at most w + w' bits.
 */
static void
xor10_hides_a_slip_behind_as_few_bits_as_codec_md_says_and_wide_does_not(
	void **state)
{
	static const int weight[16] = { 1, 1, 2, 1, 2, 2, 2, 1,
					2, 2, 3, 2, 3, 2, 2, 1 };
	struct rl_codec *xor10 = codec_best(RL_CRC_ECMA, RL_ISN_XOR10);
	struct rl_codec *wide = codec_best(RL_CRC_BCH, RL_ISN_WIDE);

	(void)state;
	for (uint32_t d = 1; d <= 16; d++) {
		int least = 10;

		for (uint32_t e = 0; e < 1024; e++) {
			const uint16_t change = ((e + d) ^ e) & 0x3ff;
			const int w = __builtin_popcount(change);

			least = w < least ? w : least;
			assert_true(accepted(xor10, e + d, e, change));
			assert_false(accepted(wide, e + d, e, change));
		}
		assert_int_equal(least, weight[d - 1]);
	}
	free(xor10);
	free(wide);
}

static void
xor10_accepts_half_of_all_drops_followed_by_a_flip_of_the_lowest_bit(
	void **state)
{
	struct rl_codec *c = codec_best(RL_CRC_ECMA, RL_ISN_XOR10);
	unsigned int hits = 0;

	(void)state;
	for (uint32_t e = 0; e < 1024; e++)
		hits += accepted(c, e + 1, e, 1);
	assert_int_equal(hits, 512);
	free(c);
}

static void
no_one_or_two_wrong_bits_pass_for_a_slip_with_wide(void **state)
{
	static uint64_t syn[CODE_BITS];
	uint8_t flit[RL_FLIT_BYTES] = { 0 };

	(void)state;
	const uint64_t zero = rl_ref_crc(RL_CRC_BCH, flit);

	for (int b = 0; b < CODE_BITS; b++) {
		flit[b / 8] ^= (uint8_t)(1 << b % 8);
		syn[b] = b < 8 * RL_FLIT_CRC_OFF
				 ? rl_ref_crc(RL_CRC_BCH, flit) ^ zero
				 : 1ull << (b - 8 * RL_FLIT_CRC_OFF);
		flit[b / 8] ^= (uint8_t)(1 << b % 8);
	}
	for (int isn = RL_ISN_WIDE; isn < ISN_KINDS; isn++) {
		struct rl_codec *c = codec_best(RL_CRC_BCH, isn);

		for (int i = 0; i < CODE_BITS; i++)
			for (int j = i; j < CODE_BITS; j++) {
				const uint64_t s =
					i == j ? syn[i] : syn[i] ^ syn[j];

				if (rl_isn_decode(c, s, 0).verdict !=
				    RL_ISN_CORRUPT)
					fail_msg("bits %d and %d", i, j);
			}
		free(c);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			all_1023_slips_are_decoded_with_every_crc_and_mixing),
		cmocka_unit_test(all_524287_slips_are_decoded_with_wide19),
		cmocka_unit_test(
			a_received_flit_tells_its_slip_whatever_its_content),
		cmocka_unit_test(half_the_modulus_counts_as_behind),
		cmocka_unit_test(random_syndromes_are_corrupt),
		cmocka_unit_test(a_flit_both_damaged_and_slipped_is_corrupt),
		cmocka_unit_test(
			xor10_hides_a_slip_behind_as_few_bits_as_codec_md_says_and_wide_does_not),
		cmocka_unit_test(
			xor10_accepts_half_of_all_drops_followed_by_a_flip_of_the_lowest_bit),
		cmocka_unit_test(
			no_one_or_two_wrong_bits_pass_for_a_slip_with_wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
