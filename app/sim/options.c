/* SPDX-License-Identifier: BSD-3-Clause */

/* The command line of reflit-sim. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opts.h"
#include "parse.h"
#include "report_file.h"
#include "say_error.h"
#include "sim_app.h"

static int
load_value(const struct opt *opt, const char *text, void *to)
{
	struct options *o = to;
	const int ret = opt_rate(opt, text, to);

	return ret == 0 && o->load == 0 ? -ERANGE : ret;
}

/* "4" or "1-16". */
static int
flits_range(RL_UNUSED const struct opt *opt, const char *text, void *to)
{
	struct options *o = to;
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
traffic_word(RL_UNUSED const struct opt *opt, const char *text, void *to)
{
	struct options *o = to;

	if (strncmp(text, "pcap:", 5) == 0 && text[5] != '\0') {
		o->pcap = text + 5;
		o->traffic = RL_PATTERN_PERMUTATION;
		return 0;
	}
	if (strncmp(text, "pairs:", 6) == 0 && text[6] != '\0') {
		o->pairs = text + 6;
		o->traffic = RL_PATTERN_PAIRS;
		return 0;
	}
	o->traffic = rl_pattern_parse(text);
	return o->traffic < 0 ? -EINVAL : 0;
}

static int
classes_word(const struct opt *opt, const char *text, void *to)
{
	struct options *o = to;

	o->by_kind = strcmp(text, "kind") == 0;
	if (!o->by_kind)
		return opt_u32(opt, text, to);
	o->classes = RL_KINDS;
	return 0;
}

static int
compute_time(const struct opt *opt, const char *text, void *to)
{
	struct options *o = to;

	if (strcmp(text, "measured") == 0) {
		o->compute_ns = RL_NEVER;
		return 0;
	}
	return opt_time_or_ns(opt, text, to);
}

/* "10us,5us,0.01,0.01" */
static int
channel_faults(RL_UNUSED const struct opt *opt, const char *text, void *to)
{
	struct options *o = to;
	double rate[2] = { 0, 0 };
	char copy[128], *rest = copy, *word;
	unsigned int n = 0;
	int ret = 0;

	if (strlen(text) >= sizeof(copy))
		return -EINVAL;
	strcpy(copy, text);
	o->channel = true;
	for (; ret == 0 && (word = strsep(&rest, ",")) != NULL; n++)
		ret = n == 0   ? parse_time_or_ns(word, &o->channel_ns)
		      : n == 1 ? parse_time_or_ns(word, &o->channel_jitter_ns)
		      : n < 4  ? parse_rate(word, 0, 1, &rate[n - 2])
			       : -EINVAL;
	o->channel_loss_ppb = (uint32_t)(rate[0] * 1e9);
	o->channel_dup_ppb = (uint32_t)(rate[1] * 1e9);
	return ret;
}

static int
seed_of(const struct opt *opt, const char *text, void *to)
{
	((struct options *)to)->seeded = true;
	return opt_u64(opt, text, to);
}

/* "3/8" */
static int
shard_of(RL_UNUSED const struct opt *opt, const char *text, void *to)
{
	struct options *o = to;
	const char *slash = strchr(text, '/');
	char first[16];
	int ret;

	if (slash == NULL || (size_t)(slash - text) >= sizeof(first))
		return -EINVAL;
	memcpy(first, text, (size_t)(slash - text));
	first[slash - text] = '\0';
	ret = parse_number(slash + 1, 1, 1000000, &o->shards);
	ret = ret != 0 ? ret : parse_number(first, 1, o->shards, &o->shard);
	o->shard--;
	return ret;
}

static int
what_if_of(RL_UNUSED const struct opt *opt, const char *text, void *to)
{
	struct options *o = to;

	if (o->nwhat_ifs == WHAT_IFS_MAX)
		return -ERANGE;
	o->what_if[o->nwhat_ifs++] = text;
	return 0;
}

static int
wide_of(RL_UNUSED const struct opt *opt, const char *text, void *to)
{
	struct options *o = to;

	o->wide_text = text;
	return rl_swarm_wide_parse(text, &o->wide);
}

/* Longer than other times: "90s", "20min", "8h". */
static int
budget_of(RL_UNUSED const struct opt *opt, const char *text, void *to)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "s", 1e9 }, { "min", 60e9 }, { "h", 3600e9 } };
	char *end;
	const double v = strtod(text, &end);

	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	for (size_t i = 0; i < RL_ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].unit) != 0)
			continue;
		if (!(v > 0 && v * units[i].ns < 1e18))
			return -ERANGE;
		/* 0 would be none */
		((struct options *)to)->budget_ns =
			rl_max_u64((uint64_t)(v * units[i].ns), 1);
		return 0;
	}
	return -EINVAL;
}

