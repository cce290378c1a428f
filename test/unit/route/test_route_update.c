/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables brought up to date after failures, one at a time [ROUTE-6]: each time
 * the checker finds them whole and free of loops, detours included, the paths
 * about as good as if all were computed anew, and a detour around whatever
 * link dies next, wherever there is one.
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check.h"
#include "rl_prng.h"
#include "route_fixture.h"

#define NDEV_MAX 400

static struct rl_check_report rep, fresh_rep;

static void
fail_one(struct rl_topo *t, struct rl_prng *p)
{
	uint32_t l;

	if (rl_prng_below(p, 6) == 0) {
		t->dev[rl_prng_below(p, t->ndev - t->nep)].failed = true;
		return;
	}
	/* Now and then that of an endpoint: it is gone, the others go on. */
	do
		l = rl_prng_below(p, t->nlink);
	while (t->link[l].kind != RL_LINK_ISL && rl_prng_below(p, 8) != 0);
	t->link[l].failed = true;
}

/* What local detours leave uncovered, whatever one link dies. */
static uint64_t
uncovered(const struct rl_check_in *in)
{
	struct rl_check_detours d;

	assert_int_equal(rl_check_detours(in, RL_CHECK_LINK, &d), 0);
	assert_true(d.connected > 0);
	return d.connected - d.covered;
}

/* A link dies that the tables don't know of: what was under way before and
 * what goes round it are in the fabric together. */
static void
expect_no_loop_without(const struct rl_topo *t, const struct rl_route *r,
		       uint32_t link, const char *what)
{
	const struct rl_check_in in = {.topo = t, .fwd = r->fwd,
				       .dead = &link, .ndead = 1};

	if (rl_topo_link_up(t, link) &&
	    rl_check(&in, &fresh_rep) == -ELOOP)
		fail_msg("%s: without link %u a cycle of %u", what, link,
			 fresh_rep.cycle_len);
}

/* The tables are right, and good: compared with new ones. */
static void
expect_good(const struct rl_topo *t, const struct rl_route *r, const char *what)
{
	struct rl_route *fresh = fix_route(t, r->engine, 8);
	struct rl_check_in in = {.topo = t, .fwd = r->fwd, .stretch = true};

	if (rl_check(&in, &rep) != 0)
		fail_msg("%s: %llu of %llu, %s, cycle of %u", what,
			 (unsigned long long)rep.reachable,
			 (unsigned long long)rep.pairs,
			 rep.lost_why != NULL ? rep.lost_why : "",
			 rep.cycle_len);
	assert_true(rep.nvls <= 3);
	in.alts = RL_CHECK_ALL;
	if (rl_check(&in, &fresh_rep) == -ELOOP)
		fail_msg("%s: detours have a cycle of %u", what,
			 fresh_rep.cycle_len);
	for (uint32_t l = t->nep; l < t->nlink; l += 7)
		expect_no_loop_without(t, r, l, what);
	in.alts = RL_CHECK_FIRST;
	if (uncovered(&in) != 0)
		fail_msg("%s: %llu ways without a detour", what,
			 (unsigned long long)uncovered(&in));
	in.fwd = fresh->fwd;
	assert_int_equal(uncovered(&in), 0);
	assert_int_equal(rl_check(&in, &fresh_rep), 0);
	assert_int_equal(rep.pairs, fresh_rep.pairs);
	assert_true(rep.stretch_mean < fresh_rep.stretch_mean * 1.08);
	rl_route_free(fresh);
}

/* Devices that are said not to have changed have not. */
static void
expect_unchanged(const struct rl_topo *t, const struct rl_route *r,
		 const struct rl_route *before, const bool *changed)
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < t->ndev; d++) {
		const struct rl_fwd *a = &before->fwd[d], *b = &r->fwd[d];

		n += changed[d];
		if (changed[d])
			continue;
		for (unsigned int p = 0; p < 4; p++)
			for (uint16_t e = 0; e < t->nep; e++)
				assert_memory_equal(rl_fwd_lookup(a, p, e),
						    rl_fwd_lookup(b, p, e),
						    sizeof(struct rl_fwd_entry));
		if (a->path_sl != NULL)
			assert_memory_equal(a->path_sl, b->path_sl, t->nep);
	}
	assert_true(n > 0);
}

