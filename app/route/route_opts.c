/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option_next.h"
#include "report_file.h"
#include "route_app.h"

enum {
	OPT_CONFIG = 256,
	OPT_ENGINE,
	OPT_FAIL,
	OPT_DUMP,
	OPT_VERIFY,
	OPT_TIME,
	OPT_JSON,
	OPT_SEED,
	OPT_DOT,
	OPT_STATS,
	OPT_DETOURS,
	OPT_DOUBLE,
	OPT_UPDATE,
	OPT_VLS,
	OPT_QOS,
	OPT_RANDOM_LINKS,
	OPT_RANDOM_SWITCHES,
	OPT_SEEDS,
	OPT_PROGRESS,
	OPT_OPENSM,
	OPT_PARTS,
	OPT_HELP,
	OPT_VERSION,
};

/* One line an option: what getopt needs and what the help says. */
static const struct {
	const char *name;
	const char *arg; /* NULL: takes none */
	const char *what;
	int id;
} table[] = {
	/* a heading has no id */
	{ "The fabric", NULL, NULL, 0 },
	{ "config", "FILE", "read the fabric file (docs/configuration.md)", OPT_CONFIG },
	{ "fail", "NAME", "let a link A-B or A-B#k, or a switch, fail; repeatable",
	  OPT_FAIL },
	{ "The routes", NULL, NULL, 0 },
	{ "engine", "NAME", "routing engine; default: the file's, or reflit",
	  OPT_ENGINE },
	{ "vls", "N", "VLs that the engine may use; default: the file's", OPT_VLS },
	{ "qos-levels", "N", "1 or 2, engine torus-2qos; default 1", OPT_QOS },
	{ "update", NULL, "compute without --fail, then update for them",
	  OPT_UPDATE },
	{ "parts", NULL, "route a fabric in parts part by part, name the rest",
	  OPT_PARTS },
	{ "check-opensm", "DIR", "judge the tables that OpenSM has dumped to "
	  "DIR; no --config", OPT_OPENSM },
	{ "What is printed", NULL, NULL, 0 },
	{ "verify", NULL, "prove reachability and freedom from credit loops",
	  OPT_VERIFY },
	{ "stats", NULL, "print VLs, loads and stretch of the paths", OPT_STATS },
	{ "detours", NULL, "check the detours: loops, single failures covered",
	  OPT_DETOURS },
	{ "double", "N", "check them with N random pairs of failed links", OPT_DOUBLE },
	{ "time", NULL, "print how long computing and checking took", OPT_TIME },
	{ "dump", "FILE", "write switches, links, paths, backups", OPT_DUMP },
	{ "dot", "FILE", "write the fabric for Graphviz", OPT_DOT },
	{ "json", "FILE", "write the report as JSON", OPT_JSON },
	{ "Random failures, many times", NULL, NULL, 0 },
	{ "random-links", "N", "let N links fail", OPT_RANDOM_LINKS },
	{ "random-switches", "N", "let N switches fail", OPT_RANDOM_SWITCHES },
	{ "seeds", "N", "draw N times, default 20", OPT_SEEDS },
	{ "seed", "N", "the first seed, default 1", OPT_SEED },
	{ "progress", NULL, "print progress, also without a terminal",
	  OPT_PROGRESS },
	{ "Other", NULL, NULL, 0 },
	{ "help", NULL, "print this text", OPT_HELP },
	{ "version", NULL, "print the version", OPT_VERSION },
};

void
route_opts_help(void)
{
	fputs("usage: reflit-route --config FILE [options]\n"
	      "       reflit-route --check-opensm DIR [options]\n\n"
	      "Routes a fabric offline, around failures, and proves the "
	      "result.\n", stdout);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(table); i++) {
		char left[40];

		if (table[i].id == 0) {
			printf("\n%s:\n", table[i].name);
			continue;
		}
		snprintf(left, sizeof(left), "--%s %s", table[i].name,
			 table[i].arg != NULL ? table[i].arg : "");
		printf("  %-20s  %s\n", left, table[i].what);
	}
	fputs("\nThe FILE - is standard output; all else then goes to standard "
	      "error.\n\nEngines:\n", stdout);
	for (unsigned int i = 0; rl_route_info(i) != NULL; i++)
		printf("  %-20s  %s\n", rl_route_info(i)->name,
		       rl_route_info(i)->what);
	fputs("\nExit status: 0 routed, and every promise kept; 1 a credit "
	      "loop, or a pair\nwithout a path; 2 unusable arguments or "
	      "configuration; 3 refused.\n", stdout);
}

static int
opts_number(const char *name, const char *text, uint64_t min, uint64_t max,
	    uint64_t *v)
{
	char *end = NULL;

	errno = 0;
	if (text[0] >= '0' && text[0] <= '9') {
		*v = strtoull(text, &end, 10);
		if (*end == '\0' && errno == 0 && *v >= min && *v <= max)
			return 0;
	}
	fprintf(stderr, "reflit-route: --%s %s: give a number of %llu to "
		"%llu\n", name, text, (unsigned long long)min,
		(unsigned long long)max);
	return -EINVAL;
}

static int
opts_u32(const char *name, const char *text, uint32_t min, uint32_t max,
	 uint32_t *v)
{
	uint64_t n;

	if (opts_number(name, text, min, max, &n) != 0)
		return -EINVAL;
	*v = (uint32_t)n;
	return 0;
}

