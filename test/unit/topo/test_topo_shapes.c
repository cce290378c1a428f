/* SPDX-License-Identifier: BSD-3-Clause */
/* Fat trees, dragonflies, Slim Flies and random graphs [ROUTE-8]. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_topo.h"

static void
build_ok(const struct rl_topo_spec *spec, struct rl_topo *t)
{
	char err[RL_ERR_MAX] = "";

	if (rl_topo_build(spec, t, err, NULL) != 0)
		fail_msg("not built: %s", err);
	if (rl_topo_reach(t, RL_REACH_PRISTINE, err) != 0)
		fail_msg("in pieces: %s", err);
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

static struct rl_topo_spec
tree(unsigned int levels, const uint16_t *m, const uint16_t *w)
{
	struct rl_topo_spec spec;

	rl_topo_spec_defaults(&spec, RL_TOPO_FAT_TREE);
	spec.levels = (uint16_t)levels;
	for (unsigned int l = 0; l < levels && l < RL_TREE_LEVELS_MAX; l++) {
		spec.m[l] = m[l];
		spec.w[l] = w[l];
	}
	return spec;
}

static struct rl_topo_spec
fly(unsigned int a, unsigned int p, unsigned int h, unsigned int groups)
{
	struct rl_topo_spec spec;

	rl_topo_spec_defaults(&spec, RL_TOPO_DRAGONFLY);
	spec.a = (uint16_t)a;
	spec.hosts_per_switch = (uint16_t)p;
	spec.h = (uint16_t)h;
	spec.groups = (uint16_t)groups;
	return spec;
}

static struct rl_topo_spec
random_spec(unsigned int n, unsigned int degree, uint64_t seed)
{
	struct rl_topo_spec spec;

	rl_topo_spec_defaults(&spec, RL_TOPO_RANDOM);
	spec.n = (uint16_t)n;
	spec.degree = (uint16_t)degree;
	spec.seed = seed;
	return spec;
}

/* Links of a device to switches. */
static unsigned int
isls(const struct rl_topo *t, uint32_t dev)
{
	unsigned int n = 0;

	for (unsigned int p = 0; p < t->dev[dev].nports; p++)
		n += t->link[t->dev[dev].port[p].link].kind == RL_LINK_ISL;
	return n;
}

/* The most links between two switches. */
static unsigned int
diameter(const struct rl_topo *t)
{
	const uint32_t nsw = t->ndev - t->nep;
	uint32_t *todo = calloc(nsw, sizeof(*todo));
	uint8_t *far = calloc(nsw, 1);
	unsigned int most = 0;

	assert_true(todo != NULL && far != NULL);
	for (uint32_t s = 0; s < nsw; s++) {
		uint32_t n = 1;

		memset(far, 0xff, nsw);
		far[s] = 0;
		todo[0] = s;
		for (uint32_t i = 0; i < n; i++) {
			const struct rl_topo_dev *dev = &t->dev[todo[i]];

			for (unsigned int p = 0; p < dev->nports; p++) {
				const uint32_t v = dev->port[p].peer_dev;

				if (v >= nsw || far[v] != 0xff)
					continue;
				far[v] = (uint8_t)(far[todo[i]] + 1);
				todo[n++] = v;
			}
		}
		assert_int_equal(n, nsw);
		most = far[todo[n - 1]] > most ? far[todo[n - 1]] : most;
	}
	free(todo);
	free(far);
	return most;
}

static void
a_k_ary_n_tree_has_the_switches_and_links_of_the_books(void **state)
{
	static const uint16_t m[] = {4, 4, 4}, w[] = {1, 4, 4};
	struct rl_topo_spec spec = tree(3, m, w);
	struct rl_topo t;

	(void)state;
	build_ok(&spec, &t);
	assert_int_equal(t.nep, 64);
	assert_int_equal(t.ndev - t.nep, 3 * 16);
	assert_int_equal(t.nlink, 64 + 64 + 64);
	assert_int_equal(diameter(&t), 4);
	for (uint32_t u = 0; u < t.ndev - t.nep; u++) {
		const struct rl_topo_dev *dev = &t.dev[u];

		assert_int_equal(dev->coord[0], 1 + u / 16);
		assert_int_equal(dev->coord[1], u % 16);
		assert_int_equal(dev->nports, u < 32 ? 8 : 4);
		/* links join neighbouring levels only */
		for (unsigned int p = 0; p < dev->nports; p++) {
			const int l = t.dev[dev->port[p].peer_dev].coord[0];

			assert_int_equal(abs(l - dev->coord[0]), 1);
		}
	}
	/* endpoints below a leaf follow one another */
	for (uint32_t e = 0; e < t.nep; e++) {
		char name[64];

		snprintf(name, sizeof(name), "e%u-s1.%u", e, e / 4);
		assert_true(rl_topo_find_link(&t, name, NULL) >= 0);
	}
	/* a root sees each group of 16 endpoints through one switch */
	assert_true(rl_topo_find_link(&t, "s2.0-s3.0", NULL) >= 0);
	assert_true(rl_topo_find_link(&t, "s1.0-s3.0", NULL) < 0);
	rl_topo_free(&t);
}

