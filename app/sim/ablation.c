/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ablation [EVAL-2]: the same fabric, traffic and cuts, with all settings
 * of loopback and end-to-end retry. Each case that the DRL patent argues is a
 * row: no loopback, only unacknowledged flits, whole packets.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report_file.h"
#include "sim_app.h"
#include "stop_signal.h"

/* Timers of the simulation's nanosecond wires. */
#define FAST_TIMERS                                                            \
	"link: { max_packet_flits = 16; flits_per_frame = 5;\n"                \
	"  ack_coalesce_flits = 8; ack_delay_ns = 100;\n"                      \
	"  replay_timer_min_ns = 2000; replay_timer_max_ns = 20000;\n"         \
	"  init_interval_ns = 1000; keepalive_ns = 5000;\n"                    \
	"  keepalive_dead_ns = 50000; resume_delay_ns = 200;\n"                \
	"  restore_delay_ns = 1000; flap_damping_ns = 1000;\n"                 \
	"  flap_damping_max_ns = 1000; };\n"                                   \
	"endpoint: { ack_delay_ns = 1000; nak_delay_ns = 2000;\n"              \
	"  retry_timer_min_ns = 20000; gap_skip_ns = 20000; };\n"

/* Figure 1 of the patent. */
static const char figure1[] =
	"fabric: { topology = \"custom\";\n"
	"  switches = ( { name = \"s0\"; }, { name = \"s1\"; } );\n"
	"  endpoints = ( { name = \"e0\"; }, { name = \"e1\"; } );\n"
	"  links = ( { a = \"e0\"; b = \"s0\"; },\n"
	"            { a = \"s0\"; b = \"s1\"; count = 2; },\n"
	"            { a = \"s1\"; b = \"e1\"; } ); };\n" FAST_TIMERS;

/* One switch more: a duplicate may have one or two links to go. */
static const char chain[] =
	"fabric: { topology = \"custom\"; switches = ( { name = \"s0\"; },\n"
	"    { name = \"s1\"; }, { name = \"s2\"; } );\n"
	"  endpoints = ( { name = \"e0\"; }, { name = \"e1\"; } );\n"
	"  links = ( { a = \"e0\"; b = \"s0\"; },\n"
	"            { a = \"s0\"; b = \"s1\"; count = 2; },\n"
	"            { a = \"s1\"; b = \"s2\"; count = 2; },\n"
	"            { a = \"s2\"; b = \"e1\"; } ); };\n" FAST_TIMERS;

/* One cut every so often; each heals before the next. */
#define CUT_PERIOD_NS 25000
#define CUTS 200 /* unless told otherwise */
/*
 * A link that dies loses frames for a while before. So some packets are
 * acknowledged in part when it is cut, and only those tell "unacked-only" from
 * "whole-packets".
 */
#define ILL_NS 1000
#define ILL_LOSS_PPB 100000000

struct row {
	enum rl_switching switching;
	enum rl_loopback loopback;
	bool retry;
	struct outcome out;
};

static const char *
loopback_word(enum rl_loopback l)
{
	static const char *const words[] = {
		[RL_LOOPBACK_WHOLE] = "whole-packets",
		[RL_LOOPBACK_UNACKED] = "unacked-only",
		[RL_LOOPBACK_NONE] = "none",
	};

	return words[l];
}

const char *
switching_word(enum rl_switching s)
{
	return s == RL_CUT_THROUGH ? "cut-through" : "store-and-forward";
}

