/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are refused: at which line, with which words [APP-4]. */
#include "config_test.h"

struct bad {
	const char *text;
	int line;
	const char *why;
};

static void
refuse_all(const struct bad *bad, size_t n)
{
	for (size_t i = 0; i < n; i++)
		config_refuse(bad[i].text, strlen(bad[i].text), -EINVAL,
			      bad[i].line, bad[i].why);
}

#define TORUS(keys) "fabric: {\n  topology = \"torus\";\n" keys "\n};\n"

static void
bad_grids_are_refused(void **state)
{
	static const struct bad bad[] = {
		{TORUS("dims = [0, 4];"), 3, "0 is out of range; use 1 to"},
		{TORUS("dims = [4, -1];"), 3, "-1 is out of range"},
		{TORUS("dims = [4,4,4,4];"), 3, "dims has 4 numbers; a grid"},
		{TORUS("dims = [];"), 3, "dims has 0 numbers"},
		{TORUS("dims = [70000];"), 3, "70000 is out of range"},
		{TORUS("dims = [4.5];"), 3, "a number with a fraction"},
		{TORUS("dims = [\"4\"];"), 3, "dims is a string"},
		{TORUS("dims = { x = 4; };"), 3, "dims is a group"},
		{TORUS("dims = (4, (4));"), 3, "dims is a list"},
		{TORUS("hosts_per_switch = 2;"), 1, "no key dims"},
		{TORUS("dims = [4];\nwrap = [true, true];"), 4,
		 "wrap has 2 values, dims has 1"},
		{TORUS("dims = [4];\nwrap = true;"), 4, "wrap is true or false"},
		{TORUS("dims = [4];\nwrap = [1];"), 4, "wrap is a number"},
		{TORUS("dims = [4, 4];\nlinks_per_edge = [1,2,3];"), 4,
		 "links_per_edge has 3 numbers; give one, or here 2"},
		{TORUS("dims = [4, 4];\nlinks_per_edge = 0;"), 4,
		 "links_per_edge: 0 is out of range"},
		{TORUS("dims = [4, 4];\nlinks_per_edge = [1, 0];"), 4,
		 "links_per_edge: 0 is out of range"},
		{TORUS("dims = [4, 4];\nhosts_per_switch = 0;"), 4,
		 "hosts_per_switch: 0 is out of range"},
		{TORUS("dims = [1];"), 3, "one endpoint"},
		{TORUS("dims = [256, 256];"), 3, "at most 65535 devices"},
		{TORUS("hosts_per_switch = 20000;\ndims = [4];"), 4,
		 "at most 65535 devices"},
		{TORUS("dims = [2];\nlinks_per_edge = 65534;"), 3,
		 "s0 has 65535 links"},
		{TORUS("dims = [4];\nboards = 3;"), 4,
		 "not a key of topology \"torus\""},
		{TORUS("dims = [4];\nlinks = ( );"), 4, "remove it"},
		{TORUS("dims = [4];\ntopology = \"mesh\";"), 4,
		 "duplicate setting name"},
		{"fabric: { topology = \"ring\"; };", 1,
		 "there is no \"ring\"; use one of \"torus\", \"mesh\""},
		{"fabric: { topology = 4; };", 1, "topology is a number"},
		{"\nfabric: { dims = [4]; };", 2, "no key topology"},
		{"fabric: { topology = \"boards\"; dims = [4]; };", 1,
		 "fabric.dims is not a key"},
		{"fabric: { topology = \"boards\";\n"
		 "links_per_edge = [1, 2]; };", 2, "or here 1"},
		{"fabric: { topology = \"boards\";\n"
		 "switches_per_endpoint = 9; };", 1, "a board has 2 switches"},
		{"fabric: { topology = \"board\"; boards = 2; };", 1,
		 "fabric.boards is not a key"},
		{"fabric: { topology = \"board\";\n"
		 "switches_per_endpoint = 1; };", 2, "is at least 2 here"},
	};

	(void)state;
	refuse_all(bad, RL_ARRAY_SIZE(bad));
}