static void
any_two_nodes_of_a_tree_have_as_many_common_parents_as_it_says(void **state)
{
	static const uint16_t m[] = {3, 5, 2}, w[] = {2, 3, 4};
	struct rl_topo_spec spec = tree(3, m, w);
	struct rl_topo t;

	(void)state;
	spec.tree_links[1] = 2;
	build_ok(&spec, &t);
	assert_int_equal(t.nep, 30);
	/* levels: 2*5*2 switches, 2*3*2, 2*3*4 */
	assert_int_equal(t.ndev - t.nep, 20 + 12 + 24);
	assert_int_equal(t.nlink, 30 * 2 + 20 * 3 * 2 + 12 * 4);
	for (uint32_t e = 0; e < t.nep; e++)
		assert_int_equal(t.dev[t.ep_dev[e]].nports, 2);
	for (uint32_t u = 0; u < 20 + 12 + 24; u++) {
		static const unsigned int want[] = {0, 3 + 3 * 2, 5 * 2 + 4, 2};

		assert_int_equal(t.dev[u].nports, want[t.dev[u].coord[0]]);
	}
	rl_topo_free(&t);
}

static void
bad_trees_are_refused(void **state)
{
	static const uint16_t m[] = {4, 4, 0}, w[] = {1, 4, 4};
	static const uint16_t big[] = {65535, 65535, 65535, 65535,
				       65535, 65535, 65535, 65535};
	struct rl_topo_spec spec = tree(3, m, w);

	(void)state;
	build_fails(&spec, "level 3 of the fat tree has no children");
	spec = tree(0, m, w);
	build_fails(&spec, "0 levels");
	spec = tree(RL_TREE_LEVELS_MAX + 1, big, big);
	build_fails(&spec, "9 levels");
	spec = tree(RL_TREE_LEVELS_MAX, big, big);
	build_fails(&spec, "devices are possible");
}

/* Links between each two groups, and the global links of each switch. */
static void
check_fly(const struct rl_topo *t, unsigned int least, unsigned int most)
{
	const struct rl_topo_spec *s = &t->spec;
	unsigned int n;

	for (uint32_t u = 0; u < t->ndev - t->nep; u++)
		assert_true(isls(t, u) <= s->a - 1u + s->h);
	for (unsigned int i = 0; i < s->groups; i++) {
		for (unsigned int j = 0; j < s->groups; j++) {
			if (i == j)
				continue;
			n = 0;
			for (uint32_t l = 0; l < t->nlink; l++) {
				const struct rl_topo_link *k = &t->link[l];
				const unsigned int x = t->dev[k->dev[0]].coord[0];
				const unsigned int y = t->dev[k->dev[1]].coord[0];

				n += k->kind == RL_LINK_ISL &&
				     ((x == i && y == j) || (x == j && y == i));
			}
			assert_in_range(n, least, most);
		}
	}
}

static void
a_dragonfly_joins_each_two_groups_by_one_link(void **state)
{
	(void)state;
	for (int g = RL_GLOBAL_RELATIVE; g <= RL_GLOBAL_CIRCULANT; g++) {
		struct rl_topo_spec spec = fly(4, 2, 2, 0);
		struct rl_topo t;

		spec.global_links = (enum rl_topo_global)g;
		build_ok(&spec, &t);
		assert_int_equal(t.spec.groups, 9);
		assert_int_equal(t.ndev - t.nep, 36);
		assert_int_equal(t.nep, 72);
		assert_int_equal(t.nlink, 72 + 9 * 6 + 36);
		check_fly(&t, 1, 1);
		assert_int_equal(diameter(&t), 3);
		for (uint32_t u = 0; u < 36; u++)
			assert_int_equal(isls(&t, u), 3 + 2);
		assert_true(rl_topo_find_link(&t, "s0.1-s0.3", NULL) >= 0);
		assert_true(rl_topo_find_link(&t, "e8.3.1-s8.3", NULL) >= 0);
		rl_topo_free(&t);
	}
}

