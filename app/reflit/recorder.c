/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What commands did, in the words of fault files. The simulator's bit errors
 * touch only flits, so the rate also becomes the chance that a header is
 * corrupted.
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app.h"
#include "command.h"
#include "recorder.h"
#include "report_file.h"
#include "rl_frame.h"
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

__attribute__((format(printf, 4, 5))) static void
add(struct app *app, uint64_t t_ns, bool played, const char *format, ...)
{
	struct recorder *r = &app->recorder;
	struct recorder_fault *f = &r->fault[r->nfaults++ % RECORDER_FAULTS];
	va_list ap;
	int n;

	f->t_ns = t_ns;
	f->played = played;
	va_start(ap, format);
	n = vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
	RL_ASSERT(n >= 0 && (size_t)n < sizeof(f->text));
}

#define ADD_LINE(app, ...) add(app, host_now(&(app)->host), true, __VA_ARGS__)

void
recorder_block(struct app *app, const char *endpoint, const char *vc, bool on)
{
	add(app, host_now(&app->host), false, "inject %s %s %s",
	    on ? "block" : "unblock", endpoint, vc);
}

/* "device s0 crash" is "crash s0" in a fault file; the others alike. */
void
recorder_command(struct app *app, const char *line)
{
	static const char *const verbs[] = { "crash", "restart", "remove",
					     "add" };
	char what[16] = "", where[RECORDER_TEXT] = "", verb[16] = "";
	const int n = sscanf(line, "%15s %119s %15s", what, where, verb);

	if (n == 2 && strcmp(what, "controller") == 0)
		ADD_LINE(app, "controller %.100s", where);
	if (n != 3 ||
	    (strcmp(what, "device") != 0 && strcmp(what, "link") != 0))
		return;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(verbs); i++)
		if (strcmp(verb, verbs[i]) == 0)
			ADD_LINE(app, "%s %.100s", verb, where);
}

void
recorder_link(struct app *app, const char *what, uint32_t link)
{
	ADD_LINE(app, "%s %s", what, APP_LINK(app, link));
}

/* "s0>s1#1": the direction of frames that leave an end. */
static const char *
direction(const struct app *app, uint32_t link, unsigned int end, char *buf,
	  size_t len)
{
	const struct rl_topo *t = &app->cfg.topo;
	const char *k = strchr(APP_LINK(app, link), '#');

	snprintf(buf, len, "%s>%s%s", t->dev[t->link[link].dev[end]].name,
		 t->dev[t->link[link].dev[1 - end]].name, k == NULL ? "" : k);
	return buf;
}

/* Chance that a bit error rate corrupts the header of a frame this way. */
static double
header_chance(const struct app *app, uint32_t link, unsigned int end,
	      double ber)
{
	const struct rl_phy_eth_counters *c = &app->host.phy[2 * link + end].c;
	const uint64_t mean = c->tx_frames == 0 ? 0
						: c->tx_bytes / c->tx_frames;
	const uint32_t bytes =
		rl_frame_header_bytes((unsigned int)(mean / RL_FLIT_BYTES)) -
		RL_FRAME_LINK_OFF;

	return -expm1(8.0 * bytes * log1p(-ber));
}

/* All rates of a direction, and those of its device: a line of a fault file. */
static void
add_noise(struct app *app, uint32_t link, unsigned int end)
{
	const struct rl_inject_order *in = app->link[link].injected[end];
	const struct rl_inject_order *ber = &in[RL_INJECT_BER];
	const struct rl_role_core *core =
		&app->host.fabric.dev[app->cfg.topo.link[link].dev[end]].core;
	const double soft = atomic_load(&core->soft_ppb) / 1e9;
	const double poison = atomic_load(&core->poison_ppb) / 1e9;
	char way[2 * RL_NAME_MAX + 8], text[288];
	size_t at;

	at = (size_t)snprintf(text, sizeof(text), "loss=%.9f",
			      in[RL_INJECT_LOSS].rate);
	if (ber->rate > 0.0)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       " corrupt=%.9f bytes=1 hurt=header "
				       "ber=%.9g propagate=%.9g lanes=%u",
				       header_chance(app, link, end, ber->rate),
				       ber->rate, ber->propagate, ber->lanes);
	if (in[RL_INJECT_DUP].rate > 0.0)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       " dup=%.9f", in[RL_INJECT_DUP].rate);
	if (in[RL_INJECT_JITTER].rate > 0.0)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       " jitter=%.9f within=%" PRIu64 "ns",
				       in[RL_INJECT_JITTER].rate,
				       in[RL_INJECT_JITTER].value);
	if (in[RL_INJECT_DELAY].value != 0)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       " delay=%" PRIu64 "ns",
				       in[RL_INJECT_DELAY].value);
	if (soft != 0)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       " soft=%.9f", soft);
	if (poison != 0)
		snprintf(text + at, sizeof(text) - at, " poison=%.9f", poison);
	ADD_LINE(app, "noise %s %s",
		 direction(app, link, end, way, sizeof(way)), text);
}

