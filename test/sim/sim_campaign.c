/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The campaign: many seeds, each a fabric of its own with faults of its own,
 * and the promises of the protocol checked in all of them. A failure prints
 * the seed and the command that replays it.
 *
 *   sim-campaign --seeds 1000000 --jobs 2     the long campaign
 *   sim-campaign --first 4711 --seeds 1 -v    one seed, with its plan
 *   sim-campaign --plant NO_ANSWER            passes only if the bug is found
 */

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rl_plant.h"
#include "sim_show.h"

#ifdef RL_PLANT_AT_RUN_TIME
unsigned int rl_plant;
#endif

struct options {
	const char *self;
	uint64_t first;
	uint64_t seeds;
	unsigned int jobs;
	unsigned int verbose;
	bool keep_going;
	const char *plant;
	struct rl_swarm_shares wide;
	const char *wide_text; /* NULL: the plain swarm */
};

/* For the handler of signals: which seed was at work. */
static volatile uint64_t seed_now;
static const struct options *opts;

static const char *const plants[] = {
	"NONE",
#define PLANT_NAME(name, what) #name,
	RL_PLANT_LIST(PLANT_NAME)
#undef PLANT_NAME
};

static void
print_replay(const struct options *o, uint64_t seed)
{
	printf("replay with: %s --first %llu --seeds 1 -v%s%s%s%s\n", o->self,
	       (unsigned long long)seed, o->wide_text == NULL ? "" : " --wide ",
	       o->wide_text == NULL ? "" : o->wide_text,
	       o->plant == NULL ? "" : " --plant ",
	       o->plant == NULL ? "" : o->plant);
}

/* An assertion failed: that is a finding like any other. */
static void
on_trap(int sig)
{
	fflush(stdout);
	printf("seed %llu: broken invariant (signal %d)\n",
	       (unsigned long long)seed_now, sig);
	print_replay(opts, seed_now);
	fflush(stdout);
	_exit(opts->plant != NULL ? 0 : 1);
}

/* @return 0, 1 where a promise was broken, 2 where it could not be run */
static int
run_seed(const struct options *o, uint64_t seed, struct rl_sim_mem *mem,
	 struct rl_swarm_verdict *v)
{
	struct rl_swarm_plan plan;
	struct rl_role_sink sink;
	char err[RL_ERR_MAX];
	int ret;

