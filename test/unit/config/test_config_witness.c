/* SPDX-License-Identifier: BSD-3-Clause */
/* Group `switch`, and LCRC: a key that is a word or a number [SW-5, LINK-7]. */
#include <stdio.h>

#include "config_test.h"

static void
a_witness_is_off_of_all_or_of_one_in_so_many(void **state)
{
	static const struct {
		const char *text;
		uint32_t one_in;
	} say[] = { { "", 0 },
		    { "switch: { };", 0 },
		    { "switch: { witness = \"off\"; };", 0 },
		    { "switch: { witness = \"all\"; };", 1 },
		    { "switch: { witness = 1; };", 1 },
		    { "switch: { witness = 16; };", 16 } };
	uint64_t digest[RL_ARRAY_SIZE(say)];

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(say); i++) {
		struct rl_config *cfg;
		char text[800];

		snprintf(text, sizeof(text), FIGURE_1
			 "%s\nlink_settings = ( { links = \"isl\";\n"
			 "  window_flits = 300; } );\n", say[i].text);
		cfg = config_take(text);
		assert_int_equal(cfg->link.witness, say[i].one_in);
		assert_int_equal(rl_config_link(cfg, 0)->witness,
				 say[i].one_in);
		digest[i] = rl_config_digest(cfg);
		config_drop(cfg);
	}
	/* two processes must agree */
	assert_true(digest[0] == digest[2] && digest[3] == digest[4]);
	assert_true(digest[0] != digest[3] && digest[3] != digest[5]);
}

static void
two_processes_must_agree_on_lcrc(void **state)
{
	struct rl_config *on = config_take(FIGURE_1
					   "link: { lcrc = true; };\n");
	struct rl_config *off = config_take(FIGURE_1);
	char diff[100];

	(void)state;
	assert_true(on->link.lcrc && !off->link.lcrc);
	assert_string_equal(rl_config_digest_diff(rl_config_digest(on),
						  rl_config_digest(off), diff,
						  sizeof(diff)),
			    "link or endpoint");
	config_drop(on);
	config_drop(off);
}

static void
what_is_no_witness_is_refused(void **state)
{
	static const struct {
		const char *text;
		int line;
		const char *why;
	} bad[] = {
		{ FIGURE_1 "link: { lcrc = true; };\n"
			   "endpoint: { isn = \"xor10\"; };", 7,
		  "link.lcrc: with endpoint.isn xor10" },
		{ FIGURE_1 "switch: {\nwitness = \"none\"; };", 8,
		  "no \"none\"; use one of \"off\", \"all\", 1 to 1048576" },
		{ FIGURE_1 "switch: {\nwitness = 0; };", 8,
		  "0 is out of range; use 1 to 1048576" },
		{ FIGURE_1 "switch: {\nwitness = 1048577; };", 8,
		  "1048577 is out of range" },
		{ FIGURE_1 "switch: {\nwitness = true; };", 8,
		  "is true or false; it takes a whole number, \"off\"" },
		{ FIGURE_1 "switch: {\nwitnes = 4; };", 8,
		  "no key switch.witnes; did you mean witness?" },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(bad); i++)
		config_refuse(bad[i].text, strlen(bad[i].text), -EINVAL,
			      bad[i].line, bad[i].why);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_witness_is_off_of_all_or_of_one_in_so_many),
		cmocka_unit_test(two_processes_must_agree_on_lcrc),
		cmocka_unit_test(what_is_no_witness_is_refused),
	};

	return cmocka_run_group_tests_name("witness and LCRC in fabric files",
					   tests, NULL, NULL);
}
