/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of engines, and their common entry point. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reflit_grid.h"
#include "rl_refuse.h"

static const struct route_engine *const engines[] = {
	&route_reflit,
	&route_torus_2qos,
	&route_updown,
	&route_minhop,
};

const struct rl_route_info *
rl_route_info(unsigned int i)
{
	return i < RL_ARRAY_SIZE(engines) ? &engines[i]->info : NULL;
}

static const struct route_engine *
route_find(const char *name)
{
	if (name == NULL || name[0] == '\0')
		name = RL_ROUTE_DEFAULT;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(engines); i++)
		if (strcmp(engines[i]->info.name, name) == 0)
			return engines[i];
	return NULL;
}

/* "no engine "x"; there are a, b, c" */
static int
route_unknown(const char *name, char *err)
{
	int n = snprintf(err, RL_ERR_MAX, "no engine \"%.32s\"; there are",
			 name);

	for (unsigned int i = 0; i < RL_ARRAY_SIZE(engines); i++)
		n += snprintf(err + n, RL_ERR_MAX - (size_t)n, "%s %s",
			      i == 0 ? "" : ",", engines[i]->info.name);
	return -EINVAL;
}

static int
route_run(struct route_build *b, const struct route_engine *e)
{
	int ret;

	if (b->max_vls < e->info.min_vls)
		return route_refuse(b, "engine %s needs %u VLs, the links "
				    "have %u", e->info.name, e->info.min_vls,
				    b->max_vls);
	if (e->info.grid_only && b->topo->spec.kind != RL_TOPO_TORUS &&
	    b->topo->spec.kind != RL_TOPO_MESH)
		return route_refuse(b, "engine %s routes tori and meshes only",
				    e->info.name);
	ret = b->route->parts ? 0 :
		rl_topo_reach(b->topo, RL_REACH_WORKING, b->err);
	if (ret != 0)
		return ret;
	ret = route_graph_build(&b->g, b->topo, b->err);
	if (ret != 0)
		return ret;
	ret = e->compute(b);
	route_tables_done();
	route_graph_free(&b->g);
	return ret;
}

/* Keeps what rl_route_update() needs to compute the same way. */
static void
route_remember(struct rl_route *route, const struct rl_route_params *params,
	       const struct route_engine *e)
{
	struct route_mem *m = route->priv;

	m->params = *params;
	snprintf(m->engine, sizeof(m->engine), "%s", e->info.name);
	m->params.engine = m->engine;
}

int
rl_route_compute(const struct rl_topo *topo, const char *engine,
		 unsigned int max_vls, struct rl_route **out, char *err)
{
	const struct rl_route_params params = {
		.engine = engine, .max_vls = max_vls, .qos_levels = 1};

	return rl_route_compute_with(topo, &params, out, err);
}

/* before: the tables to be replaced, or NULL. */
static int
route_compute(const struct rl_topo *topo, const struct rl_route_params *params,
	      struct route_mem *before, struct rl_route **out, char *err)
{
	const struct route_engine *e = route_find(params->engine);
	struct route_build b = {
		.topo = topo, .before = before, .max_vls = params->max_vls,
		.qos_levels = params->qos_levels, .err = err};
	int ret;

	*out = NULL;
	if (e == NULL)
		return route_unknown(params->engine, err);
	if (params->adaptive)
		b.max_vls--;
	if (params->max_vls < 1u + params->adaptive ||
	    params->max_vls > RL_VCS || b.qos_levels < 1 || b.qos_levels > 2)
		return rl_refuse(err, RL_ERR_MAX, -EINVAL, "links have %u to "
				 "%d VLs, not %u, and 1 or 2 QoS levels, not "
				 "%u", 1u + params->adaptive, RL_VCS,
				 params->max_vls, b.qos_levels);
	b.route = calloc(1, sizeof(*b.route));
	if (b.route != NULL)
		b.route->priv = calloc(1, sizeof(struct route_mem));
	if (b.route == NULL || b.route->priv == NULL) {
		free(b.route);
		return rl_refuse(err, RL_ERR_MAX, -ENOMEM, "no memory");
	}
	b.route->engine = e->info.name;
	b.route->parts = params->parts;
	ret = route_run(&b, e);
	if (ret != 0) {
		rl_route_free(b.route);
		return ret;
	}
	for (uint32_t d = 0; d < topo->ndev; d++) {
		b.route->fwd[d].nvls = (uint8_t)(b.route->vls +
						 b.route->detour_vls);
		/* engines rank neighbours, and so parallel links alike */
		b.route->fwd[d].grouped = b.route->rank != NULL;
	}
	route_remember(b.route, params, e);
	b.route->adaptive = params->adaptive;
	if (params->adaptive) {
		ret = route_adapt(b.route, topo, b.max_vls, UINT16_MAX,
				  b.route->plain_why);
		if (ret == -ENOMEM) {
			rl_route_free(b.route);
			return rl_refuse(err, RL_ERR_MAX, ret, "no memory");
		}
	}
	*out = b.route;
	return 0;
}

