/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * reflit-sim shrink: a run that fails, in fewer parts [SIM-2]. Each smaller one
 * is written as the two files that it would become, read back, and judged, so
 * what is left in the end fails as it stands in these files.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "judge.h"
#include "progress.h"
#include "report_file.h"
#include "rl_swarm_shrink.h"
#include "say_error.h"
#include "stop_signal.h"

/* Runs at most, and seeds that may fail in the same way as files. */
#define RUNS_DEFAULT 600
#define SEEDS_FIRST 20
/*
 * A fabric that never comes to rest is watched for long, and each run takes
 * seconds. In the search this must do: timers of the campaign end sooner.
 */
#define REST_NS (60 * RL_NS_PER_MS)

struct job {
	const struct options *o;
	const char *shape; /* that each smaller run must have */
	struct progress far;
	uint32_t runs;
};

struct size {
	uint32_t faults, switches, endpoints, links;
	uint64_t packets;
	uint64_t end_ns;
};

static int
unusable(const char *why)
{
	return say_error(EXIT_UNUSABLE, "reflit-sim: shrink: %s\n", why);
}

static struct size
size_of(const struct rl_swarm_plan *plan, uint64_t sent)
{
	const struct rl_topo *t = &plan->cfg.topo;
	struct size z = {
		.faults = plan->faults.n,
		.endpoints = t->nep,
		.switches = t->ndev - t->nep,
		.links = t->nlink,
		.packets = sent,
		.end_ns = rl_max_u64(rl_sim_faults_end(&plan->faults),
				     plan->heal_ns),
	};

	if (z.end_ns == 0 && plan->load.stop_ns != RL_NEVER)
		z.end_ns = plan->load.stop_ns;
	return z;
}

/* Judges a plan as the files that it would become. @return 0 or -errno */
static int
judge_files(const struct rl_swarm_plan *plan, struct judged *j)
{
	static struct setup s; /* large */
	char *fabric = rl_swarm_case_fabric(plan);
	char *faults = rl_swarm_case_faults(plan);
	int ret = -ENOMEM;

	memset(j, 0, sizeof(*j));
	if (fabric != NULL && faults != NULL) {
		ret = judge_read(&s, fabric, faults);
		if (ret == 0)
			ret = judge_plan(&s.plan, j);
		setup_close(&s);
	}
	free(fabric);
	free(faults);
	return ret;
}

static bool
fails(void *ctx, const struct rl_swarm_plan *plan, uint64_t *sent)
{
	struct job *job = ctx;
	struct judged j;

	if (stop_asked() != 0 || judge_files(plan, &j) != 0)
		return false;
	progress_tell(&job->far, ++job->runs, NULL);
	*sent = j.sent;
	return !j.ok && strcmp(j.shape, job->shape) == 0;
}

/* Files leave out part of a plan: tries a few seeds until one fails alike. */
static bool
first_seed(struct job *job, struct rl_swarm_plan *plan)
{
	const uint64_t own = plan->seed;
	uint64_t sent;

	for (uint64_t i = 0; i <= SEEDS_FIRST; i++) {
		plan->seed = plan->load.seed = i == 0 ? own : i;
		if (fails(job, plan, &sent))
			return true;
	}
	return false;
}

static int
shrink_within(struct job *job, struct rl_swarm_plan *plan, uint64_t rest_ns)
{
	const uint64_t most = job->o->runs != 0 ? job->o->runs : RUNS_DEFAULT;
	struct rl_swarm_shrink s = {
		.fails = fails, .ctx = job, .most = (uint32_t)most,
	};

	plan->limit_ns = plan->heal_ns + rest_ns;
	return first_seed(job, plan) ? rl_swarm_shrink(&s, plan) : -ENOENT;
}

