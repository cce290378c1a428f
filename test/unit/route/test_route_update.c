/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables brought up to date after failures and returns, one at a time
 * [ROUTE-6]: each time the checker finds them whole and free of loops, detours
 * included, as good as newly computed tables, with a detour around any link
 * that dies next, if there is one. An argument sets the number of seeds.
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check.h"
#include "rl_prng.h"
#include "route_fixture.h"

#define NDEV_MAX 400

static struct rl_check_report rep, fresh_rep;
static uint64_t seeds = 9;

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

/* Cases without a local detour, over all single dead links. */
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

/* The tables are right: paths, detours, and what one more dead link makes. */
static void
expect_right(const struct rl_topo *t, const struct rl_route *r,
	     const char *what)
{
	struct rl_check_in in = {.topo = t, .fwd = r->fwd, .stretch = true};

	if (rl_check(&in, &rep) != 0)
		fail_msg("%s: %llu of %llu, %s, cycle of %u", what,
			 (unsigned long long)rep.reachable,
			 (unsigned long long)rep.pairs,
			 rep.lost_why != NULL ? rep.lost_why : "",
			 rep.cycle_len);
	in.alts = RL_CHECK_ALL;
	if (rl_check(&in, &fresh_rep) == -ELOOP)
		fail_msg("%s: detours have a cycle of %u", what,
			 fresh_rep.cycle_len);
	for (uint32_t l = t->nep; l < t->nlink; l += 7)
		expect_no_loop_without(t, r, l, what);
	in.alts = RL_CHECK_FIRST;
	if (strcmp(r->engine, "minhop") != 0 && uncovered(&in) != 0)
		fail_msg("%s: %llu ways without a detour", what,
			 (unsigned long long)uncovered(&in));
}

/* ... and as good as new ones: the same pairs, the same lengths and loads. */
static void
expect_good(const struct rl_topo *t, const struct rl_route *r, const char *what)
{
	struct rl_route *fresh = fix_route(t, r->engine, 8);
	struct rl_check_in in = {.topo = t, .fwd = fresh->fwd, .stretch = true};

	assert_int_equal(rl_check(&in, &fresh_rep), 0);
	in.fwd = r->fwd;
	if (rl_check(&in, &rep) != 0)
		fail_msg("%s: %s, cycle of %u", what,
			 rep.lost_why != NULL ? rep.lost_why : "",
			 rep.cycle_len);
	assert_int_equal(rep.pairs, fresh_rep.pairs);
	assert_int_equal(rep.reachable, fresh_rep.reachable);
	assert_int_equal(rep.hops, fresh_rep.hops);
	assert_int_equal(rep.load_max, fresh_rep.load_max);
	assert_int_equal(rep.nvls, fresh_rep.nvls);
	rl_route_free(fresh);
}

/* Devices that are said not to have changed have not. */
static uint32_t
expect_unchanged(const struct rl_topo *t, const struct rl_route *r,
		 const struct rl_route *before, const bool *changed)
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < t->ndev; d++) {
		const struct rl_fwd *a = &before->fwd[d], *b = &r->fwd[d];

		n += changed[d];
		if (changed[d])
			continue;
		assert_memory_equal(a->plane_of, b->plane_of,
				    sizeof(a->plane_of));
		for (uint16_t e = 0; e < t->nep; e++)
			assert_true(rl_fwd_word(a, 0, e) ==
				    rl_fwd_word(b, 0, e));
		if (a->path_sl != NULL)
			assert_memory_equal(a->path_sl, b->path_sl, t->nep);
	}
	return n;
}

/* Something fails, or what has failed works again. */
static void
change_one(struct rl_topo *t, struct rl_prng *p)
{
	if (rl_prng_below(p, 3) != 0) {
		fail_one(t, p);
		return;
	}
	for (int i = 0; i < 200; i++) {
		const uint32_t l = rl_prng_below(p, t->nlink);
		const uint32_t d = rl_prng_below(p, t->ndev - t->nep);

		if (t->dev[d].failed) {
			t->dev[d].failed = false;
			return;
		}
		if (t->link[l].failed) {
			t->link[l].failed = false;
			return;
		}
	}
}