int
rl_route_compute_with(const struct rl_topo *topo,
		      const struct rl_route_params *params,
		      struct rl_route **out, char *err)
{
	return route_compute(topo, params, NULL, out, err);
}

static bool
route_same(const struct rl_route *a, const struct rl_route *b, uint32_t dev)
{
	const struct rl_fwd *f = &a->fwd[dev], *g = &b->fwd[dev];
	unsigned int planes = 0;

	if ((f->adapt == NULL) != (g->adapt == NULL) ||
	    (f->adapt != NULL &&
	     (memcmp(f->adapt, g->adapt, a->nep * sizeof(*f->adapt)) != 0 ||
	      memcmp(f->adapt_links, g->adapt_links, a->nep) != 0 ||
	      memcmp(f->adapt_longer, g->adapt_longer,
		     a->nep * sizeof(*f->adapt_longer)) != 0)))
		return false;
	if (f->nplanes != g->nplanes || f->nvls != g->nvls ||
	    f->levels != g->levels ||
	    memcmp(f->plane_of, g->plane_of, sizeof(f->plane_of)) != 0 ||
	    memcmp(f->inject_plane, g->inject_plane,
		   sizeof(f->inject_plane)) != 0)
		return false;
	if (f->path_sl != NULL && memcmp(f->path_sl, g->path_sl, a->nep) != 0)
		return false;
	for (unsigned int vl = 0; vl < RL_VCS; vl++)
		for (unsigned int sl = 0; sl < RL_SLS; sl++)
			planes |= 1u << f->plane_of[vl][sl];
	for (unsigned int sl = 0; sl < RL_SLS; sl++)
		planes |= 1u << f->inject_plane[sl];
	for (unsigned int p = 0; p < f->nplanes; p++)
		if ((planes >> p & 1) &&
		    (f->room[p] != g->room[p] ||
		     memcmp(f->list[p], g->list[p],
			    (size_t)a->nep * sizeof(*f->list[p]) <<
				    f->room[p]) != 0))
			return false;
	return true;
}

/*
 * Computes everything again, with the only planner there is. Entries that a
 * failure does not affect come out unchanged: the checker has little to repeat,
 * and few devices have new tables.
 */
int
rl_route_update(struct rl_route *route, const struct rl_topo *topo,
		bool *changed, char *err)
{
	struct route_mem *m = route->priv;
	const uint32_t epoch = route->epoch + 1;
	struct rl_proof *const proof = route->proof;
	struct rl_route *fresh, old;
	int ret;

	RL_ASSERT(route->ndev == topo->ndev && route->nep == topo->nep);
	ret = route_compute(topo, &m->params, m, &fresh, err);
	if (ret != 0)
		return ret;
	for (uint32_t d = 0; changed != NULL && d < topo->ndev; d++)
		changed[d] |= !route_same(route, fresh, d);
	old = *route;
	*route = *fresh;
	*fresh = old;
	/* much of it may be unchanged */
	route->proof = proof;
	fresh->proof = NULL;
	route_tables_keep(route->priv, fresh->priv);
	rl_route_free(fresh);
	route->epoch = epoch;
	for (uint32_t d = 0; d < topo->ndev; d++)
		route->fwd[d].epoch = epoch;
	return 0;
}

void
rl_route_free(struct rl_route *route)
{
	struct route_mem *m;

	if (route == NULL)
		return;
	m = route->priv;
	route_tables_free(m);
	free(m);
	rl_proof_free(route->proof);
	free(route->rank);
	free(route->fwd);
	free(route);
}
