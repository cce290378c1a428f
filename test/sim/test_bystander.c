/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * No bystander: a flow that has no part in a failure keeps its rate and its
 * latency. Each seed draws a fabric, a failure that lasts and a way to recover,
 * and runs it twice, with and without the failure. A flow is a bystander if its
 * path is the same by the tables of the beginning and of the end, comes by no
 * device that the failure changed, the flow was not held, and all of that is
 * true of its acknowledgments, which go the other way. It must deliver the same
 * packets in both runs, and none may take much longer than the slowest of all
 * did in the healthy run.
 *
 *   test_sim_bystander [--first SEED] [--seeds N] [-v]
 *
 * RL_SEEDS in the environment is N, too. It ends after a seed that failed.
 */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../few.h"
#include "rl_check_mix.h"
#include "rl_swarm_plan.h"

#define STOP_NS (180 * RL_NS_PER_US)
#define LIMIT_NS (400 * RL_NS_PER_MS)
#define SLACK_NS (5 * RL_NS_PER_US)
/* by tokens: each channel waits until its token has come */
#define TOKENS_NS (20 * RL_NS_PER_US)
/* a pause in which a client has so many packets for held flows that it stops,
   for all its flows: see RL_SOURCE_ASIDE */
#define PAUSE_NS (40 * RL_NS_PER_US)
#define SLOWER 3
#define HOPS_MAX 64
#define EPS_MAX 64

struct pair {
	uint64_t seed;
	struct rl_prng prng;
	struct rl_swarm_plan plan;
	struct rl_swarm_verdict v;
	char fault[128];
	bool changed[512]; /* devices at the failure */
	bool part[EPS_MAX][EPS_MAX]; /* flows that have a part in it */
	bool tokens; /* a recovery was by tokens */
	bool full; /* all were held, or for too long: no bystander */
	struct rl_sim_flow flow[EPS_MAX * EPS_MAX];
	struct rl_sim_flow healthy[EPS_MAX * EPS_MAX];
};

static uint64_t bystanders, runs_judged;
static double worst; /* latency of a bystander, of the healthy maximum */

/* The path of a flow, link by link. @return its links; 0: there is none */
static unsigned int
path(const struct rl_topo *t, const struct rl_fwd *const fwd[], uint32_t src,
     uint32_t dst, uint32_t link[HOPS_MAX], uint32_t dev[HOPS_MAX])
{
	uint32_t at = t->ep_dev[src];
	uint16_t in = RL_PORT_NONE;
	uint8_t vl = 0, sl = 0;
	unsigned int n = 0;

	if (fwd[at]->path_sl != NULL)
		sl = fwd[at]->path_sl[dst] & (RL_SLS - 1);
	while (at != t->ep_dev[dst] && n < HOPS_MAX) {
		const struct rl_fwd *f = fwd[at];
		const unsigned int plane = in == RL_PORT_NONE
						   ? f->inject_plane[sl]
						   : f->plane_of[vl][sl];
		const struct rl_fwd_hop h =
			rl_fwd_lookup(f, plane, (uint16_t)dst).hop[0];
		const struct rl_topo_port *p;

		if (h.port == RL_FWD_PORT_NONE)
			return 0;
		vl = rl_fwd_vl(f, h.plane, in == RL_PORT_NONE ? f->nports : in,
			       h.port, sl);
		p = &t->dev[at].port[h.port];
		dev[n] = at;
		link[n++] = p->link;
		at = p->peer_dev;
		in = p->peer_port;
	}
	return n == HOPS_MAX ? 0 : n;
}

static void
judge_part(struct pair *c, struct rl_sim *sim)
{
	const struct rl_topo *t = &c->plan.cfg.topo;
	const struct rl_fabric *f = rl_sim_fabric(sim);
	const struct rl_fwd *old[512], *now[512];
	uint32_t lo[HOPS_MAX], ln[HOPS_MAX], dev[HOPS_MAX];

	for (uint32_t d = 0; d < t->ndev; d++) {
		old[d] = &c->plan.route->fwd[d];
		now[d] = rl_core_fwd(f->dev[d].core.core);
	}
	for (uint32_t s = 0; s < t->nep; s++)
		for (uint32_t e = 0; e < t->nep; e++) {
			const unsigned int n = s == e ? 0 : path(t, old, s, e,
								 lo, dev);
			bool *part = &c->part[s][e];

			*part = *part || n == 0 ||
				path(t, now, s, e, ln, dev) != n ||
				memcmp(lo, ln, n * sizeof(lo[0])) != 0 ||
				c->changed[t->ep_dev[e]];
			for (unsigned int i = 0; i < n; i++)
				*part = *part || c->changed[dev[i]];
		}
}

