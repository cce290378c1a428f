/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adaptive plane: every hop must lead strictly nearer to the destination, by
 * the checker's own count of links, so no packet goes round and every packet
 * arrives if it never leaves the plane. Where it may leave, it must arrive by the
 * tables: check_states.c goes on from there, with the SLs that packets can have
 * at that device.
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
	if (a->dist != NULL && a->order != NULL && a->src != NULL &&
	    a->sls != NULL)
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
	memset(a, 0, sizeof(*a));
}

/* Moves the packets at device u on by all ports that they may take. */
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
		if (why != NULL)
			check_lost(r, a->src[u], dst, why);
	}
	return why;
}
