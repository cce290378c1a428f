/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random faulty fabrics, judged by the checker: whatever an engine accepts is
 * complete and free of loops, and reflit and updown accept whatever is
 * connected [ROUTE-2, ROUTE-3, ROUTE-4]. An argument sets the number of seeds;
 * a failure names the seed, which alone draws the fabric.
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check.h"
#include "route_draw.h"

static uint64_t seeds = 400;

/* @return whether the engine accepted the fabric */
static bool
judge(const struct rl_topo *t, const char *engine, uint64_t seed, bool connected)
{
	static struct rl_check_report rep;
	struct rl_check_in in = {.topo = t, .stretch = true};
	char err[RL_ERR_MAX] = "";
	struct rl_route *r;
	int ret = rl_route_compute(t, engine, 8, &r, err);

	if (ret != 0) {
		assert_int_equal(ret, -EHOSTUNREACH);
		assert_null(r);
		assert_true(strlen(err) > 8);
		return false;
	}
	if (!connected)
		fail_msg("seed %llu: %s routes a fabric in parts",
			 (unsigned long long)seed, engine);
	in.fwd = r->fwd;
	ret = rl_check(&in, &rep);
	if (ret != 0 || rep.nvls > r->vls)
		fail_msg("seed %llu, %s: %d, %llu of %llu, cycle %u, %u VLs",
			 (unsigned long long)seed, engine, ret,
			 (unsigned long long)rep.reachable,
			 (unsigned long long)rep.pairs, rep.cycle_len,
			 rep.nvls);
	if (strcmp(engine, "reflit") == 0)
		assert_true(rep.nvls <= (t->spec.kind == RL_TOPO_CUSTOM ? 6 :
									  4));
	rl_route_free(r);
	return true;
}

static void
what_engines_accept_is_complete_and_free_of_loops(void **state)
{
	uint64_t connected = 0, accepted = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		char err[RL_ERR_MAX];
		struct rl_topo t;
		bool whole;

		draw_grid(&t, seed);
		whole = rl_topo_reach(&t, RL_REACH_WORKING, err) == 0;
		connected += whole;
		if (judge(&t, "reflit", seed, whole) != whole)
			fail_msg("seed %llu: reflit refuses what is connected",
				 (unsigned long long)seed);
		if (judge(&t, "updown", seed, whole) != whole)
			fail_msg("seed %llu: updown refuses what is connected",
				 (unsigned long long)seed);
		accepted += judge(&t, "torus-2qos", seed, whole);
		rl_topo_free(&t);
	}
	/* The drawing is neither too kind nor too cruel. */
	assert_in_range(connected, seeds / 2, seeds - 1);
	assert_in_range(accepted, seeds / 20, connected - 1);
}

static void
free_form_fabrics_are_routed_with_detours_round_any_one_link(void **state)
{
	static struct rl_check_report rep;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct rl_check_detours d;
		struct rl_check_in in = {0};
		char err[RL_ERR_MAX];
		struct rl_topo t;
		bool whole;

		draw_custom(&t, seed);
		whole = rl_topo_reach(&t, RL_REACH_WORKING, err) == 0;
		assert_int_equal(judge(&t, "updown", seed, whole), whole);
		assert_int_equal(judge(&t, "reflit", seed, whole), whole);
		if (whole) {
			struct rl_route *r = fix_route(&t, "updown", 8);

			in.topo = &t;
			in.fwd = r->fwd;
			in.alts = RL_CHECK_ALL;
			if (rl_check(&in, &rep) != 0)
				fail_msg("seed %llu: detours: cycle %u, %s",
					 (unsigned long long)seed,
					 rep.cycle_len, rep.lost_why);
			rl_route_free(r);
			r = fix_route(&t, "reflit", 8);
			in.fwd = r->fwd;
			if (rl_check(&in, &rep) != 0)
				fail_msg("seed %llu: detours: cycle %u, %s",
					 (unsigned long long)seed,
					 rep.cycle_len, rep.lost_why);
			in.alts = RL_CHECK_FIRST;
			rl_check_detours(&in, RL_CHECK_NEIGHBOUR, &d);
			if (d.covered < d.connected)
				fail_msg("seed %llu: %llu of %llu covered",
					 (unsigned long long)seed,
					 (unsigned long long)d.covered,
					 (unsigned long long)d.connected);
			rl_route_free(r);
		}
		rl_topo_free(&t);
	}
}

