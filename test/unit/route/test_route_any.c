/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine reflit on fabrics of any shape: shortest ways where VLs suffice for
 * them, well spread, detours included; up*-down* where that is as short and
 * spreads better; and the parts of a cut fabric, each for itself.
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check.h"
#include "route_bfs.h"
#include "route_draw.h"
#include "reflit_quality.h"

#define SWITCHES_MAX 260
#define LINKS_MAX 4000

static struct rl_check_report rep;
static struct rl_topo_ref sw[SWITCHES_MAX], ep[SWITCHES_MAX], link[LINKS_MAX];

static void
begin(struct rl_topo_spec *spec, uint32_t switches, uint32_t endpoints)
{
	rl_topo_spec_defaults(spec, RL_TOPO_CUSTOM);
	spec->switches = sw;
	spec->endpoints = ep;
	spec->links = link;
	spec->nswitches = switches;
	spec->nendpoints = endpoints;
	for (uint32_t i = 0; i < switches; i++)
		snprintf(sw[i].a, RL_NAME_MAX, "s%u", i);
	for (uint32_t i = 0; i < endpoints; i++)
		snprintf(ep[i].a, RL_NAME_MAX, "e%u", i);
}

static void
join(struct rl_topo_spec *spec, char ka, uint32_t a, char kb, uint32_t b)
{
	struct rl_topo_ref *l = &link[spec->nlinks++];

	assert_true(spec->nlinks < LINKS_MAX);
	snprintf(l->a, RL_NAME_MAX, "%c%u", ka, a);
	snprintf(l->b, RL_NAME_MAX, "%c%u", kb, b);
	l->count = 1;
	l->k = -1;
}

/* Several Hamilton rings over one another, drawn by the seed: every switch has
 * 2 * rings links; a link that is drawn twice is left out. */
