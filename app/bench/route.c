/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `route`: tables, updates, checks and random failures on tori.
 *
 * Times are CPU time of this thread, beside wall time: a table of a thousand
 * switches is computed in less than what a busy machine's scheduler gives away
 * in one go. A repetition frees the tables and computes them anew, so that the
 * time to get memory from the system counts; but a first one is not timed: a
 * virtual machine may have to get its memory from its host first, which costs
 * more than all the rest.
 *
 * The figures: "compute" (by fabric and engine), "proof" (by size: tables, proof,
 * memory), "update" (after a link, after a switch: update, proof, flows to hold),
 * "graphs" (stretch, busiest link), "check", "failures" and "detours". -EBADMSG:
 * the checker found fault with tables.
 */

#include "route_bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "rl_check.h"
#include "rl_prng.h"
#include "stop_signal.h"

/* Median times of computing; the tables of the last time go to *r. */
static int
time_compute(const struct bench_route *b, const struct rl_topo *t,
	     const char *engine, unsigned int reps, struct rl_route **r,
	     double *cpu_ms, double *wall_ms)
{
	double cpu[ROUTE_REPS_MAX], wall[ROUTE_REPS_MAX];
	char err[RL_ERR_MAX];

	*r = NULL;
	for (unsigned int i = 0; i <= reps; i++) {
		const uint64_t w0 = bench_now_ns(), c0 = bench_cpu_ns();
		int ret;

		rl_route_free(*r);
		ret = rl_route_compute(t, engine, RL_VCS, r, err);
		if (ret != 0) {
			fprintf(b->human, "%s: %s\n", engine, err);
			return ret;
		}
		if (i == 0)
			continue; /* not timed, see above */
		cpu[i - 1] = (double)(bench_cpu_ns() - c0) / 1e6;
		wall[i - 1] = (double)(bench_now_ns() - w0) / 1e6;
	}
	*cpu_ms = bench_median(cpu, reps);
	*wall_ms = bench_median(wall, reps);
	return 0;
}

static int
bench_compute(const struct bench_route *b, json_t *rows, unsigned int n,
	      const char *engine)
{
	const unsigned int reps = n > 10 ? b->reps / 3 + 1 : b->reps;
	struct rl_route *r;
	double cpu_ms = 0, wall_ms = 0;
	struct rl_topo t;
	char name[32];
	int ret = bench_torus(&t, n);

	if (ret != 0)
		return ret;
	ret = time_compute(b, &t, engine, reps, &r, &cpu_ms, &wall_ms);
	snprintf(name, sizeof(name), "%ux%ux%u", n, n, n);
	if (ret == 0) {
		json_array_append_new(
			rows, json_pack("{s:s, s:s, s:i, s:f, s:f}", "fabric",
					name, "engine", engine, "switches",
					(int)(n * n * n), "cpu_ms", cpu_ms,
					"wall_ms", wall_ms));
		fprintf(b->human, "%-10s %-11s %8.2f ms cpu, %8.2f ms wall\n",
			name, engine, cpu_ms, wall_ms);
	}
	rl_route_free(r);
	rl_topo_free(&t);
	return ret;
}

static int
bench_sizes(const struct bench_route *b, bool quick)
{
	static const unsigned int sizes[] = {5, 8, 10, 16};
	static const char *const engines[] = {"reflit", "torus-2qos", "updown"};
	json_t *rows = json_array();
	int ret = 0;

	for (unsigned int i = 0; i < RL_ARRAY_SIZE(sizes) && ret == 0; i++) {
		for (unsigned int e = 0; e < RL_ARRAY_SIZE(engines); e++) {
			if ((quick && sizes[i] > 5) || stop_asked() != 0)
				continue;
			ret = bench_compute(b, rows, sizes[i], engines[e]);
			if (ret != 0)
				break;
		}
	}
	json_object_set_new(b->out, "compute", rows);
	return ret;
}

static int
bench_check(const struct bench_route *b, unsigned int n)
{
	struct rl_check_report *rep = malloc(sizeof(*rep));
	struct rl_check_in in = {0};
	double cpu[ROUTE_REPS_MAX];
	char err[RL_ERR_MAX];
	struct rl_route *r = NULL;
	struct rl_topo t;
	int ret = rep != NULL ? bench_torus(&t, n) : -ENOMEM;

	if (ret != 0) {
		free(rep);
		return ret;
	}
	ret = rl_route_compute(&t, "reflit", RL_VCS, &r, err);
	in.topo = &t;
	in.fwd = r != NULL ? r->fwd : NULL;
	for (unsigned int i = 0; i < b->reps && ret == 0; i++) {
		const uint64_t c0 = bench_cpu_ns();

		ret = rl_check(&in, rep) == 0 ? 0 : -EBADMSG;
		cpu[i] = (double)(bench_cpu_ns() - c0) / 1e6;
	}
	if (ret == 0) {
		const double cpu_ms = bench_median(cpu, b->reps);

		json_object_set_new(b->out, "check",
				    json_pack("{s:i, s:f}", "switches",
					      (int)(n * n * n), "cpu_ms",
					      cpu_ms));
		fprintf(b->human, "check of all %u pairs: %.2f ms cpu\n",
			n * n * n * (n * n * n - 1), cpu_ms);
	}
	rl_route_free(r);
	rl_topo_free(&t);
	free(rep);
	return ret;
}

struct failures {
	unsigned int connected;
	unsigned int routed;
	double stretch;
	uint32_t extra;
	double cpu_ms;
};

