/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether every endpoint reaches every other, and what is said if not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rl_prng.h"
#include "rl_topo.h"

/* A row of nsw switches with an endpoint each; cut lacks the link after it. */
static void
make_row(struct rl_topo *t, uint32_t nsw, uint32_t cut)
{
	struct rl_topo_ref sw[8] = {0}, ep[8] = {0}, link[16] = {0};
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];
	uint32_t n = 0;

	rl_topo_spec_defaults(&spec, RL_TOPO_CUSTOM);
	for (uint32_t i = 0; i < nsw; i++) {
		snprintf(sw[i].a, sizeof(sw[i].a), "s%u", i);
		snprintf(ep[i].a, sizeof(ep[i].a), "e%u", i);
		snprintf(link[n].a, sizeof(link[n].a), "e%u", i);
		snprintf(link[n].b, sizeof(link[n].b), "s%u", i);
		link[n++].count = 1;
		if (i + 1 == nsw || i == cut)
			continue;
		snprintf(link[n].a, sizeof(link[n].a), "s%u", i);
		snprintf(link[n].b, sizeof(link[n].b), "s%u", i + 1);
		link[n++].count = 1;
	}
	spec.switches = sw;
	spec.nswitches = nsw;
	spec.endpoints = ep;
	spec.nendpoints = nsw;
	spec.links = link;
	spec.nlinks = n;
	assert_int_equal(rl_topo_build(&spec, t, err, NULL), 0);
}

static void
a_whole_row_is_one_part(void **state)
{
	struct rl_topo t;
	char err[RL_ERR_MAX];

	(void)state;
	make_row(&t, 5, 99);
	assert_int_equal(rl_topo_reach(&t, RL_REACH_PRISTINE, err), 0);
	assert_int_equal(rl_topo_reach(&t, RL_REACH_WORKING, err), 0);
	rl_topo_free(&t);
}

static void
a_row_in_two_pieces_names_both(void **state)
{
	struct rl_topo t;
	char err[RL_ERR_MAX] = "";

	(void)state;
	make_row(&t, 7, 1);
	assert_int_equal(rl_topo_reach(&t, RL_REACH_PRISTINE, err),
			 -EHOSTUNREACH);
	assert_string_equal(err, "2 separate parts: e0 at {s0, s1} has no way "
				 "to e2 at {s2, s3, s4, ... 5 in all}");
	rl_topo_free(&t);
}

static void
failed_marks_count_only_if_asked_for(void **state)
{
	struct rl_topo t;
	char err[RL_ERR_MAX] = "";

	(void)state;
	make_row(&t, 5, 99);
	assert_int_equal(rl_topo_fail(&t, "s2-s3", err), 0);
	assert_int_equal(rl_topo_reach(&t, RL_REACH_PRISTINE, err), 0);
	assert_int_equal(rl_topo_reach(&t, RL_REACH_WORKING, err),
			 -EHOSTUNREACH);
	assert_non_null(strstr(err, "e0 at {s0, s1, s2} has no way to e3 at "
				    "{s3, s4}"));
	assert_int_equal(rl_topo_heal(&t, "s2-s3", err), 0);

	/* A failed switch in the middle cuts the fabric; one at the end
	 * takes only its own endpoint away, which does not count. */
	assert_int_equal(rl_topo_fail(&t, "s2", err), 0);
	assert_int_equal(rl_topo_reach(&t, RL_REACH_WORKING, err),
			 -EHOSTUNREACH);
	assert_int_equal(rl_topo_heal(&t, "s2", err), 0);
	assert_int_equal(rl_topo_fail(&t, "s4", err), 0);
	assert_int_equal(rl_topo_reach(&t, RL_REACH_WORKING, err), 0);
	assert_int_equal(rl_topo_heal(&t, "s4", err), 0);

	/* An endpoint whose link failed is gone, too; the others are not. */
	assert_true(rl_topo_ep_there(&t, 4));
	assert_int_equal(rl_topo_fail(&t, "e4-s4", err), 0);
	assert_int_equal(rl_topo_reach(&t, RL_REACH_WORKING, err), 0);
	assert_false(rl_topo_ep_there(&t, 4));
	assert_true(rl_topo_ep_there(&t, 3));
	assert_int_equal(rl_topo_fail(&t, "s1-s2", err), 0);
	assert_int_equal(rl_topo_reach(&t, RL_REACH_WORKING, err),
			 -EHOSTUNREACH);
	rl_topo_free(&t);
}

