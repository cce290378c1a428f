/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of the fabric: each key of each topology at its least and its most,
 * and one beyond each; the limits of a whole fabric; defaults as they are
 * written down in docs/configuration.md.
 */
#include <inttypes.h>
#include <stdio.h>

#include "config_test.h"

#define TEXT_MAX 6000
#define TOP_LINES 3 /* before the key of a row */

/*
 * A number of a topology: what stands around it, and what is said at its least
 * and at its most, where another limit is met. NULL: the fabric is taken.
 */
struct row {
	const char *kind;
	const char *key;
	const char *rest;   /* the other keys, on the line before */
	const char *before; /* and behind the number, on its line */
	const char *behind;
	const char *least;
	const char *most;
	uint64_t max; /* 0: that of the table of keys, which is the largest */
};

#define DEVICES "at most 65535 devices are possible"
#define PORTS " links; give a device at most 65534"
#define ONE "the fabric has one endpoint"

static const struct row rows[] = {
	{ "torus", "dims", "", "[", "]", ONE, DEVICES, 0 },
	{ "torus", "dims", "", "[2, 2, ", "]", NULL, DEVICES, 0 },
	{ "mesh", "dims", "", "[", ", 2]", NULL, DEVICES, 0 },
	{ "torus", "links_per_edge", "dims = [2];", "", "", NULL,
	  "s0 has 65535" PORTS, 0 },
	{ "mesh", "links_per_edge", "dims = [2, 2];", "[1, ", "]", NULL,
	  "s0.0 has 65536" PORTS, 0 },
	{ "torus", "hosts_per_switch", "dims = [1];", "", "", ONE, NULL, 0 },
	{ "mesh", "hosts_per_switch", "dims = [2];", "", "", NULL, DEVICES, 0 },
	{ "boards", "boards", "", "", "", NULL, DEVICES, 0 },
	{ "boards", "switches_per_board", "", "", "", NULL, DEVICES, 0 },
	{ "board", "switches_per_board", "", "", "",
	  "switches_per_endpoint is at least 2 here", DEVICES, 0 },
	{ "boards", "endpoints_per_board", "", "", "", NULL, DEVICES, 0 },
	{ "board", "endpoints_per_board", "", "", "", ONE, DEVICES, 0 },
	{ "boards", "switches_per_endpoint", "", "", "", NULL,
	  "a board has 2 switches", 0 },
	{ "board", "switches_per_endpoint", "", "", "", "at least 2 here",
	  "a board has 12 switches", 0 },
	{ "boards", "intra_board_links", "", "", "", NULL, PORTS, 0 },
	{ "board", "intra_board_links", "", "", "", NULL,
	  " links; at most 1048576 are possible", 0 },
	{ "boards", "links_per_edge", "", "", "", NULL, PORTS, 0 },
	{ "fat-tree", "k", "n = 1;", "", "", ONE, DEVICES, 0 },
	{ "fat-tree", "n", "k = 2;", "", "", NULL, NULL, 8 },
	{ "fat-tree", "m", "w = [1];", "[", "]", ONE, DEVICES, 0 },
	{ "fat-tree", "m", "w = [1, 1];", "[2, ", "]", NULL, DEVICES, 0 },
	{ "fat-tree", "w", "m = [2];", "[", "]", NULL, DEVICES, 0 },
	{ "fat-tree", "w", "m = [2, 2];", "[1, ", "]", NULL, DEVICES, 0 },
	{ "fat-tree", "links_per_edge", "m = [1, 2]; w = [1, 1];", "[1, ", "]",
	  NULL, "s1.0 has 65535" PORTS, 0 },
	{ "dragonfly", "a", "h = 1;", "", "", NULL,
	  "65536 groups; at most 65535 devices", 0 },
	{ "dragonfly", "p", "a = 1; h = 1;", "", "", NULL, DEVICES, 0 },
	{ "dragonfly", "h", "a = 1;", "", "", NULL, DEVICES, 0 },
	{ "dragonfly", "groups", "a = 1; h = 1;", "", "", NULL,
	  "use 2 groups at most", 0 },
	{ "slim-fly", "q", "", "", "", NULL, DEVICES, 0 },
	{ "slim-fly", "hosts_per_switch", "q = 3;", "", "", NULL, DEVICES, 0 },
	{ "random", "n", "degree = 3;", "", "", "below the number of switches",
	  "half a link too many", 0 },
	{ "random", "degree", "n = 4;", "", "", NULL,
	  "below the number of switches", 0 },
	{ "random", "seed", "n = 4; degree = 3;", "", "", NULL, NULL, 0 },
	{ "random", "hosts_per_switch", "n = 4; degree = 3;", "", "", NULL,
	  DEVICES, 0 },
};

