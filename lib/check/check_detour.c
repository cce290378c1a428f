/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coverage of local detours. Follows a packet along its normal path; before
 * every hop, it kills the next link or device, and follows the packet from
 * there by the tables alone, which know nothing of the failure. The result
 * depends on the input channel, the SL and the destination, so each such state
 * is checked once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_parts.h"
#include "check_walk.h"

struct detour {
	struct check_run *r;
	struct rl_check_detours *rep;
	enum rl_check_fail what;
	uint64_t *seen;	   /* bit per state */
	uint32_t *touched; /* words of seen that are not 0 */
	uint32_t ntouched;
	uint32_t *killed; /* links killed for the current state */
	uint32_t nkilled;
	uint32_t *queue; /* devices */
	uint8_t *reached;
};

/* Hops from here to the destination, 0 if the packet does not arrive. */
static uint32_t
detour_walk(const struct check_run *r, struct check_at at, uint32_t dst)
{
	const uint32_t end = r->topo->ep_dev[dst];
	bool reflected = false;

	for (uint32_t hops = 1; hops <= RL_CHECK_HOPS_MAX; hops++) {
		if (check_step(r, &at, dst) == UINT32_MAX)
			return 0;
		if (at.dev == end)
			return hops;
		if (r->topo->dev[at.dev].kind == RL_DEV_ENDPOINT) {
			if (reflected)
				return 0;
			reflected = true;
		}
	}
	return 0;
}

static void
detour_kill(struct detour *d, uint32_t link)
{
	if (check_is_dead(&d->r->dead, link))
		return;
	check_kill(&d->r->dead, link);
	d->killed[d->nkilled++] = link;
}

/* Kills the next hop of the packet at `at`, which uses `link`. */
static void
detour_fail(struct detour *d, uint32_t dev, uint32_t link)
{
	const struct rl_topo *t = d->r->topo;
	const struct rl_topo_link *l = &t->link[link];
	const uint32_t next = l->dev[l->dev[0] == dev];
	const struct rl_topo_dev *peer = &t->dev[next];

	detour_kill(d, link);
	if (d->what == RL_CHECK_LINK)
		return;
	for (unsigned int p = 0; p < peer->nports; p++)
		if (d->what == RL_CHECK_SWITCH || peer->port[p].peer_dev == dev)
			detour_kill(d, peer->port[p].link);
}

static void
detour_spread(struct detour *d, uint32_t u, uint8_t level, uint32_t *tail)
{
	const struct rl_topo_dev *dev = &d->r->topo->dev[u];

	for (unsigned int p = 0; p < dev->nports; p++) {
		const struct rl_topo_port *port = &dev->port[p];

		if (d->reached[port->peer_dev] != 0 ||
		    check_is_dead(&d->r->dead, port->link))
			continue;
		d->reached[port->peer_dev] = level;
		d->queue[(*tail)++] = port->peer_dev;
	}
}

/*
 * Fewest endpoints that a path from dev to dst has to pass: 0, 1, or 2 if that
 * is not enough. A search from dst; reached[] counts the endpoints passed, plus
 * 1.
 */
static unsigned int
detour_between(struct detour *d, uint32_t dev, uint32_t dst)
{
	const struct rl_topo *t = d->r->topo;
	uint32_t head = 0, tail = 0;

	memset(d->reached, 0, t->ndev);
	d->queue[tail++] = t->ep_dev[dst];
	d->reached[t->ep_dev[dst]] = 1;
	for (uint8_t level = 1; level <= 2; level++) {
		const uint32_t end = tail;

		/* Devices reached through one endpoint come after all reached
		   through none. */
		for (uint32_t i = 0; level == 2 && i < end; i++)
			if (t->dev[d->queue[i]].kind == RL_DEV_ENDPOINT)
				detour_spread(d, d->queue[i], level, &tail);
		if (level == 1)
			detour_spread(d, d->queue[0], level, &tail);
		for (head = level == 1 ? 1 : end; head < tail; head++)
			if (t->dev[d->queue[head]].kind == RL_DEV_SWITCH)
				detour_spread(d, d->queue[head], level, &tail);
	}
	return d->reached[dev] != 0 ? d->reached[dev] - 1u : 2;
}