static void
inspect(void *ctx, struct rl_sim *sim)
{
	struct pair *c = ctx;
	const uint32_t nep = c->plan.cfg.topo.nep;
	uint32_t n;
	const struct rl_recovery *r = rl_sim_recoveries(sim, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct rl_flows *held = rl_sim_held(sim, r[i].epoch);

		c->tokens = c->tokens || r[i].mode == RL_RESIL_TOKENS;
		c->full = c->full || r[i].mode == RL_RESIL_FULL ||
			  r[i].paused_ns > PAUSE_NS ||
			  (r[i].held_flows != 0 && held == NULL);
		for (uint32_t s = 0; held != NULL && s < nep; s++)
			for (uint32_t e = 0; e < nep; e++)
				c->part[s][e] |= rl_flows_has(held, s, e);
	}
	judge_part(c, sim);
}

static void
change_dev(struct pair *c, uint32_t d)
{
	const struct rl_topo_dev *td = &c->plan.cfg.topo.dev[d];

	c->changed[d] = true;
	for (uint16_t p = 0; p < td->nports; p++)
		c->changed[td->port[p].peer_dev] = true;
}

/* One failure that lasts. */
static void
draw_fault(struct pair *c)
{
	const struct rl_topo *t = &c->plan.cfg.topo;
	char name[2 * RL_NAME_MAX + 8];
	uint32_t at;

	if (rl_prng_below(&c->prng, 4) == 0) {
		do
			at = rl_prng_below(&c->prng, t->ndev);
		while (t->dev[at].kind != RL_DEV_SWITCH);
		change_dev(c, at);
		snprintf(c->fault, sizeof(c->fault), "40us crash %s\n",
			 t->dev[at].name);
		return;
	}
	do
		at = rl_prng_below(&c->prng, t->nlink);
	while (t->link[at].kind != RL_LINK_ISL);
	c->changed[t->link[at].dev[0]] = c->changed[t->link[at].dev[1]] = true;
	snprintf(c->fault, sizeof(c->fault), "40us %s %s\n",
		 rl_prng_below(&c->prng, 3) == 0 ? "remove" : "cut",
		 rl_topo_link_name(t, at, name, sizeof(name)));
}

static int
open_plan(struct pair *c)
{
	static const char *const fabrics[] = {
		"fabric: { topology = \"torus\"; dims = [4, 4]; };\n"
		"routing: { adaptive = false; };\n",
		"fabric: { topology = \"torus\"; dims = [5, 3]; };\n"
		"routing: { adaptive = false; };\n",
		"fabric: { topology = \"mesh\"; dims = [4, 3]; };\n",
		"fabric: { topology = \"torus\"; dims = [9]; };\n",
	};
	static const enum rl_resil_mode modes[] = {
		RL_RESIL_AUTO, RL_RESIL_AUTO, RL_RESIL_PARTIAL,
		RL_RESIL_LIVE, RL_RESIL_TOKENS, RL_RESIL_OFF,
	};
	struct rl_swarm_plan *p = &c->plan;
	const char *text = fabrics[rl_prng_below(&c->prng,
						 RL_ARRAY_SIZE(fabrics))];
	char err[1024];

	if (rl_config_read_text("drawn", text, strlen(text), &p->cfg, err,
				sizeof(err)) != 0 ||
	    rl_route_setup(&p->cfg.topo, "reflit", 8, 1, &p->route, err) != 0)
		return -1;
	p->cfg.controller.mode = modes[rl_prng_below(&c->prng,
						     RL_ARRAY_SIZE(modes))];
	p->controller = p->cfg.controller.mode != RL_RESIL_OFF;
	if (rl_prng_below(&c->prng, 3) == 0)
		p->cfg.link.switching = RL_CUT_THROUGH;
	rl_sim_wire_defaults(&p->wire);
	p->seed = c->seed;
	p->notice_ns = 1000;
	p->fec_safe = true;
	p->reports_ok = true; /* to a switch that crashed there is no way */
	p->cfg.endpoint.give_up_ns = 2 * RL_NS_PER_MS;
	p->cfg.controller.gather_ns = 5000;
	p->cfg.controller.observe_ns = 3000;
	p->resil.delay_ns = rl_prng_range(&c->prng, 1000, 2500);
	p->resil.compute_ns = rl_prng_range(&c->prng, 5000, 40000);
	p->load = (struct rl_sim_load_cfg){
		.pattern = { .kind = RL_PATTERN_UNIFORM },
		/* so little that a client never stops for what is held */
		.load = (double)rl_prng_range(&c->prng, 3, 12) / 1000,
		.slot_ps = p->wire.flit_ps,
		.min_flits = 1,
		.max_flits = 8,
		.cos = 1,
		.stop_ns = STOP_NS,
		.seed = c->seed,
		.nep = (uint16_t)p->cfg.topo.nep,
	};
	p->heal_ns = STOP_NS;
	p->limit_ns = LIMIT_NS;
	return 0;
}

