/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings that good files give. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config_test.h"

#include "rl_flit.h"

static void
a_fabric_alone_has_every_default(void **state)
{
	struct rl_config *cfg = config_take(FIGURE_1);
	struct rl_link_cfg link;
	struct rl_ep_cfg ep;

	(void)state;
	rl_link_cfg_defaults(&link);
	rl_ep_cfg_defaults(&ep);
	check_same("link", &cfg->link, &link);
	check_same("endpoint", &cfg->endpoint, &ep);
	assert_int_equal(cfg->endpoint.max_packet_flits, link.max_packet_flits);
	assert_string_equal(cfg->file, "t.cfg");
	assert_string_equal(cfg->engine, "");
	assert_int_equal(cfg->engine_line, 0);
	assert_int_equal(cfg->vls, 8);
	assert_int_equal(cfg->topo.nlink, 4);
	assert_int_equal(cfg->nattach, 0);
	assert_int_equal(cfg->nplace, 0);
	config_drop(cfg);
}

/* The example of the outside interface, as a torus [ROUTE-1]. */
static void
a_grid_takes_all_its_keys(void **state)
{
	struct rl_config *cfg = config_take(
		"fabric: {\n"
		"  topology = \"torus\";\n"
		"  dims = [5, 4];\n"
		"  wrap = [true, false];\n"
		"  links_per_edge = [2, 3];\n"
		"  hosts_per_switch = 2;\n"
		"  fail = [\"s0.0-s1.0\", \"s1.0-s2.0#1\", \"s2.2\"];\n"
		"};\n"
		"routing: { engine = \"torus-2qos\";\n vls = 4; };\n");
	const struct rl_topo *t = &cfg->topo;

	(void)state;
	assert_int_equal(t->ndev, 60);
	assert_int_equal(t->nlink, 40 + 2 * 20 + 3 * 5 * 3);
	assert_int_equal(t->spec.kind, RL_TOPO_TORUS);
	assert_false(rl_topo_link_up(t, (uint32_t)rl_topo_find_link(
						t, "s0.0-s1.0#0", NULL)));
	assert_false(rl_topo_link_up(t, (uint32_t)rl_topo_find_link(
						t, "s0.0-s1.0#1", NULL)));
	assert_true(rl_topo_link_up(t, (uint32_t)rl_topo_find_link(
					       t, "s1.0-s2.0#0", NULL)));
	assert_false(rl_topo_link_up(t, (uint32_t)rl_topo_find_link(
						t, "s1.0-s2.0#1", NULL)));
	assert_true(t->dev[rl_topo_find_dev(t, "s2.2")].failed);
	assert_string_equal(cfg->engine, "torus-2qos");
	assert_int_equal(cfg->engine_line, 9);
	assert_string_equal(cfg->engine_file, "t.cfg");
	assert_int_equal(cfg->vls, 4);
	config_drop(cfg);
}

static void
lists_may_stand_in_round_brackets_and_one_radix_alone(void **state)
{
	struct rl_config *cfg = config_take(
		"fabric = { topology = \"mesh\", dims = (3, 3), "
		"wrap = (false, true), links_per_edge = 2 }");

	(void)state;
	assert_int_equal(cfg->topo.nlink, 9 + 2 * 6 + 2 * 9);
	config_drop(cfg);
	cfg = config_take("fabric: { topology = \"torus\"; dims = 7; };");
	assert_int_equal(cfg->topo.nlink, 14);
	assert_int_equal(cfg->topo.spec.ndims, 1);
	config_drop(cfg);
}

/* Failures may cut a fabric: the engines decide whether to refuse it. */
static void
failures_that_cut_a_fabric_are_taken(void **state)
{
	struct rl_config *cfg = config_take(
		"fabric: { topology = \"mesh\"; dims = [3];"
		" fail = [\"s0-s1\"]; };");
	char err[RL_ERR_MAX];

	(void)state;
	assert_int_equal(rl_topo_reach(&cfg->topo, RL_REACH_WORKING, err),
			 -EHOSTUNREACH);
	config_drop(cfg);
}

