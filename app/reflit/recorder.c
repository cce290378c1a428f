/* SPDX-License-Identifier: BSD-3-Clause */

/* What commands did, in the words of fault files. */

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app.h"
#include "command.h"
#include "recorder.h"
#include "report_file.h"
#include "rl_infile.h"
#include "rl_pattern.h"
#include "run_files.h"
#include "say_error.h"

#define FABRIC_MAX_BYTES (16u << 20)

int
recorder_open(struct app *app)
{
	const int ret = rl_infile_read(app->opt.config, RL_INFILE_PLAIN,
				       FABRIC_MAX_BYTES, &app->fabric_text,
				       &app->fabric_len);

	if (ret == 0 || app->opt.record == NULL)
		return 0;
	return say_error(ret, "reflit: --record: %s: %s\n", app->opt.config,
			 rl_infile_error(ret));
}

void
recorder_close(struct app *app)
{
	free(app->fabric_text);
	app->fabric_text = NULL;
}

static struct recorder_fault *
add(struct app *app, uint64_t t_ns)
{
	struct recorder *r = &app->recorder;
	struct recorder_fault *x = &r->fault[r->nfaults++ % RECORDER_FAULTS];

	x->t_ns = t_ns;
	x->note[0] = '\0';
	return x;
}

void
recorder_fault(struct app *app, const struct rl_fault *f)
{
	add(app, host_now(&app->host))->f = *f;
}

static int
take(void *app, const struct rl_fault *f)
{
	recorder_fault(app, f);
	return 0;
}

/* "device s0 crash" is "crash s0" in a fault file; the others alike. */
void
recorder_command(struct app *app, const char *line)
{
	static const char *const verbs[] = { "crash", "restart", "remove",
					     "add" };
	/* fault files have no words for these */
	static const char *const wordless[] = { "quiesce", "unquiesce",
						"reroute" };
	char what[16] = "", where[120] = "", verb[16] = "", text[160] = "";
	char err[RL_ERR_MAX];
	const int n = sscanf(line, "%15s %119s %15s", what, where, verb);

	if (n == 2 && strcmp(what, "controller") == 0)
		snprintf(text, sizeof(text), "0 controller %s", where);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(verbs); i++)
		if (n == 3 && strcmp(verb, verbs[i]) == 0 &&
		    (strcmp(what, "device") == 0 || strcmp(what, "link") == 0))
			snprintf(text, sizeof(text), "0 %s %s", verb, where);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(wordless); i++)
		if (n == 1 && strcmp(what, wordless[i]) == 0)
			strcpy(add(app, host_now(&app->host))->note, what);
	rl_fault_file("", text, strlen(text), &app->cfg.topo, NULL, take, app,
		      err, sizeof(err));
}

void
recorder_link(struct app *app, enum rl_fault_kind kind, uint32_t link)
{
	const struct rl_fault f = {
		.kind = kind, .link = link, .dirs = RL_FAULT_DIR_BOTH,
	};

	recorder_fault(app, &f);
}

void
recorder_traffic(struct app *app, bool on)
{
	struct recorder *r = &app->recorder;

	if (on && r->traffic_start_ns == 0)
		r->traffic_start_ns = host_now(&app->host);
	if (on)
		r->traffic_stop_ns = 0;
	else if (r->traffic_start_ns != 0 && r->traffic_stop_ns == 0)
		r->traffic_stop_ns = host_now(&app->host);
}

/* A cut that waited has happened: in one direction, or in both. */
static void
note_cut(struct app *app, uint32_t link)
{
	const struct rl_inject_link *l = &app->host.fault[link];
	const bool both = !rl_inject_light(l);
	bool *waits = app->link[link].cut_waits;
	struct recorder_fault *x;

	for (unsigned int e = 0; e < 2; e++) {
		if (!waits[e] || (!both && atomic_load(&l->dir[e].cut) == 0))
			continue;
		x = add(app, host_time_of(&app->host,
					  atomic_load(&l->severed_ns)));
		x->f = (struct rl_fault){
			.kind = RL_FAULT_CUT,
			.link = link,
			.dirs = both ? RL_FAULT_DIR_BOTH : (uint8_t)(1u << e),
			.silent = !both,
		};
		waits[e] = false;
		if (both)
			waits[1] = false;
	}
}