/* With a shorter wait first; and if that misleads, once more. */
static int
search(struct job *job, struct setup *s)
{
	struct rl_swarm_plan *plan = &s->plan;
	const uint64_t rest_ns = plan->limit_ns - plan->heal_ns;
	char *fabric = rl_swarm_case_fabric(plan);
	char *faults = rl_swarm_case_faults(plan);
	uint64_t sent;
	int ret = fabric == NULL || faults == NULL ? -ENOMEM : -EAGAIN;

	if (ret == -EAGAIN && plan->heal_ns != 0 && rest_ns > REST_NS &&
	    strncmp(job->shape, "not at rest", 11) == 0) {
		ret = shrink_within(job, plan, REST_NS);
		plan->limit_ns = plan->heal_ns + rest_ns;
		if (stop_asked() == 0 &&
		    (ret != 0 || !fails(job, plan, &sent))) {
			setup_close(s);
			ret = judge_read(s, fabric, faults) == 0 ? -EAGAIN
								 : -ENOENT;
		}
	}
	free(fabric);
	free(faults);
	return ret == -EAGAIN ? shrink_within(job, plan, rest_ns) : ret;
}

static int
write_file(const char *dir, const char *name, const char *text)
{
	char path[4200];
	FILE *f;

	snprintf(path, sizeof(path), "%.4000s/%s", dir, name);
	f = text == NULL ? NULL : report_open(path);
	if (f != NULL) {
		fputs(text, f);
		if (report_close(f) == 0)
			return 0;
	}
	return say_error(-EIO, "reflit-sim: %s: %s\n", path,
			 strerror(text == NULL ? ENOMEM : errno));
}

static json_t *
size_json(const struct size *z)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "faults",
			 (json_int_t)z->faults, "switches",
			 (json_int_t)z->switches, "endpoints",
			 (json_int_t)z->endpoints, "links",
			 (json_int_t)z->links, "packets",
			 (json_int_t)z->packets, "end_ns",
			 (json_int_t)z->end_ns);
}

static void
print_size(const char *what, const struct size *z)
{
	printf("%-6s %6u %8u %9u %5u %7" PRIu64 " %9" PRIu64 "\n", what,
	       z->faults, z->switches, z->endpoints, z->links, z->packets,
	       z->end_ns);
}

static int
write_case(const struct job *job, const struct rl_swarm_plan *plan,
	   const struct judged *j, const struct size *was)
{
	const char *dir = job->o->out;
	const struct size left = size_of(plan, j->sent);
	char *fabric = rl_swarm_case_fabric(plan);
	char *faults = rl_swarm_case_faults(plan);
	char report[4200];
	int ret = write_file(dir, "fabric.cfg", fabric);

	if (ret == 0)
		ret = write_file(dir, "faults.flt", faults);
	free(fabric);
	free(faults);
	if (ret != 0)
		return EXIT_UNUSABLE;
	printf("broken: %s\nfingerprint: %s\n", j->why, j->shape);
	printf("       faults switches endpoints links packets    end ns\n");
	print_size("given", was);
	print_size("left", &left);
	printf("after %u runs; run it again with:\nreflit-sim --config "
	       "%s/fabric.cfg --faults %s/faults.flt\n", job->runs, dir, dir);
	snprintf(report, sizeof(report), "%.4000s/report.json", dir);
	return report_write(json_pack("{s:s, s:s, s:I, s:o, s:o}", "broken",
				      j->why, "fingerprint", j->shape, "runs",
				      (json_int_t)job->runs, "given",
				      size_json(was), "left",
				      size_json(&left)),
			    report) == 0 ? EXIT_KEPT : EXIT_UNUSABLE;
}

/*
 * Makes the folder, and looks whether the files may be written: none is one that
 * was read. @return 0; -errno, after printing why
 */
static int
check_out(const struct options *o)
{
	static const char *const name[] = { "fabric.cfg", "faults.flt",
					    "report.json" };
	const char *const in[] = { o->config, o->faults };
	char path[4200];
	const char *const to = path;
	int ret = 0;

	(void)mkdir(o->out, 0777); /* or it is there */
	for (size_t i = 0; i < RL_ARRAY_SIZE(name) && ret == 0; i++) {
		snprintf(path, sizeof(path), "%.4000s/%s", o->out, name[i]);
		ret = report_check("reflit-sim", path);
		if (ret == 0)
			ret = report_apart("reflit-sim", &to, 1, in, 2);
	}
	return ret;
}

