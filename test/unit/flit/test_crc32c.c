/* SPDX-License-Identifier: BSD-3-Clause */

/* The check of frame headers [FLIT-3]. */

#include <string.h>

#include "codec_test.h"
#include "rl_crc32c.h"

/* Bit by bit, as the definition reads. */
static uint32_t
plain_crc32c(const uint8_t *p, size_t n)
{
	uint32_t c = ~0u;

	for (size_t i = 0; i < n; i++) {
		c ^= p[i];
		for (int k = 0; k < 8; k++)
			c = (c >> 1) ^ (c & 1 ? 0x82f63b78u : 0);
	}
	return ~c;
}

static void
published_vectors_come_out(void **state)
{
	uint8_t up[32], zero[32] = { 0 }, ones[32];

	(void)state;
	memset(ones, 0xff, sizeof(ones));
	for (int i = 0; i < 32; i++)
		up[i] = (uint8_t)i;
	/* the last three are those of RFC 3720, B.4 */
	for (int hw = 0; hw <= rl_crc32c_hw(); hw++) {
		assert_int_equal(rl_crc32c("123456789", 9, hw), 0xe3069283);
		assert_int_equal(rl_crc32c("", 0, hw), 0);
		assert_int_equal(rl_crc32c(zero, 32, hw), 0x8a9136aa);
		assert_int_equal(rl_crc32c(ones, 32, hw), 0x62a8ab43);
		assert_int_equal(rl_crc32c(up, 32, hw), 0x46dd794e);
	}
}

static void
both_implementations_agree_with_the_definition_at_any_length_and_alignment(
	void **state)
{
	struct rl_prng p;
	uint8_t b[320];

	(void)state;
	rl_prng_seed(&p, 1);
	random_bytes(&p, b, sizeof(b));
	for (size_t off = 0; off < 9; off++)
		for (size_t n = 0; n <= 300; n++) {
			const uint32_t want = plain_crc32c(b + off, n);

			assert_int_equal(rl_crc32c(b + off, n, false), want);
			if (rl_crc32c_hw())
				assert_int_equal(rl_crc32c(b + off, n, true),
						 want);
		}
}

static void
a_hole_counts_as_zero_wherever_it_lies(void **state)
{
	struct rl_prng p;
	uint8_t b[130], cut[130];

	(void)state;
	rl_prng_seed(&p, 2);
	random_bytes(&p, b, sizeof(b));
	for (size_t n = 8; n <= 120; n++)
		for (size_t hole = 0; (hole & ~7ul) + 8 <= n; hole++) {
			uint32_t want;

			if ((hole & 7) > 4)
				continue;
			memcpy(cut, b, n);
			memset(cut + hole, 0, 4);
			want = plain_crc32c(cut, n);
			assert_int_equal(rl_crc32c_hole(b, n, hole, false),
					 want);
			if (rl_crc32c_hw())
				assert_int_equal(
					rl_crc32c_hole(b, n, hole, true),
					want);
		}
}

static void
the_digest_is_the_same_on_any_cpu_and_sees_every_bit(void **state)
{
	struct rl_prng p;
	uint8_t b[200];

	(void)state;
	rl_prng_seed(&p, 3);
	random_bytes(&p, b, sizeof(b));
	for (size_t n = 0; n <= 190; n++) {
		const uint32_t want = rl_crc32c_lanes(b + n % 9, n, false);

		if (rl_crc32c_hw())
			assert_int_equal(rl_crc32c_lanes(b + n % 9, n, true),
					 want);
		for (size_t bit = 0; bit < 8 * n; bit += 7) {
			b[n % 9 + bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_int_not_equal(
				rl_crc32c_lanes(b + n % 9, n, false), want);
			b[n % 9 + bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
	/* words that change places are seen, of one lane and of two */
	for (size_t k = 1; k < 8; k++) {
		uint8_t c[64];

		memcpy(c, b, sizeof(c));
		memcpy(c, b + 8 * k, 8);
		memcpy(c + 8 * k, b, 8);
		assert_int_not_equal(rl_crc32c_lanes(c, 64, false),
				     rl_crc32c_lanes(b, 64, false));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_vectors_come_out),
		cmocka_unit_test(
			both_implementations_agree_with_the_definition_at_any_length_and_alignment),
		cmocka_unit_test(a_hole_counts_as_zero_wherever_it_lies),
		cmocka_unit_test(
			the_digest_is_the_same_on_any_cpu_and_sees_every_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
