/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * reflit-sim merge FILE...: the reports of all shards of a campaign as the one
 * report that a single run would have written. It refuses a missing shard, a
 * duplicate, and one of another campaign: a verdict over part of the seeds is
 * no verdict.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option_next.h"
#include "report_file.h"
#include "sim_app.h"
#include "tally.h"

/* The shards that have been taken in so far. */
struct merge {
	struct tally sum;
	const char **file; /* [shards], by shard - 1 */
	uint64_t taken;
};

static void
usage(void)
{
	fputs("usage: reflit-sim merge [--json FILE] FILE...\n"
	      "\n"
	      "Merges the reports of all shards of a campaign (--seeds N --shard\n"
	      "I/N --json FILE) into the verdict of the whole.\n"
	      "\n"
	      "  --json FILE  write the merged report there; -: to standard output,\n"
	      "               and everything else to standard error\n"
	      "  --help\n"
	      "\n"
	      "Exit status: 0 every seed kept every promise; 1 one did not, or was\n"
	      "not run; 2 unusable: a file is corrupt, of another campaign, given\n"
	      "twice, or missing.\n",
	      stdout);
}

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

/* @return an exit status, or -1: go on */
static int
arguments(int argc, char **argv, const char **json)
{
	static const struct option longs[] = {
		{ "json", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int opt;

	optind = 1;
	while ((opt = option_next("reflit-sim", argc, argv, "", longs,
				  NULL)) != -1) {
		if (opt == 'h') {
			usage();
			return EXIT_KEPT;
		}
		if (opt != 'j')
			return EXIT_UNUSABLE;
		*json = optarg;
	}
	if (optind == argc) {
		fprintf(stderr, "reflit-sim: merge which files? See reflit-sim "
			"merge --help\n");
		return EXIT_UNUSABLE;
	}
	return report_check("reflit-sim", *json) != 0 ||
			       report_apart("reflit-sim", json, 1,
					    (const char *const *)argv + optind,
					    (unsigned int)(argc - optind)) !=
				       0 ||
			       report_claim_stdout("reflit-sim", json, 1) != 0
		       ? EXIT_UNUSABLE
		       : -1;
}

int
merge(int argc, char **argv)
{
	const char *json = NULL;
	struct merge m = { 0 };
	int ret = arguments(argc, argv, &json);

	if (ret >= 0)
		return ret;
	ret = 0;
	for (int i = optind; ret == 0 && i < argc; i++)
		ret = take_file(&m, argv[i], (uint64_t)(argc - optind));
	if (ret == -ENOMEM)
		fprintf(stderr, "reflit-sim: %s\n", strerror(ENOMEM));
	ret = ret != 0 ? EXIT_UNUSABLE : verdict(&m.sum, json);
	tally_free(&m.sum);
	free(m.file);
	return ret;
}
