/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What no error pattern can do: the distances of the CRCs, alone and with the
 * hidden number [FLIT-5, FLIT-7]. docs/codec.md has the mathematics; here its
 * premises are checked on the code that ships, and its conclusions by
 * exhaustion as far as seconds go. RL_LONG=1 goes further (a minute).
 */

#include <string.h>

#include "linear.h"

/* GF(2^11) by x^11 + x^2 + 1, in which the BCH polynomial has its roots. */
#define FIELD 0x805
#define ORDER 2047
#define CODE_BYTES (CODE_BITS / 8)

static unsigned int
field_mul(unsigned int a, unsigned int b)
{
	unsigned int r = 0;

	for (; b != 0; b >>= 1) {
		r ^= b & 1 ? a : 0;
		a <<= 1;
		a ^= a & 0x800 ? FIELD : 0;
	}
	return r;
}

static unsigned int
field_pow(unsigned int e)
{
	unsigned int r = 1;

	for (; e > 0; e--)
		r = field_mul(r, 2);
	return r;
}

/** Coefficients, the highest in bit 127. */
typedef unsigned __int128 poly_t;

static poly_t
poly_mul(poly_t a, poly_t b)
{
	poly_t r = 0;

	for (; b != 0; b >>= 1, a <<= 1)
		r ^= b & 1 ? a : 0;
	return r;
}

/** The polynomial of least degree with root a^i, and so a^2i, a^4i, ... */
static poly_t
minimal_polynomial(unsigned int i)
{
	unsigned int c[12] = { 1 }, degree = 0, j = i;
	poly_t p = 0;

	do { /* times (x - a^j) */
		const unsigned int root = field_pow(j);

		for (unsigned int k = ++degree; k > 0; k--)
			c[k] = c[k - 1] ^ field_mul(c[k], root);
		c[0] = field_mul(c[0], root);
		j = 2 * j % ORDER;
	} while (j != i);
	for (unsigned int k = 0; k <= degree; k++) {
		assert_true(c[k] <= 1);
		p |= (poly_t)c[k] << k;
	}
	return p;
}

/** A register as a polynomial: bit 63 is the coefficient of x^0. */
static poly_t
poly_of(uint64_t reg)
{
	poly_t p = 0;

	for (int i = 0; i < 64; i++)
		p |= (poly_t)(reg >> i & 1) << (63 - i);
	return p;
}

static unsigned int
poly_at(poly_t p, unsigned int e)
{
	const unsigned int root = field_pow(e);
	unsigned int r = 0;

	for (int i = 127; i >= 0; i--)
		r = field_mul(r, root) ^ (unsigned int)(p >> i & 1);
	return r;
}

static void
the_bch_polynomial_is_the_product_it_is_said_to_be(void **state)
{
	uint64_t syn[CODE_BITS];
	poly_t p = 3; /* x + 1 */

	(void)state;
	for (unsigned int i = 1; i < ORDER; i++)
		assert_int_not_equal(field_pow(i), 1); /* a is primitive */
	for (unsigned int i = 1; i <= 7; i += 2)
		p = poly_mul(p, minimal_polynomial(i));
	assert_int_equal((uint64_t)p, RL_WIDE19_POLY);
	p = poly_mul(p, 0x11d);
	assert_int_equal((uint64_t)p, RL_WIDE_POLY);
	p = poly_mul(p, minimal_polynomial(9));
	assert_true(p >> 64 == 1);
	/* x^64 modulo the generator of the code that ships */
	bit_syndromes(RL_CRC_BCH, syn);
	assert_true(poly_of(syn[CODE_BITS - 65]) == (p ^ (poly_t)1 << 64));
}

static void
bit_k_from_the_end_stands_for_x_to_the_k(void **state)
{
	(void)state;
	for (int crc = RL_CRC_ECMA; crc <= RL_CRC_BCH; crc++) {
		uint64_t syn[CODE_BITS];

		bit_syndromes(crc, syn);
		const poly_t g = poly_of(syn[CODE_BITS - 65]) | (poly_t)1 << 64;

		assert_true(poly_of(syn[CODE_BITS - 1]) == 1);
		for (int i = CODE_BITS - 1; i > 0; i--) {
			poly_t p = poly_of(syn[i]) << 1;

			p ^= p >> 64 ? g : 0;
			assert_true(poly_of(syn[i - 1]) == p);
		}
	}
}

/*
 * The premises of the BCH bound. An error pattern E(x) of degree below 2000,
 * hence below the order of a, passes for another number if E = C modulo g,
 * C the difference of two words. g and C share the roots a^0..a^8, nine in a
 * row: so has E, and has at least ten terms.
 */
