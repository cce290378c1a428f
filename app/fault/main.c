/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * reflit-fault: faults at a kernel interface [PHY-2]. The first call puts the
 * XDP program there and stays until it is told to end; later calls change what
 * it does. Its report has its orders beside what it did.
 */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "clock_ns.h"
#include "fault_opts.h"
#include "report_file.h"
#include "say_error.h"

#define NAME "reflit-fault"
#define POLL_MS 100

static volatile sig_atomic_t ended;

static void
on_signal(int sig)
{
	(void)sig;
	ended = 1;
}

static double
share(uint64_t below)
{
	return (double)below / 4294967296.0;
}

static void
print_set(FILE *to, const char *ifname, const struct rl_fault_set *s)
{
	fprintf(to, "%s: ", ifname);
	if (s->ethertype != 0)
		fprintf(to, "frames of type %04x: ", s->ethertype);
	if (!s->one_way && s->drop_nth == 0 && s->drop_below == 0 &&
	    s->corrupt_nth == 0 && s->duplicate_below == 0)
		fputs("no faults", to);
	if (s->one_way)
		fputs("one-way ", to);
	if (s->drop_nth != 0)
		fprintf(to, "drop-nth %u ", s->drop_nth);
	if (s->drop_below != 0)
		fprintf(to, "drop-rate %g ", share(s->drop_below));
	if (s->corrupt_nth != 0)
		fprintf(to, "corrupt %u:%u ", s->corrupt_nth,
			s->corrupt_bytes);
	if (s->duplicate_below != 0)
		fprintf(to, "duplicate %g ", share(s->duplicate_below));
	fputc('\n', to);
	fflush(to);
}

static void
print_counts(FILE *to, const char *ifname, const struct rl_fault_count *c,
	     const struct rl_xdp_copies *copies)
{
	fprintf(to, "%s: %" PRIu64 " frames: %" PRIu64 " passed, %" PRIu64
		" cut, %" PRIu64 " dropped by count, %" PRIu64
		" dropped by rate, %" PRIu64 " corrupted, ",
		ifname, c->frames, c->passed, c->cut, c->dropped_nth,
		c->dropped_rate, c->corrupted);
	if (copies != NULL)
		fprintf(to, "%" PRIu64 " duplicated, %" PRIu64
			" not\n", copies->sent,
			copies->failed + c->duplicate_lost);
	else
		fprintf(to, "%" PRIu64 " to be duplicated\n",
			c->duplicate_asked);
}

static json_t *
set_json(const struct rl_fault_set *s)
{
	return json_pack("{s:b, s:I, s:f, s:I, s:I, s:f, s:I, s:I}",
		"one_way", (int)s->one_way,
		"drop_nth", (json_int_t)s->drop_nth,
		"drop_rate", share(s->drop_below),
		"corrupt_nth", (json_int_t)s->corrupt_nth,
		"corrupt_bytes", (json_int_t)s->corrupt_bytes,
		"duplicate_rate", share(s->duplicate_below),
		"ethertype", (json_int_t)s->ethertype,
		"seed", (json_int_t)s->seed);
}

static json_t *
report_json(const char *ifname, const struct rl_fault_set *s,
	    const struct rl_fault_count *c, const struct rl_xdp_copies *copies)
{
	const uint64_t sent = copies != NULL ? copies->sent : 0;
	const uint64_t failed = copies != NULL ? copies->failed : 0;

	return json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
			 "s:I}",
		"interface", ifname,
		"set", set_json(s),
		"other_frames", (json_int_t)c->other,
		"frames", (json_int_t)c->frames,
		"passed", (json_int_t)c->passed,
		"cut", (json_int_t)c->cut,
		"dropped_nth", (json_int_t)c->dropped_nth,
		"dropped_rate", (json_int_t)c->dropped_rate,
		"corrupted", (json_int_t)c->corrupted,
		"duplicated", (json_int_t)sent,
		"duplicate_failed", (json_int_t)(failed + c->duplicate_lost));
}

