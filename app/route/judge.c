/* SPDX-License-Identifier: BSD-3-Clause */
/* What the checker says of the tables, printed and reported. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "busy.h"
#include "progress.h"
#include "rl_prng.h"
#include "route_app.h"
#include "stop_signal.h"

static json_t *
judge_cycle(const struct rl_topo *t, const struct rl_check_report *rep)
{
	json_t *a = json_array();

	for (uint32_t i = 0; i < rep->cycle_len && i < RL_CHECK_CYCLE_MAX; i++) {
		const struct rl_check_dep *c = &rep->cycle[i];
		const struct rl_topo_link *l = &t->link[c->link];

		json_array_append_new(a, json_pack(
			"{s:s,s:s,s:i,s:i,s:s,s:s}", "from",
			t->dev[l->dev[c->end]].name, "to",
			t->dev[l->dev[!c->end]].name, "k", (int)l->k, "vl",
			(int)c->vl, "src", t->dev[t->ep_dev[c->src]].name,
			"dst", t->dev[t->ep_dev[c->dst]].name));
	}
	return a;
}

/* "a:b#k:vl (src->dst)" of every channel of the cycle. */
static void
judge_print_cycle(const struct rl_topo *t, const struct rl_check_report *rep)
{
	const size_t len = (size_t)RL_CHECK_CYCLE_MAX * 5 * RL_NAME_MAX;
	char *buf = malloc(len);

	if (buf != NULL)
		printf("credit-loops 1: %u channels: %s\n", rep->cycle_len,
		       rl_check_cycle_text(t, rep, buf, len));
	free(buf);
}

static void
judge_report(struct route_app *app, const struct rl_check_report *rep,
	     bool stretch)
{
	json_t *vls = json_array();

	route_set(app->report, "pairs", rep->pairs);
	route_set(app->report, "reachable", rep->reachable);
	route_set(app->report, "max_hops", rep->max_hops);
	json_object_set_new(app->report, "mean_hops",
			    json_real(route_mean_hops(rep)));
	if (stretch) {
		json_object_set_new(app->report, "stretch_mean",
				    json_real(rep->stretch_mean));
		route_set(app->report, "extra_max", rep->extra_max);
	}
	route_set(app->report, "vls_used", rep->nvls);
	for (unsigned int v = 0; v < RL_VCS; v++)
		json_array_append_new(vls, json_integer(
						   (json_int_t)rep->vl_hops[v]));
	json_object_set_new(app->report, "vl_hops", vls);
	route_set(app->report, "load_max", rep->load_max);
	json_object_set_new(app->report, "load_mean",
			    json_real(rep->load_mean));
	route_set(app->report, "channels", rep->channels);
	route_set(app->report, "dependencies", rep->deps);
	json_object_set_new(app->report, "credit_loop",
			    judge_cycle(&app->cfg.topo, rep));
}

/*
 * Asks the checker. The caller frees the report. NULL: the reason was printed.
 */
static struct rl_check_report *
judge_ask(struct route_app *app, const struct rl_check_in *in, int *verdict,
	  struct route_times *t)
{
	struct rl_check_report *rep = malloc(sizeof(*rep));

	busy_begin("proving the tables", app->opt.progress);
	route_clock(t);
	*verdict = rep != NULL ? rl_check(in, rep) : -ENOMEM;
	route_elapsed(t);
	busy_end();
	if (*verdict != -ENOMEM)
		return rep;
	fprintf(stderr, "reflit-route: no memory for the check\n");
	app->status = EXIT_BROKEN;
	free(rep);
	return NULL;
}

static void
judge_print_proof(const struct rl_topo *t, const struct rl_check_report *rep)
{
	if (rep->lost_why != NULL)
		printf("lost: a packet from %s to %s %s\n",
		       t->dev[t->ep_dev[rep->lost_src]].name,
		       t->dev[t->ep_dev[rep->lost_dst]].name, rep->lost_why);
	printf("pairs %llu/%llu\n", (unsigned long long)rep->reachable,
	       (unsigned long long)rep->pairs);
	printf("max-hops %u\n", rep->max_hops);
	printf("mean-hops %.4f\n", route_mean_hops(rep));
	if (rep->cycle_len == 0)
		printf("credit-loops 0\n");
	else
		judge_print_cycle(t, rep);
}