void
recorder_step(struct app *app)
{
	for (uint32_t i = 0; i < app->cfg.topo.nlink; i++)
		if ((app->link[i].cut_waits[0] || app->link[i].cut_waits[1]) &&
		    rl_inject_severed(&app->host.fault[i]))
			note_cut(app, i);
}

/* The fabric file, each line marked, so that its words are not parsed. */
static void
put_fabric(FILE *f, const char *text, size_t len)
{
	const char *at = text, *const end = text + len;

	while (at < end) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		const size_t n = (size_t)((nl == NULL ? end : nl) - at);

		fprintf(f, "|%.*s\n", (int)n, at);
		at += n + 1;
	}
}

static uint64_t
typical_round_trip(const struct app *app)
{
	uint64_t sum = 0, n = 0;

	for (uint32_t i = 0; i < app->cfg.topo.nlink; i++)
		for (int e = 0; e < 2; e++) {
			const struct rl_topo_link *l = &app->cfg.topo.link[i];
			struct rl_port_info info;

			rl_port_info(app->host.fabric.dev[l->dev[e]]
					     .port[l->port[e]]
					     .port,
				     &info);
			sum += info.srtt_ns;
			n += info.srtt_ns != 0;
		}
	return n == 0 ? 0 : sum / n;
}

static double
mean_flits(const struct app *app, const struct totals *t)
{
	const struct gens_plan *p = &app->gens.plan;

	if (app->gens.ngens != 0 || t->sent == 0)
		return (p->min_flits + p->max_flits) / 2.0;
	return (double)t->sent_bytes / (double)t->sent / RL_FLIT_DATA_BYTES +
	       0.5;
}

/* The classes of service: their number, or "kind". */
static const char *
classes_word(const struct gens_plan *p, char *buf, size_t len)
{
	snprintf(buf, len, "%u", p->classes == 0 ? 1u : p->classes);
	return p->by_kind ? "kind" : buf;
}

static void
put_traffic(FILE *f, const struct app *app, uint64_t duration_ns)
{
	const struct gens_plan *p = &app->gens.plan;
	struct totals t;
	double flits;
	uint64_t asked, answers; /* which the pattern does not set */
	char word[8];

	app_totals(app, &t);
	flits = mean_flits(app, &t);
	asked = t.sent_requests;
	answers = t.sent_responses;
	fprintf(f, "duration %" PRIu64 "\n", duration_ns);
	fprintf(f, "round-trip %" PRIu64 "\n", typical_round_trip(app));
	fprintf(f, "traffic %s %u-%u %s %.9f\n",
		app->gens.ngens != 0 ? rl_pattern_name(p->pattern) : "uniform",
		app->gens.ngens != 0 ? p->min_flits : (uint32_t)flits,
		app->gens.ngens != 0 ? p->max_flits : (uint32_t)flits,
		classes_word(p, word, sizeof(word)),
		duration_ns == 0 ? 0.0
				 : (double)(t.sent - answers) * flits /
					   ((double)duration_ns / 1e3) /
					   app->cfg.topo.nep);
	if (asked > 0)
		fprintf(f, "requests %.6f\n",
			rl_min_u64(asked, t.sent - answers) /
				(double)(t.sent - answers));
	fprintf(f,
		"outcome sent %" PRIu64 "\noutcome delivered %" PRIu64
		"\noutcome lost %" PRIu64 "\noutcome duplicated %" PRIu64
		"\noutcome reordered %" PRIu64 "\noutcome corrupted %" PRIu64
		"\noutcome reported %" PRIu64 "\noutcome failovers %u\n",
		t.sent, t.delivered, t.lost, t.duplicated, t.reordered,
		t.altered, t.reported, app->watch.failovers.n);
}

