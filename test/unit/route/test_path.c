/* SPDX-License-Identifier: BSD-3-Clause */

/* Paths that tables give, and the permutation that they carry worst. */

#include <errno.h>

#include "rl_path.h"
#include "route_fixture.h"

#define EPS_MAX 64

static struct rl_topo topo;
static struct rl_route *route;

static void
open_grid(bool wrap, unsigned int x, unsigned int y, unsigned int hosts)
{
	fix_grid_hosts(&topo, wrap, x, y, 0, 1, hosts);
	route = fix_route(&topo, NULL, 8);
}

static void
close_grid(void)
{
	rl_route_free(route);
	rl_topo_free(&topo);
}

static uint8_t load[2 * 512]; /* flows on each link between switches */

static unsigned int
full_links(unsigned int flows)
{
	unsigned int n = 0;

	for (size_t i = 0; i < sizeof(load); i++)
		n += load[i] == flows;
	return n;
}

/* Most flows on one link between switches. */
static unsigned int
busiest(const uint16_t to[])
{
	unsigned int most = 0;

	memset(load, 0, sizeof(load));
	assert_true(topo.nlink <= 512);
	for (uint16_t s = 0; s < topo.nep; s++) {
		struct rl_path at =
			rl_path_begin(&topo, route->fwd, s, to[s]);

		while (at.dev != topo.ep_dev[to[s]]) {
			const uint32_t from = at.dev;
			const struct rl_topo_port *p = rl_path_step(
				&topo, route->fwd, &at, to[s]);

			assert_non_null(p);
			assert_int_equal(topo.link[p->link].dev[p->end], from);
			if (topo.dev[from].kind != RL_DEV_SWITCH ||
			    topo.dev[at.dev].kind != RL_DEV_SWITCH)
				continue;
			if (++load[2 * p->link + p->end] > most)
				most = load[2 * p->link + p->end];
		}
	}
	return most;
}

static void
is_permutation(const uint16_t to[])
{
	bool hit[EPS_MAX] = { false };

	for (uint16_t s = 0; s < topo.nep; s++) {
		assert_true(to[s] < topo.nep && to[s] != s && !hit[to[s]]);
		hit[to[s]] = true;
	}
}

/* The busiest link of all permutations of those from @p at on. */
static unsigned int
try_all(uint16_t to[], uint16_t at)
{
	unsigned int most = 0;

	if (at == topo.nep)
		return busiest(to);
	for (uint16_t i = at; i < topo.nep; i++) {
		const uint16_t was = to[at];
		unsigned int n;

		to[at] = to[i];
		to[i] = was;
		n = to[at] == at ? 0 : try_all(to, (uint16_t)(at + 1));
		most = n > most ? n : most;
		to[i] = to[at];
		to[at] = was;
	}
	return most;
}

static void
no_permutation_of_a_small_fabric_has_more_on_a_link(void **state)
{
	static const unsigned int grids[][3] = {
		{ 6, 1, 1 }, { 3, 2, 1 }, { 2, 1, 3 }, { 7, 1, 1 }, { 5, 1, 1 },
		{ 4, 2, 1 }, { 3, 1, 2 }, { 2, 2, 2 }, { 4, 1, 2 },
	};
	uint16_t to[EPS_MAX], all[EPS_MAX];

	(void)state;
	for (unsigned int i = 0; i < 2 * RL_ARRAY_SIZE(grids); i++) {
		const unsigned int *g = grids[i / 2];
		int most;

		open_grid(i % 2 == 0, g[0], g[1], g[2]);
		most = rl_path_worst(&topo, route->fwd, to);
		is_permutation(to);
		assert_int_equal(busiest(to), most);
		for (uint16_t e = 0; e < topo.nep; e++)
			all[e] = e;
		assert_int_equal(try_all(all, 0), most);
		close_grid();
	}
}

static void
all_links_of_the_worst_permutation_are_busy(void **state)
{
	uint16_t to[EPS_MAX];

	(void)state;
	open_grid(true, 8, 8, 1);
	assert_int_equal(rl_path_worst(&topo, route->fwd, to), 4);
	is_permutation(to);
	assert_int_equal(busiest(to), 4);
	assert_true(full_links(4) >= 12);
	close_grid();
	open_grid(false, 8, 8, 1);
	assert_int_equal(rl_path_worst(&topo, route->fwd, to), 7);
	is_permutation(to);
	assert_int_equal(busiest(to), 7);
	close_grid();
}

/* They meet at one switch, so no link between switches is crossed. */
static void
without_links_between_switches_any_permutation_will_do(void **state)
{
	uint16_t to[EPS_MAX];

	(void)state;
	for (unsigned int hosts = 1; hosts < 5; hosts++) {
		open_grid(false, 1, 1, hosts);
		if (hosts == 1) {
			assert_int_equal(rl_path_worst(&topo, route->fwd, to),
					 -EINVAL);
		} else {
			assert_int_equal(rl_path_worst(&topo, route->fwd, to),
					 0);
			is_permutation(to);
		}
		close_grid();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_permutation_of_a_small_fabric_has_more_on_a_link),
		cmocka_unit_test(all_links_of_the_worst_permutation_are_busy),
		cmocka_unit_test(without_links_between_switches_any_permutation_will_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
