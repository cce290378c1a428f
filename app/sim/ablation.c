/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ablation [EVAL-2]: the same fabric, traffic and cuts, with all settings
 * of loopback and end-to-end retry. Each case that the DRL patent argues is a
 * row: no loopback, only unacknowledged flits, whole packets. Or the same with
 * the duplicate filter of switches [DRL-5] and without. If a link dies with its
 * last acknowledgments under way, its near end loops out packets that its far end
 * has. The filter drops the second copy at the first switch that knows it;
 * otherwise the destination does. It may save the rest of the path.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report_file.h"
#include "say_error.h"
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
	bool filter; /* switches drop duplicates [DRL-5] */
	struct outcome out;
};

#define ROWS_MAX 12

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

static const char *
switching_word(enum rl_switching s)
{
	return s == RL_CUT_THROUGH ? "cut-through" : "store-and-forward";
}

/* The same cuts for every row: a link between switches, at any moment. */
static int
draw_cuts(struct rl_swarm_plan *plan, const struct options *o)
{
	const struct rl_topo *topo = &plan->cfg.topo;
	struct rl_prng prng;
	uint32_t isl = 0;

	for (uint32_t l = 0; l < topo->nlink; l++)
		isl += topo->link[l].kind == RL_LINK_ISL;
	if (isl == 0)
		return say_error(-EINVAL, "reflit-sim: ablation: no link "
				 "between switches to cut\n");
	rl_prng_seed(&prng, o->seed ^ 0xab1a);
	for (uint64_t i = 0; i < o->cuts; i++) {
		uint32_t nth = rl_prng_below(&prng, isl), l = 0;
		struct rl_fault f = {
			.kind = RL_FAULT_CUT, .dirs = RL_FAULT_DIR_BOTH,
			.t_ns = (i + 1) * CUT_PERIOD_NS +
				rl_prng_below(&prng, CUT_PERIOD_NS / 4),
		}, ill;

		while (topo->link[l].kind != RL_LINK_ISL || nth-- != 0)
			l++;
		f.link = l;
		ill = f;
		ill.kind = RL_FAULT_NOISE;
		ill.t_ns -= ILL_NS;
		ill.noise.loss_ppb = ILL_LOSS_PPB;
		if (rl_sim_fault_add(&plan->faults, &ill) != 0 ||
		    rl_sim_fault_add(&plan->faults, &f) != 0)
			return -ENOMEM;
		f.kind = RL_FAULT_HEAL;
		f.t_ns += 500 + rl_prng_below(&prng, CUT_PERIOD_NS / 4);
		if (rl_sim_fault_add(&plan->faults, &f) != 0)
			return -ENOMEM;
	}
	return 0;
}

enum figure {
	SENT, DELIVERED, LOST, DUPLICATED, REORDERED, REPORTED, RESENT, LOOPED,
	BY_SWITCHES, BY_ENDPOINTS, HOPS, P50, P99, P999, MAX, OUTAGE, FIGURES
};

/* Columns as printed and as CSV, NULL: not there, of each of both tables. */
static const struct column {
	const char *head[2];
	const char *csv[2];
	int width;
} columns[FIGURES] = {
	[SENT] = { { "sent", "sent" }, { "sent", "sent" }, 8 },
	[DELIVERED] = { { NULL }, { "delivered", "delivered" }, 8 },
	[LOST] = { { "lost", "lost" }, { "lost", "lost" }, 7 },
	[DUPLICATED] = { { "dup" }, { "duplicated" }, 6 },
	[REORDERED] = { { "reord" }, { "reordered" }, 6 },
	[REPORTED] = { { "report" }, { "reported" }, 6 },
	[RESENT] = { { "resent" }, { NULL }, 8 },
	[LOOPED] = { { NULL, "looped" }, { NULL, "looped_flits" }, 8 },
	[BY_SWITCHES] = { { NULL, "switches" },
			  { NULL, "dropped_by_switches_packets" }, 9 },
	[BY_ENDPOINTS] = { { NULL, "endpoints" },
			   { NULL, "dropped_by_endpoints_flits" }, 9 },
	[HOPS] = { { NULL, "flit-hops" }, { NULL, "flit_hops" }, 10 },
	[P50] = { { "p50", "p50" }, { "p50_ns" }, 7 },
	[P99] = { { "p99" }, { "p99_ns" }, 7 },
	[P999] = { { "p99.9", "p99.9" }, { "p999_ns", "p999_ns" }, 8 },
	[MAX] = { { "max" }, { "max_ns" }, 8 },
	[OUTAGE] = { { "outage" }, { "outage_ns" }, 8 },
};

