/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checker on tables made by hand [ROUTE-4]: it must see what is wrong with
 * them. A ring of five switches, an endpoint on each; ports of a switch: 0 its
 * endpoint, 1 to the next switch, 2 to the one before.
 */
#include <errno.h>

#include "rl_check.h"
#include "route_fixture.h"

#define N 5
#define PLANES 2

struct ring {
	struct rl_topo t;
	struct rl_fwd fwd[2 * N];
	struct rl_fwd_entry entry[2 * N][PLANES][N];
	uint8_t vl[2 * N][PLANES * 4 * 3 * RL_SLS];
	uint8_t sl[N][N];
};

static void
set(struct rl_fwd_entry *e, unsigned int i, uint16_t port, unsigned int plane)
{
	e->hop[i].port = port & 0x1fff;
	e->hop[i].plane = plane & 7;
}

static void
ring_init(struct ring *r)
{
	memset(r, 0, sizeof(*r));
	fix_grid(&r->t, true, N, 0, 0, 1);
	for (uint32_t d = 0; d < 2 * N; d++) {
		struct rl_fwd *f = &r->fwd[d];

		f->ndst = N;
		f->nports = r->t.dev[d].nports;
		f->nplanes = PLANES;
		rl_fwd_entries(f, r->entry[d][0]);
		f->sl2vl = r->vl[d];
		if (d >= N)
			f->path_sl = r->sl[d - N];
		for (unsigned int p = 0; p < PLANES; p++)
			for (uint32_t e = 0; e < N; e++)
				for (unsigned int i = 0; i < RL_FWD_ALTS; i++)
					set(&r->entry[d][p][e], i, d >= N &&
					    i == 0 ? 0 : RL_FWD_PORT_NONE, p);
	}
	/* The port to the next switch comes before the other (+ before -). */
	for (uint32_t u = 0; u < N; u++) {
		assert_int_equal(r->t.dev[u].port[0].peer_dev, N + u);
		assert_int_equal(r->t.dev[u].port[1].peer_dev, (u + 1) % N);
		assert_int_equal(r->t.dev[u].port[2].peer_dev, (u + N - 1) % N);
	}
}

/* All go round the same way: port 1 on plane p, or to the endpoint. */
static void
ring_all_one_way(struct ring *r, unsigned int p, uint16_t port)
{
	for (uint32_t u = 0; u < N; u++)
		for (uint32_t e = 0; e < N; e++)
			set(&r->entry[u][p][e], 0, u == e ? 0 : port, p);
}

/* VL of switch u's links on plane p; the table of switches has 4 x 3 ports. */
static void
ring_vl(struct ring *r, uint32_t u, unsigned int p, uint8_t vl)
{
	for (unsigned int in = 0; in < 4; in++)
		for (unsigned int out = 1; out < 3; out++)
			memset(&r->vl[u][((p * 4 + in) * 3 + out) * RL_SLS], vl,
			       RL_SLS);
}

static int
check(const struct ring *r, struct rl_check_report *rep)
{
	const struct rl_check_in in = {
		.topo = &r->t, .fwd = r->fwd, .stretch = true};

	return rl_check(&in, rep);
}

static void
a_ring_in_one_direction_on_one_vl_is_a_loop_of_all_its_channels(void **state)
{
	static struct rl_check_report rep;
	static struct ring r;
	char text[1024];

	(void)state;
	ring_init(&r);
	ring_all_one_way(&r, 0, 1);
	assert_int_equal(check(&r, &rep), -ELOOP);
	assert_int_equal(rep.cycle_len, N);
	assert_int_equal(rep.pairs, N * (N - 1));
	assert_int_equal(rep.reachable, N * (N - 1));
	for (uint32_t i = 0; i < N; i++) {
		const struct rl_check_dep *c = &rep.cycle[i];
		const struct rl_check_dep *n = &rep.cycle[(i + 1) % N];
		const struct rl_topo_link *l = &r.t.link[c->link];
		const uint32_t at = l->dev[!c->end];

		/* Each channel ends where the next begins, and the pair named
		 * goes through both. */
		assert_int_equal(at, r.t.link[n->link].dev[n->end]);
		assert_int_equal(c->vl, 0);
		assert_int_not_equal(c->dst, at);
		assert_int_not_equal(c->src, at);
	}
	rl_check_cycle_text(&r.t, &rep, text, sizeof(text));
	assert_non_null(strstr(text, "s0:s1#0:0 (e"));
	assert_null(strstr(text, "..."));
	rl_check_cycle_text(&r.t, &rep, text, 40);
	assert_non_null(strstr(text, "..."));
	assert_true(strlen(text) < 40);
	rl_topo_free(&r.t);
}

