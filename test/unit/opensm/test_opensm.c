/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dumps of OpenSM before the checker [ROUTE-8]. Those in the folders were
 * written by OpenSM 3.3.23 under ibsim: a ring of four by LASH, which needs
 * two VLs, and two switches with two-port adapters and two LIDs a port.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_check.h"
#include "rl_opensm.h"

#define RING "test/unit/opensm/ring/"
#define LMC "test/unit/opensm/lmc/"

struct dump {
	struct rl_opensm_text file[RL_OPENSM_FILES];
};

static void
load(struct dump *d, enum rl_opensm_file file, const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 16);

	if (f == NULL || text == NULL)
		fail_msg("cannot open %s from the top of the tree", path);
	free((void *)(uintptr_t)d->file[file].text);
	d->file[file].len = fread(text, 1, (1 << 16) - 1, f);
	d->file[file].text = text;
	fclose(f);
}

static struct dump
load_all(const char *dir)
{
	static const char *const name[] = {
		"opensm-subnet.lst", "opensm-lfts.dump", "opensm-sl2vl.dump",
		"opensm-path-records.dump"};
	struct dump d = {0};
	char path[200];

	for (int f = 0; f < RL_OPENSM_FILES; f++) {
		snprintf(path, sizeof(path), "%s%s", dir, name[f]);
		load(&d, (enum rl_opensm_file)f, path);
	}
	return d;
}

static void
drop(struct dump *d, enum rl_opensm_file file)
{
	free((void *)(uintptr_t)d->file[file].text);
	d->file[file] = (struct rl_opensm_text){0};
}

static void
drop_all(struct dump *d)
{
	for (int f = 0; f < RL_OPENSM_FILES; f++)
		drop(d, (enum rl_opensm_file)f);
}

/* Another text in place of a part of a file. */
static void
edit(struct dump *d, enum rl_opensm_file file, const char *from, const char *to)
{
	const char *text = d->file[file].text, *at = strstr(text, from);
	char *edited = calloc(1, (1 << 16) + strlen(to));

	assert_true(at != NULL && edited != NULL);
	sprintf(edited, "%.*s%s%s", (int)(at - text), text, to,
		at + strlen(from));
	drop(d, file);
	d->file[file].text = edited;
	d->file[file].len = strlen(edited);
}

/* The same wherever it stands. */
static void
edit_all(struct dump *d, enum rl_opensm_file file, const char *from,
	 const char *to)
{
	assert_null(strstr(to, from));
	while (strstr(d->file[file].text, from) != NULL)
		edit(d, file, from, to);
}

/* A text of a test's own in place of a file. */
static void
replace(struct dump *d, enum rl_opensm_file file, const char *text)
{
	drop(d, file);
	d->file[file] = (struct rl_opensm_text){strdup(text), strlen(text)};
	assert_non_null(d->file[file].text);
}

static void
refused(const struct dump *d, const char *why)
{
	struct rl_opensm_error err;
	struct rl_opensm osm;

	assert_int_equal(rl_opensm_read(d->file, &osm, &err), -EINVAL);
	if (strstr(err.why, why) == NULL)
		fail_msg("'%s' is not '%s'", err.why, why);
}

static struct rl_opensm
take(const struct dump *d)
{
	struct rl_opensm_error err;
	struct rl_opensm osm;

	if (rl_opensm_read(d->file, &osm, &err) != 0)
		fail_msg("file %d, line %d: %s", err.file, err.line, err.why);
	return osm;
}

static int
judge(const struct rl_opensm *osm, struct rl_check_report *rep)
{
	const struct rl_check_in in = {.topo = &osm->topo, .fwd = osm->fwd};

	return rl_check(&in, rep);
}

static void
tables_that_opensm_made_free_of_loops_are_found_so(void **state)
{
	struct dump d = load_all(RING);
	struct rl_opensm osm = take(&d);
	struct rl_check_report rep;

	(void)state;
	assert_int_equal(osm.topo.nep, 4);
	assert_int_equal(osm.topo.ndev, 8);
	assert_int_equal(osm.nvls, 2);
	assert_int_equal(osm.vl[1], 1);
	assert_int_equal(osm.missing_switches + osm.unknown_switches, 0);
	assert_int_equal(judge(&osm, &rep), 0);
	assert_int_equal(rep.pairs, 12);
	assert_int_equal(rep.reachable, 12);
	rl_opensm_free(&osm);
	drop_all(&d);
}

