/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `recovery`: links are cut and switches crash for good, under load, and
 * the controller recovers, all of it in virtual time; but computing and proving
 * take the CPU time that they are measured to take, and the fabric waits for
 * them that long. From the failure on: when the last port has found it out, when the
 * first flit of the last one goes another way, when all devices have proven
 * tables. And who was held meanwhile, and for how long.
 *
 * Each repetition draws other places. A run in which a promise is broken ends
 * the suite.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "rl_sim_plan.h"
#include "stop_signal.h"

#define FAULT_NS (200 * RL_NS_PER_US)
#define LIMIT_NS (3 * RL_NS_PER_S)
#define CHANNEL_NS (10 * RL_NS_PER_US)
#define FAULT_TEXT 4096
#define FAULTS_MAX 64

struct recovery_case {
	const char *fabric; /* its name here */
	const char *text;   /* libconfig */
	uint32_t links;	    /* that are cut, and switches that crash */
	uint32_t switches;
	double load;
	uint64_t traffic_ns; /* from the failure on */
};

/* What is measured of a run. X(name in JSON). */
#define SPANS(X)                                                               \
	X(detect_ns)                                                           \
	X(rerouted_ns)                                                         \
	X(compute_ns)                                                          \
	X(prove_ns)                                                            \
	X(in_place_ns)                                                         \
	X(paused_ns)                                                           \
	X(held_flows)                                                          \
	X(ahead_flits)                                                         \
	X(outage_ns)

enum span {
#define SPAN_ENUM(name) SPAN_##name,
	SPANS(SPAN_ENUM)
#undef SPAN_ENUM
	SPAN_COUNT
};

static const char *const span_name[] = {
#define SPAN_NAME(name) [SPAN_##name] = #name,
	SPANS(SPAN_NAME)
#undef SPAN_NAME
};

struct recovery_run {
	const struct recovery_case *c;
	struct rl_sim_plan plan;
	struct rl_sim_verdict v;
	double span[SPAN_COUNT];
	uint32_t recoveries;
	uint32_t timeouts;
	enum rl_resil_mode mode; /* the strongest that was needed */
	bool in_place;
};

static uint64_t
cpu_clock(void *ctx)
{
	(void)ctx;
	return bench_cpu_ns();
}

static void
most(double *to, uint64_t ns)
{
	if ((double)ns > *to)
		*to = (double)ns;
}

/* Flits that came to their endpoints before their turn, and waited there. */
static uint64_t
out_of_turn(struct rl_sim *sim)
{
	const struct rl_fabric *f = rl_sim_fabric(sim);
	uint64_t n = 0;

	for (uint32_t d = 0; d < f->ndev; d++)
		if (f->dev[d].core.ep != NULL)
			n += rl_ep_counters(f->dev[d].core.ep)[RL_EPC_rx_ahead];
	return n;
}

/* Sees the fabric when all is at rest, before it goes. */
static void
inspect(void *ctx, struct rl_sim *sim)
{
	struct recovery_run *r = ctx;
	uint32_t n, nrec;
	const struct rl_failover *f = rl_sim_failovers(sim, &n);
	const struct rl_recovery *rec = rl_sim_recoveries(sim, &nrec);

	r->span[SPAN_ahead_flits] = (double)out_of_turn(sim);
	for (uint32_t i = 0; i < n; i++) {
		most(&r->span[SPAN_detect_ns], f[i].dead_ns - FAULT_NS);
		if (f[i].rerouted_ns != RL_NEVER)
			most(&r->span[SPAN_rerouted_ns],
			     f[i].rerouted_ns - FAULT_NS);
	}
	for (uint32_t i = 0; i < nrec; i++) {
		r->span[SPAN_compute_ns] += (double)rec[i].compute_ns;
		r->span[SPAN_prove_ns] += (double)rec[i].prove_ns;
		r->span[SPAN_paused_ns] += (double)rec[i].paused_ns;
		most(&r->span[SPAN_held_flows], rec[i].held_flows);
		r->timeouts += rec[i].outcome == RL_OUTCOME_TIMEOUT;
		if (rec[i].outcome != RL_OUTCOME_DONE)
			continue;
		r->mode = rl_max_u32(r->mode, rec[i].mode);
		r->in_place = true;
		most(&r->span[SPAN_in_place_ns],
		     rec[i].end_ns - rec[i].unquiesce_ns - FAULT_NS);
	}
	r->recoveries = nrec;
}

static bool
between_switches(const struct rl_topo *t, uint32_t link)
{
	return t->dev[t->link[link].dev[0]].kind == RL_DEV_SWITCH &&
	       t->dev[t->link[link].dev[1]].kind == RL_DEV_SWITCH;
}

