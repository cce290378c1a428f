/* SPDX-License-Identifier: BSD-3-Clause */

/* reflit-sim: from the command line to the exit status. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report_file.h"
#include "say_error.h"
#include "sim_app.h"
#include "stop_signal.h"
#include "tally.h"

#ifdef RL_SIM_RXL
#include "rl_rxl_app.h"
#endif

static int
run(struct setup *s, const struct options *o)
{
	struct rl_sim_mem mem;
	struct outcome out = { 0 };
	int ret = rl_sim_mem_init(&mem);

	if (ret == 0)
		ret = run_once(s, o, &mem, o->json != NULL, &out);
	if (ret != 0) {
		fprintf(stderr, "reflit-sim: %s\n",
			out.v.why[0] != '\0' ? out.v.why : strerror(-ret));
	} else {
		report_print(s, &out);
		shares_print(s, &out);
		if (o->json != NULL)
			ret = report_write(report_json(s, o, &out), o->json);
	}
	outcome_free(&out);
	rl_sim_mem_free(&mem);
	if (ret != 0 || out.trace_torn)
		return EXIT_UNUSABLE;
	return outcome_kept(&out) ? EXIT_KEPT : EXIT_BROKEN;
}

static int
judge_case(const struct setup *s, const struct options *o)
{
	const struct tally_of of = { s->plan.seed, 1, 0 };
	struct outcome out = { 0 };
	struct rl_sim_mem mem;
	struct tally t;
	int ret = rl_sim_mem_init(&mem);

	tally_init(&t, &of);
	t.oversize = s->oversize;
	if (ret == 0)
		ret = run_case(s, o, &mem, &out);
	if (ret != 0) {
		fprintf(stderr, "reflit-sim: %s\n", strerror(-ret));
		ret = EXIT_UNUSABLE;
	} else {
		tally_add(&t, s->plan.seed, &out.v);
		if (!out.v.ok)
			printf("broken: %s\n", out.v.why);
		ret = tally_end(&t, o->json);
		if (out.trace_torn)
			ret = EXIT_UNUSABLE;
	}
	outcome_free(&out);
	tally_free(&t);
	rl_sim_mem_free(&mem);
	return ret;
}

/* What is asked for in a word of its own, which comes first. */
static const struct {
	const char *word;
	int (*run)(int argc, char **argv); /* argv[0]: the word */
} command[] = {
	{ "ablation", ablation },	{ "campaign", campaign_store },
	{ "shrink", shrink },		{ "merge", merge },
#ifdef RL_SIM_RXL
	{ "rxl", rl_rxl_main },		{ "scenario", rl_scenario_main },
	{ "rxl-points", rl_rxl_points_main },
#endif
};

static int
print_version(void)
{
	printf("reflit-sim %s\n", RL_VERSION);
	return EXIT_KEPT;
}

static int
run_command(size_t i, int argc, char **argv)
{
	for (int k = 1; k < argc; k++)
		if (strcmp(argv[k], "--version") == 0)
			return print_version();
	return command[i].run(argc, argv);
}

static int
simulate(int argc, char **argv)
{
	struct options o;
	struct setup s;
	int ret;

	for (size_t i = 0; argc > 1 && i < RL_ARRAY_SIZE(command); i++)
		if (strcmp(argv[1], command[i].word) == 0)
			return run_command(i, argc - 1, argv + 1);
	ret = options_parse(argc, argv, 0, &o);
	if (ret >= 0)
		return ret;
	if (o.version)
		return print_version();
	if (options_check(&o, o.replay != NULL ? OF_REPLAY
			      : o.seeds != 0   ? OF_SEEDS
					       : OF_RUN) != 0)
		return EXIT_UNUSABLE;
	if (o.replay != NULL)
		return replay_run(&o);
	ret = setup_open(&s, &o);
	if (ret != EXIT_KEPT)
		return ret;
	if (o.nwhat_ifs != 0 && policy_set(o.what_if[0], &s.plan.cfg) != 0) {
		setup_close(&s);
		return EXIT_UNUSABLE;
	}
	stop_catch(STOP_AGAIN_KILLS);
	if (s.run && s.plan.limit_ns != 0)
		o.drain_ns = s.plan.limit_ns;
	ret = o.seeds != 0	      ? campaign(&s, &o)
	      : s.plan.heal_ns != 0 ? judge_case(&s, &o)
				    : run(&s, &o);
	setup_close(&s);
	return ret;
}

int
main(int argc, char **argv)
{
	int ret;

	report_begin("reflit-sim", argc, argv);
	ret = simulate(argc, argv);
	if (report_flush("reflit-sim") != 0 && ret == EXIT_KEPT)
		ret = EXIT_UNUSABLE;
	return ret;
}
