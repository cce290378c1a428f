/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adaptive plane with an escape [ROUTE-9]: every engine's tables serve as the
 * way out, the checker proves it, and sees what is wrong with it.
 */
#include <errno.h>

#include "rl_check.h"
#include "rl_prng.h"
#include "route_fixture.h"

static const char *const engines[] = {"reflit", "torus-2qos", "updown"};

static struct rl_route *
adaptive(const struct rl_topo *t, const char *engine)
{
	struct rl_route *r;
	char err[RL_ERR_MAX] = "";

	if (rl_route_setup(t, engine, RL_VCS, RL_ROUTE_ADAPTIVE, &r, err) != 0)
		fail_msg("%s: %s", engine, err);
	assert_true(r->adapts);
	return r;
}

/* 0, -ELOOP, -EHOSTUNREACH: whatever next hops packets take. */
static int
judge(const struct rl_topo *t, const struct rl_route *r,
      struct rl_check_report *rep)
{
	struct rl_check_in in = {.topo = t, .fwd = r->fwd, .parts = true,
				 .alts = RL_CHECK_ALL, .joins = true};
	int ret = rl_check(&in, rep);

	if (ret == -ELOOP)
		return ret;
	in.alts = RL_CHECK_FIRST;
	return rl_check(&in, rep);
}

static void
every_engine_has_a_way_out_wherever_packets_can_be(void **state)
{
	(void)state;
	for (unsigned int e = 0; e < RL_ARRAY_SIZE(engines); e++)
		for (unsigned int k = 0; k < 6; k++) {
			struct rl_check_report rep;
			struct rl_route *r;
			struct rl_topo t;

			fix_grid(&t, k & 1, 4 + k, 4, k == 4 ? 3 : 0, 1 + k % 3);
			r = adaptive(&t, engines[e]);
			assert_int_equal(judge(&t, r, &rep), 0);
			assert_true(rep.joins >= (uint64_t)t.nep * t.nep);
			assert_int_equal(rep.joins_lost, 0);
			rl_route_free(r);
			rl_topo_free(&t);
		}
}

/* All of them on a torus of even size, where two ways round are equal. */
static void
parallel_links_and_all_shortest_ways_are_allowed(void **state)
{
	struct rl_route *r;
	struct rl_topo t;
	uint32_t u, e;

	(void)state;
	fix_grid(&t, true, 4, 4, 0, 2);
	r = adaptive(&t, "reflit");
	u = fix_dev(&t, "s0.0");
	e = t.dev[fix_dev(&t, "e2.2")].ep_id;
	assert_int_equal(__builtin_popcountll(r->fwd[u].adapt[e]), 8);
	e = t.dev[fix_dev(&t, "e1.0")].ep_id;
	assert_int_equal(__builtin_popcountll(r->fwd[u].adapt[e]), 2);
	rl_route_free(r);
	rl_topo_free(&t);
}

static uint64_t *
ports_of(struct rl_route *r, uint32_t dev, uint32_t dst)
{
	return (uint64_t *)(uintptr_t)&r->fwd[dev].adapt[dst];
}

static void
a_hop_that_leads_away_is_found(void **state)
{
	struct rl_check_report rep;
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, false, 4, 4, 0, 1);
	r = adaptive(&t, "reflit");
	/* from s1.0, towards e3.0: back to s0.0, or aside to s1.1 */
	for (unsigned int p = 0; p < 4; p++) {
		const uint32_t u = fix_dev(&t, "s1.0");
		const uint32_t e = t.dev[fix_dev(&t, "e3.0")].ep_id;
		const uint64_t was = *ports_of(r, u, e);

		*ports_of(r, u, e) |= 1u << p;
		assert_int_equal(judge(&t, r, &rep),
				 *ports_of(r, u, e) == was ? 0 : -EHOSTUNREACH);
		*ports_of(r, u, e) = was;
	}
	rl_route_free(r);
	rl_topo_free(&t);
}