	seed_now = seed;
	ret = rl_swarm_plan_draw(&plan, seed, err);
	if (ret == 0 && rl_swarm_plan_widen(&plan, seed, &o->wide) != 0)
		return 2;
	if (ret != 0) {
		printf("seed %llu: no plan: %s\n", (unsigned long long)seed,
		       err);
		return 2;
	}
	if (o->verbose != 0)
		sim_show_plan(&plan);
	if (o->verbose > 1)
		sim_show_follow(&plan, &sink);
	ret = rl_swarm_plan_run(&plan, mem, v);
	if (ret == 0 && v->ok && o->verbose != 0)
		printf("seed %llu: ok, %llu packets, %llu flit-hops, %u "
		       "failovers, at rest at %llu ns, hash %016llx\n",
		       (unsigned long long)seed,
		       (unsigned long long)v->load.sent,
		       (unsigned long long)v->sim.flits, v->failovers,
		       (unsigned long long)v->end_ns,
		       (unsigned long long)v->hash);
	if (ret != 0 || !v->ok) {
		char text[512];

		printf("seed %llu: %s\n  %s\n", (unsigned long long)seed,
		       v->why, sim_show_plan_text(&plan, text, sizeof(text)));
		print_replay(o, seed);
		fflush(stdout);
	}
	rl_swarm_plan_free(&plan);
	return ret != 0 ? 2 : !v->ok;
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Sums of a campaign. */
struct tally {
	uint64_t packets;
	uint64_t flits;
	uint64_t failovers;
	uint64_t failed;
};

/* Seeds of job @p job; all jobs together do them all. */
static int
run_job(const struct options *o, unsigned int job, struct tally *t)
{
	const double start = seconds();
	const bool tty = isatty(STDERR_FILENO);
	double told = start;
	struct rl_sim_mem mem;
	struct rl_swarm_verdict v;

	if (rl_sim_mem_init(&mem) != 0)
		return 2;
	for (uint64_t i = job; i < o->seeds; i += o->jobs) {
		const int ret = run_seed(o, o->first + i, &mem, &v);
		const double now = seconds();

		t->packets += v.load.sent;
		t->flits += v.sim.flits;
		t->failovers += v.failovers;
		t->failed += ret != 0;
		if (job == 0 && now - told > (tty ? 1 : 60)) {
			told = now;
			fprintf(stderr, "%s%llu of %llu seeds, %.0f a second, "
				"%llu failed%s", tty ? "\r" : "",
				(unsigned long long)(i + o->jobs),
				(unsigned long long)o->seeds,
				(double)(i + o->jobs) / (now - start),
				(unsigned long long)t->failed,
				tty ? "  " : "\n");
		}
		if (ret != 0 && !o->keep_going)
			break;
	}
	if (job == 0 && tty)
		fputc('\n', stderr);
	rl_sim_mem_free(&mem);
	return t->failed != 0;
}

static void
print_tally(const struct options *o, const struct tally *t, double took_s)
{
	printf("%llu seeds from %llu: %llu packets, %llu flit-hops, %llu "
	       "failovers in %.1f s; %llu seeds failed\n",
	       (unsigned long long)o->seeds, (unsigned long long)o->first,
	       (unsigned long long)t->packets, (unsigned long long)t->flits,
	       (unsigned long long)t->failovers, took_s,
	       (unsigned long long)t->failed);
}

/* Several processes, each with its share of the seeds. */
static int
run_jobs(const struct options *o)
{
	struct tally sum = { 0 }, t;
	const double start = seconds();
	int fd[2], status, ret = 0;

	if (pipe(fd) != 0)
		return 2;
	for (unsigned int job = 0; job < o->jobs; job++) {
		const pid_t pid = fork();

		if (pid < 0)
			return 2;
		if (pid != 0)
			continue;
		memset(&t, 0, sizeof(t));
		ret = run_job(o, job, &t);
		if (write(fd[1], &t, sizeof(t)) != sizeof(t))
			ret = 2;
		fflush(stdout);
		_exit(ret);
	}
	close(fd[1]);
	while (read(fd[0], &t, sizeof(t)) == sizeof(t)) {
		sum.packets += t.packets;
		sum.flits += t.flits;
		sum.failovers += t.failovers;
		sum.failed += t.failed;
	}
	while (wait(&status) > 0)
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			ret = 1;
	print_tally(o, &sum, seconds() - start);
	return ret;
}

static int
set_plant(const char *name)
{
#ifdef RL_PLANT_AT_RUN_TIME
	for (unsigned int i = 1; i < RL_ARRAY_SIZE(plants); i++)
		if (strcmp(plants[i], name) == 0) {
			rl_plant = i;
			return 0;
		}
#endif
	(void)plants;
	fprintf(stderr, "no planted bug %s in this build\n", name);
	return -EINVAL;
}

static int
usage(FILE *to, int status)
{
	fputs("usage: sim-campaign [options]\n"
	      "  --first SEED   first seed (1)\n"
	      "  --seeds N      how many (10000)\n"
	      "  --jobs N       processes that share them (1)\n"
	      "  --keep-going   after a failure, too\n"
	      "  --wide DIM[=PERCENT],...  or all: the wide swarm (25 %)\n"
	      "  --plant NAME   plant a bug; passes only if it is found\n"
	      "  -v             print each plan and what came of it\n"
	      "  -v -v          print events and counters, too\n",
	      to);
	return status;
}

static int
parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "first", required_argument, NULL, 'f' },
		{ "seeds", required_argument, NULL, 'n' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "keep-going", no_argument, NULL, 'k' },
		{ "plant", required_argument, NULL, 'p' },
		{ "wide", required_argument, NULL, 'w' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	*o = (struct options){
		.self = argv[0], .first = 1, .seeds = 10000, .jobs = 1,
	};
	while ((c = getopt_long(argc, argv, "v", longs, NULL)) != -1) {
		switch (c) {
		case 'f':
			o->first = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			o->seeds = strtoull(optarg, NULL, 0);
			break;
		case 'j':
			o->jobs = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		case 'k':
			o->keep_going = true;
			break;
		case 'p':
			o->plant = optarg;
			break;
		case 'w':
			o->wide_text = optarg;
			if (rl_swarm_wide_parse(optarg, &o->wide) != 0) {
				fprintf(stderr, "--wide %s: no such dimension "
					"or share\n", optarg);
				return -EINVAL;
			}
			break;
		case 'v':
			o->verbose++;
			break;
		case 'h':
			exit(usage(stdout, 0));
		default:
			return -EINVAL;
		}
	}
	return optind != argc || o->seeds == 0 || o->jobs == 0 ? -EINVAL : 0;
}

int
main(int argc, char **argv)
{
	struct options o;
	struct tally t = { 0 };
	double start;
	int ret;

	if (parse(argc, argv, &o) != 0)
		return usage(stderr, 2);
	if (o.plant != NULL && set_plant(o.plant) != 0)
		return 2;
	opts = &o;
	signal(SIGILL, on_trap);
	signal(SIGTRAP, on_trap);
	signal(SIGABRT, on_trap);
	signal(SIGSEGV, on_trap);
	if (o.jobs > 1)
		return run_jobs(&o);
	start = seconds();
	ret = run_job(&o, 0, &t);
	print_tally(&o, &t, seconds() - start);
	if (o.plant == NULL || ret == 2)
		return ret;
	printf("planted bug %s: %s\n", o.plant,
	       ret == 1 ? "found" : "NOT found");
	return ret == 0;
}
