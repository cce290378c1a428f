/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>

#include "host.h"

/* Between looks at a device, without a hint; and for one that is away. */
#define LOOK_NS (50 * RL_NS_PER_MS)
#define AWAY_NS (200 * RL_NS_PER_MS)

static const char *
link_name(const struct host *h, uint32_t end, char buf[2 * RL_NAME_MAX + 8])
{
	return rl_topo_link_name(&h->p.cfg->topo,
				 h->p.cfg->wire[end / 2].index, buf,
				 2 * RL_NAME_MAX + 8);
}

/* Whether it leaves. */
static void
look(struct host *h, uint32_t end, struct host_unplug *u, uint64_t now_ns)
{
	const struct rl_wire_dev *d = &h->wire_dev[end];
	char name[2 * RL_NAME_MAX + 8];

	if (!rl_unplug_asked(&d->unplug)) {
		if (now_ns < u->due_ns)
			return;
		u->due_ns = now_ns + LOOK_NS;
		if (!rl_unplug_gone(&d->unplug))
			return;
	}
	fprintf(stderr, "reflit: %s was removed: link %s is dead until it is "
			"back\n", d->dev.name, link_name(h, end, name));
	rl_phy_eth_remove(host_wires_phy(h, end));
	host_rounds(h, u->rounds);
	u->state = HOST_UNPLUG_LEAVES;
}

/* Once no lcore touches it any more. */
static void
let_go(struct host *h, uint32_t end, struct host_unplug *u, uint64_t now_ns)
{
	if (!host_rounds_passed(h, u->rounds, 1))
		return;
	host_wires_carriers_stop(h);
	rl_wire_dev_let_go(&h->wire_dev[end]);
	u->state = HOST_UNPLUG_AWAY;
	u->due_ns = now_ns + AWAY_NS;
	u->refused = false;
}

static void
take_back(struct host *h, uint32_t end, struct host_unplug *u,
	  uint64_t now_ns)
{
	struct rl_wire_dev *d = &h->wire_dev[end];
	struct rl_phy_eth *phy = host_wires_phy(h, end);
	char err[HOST_ERR_MAX], name[2 * RL_NAME_MAX + 8];

	if (now_ns < u->due_ns)
		return;
	u->due_ns = now_ns + AWAY_NS;
	if (!rl_unplug_back(&d->unplug))
		return;
	if (rl_wire_dev_take_back(d, err, sizeof(err)) != 0) {
		if (!u->refused)
			fprintf(stderr, "reflit: %s is back, but cannot be "
					"opened for link %s: %s\n", d->dev.name,
				link_name(h, end, name), err);
		u->refused = true;
		return;
	}
	fprintf(stderr, "reflit: %s is back, at link %s\n", d->dev.name,
		link_name(h, end, name));
	rl_phy_eth_carrier(phy, false); /* until its driver says otherwise */
	rl_phy_eth_replace(phy, d->dev.port_id);
	host_wires_carriers_stop(h);
	u->state = HOST_UNPLUG_HERE;
}

void
host_unplug_step(struct host *h)
{
	const uint64_t now_ns = host_now(h);

	for (uint32_t end = 0; end < 2 * h->p.cfg->nwire; end++) {
		struct host_unplug *u = &h->unplug[end];

		if (!h->wire_dev[end].started ||
		    !h->wire_dev[end].dev.kind->hardware)
			continue;
		if (u->state == HOST_UNPLUG_HERE)
			look(h, end, u, now_ns);
		else if (u->state == HOST_UNPLUG_LEAVES)
			let_go(h, end, u, now_ns);
		else
			take_back(h, end, u, now_ns);
	}
}
