/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `sim`: how fast virtual time is. Whole fabrics with the full protocol
 * - link retry, credits, ISN, end-to-end windows - under load; flit-hops (a
 * flit that crosses a link) per second of CPU time of each thread, by as many as
 * make it faster on this machine, and in turn with these by one. What threads
 * wait for each other is in it; what the machine takes from them is not.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cpus.h"
#include "rl_config.h"
#include "rl_route.h"
#include "rl_sim.h"
#include "rl_sim_load.h"
#include "stop_signal.h"

struct sim_case {
	const char *name;
	const char *fabric; /* libconfig text; NULL: the name is a file's */
	enum rl_pattern_kind pattern;
	double load;
	uint64_t traffic_ns;
};

static const char torus_8x8[] =
	"fabric: { topology = \"torus\"; dims = [8, 8]; };\n"
	"routing: { engine = \"reflit\"; };\n";
static const char torus_10x10x10[] =
	"fabric: { topology = \"torus\"; dims = [10, 10, 10]; };\n"
	"routing: { engine = \"reflit\"; };\n"
	"link: { window_flits = 128; credits_flits = 64; queue_flits = 64; };\n";
static const char torus_10x10x10_hurt[] =
	"fabric: { topology = \"torus\"; dims = [10, 10, 10];\n"
	"  fail = [\"s0.0.0-s0.0.1\", \"s1.2.3-s1.2.4\", \"s4.4.4-s5.4.4\",\n"
	"          \"s9.9.9-s9.8.9\", \"s7.7.7-s7.7.8\", \"s2.8.5-s3.8.5\"]; };\n"
	"routing: { engine = \"reflit\"; };\n"
	"link: { window_flits = 128; credits_flits = 64; queue_flits = 64; };\n";

/* Runs until all is at rest. @return 0 or -ETIME */
static int
run_to_rest(struct rl_sim *sim, uint64_t traffic_ns)
{
	uint64_t t = traffic_ns;

	rl_sim_run(sim, t);
	while (!rl_sim_settled(sim, 0, NULL)) {
		t += 20 * RL_NS_PER_US;
		if (t > traffic_ns + 100 * RL_NS_PER_MS)
			return -ETIME;
		rl_sim_run(sim, t);
	}
	return 0;
}

static int
run_once(const struct sim_case *c, const struct rl_config *cfg,
	 const struct rl_route *route, struct rl_sim_mem *mem, uint64_t seed,
	 uint32_t threads, double *mhops, struct rl_sim_stats *stats)
{
	const struct rl_sim_load_cfg lc = {
		.pattern = { .kind = c->pattern, .hot_pct = 20 },
		.load = c->load,
		.slot_ps = 2000,
		.min_flits = 1,
		.max_flits = rl_min_u32(8, cfg->link.max_packet_flits),
		.cos = 1,
		.stop_ns = c->traffic_ns,
		.seed = seed,
		.nep = (uint16_t)cfg->topo.nep,
		.threads = threads,
	};
	struct rl_sim_load *load = rl_sim_load_new(&lc);
	struct rl_sim_params p = {
		.mem = mem,
		.cfg = cfg,
		.fwd = route->fwd,
		.isa = rl_codec_best_isa(512),
		.seed = seed,
		.turns = true, /* as where a device is on one lcore */
		.apart = true,
		.threads = threads,
		.notice_ns = RL_NEVER,
	};
	struct rl_sim_load_stats st;
	struct rl_sim *sim = NULL;
	char err[RL_ERR_MAX];
	uint64_t t0;
	int ret;

	if (load == NULL)
		return -ENOMEM;
	rl_sim_load_serve(load, &p);
	rl_sim_wire_defaults(&p.wire);
	ret = rl_sim_create(&p, &sim, err);
	if (ret == 0) {
		t0 = bench_process_ns();
		ret = run_to_rest(sim, c->traffic_ns);
		t0 = (bench_process_ns() - t0) / threads;
		rl_sim_stats(sim, stats);
		rl_sim_load_stats(load, &st);
		*mhops = (double)stats->flits / (double)t0 * 1e3;
		if (ret == 0 && (st.sent != st.delivered || st.reordered != 0 ||
				 st.duplicated != 0 || st.corrupted != 0))
			ret = -EBADMSG;
		if (rl_sim_destroy(sim, err) != 0 && ret == 0)
			ret = -EUCLEAN;
	}
	rl_sim_load_free(load);
	return ret;
}

/*
 * Reads a fabric and makes its tables; says what is wrong. @p text NULL: @p name
 * is a file. After an error there may be something to free.
 */
static int
open_fabric(const char *name, const char *text, struct rl_config *cfg,
	    struct rl_route **route)
{
	char err[RL_ERR_MAX + 512];
	int ret = text == NULL ? rl_config_read(name, cfg, err, sizeof(err))
			       : rl_config_read_text(name, text, strlen(text),
						     cfg, err, sizeof(err));