static void
words_become_what_they_stand_for(void **state)
{
	struct rl_config *cfg = config_take(
		FIGURE_1
		"link: { retry = false; switching = \"cut-through\";\n"
		"  loopback = \"unacked-only\"; dup_filter = true;\n"
		"  init_action = \"best-effort\";\n"
		"  replay_isl = [\"posted\", \"control\"];\n"
		"  replay_endpoint = [ ]; };\n"
		"endpoint: { profile = \"cxl-sep-ack\"; crc = \"crc64-ecma\";\n"
		"  isn = \"xor10\"; retry_mode = \"go-back-n\"; };\n");

	(void)state;
	assert_false(cfg->link.retry);
	assert_int_equal(cfg->link.switching, RL_CUT_THROUGH);
	assert_int_equal(cfg->link.loopback, RL_LOOPBACK_UNACKED);
	assert_true(cfg->link.dup_filter);
	assert_int_equal(cfg->link.init_action, RL_INIT_BEST_EFFORT);
	assert_int_equal(cfg->link.replay_isl,
			 1 << RL_CLASS_REQ_POSTED | 1 << RL_CLASS_CTRL);
	assert_int_equal(cfg->link.replay_endpoint, 0);
	assert_int_equal(cfg->endpoint.profile, RL_PROFILE_CXL_SEP_ACK);
	assert_int_equal(cfg->endpoint.crc, RL_CRC_ECMA);
	assert_int_equal(cfg->endpoint.isn, RL_ISN_XOR10);
	assert_int_equal(cfg->endpoint.retry_mode, RL_RETRY_GBN);
	config_drop(cfg);

	cfg = config_take(FIGURE_1
			  "link: { loopback = \"none\";\n"
			  "  init_action = \"discard\";\n"
			  "  replay_isl = ( \"request\", \"response\" ); };\n"
			  "endpoint: { profile = \"rxl-compact\";\n"
			  "  isn = \"wide19\"; };\n");
	assert_int_equal(cfg->link.loopback, RL_LOOPBACK_NONE);
	assert_int_equal(cfg->link.init_action, RL_INIT_DISCARD);
	assert_int_equal(cfg->link.replay_isl,
			 1 << RL_CLASS_REQ_NONPOSTED | 1 << RL_CLASS_RSP);
	assert_int_equal(cfg->endpoint.profile, RL_PROFILE_RXL_COMPACT);
	assert_int_equal(cfg->endpoint.isn, RL_ISN_WIDE19);
	config_drop(cfg);
}

/* Left alone, libconfig would read 705032704. */
static void
numbers_need_no_letter_beyond_32_bits(void **state)
{
	static const struct {
		const char *word;
		uint64_t want;
	} c[] = {
		{"5000000000", 5000000000ull},
		{"5000000000L", 5000000000ull},
		{"5000000000LL", 5000000000ull},
		{"+5000000000", 5000000000ull},
		{"0x12A05F200", 5000000000ull},
		{"0x12a05f200L", 5000000000ull},
		{"0x7fffffff", 0x7fffffff},
		{"0x80000000", 0x80000000},
		{"0xFFFFFFFF", 0xffffffff},
		{"2147483647", 0x7fffffff},
		{"2147483648", 0x80000000},
		{"4294967295", 0xffffffff},
		{"4294967296", 0x100000000ull},
		{"3600000000000", 3600000000000ull},
		{"7", 7},
		{"17", 17},
		{"17777777777", 17777777777ull},
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct rl_config *cfg;
		char text[600];

		snprintf(text, sizeof(text),
			 FIGURE_1 "link: { watchdog_ns = %s; };", c[i].word);
		cfg = config_take(text);
		if (cfg->link.watchdog_ns != c[i].want)
			fail_msg("%s was read as %llu", c[i].word,
				 (unsigned long long)cfg->link.watchdog_ns);
		config_drop(cfg);
	}
}

/* Numbers, comments and @include within strings and comments are no such. */
static void
strings_and_comments_are_left_as_they_are(void **state)
{
	struct rl_config *cfg = config_take(
		"# 5000000000 /* \" \n// \" /* 5000000000\n"
		"/* @include \"x\" \n@include \"missing.cfg\"\n*/\n"
		FIGURE_1
		"attach = ( { endpoint = \"e0\"; \n"
		"  port = \"/*5000000000\\\"#\" \"//\"; } );\n"
		"# @include \"missing.cfg\"\n#the end has no newline");

	(void)state;
	assert_int_equal(cfg->nattach, 1);
	assert_string_equal(cfg->attach[0].port, "/*5000000000\"#//");
	assert_int_equal(cfg->attach[0].line, 12);
	config_drop(cfg);
}

