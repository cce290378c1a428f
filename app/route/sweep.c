/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random failures, many times: which fabrics are accepted, which are refused
 * and why, and how good the paths are. Every seed draws its own failures and
 * prints one line; any seed can be repeated alone.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "rl_prng.h"
#include "route_app.h"
#include "stop_signal.h"

struct sweep {
	uint32_t cut;	   /* the failures leave the fabric in parts */
	uint32_t accepted;
	uint32_t refused;
	uint32_t broken;   /* accepted, but the checker disagrees */
	uint32_t measured; /* accepted, and with pairs to measure */
	double stretch;	   /* sums and maxima over the accepted */
	double stretch_max;
	uint32_t extra_max;
	uint32_t vls_max;
	uint32_t hops_max;
	double compute_ms;
	double compute_max_ms;
};

/*
 * Fails this many more switches and links. Returns false if there are too few.
 */
static bool
sweep_fail(struct rl_topo *t, const struct route_opts *o, uint64_t seed)
{
	const uint32_t nsw = t->ndev - t->nep;
	uint32_t left = o->random_switches, tries = 0;
	struct rl_prng p;

	rl_prng_seed(&p, seed);
	for (tries = 0; left > 0 && tries < 1000000; tries++) {
		const uint32_t u = rl_prng_below(&p, nsw);

		left -= !t->dev[u].failed;
		t->dev[u].failed = true;
	}
	if (left > 0)
		return false;
	left = o->random_links;
	for (tries = 0; left > 0 && tries < 1000000; tries++) {
		const uint32_t l = rl_prng_below(&p, t->nlink);

		if (t->link[l].kind != RL_LINK_ISL || !rl_topo_link_up(t, l))
			continue;
		t->link[l].failed = true;
		left--;
	}
	return left == 0;
}

/* Remembers and restores the failed marks of the fabric file. */
struct sweep_marks {
	bool *dev;
	bool *link;
};

static int
marks_save(struct sweep_marks *m, const struct rl_topo *t)
{
	m->dev = malloc(t->ndev);
	m->link = malloc(t->nlink + 1u);
	if (m->dev == NULL || m->link == NULL)
		return -ENOMEM;
	for (uint32_t d = 0; d < t->ndev; d++)
		m->dev[d] = t->dev[d].failed;
	for (uint32_t l = 0; l < t->nlink; l++)
		m->link[l] = t->link[l].failed;
	return 0;
}

static void
marks_restore(const struct sweep_marks *m, struct rl_topo *t)
{
	for (uint32_t d = 0; d < t->ndev; d++)
		t->dev[d].failed = m->dev[d];
	for (uint32_t l = 0; l < t->nlink; l++)
		t->link[l].failed = m->link[l];
}

static void
sweep_accepted(struct sweep *s, const struct rl_topo *t,
	       const struct rl_route *r, uint64_t seed, double ms, json_t *row)
{
	const struct rl_check_in in = {
		.topo = t, .fwd = r->fwd, .stretch = true};
	struct rl_check_report *rep = malloc(sizeof(*rep));
	int verdict = rep != NULL ? rl_check(&in, rep) : -ENOMEM;

	if (verdict != 0)
		s->broken++;
	if (rep == NULL)
		return;
	s->accepted++;
	s->measured += rep->pairs != 0;
	s->stretch += rep->stretch_mean;
	s->compute_ms += ms;
	if (rep->stretch_mean > s->stretch_max)
		s->stretch_max = rep->stretch_mean;
	if (ms > s->compute_max_ms)
		s->compute_max_ms = ms;
	s->extra_max = rep->extra_max > s->extra_max ? rep->extra_max :
						       s->extra_max;
	s->vls_max = rep->nvls > s->vls_max ? rep->nvls : s->vls_max;
	s->hops_max = rep->max_hops > s->hops_max ? rep->max_hops :
						    s->hops_max;
	printf("%8llu  %-8s %4u %8u %9.4f %8.4f %6u %10.2f\n",
	       (unsigned long long)seed, verdict == 0 ? "accepted" : "BROKEN",
	       rep->nvls, rep->max_hops, route_mean_hops(rep),
	       rep->stretch_mean, rep->extra_max, ms);
	route_set(row, "vls", rep->nvls);
	route_set(row, "max_hops", rep->max_hops);
	json_object_set_new(row, "mean_hops", json_real(route_mean_hops(rep)));
	json_object_set_new(row, "stretch", json_real(rep->stretch_mean));
	route_set(row, "extra_max", rep->extra_max);
	json_object_set_new(row, "compute_ms", json_real(ms));
	free(rep);
}