/* Fat trees, dragonflies, Slim Flies, random graphs [ROUTE-8]. */
#define SHAPE(kind, keys) "fabric: { topology = \"" kind "\";\n" keys " };"
static const struct bad shapes[] = {
	{SHAPE("fat-tree", ""), 1, "no key m; give k and n, or m and w"},
	{SHAPE("fat-tree", "k = 4;"), 1, "no key n; add it"},
	{SHAPE("fat-tree", "n = 3;"), 1, "no key k; add it"},
	{SHAPE("fat-tree", "k = 4; n = 3;\nm = [4]; w = [1];"), 3,
	 "k and n, or m and w; not both"},
	{SHAPE("fat-tree", "k = 4;\nn = 9;"), 3,
	 "fabric.n: 9 is out of range; use 1 to 8"},
	{SHAPE("fat-tree", "k = 0;\nn = 2;"), 2, "k: 0 is out of range"},
	{SHAPE("fat-tree", "m = [4, 4];\nw = [1];"), 3,
	 "fabric.w has 1 numbers"},
	{SHAPE("fat-tree", "m = [4, 4];"), 1, "no key w; give k and n"},
	{SHAPE("fat-tree", "m = [];\nw = [1];"), 2,
	 "fabric.m has 0 numbers"},
	{SHAPE("fat-tree", "w = [1, 1];\nm = [4, 0];"), 3,
	 "m: 0 is out of range"},
	{SHAPE("fat-tree", "k = 4; n = 3;\nlinks_per_edge = [1, 2];"),
	 3, "or here 3 in brackets"},
	{SHAPE("fat-tree", "k = 4; n = 3;\nhosts_per_switch = 2;"), 3,
	 "hosts_per_switch is not a key"},
	{SHAPE("fat-tree", "k = 40;\nn = 8;"), 3,
	 "devices are possible"},
	{SHAPE("dragonfly", "h = 2;"), 1, "no key a; add it"},
	{SHAPE("dragonfly", "a = 4;"), 1, "no key h; add it"},
	{SHAPE("dragonfly", "a = 4; h = 2;\ngroups = 10;"), 3,
	 "use 9 groups at most"},
	{SHAPE("dragonfly", "a = 4; h = 2;\nglobal_links = \"x\";"), 3,
	 "there is no \"x\"; use one of"},
	{SHAPE("dragonfly", "a = 400;\nh = 400;"), 2,
	 "devices are possible"},
	{SHAPE("slim-fly", ""), 1, "no key q; add it"},
	{SHAPE("slim-fly", "q = 6;"), 2, "q is 6; use a prime power"},
	{SHAPE("slim-fly", "q = 200;"), 2, "q: 200 is out of range"},
	{SHAPE("random", "degree = 4;"), 1, "no key n; add it"},
	{SHAPE("random", "n = 9;"), 1, "no key degree; add it"},
	{SHAPE("random", "n = 9;\ndegree = 3;"), 3,
	 "half a link too many; make"},
	{SHAPE("random", "n = 9;\ndegree = 2;"), 3,
	 "degree: 2 is out of range"},
	{SHAPE("random", "n = 9; degree = 4;\nk = 4;"), 3,
	 "fabric.k is not a key"},
	{SHAPE("ibnetdiscover", ""), 1, "no key file; add it"},
	{SHAPE("ibnetdiscover", "file = 7;"), 2, "file is a number"},
	{SHAPE("ibnetdiscover", "file = \"none\";"), 2,
	 "cannot read none: No such file"},
	{SHAPE("ibnetdiscover", "file = \"config/torus-example."
	       "ibnetdiscover\";\ntorus_conf = \"none\";"), 3,
	 "cannot read none"},
	{SHAPE("ibnetdiscover", "file = \"config/torus-example."
	       "ibnetdiscover\"; torus_conf = \"config/torus-example."
	       "conf\";\nfail = [\"nix\"];"), 3,
	 "there is no switch nix"},
	{SHAPE("ibnetdiscover", "file = \"config\";"), 2,
	 "cannot read config: it is not a plain file"},
	{SHAPE("ibnetdiscover", "file = \"config/cluster-example."
	       "ibnetdiscover\";\nfail = [\"leaf_9\"];"), 3,
	 "there is no switch leaf_9"},
	{SHAPE("torus", "dims = [4];\nq = 5;"), 3,
	 "fabric.q is not a key"},
};
#undef SHAPE