void
recorder_healed(struct app *app, uint32_t link)
{
	const struct rl_topo_link *l = &app->cfg.topo.link[link];

	recorder_link(app, "heal", link);
	for (unsigned int end = 0; end < 2; end++) {
		const struct rl_role_core *core =
			&app->host.fabric.dev[l->dev[end]].core;

		/* of the device, so it goes on */
		if ((atomic_load(&core->soft_ppb) |
		     atomic_load(&core->poison_ppb)) != 0)
			add_noise(app, link, end);
	}
}

void
recorder_soft(struct app *app, uint32_t dev)
{
	const struct rl_topo_dev *d = &app->cfg.topo.dev[dev];

	for (uint16_t p = 0; p < d->nports; p++)
		add_noise(app, d->port[p].link, d->port[p].end);
}

void
recorder_order(struct app *app, uint32_t link, unsigned int end,
	       const struct rl_inject_order *order)
{
	char way[2 * RL_NAME_MAX + 8];

	direction(app, link, end, way, sizeof(way));
	switch (order->kind) {
	case RL_INJECT_CUT:
		ADD_LINE(app, "cut %s silent", way);
		break;
	case RL_INJECT_STALL:
		ADD_LINE(app, "stall %s for=%" PRIu64 "ns", way, order->value);
		break;
	case RL_INJECT_DROP:
		ADD_LINE(app, "drop %s frame=%" PRIu64, way, order->value);
		break;
	case RL_INJECT_BER:
	case RL_INJECT_LOSS:
	case RL_INJECT_DUP:
	case RL_INJECT_JITTER:
	case RL_INJECT_DELAY:
		add_noise(app, link, end);
		break;
	case RL_INJECT_CORRUPT:
		ADD_LINE(app, "corrupt %s bytes=%" PRIu64, way, order->value);
		break;
	case RL_INJECT_TRIGGER: /* recorded when it happens */
	case RL_INJECT_CLEAR:
		break;
	}
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

/* A pending cut has happened: in one direction, or in both. */
static void
note_cut(struct app *app, uint32_t link)
{
	const struct rl_inject_link *f = &app->host.fault[link];
	const uint64_t t_ns =
		host_time_of(&app->host, atomic_load(&f->severed_ns));
	char name[2 * RL_NAME_MAX + 8];

	for (unsigned int e = 0; e < 2; e++) {
		app->link[link].injected[e][RL_INJECT_TRIGGER] =
			(struct rl_inject_order){ 0 };
		if (rl_inject_light(f) && atomic_load(&f->dir[e].cut) != 0)
			add(app, t_ns, true, "cut %s silent",
			    direction(app, link, e, name, sizeof(name)));
	}
	if (!rl_inject_light(f))
		add(app, t_ns, true, "cut %s", APP_LINK(app, link));
}

void
recorder_step(struct app *app)
{
	for (uint32_t i = 0; i < app->cfg.topo.nlink; i++)
		if ((app->link[i].injected[0][RL_INJECT_TRIGGER].kind ==
			     RL_INJECT_TRIGGER ||
		     app->link[i].injected[1][RL_INJECT_TRIGGER].kind ==
			     RL_INJECT_TRIGGER) &&
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

		fprintf(f, "%s %" PRIu64 " %s\n", x->played ? "fault" : "note",
			since(app, x->t_ns), x->text);
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