/* Without the SLs all paths share VL 0, and wait for each other in a ring. */
static void
the_same_tables_on_one_vl_have_a_loop_of_four_with_its_pairs(void **state)
{
	struct dump d = load_all(RING);
	struct rl_check_report rep;
	struct rl_opensm osm;

	(void)state;
	drop(&d, RL_OPENSM_PATHS);
	osm = take(&d);
	assert_int_equal(osm.nvls, 1);
	assert_int_equal(judge(&osm, &rep), -ELOOP);
	assert_int_equal(rep.cycle_len, 4);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_not_equal(rep.cycle[i].src, rep.cycle[i].dst);
	rl_opensm_free(&osm);
	/* and with the SLs, but no SL2VL */
	drop_all(&d);
	d = load_all(RING);
	drop(&d, RL_OPENSM_SL2VL);
	osm = take(&d);
	assert_int_equal(judge(&osm, &rep), -ELOOP);
	rl_opensm_free(&osm);
	drop_all(&d);
}

static void
what_ibnetdiscover_and_dump_fts_print_stands_in_for_opensm_s_files(void **state)
{
	struct dump d = load_all(RING);
	struct rl_check_report rep;
	struct rl_opensm osm;

	(void)state;
	load(&d, RL_OPENSM_NET, RING "ibnetdiscover.txt");
	load(&d, RL_OPENSM_LFTS, RING "dump_fts.txt");
	osm = take(&d);
	assert_int_equal(osm.nvls, 2);
	assert_int_equal(judge(&osm, &rep), 0);
	assert_int_equal(rep.reachable, 12);
	rl_opensm_free(&osm);
	drop_all(&d);
}

static void
the_sls_may_come_from_saquery(void **state)
{
	struct dump d = load_all(RING);
	char *text = calloc(1, 1 << 15);
	struct rl_check_report rep;
	struct rl_opensm osm;
	size_t n = 0;
	static const unsigned int sl1[][2] = {{5, 8}, {7, 8}, {8, 5}, {8, 7}};
	static const unsigned int lid[] = {1, 5, 7, 8};

	(void)state;
	assert_non_null(text);
	for (unsigned int i = 0; i < 16; i++) {
		const unsigned int src = lid[i / 4], dst = lid[i % 4];
		unsigned int sl = 0;

		for (unsigned int k = 0; k < RL_ARRAY_SIZE(sl1); k++)
			sl |= sl1[k][0] == src && sl1[k][1] == dst;
		n += (size_t)sprintf(text + n,
				     "PathRecord dump:\n"
				     "\t\tdgid....................fe80::20:0\n"
				     "\t\tdlid....................%u\n"
				     "\t\tslid....................%u\n"
				     "\t\tsl......................0x%x\n"
				     "\t\tmtu.....................0x83\n",
				     dst, src, sl);
	}
	drop(&d, RL_OPENSM_PATHS);
	d.file[RL_OPENSM_PATHS] = (struct rl_opensm_text){text, n};
	osm = take(&d);
	assert_int_equal(osm.nvls, 2);
	for (uint32_t s = 0; s < 4; s++)
		for (uint32_t t = 0; t < 4; t++)
			assert_int_equal(
				osm.fwd[osm.topo.ep_dev[s]].path_sl[t],
				s != 0 && t != 0 && (s == 3) != (t == 3));
	assert_int_equal(judge(&osm, &rep), 0);
	assert_int_equal(rep.reachable, 12);
	rl_opensm_free(&osm);
	drop_all(&d);
}

/* The LIDs stand beside the ports' GUIDs in the tables, the LMC nowhere. */
static void
every_lid_of_a_port_is_an_endpoint(void **state)
{
	struct dump d = load_all(LMC);
	struct rl_opensm osm = take(&d);
	struct rl_check_report rep;
	unsigned int n;

	(void)state;
	assert_int_equal(osm.topo.nep, 8);
	assert_true(rl_topo_find_dev(&osm.topo, "Hca1.p2.l7") >= 0);
	assert_true(rl_topo_find_link(&osm.topo, "Switch1-Switch2", &n) >= 0);
	assert_int_equal(n, 2);
	assert_int_equal(judge(&osm, &rep), 0);
	assert_int_equal(rep.reachable, 56);
	rl_opensm_free(&osm);
	drop_all(&d);
}

