/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option_next.h"
#include "options.h"
#include "parse.h"
#include "report_file.h"
#include "rl_base.h"
#include "rl_kind.h"
#include "rl_pattern.h"

enum {
	OPT_CMDLINE = 256,
	OPT_CONFIG,
	OPT_JSON,
	OPT_PROCESS,
	OPT_SEED,
	OPT_DURATION,
	OPT_IDLE,
	OPT_RECORD,
	OPT_RING,
	OPT_WIRE_FLITS,
	OPT_TRAFFIC,
	OPT_LOAD,
	OPT_PACKETS,
	OPT_PACKET_FLITS,
	OPT_CLASSES,
	OPT_REQUESTS,
	OPT_PROGRESS,
	OPT_STATS_PERIOD,
	OPT_TIMELINE,
	OPT_ALLOW_ORDERS,
	OPT_VERSION,
};

static const struct option long_options[] = {
	{ "interactive", no_argument, NULL, 'i' },
	{ "cmdline-file", required_argument, NULL, OPT_CMDLINE },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "process", required_argument, NULL, OPT_PROCESS },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "idle-sleep", required_argument, NULL, OPT_IDLE },
	{ "record", required_argument, NULL, OPT_RECORD },
	{ "ring-frames", required_argument, NULL, OPT_RING },
	{ "wire-flits", required_argument, NULL, OPT_WIRE_FLITS },
	{ "traffic", required_argument, NULL, OPT_TRAFFIC },
	{ "load", required_argument, NULL, OPT_LOAD },
	{ "packets", required_argument, NULL, OPT_PACKETS },
	{ "packet-flits", required_argument, NULL, OPT_PACKET_FLITS },
	{ "classes", required_argument, NULL, OPT_CLASSES },
	{ "stats-period", required_argument, NULL, OPT_STATS_PERIOD },
	{ "requests", required_argument, NULL, OPT_REQUESTS },
	{ "timeline", required_argument, NULL, OPT_TIMELINE },
	{ "progress", no_argument, NULL, OPT_PROGRESS },
	{ "allow-orders", no_argument, NULL, OPT_ALLOW_ORDERS },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

void
options_help(void)
{
	fputs("usage: reflit [EAL options] -- --config FILE [options]\n"
	      "\n"
	      "Runs a fabric of flit links on DPDK lcores.\n"
	      "\n"
	      "  --config FILE        read the fabric file (docs/configuration.md)\n"
	      "  -i, --interactive    open the prompt (docs/prompt.md)\n"
	      "  --cmdline-file FILE  run these prompt commands first\n"
	      "  --json FILE          write the report there; -: to standard output,\n"
	      "                       and everything else to standard error\n"
	      "  --process NAME       run the devices of this entry of `processes`;\n"
	      "                       reflit-report judges all reports together\n"
	      "  --seed N             seed everything random, default 1\n"
	      "  --duration TIME      start traffic, stop after TIME (10s, 50ms)\n"
	      "  --traffic PATTERN    what endpoints without a port send: uniform\n"
	      "                       (default), permutation, tornado, hotspot, incast\n"
	      "  --load RATE          flits per us and endpoint; default 0: no limit\n"
	      "  --packet-flits MIN[-MAX]  length of packets, default 1-8\n"
	      "  --classes N          classes of service, 1 to 16, default 1; each is\n"
	      "                       a flow, and routing.levels gives it a VL; kind:\n"
	      "                       posted 0, requests 1, responses 2\n"
	      "  --requests SHARE     share of packets, 0 to 1, that ask for a response\n"
	      "  --packets N          packets of each endpoint, default 0: no limit\n"
	      "  --progress           print a line a second, also without a terminal\n"
	      "  --timeline TIME      report the latencies of each such period\n"
	      "  --stats-period TIME  print the rates of the busiest links so often\n"
	      "  --allow-orders       let telemetry clients give prompt commands\n"
	      "  --idle-sleep TIME    nap of an idle lcore, default 50us; 0us: none\n"
	      "  --record FILE        write a recording there: reflit-sim --replay\n"
	      "  --ring-frames N      frames that a software wire holds, default 256\n"
	      "  --wire-flits N       flits of a frame on it, default 16\n"
	      "  --help, --version\n"
	      "\n"
	      "If EAL options say nothing else, these hold: --no-huge --no-pci\n"
	      "--no-shconf, and two lcores, one to control and one to work.\n"
	      "\n"
	      "Exit status: 0 done and every promise kept; 1 something was lost,\n"
	      "duplicated, reordered, altered or is unaccounted for; 2 unusable\n"
	      "arguments or configuration; 3 refused: the fabric cannot be routed.\n",
	      stdout);
}

