/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which way new tables come where the mode leaves the choice [RES-5, RES-6]: few
 * flows are held, many are not where tokens do without.
 */
#include <errno.h>
#include <stdlib.h>

#include "../route/route_fixture.h"
#include "rl_tables.h"

/* One fabric, and one link of it that is dead. */
struct bed {
	struct rl_topo topo;
	struct rl_route *route;
	struct rl_tables *t;
	uint8_t *link_ok, *dev_ok, *none, *silent, *waits;
	uint32_t *present;
	uint32_t epoch;
};

/* levels: of service, or RL_ROUTE_ADAPTIVE */
static void
bed_open_as(struct bed *b, uint32_t x, uint32_t y, uint32_t z,
	    unsigned int levels)
{
	char err[RL_ERR_MAX];

	memset(b, 0, sizeof(*b));
	fix_grid(&b->topo, true, x, y, z, 1);
	assert_int_equal(rl_route_setup(&b->topo, "", 8, levels, &b->route,
					err), 0);
	b->link_ok = malloc(b->topo.nlink);
	b->dev_ok = malloc(b->topo.ndev);
	b->none = calloc(b->topo.ndev, 1);
	b->silent = calloc(b->topo.ndev, 1);
	b->waits = calloc(b->topo.ndev, 1);
	b->present = calloc(b->topo.ndev, sizeof(*b->present));
	assert_non_null(b->link_ok);
	assert_non_null(b->dev_ok);
	assert_non_null(b->none);
	assert_non_null(b->silent);
	assert_non_null(b->waits);
	assert_non_null(b->present);
	memset(b->link_ok, RL_LINK_USE, b->topo.nlink);
	memset(b->dev_ok, 1, b->topo.ndev);
}

static void
bed_open(struct bed *b, uint32_t x, uint32_t y, uint32_t z)
{
	bed_open_as(b, x, y, z, 1);
}

static void
bed_close(struct bed *b)
{
	rl_tables_free(b->t);
	rl_route_free(b->route);
	rl_topo_free(&b->topo);
	free(b->link_ok);
	free(b->dev_ok);
	free(b->none);
	free(b->silent);
	free(b->waits);
	free(b->present);
}

static void
bed_tables(struct bed *b, bool retry, bool link_retry)
{
	const struct rl_tables_params p = {
		.topo = &b->topo, .vls = 8, .levels = 1, .retry = retry,
		.link_retry = link_retry,
	};

	rl_tables_free(b->t);
	b->t = rl_tables_new(&p, b->route);
	assert_non_null(b->t);
}

static struct rl_controller_result
bed_compute(struct bed *b, enum rl_resil_mode mode, bool renew)
{
	const struct rl_controller_job job = {
		.epoch = ++b->epoch, .mode = mode, .renew = renew,
		.link_ok = b->link_ok, .dev_ok = b->dev_ok,
		.present = b->present, .unsure = b->none, .silent = b->silent,
		.waits = b->waits,
	};
	struct rl_controller_result res;

	rl_tables_compute(b->t, &job, &res);
	return res;
}

/* Without @p link, from the first tables on. */
static struct rl_controller_result
without(struct bed *b, uint32_t link, bool retry, bool link_retry)
{
	struct rl_controller_result res;

	bed_tables(b, retry, link_retry);
	b->link_ok[link] = RL_LINK_NO;
	res = bed_compute(b, RL_RESIL_AUTO, false);
	b->link_ok[link] = RL_LINK_USE;
	assert_true(res.status == 0 || res.status == -EALREADY);
	return res;
}