static void
sweep_one(struct route_app *app, struct sweep *s, uint64_t seed, json_t *rows)
{
	const struct rl_route_params params = route_params(app);
	struct rl_route *r = NULL;
	char err[RL_ERR_MAX] = "";
	json_t *row = json_object();
	const char *verdict = "accepted";
	struct route_times t = { 0 };
	int ret;

	if (rl_topo_reach(&app->cfg.topo, RL_REACH_WORKING, err) != 0) {
		verdict = "cut";
		s->cut++;
	} else {
		route_clock(&t);
		ret = rl_route_compute_with(&app->cfg.topo, &params, &r, err);
		route_elapsed(&t);
		if (ret != 0) {
			verdict = "refused";
			s->refused++;
		}
	}
	route_set(row, "seed", seed);
	if (r != NULL)
		sweep_accepted(s, &app->cfg.topo, r, seed,
			       (double)t.cpu_ns / 1e6, row);
	else
		printf("%8llu  %-8s %s\n", (unsigned long long)seed, verdict,
		       err);
	json_object_set_new(row, "verdict", json_string(verdict));
	if (r == NULL)
		json_object_set_new(row, "why", json_string(err));
	json_array_append_new(rows, row);
	rl_route_free(r);
}

static void
sweep_sum(struct route_app *app, const struct sweep *s, json_t *rows)
{
	const double n = s->accepted != 0 ? s->accepted : 1;
	const double paths = s->measured != 0 ? s->measured : 1;
	const uint32_t whole = s->accepted + s->refused;
	json_t *sum = json_pack(
		"{s:i,s:i,s:i,s:i,s:f,s:f,s:i,s:i,s:i,s:f,s:f}", "accepted",
		(int)s->accepted, "refused", (int)s->refused, "cut",
		(int)s->cut, "broken", (int)s->broken, "stretch_mean",
		s->stretch / paths, "stretch_max", s->stretch_max, "extra_max",
		(int)s->extra_max, "vls_max", (int)s->vls_max, "hops_max",
		(int)s->hops_max, "compute_ms_mean", s->compute_ms / n,
		"compute_ms_max", s->compute_max_ms);

	printf("accepted %u of %u connected fabrics (%.1f%%), refused %u, "
	       "%u were cut into parts\n", s->accepted, whole,
	       100.0 * s->accepted / (whole != 0 ? whole : 1), s->refused,
	       s->cut);
	if (s->accepted != 0)
		printf("stretch mean %.4f, worst %.4f; longest detour +%u; "
		       "VLs %u; max-hops %u; compute mean %.2f ms, max %.2f "
		       "ms (cpu)\n", s->stretch / paths, s->stretch_max,
		       s->extra_max, s->vls_max, s->hops_max,
		       s->compute_ms / n, s->compute_max_ms);
	if (s->broken != 0)
		printf("BROKEN %u: accepted, but the checker disagrees\n",
		       s->broken);
	json_object_set_new(app->report, "sweep", rows);
	json_object_set_new(app->report, "sum", sum);
}

int
route_sweep(struct route_app *app)
{
	struct rl_topo *t = &app->cfg.topo;
	struct sweep_marks marks = {0};
	struct sweep s = {0};
	json_t *rows = json_array();
	struct progress far;
	bool enough = true;
	uint32_t done = 0;

	if (marks_save(&marks, t) != 0)
		enough = false;
	printf("%8s  %-8s %4s %8s %9s %8s %6s %10s\n", "seed", "verdict", "VLs",
	       "max-hops", "mean-hops", "stretch", "worst+", "compute ms");
	progress_begin(&far, "seeds", app->opt.seeds, app->opt.progress);
	for (uint32_t i = 0; i < app->opt.seeds && enough && stop_asked() == 0;
	     i++) {
		const uint64_t seed = app->opt.seed + i;

		enough = sweep_fail(t, &app->opt, seed);
		if (enough)
			sweep_one(app, &s, seed, rows);
		done += enough;
		marks_restore(&marks, t);
		progress_tell(&far, i + 1, NULL);
	}
	progress_end(&far);
	free(marks.dev);
	free(marks.link);
	if (!enough) {
		fprintf(stderr, "reflit-route: the fabric does not have %u "
			"links and %u switches that could fail\n", app->opt.random_links,
			app->opt.random_switches);
		json_decref(rows);
		return EXIT_UNUSABLE;
	}
	if (done < app->opt.seeds)
		fprintf(stderr, "reflit-route: ended after %u of %u seeds\n",
			done, app->opt.seeds);
	json_object_set_new(app->report, "interrupted",
			    json_boolean(done < app->opt.seeds));
	sweep_sum(app, &s, rows);
	return s.broken != 0 ? EXIT_BROKEN : 0;
}