static void
random_regular(struct rl_topo *t, uint32_t n, uint32_t rings, uint64_t seed)
{
	static bool joined[SWITCHES_MAX][SWITCHES_MAX];
	uint32_t order[SWITCHES_MAX];
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];
	struct rl_prng p;

	rl_prng_seed(&p, seed);
	memset(joined, 0, sizeof(joined));
	begin(&spec, n, n);
	for (uint32_t r = 0; r < rings; r++) {
		for (uint32_t i = 0; i < n; i++)
			order[i] = i;
		for (uint32_t i = n - 1; i > 0; i--) {
			const uint32_t k = rl_prng_below(&p, i + 1);
			const uint32_t x = order[i];

			order[i] = order[k];
			order[k] = x;
		}
		for (uint32_t i = 0; i < n; i++) {
			const uint32_t a = order[i], b = order[(i + 1) % n];

			if (!joined[a][b])
				join(&spec, 's', a, 's', b);
			joined[a][b] = joined[b][a] = true;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		join(&spec, 'e', i, 's', i);
	if (rl_topo_build(&spec, t, err, NULL) != 0)
		fail_msg("%s", err);
}

static void
random_graphs_get_shortest_ways_well_spread_with_detours(void **state)
{
	static const uint32_t shape[][2] = {{200, 3}, {120, 2}, {250, 5}};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(shape); i++) {
		struct rl_check_in in = {.stretch = true};
		struct rl_check_detours d;
		char err[RL_ERR_MAX];
		struct rl_route *r;
		struct rl_topo t;

		random_regular(&t, shape[i][0], shape[i][1], i + 1);
		r = fix_route(&t, "reflit", 8);
		in.topo = &t;
		in.fwd = r->fwd;
		assert_int_equal(rl_check(&in, &rep), 0);
		if (shape[i][1] > 2) {
			assert_int_equal(rep.extra_max, 0);
			assert_true(rep.load_max <= 1.6 * rep.load_mean);
			assert_in_range(r->vls, 4, 5);
		}
		assert_int_equal(r->detour_vls, shape[i][1] > 2 ? 3 : 2);
		assert_int_equal(rl_route_accept(r, &t, NULL, err), 0);
		if (i == 0) {
			assert_int_equal(rl_check_detours(&in, RL_CHECK_LINK,
							  &d), 0);
			assert_int_equal(d.covered, d.connected);
			assert_int_equal(d.reflectable, 0);
		}
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

/* A tree with three tiers, 4 pods: up*-down* is as short as any way. */
static void
fat_tree(struct rl_topo *t)
{
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];

	/* s0-s15 leaves, s16-s31 above them, s32-s47 on top; 4 x 4 a pod. */
	begin(&spec, 48, 64);
	for (uint32_t pod = 0; pod < 4; pod++)
		for (uint32_t a = 0; a < 4; a++)
			for (uint32_t b = 0; b < 4; b++) {
				join(&spec, 's', 4 * pod + a, 's',
				     16 + 4 * pod + b);
				join(&spec, 's', 16 + 4 * pod + a, 's',
				     32 + 4 * a + b);
			}
	for (uint32_t e = 0; e < 64; e++)
		join(&spec, 'e', e, 's', e / 4);
	if (rl_topo_build(&spec, t, err, NULL) != 0)
		fail_msg("%s", err);
}

static void
fat_trees_get_shortest_ways_no_link_of_which_has_twice_its_share(void **state)
{
	struct rl_check_in in = {.stretch = true};
	char err[RL_ERR_MAX];
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fat_tree(&t);
	r = fix_route(&t, "reflit", 8);
	in.topo = &t;
	in.fwd = r->fwd;
	assert_int_equal(rl_check(&in, &rep), 0);
	assert_int_equal(rep.extra_max, 0);
	assert_true(rep.load_max <= 2 * rep.load_mean);
	assert_int_equal(rl_route_accept(r, &t, NULL, err), 0);
	rl_route_free(r);
	rl_topo_free(&t);
}

/* With as few VLs as up*-down* needs, any graph is routed. */
static void
without_enough_vls_up_down_serves(void **state)
{
	struct rl_check_in in = {0};
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	random_regular(&t, 120, 2, 7);
	r = fix_route(&t, "reflit", 3);
	in.topo = &t;
	in.fwd = r->fwd;
	assert_int_equal(r->vls, 1);
	assert_int_equal(rl_check(&in, &rep), 0);
	rl_route_free(r);
	rl_topo_free(&t);
}

/* A cut fabric: who hangs together reaches each other, and all are counted. */
static void
the_parts_of_a_cut_fabric_are_routed_each_for_itself(void **state)
{
	static const char *const engines[] = {"reflit", "updown"};
	uint32_t cut = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct rl_route_params params = {
			.max_vls = 8, .qos_levels = 1, .parts = true};
		struct rl_check_in in = {.parts = true};
		char err[RL_ERR_MAX];
		uint32_t part[1024];
		struct rl_route *r;
		struct rl_topo t;
		uint64_t pairs = 0;
		int n;

		if (seed % 2 == 0)
			draw_grid(&t, seed);
		else
			draw_custom(&t, seed);
		params.engine = engines[seed / 2 % 2];
		for (uint32_t l = t.nlink / 3; l < t.nlink; l += 3)
			if (t.link[l].kind == RL_LINK_ISL)
				t.link[l].failed = true;
		assert_true(t.ndev <= 1024);
		n = (int)rl_topo_parts(&t, part);
		assert_true(n >= 0);
		if (rl_route_compute(&t, params.engine, 8, &r, err) == 0) {
			rl_route_free(r);
		} else {
			cut++;
			assert_non_null(strstr(err, "separate parts"));
		}
		assert_int_equal(rl_route_compute_with(&t, &params, &r, err),
				 0);
		if (rl_route_accept(r, &t, NULL, err) != 0)
			fail_msg("seed %u: %s", (unsigned int)seed, err);
		in.topo = &t;
		in.fwd = r->fwd;
		assert_int_equal(rl_check(&in, &rep), 0);
		for (uint32_t a = 0; a < t.nep; a++)
			for (uint32_t b = 0; b < t.nep; b++)
				pairs += a != b &&
					 part[t.ep_dev[a]] != RL_PART_NONE &&
					 part[t.ep_dev[a]] ==
						 part[t.ep_dev[b]];
		/* Endpoints in several parts add to those. */
		assert_true(rep.pairs >= pairs);
		if (seed % 2 == 0)
			assert_int_equal(rep.pairs, pairs);
		rl_route_free(r);
		rl_topo_free(&t);
	}
	assert_true(cut > 50);
}

static void
links_of_endpoints_lead_round_what_no_switch_does(void **state)
{
	static const struct {
		const char *engine;
		unsigned int vls;
	} with[] = {{"updown", 8}, {"reflit", 8}, {"reflit", 5}};

	(void)state;
	for (uint64_t seed = 401; seed <= 1000; seed++)
		for (unsigned int i = 0; i < RL_ARRAY_SIZE(with); i++) {
			struct rl_check_in in = {0};
			struct rl_check_detours d;
			char err[RL_ERR_MAX];
			struct rl_route *r;
			struct rl_topo t;

			draw_bridges(&t, seed);
			in.topo = &t;
			if (rl_route_compute(&t, with[i].engine, with[i].vls,
					     &r, err) == 0) {
				in.fwd = r->fwd;
				rl_check_detours(&in, RL_CHECK_LINK, &d);
				if (d.covered != d.connected)
					fail_msg("seed %u, %s: %u of %u",
						 (unsigned int)seed,
						 with[i].engine,
						 (unsigned int)d.covered,
						 (unsigned int)d.connected);
				assert_int_equal(
					rl_route_accept(r, &t, NULL, err), 0);
				rl_route_free(r);
			}
			rl_topo_free(&t);
		}
}

