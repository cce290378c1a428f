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
		cmocka_unit_test(bad_files_are_told_with_file_and_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
