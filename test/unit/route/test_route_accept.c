/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables in devices have passed the checker [ROUTE-4]: wrong tables are
 * refused with the reason, and any change needs a new proof.
 */
#include <errno.h>

#include "rl_check.h"
#include "route_fixture.h"

static struct rl_topo
torus(unsigned int x, unsigned int y)
{
	struct rl_topo t;

	fix_grid(&t, true, x, y, 0, 1);
	return t;
}

/* A next hop on plane 0 of a device, to be spoilt; NULL: no room for so many. */
static struct rl_fwd_hop *
hop_of(struct rl_route *r, uint32_t dev, uint16_t dst, unsigned int i)
{
	return rl_fwd_at(&r->fwd[dev], 0, dst, i);
}

/* No next hop is left at a device. */
static void
spoil(struct rl_route *r, uint32_t dev, uint16_t dst)
{
	for (unsigned int i = 0; hop_of(r, dev, dst, i) != NULL; i++)
		hop_of(r, dev, dst, i)->port = RL_FWD_PORT_NONE;
}

static void
tables_of_every_engine_pass_and_pass_once(void **state)
{
	(void)state;
	for (unsigned int i = 0; rl_route_info(i) != NULL; i++) {
		struct rl_topo t = torus(4, 4);
		char err[RL_ERR_MAX] = "";
		struct rl_route *r = fix_route(&t, rl_route_info(i)->name, 8);
		int ret;

		assert_false(r->accepted);
		ret = rl_route_accept(r, &t, NULL, err);
		if (rl_route_info(i)->deadlock_free) {
			assert_int_equal(ret, 0);
			assert_true(r->accepted);
			assert_int_equal(rl_route_accept(r, &t, NULL, err), 0);
		} else {
			/* shortest ways alone go round a ring */
			assert_int_equal(ret, -EHOSTUNREACH);
			assert_false(r->accepted);
			assert_non_null(strstr(err, "credit loop of "));
		}
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

static void
a_hole_in_a_table_is_refused_by_name(void **state)
{
	struct rl_topo t = torus(4, 4);
	struct rl_route *r = fix_route(&t, "reflit", 8);
	char err[RL_ERR_MAX] = "";

	(void)state;
	spoil(r, 5, 10);
	assert_int_equal(rl_route_accept(r, &t, NULL, err), -EHOSTUNREACH);
	assert_false(r->accepted);
	assert_non_null(strstr(err, " to e2.2 no next hop"));
	rl_route_free(r);
	rl_topo_free(&t);
}

static void
packets_sent_round_in_circles_are_refused(void **state)
{
	struct rl_topo t = torus(4, 4);
	struct rl_route *r = fix_route(&t, "reflit", 8);
	char err[RL_ERR_MAX] = "";

	(void)state;
	/* Every switch of a ring hands on, the home of the packets too. */
	for (uint32_t u = 0; u < 4; u++)
		for (unsigned int p = 0; p < t.dev[u].nports; p++)
			if (t.dev[u].port[p].dim == 1 &&
			    t.dev[u].port[p].dir > 0)
				*hop_of(r, u, 2, 0) =
					(struct rl_fwd_hop){.port = p & 0x1fff,
							    .plane = 0};
	assert_int_equal(rl_route_accept(r, &t, NULL, err), -EHOSTUNREACH);
	assert_non_null(strstr(err, "credit loop of 4 channels: "));
	rl_route_free(r);
	rl_topo_free(&t);
}

/* One more next hop on plane 0, the last of the list. */
static void
add_last(struct rl_route *r, uint32_t dev, uint16_t dst, unsigned int port)
{
	unsigned int i = 0;

	while (hop_of(r, dev, dst, i + 1) != NULL &&
	       hop_of(r, dev, dst, i)->port != RL_FWD_PORT_NONE)
		i++;
	*hop_of(r, dev, dst, i) =
		(struct rl_fwd_hop){.port = port & 0x1fff, .plane = 0};
}

/* A loop that only detours can close is found, too. */
static void
detours_that_wait_for_themselves_are_refused(void **state)
{
	struct rl_topo t = torus(4, 4);
	struct rl_route *r = fix_route(&t, "reflit", 8);
	char err[RL_ERR_MAX] = "";

	(void)state;
	for (uint32_t u = 0; u < 4; u++)
		for (unsigned int p = 0; p < t.dev[u].nports; p++)
			for (uint16_t dst = 4; dst < 16; dst++)
				if (t.dev[u].port[p].dim == 1 &&
				    t.dev[u].port[p].dir > 0)
					add_last(r, u, dst, p);
	assert_int_equal(rl_route_accept(r, &t, NULL, err), -EHOSTUNREACH);
	assert_non_null(strstr(err, "detours: credit loop of "));
	rl_route_free(r);
	rl_topo_free(&t);
}

static void
an_update_asks_for_a_new_proof(void **state)
{
	struct rl_topo t = torus(6, 6);
	struct rl_route *r = fix_route(&t, "reflit", 8);
	struct rl_route *old = fix_route(&t, "reflit", 8);
	char err[RL_ERR_MAX] = "";

	(void)state;
	assert_int_equal(rl_route_accept(r, &t, NULL, err), 0);
	assert_int_equal(rl_topo_fail(&t, "s1.1-s1.2", err), 0);
	assert_int_equal(rl_route_update(r, &t, NULL, err), 0);
	assert_false(r->accepted);
	assert_int_equal(rl_route_accept(r, &t, NULL, err), 0);
	/* beside the old tables they would not do: quiet the fabric first */
	assert_int_equal(rl_route_accept(r, &t, old, err), -EHOSTUNREACH);
	assert_non_null(strstr(err, "mixed with the tables before: "));
	/* spoilt after an update, they are refused like any others */
	assert_int_equal(rl_topo_fail(&t, "s3.3-s3.4", err), 0);
	assert_int_equal(rl_route_update(r, &t, NULL, err), 0);
	spoil(r, 14, 15);
	assert_int_equal(rl_route_accept(r, &t, NULL, err), -EHOSTUNREACH);
	rl_route_free(old);
	rl_route_free(r);
	rl_topo_free(&t);
}

static void
service_levels_ask_for_a_new_proof(void **state)
{
	struct rl_topo t = torus(4, 4);
	struct rl_route *r;
	char err[RL_ERR_MAX] = "";

	(void)state;
	assert_int_equal(rl_route_compute(&t, NULL, 4, &r, err), 0);
	assert_int_equal(rl_route_accept(r, &t, NULL, err), 0);
	assert_int_equal(rl_route_levels(r, 2, err), 0);
	assert_false(r->accepted);
	assert_int_equal(rl_route_accept(r, &t, NULL, err), 0);
	rl_route_free(r);
	assert_int_equal(rl_route_setup(&t, "", 8, 2, &r, err), 0);
	assert_true(r->accepted);
	rl_route_free(r);
	assert_int_equal(rl_route_setup(&t, "minhop", 8, 1, &r, err),
			 -EHOSTUNREACH);
	assert_null(r);
	rl_topo_free(&t);
}

/* The checker finds them for engines that give none, on every level. */
static void
ranks_that_are_found_hold_on_every_service_level(void **state)
{
	struct rl_topo_ref sw[2] = {{.a = "s0"}, {.a = "s1"}};
	struct rl_topo_ref ep[2] = {{.a = "e0"}, {.a = "e1"}};
	struct rl_topo_ref link[3] = {
		{.a = "s0", .b = "s1", .count = 1, .k = -1},
		{.a = "s1", .b = "e1", .count = 1, .k = -1},
		{.a = "e0", .b = "s0", .count = 1, .k = -1},
	};
	const struct rl_topo_spec spec = {
		.kind = RL_TOPO_CUSTOM,
		.switches = sw,
		.nswitches = 2,
		.endpoints = ep,
		.nendpoints = 2,
		.links = link,
		.nlinks = 3,
	};
	struct rl_topo t;
	struct rl_route *r;
	char err[RL_ERR_MAX] = "";
	int line;

	(void)state;
	assert_int_equal(rl_topo_build(&spec, &t, err, &line), 0);
	for (unsigned int levels = 1; levels <= RL_VCS; levels *= 2) {
		assert_int_equal(rl_route_setup(&t, "minhop", RL_VCS, levels,
						&r, err), 0);
		assert_true(r->accepted);
		rl_route_free(r);
	}
	rl_topo_free(&t);
}

/* An endpoint without its link is gone; the rest of the fabric goes on. */
static void
a_lost_endpoint_does_not_stop_the_others(void **state)
{
	static const char *const engines[] = {"reflit", "torus-2qos", "updown"};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(engines); i++) {
		struct rl_topo t = torus(4, 4);
		struct rl_route *r = fix_route(&t, engines[i], 8), *fresh;
		struct rl_check_report rep;
		struct rl_check_in in = {.topo = &t};
		char err[RL_ERR_MAX] = "";

		assert_int_equal(rl_topo_fail(&t, "e1.2-s1.2", err), 0);
		assert_true(rl_route_update(r, &t, NULL, err) >= 0);
		assert_int_equal(rl_route_accept(r, &t, NULL, err), 0);
		fresh = fix_route(&t, engines[i], 8);
		assert_int_equal(rl_route_accept(fresh, &t, NULL, err), 0);
		in.fwd = r->fwd;
		assert_int_equal(rl_check(&in, &rep), 0);
		assert_int_equal(rep.pairs, 15 * 14);
		assert_int_equal(rep.reachable, 15 * 14);
		rl_route_free(fresh);
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_of_every_engine_pass_and_pass_once),
		cmocka_unit_test(a_hole_in_a_table_is_refused_by_name),
		cmocka_unit_test(packets_sent_round_in_circles_are_refused),
		cmocka_unit_test(detours_that_wait_for_themselves_are_refused),
		cmocka_unit_test(an_update_asks_for_a_new_proof),
		cmocka_unit_test(service_levels_ask_for_a_new_proof),
		cmocka_unit_test(
			ranks_that_are_found_hold_on_every_service_level),
		cmocka_unit_test(a_lost_endpoint_does_not_stop_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