/* @p first: the verdict over the plan as it was given. */
static int
shrink_plan(struct job *job, struct setup *s, const struct judged *first)
{
	const uint64_t most = job->o->runs != 0 ? job->o->runs : RUNS_DEFAULT;
	const struct size was = size_of(&s->plan, first->sent);
	struct judged j;
	int ret;

	if (check_out(job->o) != 0)
		return EXIT_UNUSABLE;
	job->shape = first->shape;
	progress_begin(&job->far, "runs", most, job->o->progress);
	ret = search(job, s);
	progress_end(&job->far);
	if (ret == -ENOENT && stop_asked() != 0)
		return unusable("stopped before the run had failed as files");
	if (ret == -ENOENT)
		return say_error(EXIT_UNUSABLE, "reflit-sim: shrink: it fails "
				 "(%s), but not as a fabric file and a fault "
				 "file: those leave something out that it "
				 "needs\n", first->why);
	if (ret == 0)
		ret = judge_files(&s->plan, &j);
	if (ret != 0)
		return unusable(strerror(-ret));
	if (j.ok || strcmp(j.shape, job->shape) != 0)
		return unusable("the smaller run does not fail in the same way "
				"each time");
	return write_case(job, &s->plan, &j, &was);
}

static int
judge_and_shrink(const struct options *o, struct setup *s)
{
	struct job job = { .o = o };
	struct judged first;
	const int ret = judge_plan(&s->plan, &first);

	if (ret != 0)
		return unusable(strerror(-ret));
	if (first.ok)
		return unusable("the run keeps every promise, so there is "
				"nothing to shrink");
	return shrink_plan(&job, s, &first);
}

/* Which run it is: of files, of a seed over a fabric, or of a seed alone. */
static int
open_plan(struct setup *s, struct options *o)
{
	char err[RL_ERR_MAX];
	int ret;

	if (o->nwords == 2) {
		o->config = o->words[0];
		o->faults = o->words[1];
	}
	if (o->config == NULL) {
		memset(s, 0, sizeof(*s));
		ret = rl_swarm_plan_draw(&s->plan, o->seed, err);
		if (ret == 0)
			ret = rl_swarm_plan_widen(&s->plan, o->seed, &o->wide);
		return ret == 0 ? EXIT_KEPT : unusable(strerror(-ret));
	}
	ret = setup_open(s, o);
	if (ret != EXIT_KEPT)
		return ret;
	if (!s->run || s->plan.limit_ns == 0)
		s->plan.limit_ns = o->drain_ns;
	if (s->run)
		return ret;
	if (o->nwords == 0 && campaign_seed(&s->plan, o, o->seed) != 0)
		return unusable(strerror(ENOMEM));
	return EXIT_KEPT;
}

int
shrink(int argc, char **argv)
{
	static struct setup s; /* large */
	struct options o;
	int ret = options_parse(argc, argv, 2, &o);

	if (ret >= 0)
		return ret;
	if (o.out == NULL)
		return unusable("where to? Give --out DIR");
	if (o.nwords == 1)
		return unusable("give a fabric file and a fault file, or "
				"--seed N");
	if (o.pcap != NULL || o.pairs != NULL || o.replay != NULL)
		return unusable("not of captures, pairs and recordings");
	if (o.json != NULL || o.seeds != 0 || o.shards > 1 || o.store != NULL)
		return unusable("--json, --seeds, --shard and --store go with a "
				"campaign");
	if (options_check(&o, OF_SHRINK) != 0)
		return EXIT_UNUSABLE;
	ret = open_plan(&s, &o);
	if (ret != EXIT_KEPT)
		return ret;
	stop_catch(STOP_AGAIN_KILLS);
	ret = judge_and_shrink(&o, &s);
	setup_close(&s);
	return ret;
}
