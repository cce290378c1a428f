/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether every endpoint reaches every other. Only switches forward packets, so
 * it is enough to know the connected parts of the switches: two endpoints reach
 * each other if both are linked to one part, or to each other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rl_refuse.h"
#include "rl_topo.h"

/* Names of a part that an error lists. */
#define REACH_NAMES 3

struct reach {
	const struct rl_topo *t;
	enum rl_reach what;
	uint32_t *part;	 /* of each switch: the lowest switch in it */
	uint32_t *stamp; /* of each part: last endpoint seen in it, plus 1 */
	uint32_t *count; /* of each part: endpoints in it */
};

static bool
reach_dev_up(const struct reach *r, uint32_t dev)
{
	return r->what == RL_REACH_PRISTINE || !r->t->dev[dev].failed;
}

static bool
reach_link_up(const struct reach *r, uint32_t link)
{
	return r->what == RL_REACH_PRISTINE || rl_topo_link_up(r->t, link);
}

static uint32_t
reach_root(uint32_t *part, uint32_t u)
{
	while (part[u] != u) {
		part[u] = part[part[u]];
		u = part[u];
	}
	return u;
}

static void
reach_join(struct reach *r)
{
	const struct rl_topo *t = r->t;

	for (uint32_t u = 0; u < t->ndev; u++)
		r->part[u] = u;
	for (uint32_t i = 0; i < t->nlink; i++) {
		const uint32_t a = reach_root(r->part, t->link[i].dev[0]);
		const uint32_t b = reach_root(r->part, t->link[i].dev[1]);

		if (t->link[i].kind != RL_LINK_ISL || !reach_link_up(r, i))
			continue;
		if (a < b)
			r->part[b] = a;
		else
			r->part[a] = b;
	}
	for (uint32_t u = 0; u < t->ndev; u++)
		r->part[u] = reach_root(r->part, u);
}

bool
rl_topo_ep_there(const struct rl_topo *t, uint32_t ep)
{
	const struct rl_topo_dev *dev = &t->dev[t->ep_dev[ep]];

	for (unsigned int p = 0; p < dev->nports; p++)
		if (rl_topo_link_up(t, dev->port[p].link))
			return true;
	return false;
}

/* Whether the others have to reach an endpoint. One without a link in the
 * description has not lost it. */
static bool
reach_wanted(const struct reach *r, uint32_t ep)
{
	return r->what == RL_REACH_PRISTINE ||
	       r->t->dev[r->t->ep_dev[ep]].nports == 0 ||
	       rl_topo_ep_there(r->t, ep);
}

static void
reach_stamp(struct reach *r, uint32_t ep)
{
	const struct rl_topo_dev *dev = &r->t->dev[r->t->ep_dev[ep]];

	for (unsigned int p = 0; p < dev->nports; p++) {
		const uint32_t part = r->part[dev->port[p].peer_dev];

		if (!reach_link_up(r, dev->port[p].link) ||
		    r->stamp[part] == ep + 1)
			continue;
		r->stamp[part] = ep + 1;
		r->count[part]++;
	}
}

/* Whether endpoint b is linked to a part that a has stamped, or to a. */
static bool
reach_meets(const struct reach *r, uint32_t a, uint32_t b)
{
	const struct rl_topo_dev *dev = &r->t->dev[r->t->ep_dev[b]];

	for (unsigned int p = 0; p < dev->nports; p++) {
		const uint32_t peer = dev->port[p].peer_dev;

		if (!reach_link_up(r, dev->port[p].link))
			continue;
		if (peer == r->t->ep_dev[a])
			return true;
		if (r->t->dev[peer].kind == RL_DEV_SWITCH &&
		    r->stamp[r->part[peer]] == a + 1)
			return true;
	}
	return false;
}

/* Writes "{s0, s1, s2, ... 12 in all}": the switches that endpoint ep sees. */
static void
reach_describe(struct reach *r, uint32_t ep, char *buf, size_t len)
{
	const struct rl_topo *t = r->t;
	unsigned int seen = 0;
	size_t n = (size_t)snprintf(buf, len, "{");

	reach_stamp(r, ep);
	for (uint32_t u = 0; u < t->ndev; u++) {
		if (t->dev[u].kind != RL_DEV_SWITCH ||
		    r->stamp[r->part[u]] != ep + 1)
			continue;
		if (seen++ < REACH_NAMES && n < len)
			n += (size_t)snprintf(buf + n, len - n, "%s%s",
					      seen > 1 ? ", " : "",
					      t->dev[u].name);
	}
	if (seen > REACH_NAMES && n < len)
		n += (size_t)snprintf(buf + n, len - n, ", ... %u in all",
				      seen);
	if (n < len)
		snprintf(buf + n, len - n, "}");
}

