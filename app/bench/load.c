/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `load`: fabrics that are offered more than they carry, in virtual time.
 * For each fabric and pattern the *knee*, which is the highest load that is
 * still carried; what arrives at load 1, and of the worst sender; latency at half
 * of the knee. Warm-up is not counted, and there is no drain. Then victims: what
 * an incast of half of the endpoints does to pairs that have no part in it.
 */

#include "load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "rl_path.h"
#include "rl_prng.h"
#include "stop_signal.h"

#define VICTIM_LOAD 0.1

struct suite {
	const struct bench_opts *o;
	struct load_rig rig;
	struct rl_pattern_pair *pair; /* [nep] */
	uint16_t *to;		      /* [nep] */
	bool *count;		      /* [nep] */
	json_t *runs;
	json_t *victims;
	FILE *human;
};

static json_t *
point_json(const struct load_point *p)
{
	return json_pack("{s:f,s:f,s:f,s:f,s:f,s:f,s:f}", "load", p->offered,
			 "delivered", p->delivered, "worst", p->worst, "jain",
			 p->jain, "mean_slots", p->mean, "p50_slots", p->p50,
			 "p99_slots", p->p99);
}

static void
tell(struct suite *s, const char *pattern, const struct load_curve *c,
     double mean_full)
{
	json_t *points = json_array(), *run;

	for (unsigned int i = 0; i < c->n; i++)
		json_array_append_new(points, point_json(&c->point[i]));
	run = json_pack("{s:s,s:s,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:o}", "fabric",
			s->rig.name, "pattern", pattern, "knee", c->knee,
			"full", c->full.delivered, "worst", c->full.worst,
			"jain", c->full.jain, "mean_slots", c->half.mean,
			"p50_slots", c->half.p50, "p99_slots", c->half.p99,
			"points", points);
	if (mean_full > 0)
		json_object_set_new(run, "mean_full", json_real(mean_full));
	json_array_append_new(s->runs, run);
	fprintf(s->human,
		"  %-16s %6.3f %6.3f %6.3f %6.3f %8.0f %8.0f %8.0f\n", pattern,
		c->knee, c->full.delivered, c->full.worst, c->full.jain,
		c->half.mean, c->half.p50, c->half.p99);
	fflush(s->human);
}

/* After a signal the row would be half a row. */
static int
search(struct suite *s, const char *name, const struct rl_pattern_cfg *pattern,
       double mean_full)
{
	struct load_curve c = { .n = 0 };
	const int ret = load_search(&s->rig, pattern, &c);

	if (ret == 0 && stop_asked() == 0)
		tell(s, name, &c, mean_full);
	return ret;
}

/* Each to the one that `to` says. */
static struct rl_pattern_cfg
by_list(struct suite *s)
{
	const uint32_t n = s->rig.cfg.topo.nep;

	for (uint32_t i = 0; i < n; i++)
		s->pair[i] = (struct rl_pattern_pair){ (uint16_t)i, s->to[i] };
	return (struct rl_pattern_cfg){ .kind = RL_PATTERN_PAIRS,
					.pair = s->pair,
					.npairs = n };
}

/* --reps permutations at load 1; then the knee of the one that gets least. */
static int
bench_random(struct suite *s)
{
	const struct rl_pattern_cfg any = { .kind = RL_PATTERN_PERMUTATION };
	const uint64_t seed = s->rig.seed;
	uint64_t worst = seed;
	double sum = 0, least = 2;
	struct load_point p;
	int ret = 0;

	for (unsigned int i = 0; i < s->o->reps; i++) {
		s->rig.seed = seed + i;
		ret = load_run(&s->rig, &any, NULL, 1, &p);
		if (ret != 0 || stop_asked() != 0)
			break;
		sum += p.delivered;
		if (p.delivered < least) {
			least = p.delivered;
			worst = s->rig.seed;
		}
	}
	s->rig.seed = worst;
	if (ret == 0 && stop_asked() == 0) {
		ret = search(s, "random, worst", &any, sum / s->o->reps);
		fprintf(s->human, "  %-16s        %6.3f   (%u permutations)\n",
			"random, mean", sum / s->o->reps, s->o->reps);
	}
	s->rig.seed = seed;
	return ret;
}

