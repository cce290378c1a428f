/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How short and how even paths of engine reflit are beside those of OpenSM's
 * best engine for the same fabric (docs/opensm.md): no longer, and no more of
 * them on the busiest link. And how much room tables take.
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check.h"
#include "route_fixture.h"

static struct rl_check_report rep;

static void
look(struct rl_topo *t, struct rl_route **r)
{
	struct rl_check_in in = {.topo = t, .stretch = true};
	char err[RL_ERR_MAX] = "";

	*r = fix_route(t, "reflit", 8);
	in.fwd = (*r)->fwd;
	assert_int_equal(rl_check(&in, &rep), 0);
	if (rl_route_accept(*r, t, NULL, err) != 0)
		fail_msg("%s", err);
}

static void
judge(struct rl_topo *t, const char *what, double stretch, uint32_t busiest)
{
	struct rl_route *r;

	look(t, &r);
	if (rep.stretch_mean > stretch + 0.00005 || rep.load_max > busiest)
		fail_msg("%s: stretch %.4f, busiest %u", what,
			 rep.stretch_mean, rep.load_max);
	rl_route_free(r);
	rl_topo_free(t);
}

static void
build(struct rl_topo *t, const struct rl_topo_spec *spec)
{
	char err[RL_ERR_MAX] = "";

	if (rl_topo_build(spec, t, err, NULL) != 0)
		fail_msg("%s", err);
}

/* A fat tree of k-ary switches. */
static void
fat_tree(struct rl_topo *t, uint16_t k, uint16_t levels)
{
	struct rl_topo_spec spec;

	rl_topo_spec_defaults(&spec, RL_TOPO_FAT_TREE);
	spec.levels = (uint8_t)levels;
	for (unsigned int l = 0; l < levels; l++) {
		spec.m[l] = k;
		spec.w[l] = l == 0 ? 1 : k;
		spec.tree_links[l] = 1;
	}
	build(t, &spec);
}

static void
no_engine_of_opensm_is_shorter_or_evener(void **state)
{
	struct rl_topo_spec spec;
	struct rl_topo t;

	(void)state;
	rl_topo_spec_defaults(&spec, RL_TOPO_RANDOM);
	spec.n = 64;
	spec.degree = 6;
	spec.seed = 1;
	build(&t, &spec);
	judge(&t, "random, 64 of degree 6", 1, 37);
	fat_tree(&t, 4, 3);
	judge(&t, "fat tree", 1, 60);
	fat_tree(&t, 4, 3);
	fix_fail(&t, "s2.0-s3.0");
	judge(&t, "fat tree, one link failed", 1, 92);
	fat_tree(&t, 4, 4);
	judge(&t, "fat tree of four tiers", 1, 252);
	rl_topo_spec_defaults(&spec, RL_TOPO_DRAGONFLY);
	spec.a = 4;
	spec.h = 2;
	spec.groups = 9;
	spec.hosts_per_switch = 2;
	build(&t, &spec);
	judge(&t, "dragonfly", 1, 88);
}

/* Wherever the link, or the switch, is that failed. */
static void
a_small_torus_without_a_link_or_switch_has_the_shortest_ways_there_are(void **state)
{
	struct rl_topo t;

	(void)state;
	for (uint32_t l = 0; l < 108; l++) {
		fix_grid(&t, true, 6, 6, 0, 1);
		if (t.link[l].kind != RL_LINK_ISL) {
			rl_topo_free(&t);
			continue;
		}
		t.link[l].failed = true;
		judge(&t, "torus, one link failed", 1, 38);
	}
	for (uint32_t u = 0; u < 36; u++) {
		fix_grid(&t, true, 6, 6, 0, 1);
		t.dev[u].failed = true;
		judge(&t, "torus, one switch failed", 1, 35);
	}
}

/* The switch of docs/opensm.md, and three links: all classes of path are needed
 * for ways as short as LASH has, and pairs that make room on the busiest link
 * for loads as even as Nue has. */
static void
small_faulty_tori_are_as_short_and_even_as_those_of_any_engine(void **state)
{
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 6, 6, 0, 1);
	fix_fail(&t, "s3.1");
	judge(&t, "6x6 without a switch", 1, 34);
	fix_grid(&t, true, 5, 5, 5, 1);
	fix_fail(&t, "s0.1.2-s0.1.3");
	fix_fail(&t, "s3.3.3-s4.3.3");
	fix_fail(&t, "s2.4.1-s2.0.1");
	judge(&t, "5x5x5 without three links", 1, 86);
}

static void
expect_room(struct rl_topo *t, const uint8_t *room, unsigned int planes)
{
	struct rl_route *r;

	look(t, &r);
	for (unsigned int p = 0; p < planes; p++)
		for (uint32_t u = 0; u < t->ndev - t->nep; u++) {
			const struct rl_fwd *f = &r->fwd[u];

			assert_int_equal(f->room[p], room[p]);
			for (uint16_t e = 0; e < t->nep; e++) {
				const struct rl_fwd_entry n =
					rl_fwd_lookup(f, p, e);

				for (unsigned int i = 1u << f->room[p];
				     i < RL_FWD_ALTS; i++)
					assert_int_equal(n.hop[i].port,
							 RL_FWD_PORT_NONE);
			}
		}
	rl_route_free(r);
	rl_topo_free(t);
}

/* Planes away and tree have one next hop, others two, as long as no links are
 * parallel; in up to 256 switches that of detours up and down has three. What
 * follows the last entry of a list is no next hop. */
static void
planes_have_room_for_their_longest_lists(void **state)
{
	static const uint8_t small[] = {1, 2, 0, 0}, large[] = {1, 1, 0, 0};
	static const uint8_t parallel[] = {RL_FWD_ROOM, RL_FWD_ROOM,
					   RL_FWD_ROOM, RL_FWD_ROOM};
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 4, 5, 0, 1);
	expect_room(&t, small, RL_ARRAY_SIZE(small));
	fix_grid(&t, true, 16, 17, 0, 1);
	expect_room(&t, large, RL_ARRAY_SIZE(large));
	fix_grid(&t, true, 4, 5, 0, 2);
	expect_room(&t, parallel, RL_ARRAY_SIZE(parallel));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_engine_of_opensm_is_shorter_or_evener),
		cmocka_unit_test(a_small_torus_without_a_link_or_switch_has_the_shortest_ways_there_are),
		cmocka_unit_test(small_faulty_tori_are_as_short_and_even_as_those_of_any_engine),
		cmocka_unit_test(planes_have_room_for_their_longest_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
