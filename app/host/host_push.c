/* SPDX-License-Identifier: BSD-3-Clause */

/* Passes orders of local controllers on to the lcores of their devices. */

#include "host.h"
#include "host_push.h"

/* Gives an order if it has not been given. @return whether it is done */
static bool
push(struct host *h, struct host_pending *p)
{
	if (p->nr == 0)
		p->nr = host_order_give(h, &p->order);
	return p->nr != 0 && host_order_done(h, &p->order, p->nr);
}

/* Whether the tables that an order names will come with a recipe. */
static bool
awaited(const struct host *h, uint32_t dev, const struct rl_local_action *a)
{
	return a->type == RL_LOCAL_STAGE || a->type == RL_LOCAL_PASS
		       ? host_oob_stages(h, dev, a->epoch)
		       : host_oob_awaits(h, dev, a->epoch);
}

void
host_push_order(struct host *h, uint32_t dev)
{
	struct host_local *l = &h->resil.local[dev];
	struct host_pending *p = &l->order;
	struct rl_device_order *o = &p->order.local;

	if (!p->on || (rl_device_order_names(o) &&
		       !host_job_tables_free(&h->resil)))
		return;
	if (p->nr == 0 && !rl_device_order_find(o, dev, h->resil.tables) &&
	    awaited(h, dev, &o->act))
		return;
	if (!push(h, p))
		return;
	rl_device_order_done(o, dev, h->resil.tables, l->local);
	p->on = false;
}

void
host_push_view(struct host *h, uint32_t dev)
{
	struct host_local *l = &h->resil.local[dev];
	const struct rl_local_view nothing_held = { .quiet = true };
	struct host_pending *p = &l->asked;
	const struct rl_local_info *held = &p->order.held;
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
			.order = { .type = HOST_ORDER_VIEW, .dev = dev,
				   .local.flows = rl_tables_flows(
					   h->resil.tables, info.hold_epoch),
				   .held = info, .view = &l->view },
		};
	}
	if (!push(h, p)) {
		/*
		 * ring full: build it again later, because its flows may be
		 * gone by then
		 */
		p->on = p->nr != 0;
		return;
	}
	p->on = false;
	/* the controller may have asked something else since */
	if (rl_local_asked(l->local) && held->hold == info.hold &&
	    held->hold_epoch == info.hold_epoch)
		rl_local_answer(l->local, &l->view);
}
