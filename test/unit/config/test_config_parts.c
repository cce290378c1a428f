/* SPDX-License-Identifier: BSD-3-Clause */
/* Wires, processes and networks of a fabric file [PHY-1, PHY-3, EP-1]. */
#include "config_test.h"

#define TWO                                                                    \
	"processes = ( { name = \"l\"; devices = [\"e0\", \"s0\"]; },\n"       \
	"  { name = \"r\"; devices = [\"s1\", \"e1\"]; } );\n"
#define CABLES                                                                 \
	"wires = ( { link = \"s0-s1#0\"; a = \"x0\"; b = \"x0\"; },\n"         \
	"  { link = \"s1-s0#1\"; a = \"x1\"; mtu = 1500; } );\n"

static void
wires_find_their_links_and_processes_their_devices(void **state)
{
	struct rl_config *cfg = config_take(FIGURE_1 TWO CABLES);
	const struct rl_topo *t = &cfg->topo;

	(void)state;
	assert_int_equal(cfg->nwire, 2);
	assert_int_equal(cfg->wire[0].index, rl_topo_find_link(t, "s0-s1#0",
							       NULL));
	assert_int_equal(cfg->wire[1].index, rl_topo_find_link(t, "s0-s1#1",
							       NULL));
	assert_int_equal(cfg->wire[0].mtu, 0);
	assert_int_equal(cfg->wire[1].mtu, 1500);
	assert_string_equal(cfg->wire[1].b, "");
	assert_int_equal(cfg->wire[1].line, 10);
	assert_int_equal(cfg->nprocess, 2);
	assert_int_equal(rl_config_process(cfg, "r"), 1);
	assert_int_equal(rl_config_process(cfg, "x"), -1);
	for (uint32_t d = 0; d < t->ndev; d++) {
		const bool left = strchr(t->dev[d].name, '0') != NULL;

		assert_int_equal(rl_config_runs(cfg, 0, d), left);
		assert_int_equal(rl_config_runs(cfg, 1, d), !left);
		assert_true(rl_config_runs(cfg, -1, d));
	}
	config_drop(cfg);
}

/* [PHY-9] */
static void
queues_are_left_to_the_port_or_given_by_end(void **state)
{
	static const struct {
		const char *key;
		uint16_t queues[2];
	} tab[] = {
		{ "", { 0, 0 } },
		{ "rx_queues = 1;", { 1, 1 } },
		{ "rx_queues = 64;", { 64, 64 } },
		{ "rx_queues = [3];", { 3, 3 } },
		{ "rx_queues = [4, 2];", { 4, 2 } },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(tab); i++) {
		struct rl_config *cfg;
		char text[1024];

		snprintf(text, sizeof(text),
			 FIGURE_1 "wires = ( { link = \"e0-s0\"; a = \"x\"; "
				  "b = \"y\"; %s } );\nattach = ( { endpoint "
				  "= \"e0\"; port = \"p\"; %s } );\n",
			 tab[i].key, strchr(tab[i].key, '[') ? "" : tab[i].key);
		cfg = config_take(text);
		assert_int_equal(cfg->wire[0].rx_queues[0], tab[i].queues[0]);
		assert_int_equal(cfg->wire[0].rx_queues[1], tab[i].queues[1]);
		if (strchr(tab[i].key, '[') == NULL)
			assert_int_equal(cfg->attach[0].rx_queues,
					 tab[i].queues[0]);
		config_drop(cfg);
	}
}

static void
one_process_runs_all_if_the_file_names_none(void **state)
{
	struct rl_config *cfg = config_take(FIGURE_1);

	(void)state;
	assert_int_equal(cfg->nprocess + cfg->nwire + cfg->nnetwork, 0);
	for (uint32_t d = 0; d < cfg->topo.ndev; d++)
		assert_true(rl_config_runs(cfg, -1, d));
	config_drop(cfg);
}

static void
ports_on_a_network_have_no_destination(void **state)
{
	struct rl_config *cfg = config_take(
		FIGURE_1 "attach = ( { endpoint = \"e0\"; port = \"p\"; } );\n"
			 "networks = ( { name = \"lan\"; members = [\"e0\", "
			 "\"e1\"]; ageing_ns = 5; stations = [\"02:00:00:"
			 "00:00:07 e1\", \"02:aB:00:00:00:08/4094 e0\"]; }"
			 " );");
	static const uint8_t mac[6] = { 2, 0xab, 0, 0, 0, 8 };

	(void)state;
	assert_int_equal(cfg->nnetwork, 1);
	assert_string_equal(cfg->network[0].name, "lan");
	assert_int_equal(cfg->network[0].ageing_ns, 5);
	assert_int_equal(cfg->ep_network[0], 0);
	assert_int_equal(cfg->ep_network[1], 0);
	assert_string_equal(cfg->attach[0].dst, "");
	assert_int_equal(cfg->nstation, 2);
	assert_int_equal(cfg->station[0].ep, 1);
	assert_int_equal(cfg->station[0].vlan, 0);
	assert_memory_equal(cfg->station[1].mac, mac, sizeof(mac));
	assert_int_equal(cfg->station[1].vlan, 4094);
	assert_int_equal(cfg->station[1].ep, 0);
	config_drop(cfg);
}

