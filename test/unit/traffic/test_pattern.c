/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_pattern.h"

static uint64_t mem[16384];
static struct rl_prng prng;

static struct rl_pattern
make(const struct rl_pattern_cfg *c)
{
	struct rl_pattern p;

	assert_true(rl_pattern_memsize(c) <= sizeof(mem));
	assert_int_equal(rl_pattern_init(&p, c, mem), 0);
	rl_prng_seed(&prng, 7);
	return p;
}

static void
uniform_reaches_everyone_else_alike(void **state)
{
	const struct rl_pattern_cfg c = { .kind = RL_PATTERN_UNIFORM,
					  .nep = 11 };
	struct rl_pattern p = make(&c);
	unsigned int hits[11] = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 11000; i++)
		hits[rl_pattern_dst(&p, 4, &prng)]++;
	assert_int_equal(hits[4], 0);
	for (unsigned int i = 0; i < 11; i++)
		if (i != 4)
			assert_in_range(hits[i], 950, 1250);
}

static void
a_permutation_has_no_fixed_point_and_hits_each_once(void **state)
{
	(void)state;
	for (uint32_t nep = 2; nep < 40; nep++)
		for (uint64_t seed = 0; seed < 50; seed++) {
			const struct rl_pattern_cfg c = {
				.kind = RL_PATTERN_PERMUTATION,
				.nep = nep,
				.seed = seed,
			};
			struct rl_pattern p = make(&c);
			bool hit[40] = { false };

			for (uint32_t i = 0; i < nep; i++) {
				const uint32_t d = rl_pattern_dst(&p, i, &prng);

				assert_true(d < nep && d != i && !hit[d]);
				hit[d] = true;
			}
		}
}

static void
tornado_goes_nearly_half_way_round_in_each_dimension(void **state)
{
	const struct rl_pattern_cfg ring = { .kind = RL_PATTERN_TORNADO,
					     .nep = 8 };
	const struct rl_pattern_cfg grid = {
		.kind = RL_PATTERN_TORNADO,
		.nep = 8 * 5 * 2,
		.ndims = 2,
		.dims = { 8, 5 },
		.hosts_per_switch = 2,
	};
	const struct rl_pattern_cfg tiny = { .kind = RL_PATTERN_TORNADO,
					     .nep = 2 };
	const struct rl_pattern_cfg flat = {
		.kind = RL_PATTERN_TORNADO,
		.nep = 4,
		.ndims = 2,
		.dims = { 4, 1 },
		.hosts_per_switch = 1,
	};
	struct rl_pattern p = make(&ring);

	(void)state;
	assert_int_equal(rl_pattern_dst(&p, 0, &prng), 3);
	assert_int_equal(rl_pattern_dst(&p, 6, &prng), 1);
	p = make(&grid);
	/* (1, 4), host 1: to (4, 1), host 1 */
	assert_int_equal(rl_pattern_dst(&p, (1 * 5 + 4) * 2 + 1, &prng),
			 (4 * 5 + 1) * 2 + 1);
	p = make(&tiny); /* half of two, less one, would be nowhere */
	assert_int_equal(rl_pattern_dst(&p, 0, &prng), 1);
	assert_int_equal(rl_pattern_dst(&p, 1, &prng), 0);
	p = make(&flat); /* 4 round, 1 across: a ring of one moves nothing */
	assert_int_equal(rl_pattern_dst(&p, 0, &prng), 1);
}

/* Each would send to itself, so none sends anything. */
static void
a_tornado_of_rings_of_one_is_refused(void **state)
{
	struct rl_pattern_cfg c = {
		.kind = RL_PATTERN_TORNADO,
		.nep = 3,
		.ndims = 3,
		.dims = { 1, 1, 1 },
		.hosts_per_switch = 3,
	};
	uint64_t room[8];
	struct rl_pattern p;

	(void)state;
	assert_int_equal(rl_pattern_init(&p, &c, room), -EINVAL);
	c.dims[2] = 2;
	c.nep = 6;
	assert_int_equal(rl_pattern_init(&p, &c, room), 0);
	assert_int_equal(rl_pattern_dst(&p, 1, &prng), 4);
}