static const struct rl_config_key *
key_of(const char *group, const char *name)
{
	size_t n;
	const struct rl_config_key *key = rl_config_keys(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(key[i].group, group) == 0 &&
		    strcmp(key[i].name, name) == 0)
			return &key[i];
	fail_msg("no key %s.%s", group, name);
	return NULL;
}

/* Reads a fabric that must be taken, or refused at @p line with @p why. */
static void
read_fabric(const char *text, const char *why, int line)
{
	if (why == NULL)
		config_drop(config_take(text));
	else
		config_refuse(text, strlen(text), -EINVAL, line, why);
}

static void
row_text(const struct row *r, int64_t v, char *text)
{
	snprintf(text, TEXT_MAX,
		 "fabric: {\n\ttopology = \"%s\";\n\t%s\n"
		 "\t%s = %s%" PRId64 "%s;\n};\n",
		 r->kind, r->rest, r->key, r->before, v, r->behind);
}

/* The line of an error that is another limit's: where the size is said. */
static int
line_of(const char *text, const char *why)
{
	struct rl_config *cfg = config_new();
	char err[ERR_MAX] = "";

	if (rl_config_read_text("t.cfg", text, strlen(text), cfg, err,
				sizeof(err)) == 0)
		fail_msg("taken: %s", text);
	if (strstr(err, "out of range") != NULL || strstr(err, why) == NULL)
		fail_msg("not '%s', but %s", why, err);
	free(cfg);
	return atoi(strchr(err, ':') + 1);
}

static void
within(const struct row *r, uint64_t v, const char *why)
{
	char text[TEXT_MAX];
	int line = 0;

	row_text(r, (int64_t)v, text);
	if (why != NULL) {
		line = line_of(text, why);
		assert_in_range(line, 1, TOP_LINES + 1);
	}
	read_fabric(text, why, line);
}

static void
beyond(const struct row *r, int64_t v, uint64_t min, uint64_t max)
{
	char text[TEXT_MAX], why[300];

	row_text(r, v, text);
	snprintf(why, sizeof(why),
		 "t.cfg:%d: fabric.%s: %" PRId64 " is out of "
		 "range; use %" PRIu64 " to %" PRIu64 " (",
		 TOP_LINES + 1, r->key, v, min, max);
	read_fabric(text, why, TOP_LINES + 1);
}

static void
a_number_is_taken_at_its_limits_and_refused_beyond_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		const struct rl_config_key *key = key_of("fabric", r->key);
		const uint64_t max = r->max != 0 ? r->max : key->max;

		within(r, key->min, r->least);
		within(r, max, r->most);
		/* all readings of a number share its least */
		beyond(r, (int64_t)key->min - 1, key->min, key->max);
		if (max < INT64_MAX)
			beyond(r, (int64_t)max + 1, key->min, max);
	}
}

/* Some versions of libconfig would take a number of 65 bits for its last 64. */
static void
a_number_beyond_64_bits_is_refused(void **state)
{
	static const char *const big[] = {
		"9223372036854775808",	"9223372036854775808L",
		"18446744073709551620", "18446744073709551620L",
		"-9223372036854775809", "0x10000000000000004",
		"0x8000000000000000"
	};
	char text[TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(big); i++) {
		snprintf(text, sizeof(text),
			 "fabric: { topology = \"random\"; "
			 "n = 4; degree = 3;\nseed = %s; };",
			 big[i]);
		read_fabric(text, "", 2);
	}
}

