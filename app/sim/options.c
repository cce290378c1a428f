/* SPDX-License-Identifier: BSD-3-Clause */

/* The command line of reflit-sim. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option_next.h"
#include "parse.h"
#include "report_file.h"
#include "sim_app.h"

enum {
	OPT_CONFIG = 256,
	OPT_JSON,
	OPT_CSV,
	OPT_SEED,
	OPT_TRAFFIC,
	OPT_LOAD,
	OPT_PACKET_FLITS,
	OPT_PACKETS,
	OPT_CLASSES,
	OPT_REQUESTS,
	OPT_DURATION,
	OPT_DRAIN,
	OPT_FAULTS,
	OPT_SEEDS,
	OPT_WIDE,
	OPT_REPLAY,
	OPT_WHAT_IF,
	OPT_SHARD,
	OPT_CUTS,
	OPT_PROFILE,
	OPT_ENGINE,
	OPT_LATENCY,
	OPT_FLIT_PS,
	OPT_MTU,
	OPT_POLL,
	OPT_TICK,
	OPT_TURNS,
	OPT_ROLES,
	OPT_THREADS,
	OPT_EVENTS,
	OPT_PROGRESS,
	OPT_COMPUTE,
	OPT_CHANNEL,
	OPT_DUP_FILTER,
	OPT_HELP,
	OPT_VERSION,
};

static const struct option longs[] = {
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "csv", required_argument, NULL, OPT_CSV },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "traffic", required_argument, NULL, OPT_TRAFFIC },
	{ "load", required_argument, NULL, OPT_LOAD },
	{ "packet-flits", required_argument, NULL, OPT_PACKET_FLITS },
	{ "packets", required_argument, NULL, OPT_PACKETS },
	{ "classes", required_argument, NULL, OPT_CLASSES },
	{ "requests", required_argument, NULL, OPT_REQUESTS },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "drain", required_argument, NULL, OPT_DRAIN },
	{ "faults", required_argument, NULL, OPT_FAULTS },
	{ "replay", required_argument, NULL, OPT_REPLAY },
	{ "what-if", required_argument, NULL, OPT_WHAT_IF },
	{ "seeds", required_argument, NULL, OPT_SEEDS },
	{ "wide", required_argument, NULL, OPT_WIDE },
	{ "shard", required_argument, NULL, OPT_SHARD },
	{ "cuts", required_argument, NULL, OPT_CUTS },
	{ "profile", required_argument, NULL, OPT_PROFILE },
	{ "engine", required_argument, NULL, OPT_ENGINE },
	{ "latency", required_argument, NULL, OPT_LATENCY },
	{ "flit-ps", required_argument, NULL, OPT_FLIT_PS },
	{ "mtu", required_argument, NULL, OPT_MTU },
	{ "poll", required_argument, NULL, OPT_POLL },
	{ "tick", required_argument, NULL, OPT_TICK },
	{ "turns", no_argument, NULL, OPT_TURNS },
	{ "roles", no_argument, NULL, OPT_ROLES },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "events", no_argument, NULL, OPT_EVENTS },
	{ "progress", no_argument, NULL, OPT_PROGRESS },
	{ "compute", required_argument, NULL, OPT_COMPUTE },
	{ "channel", required_argument, NULL, OPT_CHANNEL },
	{ "dup-filter", no_argument, NULL, OPT_DUP_FILTER },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

static const char help_text[] =
	"usage: reflit-sim --config FILE [options]\n"
	"       reflit-sim ablation [--config FILE] [options]\n"
	"       reflit-sim merge FILE...      merges the shards of a campaign\n"
	"       reflit-sim rxl|scenario ...   (see their --help)\n"
	"\n"
	"Runs the fabric of a file in virtual time. The same seed gives the same\n"
	"run. docs/simulation.md tells more.\n"
	"\n"
	"  --config FILE        read the fabric file (docs/configuration.md)\n"
	"  --json FILE          write the report there; -: to standard output,\n"
	"                       and everything else to standard error\n"
	"  --seed N             seed everything random, default 1\n"
	"  --traffic PATTERN    uniform (default), permutation, tornado,\n"
	"                       hotspot, incast, pcap:FILE\n"
	"  --load RATE          flits per slot and endpoint, default 0.3\n"
	"  --packet-flits MIN[-MAX]  length of packets, default 1-8\n"
	"  --classes N          classes of service, 1 to 16, default 1; each is\n"
	"                       a flow, and routing.levels gives it a VL;\n"
	"                       kind: one each for posted requests, others,\n"
	"                       and responses\n"
	"  --requests SHARE     share of packets, 0 to 1, that ask for a response\n"
	"  --packets N          packets of all endpoints together\n"
	"  --duration TIME      length of the traffic (100us, 5ms; plain: ns),\n"
	"                       default 1ms if --packets is not given\n"
	"  --faults FILE        inject the faults of this file at their times\n"
	"  --replay FILE        replay a recording (reflit --record): its fabric,\n"
	"                       traffic and faults\n"
	"  --what-if POLICY     replay it again with loopback=none, e2e=off, ...\n"
	"  --seeds N            run a campaign: N runs from --seed on, each with\n"
	"                       random faults (or those of --faults)\n"
	"  --wide all|DIM[=PERCENT],...  let the campaign also draw settings\n"
	"                       that it keeps otherwise; 25 % of the seeds each\n"
	"  --shard I/N          run part I of N of the campaign, from 1; give "
	"each\n"
	"                       part a --json and merge them\n"
	"  --profile NAME       rxl, rxl-compact, cxl, cxl-sep-ack\n"
	"  --engine NAME        routing engine, instead of the file's\n"
	"  --latency TIME       latency of every wire, default 100ns\n"
	"  --flit-ps N          time of a flit on a wire, default 2000\n"
	"  --mtu BYTES          MTU of every wire, default 8306 (32 flits)\n"
	"  --poll TIME          how long an lcore takes to notice another one, default\n"
	"                       0; implies --roles\n"
	"  --tick TIME          poll only at multiples of TIME: coarser, faster\n"
	"  --turns              poll whole devices, as one lcore does (default)\n"
	"  --roles              poll each port and core by itself, as if each\n"
	"                       had an lcore of its own\n"
	"  --threads N          share the fabric's devices among N threads; default:\n"
	"                       as many as there are CPUs, if that is faster\n"
	"  --drain TIME         how long to wait for the end, default 5s\n"
	"  --compute TIME       how long the controller computes new tables, or\n"
	"                       measured; default: by the fabric's size\n"
	"  --channel DELAY[,JITTER[,LOSS[,DUP]]]  how the controller's messages\n"
	"                       travel, default 10us; rates from 0 to 1\n"
	"  --events             print the events of ports and cores\n"
	"  --progress           print progress, also without a terminal\n"
	"  --cuts N             ablation: how many cuts, default 200\n"
	"  --csv FILE           ablation: write its table there\n"
	"  --dup-filter         ablation: test the duplicate filter of switches\n"
	"  --help, --version\n"
	"\n"
	"Exit status: 0 done and every promise kept; 1 something was lost,\n"
	"duplicated, reordered, altered or is unaccounted for; 2 unusable\n"
	"arguments or configuration; 3 refused: the fabric cannot be routed.\n";

void
options_help(void)
{
	fputs(help_text, stdout);
}

/* A duration of 0 is no traffic. */
static int
duration(const char *text, uint64_t *ns)
{
	const int ret = parse_time_or_ns(text, ns);

	return ret == 0 && *ns == 0 ? -ERANGE : ret;
}

