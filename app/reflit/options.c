/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include "opts.h"
#include "parse.h"
#include "report_file.h"
#include "rl_base.h"
#include "rl_kind.h"
#include "rl_pattern.h"
#include "say_error.h"

static int
take_lengths(RL_UNUSED const struct opt *opt, const char *value, void *to)
{
	struct options *o = to;
	const char *dash = strchr(value, '-');
	char first[16];
	uint64_t lo, hi;

	snprintf(first, sizeof(first), "%.*s",
		 (int)(dash == NULL ? strlen(value) : (size_t)(dash - value)),
		 value);
	if (parse_number(first, 1, 255, &lo) != 0 ||
	    parse_number(dash == NULL ? first : dash + 1, lo, 255, &hi) != 0)
		return -EINVAL;
	o->gens.min_flits = (uint32_t)lo;
	o->gens.max_flits = (uint32_t)hi;
	return 0;
}

static int
take_classes(const struct opt *opt, const char *value, void *to)
{
	struct options *o = to;
	uint64_t v = RL_KINDS;

	o->gens.by_kind = strcmp(value, "kind") == 0;
	if (!o->gens.by_kind && parse_number(value, opt->min, opt->max, &v) != 0)
		return -EINVAL;
	o->gens.classes = (uint8_t)v;
	return 0;
}

static int
take_traffic(RL_UNUSED const struct opt *opt, const char *value, void *to)
{
	const int kind = rl_pattern_parse(value);

	((struct options *)to)->gens.pattern = (enum rl_pattern_kind)kind;
	return kind < 0 ? -EINVAL : 0;
}

static int
take_ring(const struct opt *opt, const char *value, void *to)
{
	struct options *o = to;
	const int ret = opt_u32(opt, value, to);

	if (ret == 0)
		o->ring_frames = rl_pow2_ceil(o->ring_frames);
	return ret;
}

#define TO(field) offsetof(struct options, field)

static const struct opt table[] = {
	{ "config", "FILE", opt_text, TO(config),
	  .help = "read the fabric file (docs/configuration.md)" },
	{ "interactive", NULL, NULL, TO(interactive), .letter = 'i',
	  .help = "open the prompt (docs/prompt.md)" },
	{ "cmdline-file", "FILE", opt_text, TO(cmdline_file),
	  .help = "run these prompt commands first" },
	{ "json", "FILE", opt_text, TO(json),
	  .help = "write the report there; -: to standard output,\n"
		  "and everything else to standard error" },
	{ "counts", "FILE", opt_text, TO(counts),
	  .help = "keep counters there, over restarts" },
	{ "counts-period", "TIME", opt_time, TO(counts_period_ns),
	  100 * RL_NS_PER_MS, 0, "a time of 100ms to 3600s, such as 10s",
	  .help = "write them so often, default 60s" },
	{ "process", "NAME", opt_text, TO(process),
	  .help = "run the devices of this entry of `processes`;\n"
		  "reflit-report judges all reports together" },
	{ "seed", "N", opt_u64, TO(seed), 0, INT64_MAX,
	  .help = "seed everything random, default 1" },
	/* 0 would mean: without an end */
	{ "duration", "TIME", opt_time, TO(duration_ns), 1, 0,
	  "a time such as 50ms or 2s, at most 3600s",
	  .help = "start traffic, stop after TIME (10s, 50ms)" },
	{ "traffic", "PATTERN", take_traffic, 0, 0, 0,
	  "one of the patterns that --help lists",
	  .help = "what endpoints without a port send: one of the\n"
		  "patterns below" },
	{ "load", "RATE", opt_rate, TO(gens.load), 0, 1000, "0 to 1000 flits per us",
	  .help = "flits per us and endpoint; default 0: no limit" },
	{ "packet-flits", "MIN[-MAX]", take_lengths, 0, 0, 0,
	  "MIN or MIN-MAX, 1 to 255",
	  .help = "length of packets, default 1-8" },
	{ "classes", "N", take_classes, 0, 1, 16, "a number of 1 to 16, or kind",
	  .help = "classes of service, 1 to 16, default 1; each is\n"
		  "a flow, and routing.levels gives it a VL; kind:\n"
		  "posted 0, requests 1, responses 2" },
	{ "requests", "SHARE", opt_rate, TO(gens.requests), 0, 1, "a share, 0 to 1",
	  .help = "share of packets, 0 to 1, that ask for a response" },
	{ "packets", "N", opt_u64, TO(gens.packets), 0, UINT64_MAX,
	  .help = "packets of each endpoint, default 0: no limit" },
	{ "progress", NULL, NULL, TO(progress),
	  .help = "print a line a second, also without a terminal" },
	{ "timeline", "TIME", opt_time, TO(timeline_ns), RL_NS_PER_MS, 0,
	  "a time of 1ms to 3600s, such as 10ms",
	  .help = "report the latencies of each such period" },
	{ "stats-period", "TIME", opt_time, TO(stats_period_ns),
	  10 * RL_NS_PER_MS, 0, "a time of 10ms to 3600s, such as 1s",
	  .help = "print the rates of the busiest links so often" },
	{ "allow-orders", NULL, NULL, TO(allow_orders),
	  .help = "let telemetry clients give prompt commands" },
	{ "idle-sleep", "TIME", opt_time, TO(idle_sleep_ns), 0,
	  10 * RL_NS_PER_MS, "a time up to 10ms",
	  .help = "nap of an idle lcore, default 50us; 0us: none" },
	{ "record", "FILE", opt_text, TO(record),
	  .help = "write a recording there: reflit-sim --replay" },
	{ "ring-frames", "N", take_ring, TO(ring_frames), 16, 65536,
	  .help = "frames that a software wire holds, default 256" },
	{ "wire-flits", "N", opt_u32, TO(wire_flits), 1, 32,
	  .help = "flits of a frame on it, default 16" },
	{ "check-cabling", NULL, NULL, TO(check_cabling),
	  .help = "say which wires are wrong, and end: 0 none, 1 some" },
	{ "help", NULL, NULL, TO(help), .letter = 'h' },
	{ .name = "version", .at = TO(version) },
	{ .name = NULL },
};