/* A number with two readings, of a tree and of a random graph, has two rows. */
static void
every_number_of_every_topology_has_a_row(void **state)
{
	const char *const *word = key_of("fabric", "topology")->words;
	size_t n;
	const struct rl_config_key *key = rl_config_keys(&n);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (unsigned int kind = 0; word[kind] != NULL; kind++) {
			bool found = strcmp(key[i].group, "fabric") != 0 ||
				     (key[i].type != RL_KEY_NUMBER &&
				      key[i].type != RL_KEY_NUMBERS) ||
				     !(key[i].kinds >> kind & 1);

			for (size_t k = 0; k < RL_ARRAY_SIZE(rows); k++)
				found = found ||
					(strcmp(rows[k].kind, word[kind]) ==
						 0 &&
					 strcmp(rows[k].key, key[i].name) == 0);
			if (!found)
				fail_msg("%s: no row for %s", word[kind],
					 key[i].name);
		}
}

/* Lists: as many as there are dimensions or levels. */
static const struct {
	const char *kind, *keys, *why;
} list[] = {
	{ "torus", "dims = [];", "dims has 0 numbers; a grid has 1 to 3" },
	{ "torus", "dims = [2];", NULL },
	{ "torus", "dims = [2, 2, 2];", NULL },
	{ "torus", "dims = [1, 1, 1, 1];", "dims has 4 numbers" },
	{ "torus", "dims = [2, 2]; wrap = [true];", "wrap has 1 values" },
	{ "mesh", "dims = [2]; wrap = [true, true];", "wrap has 2 values" },
	{ "mesh", "dims = [2, 2]; links_per_edge = [1];",
	  "links_per_edge has 1 numbers; give one, or here 2" },
	{ "mesh", "dims = [2, 2]; links_per_edge = [1, 1, 1];",
	  "links_per_edge has 3 numbers" },
	{ "fat-tree", "w = [1]; m = [];", "m has 0 numbers" },
	{ "fat-tree",
	  "m = [2, 1, 1, 1, 1, 1, 1, 1]; "
	  "w = [1, 1, 1, 1, 1, 1, 1, 1];",
	  NULL },
	{ "fat-tree", "w = [1]; m = [2, 1, 1, 1, 1, 1, 1, 1, 1];",
	  "m has 9 numbers; m and w have one for each of 1 to 8" },
	{ "fat-tree", "m = [2, 1]; w = [1];", "w has 1 numbers" },
	{ "fat-tree", "m = [2, 1]; w = [1, 1, 1];", "w has 3 numbers" },
	{ "fat-tree", "m = [2]; w = [1]; links_per_edge = [1, 1];",
	  "links_per_edge has 2 numbers" },
	/* and numbers of all levels together run over nothing */
	{ "fat-tree",
	  "w = [65535, 65535, 65535, 65535, 65535, 65535, "
	  "65535, 65535]; m = [65535, 65535, 65535, 65535, "
	  "65535, 65535, 65535, 65535]; links_per_edge = "
	  "65534;",
	  DEVICES },
	{ "torus",
	  "hosts_per_switch = 65534; links_per_edge = 65534; "
	  "dims = [65535, 65535, 65535];",
	  DEVICES },
	{ "boards",
	  "boards = 65535; switches_per_board = 65535; "
	  "endpoints_per_board = 65535; links_per_edge = "
	  "65534; intra_board_links = 65534;",
	  DEVICES },
	{ "dragonfly",
	  "a = 65535; h = 65534; p = 65534; groups = "
	  "65535;",
	  DEVICES },
};

static void
a_list_is_as_long_as_dimensions_and_levels_allow(void **state)
{
	char text[TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(list); i++) {
		snprintf(text, sizeof(text),
			 "fabric: {\n\ttopology = "
			 "\"%s\";\n\t%s\n};\n",
			 list[i].kind, list[i].keys);
		read_fabric(text, list[i].why, TOP_LINES);
	}
}

/* A line of 64 switches with @p more links on its two first edges. */
static void
long_line(char *text, uint32_t more)
{
	size_t n = (size_t)snprintf(
		text, 2 * TEXT_MAX,
		"fabric: {\ntopology = "
		"\"custom\"; endpoints = ( { name = \"e0\"; }, { name = "
		"\"e1\"; } ); switches = (");

	for (unsigned int i = 0; i < 64; i++)
		n += (size_t)snprintf(text + n, 2 * TEXT_MAX - n,
				      "%s{ name = \"s%u\"; }",
				      i == 0 ? "" : ", ", i);
	n += (size_t)snprintf(text + n, 2 * TEXT_MAX - n,
			      " );\nlinks = ( "
			      "{ a = \"e0\"; b = \"s0\"; }, "
			      "{ a = \"e1\"; b = \"s63\"; }");
	for (unsigned int i = 0; i < 63; i++)
		n += (size_t)snprintf(text + n, 2 * TEXT_MAX - n,
				      ", { a = "
				      "\"s%u\"; b = \"s%u\"; count = %u; }",
				      i, i + 1, 16644 + (i < more));
	snprintf(text + n, 2 * TEXT_MAX - n, " );\n};\n");
}