static void
figures_of(const struct outcome *out, uint64_t v[FIGURES])
{
	const struct rl_sim_load_stats *l = &out->v.load;
	const struct rl_hist *h = &l->latency;
	const uint64_t all[FIGURES] = {
		[SENT] = l->sent,
		[DELIVERED] = l->delivered,
		[LOST] = l->lost,
		[DUPLICATED] = l->duplicated,
		[REORDERED] = l->reordered,
		[REPORTED] = rl_sim_load_given_up(l),
		[RESENT] = out->counters.port[RL_PC_tx_replay_flits],
		[LOOPED] = out->counters.port[RL_PC_looped_flits],
		[BY_SWITCHES] = out->counters.core[RL_CC_drop_duplicate],
		[BY_ENDPOINTS] = out->counters.ep[RL_EPC_rx_duplicate],
		[HOPS] = out->v.sim.flits,
		[P50] = rl_hist_quantile(h, 50000),
		[P99] = rl_hist_quantile(h, 99000),
		[P999] = rl_hist_quantile(h, 99900),
		[MAX] = h->max,
		[OUTAGE] = l->outage_ns,
	};

	memcpy(v, all, sizeof(all));
}

static void
print_head(bool dup)
{
	printf(dup ? "%-17s %-4s %-6s" : "%-17s %-13s %-5s", "switching",
	       dup ? "e2e" : "loopback", dup ? "filter" : "e2e");
	for (size_t c = 0; c < FIGURES; c++)
		if (columns[c].head[dup] != NULL)
			printf(" %*s", columns[c].width, columns[c].head[dup]);
	printf("\n");
}

/* How a row's settings are called; the table of the filter has no loopback. */
static const char *
word(const struct row *r, bool dup, unsigned int i)
{
	const bool on = i == 1 || !dup ? r->retry : r->filter;

	return !dup && i == 1 ? loopback_word(r->loopback) : on ? "on" : "off";
}

static void
print_row(const struct row *r, bool dup)
{
	uint64_t v[FIGURES];

	figures_of(&r->out, v);
	printf(dup ? "%-17s %-4s %-6s" : "%-17s %-13s %-5s",
	       switching_word(r->switching), word(r, dup, 1), word(r, dup, 2));
	for (size_t c = 0; c < FIGURES; c++)
		if (columns[c].head[dup] != NULL)
			printf(" %*" PRIu64, columns[c].width, v[c]);
	printf("%s\n", dup && !outcome_kept(&r->out)  ? "  broken"
		       : !dup && !r->out.at_rest ? "  not at rest"
						 : "");
	fflush(stdout);
}

static int
write_csv(const char *path, bool dup, const struct row *row, unsigned int n)
{
	FILE *f = report_open(path);

	if (f == NULL)
		return say_error(-EIO, "reflit-sim: %s: %s\n", path,
				 strerror(errno));
	fputs(dup ? "switching,e2e_retry,dup_filter"
		  : "switching,loopback,e2e_retry", f);
	for (size_t c = 0; c < FIGURES; c++)
		if (columns[c].csv[dup] != NULL)
			fprintf(f, ",%s", columns[c].csv[dup]);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t v[FIGURES];

		figures_of(&row[i].out, v);
		fprintf(f, "\n%s,%s,%s", switching_word(row[i].switching),
			word(&row[i], dup, 1), word(&row[i], dup, 2));
		for (size_t c = 0; c < FIGURES; c++)
			if (columns[c].csv[dup] != NULL)
				fprintf(f, ",%" PRIu64, v[c]);
	}
	fputs("\n", f);
	if (report_close(f) == 0)
		return 0;
	return say_error(-EIO, "reflit-sim: cannot write %s\n", path);
}

