/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mixes of old and new tables: the verdict is that of the search over all that
 * packets may do, and with the flows held that rl_check_hold() names, the
 * search finds no cycle and no packet that does not arrive. An argument sets
 * the number of seeds.
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check_mix.h"
#include "route_draw.h"

static uint64_t seeds = 60;
static struct rl_check_mix_report rep;

/* A fabric, its tables, and the tables after one more link has died. */
struct change {
	struct rl_topo t;
	struct rl_route *old;
	struct rl_route *new;
	uint32_t dead;
	struct rl_check_mix mix;
};

static bool
change_draw(struct change *c, uint64_t seed, const char *engine)
{
	char err[RL_ERR_MAX];
	struct rl_prng p;

	memset(c, 0, sizeof(*c));
	if (seed % 3 == 0)
		draw_custom(&c->t, seed);
	else
		draw_grid(&c->t, seed);
	rl_prng_seed(&p, seed);
	if (rl_route_compute(&c->t, engine, 8, &c->old, err) != 0)
		return false;
	for (int i = 0; i < 100; i++) {
		c->dead = rl_prng_below(&p, c->t.nlink);
		if (rl_topo_link_up(&c->t, c->dead))
			break;
	}
	c->t.link[c->dead].failed = true;
	if (rl_route_compute(&c->t, engine, 8, &c->new, err) != 0)
		return false;
	c->mix = (struct rl_check_mix){
		.topo = &c->t, .old = c->old->fwd, .fwd = c->new->fwd,
		.old_rank = c->old->rank, .rank = c->new->rank,
		.dead = &c->dead, .ndead = 1};
	return true;
}

static void
change_free(struct change *c)
{
	rl_route_free(c->old);
	rl_route_free(c->new);
	rl_topo_free(&c->t);
}

static void
a_mix_is_judged_as_the_search_judges_it(void **state)
{
	uint64_t loops = 0, fine = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		static struct rl_check_report whole;
		struct change c;

		if (change_draw(&c, seed, seed % 2 ? "reflit" : "updown")) {
			const struct rl_check_in in = {
				.topo = &c.t, .fwd = c.new->fwd,
				.old = c.old->fwd};
			const int want = rl_check(&in, &whole);
			int ret;

			c.mix.ndead = 0;
			ret = rl_check_mix(&c.mix, &rep);
			if (ret != want)
				fail_msg("seed %llu: %d, search says %d",
					 (unsigned long long)seed, ret, want);
			assert_true(ret != -ELOOP || rep.cycle_len != 0);
			assert_true(ret == 0 || rep.wrong != 0 ||
				    rep.cycle_len != 0);
			loops += ret == -ELOOP;
			fine += ret == 0;
		}
		change_free(&c);
	}
	assert_true(loops > seeds / 10);
	assert_true(fine > 0);
}

static void
with_the_flows_held_a_mix_is_proven(void **state)
{
	uint64_t held_some = 0, less = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct rl_flows held;
		struct change c;

		if (!change_draw(&c, seed, seed % 2 ? "reflit" : "updown")) {
			change_free(&c);
			continue;
		}
		assert_int_equal(rl_flows_init(&held, c.t.nep), 0);
		c.mix.alts = seed % 4 == 0 ? RL_CHECK_ALL : RL_CHECK_FIRST;
		assert_int_equal(rl_check_hold(&c.mix, &held, &rep), 0);
		assert_int_equal(rep.held, held.count);
		held_some += held.count != 0;
		less += held.count < rep.touched;
		c.mix.held = &held;
		assert_int_equal(rl_check_mix(&c.mix, &rep), 0);
		assert_int_equal(rep.wrong, 0);
		/* By no ranks: the search alone. */
		c.mix.rank = c.mix.old_rank = NULL;
		if (rl_check_mix(&c.mix, &rep) != 0)
			fail_msg("seed %llu: cycle of %u though %llu are held",
				 (unsigned long long)seed, rep.cycle_len,
				 (unsigned long long)held.count);
		assert_true(rep.order == RL_MIX_BY_FOUND || rep.touched == held.count);
		rl_flows_free(&held);
		change_free(&c);
	}
	assert_true(held_some > seeds / 10);
	assert_true(less > seeds / 10);
}