	if (ret == 0)
		ret = rl_route_setup(&cfg->topo, cfg->engine,
				     rl_min_u32(cfg->vls, cfg->link.vcs),
				     rl_config_levels(cfg), route, err);
	if (ret == -EHOSTUNREACH)
		printf("refused: %s\n", err);
	else if (ret != 0)
		fprintf(stderr, "reflit-bench: %s\n", err);
	return ret == 0 || ret == -EHOSTUNREACH || ret == -ENOMEM ? ret
								  : -EINVAL;
}

/*
 * Rates of a case: with one thread, and with as many as rl_sim_threads() says.
 */
struct rates {
	double *one;
	double *all;
	uint32_t threads;
};

static int
run_case(const struct bench_opts *o, const struct sim_case *c,
	 const struct rl_config *cfg, const struct rl_route *route,
	 struct rates *r, unsigned int *n, struct rl_sim_stats *st)
{
	struct rl_sim_mem mem;
	int ret = rl_sim_mem_init(&mem);

	r->threads = rl_sim_threads(&cfg->topo, cpus_allowed());
	for (*n = 0; *n < o->reps && ret == 0 && stop_asked() == 0; ++*n) {
		const uint64_t seed = o->seed + *n;

		ret = run_once(c, cfg, route, &mem, seed, 1, &r->one[*n], st);
		r->all[*n] = r->one[*n];
		if (ret == 0 && r->threads != 1)
			ret = run_once(c, cfg, route, &mem, seed, r->threads,
				       &r->all[*n], st);
	}
	rl_sim_mem_free(&mem);
	return ret;
}

static void
tell_case(const struct sim_case *c, struct rates *r, unsigned int n,
	  const struct rl_sim_stats *st, json_t *runs, FILE *human)
{
	struct bench_stat one, all;

	bench_stat(r->one, n, &one);
	bench_stat(r->all, n, &all);
	json_array_append_new(runs, json_pack(
		"{s:s,s:f,s:f,s:b,s:i,s:f,s:I,s:I,s:f}", "case", c->name,
		"mflit_hops_per_s", all.median, "spread", all.spread, "noisy",
		all.noisy || one.noisy, "threads", (int)r->threads,
		"one_thread_mflit_hops_per_s", one.median, "flit_hops",
		(json_int_t)st->flits, "flits_peak",
		(json_int_t)st->flits_peak, "load", c->load));
	fprintf(human,
		"  %-24s %6.2f%s M flit-hops/s by %u thread%s, %6.2f by one  "
		"(%llu flit-hops a run, %llu flits in use at most)\n",
		c->name, all.median, all.noisy || one.noisy ? "?" : "",
		r->threads, r->threads == 1 ? "" : "s", one.median,
		(unsigned long long)st->flits,
		(unsigned long long)st->flits_peak);
	fflush(human);
}

static int
bench_case(const struct bench_opts *o, const struct sim_case *c, json_t *runs,
	   FILE *human)
{
	struct rl_config *cfg = calloc(1, sizeof(*cfg));
	struct rates r = { calloc(o->reps, sizeof(double)),
			   calloc(o->reps, sizeof(double)), 1 };
	struct rl_sim_stats st = { 0 };
	struct rl_route *route = NULL;
	unsigned int n = 0;
	int ret = -ENOMEM;

	if (cfg != NULL && r.one != NULL && r.all != NULL) {
		ret = open_fabric(c->name, c->fabric, cfg, &route);
		if (ret == 0)
			ret = run_case(o, c, cfg, route, &r, &n, &st);
		if (ret == 0 && n != 0)
			tell_case(c, &r, n, &st, runs, human);
		rl_route_free(route);
		rl_config_free(cfg);
	}
	free(cfg);
	free(r.one);
	free(r.all);
	return ret;
}

int
bench_sim(const struct bench_opts *o, json_t *out, FILE *human)
{
	static const struct sim_case cases[] = {
		{ "torus 8x8, uniform", torus_8x8, RL_PATTERN_UNIFORM, 0.3,
		  100000 },
		{ "10x10x10, uniform", torus_10x10x10, RL_PATTERN_UNIFORM, 0.1,
		  5000 },
		{ "10x10x10, tornado", torus_10x10x10, RL_PATTERN_TORNADO, 0.1,
		  5000 },
		{ "10x10x10, permutation", torus_10x10x10,
		  RL_PATTERN_PERMUTATION, 0.1, 5000 },
		{ "10x10x10, hotspot", torus_10x10x10, RL_PATTERN_HOTSPOT,
		  0.02, 5000 },
		{ "10x10x10, six links gone", torus_10x10x10_hurt,
		  RL_PATTERN_PERMUTATION, 0.1, 5000 },
	};
	const struct sim_case given = { o->config, NULL, RL_PATTERN_UNIFORM,
					0.3, 100000 };
	const size_t n = o->quick ? 1 : RL_ARRAY_SIZE(cases);
	json_t *runs = json_array();
	int ret = 0;

	bench_cpus_all();
	fprintf(human, "sim: virtual time, full protocol\n");
	if (o->config != NULL)
		ret = bench_case(o, &given, runs, human);
	for (size_t i = 0; o->config == NULL && i < n && ret == 0 &&
			   stop_asked() == 0; i++)
		ret = bench_case(o, &cases[i], runs, human);
	json_object_set_new(out, "runs", runs);
	return ret;
}