static const struct opts program = {
	.program = "reflit",
	.usage =
	"usage: reflit [EAL options] -- --config FILE [options]\n"
	"\n"
	"Runs a fabric of flit links on DPDK lcores.\n"
	"\n",
	.more =
	"  --help, --version\n"
	"\n"
	"Patterns of traffic:\n"
	RL_PATTERN_HELP
	"\n"
	"If EAL options say nothing else, these hold: --no-huge --no-pci\n"
	"--no-shconf, and two lcores, one to control and one to work.\n"
	"\n"
	"Exit status: 0 done and every promise kept; 1 something was lost,\n"
	"duplicated, reordered, altered or is unaccounted for; 2 unusable\n"
	"arguments or configuration; 3 refused: the fabric cannot be routed.\n",
	.table = table,
	.column = 23,
	.give = true,
};

void
options_help(void)
{
	opts_help(&program);
}

/* Index of "--", or argc. */
static int
find_separator(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return i;
	return argc;
}

/* Without "--", --help is reflit's own if it is first: a later one may be the
 * value of an EAL option. */
static bool
asks(int argc, char **argv, const char *a, const char *b)
{
	return argc > 1 && (strcmp(argv[1], a) == 0 || strcmp(argv[1], b) == 0);
}

/* Whether there is such a file, or none yet. */
static bool
is_regular(const char *path)
{
	struct stat st;

	return strcmp(path, "-") != 0 &&
	       (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

/* Whether the run's documents can be written; standard output is for one. */
static int
documents(const struct options *o)
{
	const char *const path[] = { o->json, o->record };

	if (report_check("reflit", o->json) != 0 ||
	    report_check("reflit", o->record) != 0 ||
	    report_check("reflit", o->counts) != 0)
		return -EINVAL;
	if (o->counts != NULL && !is_regular(o->counts))
		return say_error(-EINVAL, "reflit: --counts %s: give a file "
				 "that it can read again\n", o->counts);
	return report_claim_stdout("reflit", path, 2);
}

int
options_read(struct options *o, int argc, char **argv)
{
	const int sep = find_separator(argc, argv);
	int first;

	*o = (struct options){
		.seed = 1,
		.counts_period_ns = 60 * RL_NS_PER_S,
		.idle_sleep_ns = 50 * RL_NS_PER_US,
		.ring_frames = 256,
		.wire_flits = 16,
		.gens = { .pattern = RL_PATTERN_UNIFORM,
			  .min_flits = 1, .classes = 1 },
		.eal_argc = sep,
		.eal_argv = argv,
	};
	if (sep == argc) {
		o->help = asks(argc, argv, "--help", "-h");
		o->version = asks(argc, argv, "--version", "-v");
		if (o->help || o->version)
			return 0;
		return say_error(-EINVAL, "reflit: no -- in the command line: "
				 "reflit [EAL options] -- --config FILE "
				 "[options]\n");
	}
	argv[sep] = argv[0]; /* our name, for getopt */
	first = opts_read(&program, argc - sep, argv + sep, o);
	if (first < 0)
		return first;
	if (first < argc - sep)
		return say_error(-EINVAL, "reflit: what is '%s'? see --help\n",
				 argv[sep + first]);
	if (o->config == NULL && !o->help && !o->version)
		return say_error(-EINVAL, "reflit: give --config FILE, a "
				 "fabric file such as config/demo.cfg\n");
	if (o->check_cabling && (o->interactive || o->cmdline_file != NULL ||
				 o->json != NULL || o->record != NULL ||
				 o->counts != NULL))
		return say_error(-EINVAL, "reflit: --check-cabling runs no "
				 "commands and writes no report; leave out -i, "
				 "--cmdline-file, --json, --record, "
				 "--counts\n");
	if (o->interactive && o->duration_ns != 0)
		return say_error(-EINVAL, "reflit: --duration ends the run by "
				 "itself, and with -i quit does; leave out one "
				 "of them\n");
	o->progress |= isatty(STDERR_FILENO) && !o->interactive;
	return documents(o);
}