static void
bad_shapes_are_refused(void **state)
{
	(void)state;
	refuse_all(shapes, RL_ARRAY_SIZE(shapes));
}

/* An error in the file that ibnetdiscover wrote names that file and line. */
static void
a_bad_ibnetdiscover_file_is_named_with_its_line(void **state)
{
	static const char text[] =
		"fabric: { topology = \"ibnetdiscover\";\n"
		"file = \"docs/configuration.md\"; };";
	struct rl_config *cfg = config_new();
	char err[ERR_MAX];

	(void)state;
	assert_int_equal(rl_config_read_text("t.cfg", text, strlen(text), cfg,
					     err, sizeof(err)), -EINVAL);
	check_error_form(err);
	assert_non_null(strstr(err, "docs/configuration.md:"));
	assert_null(strstr(err, "t.cfg"));
	free(cfg);
}

#define LISTS(sw, ep, links)                                                   \
	"fabric: { topology = \"custom\";\n"                                   \
	"switches = ( " sw " );\n"                                             \
	"endpoints = ( " ep " );\n"                                            \
	"links = ( " links " ); };\n"
#define SW "{name=\"s0\";}, {name=\"s1\";}"
#define EP "{name=\"e0\";}, {name=\"e1\";}"
#define LINKS "{a=\"e0\";b=\"s0\";}, {a=\"s0\";b=\"s1\";}, {a=\"s1\";b=\"e1\";}"

static void
bad_lists_are_refused(void **state)
{
	static const struct bad bad[] = {
		{LISTS(SW ",\n{name=\"s0\";}", EP, LINKS), 3,
		 "a second device is called 's0'"},
		{LISTS(SW, EP ",\n{name=\"s1\";}", LINKS), 4,
		 "a second device is called 's1'"},
		{LISTS(SW, EP, LINKS ",\n{a=\"s0\";b=\"s7\";}"), 5,
		 "link s0-s7: no device is called 's7'; add it"},
		{LISTS(SW, EP, LINKS ",\n{a=\"s1\";b=\"s1\";}"), 5,
		 "link s1-s1 joins a device to itself"},
		{LISTS(SW, EP, LINKS ",\n{a=\"s1\";}"), 5,
		 "fabric.links has no key b"},
		{LISTS(SW, EP, LINKS ",\n{a=\"s1\";b=\"s0\";count=0;}"), 5,
		 "count: 0 is out of range"},
		{LISTS(SW, EP, LINKS ",\n{a=\"s1\";b=\"s0\";k=1;}"), 5,
		 "no key fabric.links.k; "},
		{LISTS(SW, EP, LINKS ",\n{a=\"s1\";b=7;}"), 5,
		 "fabric.links.b is a number; it takes a string"},
		{LISTS(SW, EP, LINKS ",\n\"s0-s1\""), 5,
		 "fabric.links is a string; it takes a list of groups"},
		{LISTS(SW, EP ",\n{name=\"e2\";}", LINKS), 4,
		 "endpoint e2 has no link"},
		{LISTS(SW ",\n{name=\"s2\";}", EP, LINKS), 3,
		 "switch s2 has no link"},
		{LISTS(SW ",\n{name=\"s-2\";}", EP, LINKS), 3, "bad name 's-2'"},
		{LISTS(SW ",\n{name=\"\";}", EP, LINKS), 3, "0 characters"},
		{LISTS(SW ",\n{name=\"a2345678901234567890123456789012\";}",
		       EP, LINKS), 3, "32 characters; use 1 to 31"},
		{LISTS(SW ",\n{}", EP, LINKS), 3, "no key name"},
		{LISTS(SW ",\n{name=\"x\\ny\";}", EP, LINKS), 3, "'x?y'"},
		{LISTS("", "", ""), 4, "no endpoint"},
		{LISTS("{name=\"s\";}", "{name=\"e\";}", "{a=\"s\";b=\"e\";}"),
		 4, "one endpoint"},
		{"fabric: { topology = \"custom\"; };", 1, "no key endpoints"},
		{"fabric: { topology = \"custom\";\nendpoints = 7; };", 2,
		 "endpoints is a number"},
	};

	(void)state;
	refuse_all(bad, RL_ARRAY_SIZE(bad));
}