static int
reach_error(struct reach *r, uint32_t a, uint32_t b, char *err)
{
	const struct rl_topo *t = r->t;
	char pa[72], pb[72];
	unsigned int parts = 0;

	for (uint32_t u = 0; u < t->ndev; u++)
		parts += t->dev[u].kind == RL_DEV_SWITCH && r->part[u] == u &&
			 reach_dev_up(r, u);
	reach_describe(r, a, pa, sizeof(pa));
	reach_describe(r, b, pb, sizeof(pb));
	return rl_refuse(err, RL_ERR_MAX, -EHOSTUNREACH, "%u separate parts: "
			 "%s at %s has no way to %s at %s", parts,
			 t->dev[t->ep_dev[a]].name, pa,
			 t->dev[t->ep_dev[b]].name, pb);
}

static int
reach_check(struct reach *r, char *err)
{
	const struct rl_topo *t = r->t;
	uint32_t wanted = 0;

	reach_join(r);
	for (uint32_t e = 0; e < t->nep; e++) {
		if (!reach_wanted(r, e))
			continue;
		wanted++;
		reach_stamp(r, e);
	}
	/* Handles the common case: one part holds them all. */
	for (uint32_t u = 0; u < t->ndev; u++)
		if (t->dev[u].kind == RL_DEV_SWITCH && r->count[u] == wanted)
			return 0;
	for (uint32_t a = 0; a < t->nep; a++) {
		if (!reach_wanted(r, a))
			continue;
		reach_stamp(r, a);
		for (uint32_t b = a + 1; b < t->nep; b++)
			if (reach_wanted(r, b) && !reach_meets(r, a, b))
				return reach_error(r, a, b, err);
	}
	return 0;
}

int
rl_topo_reach(const struct rl_topo *t, enum rl_reach what, char *err)
{
	struct reach r = {.t = t, .what = what};
	int ret = -ENOMEM;

	RL_ASSERT(t->ndev != 0);
	r.part = calloc(t->ndev, sizeof(*r.part));
	r.stamp = calloc(t->ndev, sizeof(*r.stamp));
	r.count = calloc(t->ndev, sizeof(*r.count));
	if (r.part == NULL || r.stamp == NULL || r.count == NULL)
		snprintf(err, RL_ERR_MAX, "no memory for %u devices", t->ndev);
	else
		ret = reach_check(&r, err);
	free(r.count);
	free(r.stamp);
	free(r.part);
	return ret;
}

/* Order of part r.part[u]: by endpoints, then by device. */
static int
part_compare(const void *va, const void *vb, void *arg)
{
	const uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	const struct reach *r = arg;

	if (r->count[a] != r->count[b])
		return r->count[a] > r->count[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* The best part that an endpoint is linked to, by the part's lowest switch. */
static uint32_t
part_of_endpoint(const struct reach *r, uint32_t ep, const uint32_t *number)
{
	const struct rl_topo_dev *dev = &r->t->dev[r->t->ep_dev[ep]];
	uint32_t best = RL_PART_NONE;

	for (unsigned int p = 0; p < dev->nports; p++) {
		const uint32_t peer = dev->port[p].peer_dev;

		if (reach_link_up(r, dev->port[p].link) &&
		    r->t->dev[peer].kind == RL_DEV_SWITCH)
			best = rl_min_u32(best, number[r->part[peer]]);
	}
	return best;
}

/* Numbers the parts in r, and gives each device its number. */
static uint32_t
part_number(struct reach *r, uint32_t *part)
{
	const struct rl_topo *t = r->t;
	uint32_t *order = r->stamp, *number = r->count, n = 0;

	for (uint32_t e = 0; e < t->nep; e++)
		reach_stamp(r, e);
	for (uint32_t u = 0; u < t->ndev; u++)
		if (t->dev[u].kind == RL_DEV_SWITCH && !t->dev[u].failed &&
		    r->part[u] == u)
			order[n++] = u;
	qsort_r(order, n, sizeof(*order), part_compare, r);
	for (uint32_t i = 0; i < n; i++)
		number[order[i]] = i; /* the counts have been used */
	for (uint32_t u = 0; u < t->ndev; u++)
		part[u] = t->dev[u].failed ? RL_PART_NONE :
			  t->dev[u].kind == RL_DEV_SWITCH ?
					     number[r->part[u]] :
					     part_of_endpoint(
						     r, t->dev[u].ep_id, number);
	return n;
}

int64_t
rl_topo_parts(const struct rl_topo *t, uint32_t *part)
{
	struct reach r = {.t = t, .what = RL_REACH_WORKING};
	int64_t n = -ENOMEM;

	RL_ASSERT(t->ndev != 0);
	r.part = calloc(t->ndev, sizeof(*r.part));
	r.stamp = calloc(t->ndev, sizeof(*r.stamp));
	r.count = calloc(t->ndev, sizeof(*r.count));
	if (r.part != NULL && r.stamp != NULL && r.count != NULL) {
		reach_join(&r);
		n = part_number(&r, part);
	}
	free(r.count);
	free(r.stamp);
	free(r.part);
	return n;
}