static void
campaign(bool wrap, unsigned int x, unsigned int y, unsigned int z,
	 unsigned int links, unsigned int hosts, uint64_t seeds)
{
	bool changed[NDEV_MAX];
	uint32_t patched = 0;

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		char what[64], err[RL_ERR_MAX];
		struct rl_route *r;
		struct rl_prng p;
		struct rl_topo t;

		rl_prng_seed(&p, seed);
		fix_grid_hosts(&t, wrap, x, y, z, links, hosts);
		assert_true(t.ndev <= NDEV_MAX);
		r = fix_route(&t, "reflit", 8);
		for (int step = 0; step < 6; step++) {
			struct rl_route *before = fix_route(&t, "reflit", 8);
			int ret;

			fail_one(&t, &p);
			memset(changed, 0, sizeof(changed));
			snprintf(what, sizeof(what), "%ux%ux%u seed %u step "
				 "%d", x, y, z, (unsigned int)seed, step);
			ret = rl_route_update(r, &t, changed, err);
			if (ret < 0) {
				assert_int_equal(ret, -EHOSTUNREACH);
				rl_route_free(before);
				break;
			}
			patched += ret == 0;
			expect_good(&t, r, what);
			if (ret == 0 && step == 0)
				expect_unchanged(&t, r, before, changed);
			rl_route_free(before);
		}
		rl_route_free(r);
		rl_topo_free(&t);
	}
	assert_true(patched > seeds);
}

static void
after_each_failure_the_tables_are_whole_and_free_of_loops(void **state)
{
	(void)state;
	campaign(true, 6, 6, 0, 1, 1, 40);
	campaign(false, 5, 6, 0, 1, 1, 40);
	campaign(true, 4, 3, 4, 1, 1, 20);
	campaign(true, 5, 5, 0, 2, 1, 20);
	campaign(true, 2, 4, 3, 1, 1, 20);
	campaign(true, 4, 5, 0, 1, 3, 10);
}

static void
what_works_again_is_computed_anew(void **state)
{
	char err[RL_ERR_MAX];
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 4, 4, 0, 1);
	fix_fail(&t, "s1.1-s2.1");
	r = fix_route(&t, "reflit", 8);
	assert_int_equal(rl_topo_heal(&t, "s1.1-s2.1", err), 0);
	assert_int_equal(rl_route_update(r, &t, NULL, err), 1);
	assert_int_equal(r->epoch, 1);
	expect_good(&t, r, "healed");
	/* Nothing changed: nothing to do, but a new number. */
	assert_int_equal(rl_route_update(r, &t, NULL, err), 0);
	assert_int_equal(r->epoch, 2);
	assert_int_equal(r->fwd[3].epoch, 2);
	rl_route_free(r);
	rl_topo_free(&t);
}

static void
a_refusal_leaves_the_tables_as_they_were(void **state)
{
	const struct rl_fwd_entry *was;
	struct rl_fwd_entry copy;
	char err[RL_ERR_MAX] = "";
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, false, 4, 0, 0, 1);
	r = fix_route(&t, "reflit", 8);
	was = rl_fwd_lookup(&r->fwd[1], 0, 3);
	copy = *was;
	fix_fail(&t, "s1-s2");
	assert_int_equal(rl_route_update(r, &t, NULL, err), -EHOSTUNREACH);
	assert_non_null(strstr(err, "separate parts"));
	assert_memory_equal(was, &copy, sizeof(copy));
	assert_int_equal(r->epoch, 0);
	rl_route_free(r);
	rl_topo_free(&t);
}

static void
other_engines_compute_all_anew(void **state)
{
	static const char *const engines[] = {"updown", "torus-2qos"};
	char err[RL_ERR_MAX];

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(engines); i++) {
		struct rl_route *r;
		struct rl_topo t;

		fix_grid(&t, true, 4, 4, 0, 1);
		r = fix_route(&t, engines[i], 8);
		fix_fail(&t, "s1.1-s2.1");
		assert_int_equal(rl_route_update(r, &t, NULL, err), 1);
		assert_string_equal(r->engine, engines[i]);
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_each_failure_the_tables_are_whole_and_free_of_loops),
		cmocka_unit_test(what_works_again_is_computed_anew),
		cmocka_unit_test(a_refusal_leaves_the_tables_as_they_were),
		cmocka_unit_test(other_engines_compute_all_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
