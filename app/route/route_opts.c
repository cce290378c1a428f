/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opts.h"
#include "report_file.h"
#include "route_app.h"
#include "say_error.h"

static int
take_fail(RL_UNUSED const struct opt *opt, const char *arg, void *to)
{
	struct route_opts *o = to;

	if (o->nfail == ROUTE_FAIL_MAX)
		return say_error(-EBADMSG, "reflit-route: --fail: at most %d "
				 "of them; put more into the fabric file\n",
				 ROUTE_FAIL_MAX);
	o->fail[o->nfail++] = arg;
	return 0;
}

static int
take_sweep(const struct opt *opt, const char *arg, void *to)
{
	((struct route_opts *)to)->sweep = true;
	return opt_u32(opt, arg, to);
}

static int
take_double(const struct opt *opt, const char *arg, void *to)
{
	((struct route_opts *)to)->detours = true;
	return opt_u32(opt, arg, to);
}

#define TO(field) offsetof(struct route_opts, field)

static const struct opt table[] = {
	{ "config", "FILE", opt_text, TO(config),
	  .help = "read the fabric file (docs/configuration.md)",
	  .above = "The fabric" },
	{ "fail", "NAME", take_fail, 0,
	  .help = "let a link A-B or A-B#k, or a switch, fail; repeatable" },
	{ "engine", "NAME", opt_text, TO(engine),
	  .help = "routing engine; default: the file's, or reflit",
	  .above = "The routes" },
	{ "vls", "N", opt_u32, TO(vls), 1, RL_VCS,
	  .help = "VLs that the engine may use; default: the file's" },
	{ "qos-levels", "N", opt_u32, TO(qos_levels), 1, 2,
	  .help = "1 or 2, engine torus-2qos; default 1" },
	{ "update", NULL, NULL, TO(update),
	  .help = "compute without --fail, then update for them" },
	{ "parts", NULL, NULL, TO(parts),
	  .help = "route a fabric in parts part by part, name the rest" },
	{ "check-opensm", "DIR", opt_text, TO(opensm),
	  .help = "judge the tables that OpenSM has dumped to DIR; no --config" },
	{ "verify", NULL, NULL, TO(verify),
	  .help = "prove reachability and freedom from credit loops",
	  .above = "What is printed" },
	{ "stats", NULL, NULL, TO(stats),
	  .help = "print VLs, loads and stretch of the paths" },
	{ "detours", NULL, NULL, TO(detours),
	  .help = "check the detours: loops, single failures covered" },
	{ "double", "N", take_double, TO(double_failures), 1, 100000000,
	  .help = "check them with N random pairs of failed links" },
	{ "time", NULL, NULL, TO(time),
	  .help = "print how long computing and checking took" },
	{ "dump", "FILE", opt_text, TO(dump),
	  .help = "write switches, links, paths, backups" },
	{ "worst", "FILE", opt_text, TO(worst),
	  .help = "write the permutation that the tables carry worst:\n"
		  "reflit-sim --traffic pairs:FILE" },
	{ "dot", "FILE", opt_text, TO(dot),
	  .help = "write the fabric for Graphviz" },
	{ "json", "FILE", opt_text, TO(json),
	  .help = "write the report as JSON" },
	{ "random-links", "N", take_sweep, TO(random_links), 0, 1000000,
	  .help = "let N links fail",
	  .above = "Random failures, many times" },
	{ "random-switches", "N", take_sweep, TO(random_switches), 0, 65535,
	  .help = "let N switches fail" },
	{ "seeds", "N", take_sweep, TO(seeds), 1, 1000000,
	  .help = "draw N times, default 20" },
	{ "seed", "N", opt_u64, TO(seed), 0, INT64_MAX,
	  .help = "the first seed, default 1" },
	{ "progress", NULL, NULL, TO(progress),
	  .help = "print progress, also without a terminal" },
	{ "help", NULL, NULL, TO(help),
	  .help = "print this text",
	  .above = "Other" },
	{ "version", NULL, NULL, TO(version),
	  .help = "print the version" },
	{ .name = NULL },
};

