/* SPDX-License-Identifier: BSD-3-Clause */
/* The boards of the DRL patent's Figures 2 and 3 [DRL-10], [ROUTE-1]. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rl_topo.h"

static void
build_ok(const struct rl_topo_spec *spec, struct rl_topo *t)
{
	char err[RL_ERR_MAX] = "";

	if (rl_topo_build(spec, t, err, NULL) != 0)
		fail_msg("not built: %s", err);
}

static void
build_fails(const struct rl_topo_spec *spec, const char *why)
{
	char err[RL_ERR_MAX] = "";
	struct rl_topo t;

	assert_int_equal(rl_topo_build(spec, &t, err, NULL), -EINVAL);
	if (strstr(err, why) == NULL)
		fail_msg("'%s' does not say '%s'", err, why);
}

static bool
joined(const struct rl_topo *t, const char *name)
{
	return rl_topo_find_link(t, name, NULL) >= 0;
}

static void
switch_k_of_each_board_meets_switch_k_of_every_other(void **state)
{
	struct rl_topo_spec spec;
	struct rl_topo t;

	(void)state;
	rl_topo_spec_defaults(&spec, RL_TOPO_BOARDS);
	spec.boards = 4;
	spec.switches_per_board = 3;
	spec.endpoints_per_board = 5;
	spec.links_per_edge[0] = 2;
	build_ok(&spec, &t);
	assert_int_equal(t.ndev, 4 * (3 + 5));
	assert_int_equal(t.nlink, 4 * 5 * 3 + 4 * 3 + 2 * 3 * 6);
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int j = 0; j < 4; j++)
			for (unsigned int k = 0; k < 3; k++)
				for (unsigned int l = 0; l < 3; l++) {
					char name[64];
					unsigned int n = 0;

					if (i == j)
						continue;
					snprintf(name, sizeof(name),
						 "b%u.s%u-b%u.s%u", i, k, j, l);
					assert_int_equal(joined(&t, name),
							 k == l);
					rl_topo_find_link(&t, name, &n);
					assert_int_equal(n, k == l ? 2 : 0);
				}
	rl_topo_free(&t);
}

/*
 * Figure 2: where b0.s1-b2.s1 breaks, there is a way by the third board, and
 * one by another switch of the second board.
 */
static void
figure_2_has_both_of_its_detours(void **state)
{
	static const char *const links[] = {
		"b0.s1-b2.s1",			 /* the link that breaks */
		"b0.s1-b1.s1", "b1.s1-b2.s1",	 /* by the third board */
		"b0.s1-b0.s0", "b0.s0-b2.s0", "b2.s0-b2.s1",
		"b0.c0-b0.s0", "b0.c0-b0.s1",
	};
	struct rl_topo_spec spec;
	struct rl_topo t;

	(void)state;
	rl_topo_spec_defaults(&spec, RL_TOPO_BOARDS);
	build_ok(&spec, &t);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(links); i++)
		assert_true(joined(&t, links[i]));
	assert_int_equal(t.dev[rl_topo_find_dev(&t, "b2.s1")].coord[0], 2);
	assert_int_equal(t.dev[rl_topo_find_dev(&t, "b2.s1")].coord[1], 1);
	assert_int_equal(t.dev[rl_topo_find_dev(&t, "b1.c3")].coord[1], 3);
	rl_topo_free(&t);
}

/*
 * Figure 3: 4 rows of 8 CEs and 12 switches that only CEs join. Where
 * s0-c0.0 breaks, s0 hands the packet to c0.7, which sends it to s11.
 */
static void
figure_3_is_the_default_board(void **state)
{
	struct rl_topo_spec spec;
	struct rl_topo t;

	(void)state;
	rl_topo_spec_defaults(&spec, RL_TOPO_BOARD);
	build_ok(&spec, &t);
	assert_int_equal(t.nep, 32);
	assert_int_equal(t.ndev, 44);
	assert_int_equal(t.nlink, 32 * 12);
	assert_string_equal(t.dev[t.ep_dev[0]].name, "c0.0");
	assert_string_equal(t.dev[t.ep_dev[31]].name, "c3.7");
	assert_true(joined(&t, "s0-c0.0"));
	assert_true(joined(&t, "s0-c0.7"));
	assert_true(joined(&t, "c0.7-s11"));
	assert_true(joined(&t, "s11-c0.0"));
	assert_false(joined(&t, "s0-s11"));
	rl_topo_free(&t);
}