/* Prints and writes what there is. @return 0 or 2 */
static int
report(const struct fault_opts *o, const struct rl_xdp_fault *f,
       const struct rl_xdp_copies *copies)
{
	FILE *to = o->json != NULL && strcmp(o->json, "-") == 0 ? stderr :
								  stdout;
	struct rl_fault_set set;
	struct rl_fault_count c;
	json_t *doc;
	int rc = 0;

	if (rl_xdp_fault_get(f, &set) != 0 || rl_xdp_fault_counts(f, &c) != 0)
		return say_error(2, NAME ": %s: its maps cannot be read\n",
				 o->ifname);
	print_set(to, o->ifname, &set);
	print_counts(to, o->ifname, &c, copies);
	if (o->json != NULL) {
		doc = report_json(o->ifname, &set, &c, copies);
		rc = report_save(NAME, doc, o->json) != 0 ? 2 : 0;
		json_decref(doc);
	}
	if (rc == 0 && copies != NULL &&
	    copies->failed + c.duplicate_lost != 0)
		rc = 1;
	return rc;
}

static int
change(const struct fault_opts *o, struct rl_xdp_fault *f)
{
	struct rl_fault_set set;
	int rc;

	if (o->show)
		return report(o, f, NULL);
	rc = rl_xdp_fault_get(f, &set);
	if (rc == 0) {
		fault_opts_apply(o, &set);
		rc = rl_xdp_fault_set(f, &set);
	}
	if (rc != 0)
		return say_error(2, NAME ": %s: changing its maps: %s\n",
				 o->ifname, strerror(-rc));
	if (o->json != NULL)
		return report(o, f, NULL);
	print_set(stdout, o->ifname, &set);
	return 0;
}

static void
catch_signals(void)
{
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction sa = { .sa_handler = on_signal };

	for (unsigned int i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
		sigaction(sigs[i], &sa, NULL);
	sa.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &sa, NULL);
}

/* Puts the program there, serves it until the end, takes it away. */
static int
run(const struct fault_opts *o)
{
	struct rl_xdp_copies copies = { 0 };
	struct rl_fault_set set = { .corrupt_bytes = 1, .seed = o->set.seed };
	struct rl_xdp_fault *f = NULL;
	char err[RL_XDP_ERR_MAX] = "";
	uint64_t end_ns;
	int rc;

	catch_signals();
	fault_opts_apply(o, &set);
	rc = rl_xdp_fault_open(&f, o->ifname, o->mode, &set, err);
	if (rc != 0)
		return say_error(2, NAME ": %s\n", err);
	print_set(stderr, o->ifname, &set);
	end_ns = o->duration_ns == 0 ? UINT64_MAX :
				       clock_ns(CLOCK_MONOTONIC) + o->duration_ns;
	while (rc == 0 && !ended && clock_ns(CLOCK_MONOTONIC) < end_ns)
		rc = rl_xdp_fault_poll(f, POLL_MS, &copies);
	if (rc == 0) /* copies that were requested while we were ending */
		rc = rl_xdp_fault_poll(f, 0, &copies);
	if (rc != 0)
		fprintf(stderr, NAME ": %s: %s\n", o->ifname, strerror(-rc));
	rc = rc != 0 ? 2 : report(o, f, &copies);
	rl_xdp_fault_close(f);
	return rc;
}

int
main(int argc, char **argv)
{
	struct rl_xdp_fault *f = NULL;
	char err[RL_XDP_ERR_MAX] = "";
	struct fault_opts o;
	int rc;

	report_begin(NAME, argc, argv);
	if (fault_opts_parse(&o, argc, argv) != 0)
		return 2;
	if (o.done)
		return 0;
	if (report_check(NAME, o.json) != 0)
		return 2;
	rc = rl_xdp_fault_find(&f, o.ifname, err);
	if (rc == 0) {
		rc = change(&o, f);
		rl_xdp_fault_close(f);
		return rc;
	}
	if (rc != -ENOENT || o.show || (o.clear && !o.any))
		return say_error(2, NAME ": %s\n", err);
	return run(&o);
}
