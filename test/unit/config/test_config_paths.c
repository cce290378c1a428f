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

#define TORUS(more) "fabric: { topology = \"torus\"; dims = " more "; };\n"

/* Left out, there is a plane where it serves, and the order follows it. */
static void
tori_have_a_plane_unless_told_otherwise(void **state)
{
	static const struct {
		const char *text;
		bool adaptive;
	} c[] = {
		{ TORUS("[3, 3]"), true },
		{ TORUS("[16, 16]"), true },
		{ TORUS("[4, 2, 3]"), true },
		{ TORUS("[4, 4]") "endpoint: { window_flits = 64; };", true },
		{ TORUS("[4, 4]; fail = [\"s1.1\"]"), true },
		{ TORUS("[16, 17]"), false },
		{ TORUS("[8]"), false },
		{ TORUS("[8, 2]"), false },
		{ TORUS("[4, 4, 4]; wrap = [true, true, false]"), false },
		{ TORUS("[4, 4]") "routing: { adaptive = false; };", false },
		{ TORUS("[4, 4]") "routing: { engine = \"updown\"; };", false },
		{ TORUS("[4, 4]") "routing: { vls = 7; };", false },
		{ TORUS("[4, 4]") "routing: { levels = 2; };", false },
		{ TORUS("[4, 4]") "link: { vcs = 4; };", false },
		{ TORUS("[4, 4]") "link: { retry = false; };", false },
		{ TORUS("[4, 4]") "link: { switching = \"cut-through\"; };",
		  false },
		{ TORUS("[4, 4]") "endpoint: { order = \"path\"; };", false },
		{ TORUS("[4, 4]") ORDER, false },
		{ TORUS("[4, 4]") "endpoint: { retry = false; };", false },
		{ TORUS("[4, 4]") "endpoint: { profile = \"cxl\"; };", false },
		{ "fabric: { topology = \"mesh\"; dims = [8, 8]; };", false },
		{ FIGURE_1, false },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct rl_config *cfg = config_take(c[i].text);
		const bool order = c[i].adaptive ||
				   strstr(c[i].text, ORDER) != NULL;

		if (cfg->adaptive != c[i].adaptive ||
		    cfg->endpoint.order !=
			    (order ? RL_ORDER_ENDPOINT : RL_ORDER_PATH))
			fail_msg("%s: adaptive is %d, order %d", c[i].text,
				 cfg->adaptive, cfg->endpoint.order);
		if (cfg->adaptive)
			assert_int_equal(rl_config_levels(cfg), 16);
		config_drop(cfg);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_adaptive_plane_with_all_that_it_needs_is_taken),
		cmocka_unit_test(
			it_is_refused_where_it_does_not_go_with_the_rest),
		cmocka_unit_test(tori_have_a_plane_unless_told_otherwise),
	};

	return cmocka_run_group_tests_name("many paths in fabric files", tests,
					   NULL, NULL);
}