static void
transpose_moves_each_coordinate_to_the_next_dimension(void **state)
{
	const struct rl_pattern_cfg flat = {
		.kind = RL_PATTERN_TRANSPOSE,
		.nep = 8 * 8 * 2,
		.ndims = 2,
		.dims = { 8, 8 },
		.hosts_per_switch = 2,
	};
	const struct rl_pattern_cfg cube = {
		.kind = RL_PATTERN_TRANSPOSE,
		.nep = 4 * 4 * 4,
		.ndims = 3,
		.dims = { 4, 4, 4 },
	};
	struct rl_pattern p = make(&flat);

	(void)state;
	/* (2, 7), host 1: to (7, 2), host 1 */
	assert_int_equal(rl_pattern_dst(&p, (2 * 8 + 7) * 2 + 1, &prng),
			 (7 * 8 + 2) * 2 + 1);
	assert_int_equal(rl_pattern_dst(&p, (3 * 8 + 3) * 2, &prng),
			 RL_PATTERN_NONE);
	p = make(&cube);
	/* (1, 2, 3) to (2, 3, 1) */
	assert_int_equal(rl_pattern_dst(&p, 1 * 16 + 2 * 4 + 3, &prng),
			 2 * 16 + 3 * 4 + 1);
}

static void
transpose_swaps_the_halves_of_a_number_in_a_row(void **state)
{
	struct rl_pattern_cfg c = { .kind = RL_PATTERN_TRANSPOSE, .nep = 64 };
	struct rl_pattern p = make(&c);

	(void)state;
	for (uint32_t i = 0; i < 64; i++) {
		const uint32_t d = (i & 7) << 3 | i >> 3;

		assert_int_equal(rl_pattern_dst(&p, i, &prng),
				 d == i ? RL_PATTERN_NONE : d);
	}
	/* not only powers of two: 1 of 3 x 3 is (0, 1) */
	c.nep = 9;
	p = make(&c);
	assert_int_equal(rl_pattern_dst(&p, 1, &prng), 3);
	/* a ring of 9 switches is such a row, too */
	c = (struct rl_pattern_cfg){ .kind = RL_PATTERN_TRANSPOSE,
				     .nep = 18,
				     .ndims = 1,
				     .dims = { 9 },
				     .hosts_per_switch = 2 };
	p = make(&c);
	assert_int_equal(rl_pattern_dst(&p, 2 * 1 + 1, &prng), 2 * 3 + 1);
}

static void
bit_complement_mirrors_any_number_of_endpoints(void **state)
{
	struct rl_pattern_cfg c = { .kind = RL_PATTERN_BIT_COMPLEMENT };

	(void)state;
	for (c.nep = 2; c.nep < 70; c.nep++) {
		const struct rl_pattern p = make(&c);

		for (uint32_t i = 0; i < c.nep; i++) {
			const uint32_t d = c.nep - 1 - i;

			assert_int_equal(rl_pattern_dst(&p, i, &prng),
					 d == i ? RL_PATTERN_NONE : d);
			if ((c.nep & (c.nep - 1)) == 0)
				assert_int_equal(d, i ^ (c.nep - 1));
		}
	}
}

static void
a_hotspot_gets_its_share(void **state)
{
	const struct rl_pattern_cfg c = {
		.kind = RL_PATTERN_HOTSPOT,
		.nep = 100,
		.hot_count = 2,
		.hot_pct = 40,
		.seed = 3,
	};
	struct rl_pattern p = make(&c);
	unsigned int hits[100] = { 0 }, hot = 0;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		const uint32_t src = i % 100;
		const uint32_t d = rl_pattern_dst(&p, src, &prng);

		assert_true(d < 100 && d != src);
		hits[d]++;
	}
	for (unsigned int i = 0; i < 100; i++)
		if (hits[i] > 10000) {
			assert_in_range(hits[i], 19000, 22500);
			hot++;
		}
	assert_int_equal(hot, 2);
}

static void
incast_has_one_silent_target(void **state)
{
	const struct rl_pattern_cfg c = { .kind = RL_PATTERN_INCAST,
					  .nep = 9,
					  .target = 5 };
	struct rl_pattern p = make(&c);

	(void)state;
	for (uint32_t i = 0; i < 9; i++)
		assert_int_equal(rl_pattern_dst(&p, i, &prng),
				 i == 5 ? RL_PATTERN_NONE : 5);
}

static void
a_list_is_followed_and_others_are_silent(void **state)
{
	const struct rl_pattern_pair pair[] = { { 3, 0 }, { 1, 2 }, { 3, 1 } };
	const struct rl_pattern_cfg c = { .kind = RL_PATTERN_PAIRS,
					  .nep = 5,
					  .pair = pair,
					  .npairs = 3 };
	struct rl_pattern p = make(&c);
	unsigned int hits[5] = { 0 };

	(void)state;
	assert_int_equal(rl_pattern_dst(&p, 1, &prng), 2);
	for (uint32_t i = 0; i < 5; i += 2)
		assert_int_equal(rl_pattern_dst(&p, i, &prng), RL_PATTERN_NONE);
	for (unsigned int i = 0; i < 1000; i++)
		hits[rl_pattern_dst(&p, 3, &prng)]++;
	assert_in_range(hits[0], 430, 570);
	assert_int_equal(hits[0] + hits[1], 1000);
}

