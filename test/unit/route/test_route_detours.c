/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Local detours [ROUTE-6]: on every torus and mesh of a set of shapes, pristine
 * and with failures, on boards and on the engines with few VLs, every packet
 * that the failure of one link leaves a way at all finds one by the tables
 * alone; and all detours of all failures together have no credit loop.
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check.h"
#include "rl_prng.h"
#include "route_fixture.h"

/* No loop whatever fails, and all single failures covered. */
static void
expect_covered(const struct rl_topo *t, const char *engine, const char *what)
{
	static struct rl_check_report rep;
	struct rl_route *r = fix_route(t, engine, 8);
	struct rl_check_in in = {.topo = t, .fwd = r->fwd};
	struct rl_check_detours d;

	assert_int_equal(rl_check(&in, &rep), 0);
	in.alts = RL_CHECK_ALL;
	if (rl_check(&in, &rep) != 0)
		fail_msg("%s on %s, all detours: cycle of %u, %s", engine,
			 what, rep.cycle_len, rep.lost_why);
	in.alts = RL_CHECK_FIRST;
	for (int k = RL_CHECK_LINK; k <= RL_CHECK_NEIGHBOUR; k++) {
		assert_int_equal(rl_check_detours(&in, (enum rl_check_fail)k,
						  &d), 0);
		if (d.covered < d.connected || d.reflectable != 0)
			fail_msg("%s on %s: %llu of %llu covered; none at %s "
				 "to e%u", engine, what,
				 (unsigned long long)d.covered,
				 (unsigned long long)d.connected,
				 t->dev[d.dev].name, d.dst);
	}
	rl_route_free(r);
}

static void
every_torus_and_mesh_has_a_detour_round_any_one_link(void **state)
{
	static const char *const engines[] = {"reflit", "torus-2qos",
					      "updown"};
	static const unsigned int dims[][3] = {
		{2, 0, 0}, {3, 0, 0}, {4, 0, 0}, {9, 0, 0}, {2, 2, 0},
		{3, 2, 0}, {3, 3, 0}, {4, 3, 0}, {5, 4, 0}, {6, 6, 0},
		{7, 2, 0}, {1, 5, 0}, {2, 2, 2}, {3, 3, 3}, {4, 3, 2},
		{4, 4, 4}, {5, 3, 4}, {1, 4, 3},
	};
	char what[64];
	struct rl_topo t;

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(dims); i++) {
		for (unsigned int k = 0; k < 4; k++) {
			const unsigned int *d = dims[i];

			fix_grid(&t, k & 1, d[0], d[1], d[2], 1 + (k >> 1));
			snprintf(what, sizeof(what), "%s %ux%ux%u, %u links",
				 k & 1 ? "torus" : "mesh", d[0], d[1], d[2],
				 1 + (k >> 1));
			for (unsigned int e = 0; e < RL_ARRAY_SIZE(engines); e++)
				expect_covered(&t, engines[e], what);
			rl_topo_free(&t);
		}
	}
}

static void
fabrics_with_failures_have_a_detour_round_the_next_link(void **state)
{
	char what[64], err[RL_ERR_MAX];
	struct rl_prng p;
	struct rl_topo t;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		rl_prng_seed(&p, seed);
		fix_grid(&t, seed & 1, 3 + seed % 4, 3 + seed % 3,
			 seed % 5 == 0 ? 3 : 0, 1);
		for (uint64_t i = 0; i < 1 + seed % 6; i++)
			t.link[rl_prng_below(&p, t.nlink - t.nep) + t.nep]
				.failed = true;
		if (seed % 3 == 0)
			t.dev[rl_prng_below(&p, t.ndev - t.nep)].failed = true;
		snprintf(what, sizeof(what), "seed %u", (unsigned int)seed);
		if (rl_topo_reach(&t, RL_REACH_WORKING, err) == 0) {
			expect_covered(&t, "reflit", what);
			expect_covered(&t, "updown", what);
		}
		rl_topo_free(&t);
	}
}

static void
make_boards(struct rl_topo *t, enum rl_topo_kind kind, unsigned int boards,
	    unsigned int switches, unsigned int ces, unsigned int ports,
	    unsigned int intra)
{
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];

	rl_topo_spec_defaults(&spec, kind);
	spec.boards = (uint16_t)boards;
	spec.switches_per_board = (uint16_t)switches;
	spec.endpoints_per_board = (uint16_t)ces;
	spec.switches_per_endpoint = (uint16_t)ports;
	spec.intra_board_links = (uint16_t)intra;
	assert_int_equal(rl_topo_build(&spec, t, err, NULL), 0);
}