static int
load_value(const char *text, double *load)
{
	const int ret = parse_rate(text, 0, 16, load);

	return ret == 0 && *load == 0 ? -ERANGE : ret;
}

/* "4" or "1-16". */
static int
flits_range(const char *text, struct options *o)
{
	const char *dash = strchr(text, '-');
	char first[16];
	uint64_t min, max;
	int ret;

	if (dash == NULL) {
		ret = parse_number(text, 1, RL_PACKET_FLITS_MAX, &min);
		max = min;
	} else {
		if ((size_t)(dash - text) >= sizeof(first))
			return -EINVAL;
		memcpy(first, text, (size_t)(dash - text));
		first[dash - text] = '\0';
		ret = parse_number(first, 1, RL_PACKET_FLITS_MAX, &min);
		if (ret == 0)
			ret = parse_number(dash + 1, 1, RL_PACKET_FLITS_MAX, &max);
		if (ret == 0 && max < min)
			ret = -ERANGE;
	}
	if (ret == 0) {
		o->min_flits = (uint32_t)min;
		o->max_flits = (uint32_t)max;
	}
	return ret;
}

static int
traffic_word(const char *text, struct options *o)
{
	if (strncmp(text, "pcap:", 5) == 0 && text[5] != '\0') {
		o->pcap = text + 5;
		o->traffic = RL_PATTERN_PERMUTATION;
		return 0;
	}
	o->traffic = rl_pattern_parse(text);
	return o->traffic < 0 || o->traffic == RL_PATTERN_PAIRS ? -EINVAL : 0;
}

