/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * reflit-report: the reports of the processes of one fabric, put together and
 * judged. Exit status as reflit's own.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json_set.h"
#include "ledger_json.h"
#include "merge.h"
#include "opts.h"
#include "report_file.h"
#include "say_error.h"
#include "sound.h"
#include "suspects.h"

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

/* Checks that each process that the reports name has left a report. */
static unsigned int
say_missing(json_t *const report[], unsigned int n)
{
	const json_t *names = NULL;
	unsigned int missing = 0;
	json_t *name;
	size_t k;

	for (unsigned int i = 0; i < n && names == NULL; i++)
		names = json_object_get(report[i], "processes");
	json_array_foreach(names, k, name) {
		bool there = false;

		for (unsigned int i = 0; i < n && !there; i++)
			there = json_equal(json_object_get(report[i],
							   "process"),
					   name) != 0;
		if (!there) {
			fprintf(stderr, "reflit-report: process %s has left no "
					"report\n", json_string_value(name));
			missing++;
		}
	}
	return missing;
}

/* Concatenates lists of all reports; each entry names its process. */
static json_t *
join(json_t *const report[], unsigned int n, const char *key)
{
	json_t *all = json_array(), *e;
	size_t k;

	for (unsigned int i = 0; i < n; i++)
		json_array_foreach(json_object_get(report[i], key), k, e) {
			json_object_set(e, "process",
					json_object_get(report[i], "process"));
			json_array_append(all, e);
		}
	return all;
}

static int
by_epoch(const void *va, const void *vb)
{
	const json_int_t a = json_integer_value(
		json_object_get(*(json_t *const *)va, "epoch"));
	const json_int_t b = json_integer_value(
		json_object_get(*(json_t *const *)vb, "epoch"));

	return a < b ? -1 : a > b;
}

/*
 * Recoveries of all controllers in the order of their epochs: epochs grow from
 * one controller to the next, while each process has a clock of its own.
 */
static json_t *
join_recoveries(json_t *const report[], unsigned int n)
{
	json_t *all = join(report, n, "recoveries"), *sorted = json_array();
	const size_t len = json_array_size(all);
	json_t **e = calloc(len + 1, sizeof(json_t *));

	for (size_t i = 0; e != NULL && i < len; i++)
		e[i] = json_array_get(all, i);
	if (e != NULL)
		qsort(e, len, sizeof(json_t *), by_epoch);
	for (size_t i = 0; i < len; i++)
		json_array_append(sorted, e != NULL ? e[i]
						    : json_array_get(all, i));
	free(e);
	json_decref(all);
	return sorted;
}

static json_t *
join_channels(json_t *const report[], unsigned int n)
{
	json_t *all = json_array();

	for (unsigned int i = 0; i < n; i++) {
		json_t *c = json_object_get(report[i], "channel");

		if (c == NULL)
			continue;
		json_object_set(c, "process",
				json_object_get(report[i], "process"));
		json_array_append(all, c);
	}
	return all;
}

static json_t *
killed(json_t *const report[], unsigned int n)
{
	json_t *names = json_array();

	for (unsigned int i = 0; i < n; i++)
		if (json_is_true(json_object_get(report[i], "killed")))
			json_array_append(names, json_object_get(report[i],
								 "process"));
	return names;
}

static int
save(json_t *const report[], unsigned int n, const struct merged *m,
     unsigned int missing, const char *path)
{
	static const char *const lists[] = { "failovers", "unreachable",
					     "attached", "wires",
					     "alarms" };
	json_t *o = json_object();
	uint64_t elapsed = 0, outage = 0, hops = 0;
	int ret;

	for (unsigned int i = 0; i < n; i++) {
		const uint64_t ns = (uint64_t)json_integer_value(
			json_object_get(report[i], "elapsed_ns"));
		const uint64_t silent_ns = (uint64_t)json_integer_value(
			json_object_get(report[i], "outage_ns"));

		elapsed = ns > elapsed ? ns : elapsed;
		outage = silent_ns > outage ? silent_ns : outage;
		hops += (uint64_t)json_integer_value(
			json_object_get(report[i], "flit_hops"));
	}
	set(o, "sent_packets", m->sent);
	set(o, "delivered_packets", m->delivered);
	set(o, "lost_packets", m->lost);
	set(o, "duplicated_packets", m->duplicated);
	set(o, "reordered_packets", m->reordered);
	set(o, "corrupted_packets", m->altered);
	set(o, "reported_packets", m->reported);
	set(o, "refused_packets", m->refused);
	json_object_set_new(o, "edge",
			    json_pack("{s:I, s:I, s:I, s:I, s:I}", "refused",
				      (json_int_t)m->edge.refused, "missed",
				      (json_int_t)m->edge.missed, "cut",
				      (json_int_t)m->edge.cut, "oversize",
				      (json_int_t)m->edge.oversize, "filtered",
				      (json_int_t)m->edge.filtered));
	set(o, "unproven_packets", m->unproven);
	set(o, "unaccounted_packets", m->unaccounted);
	set(o, "unlisted_packets", m->unlisted);
	set(o, "flows_between_processes", m->flows);
	set(o, "unclean_reports", m->unclean);
	set(o, "missing_reports", missing);
	set(o, "torn_flows", m->torn);
	json_object_set_new(o, "killed", killed(report, n));
	set(o, "flit_hops", hops);
	set(o, "elapsed_ns", elapsed);
	set(o, "outage_ns", outage);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		json_object_set_new(o, lists[i], join(report, n, lists[i]));
	json_object_set_new(o, "recoveries", join_recoveries(report, n));
	json_object_set_new(o, "channels", join_channels(report, n));
	json_object_set_new(o, "suspects", suspects_merge(report, n));
	ret = report_save("reflit-report", o, path);
	json_decref(o);
	return ret;
}