/* Of a hundred flows one may be held; for more, tokens hold none. */
static void
many_flows_are_not_held_if_tokens_suffice(void **state)
{
	static const uint32_t dims[][3] = { { 4, 4, 0 }, { 10, 10, 0 },
					    { 7, 7, 7 } };
	uint32_t few = 0, many = 0;

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(dims); i++) {
		struct bed b;
		uint32_t all;

		bed_open(&b, dims[i][0], dims[i][1], dims[i][2]);
		all = b.topo.nep * (b.topo.nep - 1);
		for (uint32_t l = 0; l < b.topo.nlink; l += b.topo.nlink / 7) {
			const struct rl_controller_result held =
				without(&b, l, true, false);
			const struct rl_controller_result res =
				without(&b, l, true, true);

			if (held.mode != RL_RESIL_PARTIAL)
				continue;
			assert_false(held.tokens);
			assert_non_null(rl_tables_fwd(b.t, b.epoch, 0));
			assert_non_null(rl_tables_pass(b.t, b.epoch, 0));
			if (held.held_flows * 100 > all) {
				many++;
				assert_int_equal(res.mode, RL_RESIL_TOKENS);
				assert_int_equal(res.held_flows, 0);
				assert_false(res.tokens);
				assert_null(rl_tables_flows(b.t, b.epoch));
				continue;
			}
			few++;
			/* and where they do not drain */
			assert_int_equal(res.mode, RL_RESIL_PARTIAL);
			assert_int_equal(res.held_flows, held.held_flows);
			assert_int_equal(rl_tables_flows(b.t, b.epoch)->count,
					 held.held_flows);
			assert_true(res.tokens);
		}
		bed_close(&b);
	}
	assert_true(few > 2);
	assert_true(many > 2);
}

/* Tokens ask for the answers of all, and for links and endpoints that retry. */
static void
if_tokens_can_not_be_many_are_held(void **state)
{
	struct bed b;
	uint32_t seen = 0, sw = 0;

	(void)state;
	bed_open(&b, 4, 4, 0);
	while (b.topo.dev[sw].kind != RL_DEV_SWITCH)
		sw++;
	for (uint32_t l = 0; l < b.topo.nlink; l++) {
		struct rl_controller_result res = without(&b, l, true, true);
		uint32_t held;

		if (res.mode != RL_RESIL_TOKENS)
			continue;
		res = without(&b, l, true, false);
		if (res.mode != RL_RESIL_PARTIAL)
			continue; /* not even with flows held */
		held = res.held_flows;
		assert_int_equal(without(&b, l, false, true).status, -EALREADY);
		/* a switch does not answer; it holds nothing */
		b.silent[sw] = 1;
		res = without(&b, l, true, true);
		b.silent[sw] = 0;
		assert_int_equal(res.mode, RL_RESIL_PARTIAL);
		assert_int_equal(res.held_flows, held);
		assert_false(res.tokens);
		assert_null(rl_tables_pass(b.t, b.epoch, 0));
		seen++;
	}
	assert_true(seen > 0);
	bed_close(&b);
}

/*
 * New tables use links of a restarted device that do not work yet: until they
 * do, packets take other next hops, whose mix is not proven.
 */
static void
no_mix_is_live_while_links_are_to_train(void **state)
{
	struct bed b;
	uint32_t live = 0, held = 0;

	(void)state;
	bed_open(&b, 4, 4, 0);
	for (uint32_t l = 0; l < b.topo.nlink; l++) {
		struct rl_controller_result res;

		if (without(&b, l, true, true).mode != RL_RESIL_LIVE)
			continue;
		live++;
		b.waits[b.topo.ep_dev[l % b.topo.nep]] = 1;
		assert_int_equal(without(&b, l, true, true).mode,
				 RL_RESIL_TOKENS);
		res = without(&b, l, true, false);
		held += res.mode != RL_RESIL_LIVE;
		b.waits[b.topo.ep_dev[l % b.topo.nep]] = 0;
	}
	assert_true(live > 0);
	assert_true(held > 0);
	bed_close(&b);
}

static uint32_t
link_of(const struct bed *b, const char *name)
{
	const int64_t l = rl_topo_find_link(&b->topo, name, NULL);

	assert_true(l >= 0);
	return (uint32_t)l;
}

/* Whether tables stay, since detours serve. */
static bool
stay(struct bed *b)
{
	const struct rl_controller_result res =
		bed_compute(b, RL_RESIL_AUTO, false);

	return res.status == -EALREADY && res.mode == RL_RESIL_LIVE;
}