static void
what_cannot_be_reached_is_refused_with_its_parts(void **state)
{
	static const char text[] =
		LISTS(SW, EP, "{a=\"e0\";b=\"s0\";}, {a=\"s1\";b=\"e1\";}");

	(void)state;
	config_refuse(text, strlen(text), -EHOSTUNREACH, 4,
		      "2 separate parts: e0 at {s0} has no way to e1 at {s1}; "
		      "add links");
}

static void
bad_failures_are_refused(void **state)
{
	static const struct bad bad[] = {
		{TORUS("dims = [4];\nfail = [\"s0-s2\"];"), 4,
		 "there is no link s0-s2; name two devices that are joined"},
		{TORUS("dims = [4];\nfail = [\"s0-s1#1\"];"), 4,
		 "there is no link s0-s1#1; #0 to #0"},
		{TORUS("dims = [4];\nfail = [\"s0-s9\"];"), 4,
		 "no device is called 's9'"},
		{TORUS("dims = [4];\nfail = [\"s1\",\n\"s9\"];"), 5,
		 "there is no switch s9"},
		{TORUS("dims = [4];\nfail = [\"e1\"];"), 4, "e1 is an endpoint"},
		{TORUS("dims = [4];\nfail = [\"\"];"), 4, "names no link"},
		{TORUS("dims = [4];\nfail = [\"s0-s1#\"];"), 4, "write A-B"},
		{TORUS("dims = [4];\nfail = \"s0-s1\";"), 4,
		 "fail is a string; it takes a list in brackets"},
		{TORUS("dims = [4];\nfail = [7];"), 4, "fail is a number"},
	};

	(void)state;
	refuse_all(bad, RL_ARRAY_SIZE(bad));
}

/* [LINK-C1] */
static void
numbers_out_of_their_range_are_refused(void **state)
{
	static const struct bad bad[] = {
		{FIGURE_1 "link: {\nwindow_flits = 0; };", 8,
		 "0 is out of range; use 1 to 32767"},
		{FIGURE_1 "link: {\nreplay_limit = 256; };", 8,
		 "256 is out of range; use 1 to 255"},
		{FIGURE_1 "link: {\nvcs = 9; };", 8,
		 "9 is out of range; use 1 to 8"},
	};

	(void)state;
	refuse_all(bad, RL_ARRAY_SIZE(bad));
}