static void
a_fabric_has_so_many_devices_and_links_and_no_more(void **state)
{
	static char text[2 * TEXT_MAX];
	struct rl_config *cfg;

	(void)state;
	cfg = config_take("fabric: { topology = \"fat-tree\"; m = [65534]; "
			  "w = [1]; };");
	assert_int_equal(cfg->topo.ndev, 65535);
	assert_int_equal(cfg->topo.dev[0].nports, 65534);
	config_drop(cfg);
	read_fabric("fabric: { topology = \"fat-tree\";\n m = [65535]; "
		    "w = [1]; };",
		    "the fabric has 1 switches and 65535 endpoints; " DEVICES,
		    2);
	cfg = config_take("fabric: { topology = \"mesh\"; dims = [2]; "
			  "links_per_edge = 65533; };");
	assert_int_equal(cfg->topo.dev[0].nports, 65534);
	config_drop(cfg);
	read_fabric("fabric: { topology = \"mesh\";\ndims = [2]; "
		    "links_per_edge = 65534; };",
		    "s0 has 65535" PORTS, 2);
	long_line(text, 2);
	cfg = config_take(text);
	assert_int_equal(cfg->topo.nlink, 1048576);
	config_drop(cfg);
	long_line(text, 3);
	read_fabric(text,
		    "the fabric has 1048577 links; at most 1048576 are "
		    "possible",
		    3);
	cfg = config_take("fabric: { topology = \"mesh\"; dims = [2]; };");
	assert_int_equal(cfg->topo.nep, 2);
	config_drop(cfg);
	read_fabric("fabric: { topology = \"mesh\";\ndims = [1]; };", ONE, 2);
}

/* Two endpoints and @p links, with names as given. */
static void
custom(const char *sw, const char *ep, const char *count, const char *why,
       int line)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text),
		 "fabric: {\ntopology = \"custom\";\n"
		 "switches = ( { name = \"%s\"; } );\n"
		 "endpoints = ( { name = \"%s\"; }, { name = \"f\"; } );\n"
		 "links = ( { a = \"%s\"; b = \"%s\"; },\n"
		 "{ a = \"f\"; b = \"%s\"; %s } );\n};\n",
		 sw, ep, ep, sw, sw, count);
	read_fabric(text, why, line);
}

static void
links_and_names_of_a_list_have_limits(void **state)
{
	static const char most[] = "a23456789.123456789.123456789.1";
	static const char more[] = "a23456789.123456789.123456789.12";

	(void)state;
	assert_int_equal(strlen(most), 31);
	custom("s", "e", "count = 1;", NULL, 0);
	custom("s", "e", "count = 65533;", NULL, 0);
	custom("s", "e", "count = 65534;", "s has 65535" PORTS, 5);
	custom("s", "e", "count = 0;",
	       "fabric.links.count: 0 is out of range; use 1 to 65534 (", 6);
	custom("s", "e", "count = 65535;",
	       "fabric.links.count: 65535 is out of range; use 1 to 65534 (",
	       6);
	custom(most, "e", "", NULL, 0);
	custom("s", most, "", NULL, 0);
	custom(more, "e", "",
	       "fabric.switches.name has 32 characters; use 1 to 31", 3);
	custom("s", more, "",
	       "fabric.endpoints.name has 32 characters; use 1 to 31", 4);
	custom("", "e", "",
	       "fabric.switches.name has 0 characters; use 1 to 31", 3);
	custom("s", "", "",
	       "fabric.endpoints.name has 0 characters; use 1 to 31", 4);
}