static const struct {
	const char *text;
	int line;
	const char *why;
} refused[] = {
	{FIGURE_1 "wires = (\n{ link = \"s0-s7\"; a = \"x\"; b = "
		  "\"y\"; } );", 8, "there is no link s0-s7"},
	{FIGURE_1 "wires = (\n{ link = \"s0-s1\"; a = \"x\"; b = "
		  "\"y\"; } );", 8,
	 "there are 2 links s0-s1; name one, as s0-s1#0"},
	{FIGURE_1 "wires = (\n{ link = \"e0-s0\"; } );", 8,
	 "names no ethdev"},
	{FIGURE_1 "wires = (\n{ link = \"e0-s0\"; a = \"x\"; } );", 8,
	 "one process runs both ends of e0-s0; give b too"},
	{FIGURE_1 "wires = (\n{ link = \"e0-s0\"; b = \"x\"; } );", 8,
	 "give a too"},
	{FIGURE_1 "wires = (\n{ link = \"e0-s0\"; a = \"x\"; b = "
		  "\"x\"; } );", 8,
	 "port x is an end of e0-s0 already, in line 8"},
	{FIGURE_1 "wires = (\n{ link = \"e0-s0\"; a = \"x\"; b = "
		  "\"y\"; },\n{ link = \"s1-e1\"; a = \"z\"; b = "
		  "\"x\"; } );", 9,
	 "port x is an end of e0-s0 already, in line 8"},
	{FIGURE_1 "wires = (\n{ link = \"e0-s0\"; a = \"x\"; b = "
		  "\"y\"; },\n{ link = \"s0-e0\"; a = \"z\"; b = "
		  "\"w\"; } );", 9,
	 "link s0-e0 has its wire already, in line 8"},
	{FIGURE_1 "attach = (\n{ endpoint = \"e0\"; port = \"x\"; } );"
		  "\nwires = (\n{ link = \"e0-s0\"; a = \"x\"; b = "
		  "\"y\"; } );", 10,
	 "port x is attached to e0, in line 8"},
	{FIGURE_1 "wires = (\n{ link = \"e0-s0\"; a = \"x\"; b = "
		  "\"y\"; mtu = 20; } );", 8, "20 is out of range"},
	{FIGURE_1 "wires = (\n{ link = \"e0-s0\"; a = \"x\"; b = "
		  "\"y\"; rx_queues = 0; } );", 8,
	 "0 is out of range; use 1 to 64"},
	{FIGURE_1 "wires = (\n{ link = \"e0-s0\"; a = \"x\"; b = "
		  "\"y\"; rx_queues = [1, 65]; } );", 8,
	 "65 is out of range; use 1 to 64"},
	{FIGURE_1 "wires = (\n{ link = \"e0-s0\"; a = \"x\"; b = "
		  "\"y\"; rx_queues = [1, 2, 3]; } );", 8,
	 "wires.rx_queues has 3 numbers; give one, or one for each end"},
	{FIGURE_1 "wires = (\n{ link = \"e0-s0\"; a = \"x\"; b = "
		  "\"y\"; rx_queues = []; } );", 8, "has 0 numbers"},
	{FIGURE_1 "attach = (\n{ endpoint = \"e0\"; port = \"x\"; "
		  "rx_queues = 0; } );", 8, "0 is out of range; use 1 to 64"},
	{FIGURE_1 "attach = (\n{ endpoint = \"e0\"; port = \"x\"; "
		  "rx_queues = 65; } );", 8, "65 is out of range; use 1 to 64"},
	{FIGURE_1 "processes = (\n{ name = \"l\"; devices = [\"e0\", "
		  "\"e9\"]; } );", 8, "no device is called e9"},
	{FIGURE_1 "processes = (\n{ name = \"l\"; devices = [\"e0\"]; "
		  "},\n{ name = \"r\"; devices = [\"e0\"]; } );", 9,
	 "e0 belongs to process l already, in line 8"},
	{FIGURE_1 "processes = (\n{ name = \"l\"; devices = [\"e0\"]; "
		  "},\n{ name = \"l\"; devices = [\"e1\"]; } );", 9,
	 "there is a process l already, in line 8"},
	{FIGURE_1 "processes = ( { name = \"l\"; devices = [\"e0\", "
		  "\"s0\", \"s1\"]; } );", 7, "no process runs e1"},
	{FIGURE_1 TWO, 7,
	 "link s0-s1#0 joins two of them and has no wire"},
	{FIGURE_1 "networks = (\n{ name = \"n\"; members = [\"s0\"]; "
		  "} );", 8, "s0 is a switch"},
	{FIGURE_1 "networks = (\n{ name = \"n\"; members = [\"e0\"]; "
		  "},\n{ name = \"m\"; members = [\"e0\"]; } );", 9,
	 "e0 is on n already"},
	{FIGURE_1 "attach = (\n{ endpoint = \"e0\"; port = \"x\"; dst "
		  "= \"e1\"; } );\nnetworks = ( { name = \"n\"; members"
		  " = [\"e0\", \"e1\"]; } );", 8, "leave dst out"},
};

