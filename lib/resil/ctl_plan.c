/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Planned changes, and the steps by hand [RES-1, RES-3]. A removal first
 * installs tables that do not use the part; its ports go down, empty, when no
 * more packets arrive there. An addition trains first, and is used once it is
 * up.
 */

#include <errno.h>

#include "ctl_priv.h"

static void
end_order(struct rl_controller *c, uint32_t end, enum rl_local_port_order order)
{
	struct ctl_end *e = &c->end[end];

	c->port_owed += e->order_ver == 0;
	e->order = (uint8_t)order;
	e->order_ver = ++c->port_ver;
	e->order_sent = false;
}

static void
ctl_port_order(struct rl_controller *c, uint32_t link,
	       enum rl_local_port_order order, uint64_t now_ns)
{
	end_order(c, 2 * link, order);
	end_order(c, 2 * link + 1, order);
	c->port_ns = now_ns;
}

void
ctl_removed_down(struct rl_controller *c, uint64_t now_ns)
{
	const struct rl_topo *t = c->p.topo;

	for (uint32_t i = 0; i < t->nlink; i++) {
		struct ctl_link *cl = &c->link[i];
		const bool gone = ctl_link_removed(c, i);

		/* a newer change may need an avoided link */
		if (cl->down ||
		    !(gone || (cl->avoided && c->avoid && !c->changed)))
			continue;
		cl->down = true;
		cl->left = !gone;
		ctl_port_order(c, i, RL_LOCAL_PORT_DRAIN, now_ns);
	}
}

void
ctl_port_again(struct rl_controller *c, uint32_t end, uint64_t now_ns)
{
	if (!c->link[end / 2].down)
		return;
	end_order(c, end, RL_LOCAL_PORT_DRAIN);
	c->port_ns = now_ns;
}

bool
ctl_port_tx(struct rl_controller *c, struct rl_resil_msg *m, uint64_t now_ns)
{
	bool heard = false;

	if (c->port_owed == 0 || now_ns < c->port_ns)
		return false;
	for (uint32_t i = 0; i < 2 * c->p.topo->nlink; i++) {
		struct ctl_end *e = &c->end[i];

		if (e->order_ver == 0 || c->dev[ctl_end_dev(c, i)].silent)
			continue;
		heard = true;
		if (e->order_sent)
			continue;
		e->order_sent = true;
		ctl_msg(c, ctl_end_dev(c, i), RL_RESIL_PORT, m);
		m->port = ctl_end_port(c, i);
		m->link = e->order;
		m->ver = e->order_ver;
		return true;
	}
	/* a silent device gets its order when it speaks again */
	c->port_ns = heard ? now_ns + c->p.cfg->resend_ns : RL_NEVER;
	return false;
}

void
ctl_port_tick(struct rl_controller *c, uint64_t now_ns)
{
	if (c->port_owed == 0 || now_ns < c->port_ns)
		return;
	for (uint32_t i = 0; i < 2 * c->p.topo->nlink; i++)
		c->end[i].order_sent = false;
}

void
ctl_port_confirmed(struct rl_controller *c, uint32_t end, uint32_t ver)
{
	struct ctl_end *e = &c->end[end];

	if (e->order_ver == 0 || e->order_ver != ver)
		return;
	e->order_ver = 0;
	c->port_owed--;
	if (c->port_owed == 0 && c->phase == RL_CONTROLLER_PORTS)
		c->due_ns = 0; /* at the next tick */
}

int
rl_controller_remove_link(struct rl_controller *c, uint32_t link,
			  uint64_t now_ns)
{
	if (c->link[link].removed)
		return -EALREADY;
	c->link[link].removed = true;
	c->link[link].left = false;
	ctl_link_judge(c, link, now_ns);
	ctl_changed(c, RL_CAUSE_REMOVE, link, now_ns, now_ns);
	return 0;
}

/* Brings a link up, unless it or a device at its ends is removed. */
static void
link_add(struct rl_controller *c, uint32_t link, uint64_t now_ns)
{
	if (ctl_link_removed(c, link))
		return;
	c->link[link].avoided = false;
	c->link[link].down = c->link[link].left = false;
	ctl_port_order(c, link, RL_LOCAL_PORT_UP, now_ns);
	if (ctl_link_judge(c, link, now_ns)) /* it had not gone down yet */
		ctl_changed(c, RL_CAUSE_ADD, link, now_ns, now_ns);
}

void
ctl_degraded_back(struct rl_controller *c, uint64_t now_ns)
{
	for (uint32_t i = 0; i < c->p.topo->nlink; i++)
		if (c->link[i].left)
			link_add(c, i, now_ns);
}

/*
 * Whether a link is known to be in use: both its ends have said so. Ports keep
 * what was ordered before this controller began, so until then it may be off.
 */
static bool
link_in_use(const struct rl_controller *c, uint32_t link)
{
	const struct rl_topo_link *l = &c->p.topo->link[link];

	return !c->link[link].removed && c->link[link].ok &&
	       c->dev[l->dev[0]].local_inc != 0 &&
	       c->dev[l->dev[1]].local_inc != 0;
}

int
rl_controller_add_link(struct rl_controller *c, uint32_t link, uint64_t now_ns)
{
	if (link_in_use(c, link))
		return -EALREADY;
	c->link[link].removed = false;
	link_add(c, link, now_ns);
	return 0;
}

int
rl_controller_remove_dev(struct rl_controller *c, uint32_t dev,
			 uint64_t now_ns)
{
	const struct rl_topo_dev *d = &c->p.topo->dev[dev];

	if (c->dev[dev].removed)
		return -EALREADY;
	c->dev[dev].removed = true;
	for (uint16_t p = 0; p < d->nports; p++)
		ctl_link_judge(c, d->port[p].link, now_ns);
	ctl_changed(c, RL_CAUSE_REMOVE_DEV, dev, now_ns, now_ns);
	return 0;
}

int
rl_controller_add_dev(struct rl_controller *c, uint32_t dev, uint64_t now_ns)
{
	const struct rl_topo_dev *d = &c->p.topo->dev[dev];
	bool in_use = !c->dev[dev].removed;

	for (uint16_t p = 0; p < d->nports; p++)
		in_use = in_use && (c->link[d->port[p].link].removed ||
				    link_in_use(c, d->port[p].link));
	if (in_use)
		return -EALREADY;
	c->dev[dev].removed = false;
	for (uint16_t p = 0; p < d->nports; p++)
		link_add(c, d->port[p].link, now_ns);
	return 0;
}
