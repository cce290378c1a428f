/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_place.h"

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
 * Role i of all goes to lcore i * n / all: pieces that differ by one at most.
 * With fewer lcores than devices a device goes where its core role goes.
 */
static void
place_automatic(const struct rl_topo *t, struct host_place *p,
		const uint16_t lcore[], uint32_t n)
{
	for (uint32_t d = 0; d < t->ndev; d++)
		for (int i = -1; i < t->dev[d].nports; i++) {
			const uint32_t role = host_role(p, d, i);
			const uint64_t at = n < t->ndev ? p->base[d] : role;

			p->lcore[role] = p->nroles <= n
						 ? lcore[role]
						 : lcore[at * n / p->nroles];
		}
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

/* The entry with the longest beginning of @p name, or NULL. */
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

static bool
fits_any(const struct rl_topo *t, const char *beginning)
{
	char name[HOST_ROLE_NAME];

	for (uint32_t d = 0; d < t->ndev; d++)
		for (int i = -1; i < t->dev[d].nports; i++)
			if (strncmp(host_role_name(t, d, i, name), beginning,
				    strlen(beginning)) == 0)
				return true;
	return false;
}

static int
place_by_file(const struct rl_config *cfg, const uint16_t lcore[], uint32_t n,
	      struct host_place *p, char *err, size_t errlen)
{
	char name[HOST_ROLE_NAME], list[64];

	for (uint32_t i = 0; i < cfg->nplace; i++) {
		const struct rl_place *pl = &cfg->place[i];

		if (!fits_any(&cfg->topo, pl->role)) {
			snprintf(err, errlen,
				 "%s:%u: no role's name begins with %s; "
				 "roles are called DEVICE and DEVICE/PORT",
				 pl->file, pl->line, pl->role);
			return -EINVAL;
		}
		if (known(lcore, n, pl->lcore))
			continue;
		list_lcores(lcore, n, list, sizeof(list));
		snprintf(err, errlen,
			 "%s:%u: role %s: lcore %u runs no roles here; use one "
			 "of %s, or start with -l",
			 pl->file, pl->line, pl->role, pl->lcore, list);
		return -EINVAL;
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
host_place(const struct rl_config *cfg, const uint16_t lcore[], uint32_t n,
	   struct host_place *place, char *err, size_t errlen)
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
	place_automatic(&cfg->topo, place, lcore, n);
	ret = place_by_file(cfg, lcore, n, place, err, errlen);
	if (ret != 0)
		host_place_free(place);
	return ret;

nomem:
	host_place_free(place);
	snprintf(err, errlen, "no memory for the placement of roles");
	return -ENOMEM;
}

void
host_place_free(struct host_place *place)
{
	free(place->base);
	free(place->lcore);
	memset(place, 0, sizeof(*place));
}
