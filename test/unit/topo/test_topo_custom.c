/* SPDX-License-Identifier: BSD-3-Clause */
/* Free-form fabrics, and what is refused of them, with the place it stands. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rl_topo.h"

/* Figure 1: two switches joined by two links, an endpoint on each. */
static struct rl_topo_ref switches[] = {
	{.a = "s0", .line = 1}, {.a = "s1", .line = 2}};
static struct rl_topo_ref endpoints[] = {
	{.a = "e0", .line = 3}, {.a = "e1", .line = 4}};
static struct rl_topo_ref links[] = {
	{.a = "e0", .b = "s0", .count = 1, .line = 5},
	{.a = "s0", .b = "s1", .count = 2, .line = 6},
	{.a = "s1", .b = "e1", .count = 1, .line = 7}};

static struct rl_topo_spec
figure_1(void)
{
	struct rl_topo_spec spec;

	rl_topo_spec_defaults(&spec, RL_TOPO_CUSTOM);
	spec.switches = switches;
	spec.nswitches = RL_ARRAY_SIZE(switches);
	spec.endpoints = endpoints;
	spec.nendpoints = RL_ARRAY_SIZE(endpoints);
	spec.links = links;
	spec.nlinks = RL_ARRAY_SIZE(links);
	return spec;
}

static void
refused(const struct rl_topo_spec *spec, int line, const char *why)
{
	char err[RL_ERR_MAX] = "";
	struct rl_topo t;
	int at = -1;

	assert_int_equal(rl_topo_build(spec, &t, err, &at), -EINVAL);
	if (strstr(err, why) == NULL)
		fail_msg("'%s' does not say '%s'", err, why);
	assert_null(strchr(err, '\n'));
	assert_int_equal(at, line);
	assert_null(t.dev);
}

static void
figure_1_is_two_switches_and_two_links(void **state)
{
	struct rl_topo_spec spec = figure_1();
	char err[RL_ERR_MAX], name[80];
	struct rl_topo t;

	(void)state;
	assert_int_equal(rl_topo_build(&spec, &t, err, NULL), 0);
	assert_int_equal(t.ndev, 4);
	assert_int_equal(t.nlink, 4);
	assert_int_equal(t.nep, 2);
	assert_int_equal(t.dev[0].nports, 3);
	assert_int_equal(t.dev[0].port[0].peer_dev, 2);
	assert_int_equal(t.link[0].kind, RL_LINK_ENDPOINT);
	assert_int_equal(t.link[1].kind, RL_LINK_ISL);
	assert_int_equal(t.link[2].k, 1);
	assert_string_equal(rl_topo_link_name(&t, 0, name, sizeof(name)),
			    "e0-s0");
	assert_string_equal(rl_topo_link_name(&t, 2, name, sizeof(name)),
			    "s0-s1#1");
	assert_null(t.spec.links);
	rl_topo_free(&t);
	rl_topo_free(&t);
}

static void
links_of_a_pair_are_counted_however_the_list_names_them(void **state)
{
	struct rl_topo_ref more[] = {
		{.a = "e0", .b = "s0", .count = 1},
		{.a = "s0", .b = "s1", .count = 1},
		{.a = "s1", .b = "e1", .count = 1},
		{.a = "s1", .b = "s0", .count = 2},
	};
	struct rl_topo_spec spec = figure_1();
	char err[RL_ERR_MAX];
	struct rl_topo t;
	unsigned int n;

	(void)state;
	spec.links = more;
	spec.nlinks = RL_ARRAY_SIZE(more);
	assert_int_equal(rl_topo_build(&spec, &t, err, NULL), 0);
	assert_int_equal(rl_topo_find_link(&t, "s1-s0", &n), 1);
	assert_int_equal(n, 3);
	assert_int_equal(rl_topo_find_link(&t, "s0-s1#1", &n), 3);
	assert_int_equal(n, 1);
	assert_int_equal(rl_topo_find_link(&t, "s1-s0#2", NULL), 4);
	assert_int_equal(rl_topo_find_link(&t, "s1-s0#3", NULL), -1);
	assert_int_equal(rl_topo_parallel(&t, 4), 3);
	assert_int_equal(rl_topo_parallel(&t, 0), 1);
	rl_topo_free(&t);
}

