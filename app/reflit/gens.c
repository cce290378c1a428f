/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gens.h"
#include "rl_refuse.h"

#define SLOT_NS RL_NS_PER_US /* loads are in flits per microsecond */
#define RANGES 4096
#define ORDER_TRIES 10000

/* Generators may still read an old pattern, so all are kept. */
struct gens_pattern {
	struct gens_pattern *next;
	struct rl_pattern pattern;
	uint64_t mem[]; /* its tables */
};

static void
pattern_cfg(const struct rl_topo *t, uint64_t seed, enum rl_pattern_kind kind,
	    struct rl_pattern_cfg *cfg)
{
	const struct rl_topo_spec *s = &t->spec;

	*cfg = (struct rl_pattern_cfg){
		.kind = kind,
		.nep = t->nep,
		.seed = seed,
		.hot_count = 1,
		.hot_pct = 50,
	};
	if (s->kind != RL_TOPO_TORUS && s->kind != RL_TOPO_MESH)
		return;
	cfg->ndims = s->ndims;
	memcpy(cfg->dims, s->dims, sizeof(cfg->dims));
	cfg->hosts_per_switch = s->hosts_per_switch;
}

static int
all_pairs(const struct gens *g, struct rl_pattern_cfg *cfg)
{
	const uint32_t nep = cfg->nep;
	struct rl_pattern_pair *p =
		calloc((size_t)g->ngens * g->ngens + 1, sizeof(*p));

	if (p == NULL)
		return -ENOMEM;
	cfg->kind = RL_PATTERN_PAIRS;
	cfg->pair = p;
	for (uint32_t i = 0; i < nep; i++)
		for (uint32_t j = 0; j < nep; j++)
			if (i != j && g->tg[i] != NULL && g->tg[j] != NULL)
				p[cfg->npairs++] = (struct rl_pattern_pair){
					.src = (uint16_t)i,
					.dst = (uint16_t)j,
				};
	return 0;
}

int
gens_pattern_fits(const struct rl_config *cfg, enum rl_pattern_kind kind,
		  uint64_t seed)
{
	struct rl_pattern_cfg pc;
	struct rl_pattern pattern;
	void *mem;
	int ret;

	if (cfg->nattach != 0)
		return kind == RL_PATTERN_UNIFORM ? 0 : -ENOTSUP;
	pattern_cfg(&cfg->topo, seed, kind, &pc);
	mem = calloc(1, rl_pattern_memsize(&pc) + 8);
	if (mem == NULL)
		return -ENOMEM;
	ret = rl_pattern_init(&pattern, &pc, mem);
	free(mem);
	return ret;
}

int
gens_pattern(struct gens *g, enum rl_pattern_kind kind)
{
	struct gens_pattern *p;
	struct rl_pattern_cfg cfg;
	int ret = 0;

	if (g->ngens < 2)
		return 0;
	pattern_cfg(g->host->fabric.topo, g->host->p.seed, kind, &cfg);
	if (!g->all && kind != RL_PATTERN_UNIFORM)
		return -ENOTSUP;
	if (!g->all)
		ret = all_pairs(g, &cfg);
	if (ret != 0)
		return ret;
	p = calloc(1, sizeof(*p) + rl_pattern_memsize(&cfg));
	ret = p == NULL ? -ENOMEM
			: rl_pattern_init(&p->pattern, &cfg, p->mem);
	free((void *)(uintptr_t)cfg.pair);
	if (ret != 0) {
		free(p);
		return ret;
	}
	p->next = g->patterns;
	g->patterns = p;
	g->plan.pattern = kind;
	return 0;
}

static int
make_gen(struct gens *g, struct host *h, uint32_t dev)
{
	const uint16_t ep = h->fabric.topo->dev[dev].ep_id;
	const struct rl_tg_cfg cfg = {
		.ep_id = ep,
		.requests_ppm = (uint32_t)(g->plan.requests * 1e6 + 0.5),
		.ncos = g->plan.classes,
		.by_kind = g->plan.by_kind,
		.hist_by_vc = true,
		.min_flits = g->plan.min_flits,
		.max_flits = g->plan.max_flits,
		.seed = h->p.seed,
		.slot_ns = SLOT_NS,
		.max_flows = h->p.cfg->endpoint.max_flows,
		.max_ranges = RANGES,
	};
	struct host_lcore *lc =
		h->lcore[h->place.lcore[host_role(&h->place, dev, -1)]];
	void *mem = host_mem_alloc(&h->mem, rl_tg_memsize(&cfg));

	if (mem == NULL)
		return -ENOMEM;
	g->tg[ep] = rl_tg_init(mem, &cfg, &lc->cache);
	if (g->tg[ep] == NULL)
		return -EINVAL;
	client_gen_init(&g->gen[ep], g->tg[ep]);
	h->gen[ep] = &g->gen[ep];
	h->fabric.dev[dev].core.client = (struct rl_client){
		.ctx = &g->gen[ep],
		.poll = client_gen_poll,
		.deadline = client_gen_deadline,
	};
	g->ngens++;
	return 0;
}

