/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * reflit-report: reads the reports of the processes of one fabric; a program in
 * Python (driver/) puts them together and judges them. Exit status as reflit's
 * own.
 */

#include <errno.h>
#include <string.h>

#include "driver.h"
#include "ledger_file.h"
#include "ledger_json.h"
#include "opts.h"
#include "report_file.h"
#include "say_error.h"

#define FILES_MAX 256

struct options {
	const char *json;
	bool help, version;
};

static const struct opt table[] = {
	{ "json", "FILE", opt_text, offsetof(struct options, json),
	  .help = "write the merged report there; -: to standard output" },
	{ "help", NULL, NULL, offsetof(struct options, help), .letter = 'h' },
	{ .name = "version", .at = offsetof(struct options, version) },
	{ .name = NULL },
};

static const struct opts program = {
	.program = "reflit-report",
	.usage =
	"usage: reflit-report [options] FILE...\n"
	"\n"
	"Merges the reports (reflit --json) of the processes of one fabric, and judges\n"
	"the whole: each packet was delivered exactly once, in order, unaltered, or\n"
	"given up openly. A killed process leaves a ledger (FILE.json.ledger) instead\n"
	"of a report: give that.\n"
	"\n",
	.more =
	"  --help, --version\n"
	"\n"
	"Exit status: 0 every promise was kept; 1 one was broken, or a half of a flow\n"
	"is missing that would prove it; 2 unusable arguments or files.\n",
	.table = table,
	.column = 17,
};

/* A ledger does not begin as JSON does. @return NULL; err: why */
static json_t *
read_one(FILE *f, const char *path, int *is_ledger, char *err, size_t len)
{
	const int first = getc(f);
	json_error_t e;
	json_t *o;

	if (first == EOF) {
		snprintf(err, len, "%s: %s", path,
			 ferror(f) ? strerror(errno) : "is empty");
		return NULL;
	}
	ungetc(first, f);
	if (first == LEDGER_MAGIC[0]) {
		snprintf(err, len, "%s: is no report of reflit's; give the "
			 "files of --json", path);
		return ledger_json(f, path, is_ledger, err, len);
	}
	o = json_loadf(f, JSON_REJECT_DUPLICATES, &e);
	if (o == NULL)
		snprintf(err, len, "%s:%d: %s", path, e.line, e.text);
	return o;
}

/* The report of a process, or what its ledger says if it was killed. */
static json_t *
load(const char *path)
{
	char err[512] = "";
	int is_ledger = 0;
	FILE *f = fopen(path, "rb");
	json_t *o = NULL;

	if (f != NULL)
		o = read_one(f, path, &is_ledger, err, sizeof(err));
	else
		snprintf(err, sizeof(err), "%s: %s", path, strerror(errno));
	if (f != NULL)
		fclose(f);
	if (o == NULL)
		fprintf(stderr, "reflit-report: %s\n", err);
	else if (is_ledger)
		printf("process %s was killed; its ledger is judged\n",
		       json_string_value(json_object_get(o, "process")));
	return o;
}

/* What driver/report.py says of them. @return the exit status */
static int
judge(char *const path[], unsigned int n, const json_t *reports,
      const char *json)
{
	json_t *merged;
	int status = driver_ask("reflit-report", "report", REPORT_INSTALLED,
				"report.py", path, (int)n, reports, &merged);

	if (status < 0)
		status = 2;
	if (json != NULL && merged != NULL &&
	    report_save("reflit-report", merged, json) != 0)
		status = 2;
	json_decref(merged);
	return status;
}

static int
run(char *const path[], unsigned int n, const char *json)
{
	json_t *reports = json_array();
	int status = 2;

	for (unsigned int i = 0; i < n; i++) {
		json_t *report = load(path[i]);

		if (report == NULL)
			goto out;
		json_array_append_new(reports, report);
	}
	status = judge(path, n, reports, json);
out:
	json_decref(reports);
	return status;
}

int
main(int argc, char **argv)
{
	struct options o = { .json = NULL };
	int first, status;

	report_begin("reflit-report", argc, argv);
	first = opts_read(&program, argc, argv, &o);
	if (first < 0)
		return 2;
	if (o.help) {
		opts_help(&program);
		return 0;
	}
	if (o.version) {
		printf("reflit-report %s\n", RL_VERSION);
		return 0;
	}
	if (first == argc || argc - first > FILES_MAX)
		return say_error(2, "reflit-report: give 1 to %d reports of "
				 "reflit's; see --help\n", FILES_MAX);
	if (report_check("reflit-report", o.json) != 0 ||
	    report_apart("reflit-report", &o.json, 1,
			 (const char *const *)argv + first,
			 (unsigned int)(argc - first)) != 0 ||
	    report_claim_stdout("reflit-report", &o.json, 1) != 0)
		return 2;
	status = run(argv + first, (unsigned int)(argc - first), o.json);
	if (report_flush("reflit-report") != 0 && status == 0)
		status = 2;
	return status;
}
