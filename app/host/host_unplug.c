/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>

#include "host.h"
#include "rl_iface.h"
#include "rl_listen.h"

/* Between looks at a device, without a hint; and for one that is away. */
#define LOOK_NS (50 * RL_NS_PER_MS)
#define AWAY_NS (200 * RL_NS_PER_MS)
/* A peer that was there has no second chance; a new one may be slow. */
#define PEER_NS (2 * RL_NS_PER_S)

bool
host_unplug_peer(struct host_unplug *u, bool up, uint64_t now_ns)
{
	u->was_up = u->was_up || up;
	if (up || u->up_ns == 0)
		u->up_ns = now_ns;
	return !up && (u->was_up || now_ns - u->up_ns >= PEER_NS);
}

bool
host_unplug_device(struct host_unplug *u, const struct rl_unplug *device,
		   uint64_t now_ns)
{
	if (rl_unplug_asked(device))
		return true;
	if (now_ns < u->due_ns)
		return false;
	u->due_ns = now_ns + LOOK_NS;
	return rl_unplug_gone(device);
}

static void
leave(struct host *h, struct host_unplug *u, const struct host_unplug_port *p)
{
	if (!u->told)
		fprintf(stderr, "reflit: %s %s%s: %s until it is back\n",
			p->name,
			u->calls && u->was_up ? "lost its peer"
			: u->calls	      ? "has no peer"
			: p->iface[0] != '\0' ? "lost its interface "
					      : "was removed",
			u->calls ? "" : p->iface, p->without);
	u->told = true;
	p->tell(p->ctx);
	host_rounds(h, u->rounds);
	u->state = HOST_UNPLUG_LEAVES;
}

static void
take_back(struct host_unplug *u, const struct host_unplug_port *p,
	  uint64_t now_ns)
{
	char err[HOST_ERR_MAX];
	int ret;

	if (now_ns < u->due_ns)
		return;
	u->due_ns = now_ns + AWAY_NS;
	ret = p->take_back(p->ctx, err, sizeof(err));
	if (ret == -EAGAIN)
		return;
	if (ret == 0) {
		u->state = HOST_UNPLUG_HERE;
		u->was_up = false;
		u->up_ns = 0;
	} else if (!u->refused && !u->calls) {
		fprintf(stderr,
			"reflit: %s is back, but cannot be opened for "
			"%s: %s\n",
			p->name, p->at, err);
		u->refused = true;
	}
}

void
host_unplug_turn(struct host *h, struct host_unplug *u,
		 const struct host_unplug_port *p)
{
	const uint64_t now_ns = host_now(h);

	if (u->state == HOST_UNPLUG_HERE) {
		if (p->leaves(p->ctx, now_ns))
			leave(h, u, p);
		else if (u->told && (!u->calls || u->was_up)) {
			fprintf(stderr, "reflit: %s is back, at %s\n", p->name,
				p->at);
			u->told = false;
		}
	} else if (u->state == HOST_UNPLUG_LEAVES) {
		if (!host_rounds_passed(h, u->rounds, 1))
			return; /* an lcore may still use it */
		p->let_go(p->ctx);
		u->state = HOST_UNPLUG_AWAY;
		u->due_ns = now_ns + (u->calls ? 0 : AWAY_NS);
		u->refused = false;
	} else {
		take_back(u, p, now_ns);
	}
}

/* The device at the end of a wire. */
struct wire_end {
	struct host *h;
	uint32_t end;
	struct rl_wire_dev *d;
	struct host_unplug *u;
};

static bool
wire_leaves(void *ctx, uint64_t now_ns)
{
	const struct wire_end *w = ctx;
	const struct rl_phy_eth *phy = host_wires_phy(w->h, w->end);

	return w->u->calls
		       ? host_unplug_peer(w->u, !rl_phy_eth_is_dark(phy), now_ns)
		       : host_unplug_device(w->u, &w->d->unplug, now_ns);
}

static void
wire_tell(void *ctx)
{
	const struct wire_end *w = ctx;

	rl_phy_eth_remove(host_wires_phy(w->h, w->end));
}

static void
wire_let_go(void *ctx)
{
	const struct wire_end *w = ctx;

	host_wires_carriers_stop(w->h);
	rl_wire_dev_let_go(w->d);
}

static int
wire_take_back(void *ctx, char *err, size_t len)
{
	const struct wire_end *w = ctx;
	struct rl_phy_eth *phy = host_wires_phy(w->h, w->end);
	int ret;

	if (!(w->u->calls ? rl_listen_answers(w->d->dev.vdev)
			  : rl_unplug_back(&w->d->unplug)))
		return -EAGAIN;
	ret = rl_iface_claim(w->d->dev.vdev, err, len);
	if (ret == 0)
		ret = host_steer_clear(w->h, w->end, err);
	if (ret == 0)
		ret = rl_wire_dev_take_back(w->d, err, len);
	if (ret != 0)
		return ret == -EAGAIN ? -EIO : ret;
	host_steer_take(w->h, w->end);
	rl_phy_eth_carrier(phy, false); /* until its driver says otherwise */
	rl_phy_eth_replace(phy, w->d->dev.port_id);
	host_wires_carriers_stop(w->h);
	return 0;
}

static void
wire_turn(struct host *h, uint32_t end, struct rl_wire_dev *d)
{
	char at[2 * RL_NAME_MAX + 16], without[sizeof(at) + 16];
	char name[2 * RL_NAME_MAX + 8];
	struct wire_end w = { h, end, d, &h->unplug[end] };
	const struct host_unplug_port p = {
		.ctx = &w,
		.name = d->dev.name,
		.at = at,
		.without = without,
		.iface = d->ifindex != 0 ? d->dev.iface : "",
		.leaves = wire_leaves,
		.tell = wire_tell,
		.let_go = wire_let_go,
		.take_back = wire_take_back,
	};

	w.u->calls = d->dev.calls;
	snprintf(at, sizeof(at), "link %s",
		 rl_topo_link_name(&h->p.cfg->topo,
				   h->p.cfg->wire[end / 2].index, name,
				   sizeof(name)));
	snprintf(without, sizeof(without), "%s is dead", at);
	host_unplug_turn(h, w.u, &p);
}

void
host_unplug_begin(struct host *h)
{
	for (uint32_t end = 0; end < 2 * h->p.cfg->nwire; end++)
		if (h->wire_dev[end].started && h->wire_dev[end].dev.calls)
			rl_phy_eth_carrier(host_wires_phy(h, end), false);
}

void
host_unplug_step(struct host *h)
{
	for (uint32_t end = 0; end < 2 * h->p.cfg->nwire; end++) {
		struct rl_wire_dev *d = &h->wire_dev[end];

		if (d->started && (d->unplug.watched || d->dev.calls))
			wire_turn(h, end, d);
	}
}
