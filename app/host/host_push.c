/* SPDX-License-Identifier: BSD-3-Clause */

/* What local controllers ordered, given to the lcores of their devices. */

#include <rte_ring.h>

#include "host.h"
#include "host_push.h"

/* Gives an order that is due and not yet given. @return whether it is done */
static bool
push(struct host *h, struct host_pending *p)
{
	if (p->nr == 0)
		p->nr = host_order_give(h, &p->order);
	return p->nr != 0 && host_order_done(h, &p->order, p->nr);
}

/* What a change by tokens asks of the core. */
static void
push_tokens(struct host *h, uint32_t dev)
{
	struct host_local *l = &h->resil.local[dev];
	struct host_pending *p = &l->tables;

	if (p->nr == 0) {
		p->order.pass = rl_tables_pass(h->resil.tables, p->epoch, dev);
		if (p->order.pass != NULL)
			rl_tables_staged(h->resil.tables, dev, p->epoch);
	}
	/* what it needs is made of a recipe that has not come yet */
	if (p->order.pass == NULL && host_oob_stages(h, dev, p->epoch))
		return;
	/* without: overtaken by a newer order */
	if (p->order.pass != NULL && !push(h, p))
		return;
	if (p->type == RL_LOCAL_STAGE)
		rl_local_staged(l->local, p->epoch);
	p->on = false;
}

void
host_push_tables(struct host *h, uint32_t dev)
{
	struct host_local *l = &h->resil.local[dev];
	struct host_pending *p = &l->tables;

	if (!p->on || (p->nr == 0 && !host_job_tables_free(&h->resil)))
		return;
	if (p->type != RL_LOCAL_INSTALL) {
		push_tokens(h, dev);
		return;
	}
	if (p->nr == 0)
		p->order.fwd = rl_tables_fwd(h->resil.tables, p->epoch, dev);
	if (p->order.fwd == NULL && host_oob_awaits(h, dev, p->epoch))
		return;
	if (p->order.fwd == NULL) {
		/* overtaken by a newer order */
		p->on = false;
		rl_local_installed(l->local, p->epoch);
		return;
	}
	if (!push(h, p) || !host_job_tables_free(&h->resil))
		return;
	rl_tables_installed(h->resil.tables, dev, p->epoch);
	rl_local_installed(l->local, p->epoch);
	p->on = false;
}

void
host_push_hold(struct host *h, uint32_t dev)
{
	struct host_pending *p = &h->resil.local[dev].hold;

	if (!p->on || (p->nr == 0 && !host_job_tables_free(&h->resil)))
		return;
	if (p->nr == 0)
		p->order.flows = rl_tables_flows(h->resil.tables, p->epoch);
	/* which flows it is comes with the recipe */
	if (p->nr == 0 && p->order.hold == RL_RESIL_HOLD_FLOWS &&
	    p->order.flows == NULL && host_oob_awaits(h, dev, p->epoch))
		return;
	p->on = !push(h, p);
}

/* All ports of a device, for a fabric that is to come to rest. */
static bool
ports_quiet(const struct host *h, uint32_t dev)
{
	const struct rl_device *d = &h->fabric.dev[dev];

	for (uint16_t i = 0; i < d->nports; i++)
		if (atomic_load_explicit(&d->port[i].idle,
					 memory_order_acquire) == 0 ||
		    rte_ring_count(d->port[i].rx.ring) != 0 ||
		    rte_ring_count(d->port[i].tx.ring) != 0 ||
		    rte_ring_count(d->port[i].loop.ring) != 0)
			return false;
	return true;
}

void
host_push_view(struct host *h, uint32_t dev)
{
	struct host_local *l = &h->resil.local[dev];
	const struct rl_local_view nothing_held = { .quiet = true };
	struct host_pending *p = &l->asked;
	struct rl_local_info info;

	rl_local_info(l->local, &info);
	if (!p->on) {
		if (!rl_local_asked(l->local))
			return;
		if (info.hold == RL_RESIL_HOLD_NONE && !info.passes) {
			rl_local_answer(l->local, &nothing_held);
			return;
		}
		if (!host_job_tables_free(&h->resil))
			return;
		*p = (struct host_pending){
			.on = true,
			.epoch = info.hold_epoch,
			.order = { .type = HOST_ORDER_VIEW, .dev = dev,
				   .hold = info.hold,
				   .nep = (uint16_t)h->fabric.topo->nep,
				   .flows = rl_tables_flows(h->resil.tables,
							    info.hold_epoch),
				   .view = &l->view },
		};
	}
	if (!push(h, p))
		return;
	p->on = false;
	/* the question may be another one by now, or none */
	if (!rl_local_asked(l->local) || p->order.hold != info.hold ||
	    p->epoch != info.hold_epoch)
		return;
	if (p->order.hold == RL_RESIL_HOLD_ALL)
		l->view.quiet = l->view.quiet && ports_quiet(h, dev);
	rl_local_answer(l->local, &l->view);
}
