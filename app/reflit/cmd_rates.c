/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tables by link: load and errors of each direction. The rows that matter come
 * first. Only the first rows of many are shown, unless all are asked for.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "parse.h"

#define ROWS_SHOWN 20

/* A direction of a link, and its sort key. */
struct row {
	uint32_t dir; /* 2 * link + the end that frames leave */
	double key;
	bool show;
};

static int
by_key(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return x->dir < y->dir ? -1 : 1;
}

/* The link a table is about, or the first of several; NULL, "all": all. */
static int
choose(struct app *app, const char *name, uint32_t *first)
{
	*first = 0;
	return name == NULL || strcmp(name, "all") == 0
		       ? 0
		       : command_find_link(app, name, first, NULL);
}

static void
row_begin(struct app *app, uint32_t dir)
{
	const struct rl_topo *t = &app->cfg.topo;

	facts_row(&app->facts, "{link:-20} {from:-10}",
		  FACTS(FACT_T("link", APP_LINK(app, dir / 2)),
			FACT_T("from",
			       t->dev[t->link[dir / 2].dev[dir % 2]].name)));
}

/* The word for a link that carries no traffic; "" if it does. */
static const char *
state_word(const struct app *app, uint32_t dir)
{
	const struct rl_topo_link *l = &app->cfg.topo.link[dir / 2];
	const char *s = app_port_state(app, l->dev[dir % 2], l->port[dir % 2]);

	return strcmp(s, rl_link_state_name(RL_LINK_UP)) == 0 ? "" : s;
}

#define RATE_FACTS(r)                                                          \
	FACT_R("frames_per_s", (r)->frames), FACT_R("flits_per_s", (r)->flits), \
	FACT_R("mbit_per_s", (r)->bytes * 8 / 1e6),                            \
	FACT_R("replayed_flits_per_s", (r)->replayed_flits)
#define RATE_FORM                                                              \
	" {frames_per_s:12.0} {flits_per_s:12.0} {mbit_per_s:11.3} "           \
	"{replayed_flits_per_s:12.0}"

static void
print_rates(struct app *app, const struct rate *rate, const struct row *row,
	    uint32_t n, uint32_t most)
{
	uint32_t shown = 0, busy = 0;

	if (facts_text(&app->facts))
		printf("%-20s %-10s %12s %12s %11s %12s\n", "link", "from",
		       "frames/s", "flits/s", "Mbit/s", "replayed/s");
	facts_list(&app->facts, "rates");
	for (uint32_t i = 0; i < n; i++) {
		const struct rate *r = &rate[row[i].dir];

		if (!row[i].show)
			continue;
		busy += row[i].key > 0.0;
		if (shown >= most)
			continue;
		shown++;
		row_begin(app, row[i].dir);
		facts_more(&app->facts, RATE_FORM "  {state}\n",
			   FACTS(RATE_FACTS(r),
				 FACT_T("state", state_word(app, row[i].dir))));
	}
	facts_set(&app->facts,
		  busy > shown ? "... and {left_out} more; show rates all\n"
			       : NULL,
		  FACTS(FACT_N("left_out", busy > shown ? busy - shown : 0)));
}

static void
print_sum(struct app *app, const struct rate *rate, uint32_t n, double s)
{
	struct rate sum = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		sum.frames += rate[i].frames;
		sum.flits += rate[i].flits;
		sum.bytes += rate[i].bytes;
		sum.replayed_flits += rate[i].replayed_flits;
	}
	facts_set(&app->facts,
		  "{all:-20} {none:-10}" RATE_FORM "  in {period_s:.3} s\n",
		  FACTS(FACT_S("all", "all links"), FACT_S("none", ""),
			RATE_FACTS(&sum), FACT_R("period_s", s)));
}