static int
bench_worst(struct suite *s)
{
	struct rl_pattern_cfg list;
	int ret = rl_path_worst(&s->rig.cfg.topo, s->rig.route->fwd, s->to);

	if (ret < 0)
		return ret;
	list = by_list(s);
	return search(s, "worst of tables", &list, 0);
}

/* Endpoints of a dragonfly are numbered by group. */
static int
bench_next_group(struct suite *s)
{
	const struct rl_topo *t = &s->rig.cfg.topo;
	const uint32_t group = t->spec.a * t->spec.hosts_per_switch;
	struct rl_pattern_cfg list;

	for (uint32_t i = 0; i < t->nep; i++)
		s->to[i] = (uint16_t)((i + group) % t->nep);
	list = by_list(s);
	return search(s, "next group", &list, 0);
}

/* Half of the endpoints send to one; the others in a circle. */
static struct rl_pattern_cfg
victims(struct suite *s, bool incast)
{
	const uint32_t n = s->rig.cfg.topo.nep, half = n / 2;
	struct rl_pattern_cfg c = { .kind = RL_PATTERN_PAIRS, .pair = s->pair };
	struct rl_prng prng;

	rl_prng_seed(&prng, s->rig.seed);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t j = rl_prng_below(&prng, i + 1);

		s->to[i] = s->to[j];
		s->to[j] = (uint16_t)i;
		s->count[i] = false;
	}
	for (uint32_t i = incast ? 0 : half + 1; i < n; i++) {
		const uint32_t next = i <= half ? half
				      : i + 1 < n ? i + 1
						  : half + 1;

		if (i != half)
			s->pair[c.npairs++] = (struct rl_pattern_pair){
				s->to[i], s->to[next]
			};
		s->count[s->to[i]] = i > half;
	}
	return c;
}

static int
bench_victims(struct suite *s)
{
	struct load_point p[2];
	int ret = 0;

	for (int incast = 0; incast < 2 && ret == 0; incast++) {
		const struct rl_pattern_cfg c = victims(s, incast != 0);

		ret = load_run(&s->rig, &c, s->count, VICTIM_LOAD, &p[incast]);
	}
	if (ret != 0 || stop_asked() != 0)
		return ret;
	json_array_append_new(s->victims, json_pack(
		"{s:s,s:o,s:o,s:f,s:f,s:f}", "fabric", s->rig.name, "alone",
		point_json(&p[0]), "beside", point_json(&p[1]), "p50_times",
		p[1].p50 / p[0].p50, "p99_times", p[1].p99 / p[0].p99,
		"rate_times", p[1].delivered / p[0].delivered));
	fprintf(s->human, "  beside an incast of half of the endpoints the "
		"others have %.2f times the p50,\n  %.2f times the p99, %.3f "
		"times the rate\n", p[1].p50 / p[0].p50, p[1].p99 / p[0].p99,
		p[1].delivered / p[0].delivered);
	fflush(s->human);
	return 0;
}

static int
bench_patterns(struct suite *s)
{
	static const enum rl_pattern_kind kinds[] = {
		RL_PATTERN_UNIFORM, RL_PATTERN_TRANSPOSE, RL_PATTERN_TORNADO,
		RL_PATTERN_BIT_COMPLEMENT,
	};
	const size_t n = s->o->quick ? 2 : RL_ARRAY_SIZE(kinds);
	int ret = 0;

	for (size_t i = 0; i < n && stop_asked() == 0; i++) {
		const struct rl_pattern_cfg c = { .kind = kinds[i] };

		ret = search(s, rl_pattern_name(kinds[i]), &c, 0);
		if (ret != 0 && ret != -EINVAL) /* it has no such pattern */
			return ret;
	}
	if (s->rig.cfg.topo.spec.kind == RL_TOPO_DRAGONFLY)
		ret = bench_next_group(s);
	else
		ret = 0;
	if (ret == 0 && !s->o->quick && stop_asked() == 0)
		ret = bench_random(s);
	if (ret == 0 && stop_asked() == 0)
		ret = bench_worst(s);
	if (ret == 0 && stop_asked() == 0)
		ret = bench_victims(s);
	return ret;
}

