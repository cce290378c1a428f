/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHECK_WALK_H
#define CHECK_WALK_H

/**
 * @file What a device does with a packet, by its table, as in a switch core:
 * the only place where the checker interprets tables.
 */

#include "check_deps.h"

/** A packet before a table lookup. */
struct check_at {
	uint32_t dev;
	uint16_t in_port; /**< the device's nports: injected */
	uint8_t vl;	  /**< of the link it came by */
	uint8_t sl;
};

/** Links that don't work: bit per link. */
struct check_dead {
	uint64_t *bit;
	uint32_t nlink;
};

struct check_run {
	const struct rl_check_in *in;
	const struct rl_topo *topo;
	struct rl_check_report *rep;
	struct check_deps deps;
	struct check_dead dead;
	uint32_t *load;	 /**< [link * 2 + end] */
	uint8_t *used;	 /**< [channel] */
	uint32_t nchan;
	bool grouped; /**< whether links that replace each other count as one */
	bool count; /**< whether hops and loads are being counted */
	uint32_t *dist;	 /**< [device] links from the current source, or NULL */
	uint32_t *queue; /**< [device] */
	uint32_t *part;	 /**< [device] see check_parts.h; NULL: not needed */
	double stretch;	 /**< sum over the pairs so far */
};

int check_dead_init(struct check_dead *d, const struct rl_topo *topo);
void check_dead_free(struct check_dead *d);

static inline bool
check_is_dead(const struct check_dead *d, uint32_t link)
{
	return d->bit[link >> 6] >> (link & 63) & 1;
}

static inline void
check_kill(struct check_dead *d, uint32_t link)
{
	d->bit[link >> 6] |= 1ull << (link & 63);
}

static inline void
check_revive(struct check_dead *d, uint32_t link)
{
	d->bit[link >> 6] &= ~(1ull << (link & 63));
}

/** The next hops of a packet at a device, and the plane it is on. */
static inline struct rl_fwd_entry
check_entry(const struct rl_fwd *f, const struct check_at *at, uint32_t dst,
	    unsigned int *plane)
{
	*plane = at->in_port == f->nports ? f->inject_plane[at->sl] :
					    f->plane_of[at->vl][at->sl];
	if (*plane >= f->nplanes)
		*plane = 0;
	return rl_fwd_lookup(f, *plane, (uint16_t)dst);
}

/** Whether a next hop ends the list, as it does for switches (rl_fwd.h). */
static inline bool
check_ends(struct rl_fwd_hop h)
{
	return h.port == RL_FWD_PORT_NONE;
}

/**
 * Moves a packet on plane @p plane over next hop @p h. Returns the channel it
 * takes, or UINT32_MAX if it may not: no such port, a dead link, or back by its
 * input port (rl_fwd.h).
 */
static inline uint32_t
check_move(const struct check_run *r, const struct rl_fwd *f,
	   unsigned int plane, struct rl_fwd_hop h, struct check_at *at)
{
	const struct rl_topo_dev *dev = &r->topo->dev[at->dev];
	const struct rl_topo_port *p;
	uint8_t vl;

	if (h.port >= dev->nports || h.plane >= f->nplanes)
		return UINT32_MAX;
	if (h.port == at->in_port &&
	    (dev->kind == RL_DEV_ENDPOINT || h.plane == plane))
		return UINT32_MAX;
	p = &dev->port[h.port];
	if (check_is_dead(&r->dead, p->link))
		return UINT32_MAX;
	vl = rl_fwd_vl(f, h.plane, at->in_port, h.port, at->sl);
	at->dev = p->peer_dev;
	at->in_port = p->peer_port;
	at->vl = vl & (RL_VCS - 1);
	return check_channel(p->link, p->end, at->vl);
}

/**
 * The first of all links that may replace the one of channel @p chan: its
 * channel in the same direction. If tables have no such links: @p chan.
 */
static inline uint32_t
check_first_beside(const struct rl_topo *topo, const struct rl_fwd *fwd,
		   uint32_t chan)
{
	const struct rl_topo_link *l = &topo->link[chan / RL_VCS / 2];
	const uint32_t tail = l->dev[chan / RL_VCS % 2];
	uint32_t first;

	if (l->k == 0 || !fwd[tail].grouped)
		return chan;
	first = (uint32_t)rl_topo_link_between(topo, l->dev[0], l->dev[1], 0);
	return check_channel(first, topo->link[first].dev[1] == tail,
			     chan % RL_VCS);
}

/**
 * Moves a packet by the first next hop that works. Returns the channel it
 * takes, or UINT32_MAX: there is none.
 */
uint32_t check_step(const struct check_run *r, struct check_at *at,
		    uint32_t dst);

/**
 * Links between device @p from and all others, UINT32_MAX: no path. Endpoints
 * forward nothing. @p order gets the devices, the nearest first. Returns how
 * many there are.
 */
uint32_t check_distances(const struct check_run *r, uint32_t from,
			 uint32_t *dist, uint32_t *order);

/** Follows all pairs by the first working next hops. */
void check_pairs(struct check_run *r);

/** Follows all that packets may do, by states; returns 0 or -ENOMEM. */
int check_states(struct check_run *r);

/** Whether an endpoint is present: it has a link that works. */
bool check_ep_live(const struct check_run *r, uint32_t e);

/** Whether a pair counts. */
bool check_counts(const struct check_run *r, uint32_t src, uint32_t dst);

void check_lost(struct check_run *r, uint32_t src, uint32_t dst,
		const char *why);

#endif /* CHECK_WALK_H */