static int
mtu_of(const struct opt *opt, const char *text, void *to)
{
	const int ret = opt_u32(opt, text, to);

	return ret == 0 && ((struct options *)to)->mtu <
				   rl_frame_bytes(1) - RL_FRAME_LINK_OFF ?
		       -ERANGE : ret;
}

static int
poll_time(const struct opt *opt, const char *text, void *to)
{
	((struct options *)to)->roles = true;
	return opt_time_or_ns(opt, text, to);
}

static int
turns(RL_UNUSED const struct opt *opt, RL_UNUSED const char *text, void *to)
{
	((struct options *)to)->roles = false;
	return 0;
}

#define TO(field) offsetof(struct options, field)
#define ANY_TIME "0ns to 3600s, such as 100us"

static const struct opt table[] = {
	{ "config", "FILE", opt_text, TO(config),
	  .help = "read the fabric file (docs/configuration.md)" },
	{ "json", "FILE", opt_text, TO(json),
	  .help = "write the report there; -: to standard output,\n"
		  "and everything else to standard error" },
	{ "seed", "N", seed_of, TO(seed), 0, INT64_MAX,
	  .help = "seed everything random, default 1" },
	{ "traffic", "PATTERN", traffic_word, 0, 0, 0,
	  "one of the patterns that --help lists",
	  .help = "what endpoints send: one of the patterns below" },
	{ "load", "RATE", load_value, TO(load), 0, 16,
	  "a number above 0, at most 16",
	  .help = "flits per slot and endpoint, default 0.3" },
	{ "packet-flits", "MIN[-MAX]", flits_range, 0, 0, 0,
	  "MIN or MIN-MAX, 1 to 255",
	  .help = "length of packets, default 1-8" },
	{ "classes", "N", classes_word, TO(classes), 1, 16, "1 to 16, or kind",
	  .help = "classes of service, 1 to 16, default 1; each is\n"
		  "a flow, and routing.levels gives it a VL;\n"
		  "kind: one each for posted requests, others,\n"
		  "and responses" },
	{ "requests", "SHARE", opt_rate, TO(requests), 0, 1, "a share, 0 to 1",
	  .help = "share of packets, 0 to 1, that ask for a response" },
	{ "packets", "N", opt_u64, TO(packets), 1, UINT64_MAX,
	  "a whole number, 1 or more",
	  .help = "packets of all endpoints together" },
	{ "duration", "TIME", opt_time_or_ns, TO(duration_ns), 1, 0,
	  "1ns to 3600s, such as 100us",
	  .help = "length of the traffic (100us, 5ms; plain: ns),\n"
		  "default 1ms if --packets is not given" },
	{ "warmup", "TIME", opt_time_or_ns, TO(warmup_ns), 0, 0, ANY_TIME,
	  .help = "count deliveries from then on, default 0" },
	{ "window", "TIME", opt_time_or_ns, TO(window_ns), 1, 0,
	  "1ns to 3600s, such as 100us",
	  .help = "count them for so long, default: until the traffic\n"
		  "ends; without --duration it ends then" },
	{ "faults", "FILE", opt_text, TO(faults),
	  .help = "inject the faults of this file at their times" },
	{ "replay", "FILE", opt_text, TO(replay),
	  .help = "replay a recording (reflit --record): its fabric,\n"
		  "traffic and faults" },
	{ "what-if", "POLICY", what_if_of, 0, 0, 0, "it up to 8 times",
	  .help = "run with loopback=none, e2e=off, ...; after --replay:\n"
		  "replay it again with that" },
	{ "seeds", "N", opt_u64, TO(seeds), 1, UINT64_MAX,
	  "a whole number, 1 or more",
	  .help = "run a campaign: N runs from --seed on, each with\n"
		  "random faults (or those of --faults)" },
	{ "wide", "all|DIM[=PERCENT],...", wide_of, 0, 0, 0,
	  "all, or dimensions as in docs/simulation.md, such as latency,slow=50",
	  .help = "let the campaign also draw settings\n"
		  "that it keeps otherwise; 25 % of the seeds each" },
	{ "shard", "I/N", shard_of, 0, 0, 0,
	  "I/N, such as 1/8: I of 1 to N, N of 1 to 1000000",
	  .help = "campaign: run every N-th block, from the I-th on; give\n"
		  "each part a store, and merge them" },
	{ "profile", "NAME", opt_text, TO(profile),
	  .help = "rxl, rxl-compact, cxl, cxl-sep-ack" },
	{ "engine", "NAME", opt_text, TO(engine),
	  .help = "routing engine, instead of the file's" },
	{ "latency", "TIME", opt_time_or_ns, TO(latency_ns), 0, 0, ANY_TIME,
	  .help = "latency of every wire, default 100ns" },
	{ "flit-ps", "N", opt_u32, TO(flit_ps), 1, 1000000000,
	  "1 to 1000000000",
	  .help = "time of a flit on a wire, default 2000" },
	{ "mtu", "BYTES", mtu_of, TO(mtu), 0, 65535,
	  "what a frame of one flit needs, to 65535",
	  .help = "MTU of every wire, default 8306 (32 flits)" },
	{ "poll", "TIME", poll_time, TO(poll_ns), 0, 0, ANY_TIME,
	  .help = "how long an lcore takes to notice another one, default\n"
		  "0; implies --roles" },
	{ "tick", "TIME", opt_time_or_ns, TO(tick_ns), 0, 0, ANY_TIME,
	  .help = "poll only at multiples of TIME: coarser, faster" },
	{ "turns", NULL, turns, 0,
	  .help = "poll whole devices, as one lcore does (default)" },
	{ "roles", NULL, NULL, TO(roles),
	  .help = "poll each port and core by itself, as if each\n"
		  "had an lcore of its own" },
	{ "threads", "N", opt_u32, TO(threads), 1, RL_SIM_THREADS_MAX,
	  .help = "share the fabric's devices among N threads; default:\n"
		  "as many as there are CPUs, if that is faster" },
	{ "drain", "TIME", opt_time_or_ns, TO(drain_ns), 0, 0, ANY_TIME,
	  .help = "how long to wait for the end, default 5s" },
	{ "compute", "TIME", compute_time, TO(compute_ns), 1, 0,
	  "measured, or 1ns to 3600s",
	  .help = "how long the controller computes new tables, or\n"
		  "measured; default: by the fabric's size" },
	{ "channel", "DELAY[,JITTER[,LOSS[,DUP]]]", channel_faults, 0, 0, 0,
	  "DELAY[,JITTER[,LOSS[,DUP]]], such as 10us,5us,0.01,0",
	  .help = "how the controller's messages\n"
		  "travel, default 10us; rates from 0 to 1" },
	{ "events", NULL, NULL, TO(events),
	  .help = "print the events of ports and cores" },
	{ "trace", "FILE", opt_text, TO(trace),
	  .help = "write what each flit met there, a line each; -: to\n"
		  "standard output" },
	{ "progress", NULL, NULL, TO(progress),
	  .help = "print progress, also without a terminal" },
	{ "store", "FILE", opt_text, TO(store),
	  .help = "campaign: write results there, or go on with it" },
	{ "block", "N", opt_u64, TO(block), 1, 1000000,
	  .help = "campaign: how many seeds are written at once, and\n"
		  "lost if it is killed, default 100" },
	{ "time-budget", "TIME", budget_of, 0, 0, 0,
	  "a time such as 30s, 20min or 8h",
	  .help = "campaign: begin no more seeds after this time\n"
		  "(30s, 20min, 8h)" },
	{ "out", "DIR", opt_text, TO(out),
	  .help = "shrink: write the smaller run into this folder" },
	{ "runs", "N", opt_u64, TO(runs), 1, UINT32_MAX,
	  .help = "shrink: how many runs to try, default 600" },
	{ "cuts", "N", opt_u64, TO(cuts), 1, 1000000, "1 to 1000000",
	  .help = "ablation: how many cuts, default 200" },
	{ "csv", "FILE", opt_text, TO(csv),
	  .help = "ablation: write its table there" },
	{ "dup-filter", NULL, NULL, TO(dup_filter),
	  .help = "ablation: test the duplicate filter of switches" },
	{ .name = "help", .at = TO(help) },
	{ .name = "version", .at = TO(version) },
	{ .name = NULL },
};