static bool
drawn(const uint32_t v[], uint32_t n, uint32_t what)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i] == what)
			return true;
	return false;
}

/* Places of failures as lines of a fault file; no link of a dead switch. */
static void
draw_faults(const struct recovery_case *c, const struct rl_topo *t,
	    uint64_t seed, char text[FAULT_TEXT])
{
	char name[2 * RL_NAME_MAX + 8];
	uint32_t dev[FAULTS_MAX], link[FAULTS_MAX], ndev = 0, nlink = 0;
	struct rl_prng prng;
	size_t at = 0;

	rl_prng_seed(&prng, seed ^ 0x4ec0743f);
	while (ndev < c->switches) {
		const uint32_t d = rl_prng_below(&prng, t->ndev);

		if (t->dev[d].kind != RL_DEV_SWITCH || drawn(dev, ndev, d))
			continue;
		dev[ndev++] = d;
		at += (size_t)snprintf(text + at, FAULT_TEXT - at,
				       "200us crash %s\n", t->dev[d].name);
	}
	while (nlink < c->links) {
		const uint32_t l = rl_prng_below(&prng, t->nlink);

		if (!between_switches(t, l) || drawn(link, nlink, l) ||
		    drawn(dev, ndev, t->link[l].dev[0]) ||
		    drawn(dev, ndev, t->link[l].dev[1]))
			continue;
		link[nlink++] = l;
		at += (size_t)snprintf(text + at, FAULT_TEXT - at,
				       "200us cut %s\n",
				       rl_topo_link_name(t, l, name,
							 sizeof(name)));
	}
}

static int
plan_faults(struct recovery_run *r, uint64_t seed)
{
	char text[FAULT_TEXT] = "", err[RL_ERR_MAX + 512];
	struct rl_sim_plan *p = &r->plan;
	int ret;

	draw_faults(r->c, &p->cfg.topo, seed, text);
	ret = rl_sim_faults_text("drawn", text, strlen(text), &p->cfg.topo,
				 &p->faults, err, sizeof(err));
	for (uint32_t i = 0; ret == 0 && i < p->faults.n; i++)
		p->faults.f[i].lasting = true;
	return ret;
}

static int
plan_open(struct recovery_run *r, enum rl_resil_mode mode, uint64_t seed)
{
	const struct recovery_case *c = r->c;
	struct rl_sim_plan *p = &r->plan;
	char err[RL_ERR_MAX + 512];
	int ret;

	ret = rl_config_read_text(c->fabric, c->text, strlen(c->text), &p->cfg,
				  err, sizeof(err));
	if (ret == 0)
		ret = rl_route_setup(&p->cfg.topo, p->cfg.engine,
				     rl_min_u32(p->cfg.vls, p->cfg.link.vcs),
				     rl_config_levels(&p->cfg), &p->route,
				     err);
	if (ret != 0) {
		fprintf(stderr, "reflit-bench: %s\n", err);
		return ret == -ENOMEM ? ret : -EINVAL;
	}
	p->cfg.controller.mode = mode;
	rl_sim_wire_defaults(&p->wire);
	p->seed = seed;
	p->poll_ns = 500; /* what a round of an lcore takes, about */
	p->notice_ns = 1000;
	p->controller = mode != RL_RESIL_OFF;
	p->resil = (struct rl_sim_resil_cfg){
		.delay_ns = CHANNEL_NS,
		.compute_ns = RL_NEVER,
		.clock = cpu_clock,
	};
	p->load = (struct rl_sim_load_cfg){
		.pattern = { .kind = RL_PATTERN_UNIFORM },
		.load = c->load,
		.slot_ps = p->wire.flit_ps,
		.min_flits = 1,
		.max_flits = rl_min_u32(8, p->cfg.link.max_packet_flits),
		.cos = 1,
		.stop_ns = FAULT_NS + c->traffic_ns,
		.seed = seed,
		.nep = (uint16_t)p->cfg.topo.nep,
	};
	p->heal_ns = p->load.stop_ns;
	p->limit_ns = p->heal_ns + LIMIT_NS;
	/* what was under way to a switch that crashes is reported */
	p->reports_ok = c->switches != 0 || mode == RL_RESIL_OFF;
	p->inspect = inspect;
	p->inspect_ctx = r;
	return plan_faults(r, seed);
}

static void
plan_close(struct recovery_run *r)
{
	rl_route_free(r->plan.route);
	rl_sim_faults_free(&r->plan.faults);
	rl_config_free(&r->plan.cfg);
}