static void
the_mean_stretch_is_of_the_pairs_that_arrive(void **state)
{
	static struct rl_check_report rep;
	static struct ring r;

	(void)state;
	ring_init(&r);
	assert_int_equal(check(&r, &rep), -EHOSTUNREACH);
	assert_int_equal(rep.reachable, 0);
	assert_true(rep.stretch_mean == 0);
	/* e2 to e0 the long way round: five hops for four */
	for (uint32_t u = 2; u < N; u++)
		set(&r.entry[u][0][0], 0, 1, 0);
	set(&r.entry[0][0][0], 0, 0, 0);
	for (uint32_t u = 3; u < N; u++) /* and no other from there */
		set(&r.entry[N + u][0][0], 0, RL_FWD_PORT_NONE & 0x1fff, 0);
	assert_int_equal(check(&r, &rep), -EHOSTUNREACH);
	assert_int_equal(rep.reachable, 1);
	assert_true(rep.stretch_mean > 1.2 && rep.stretch_mean < 1.6);
	rl_topo_free(&r.t);
}

static void
a_dateline_on_the_ring_takes_the_loop_away(void **state)
{
	static struct rl_check_report rep;
	static struct ring r;

	(void)state;
	ring_init(&r);
	ring_all_one_way(&r, 0, 1);
	ring_all_one_way(&r, 1, 1);
	/* The link s4-s0 and all after it on VL 1, which is plane 1. */
	for (uint32_t u = 0; u < N; u++) {
		r.fwd[u].plane_of[1][0] = 1;
		ring_vl(&r, u, 1, 1);
	}
	ring_vl(&r, N - 1, 0, 1);
	assert_int_equal(check(&r, &rep), 0);
	assert_int_equal(rep.cycle_len, 0);
	assert_int_equal(rep.nvls, 2);
	assert_int_equal(rep.max_hops, N + 1);
	assert_int_equal(rep.hops, N * (3 + 4 + 5 + 6));
	assert_int_equal(rep.extra_max, 3);
	assert_true(rep.stretch_mean > 1.85 && rep.stretch_mean < 1.95);
	assert_int_equal(rep.load_max, 10);
	rl_topo_free(&r.t);
}

static void
a_pair_without_a_next_hop_is_named(void **state)
{
	static struct rl_check_report rep;
	static struct ring r;

	(void)state;
	ring_init(&r);
	ring_all_one_way(&r, 0, 1);
	set(&r.entry[2][0][4], 0, RL_FWD_PORT_NONE, 0);
	assert_int_equal(check(&r, &rep), -ELOOP);
	/* s0, s1 and s2 had s2 on their way to e4. */
	assert_int_equal(rep.reachable, rep.pairs - 3);
	assert_int_equal(rep.lost_src, 0);
	assert_int_equal(rep.lost_dst, 4);
	assert_string_equal(rep.lost_why, "no next hop");
	rl_topo_free(&r.t);
}

static void
a_packet_that_goes_round_for_ever_is_found(void **state)
{
	static struct rl_check_report rep;
	static struct ring r;

	(void)state;
	ring_init(&r);
	ring_all_one_way(&r, 0, 1);
	set(&r.entry[3][0][3], 0, 1, 0); /* s3 forgets that e3 is its own */
	check(&r, &rep);
	assert_int_equal(rep.reachable, rep.pairs - 4);
	assert_int_equal(rep.lost_dst, 3);
	assert_string_equal(rep.lost_why, "does not arrive within 255 links");
	rl_topo_free(&r.t);
}

/* To the nearer side: free of loops on five switches but for its long way. */
static void
ring_shortest(struct ring *r)
{
	for (uint32_t u = 0; u < N; u++)
		for (uint32_t e = 0; e < N; e++)
			set(&r->entry[u][0][e], 0,
			    u == e ? 0 : (e + N - u) % N <= 2 ? 1 : 2, 0);
}