static const struct bad protocol_keys[] = {
	{FIGURE_1 "link: {\nwindow_flits = 32768; };", 8,
	 "32768 is out of range; use 1 to 32767 (replay buffer; below "
	 "half the modulus"},
	{FIGURE_1 "link: {\nmax_packet_flits = 100;\n"
		  "window_flits = 64; };", 8,
	 "a packet of 100 flits does not fit window_flits = 64"},
	{FIGURE_1 "link: {\nwindow_flits = 8; };", 8,
	 "does not fit window_flits = 8"},
	{FIGURE_1 "link: { credits_flits = 8; };", 7,
	 "does not fit credits_flits = 8"},
	{FIGURE_1 "link: {\nretry = 1; };", 8,
	 "link.retry is a number; it takes true or false"},
	{FIGURE_1 "link: {\nwindow_flits = \"64\"; };", 8,
	 "link.window_flits is a string; it takes a whole number, 1 "
	 "to 32767"},
	{FIGURE_1 "link: {\nwindow_flit = 64; };", 8,
	 "no key link.window_flit; did you mean window_flits?"},
	{FIGURE_1 "link: {\nspeed_bps = 64; };", 8,
	 "no key link.speed_bps; see docs/configuration.md"},
	{FIGURE_1 "link: {\nswitching = \"wormhole\"; };", 8,
	 "one of \"store-and-forward\", \"cut-through\""},
	{FIGURE_1 "link: {\ninit_action = \"drop\"; };", 8,
	 "one of \"block\", \"discard\", \"best-effort\""},
	{FIGURE_1 "link: {\nloopback = \"all\"; };", 8,
	 "one of \"whole-packets\", \"unacked-only\", \"none\""},
	{FIGURE_1 "link: {\nreplay_isl = [\"posted\", \"reply\"]; };",
	 8, "no \"reply\"; use some of \"posted\", \"response\""},
	{FIGURE_1 "link: {\nreplay_isl = \"posted\"; };", 8,
	 "replay_isl is a string; it takes a list"},
	{FIGURE_1 "link: {\nwatchdog_ns = 99999999999999999999; };", 8,
	 "more than 64 bits"},
	{FIGURE_1 "link: {\nwatchdog_ns = 4000000000000; };", 8,
	 "4000000000000 is out of range; use 1 to 3600000000000"},
	{FIGURE_1 "link: {\nwatchdog_ns = 0x1FFFFFFFFFFFF; };", 8,
	 "562949953421311 is out of range"},
	{FIGURE_1 "link: {\nkeepalive_dead_ns = 5; };", 8,
	 "less than two keepalives"},
	{FIGURE_1 "link: {\nreplay_timer_min_ns = 50000000; };", 8,
	 "replay_timer"},
	{FIGURE_1 "endpoint: { isn = \"wide\";\nwindow_flits = 512; };", 8,
	 "above 511 it needs isn = \"wide19\""},
	{FIGURE_1 "endpoint: {\nmax_packet_flits = 4; };", 8,
	 "no key endpoint.max_packet_flits"},
	{FIGURE_1 "endpoint: {\nwindow_flits = 16; };", 8,
	 "smaller than the longest packet"},
	{FIGURE_1 "link: {\nmax_packet_flits = 255;\n"
		  "credits_flits=300; queue_flits=300; };\n"
		  "endpoint: { \nwindow_flits = 254; };", 11,
	 "smaller than the longest packet"},
	{FIGURE_1 "link: {\nmax_packet_flits = 255;\n"
		  "credits_flits=300; queue_flits=300; };\n"
		  "endpoint: { tx_buffer_flits = 200; };", 10,
	 "smaller than the longest packet"},
	{FIGURE_1 "endpoint: {\nprofile = \"RXL\"; };", 8,
	 "no \"RXL\"; use one of \"rxl\", \"rxl-compact\""},
	{FIGURE_1 "endpoint: { crc = \"pcie6-rs\";\nisn = \"wide\"; };", 8, "isn"},
	{FIGURE_1 "routing: {\nvls = 9; };", 8, "use 1 to 8"},
	{FIGURE_1 "routing: {\nlevels = 3; };", 8, "1, 2, 4 or 8"},
	{FIGURE_1 "routing: {\nengine = 9; };", 8, "engine is a number"},
	{FIGURE_1 "routing: {\nengine = \"\"; };", 8, "0 characters"},
	{FIGURE_1 "link = 5;", 7, "link is a number; it takes a group"},
	{FIGURE_1 "links: { };", 7,
	 "there is no key links; did you mean link?"},
};

