/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of devices and links, and marks set by name. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "rl_prng.h"
#include "rl_topo.h"

static void
make_torus(struct rl_topo *t, unsigned int x, unsigned int y, unsigned int z,
	   unsigned int per_edge)
{
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];

	rl_topo_spec_defaults(&spec, RL_TOPO_TORUS);
	spec.ndims = 3;
	spec.dims[0] = (uint16_t)x;
	spec.dims[1] = (uint16_t)y;
	spec.dims[2] = (uint16_t)z;
	for (int d = 0; d < 3; d++)
		spec.links_per_edge[d] = (uint16_t)per_edge;
	assert_int_equal(rl_topo_build(&spec, t, err, NULL), 0);
}

static void
what_may_name_a_device(void **state)
{
	static const struct {
		const char *name;
		bool ok;
	} c[] = {
		{"s0", true},	   {"S_1.2", true}, {"a", true},
		{"", false},	   {"0s", false},   {".s", false},
		{"s-0", false},	   {"s#0", false},  {"s 0", false},
		{"s/0", false},	   {"s\n", false},  {"s\xc3\xa4", false},
		{"a234567890123456789012345678901", true},
		{"a2345678901234567890123456789012", false},
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++)
		if (rl_topo_name_ok(c[i].name) != c[i].ok)
			fail_msg("'%s'", c[i].name);
}

static void
every_link_is_found_by_its_name_from_both_ends(void **state)
{
	struct rl_topo t;
	char name[80], turned[80];

	(void)state;
	make_torus(&t, 2, 3, 4, 2);
	for (uint32_t i = 0; i < t.nlink; i++) {
		const struct rl_topo_link *l = &t.link[i];
		const bool one = l->kind == RL_LINK_ENDPOINT;
		unsigned int n = 0;

		rl_topo_link_name(&t, i, name, sizeof(name));
		assert_int_equal(strchr(name, '#') == NULL, one);
		assert_int_equal(rl_topo_find_link(&t, name, &n), i);
		assert_int_equal(n, 1);
		snprintf(turned, sizeof(turned), "%s-%s#%u",
			 t.dev[l->dev[1]].name, t.dev[l->dev[0]].name, l->k);
		assert_int_equal(rl_topo_find_link(&t, turned, NULL), i);
		assert_int_equal(rl_topo_link_between(&t, l->dev[1], l->dev[0],
						      l->k), i);
		assert_int_equal(rl_topo_parallel(&t, i), one ? 1 : 2);
	}
	rl_topo_free(&t);
}

static void
what_names_no_link_is_not_found(void **state)
{
	static const char *const bad[] = {
		"", "-", "s0.0.0", "s0.0.0-", "-s0.0.0", "s0.0.0-s0.0.0",
		"s0.0.0-s1.1.0", "s0.0.0-s9.0.0", "s0.0.0-s1.0.0#",
		"s0.0.0-s1.0.0#2", "s0.0.0-s1.0.0#-1", "s0.0.0-s1.0.0# 1",
		"s0.0.0-s1.0.0#1x", "s0.0.0-s1.0.0#4294967296",
		"s0.0.0-s1.0.0#99999999999999999999", "#0", "s0.0.0#1-s1.0.0",
		"s0.0.0 - s1.0.0",
		"s00000000000000000000000000000000000000000000.0.0-s1.0.0",
		"s0.0.0-s00000000000000000000000000000000000000000000.0.0",
	};
	struct rl_topo t;

	(void)state;
	make_torus(&t, 2, 3, 4, 2);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(bad); i++) {
		char err[RL_ERR_MAX] = "";

		if (rl_topo_find_link(&t, bad[i], NULL) != -1)
			fail_msg("'%s' was found", bad[i]);
		if (strcmp(bad[i], "s0.0.0") == 0)
			continue;
		assert_int_equal(rl_topo_fail(&t, bad[i], err), -ENOENT);
		assert_non_null(strstr(err, "; "));
	}
	rl_topo_free(&t);
}

static void
marks_are_set_and_cleared_by_name(void **state)
{
	struct rl_topo t;
	char err[RL_ERR_MAX];
	uint32_t l;

	(void)state;
	make_torus(&t, 3, 3, 1, 2);
	l = (uint32_t)rl_topo_find_link(&t, "s0.0.0-s1.0.0", NULL);
	assert_int_equal(rl_topo_fail(&t, "s1.0.0-s0.0.0", err), 0);
	assert_true(t.link[l].failed);
	assert_true(t.link[l + 1].failed);
	assert_int_equal(rl_topo_heal(&t, "s0.0.0-s1.0.0#1", err), 0);
	assert_true(t.link[l].failed);
	assert_false(t.link[l + 1].failed);
	assert_int_equal(rl_topo_fail(&t, "s1.0.0", NULL), 0);
	assert_false(rl_topo_link_up(&t, l + 1));
	assert_int_equal(rl_topo_heal(&t, "s1.0.0", NULL), 0);
	assert_true(rl_topo_link_up(&t, l + 1));
	assert_int_equal(rl_topo_fail(&t, "e1.0.0", err), -EINVAL);
	assert_int_equal(rl_topo_fail(&t, "e1.0.0", NULL), -EINVAL);
	assert_int_equal(rl_topo_fail(&t, "s9.0.0", err), -ENOENT);
	rl_topo_free(&t);
}

/* A linear search would need 10^10 comparisons here. */
static void
names_are_found_fast_enough_for_the_largest_fabrics(void **state)
{
	const clock_t start = clock();
	struct rl_prng prng;
	struct rl_topo t;
	char name[80];

	(void)state;
	make_torus(&t, 32, 32, 31, 1);
	rl_prng_seed(&prng, 1);
	for (unsigned int i = 0; i < 100000; i++) {
		const uint32_t l = rl_prng_below(&prng, t.nlink);

		rl_topo_link_name(&t, l, name, sizeof(name));
		assert_int_equal(rl_topo_find_link(&t, name, NULL), l);
	}
	rl_topo_free(&t);
	assert_true((clock() - start) / CLOCKS_PER_SEC < 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_may_name_a_device),
		cmocka_unit_test(every_link_is_found_by_its_name_from_both_ends),
		cmocka_unit_test(what_names_no_link_is_not_found),
		cmocka_unit_test(marks_are_set_and_cleared_by_name),
		cmocka_unit_test(names_are_found_fast_enough_for_the_largest_fabrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