/* [RES-2]: new ones would stop all traffic, which detours do not need. */
static void
without_retry_tables_stay_as_long_as_detours_serve_all(void **state)
{
	struct rl_controller_result res;
	struct bed b;

	(void)state;
	bed_open(&b, 4, 4, 0);
	bed_tables(&b, false, true);
	for (uint32_t l = 0; l < b.topo.nlink; l++) {
		b.link_ok[l] = RL_LINK_NO;
		assert_int_equal(stay(&b), b.topo.link[l].kind == RL_LINK_ISL);
		b.link_ok[l] = RL_LINK_USE;
	}
	res = bed_compute(&b, RL_RESIL_AUTO, false); /* all are back */
	assert_int_equal(res.status, -EALREADY);
	b.link_ok[link_of(&b, "s0.0-s0.1")] = RL_LINK_NO;
	b.link_ok[link_of(&b, "s2.2-s2.3")] = RL_LINK_NO;
	assert_true(stay(&b));
	/* detours are made for one failure at a time */
	b.link_ok[link_of(&b, "s1.1-s1.2")] = RL_LINK_NO;
	b.link_ok[link_of(&b, "s1.1-s1.0")] = RL_LINK_NO;
	b.link_ok[link_of(&b, "s1.1-s0.1")] = RL_LINK_NO;
	res = bed_compute(&b, RL_RESIL_AUTO, false);
	assert_int_equal(res.status, 0);
	assert_int_equal(res.mode, RL_RESIL_FULL);
	for (uint32_t d = 0; d < b.topo.ndev; d++) {
		b.present[d] = b.epoch;
		rl_tables_installed(b.t, d, b.epoch);
	}
	/* a link that they leave out has returned */
	b.link_ok[link_of(&b, "s0.0-s0.1")] = RL_LINK_USE;
	assert_int_equal(bed_compute(&b, RL_RESIL_AUTO, false).status, 0);
	bed_close(&b);
}

/* What is to go, is ill, is asked for, or is left to no mode: by new tables. */
static void
without_retry_detours_stand_in_for_failures_alone(void **state)
{
	struct bed b;
	uint32_t isl;

	(void)state;
	bed_open(&b, 4, 4, 0);
	bed_tables(&b, false, true);
	isl = link_of(&b, "s0.0-s0.1");
	b.link_ok[isl] = RL_LINK_LEAVE;
	assert_false(stay(&b));
	b.link_ok[isl] = RL_LINK_AVOID;
	assert_false(stay(&b));
	b.link_ok[isl] = RL_LINK_NO;
	assert_int_equal(bed_compute(&b, RL_RESIL_AUTO, true).status, 0);
	assert_int_equal(bed_compute(&b, RL_RESIL_FULL, false).status, 0);
	b.waits[0] = 1;
	assert_false(stay(&b));
	b.waits[0] = 0;
	assert_true(stay(&b));
	/* endpoints that retry restore the order: nobody stops */
	bed_tables(&b, true, true);
	assert_false(stay(&b));
	bed_close(&b);
}

/* [ROUTE-9]: the plane's channels carry no tokens, and the rest go as ever. */
static void
an_adaptive_plane_changes_by_tokens(void **state)
{
	const struct rl_fwd_pass *pass;
	uint32_t n = 0;
	struct bed b;

	(void)state;
	bed_open_as(&b, 4, 4, 0, RL_ROUTE_ADAPTIVE);
	for (uint32_t l = 0; l < b.topo.nlink; l++) {
		struct rl_controller_result res;

		if (b.topo.link[l].kind != RL_LINK_ISL)
			continue;
		res = without(&b, l, true, true);
		assert_int_equal(res.mode, RL_RESIL_TOKENS);
		assert_int_equal(res.held_flows, 0);
		pass = rl_tables_pass(b.t, b.epoch, 0);
		assert_non_null(pass);
		assert_int_equal(pass->vls, b.route->vls + b.route->detour_vls);
		assert_true(pass->vls <= b.route->fwd[0].adapt_vl);
		n++;
	}
	assert_int_equal(n, 32);
	b.route->ascends = false; /* what leaves the plane breaks the order */
	assert_int_not_equal(without(&b, b.topo.nlink - 1, true, true).mode,
			     RL_RESIL_TOKENS);
	b.route->ascends = true;
	b.route->adapts = false; /* to a plane, from none */
	assert_int_not_equal(without(&b, b.topo.nlink - 1, true, true).mode,
			     RL_RESIL_TOKENS);
	b.route->adapts = true;
	bed_close(&b);
}