/* The same cuts for every row: a link between switches, at any moment. */
static int
draw_cuts(struct rl_sim_plan *plan, const struct options *o)
{
	const struct rl_topo *topo = &plan->cfg.topo;
	struct rl_prng prng;
	uint32_t isl = 0;

	for (uint32_t l = 0; l < topo->nlink; l++)
		isl += topo->link[l].kind == RL_LINK_ISL;
	if (isl == 0) {
		fprintf(stderr, "reflit-sim: ablation: no link between "
			"switches to cut\n");
		return -EINVAL;
	}
	rl_prng_seed(&prng, o->seed ^ 0xab1a);
	for (uint64_t i = 0; i < o->cuts; i++) {
		uint32_t nth = rl_prng_below(&prng, isl), l = 0;
		struct rl_sim_fault f = {
			.kind = RL_SIM_CUT, .dirs = RL_SIM_DIR_BOTH,
			.t_ns = (i + 1) * CUT_PERIOD_NS +
				rl_prng_below(&prng, CUT_PERIOD_NS / 4),
		}, ill;

		while (topo->link[l].kind != RL_LINK_ISL || nth-- != 0)
			l++;
		f.link = l;
		ill = f;
		ill.kind = RL_SIM_NOISE;
		ill.t_ns -= ILL_NS;
		ill.noise.loss_ppb = ILL_LOSS_PPB;
		if (rl_sim_fault_add(&plan->faults, &ill) != 0 ||
		    rl_sim_fault_add(&plan->faults, &f) != 0)
			return -ENOMEM;
		f.kind = RL_SIM_HEAL;
		f.t_ns += 500 + rl_prng_below(&prng, CUT_PERIOD_NS / 4);
		if (rl_sim_fault_add(&plan->faults, &f) != 0)
			return -ENOMEM;
	}
	return 0;
}

static void
print_head(FILE *to)
{
	fprintf(to, "%-17s %-13s %-5s %8s %7s %6s %6s %6s %8s %7s %7s %8s %8s "
		"%8s\n",
		"switching", "loopback", "e2e", "sent", "lost", "dup",
		"reord", "report", "resent", "p50", "p99", "p99.9", "max",
		"outage");
}

static void
print_row(FILE *to, const struct row *r)
{
	const struct rl_sim_load_stats *l = &r->out.v.load;

	fprintf(to, "%-17s %-13s %-5s %8" PRIu64 " %7" PRIu64 " %6" PRIu64
		" %6" PRIu64 " %6" PRIu64 " %8" PRIu64 " %7" PRIu64
		" %7" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "%s\n",
		switching_word(r->switching), loopback_word(r->loopback),
		r->retry ? "on" : "off", l->sent, l->lost, l->duplicated,
		l->reordered, l->reported - l->reported_delivered,
		r->out.counters.port[RL_PC_tx_replay_flits],
		rl_hist_quantile(&l->latency, 50000),
		rl_hist_quantile(&l->latency, 99000),
		rl_hist_quantile(&l->latency, 99900), l->latency.max,
		l->outage_ns, r->out.at_rest ? "" : "  not at rest");
}

static void
csv_row(FILE *to, const struct row *r)
{
	const struct rl_sim_load_stats *l = &r->out.v.load;

	fprintf(to, "%s,%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
		",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
		",%" PRIu64 ",%" PRIu64 "\n",
		switching_word(r->switching), loopback_word(r->loopback),
		r->retry ? "on" : "off", l->sent, l->delivered, l->lost,
		l->duplicated, l->reordered,
		l->reported - l->reported_delivered,
		rl_hist_quantile(&l->latency, 50000),
		rl_hist_quantile(&l->latency, 99000),
		rl_hist_quantile(&l->latency, 99900), l->latency.max,
		l->outage_ns);
}

static json_t *
row_json(const struct setup *s, const struct options *o, struct row *r)
{
	json_t *root = report_json(s, o, &r->out);

	json_object_set_new(root, "switching",
			    json_string(switching_word(r->switching)));
	json_object_set_new(root, "loopback",
			    json_string(loopback_word(r->loopback)));
	json_object_set_new(root, "e2e_retry", json_boolean(r->retry));
	return root;
}

static int
write_files(const struct setup *s, const struct options *o, struct row *row,
	    unsigned int n)
{
	int ret = 0;

	if (o->csv != NULL) {
		FILE *f = report_open(o->csv);

		if (f == NULL) {
			fprintf(stderr, "reflit-sim: %s: %s\n", o->csv,
				strerror(errno));
			return -EIO;
		}
		fputs("switching,loopback,e2e_retry,sent,delivered,lost,"
		      "duplicated,reordered,reported,p50_ns,p99_ns,p999_ns,"
		      "max_ns,outage_ns\n", f);
		for (unsigned int i = 0; i < n; i++)
			csv_row(f, &row[i]);
		if (report_close(f) != 0) {
			fprintf(stderr, "reflit-sim: cannot write %s\n",
				o->csv);
			return -EIO;
		}
	}
	if (o->json != NULL) {
		json_t *rows = json_array();

		for (unsigned int i = 0; i < n; i++)
			json_array_append_new(rows, row_json(s, o, &row[i]));
		ret = report_write(json_pack("{s:I, s:I, s:o}", "cuts",
					     (json_int_t)o->cuts, "seed",
					     (json_int_t)o->seed, "rows",
					     rows),
				   o->json);
	}
	return ret;
}