static void
words_and_generator_share_nine_roots_in_a_row_so_ten_bits_hide_no_slip(
	void **state)
{
	uint64_t syn[CODE_BITS];

	(void)state;
	bit_syndromes(RL_CRC_BCH, syn);
	const poly_t g = poly_of(syn[CODE_BITS - 65]) | (poly_t)1 << 64;

	/* alone the generator has eleven: at least 12 bits */
	for (unsigned int e = 0; e <= 10; e++)
		assert_int_equal(poly_at(g, e), 0);
	for (int isn = RL_ISN_WIDE; isn <= RL_ISN_WIDE19; isn++)
		for (unsigned int bit = 0; bit < rl_ref_isn_bits(isn); bit++) {
			const poly_t word =
				poly_of(rl_ref_wide_word(isn, 1u << bit));

			for (unsigned int e = 0; e <= 8; e++)
				assert_int_equal(poly_at(word, e), 0);
		}
	/* no difference of two words is 0 modulo g: they are below x^64 */
	for (uint32_t n = 1; n < 1u << 19; n++)
		assert_true(rl_ref_wide_word(RL_ISN_WIDE19, n) != 0);
	for (uint32_t n = 1; n < 1u << 10; n++)
		assert_true(rl_ref_wide_word(RL_ISN_WIDE, n) != 0);
}

static void
an_odd_number_of_wrong_bits_hides_no_slip(void **state)
{
	uint64_t syn[CODE_BITS];

	(void)state;
	/* x + 1 divides all: parity tells */
	bit_syndromes(RL_CRC_BCH, syn);
	for (int i = 0; i < CODE_BITS; i++)
		assert_int_equal(__builtin_parityll(syn[i]), 1);
	for (int isn = RL_ISN_WIDE; isn <= RL_ISN_WIDE19; isn++)
		for (unsigned int b = 0; b < rl_ref_isn_bits(isn); b++)
			assert_int_equal(__builtin_parityll(rl_ref_wide_word(
						 isn, 1u << b)), 0);
}

/** Syndromes with the numbers' share taken out: slips become invisible. */
static void
slip_free_syndromes(enum rl_crc_kind crc, enum rl_isn_kind isn,
		    uint64_t syn[CODE_BITS])
{
	struct basis words;

	bit_syndromes(crc, syn);
	number_basis(crc, isn, &words);
	for (int i = 0; i < CODE_BITS; i++)
		syn[i] = basis_reduce(&words, syn[i]);
}

static void
no_pattern_of_up_to_four_bits_goes_undetected_or_hides_a_slip(void **state)
{
	static uint64_t syn[CODE_BITS];

	(void)state;
	for (int crc = 0; crc < CRC_KINDS; crc++) {
		bit_syndromes(crc, syn);
		assert_true(pairs_differ(syn));
		for (int isn = RL_ISN_WIDE; isn < ISN_KINDS; isn++) {
			if (!rl_ref_supported(crc, isn))
				continue;
			slip_free_syndromes(crc, isn, syn);
			assert_true(pairs_differ(syn));
		}
	}
	/* and the method sees what is there: the alias of xor10 */
	slip_free_syndromes(RL_CRC_BCH, RL_ISN_XOR10, syn);
	assert_false(pairs_differ(syn));
}

/** Whether any @p len bits in a row are independent, and of @p words. */
static bool
bursts_are_seen(const uint64_t syn[CODE_BITS], const struct basis *words,
		int len)
{
	for (int at = 0; at + len <= CODE_BITS; at++) {
		struct basis b = *words;

		for (int i = at; i < at + len; i++)
			if (!basis_add(&b, syn[i]))
				return false;
	}
	return true;
}

static void
every_burst_of_up_to_64_bits_is_detected_and_62_by_the_rs_code(void **state)
{
	static const struct basis none;
	uint64_t syn[CODE_BITS];

	(void)state;
	for (int crc = 0; crc < CRC_KINDS; crc++) {
		const int longest = crc == RL_CRC_PCIE6_RS ? 62 : 64;

		bit_syndromes(crc, syn);
		assert_true(bursts_are_seen(syn, &none, longest));
		assert_false(bursts_are_seen(syn, &none, longest + 1));
	}
}

/* But some burst of one bit more does. */
static void
bursts_hide_no_slip_up_to(enum rl_crc_kind crc, enum rl_isn_kind isn,
			  int longest)
{
	struct basis words;
	uint64_t syn[CODE_BITS];

	bit_syndromes(crc, syn);
	number_basis(crc, isn, &words);
	assert_true(longest == 0 || bursts_are_seen(syn, &words, longest));
	assert_false(bursts_are_seen(syn, &words, longest + 1));
}