static void
two_endpoints_may_be_joined_without_a_switch(void **state)
{
	struct rl_topo_ref wire[] = {{.a = "e0", .b = "e1", .count = 2}};
	struct rl_topo_spec spec = figure_1();
	char err[RL_ERR_MAX];
	struct rl_topo t;

	(void)state;
	spec.nswitches = 0;
	spec.links = wire;
	spec.nlinks = 1;
	assert_int_equal(rl_topo_build(&spec, &t, err, NULL), 0);
	assert_int_equal(t.dev[0].nports, 2);
	assert_int_equal(t.link[0].kind, RL_LINK_ENDPOINT);
	assert_int_equal(rl_topo_reach(&t, RL_REACH_PRISTINE, err), 0);
	rl_topo_free(&t);
}

static void
a_bad_list_is_refused_at_its_line(void **state)
{
	struct rl_topo_ref two[] = {{.a = "s0", .line = 1},
				    {.a = "s0", .line = 2}};
	struct rl_topo_ref same[] = {{.a = "e0", .line = 3},
				     {.a = "s1", .line = 4}};
	struct rl_topo_ref bad[] = {{.a = "s0", .line = 1},
				    {.a = "s-1", .line = 2}};
	struct rl_topo_ref l[3];
	struct rl_topo_spec spec = figure_1();

	(void)state;
	spec.switches = two;
	refused(&spec, 2, "a second device is called 's0'");
	spec.switches = bad;
	refused(&spec, 2, "bad name 's-1'");
	spec = figure_1();
	spec.endpoints = same;
	refused(&spec, 4, "a second device is called 's1'");

	spec = figure_1();
	spec.links = l;
	memcpy(l, links, sizeof(l));
	strcpy(l[1].b, "s7");
	refused(&spec, 6, "link s0-s7: no device is called 's7'");
	strcpy(l[1].b, "s0");
	refused(&spec, 6, "link s0-s0 joins a device to itself");
	memcpy(l, links, sizeof(l));
	l[2].count = 0;
	refused(&spec, 7, "count is 0");
	memcpy(l, links, sizeof(l));
	spec.nlinks = 2;
	refused(&spec, 4, "endpoint e1 has no link");
	spec.links = l + 2;
	spec.nlinks = 1;
	refused(&spec, 1, "switch s0 has no link");

	spec = figure_1();
	spec.nendpoints = 0;
	refused(&spec, 0, "no endpoint");
}

static void
failed_from_the_start_is_marked_or_refused_at_its_line(void **state)
{
	struct rl_topo_ref one[] = {
		{.a = "s1", .b = "s0", .k = 1, .line = 9}};
	struct rl_topo_ref all[] = {
		{.a = "s1", .b = "s0", .k = -1, .line = 9}};
	struct rl_topo_ref sw[] = {{.a = "s1", .k = -1, .line = 9}};
	struct rl_topo_ref none[] = {{.a = "s1", .k = -1, .line = 9},
				     {.a = "s4", .k = -1, .line = 10}};
	struct rl_topo_ref far[] = {
		{.a = "s1", .b = "s0", .k = 2, .line = 10}};
	struct rl_topo_spec spec = figure_1();
	char err[RL_ERR_MAX];
	struct rl_topo t;

	(void)state;
	spec.fail = one;
	spec.nfail = 1;
	assert_int_equal(rl_topo_build(&spec, &t, err, NULL), 0);
	assert_true(rl_topo_link_up(&t, 1));
	assert_false(rl_topo_link_up(&t, 2));
	rl_topo_free(&t);
	spec.fail = all;
	assert_int_equal(rl_topo_build(&spec, &t, err, NULL), 0);
	assert_false(rl_topo_link_up(&t, 1));
	assert_false(rl_topo_link_up(&t, 2));
	rl_topo_free(&t);
	spec.fail = sw;
	assert_int_equal(rl_topo_build(&spec, &t, err, NULL), 0);
	assert_false(rl_topo_link_up(&t, 3));
	assert_false(t.link[3].failed);
	rl_topo_free(&t);
	spec.fail = none;
	spec.nfail = 2;
	refused(&spec, 10, "there is no switch s4");
	spec.fail = far;
	spec.nfail = 1;
	refused(&spec, 10, "there is no link s1-s0#2; #0 to #1 exist");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figure_1_is_two_switches_and_two_links),
		cmocka_unit_test(links_of_a_pair_are_counted_however_the_list_names_them),
		cmocka_unit_test(two_endpoints_may_be_joined_without_a_switch),
		cmocka_unit_test(a_bad_list_is_refused_at_its_line),
		cmocka_unit_test(failed_from_the_start_is_marked_or_refused_at_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