static void
boards_have_a_detour_round_any_one_link(void **state)
{
	static const unsigned int shape[][5] = {
		/* boards, switches, endpoints, switches of each, intra */
		{3, 2, 4, 2, 1}, {3, 4, 8, 0, 0}, {3, 4, 8, 2, 1},
		{5, 2, 8, 2, 0}, {2, 3, 4, 3, 0}, {4, 4, 4, 1, 1},
	};
	char what[64];
	struct rl_topo t;

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(shape); i++) {
		const unsigned int *s = shape[i];

		make_boards(&t, RL_TOPO_BOARDS, s[0], s[1], s[2], s[3], s[4]);
		snprintf(what, sizeof(what), "boards %u", i);
		expect_covered(&t, "reflit", what);
		rl_topo_free(&t);
	}
}

static void
boards_are_routed_by_shortest_ways(void **state)
{
	static const unsigned int shape[][5] = {
		{3, 2, 4, 2, 1}, {3, 4, 8, 0, 0}, {4, 4, 8, 2, 1},
		{2, 3, 4, 3, 0}, {4, 4, 4, 1, 1},
	};
	static struct rl_check_report rep;
	struct rl_topo t;

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(shape); i++) {
		const unsigned int *s = shape[i];
		struct rl_check_in in = {.topo = &t, .stretch = true};
		struct rl_route *r;

		make_boards(&t, RL_TOPO_BOARDS, s[0], s[1], s[2], s[3], s[4]);
		r = fix_route(&t, "reflit", 8);
		in.fwd = r->fwd;
		assert_int_equal(rl_check(&in, &rep), 0);
		assert_int_equal(rep.extra_max, 0);
		assert_true(rep.load_max <= 2 * rep.load_mean + 2);
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

/* The paths of two boards crowd on one link, others are half empty: endpoints
 * use their farther switch then, but only then. */
static void
a_dead_link_between_boards_leaves_no_crowd_on_the_other(void **state)
{
	static const struct {
		unsigned int shape[5];
		uint32_t between, within; /* limits of the busiest link */
	} c[] = {
		{{3, 2, 4, 2, 1}, 12, 8},
		{{4, 2, 4, 2, 1}, 12, 8},
		{{3, 2, 8, 2, 1}, 48, 32},
	};
	static struct rl_check_report rep;
	struct rl_topo t;

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		const unsigned int *s = c[i].shape;

		make_boards(&t, RL_TOPO_BOARDS, s[0], s[1], s[2], s[3], s[4]);
		for (uint32_t l = 0; l < t.nlink; l++) {
			struct rl_check_in in = {.topo = &t, .stretch = true};
			const uint32_t a = t.link[l].dev[0];
			const uint32_t b = t.link[l].dev[1];
			const bool within = a / 2 == b / 2;
			struct rl_route *r;

			if (t.dev[a].kind != RL_DEV_SWITCH ||
			    t.dev[b].kind != RL_DEV_SWITCH)
				continue;
			t.link[l].failed = true;
			r = fix_route(&t, "reflit", 8);
			in.fwd = r->fwd;
			assert_int_equal(rl_check(&in, &rep), 0);
			assert_int_equal(rep.extra_max, within ? 0 : 1);
			assert_true(rep.load_max <=
				    (within ? c[i].within : c[i].between));
			rl_route_free(r);
			t.link[l].failed = false;
		}
		rl_topo_free(&t);
	}
}

/* Figure 3: the broken link of a compute element is bridged by another one. */
static void
figure_3_a_compute_element_reflects_what_is_not_its_own(void **state)
{
	struct rl_fwd_entry e;
	const struct rl_topo_port *p;
	uint32_t s0, c, peer;
	struct rl_route *r;
	struct rl_topo t;
	uint8_t vl;

	(void)state;
	make_boards(&t, RL_TOPO_BOARD, 1, 12, 32, 12, 0);
	r = fix_route(&t, "reflit", 8);
	s0 = fix_dev(&t, "s0");
	c = fix_dev(&t, "c0.0");
	e = rl_fwd_lookup(&r->fwd[s0], 0, t.dev[c].ep_id);
	assert_int_equal(t.dev[s0].port[e.hop[0].port].peer_dev, c);
	/* Second choice: another compute element, on a VL of its own... */
	p = &t.dev[s0].port[e.hop[1].port];
	peer = p->peer_dev;
	assert_int_equal(t.dev[peer].kind, RL_DEV_ENDPOINT);
	assert_int_not_equal(peer, c);
	vl = rl_fwd_vl(&r->fwd[s0], e.hop[1].plane, 0, e.hop[1].port, 0);
	assert_true(vl >= r->vls);
	/* ...which sends it to a switch that is not where it came from. */
	e = rl_fwd_lookup(&r->fwd[peer], r->fwd[peer].plane_of[vl][0],
			  t.dev[c].ep_id);
	for (unsigned int i = 0; i < 2; i++) {
		const uint32_t sw =
			t.dev[peer].port[e.hop[i].port].peer_dev;

		assert_int_equal(t.dev[sw].kind, RL_DEV_SWITCH);
	}
	assert_int_not_equal(e.hop[0].port, e.hop[1].port);
	rl_route_free(r);
	expect_covered(&t, "reflit", "Figure 3");
	rl_topo_free(&t);
}