static void
bad_protocol_keys_are_refused(void **state)
{
	(void)state;
	refuse_all(protocol_keys, RL_ARRAY_SIZE(protocol_keys));
}

/* A number cannot be hidden in every CRC. */
static void
mixings_that_a_crc_does_not_do_are_refused(void **state)
{
	static const struct bad bad[] = {
		{FIGURE_1 "endpoint: {\ncrc = \"pcie6-rs\";\n"
			  "isn = \"wide\"; };", 9, "endpoint.isn"},
		{FIGURE_1 "endpoint: {\ncrc = \"crc64-ecma\";\n"
			  "isn = \"wide19\"; };", 9,
		 "endpoint.isn: wide19 needs crc64-bch"},
	};

	(void)state;
	refuse_all(bad, RL_ARRAY_SIZE(bad));
}

static void
weights_that_fit_no_vcs_are_refused(void **state)
{
	static const struct bad bad[] = {
		{FIGURE_1 "link: {\nvc_weights = [1, 2]; };", 8,
		 "link.vc_weights has 2 numbers; give 8, one for each VC in "
		 "use"},
		{FIGURE_1 "link: {\nvc_weights = 0; };", 8,
		 "link.vc_weights: 0 is out of range; use 1 to 255"},
		{FIGURE_1 "link: { vcs = 2;\nvc_weights = [4, 256]; };", 8,
		 "link.vc_weights: 256 is out of range"},
		{FIGURE_1 "link: {\nvc_weights = [\"3\"]; };", 8,
		 "link.vc_weights is a string; it takes whole numbers"},
	};

	(void)state;
	refuse_all(bad, RL_ARRAY_SIZE(bad));
}

static void
bad_attachments_and_placements_are_refused(void **state)
{
	static const struct bad bad[] = {
		{FIGURE_1 "attach = (\n{ endpoint = \"e7\"; port = \"p\"; } );",
		 8, "there is no endpoint e7; the first one is e0"},
		{FIGURE_1 "attach = (\n{ endpoint = \"s0\"; port = \"p\"; } );",
		 8, "s0 is a switch"},
		{FIGURE_1 "attach = (\n{ endpoint = \"e0\"; } );", 8,
		 "attach has no key port"},
		{FIGURE_1 "attach = (\n{ endpoint = \"e0\"; port = \"p\";\n"
			  "dst = \"e4\"; } );", 9, "there is no endpoint e4"},
		{FIGURE_1 "attach = (\n{ endpoint = \"e0\"; port = \"p\"; "
			  "dst = \"e0\"; } );", 8, "would go to itself"},
		{FIGURE_1 "attach = (\n{ endpoint = \"e0\"; port = \"p\"; },\n"
			  "{ endpoint = \"e1\"; port = \"p\"; } );", 9,
		 "port p is attached already, in line 8"},
		{FIGURE_1 "attach = (\n{ endpoint = \"e0\"; port = \"p\"; },\n"
			  "{ endpoint = \"e0\"; port = \"q\"; } );", 9,
		 "endpoint e0 has a port already, in line 8"},
		{FIGURE_1 "attach = { };", 7, "attach is a group"},
		{FIGURE_1 "attach = [ ];", 7, "attach is an array"},
		{FIGURE_1 "lcores: { s0 = 1; };", 7, "no key lcores.s0"},
		{FIGURE_1 "lcores: { place = (\n{ role = \"s0\"; } ); };", 8,
		 "lcores.place has no key lcore"},
		{FIGURE_1 "lcores: { place = (\n"
			  "{ role = \"s0\"; lcore = 1024; } ); };", 8,
		 "use 0 to 1023"},
		{FIGURE_1 "lcores: { place = (\n{ role = \"s0/\"; lcore = 1; },\n"
			  "{ role = \"s0/9\"; lcore = 2; } ); };", 9,
		 "no role's name begins with s0/9"},
		{FIGURE_1 "lcores: { place = (\n{ role = \"s0\"; lcore = 1; },\n"
			  "{ role = \"s0\"; lcore = 2; } ); };", 9,
		 "role s0 is placed already, in line 8"},
	};

	(void)state;
	refuse_all(bad, RL_ARRAY_SIZE(bad));
}