/* Parts share no channel, so the results of the parts add up. */
static void
judge_add(struct rl_check_report *sum, const struct rl_check_report *rep)
{
	struct rl_check_report all = sum->cycle_len != 0 ? *sum : *rep;

	all.pairs = sum->pairs + rep->pairs;
	all.reachable = sum->reachable + rep->reachable;
	all.hops = sum->hops + rep->hops;
	all.channels = sum->channels + rep->channels;
	all.deps = sum->deps + rep->deps;
	for (unsigned int v = 0; v < RL_VCS; v++)
		all.vl_hops[v] = sum->vl_hops[v] + rep->vl_hops[v];
	all.max_hops = rl_max_u64(sum->max_hops, rep->max_hops);
	all.nvls = rl_max_u64(sum->nvls, rep->nvls);
	if (sum->load_max >= rep->load_max) {
		all.load_max = sum->load_max;
		all.load_mean = sum->load_mean;
	}
	if (sum->lost_why != NULL) {
		all.lost_why = sum->lost_why;
		all.lost_src = sum->lost_src;
		all.lost_dst = sum->lost_dst;
	}
	*sum = all;
}

/* Whether packets may leave the adaptive plane wherever they can be in a part,
   whatever next hops they then take. */
static int
ask_adaptive(struct route_app *app, struct rl_check_report *rep)
{
	struct rl_check_in ask = {.topo = &app->cfg.topo,
				  .fwd = app->route->fwd,
				  .alts = RL_CHECK_ALL, .joins = true};
	int ret = rl_check(&ask, rep);

	if (ret != -EHOSTUNREACH)
		return ret;
	ask.alts = RL_CHECK_FIRST;
	return rl_check(&ask, rep);
}

static void
judge_adaptive(struct route_app *app)
{
	struct rl_check_report *rep = calloc(1, sizeof(*rep));
	int ret = rep == NULL ? -ENOMEM : 0;
	uint64_t joins = 0, lost = 0;

	if (!app->route->adapts)
		printf("adaptive: none: %s\n", app->route->plain_why);
	for (uint32_t p = 0; app->route->adapts && ret == 0 &&
			     p < rl_max_u64(1, app->nparts); p++) {
		route_part_enter(app, p);
		ret = ask_adaptive(app, rep);
		route_part_leave(app);
		joins += rep->joins;
		lost += rep->joins_lost;
	}
	if (app->route->adapts && rep != NULL)
		printf("adaptive: VL %u, which may be left at %llu of %llu "
		       "(switch, destination, SL), credit-loops %s\n",
		       app->route->fwd[0].adapt_vl,
		       (unsigned long long)(joins - lost),
		       (unsigned long long)joins,
		       rep->cycle_len == 0 ? "0" : "found");
	if (ret != 0 || (!app->route->adapts && app->cfg.adaptive_given))
		app->status = EXIT_BROKEN;
	if (rep != NULL && rep->cycle_len != 0)
		judge_print_cycle(&app->cfg.topo, rep);
	free(rep);
}

void
route_verify(struct route_app *app)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_check_in in = {.topo = t, .fwd = app->route->fwd};
	struct rl_check_report *sum = calloc(1, sizeof(*sum));
	struct route_times all = {0};

	for (uint32_t p = 0; sum != NULL &&
			     p < rl_max_u64(1, app->nparts); p++) {
		struct rl_check_report *rep;
		struct route_times times;
		int verdict;

		route_part_enter(app, p);
		rep = judge_ask(app, &in, &verdict, &times);
		route_part_leave(app);
		if (rep == NULL) {
			free(sum);
			return;
		}
		judge_add(sum, rep);
		free(rep);
		all.wall_ns += times.wall_ns;
		all.cpu_ns += times.cpu_ns;
		if (verdict != 0)
			app->status = EXIT_BROKEN;
	}
	if (sum == NULL) {
		fprintf(stderr, "reflit-route: no memory for the check\n");
		app->status = EXIT_BROKEN;
		return;
	}
	route_set(app->report, "check_ns", all.wall_ns);
	route_set(app->report, "check_cpu_ns", all.cpu_ns);
	if (app->opt.time)
		printf("time check %.3f ms (cpu %.3f ms)\n",
		       (double)all.wall_ns / 1e6, (double)all.cpu_ns / 1e6);
	judge_report(app, sum, false);
	if (app->route->adaptive)
		judge_adaptive(app);
	judge_print_proof(t, sum);
	free(sum);
}

