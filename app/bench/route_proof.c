/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Suite `route`, second half: what a proof costs beside the tables, what an
 * update costs with its proof and how many flows have to be held for it, and
 * how good paths are on fabrics of any shape.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"
#include "rl_check.h"
#include "rl_prng.h"
#include "route_bench.h"
#include "stop_signal.h"

static double
since_ms(uint64_t start_ns)
{
	return (double)(bench_cpu_ns() - start_ns) / 1e6;
}

static double
peak_mb(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_maxrss / 1024;
}

static int
bench_proof(const struct bench_route *b, json_t *rows, unsigned int n,
	    unsigned int reps)
{
	double tables[ROUTE_REPS_MAX], proof[ROUTE_REPS_MAX], mb;
	char err[RL_ERR_MAX];
	struct rl_topo t;
	int ret = bench_torus(&t, n);

	if (ret != 0)
		return ret;
	for (unsigned int i = 0; i < reps && ret == 0; i++) {
		uint64_t c0 = bench_cpu_ns();
		struct rl_route *r;

		ret = rl_route_compute(&t, "reflit", RL_VCS, &r, err);
		tables[i] = since_ms(c0);
		c0 = bench_cpu_ns();
		if (ret == 0)
			ret = rl_route_accept(r, &t, NULL, err);
		proof[i] = since_ms(c0);
		rl_route_free(r);
	}
	mb = peak_mb();
	rl_topo_free(&t);
	if (ret != 0)
		return ret;
	json_array_append_new(rows, json_pack(
		"{s:i, s:f, s:f, s:f}", "switches", (int)(n * n * n),
		"tables_cpu_ms", bench_median(tables, reps), "proof_cpu_ms",
		bench_median(proof, reps), "peak_mb", mb));
	fprintf(b->human, "%ux%ux%u: tables %.1f ms, proof %.1f ms "
		"cpu, %.0f MB at most\n", n, n, n,
		bench_median(tables, reps), bench_median(proof, reps),
		mb);
	return 0;
}

int
bench_proofs(const struct bench_route *b, bool quick)
{
	/* The smaller ones first: memory is the most that there was. */
	static const unsigned int sizes[] = {5, 8, 10, 12, 16, 20};
	json_t *rows = json_array();
	int ret = 0;

	for (unsigned int i = 0; i < RL_ARRAY_SIZE(sizes) && ret == 0; i++)
		if ((!quick || sizes[i] == 5) && stop_asked() == 0)
			ret = bench_proof(b, rows, sizes[i],
					  sizes[i] > 10 ? 2 : b->reps);
	json_object_set_new(b->out, "proof", rows);
	return ret;
}

struct update_times {
	double update[ROUTE_REPS_MAX];
	double proof[ROUTE_REPS_MAX];
	double both[ROUTE_REPS_MAX];
	double hold[ROUTE_REPS_MAX];
	double all[ROUTE_REPS_MAX];  /* update, proof, flows to hold */
	double back[ROUTE_REPS_MAX]; /* update and proof when it works again */
	uint64_t touched;
	uint64_t held;
};

/* What fails next, and what is dead then. */
static uint32_t
update_fail(struct rl_topo *t, struct rl_prng *p, unsigned int dim,
	    bool whole_switch, uint32_t *dead)
{
	const uint32_t u = rl_prng_below(p, t->ndev - t->nep);
	const struct rl_topo_dev *dev = &t->dev[u];
	uint32_t n = 0;

	t->dev[u].failed = whole_switch;
	for (unsigned int k = 0; k < dev->nports; k++) {
		if (!whole_switch && dev->port[k].dim != (int)dim)
			continue;
		dead[n++] = dev->port[k].link;
		if (whole_switch)
			continue;
		t->link[dead[0]].failed = true;
		break;
	}
	return n;
}

static void
update_heal(struct rl_topo *t, const uint32_t *dead)
{
	t->link[dead[0]].failed = false;
	t->dev[t->link[dead[0]].dev[0]].failed = false;
	t->dev[t->link[dead[0]].dev[1]].failed = false;
}

/* r: proven tables of the fabric before; they are brought up to date. */
static int
update_one(const struct rl_topo *t, const struct rl_route *old,
	   struct rl_route *r, const uint32_t *dead, uint32_t ndead,
	   struct update_times *u, unsigned int i)
{
	struct rl_check_mix_report rep;
	struct rl_flows held;
	char err[RL_ERR_MAX];
	uint64_t c0;
	int ret = rl_flows_init(&held, t->nep);