static void
print_channels(json_t *const report[], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		const json_t *c = json_object_get(report[i], "channel");
		const json_int_t outages =
			json_integer_value(json_object_get(c, "outages"));

		if (outages != 0)
			printf("process %s: etcd did not answer %lld times, "
			       "%.1f s in all\n",
			       json_string_value(json_object_get(report[i],
								 "process")),
			       (long long)outages,
			       (double)json_integer_value(
				       json_object_get(c, "away_ns")) / 1e9);
	}
}

static void
print(const struct merged *m, unsigned int n)
{
	const uint64_t edge = m->edge.refused + m->edge.missed + m->edge.cut +
			      m->edge.oversize;

	printf("%u reports, %" PRIu64 " flows between processes\n", n,
	       m->flows);
	printf("sent %" PRIu64 " packets, delivered %" PRIu64 "\n", m->sent,
	       m->delivered);
	printf("lost %" PRIu64 ", duplicated %" PRIu64 ", reordered %" PRIu64
	       ", altered %" PRIu64 ", reported %" PRIu64 "\n",
	       m->lost, m->duplicated, m->reordered, m->altered, m->reported);
	if (m->refused != 0)
		printf("refused %" PRIu64 ": not sent, because there was no "
		       "path\n", m->refused);
	if (edge != 0 || m->ports != 0)
		printf("not taken at the edge %" PRIu64 ": refused %" PRIu64
		       ", missed %" PRIu64 ", cut %" PRIu64 ", oversize %"
		       PRIu64 "\n", edge, m->edge.refused, m->edge.missed,
		       m->edge.cut, m->edge.oversize);
	if (m->unproven != 0)
		printf("unproven %" PRIu64 ": on their way to or from a process "
		       "that was killed, or has left no ledger\n",
		       m->unproven);
	if (m->unaccounted != 0)
		printf("unaccounted for %" PRIu64 " of these: a half of their "
		       "flow is in no file given; give the reports and ledgers "
		       "of all\n", m->unaccounted);
	if (m->torn != 0)
		printf("%" PRIu64 " halves of flows prove nothing: they were "
		       "being written when their process was killed\n",
		       m->torn);
	if (m->unlisted != 0)
		printf("%" PRIu64 " events were not written down: there is no "
		       "proof\n", m->unlisted);
	if (m->unclean != 0)
		printf("%u reports are of runs that are unclean by themselves\n",
		       m->unclean);
}

/* The report of a process, or what its ledger says if it was killed. */
static json_t *
load(const char *path)
{
	char err[512] = "";
	json_error_t e;
	int is_ledger;
	json_t *o = ledger_json(path, &is_ledger, err, sizeof(err));

	if (!is_ledger) {
		o = json_load_file(path, 0, &e);
		if (o == NULL && e.line < 1)
			snprintf(err, sizeof(err), "%s", e.text);
		else if (o == NULL)
			snprintf(err, sizeof(err), "%s:%d: %s", path, e.line,
				 e.text);
	}
	if (o != NULL && !is_ledger && !sound_report(o, path, err, sizeof(err))) {
		json_decref(o);
		o = NULL;
	}
	if (o == NULL)
		fprintf(stderr, "reflit-report: %s\n", err);
	else if (is_ledger)
		printf("process %s was killed; its ledger is judged\n",
		       json_string_value(json_object_get(o, "process")));
	return o;
}

static int
run(char *const path[], unsigned int n, const char *json)
{
	json_t *report[FILES_MAX] = { NULL };
	struct merged m;
	unsigned int missing;
	char line[512];
	int status = 2;

	for (unsigned int i = 0; i < n; i++) {
		report[i] = load(path[i]);
		if (report[i] == NULL)
			goto out;
	}
	missing = say_missing(report, n);
	if (merge_reports(report, (const char *const *)path, n, missing, &m,
			  line, sizeof(line)) != 0) {
		fprintf(stderr, "reflit-report: %s\n", line);
		goto out;
	}
	print(&m, n);
	print_channels(report, n);
	if (merged_mostly_given_up(&m))
		printf("this run is no success: most of what was sent was given "
		       "up\n");
	status = merged_clean(&m) && missing == 0 ? 0 : 1;
	if (json != NULL && save(report, n, &m, missing, json) != 0)
		status = 2;
out:
	for (unsigned int i = 0; i < n; i++)
		json_decref(report[i]);
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
