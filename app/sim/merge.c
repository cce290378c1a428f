/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * reflit-sim merge FILE...: the reports of all shards of a campaign as the one
 * report that a single run would have written. It refuses a missing shard, a
 * duplicate, and one of another campaign: a verdict over part of the seeds is
 * no verdict. The same of stores (reflit-sim campaign), of which any may have
 * any blocks.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opts.h"
#include "report_file.h"
#include "sim_app.h"
#include "store.h"
#include "tally.h"

/* The shards that have been taken in so far. */
struct merge {
	struct tally sum;
	const char **file; /* [shards], by shard - 1 */
	uint64_t taken;
};

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
	  .help = "of stores: write the merged store there" },
	{ .name = "help", .at = offsetof(struct args, help) },
	{ .name = NULL },
};

static const struct opts program = {
	.program = "reflit-sim",
	.usage =
	"usage: reflit-sim merge [--json FILE] [--store FILE] FILE...\n"
	"\n"
	"Merges the reports of all shards of a campaign (--seeds N --shard\n"
	"I/N --json FILE), or its stores (campaign --store FILE), into the\n"
	"verdict of the whole.\n"
	"\n",
	.more =
	"  --help\n"
	"\n"
	"Exit status: 0 every seed kept every promise; 1 one did not, or was\n"
	"not run; 2 unusable: a file is corrupt, of another campaign, given\n"
	"twice, or missing.\n",
	.table = table,
	.column = 16,
};

static int
unusable(const char *file, const char *why)
{
	fprintf(stderr, "reflit-sim: %s: %s\n", file, why);
	return -EINVAL;
}

/* The first file says which campaign it is. */
static int
take_first(struct merge *m, const struct tally *t, const char *file,
	   uint64_t files)
{
	char why[RL_ERR_MAX];

	if (t->of.shards != files) {
		snprintf(why, sizeof(why), "is one of %" PRIu64 " shards, but "
			 "%" PRIu64 " files are given", t->of.shards, files);
		return unusable(file, why);
	}
	tally_init(&m->sum, &t->of);
	m->sum.of.shard = m->sum.of.shards = 1;
	m->file = calloc(files, sizeof(*m->file));
	return m->file == NULL ? -ENOMEM : 0;
}

static int
take_shard(struct merge *m, const struct tally *t, const char *file,
	   uint64_t files)
{
	const struct tally_of *of = &t->of, *all = &m->sum.of;
	char why[RL_ERR_MAX];

	if (of->shards != files || of->first_seed != all->first_seed ||
	    of->seeds != all->seeds || of->settings != all->settings)
		return unusable(file, "of another campaign than the first file");
	if (m->file[of->shard - 1] != NULL) {
		snprintf(why, sizeof(why), "shard %" PRIu64 " again, as in "
			 "%.200s", of->shard, m->file[of->shard - 1]);
		return unusable(file, why);
	}
	m->file[of->shard - 1] = file;
	m->taken++;
	tally_merge(&m->sum, t);
	return 0;
}

static int
take_file(struct merge *m, const char *file, uint64_t files)
{
	json_error_t bad;
	json_t *report = json_load_file(file, 0, &bad);
	char why[RL_ERR_MAX];
	struct tally t;
	int ret;

	if (report == NULL && bad.line < 1)
		return unusable(file, bad.text);
	if (report == NULL) {
		fprintf(stderr, "reflit-sim: %s:%d: %s\n", file, bad.line,
			bad.text);
		return -EINVAL;
	}
	ret = tally_read(&t, report, why);
	json_decref(report);
	if (ret != 0)
		return unusable(file, why);
	if (m->file == NULL)
		ret = take_first(m, &t, file, files);
	if (ret == 0)
		ret = take_shard(m, &t, file, files);
	tally_free(&t);
	return ret;
}

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
	if (first == argc) {
		fprintf(stderr, "reflit-sim: merge which files? See reflit-sim "
			"merge --help\n");
		return -EINVAL;
	}
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

/* All stores as one. @return an exit status */
static int
merge_stores(const struct args *a, char *const *file, int n)
{
	struct store all = { .fd = -1 }, one;
	struct tally t;
	int ret = store_read(&all, file[0]);

	for (int i = 1; i < n && ret == 0; i++) {
		ret = store_read(&one, file[i]);
		if (ret == 0)
			ret = store_merge(&all, &one);
		store_close(&one);
	}
	if (ret == 0)
		ret = store_sum(&all, &t);
	if (ret == 0) {
		ret = verdict(&t, a->json);
		if (a->store != NULL && store_write(&all, a->store) != 0)
			ret = EXIT_UNUSABLE;
		tally_free(&t);
	} else {
		ret = EXIT_UNUSABLE;
	}
	store_close(&all);
	return ret;
}

int
merge(int argc, char **argv)
{
	struct args a = { .json = NULL };
	struct merge m = { 0 };
	const int first = arguments(argc, argv, &a);
	int ret = 0;

	if (first <= 0)
		return first == 0 ? EXIT_KEPT : EXIT_UNUSABLE;
	if (store_is(argv[first]))
		return merge_stores(&a, argv + first, argc - first);
	if (a.store != NULL) {
		unusable(argv[first], "not the store of a campaign, which "
				      "--store is for");
		return EXIT_UNUSABLE;
	}
	for (int i = first; ret == 0 && i < argc; i++)
		ret = take_file(&m, argv[i], (uint64_t)(argc - first));
	if (ret == -ENOMEM)
		fprintf(stderr, "reflit-sim: %s\n", strerror(ENOMEM));
	ret = ret != 0 ? EXIT_UNUSABLE : verdict(&m.sum, a.json);
	tally_free(&m.sum);
	free(m.file);
	return ret;
}
