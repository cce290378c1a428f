/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The witness of altered flits [SW-5]: what it sees whatever a flit's number,
 * what it cannot see, and which flits it looks at.
 */

#include <string.h>

#include "codec_test.h"
#include "rl_witness.h"

#define FLITS RL_WITNESS_BURST

struct row {
	uint8_t mem[FLITS][RL_FLIT_BYTES];
	uint8_t *flit[FLITS];
	uint8_t says[FLITS];
};

/* Flits of any content, each with a number of its own. */
static void
fill(struct row *r, const struct rl_codec *c, struct rl_prng *p)
{
	uint32_t seq[FLITS];

	for (unsigned int i = 0; i < FLITS; i++) {
		r->flit[i] = r->mem[i];
		random_bytes(p, r->mem[i], RL_FLIT_BYTES);
		seq[i] = (uint32_t)rl_prng_u64(p);
	}
	rl_codec_tx(c, r->flit, seq, FLITS);
}

/* Flips @p n different bits of bytes 0-249, and makes FEC good again. */
static void
alter(const struct rl_codec *c, struct rl_prng *p, uint8_t *flit,
      unsigned int n)
{
	uint8_t was[RL_FLIT_BYTES];

	memcpy(was, flit, sizeof(was));
	while (n > 0) {
		const uint32_t bit = rl_prng_below(p, CODE_BITS);
		const uint8_t mask = (uint8_t)(1u << bit % 8);

		if ((flit[bit / 8] ^ was[bit / 8]) & mask)
			continue;
		flit[bit / 8] ^= mask;
		n--;
	}
	rl_codec_fec_encode(c, flit);
}

static void
expect(const struct row *r, enum rl_witness says)
{
	for (unsigned int i = 0; i < FLITS; i++)
		assert_int_equal(r->says[i], says);
}

/* Each instruction set, CRC and mixing that go together. */
static void
each_codec(void (*check)(const struct rl_codec *c, enum rl_isn_kind isn,
			 struct rl_prng *p))
{
	struct rl_prng p;

	rl_prng_seed(&p, 29);
	for (int isa = 0; isa < RL_ISA_COUNT; isa++)
		for (int crc = 0; crc < CRC_KINDS; crc++)
			for (int isn = 0; isn < ISN_KINDS; isn++) {
				struct rl_codec *c = codec_new(crc, isn, isa);

				if (c == NULL)
					continue;
				check(c, isn, &p);
				free(c);
			}
}

static void
check_intact(const struct rl_codec *c, enum rl_isn_kind isn, struct rl_prng *p)
{
	struct row r;

	(void)isn;
	for (unsigned int i = 0; i < 30; i++) {
		fill(&r, c, p);
		assert_int_equal(rl_codec_witness(c, r.flit, FLITS, r.says), 0);
		expect(&r, RL_WITNESS_INTACT);
	}
}

static void
an_intact_flit_of_any_number_is_intact(void **state)
{
	(void)state;
	each_codec(check_intact);
}

static void
check_mended(const struct rl_codec *c, enum rl_isn_kind isn, struct rl_prng *p)
{
	struct row r, was;

	(void)isn;
	fill(&r, c, p);
	memcpy(was.mem, r.mem, sizeof(was.mem));
	for (unsigned int i = 0; i < FLITS; i++)
		for (unsigned int k = 0; k < 1 + i % 3; k++)
			r.flit[i][20 + i + k] ^= random_change(p);
	assert_int_equal(rl_codec_witness(c, r.flit, FLITS, r.says), FLITS);
	expect(&r, RL_WITNESS_MENDED);
	assert_memory_equal(r.mem, was.mem, sizeof(was.mem));
}

static void
what_fec_corrects_is_mended(void **state)
{
	(void)state;
	each_codec(check_mended);
}

/* By one to nine bits: less than hides any number, but not with xor10. */
static void
check_altered(const struct rl_codec *c, enum rl_isn_kind isn, struct rl_prng *p)
{
	struct row r;

	if (isn == RL_ISN_XOR10)
		return;
	for (unsigned int n = 1; n <= 5; n++) {
		fill(&r, c, p);
		for (unsigned int i = 0; i < FLITS; i++)
			alter(c, p, r.flit[i], n);
		assert_int_equal(rl_codec_witness(c, r.flit, FLITS, r.says),
				 FLITS);
		expect(&r, RL_WITNESS_ALTERED);
	}
}

static void
a_flit_altered_behind_the_back_of_fec_is_seen(void **state)
{
	(void)state;
	each_codec(check_altered);
}

/* Bursts anywhere in bytes 0-249, up to the length that is proven. */
static void
no_burst_of_up_to_53_bits_is_missed_45_with_wide19(void **state)
{
	struct rl_prng p;

	(void)state;
	rl_prng_seed(&p, 30);
	for (int isn = RL_ISN_WIDE; isn <= RL_ISN_WIDE19; isn++) {
		struct rl_codec *c = codec_best(RL_CRC_BCH, isn);
		const uint32_t longest = isn == RL_ISN_WIDE ? 53 : 45;
		struct row r;

		for (unsigned int turn = 0; turn < 400; turn++) {
			fill(&r, c, &p);
			for (unsigned int i = 0; i < FLITS; i++) {
				const uint32_t n =
					1 + rl_prng_below(&p, longest);
				const uint32_t at =
					rl_prng_below(&p, CODE_BITS - n);

				for (uint32_t b = at; b < at + n; b++)
					if (b == at || b == at + n - 1 ||
					    rl_prng_below(&p, 2) == 0)
						r.flit[i][b / 8] ^=
							(uint8_t)(1u << b % 8);
				rl_codec_fec_encode(c, r.flit[i]);
			}
			rl_codec_witness(c, r.flit, FLITS, r.says);
			expect(&r, RL_WITNESS_ALTERED);
		}
		free(c);
	}
}