static void
bad_text_is_refused(void **state)
{
	static const struct bad bad[] = {
		{"", 0, "the file has no key fabric; add it"},
		{"# nothing\n", 0, "the file has no key fabric"},
		{"fabric = \"torus\";", 1, "fabric is a string"},
		{"fabric: {\n topology = ;\n};", 2, "syntax error; look for"},
		{"fabric: {\n topology = \"torus\n};\n", 2,
		 "this string has no end"},
		{"\nfabric: {\n", 3, "syntax error"},
		{"\n\n/* fabric: { };\n\n", 3, "this comment has no end"},
		{"fabric: { };\n@include \"missing.cfg\"\n", 2,
		 "cannot include missing.cfg: No such file"},
		{"fabric: { };\n@include missing.cfg\n", 2, "names no file"},
		{"fabric: { };\n  @include \"missing.cfg\n\"", 2, "names no file"},
		{"fabric: { };\n@include", 2, "names no file"},
		{"fabric: { };\n@include \"/\"\n", 2,
		 "cannot include /: it is not a plain file"},
		{"fabric: { };\n@include \"/dev/null\"\n", 2, "not a plain file"},
		{"fabric: { a = [1,\n\"x\"]; };", 2, "mismatched element type"},
		{"fabric: { topology = \"torus\"; dims = [4,\n4294967300]; };", 2,
		 "4294967300 is out of range"},
		{"fabric: { a = 9223372036854775808; };", 1, "more than 64 bits"},
		{"fabric: { a = -9223372036854775809; };", 1, "more than 64"},
		{"fabric: { a = 0xffffffffffffffff; };", 1, "more than 64 bits"},
		{"fabric: { a = 111111111111111111111111111111111111111111; };",
		 1, "more than 64 bits"},
		{"\xef\xbb\xbf" "fabric: { };", 1, "syntax error"},
		{"@", 1, "syntax error"},
		{"-", 1, "syntax error"},
		{".", 1, "syntax error"},
		{"\"", 1, "string has no end"},
		{"\"\\", 1, "string has no end"},
		{"0x", 1, "syntax error"},
		{"/", 1, "syntax error"},
		{"/*", 1, "comment has no end"},
	};

	(void)state;
	refuse_all(bad, RL_ARRAY_SIZE(bad));
}

static void
a_zero_byte_is_refused_wherever_it_stands(void **state)
{
	static const char text[] = FIGURE_1 "link: { };";
	char copy[sizeof(text)];

	(void)state;
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		struct rl_config *cfg = config_new();
		char err[ERR_MAX] = "";

		memcpy(copy, text, sizeof(text));
		copy[i] = '\0';
		assert_int_equal(rl_config_read_text("t.cfg", copy,
						     sizeof(text) - 1, cfg,
						     err, sizeof(err)),
				 -EINVAL);
		check_error_form(err);
		free(cfg);
	}
}

/* A file that ends too early is refused; the last ';' and newline may lack. */
static void
a_file_cut_short_is_refused(void **state)
{
	static const char text[] = FIGURE_1;
	const size_t whole = strlen(text) - 2;

	(void)state;
	for (size_t len = 0; len <= strlen(text); len++) {
		struct rl_config *cfg = config_new();
		char err[ERR_MAX] = "";
		const int ret = rl_config_read_text("t.cfg", text, len, cfg,
						    err, sizeof(err));

		assert_int_equal(ret == 0, len >= whole);
		if (ret != 0)
			check_error_form(err);
		else
			rl_config_free(cfg);
		free(cfg);
	}
}