/* What faults did to frames. */
static void
put_frames(FILE *f, const struct app *app)
{
	struct rl_inject_counters sum = { 0 };

	for (uint32_t i = 0; i < 2 * app->cfg.topo.nlink; i++) {
		const struct rl_inject_counters *c =
			&app->host.fault[i / 2].dir[i % 2].c;

		sum.dropped_frames += c->dropped_frames;
		sum.corrupted_frames += c->corrupted_frames;
		sum.duplicated_frames += c->duplicated_frames;
		sum.delayed_frames += c->delayed_frames;
	}
	fprintf(f,
		"outcome frames_lost %" PRIu64 "\noutcome frames_hurt %" PRIu64
		"\noutcome frames_repeated %" PRIu64
		"\noutcome frames_delayed %" PRIu64 "\n",
		sum.dropped_frames, sum.corrupted_frames,
		sum.duplicated_frames, sum.delayed_frames);
}

/* Times are those of the traffic. */
static uint64_t
since(const struct app *app, uint64_t t_ns)
{
	const uint64_t start_ns = app->recorder.traffic_start_ns != 0
					  ? app->recorder.traffic_start_ns
					  : app->start_ns;

	return t_ns > start_ns ? t_ns - start_ns : 0;
}

static void
put_faults(FILE *f, const struct app *app)
{
	const struct recorder *r = &app->recorder;
	const uint64_t kept = rl_min_u64(r->nfaults, RECORDER_FAULTS);

	fprintf(f, "faults-before %" PRIu64 "\n", r->nfaults - kept);
	for (uint64_t i = r->nfaults - kept; i < r->nfaults; i++) {
		const struct recorder_fault *x = &r->fault[i % RECORDER_FAULTS];
		char text[512];

		if (x->note[0] != '\0')
			fprintf(f, "note %" PRIu64 " %s\n", since(app, x->t_ns),
				x->note);
		else /* after its time */
			fprintf(f, "fault %" PRIu64 "%s\n", since(app, x->t_ns),
				strchr(rl_fault_text(&x->f, &app->cfg.topo, text,
						     sizeof(text)), ' '));
	}
}

static void
put_events(FILE *f, const struct app *app)
{
	const struct watch *w = &app->watch;
	const uint64_t kept = rl_min_u64(w->nevents, WATCH_EVENTS);
	char line[WATCH_LINE_MAX];

	fprintf(f, "events-before %" PRIu64 "\n", w->nevents - kept);
	for (uint64_t i = w->nevents - kept; i < w->nevents; i++) {
		const struct host_rec *rec = &w->event[i % WATCH_EVENTS];

		watch_event_text(w, rec, line, sizeof(line));
		fprintf(f, "event %" PRIu64 " %s\n", since(app, rec->t_ns),
			strstr(line, " ms ") + 4); /* after its time */
	}
}

int
recorder_write(struct app *app, const char *path)
{
	const struct recorder *r = &app->recorder;
	const uint64_t stop_ns = r->traffic_stop_ns != 0 ? r->traffic_stop_ns
							 : host_now(&app->host);
	const time_t now = time(NULL);
	char date[32];
	FILE *f = report_open(path);
	struct tm tm;

	if (f == NULL) {
		const int err = -errno;

		return say_error(err, "reflit: %s: %s\n", path, strerror(-err));
	}
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	fprintf(f,
		"reflit-recording 1\nversion %s\ndate %s\nconfig %s\n"
		"seed %" PRIu64 "\n",
		RL_VERSION, date, app->opt.config, app->opt.seed);
	put_fabric(f, app->fabric_text, app->fabric_len);
	put_traffic(f, app,
		    r->traffic_start_ns == 0 ? 0
					     : stop_ns - r->traffic_start_ns);
	put_frames(f, app);
	put_faults(f, app);
	put_events(f, app);
	fprintf(f, "end\n");
	if (report_close(f) == 0)
		return 0;
	return say_error(-EIO, "reflit: %s: not all of it could be written\n",
			 path);
}

int
cmd_record(struct app *app, const char *const arg[])
{
	if (run_files_may_write(app, arg[0]) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	if (app->fabric_text == NULL)
		return app_error(app, "a recording needs a fabric file that "
				      "can be read twice");
	if (recorder_write(app, arg[0]) != 0)
		return app_error(app, "%s was not written", arg[0]);
	return 0;
}