static void
the_three_arrangements_of_global_links_differ_as_their_paper_draws_them(
	void **state)
{
	/* group 0's links: relative and absolute go 1, 2, 3, ...; circulant
	   1, 8, 2, 7, ...; group 4's tell relative from absolute */
	static const struct {
		enum rl_topo_global g;
		unsigned int of0[8], of4[8];
	} c[] = {
		{RL_GLOBAL_RELATIVE, {1, 2, 3, 4, 5, 6, 7, 8},
		 {5, 6, 7, 8, 0, 1, 2, 3}},
		{RL_GLOBAL_ABSOLUTE, {1, 2, 3, 4, 5, 6, 7, 8},
		 {0, 1, 2, 3, 5, 6, 7, 8}},
		{RL_GLOBAL_CIRCULANT, {1, 8, 2, 7, 3, 6, 4, 5},
		 {5, 3, 6, 2, 7, 1, 8, 0}},
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct rl_topo_spec spec = fly(8, 1, 1, 0);
		struct rl_topo t;

		spec.global_links = c[i].g;
		build_ok(&spec, &t);
		for (uint32_t k = 0; k < 8; k++) {
			const struct rl_topo_dev *s0 = &t.dev[k];
			const struct rl_topo_dev *s4 = &t.dev[4 * 8 + k];
			unsigned int found = 0;

			for (unsigned int p = 0; p < s0->nports; p++) {
				const uint16_t to =
					t.dev[s0->port[p].peer_dev].coord[0];

				found += to != 0;
				assert_true(to == 0 || to == c[i].of0[k]);
			}
			for (unsigned int p = 0; p < s4->nports; p++) {
				const uint16_t to =
					t.dev[s4->port[p].peer_dev].coord[0];

				found += to != 4;
				assert_true(to == 4 || to == c[i].of4[k]);
			}
			assert_int_equal(found, 2);
		}
		rl_topo_free(&t);
	}
}

static void
a_dragonfly_of_fewer_groups_has_more_links_between_them(void **state)
{
	struct rl_topo_spec spec = fly(4, 1, 2, 5);
	struct rl_topo t;

	(void)state;
	build_ok(&spec, &t);
	check_fly(&t, 2, 2);
	rl_topo_free(&t);
	/* 8 ports for 6 others: one round, and one more to both neighbours */
	spec = fly(4, 1, 2, 7);
	build_ok(&spec, &t);
	check_fly(&t, 1, 2);
	assert_int_equal(t.nlink, 28 + 7 * 6 + 21 + 7);
	rl_topo_free(&t);
	spec = fly(1, 1, 1, 2);
	build_ok(&spec, &t);
	assert_int_equal(t.nlink, 2 + 1);
	rl_topo_free(&t);
}

/* Five global ports and three other groups: two are left over of a round. */
static void
what_is_left_over_of_a_round_goes_to_the_nearest_groups_before_and_after(
	void **state)
{
	const struct rl_topo_spec spec = fly(5, 1, 1, 4);
	struct rl_topo t;

	(void)state;
	build_ok(&spec, &t);
	for (unsigned int i = 0; i < 4; i++) {
		char name[32];

		/* port 3 leads on, port 4 back */
		snprintf(name, sizeof(name), "s%u.3-s%u.4", i, (i + 1) % 4);
		if (rl_topo_find_link(&t, name, NULL) < 0)
			fail_msg("there is no %s", name);
	}
	rl_topo_free(&t);
}

static void
bad_dragonflies_are_refused(void **state)
{
	struct rl_topo_spec spec = fly(4, 2, 2, 10);

	(void)state;
	build_fails(&spec, "use 9 groups at most");
	spec = fly(0, 1, 1, 2);
	build_fails(&spec, "at least 1");
	spec = fly(4, 0, 1, 2);
	build_fails(&spec, "at least 1");
	spec = fly(4, 1, 1, 1);
	build_fails(&spec, "one group");
	spec = fly(65535, 1, 65534, 0);
	build_fails(&spec, "devices are possible");
	spec = fly(65535, 65534, 65534, 65535);
	build_fails(&spec, "devices are possible");
}

static void
any_two_switches_of_a_slim_fly_are_two_links_apart(void **state)
{
	static const unsigned int q[] = {3, 4, 5, 7, 8, 9, 11, 13, 16, 25, 27};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(q); i++) {
		const unsigned int degree = q[i] % 4 == 3 ? (3 * q[i] + 1) / 2 :
					    q[i] % 4 == 1 ? (3 * q[i] - 1) / 2 :
							    3 * q[i] / 2;
		struct rl_topo_spec spec;
		struct rl_topo t;

		rl_topo_spec_defaults(&spec, RL_TOPO_SLIM_FLY);
		spec.q = (uint16_t)q[i];
		build_ok(&spec, &t);
		assert_int_equal(t.ndev - t.nep, 2 * q[i] * q[i]);
		for (uint32_t u = 0; u < t.ndev - t.nep; u++)
			assert_int_equal(isls(&t, u), degree);
		for (uint32_t l = 0; l < t.nlink; l++)
			assert_int_equal(rl_topo_parallel(&t, l), 1);
		assert_int_equal(diameter(&t), 2);
		rl_topo_free(&t);
	}
}