/*
 * s0 and s2 are neighbours; e0 to e3 are at s0 and s1, e5 to e8 at s2 and s3, e4
 * is at s0. From s1 a chain leads to s2, over s3 goes a way of the others.
 */
static void
two_ways(struct rl_topo *t, uint32_t chain)
{
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];

	begin(&spec, 5 + chain, 9);
	for (uint32_t e = 0; e < 4; e++) {
		join(&spec, 'e', e, 's', 0);
		join(&spec, 'e', e, 's', 1);
		join(&spec, 'e', 5 + e, 's', 2);
		join(&spec, 'e', 5 + e, 's', 3);
	}
	join(&spec, 'e', 4, 's', 0);
	join(&spec, 's', 0, 's', 2);
	join(&spec, 's', 3, 's', 4);
	join(&spec, 's', 4, 's', 0);
	join(&spec, 's', 1, 's', 5);
	for (uint32_t i = 1; i < chain; i++)
		join(&spec, 's', 4 + i, 's', 5 + i);
	join(&spec, 's', 4 + chain, 's', 2);
	if (rl_topo_build(&spec, t, err, NULL) != 0)
		fail_msg("%s", err);
}

/* However much room that would make on the busiest link. */
static void
endpoints_use_a_switch_one_link_farther_and_none_beyond_it(void **state)
{
	static const struct {
		uint32_t chain, extra;
	} c[] = { { 1, 1 }, { 2, 0 }, { 3, 0 } };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct rl_check_in in = { .stretch = true };
		struct rl_route *r;
		struct rl_topo t;

		two_ways(&t, c[i].chain);
		r = fix_route(&t, "reflit", 8);
		in.topo = &t;
		in.fwd = r->fwd;
		assert_int_equal(rl_check(&in, &rep), 0);
		print_message("chain of %u: %u links more, busiest %u\n",
			      c[i].chain, rep.extra_max, rep.load_max);
		assert_int_equal(rep.extra_max, c[i].extra);
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

/* The flows on the busiest link, by the paths and links that were kept. */
static uint64_t
busiest_kept(struct route_bfs *n, const struct route_graph *g)
{
	memset(n->load, 0, g->narc * sizeof(*n->load));
	for (uint32_t e = 0; e < g->topo->nep; e++) {
		route_bfs_kept(n, g, e);
		route_bfs_flows(n, g, e);
		for (uint32_t i = n->nqueue; i-- > 0;) {
			const uint32_t u = n->queue[i], a = n->next[u];

			if (a == ROUTE_NONE)
				continue;
			n->load[a] += n->flows[u];
			n->flows[g->arc[a].to] += n->flows[u];
		}
	}
	return any_busiest(g, n->load);
}

/* In rings of switches, each endpoint has one link, or two to any of them. */
static void
the_busiest_link_carries_what_is_said(void **state)
{
	unsigned int kept = 0, given_up = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct rl_topo_spec spec;
		struct route_graph g;
		struct route_bfs n = {0};
		struct rl_topo t;
		char err[RL_ERR_MAX];
		struct rl_prng p;
		uint64_t busiest, ups = 0;

		rl_prng_seed(&p, seed);
		begin(&spec, 6, 24);
		for (uint32_t s = 0; s < 6; s++)
			join(&spec, 's', s, 's', (s + 1) % 6);
		for (uint32_t e = 0; e < 24; e++)
			for (uint32_t k = 0; k <= (e + seed) % 2; k++)
				join(&spec, 'e', e, 's', rl_prng_below(&p, 6));
		assert_int_equal(rl_topo_build(&spec, &t, err, NULL), 0);
		assert_int_equal(route_graph_build(&g, &t, err), 0);
		assert_int_equal(route_bfs_init(&n, &g), 0);
		assert_int_equal(route_bfs_keep(&n, &g), 0);
		for (uint32_t e = 0; e < t.nep; e++)
			route_bfs_dst(&n, &g, e);
		assert_true(route_bfs_settle(&n, &g, &busiest));
		for (uint32_t i = 0; i < 24 * 24; i++)
			ups += n.up[i] != ROUTE_WAY_NONE;
		*(ups != 0 ? &kept : &given_up) += 1;
		assert_int_equal(busiest_kept(&n, &g), busiest);
		route_bfs_free(&n);
		route_graph_free(&g);
		rl_topo_free(&t);
	}
	assert_true(kept > 0 && given_up > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs_get_shortest_ways_well_spread_with_detours),
		cmocka_unit_test(fat_trees_get_shortest_ways_no_link_of_which_has_twice_its_share),
		cmocka_unit_test(without_enough_vls_up_down_serves),
		cmocka_unit_test(links_of_endpoints_lead_round_what_no_switch_does),
		cmocka_unit_test(endpoints_use_a_switch_one_link_farther_and_none_beyond_it),
		cmocka_unit_test(the_parts_of_a_cut_fabric_are_routed_each_for_itself),
		cmocka_unit_test(the_busiest_link_carries_what_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