/* Options that are a number. */
static int
opts_take_number(struct route_opts *o, int c)
{
	switch (c) {
	case OPT_VLS:
		return opts_u32("vls", optarg, 1, RL_VCS, &o->vls);
	case OPT_QOS:
		return opts_u32("qos-levels", optarg, 1, 2, &o->qos_levels);
	case OPT_SEED:
		return opts_number("seed", optarg, 0, UINT64_MAX, &o->seed);
	case OPT_SEEDS:
		o->sweep = true;
		return opts_u32("seeds", optarg, 1, 1000000, &o->seeds);
	case OPT_RANDOM_LINKS:
		o->sweep = true;
		return opts_u32("random-links", optarg, 0, 1000000,
				&o->random_links);
	case OPT_RANDOM_SWITCHES:
		o->sweep = true;
		return opts_u32("random-switches", optarg, 0, 65535,
				&o->random_switches);
	case OPT_DOUBLE:
		o->detours = true;
		return opts_u32("double", optarg, 1, 100000000,
				&o->double_failures);
	default:
		return -EINVAL; /* getopt has said why */
	}
}

static int
opts_take_fail(struct route_opts *o)
{
	if (o->nfail == ROUTE_FAIL_MAX) {
		fprintf(stderr, "reflit-route: --fail: at most %d of them; put "
			"more into the fabric file\n", ROUTE_FAIL_MAX);
		return -EINVAL;
	}
	o->fail[o->nfail++] = optarg;
	return 0;
}

static int
opts_take(struct route_opts *o, int c)
{
	switch (c) {
	case OPT_CONFIG: o->config = optarg; return 0;
	case OPT_ENGINE: o->engine = optarg; return 0;
	case OPT_FAIL: return opts_take_fail(o);
	case OPT_DUMP: o->dump = optarg; return 0;
	case OPT_DOT: o->dot = optarg; return 0;
	case OPT_JSON: o->json = optarg; return 0;
	case OPT_VERIFY: o->verify = true; return 0;
	case OPT_TIME: o->time = true; return 0;
	case OPT_STATS: o->stats = true; return 0;
	case OPT_DETOURS: o->detours = true; return 0;
	case OPT_UPDATE: o->update = true; return 0;
	case OPT_PARTS: o->parts = true; return 0;
	case OPT_OPENSM: o->opensm = optarg; return 0;
	case OPT_PROGRESS: o->progress = true; return 0;
	case OPT_HELP: o->help = true; return 0;
	case OPT_VERSION: o->version = true; return 0;
	default: return opts_take_number(o, c);
	}
}

/*
 * Checks that documents can be written. Only one may be "-", standard output.
 */
static int
opts_check_files(const struct route_opts *o)
{
	const char *path[] = { o->dump, o->dot, o->json };
	int ret = 0;

	for (unsigned int i = 0; i < RL_ARRAY_SIZE(path) && ret == 0; i++)
		ret = report_check("reflit-route", path[i]);
	if (ret == 0)
		ret = report_apart("reflit-route", path, RL_ARRAY_SIZE(path),
				   &o->config, 1);
	return ret != 0 || o->help || o->version ?
		       ret :
		       report_claim_stdout("reflit-route", path,
					   RL_ARRAY_SIZE(path));
}

/* Options that exclude each other. */
static int
opts_check(const struct route_opts *o)
{
	const char *with_opensm = o->config != NULL ? "--config" :
				  o->engine != NULL ? "--engine" :
				  o->nfail != 0	    ? "--fail" :
				  o->update	    ? "--update" :
				  o->detours	    ? "--detours" :
				  o->sweep	    ? "a sweep" :
				  o->vls != 0	    ? "--vls" :
				  o->parts	    ? "--parts" :
						      NULL;

	if (o->opensm != NULL && with_opensm != NULL) {
		fprintf(stderr, "reflit-route: --check-opensm takes fabric and "
			"tables from the dump; %s is not for it\n",
			with_opensm);
		return -EINVAL;
	}
	if (o->config == NULL && o->opensm == NULL && !o->help &&
	    !o->version) {
		fprintf(stderr, "reflit-route: give --config FILE, a fabric "
			"file such as config/torus-6x6.cfg\n");
		return -EINVAL;
	}
	if (o->parts && (o->sweep || o->update)) {
		fprintf(stderr, "reflit-route: --parts goes with --fail, not "
			"with --update or random failures\n");
		return -EINVAL;
	}
	if (o->sweep && o->update) {
		fprintf(stderr, "reflit-route: --update goes with --fail, not "
			"with random failures\n");
		return -EINVAL;
	}
	return 0;
}

int
route_opts_read(struct route_opts *o, int argc, char **argv)
{
	struct option longs[RL_ARRAY_SIZE(table) + 1];
	unsigned int n = 0;
	int c;

	memset(longs, 0, sizeof(longs));
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(table); i++) {
		if (table[i].id == 0)
			continue;
		longs[n].name = table[i].name;
		longs[n].has_arg = table[i].arg != NULL;
		longs[n++].val = table[i].id;
	}
	*o = (struct route_opts){.seed = 1, .seeds = 20, .qos_levels = 1};
	while ((c = option_next("reflit-route", argc, argv, "", longs,
				NULL)) != -1)
		if (opts_take(o, c) != 0)
			return -EINVAL;
	if (optind < argc) {
		fprintf(stderr, "reflit-route: what is '%s'? see --help\n",
			argv[optind]);
		return -EINVAL;
	}
	if (opts_check(o) != 0)
		return -EINVAL;
	o->progress |= isatty(STDERR_FILENO);
	return opts_check_files(o);
}