/* Whole packets keep every promise, and end-to-end retry mends the rest. */
static bool
row_kept(const struct row *r)
{
	if (!r->retry && r->loopback != RL_LOOPBACK_WHOLE)
		return r->out.at_rest && r->out.v.load.duplicated == 0 &&
		       r->out.v.load.corrupted == 0;
	return outcome_kept(&r->out);
}

/* Fewer rows than all if the run was stopped. */
static int
run_rows(struct setup *s, const struct options *o, struct row *row,
	 unsigned int n, unsigned int *done)
{
	struct rl_sim_mem mem;
	int ret = rl_sim_mem_init(&mem);

	print_head(stdout);
	for (unsigned int i = 0; ret == 0 && i < n && stop_asked() == 0; i++) {
		s->plan.cfg.link.switching = row[i].switching;
		s->plan.cfg.link.loopback = row[i].loopback;
		s->plan.cfg.endpoint.retry = row[i].retry;
		ret = run_once(s, o, &mem, o->json != NULL, &row[i].out);
		if (ret != 0 || row[i].out.interrupted)
			break;
		print_row(stdout, &row[i]);
		++*done;
		fflush(stdout);
	}
	rl_sim_mem_free(&mem);
	return ret;
}

static int
ablation_run(struct setup *s, const struct options *o)
{
	static const enum rl_loopback loops[] = { RL_LOOPBACK_NONE,
						  RL_LOOPBACK_UNACKED,
						  RL_LOOPBACK_WHOLE };
	struct row row[12] = { 0 };
	unsigned int n = 0, done = 0;
	bool kept = true;
	int ret;

	for (int sw = 0; sw < 2; sw++)
		for (int retry = 0; retry < 2; retry++)
			for (size_t l = 0; l < RL_ARRAY_SIZE(loops); l++)
				row[n++] = (struct row){
					.switching = (enum rl_switching)sw,
					.loopback = loops[l],
					.retry = retry,
				};
	ret = run_rows(s, o, row, n, &done);
	if (done < n)
		fprintf(stderr, "reflit-sim: ended after %u of %u rows\n", done,
			n);
	if (ret == 0)
		ret = write_files(s, o, row, done);
	for (unsigned int i = 0; i < n; i++) {
		kept &= i >= done || row_kept(&row[i]);
		outcome_free(&row[i].out);
	}
	if (ret != 0)
		return EXIT_UNUSABLE;
	return kept ? EXIT_KEPT : EXIT_BROKEN;
}

int
ablation(int argc, char **argv)
{
	struct options o;
	struct setup s;
	int ret;

	if (options_parse(argc, argv, 0, &o) != 0)
		return EXIT_UNUSABLE;
	if (o.help) {
		options_help();
		return EXIT_KEPT;
	}
	if (o.cuts == 0)
		o.cuts = CUTS;
	if (o.max_flits == 0) {
		o.min_flits = 1;
		o.max_flits = 16;
	}
	if (o.duration_ns == 0)
		o.duration_ns = (o.cuts + 2) * CUT_PERIOD_NS;
	if (o.seeds != 0 || o.shards > 1) {
		fprintf(stderr, "reflit-sim: the ablation has one seed for all "
			"of its rows: give it as --seed\n");
		return EXIT_UNUSABLE;
	}
	if (o.config != NULL)
		ret = setup_open(&s, &o);
	else if (o.dup_filter)
		ret = setup_open_text(&s, &o, "built-in chain", chain);
	else
		ret = setup_open_text(&s, &o, "built-in figure 1", figure1);
	if (ret != EXIT_KEPT)
		return ret;
	stop_catch(STOP_AGAIN_KILLS);
	if (o.faults == NULL && draw_cuts(&s.plan, &o) != 0)
		ret = EXIT_UNUSABLE;
	else
		ret = o.dup_filter ? ablation_dup(&s, &o)
				   : ablation_run(&s, &o);
	setup_close(&s);
	return ret;
}