static void
a_dead_link_is_passed_over_and_what_was_before_counts_too(void **state)
{
	static struct rl_check_report rep;
	static struct ring r;
	const uint32_t dead = (uint32_t)rl_topo_link_between(
		(ring_init(&r), &r.t), 0, 1, 0);
	const struct rl_check_in in = {.topo = &r.t, .fwd = r.fwd,
				       .dead = &dead, .ndead = 1};

	(void)state;
	ring_all_one_way(&r, 0, 1);
	ring_all_one_way(&r, 1, 2);
	for (uint32_t u = 0; u < N; u++) {
		r.fwd[u].plane_of[1][0] = 1;
		ring_vl(&r, u, 1, 1);
		for (uint32_t e = 0; e < N; e++)
			set(&r.entry[u][0][e], 1, 2, 1);
	}
	/* The other way round on VL 1 arrives; but what went the first way
	 * before still closes the ring. */
	assert_int_equal(rl_check(&in, &rep), -ELOOP);
	assert_int_equal(rep.reachable, rep.pairs);
	assert_int_equal(rep.cycle_len, N);
	assert_int_equal(rep.cycle[0].vl, 0);
	rl_topo_free(&r.t);
}

/* A ring with a dateline is free of loops; s0's second choice leads back. */
static void
a_way_that_only_a_death_opens_is_followed(void **state)
{
	static struct rl_check_report rep;
	static struct ring r;
	const uint32_t dead = (uint32_t)rl_topo_link_between(
		(ring_init(&r), &r.t), 0, 1, 0);
	struct rl_check_in in = {.topo = &r.t, .fwd = r.fwd};

	(void)state;
	ring_all_one_way(&r, 0, 1);
	ring_all_one_way(&r, 1, 1);
	for (uint32_t u = 0; u < N; u++) {
		r.fwd[u].plane_of[1][0] = 1;
		ring_vl(&r, u, 1, 1);
	}
	ring_vl(&r, N - 1, 0, 1);
	for (unsigned int p = 0; p < PLANES; p++)
		for (uint32_t e = 0; e < N; e++)
			set(&r.entry[0][p][e], 1, 2, p);
	assert_int_equal(rl_check(&in, &rep), 0);
	in.dead = &dead;
	in.ndead = 1;
	assert_int_not_equal(rl_check(&in, &rep), 0);
	assert_true(rep.reachable < rep.pairs);
	rl_topo_free(&r.t);
}