static void
an_attached_port_sends_to_the_other_of_two_endpoints(void **state)
{
	struct rl_config *cfg = config_take(
		FIGURE_1
		"attach = ( { endpoint = \"e1\"; port = \"net_pcap0\"; },\n"
		"  { endpoint = \"e0\"; port = \"net_tap0\"; dst = \"e1\"; } );");

	(void)state;
	assert_int_equal(cfg->nattach, 2);
	assert_string_equal(cfg->attach[0].endpoint, "e1");
	assert_string_equal(cfg->attach[0].port, "net_pcap0");
	assert_string_equal(cfg->attach[0].dst, "e0");
	assert_int_equal(cfg->attach[0].line, 7);
	assert_string_equal(cfg->attach[0].file, "t.cfg");
	assert_string_equal(cfg->attach[1].dst, "e1");
	config_drop(cfg);

	/* With more of them it has no way in unless it is told one. */
	cfg = config_take("fabric: { topology = \"mesh\"; dims = [3]; };\n"
			  "attach = ( { endpoint = \"e1\"; port = \"p\"; },\n"
			  "{ endpoint = \"e2\"; port = \"q\"; dst = \"e0\"; } );");
	assert_string_equal(cfg->attach[0].dst, "");
	assert_string_equal(cfg->attach[1].dst, "e0");
	config_drop(cfg);
}

/* Placement of roles on lcores [SW-3]. */
static void
roles_are_placed_as_the_file_says(void **state)
{
	struct rl_config *cfg = config_take(
		FIGURE_1 "lcores: { place = (\n"
			 "{ role = \"s\"; lcore = 1; },\n"
			 "{ role = \"s1\"; lcore = 1023; } ); };");

	(void)state;
	assert_int_equal(cfg->nplace, 2);
	assert_string_equal(cfg->place[0].role, "s");
	assert_int_equal(cfg->place[0].lcore, 1);
	assert_int_equal(cfg->place[0].line, 8);
	assert_string_equal(cfg->place[1].role, "s1");
	assert_int_equal(cfg->place[1].lcore, 1023);
	config_drop(cfg);
}

static void
the_longest_packet_of_a_link_is_the_endpoints_too(void **state)
{
	struct rl_config *cfg = config_take(
		FIGURE_1 "link: { max_packet_flits = 48; };\n"
			 "endpoint: { window_flits = 48; };\n");

	(void)state;
	assert_int_equal(cfg->link.max_packet_flits, 48);
	assert_int_equal(cfg->endpoint.max_packet_flits, 48);
	config_drop(cfg);
}

/* A folder of files for the tests of @include. */
struct folder {
	char path[64];
};

static void
folder_make(struct folder *f)
{
	strcpy(f->path, "/tmp/reflit-config-XXXXXX");
	assert_non_null(mkdtemp(f->path));
}

static char *
folder_name(const struct folder *f, const char *name, char *buf, size_t len)
{
	snprintf(buf, len, "%s/%s", f->path, name);
	return buf;
}