static int
write_json(const struct setup *s, const struct options *o, struct row *row,
	   unsigned int n)
{
	json_t *rows = json_array();

	for (unsigned int i = 0; i < n; i++) {
		struct row *r = &row[i];
		json_t *root = report_json(s, o, &r->out);

		json_object_set_new(root, "switching",
				    json_string(switching_word(r->switching)));
		json_object_set_new(root, "e2e_retry", json_boolean(r->retry));
		if (o->dup_filter)
			json_object_set_new(root, "dup_filter",
					    json_boolean(r->filter));
		else
			json_object_set_new(
				root, "loopback",
				json_string(loopback_word(r->loopback)));
		json_array_append_new(rows, root);
	}
	return report_write(json_pack("{s:I, s:I, s:o}", "cuts",
				      (json_int_t)o->cuts, "seed",
				      (json_int_t)o->seed, "rows", rows),
			    o->json);
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

/* @return how many rows: of loopback policies, or of the duplicate filter */
static unsigned int
fill_rows(const struct setup *s, bool dup, struct row *row)
{
	static const enum rl_loopback loops[] = { RL_LOOPBACK_NONE,
						  RL_LOOPBACK_UNACKED,
						  RL_LOOPBACK_WHOLE };
	const unsigned int kinds = dup ? 2 : RL_ARRAY_SIZE(loops);

	for (unsigned int i = 0; i < 4 * kinds; i++)
		row[i] = (struct row){
			.switching = (enum rl_switching)(i / (2 * kinds)),
			.retry = i / kinds % 2,
			.loopback = dup ? s->plan.cfg.link.loopback
					: loops[i % kinds],
			.filter = dup ? i % 2 : s->plan.cfg.link.dup_filter,
		};
	return 4 * kinds;
}

static int
run_rows(struct setup *s, const struct options *o, struct row *row,
	 unsigned int n, unsigned int *done)
{
	struct rl_sim_mem mem;
	int ret = rl_sim_mem_init(&mem);

	print_head(o->dup_filter);
	for (unsigned int i = 0; ret == 0 && i < n && stop_asked() == 0; i++) {
		s->plan.cfg.link.switching = row[i].switching;
		s->plan.cfg.link.loopback = row[i].loopback;
		s->plan.cfg.link.dup_filter = row[i].filter;
		rl_ep_cfg_set_retry(&s->plan.cfg.endpoint, row[i].retry);
		ret = run_once(s, o, &mem, o->json != NULL, &row[i].out);
		if (ret != 0 || row[i].out.interrupted)
			break;
		print_row(&row[i], o->dup_filter);
		++*done;
	}
	rl_sim_mem_free(&mem);
	return ret;
}

static int
ablation_run(struct setup *s, const struct options *o)
{
	struct row row[ROWS_MAX];
	const unsigned int n = fill_rows(s, o->dup_filter, row);
	unsigned int done = 0;
	bool kept = true;
	int ret = run_rows(s, o, row, n, &done);

	if (done < n)
		fprintf(stderr, "reflit-sim: ended after %u of %u rows\n", done,
			n);
	if (ret == 0 && o->csv != NULL)
		ret = write_csv(o->csv, o->dup_filter, row, done);
	if (ret == 0 && o->json != NULL)
		ret = write_json(s, o, row, done);
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
	int ret = options_parse(argc, argv, 0, &o);

	if (ret >= 0)
		return ret;
	if (o.seeds != 0 || o.shards > 1)
		return say_error(EXIT_UNUSABLE, "reflit-sim: the ablation has "
				 "one seed for all of its rows: give it as "
				 "--seed\n");
	if (options_check(&o, OF_ABLATION) != 0)
		return EXIT_UNUSABLE;
	if (o.cuts != 0 && o.faults != NULL)
		return say_error(EXIT_UNUSABLE, "reflit-sim: --faults says "
				 "what fails: leave --cuts out\n");
	if (o.cuts == 0)
		o.cuts = CUTS;
	if (o.max_flits == 0) {
		o.min_flits = 1;
		o.max_flits = 16;
	}
	if (o.duration_ns == 0)
		o.duration_ns = (o.cuts + 2) * CUT_PERIOD_NS;
	if (o.faults != NULL) /* none is drawn */
		o.cuts = 0;
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
		ret = ablation_run(&s, &o);
	setup_close(&s);
	return ret;
}
