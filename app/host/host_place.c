/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_place.h"
#include "rl_refuse.h"

char *
host_role_name(const struct rl_topo *t, uint32_t dev, int port, char *buf)
{
	if (port < 0)
		snprintf(buf, HOST_ROLE_NAME, "%s", t->dev[dev].name);
	else
		snprintf(buf, HOST_ROLE_NAME, "%s/%u", t->dev[dev].name,
			 (uint16_t)port);
	return buf;
}

/*
 * Orders devices: each switch, then its endpoints. Topologies number
 * neighbouring switches close to each other.
 */
static void
order_devices(const struct rl_topo *t, uint32_t order[])
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < t->ndev; d++) {
		const struct rl_topo_dev *td = &t->dev[d];

		if (td->kind == RL_DEV_ENDPOINT)
			continue;
		order[n++] = d;
		for (uint16_t p = 0; p < td->nports; p++) {
			const uint32_t e = td->port[p].peer_dev;

			if (t->dev[e].kind == RL_DEV_ENDPOINT &&
			    t->dev[e].port[0].peer_dev == d &&
			    t->dev[e].port[0].peer_port == p)
				order[n++] = e;
		}
	}
	for (uint32_t d = 0; d < t->ndev; d++)
		if (t->dev[d].kind == RL_DEV_ENDPOINT &&
		    (t->dev[d].nports == 0 ||
		     t->dev[t->dev[d].port[0].peer_dev].kind ==
			     RL_DEV_ENDPOINT))
			order[n++] = d;
	RL_ASSERT(n == t->ndev);
}

/*
 * Cuts the order into one piece for each lcore. A piece ends where it is
 * closest to an even share of the remaining load, but has at least one device
 * and leaves one for each later piece.
 */
static void
deal_out(const struct rl_topo *t, const uint32_t order[], const uint64_t load[],
	 struct host_place *p, const uint16_t lcore[], uint32_t n)
{
	uint64_t left = 0;
	uint32_t at = 0;

	for (uint32_t d = 0; d < t->ndev; d++)
		left += load[d];
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t share = left / (n - i);
		uint64_t taken = 0;

		for (bool first = true; at < t->ndev; first = false, at++) {
			const uint32_t d = order[at];

			if (i + 1 < n && !first &&
			    (taken + load[d] / 2 > share ||
			     t->ndev - at < n - i))
				break;
			taken += load[d];
			for (int r = -1; r < t->dev[d].nports; r++)
				p->lcore[host_role(p, d, r)] = lcore[i];
		}
		left -= taken;
	}
}

static int
place_automatic(const struct rl_config *cfg, const struct rl_fwd *fwd,
		int process, struct host_place *p, const uint16_t lcore[],
		uint32_t n)
{
	const struct rl_topo *t = &cfg->topo;
	uint64_t *load = calloc(t->ndev + 1u, sizeof(*load));
	uint32_t *order = calloc(t->ndev + 1u, sizeof(*order));
	const bool have = load != NULL && order != NULL;

	if (have) {
		order_devices(t, order);
		host_load(t, fwd, load);
		for (uint32_t d = 0; d < t->ndev; d++)
			if (!rl_config_runs(cfg, process, d))
				load[d] = 0; /* never polled here */
		deal_out(t, order, load, p, lcore, n);
	}
	free(load);
	free(order);
	return have ? 0 : -ENOMEM;
}

static bool
known(const uint16_t lcore[], uint32_t n, uint16_t id)
{
	for (uint32_t i = 0; i < n; i++)
		if (lcore[i] == id)
			return true;
	return false;
}

static void
list_lcores(const uint16_t lcore[], uint32_t n, char *buf, size_t len)
{
	size_t at = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < n && at + 8 < len; i++)
		at += (size_t)snprintf(buf + at, len - at, "%s%u",
				       i == 0 ? "" : ",", lcore[i]);
}

/* The entry with the longest matching prefix of @p name, or NULL. */
static const struct rl_place *
find_place(const struct rl_config *cfg, const char *name)
{
	const struct rl_place *best = NULL;
	size_t best_len = 0;

	for (uint32_t i = 0; i < cfg->nplace; i++) {
		const size_t len = strlen(cfg->place[i].role);

		if (len > best_len &&
		    strncmp(cfg->place[i].role, name, len) == 0) {
			best = &cfg->place[i];
			best_len = len;
		}
	}
	return best;
}

static int
place_by_file(const struct rl_config *cfg, const uint16_t lcore[], uint32_t n,
	      struct host_place *p, char *err, size_t errlen)
{
	char name[HOST_ROLE_NAME], list[64];

	for (uint32_t i = 0; i < cfg->nplace; i++) {
		const struct rl_place *pl = &cfg->place[i];

		if (known(lcore, n, pl->lcore))
			continue;
		list_lcores(lcore, n, list, sizeof(list));
		return rl_refuse(err, errlen, -EINVAL, "%s:%u: role %s: lcore "
				 "%u runs no roles here; use one of %s, or "
				 "start with -l", pl->file, pl->line, pl->role,
				 pl->lcore, list);
	}
	for (uint32_t d = 0; d < cfg->topo.ndev; d++)
		for (int i = -1; i < cfg->topo.dev[d].nports; i++) {
			const struct rl_place *pl = find_place(
				cfg,
				host_role_name(&cfg->topo, d, i, name));

			if (pl != NULL)
				p->lcore[host_role(p, d, i)] = pl->lcore;
		}
	return 0;
}

int
host_place(const struct rl_config *cfg, const struct rl_fwd *fwd, int process,
	   const uint16_t lcore[], uint32_t n, struct host_place *place,
	   char *err, size_t errlen)
{
	int ret;

	memset(place, 0, sizeof(*place));
	place->base = calloc(cfg->topo.ndev + 1, sizeof(*place->base));
	if (place->base == NULL)
		goto nomem;
	for (uint32_t d = 0; d < cfg->topo.ndev; d++) {
		place->base[d] = place->nroles;
		place->nroles += 1u + cfg->topo.dev[d].nports;
	}
	place->lcore = calloc(place->nroles, sizeof(*place->lcore));
	if (place->lcore == NULL)
		goto nomem;
	if (place_automatic(cfg, fwd, process, place, lcore, n) != 0)
		goto nomem;
	ret = place_by_file(cfg, lcore, n, place, err, errlen);
	if (ret != 0)
		host_place_free(place);
	return ret;

nomem:
	host_place_free(place);
	return rl_refuse(err, errlen, -ENOMEM, "no memory for the placement of "
			 "roles");
}

void
host_place_free(struct host_place *place)
{
	free(place->base);
	free(place->lcore);
	memset(place, 0, sizeof(*place));
}