static void
twenty_links_and_five_switches_of_10x10x10_cost_little(void **state)
{
	static struct rl_check_report rep;
	struct rl_check_in in = {.topo = NULL, .stretch = true};
	struct rl_route *r;
	struct rl_prng p;
	struct rl_topo t;

	(void)state;
	for (uint64_t seed = 1; seed <= (seeds > 1000 ? 20 : 2); seed++) {
		rl_prng_seed(&p, seed);
		fix_grid(&t, true, 10, 10, 10, 1);
		for (int i = 0; i < 5; i++)
			t.dev[rl_prng_below(&p, 1000)].failed = true;
		for (int i = 0; i < 20; i++)
			t.link[1000 + rl_prng_below(&p, 3000)].failed = true;
		r = fix_route(&t, "reflit", 8);
		in.topo = &t;
		in.fwd = r->fwd;
		assert_int_equal(rl_check(&in, &rep), 0);
		assert_int_equal(rep.reachable, rep.pairs);
		assert_true(rep.stretch_mean <= 1.03);
		assert_true(rep.extra_max <= 6);
		assert_int_equal(rep.nvls, 3);
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

/* On small tori with much failed, the first root is not always good enough. */
static void
no_detour_is_more_than_six_links_longer_than_need_be(void **state)
{
	static struct rl_check_report rep;
	struct rl_check_in in = {.topo = NULL, .stretch = true};
	char err[RL_ERR_MAX];
	struct rl_prng p;
	struct rl_topo t;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct rl_route *r;

		rl_prng_seed(&p, seed);
		fix_grid(&t, true, 6, 6, 0, 1);
		for (int i = 0; i < 2; i++)
			t.dev[rl_prng_below(&p, 36)].failed = true;
		for (int i = 0; i < 6; i++)
			t.link[36 + rl_prng_below(&p, 72)].failed = true;
		if (rl_topo_reach(&t, RL_REACH_WORKING, err) != 0) {
			rl_topo_free(&t);
			continue;
		}
		r = fix_route(&t, "reflit", 8);
		in.topo = &t;
		in.fwd = r->fwd;
		assert_int_equal(rl_check(&in, &rep), 0);
		if (rep.extra_max > 6)
			fail_msg("seed %u: e%u to e%u takes %u links more",
				 (unsigned int)seed, rep.extra_src,
				 rep.extra_dst, rep.extra_max);
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

/* Paths on a torus without switch s2.2 and link s4.0-s5.0 that have another SL
 * than on the whole one. *spared: those of them that run neither along y = 0 or
 * y = 2, where something failed, nor down x = 2. */
static uint32_t
changed_sls(unsigned int dims, uint32_t *spared)
{
	struct rl_route *a, *b;
	struct rl_topo t;
	uint32_t changed = 0;

	*spared = 0;
	fix_grid(&t, true, dims, dims, 0, 1);
	a = fix_route(&t, "reflit", 8);
	fix_fail(&t, "s2.2");
	fix_fail(&t, "s4.0-s5.0");
	b = fix_route(&t, "reflit", 8);
	for (uint32_t s = 0; s < t.nep; s++) {
		for (uint32_t d = 0; d < t.nep; d++) {
			const uint8_t was = a->fwd[t.ep_dev[s]].path_sl[d];
			const uint8_t is = b->fwd[t.ep_dev[s]].path_sl[d];
			const uint16_t *cs = t.dev[s].coord;
			const uint16_t *cd = t.dev[d].coord;

			if (t.dev[s].failed || t.dev[d].failed)
				continue;
			changed += was != is;
			if (cs[1] != 0 && cs[1] != 2 && cd[0] != 2)
				*spared += was != is;
		}
	}
	rl_route_free(a);
	rl_route_free(b);
	rl_topo_free(&t);
	return changed;
}

/* On small grids some of them make room on the busiest link. */
static void
paths_that_no_failure_touches_keep_their_sl(void **state)
{
	uint32_t spared;

	(void)state;
	assert_true(changed_sls(17, &spared) > 0);
	assert_int_equal(spared, 0);
	assert_true(changed_sls(6, &spared) > 0);
	assert_in_range(spared, 0, 36 * 36 / 50);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_engines_accept_is_complete_and_free_of_loops),
		cmocka_unit_test(free_form_fabrics_are_routed_with_detours_round_any_one_link),
		cmocka_unit_test(twenty_links_and_five_switches_of_10x10x10_cost_little),
		cmocka_unit_test(no_detour_is_more_than_six_links_longer_than_need_be),
		cmocka_unit_test(paths_that_no_failure_touches_keep_their_sl),
	};

	if (argc > 1)
		seeds = strtoull(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