void
route_mix(struct route_app *app)
{
	const struct rl_check_in in = {.topo = &app->cfg.topo,
				       .fwd = app->route->fwd,
				       .old = app->before->fwd};
	struct rl_check_report *rep;
	struct route_times times;
	int verdict;

	rep = judge_ask(app, &in, &verdict, &times);
	if (rep == NULL)
		return;
	printf("mixed with the tables before, device by device: pairs "
	       "%llu/%llu, credit loops %s\n",
	       (unsigned long long)rep->reachable,
	       (unsigned long long)rep->pairs,
	       rep->cycle_len == 0 ? "0" : "found: install them with the "
					   "fabric quiet");
	json_object_set_new(app->report, "mix", json_pack(
		"{s:I,s:I,s:o}", "pairs", (json_int_t)rep->pairs, "reachable",
		(json_int_t)rep->reachable, "credit_loop",
		judge_cycle(&app->cfg.topo, rep)));
	free(rep);
}

void
route_stats(struct route_app *app)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_check_in in = {
		.topo = t, .fwd = app->route->fwd, .stretch = true};
	struct rl_check_report *rep;
	struct route_times times;
	int verdict;

	rep = judge_ask(app, &in, &verdict, &times);
	if (rep == NULL)
		return;
	judge_report(app, rep, true);
	printf("stretch %.4f of the shortest paths, at worst +%u links",
	       rep->stretch_mean, rep->extra_max);
	if (rep->extra_max != 0)
		printf(" (%s to %s)", t->dev[t->ep_dev[rep->extra_src]].name,
		       t->dev[t->ep_dev[rep->extra_dst]].name);
	printf("\nvl-hops");
	for (unsigned int v = 0; v < RL_VCS; v++)
		printf(" %llu", (unsigned long long)rep->vl_hops[v]);
	printf("\nlink-load max %u mean %.1f paths\n", rep->load_max,
	       rep->load_mean);
	printf("channels %llu, dependencies %llu\n",
	       (unsigned long long)rep->channels,
	       (unsigned long long)rep->deps);
	if (verdict != 0)
		app->status = EXIT_BROKEN;
	free(rep);
}

/* One line and one object: how detours cope with one kind of failure. */
static void
detours_of(struct route_app *app, json_t *out, const struct rl_check_in *in,
	   enum rl_check_fail what, const char *name)
{
	const struct rl_topo *t = in->topo;
	struct rl_check_detours d;
	double share;
	char link[2 * RL_NAME_MAX + 8];

	int ret;

	busy_begin("judging the detours", app->opt.progress);
	ret = rl_check_detours(in, what, &d);
	busy_end();
	if (ret != 0) {
		fprintf(stderr, "reflit-route: no memory for the detours\n");
		app->status = EXIT_BROKEN;
		return;
	}
	share = d.connected != 0 ?
			100.0 * (double)d.covered / (double)d.connected : 100;
	printf("detours %s %.4f%% (%llu/%llu), links to go %.2f -> %.2f, "
	       "longest %u", name, share, (unsigned long long)d.covered,
	       (unsigned long long)d.connected,
	       (double)d.hops_before / (double)rl_max_u64(1, d.covered),
	       (double)d.hops_after / (double)rl_max_u64(1, d.covered),
	       d.max_hops);
	if (d.reflectable != 0)
		printf(", %llu more by an endpoint if it reflected",
		       (unsigned long long)d.reflectable);
	if (d.covered < d.connected || d.reflectable != 0)
		printf("; none at %s to %s without %s", t->dev[d.dev].name,
		       t->dev[t->ep_dev[d.dst]].name,
		       rl_topo_link_name(t, d.link, link, sizeof(link)));
	printf("\n");
	json_object_set_new(out, name, json_pack(
		"{s:I,s:I,s:f,s:i,s:i}", "connected", (json_int_t)d.connected,
		"covered", (json_int_t)d.covered, "share_pct", share,
		"max_hops", (int)d.max_hops, "max_extra", (int)d.max_extra));
}

