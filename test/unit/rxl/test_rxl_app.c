/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reflit-sim rxl from the command line to its files [EVAL-1, EVAL-4]: what is
 * refused, what is kept, and that a stopped run goes on where it was.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "case.h"
#include "figure.h"
#include "report.h"
#include "rl_rxl_app.h"
#include "store.h"
#include "table.h"

static char dir[64];

static int
make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/rxl-test-XXXXXX");
	return mkdtemp(dir) == NULL ? -1 : 0;
}

static int
remove_dir(void **state)
{
	char cmd[96];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

static const char *
in_dir(const char *name)
{
	static char path[4][128];
	static unsigned int turn;
	char *p = path[turn++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

/** Runs `rxl ARGS --out DIR`, words apart by one space. */
static int
run(const char *args)
{
	char copy[512];
	char *argv[40];
	int argc = 0;

	snprintf(copy, sizeof(copy), "rxl %s --quiet --jobs 1 --out %s", args,
		 dir);
	for (char *w = strtok(copy, " "); w != NULL; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	return rl_rxl_main(argc, argv);
}

static bool
exists(const char *name)
{
	struct stat s;

	return stat(in_dir(name), &s) == 0 && s.st_size > 0;
}

static void
unusable_arguments_are_refused_before_anything_is_run(void **state)
{
	static const char *const bad[] = {
		"--table 0",	     "--table 10",	"--table nonsense",
		"--figure 7",	     "--figure 5a",	"--figure 4",
		"--ber x",	     "--ber -1e-6",	"--ber 0.5",
		"--ber nan",	     "--levels 9",	"--levels -1",
		"--coalesce 0",	     "--coalesce 257",	"--propagate 1",
		"--lanes 3",	     "--lanes 32",	"--lost 1",
		"--retry sometimes", "--profile tcp",	"--crc crc32",
		"--isn 12",	     "--jobs 0",	"--jobs 65",
		"--flits 10",	     "--seed 1x",	"--seed",
		"--frobnicate",	     "word",
		"--crc pcie6-rs --isn wide",
		"--crc crc64-ecma --isn wide19",
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(bad); i++)
		if (run(bad[i]) != 2)
			fail_msg("%s was taken", bad[i]);
	assert_false(exists("state.jsonl"));
}

static void
help_is_given_and_is_no_error(void **state)
{
	(void)state;
	assert_int_equal(run("--help"), 0);
}

static void
the_equations_need_no_simulation_and_no_files(void **state)
{
	(void)state;
	assert_int_equal(run("--table equations"), 0);
	assert_false(exists("state.jsonl"));
	assert_false(exists("equations.csv"));
}

static void
a_point_of_ones_own_is_run_reported_and_written(void **state)
{
	char args[256];
	json_t *o, *rows;

	(void)state;
	snprintf(args, sizeof(args),
		 "--profile cxl --levels 2 --ber 1e-4 --flits 300000 --json %s",
		 in_dir("r.json"));
	assert_int_equal(run(args), 0);
	assert_true(exists("point.csv") && exists("state.jsonl"));
	o = json_load_file(in_dir("r.json"), 0, NULL);
	rows = json_object_get(
		json_object_get(json_object_get(o, "tables"), "point"), "rows");
	assert_int_equal(json_array_size(rows), 11);
	assert_true(json_integer_value(json_object_get(o, "compared")) >= 8);
	json_decref(o);
}

static void
other_codes_error_models_and_drop_reports_can_be_tried(void **state)
{
	static const char *const points[] = {
		"--crc crc64-ecma --isn xor10 --ber 3e-5",
		"--crc pcie6-rs --isn xor10 --ber 3e-5 --retry selective",
		"--isn wide19 --ber 3e-5",
		"--propagate 0.8 --lanes 16 --ber 1e-5",
		"--byte-bursts 1e-3 --ber 0",
		"--inside 1e-3 --lost 1e-4 --levels 3",
		"--retry selective --drop-reports --levels 4 --ber 3e-5",
		"--profile rxl-compact --coalesce 4",
	};
	char args[256];

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(points); i++) {
		snprintf(args, sizeof(args), "%s --flits 100000", points[i]);
		assert_int_equal(run(args), 0);
	}
}

/* As this program finds it; @p other: as a program of another build does. */
static int
open_store(struct rxl_store *s, const char *other)
{
	char build[20];

	rxl_store_build(build);
	return rxl_store_open(s, in_dir("state.jsonl"),
			      other[0] == '\0' ? build : other, false);
}

static void
what_another_build_has_measured_is_not_printed_as_measured(void **state)
{
	struct rxl_store s;
	char build[20];

	(void)state;
	rxl_store_build(build);
	assert_int_equal(strlen(build), 16);
	assert_int_equal(run("--profile rxl --ber 1e-4 --flits 20000"), 0);
	assert_int_equal(open_store(&s, "0123456789abcdef"), 0);
	assert_int_equal(s.n, 0);
	assert_int_equal(s.foreign, 2);
	rxl_store_close(&s);
	assert_int_equal(open_store(&s, ""), 0);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.foreign, 0);
	rxl_store_close(&s);
}

static void
the_interval_of_a_loss_is_that_of_its_retries(void **state)
{
	struct rxl_outcome o = {
		.path = { .delivered = 900, .slots = 1000, .control = 30 },
		.naks = 30,
		.timeouts = 70,
	};
	struct rl_rxl_rate r = rxl_loss(&o);

	(void)state;
	/* no ACK goes alone: 100 retries, all of the loss is theirs */
	assert_true(fabs(r.rate - 0.1) < 1e-9);
	assert_true(fabs(r.lo - (0.1 - 0.1 * 0.196)) < 1e-9);
	assert_true(fabs(r.hi - (0.1 + 0.1 * 0.196)) < 1e-9);
	/* 90 ACKs alone are as many slots, and nothing random about them */
	o.path.control = 120;
	r = rxl_loss(&o);
	assert_true(fabs(r.rate - 0.1) < 1e-9);
	assert_true(fabs(r.hi - r.rate - 0.196 * (0.1 - 1.0 / 11)) < 1e-9);
	o.naks = o.timeouts = 0;
	r = rxl_loss(&o);
	assert_true(r.lo == r.rate && r.hi == r.rate);
}

static void
what_was_simulated_before_is_not_simulated_again(void **state)
{
	const char *args = "--profile rxl --levels 1 --ber 1e-4 --flits 50000";
	struct rxl_store s;
	size_t n;

	(void)state;
	assert_int_equal(run(args), 0);
	assert_int_equal(open_store(&s, ""), 0);
	n = s.n;
	assert_int_equal(n, 2);
	rxl_store_close(&s);
	assert_int_equal(run(args), 0);
	assert_int_equal(open_store(&s, ""), 0);
	assert_int_equal(s.n, n);
	rxl_store_close(&s);
	/* another seed is another case; --fresh forgets */
	assert_int_equal(run("--profile rxl --levels 1 --ber 1e-4 "
			     "--flits 50000 --seed 2"), 0);
	assert_int_equal(open_store(&s, ""), 0);
	assert_int_equal(s.n, n + 2);
	rxl_store_close(&s);
	assert_int_equal(run("--profile rxl --levels 1 --ber 1e-4 "
			     "--flits 50000 --fresh"), 0);
	assert_int_equal(open_store(&s, ""), 0);
	assert_int_equal(s.n, 2);
	rxl_store_close(&s);
}

static void
a_folder_that_cannot_be_written_is_an_error(void **state)
{
	char *argv[] = { "rxl", "--ber", "1e-5", "--flits", "1000", "--quiet",
			 "--out", "/proc/nonexistent", NULL };

	(void)state;
	assert_int_equal(rl_rxl_main(8, argv), 2);
}

static struct rxl_outcome
some_outcome(uint64_t salt)
{
	struct rxl_outcome o;
	uint64_t *n = (uint64_t *)(void *)&o;

	for (size_t i = 0; i < RXL_OUTCOME_NUMBERS; i++)
		n[i] = salt * 1000003 + i;
	return o;
}

static void
outcomes_come_back_as_they_were_kept_but_for_broken_lines(void **state)
{
	const struct rxl_outcome a = some_outcome(1), b = some_outcome(2);
	struct rxl_store s;
	FILE *f;

	(void)state;
	assert_int_equal(rxl_store_open(&s, in_dir("s"), "b", false), 0);
	assert_int_equal(rxl_store_add(&s, "one", &a), 0);
	rxl_store_close(&s);
	f = fopen(in_dir("s"), "a");
	fputs("not json\n{\"key\":\"two\",\"format\":1,\"v\":[1,2]}\n"
	      "{\"key\":\"three\",\"format\":999,\"v\":[]}\n\n[]\n", f);
	fclose(f);
	assert_int_equal(rxl_store_open(&s, in_dir("s"), "b", false), 0);
	assert_int_equal(rxl_store_add(&s, "four", &b), 0);
	rxl_store_close(&s);
	f = fopen(in_dir("s"), "a");
	fputs("{\"key\":\"five\",\"form", f); /* killed while writing */
	fclose(f);
	assert_int_equal(rxl_store_open(&s, in_dir("s"), "b", false), 0);
	assert_int_equal(s.n, 2);
	assert_memory_equal(rxl_store_find(&s, "one"), &a, sizeof(a));
	assert_memory_equal(rxl_store_find(&s, "four"), &b, sizeof(b));
	assert_null(rxl_store_find(&s, "two"));
	rxl_store_close(&s);
}

static void
every_parameter_of_a_case_is_in_its_key(void **state)
{
	struct rxl_case c[17];
	char key[17][RXL_KEY_MAX];

	(void)state;
	for (int i = 0; i < 17; i++)
		rxl_case_defaults(&c[i]);
	c[1].kind = RXL_PATH;
	c[2].profile = RL_PROFILE_CXL;
	c[3].retry = RL_RETRY_SELECTIVE;
	c[4].crc = RL_CRC_ECMA;
	c[5].isn = RL_ISN_XOR10;
	c[6].levels = 1;
	c[7].coalesce = 11;
	c[8].burst_slots = 2;
	c[9].ber = 1e-6;
	c[10].propagate = 0.5;
	c[11].lanes = 16;
	c[12].byte_bursts = 1e-6;
	c[13].lost = 1e-6;
	c[14].inside = 1e-6;
	c[15].reports = true;
	c[16].seed = 2;
	for (int i = 0; i < 17; i++) {
		rxl_case_key(&c[i], key[i]);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(key[i], key[k]);
	}
}

static void
two_seeds_and_lengths_of_one_case_are_summed(void **state)
{
	struct rxl_case c;
	const struct rxl_case *found;
	struct rxl_plan plan = { 0 };
	struct rxl_store store = { 0 };
	struct rxl_eval e = { .plan = &plan, .store = &store };
	struct rxl_outcome o;
	size_t i = 0;

	(void)state;
	rxl_case_defaults(&c);
	c.group = RXL_G_LONG;
	c.kind = RXL_PATH;
	c.flits = 20000;
	for (c.seed = 1; c.seed <= 3; c.seed++)
		rxl_plan_add(&plan, &c);
	c.levels = 1;
	rxl_plan_add(&plan, &c);
	assert_int_equal(rxl_run(&plan, &store, 2, false), 0);
	assert_int_equal(store.n, 4);
	assert_true(rxl_each(&e, RXL_G_LONG, &i, &found, &o));
	assert_true(o.path.slots == 60000);
	assert_true(rxl_each(&e, RXL_G_LONG, &i, &found, &o));
	assert_true(o.path.slots == 20000 && found->levels == 1);
	assert_false(rxl_each(&e, RXL_G_LONG, &i, &found, &o));
	rxl_plan_free(&plan);
	rxl_store_close(&store);
}

/* What cannot miss proves nothing, and is told apart [EVAL-1]. */
static void
rows_that_cannot_miss_are_not_counted_among_those_that_hold(void **state)
{
	static const struct {
		struct rl_rxl_rate rate;
		double computed;
		bool held, sure;
	} row[] = {
		{ { .rate = 0.5, .lo = 0.4, .hi = 0.6 }, 0.45, true, false },
		{ { .rate = 0.5, .lo = 0.4, .hi = 0.6 }, 0.39, false, false },
		{ { .rate = 0, .lo = 0, .hi = 0.1 }, 0.05, true, false },
		{ { .rate = 0, .lo = 0, .hi = 0.1 }, 0, true, true },
		{ { .rate = 0.1, .lo = 0.01, .hi = 0.2 }, 0, false, false },
	};
	struct rxl_eval e = { .compared = 0 };
	struct rxl_table t;
	uint64_t held = 0, sure = 0;

	(void)state;
	rxl_table_init(&t, "t", "T");
	rxl_table_col(&t, "measured", "%g");
	rxl_table_col(&t, "low", "%g");
	rxl_table_col(&t, "high", "%g");
	rxl_table_col(&t, "in", "");
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(row); i++) {
		rxl_cells_rate(&e, &t, &row[i].rate, row[i].computed);
		held += row[i].held;
		sure += row[i].sure;
		assert_int_equal(e.compared, i + 1);
		assert_int_equal(e.held, held);
		assert_int_equal(e.sure, sure);
	}
	assert_int_equal(t.nrows, RL_ARRAY_SIZE(row));
	rxl_table_free(&t);
}

static void
tables_are_written_as_csv_and_json(void **state)
{
	struct rxl_table t;
	char text[256] = "";
	json_t *o;
	FILE *f;

	(void)state;
	rxl_table_init(&t, "t", "T");
	rxl_table_col(&t, "a", "%.1f");
	rxl_table_col(&t, "b", "");
	rxl_table_col(&t, "c", "%.1f");
	rxl_cell_number(&t, 0.5);
	rxl_cell_text(&t, "x, \"y\"");
	rxl_cell_bool(&t, true);
	rxl_cell_number(&t, 1e-9);
	rxl_cell_none(&t);
	rxl_cell_number(&t, 0.0 / 0.0);
	rxl_table_note(&t, "n %d", 1);
	assert_int_equal(rxl_table_csv(&t, in_dir("t.csv")), 0);
	f = fopen(in_dir("t.csv"), "r");
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	assert_string_equal(text, "a,b,c\n0.5,\"x, \"\"y\"\"\",1\n1e-09,,\n");
	o = rxl_table_json(&t);
	assert_int_equal(json_array_size(json_object_get(o, "rows")), 2);
	assert_true(json_is_null(json_object_get(
		json_array_get(json_object_get(o, "rows"), 1), "c")));
	json_decref(o);
	assert_true(rxl_table_csv(&t, "/nonexistent/t.csv") < 0);
	rxl_table_free(&t);
}

/* [EVAL-4] Without gnuplot there is nothing to draw with: that is a skip. */
static void
gnuplot_draws_a_picture_in_all_forms_and_its_errors_are_ours(void **state)
{
	FILE *data = fopen(in_dir("line.csv"), "w");
	int ret;

	(void)state;
	assert_non_null(data);
	fputs("1 2\n2 3\n", data);
	assert_int_equal(fclose(data), 0);
	ret = rxl_figure_draw("line", "plot 'line.csv' with lines\n", dir);
	assert_true(exists("line.gp"));
	if (ret == 1) {
		print_message("no gnuplot here\n");
		skip();
	}
	assert_int_equal(ret, 0);
	assert_true(exists("line.svg"));
	assert_true(exists("line.png"));
	assert_true(exists("line.pdf"));
	assert_int_equal(rxl_figure_draw("line", "plot 'nothing.csv'\n", dir),
			 -EIO);
	assert_int_equal(rxl_figure_draw("line", NULL, dir), -ENOENT);
	assert_int_equal(rxl_figure_draw("rates", NULL, "/nonexistent"),
			 -ENOENT);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)
	const struct CMUnitTest tests[] = {
		T(unusable_arguments_are_refused_before_anything_is_run),
		T(help_is_given_and_is_no_error),
		T(the_equations_need_no_simulation_and_no_files),
		T(a_point_of_ones_own_is_run_reported_and_written),
		T(other_codes_error_models_and_drop_reports_can_be_tried),
		T(what_was_simulated_before_is_not_simulated_again),
		T(what_another_build_has_measured_is_not_printed_as_measured),
		T(the_interval_of_a_loss_is_that_of_its_retries),
		T(a_folder_that_cannot_be_written_is_an_error),
		T(outcomes_come_back_as_they_were_kept_but_for_broken_lines),
		T(every_parameter_of_a_case_is_in_its_key),
		T(two_seeds_and_lengths_of_one_case_are_summed),
		T(rows_that_cannot_miss_are_not_counted_among_those_that_hold),
		T(tables_are_written_as_csv_and_json),
		T(gnuplot_draws_a_picture_in_all_forms_and_its_errors_are_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