static const struct opts program = {
	.program = "reflit-route",
	.usage = "usage: reflit-route --config FILE [options]\n"
		 "       reflit-route --check-opensm DIR [options]\n\n"
		 "Routes a fabric offline, around failures, and proves the "
		 "result.\n\n",
	.more = "\nThe FILE - is standard output; all else then goes to "
		"standard error.\n\nEngines:\n",
	.table = table,
	.column = 24,
	.give = true,
};

void
route_opts_help(void)
{
	opts_help(&program);
	for (unsigned int i = 0; rl_route_info(i) != NULL; i++)
		printf("  %-20s  %s\n", rl_route_info(i)->name,
		       rl_route_info(i)->what);
	fputs("\nExit status: 0 routed, and every promise kept; 1 a credit "
	      "loop, or a pair\nwithout a path; 2 unusable arguments or "
	      "configuration; 3 refused.\n", stdout);
}

/*
 * Checks that documents can be written. Only one may be "-", standard output.
 */
static int
opts_check_files(const struct route_opts *o)
{
	const char *path[] = { o->dump, o->dot, o->worst, o->json };
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

	const char *with_one = o->dump != NULL	? "--dump" :
			       o->worst != NULL ? "--worst" :
			       o->dot != NULL	? "--dot" :
			       o->verify	? "--verify" :
			       o->stats		? "--stats" :
			       o->detours	? "--detours" :
						  NULL;

	if (o->opensm != NULL && with_opensm != NULL)
		return say_error(-EINVAL, "reflit-route: --check-opensm takes "
				 "fabric and tables from the dump; %s is not "
				 "for it\n", with_opensm);
	if (o->config == NULL && o->opensm == NULL && !o->help &&
	    !o->version)
		return say_error(-EINVAL, "reflit-route: give --config FILE, a "
				 "fabric file such as config/torus-6x6.cfg\n");
	if (o->parts && (o->sweep || o->update))
		return say_error(-EINVAL, "reflit-route: --parts goes with "
				 "--fail, not with --update or random "
				 "failures\n");
	if (o->sweep && with_one != NULL)
		return say_error(-EINVAL, "reflit-route: %s is for one fabric, "
				 "not for many with random failures: leave "
				 "those out, or name them by --fail\n",
				 with_one);
	if (o->sweep && o->seed + (o->seeds - 1) > INT64_MAX)
		return say_error(-EINVAL, "reflit-route: --seeds: that is "
				 "beyond the last seed, %lld\n",
				 (long long)INT64_MAX);
	if (o->sweep && o->update)
		return say_error(-EINVAL, "reflit-route: --update goes with "
				 "--fail, not with random failures\n");
	return 0;
}

int
route_opts_read(struct route_opts *o, int argc, char **argv)
{
	int first;

	*o = (struct route_opts){.seed = 1, .seeds = 20, .qos_levels = 1};
	first = opts_read(&program, argc, argv, o);
	if (first < 0)
		return first;
	if (first < argc)
		return say_error(-EINVAL, "reflit-route: what is '%s'? see "
				 "--help\n", argv[first]);
	if (opts_check(o) != 0)
		return -EINVAL;
	o->progress |= isatty(STDERR_FILENO);
	return opts_check_files(o);
}

struct rl_route_params
route_params(const struct route_app *app)
{
	const struct rl_config *cfg = &app->cfg;
	const struct route_opts *o = &app->opt;
	const unsigned int vls = cfg->vls < cfg->link.vcs ? cfg->vls :
							    cfg->link.vcs;

	return (struct rl_route_params){
		.engine = o->engine != NULL ? o->engine : cfg->engine,
		.max_vls = o->vls != 0 ? o->vls : vls / cfg->levels,
		.qos_levels = o->qos_levels,
		.adaptive = cfg->adaptive &&
			    (cfg->adaptive_given ||
			     (o->engine == NULL && o->vls == 0 &&
			      o->qos_levels == 1)),
	};
}