/* At the far side of a ring torus-2qos goes straight, on the VL of that. */
static void
a_way_out_that_would_cross_the_dateline_on_the_wrong_vl_is_found(void **state)
{
	struct rl_check_report rep;
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 6, 0, 0, 1);
	r = adaptive(&t, "torus-2qos");
	for (uint32_t s = 0; s < t.nep; s++)
		*ports_of(r, s, (s + 3) % 6) = 6; /* both ways round */
	assert_int_equal(judge(&t, r, &rep), -ELOOP);
	rl_route_free(r);
	rl_topo_free(&t);
}

static void
tables_that_use_the_plane_s_vl_are_found(void **state)
{
	struct rl_check_report rep;
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, false, 4, 4, 0, 1);
	r = adaptive(&t, "updown");
	for (uint32_t d = 0; d < t.ndev; d++)
		r->fwd[d].adapt_vl = 0;
	assert_int_equal(judge(&t, r, &rep), -EHOSTUNREACH);
	assert_true(rep.joins_lost != 0);
	rl_route_free(r);
	rl_topo_free(&t);
}

/* A plane that cannot be proven after failures is gone, and it says why. */
static void
after_failures_the_plane_is_proven_or_gone(void **state)
{
	unsigned int with = 0, without = 0;

	(void)state;
	for (unsigned int i = 0; i < 60; i++) {
		const char *engine = engines[i % 3];
		struct rl_check_report rep;
		struct rl_prng p;
		struct rl_route *r;
		struct rl_topo t;
		char err[RL_ERR_MAX];

		rl_prng_seed(&p, i);
		fix_grid(&t, i & 4, 4, 5, 0, 1 + i % 2);
		r = adaptive(&t, engine);
		for (unsigned int k = 0; k < 4; k++)
			t.link[t.nep + rl_prng_below(&p, t.nlink - t.nep)]
				.failed = true;
		if (rl_route_update(r, &t, NULL, err) == 0) {
			assert_int_equal(rl_route_accept(r, &t, NULL, err), 0);
			assert_true(r->adapts || r->plain_why[0] != '\0');
			with += r->adapts;
			without += !r->adapts;
			if (r->adapts)
				assert_int_equal(judge(&t, r, &rep), 0);
		}
		rl_route_free(r);
		rl_topo_free(&t);
	}
	assert_true(with > 3 * without);
}

static void
a_switch_with_too_many_ports_is_refused_with_the_reason(void **state)
{
	struct rl_route *r;
	struct rl_topo t;
	char err[RL_ERR_MAX] = "";

	(void)state;
	fix_grid_hosts(&t, false, 2, 0, 0, 1, 64);
	assert_int_equal(rl_route_setup(&t, "updown", RL_VCS, RL_ROUTE_ADAPTIVE,
					&r, err), -EHOSTUNREACH);
	assert_non_null(strstr(err, "65 ports"));
	/* unless nobody asked for the plane */
	assert_int_equal(rl_route_setup(&t, "updown", RL_VCS, RL_ROUTE_MAY_ADAPT,
					&r, err), 0);
	assert_true(r->accepted && !r->adapts);
	assert_non_null(strstr(r->plain_why, "65 ports"));
	rl_route_free(r);
	rl_topo_free(&t);
}

static void
build(struct rl_topo *t, enum rl_topo_kind kind)
{
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];

	rl_topo_spec_defaults(&spec, kind);
	spec.a = 4;
	spec.h = 2;
	spec.q = 5;
	spec.n = 20;
	spec.degree = 4;
	spec.seed = 1;
	if (rl_topo_build(&spec, t, err, NULL) != 0)
		fail_msg("%s", err);
}

/* Ports to other switches: all that a non-minimal hop may take, or those that
   leave the group. */
