/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the controller knows of links. A link is dead as soon as either end
 * reports it: each end only judges what it receives, so the other may see no
 * fault. It is usable again when both ends have been up for return_ns, so that
 * a flapping link does not cause new tables each time; at once, if an endpoint
 * is cut off. A device that does not answer is not dead for that reason: its
 * links show it.
 *
 * A device that restarts waits for tables before its ports train: otherwise its
 * neighbours would send it packets that it cannot forward. Its links are dead
 * until then. They count as up for computing its tables, and again until they
 * have had time to train.
 */

#include "ctl_priv.h"

void
ctl_links_init(struct rl_controller *c)
{
	const struct rl_topo *t = c->p.topo;

	c->links_ns = RL_NEVER;
	for (uint32_t i = 0; i < t->nlink; i++) {
		c->link[i].removed = t->link[i].failed;
		c->link[i].down = t->link[i].failed;
		c->link[i].ok = rl_topo_link_up(t, i);
	}
	for (uint32_t d = 0; d < t->ndev; d++)
		c->dev[d].removed = t->dev[d].failed;
}

static bool
link_dead(const struct rl_controller *c, uint32_t link)
{
	if (RL_PLANTED(RESIL_ONE_END) &&
	    (c->end[2 * link].state != RL_RESIL_LINK_DEAD ||
	     c->end[2 * link + 1].state != RL_RESIL_LINK_DEAD))
		return false;
	return c->end[2 * link].state == RL_RESIL_LINK_DEAD ||
	       c->end[2 * link + 1].state == RL_RESIL_LINK_DEAD;
}

static void
links_arm(struct rl_controller *c, uint64_t t_ns)
{
	c->links_ns = rl_min_u64(c->links_ns, t_ns);
}

bool
ctl_link_removed(const struct rl_controller *c, uint32_t link)
{
	const struct rl_topo_link *l = &c->p.topo->link[link];

	return c->link[link].removed || c->dev[l->dev[0]].removed ||
	       c->dev[l->dev[1]].removed;
}

bool
ctl_link_judge(struct rl_controller *c, uint32_t link, uint64_t now_ns)
{
	struct ctl_link *cl = &c->link[link];
	const bool before = cl->ok;

	if (!link_dead(c, link)) {
		if (cl->ok_ns == RL_NEVER)
			cl->ok_ns = rl_deadline(now_ns,
						c->cut ? 0
						       : c->p.cfg->return_ns);
		cl->train_ns = 0;
		cl->ok = before || now_ns >= cl->ok_ns;
		if (!cl->ok)
			links_arm(c, cl->ok_ns);
	} else {
		cl->ok_ns = RL_NEVER;
		cl->ok = now_ns < cl->train_ns;
		if (cl->ok)
			links_arm(c, cl->train_ns);
	}
	if (ctl_link_removed(c, link))
		cl->ok = false;
	return cl->ok != before;
}

static void
link_avoid(struct rl_controller *c, uint32_t link, uint64_t at_ns,
	   uint64_t now_ns)
{
	if (c->link[link].avoided || !c->link[link].ok)
		return;
	c->link[link].avoided = true;
	ctl_changed(c, RL_CAUSE_DEGRADED, link, at_ns, now_ns);
}