/* The ways of all others stay as they are: nobody leaves the plane for it. */
static void
an_endpoint_that_is_cut_off_changes_no_other_way(void **state)
{
	uint32_t n = 0;
	struct bed b;

	(void)state;
	bed_open_as(&b, 4, 4, 0, RL_ROUTE_ADAPTIVE);
	for (uint32_t l = 0; l < b.topo.nlink; l++) {
		if (b.topo.link[l].kind == RL_LINK_ISL)
			continue;
		assert_int_equal(without(&b, l, true, true).mode,
				 RL_RESIL_LIVE);
		n++;
	}
	assert_int_equal(n, 16);
	bed_close(&b);
}

/* Where tokens can't be: few flows are held, or none, or all if mixed planes
   are not proven. */
static void
without_tokens_an_adaptive_plane_mixes(void **state)
{
	uint32_t live = 0, held = 0, all;
	struct bed b;

	(void)state;
	bed_open_as(&b, 4, 4, 0, RL_ROUTE_ADAPTIVE);
	all = b.topo.nep * (b.topo.nep - 1);
	for (uint32_t l = 0; l < b.topo.nlink; l++) {
		struct rl_controller_result res;

		if (b.topo.link[l].kind != RL_LINK_ISL)
			continue;
		res = without(&b, l, true, false);
		live += res.mode == RL_RESIL_LIVE;
		if (res.mode != RL_RESIL_PARTIAL)
			continue;
		held++;
		assert_in_range(res.held_flows, 1, all - 1);
	}
	assert_true(live > 0);
	assert_true(held > 0);
	assert_int_equal(live + held, 32);
	bed_close(&b);
}

/* A switch and its endpoint lose power: the link between them never died. */
static void
two_silent_devices_stop_no_fabric_with_a_plane(void **state)
{
	struct rl_controller_result res;
	struct bed b;
	uint32_t sw, ep;

	(void)state;
	bed_open_as(&b, 4, 4, 0, RL_ROUTE_ADAPTIVE);
	sw = fix_dev(&b.topo, "s2.2");
	ep = fix_dev(&b.topo, "e2.2");
	b.silent[sw] = b.silent[ep] = 1;
	for (uint16_t p = 0; p < b.topo.dev[sw].nports; p++)
		if (b.topo.dev[sw].port[p].peer_dev != ep)
			b.link_ok[b.topo.dev[sw].port[p].link] = RL_LINK_NO;
	bed_tables(&b, true, true);
	res = bed_compute(&b, RL_RESIL_AUTO, false);
	assert_int_equal(res.status, 0);
	assert_true(rl_tables_fwd(b.t, b.epoch, 0)->adapt != NULL);
	/* nor if the tables that they have are without a plane */
	for (uint32_t d = 0; d < b.topo.ndev; d++)
		b.route->fwd[d].adapt = NULL;
	b.route->adapts = false;
	bed_tables(&b, true, true);
	assert_int_equal(bed_compute(&b, RL_RESIL_AUTO, false).status, 0);
	b.silent[sw] = b.silent[ep] = 0;
	memset(b.link_ok, RL_LINK_USE, b.topo.nlink);
	/* it has the old tables, and takes the new ones some time: not proven */
	sw = fix_dev(&b.topo, "s1.0");
	b.silent[sw] = 1;
	b.link_ok[link_of(&b, "s1.0-s2.0")] = RL_LINK_NO;
	res = bed_compute(&b, RL_RESIL_FULL, false);
	assert_int_equal(res.status, -ETIME);
	b.silent[sw] = 0;
	assert_int_equal(bed_compute(&b, RL_RESIL_FULL, false).status, 0);
	/* tables of an earlier process are not known, and prove nothing */
	b.silent[sw] = 1;
	b.present[sw] = 77;
	res = bed_compute(&b, RL_RESIL_AUTO, false);
	assert_int_equal(res.status, -ETIME);
	bed_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			many_flows_are_not_held_if_tokens_suffice),
		cmocka_unit_test(
			without_retry_tables_stay_as_long_as_detours_serve_all),
		cmocka_unit_test(
			without_retry_detours_stand_in_for_failures_alone),
		cmocka_unit_test(if_tokens_can_not_be_many_are_held),
		cmocka_unit_test(no_mix_is_live_while_links_are_to_train),
		cmocka_unit_test(an_adaptive_plane_changes_by_tokens),
		cmocka_unit_test(
			an_endpoint_that_is_cut_off_changes_no_other_way),
		cmocka_unit_test(without_tokens_an_adaptive_plane_mixes),
		cmocka_unit_test(
			two_silent_devices_stop_no_fabric_with_a_plane),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
