/* SPDX-License-Identifier: BSD-3-Clause */
/* Many paths [EP-10, ROUTE-9]: what the groups must say for each other. */
#include "config_test.h"

#define ADAPTIVE "routing: {\nadaptive = true; };\n"
#define ORDER "endpoint: { order = \"endpoint\"; };\n"

static void
an_adaptive_plane_with_all_that_it_needs_is_taken(void **state)
{
	struct rl_config *cfg = config_take(FIGURE_1 ADAPTIVE ORDER);
	const uint64_t digest = rl_config_digest(cfg);

	(void)state;
	assert_true(cfg->adaptive);
	assert_int_equal(cfg->endpoint.order, RL_ORDER_ENDPOINT);
	assert_int_equal(rl_config_levels(cfg), 0);
	config_drop(cfg);
	/* whatever the mode of recoveries; the order follows */
	cfg = config_take(FIGURE_1 ADAPTIVE "controller: { mode = \"live\"; };");
	assert_int_equal(cfg->endpoint.order, RL_ORDER_ENDPOINT);
	assert_int_equal(cfg->controller.mode, RL_RESIL_LIVE);
	config_drop(cfg);
	cfg = config_take(FIGURE_1 ADAPTIVE "endpoint: { window_flits = 64; };");
	assert_int_equal(cfg->endpoint.order, RL_ORDER_ENDPOINT);
	config_drop(cfg);
	cfg = config_take(FIGURE_1 ORDER);
	assert_false(cfg->adaptive);
	assert_int_equal(rl_config_levels(cfg), 1);
	assert_true(rl_config_digest(cfg) != digest);
	config_drop(cfg);
}

static void
it_is_refused_where_it_does_not_go_with_the_rest(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} bad[] = {
		{FIGURE_1 ADAPTIVE "endpoint: { order = \"path\"; };",
		 "set endpoint.order = \"endpoint\""},
		{FIGURE_1 ADAPTIVE ORDER
		 "link: { switching = \"cut-through\"; };",
		 "set link.switching = \"store-and-forward\""},
		{FIGURE_1 "routing: { levels = 2;\nadaptive = true; };\n" ORDER,
		 "set routing.levels = 1"},
		{FIGURE_1 "routing: { vls = 1;\nadaptive = true; };\n" ORDER,
		 "raise routing.vls or link.vcs"},
		{FIGURE_1 ADAPTIVE "endpoint: { retry = false; };\n",
		 "routing.adaptive: order: \"endpoint\" needs"},
		{FIGURE_1 ADAPTIVE "endpoint: { profile = \"cxl\"; };\n",
		 "set profile = \"rxl\""},
		{FIGURE_1 "endpoint: { retry = false;\norder = \"endpoint\"; };",
		 "set retry = true"},
		{FIGURE_1 "endpoint: { profile = \"cxl\";\n"
			  "order = \"endpoint\"; };",
		 "set profile = \"rxl\""},
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(bad); i++)
		config_refuse(bad[i].text, strlen(bad[i].text), -EINVAL, 8,
			      bad[i].why);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_adaptive_plane_with_all_that_it_needs_is_taken),
		cmocka_unit_test(
			it_is_refused_where_it_does_not_go_with_the_rest),
	};

	return cmocka_run_group_tests_name("many paths in fabric files", tests,
					   NULL, NULL);
}