static int
run(struct pair *c, struct rl_sim_mem *mem, bool fault)
{
	char err[1024];
	int ret;

	c->plan.load.flow = fault ? c->flow : c->healthy;
	if (fault) {
		c->plan.inspect = inspect;
		c->plan.inspect_ctx = c;
		if (rl_sim_faults_text("drawn", c->fault, strlen(c->fault),
				       &c->plan.cfg.topo, NULL, &c->plan.faults, err,
				       sizeof(err)) != 0)
			return -1;
		c->plan.faults.f[0].lasting = true;
	}
	ret = rl_swarm_plan_run(&c->plan, mem, &c->v);
	if (ret == 0 && !c->v.ok)
		printf("seed %llu: %s\n", (unsigned long long)c->seed,
		       c->v.why);
	return ret == 0 && c->v.ok ? 0 : -1;
}

/* @return whether all bystanders were served as before */
static bool
judge(const struct pair *c)
{
	const uint32_t nep = c->plan.cfg.topo.nep;
	uint64_t limit = 0;
	bool ok = true;

	for (uint32_t i = 0; i < nep * nep; i++)
		limit = rl_max_u64(limit, c->healthy[i].max_ns);
	for (uint32_t s = 0; s < nep; s++)
		for (uint32_t e = 0; e < nep; e++) {
			const struct rl_sim_flow *f = &c->flow[s * nep + e];
			const struct rl_sim_flow *h = &c->healthy[s * nep + e];

			/* with it go its acknowledgments, the other way */
			if (s == e || c->part[s][e] || c->part[e][s])
				continue;
			bystanders++;
			if ((double)f->max_ns > worst * (double)limit)
				worst = (double)f->max_ns / (double)limit;
			if (f->packets == h->packets &&
			    f->max_ns <=
				    SLOWER * limit + (c->tokens ? TOKENS_NS
								: SLACK_NS))
				continue;
			printf("seed %llu: endpoint %u to %u stands by, and "
			       "gets %llu packets of %llu, the slowest after "
			       "%llu ns (of all without the failure: %llu)\n",
			       (unsigned long long)c->seed, s, e,
			       (unsigned long long)f->packets,
			       (unsigned long long)h->packets,
			       (unsigned long long)f->max_ns,
			       (unsigned long long)limit);
			ok = false;
		}
	runs_judged++;
	return ok;
}

static bool
one(uint64_t seed, struct rl_sim_mem *mem, bool verbose)
{
	static struct pair c;
	bool ok;

	memset(&c, 0, sizeof(c));
	c.seed = seed;
	rl_prng_seed(&c.prng, seed ^ 0xb157a9de5ull);
	ok = open_plan(&c) == 0;
	if (ok) {
		draw_fault(&c);
		ok = run(&c, mem, false) == 0 && run(&c, mem, true) == 0 &&
		     (c.full || judge(&c));
	}
	if (!ok || verbose)
		printf("seed %llu: %s, %u endpoints, mode %s, load %.3f, %s",
		       (unsigned long long)seed, ok ? "ok" : "failed",
		       c.plan.cfg.topo.nep,
		       rl_resil_mode_name(c.plan.cfg.controller.mode),
		       c.plan.load.load, c.fault);
	rl_route_free(c.plan.route);
	rl_sim_faults_free(&c.plan.faults);
	rl_config_free(&c.plan.cfg);
	return ok;
}

int
main(int argc, char **argv)
{
	static const struct option opts[] = {
		{ "first", required_argument, NULL, 'f' },
		{ "seeds", required_argument, NULL, 'n' },
		{ NULL, 0, NULL, 0 },
	};
	const char *n = getenv("RL_SEEDS");
	uint64_t first = 1, failed = 0;
	uint64_t seeds = n ? strtoull(n, NULL, 0) : 60 / SOME(2);
	struct rl_sim_mem mem;
	bool verbose = false;
	int c;

	while ((c = getopt_long(argc, argv, "v", opts, NULL)) != -1) {
		if (c == 'f')
			first = strtoull(optarg, NULL, 0);
		else if (c == 'n')
			seeds = strtoull(optarg, NULL, 0);
		else if (c == 'v')
			verbose = true;
		else
			return 2;
	}
	if (rl_sim_mem_init(&mem) != 0)
		return 2;
	for (uint64_t i = 0; i < seeds && failed == 0; i++)
		failed += !one(first + i, &mem, verbose);
	rl_sim_mem_free(&mem);
	printf("%llu seeds, %llu with bystanders, %llu flows, slowest packet "
	       "%.2f of the healthy maximum; %llu failed\n",
	       (unsigned long long)seeds, (unsigned long long)runs_judged,
	       (unsigned long long)bystanders, worst,
	       (unsigned long long)failed);
	return failed != 0;
}