static void
one_flow_too_few_is_not_enough(void **state)
{
	struct rl_flows held, fewer;
	uint32_t refused = 0;
	struct change c;

	(void)state;
	memset(&c, 0, sizeof(c));
	fix_grid(&c.t, true, 6, 6, 0, 1);
	c.old = fix_route(&c.t, "reflit", 8);
	fix_fail(&c.t, "s2.2-s3.2");
	c.new = fix_route(&c.t, "reflit", 8);
	c.dead = (uint32_t)rl_topo_find_link(&c.t, "s2.2-s3.2", NULL);
	c.mix = (struct rl_check_mix){
		.topo = &c.t, .old = c.old->fwd, .fwd = c.new->fwd,
		.old_rank = c.old->rank, .rank = c.new->rank,
		.dead = &c.dead, .ndead = 1};
	assert_int_equal(rl_flows_init(&held, c.t.nep), 0);
	assert_int_equal(rl_check_hold(&c.mix, &held, &rep), 0);
	assert_true(held.count > 0);
	assert_true(held.count < 36 * 35 / 4);
	assert_int_equal(rl_flows_init(&fewer, c.t.nep), 0);
	for (uint32_t s = 0; s < c.t.nep; s++)
		for (uint32_t e = 0; e < c.t.nep; e++) {
			if (!rl_flows_has(&held, s, e))
				continue;
			memcpy(fewer.bit, held.bit,
			       (size_t)held.nep * held.words * 8);
			fewer.bit[(size_t)s * fewer.words + e / 64] &=
				~(1ull << e % 64);
			c.mix.held = &fewer;
			refused += rl_check_mix(&c.mix, &rep) == -ELOOP;
		}
	/* None is in the set for nothing. */
	assert_int_equal(refused, held.count);
	rl_flows_free(&fewer);
	rl_flows_free(&held);
	change_free(&c);
}

/* Devices that have one of the two for certain take part with that one. */
static void
a_device_that_has_its_tables_is_no_mix(void **state)
{
	uint8_t may[512];
	struct change c;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds / 4; seed++) {
		struct rl_flows held;

		if (change_draw(&c, 3 * seed + 1, "reflit") &&
		    c.t.ndev <= sizeof(may)) {
			assert_int_equal(rl_flows_init(&held, c.t.nep), 0);
			c.mix.may = may;
			memset(may, RL_MIX_NEW, sizeof(may));
			assert_int_equal(rl_check_hold(&c.mix, &held, &rep), 0);
			assert_int_equal(held.count, 0);
			assert_int_equal(rep.touched, 0);
			assert_int_equal(rl_check_mix(&c.mix, &rep), 0);
			memset(may, RL_MIX_OLD, sizeof(may));
			assert_int_equal(rl_check_hold(&c.mix, &held, &rep), 0);
			c.mix.held = &held;
			assert_int_equal(rl_check_mix(&c.mix, &rep), 0);
			rl_flows_free(&held);
		}
		change_free(&c);
	}
}

static void
packets_to_and_fro_between_two_tables_are_named(void **state)
{
	struct rl_flows held;
	struct change c;

	(void)state;
	memset(&c, 0, sizeof(c));
	fix_grid(&c.t, true, 8, 0, 0, 1);
	c.old = fix_route(&c.t, "reflit", 8);
	fix_fail(&c.t, "s2-s3");
	c.new = fix_route(&c.t, "reflit", 8);
	c.mix = (struct rl_check_mix){
		.topo = &c.t, .old = c.old->fwd, .fwd = c.new->fwd,
		.old_rank = c.old->rank, .rank = c.new->rank};
	assert_int_not_equal(rl_check_mix(&c.mix, &rep), 0);
	assert_non_null(rep.why);
	assert_int_equal(rl_flows_init(&held, c.t.nep), 0);
	assert_int_equal(rl_check_hold(&c.mix, &held, &rep), 0);
	/* s1 sends to s3 by s2 in the old, the other way round in the new. */
	assert_true(rl_flows_has(&held, 1, 3));
	assert_false(rl_flows_has(&held, 4, 5));
	rl_flows_free(&held);
	change_free(&c);
}

static void
tables_of_another_fabric_are_refused(void **state)
{
	struct rl_flows held;
	struct rl_topo other;
	struct rl_route *r;
	struct change c;

	(void)state;
	assert_true(change_draw(&c, 1, "updown"));
	fix_grid(&other, true, 3, 3, 3, 1);
	r = fix_route(&other, "updown", 8);
	c.mix.topo = &other;
	c.mix.old = r->fwd;
	((struct rl_fwd *)&r->fwd[0])->ndst = r->fwd[0].ndst;
	((struct rl_fwd *)&r->fwd[other.ep_dev[0]])->ndst = 1;
	c.mix.fwd = r->fwd;
	assert_int_equal(rl_check_mix(&c.mix, &rep), -EINVAL);
	c.mix.rank = c.mix.old_rank = NULL;
	assert_int_equal(rl_flows_init(&held, other.nep), 0);
	assert_int_equal(rl_check_hold(&c.mix, &held, &rep), -EINVAL);
	rl_flows_free(&held);
	rl_route_free(r);
	rl_topo_free(&other);
	change_free(&c);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mix_is_judged_as_the_search_judges_it),
		cmocka_unit_test(with_the_flows_held_a_mix_is_proven),
		cmocka_unit_test(one_flow_too_few_is_not_enough),
		cmocka_unit_test(a_device_that_has_its_tables_is_no_mix),
		cmocka_unit_test(packets_to_and_fro_between_two_tables_are_named),
		cmocka_unit_test(tables_of_another_fabric_are_refused),
	};

	if (argc > 1)
		seeds = strtoull(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