static int
bad(const char *name, const char *value, const char *want)
{
	fprintf(stderr, "reflit: --%s %s: give %s\n", name, value, want);
	return -EINVAL;
}

static int
option_number(const char *name, const char *value, uint64_t min, uint64_t max,
	      uint64_t *v)
{
	char want[64];

	if (parse_number(value, min, max, v) == 0)
		return 0;
	snprintf(want, sizeof(want), "a number of %llu to %llu",
		 (unsigned long long)min, (unsigned long long)max);
	return bad(name, value, want);
}

static int
take_lengths(struct options *o, const char *value)
{
	const char *dash = strchr(value, '-');
	char first[16];
	uint64_t lo, hi;

	snprintf(first, sizeof(first), "%.*s",
		 (int)(dash == NULL ? strlen(value) : (size_t)(dash - value)),
		 value);
	if (parse_number(first, 1, 255, &lo) != 0 ||
	    parse_number(dash == NULL ? first : dash + 1, lo, 255, &hi) != 0)
		return bad("packet-flits", value, "MIN or MIN-MAX, 1 to 255");
	o->min_flits = (uint32_t)lo;
	o->max_flits = (uint32_t)hi;
	return 0;
}

static int
take_classes(struct options *o, const char *value)
{
	uint64_t v = RL_KINDS;

	o->by_kind = strcmp(value, "kind") == 0;
	if (!o->by_kind && parse_number(value, 1, 16, &v) != 0)
		return bad("classes", value, "a number of 1 to 16, or kind");
	o->classes = (uint8_t)v;
	return 0;
}

/* Options of the generators. */
static int
take_traffic(struct options *o, int c)
{
	switch (c) {
	case OPT_TRAFFIC:
		o->traffic = rl_pattern_parse(optarg);
		if (o->traffic < 0 || o->traffic == RL_PATTERN_PAIRS)
			return bad("traffic", optarg,
				   "uniform, permutation, tornado, hotspot or "
				   "incast");
		return 0;
	case OPT_LOAD:
		if (parse_rate(optarg, 0, 1000, &o->load) != 0)
			return bad("load", optarg, "0 to 1000 flits per us");
		return 0;
	case OPT_PACKETS:
		return option_number("packets", optarg, 0, UINT64_MAX,
				     &o->packets);
	case OPT_PACKET_FLITS:
		return take_lengths(o, optarg);
	case OPT_CLASSES:
		return take_classes(o, optarg);
	case OPT_REQUESTS:
		if (parse_rate(optarg, 0, 1, &o->requests) != 0)
			return bad("requests", optarg, "a share, 0 to 1");
		return 0;
	default:
		return -EINVAL; /* getopt has printed why */
	}
}

/* Options without an argument. */
static int
take_flag(struct options *o, int c)
{
	switch (c) {
	case 'i':
		o->interactive = true;
		break;
	case 'h':
		o->help = true;
		break;
	case OPT_VERSION:
		o->version = true;
		break;
	case OPT_ALLOW_ORDERS:
		o->allow_orders = true;
		break;
	case OPT_PROGRESS:
		o->progress = true;
		break;
	default:
		return take_traffic(o, c);
	}
	return 0;
}

