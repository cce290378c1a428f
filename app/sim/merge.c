/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * reflit-sim merge FILE...: the stores of a campaign (reflit-sim campaign) as
 * one, and its verdict. It refuses a store of another campaign. It exits with 1 if
 * no store has some of the seeds: a verdict over part of them is no verdict.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opts.h"
#include "report_file.h"
#include "say_error.h"
#include "sim_app.h"
#include "store.h"
#include "tally.h"

struct args {
	const char *json;
	const char *store;
	bool help;
};

static const struct opt table[] = {
	{ "json", "FILE", opt_text, offsetof(struct args, json),
	  .help = "write the merged report there; -: to standard output,\n"
		  "and everything else to standard error" },
	{ "store", "FILE", opt_text, offsetof(struct args, store),
	  .help = "write the merged store there" },
	{ .name = "help", .at = offsetof(struct args, help) },
	{ .name = NULL },
};

static const struct opts program = {
	.program = "reflit-sim",
	.usage =
	"usage: reflit-sim merge [--json FILE] [--store FILE] FILE...\n"
	"\n"
	"Merges the stores of a campaign (campaign --store FILE) into the\n"
	"verdict of the whole.\n"
	"\n",
	.more =
	"  --help\n"
	"\n"
	"Exit status: 0 every seed kept every promise; 1 one did not, or was\n"
	"not run; 2 unusable: a file is corrupt, missing, or of another\n"
	"campaign.\n",
	.table = table,
	.column = 16,
};

static int
verdict(const struct tally *t, const char *json)
{
	size_t i;
	json_t *f;

	json_array_foreach(t->failures, i, f)
		printf("seed %" PRIu64 ": %s\n",
		       (uint64_t)json_integer_value(json_object_get(f, "seed")),
		       json_string_value(json_object_get(f, "broken")));
	tally_print(t);
	if (t->seeds < t->of.seeds)
		fprintf(stderr, "reflit-sim: %" PRIu64 " of %" PRIu64
			" seeds were run\n", t->seeds, t->of.seeds);
	if (json != NULL && report_write(tally_json(t), json) != 0)
		return EXIT_UNUSABLE;
	return t->failed != 0 || t->seeds < t->of.seeds ? EXIT_BROKEN
							: EXIT_KEPT;
}

/* @return index of the first file; 0: help was printed; -EINVAL */
static int
arguments(int argc, char **argv, struct args *a)
{
	const int first = opts_read(&program, argc, argv, a);
	const char *path[2];
	unsigned int n;

	if (first < 0)
		return first;
	if (a->help) {
		opts_help(&program);
		return 0;
	}
	if (first == argc)
		return say_error(-EINVAL, "reflit-sim: merge which files? See "
				 "reflit-sim merge --help\n");
	n = (unsigned int)(argc - first);
	path[0] = a->json;
	path[1] = a->store;
	if (report_check("reflit-sim", a->json) != 0 ||
	    report_check("reflit-sim", a->store) != 0 ||
	    report_apart("reflit-sim", path, 2,
			 (const char *const *)argv + first, n) != 0 ||
	    report_claim_stdout("reflit-sim", path, 2) != 0)
		return -EINVAL;
	return first;
}

int
merge(int argc, char **argv)
{
	struct store all = { .fd = -1 }, one;
	struct args a = { .json = NULL };
	struct tally t;
	const int first = arguments(argc, argv, &a);
	int ret;

	if (first <= 0)
		return first == 0 ? EXIT_KEPT : EXIT_UNUSABLE;
	ret = store_read(&all, argv[first]);
	for (int i = first + 1; i < argc && ret == 0; i++) {
		ret = store_read(&one, argv[i]);
		if (ret == 0)
			ret = store_merge(&all, &one);
		store_close(&one);
	}
	if (ret == 0)
		ret = store_sum(&all, &t);
	if (ret == 0) {
		ret = verdict(&t, a.json);
		if (a.store != NULL && store_write(&all, a.store) != 0)
			ret = EXIT_UNUSABLE;
		tally_free(&t);
	} else {
		ret = EXIT_UNUSABLE;
	}
	store_close(&all);
	return ret;
}