static void
packets_may_begin_with_a_longer_way_where_that_helps(void **state)
{
	const struct {
		enum rl_topo_kind kind;
		int ports;
	} row[] = { { RL_TOPO_DRAGONFLY, 2 },
		    { RL_TOPO_SLIM_FLY, 7 },
		    { RL_TOPO_RANDOM, 4 } };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(row); i++) {
		struct rl_check_report rep;
		struct rl_route *r;
		struct rl_topo t;
		uint64_t all;

		build(&t, row[i].kind);
		r = adaptive(&t, "reflit");
		all = (uint64_t)(t.ndev - t.nep) * t.nep;
		assert_int_equal(judge(&t, r, &rep), 0);
		/* a packet may be, and leave the plane, at any switch */
		assert_int_equal(rep.joins, all);
		for (uint32_t d = 0; d < t.ndev; d++) {
			const struct rl_fwd *f = &r->fwd[d];
			const bool sw = t.dev[d].kind == RL_DEV_SWITCH;
			uint64_t any = 0;

			for (uint32_t e = 0; e < t.nep; e++) {
				assert_int_equal(f->adapt_longer[e] &
							 (f->adapt_ends |
							  f->adapt[e]), 0);
				any |= f->adapt_longer[e];
			}
			assert_int_equal(__builtin_popcountll(any),
					 sw ? row[i].ports : 0);
		}
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

/* How far it is from @p from to @p to round a ring of n, in direction @p dir. */
static unsigned int
round_by(unsigned int from, unsigned int to, unsigned int n, int dir)
{
	return (dir > 0 ? to + n - from : from + n - to) % n;
}

/*
 * By hand: a hop in direction @p dir of dimension @p dim, from @p u to @p v on a
 * torus, is not minimal, and the way on need not lead back: it is as short to go
 * on round the ring, or along the other dimension.
 */
static bool
begins_longer(const struct rl_topo *t, const uint16_t *u, const uint16_t *v,
	      unsigned int dim, int dir)
{
	const unsigned int n = t->spec.dims[dim];
	const unsigned int on = round_by(u[dim], v[dim], n, dir);
	const unsigned int back = round_by(u[dim], v[dim], n, -dir);

	if (on != 0 && on <= back)
		return false; /* minimal */
	if (u[1 - dim] != v[1 - dim])
		return true;
	return on != 0 && on - 1 <= back + 1;
}

static void
packets_may_begin_the_longer_way_round_a_ring(void **state)
{
	(void)state;
	for (unsigned int n = 3; n < 9; n++) {
		struct rl_check_report rep;
		struct rl_route *r;
		struct rl_topo t;

		fix_grid(&t, true, (uint16_t)n, 5, 0, 1);
		r = adaptive(&t, "reflit");
		assert_int_equal(judge(&t, r, &rep), 0);
		for (uint32_t u = 0; u < t.ndev; u++) {
			const struct rl_topo_dev *dev = &t.dev[u];

			for (uint32_t e = 0; e < t.nep; e++) {
				const uint32_t v = t.dev[t.ep_dev[e]].port[0]
							   .peer_dev;
				uint64_t want = 0;

				for (unsigned int p = 0;
				     p < dev->nports && v != u &&
				     dev->kind == RL_DEV_SWITCH;
				     p++)
					if (dev->port[p].dim >= 0 &&
					    begins_longer(
						    &t, dev->coord,
						    t.dev[v].coord,
						    (unsigned int)dev->port[p]
							    .dim,
						    dev->port[p].dir))
						want |= UINT64_C(1) << p;
				assert_int_equal(r->fwd[u].adapt_longer[e],
						 want);
			}
		}
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

static void
meshes_have_shortest_ways_only(void **state)
{
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, false, 4, 4, 0, 1);
	r = adaptive(&t, "reflit");
	for (uint32_t d = 0; d < t.ndev; d++)
		for (uint32_t e = 0; e < t.nep; e++)
			assert_int_equal(r->fwd[d].adapt_longer[e], 0);
	rl_route_free(r);
	rl_topo_free(&t);
}

/* A packet that comes by another switch could be led away again, and again. */
static void
longer_ways_that_are_wrong_are_found(void **state)
{
	struct rl_check_report rep;
	struct rl_route *r;
	struct rl_topo t;
	struct rl_fwd *f;
	uint64_t longer[36];
	uint64_t way;

	(void)state;
	build(&t, RL_TOPO_DRAGONFLY);
	r = adaptive(&t, "reflit");
	f = &r->fwd[fix_dev(&t, "s0.0")];
	assert_int_equal(t.nep, RL_ARRAY_SIZE(longer));
	memcpy(longer, f->adapt_longer, sizeof(longer));
	f->adapt_longer = longer;
	way = longer[t.nep - 1];
	f->adapt_ends |= way;
	assert_int_equal(judge(&t, r, &rep), -EHOSTUNREACH);
	assert_non_null(strstr(rep.lost_why, "led away"));
	f->adapt_ends &= ~way;
	assert_int_equal(judge(&t, r, &rep), 0);
	longer[t.nep - 1] |= f->adapt_ends;
	assert_int_equal(judge(&t, r, &rep), -EHOSTUNREACH);
	assert_non_null(strstr(rep.lost_why, "another endpoint"));
	longer[t.nep - 1] = UINT64_C(1) << 63;
	assert_int_equal(judge(&t, r, &rep), -EHOSTUNREACH);
	assert_non_null(strstr(rep.lost_why, "not there"));
	rl_route_free(r);
	rl_topo_free(&t);
}

/* No packet begins at s1.0, and to few destinations it is on a shortest way. */
static void
a_longer_way_may_be_left_where_no_shortest_one_leads(void **state)
{
	struct rl_check_report rep;
	struct rl_route *r;
	struct rl_topo t;
	char err[RL_ERR_MAX];
	uint32_t u;

	(void)state;
	build(&t, RL_TOPO_DRAGONFLY);
	r = adaptive(&t, "reflit");
	u = fix_dev(&t, "s1.0");
	for (unsigned int p = 0; p < t.dev[u].nports; p++)
		if (r->fwd[u].adapt_ends >> p & 1)
			t.link[t.dev[u].port[p].link].failed = true;
	assert_int_equal(rl_route_update(r, &t, NULL, err), 0);
	assert_int_equal(rl_route_accept(r, &t, NULL, err), 0);
	assert_int_equal(judge(&t, r, &rep), 0);
	assert_int_equal(rep.joins, 36 * (t.nep - 1));
	rl_route_free(r);
	rl_topo_free(&t);
}

/* A link that dies takes no packet on a longer way either. */
static void
longer_ways_are_proven_around_failures(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		struct rl_check_report rep;
		struct rl_prng p;
		struct rl_route *r;
		struct rl_topo t;
		char err[RL_ERR_MAX];

		rl_prng_seed(&p, i);
		build(&t, i & 1 ? RL_TOPO_DRAGONFLY : RL_TOPO_RANDOM);
		r = adaptive(&t, "reflit");
		for (unsigned int k = 0; k < 2; k++)
			t.link[t.nep + rl_prng_below(&p, t.nlink - t.nep)]
				.failed = true;
		assert_int_equal(rl_route_update(r, &t, NULL, err), 0);
		assert_int_equal(rl_route_accept(r, &t, NULL, err), 0);
		assert_true(r->adapts);
		assert_int_equal(judge(&t, r, &rep), 0);
		for (uint32_t d = 0; d < t.ndev; d++)
			for (unsigned int k = 0; k < t.dev[d].nports; k++)
				if (r->fwd[d].adapt_longer[d % t.nep] >> k & 1)
					assert_true(rl_topo_link_up(
						&t, t.dev[d].port[k].link));
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_engine_has_a_way_out_wherever_packets_can_be),
		cmocka_unit_test(
			parallel_links_and_all_shortest_ways_are_allowed),
		cmocka_unit_test(a_hop_that_leads_away_is_found),
		cmocka_unit_test(
			a_way_out_that_would_cross_the_dateline_on_the_wrong_vl_is_found),
		cmocka_unit_test(tables_that_use_the_plane_s_vl_are_found),
		cmocka_unit_test(after_failures_the_plane_is_proven_or_gone),
		cmocka_unit_test(
			a_switch_with_too_many_ports_is_refused_with_the_reason),
		cmocka_unit_test(
			packets_may_begin_with_a_longer_way_where_that_helps),
		cmocka_unit_test(meshes_have_shortest_ways_only),
		cmocka_unit_test(packets_may_begin_the_longer_way_round_a_ring),
		cmocka_unit_test(longer_ways_that_are_wrong_are_found),
		cmocka_unit_test(
			a_longer_way_may_be_left_where_no_shortest_one_leads),
		cmocka_unit_test(longer_ways_are_proven_around_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