/* All go round, and two switches pass what is for e1 to and fro. */
static void
of_two_loops_the_shorter_one_is_told(void **state)
{
	static struct rl_check_report rep;
	static struct ring r;

	(void)state;
	ring_init(&r);
	ring_all_one_way(&r, 0, 1);
	for (uint32_t u = 0; u < N; u++) {
		r.fwd[u].plane_of[1][0] = 1;
		ring_vl(&r, u, 1, 1);
	}
	set(&r.entry[4][0][1], 0, 2, 1);
	set(&r.entry[3][1][1], 0, 1, 0);
	assert_int_equal(check(&r, &rep), -ELOOP);
	assert_int_equal(rep.cycle_len, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(rep.cycle[i].dst, 1);
	rl_topo_free(&r.t);
}

static void
what_any_failure_may_bring_is_followed_in_full(void **state)
{
	static struct rl_check_report rep;
	static struct ring r;
	struct rl_check_in in = {.topo = &r.t, .fwd = r.fwd,
				 .alts = RL_CHECK_ALL};

	(void)state;
	ring_init(&r);
	ring_shortest(&r);
	/* A second choice that turns back: on another plane, that is allowed,
	 * and packets may swing to and fro. */
	for (uint32_t u = 0; u < N; u++) {
		r.fwd[u].plane_of[1][0] = 1;
		ring_vl(&r, u, 1, 1);
		for (uint32_t e = 0; e < N; e++) {
			set(&r.entry[u][0][e], 1, 2, 1);
			set(&r.entry[u][1][e], 0, u == e ? 0 : 1, 0);
		}
	}
	assert_int_equal(rl_check(&in, &rep), -ELOOP);
	assert_true(rep.reachable < rep.pairs);
	assert_string_equal(rep.lost_why, "may go round for ever");
	rl_topo_free(&r.t);
}

static void
two_good_tables_mixed_may_deadlock(void **state)
{
	static struct rl_check_report rep;
	static struct ring a, b;
	struct rl_check_in in = {.topo = &a.t, .fwd = a.fwd};

	(void)state;
	/* Each table leaves out one link of the ring, so each is a line. */
	ring_init(&a);
	ring_init(&b);
	for (uint32_t u = 0; u < N; u++) {
		for (uint32_t e = 0; e < N; e++) {
			set(&a.entry[u][0][e], 0, u == e ? 0 : u < e ? 1 : 2,
			    0);
			set(&b.entry[u][0][e], 0, u == e ? 0 :
			    (u + 2) % N < (e + 2) % N ? 1 : 2, 0);
		}
	}
	assert_int_equal(rl_check(&in, &rep), 0);
	in.fwd = b.fwd;
	assert_int_equal(rl_check(&in, &rep), 0);
	in.old = a.fwd;
	assert_int_equal(rl_check(&in, &rep), -ELOOP);
	/* The same table twice mixes well. */
	in.old = b.fwd;
	assert_int_equal(rl_check(&in, &rep), 0);
	assert_int_equal(rep.reachable, rep.pairs);
	rl_topo_free(&a.t);
	rl_topo_free(&b.t);
}

static void
detours_are_counted_if_a_way_is_left(void **state)
{
	static struct ring r;
	struct rl_check_in in = {.topo = &r.t, .fwd = r.fwd};
	struct rl_check_detours d;

	(void)state;
	ring_init(&r);
	ring_shortest(&r);
	assert_int_equal(rl_check_detours(&in, RL_CHECK_LINK, &d), 0);
	assert_int_equal(d.covered, 0);
	/* Every link between switches on every way, none to an endpoint. */
	assert_int_equal(d.connected, N * 2 * (1 + 1 + 1));
	/* A second plane that goes on round the ring covers them all. */
	for (uint32_t u = 0; u < N; u++) {
		ring_vl(&r, u, 1, 1);
		for (uint32_t e = 0; e < N; e++) {
			const struct rl_fwd_hop h = r.entry[u][0][e].hop[0];

			r.fwd[u].plane_of[1][0] = 1;
			if (u != e)
				set(&r.entry[u][0][e], 1, h.port == 1 ? 2 : 1,
				    1);
			set(&r.entry[u][1][e], 0, u == e ? 0 : 1, 1);
			if (u != e)
				set(&r.entry[u][1][e], 1, 2, 1);
		}
	}
	assert_int_equal(rl_check_detours(&in, RL_CHECK_LINK, &d), 0);
	assert_int_equal(d.connected, N * 2 * 3);
	assert_true(d.covered > 0 && d.covered <= d.connected);
	rl_topo_free(&r.t);
}

static void
links_that_failed_before_do_not_count_as_ways(void **state)
{
	static struct rl_check_report rep;
	static struct ring r;

	(void)state;
	ring_init(&r);
	fix_fail(&r.t, "s4-s0");
	fix_fail(&r.t, "e2-s2");
	for (uint32_t u = 0; u < N; u++)
		for (uint32_t e = 0; e < N; e++)
			set(&r.entry[u][0][e], 0, u == e ? 0 : u < e ? 1 : 2,
			    0);
	assert_int_equal(check(&r, &rep), 0);
	assert_int_equal(rep.pairs, 4 * 3);
	rl_topo_free(&r.t);
}

/* Without a link whose dependencies close the circle there is none: a checker
 * that forgets which links are dead finds it still. */
static void
a_link_that_is_dead_closes_no_circle(void **state)
{
	static struct rl_check_report rep;
	static struct ring r;
	struct rl_check_in in = {.topo = &r.t, .fwd = r.fwd,
				 .alts = RL_CHECK_ALL};

	(void)state;
	ring_init(&r);
	for (uint32_t u = 0; u < N; u++)
		for (uint32_t e = 0; e < N; e++) {
			set(&r.entry[u][0][e], 0, u == e ? 0 : 1, 0);
			set(&r.entry[u][0][e], 1, u == e ? 0 : 2, 0);
		}
	assert_int_equal(rl_check(&in, &rep), -ELOOP);
	fix_fail(&r.t, "s4-s0");
	in.alts = RL_CHECK_FIRST;
	for (uint32_t u = 0; u < N; u++)
		for (uint32_t e = 0; e < N; e++)
			set(&r.entry[u][0][e], 0, u == e ? 0 : u < e ? 1 : 2,
			    0);
	/* The first of all hops to e0 from s4 is dead, the second is not. */
	set(&r.entry[4][0][0], 0, 1, 0);
	set(&r.entry[4][0][0], 1, 2, 0);
	assert_int_equal(rl_check(&in, &rep), 0);
	assert_int_equal(rep.reachable, rep.pairs);
	assert_int_equal(rep.max_hops, 6);
	rl_topo_free(&r.t);
}

/* e0 - s0 - e1 - s1 - e2 - s2 - e3: endpoints in a row that hand on what is not
 * theirs. */
static void
row_build(struct rl_topo *t)
{
	static struct rl_topo_ref sw[4] = {{.a = "s0"}, {.a = "s1"},
					   {.a = "s2"}, {.a = "s3"}};
	static struct rl_topo_ref ep[4] = {{.a = "e0"}, {.a = "e1"},
					   {.a = "e2"}, {.a = "e3"}};
	static struct rl_topo_ref link[8];
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];

	rl_topo_spec_defaults(&spec, RL_TOPO_CUSTOM);
	spec.switches = sw;
	spec.endpoints = ep;
	spec.links = link;
	spec.nswitches = 3;
	spec.nendpoints = 4;
	for (unsigned int i = 0; i < 6; i++) {
		snprintf(link[i].a, RL_NAME_MAX, "e%u", (i + 1) / 2);
		snprintf(link[i].b, RL_NAME_MAX, "s%u", i / 2);
		link[i].count = 1;
		link[i].k = -1;
	}
	spec.nlinks = 6;
	if (rl_topo_build(&spec, t, err, NULL) != 0)
		fail_msg("%s", err);
}