/* The names of a link's ends, and of files. */
static void
a_text_has_limits(void **state)
{
	static const struct {
		const char *group, *key, *fmt;
	} row[] = {
		{ "fabric.links", "a",
		  "links = ( {\na = \"%.*s\"; b = \"s\"; } "
		  "); topology = \"custom\"; endpoints = ( { name = \"e\"; } );" },
		{ "fabric.links", "b",
		  "links = ( {\nb = \"%.*s\"; a = \"s\"; } "
		  "); topology = \"custom\"; endpoints = ( { name = \"e\"; } );" },
		{ "fabric", "file",
		  "topology = \"ibnetdiscover\";\n"
		  "file = \"%.*s\";" },
		{ "fabric", "torus_conf",
		  "topology = \"ibnetdiscover\"; file = "
		  "\"none\";\ntorus_conf = \"%.*s\";" },
	};
	static char a[4100], text[TEXT_MAX], body[TEXT_MAX - 100], err[ERR_MAX];

	(void)state;
	memset(a, 'a', sizeof(a));
	for (size_t i = 0; i < RL_ARRAY_SIZE(row); i++) {
		const struct rl_config_key *key =
			key_of(row[i].group, row[i].key);
		const uint64_t len[] = { key->min - 1, key->min, key->max,
					 key->max + 1 };

		for (size_t k = 0; k < RL_ARRAY_SIZE(len); k++) {
			const bool out = k == 0 || k == 3;
			struct rl_config *cfg = config_new();
			char why[200];

			snprintf(body, sizeof(body), row[i].fmt, (int)len[k],
				 a);
			snprintf(text, sizeof(text), "fabric: { %s };", body);
			snprintf(why, sizeof(why),
				 "t.cfg:2: %s.%s has %" PRIu64
				 " characters; use %" PRIu64 " to %" PRIu64,
				 row[i].group, row[i].key, len[k], key->min,
				 key->max);
			/* there is no such device, and no such file */
			assert_true(rl_config_read_text("t.cfg", text,
							strlen(text), cfg, err,
							sizeof(err)) != 0);
			if ((strstr(err, why) != NULL) != out)
				fail_msg("%zu: not '%s': %s", k, why, err);
			free(cfg);
		}
	}
}

/*
 * A default as it is written down, the same as a file writes it, and another
 * value, which must make another fabric.
 */
static const struct given {
	const char *kind, *key, *rest, *def, *same, *other;
} given[] = {
	{ "torus", "wrap", "dims = [4, 3];", "true in a torus, false in a mesh",
	  "wrap = [true, true];", "wrap = [true, false];" },
	{ "mesh", "wrap", "dims = [4, 3];", "true in a torus, false in a mesh",
	  "wrap = [false, false];", "wrap = [true, false];" },
	{ "torus", "links_per_edge", "dims = [4, 3];", "1",
	  "links_per_edge = 1;", "links_per_edge = [1, 2];" },
	{ "mesh", "links_per_edge", "dims = [4, 3];", "1",
	  "links_per_edge = [1, 1];", "links_per_edge = 2;" },
	{ "boards", "links_per_edge", "", "1", "links_per_edge = 1;",
	  "links_per_edge = 2;" },
	{ "fat-tree", "links_per_edge", "k = 2; n = 3;", "1",
	  "links_per_edge = [1, 1, 1];", "links_per_edge = [1, 1, 2];" },
	{ "torus", "hosts_per_switch", "dims = [4];", "1",
	  "hosts_per_switch = 1;", "hosts_per_switch = 2;" },
	{ "mesh", "hosts_per_switch", "dims = [4];", "1",
	  "hosts_per_switch = 1;", "hosts_per_switch = 2;" },
	{ "slim-fly", "hosts_per_switch", "q = 3;", "1",
	  "hosts_per_switch = 1;", "hosts_per_switch = 2;" },
	{ "random", "hosts_per_switch", "n = 8; degree = 3;", "1",
	  "hosts_per_switch = 1;", "hosts_per_switch = 2;" },
	{ "dragonfly", "p", "a = 3; h = 2;", "1", "p = 1;", "p = 2;" },
	{ "dragonfly", "groups", "a = 3; h = 2;", "a * h + 1", "groups = 7;",
	  "groups = 6;" },
	{ "dragonfly", "global_links", "a = 3; h = 2;", "relative",
	  "global_links = \"relative\";", "global_links = \"absolute\";" },
	{ "random", "seed", "n = 16; degree = 3;", "1", "seed = 1;",
	  "seed = 2;" },
	{ "boards", "boards", "", "3", "boards = 3;", "boards = 4;" },
	{ "boards", "switches_per_board", "", "2 of boards, 12 of board",
	  "switches_per_board = 2;", "switches_per_board = 3;" },
	{ "board", "switches_per_board", "", "2 of boards, 12 of board",
	  "switches_per_board = 12;", "switches_per_board = 2;" },
	{ "boards", "endpoints_per_board", "", "4 of boards, 32 of board",
	  "endpoints_per_board = 4;", "endpoints_per_board = 5;" },
	{ "board", "endpoints_per_board", "", "4 of boards, 32 of board",
	  "endpoints_per_board = 32;", "endpoints_per_board = 4;" },
	{ "boards", "switches_per_endpoint", "switches_per_board = 5;",
	  "all of the board", "switches_per_endpoint = 5;",
	  "switches_per_endpoint = 4;" },
	{ "board", "switches_per_endpoint", "", "all of the board",
	  "switches_per_endpoint = 12;", "switches_per_endpoint = 11;" },
	{ "boards", "intra_board_links", "", "1 of boards, 0 of board",
	  "intra_board_links = 1;", "intra_board_links = 0;" },
	{ "board", "intra_board_links", "", "1 of boards, 0 of board",
	  "intra_board_links = 0;", "intra_board_links = 1;" },
};