static void
compute_element_i_sees_the_switches_from_i_on(void **state)
{
	struct rl_topo_spec spec;
	struct rl_topo t;

	(void)state;
	rl_topo_spec_defaults(&spec, RL_TOPO_BOARDS);
	spec.switches_per_board = 5;
	spec.endpoints_per_board = 7;
	spec.switches_per_endpoint = 3;
	build_ok(&spec, &t);
	for (unsigned int board = 0; board < 3; board++)
		for (unsigned int i = 0; i < 7; i++)
			for (unsigned int s = 0; s < 5; s++) {
				char name[64];

				snprintf(name, sizeof(name), "b%u.c%u-b%u.s%u",
					 board, i, board, s);
				assert_int_equal(joined(&t, name),
						 (s + 5 - i % 5) % 5 < 3);
			}
	rl_topo_free(&t);
}

/* Two CEs on m of S switches share one where 2m > S, two where 2m > S + 1. */
static void
two_compute_elements_share_a_switch_if_they_see_more_than_half(void **state)
{
	(void)state;
	for (unsigned int m = 2; m <= 12; m++) {
		struct rl_topo_spec spec;
		struct rl_topo t;
		unsigned int least = 12;
		char err[RL_ERR_MAX];

		rl_topo_spec_defaults(&spec, RL_TOPO_BOARD);
		spec.switches_per_endpoint = (uint16_t)m;
		build_ok(&spec, &t);
		for (uint32_t a = 0; a < t.nep; a++)
			for (uint32_t b = 0; b < a; b++) {
				unsigned int both = 0;

				for (uint32_t s = 0; s < 12; s++)
					both += rl_topo_link_between(
							&t, s, t.ep_dev[a],
							0) >= 0 &&
						rl_topo_link_between(
							&t, s, t.ep_dev[b],
							0) >= 0;
				least = rl_min_u32(least, both);
			}
		assert_int_equal(least, 2 * m > 12 ? 2 * m - 12 : 0);
		assert_int_equal(rl_topo_reach(&t, RL_REACH_PRISTINE, err),
				 2 * m > 12 ? 0 : -EHOSTUNREACH);
		rl_topo_free(&t);
	}
}

static void
links_between_the_switches_of_a_board_join_what_few_ports_do_not(void **state)
{
	struct rl_topo_spec spec;
	struct rl_topo t;
	char err[RL_ERR_MAX];

	(void)state;
	rl_topo_spec_defaults(&spec, RL_TOPO_BOARD);
	spec.switches_per_endpoint = 2;
	spec.intra_board_links = 1;
	build_ok(&spec, &t);
	assert_int_equal(t.nlink, 32 * 2 + 66);
	assert_int_equal(rl_topo_reach(&t, RL_REACH_PRISTINE, err), 0);
	rl_topo_free(&t);
}

static void
boards_that_cannot_be_are_refused(void **state)
{
	struct rl_topo_spec spec;

	(void)state;
	rl_topo_spec_defaults(&spec, RL_TOPO_BOARDS);
	spec.boards = 0;
	build_fails(&spec, "at least 1");
	rl_topo_spec_defaults(&spec, RL_TOPO_BOARDS);
	spec.switches_per_endpoint = 3;
	build_fails(&spec, "switches_per_endpoint is 3; a board has 2");
	rl_topo_spec_defaults(&spec, RL_TOPO_BOARD);
	spec.switches_per_endpoint = 1;
	build_fails(&spec, "is at least 2");
	rl_topo_spec_defaults(&spec, RL_TOPO_BOARDS);
	spec.links_per_edge[0] = 0;
	build_fails(&spec, "links_per_edge is 0");
	rl_topo_spec_defaults(&spec, RL_TOPO_BOARDS);
	spec.boards = 65535;
	spec.switches_per_board = 65535;
	spec.endpoints_per_board = 65535;
	spec.links_per_edge[0] = 65535;
	spec.intra_board_links = 65535;
	build_fails(&spec, "at most 65535 devices");
	rl_topo_spec_defaults(&spec, RL_TOPO_BOARDS);
	spec.boards = 10000;
	build_fails(&spec, "links; at most");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switch_k_of_each_board_meets_switch_k_of_every_other),
		cmocka_unit_test(figure_2_has_both_of_its_detours),
		cmocka_unit_test(figure_3_is_the_default_board),
		cmocka_unit_test(compute_element_i_sees_the_switches_from_i_on),
		cmocka_unit_test(two_compute_elements_share_a_switch_if_they_see_more_than_half),
		cmocka_unit_test(links_between_the_switches_of_a_board_join_what_few_ports_do_not),
		cmocka_unit_test(boards_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