static int
u32_number(const char *text, uint64_t min, uint64_t max, uint32_t *v)
{
	uint64_t n;
	const int ret = parse_number(text, min, max, &n);

	if (ret == 0)
		*v = (uint32_t)n;
	return ret;
}

static int
classes_word(const char *text, struct options *o)
{
	o->by_kind = strcmp(text, "kind") == 0;
	if (!o->by_kind)
		return u32_number(text, 1, 16, &o->classes);
	o->classes = RL_KINDS;
	return 0;
}

static int
compute_time(const char *text, struct options *o)
{
	if (strcmp(text, "measured") == 0) {
		o->compute_ns = RL_NEVER;
		return 0;
	}
	return duration(text, &o->compute_ns);
}

/* "10us,5us,0.01,0.01" */
static int
channel_faults(const char *text, struct options *o)
{
	double rate[2] = { 0, 0 };
	char copy[128], *save = NULL, *word;
	unsigned int n = 0;
	int ret = 0;

	if (strlen(text) >= sizeof(copy))
		return -EINVAL;
	strcpy(copy, text);
	for (word = strtok_r(copy, ",", &save); ret == 0 && word != NULL;
	     word = strtok_r(NULL, ",", &save), n++)
		ret = n == 0   ? parse_time_or_ns(word, &o->channel_ns)
		      : n == 1 ? parse_time_or_ns(word, &o->channel_jitter_ns)
		      : n < 4  ? parse_rate(word, 0, 1, &rate[n - 2])
			       : -EINVAL;
	o->channel_loss_ppb = (uint32_t)(rate[0] * 1e9);
	o->channel_dup_ppb = (uint32_t)(rate[1] * 1e9);
	return n == 0 ? -EINVAL : ret;
}

/* "3/8" */
static int
shard_of(const char *text, struct options *o)
{
	const char *slash = strchr(text, '/');
	char first[16];
	int ret;

	if (slash == NULL || (size_t)(slash - text) >= sizeof(first))
		return -EINVAL;
	memcpy(first, text, (size_t)(slash - text));
	first[slash - text] = '\0';
	ret = parse_number(slash + 1, 1, 1000000, &o->shards);
	return ret != 0 ? ret : parse_number(first, 1, o->shards, &o->shard);
}

/* An option without a value. */
static int
take_flag(int opt, struct options *o)
{
	switch (opt) {
	case OPT_DUP_FILTER:
		o->dup_filter = true;
		return 0;
	case OPT_EVENTS:
		o->events = true;
		return 0;
	case OPT_PROGRESS:
		o->progress = true;
		return 0;
	case OPT_TURNS:
		o->roles = false;
		return 0;
	case OPT_ROLES:
		o->roles = true;
		return 0;
	case OPT_HELP:
		o->help = true;
		return 0;
	case OPT_VERSION:
		o->version = true;
		return 0;
	default:
		return -ENOENT;
	}
}

/* Files and names, which are checked later. */
static int
take_name(int opt, const char *arg, struct options *o)
{
	switch (opt) {
	case OPT_CONFIG:
		o->config = arg;
		return 0;
	case OPT_JSON:
		o->json = arg;
		return 0;
	case OPT_CSV:
		o->csv = arg;
		return 0;
	case OPT_FAULTS:
		o->faults = arg;
		return 0;
	case OPT_REPLAY:
		o->replay = arg;
		return 0;
	case OPT_PROFILE:
		o->profile = arg;
		return 0;
	case OPT_ENGINE:
		o->engine = arg;
		return 0;
	default:
		return take_flag(opt, o);
	}
}