static const struct opts program = {
	.program = "reflit-sim",
	.usage =
	"usage: reflit-sim --config FILE [options]\n"
	"       reflit-sim ablation [--config FILE] [options]\n"
	"       reflit-sim merge FILE...      merges the stores of a campaign\n"
	"       reflit-sim shrink FABRIC FAULTS --out DIR [options]\n"
	"                                     the same failure in fewer parts\n"
	"       reflit-sim campaign --store FILE [options]\n"
	"                                     a campaign that can be stopped\n"
	"       reflit-sim rxl|scenario ...   (see their --help)\n"
	"\n"
	"Runs the fabric of a file in virtual time. The same seed gives the same\n"
	"run. docs/simulation.md tells more.\n"
	"\n",
	.more =
	"  --help, --version\n"
	"\n"
	"Patterns of traffic:\n"
	RL_PATTERN_HELP
	"  pairs:FILE - lines SOURCE DESTINATION, names of endpoints\n"
	"  pcap:FILE - each sends the frames of a capture to a partner\n"
	"\n"
	"Exit status: 0 done and every promise kept; 1 something was lost,\n"
	"duplicated, reordered, altered or is unaccounted for; 2 unusable\n"
	"arguments or configuration; 3 refused: the fabric cannot be routed.\n",
	.table = table,
	.column = 23,
};