/* Whether a link between switches works, that detours_double() can draw. */
static bool
has_pairs(const struct rl_topo *t)
{
	for (uint32_t l = 0; l < t->nlink; l++)
		if (t->link[l].kind == RL_LINK_ISL && rl_topo_link_up(t, l))
			return true;
	return false;
}

/*
 * Pairs of dead links: marks the first, and tries local detours round the
 * second.
 */
static void
detours_double(struct route_app *app, json_t *out)
{
	const struct rl_topo *t = &app->cfg.topo;
	const uint32_t most = has_pairs(t) ? app->opt.double_failures : 0;
	uint64_t connected = 0, covered = 0;
	struct progress far;
	struct rl_prng p;
	uint32_t done = 0;

	rl_prng_seed(&p, app->opt.seed);
	progress_begin(&far, "double failures", most, app->opt.progress);
	for (; done < most && stop_asked() == 0; done++) {
		uint32_t link = rl_prng_below(&p, t->nlink);
		struct rl_check_in in = {.topo = t, .fwd = app->route->fwd,
					 .dead = &link, .ndead = 1};
		struct rl_check_detours d;

		while (t->link[link].kind != RL_LINK_ISL ||
		       !rl_topo_link_up(t, link))
			link = rl_prng_below(&p, t->nlink);
		if (rl_check_detours(&in, RL_CHECK_LINK, &d) != 0)
			continue;
		connected += d.connected;
		covered += d.covered;
		progress_tell(&far, done + 1, NULL);
	}
	progress_end(&far);
	if (most == 0)
		printf("detours two-links: no link between switches works\n");
	else
		printf("detours two-links %.4f%% (%llu/%llu, every second link "
		       "for %u first ones)\n",
		       connected == 0 ? 100.0 : 100.0 * (double)covered /
						      (double)connected,
		       (unsigned long long)covered,
		       (unsigned long long)connected, done);
	json_object_set_new(out, "two-links", json_pack(
		"{s:I,s:I,s:I}", "draws", (json_int_t)done, "connected",
		(json_int_t)connected, "covered", (json_int_t)covered));
}

void
route_detours(struct route_app *app)
{
	struct rl_check_in in = {.topo = &app->cfg.topo,
				 .fwd = app->route->fwd,
				 .alts = RL_CHECK_ALL};
	json_t *out = json_object();
	struct rl_check_report *rep;
	struct route_times times;
	int verdict;

	rep = judge_ask(app, &in, &verdict, &times);
	if (rep == NULL) {
		json_decref(out);
		return;
	}
	printf("detours, all at once: %u VLs, longest way %u, credit loops "
	       "%s\n", rep->nvls, rep->max_hops,
	       rep->cycle_len == 0 ? "0" : "found");
	if (rep->cycle_len != 0)
		judge_print_cycle(&app->cfg.topo, rep);
	json_object_set_new(out, "credit_loop",
			    judge_cycle(&app->cfg.topo, rep));
	if (verdict == -ELOOP)
		app->status = EXIT_BROKEN;
	free(rep);
	in.alts = RL_CHECK_FIRST;
	detours_of(app, out, &in, RL_CHECK_LINK, "link");
	detours_of(app, out, &in, RL_CHECK_NEIGHBOUR, "all-links");
	detours_of(app, out, &in, RL_CHECK_SWITCH, "switch");
	if (app->opt.double_failures != 0)
		detours_double(app, out);
	json_object_set_new(app->report, "detours", out);
}