static void
a_wrong_next_hop_is_a_pair_that_does_not_arrive(void **state)
{
	struct dump d = load_all(RING);
	struct rl_check_report rep;
	struct rl_opensm osm;

	(void)state;
	/* S0 sends node H0's packets to where no cable is */
	edit(&d, RL_OPENSM_LFTS, "0x0001 003 #", "0x0001 009 #");
	osm = take(&d);
	assert_int_equal(judge(&osm, &rep), -EHOSTUNREACH);
	assert_int_equal(rep.reachable, 9);
	rl_opensm_free(&osm);
	drop_all(&d);
}

static void
a_path_whose_sl_has_vl_15_is_counted_as_dropped(void **state)
{
	struct dump d = load_all(RING);
	struct rl_opensm osm;

	(void)state;
	/* at S0, what H0 sends by port 1 on SL 0 */
	edit(&d, RL_OPENSM_SL2VL, "3   1   : 0 ", "3   1   : 15");
	osm = take(&d);
	assert_true(osm.dropped >= 1);
	assert_string_equal(osm.topo.dev[osm.drop_dev].name, "S0");
	assert_string_equal(osm.topo.dev[osm.topo.ep_dev[osm.drop_src]].name,
			    "H0");
	rl_opensm_free(&osm);
	drop_all(&d);
}

static void
a_switch_without_a_table_is_told(void **state)
{
	struct dump d = load_all(RING);
	struct rl_check_report rep;
	struct rl_opensm osm;

	(void)state;
	edit(&d, RL_OPENSM_LFTS, "Lid 4 guid 0x0000000000200002",
	     "Lid 4 guid 0x0000000000299999");
	osm = take(&d);
	assert_int_equal(osm.unknown_switches, 1);
	assert_int_equal(osm.missing_switches, 1);
	assert_int_equal(judge(&osm, &rep), -EHOSTUNREACH);
	rl_opensm_free(&osm);
	drop_all(&d);
}

/* It concerns only its own paths: the other tables stay. */
static void
a_table_of_an_unknown_switch_changes_no_other(void **state)
{
	struct dump d = load_all(RING), e = load_all(RING);
	struct rl_opensm whole = take(&d), osm;
	const int32_t s2 = rl_topo_find_dev(&whole.topo, "S2");

	(void)state;
	edit(&e, RL_OPENSM_LFTS, "Lid 4 guid 0x0000000000200002",
	     "Lid 4 guid 0x0000000000299999");
	osm = take(&e);
	for (uint32_t dev = 0; dev < whole.topo.ndev; dev++)
		if (dev != (uint32_t)s2)
			for (uint16_t i = 0; i < whole.topo.nep; i++)
				assert_true(rl_fwd_word(&whole.fwd[dev], 0, i) ==
					    rl_fwd_word(&osm.fwd[dev], 0, i));
	rl_opensm_free(&whole);
	rl_opensm_free(&osm);
	drop_all(&d);
	drop_all(&e);
}

static void
a_table_in_several_blocks_is_one(void **state)
{
	struct dump d = load_all(RING);
	struct rl_check_report rep;
	struct rl_opensm osm;

	(void)state;
	edit(&d, RL_OPENSM_LFTS, "0x0005 001 #",
	     "Unicast lids [5-8] of switch Lid 2 guid 0x0000000000200000:\n"
	     "0x0005 001 #");
	osm = take(&d);
	assert_int_equal(judge(&osm, &rep), 0);
	assert_int_equal(rep.reachable, 12);
	rl_opensm_free(&osm);
	drop_all(&d);
}

static void
rows_of_a_channel_adapter_are_not_those_of_the_switch_before(void **state)
{
	struct dump d = load_all(RING);
	struct rl_opensm osm;

	(void)state;
	edit(&d, RL_OPENSM_SL2VL, "Switch 0x0000000000200001",
	     "Channel Adapter 0x0000000000100001, base LID 1, \"H0\"\n"
	     "3   1   : 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15\n"
	     "Switch 0x0000000000200001");
	osm = take(&d);
	assert_int_equal(osm.dropped, 0);
	rl_opensm_free(&osm);
	drop_all(&d);
}

static void
an_lmc_gives_a_port_as_many_lids(void **state)
{
	struct dump d = load_all(RING);
	struct rl_opensm osm;

	(void)state;
	load(&d, RL_OPENSM_NET, RING "ibnetdiscover.txt");
	edit(&d, RL_OPENSM_NET, "# lid 8 lmc 0", "# lid 8 lmc 2");
	osm = take(&d);
	assert_int_equal(osm.topo.nep, 7);
	assert_true(rl_topo_find_dev(&osm.topo, "H3.l8") >= 0);
	assert_true(rl_topo_find_dev(&osm.topo, "H3.l11") >= 0);
	assert_true(rl_topo_find_dev(&osm.topo, "H2") >= 0);
	rl_opensm_free(&osm);
	drop_all(&d);
}