static int
rate_table(struct app *app, struct rates *since, const char *name)
{
	const uint32_t n = 2 * app->cfg.topo.nlink;
	struct rate *rate;
	struct row *row;
	uint32_t first;
	double s;

	if (choose(app, name, &first) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	rate = calloc(n + 1, sizeof(*rate));
	row = calloc(n + 1, sizeof(*row));
	s = rate == NULL || row == NULL ? -1.0
					: rates_take(since, &app->host,
						     app->start_ns, rate);
	for (uint32_t i = 0; i < n && s > 0.0; i++)
		row[i] = (struct row){
			.dir = i,
			.key = rate[i].flits + rate[i].replayed_flits,
			.show = command_link_meant(app, name, first, i / 2),
		};
	if (s > 0.0) {
		qsort(row, n, sizeof(*row), by_key);
		print_rates(app, rate, row, n,
			    name == NULL ? ROWS_SHOWN : UINT32_MAX);
		print_sum(app, rate, n, s);
	}
	free(rate);
	free(row);
	return s > 0.0 ? 0 : app_error(app, "out of memory");
}

int
cmd_show_rates(struct app *app, const char *const arg[])
{
	return rate_table(app, &app->rates, arg[0]);
}

void
rates_step(struct app *app, uint64_t now_ns)
{
	if (app->opt.stats_period_ns == 0 || now_ns < app->stats_due_ns)
		return;
	if (app->stats_due_ns != 0) {
		console_begin(&app->console);
		rate_table(app, &app->period_rates, NULL);
		console_end();
	}
	app->stats_due_ns = now_ns + app->opt.stats_period_ns;
}

#define ERRORS 8

/* Errors of one direction, seen by the port where it arrives. */
struct errors {
	uint64_t flits;
	uint64_t n[ERRORS];
};

/* In this order. Keys in JSON; limits are given by them. */
static const char *const error_name[ERRORS] = {
	"corrected", "bad", "headers", "gaps", "duplicates", "naks", "replays",
	"deaths"
};

static struct errors
errors_of(const struct app *app, uint32_t dir)
{
	const struct rl_topo_link *l = &app->cfg.topo.link[dir / 2];
	const uint32_t from = dir % 2, to = 1 - from;
	uint64_t rx[RL_PORT_COUNTER_COUNT], tx[RL_PORT_COUNTER_COUNT];

	tally_port(&app->cleared, &app->host, l->dev[to], l->port[to], rx);
	tally_port(&app->cleared, &app->host, l->dev[from], l->port[from], tx);
	return (struct errors){
		.flits = rx[RL_PC_rx_ok] + rx[RL_PC_rx_bad],
		.n = { rx[RL_PC_rx_corrected], rx[RL_PC_rx_bad],
		       rx[RL_PC_rx_check_error] + rx[RL_PC_rx_truncated] +
			       rx[RL_PC_rx_count_error] +
			       rx[RL_PC_rx_type_error] +
			       rx[RL_PC_rx_version_error],
		       rx[RL_PC_rx_missing_seq], rx[RL_PC_rx_duplicate_seq],
		       rx[RL_PC_tx_nak], tx[RL_PC_tx_replays],
		       tx[RL_PC_deaths] },
	};
}

static void
print_errors(struct app *app, uint32_t dir)
{
	const struct errors e = errors_of(app, dir);
	const double sum = (double)(e.n[0] + e.n[1]);

	row_begin(app, dir);
	facts_more(&app->facts,
		   " {corrected:9} {bad:9} {headers:7} {gaps:7} {duplicates:9} "
		   "{naks:7} {replays:7} {deaths:6} {errors_per_flit:9.1e}  "
		   "{state}\n",
		   FACTS(FACT_N(error_name[0], e.n[0]),
			 FACT_N(error_name[1], e.n[1]),
			 FACT_N(error_name[2], e.n[2]),
			 FACT_N(error_name[3], e.n[3]),
			 FACT_N(error_name[4], e.n[4]),
			 FACT_N(error_name[5], e.n[5]),
			 FACT_N(error_name[6], e.n[6]),
			 FACT_N(error_name[7], e.n[7]),
			 FACT_R("errors_per_flit",
				e.flits == 0 ? 0.0 : sum / (double)e.flits),
			 FACT_T("state", state_word(app, dir))));
}

/* 0: no count is over its limit. The worst has most. */
static double
badness(const struct app *app, uint32_t dir, const uint64_t limit[ERRORS])
{
	static const double weight[ERRORS] = { 1, 1e3, 1e3, 1, 1, 1, 1, 1e12 };
	const struct errors e = errors_of(app, dir);
	bool over = false;
	double sum = 0.0;

	for (unsigned int i = 0; i < ERRORS; i++) {
		over |= e.n[i] > limit[i];
		sum += (double)e.n[i] * weight[i];
	}
	return over ? sum : 0.0;
}

/* The table's end: what it leaves out, and since when is counted. */
static void
end_errors(struct app *app, uint32_t left_out, bool none, bool cut)
{
	if (none && facts_text(&app->facts))
		printf("no errors\n");
	facts_set(&app->facts,
		  cut ? "... and {left_out} more; show errors all\n" : NULL,
		  FACTS(FACT_N("left_out", left_out)));
	facts_set(&app->facts,
		  app->opt.counts != NULL ? "since {since_utc}\n" : NULL,
		  FACTS(FACT_T("since_utc", app->counts.since_utc)));
}

/* @p few: only those over a limit, and of them the first. */
static int
error_table(struct app *app, const char *name, bool few,
	    const uint64_t limit[ERRORS])
{
	const uint32_t n = 2 * app->cfg.topo.nlink;
	const uint32_t most = name == NULL ? ROWS_SHOWN : UINT32_MAX;
	uint32_t first, shown = 0, bad = 0;
	struct row *row;

	if (choose(app, name, &first) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	row = calloc(n + 1, sizeof(*row));
	if (row == NULL)
		return app_error(app, "out of memory");
	for (uint32_t i = 0; i < n; i++)
		row[i] = (struct row){ i, badness(app, i, limit),
				       command_link_meant(app, name, first,
							  i / 2) };
	qsort(row, n, sizeof(*row), by_key);
	if (facts_text(&app->facts))
		printf("%-20s %-10s %9s %9s %7s %7s %9s %7s %7s %6s %9s\n",
		       "link", "from", "corrected", "bad", "headers", "gaps",
		       "doubled", "NAKs", "replays", "deaths", "per flit");
	facts_list(&app->facts, "errors");
	for (uint32_t i = 0; i < n; i++) {
		bad += row[i].key > 0.0;
		if (!row[i].show || shown >= most ||
		    (few && row[i].key == 0.0))
			continue;
		shown++;
		print_errors(app, row[i].dir);
	}
	end_errors(app, bad > shown ? bad - shown : 0, bad == 0,
		   few && bad > shown);
	free(row);
	return 0;
}

int
cmd_show_errors(struct app *app, const char *const arg[])
{
	static const uint64_t none[ERRORS];

	return error_table(app, arg[0], arg[0] == NULL, none);
}

/* Which error has the @p len letters of a name; ERRORS: none. */
static unsigned int
find_error(const char *name, size_t len)
{
	unsigned int i = 0;

	while (i < ERRORS && (strlen(error_name[i]) != len ||
			      memcmp(name, error_name[i], len) != 0))
		i++;
	return i;
}

static int
bad_limit(struct app *app, const char *word)
{
	char names[ERRORS * 16] = "";
	size_t at = 0;

	for (unsigned int i = 0; i < ERRORS; i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s",
				       i == 0 ? "" : ", ", error_name[i]);
	return app_error(app, "bad limit '%s': write NAME=N; names: %s", word,
			 names);
}

/* "bad=0,corrected=1000": what is not named has no limit. */
static int
read_limits(struct app *app, const char *text, uint64_t limit[ERRORS])
{
	char buf[COMMAND_WORD], *at = buf, *one;

	memset(limit, 0xff, ERRORS * sizeof(*limit));
	snprintf(buf, sizeof(buf), "%s", text);
	while ((one = strsep(&at, ",")) != NULL) {
		const size_t len = strcspn(one, "=");
		const unsigned int i = find_error(one, len);

		if (i == ERRORS || one[len] != '=' ||
		    parse_number(one + len + 1, 0, INT64_MAX, &limit[i]) != 0)
			return bad_limit(app, one);
	}
	return 0;
}

int
cmd_show_errors_over(struct app *app, const char *const arg[])
{
	uint64_t limit[ERRORS];

	if (read_limits(app, arg[0], limit) != 0)
		return -EINVAL;
	return error_table(app, "all", true, limit);
}

int
cmd_clear_counters(struct app *app, RL_UNUSED const char *const arg[])
{
	if (tally_take(&app->cleared, &app->host) != 0)
		return app_error(app, "out of memory");
	return counts_clear(app) == 0
		       ? 0
		       : app_error(app, "counts begin again, but the file of "
					"--counts was not written");
}