void
ctl_link_said(struct rl_controller *c, uint32_t end,
	      const struct rl_resil_msg *m, uint64_t now_ns)
{
	struct ctl_end *e = &c->end[end];
	const uint32_t link = end / 2;

	if (!e->ack_owed) {
		e->ack_owed = true;
		c->ack[c->ack_tail++ & c->ack_mask] = end;
	}
	if (m->ver <= e->ver || m->link < RL_RESIL_LINK_UP ||
	    m->link > RL_RESIL_LINK_DEGRADED)
		return;
	e->ver = m->ver;
	e->state = m->link;
	/*
	 * a dead link need not be avoided, unless the other end reports it
	 * degraded
	 */
	if (m->link == RL_RESIL_LINK_DEAD)
		c->link[link].avoided =
			c->end[end ^ 1].state == RL_RESIL_LINK_DEGRADED;
	else if (m->link == RL_RESIL_LINK_DEGRADED && !c->link[link].ok)
		c->link[link].avoided = true;
	if (ctl_link_judge(c, link, now_ns))
		ctl_changed(c, c->link[link].ok ? RL_CAUSE_LINK_BACK
						: RL_CAUSE_LINK_DEAD,
			    link, rl_min_u64(m->t_ns, now_ns), now_ns);
	if (m->link == RL_RESIL_LINK_DEGRADED)
		link_avoid(c, link, rl_min_u64(m->t_ns, now_ns), now_ns);
}

void
ctl_dev_trains(struct rl_controller *c, uint32_t dev, uint64_t now_ns)
{
	const struct rl_topo_dev *d = &c->p.topo->dev[dev];

	for (uint16_t p = 0; p < d->nports; p++) {
		const uint32_t link = d->port[p].link;

		if (!link_dead(c, link))
			continue;
		c->link[link].train_ns =
			rl_deadline(now_ns, c->p.cfg->train_ns);
		ctl_link_judge(c, link, now_ns); /* the new tables use it
						    already */
	}
}

void
ctl_links_tick(struct rl_controller *c, uint64_t now_ns)
{
	if (now_ns < c->links_ns)
		return;
	c->links_ns = RL_NEVER;
	for (uint32_t i = 0; i < c->p.topo->nlink; i++)
		if (ctl_link_judge(c, i, now_ns))
			ctl_changed(c, c->link[i].ok ? RL_CAUSE_LINK_BACK
						     : RL_CAUSE_LINK_DEAD,
				    i, now_ns, now_ns);
}

bool
ctl_dev_cut(const struct rl_controller *c, uint32_t dev)
{
	const struct rl_topo_dev *d = &c->p.topo->dev[dev];

	for (uint16_t p = 0; p < d->nports; p++)
		if (c->link[d->port[p].link].ok)
			return false;
	return true;
}

/* @return whether a link leads to a device that waits for tables */
static bool
link_waits(const struct rl_controller *c, uint32_t link)
{
	const struct rl_topo_link *l = &c->p.topo->link[link];

	return !ctl_link_removed(c, link) &&
	       (c->dev[l->dev[0]].waits || c->dev[l->dev[1]].waits);
}

void
ctl_job_fill(struct rl_controller *c)
{
	const struct rl_topo *t = c->p.topo;

	for (uint32_t i = 0; i < t->nlink; i++) {
		c->job_link_ok[i] = c->link[i].ok || link_waits(c, i);
		/* a link that has just returned may fail again, but is better
		   than no path */
		if ((c->job_link_ok[i] && c->link[i].avoided) ||
		    (!c->job_link_ok[i] && !link_dead(c, i) &&
		     !ctl_link_removed(c, i)))
			c->job_link_ok[i] = RL_LINK_AVOID;
		if (!c->job_link_ok[i] && !c->link[i].down && !link_dead(c, i))
			c->job_link_ok[i] = RL_LINK_LEAVE;
	}
	for (uint32_t d = 0; d < t->ndev; d++) {
		c->job_dev_ok[d] = !c->dev[d].removed;
		c->job_present[d] = c->dev[d].table_epoch;
		c->job_unsure[d] = c->dev[d].unsure;
		c->job_silent[d] = c->dev[d].silent && !ctl_dev_cut(c, d);
		c->job_waits[d] = c->dev[d].waits;
		c->dev[d].starts = c->dev[d].waits;
	}
}

bool
rl_controller_link_out(const struct rl_controller *c, uint32_t link)
{
	return ctl_link_removed(c, link) || c->link[link].down;
}

bool
rl_controller_link_removed(const struct rl_controller *c, uint32_t link)
{
	return ctl_link_removed(c, link);
}
