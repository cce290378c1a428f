/* SPDX-License-Identifier: BSD-3-Clause */

/* Adds devices and links to a fabric that is being built. */

#include <stdarg.h>
#include <string.h>

#include "topo_impl.h"

struct rl_topo_dev *
topo_add_dev(struct topo_build *b, enum rl_dev_kind kind, const char *fmt, ...)
{
	struct rl_topo *t = b->t;
	struct rl_topo_dev *dev = &t->dev[t->ndev];
	va_list ap;

	RL_ASSERT(t->ndev < b->cap_dev);
	va_start(ap, fmt);
	vsnprintf(dev->name, sizeof(dev->name), fmt, ap);
	va_end(ap);
	dev->kind = kind;
	if (kind == RL_DEV_ENDPOINT) {
		dev->ep_id = (uint16_t)t->nep;
		t->ep_dev[t->nep++] = t->ndev;
	} else {
		RL_ASSERT(t->nep == 0);
	}
	t->ndev++;
	return dev;
}

void
topo_add_hosts(struct topo_build *b)
{
	struct rl_topo *t = b->t;
	const uint32_t nsw = t->ndev;
	const unsigned int hosts = t->spec.hosts_per_switch;

	for (uint32_t u = 0; u < nsw; u++) {
		for (unsigned int k = 0; k < hosts; k++) {
			const char *same = t->dev[u].name + 1;
			struct rl_topo_dev *dev;

			dev = hosts == 1 ?
				      topo_add_dev(b, RL_DEV_ENDPOINT, "e%s",
						   same) :
				      topo_add_dev(b, RL_DEV_ENDPOINT, "e%s.%u",
						   same, k);
			memcpy(dev->coord, t->dev[u].coord, sizeof(dev->coord));
			topo_add_links(b, t->ndev - 1, u, -1, 1);
		}
	}
}

void
topo_add_links(struct topo_build *b, uint32_t dev0, uint32_t dev1, int dim,
	       unsigned int count)
{
	struct rl_topo *t = b->t;

	RL_ASSERT(dev0 != dev1 && dev0 < t->ndev && dev1 < t->ndev);
	for (unsigned int k = 0; k < count; k++) {
		struct rl_topo_link *l = &t->link[t->nlink];

		RL_ASSERT(t->nlink < b->cap_link);
		l->dev[0] = dev0;
		l->dev[1] = dev1;
		l->dim = (int8_t)dim;
		l->kind = t->dev[dev0].kind == RL_DEV_SWITCH &&
				  t->dev[dev1].kind == RL_DEV_SWITCH ?
			  RL_LINK_ISL :
			  RL_LINK_ENDPOINT;
		t->nlink++;
	}
}
