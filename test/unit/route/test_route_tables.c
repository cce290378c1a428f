/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties that every engine's tables share. */
#include <errno.h>

#include "rl_check.h"
#include "route_fixture.h"

/* Hops from one endpoint to another by first choices; -1: lost. */
static int
walk(const struct rl_topo *t, const struct rl_route *r, uint32_t src,
     uint32_t dst)
{
	uint32_t dev = t->ep_dev[src];
	const uint8_t sl = r->fwd[dev].path_sl[dst];
	unsigned int plane = 0;

	for (int hops = 0; hops < 64; hops++) {
		const struct rl_fwd *f = &r->fwd[dev];
		const struct rl_fwd_hop h =
			rl_fwd_lookup(f, plane, (uint16_t)dst).hop[0];
		const struct rl_topo_port *port;
		uint8_t vl;

		if (dev == t->ep_dev[dst])
			return hops;
		if (h.port == RL_FWD_PORT_NONE)
			return -1;
		port = &t->dev[dev].port[h.port];
		assert_true(rl_topo_link_up(t, port->link));
		vl = rl_fwd_vl(f, h.plane, f->nports, h.port, sl);
		dev = port->peer_dev;
		plane = r->fwd[dev].plane_of[vl][sl];
	}
	return -1;
}

static void
expect_all_pairs(const struct rl_topo *t, const char *engine)
{
	struct rl_route *r = fix_route(t, engine, 8);

	for (uint32_t s = 0; s < t->nep; s++)
		for (uint32_t d = 0; d < t->nep; d++)
			if (s != d && walk(t, r, s, d) < 2)
				fail_msg("%s: %u to %u: %d", engine, s, d,
					 walk(t, r, s, d));
	rl_route_free(r);
}

static void
every_engine_reaches_every_endpoint(void **state)
{
	static const unsigned int dims[][3] = {
		{2, 0, 0}, {5, 0, 0}, {4, 4, 0}, {5, 3, 0}, {3, 4, 5}};
	struct rl_topo t;

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(dims); i++) {
		for (unsigned int wrap = 0; wrap < 2; wrap++) {
			fix_grid(&t, wrap != 0, dims[i][0], dims[i][1],
				 dims[i][2], 1 + i % 2);
			for (unsigned int k = 0; rl_route_info(k) != NULL; k++)
				expect_all_pairs(&t, rl_route_info(k)->name);
			rl_topo_free(&t);
		}
	}
}

static void
parallel_links_stand_in_first(void **state)
{
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, false, 2, 0, 0, 2);
	for (unsigned int k = 0; rl_route_info(k) != NULL; k++) {
		struct rl_fwd_entry e;

		r = fix_route(&t, rl_route_info(k)->name, 8);
		e = rl_fwd_lookup(&r->fwd[0], 0, 1);
		assert_int_not_equal(e.hop[0].port, RL_FWD_PORT_NONE);
		assert_int_not_equal(e.hop[1].port, RL_FWD_PORT_NONE);
		assert_int_not_equal(e.hop[0].port, e.hop[1].port);
		assert_int_equal(t.dev[0].port[e.hop[1].port].peer_dev, 1);
		rl_route_free(r);
	}
	rl_topo_free(&t);
}

static void
unknown_engines_and_vls_are_errors_and_the_engines_are_named(void **state)
{
	char err[RL_ERR_MAX];
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 3, 3, 0, 1);
	assert_int_equal(rl_route_compute(&t, "ospf", 8, &r, err), -EINVAL);
	assert_null(r);
	assert_non_null(strstr(err, "updown"));
	assert_int_equal(rl_route_compute(&t, "", 0, &r, err), -EINVAL);
	assert_int_equal(rl_route_compute(&t, "", 9, &r, err), -EINVAL);
	assert_int_equal(rl_route_compute(&t, NULL, 8, &r, err), 0);
	assert_string_equal(r->engine, RL_ROUTE_DEFAULT);
	rl_route_free(r);
	rl_topo_free(&t);
}