static void
what_makes_no_sense_is_refused(void **state)
{
	const struct rl_pattern_pair self[] = { { 1, 1 } }, far[] = { { 0, 4 } };
	const struct rl_pattern_cfg bad[] = {
		{ .kind = RL_PATTERN_UNIFORM, .nep = 1 },
		{ .kind = RL_PATTERN_UNIFORM, .nep = 65536 },
		{ .kind = RL_PATTERN_COUNT, .nep = 4 },
		{ .kind = RL_PATTERN_INCAST, .nep = 4, .target = 4 },
		{ .kind = RL_PATTERN_HOTSPOT, .nep = 4, .hot_pct = 101 },
		{ .kind = RL_PATTERN_HOTSPOT, .nep = 4, .hot_count = 5 },
		{ .kind = RL_PATTERN_PAIRS, .nep = 4 },
		{ .kind = RL_PATTERN_PAIRS, .nep = 4, .pair = self, .npairs = 1 },
		{ .kind = RL_PATTERN_PAIRS, .nep = 4, .pair = far, .npairs = 1 },
		{ .kind = RL_PATTERN_TORNADO, .nep = 9, .ndims = 2,
		  .dims = { 3, 4 } },
		{ .kind = RL_PATTERN_TORNADO, .nep = 9, .ndims = 4 },
		/* no square */
		{ .kind = RL_PATTERN_TRANSPOSE, .nep = 2 },
		{ .kind = RL_PATTERN_TRANSPOSE, .nep = 5 },
		{ .kind = RL_PATTERN_TRANSPOSE, .nep = 8, .ndims = 1,
		  .dims = { 8 } },
		{ .kind = RL_PATTERN_TRANSPOSE, .nep = 32, .ndims = 2,
		  .dims = { 8, 4 } },
		{ .kind = RL_PATTERN_TRANSPOSE, .nep = 4, .ndims = 3,
		  .dims = { 2, 2, 1 } },
		{ .kind = RL_PATTERN_TRANSPOSE, .nep = 9, .ndims = 4 },
		/* all would send to themselves */
		{ .kind = RL_PATTERN_TRANSPOSE, .nep = 4, .ndims = 2,
		  .dims = { 1, 1 }, .hosts_per_switch = 4 },
	};
	struct rl_pattern p;

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(bad); i++)
		assert_int_equal(rl_pattern_init(&p, &bad[i], mem), -EINVAL);
}

static void
words_and_kinds_name_each_other(void **state)
{
	(void)state;
	for (int k = 0; k < RL_PATTERN_PAIRS; k++)
		assert_int_equal(rl_pattern_parse(rl_pattern_name(
					 (enum rl_pattern_kind)k)), k);
	assert_int_equal(rl_pattern_parse("whirl"), -EINVAL);
	/* a list has no words for its pairs */
	assert_int_equal(rl_pattern_parse(rl_pattern_name(RL_PATTERN_PAIRS)),
			 -EINVAL);
}

static void
all_words_stand_in_one_sentence(void **state)
{
	char text[256], few[12];

	(void)state;
	assert_string_equal(rl_pattern_words(text, sizeof(text)),
			    "uniform, permutation, tornado, hotspot, incast, "
			    "transpose or bit-complement");
	assert_string_equal(rl_pattern_words(few, sizeof(few)), "uniform, pe");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uniform_reaches_everyone_else_alike),
		cmocka_unit_test(a_permutation_has_no_fixed_point_and_hits_each_once),
		cmocka_unit_test(tornado_goes_nearly_half_way_round_in_each_dimension),
		cmocka_unit_test(a_tornado_of_rings_of_one_is_refused),
		cmocka_unit_test(transpose_moves_each_coordinate_to_the_next_dimension),
		cmocka_unit_test(transpose_swaps_the_halves_of_a_number_in_a_row),
		cmocka_unit_test(bit_complement_mirrors_any_number_of_endpoints),
		cmocka_unit_test(a_hotspot_gets_its_share),
		cmocka_unit_test(incast_has_one_silent_target),
		cmocka_unit_test(a_list_is_followed_and_others_are_silent),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(words_and_kinds_name_each_other),
		cmocka_unit_test(all_words_stand_in_one_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