static int
take(int opt, const char *arg, struct options *o)
{
	switch (opt) {
	case OPT_WHAT_IF:
		if (o->nwhat_ifs == WHAT_IFS_MAX)
			return -ERANGE;
		o->what_if[o->nwhat_ifs++] = arg;
		return 0;
	case OPT_SEED:
		return parse_number(arg, 0, UINT64_MAX, &o->seed);
	case OPT_SEEDS:
		return parse_number(arg, 1, UINT64_MAX, &o->seeds);
	case OPT_SHARD:
		return shard_of(arg, o);
	case OPT_WIDE:
		o->wide_text = arg;
		return rl_sim_wide_parse(arg, &o->wide);
	case OPT_CUTS:
		return parse_number(arg, 1, 1000000, &o->cuts);
	case OPT_TRAFFIC:
		return traffic_word(arg, o);
	case OPT_LOAD:
		return load_value(arg, &o->load);
	case OPT_PACKET_FLITS:
		return flits_range(arg, o);
	case OPT_CLASSES:
		return classes_word(arg, o);
	case OPT_REQUESTS:
		return parse_rate(arg, 0, 1, &o->requests);
	case OPT_PACKETS:
		return parse_number(arg, 1, UINT64_MAX, &o->packets);
	case OPT_DURATION:
		return duration(arg, &o->duration_ns);
	case OPT_DRAIN:
		return parse_time_or_ns(arg, &o->drain_ns);
	case OPT_LATENCY:
		return parse_time_or_ns(arg, &o->latency_ns);
	case OPT_POLL:
		o->roles = true;
		return parse_time_or_ns(arg, &o->poll_ns);
	case OPT_TICK:
		return parse_time_or_ns(arg, &o->tick_ns);
	case OPT_THREADS:
		return u32_number(arg, 1, RL_SIM_THREADS_MAX, &o->threads);
	case OPT_FLIT_PS:
		return u32_number(arg, 1, 1000000000, &o->flit_ps);
	case OPT_MTU:
		return u32_number(arg,
				  rl_frame_bytes(1) - RL_FRAME_LINK_OFF, 65535,
				  &o->mtu);
	case OPT_COMPUTE:
		return compute_time(arg, o);
	case OPT_CHANNEL:
		return channel_faults(arg, o);
	default:
		return take_name(opt, arg, o);
	}
}

/* What an option takes, for an error message. */
static const char *
allowed(int opt)
{
	switch (opt) {
	case OPT_SEED:
		return "a whole number";
	case OPT_SEEDS:
	case OPT_PACKETS:
		return "a whole number, 1 or more";
	case OPT_SHARD:
		return "I/N, such as 1/8: I of 1 to N, N of 1 to 1000000";
	case OPT_WHAT_IF:
		return "it up to 8 times";
	case OPT_CUTS:
		return "1 to 1000000";
	case OPT_WIDE:
		return "all, or dimensions as in docs/simulation.md, such as "
		       "latency,slow=50";
	case OPT_TRAFFIC:
		return "uniform, permutation, tornado, hotspot, incast or "
		       "pcap:FILE";
	case OPT_LOAD:
		return "a number above 0, at most 16";
	case OPT_PACKET_FLITS:
		return "MIN or MIN-MAX, 1 to 255";
	case OPT_CLASSES:
		return "1 to 16, or kind";
	case OPT_REQUESTS:
		return "a share, 0 to 1";
	case OPT_COMPUTE:
		return "measured, or 1ns to 3600s";
	case OPT_CHANNEL:
		return "DELAY[,JITTER[,LOSS[,DUP]]], such as 10us,5us,0.01,0";
	case OPT_DURATION:
		return "1ns to 3600s, such as 100us";
	case OPT_FLIT_PS:
		return "1 to 1000000000";
	case OPT_MTU:
		return "what a frame of one flit needs, to 65535";
	default: /* the other times */
		return "0ns to 3600s, such as 100us";
	}
}

int
options_parse(int argc, char **argv, struct options *o)
{
	const char *path[2], *in[4];
	int opt, which = 0, ret;

	*o = (struct options){
		.argv = argv,
		.seed = 1,
		.drain_ns = 5 * RL_NS_PER_S,
		.latency_ns = RL_NEVER,
		.channel_ns = 10 * RL_NS_PER_US,
		.classes = 1,
	};
	optind = 1;
	while ((opt = option_next("reflit-sim", argc, argv, "", longs,
				  &which)) != -1) {
		ret = take(opt, optarg, o);
		if (ret == -ENOENT) /* getopt has printed what is wrong */
			return -EINVAL;
		if (ret == 0)
			continue;
		fprintf(stderr, "reflit-sim: --%s %s: %s; use %s\n",
			longs[which].name, optarg,
			ret == -ERANGE ? "out of range" : "not understood",
			allowed(opt));
		return -EINVAL;
	}
	if (optind != argc) {
		fprintf(stderr, "reflit-sim: what is %s? See --help\n",
			argv[optind]);
		return -EINVAL;
	}
	path[0] = o->json;
	path[1] = o->csv;
	in[0] = o->config;
	in[1] = o->faults;
	in[2] = o->replay;
	in[3] = o->pcap;
	ret = report_check("reflit-sim", o->json);
	if (ret == 0)
		ret = report_check("reflit-sim", o->csv);
	if (ret == 0)
		ret = report_apart("reflit-sim", path, 2, in,
				   RL_ARRAY_SIZE(in));
	return ret != 0 ? ret : report_claim_stdout("reflit-sim", path, 2);
}