static int
take(struct options *o, int c)
{
	const char *want = "a time such as 50ms or 2s, at most 3600s";
	uint64_t v = 0;
	int ret = 0;

	switch (c) {
	case OPT_CMDLINE:
		o->cmdline_file = optarg;
		break;
	case OPT_CONFIG:
		o->config = optarg;
		break;
	case OPT_JSON:
		o->json = optarg;
		break;
	case OPT_PROCESS:
		o->process = optarg;
		break;
	case OPT_SEED:
		return option_number("seed", optarg, 0, UINT64_MAX, &o->seed);
	case OPT_DURATION:
		if (parse_time(optarg, &o->duration_ns) != 0 ||
		    o->duration_ns == 0) /* 0 would mean: without an end */
			return bad("duration", optarg, want);
		break;
	case OPT_STATS_PERIOD:
		if (parse_time(optarg, &o->stats_period_ns) != 0 ||
		    o->stats_period_ns < 10 * RL_NS_PER_MS)
			return bad("stats-period", optarg,
				   "a time of 10ms to 3600s, such as 1s");
		break;
	case OPT_TIMELINE:
		if (parse_time(optarg, &o->timeline_ns) != 0 ||
		    o->timeline_ns < RL_NS_PER_MS)
			return bad("timeline", optarg,
				   "a time of 1ms to 3600s, such as 10ms");
		break;
	case OPT_IDLE:
		if (parse_time(optarg, &v) != 0 || v > 10 * RL_NS_PER_MS)
			return bad("idle-sleep", optarg, "a time up to 10ms");
		o->idle_sleep_ns = (uint32_t)v;
		break;
	case OPT_RECORD:
		o->record = optarg;
		break;
	case OPT_RING:
		ret = option_number("ring-frames", optarg, 16, 65536, &v);
		o->ring_frames = rl_pow2_ceil((uint32_t)v);
		break;
	case OPT_WIRE_FLITS:
		ret = option_number("wire-flits", optarg, 1, 32, &v);
		o->wire_flits = (uint32_t)v;
		break;
	default:
		return take_flag(o, c);
	}
	return ret;
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

/* Without "--", --help means reflit's own. */
static bool
asks(int argc, char **argv, const char *a, const char *b)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], a) == 0 || strcmp(argv[i], b) == 0)
			return true;
	return false;
}

int
options_read(struct options *o, int argc, char **argv)
{
	const int sep = find_separator(argc, argv);
	const char *path[2], *in[2];
	int c;

	*o = (struct options){
		.seed = 1,
		.idle_sleep_ns = 50 * RL_NS_PER_US,
		.ring_frames = 256,
		.wire_flits = 16,
		.traffic = RL_PATTERN_UNIFORM,
		.min_flits = 1,
		.classes = 1,
		.eal_argc = sep,
		.eal_argv = argv,
	};
	if (sep == argc) {
		o->help = asks(argc, argv, "--help", "-h");
		o->version = asks(argc, argv, "--version", "-v");
		if (o->help || o->version)
			return 0;
		fprintf(stderr, "reflit: no -- in the command line: reflit "
				"[EAL options] -- --config FILE [options]\n");
		return -EINVAL;
	}
	argv[sep] = argv[0]; /* our name, for getopt */
	optind = 1;
	while ((c = option_next("reflit", argc - sep, argv + sep, "ih",
				long_options, NULL)) != -1)
		if (take(o, c) != 0)
			return -EINVAL;
	if (optind < argc - sep) {
		fprintf(stderr, "reflit: what is '%s'? see --help\n",
			argv[sep + optind]);
		return -EINVAL;
	}
	if (o->config == NULL && !o->help && !o->version) {
		fprintf(stderr, "reflit: give --config FILE, a fabric file "
				"such as config/demo.cfg\n");
		return -EINVAL;
	}
	o->progress |= isatty(STDERR_FILENO) && !o->interactive;
	path[0] = o->json;
	path[1] = o->record;
	in[0] = o->config;
	in[1] = o->cmdline_file;
	if (report_check("reflit", o->json) != 0 ||
	    report_check("reflit", o->record) != 0 ||
	    report_apart("reflit", path, 2, in, 2) != 0)
		return -EINVAL;
	return report_claim_stdout("reflit", path, 2);
}