/* As many as there is room for are taken; one more is not. */
static void
more_ports_than_there_is_room_for_are_refused(void **state)
{
	char text[16384], err[ERR_MAX] = "";

	(void)state;
	for (unsigned int n = RL_ATTACH_MAX; n <= RL_ATTACH_MAX + 1; n++) {
		struct rl_config *cfg = config_new();
		size_t at = (size_t)snprintf(
			text, sizeof(text),
			"fabric: { topology = \"torus\"; dims = [4]; "
			"hosts_per_switch = 20; };\nattach = (");
		int ret;

		for (unsigned int i = 0; i < n; i++)
			at += (size_t)snprintf(
				text + at, sizeof(text) - at,
				"%s { endpoint = \"e%u.%u\"; port = \"p%u\"; "
				"dst = \"e%u.%u\"; }", i == 0 ? "" : ",",
				i / 20, i % 20, i, (i / 20 + 1) % 4, i % 20);
		at += (size_t)snprintf(text + at, sizeof(text) - at, " );\n");
		ret = rl_config_read_text("t.cfg", text, at, cfg, err,
					  sizeof(err));
		if (n == RL_ATTACH_MAX) {
			assert_int_equal(ret, 0);
			assert_int_equal(cfg->nattach, n);
			rl_config_free(cfg);
		} else {
			assert_int_equal(ret, -EINVAL);
			assert_non_null(strstr(err, "at most 64"));
		}
		free(cfg);
	}
}

static void
files_that_cannot_be_read_are_refused(void **state)
{
	struct rl_config *cfg = config_new();
	char err[ERR_MAX] = "";
	char longname[5000];

	(void)state;
	assert_int_equal(rl_config_read("no/such.cfg", cfg, err, sizeof(err)),
			 -ENOENT);
	check_error_line(err);
	assert_non_null(strstr(err, "no/such.cfg: cannot read the file: No "
				    "such file"));
	assert_int_equal(rl_config_read("/", cfg, err, sizeof(err)), -EISDIR);
	check_error_line(err);
	assert_int_equal(rl_config_read("", cfg, err, sizeof(err)), -ENOENT);
	check_error_line(err);
	assert_non_null(strstr(err, "name of the fabric file is empty"));
	assert_int_equal(rl_config_read("/dev/zero", cfg, err, sizeof(err)),
			 -EFBIG);
	check_error_line(err);
	memset(longname, 'x', sizeof(longname) - 1);
	longname[sizeof(longname) - 1] = '\0';
	assert_int_equal(rl_config_read(longname, cfg, err, sizeof(err)),
			 -ENAMETOOLONG);
	check_error_line(err);
	free(cfg);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_grids_are_refused),
		cmocka_unit_test(bad_shapes_are_refused),
		cmocka_unit_test(
			a_bad_ibnetdiscover_file_is_named_with_its_line),
		cmocka_unit_test(bad_lists_are_refused),
		cmocka_unit_test(what_cannot_be_reached_is_refused_with_its_parts),
		cmocka_unit_test(bad_failures_are_refused),
		cmocka_unit_test(numbers_out_of_their_range_are_refused),
		cmocka_unit_test(bad_protocol_keys_are_refused),
		cmocka_unit_test(mixings_that_a_crc_does_not_do_are_refused),
		cmocka_unit_test(weights_that_fit_no_vcs_are_refused),
		cmocka_unit_test(bad_attachments_and_placements_are_refused),
		cmocka_unit_test(bad_text_is_refused),
		cmocka_unit_test(a_zero_byte_is_refused_wherever_it_stands),
		cmocka_unit_test(a_file_cut_short_is_refused),
		cmocka_unit_test(more_ports_than_there_is_room_for_are_refused),
		cmocka_unit_test(files_that_cannot_be_read_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
