/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages from local controllers. */

#include "ctl_priv.h"

/* Forgets what the ports of a device reported before it restarted. */
static void
forget_ports(struct rl_controller *c, uint32_t dev, bool dark, uint64_t now_ns)
{
	const struct rl_topo_dev *td = &c->p.topo->dev[dev];

	for (uint16_t p = 0; p < td->nports; p++) {
		const struct rl_topo_port *tp = &td->port[p];
		struct ctl_end *e = &c->end[2 * tp->link + tp->end];

		e->ver = 0;
		if (dark) {
			e->state = RL_RESIL_LINK_DEAD;
			ctl_port_again(c, 2 * tp->link + tp->end, now_ns);
		}
		if (ctl_link_judge(c, tp->link, now_ns))
			ctl_changed(c, RL_CAUSE_LINK_DEAD, tp->link, now_ns,
				    now_ns);
	}
}

/* Takes over the state that a device reports. */
static void
dev_state(struct ctl_dev *d, const struct rl_resil_msg *m)
{
	const bool stages = m->flags & RL_RESIL_STAGE;

	d->table_epoch = m->table_epoch;
	d->hold = m->hold;
	d->stage_epoch = stages ? m->hold_epoch : 0;
	d->hold_epoch = stages ? 0 : m->hold_epoch;
	d->waits = m->flags & RL_RESIL_WAITS;
}

/* A device introduces itself: for the first time, or after a restart. */
static void
rx_hello(struct rl_controller *c, const struct rl_resil_msg *m,
	 uint64_t now_ns)
{
	struct ctl_dev *d = &c->dev[m->dev];
	const bool anew = d->local_inc != 0;

	ctl_tell(c, m->dev, now_ns);
	/* a duplicate or late HELLO: the answer to the order has newer facts */
	if (m->local_inc == d->local_inc)
		return;
	d->local_inc = m->local_inc;
	dev_state(d, m);
	d->gave_up = 0;
	d->starts = d->unsure = d->quiet = d->still = false;
	c->epoch = rl_max_u32(c->epoch, rl_max_u32(m->table_epoch,
						   m->hold_epoch));
	forget_ports(c, m->dev, anew || d->waits, now_ns);
	if (d->waits || (c->phase != RL_CONTROLLER_LEARN &&
			 d->table_epoch != c->table_epoch))
		ctl_changed(c, RL_CAUSE_DEVICE, m->dev, now_ns, now_ns);
}

/*
 * Whether a device missed an install and can only get its tables in another
 * recovery, because none in progress will install any. Only an answer to the
 * newest step counts: after an older one it may have installed them.
 */
static bool
slept(const struct rl_controller *c, const struct ctl_dev *d)
{
	return d->table_epoch < c->table_epoch &&
	       (c->phase == RL_CONTROLLER_IDLE ||
		c->phase == RL_CONTROLLER_RELEASE ||
		c->phase == RL_CONTROLLER_PORTS ||
		c->phase == RL_CONTROLLER_QUIET);
}

static void
rx_status(struct rl_controller *c, const struct rl_resil_msg *m,
	  uint64_t now_ns)
{
	struct ctl_dev *d = &c->dev[m->dev];
	const bool quiet = m->flags & RL_RESIL_QUIET;

	if (m->seq != c->step || d->answered == c->step)
		return;
	dev_state(d, m);
	d->starts = d->starts && d->waits;
	d->unsure = false;
	/* if all traffic is held, no packet may have passed since the last
	   check; else only the held flows count */
	d->still = quiet && d->quiet &&
		   (c->hold != RL_RESIL_HOLD_ALL || d->activity == m->activity);
	d->quiet = quiet;
	d->activity = m->activity;
	ctl_dev_answered(c, m->dev, m->seq, now_ns);
	if (slept(c, d))
		ctl_changed(c, RL_CAUSE_DEVICE, m->dev, now_ns, now_ns);
	/* its lease has ended; a device without links has nothing to hold */
	if (m->hold != (uint8_t)c->hold && !ctl_dev_cut(c, m->dev) &&
	    (c->phase == RL_CONTROLLER_DRAIN ||
	     c->phase == RL_CONTROLLER_INSTALL)) {
		ctl_abort(c, now_ns);
		return;
	}
	if (c->owing == 0 ||
	    (RL_PLANTED(RESIL_TABLES_HALF) &&
	     c->phase == RL_CONTROLLER_INSTALL &&
	     c->owing < c->p.topo->ndev / 2))
		ctl_step_done(c, now_ns);
}