static void
what_cannot_be_is_refused_at_its_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(refused); i++)
		config_refuse(refused[i].text, strlen(refused[i].text), -EINVAL,
			      refused[i].line, refused[i].why);
}

static uint64_t
digest_of(const char *text)
{
	struct rl_config *cfg = config_take(text);
	const uint64_t d = rl_config_digest(cfg);

	config_drop(cfg);
	return d;
}

static void
a_digest_tells_in_which_part_two_files_differ(void **state)
{
	static const struct {
		const char *text;
		const char *what;
	} other[] = {
		{FIGURE_1 TWO "wires = ( { link = \"s0-s1#0\"; a = \"q\"; },\n"
			      "{ link = \"s0-s1#1\"; b = \"r\"; } );\n"
			      "attach = ( { endpoint = \"e0\"; port = \"p\"; }"
			      " );", ""},
		{FIGURE_1 TWO CABLES "link: { window_flits = 200; };",
		 "link or endpoint"},
		{FIGURE_1 TWO CABLES "endpoint: { retry_limit = 3; };",
		 "link or endpoint"},
		{FIGURE_1 TWO CABLES "routing: { vls = 2; };", "routing"},
		{FIGURE_1 TWO CABLES "routing: { engine = \"updown\"; };",
		 "routing"},
		{FIGURE_1 TWO CABLES "networks = ( { name = \"n\"; members = "
				     "[\"e0\"]; } );",
		 "processes or networks"},
		{FIGURE_1 TWO CABLES "networks = ( { name = \"n\"; members = "
				     "[\"e0\"]; stations = [\"02:00:00:00:"
				     "00:07 e0\"]; } );",
		 "processes or networks"},
		{FIGURE_1, "processes or networks"},
		{"fabric: { topology = \"torus\"; dims = [4]; };",
		 "fabric, processes or networks"},
	};
	const uint64_t d = digest_of(FIGURE_1 TWO CABLES);
	char buf[128];

	(void)state;
	assert_true(d != 0);
	/* each process may keep its copy of the key elsewhere */
	assert_true(d == digest_of(FIGURE_1 TWO CABLES
				   "link: { key_file = \"k\"; };"));
	for (size_t i = 0; i < RL_ARRAY_SIZE(other); i++)
		assert_string_equal(rl_config_digest_diff(
					    d, digest_of(other[i].text), buf,
					    sizeof(buf)),
				    other[i].what);
}

static void
what_is_no_station_of_a_network_is_refused_at_its_line(void **state)
{
	static const struct {
		const char *station, *why;
	} bad[] = {
		{ "02:00:00:00:00:07", "is not a station" },
		{ "02:00:00:00:00:7 e0", "is not a station" },
		{ "03:00:00:00:00:07 e0", "is not a station" },
		{ "02:00:00:00:00:07/0 e0", "is not a station" },
		{ "02:00:00:00:00:07/4095 e0", "is not a station" },
		{ "02:00:00:00:00:07  e0", "e0 is not a member of n" },
		{ "02:00:00:00:00:07 e1", "e1 is not a member of n" },
		{ "02:00:00:00:00:07 s0", "s0 is not a member of n" },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(bad); i++) {
		char text[512];

		snprintf(text, sizeof(text),
			 FIGURE_1 "networks = (\n{ name = \"n\"; members = "
				  "[\"e0\"];\nstations = [\"%s\"]; } );",
			 bad[i].station);
		config_refuse(text, strlen(text), -EINVAL, 9, bad[i].why);
	}
}

static void
a_key_file_is_looked_for_beside_the_file_that_names_it(void **state)
{
	static const struct {
		const char *name, *key, *path;
	} c[] = {
		{ "f.cfg", "a.key", "a.key" },
		{ "there/f.cfg", "a.key", "there/a.key" },
		{ "there/f.cfg", "/etc/a.key", "/etc/a.key" },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct rl_config *cfg = config_new();
		char err[ERR_MAX], text[512];

		snprintf(text, sizeof(text),
			 FIGURE_1 "\nlink: {\n key_file = \"%s\"; };",
			 c[i].key);
		assert_int_equal(rl_config_read_text(c[i].name, text,
						     strlen(text), cfg, err,
						     sizeof(err)), 0);
		assert_string_equal(cfg->key_file, c[i].path);
		assert_int_equal(cfg->key_file_line, 9);
		assert_string_equal(cfg->key_file_file, c[i].name);
		config_drop(cfg);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wires_find_their_links_and_processes_their_devices),
		cmocka_unit_test(queues_are_left_to_the_port_or_given_by_end),
		cmocka_unit_test(one_process_runs_all_if_the_file_names_none),
		cmocka_unit_test(ports_on_a_network_have_no_destination),
		cmocka_unit_test(what_cannot_be_is_refused_at_its_line),
		cmocka_unit_test(what_is_no_station_of_a_network_is_refused_at_its_line),
		cmocka_unit_test(a_key_file_is_looked_for_beside_the_file_that_names_it),
		cmocka_unit_test(a_digest_tells_in_which_part_two_files_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