const char *
options_of_run(const struct options *o)
{
	const struct {
		const char *name;
		bool given;
	} all[] = {
		{ "--traffic", o->traffic != 0 || o->pcap != NULL },
		{ "--load", o->load != 0 },
		{ "--packet-flits", o->max_flits != 0 },
		{ "--classes", o->classes != 1 },
		{ "--requests", o->requests != 0 },
		{ "--packets", o->packets != 0 },
		{ "--duration", o->duration_ns != 0 },
		{ "--warmup", o->warmup_ns != RL_NEVER },
		{ "--window", o->window_ns != 0 },
		{ "--latency", o->latency_ns != RL_NEVER },
		{ "--poll", o->poll_ns != 0 },
		{ "--tick", o->tick_ns != 0 },
		{ "--roles", o->roles },
		{ "--flit-ps", o->flit_ps != 0 },
		{ "--mtu", o->mtu != 0 },
		{ "--compute", o->compute_ns != 0 },
		{ "--channel", o->channel },
		{ "--seeds", o->seeds != 0 },
		{ "--seed", o->seeded },
	};

	for (size_t i = 0; i < RL_ARRAY_SIZE(all); i++)
		if (all[i].given)
			return all[i].name;
	return NULL;
}

int
options_check(const struct options *o, enum option_of command)
{
	const struct {
		bool given;
		unsigned int of; /* commands that heed it */
		const char *say;
	} all[] = {
		{ o->csv != NULL || o->dup_filter || o->cuts != 0, OF_ABLATION,
		  "--csv, --cuts and --dup-filter go with the ablation: "
		  "reflit-sim ablation" },
		{ o->out != NULL || o->runs != 0, OF_SHRINK,
		  "--out and --runs go with shrink: reflit-sim shrink" },
		{ o->store != NULL || o->budget_ns != 0 || o->block != 0 ||
			  o->shards > 1, OF_CAMPAIGN,
		  "--store, --shard, --block and --time-budget go with a "
		  "campaign: reflit-sim campaign" },
		{ o->wide_text != NULL, OF_SEEDS | OF_CAMPAIGN | OF_SHRINK,
		  "--wide goes with a campaign: give --seeds" },
		{ o->events, OF_RUN | OF_REPLAY | OF_ABLATION,
		  "--events goes with one run: leave --seeds out and give the "
		  "seed as --seed" },
		{ o->trace != NULL, OF_RUN, "--trace goes with one run: leave "
		  "--seeds and --replay out" },
		{ o->warmup_ns != RL_NEVER || o->window_ns != 0,
		  OF_RUN | OF_ABLATION, "--warmup and --window go with one run:"
		  " leave --seeds and --replay out" },
		{ o->nwhat_ifs != 0,
		  OF_REPLAY | (o->nwhat_ifs == 1 ? OF_RUN : 0),
		  "--what-if goes with one run, or several with --replay "
		  "FILE" },
		{ o->replay != NULL, OF_REPLAY,
		  "--replay FILE goes with no command" },
		{ o->config != NULL || o->faults != NULL || o->pcap != NULL ||
			  o->pairs != NULL || o->traffic != 0 ||
			  o->max_flits != 0 || o->classes != 1 ||
			  o->seeds != 0 || o->packets != 0 ||
			  o->duration_ns != 0 || o->load > 0 ||
			  o->requests > 0, ~(unsigned int)OF_REPLAY,
		  "--replay has fabric, traffic and faults of its own: leave "
		  "--config, --traffic, --load, --packet-flits, --classes, "
		  "--requests, --packets, --duration, --faults and --seeds "
		  "out" },
	};

	for (size_t i = 0; i < RL_ARRAY_SIZE(all); i++)
		if (all[i].given && !(all[i].of & command))
			return say_error(EXIT_UNUSABLE, "reflit-sim: %s\n",
					 all[i].say);
	return 0;
}

