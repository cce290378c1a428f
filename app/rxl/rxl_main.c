/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "options.h"
#include "point.h"
#include "report_file.h"
#include "rl_rxl_app.h"
#include "stop_signal.h"

/** A run, from the options to the last file. */
struct session {
	struct rxl_options opt;
	struct rxl_plan plan;
	struct rxl_store store;
	struct rxl_eval eval;
	json_t *tables;
	double t0;
};

static double
now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** A figure wants its report; without a selection all is wanted. */
static void
settle_selection(struct rxl_options *o)
{
	for (int f = 0; f < RXL_FIGURES; f++) {
		if (!o->selected && !o->point)
			o->figure[f] = true;
		for (int r = 0; r < RXL_REPORTS; r++)
			if (o->figure[f] &&
			    strcmp(rxl_figures[f].report,
				   rxl_reports[r].name) == 0)
				o->table[r] = true;
	}
	for (int r = 0; r < RXL_REPORTS && !o->selected && !o->point; r++)
		o->table[r] = true;
}

static void
make_plan(struct session *s)
{
	struct rxl_plan_opts po = {
		.quick = s->opt.quick,
		.seed = s->opt.c.seed,
		.crc = s->opt.c.crc,
		.isn = s->opt.c.isn,
		.long_flits = s->opt.long_flits,
	};

	for (int r = 0; r < RXL_REPORTS; r++)
		if (s->opt.table[r])
			po.groups |= rxl_reports[r].groups;
	if (s->opt.point)
		rxl_point_plan(&s->plan, &s->opt.c);
	rxl_plan_make(&s->plan, &po);
}

static int
fail(const char *what, const char *path, int err)
{
	fprintf(stderr, "reflit-sim rxl: %s %s: %s\n", what, path,
		strerror(err < 0 ? -err : err));
	return 2;
}

static int
simulate(struct session *s)
{
	char path[1024], build[20];
	int ret;

	if (s->plan.n == 0)
		return 0;
	if (mkdir(s->opt.out, 0777) != 0 && errno != EEXIST)
		return fail("cannot make the folder", s->opt.out, errno);
	snprintf(path, sizeof(path), "%s/state.jsonl", s->opt.out);
	rxl_store_build(build);
	ret = rxl_store_open(&s->store, path, build, s->opt.fresh);
	if (ret != 0)
		return fail("cannot use", path, ret);
	if (s->store.foreign != 0 && !s->opt.quiet)
		fprintf(stderr, "%s: %zu results of other builds are left "
			"aside\n", path, s->store.foreign);
	ret = rxl_run(&s->plan, &s->store, s->opt.jobs, !s->opt.quiet);
	if (ret == -EINTR) {
		fprintf(stderr, "reflit-sim rxl: %s keeps them: the same "
			"command goes on from there\n", path);
		return 1;
	}
	return ret == 0 ? 0 : fail("simulation stopped,", path, ret);
}

static int
one_table(struct session *s, void (*make)(struct rxl_eval *, struct rxl_table *))
{
	struct rxl_table t;
	char path[1024];
	int ret = 0;

	make(&s->eval, &t);
	rxl_table_print(&t, stdout);
	json_object_set_new(s->tables, t.name, rxl_table_json(&t));
	if (s->plan.n > 0) {
		snprintf(path, sizeof(path), "%s/%s.csv", s->opt.out, t.name);
		ret = rxl_table_csv(&t, path);
		if (ret != 0)
			ret = fail("cannot write", path, ret);
	}
	rxl_table_free(&t);
	return ret;
}

static int
report(struct session *s)
{
	int ret = 0;

	if (s->opt.point)
		ret = one_table(s, rxl_report_point);
	for (int r = 0; r < RXL_REPORTS && ret == 0; r++)
		if (s->opt.table[r])
			ret = one_table(s, rxl_reports[r].make);
	return ret;
}

static int
draw(const struct session *s)
{
	int drawn = 0;

	for (int f = 0; f < RXL_FIGURES; f++) {
		int ret;

		if (!s->opt.figure[f] || !s->opt.plots)
			continue;
		ret = rxl_figure_draw(rxl_figures[f].name, NULL,
				      s->opt.out);
		if (ret == 1) {
			printf("\ngnuplot is not installed: the pictures are "
			       "left out, their scripts are in %s\n",
			       s->opt.out);
			return 0;
		}
		if (ret != 0)
			return fail("cannot draw", rxl_figures[f].name, ret);
		drawn++;
	}
	if (drawn > 0)
		printf("\n%d pictures, as SVG, PNG and PDF, in %s\n", drawn,
		       s->opt.out);
	return 0;
}

static int
write_json(const struct session *s)
{
	json_t *o;
	int ret;

	if (s->opt.json == NULL)
		return 0;
	o = json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:f, s:O}", "what",
		      "evaluation of the RXL paper", "quick", s->opt.quick,
		      "compared", (json_int_t)s->eval.compared,
		      "within_interval", (json_int_t)s->eval.held,
		      "cannot_miss", (json_int_t)s->eval.sure,
		      "promises_broken", (json_int_t)s->eval.broken, "wall_s",
		      now_s() - s->t0, "tables", s->tables);
	ret = report_save("reflit-sim rxl", o, s->opt.json);
	json_decref(o);
	return ret == 0 ? 0 : 2;
}

static void
summarise(const struct session *s)
{
	if (s->eval.compared > 0)
		printf("\n%" PRIu64 " of %" PRIu64 " computed values lie in "
		       "the 95 %% interval of the measured one; %" PRIu64
		       " of them\ncannot miss (computed 0, nothing counted): "
		       "of the other %" PRIu64 ", %" PRIu64 " miss\n",
		       s->eval.held, s->eval.compared, s->eval.sure,
		       s->eval.compared - s->eval.sure,
		       s->eval.compared - s->eval.held);
	if (s->plan.n > 0)
		printf("%s; %.0f s\n",
		       s->eval.broken == 0
			       ? "no order failure and no undetected corruption "
				 "in a profile that promises so"
			       : "PROMISES WERE BROKEN",
		       now_s() - s->t0);
}

int
rl_rxl_main(int argc, char **argv)
{
	struct session s = { .t0 = now_s() };
	int ret;

	switch (rxl_options_parse(&s.opt, argc, argv)) {
	case RXL_HELPED:
		return 0;
	case RXL_UNUSABLE:
		return 2;
	case RXL_RUN:
		break;
	}
	if (report_check("reflit-sim rxl", s.opt.json) != 0 ||
	    report_claim_stdout("reflit-sim rxl", &s.opt.json, 1) != 0)
		return 2;
	stop_catch(STOP_AGAIN_KILLS);
	settle_selection(&s.opt);
	make_plan(&s);
	ret = simulate(&s);
	s.eval.plan = &s.plan;
	s.eval.store = &s.store;
	s.eval.scratch = malloc(RL_RXL_FEC_SCRATCH * sizeof(double));
	rl_rxl_inputs_paper(&s.eval.paper);
	s.tables = json_object();
	if (ret == 0 && s.eval.scratch == NULL)
		ret = fail("no memory for", "the report", ENOMEM);
	if (ret == 0)
		ret = report(&s);
	if (ret == 0)
		ret = draw(&s);
	if (ret == 0)
		ret = write_json(&s);
	if (ret == 0) {
		summarise(&s);
		ret = s.eval.broken == 0 ? 0 : 1;
	}
	json_decref(s.tables);
	free(s.eval.scratch);
	rxl_store_close(&s.store);
	rxl_plan_free(&s.plan);
	return ret;
}
