/* SPDX-License-Identifier: BSD-3-Clause */
/* A 64-bit digest of all that two processes of one fabric must agree on. */
#include <stdio.h>
#include <string.h>

#include "config_impl.h"
#include "rl_prng.h"

static uint64_t
add(uint64_t h, uint64_t v)
{
	uint64_t x = h ^ v;

	return rl_splitmix64(&x);
}

static uint64_t
add_text(uint64_t h, const char *s)
{
	for (; *s != '\0'; s++)
		h = add(h, (uint8_t)*s);
	return add(h, 0x100);
}

static uint64_t
digest_fabric(const struct rl_topo *t)
{
	uint64_t h = add(t->ndev, t->nlink);

	for (uint32_t i = 0; i < t->ndev; i++) {
		h = add_text(h, t->dev[i].name);
		h = add(h, (uint64_t)t->dev[i].kind << 1 | t->dev[i].failed);
	}
	for (uint32_t i = 0; i < t->nlink; i++) {
		const struct rl_topo_link *l = &t->link[i];

		h = add(h, (uint64_t)l->dev[0] << 32 | l->dev[1]);
		h = add(h, (uint64_t)l->k << 1 | l->failed);
	}
	return h;
}

/* Every key of one group, whose values are at @p base. */
static uint64_t
add_group(uint64_t h, const char *group, const void *base)
{
	const struct rl_config_key *key;
	size_t n;

	key = rl_config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		uint64_t v = 0;

		if (strcmp(key[i].group, group) != 0 || key[i].size == 0 ||
		    key[i].size > sizeof(v))
			continue;
		memcpy(&v, (const char *)base + key[i].offset, key[i].size);
		h = add(h, v);
	}
	return h;
}

static uint64_t
digest_keys(const struct rl_config *cfg)
{
	uint64_t h = add_group(0, "link", &cfg->link);

	h = add_group(h, "switch", &cfg->link);
	h = add_group(h, "endpoint", &cfg->endpoint);
	for (uint32_t i = 0; cfg->link_own != NULL && i < cfg->topo.nlink; i++)
		h = add_group(h, "link", &cfg->link_own[i]);
	return h;
}

static uint64_t
digest_processes(const struct rl_config *cfg)
{
	uint64_t h = cfg->nprocess;

	for (uint32_t i = 0; i < cfg->nprocess; i++)
		h = add_text(h, cfg->process[i].name);
	for (uint32_t i = 0; cfg->dev_process != NULL && i < cfg->topo.ndev;
	     i++)
		h = add(h, cfg->dev_process[i]);
	for (uint32_t i = 0; i < cfg->nnetwork; i++)
		h = add_text(h, cfg->network[i].name);
	for (uint32_t i = 0; i < cfg->nstation; i++) {
		const struct rl_station *s = &cfg->station[i];

		for (unsigned int k = 0; k < sizeof(s->mac); k++)
			h = add(h, s->mac[k]);
		h = add(h, (uint64_t)s->vlan << 32 | (uint32_t)s->ep << 8 |
			   s->network);
	}
	for (uint32_t i = 0; cfg->ep_network != NULL && i < cfg->topo.nep; i++)
		h = add(h, cfg->ep_network[i]);
	return h;
}

uint64_t
rl_config_digest(const struct rl_config *cfg)
{
	const uint64_t part[RL_DIGEST_PARTS] = {
		[RL_DIGEST_FABRIC] = digest_fabric(&cfg->topo),
		[RL_DIGEST_ROUTING] = add(add_text(cfg->vls, cfg->engine),
					  cfg->levels |
					  (uint64_t)cfg->adaptive << 16),
		[RL_DIGEST_LINK] = digest_keys(cfg),
		[RL_DIGEST_PROCESSES] = digest_processes(cfg),
	};
	uint64_t d = 0;

	for (unsigned int i = 0; i < RL_DIGEST_PARTS; i++)
		d |= (add(part[i], i) >> 48) << 16 * i;
	return d == 0 ? 1 : d;
}

char *
rl_config_digest_diff(uint64_t a, uint64_t b, char *buf, size_t len)
{
	static const char *const names[RL_DIGEST_PARTS] = {
		"fabric", "routing", "link or endpoint",
		"processes or networks",
	};
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < RL_DIGEST_PARTS && at < len; i++)
		if ((uint16_t)(a >> 16 * i) != (uint16_t)(b >> 16 * i))
			at += (size_t)snprintf(buf + at, len - at, "%s%s",
					       at == 0 ? "" : ", ", names[i]);
	return buf;
}