static int
bench_fabric(struct suite *s, const char *name, const char *text)
{
	struct load_rig *const rig = &s->rig;
	int ret = bench_sim_fabric(name, text, &rig->cfg, &rig->route);
	const uint32_t n = rig->cfg.topo.nep;

	rig->name = name;
	if (ret == 0 && n < 5) { /* two to send to one, two beside them */
		fprintf(stderr, "reflit-bench: load: %s has less than five "
			"endpoints\n", name);
		ret = -EINVAL;
	}
	if (ret == 0) {
		s->pair = calloc(n, sizeof(*s->pair));
		s->to = calloc(n, sizeof(*s->to));
		s->count = calloc(n, sizeof(*s->count));
		ret = s->pair == NULL || s->to == NULL || s->count == NULL
			      ? -ENOMEM
			      : rl_sim_mem_init(&rig->mem);
	}
	if (ret == 0) {
		fprintf(s->human,
			"%-18s %6s %6s %6s %6s %8s %8s %8s\n", name, "knee",
			"full", "worst", "Jain", "mean", "p50", "p99");
		ret = bench_patterns(s);
		rl_sim_mem_free(&rig->mem);
	}
	free(s->pair);
	free(s->to);
	free(s->count);
	s->pair = NULL;
	s->to = NULL;
	s->count = NULL;
	rl_route_free(rig->route);
	rl_config_free(&rig->cfg);
	rig->route = NULL;
	return ret;
}

int
bench_load(const struct bench_opts *o, json_t *out, FILE *human)
{
	static const char *const fabrics[][2] = {
		{ "torus 8x8",
		  "fabric: { topology = \"torus\"; dims = [8, 8]; };\n" },
		{ "mesh 8x8",
		  "fabric: { topology = \"mesh\"; dims = [8, 8]; };\n" },
		{ "dragonfly 9x4",
		  "fabric: { topology = \"dragonfly\"; a = 4; p = 2; h = 2; };\n" },
	};
	const size_t n = o->quick ? 1 : RL_ARRAY_SIZE(fabrics);
	struct suite *s = calloc(1, sizeof(*s));
	int ret = s == NULL ? -ENOMEM : 0;

	if (ret != 0)
		return ret;
	*s = (struct suite){ .o = o, .human = human, .runs = json_array(),
			     .victims = json_array() };
	s->rig.seed = o->seed;
	s->rig.warmup_ns = (o->quick ? 10 : 25) * RL_NS_PER_US;
	s->rig.window_ns = (o->quick ? 4 : 15) * RL_NS_PER_US;
	fprintf(human, "load: flits for each slot and sender, packets of %d "
		"flits, wires of 100 ns\n      (knee, at load 1, its worst "
		"sender, Jain's index; slots at half of the knee)\n",
		LOAD_FLITS);
	if (o->config != NULL)
		ret = bench_fabric(s, o->config, NULL);
	for (size_t i = 0; o->config == NULL && i < n && ret == 0 &&
			   stop_asked() == 0; i++)
		ret = bench_fabric(s, fabrics[i][0], fabrics[i][1]);
	json_object_set_new(out, "warmup_ns",
			    json_integer((json_int_t)s->rig.warmup_ns));
	json_object_set_new(out, "window_ns",
			    json_integer((json_int_t)s->rig.window_ns));
	json_object_set_new(out, "packet_flits", json_integer(LOAD_FLITS));
	json_object_set_new(out, "runs", s->runs);
	json_object_set_new(out, "victims", s->victims);
	free(s);
	return ret;
}