int
options_parse(int argc, char **argv, int words, struct options *o)
{
	const char *path[3], *in[6];
	int first, ret;

	*o = (struct options){
		.argv = argv,
		.seed = 1,
		.drain_ns = 5 * RL_NS_PER_S,
		.latency_ns = RL_NEVER,
		.warmup_ns = RL_NEVER,
		.channel_ns = 10 * RL_NS_PER_US,
		.classes = 1,
		.shards = 1,
	};
	first = opts_read(&program, argc, argv, o);
	if (first < 0)
		return EXIT_UNUSABLE;
	if (argc - first > words)
		return say_error(EXIT_UNUSABLE, "reflit-sim: what is %s? See "
				 "--help\n", argv[first + words]);
	o->words = argv + first;
	o->nwords = argc - first;
	if (o->seeds != 0 && o->seed > INT64_MAX - (o->seeds - 1))
		return say_error(EXIT_UNUSABLE, "reflit-sim: --seeds: that is "
				 "beyond the last seed, %lld\n",
				 (long long)INT64_MAX);
	path[0] = o->json;
	path[1] = o->csv;
	path[2] = o->trace;
	in[0] = o->config;
	in[1] = o->faults;
	in[2] = o->replay;
	in[3] = o->pcap;
	in[4] = o->store;
	in[5] = o->pairs;
	ret = report_check("reflit-sim", o->json);
	if (ret == 0)
		ret = report_check("reflit-sim", o->csv);
	if (ret == 0)
		ret = report_check("reflit-sim", o->trace);
	if (ret == 0)
		ret = report_apart("reflit-sim", path, 3, in,
				   RL_ARRAY_SIZE(in));
	if (ret != 0 || report_claim_stdout("reflit-sim", path, 3) != 0)
		return EXIT_UNUSABLE;
	if (o->help)
		opts_help(&program);
	return o->help ? EXIT_KEPT : -1;
}