/* One in 2^54 would pass: none of 10^5 does. */
static void
random_bytes_are_altered(void **state)
{
	struct rl_prng p;

	(void)state;
	rl_prng_seed(&p, 31);
	for (int isn = 0; isn < ISN_KINDS; isn++) {
		struct rl_codec *c = codec_best(RL_CRC_BCH, isn);
		struct row r;

		for (unsigned int turn = 0; turn < 500; turn++) {
			fill(&r, c, &p);
			for (unsigned int i = 0; i < FLITS; i++) {
				random_bytes(&p, r.flit[i], RL_FLIT_BYTES);
				rl_codec_fec_encode(c, r.flit[i]);
			}
			rl_codec_witness(c, r.flit, FLITS, r.says);
			expect(&r, RL_WITNESS_ALTERED);
		}
		free(c);
	}
}

static void
with_xor10_ten_bits_of_the_destination_are_not_seen(void **state)
{
	struct rl_codec *c = codec_best(RL_CRC_BCH, RL_ISN_XOR10);
	struct rl_prng p;
	struct row r;

	(void)state;
	rl_prng_seed(&p, 32);
	fill(&r, c, &p);
	for (unsigned int i = 0; i < FLITS; i++) {
		r.flit[i][2] ^= random_change(&p);
		rl_codec_fec_encode(c, r.flit[i]);
	}
	assert_int_equal(rl_codec_witness(c, r.flit, FLITS, r.says), 0);
	free(c);
}

static void
what_fec_cannot_correct_is_altered_and_a_token_is_not_looked_at(void **state)
{
	struct rl_codec *c = codec_best(RL_CRC_BCH, RL_ISN_WIDE);
	struct rl_prng p;
	struct row r;

	(void)state;
	rl_prng_seed(&p, 33);
	fill(&r, c, &p);
	for (unsigned int k = 0; k < 12; k++)
		r.flit[0][40 + k] ^= (uint8_t)(0x11 + 7 * k * k);
	memset(r.flit[1], 0, RL_FLIT_BYTES);
	rl_put16(r.flit[1] + 2, RL_EP_TOKEN);
	rl_put16(r.flit[1] + 4, RL_EP_TOKEN);
	rl_codec_fec_encode(c, r.flit[1]);
	assert_int_equal(rl_codec_witness(c, r.flit, FLITS, r.says), 1);
	assert_int_equal(r.says[0], RL_WITNESS_ALTERED);
	assert_int_equal(r.says[1], RL_WITNESS_INTACT);
	assert_int_equal(rl_codec_witness(c, r.flit, 0, r.says), 0);
	free(c);
}

/* Flits of packets of 1 to 8, of some flows; @return how many were picked. */
static uint32_t
picks(uint32_t one_in, uint32_t n)
{
	uint8_t flit[RL_FLIT_BYTES] = { 0 };
	uint32_t picked = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct rl_txn t = {
			.dst = (uint16_t)(i % 7), .src = (uint16_t)(i % 5),
			.tag = i / 8, .pos = (uint16_t)(i % (1 + i / 8 % 8)),
			.len_flits = (uint16_t)(1 + i / 8 % 8),
		};

		rl_txn_put(flit, &t);
		picked += rl_witness_picks(one_in, flit);
	}
	return picked;
}

static void
one_flit_in_n_is_picked_by_its_header_alone(void **state)
{
	uint8_t flit[RL_FLIT_BYTES], other[RL_FLIT_BYTES];
	struct rl_prng p;

	(void)state;
	assert_int_equal(picks(0, 1000), 0);
	assert_int_equal(picks(1, 1000), 1000);
	for (uint32_t n = 2; n <= 1024; n *= 2)
		assert_in_range(picks(n, 1 << 18), (1u << 18) / n * 4 / 5,
				(1u << 18) / n * 6 / 5);
	rl_prng_seed(&p, 34);
	for (unsigned int i = 0; i < 1000; i++) {
		random_bytes(&p, flit, sizeof(flit));
		random_bytes(&p, other, sizeof(other));
		memcpy(other + 2, flit + 2, RL_FLIT_TXN_BYTES);
		other[9] = flit[9] ^ 1; /* an ACK rides there */
		assert_int_equal(rl_witness_picks(16, flit),
				 rl_witness_picks(16, other));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_intact_flit_of_any_number_is_intact),
		cmocka_unit_test(what_fec_corrects_is_mended),
		cmocka_unit_test(a_flit_altered_behind_the_back_of_fec_is_seen),
		cmocka_unit_test(
			no_burst_of_up_to_53_bits_is_missed_45_with_wide19),
		cmocka_unit_test(random_bytes_are_altered),
		cmocka_unit_test(
			with_xor10_ten_bits_of_the_destination_are_not_seen),
		cmocka_unit_test(
			what_fec_cannot_correct_is_altered_and_a_token_is_not_looked_at),
		cmocka_unit_test(one_flit_in_n_is_picked_by_its_header_alone),
	};

	return cmocka_run_group_tests_name("witness of altered flits [SW-5]",
					   tests, NULL, NULL);
}