static void
a_port_without_a_lid_is_left_out_and_told(void **state)
{
	struct dump d = load_all(RING);
	struct rl_opensm osm = take(&d);

	(void)state;
	assert_int_equal(osm.nodes_without_lid, 0);
	rl_opensm_free(&osm);
	edit_all(&d, RL_OPENSM_NET, "LID:0008", "LID:0000");
	edit_all(&d, RL_OPENSM_LFTS, "portguid 0x0000000000100007", "");
	osm = take(&d);
	assert_int_equal(osm.nodes_without_lid, 1);
	assert_int_equal(osm.topo.nep, 3);
	rl_opensm_free(&osm);
	drop_all(&d);
}

static void
two_channel_adapters_on_one_cable_are_refused(void **state)
{
	static const char net[] =
#define CA(guid, name, lid, pn)                                               \
	"{ CA Ports:02 NodeGUID:" guid " PortGUID:" guid " {" name "} LID:"   \
	lid " PN:" pn " } "
		CA("0000000000100000", "H0", "0001", "01")
		"{ SW Ports:03 NodeGUID:0000000000200000 "
		"PortGUID:0000000000200000 {S0} LID:0002 PN:01 } PHY=4x\n"
		CA("0000000000100000", "H0", "0003", "02")
		CA("0000000000100004", "H1", "0007", "01") "PHY=4x\n";
	struct dump d = load_all(RING);

	(void)state;
	replace(&d, RL_OPENSM_NET, net);
	refused(&d, "a cable between two channel adapters");
	drop_all(&d);
}

/* The dump knows 15 VLs, the checker RL_VCS: which they are called is open. */
static void
vls_beyond_those_of_the_checker_are_numbered_from_below(void **state)
{
	struct dump d = load_all(RING);
	struct rl_check_report rep;
	struct rl_opensm osm;

	(void)state;
	edit_all(&d, RL_OPENSM_SL2VL, ": 0  1  2", ": 0  12 2");
	osm = take(&d);
	assert_int_equal(osm.used_vls, 1 | 1 << 12);
	assert_int_equal(osm.nvls, 2);
	assert_int_equal(osm.vl[0], 0);
	assert_int_equal(osm.vl[1], 12);
	assert_int_equal(judge(&osm, &rep), 0);
	assert_int_equal(rep.reachable, 12);
	assert_int_equal(rep.nvls, 2);
	for (uint32_t s = 0; s < 4; s++) /* the switches */
		for (uint16_t p = 0; p < 9; p++)
			assert_true(rl_fwd_vl(&osm.fwd[s], 0, p / 3, p % 3,
					      1) < 2);
	rl_opensm_free(&osm);
	drop_all(&d);
}

/* Each pair has an SL of its own, and each SL a VL. */
static void
more_vls_than_can_be_judged_are_refused(void **state)
{
	static const char *const lids[] = {"0x0001", "0x0005", "0x0007",
					   "0x0008"};
	struct dump d = load_all(RING);
	char text[2048], *at = text;
	unsigned int sl = 0;

	(void)state;
	for (unsigned int s = 0; s < 4; s++) {
		at += sprintf(at, "Channel Adapter 0x1, base LID %c, \"H\"\n",
			      lids[s][5]);
		for (unsigned int t = 0; t < 4; t++)
			if (s != t)
				at += sprintf(at, "%s : %u\n", lids[t], sl++);
	}
	replace(&d, RL_OPENSM_PATHS, text);
	edit_all(&d, RL_OPENSM_SL2VL, "7  0  1  2  3  4  5  6  7",
		 "7  8  9  10 11 12 13 14 14");
	refused(&d, "the paths use 12 VLs; 8 can be judged");
	drop_all(&d);
}

static void
all_lids_of_a_port_send_on_the_sls_of_its_first(void **state)
{
	struct dump d = load_all(LMC);
	struct rl_opensm osm = take(&d);
	const uint8_t *sl[2];
	unsigned int used = 0;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		const int32_t dev = rl_topo_find_dev(
			&osm.topo, i == 0 ? "Hca1.p1.l2" : "Hca1.p1.l3");

		assert_true(dev >= 0);
		sl[i] = osm.fwd[dev].path_sl;
	}
	assert_memory_equal(sl[0], sl[1], osm.topo.nep);
	for (uint32_t e = 0; e < osm.topo.nep; e++)
		used |= sl[0][e];
	assert_int_not_equal(used, 0);
	rl_opensm_free(&osm);
	drop_all(&d);
}