/* One fabric: failures and returns, one after the other. */
static uint32_t
sequence(struct rl_topo *t, const char *engine, uint64_t seed)
{
	bool changed[NDEV_MAX];
	char what[64], err[RL_ERR_MAX];
	struct rl_route *r, *before;
	uint32_t updates = 0;
	struct rl_prng p;

	rl_prng_seed(&p, seed);
	assert_true(t->ndev <= NDEV_MAX);
	r = fix_route(t, engine, 8);
	before = fix_route(t, engine, 8);
	for (int step = 0; step < 6; step++) {
		int ret;

		change_one(t, &p);
		memset(changed, 0, sizeof(changed));
		snprintf(what, sizeof(what), "%s seed %u step %d", engine,
			 (unsigned int)seed, step);
		ret = rl_route_update(r, t, changed, err);
		if (ret < 0) {
			assert_int_equal(ret, -EHOSTUNREACH);
			continue;
		}
		updates++;
		expect_good(t, r, what);
		if (step % 3 == (int)(seed % 3))
			expect_right(t, r, what);
		assert_int_equal(rl_route_accept(r, t, NULL, err), 0);
		expect_unchanged(t, r, before, changed);
		rl_route_free(before);
		assert_int_equal(rl_route_compute(t, engine, 8, &before, err),
				 0);
	}
	rl_route_free(before);
	rl_route_free(r);
	return updates;
}

static void
after_failures_and_returns_tables_are_what_new_ones_are(void **state)
{
	static const struct {
		bool wrap;
		unsigned int x, y, z, links, hosts;
	} shape[] = {
		{true, 6, 6, 0, 1, 1},	{false, 5, 6, 0, 1, 1},
		{true, 4, 3, 4, 1, 1},	{true, 5, 5, 0, 4, 1},
		{true, 2, 4, 3, 2, 1},	{true, 4, 5, 0, 1, 3},
		{true, 6, 0, 0, 5, 2},
	};
	static const char *const engines[] = {"reflit", "updown", "torus-2qos"};
	uint32_t updates = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++)
		for (unsigned int i = 0; i < RL_ARRAY_SIZE(shape); i++) {
			struct rl_topo t;

			fix_grid_hosts(&t, shape[i].wrap, shape[i].x,
				       shape[i].y, shape[i].z, shape[i].links,
				       shape[i].hosts);
			updates += sequence(&t, engines[seed % 3], seed);
			rl_topo_free(&t);
		}
	assert_true(updates > seeds * 7 * 2);
}

/* Three of four parallel links die: the fourth carries all. */
static void
a_live_parallel_link_takes_over_from_all_others(void **state)
{
	struct rl_check_in in = {0};
	char err[RL_ERR_MAX];
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 6, 0, 0, 4);
	r = fix_route(&t, "reflit", 4);
	for (int k = 0; k < 3; k++) {
		char name[32];

		snprintf(name, sizeof(name), "s0-s1#%d", k);
		fix_fail(&t, name);
		assert_int_equal(rl_route_update(r, &t, NULL, err), 0);
	}
	in.topo = &t;
	in.fwd = r->fwd;
	assert_int_equal(rl_check(&in, &rep), 0);
	assert_int_equal(rep.pairs, 30);
	assert_int_equal(rep.reachable, 30);
	rl_route_free(r);
	rl_topo_free(&t);
}

static void
what_works_again_is_computed_again(void **state)
{
	char err[RL_ERR_MAX];
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 4, 4, 0, 1);
	fix_fail(&t, "s1.1-s2.1");
	r = fix_route(&t, "reflit", 8);
	assert_int_equal(rl_topo_heal(&t, "s1.1-s2.1", err), 0);
	assert_int_equal(rl_route_update(r, &t, NULL, err), 0);
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
	uint64_t was;
	char err[RL_ERR_MAX] = "";
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, false, 4, 0, 0, 1);
	r = fix_route(&t, "reflit", 8);
	was = rl_fwd_word(&r->fwd[1], 0, 3);
	fix_fail(&t, "s1-s2");
	assert_int_equal(rl_route_update(r, &t, NULL, err), -EHOSTUNREACH);
	assert_non_null(strstr(err, "separate parts"));
	assert_true(rl_fwd_word(&r->fwd[1], 0, 3) == was);
	assert_int_equal(r->epoch, 0);
	rl_route_free(r);
	rl_topo_free(&t);
}

static void
other_engines_compute_all_again(void **state)
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
		assert_int_equal(rl_route_update(r, &t, NULL, err), 0);
		assert_string_equal(r->engine, engines[i]);
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_failures_and_returns_tables_are_what_new_ones_are),
		cmocka_unit_test(a_live_parallel_link_takes_over_from_all_others),
		cmocka_unit_test(what_works_again_is_computed_again),
		cmocka_unit_test(a_refusal_leaves_the_tables_as_they_were),
		cmocka_unit_test(other_engines_compute_all_again),
	};

	if (argc > 1)
		seeds = strtoull(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