/* @return 0; -EBADMSG: a promise was broken, and is named */
static int
run_once(struct recovery_run *r, enum rl_resil_mode mode,
	 struct rl_sim_mem *mem, uint64_t seed)
{
	int ret = plan_open(r, mode, seed);

	if (ret == 0)
		ret = rl_sim_plan_run(&r->plan, mem, &r->v);
	if (ret == 0 && !r->v.ok) {
		fprintf(stderr, "reflit-bench: %s, seed %llu: %s\n",
			r->c->fabric, (unsigned long long)seed, r->v.why);
		ret = -EBADMSG;
	}
	r->span[SPAN_outage_ns] = (double)r->v.load.outage_ns;
	return ret;
}

/* Of all repetitions of a case. */
struct recovery_sum {
	double *v[SPAN_COUNT];
	unsigned int n;
	unsigned int in_place;
	uint32_t recoveries, timeouts;
	uint64_t sent, delivered, reported, died, refused;
	enum rl_resil_mode mode;
	uint32_t flows;
};

static void
sum_add(struct recovery_sum *s, const struct recovery_run *r)
{
	const struct rl_sim_load_stats *l = &r->v.load;
	const uint32_t nep = r->plan.cfg.topo.nep;

	for (unsigned int i = 0; i < SPAN_COUNT; i++)
		s->v[i][s->n] = r->span[i];
	s->n++;
	s->in_place += r->in_place;
	s->recoveries += r->recoveries;
	s->timeouts += r->timeouts;
	s->sent += l->sent;
	s->delivered += l->delivered;
	s->reported += l->reported;
	s->died += l->died;
	s->refused += l->refused;
	s->mode = rl_max_u32(s->mode, r->mode);
	s->flows = nep * (nep - 1);
}

static json_t *
sum_json(struct recovery_sum *s, const struct recovery_case *c,
	 enum rl_resil_mode mode)
{
	json_t *o = json_pack(
		"{s:s,s:i,s:i,s:s,s:s,s:i,s:i,s:i,s:i,s:i,s:I,s:I,s:I,s:I,s:I}",
		"fabric", c->fabric, "links", (int)c->links, "switches",
		(int)c->switches, "mode", rl_resil_mode_name(mode), "needed",
		s->recoveries == 0 ? "none" : rl_resil_mode_name(s->mode),
		"runs", (int)s->n, "in_place", (int)s->in_place, "recoveries",
		(int)s->recoveries, "timeouts", (int)s->timeouts, "flows",
		(int)s->flows, "sent_packets", (json_int_t)s->sent,
		"delivered_packets", (json_int_t)s->delivered,
		"reported_packets", (json_int_t)s->reported, "died_packets",
		(json_int_t)s->died, "refused_packets",
		(json_int_t)s->refused);

	for (unsigned int i = 0; i < SPAN_COUNT; i++) {
		bench_sort(s->v[i], s->n);
		json_object_set_new(o, span_name[i], json_pack(
			"{s:f,s:f}", "p50", bench_quantile(s->v[i], s->n, 0.5),
			"max", bench_quantile(s->v[i], s->n, 1.0)));
	}
	return o;
}

static void
sum_print(const struct recovery_sum *s, const struct recovery_case *c,
	  enum rl_resil_mode mode, FILE *human)
{
	fprintf(human, "  %-9s %3u %3u  %-7s %-7s", c->fabric, c->links,
		c->switches, rl_resil_mode_name(mode),
		s->recoveries == 0 ? "none" : rl_resil_mode_name(s->mode));
	for (unsigned int i = 0; i < SPAN_COUNT; i++) {
		const double v = bench_quantile(s->v[i], s->n, 0.5);
		const double max = bench_quantile(s->v[i], s->n, 1.0);

		if (i == SPAN_ahead_flits)
			fprintf(human, " %9.0f %9.0f", v, max);
		else if (i == SPAN_held_flows)
			fprintf(human, " %7.0f %6.2f%%", max,
				100 * max / (double)s->flows);
		else
			fprintf(human, " %9.1f %9.1f", v / 1e3, max / 1e3);
	}
	fprintf(human, " %8llu %6llu\n",
		(unsigned long long)(s->sent - s->delivered),
		(unsigned long long)(s->reported + s->died));
	fflush(human);
}

static void
heading(FILE *human)
{
	fprintf(human,
		"recovery: permanent failures, in virtual time, with measured "
		"times for computing and\nproving. Medians and "
		"maxima in us after the failure; most flows held,\n"
		"of all; packets not delivered, and of these reported or lost "
		"with a device\n"
		"  %-9s %3s %3s  %-7s %-7s %19s %19s %19s %19s %19s %19s %15s "
		"%19s %19s %8s %6s\n",
		"torus", "lnk", "sw", "mode", "needed", "detected", "rerouted",
		"computing", "proving", "in place", "paused", "held",
		"out of turn", "longest outage", "missing", "told");
}