static void
an_sl_of_saquery_that_is_none_is_refused(void **state)
{
	struct dump d = load_all(RING);

	(void)state;
	replace(&d, RL_OPENSM_PATHS,
		"PathRecord dump:\n\tdlid....5\n\tslid....1\n\tsl......0x10\n");
	refused(&d, "SL 16; SLs are 0 to 15");
	drop_all(&d);
}

static void
bad_files_are_told_with_file_and_line(void **state)
{
	static const struct {
		enum rl_opensm_file file;
		const char *from, *to, *why;
		int line;
	} c[] = {
		{RL_OPENSM_LFTS, "0x0001 003", "0xc000 003",
		 "no LID and port here", 2},
		{RL_OPENSM_LFTS, "0x0001 003", "0x0001 256",
		 "no LID and port here", 2},
		{RL_OPENSM_LFTS, "guid 0x0000000000200000", "guid", "no GUID", 1},
		{RL_OPENSM_LFTS, "Unicast lids", "Some", "a row of no switch", 2},
		{RL_OPENSM_SL2VL, "0   1   : 0  1", "0   1   : 16 1",
		 "no row of SL to VL", 4},
		{RL_OPENSM_SL2VL, "0   1   : 0  1", "0   1   0  1",
		 "no row of SL to VL", 4},
		{RL_OPENSM_PATHS, "0x0001 : 0", "0x0001 : 16",
		 "no LID and SL here", 3},
		{RL_OPENSM_PATHS, "0x0001 : 0", "0x0001 0",
		 "no LID and SL here", 3},
		{RL_OPENSM_NET, "PN:03", "PN:00", "no end of a cable", 0},
		{RL_OPENSM_NET, "LID:0001", "LID:0005", "LID 5 is that of", 0},
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct dump d = load_all(RING);
		struct rl_opensm_error err;
		struct rl_opensm osm;

		edit(&d, c[i].file, c[i].from, c[i].to);
		assert_int_equal(rl_opensm_read(d.file, &osm, &err), -EINVAL);
		if (strstr(err.why, c[i].why) == NULL ||
		    strstr(err.why, "; ") == NULL)
			fail_msg("'%s' is not '%s'", err.why, c[i].why);
		assert_int_equal(err.file, c[i].file);
		if (c[i].line != 0)
			assert_int_equal(err.line, c[i].line);
		assert_null(osm.fwd);
		drop_all(&d);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			tables_that_opensm_made_free_of_loops_are_found_so),
		cmocka_unit_test(
			the_same_tables_on_one_vl_have_a_loop_of_four_with_its_pairs),
		cmocka_unit_test(
			what_ibnetdiscover_and_dump_fts_print_stands_in_for_opensm_s_files),
		cmocka_unit_test(the_sls_may_come_from_saquery),
		cmocka_unit_test(every_lid_of_a_port_is_an_endpoint),
		cmocka_unit_test(
			a_wrong_next_hop_is_a_pair_that_does_not_arrive),
		cmocka_unit_test(
			a_path_whose_sl_has_vl_15_is_counted_as_dropped),
		cmocka_unit_test(a_switch_without_a_table_is_told),
		cmocka_unit_test(a_table_of_an_unknown_switch_changes_no_other),
		cmocka_unit_test(a_table_in_several_blocks_is_one),
		cmocka_unit_test(
			rows_of_a_channel_adapter_are_not_those_of_the_switch_before),
		cmocka_unit_test(an_lmc_gives_a_port_as_many_lids),
		cmocka_unit_test(a_port_without_a_lid_is_left_out_and_told),
		cmocka_unit_test(two_channel_adapters_on_one_cable_are_refused),
		cmocka_unit_test(
			vls_beyond_those_of_the_checker_are_numbered_from_below),
		cmocka_unit_test(more_vls_than_can_be_judged_are_refused),
		cmocka_unit_test(
			all_lids_of_a_port_send_on_the_sls_of_its_first),
		cmocka_unit_test(an_sl_of_saquery_that_is_none_is_refused),
		cmocka_unit_test(bad_files_are_told_with_file_and_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