/* An endpoint on two parts joins nothing: it passes no packets on. */
static void
an_endpoint_is_no_bridge(void **state)
{
	struct rl_topo_ref sw[] = {{.a = "s0"}, {.a = "s1"}};
	struct rl_topo_ref ep[] = {{.a = "a"}, {.a = "both"}, {.a = "b"}};
	struct rl_topo_ref link[] = {
		{.a = "a", .b = "s0", .count = 1},
		{.a = "both", .b = "s0", .count = 1},
		{.a = "both", .b = "s1", .count = 1},
		{.a = "b", .b = "s1", .count = 1},
	};
	struct rl_topo_spec spec;
	struct rl_topo t;
	char err[RL_ERR_MAX] = "";

	(void)state;
	rl_topo_spec_defaults(&spec, RL_TOPO_CUSTOM);
	spec.switches = sw;
	spec.nswitches = 2;
	spec.endpoints = ep;
	spec.nendpoints = 3;
	spec.links = link;
	spec.nlinks = 4;
	assert_int_equal(rl_topo_build(&spec, &t, err, NULL), 0);
	assert_int_equal(rl_topo_reach(&t, RL_REACH_PRISTINE, err),
			 -EHOSTUNREACH);
	assert_string_equal(err, "2 separate parts: a at {s0} has no way to b "
				 "at {s1}");
	rl_topo_free(&t);
}

/* Reference: flood from each switch, link by link, until nothing changes. */
static bool
flood_all(const struct rl_topo *t, uint32_t n)
{
	for (uint32_t from = 0; from < n; from++) {
		bool seen[64] = {false};
		bool more = true;

		if (t->dev[from].failed)
			continue;
		seen[from] = true;
		while (more) {
			more = false;
			for (uint32_t i = 0; i < t->nlink; i++) {
				const uint32_t *d = t->link[i].dev;

				if (t->link[i].kind != RL_LINK_ISL ||
				    !rl_topo_link_up(t, i) ||
				    seen[d[0]] == seen[d[1]])
					continue;
				seen[d[0]] = seen[d[1]] = true;
				more = true;
			}
		}
		for (uint32_t u = 0; u < n; u++)
			if (!seen[u] && !t->dev[u].failed)
				return false;
	}
	return true;
}

static void
random_failures_give_the_verdict_of_a_flood(void **state)
{
	unsigned int whole = 0, cut = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 400; seed++) {
		struct rl_topo_spec spec;
		struct rl_topo t;
		struct rl_prng prng;
		char err[RL_ERR_MAX];
		bool want;

		rl_prng_seed(&prng, seed);
		rl_topo_spec_defaults(&spec, RL_TOPO_TORUS);
		spec.ndims = 2;
		spec.dims[0] = (uint16_t)rl_prng_range(&prng, 2, 5);
		spec.dims[1] = (uint16_t)rl_prng_range(&prng, 2, 5);
		spec.wrap[0] = rl_prng_below(&prng, 2);
		assert_int_equal(rl_topo_build(&spec, &t, err, NULL), 0);
		for (uint32_t i = 0; i < t.nlink; i++)
			t.link[i].failed = t.link[i].kind == RL_LINK_ISL &&
					   rl_prng_below(&prng, 4) == 0;
		for (uint32_t u = 0; u < t.nep; u++)
			t.dev[u].failed = rl_prng_below(&prng, 10) == 0;
		want = flood_all(&t, t.nep);
		if (rl_topo_reach(&t, RL_REACH_WORKING, err) !=
		    (want ? 0 : -EHOSTUNREACH))
			fail_msg("seed %llu", (unsigned long long)seed);
		whole += want;
		cut += !want;
		rl_topo_free(&t);
	}
	assert_true(whole > 50 && cut > 50);
}

static void
parts_are_numbered_by_their_endpoints(void **state)
{
	uint32_t part[32];
	struct rl_topo t;

	(void)state;
	make_row(&t, 7, 99);
	assert_int_equal(rl_topo_parts(&t, part), 1);
	for (uint32_t d = 0; d < t.ndev; d++)
		assert_int_equal(part[d], 0);
	/* s0 s1 | s2 | s3 s4 s5 with e4 gone | s6 without an endpoint */
	rl_topo_fail(&t, "s1-s2", NULL);
	rl_topo_fail(&t, "s2-s3", NULL);
	rl_topo_fail(&t, "s5-s6", NULL);
	rl_topo_fail(&t, "e4-s4", NULL);
	rl_topo_fail(&t, "e6-s6", NULL);
	assert_int_equal(rl_topo_parts(&t, part), 4);
	for (uint32_t d = 0; d < t.ndev; d++) {
		static const uint32_t sw[] = {0, 0, 2, 1, 1, 1, 3};
		static const uint32_t ep[] = {0, 0, 2, 1, RL_PART_NONE, 1,
					      RL_PART_NONE};

		assert_int_equal(part[d], d < 7 ? sw[d] : ep[d - 7]);
	}
	/* a failed switch is in none, and cuts the rest */
	rl_topo_fail(&t, "s4", NULL);
	assert_int_equal(rl_topo_parts(&t, part), 5);
	assert_int_equal(part[4], RL_PART_NONE);
	assert_int_not_equal(part[3], part[5]);
	rl_topo_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_row_is_one_part),
		cmocka_unit_test(a_row_in_two_pieces_names_both),
		cmocka_unit_test(failed_marks_count_only_if_asked_for),
		cmocka_unit_test(an_endpoint_is_no_bridge),
		cmocka_unit_test(random_failures_give_the_verdict_of_a_flood),
		cmocka_unit_test(parts_are_numbered_by_their_endpoints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
