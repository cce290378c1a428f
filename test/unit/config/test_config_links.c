/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that differ from the group `link`, by type and by name [LINK-4] [LINK-5]. */
#include "config_test.h"

static const struct rl_link_cfg *
link_of(const struct rl_config *cfg, const char *name)
{
	const int64_t link = rl_topo_find_link(&cfg->topo, name, NULL);

	assert_true(link >= 0);
	return rl_config_link(cfg, (uint32_t)link);
}

static void
links_differ_by_type_and_by_name_and_the_later_entry_wins(void **state)
{
	struct rl_config *cfg = config_take(
		FIGURE_1 "link: { replay_limit = 5; window_flits = 256; };\n"
			 "link_settings = (\n"
			 "  { links = \"isl\"; replay_limit = 7; },\n"
			 "  { links = \"endpoint\"; keepalive_ns = 5000000;\n"
			 "    error_window_ns = 0; },\n"
			 "  { links = \"s1-s0#1\"; replay_limit = 9;\n"
			 "    window_flits = 1024; } );\n");

	(void)state;
	assert_int_equal(cfg->link.replay_limit, 5);
	assert_int_equal(link_of(cfg, "s0-s1#0")->replay_limit, 7);
	assert_int_equal(link_of(cfg, "s0-s1#0")->window_flits, 256);
	assert_int_equal(link_of(cfg, "s0-s1#1")->replay_limit, 9);
	assert_int_equal(link_of(cfg, "s0-s1#1")->window_flits, 1024);
	assert_int_equal(link_of(cfg, "e0-s0")->replay_limit, 5);
	assert_int_equal(link_of(cfg, "e0-s0")->keepalive_ns, 5000000);
	assert_int_equal(link_of(cfg, "e1-s1")->error_window_ns, 0);
	assert_int_not_equal(link_of(cfg, "s0-s1#0")->error_window_ns, 0);
	config_drop(cfg);
}

static void
a_name_without_a_number_means_all_parallel_links(void **state)
{
	struct rl_config *cfg = config_take(
		FIGURE_1 "link_settings = ( { links = \"s0-s1\"; "
			 "ack_coalesce_flits = 3; } );\n");

	(void)state;
	for (uint32_t i = 0; i < cfg->topo.nlink; i++)
		assert_int_equal(rl_config_link(cfg, i)->ack_coalesce_flits == 3,
				 cfg->topo.link[i].kind == RL_LINK_ISL);
	config_drop(cfg);
}

static void
a_link_that_a_kernel_carries_is_patient_unless_it_was_set(void **state)
{
	static const char *const file[] = {
		FIGURE_1 "wires = ( { link = \"s0-s1#0\"; a = \"%s\"; b = "
			 "\"net_af_packet1\"; } );\n",
		FIGURE_1 "link: { keepalive_dead_ns = 30000000; };\n"
			 "link_settings = ( { links = \"isl\"; "
			 "replay_timer_min_ns = 300000; } );\n"
			 "wires = ( { link = \"s0-s1#0\"; a = \"%s\"; b = "
			 "\"net_af_packet1\"; } );\n",
		/* no room for a longer one */
		FIGURE_1 "link: { keepalive_dead_ns = 1000000; "
			 "keepalive_ns = 500000; replay_timer_max_ns = 1000000;"
			 " };\n"
			 "wires = ( { link = \"s0-s1#0\"; a = \"%s\"; b = "
			 "\"net_af_packet1\"; } );\n",
	};
	uint64_t digest[2];
	struct rl_link_cfg d;
	char text[1024];

	(void)state;
	rl_link_cfg_defaults(&d);
	for (int i = 0; i < 3; i++) {
		struct rl_config *cfg;

		snprintf(text, sizeof(text), file[i], "net_af_packet0");
		cfg = config_take(text);
		/* its neighbour is a software wire */
		assert_true(link_of(cfg, "s0-s1#1")->init_interval_ns ==
			    d.init_interval_ns);
		if (i < 2)
			assert_true(link_of(cfg, "s0-s1#0")->init_interval_ns >
				    d.init_interval_ns);
		if (i == 0)
			assert_true(link_of(cfg, "s0-s1#0")->replay_timer_min_ns >=
				    10 * d.replay_timer_min_ns);
		if (i == 1) {
			assert_int_equal(link_of(cfg, "s0-s1#0")
						 ->keepalive_dead_ns, 30000000);
			assert_int_equal(link_of(cfg, "s0-s1#0")
						 ->replay_timer_min_ns, 300000);
		}
		if (i == 2)
			assert_memory_equal(link_of(cfg, "s0-s1#0"),
					    &cfg->link, sizeof(cfg->link));
		digest[0] = rl_config_digest(cfg);
		config_drop(cfg);
		/* a process that reaches it by a NIC is of the same fabric */
		snprintf(text, sizeof(text), file[i], "0000:01:00.0");
		cfg = config_take(text);
		digest[1] = rl_config_digest(cfg);
		assert_true(digest[0] == digest[1]);
		config_drop(cfg);
	}
}

