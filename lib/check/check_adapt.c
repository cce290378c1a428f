/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adaptive plane: every hop must lead strictly nearer to the destination, by
 * the checker's own count of links, so no packet goes round and every packet
 * arrives if it never leaves the plane. The one exception is a packet's first hop
 * between switches, which no packet makes twice. Where it may leave, it must
 * arrive by the tables: check_states.c goes on from there, with the SLs that
 * packets can have at that device.
 */
#include "check_adapt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
check_adapt_init(struct check_adapt *a, const struct rl_topo *t)
{
	memset(a, 0, sizeof(*a));
	a->dist = calloc(t->ndev + 1u, sizeof(*a->dist));
	a->order = calloc(t->ndev + 1u, sizeof(*a->order));
	a->src = calloc(t->ndev + 1u, sizeof(*a->src));
	a->sls = calloc(t->ndev + 1u, sizeof(*a->sls));
	a->begin = calloc(t->ndev + 1u, sizeof(*a->begin));
	if (a->dist != NULL && a->order != NULL && a->src != NULL &&
	    a->sls != NULL && a->begin != NULL)
		return 0;
	check_adapt_free(a);
	return -ENOMEM;
}

void
check_adapt_free(struct check_adapt *a)
{
	free(a->dist);
	free(a->order);
	free(a->src);
	free(a->sls);
	free(a->begin);
	memset(a, 0, sizeof(*a));
}

static const char *
adapt_move(const struct check_run *r, struct check_adapt *a, uint32_t u,
	   uint32_t dst)
{
	const struct rl_topo_dev *dev = &r->topo->dev[u];
	const uint32_t to = r->topo->ep_dev[dst];
	uint64_t ports = r->in->fwd[u].adapt[dst];

	for (; ports != 0; ports &= ports - 1) {
		const unsigned int p = (unsigned int)__builtin_ctzll(ports);
		const struct rl_topo_port *port;
		uint32_t w;

		if (p >= dev->nports)
			return "is sent to a port that is not there";
		port = &dev->port[p];
		w = port->peer_dev;
		if (check_is_dead(&r->dead, port->link))
			continue; /* no packet takes it */
		if (a->dist[w] >= a->dist[u])
			return "is led away from it by the adaptive plane";
		if (r->topo->dev[w].kind == RL_DEV_ENDPOINT && w != to)
			return "is led to another endpoint by the adaptive plane";
		a->sls[w] |= a->sls[u];
		a->src[w] = a->src[u];
	}
	return NULL;
}

/*
 * Moves packets that came to switch u from its own endpoints on by non-minimal
 * hops. What comes by another switch must not count as such: it could go round.
 */
static const char *
adapt_begin(const struct check_run *r, struct check_adapt *a, uint32_t u,
	    uint32_t dst)
{
	const struct rl_topo_dev *dev = &r->topo->dev[u];
	const struct rl_fwd *f = &r->in->fwd[u];
	const uint64_t ports = f->adapt_longer[dst];

	for (unsigned int p = 0; p < RL_FWD_ADAPT_PORTS; p++) {
		const bool from = f->adapt_ends >> p & 1;
		const bool to = ports >> p & 1;
		const struct rl_topo_port *port = &dev->port[p];
		uint32_t w;

		if ((from || to) && p >= dev->nports)
			return "is sent to a port that is not there";
		if (from && r->topo->dev[port->peer_dev].kind == RL_DEV_SWITCH)
			return "may be led away by the adaptive plane twice";
		if (!to || check_is_dead(&r->dead, port->link))
			continue;
		w = port->peer_dev;
		if (r->topo->dev[w].kind == RL_DEV_ENDPOINT)
			return "is led to another endpoint by the adaptive plane";
		a->sls[w] |= a->begin[u];
		a->src[w] = a->src[u];
	}
	return NULL;
}

static const char *
adapt_say(struct check_run *r, uint32_t src, uint32_t dst, const char *why)
{
	if (why != NULL)
		check_lost(r, src, dst, why);
	return why;
}

/* The first two hops of all packets: to a switch, and on by non-minimal ones. */
static const char *
adapt_begin_all(struct check_run *r, struct check_adapt *a, uint32_t dst)
{
	const struct rl_topo *t = r->topo;
	const char *why = NULL;

	for (uint32_t s = 0; s < t->nep && why == NULL; s++)
		if (a->sls[t->ep_dev[s]] != 0)
			why = adapt_say(r, s, dst,
					adapt_move(r, a, t->ep_dev[s], dst));
	memcpy(a->begin, a->sls, t->ndev * sizeof(*a->begin));
	for (uint32_t u = 0; u < t->ndev && why == NULL; u++)
		if (a->begin[u] != 0 && t->dev[u].kind == RL_DEV_SWITCH &&
		    r->in->fwd[u].adapt != NULL &&
		    r->in->fwd[u].adapt_links[dst] != 0)
			why = adapt_say(r, a->src[u], dst,
					adapt_begin(r, a, u, dst));
	return why;
}

/* Whether a packet that leaves the plane at a switch has the tables' plane that
   it would have if it were injected there. */
static bool
adapt_joins(const struct rl_fwd *f)
{
	for (unsigned int sl = 0; sl < RL_SLS; sl++)
		if (f->plane_of[f->adapt_vl][sl] != f->inject_plane[sl])
			return false;
	return f->adapt_vl < RL_VCS;
}

const char *
check_adapt_follow(struct check_run *r, struct check_adapt *a, uint32_t dst)
{
	const struct rl_topo *t = r->topo;
	const struct rl_fwd *fwd = r->in->fwd;
	const char *why = NULL;

	memset(a->sls, 0, t->ndev * sizeof(*a->sls));
	a->n = check_distances(r, t->ep_dev[dst], a->dist, a->order);
	for (uint32_t s = 0; s < t->nep; s++) {
		const uint32_t d = t->ep_dev[s];

		if (fwd[d].adapt == NULL || !check_counts(r, s, dst))
			continue;
		a->sls[d] = (uint16_t)(fwd[d].adapt_sls &
				       1u << (fwd[d].path_sl[dst] &
					      (RL_SLS - 1)));
		a->src[d] = s;
	}
	why = adapt_begin_all(r, a, dst);
	for (uint32_t i = a->n; i-- > 1 && why == NULL;) {
		const uint32_t u = a->order[i];

		if (a->sls[u] == 0)
			continue;
		if (fwd[u].adapt == NULL ||
		    fwd[u].adapt_vl != fwd[t->ep_dev[dst]].adapt_vl ||
		    (t->dev[u].kind == RL_DEV_SWITCH && !adapt_joins(&fwd[u])))
			why = "cannot leave the adaptive plane";
		else
			why = adapt_move(r, a, u, dst);
		adapt_say(r, a->src[u], dst, why);
	}
	return why;
}