/* A packet is at `at`, and its next hop dies. */
static void
detour_look(struct detour *d, const struct check_at *at, uint32_t dst,
	    uint32_t link)
{
	struct rl_check_detours *rep = d->rep;
	const uint32_t before = detour_walk(d->r, *at, dst);
	uint32_t after;

	if (before == 0)
		return;
	rep->ways++;
	d->nkilled = 0;
	detour_fail(d, at->dev, link);
	after = detour_walk(d->r, *at, dst);
	if (after != 0) {
		rep->connected++;
		rep->covered++;
		rep->hops_before += before;
		rep->hops_after += after;
		if (after > rep->max_hops)
			rep->max_hops = after;
		if (after > before && after - before > rep->max_extra)
			rep->max_extra = after - before;
	} else {
		const unsigned int between = detour_between(d, at->dev, dst);

		/* A pair that switches alone could serve takes precedence. */
		if (rep->connected == rep->covered &&
		    (between == 0 ||
		     (between == 1 && rep->reflectable == 0))) {
			rep->dev = at->dev;
			rep->dst = dst;
			rep->link = link;
		}
		rep->connected += between == 0;
		rep->reflectable += between == 1;
	}
	for (uint32_t i = 0; i < d->nkilled; i++)
		check_revive(&d->r->dead, d->killed[i]);
}

/* Whether the state is new; marks it. */
static bool
detour_new(struct detour *d, uint32_t chan, uint8_t sl)
{
	const uint32_t s = chan * RL_SLS + sl;
	const uint64_t bit = 1ull << (s & 63);

	if (d->seen[s >> 6] & bit)
		return false;
	if (d->seen[s >> 6] == 0)
		d->touched[d->ntouched++] = s >> 6;
	d->seen[s >> 6] |= bit;
	return true;
}

static void
detour_pair(struct detour *d, uint32_t src, uint32_t dst)
{
	const struct check_run *r = d->r;
	struct check_at at = {.dev = r->topo->ep_dev[src]};

	at.in_port = r->in->fwd[at.dev].nports;
	at.sl = r->in->fwd[at.dev].path_sl[dst] & (RL_SLS - 1);
	while (at.dev != r->topo->ep_dev[dst]) {
		const struct check_at here = at;
		const struct rl_topo_port *back;

		if (check_step(r, &at, dst) == UINT32_MAX)
			return;
		back = &r->topo->dev[at.dev].port[at.in_port];
		/* a switch that fails is not the destination itself */
		if (d->what != RL_CHECK_SWITCH ||
		    r->topo->dev[at.dev].kind == RL_DEV_SWITCH)
			detour_look(d, &here, dst, back->link);
		if (!detour_new(d, check_channel(back->link, !back->end,
						 at.vl), at.sl))
			return;
	}
}

static int
detour_init(struct detour *d, const struct check_run *r)
{
	const size_t words = (size_t)r->nchan * RL_SLS / 64 + 1;

	d->seen = calloc(words, sizeof(*d->seen));
	d->touched = malloc(words * sizeof(*d->touched));
	d->killed = malloc(((size_t)r->topo->nlink + 1) * sizeof(*d->killed));
	d->queue = malloc((size_t)r->topo->ndev * sizeof(*d->queue));
	d->reached = malloc((size_t)r->topo->ndev);
	return d->seen == NULL || d->touched == NULL || d->killed == NULL ||
	       d->queue == NULL || d->reached == NULL ? -ENOMEM : 0;
}

static void
detour_all(struct detour *d)
{
	const struct check_run *r = d->r;

	for (uint32_t dst = 0; dst < r->topo->nep; dst++) {
		if (!check_ep_live(r, dst))
			continue;
		for (uint32_t src = 0; src < r->topo->nep; src++)
			if (check_counts(r, src, dst))
				detour_pair(d, src, dst);
		for (uint32_t i = 0; i < d->ntouched; i++)
			d->seen[d->touched[i]] = 0;
		d->ntouched = 0;
	}
}

int
rl_check_detours(const struct rl_check_in *in, enum rl_check_fail what,
		 struct rl_check_detours *rep)
{
	struct check_run r = {.in = in, .topo = in->topo,
			      .nchan = in->topo->nlink * 2 * RL_VCS};
	struct detour d = {.r = &r, .rep = rep, .what = what};
	int ret = -ENOMEM;

	memset(rep, 0, sizeof(*rep));
	if (check_dead_init(&r.dead, in->topo) != 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < in->ndead; i++)
		check_kill(&r.dead, in->dead[i]);
	if (in->parts)
		r.part = check_parts(in->topo);
	if (detour_init(&d, &r) == 0 && (r.part != NULL || !in->parts)) {
		detour_all(&d);
		ret = 0;
	}
	free(d.reached);
	free(d.queue);
	free(d.killed);
	free(d.touched);
	free(d.seen);
	free(r.part);
	check_dead_free(&r.dead);
	return ret;
}
