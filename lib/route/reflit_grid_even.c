/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine reflit on small faulty grids: relieves the busiest link. Many pairs
 * have several classes of path that are equally short; all classes together are
 * loop-free, so a pair may take any. Pairs whose path crosses a link with the
 * most paths take another class if that leads by links with fewer. All others
 * keep their path.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reflit_grid.h"

/* Most pairs of endpoints: beyond that it takes too long. */
#define EVEN_PAIRS 65536u
/* Most passes over all pairs. */
#define EVEN_ROUNDS 12
/* Most links of a path; none is longer on so small a grid. */
#define EVEN_LINKS 64

struct even {
	struct reflit *rf;
	uint32_t *load;	 /* [link * 2 + end] paths */
	uint32_t *first; /* [pair] start of its links, and the pair's number */
	uint32_t *path;	 /* links of all paths, one path after the other */
	size_t npath;
	size_t room;
	uint32_t used;	/* links that work, in both directions */
	uint32_t goal;	/* most paths that a link should carry */
};

static unsigned int
even_plane(const struct reflit *rf, uint8_t sl)
{
	const unsigned int plane[] = {rf->dor, rf->up, rf->late, rf->both,
				      rf->dt.plane};

	return plane[sl];
}

/*
 * The links of the path from node u to endpoint e by the first next hops of a
 * class. @return how many; 0: it does not arrive, or has more than `most`, or a
 * link would carry more than the goal.
 */
static uint32_t
even_walk(const struct even *ev, uint32_t u, uint32_t e, uint8_t sl,
	  uint32_t *link, uint32_t most)
{
	const struct reflit *rf = ev->rf;
	const struct rl_topo *t = rf->b->topo;
	unsigned int plane = even_plane(rf, sl);

	for (uint32_t n = 0;; n++) {
		const struct rl_fwd *f = &rf->b->route->fwd[u];
		const struct rl_fwd_entry entry =
			rl_fwd_lookup(f, plane, (uint16_t)e);
		const struct rl_fwd_hop h = entry.hop[0];
		const struct rl_topo_port *p;

		/* without a path on a plane, packets change to detours at once,
		 * but then have no further detour */
		if (h.port == RL_FWD_PORT_NONE ||
		    (h.plane == rf->dt.plane && plane != rf->dt.plane &&
		     entry.hop[1].port == RL_FWD_PORT_NONE))
			return 0;
		p = &t->dev[u].port[h.port];
		if (p->peer_dev == t->ep_dev[e])
			return n;
		if (n == most || ev->load[p->link * 2 + p->end] >= ev->goal)
			return 0;
		link[n] = p->link * 2 + p->end;
		plane = f->plane_of[rl_fwd_vl(f, h.plane, f->nports, h.port,
					      sl)][sl];
		u = p->peer_dev;
	}
}

static void
even_add(struct even *ev, const uint32_t *link, uint32_t n, uint32_t paths)
{
	for (uint32_t i = 0; i < n; i++)
		ev->load[link[i]] += paths;
}

/* Gives a pair another class if that helps. @return whether it does */
static bool
even_pair(struct even *ev, uint32_t s, uint32_t e, uint32_t *link, uint32_t n)
{
	struct reflit *rf = ev->rf;
	const struct route_graph *g = &rf->b->g;
	struct route_mem *m = rf->b->route->priv;
	uint8_t *sl = &m->path_sl[(size_t)s * rf->b->topo->nep + e];
	const uint8_t classes = rf->dt.updown ? REFLIT_SL_ASIDE + 1 :
						REFLIT_SL_ASIDE;
	uint32_t other[EVEN_LINKS];

	even_add(ev, link, n, UINT32_MAX);
	for (uint8_t c = 0; c < classes; c++) {
		if (c == *sl || even_walk(ev, g->att[g->att0[s]].node, e, c,
					  other, n) != n)
			continue;
		even_add(ev, other, n, 1);
		memcpy(link, other, n * sizeof(*link));
		*sl = c;
		rf->beyond |= c == REFLIT_SL_ASIDE;
		return true;
	}
	even_add(ev, link, n, 1);
	return false;
}