static void
with_few_vls_there_are_as_many_detours_as_fit_and_never_a_loop(void **state)
{
	static struct rl_check_report rep;
	struct rl_check_detours d;
	uint64_t before = 0;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 4, 4, 0, 1);
	for (unsigned int vls = 3; vls <= 8; vls++) {
		struct rl_route *r = fix_route(&t, "reflit", vls);
		struct rl_check_in in = {.topo = &t, .fwd = r->fwd,
					 .alts = RL_CHECK_ALL};

		assert_int_equal(rl_check(&in, &rep), 0);
		assert_true(r->vls + r->detour_vls <= vls);
		in.alts = RL_CHECK_FIRST;
		rl_check_detours(&in, RL_CHECK_LINK, &d);
		assert_true(d.covered >= before);
		before = d.covered;
		if (vls == 3)
			assert_int_equal(d.covered, 0);
		if (vls >= 5)
			assert_int_equal(d.covered, d.connected);
		rl_route_free(r);
	}
	rl_topo_free(&t);
}

static void
an_endpoint_with_several_links_takes_another_when_one_dies(void **state)
{
	struct rl_fwd_entry e;
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	make_boards(&t, RL_TOPO_BOARDS, 3, 2, 4, 2, 1);
	r = fix_route(&t, "reflit", 8);
	for (uint32_t s = 0; s < t.nep; s++) {
		for (uint16_t d = 0; d < t.nep; d++) {
			if (s == d)
				continue;
			e = rl_fwd_lookup(&r->fwd[t.ep_dev[s]], 0, d);
			assert_true(e.hop[0].port < 2);
			assert_int_equal(e.hop[1].port, !e.hop[0].port);
		}
	}
	rl_route_free(r);
	rl_topo_free(&t);
}

/* What the table of docs/routing.md says: in how many of a million cases a
 * packet finds a way round a whole switch, how long ways round a link are. */
static void
most_packets_find_a_way_round_a_whole_switch(void **state)
{
	static const struct {
		bool ring;
		unsigned int n;
		uint64_t share;
		uint32_t longest;
	} want[] = {{true, 4, 1000000, 6}, {true, 6, 1000000, 12},
		    {false, 6, 949000, 14}, {false, 8, 982000, 17}};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(want); i++) {
		struct rl_check_detours d;
		struct rl_check_in in;
		struct rl_route *r;
		struct rl_topo t;

		fix_grid(&t, want[i].ring, want[i].n, want[i].n, 0, 1);
		r = fix_route(&t, "reflit", 8);
		in = (struct rl_check_in){.topo = &t, .fwd = r->fwd};
		assert_int_equal(rl_check_detours(&in, RL_CHECK_SWITCH, &d), 0);
		if (d.covered * 1000000 < d.connected * want[i].share)
			fail_msg("%ux%u: %llu of %llu", want[i].n, want[i].n,
				 (unsigned long long)d.covered,
				 (unsigned long long)d.connected);
		assert_int_equal(rl_check_detours(&in, RL_CHECK_LINK, &d), 0);
		if (d.max_hops > want[i].longest)
			fail_msg("%ux%u: %u links long", want[i].n, want[i].n,
				 d.max_hops);
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_torus_and_mesh_has_a_detour_round_any_one_link),
		cmocka_unit_test(fabrics_with_failures_have_a_detour_round_the_next_link),
		cmocka_unit_test(boards_have_a_detour_round_any_one_link),
		cmocka_unit_test(boards_are_routed_by_shortest_ways),
		cmocka_unit_test(
			a_dead_link_between_boards_leaves_no_crowd_on_the_other),
		cmocka_unit_test(figure_3_a_compute_element_reflects_what_is_not_its_own),
		cmocka_unit_test(with_few_vls_there_are_as_many_detours_as_fit_and_never_a_loop),
		cmocka_unit_test(most_packets_find_a_way_round_a_whole_switch),
		cmocka_unit_test(an_endpoint_with_several_links_takes_another_when_one_dies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