static void
folder_put(const struct folder *f, const char *name, const char *text)
{
	char path[128];
	FILE *file = fopen(folder_name(f, name, path, sizeof(path)), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void
folder_remove(const struct folder *f, const char *const *name)
{
	char path[128];

	for (; *name != NULL; name++)
		assert_int_equal(remove(folder_name(f, *name, path,
						    sizeof(path))), 0);
	assert_int_equal(rmdir(f->path), 0);
}

static void
a_weight_for_each_vc_in_use_or_one_for_all(void **state)
{
	struct rl_config *cfg = config_take(
		FIGURE_1 "link: { vcs = 3; vc_weights = [4, 255, 1]; };");

	(void)state;
	assert_int_equal(cfg->link.vc_weights[0], 4);
	assert_int_equal(cfg->link.vc_weights[1], 255);
	assert_int_equal(cfg->link.vc_weights[2], 1);
	assert_int_equal(cfg->link.vc_weights[3], 0);
	config_drop(cfg);
	cfg = config_take(FIGURE_1 "link: { vc_weights = 7; };");
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		assert_int_equal(cfg->link.vc_weights[vc], 7);
	config_drop(cfg);
}

/* What is left out is as long as what the other keys allow. */
static void
numbers_and_windows_that_are_left_out_follow_the_other_keys(void **state)
{
	static const struct {
		const char *keys;
		enum rl_isn_kind isn;
		uint32_t window;
	} c[] = {
		{ "", RL_ISN_WIDE19, 4095 },
		{ "window_flits = 64;", RL_ISN_WIDE19, 64 },
		{ "isn = \"wide\";", RL_ISN_WIDE, 511 },
		{ "crc = \"crc64-ecma\";", RL_ISN_WIDE, 511 },
		{ "crc = \"crc64-ecma\"; isn = \"xor10\";", RL_ISN_XOR10,
		  511 },
		{ "crc = \"pcie6-rs\"; window_flits = 100;", RL_ISN_XOR10,
		  100 },
		{ "profile = \"cxl\";", RL_ISN_WIDE19, 511 },
		{ "retry = false;", RL_ISN_WIDE19, 511 },
		{ "profile = \"rxl-compact\";", RL_ISN_WIDE19, 4095 },
	};
	char text[1000];

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct rl_config *cfg;

		snprintf(text, sizeof(text), FIGURE_1 "%s%s%s",
			 i == 0 ? "" : "endpoint: { ", c[i].keys,
			 i == 0 ? "" : " };");
		cfg = config_take(text);
		assert_int_equal(cfg->endpoint.isn, c[i].isn);
		assert_int_equal(cfg->endpoint.window_flits, c[i].window);
		config_drop(cfg);
	}
}

static void
included_files_are_found_beside_the_one_that_names_them(void **state)
{
	static const char *const names[] = {"sub/link.cfg", "sub/inner.cfg",
					    "sub", "main.cfg", NULL};
	struct folder f;
	struct rl_config *cfg = config_new();
	char path[128], err[ERR_MAX] = "";

	(void)state;
	folder_make(&f);
	assert_int_equal(mkdir(folder_name(&f, "sub", path, sizeof(path)),
			       0700), 0);
	folder_put(&f, "main.cfg", FIGURE_1 "  @include \"sub/link.cfg\" # so\n"
				   "attach = (\n"
				   "{ endpoint = \"e0\"; port = \"p\"; } );\n");
	folder_put(&f, "sub/link.cfg", "link: {\n"
				       "@include \"inner.cfg\"\n"
				       "watchdog_ns = 6000000000; };");
	folder_put(&f, "sub/inner.cfg", "vcs = 3;\n\n");
	folder_name(&f, "main.cfg", path, sizeof(path));
	if (rl_config_read(path, cfg, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	assert_int_equal(cfg->link.vcs, 3);
	assert_true(cfg->link.watchdog_ns == 6000000000ull);
	assert_int_equal(cfg->nfiles, 3);
	assert_int_equal(cfg->attach[0].line, 9);
	assert_string_equal(cfg->attach[0].file, path);
	config_drop(cfg);
	folder_remove(&f, names);
}

static void
an_error_in_an_included_file_is_at_its_line(void **state)
{
	static const char *const names[] = {"link.cfg", "main.cfg", NULL};
	static const struct {
		const char *link;
		const char *file;
		int line;
		const char *why;
	} c[] = {
		{"link: {\n\nvcs = 9;\n};", "link.cfg", 3, "vcs: 9 is out"},
		{"link: {\n\nvcs = ;\n};", "link.cfg", 3, "syntax error"},
		{"link: { };\n/*", "link.cfg", 2, "comment has no end"},
		{"@include \"link.cfg\"\n", "link.cfg", 1,
		 "more than 10 deep; does one include itself?"},
		{"link: { };", "main.cfg", 9, "no key endpoint.speed"},
		{"link: { };\n", "main.cfg", 9, "no key endpoint.speed"},
		{"", "main.cfg", 9, "no key endpoint.speed"},
		{"# only this", "main.cfg", 9, "no key endpoint.speed"},
		{"@include \"none.cfg\"", "link.cfg", 1, "No such file"},
		{"@include \"/nowhere/none.cfg\"", "link.cfg", 1,
		 "cannot include /nowhere/none.cfg: No such file"},
		{"fabric: { };", "link.cfg", 1, "duplicate setting name"},
	};
	struct folder f;

	(void)state;
	folder_make(&f);
	folder_put(&f, "main.cfg", FIGURE_1 "@include \"link.cfg\"\n"
				   "endpoint: {\n  speed = 4; };\n");
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct rl_config *cfg = config_new();
		char path[128], want[160], err[ERR_MAX] = "";

		folder_put(&f, "link.cfg", c[i].link);
		assert_int_equal(rl_config_read(folder_name(&f, "main.cfg",
							    path, sizeof(path)),
						cfg, err, sizeof(err)),
				 -EINVAL);
		check_error_form(err);
		snprintf(want, sizeof(want), "%s/%s:%d: ", f.path, c[i].file,
			 c[i].line);
		if (strncmp(err, want, strlen(want)) != 0 ||
		    strstr(err, c[i].why) == NULL)
			fail_msg("case %u: %s", i, err);
		free(cfg);
	}
	folder_remove(&f, names);
}

/* The error comes from the graph, long after the text was gathered. */
static void
an_included_link_that_joins_nothing_is_at_its_line(void **state)
{
	static const char *const names[] = {"links.cfg", "main.cfg", NULL};
	struct folder f;
	struct rl_config *cfg = config_new();
	char path[128], want[160], err[ERR_MAX] = "";

	(void)state;
	folder_make(&f);
	folder_put(&f, "main.cfg", "fabric: { topology = \"custom\";\n"
				   "switches = ({ name = \"s0\"; });\n"
				   "endpoints = ({ name = \"e0\"; });\n"
				   "@include \"links.cfg\"\n};");
	folder_put(&f, "links.cfg", "links = ( { a = \"e0\"; b = \"s0\"; },\n"
				    "{ a = \"e0\"; b = \"s9\"; } );\n");
	assert_int_equal(rl_config_read(folder_name(&f, "main.cfg", path,
						    sizeof(path)),
					cfg, err, sizeof(err)), -EINVAL);
	snprintf(want, sizeof(want), "%s/links.cfg:2: link e0-s9: no device",
		 f.path);
	assert_int_equal(strncmp(err, want, strlen(want)), 0);
	free(cfg);
	folder_remove(&f, names);
}

static void
a_pipe_is_read_but_never_included(void **state)
{
	static const char *const names[] = {"fifo", "main.cfg", NULL};
	struct rl_config *cfg = config_new();
	char path[128], err[ERR_MAX] = "";
	struct folder f;
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(write(fd[1], FIGURE_1, strlen(FIGURE_1)),
			 strlen(FIGURE_1));
	close(fd[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd[0]);
	if (rl_config_read(path, cfg, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	close(fd[0]);
	rl_config_free(cfg);

	folder_make(&f);
	assert_int_equal(mkfifo(folder_name(&f, "fifo", path, sizeof(path)),
				0600), 0);
	folder_put(&f, "main.cfg", "@include \"fifo\"\n");
	assert_int_equal(rl_config_read(folder_name(&f, "main.cfg", path,
						    sizeof(path)),
					cfg, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "not a plain file"));
	free(cfg);
	folder_remove(&f, names);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fabric_alone_has_every_default),
		cmocka_unit_test(a_grid_takes_all_its_keys),
		cmocka_unit_test(lists_may_stand_in_round_brackets_and_one_radix_alone),
		cmocka_unit_test(failures_that_cut_a_fabric_are_taken),
		cmocka_unit_test(words_become_what_they_stand_for),
		cmocka_unit_test(numbers_need_no_letter_beyond_32_bits),
		cmocka_unit_test(strings_and_comments_are_left_as_they_are),
		cmocka_unit_test(an_attached_port_sends_to_the_other_of_two_endpoints),
		cmocka_unit_test(roles_are_placed_as_the_file_says),
		cmocka_unit_test(the_longest_packet_of_a_link_is_the_endpoints_too),
		cmocka_unit_test(a_weight_for_each_vc_in_use_or_one_for_all),
		cmocka_unit_test(
			numbers_and_windows_that_are_left_out_follow_the_other_keys),
		cmocka_unit_test(included_files_are_found_beside_the_one_that_names_them),
		cmocka_unit_test(an_error_in_an_included_file_is_at_its_line),
		cmocka_unit_test(an_included_link_that_joins_nothing_is_at_its_line),
		cmocka_unit_test(a_pipe_is_read_but_never_included),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