static void
bad_slim_flies_are_refused(void **state)
{
	static const uint16_t q[] = {0, 1, 2, 6, 10, 12, 15, 18, 21, 182, 191};
	struct rl_topo_spec spec;

	(void)state;
	rl_topo_spec_defaults(&spec, RL_TOPO_SLIM_FLY);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(q); i++) {
		spec.q = q[i];
		build_fails(&spec, "use a prime power");
	}
	spec.q = 5;
	spec.hosts_per_switch = 0;
	build_fails(&spec, "hosts_per_switch is 0");
}

static void
a_random_graph_is_regular_simple_and_as_its_seed_says(void **state)
{
	static const unsigned int c[][2] = {
		{4, 3}, {5, 4}, {20, 3}, {64, 6}, {65, 6}, {200, 6}, {300, 11},
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct rl_topo_spec spec = random_spec(c[i][0], c[i][1], 7);
		unsigned int same = 0;
		struct rl_topo t, again, other;

		build_ok(&spec, &t);
		build_ok(&spec, &again);
		spec.seed = 8;
		build_ok(&spec, &other);
		assert_int_equal(t.ndev, 2 * c[i][0]);
		for (uint32_t u = 0; u < c[i][0]; u++)
			assert_int_equal(isls(&t, u), c[i][1]);
		for (uint32_t l = 0; l < t.nlink; l++) {
			assert_int_equal(rl_topo_parallel(&t, l), 1);
			assert_memory_equal(t.link[l].dev, again.link[l].dev,
					    sizeof(t.link[l].dev));
			same += rl_topo_link_between(&other, t.link[l].dev[0],
						     t.link[l].dev[1], 0) >= 0;
		}
		if (c[i][0] >= 64) /* two seeds share few links by chance */
			assert_true(same - c[i][0] <
				    (t.nlink - c[i][0]) / 3);
		rl_topo_free(&t);
		rl_topo_free(&again);
		rl_topo_free(&other);
	}
}

/* The circle that it begins with would be 17 links across. */
static void
a_random_graph_has_nothing_of_a_circle_left(void **state)
{
	struct rl_topo_spec spec = random_spec(200, 6, 1);
	struct rl_topo t;

	(void)state;
	build_ok(&spec, &t);
	assert_in_range(diameter(&t), 4, 6);
	rl_topo_free(&t);
}

/* Of eight switches of degree 3 one drawing in 550 falls into two parts. */
static void
a_random_graph_is_never_in_parts(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5000; seed++) {
		const struct rl_topo_spec spec = random_spec(8, 3, seed);
		struct rl_topo t;

		build_ok(&spec, &t);
		rl_topo_free(&t);
	}
}

static void
bad_random_graphs_are_refused(void **state)
{
	struct rl_topo_spec spec = random_spec(5, 3, 1);

	(void)state;
	build_fails(&spec, "half a link too many");
	spec = random_spec(6, 6, 1);
	build_fails(&spec, "below the number of switches");
	spec = random_spec(6, 2, 1);
	build_fails(&spec, "at least 3");
	spec = random_spec(60000, 59999, 1);
	build_fails(&spec, "are possible");
	spec = random_spec(6, 3, 1);
	spec.hosts_per_switch = 0;
	build_fails(&spec, "hosts_per_switch is 0");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_k_ary_n_tree_has_the_switches_and_links_of_the_books),
		cmocka_unit_test(
			any_two_nodes_of_a_tree_have_as_many_common_parents_as_it_says),
		cmocka_unit_test(bad_trees_are_refused),
		cmocka_unit_test(a_dragonfly_joins_each_two_groups_by_one_link),
		cmocka_unit_test(
			the_three_arrangements_of_global_links_differ_as_their_paper_draws_them),
		cmocka_unit_test(
			a_dragonfly_of_fewer_groups_has_more_links_between_them),
		cmocka_unit_test(
			what_is_left_over_of_a_round_goes_to_the_nearest_groups_before_and_after),
		cmocka_unit_test(bad_dragonflies_are_refused),
		cmocka_unit_test(
			any_two_switches_of_a_slim_fly_are_two_links_apart),
		cmocka_unit_test(bad_slim_flies_are_refused),
		cmocka_unit_test(
			a_random_graph_is_regular_simple_and_as_its_seed_says),
		cmocka_unit_test(a_random_graph_has_nothing_of_a_circle_left),
		cmocka_unit_test(a_random_graph_is_never_in_parts),
		cmocka_unit_test(bad_random_graphs_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