static void
no_burst_of_up_to_53_bits_hides_a_slip_with_wide_and_45_with_wide19(
	void **state)
{
	(void)state;
	bursts_hide_no_slip_up_to(RL_CRC_BCH, RL_ISN_WIDE, 53);
	bursts_hide_no_slip_up_to(RL_CRC_BCH, RL_ISN_WIDE19, 45);
	bursts_hide_no_slip_up_to(RL_CRC_BCH, RL_ISN_XOR10, 0);
}

/* With words that are made for another generator. */
static void
no_burst_of_up_to_46_bits_hides_a_slip_with_ecma_and_wide(void **state)
{
	(void)state;
	bursts_hide_no_slip_up_to(RL_CRC_ECMA, RL_ISN_WIDE, 46);
}

/*
 * Value e at byte i must give a polynomial (over GF(2^8)) that equals
 * e x^(249-i) at the eight roots a^1..a^8. Then the code is a Reed-Solomon
 * code of length 250 and distance 9.
 */
static void
the_pcie6_code_has_eight_roots_in_a_row_so_any_eight_bytes_are_seen(
	void **state)
{
	uint64_t syn[CODE_BITS];

	(void)state;
	bit_syndromes(RL_CRC_PCIE6_RS, syn);
	for (int b = 0; b < CODE_BITS; b++)
		for (int j = 1; j <= 8; j++) {
			const uint8_t root = rl_ref_gf_pow(0x12b, 2, j);
			const uint8_t want = rl_ref_gf_mul(
				0x12b, (uint8_t)(1 << b % 8),
				rl_ref_gf_pow(0x12b, root,
					      CODE_BYTES - 1 - b / 8));
			uint8_t at = 0;

			for (int k = 0; k < 8; k++)
				at = rl_ref_gf_mul(0x12b, at, root) ^
				     (uint8_t)(syn[b] >> (8 * k));
			assert_int_equal(at, want);
		}
	/* the columns of different bytes differ: a has order 255 > 250 */
	for (int e = 1; e < 255; e++)
		assert_int_not_equal(rl_ref_gf_pow(0x12b, 2, e), 1);
}

static void
no_pattern_of_up_to_six_bits_hides_a_slip_and_ecma_sees_seven(void **state)
{
	static uint64_t syn[CODE_BITS];
	struct collisions c;

	(void)state;
	for (int isn = RL_ISN_WIDE; isn <= RL_ISN_WIDE19; isn++) {
		slip_free_syndromes(RL_CRC_BCH, isn, syn);
		c = triples_collide(syn, 0);
		print_message("crc64-bch, %s: up to 5 bits %lu, 6 bits %lu\n",
			      isn == RL_ISN_WIDE ? "wide" : "wide19",
			      (unsigned long)c.five, (unsigned long)c.six);
		assert_int_equal(c.five + c.six, 0);
	}
	/* cyclic: a pattern of 7 can be shifted to end with the last bit */
	bit_syndromes(RL_CRC_ECMA, syn);
	c = triples_collide(syn, syn[CODE_BITS - 1]);
	print_message("crc64-ecma alone: up to 5 bits %lu, 6 bits %lu, 7 bits "
		      "%lu\n", (unsigned long)c.five, (unsigned long)c.six,
		      (unsigned long)c.seven);
	assert_int_equal(c.five + c.six + c.seven, 0);
	slip_free_syndromes(RL_CRC_ECMA, RL_ISN_WIDE, syn);
	c = triples_collide(syn, 0);
	print_message("crc64-ecma, wide: up to 5 bits %lu, 6 bits %lu\n",
		      (unsigned long)c.five, (unsigned long)c.six);
	assert_int_equal(c.five, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_bch_polynomial_is_the_product_it_is_said_to_be),
		cmocka_unit_test(bit_k_from_the_end_stands_for_x_to_the_k),
		cmocka_unit_test(
			words_and_generator_share_nine_roots_in_a_row_so_ten_bits_hide_no_slip),
		cmocka_unit_test(an_odd_number_of_wrong_bits_hides_no_slip),
		cmocka_unit_test(
			no_pattern_of_up_to_four_bits_goes_undetected_or_hides_a_slip),
		cmocka_unit_test(
			every_burst_of_up_to_64_bits_is_detected_and_62_by_the_rs_code),
		cmocka_unit_test(
			no_burst_of_up_to_53_bits_hides_a_slip_with_wide_and_45_with_wide19),
		cmocka_unit_test(
			no_burst_of_up_to_46_bits_hides_a_slip_with_ecma_and_wide),
		cmocka_unit_test(
			the_pcie6_code_has_eight_roots_in_a_row_so_any_eight_bytes_are_seen),
	};
	const struct CMUnitTest long_tests[] = {
		cmocka_unit_test(
			no_pattern_of_up_to_six_bits_hides_a_slip_and_ecma_sees_seven),
	};

	if (long_campaign())
		return cmocka_run_group_tests_name("long", long_tests, NULL,
						   NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