int
gens_open(struct gens *g, struct host *h, const struct gens_plan *plan,
	  bool (*taken)(const void *ctx, uint32_t dev), const void *ctx,
	  char *err)
{
	const struct rl_topo *t = h->fabric.topo;
	const uint32_t most = h->p.cfg->link.max_packet_flits;
	int ret = 0;

	memset(g, 0, sizeof(*g));
	g->host = h;
	g->plan = *plan;
	if (plan->max_flits == 0)
		g->plan.max_flits = RTE_MIN(8u, most);
	if (plan->max_flits > most)
		return rl_refuse(err, HOST_ERR_MAX, -EINVAL,
				 "reflit: --packet-flits %u is more than "
				 "link.max_packet_flits, %u", plan->max_flits,
				 most);
	snprintf(err, HOST_ERR_MAX, "no memory for generators");
	g->gen = calloc(t->nep, sizeof(*g->gen));
	g->tg = calloc(t->nep, sizeof(*g->tg));
	if (g->gen == NULL || g->tg == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nep && ret == 0; i++)
		if (!taken(ctx, t->ep_dev[i]))
			ret = make_gen(g, h, t->ep_dev[i]);
	if (ret != 0)
		return ret;
	g->all = g->ngens == t->nep;
	ret = gens_pattern(g, plan->pattern);
	if (ret != 0)
		snprintf(err, HOST_ERR_MAX,
			 "reflit: traffic pattern %s does not suit this "
			 "fabric%s",
			 rl_pattern_name(plan->pattern),
			 ret == -ENOTSUP ? ": ports are attached" : "");
	return ret;
}

/*
 * Gives the order to generators first .. last-1. A generator on a slow lcore
 * does not delay the others.
 */
static int
order(struct gens *g, uint32_t first, uint32_t last, bool on)
{
	const struct client_gen_load plan = {
		.pattern = g->patterns == NULL ? NULL : &g->patterns->pattern,
		.load = g->plan.load,
		.packets = g->plan.packets,
	};
	const struct rl_topo *t = g->host->fabric.topo;
	uint32_t left = 0;

	for (uint32_t i = first; i < last; i++)
		left += g->gen[i].due = g->tg[i] != NULL;
	for (int try = 0; left != 0; try++) {
		for (uint32_t i = first; i < last; i++)
			if (g->gen[i].due &&
			    client_gen_order(&g->gen[i], on ? &plan : NULL,
					     g->host->dead[t->ep_dev[i]]) == 0) {
				g->gen[i].due = false;
				left--;
			}
		if (left != 0 && try == ORDER_TRIES)
			return -ETIME;
		if (left != 0)
			host_run(g->host, 100 * RL_NS_PER_US);
	}
	return 0;
}

int
gens_order(struct gens *g, struct client_gen *gen, bool on)
{
	const uint32_t i = (uint32_t)(gen - g->gen);

	return order(g, i, i + 1, on);
}

int
gens_order_all(struct gens *g, bool on)
{
	return order(g, 0, g->host->fabric.topo->nep, on);
}

struct client_gen *
gens_find(struct gens *g, uint32_t dev)
{
	const struct rl_topo_dev *d = &g->host->fabric.topo->dev[dev];

	if (d->kind != RL_DEV_ENDPOINT || g->tg[d->ep_id] == NULL)
		return NULL;
	return &g->gen[d->ep_id];
}

bool
gens_finished(const struct gens *g)
{
	for (uint32_t i = 0; g->plan.packets != 0 &&
			     i < g->host->fabric.topo->nep; i++)
		if (g->tg[i] != NULL && !client_gen_done(&g->gen[i]))
			return false;
	return true;
}

void
gens_close(struct gens *g)
{
	while (g->patterns != NULL) {
		struct gens_pattern *p = g->patterns;

		g->patterns = p->next;
		free(p);
	}
	free(g->gen);
	free(g->tg);
	memset(g, 0, sizeof(*g));
}