/*
 * The watchdog of a core reports that packets found no path in time [DRL-7]. If
 * the tables reach all devices and no recovery is in progress, compute new ones
 * from all that is known now. Tables that leave a device out explain the report.
 * If tables made for such a report did not help, wait until something changes.
 */
static void
rx_gave_up(struct rl_controller *c, const struct rl_resil_msg *m,
	   uint64_t now_ns)
{
	struct ctl_dev *d = &c->dev[m->dev];

	if (!d->ack_owed) {
		d->ack_owed = true;
		c->ack[c->ack_tail++ & c->ack_mask] =
			2 * c->p.topo->nlink + m->dev;
	}
	if (m->ver <= d->gave_up)
		return;
	d->gave_up = m->ver;
	if (c->phase == RL_CONTROLLER_IDLE && !c->cut && !c->renewed)
		ctl_changed(c, RL_CAUSE_GAVE_UP, m->dev,
			    rl_min_u64(m->t_ns, now_ns), now_ns);
}

void
rl_controller_rx(struct rl_controller *c, const struct rl_resil_msg *m,
		 uint64_t now_ns)
{
	const struct rl_topo_port *tp;

	if (m->version != RL_RESIL_VERSION || m->dev >= c->p.topo->ndev)
		return;
	/* from an earlier incarnation, or meant for an earlier controller */
	if (m->local_inc < c->dev[m->dev].local_inc ||
	    (m->ctl_inc != c->p.incarnation &&
	     (m->type != RL_RESIL_HELLO || m->ctl_inc > c->p.incarnation)))
		return;
	ctl_dev_heard(c, m->dev, m->local_inc != c->dev[m->dev].local_inc,
		      now_ns);
	if (m->type == RL_RESIL_HELLO) {
		rx_hello(c, m, now_ns);
		return;
	}
	if (m->local_inc != c->dev[m->dev].local_inc)
		return; /* its HELLO will follow */
	if (m->type == RL_RESIL_STATUS) {
		rx_status(c, m, now_ns);
		return;
	}
	if (m->type == RL_RESIL_GAVE_UP) {
		rx_gave_up(c, m, now_ns);
		return;
	}
	if (m->port >= c->p.topo->dev[m->dev].nports)
		return;
	tp = &c->p.topo->dev[m->dev].port[m->port];
	if (m->type == RL_RESIL_LINK)
		ctl_link_said(c, 2 * tp->link + tp->end, m, now_ns);
	else if (m->type == RL_RESIL_PORT_DONE)
		ctl_port_confirmed(c, 2 * tp->link + tp->end, m->ver);
}

/* Confirms reports; otherwise they are sent again. */
static bool
ack_tx(struct rl_controller *c, struct rl_resil_msg *m)
{
	const uint32_t nends = 2 * c->p.topo->nlink;
	uint32_t end;

	if (c->ack_head == c->ack_tail)
		return false;
	end = c->ack[c->ack_head++ & c->ack_mask];
	if (end < nends) {
		c->end[end].ack_owed = false;
		ctl_msg(c, ctl_end_dev(c, end), RL_RESIL_LINK_ACK, m);
		m->port = ctl_end_port(c, end);
		m->ver = c->end[end].ver;
	} else {
		c->dev[end - nends].ack_owed = false;
		ctl_msg(c, end - nends, RL_RESIL_LINK_ACK, m);
		m->port = c->p.topo->dev[end - nends].nports;
		m->ver = c->dev[end - nends].gave_up;
	}
	if ((c->phase == RL_CONTROLLER_IDLE ||
	     c->phase == RL_CONTROLLER_PORTS) && !c->changed)
		m->flags = RL_RESIL_IDLE;
	return true;
}

bool
rl_controller_tx(struct rl_controller *c, struct rl_resil_msg *m,
		 uint64_t now_ns)
{
	return ack_tx(c, m) || ctl_step_tx(c, m, now_ns) ||
	       ctl_port_tx(c, m, now_ns);
}