	if (ret != 0)
		return ret;
	c0 = bench_cpu_ns();
	ret = rl_route_update(r, t, NULL, err);
	u->update[i] = since_ms(c0);
	c0 = bench_cpu_ns();
	if (ret == 0)
		ret = rl_route_accept(r, t, NULL, err);
	u->proof[i] = since_ms(c0);
	u->both[i] = u->update[i] + u->proof[i];
	c0 = bench_cpu_ns();
	if (ret == 0)
		ret = rl_route_hold(old, r, t, RL_CHECK_FIRST, dead, ndead,
				    &held, &rep);
	u->hold[i] = since_ms(c0);
	u->all[i] = u->both[i] + u->hold[i];
	if (ret == 0) {
		u->touched += rep.touched;
		u->held += held.count;
	}
	rl_flows_free(&held);
	return ret;
}

static void
update_say(const struct bench_route *b, json_t *rows, unsigned int n,
	   const char *what, struct update_times *u, unsigned int reps)
{
	const double both = bench_median(u->both, reps);

	json_array_append_new(rows, json_pack(
		"{s:i, s:s, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
		"switches",
		(int)(n * n * n), "failed", what, "draws", (int)reps,
		"update_cpu_ms", bench_median(u->update, reps),
		"proof_cpu_ms", bench_median(u->proof, reps), "both_cpu_ms",
		both, "hold_cpu_ms", bench_median(u->hold, reps),
		"all_cpu_ms", bench_median(u->all, reps), "return_cpu_ms",
		bench_median(u->back, reps),
		"flows_touched", (double)u->touched / reps, "flows_held",
		(double)u->held / reps));
	fprintf(b->human, "%ux%ux%u, one %s failed, %u draws: update "
		"%.1f ms, proof %.1f ms, both %.1f (worst %.1f); flows "
		"to hold found in %.1f ms: %.0f of %.0f touched; all "
		"%.1f ms; when it works again %.1f ms\n", n,
		n, n, what, reps, bench_median(u->update, reps),
		bench_median(u->proof, reps), both, u->both[reps - 1],
		bench_median(u->hold, reps), (double)u->held / reps,
		(double)u->touched / reps, bench_median(u->all, reps),
		bench_median(u->back, reps));
}

/* All works again, and the tables follow. */
static int
update_back(const struct rl_topo *t, struct rl_route *r,
	    struct update_times *u, unsigned int i)
{
	const uint64_t c0 = bench_cpu_ns();
	char err[RL_ERR_MAX];
	int ret = rl_route_update(r, t, NULL, err);

	if (ret == 0)
		ret = rl_route_accept(r, t, NULL, err);
	u->back[i] = since_ms(c0);
	return ret;
}

static int
bench_updates_of(const struct bench_route *b, json_t *rows, unsigned int n,
		 bool whole_switch)
{
	struct update_times *u = calloc(1, sizeof(*u));
	char err[RL_ERR_MAX];
	struct rl_route *old = NULL, *r = NULL;
	struct rl_prng p;
	struct rl_topo t;
	int ret = u != NULL ? bench_torus(&t, n) : -ENOMEM;

	if (ret != 0) {
		free(u);
		return ret;
	}
	rl_prng_seed(&p, b->seed);
	ret = rl_route_setup(&t, "reflit", RL_VCS, 1, &old, err);
	if (ret == 0)
		ret = rl_route_setup(&t, "reflit", RL_VCS, 1, &r, err);
	for (unsigned int i = 0; i < b->reps && ret == 0; i++) {
		uint32_t dead[64], ndead;

		/* Dimension by dimension, so that the median is of all. */
		ndead = update_fail(&t, &p, i % 3, whole_switch, dead);
		ret = update_one(&t, old, r, dead, ndead, u, i);
		for (uint32_t k = 0; k < ndead; k++)
			update_heal(&t, &dead[k]);
		if (ret == 0)
			ret = update_back(&t, r, u, i);
	}
	if (ret == 0)
		update_say(b, rows, n, whole_switch ? "switch" : "link", u,
			   b->reps);
	rl_route_free(r);
	rl_route_free(old);
	rl_topo_free(&t);
	free(u);
	return ret;
}

int
bench_updates(const struct bench_route *b, unsigned int n)
{
	json_t *rows = json_array();
	int ret = bench_updates_of(b, rows, n, false);

	if (ret == 0)
		ret = bench_updates_of(b, rows, n, true);
	json_object_set_new(b->out, "update", rows);
	return ret;
}

