/* SPDX-License-Identifier: BSD-3-Clause */

/* Shrinking a fabric: without a device, without a link, two switches as one. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shrink_priv.h"

#define GONE UINT32_MAX

struct smaller {
	struct rl_topo_spec spec;
	struct rl_topo_ref *dev;  /* [ndev], switches first */
	struct rl_topo_ref *link; /* [nlink] */
	uint32_t *new_link;	  /* [nlink] of the old ones: which it is now */
	uint32_t *new_dev;	  /* [ndev], after map */
};

/* Names of the devices that stay, in their order. */
static void
take_devices(struct smaller *m, const struct rl_topo *t, const uint32_t *map)
{
	uint32_t n = 0;

	for (int kind = RL_DEV_SWITCH; kind <= RL_DEV_ENDPOINT; kind++)
		for (uint32_t d = 0; d < t->ndev; d++) {
			if ((int)t->dev[d].kind != kind || map[d] != d)
				continue;
			m->new_dev[d] = n;
			memcpy(m->dev[n++].a, t->dev[d].name, RL_NAME_MAX);
			m->spec.nswitches += kind == RL_DEV_SWITCH;
			m->spec.nendpoints += kind == RL_DEV_ENDPOINT;
		}
	m->spec.switches = m->dev;
	m->spec.endpoints = m->dev + m->spec.nswitches;
	m->spec.links = m->link;
}

static void
take_links(struct smaller *m, const struct rl_topo *t, const uint32_t *map,
	   uint32_t drop)
{
	for (uint32_t l = 0; l < t->nlink; l++) {
		const uint32_t a = map[t->link[l].dev[0]];
		const uint32_t b = map[t->link[l].dev[1]];
		struct rl_topo_ref *r = &m->link[m->spec.nlinks];

		m->new_link[l] = GONE;
		if (l == drop || a == GONE || b == GONE || a == b)
			continue;
		memcpy(r->a, t->dev[a].name, RL_NAME_MAX);
		memcpy(r->b, t->dev[b].name, RL_NAME_MAX);
		r->k = -1;
		r->count = 1;
		m->new_link[l] = m->spec.nlinks++;
	}
}

/* Faults of what has gone go, too. */
static void
follow_faults(struct rl_sim_faults *list, const struct smaller *m,
	      const uint32_t *map)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		struct rl_fault f = list->f[i];

		if (f.is_dev && map[f.dev] == GONE)
			continue;
		if (f.is_dev)
			f.dev = m->new_dev[map[f.dev]];
		else if (f.kind < RL_FAULT_CTL_CRASH &&
			 m->new_link[f.link] == GONE)
			continue;
		else if (f.kind < RL_FAULT_CTL_CRASH)
			f.link = m->new_link[f.link];
		list->f[n++] = f;
	}
	list->n = n;
}

static void
follow_marks(struct rl_topo *to, const struct rl_topo *from,
	     const struct smaller *m, const uint32_t *map)
{
	for (uint32_t l = 0; l < from->nlink; l++)
		if (m->new_link[l] != GONE)
			to->link[m->new_link[l]].failed = from->link[l].failed;
	for (uint32_t d = 0; d < from->ndev; d++)
		if (map[d] == d)
			to->dev[m->new_dev[d]].failed = from->dev[d].failed;
}

static bool
make(struct shrinking *sh, struct smaller *m, const uint32_t *map,
     uint32_t drop)
{
	struct rl_topo *t = &sh->plan->cfg.topo, made;
	char err[RL_ERR_MAX];

	rl_topo_spec_defaults(&m->spec, RL_TOPO_CUSTOM);
	take_devices(m, t, map);
	take_links(m, t, map, drop);
	if (m->spec.nendpoints < 2 || !shrink_faults(sh) ||
	    rl_topo_build(&m->spec, &made, err, NULL) != 0)
		return false;
	follow_faults(&sh->plan->faults, m, map);
	follow_marks(&made, t, m, map);
	sh->plan->cfg.topo = made;
	sh->plan->load.nep = (uint16_t)made.nep;
	return true;
}

/*
 * Gives the plan the fabric in which device d has become map[d], or has gone
 * (UINT32_MAX), and link drop has gone, as a list of links; faults follow. False:
 * there is no such fabric; the step must be ended all the same.
 */
static bool
shrink_topo(struct shrinking *sh, const uint32_t *map, uint32_t drop)
{
	const struct rl_topo *t = &sh->plan->cfg.topo;
	struct smaller m = {
		.dev = calloc(t->ndev, sizeof(*m.dev)),
		.link = calloc(t->nlink, sizeof(*m.link)),
		.new_link = calloc(t->nlink, sizeof(*m.new_link)),
		.new_dev = calloc(t->ndev, sizeof(*m.new_dev)),
	};
	bool ok = false;

	if (m.dev == NULL || m.link == NULL || m.new_link == NULL ||
	    m.new_dev == NULL)
		sh->err = -ENOMEM;
	else
		ok = make(sh, &m, map, drop);
	free(m.dev);
	free(m.link);
	free(m.new_link);
	free(m.new_dev);
	return ok;
}

/* Ends without a link go, too: once round is enough for ends of a chain. */
static void
lonely(const struct rl_topo *t, uint32_t *map, uint32_t drop)
{
	for (uint32_t d = 0; d < t->ndev; d++) {
		bool linked = false;

		for (uint16_t p = 0; p < t->dev[d].nports && !linked; p++)
			linked = t->dev[d].port[p].link != drop &&
				 map[t->dev[d].port[p].peer_dev] != GONE;
		if (!linked)
			map[d] = GONE;
	}
}

/* Device @p d becomes @p to (GONE: goes), and link @p drop goes. */
static bool
step(struct shrinking *sh, uint32_t d, uint32_t to, uint32_t drop)
{
	const struct rl_topo *t = &sh->plan->cfg.topo;
	uint32_t *map = calloc(t->ndev, sizeof(*map));
	bool ok;

	if (map == NULL) {
		sh->err = -ENOMEM;
		return false;
	}
	for (uint32_t i = 0; i < t->ndev; i++)
		map[i] = i == d ? to : i;
	if (to == GONE || drop != GONE)
		lonely(t, map, drop);
	ok = shrink_topo(sh, map, drop);
	free(map);
	if (ok)
		return shrink_keep(sh);
	/* nothing to ask for: back to what it was */
	if (sh->plan->faults.f != sh->old->faults.f)
		rl_sim_faults_free(&sh->plan->faults);
	*sh->plan = *sh->old;
	return false;
}

static void
merge_switches(struct shrinking *sh)
{
	const struct rl_topo *t = &sh->plan->cfg.topo;

	for (uint32_t l = t->nlink; l-- > 0 && sh->err == 0;) {
		if (l < t->nlink && t->link[l].kind == RL_LINK_ISL &&
		    t->dev[t->link[l].dev[0]].kind == RL_DEV_SWITCH)
			step(sh, t->link[l].dev[1], t->link[l].dev[0], GONE);
	}
}

void
shrink_fabric(struct shrinking *sh)
{
	const struct rl_topo *t = &sh->plan->cfg.topo;

	if (t->spec.kind != RL_TOPO_CUSTOM && !step(sh, GONE, GONE, GONE))
		return;
	for (uint32_t d = t->ndev; d-- > 0 && sh->err == 0;)
		if (d < t->ndev)
			step(sh, d, GONE, GONE);
	merge_switches(sh);
	for (uint32_t l = t->nlink; l-- > 0 && sh->err == 0;)
		if (l < t->nlink)
			step(sh, GONE, GONE, l);
}