/* One may hand on a packet, a second one may not. */
static void
a_packet_that_two_endpoints_would_hand_on_is_lost(void **state)
{
	static struct rl_fwd_entry entry[8][4];
	static struct rl_fwd fwd[8];
	static uint8_t vl[4 * 3 * RL_SLS], sl[4];
	static struct rl_check_report rep;
	struct rl_check_in in = {.fwd = fwd};
	struct rl_topo t;

	(void)state;
	row_build(&t);
	for (uint32_t d = 0; d < t.ndev; d++) {
		const bool is_ep = t.dev[d].kind == RL_DEV_ENDPOINT;
		const uint32_t at = is_ep ? t.dev[d].ep_id : d;

		fwd[d] = (struct rl_fwd){.ndst = 4, .nports = t.dev[d].nports,
					 .nplanes = 1, .sl2vl = vl,
					 .path_sl = sl};
		rl_fwd_entries(&fwd[d], entry[d]);
		for (uint32_t e = 0; e < 4; e++) {
			for (unsigned int i = 0; i < RL_FWD_ALTS; i++)
				set(&entry[d][e], i, RL_FWD_PORT_NONE, 0);
			/* Port 0 is the one to the left. */
			if (t.dev[d].nports == 2)
				set(&entry[d][e], 0, e > at, 0);
			else if (t.dev[d].nports == 1)
				set(&entry[d][e], 0, 0, 0);
		}
	}
	in.topo = &t;
	assert_int_equal(rl_check(&in, &rep), -EHOSTUNREACH);
	/* e0 to e3 and back; by one endpoint, as e0 to e2, they arrive. */
	assert_int_equal(rep.pairs, 12);
	assert_int_equal(rep.reachable, 10);
	assert_string_equal(rep.lost_why, "is misrouted twice");
	assert_int_equal(rep.lost_src, 0);
	assert_int_equal(rep.lost_dst, 3);
	rl_topo_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_ring_in_one_direction_on_one_vl_is_a_loop_of_all_its_channels),
		cmocka_unit_test(the_mean_stretch_is_of_the_pairs_that_arrive),
		cmocka_unit_test(a_dateline_on_the_ring_takes_the_loop_away),
		cmocka_unit_test(a_pair_without_a_next_hop_is_named),
		cmocka_unit_test(a_packet_that_goes_round_for_ever_is_found),
		cmocka_unit_test(
			a_dead_link_is_passed_over_and_what_was_before_counts_too),
		cmocka_unit_test(a_way_that_only_a_death_opens_is_followed),
		cmocka_unit_test(of_two_loops_the_shorter_one_is_told),
		cmocka_unit_test(
			what_any_failure_may_bring_is_followed_in_full),
		cmocka_unit_test(two_good_tables_mixed_may_deadlock),
		cmocka_unit_test(detours_are_counted_if_a_way_is_left),
		cmocka_unit_test(links_that_failed_before_do_not_count_as_ways),
		cmocka_unit_test(a_link_that_is_dead_closes_no_circle),
		cmocka_unit_test(
			a_packet_that_two_endpoints_would_hand_on_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