static void
graph_spec(unsigned int i, struct rl_topo_spec *s, const char **name)
{
	static const char *const names[] = {
		"random, 200 switches of degree 6",
		"random, 500 switches of degree 8",
		"random, 1000 switches of degree 10",
		"fat tree, 4 tiers of 4-ary", "dragonfly, 9 groups of 4",
		"Slim Fly, q = 5"};
	static const uint16_t random[][2] = {{200, 6}, {500, 8}, {1000, 10}};

	*name = names[i];
	if (i < 3) {
		rl_topo_spec_defaults(s, RL_TOPO_RANDOM);
		s->n = random[i][0];
		s->degree = random[i][1];
		s->hosts_per_switch = 1;
		s->seed = 1;
	} else if (i == 3) {
		rl_topo_spec_defaults(s, RL_TOPO_FAT_TREE);
		s->levels = 4;
		for (unsigned int l = 0; l < 4; l++) {
			s->m[l] = 4;
			s->w[l] = l == 0 ? 1 : 4;
			s->tree_links[l] = 1;
		}
	} else if (i == 4) {
		rl_topo_spec_defaults(s, RL_TOPO_DRAGONFLY);
		s->a = 4;
		s->h = 2;
		s->groups = 9;
		s->hosts_per_switch = 2;
	} else {
		rl_topo_spec_defaults(s, RL_TOPO_SLIM_FLY);
		s->q = 5;
		s->hosts_per_switch = 2;
	}
}

static int
bench_graph(const struct bench_route *b, json_t *rows, unsigned int i)
{
	struct rl_check_report *rep = malloc(sizeof(*rep));
	struct rl_check_in in = {.stretch = true};
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];
	struct rl_route *r = NULL;
	double tables, proof, ratio;
	struct rl_topo t;
	const char *name;
	uint64_t c0;
	int ret = -ENOMEM;

	graph_spec(i, &spec, &name);
	if (rep != NULL)
		ret = rl_topo_build(&spec, &t, err, NULL);
	if (ret != 0) {
		free(rep);
		return ret;
	}
	c0 = bench_cpu_ns();
	ret = rl_route_compute(&t, "reflit", RL_VCS, &r, err);
	tables = since_ms(c0);
	c0 = bench_cpu_ns();
	if (ret == 0)
		ret = rl_route_accept(r, &t, NULL, err);
	proof = since_ms(c0);
	if (ret == 0) {
		in.topo = &t;
		in.fwd = r->fwd;
		ret = rl_check(&in, rep) == 0 ? 0 : -EBADMSG;
	}
	if (ret == 0) {
		ratio = rep->load_mean > 0 ? rep->load_max / rep->load_mean : 0;
		json_array_append_new(rows, json_pack(
			"{s:s, s:i, s:i, s:i, s:f, s:i, s:f, s:f, s:f, s:f}",
			"graph", name, "switches", (int)(t.ndev - t.nep), "vls",
			(int)r->vls, "detour_vls", (int)r->detour_vls,
			"stretch", rep->stretch_mean, "busiest",
			(int)rep->load_max, "mean", rep->load_mean, "ratio",
			ratio, "tables_cpu_ms", tables, "proof_cpu_ms", proof));
		fprintf(b->human, "%s: VLs %u + %u, stretch %.4f, "
			"busiest link %u of mean %.1f (%.2f), tables "
			"%.0f ms, proof %.0f ms\n", name, r->vls,
			r->detour_vls, rep->stretch_mean, rep->load_max,
			rep->load_mean, ratio, tables, proof);
	}
	rl_route_free(r);
	rl_topo_free(&t);
	free(rep);
	return ret;
}

int
bench_graphs(const struct bench_route *b, bool quick)
{
	json_t *rows = json_array();
	int ret = 0;

	for (unsigned int i = 0; i < 6 && ret == 0; i++)
		if ((!quick || i == 0 || i > 3) && stop_asked() == 0)
			ret = bench_graph(b, rows, i);
	json_object_set_new(b->out, "graphs", rows);
	return ret;
}

int
bench_torus(struct rl_topo *t, unsigned int n)
{
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];

	rl_topo_spec_defaults(&spec, RL_TOPO_TORUS);
	spec.ndims = 3;
	for (unsigned int d = 0; d < 3; d++)
		spec.dims[d] = (uint16_t)n;
	return rl_topo_build(&spec, t, err, NULL);
}