static int
bench_failure(const struct bench_route *b, unsigned int n, unsigned int links,
	      unsigned int switches, uint64_t seed, struct failures *f)
{
	struct rl_check_report *rep = malloc(sizeof(*rep));
	struct rl_check_in in = {.stretch = true};
	char err[RL_ERR_MAX];
	struct rl_route *r = NULL;
	struct rl_prng p;
	struct rl_topo t;
	double cpu, wall;
	int ret = rep != NULL ? bench_torus(&t, n) : -ENOMEM;

	if (ret != 0) {
		free(rep);
		return ret;
	}
	rl_prng_seed(&p, seed);
	for (unsigned int i = 0; i < switches; i++)
		t.dev[rl_prng_below(&p, t.ndev - t.nep)].failed = true;
	for (unsigned int i = 0; i < links; i++)
		t.link[t.nep + rl_prng_below(&p, t.nlink - t.nep)].failed =
			true;
	if (rl_topo_reach(&t, RL_REACH_WORKING, err) == 0) {
		f->connected++;
		if (time_compute(b, &t, "reflit", 1, &r, &cpu, &wall) == 0) {
			in.topo = &t;
			in.fwd = r->fwd;
			ret = rl_check(&in, rep) == 0 ? 0 : -EBADMSG;
			f->routed++;
			f->stretch += rep->stretch_mean;
			f->cpu_ms += cpu;
			if (rep->extra_max > f->extra)
				f->extra = rep->extra_max;
		}
	}
	rl_route_free(r);
	rl_topo_free(&t);
	free(rep);
	return ret;
}

static int
bench_failures(const struct bench_route *b, unsigned int n)
{
	const unsigned int links = n == 10 ? 20 : 5, switches = n == 10 ? 5 : 1;
	struct failures sum = {0}, *f = &sum;
	int ret = 0;

	for (unsigned int i = 0; i < b->reps && ret == 0; i++)
		ret = bench_failure(b, n, links, switches, b->seed + i, f);
	if (ret != 0 || f->routed == 0)
		return ret;
	f->stretch /= f->routed;
	f->cpu_ms /= f->routed;
	json_object_set_new(
		b->out, "failures",
		json_pack("{s:i, s:i, s:i, s:i, s:i, s:f, s:i, s:f}",
			  "switches", (int)(n * n * n), "failed_links",
			  (int)links, "failed_switches", (int)switches,
			  "connected", (int)f->connected, "routed",
			  (int)f->routed, "stretch", f->stretch, "extra_max",
			  (int)f->extra, "cpu_ms", f->cpu_ms));
	fprintf(b->human, "%u links and %u switches failed, %u draws: "
		"%u of %u routed, stretch %.4f, longest detour +%u, "
		"%.1f ms cpu\n", links, switches, b->reps, f->routed,
		f->connected, f->stretch, f->extra, f->cpu_ms);
	return 0;
}

static int
bench_detours(const struct bench_route *b, unsigned int n)
{
	struct rl_check_detours d;
	struct rl_check_in in = {0};
	char err[RL_ERR_MAX];
	struct rl_route *r;
	struct rl_topo t;
	uint64_t c0;
	int ret = bench_torus(&t, n);

	if (ret != 0)
		return ret;
	ret = rl_route_compute(&t, "reflit", RL_VCS, &r, err);
	if (ret == 0) {
		in.topo = &t;
		in.fwd = r->fwd;
		c0 = bench_cpu_ns();
		ret = rl_check_detours(&in, RL_CHECK_LINK, &d);
	}
	if (ret == 0) {
		const double share =
			100.0 * (double)d.covered / (double)d.connected;

		json_object_set_new(
			b->out, "detours",
			json_pack("{s:i, s:I, s:I, s:f, s:f, s:i}", "switches",
				  (int)(n * n * n), "connected",
				  (json_int_t)d.connected, "covered",
				  (json_int_t)d.covered, "share_pct", share,
				  "mean_extra",
				  (double)(d.hops_after - d.hops_before) /
					  (double)rl_max_u64(1, d.covered),
				  "max_hops", (int)d.max_hops));
		fprintf(b->human, "detours on %ux%ux%u: %llu of %llu "
			"covered, %.2f links longer, %.0f ms cpu\n", n,
			n, n, (unsigned long long)d.covered,
			(unsigned long long)d.connected,
			(double)(d.hops_after - d.hops_before) /
				(double)rl_max_u64(1, d.covered),
			(double)(bench_cpu_ns() - c0) / 1e6);
	}
	rl_route_free(r);
	rl_topo_free(&t);
	return ret;
}

int
bench_route(const struct bench_opts *o, json_t *out, FILE *human)
{
	const struct bench_route b = {
		.out = out,
		.human = human,
		.seed = o->seed,
		.reps = rl_min_u32(o->reps, ROUTE_REPS_MAX),
	};
	const unsigned int n = o->quick ? 5 : 10;
	int ret = bench_sizes(&b, o->quick);

	if (ret == 0 && stop_asked() == 0)
		ret = bench_proofs(&b, o->quick);
	if (ret == 0 && stop_asked() == 0)
		ret = bench_updates(&b, n);
	if (ret == 0 && stop_asked() == 0)
		ret = bench_graphs(&b, o->quick);
	if (ret == 0 && stop_asked() == 0)
		ret = bench_check(&b, n);
	if (ret == 0 && stop_asked() == 0)
		ret = bench_failures(&b, n);
	if (ret == 0 && stop_asked() == 0)
		ret = bench_detours(&b, n);
	return ret;
}