static int
run_case(const struct bench_opts *o, const struct recovery_case *c,
	 enum rl_resil_mode mode, json_t *cases, FILE *human)
{
	struct recovery_run *r = malloc(sizeof(*r));
	struct recovery_sum s = { .mode = RL_RESIL_AUTO };
	struct rl_sim_mem mem;
	int ret = 0;

	if (r == NULL || rl_sim_mem_init(&mem) != 0) {
		free(r);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < SPAN_COUNT; i++) {
		s.v[i] = calloc(o->reps, sizeof(double));
		if (s.v[i] == NULL)
			ret = -ENOMEM;
	}
	for (unsigned int i = 0; i < o->reps && ret == 0 && stop_asked() == 0;
	     i++) {
		memset(r, 0, sizeof(*r));
		r->c = c;
		ret = run_once(r, mode, &mem, o->seed + i);
		if (ret == 0)
			sum_add(&s, r);
		plan_close(r);
	}
	if (s.n != 0) {
		json_array_append_new(cases, sum_json(&s, c, mode));
		sum_print(&s, c, mode, human);
	}
	for (unsigned int i = 0; i < SPAN_COUNT; i++)
		free(s.v[i]);
	rl_sim_mem_free(&mem);
	free(r);
	return ret;
}

/* Whether a row is asked for. */
static bool
asked(const struct bench_opts *o, const struct recovery_case *c,
      enum rl_resil_mode mode)
{
	char name[64];

	snprintf(name, sizeof(name), "%s %u/%u %s", c->fabric, c->links,
		 c->switches, rl_resil_mode_name(mode));
	return o->row == NULL || strstr(name, o->row) != NULL;
}

#define SMALL "4x4", "fabric: { topology = \"torus\"; dims = [4, 4]; };\n"
#define LARGE                                                                  \
	"10x10x10",                                                            \
	"fabric: { topology = \"torus\"; dims = [10, 10, 10]; };\n"            \
	"link: { window_flits = 128; credits_flits = 64; "                     \
	"queue_flits = 64; };\n"

int
bench_recovery(const struct bench_opts *o, json_t *out, FILE *human)
{
	static const struct recovery_case cases[] = {
		{ SMALL, 1, 0, 0.05, 2 * RL_NS_PER_MS },
		{ SMALL, 0, 1, 0.05, 2 * RL_NS_PER_MS },
		{ SMALL, 4, 1, 0.05, 2 * RL_NS_PER_MS },
		{ LARGE, 1, 0, 0.0001, 5 * RL_NS_PER_MS },
		{ LARGE, 0, 1, 0.0001, 5 * RL_NS_PER_MS },
		{ LARGE, 20, 5, 0.0001, 5 * RL_NS_PER_MS },
	};
	/* rows: each failure as it comes, and the same one way after the other */
	static const struct {
		uint8_t first, n; /* cases */
		enum rl_resil_mode mode;
	} rows[] = {
		{ 0, 3, RL_RESIL_AUTO },   { 0, 1, RL_RESIL_LIVE },
		{ 0, 3, RL_RESIL_PARTIAL }, { 0, 3, RL_RESIL_TOKENS },
		{ 0, 1, RL_RESIL_FULL },   { 0, 1, RL_RESIL_OFF },
		{ 3, 3, RL_RESIL_AUTO },   { 3, 3, RL_RESIL_TOKENS },
	};
	static const struct recovery_case quick = {
		SMALL, 1, 0, 0.02, 300 * RL_NS_PER_US,
	};
	json_t *runs = json_array();
	int ret = 0;

	heading(human);
	json_object_set_new(out, "cases", runs);
	if (o->quick)
		return run_case(o, &quick, RL_RESIL_AUTO, runs, human);
	for (size_t i = 0; i < RL_ARRAY_SIZE(rows); i++)
		for (unsigned int k = 0; k < rows[i].n && ret == 0 &&
					 stop_asked() == 0; k++)
			if (asked(o, &cases[rows[i].first + k], rows[i].mode))
				ret = run_case(o, &cases[rows[i].first + k],
					       rows[i].mode, runs, human);
	if (ret == 0 && json_array_size(runs) == 0 && stop_asked() == 0) {
		fprintf(stderr, "reflit-bench: --row: no row holds '%s'\n",
			o->row);
		return -EINVAL;
	}
	return ret;
}