static void
a_fabric_in_parts_is_refused_and_the_parts_are_named(void **state)
{
	char err[RL_ERR_MAX];
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, false, 4, 0, 0, 1);
	fix_fail(&t, "s1-s2");
	for (unsigned int k = 0; rl_route_info(k) != NULL; k++) {
		assert_int_equal(rl_route_compute(&t, rl_route_info(k)->name,
						  8, &r, err), -EHOSTUNREACH);
		assert_null(r);
		assert_non_null(strstr(err, "s0, s1"));
		assert_non_null(strstr(err, "s2, s3"));
	}
	rl_topo_free(&t);
}

static void
endpoints_of_a_dead_switch_are_gone_and_the_others_are_routed(void **state)
{
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 4, 4, 0, 1);
	fix_fail(&t, "s1.1");
	r = fix_route(&t, "updown", 8);
	for (uint32_t s = 0; s < t.nep; s++)
		for (uint32_t d = 0; d < t.nep; d++)
			if (s != d && s != 5 && d != 5)
				assert_true(walk(&t, r, s, d) > 0);
	assert_int_equal(rl_fwd_lookup(&r->fwd[0], 0, 5).hop[0].port,
			 RL_FWD_PORT_NONE);
	rl_route_free(r);
	rl_topo_free(&t);
}

/* Pristine tori are symmetric: no link has to carry much more than another. */
static void
loads_are_balanced_if_the_fabric_is(void **state)
{
	static const struct {
		const char *engine;
		double most;
	} bound[] = {{"reflit", 1.35}, {"torus-2qos", 1.35}, {"minhop", 2.3}};
	static struct rl_check_report rep;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 5, 5, 0, 2);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(bound); i++) {
		struct rl_route *r = fix_route(&t, bound[i].engine, 8);
		const struct rl_check_in in = {.topo = &t, .fwd = r->fwd};

		rl_check(&in, &rep);
		if (rep.load_max > rep.load_mean * bound[i].most)
			fail_msg("%s: %u paths on a link, %.1f on average",
				 bound[i].engine, rep.load_max, rep.load_mean);
		rl_route_free(r);
	}
	rl_topo_free(&t);
}

/* Of two ways round an even ring that are equally long, both are taken. */
static void
links_of_an_even_torus_carry_their_share(void **state)
{
	static const struct {
		unsigned int x, y, z;
		uint32_t busiest;
	} of[] = {{4, 4, 0, 8}, {6, 6, 0, 30}, {8, 8, 0, 64}, {4, 4, 4, 32},
		  {6, 4, 0, 18}};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(of); i++) {
		static struct rl_check_report rep;
		struct rl_check_in in = {.stretch = true};
		char err[RL_ERR_MAX] = "";
		struct rl_route *r;
		struct rl_topo t;

		fix_grid(&t, true, of[i].x, of[i].y, of[i].z, 1);
		r = fix_route(&t, "reflit", 8);
		in.topo = &t;
		in.fwd = r->fwd;
		assert_int_equal(rl_check(&in, &rep), 0);
		assert_true(rep.stretch_mean < 1.00001);
		assert_int_equal(rep.load_max, of[i].busiest);
		if (rl_route_accept(r, &t, NULL, err) != 0)
			fail_msg("%s", err);
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_engine_reaches_every_endpoint),
		cmocka_unit_test(parallel_links_stand_in_first),
		cmocka_unit_test(unknown_engines_and_vls_are_errors_and_the_engines_are_named),
		cmocka_unit_test(a_fabric_in_parts_is_refused_and_the_parts_are_named),
		cmocka_unit_test(loads_are_balanced_if_the_fabric_is),
		cmocka_unit_test(endpoints_of_a_dead_switch_are_gone_and_the_others_are_routed),
		cmocka_unit_test(links_of_an_even_torus_carry_their_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
