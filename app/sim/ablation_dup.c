/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The duplicate filter of switches [DRL-5]: the same fabric, traffic and cuts
 * with it and without. If a link dies with its last acknowledgments under way,
 * its near end loops out packets that its far end has. The filter drops the
 * second copy at the first switch that knows it; otherwise the destination
 * drops it. Nothing is lost or delivered twice either way; the filter may save
 * the rest of the path.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report_file.h"
#include "sim_app.h"
#include "stop_signal.h"

struct row {
	enum rl_switching switching;
	bool retry;
	bool filter;
	struct outcome out;
};

#define ROWS 8

static uint64_t
looped_flits(const struct outcome *out)
{
	return out->counters.port[RL_PC_looped_flits];
}

static void
print_head(void)
{
	printf("%-17s %-4s %-6s %8s %5s %8s %9s %9s %10s %7s %7s\n",
	       "switching", "e2e", "filter", "sent", "lost", "looped",
	       "switches", "endpoints", "flit-hops", "p50", "p99.9");
}

static void
print_row(const struct row *r)
{
	const struct rl_sim_load_stats *l = &r->out.v.load;

	printf("%-17s %-4s %-6s %8" PRIu64 " %5" PRIu64 " %8" PRIu64
	       " %9" PRIu64 " %9" PRIu64 " %10" PRIu64 " %7" PRIu64
	       " %7" PRIu64 "%s\n",
	       switching_word(r->switching), r->retry ? "on" : "off",
	       r->filter ? "on" : "off", l->sent, l->lost,
	       looped_flits(&r->out),
	       r->out.counters.core[RL_CC_drop_duplicate],
	       r->out.counters.ep[RL_EPC_rx_duplicate],
	       r->out.v.sim.flits, rl_hist_quantile(&l->latency, 50000),
	       rl_hist_quantile(&l->latency, 99900),
	       outcome_kept(&r->out) ? "" : "  broken");
}

static void
csv_row(FILE *to, const struct row *r)
{
	const struct rl_sim_load_stats *l = &r->out.v.load;

	fprintf(to, "%s,%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
		",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
		switching_word(r->switching), r->retry ? "on" : "off",
		r->filter ? "on" : "off", l->sent, l->delivered, l->lost,
		looped_flits(&r->out),
		r->out.counters.core[RL_CC_drop_duplicate],
		r->out.counters.ep[RL_EPC_rx_duplicate], r->out.v.sim.flits,
		rl_hist_quantile(&l->latency, 99900));
}

static int
write_csv(const char *path, const struct row *row, unsigned int n)
{
	FILE *f = report_open(path);

	if (f == NULL) {
		fprintf(stderr, "reflit-sim: %s: %s\n", path, strerror(errno));
		return -EIO;
	}
	fputs("switching,e2e_retry,dup_filter,sent,delivered,lost,looped_flits,"
	      "dropped_by_switches_packets,dropped_by_endpoints_flits,"
	      "flit_hops,p999_ns\n", f);
	for (unsigned int i = 0; i < n; i++)
		csv_row(f, &row[i]);
	return report_close(f);
}

static int
write_json(const struct setup *s, const struct options *o, struct row *row,
	   unsigned int n)
{
	json_t *rows = json_array();

	for (unsigned int i = 0; i < n; i++) {
		json_t *root = report_json(s, o, &row[i].out);

		json_object_set_new(root, "switching",
				    json_string(switching_word(
					    row[i].switching)));
		json_object_set_new(root, "e2e_retry",
				    json_boolean(row[i].retry));
		json_object_set_new(root, "dup_filter",
				    json_boolean(row[i].filter));
		json_array_append_new(rows, root);
	}
	return report_write(json_pack("{s:I, s:I, s:o}", "cuts",
				      (json_int_t)o->cuts, "seed",
				      (json_int_t)o->seed, "rows", rows),
			    o->json);
}

/* Fewer rows than all if the run was stopped. */
static int
run_rows(struct setup *s, const struct options *o, struct row *row,
	 unsigned int *done)
{
	struct rl_sim_mem mem;
	int ret = rl_sim_mem_init(&mem);

	print_head();
	for (unsigned int i = 0; ret == 0 && i < ROWS && stop_asked() == 0;
	     i++) {
		row[i].switching = (enum rl_switching)(i / 4);
		row[i].retry = i / 2 % 2;
		row[i].filter = i % 2;
		s->plan.cfg.link.switching = row[i].switching;
		s->plan.cfg.endpoint.retry = row[i].retry;
		s->plan.cfg.link.dup_filter = row[i].filter;
		ret = run_once(s, o, &mem, o->json != NULL, &row[i].out);
		if (ret != 0 || row[i].out.interrupted)
			break;
		print_row(&row[i]);
		++*done;
		fflush(stdout);
	}
	rl_sim_mem_free(&mem);
	return ret;
}

int
ablation_dup(struct setup *s, const struct options *o)
{
	struct row row[ROWS] = { 0 };
	bool kept = true;
	unsigned int n = 0;
	int ret = run_rows(s, o, row, &n);

	if (n < ROWS)
		fprintf(stderr, "reflit-sim: ended after %u of %u rows\n", n,
			ROWS);
	if (ret == 0 && o->csv != NULL)
		ret = write_csv(o->csv, row, n);
	if (ret == 0 && o->json != NULL)
		ret = write_json(s, o, row, n);
	for (unsigned int i = 0; i < ROWS; i++) {
		kept &= i >= n || outcome_kept(&row[i].out);
		outcome_free(&row[i].out);
	}
	if (ret != 0)
		return EXIT_UNUSABLE;
	return kept ? EXIT_KEPT : EXIT_BROKEN;
}