static void
without_entries_all_links_have_the_settings_of_the_group(void **state)
{
	struct rl_config *cfg = config_take(FIGURE_1 "link_settings = ( );\n");

	(void)state;
	assert_ptr_equal(rl_config_link(cfg, 2), &cfg->link);
	config_drop(cfg);
}

/* Two processes whose links differ refuse to train [PHY-3]. */
static void
the_digest_knows_what_links_are_set_to(void **state)
{
	static const char *const text[] = {
		FIGURE_1,
		FIGURE_1 "link_settings = ( { links = \"isl\"; "
			 "replay_limit = 9; } );\n",
		FIGURE_1 "link_settings = ( { links = \"endpoint\"; "
			 "replay_limit = 9; } );\n",
	};
	uint64_t digest[RL_ARRAY_SIZE(text)];

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(text); i++) {
		struct rl_config *cfg = config_take(text[i]);

		digest[i] = rl_config_digest(cfg);
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(digest[i], digest[k]);
		config_drop(cfg);
	}
}

static void
bad_entries_are_refused_at_their_line(void **state)
{
#define ENTRY(text) FIGURE_1 "link_settings = (\n  " text "\n);\n"
	static const struct {
		const char *text;
		int line;
		const char *why;
	} bad[] = {
		{ENTRY("{ replay_limit = 3; }"), 8, "has no text `links`"},
		{ENTRY("{ links = 3; replay_limit = 3; }"), 8,
		 "has no text `links`"},
		{ENTRY("{ links = \"s0-s9\"; replay_limit = 3; }"), 8,
		 "the fabric has no link s0-s9"},
		{ENTRY("{ links = \"s0-s1#2\"; replay_limit = 3; }"), 8,
		 "the fabric has no link s0-s1#2"},
		{ENTRY("{ links = \"isl\";\n replay_limt = 3; }"), 9,
		 "did you mean replay_limit"},
		{ENTRY("{ links = \"isl\";\n replay_limit = -1; }"), 9,
		 "-1 is out of range"},
		{ENTRY("{ links = \"isl\";\n switching = \"cut-through\"; }"),
		 9, "link_settings.switching: all links share it"},
		{ENTRY("{ links = \"isl\";\n vcs = 2; }"), 9,
		 "link_settings.vcs: all links share it"},
		{ENTRY("{ links = \"isl\"; keepalive_ns = 4000000;\n"
		       " keepalive_dead_ns = 1000000; }"),
		 9, "link_settings.keepalive_dead_ns"},
		{ENTRY("\"isl\""), 9, "it takes a list of groups"},
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(bad); i++)
		config_refuse(bad[i].text, strlen(bad[i].text), -EINVAL,
			      bad[i].line, bad[i].why);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_differ_by_type_and_by_name_and_the_later_entry_wins),
		cmocka_unit_test(a_name_without_a_number_means_all_parallel_links),
		cmocka_unit_test(a_link_that_a_kernel_carries_is_patient_unless_it_was_set),
		cmocka_unit_test(without_entries_all_links_have_the_settings_of_the_group),
		cmocka_unit_test(the_digest_knows_what_links_are_set_to),
		cmocka_unit_test(bad_entries_are_refused_at_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