static struct rl_config *
take_given(const struct given *g, const char *more)
{
	char text[500];

	snprintf(text, sizeof(text), "fabric: { topology = \"%s\"; %s %s };",
		 g->kind, g->rest, more);
	return config_take(text);
}

static bool
same_fabric(const struct rl_topo *a, const struct rl_topo *b)
{
	bool same = a->ndev == b->ndev && a->nlink == b->nlink &&
		    a->nep == b->nep;

	for (uint32_t i = 0; same && i < a->ndev; i++)
		same = strcmp(a->dev[i].name, b->dev[i].name) == 0;
	for (uint32_t i = 0; same && i < a->nlink; i++)
		same = memcmp(a->link[i].dev, b->link[i].dev,
			      sizeof(a->link[i].dev)) == 0;
	return same;
}

static void
a_default_is_what_is_written_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(given); i++) {
		const struct given *g = &given[i];
		struct rl_config *left_out = take_given(g, "");
		struct rl_config *same = take_given(g, g->same);
		struct rl_config *other = take_given(g, g->other);

		/* config-docs holds the table to docs/configuration.md */
		assert_string_equal(key_of("fabric", g->key)->def, g->def);
		if (!same_fabric(&left_out->topo, &same->topo))
			fail_msg("%s: %s is not the default", g->kind, g->same);
		if (same_fabric(&left_out->topo, &other->topo))
			fail_msg("%s: %s changes nothing", g->kind, g->other);
		config_drop(left_out);
		config_drop(same);
		config_drop(other);
	}
	assert_string_equal(key_of("fabric.links", "count")->def, "1");
}

/* Of a topology that has it; what has no default is left out by its name. */
static void
every_default_of_every_topology_has_a_row(void **state)
{
	const char *const *word = key_of("fabric", "topology")->words;
	size_t n;
	const struct rl_config_key *key = rl_config_keys(&n);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (unsigned int kind = 0; word[kind] != NULL; kind++) {
			bool found = strcmp(key[i].group, "fabric") != 0 ||
				     strcmp(key[i].def, "required") == 0 ||
				     strcmp(key[i].def, "none") == 0 ||
				     !(key[i].kinds >> kind & 1);

			for (size_t k = 0; k < RL_ARRAY_SIZE(given); k++)
				found = found || (strcmp(given[k].kind,
							 word[kind]) == 0 &&
						  strcmp(given[k].key,
							 key[i].name) == 0);
			if (!found)
				fail_msg("%s: no row for the default of %s",
					 word[kind], key[i].name);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_number_is_taken_at_its_limits_and_refused_beyond_them),
		cmocka_unit_test(a_number_beyond_64_bits_is_refused),
		cmocka_unit_test(every_number_of_every_topology_has_a_row),
		cmocka_unit_test(
			a_list_is_as_long_as_dimensions_and_levels_allow),
		cmocka_unit_test(
			a_fabric_has_so_many_devices_and_links_and_no_more),
		cmocka_unit_test(links_and_names_of_a_list_have_limits),
		cmocka_unit_test(a_text_has_limits),
		cmocka_unit_test(a_default_is_what_is_written_down),
		cmocka_unit_test(every_default_of_every_topology_has_a_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