/* Visits every pair with class direct, or every other pair. @return whether one
 * has another class now */
static bool
even_round(struct even *ev, bool direct)
{
	const struct route_mem *m = ev->rf->b->route->priv;
	const uint32_t nep = ev->rf->b->topo->nep;
	bool moved = false;

	for (uint32_t i = 0; i < nep * nep; i++) {
		uint32_t *link = ev->path + ev->first[i];
		const uint32_t n = ev->first[i + 1] - ev->first[i];

		if ((m->path_sl[i] == REFLIT_SL_DIRECT) != direct)
			continue;
		for (uint32_t k = 0; k < n; k++)
			if (ev->load[link[k]] > ev->goal) {
				moved |= even_pair(ev, i / nep, i % nep, link,
						   n);
				break;
			}
	}
	return moved;
}

static int
even_paths(struct even *ev)
{
	const struct reflit *rf = ev->rf;
	const struct route_graph *g = &rf->b->g;
	const struct route_mem *m = rf->b->route->priv;
	const uint32_t nep = rf->b->topo->nep;

	ev->goal = UINT32_MAX;
	for (uint32_t i = 0; i < nep * nep; i++) {
		const uint32_t s = i / nep, e = i % nep;

		ev->first[i] = (uint32_t)ev->npath;
		if (ev->room < ev->npath + EVEN_LINKS) {
			uint32_t *more;

			ev->room = 2 * ev->room + 4 * nep + EVEN_LINKS;
			more = realloc(ev->path, ev->room * sizeof(*more));
			if (more == NULL)
				return -ENOMEM;
			ev->path = more;
		}
		if (e != s && route_ep_live(g, s) && route_ep_live(g, e))
			ev->npath += even_walk(ev, g->att[g->att0[s]].node, e,
					       m->path_sl[i],
					       ev->path + ev->npath,
					       EVEN_LINKS);
		even_add(ev, ev->path + ev->first[i],
			 (uint32_t)ev->npath - ev->first[i], 1);
	}
	ev->first[nep * nep] = (uint32_t)ev->npath;
	return 0;
}

static uint32_t
even_busiest(const struct even *ev)
{
	const struct rl_topo *t = ev->rf->b->topo;
	uint32_t most = 0;

	for (uint32_t i = 0; i < 2 * t->nlink; i++)
		most = rl_max_u32(most, ev->load[i]);
	return most;
}

static void
even_rounds(struct even *ev)
{
	const uint32_t mean = (uint32_t)(ev->npath / ev->used) + 1;
	uint32_t busiest = even_busiest(ev), step;

	/* large steps first */
	step = busiest > mean ? (busiest - mean + 3) / 4 : 0;
	for (unsigned int i = 0; i < EVEN_ROUNDS && busiest > mean; i++) {
		bool moved;

		step = rl_min_u32(step, busiest - mean);
		ev->goal = busiest - step;
		/* first pairs whose path has changed anyway, then the others */
		moved = even_round(ev, false);
		moved |= even_round(ev, true);
		busiest = even_busiest(ev);
		if (busiest > ev->goal && step == 1)
			break;
		if (!moved || busiest > ev->goal)
			step = (step + 1) / 2;
	}
}

int
reflit_even(struct reflit *rf)
{
	const struct rl_topo *t = rf->b->topo;
	struct even ev = {.rf = rf};
	int ret = -ENOMEM;

	if ((uint64_t)t->nep * t->nep > EVEN_PAIRS)
		return 0;
	ev.load = calloc(2u * (size_t)t->nlink + 1, sizeof(*ev.load));
	ev.first = malloc(((size_t)t->nep * t->nep + 1) * sizeof(*ev.first));
	for (uint32_t l = 0; l < t->nlink; l++)
		ev.used += t->link[l].kind == RL_LINK_ISL &&
			   rl_topo_link_up(t, l) ? 2 : 0;
	if (ev.load != NULL && ev.first != NULL)
		ret = even_paths(&ev);
	if (ret == 0 && ev.used != 0)
		even_rounds(&ev);
	free(ev.load);
	free(ev.first);
	free(ev.path);
	return ret;
}
