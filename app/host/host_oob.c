/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The store side of the controller: what it is told, and which tables are made
 * of the recipes in it.
 */

#include <errno.h>
#include <stdio.h>

#include "host.h"

static bool
has_gen(const struct host *h, uint32_t epoch)
{
	return rl_tables_route(h->resil.tables, epoch) != NULL;
}

static struct host_recipe *
recipe_of(const struct host *h, uint32_t epoch)
{
	const struct host_oob *x = &h->resil.oob;
	const struct host_recipe *r = &x->recipe[epoch % HOST_RECIPES];

	return r->recipe != NULL && r->recipe->r.epoch == epoch
		       ? (struct host_recipe *)(uintptr_t)r
		       : NULL;
}

bool
host_oob_ready(const struct host *h)
{
	const struct host_oob *x = &h->resil.oob;

	return x->oob != NULL &&
	       (rl_oob_ready(x->oob) ||
		(x->office && !x->crashed && h->resil.controller == NULL));
}

bool
host_oob_send(struct host *h, const struct rl_resil_msg *m, uint64_t now_ns)
{
	const struct host_resil *r = &h->resil;
	const bool up = m->type <= RL_RESIL_PORT_DONE;
	struct rl_resil_msg out = *m;

	if (r->oob.oob == NULL ||
	    (up ? r->controller != NULL : !h->fabric.dev[m->dev].foreign))
		return false;
	out.t_ns = m->t_ns == 0 ? 0 : now_ns - rl_min_u64(now_ns, m->t_ns);
	if (up)
		rl_oob_send_up(r->oob.oob, &out);
	else
		rl_oob_send_down(r->oob.oob, &out);
	return true;
}

void
host_oob_heard(struct host *h, const struct rl_resil_msg *m, bool tables_free)
{
	struct host_oob *x = &h->resil.oob;

	if (x->oob == NULL || m->dev >= h->fabric.ndev ||
	    !h->fabric.dev[m->dev].foreign ||
	    (m->type != RL_RESIL_HELLO && m->type != RL_RESIL_STATUS))
		return;
	x->epoch[m->dev] = m->table_epoch;
	if (!tables_free)
		return;
	if (has_gen(h, m->table_epoch))
		rl_tables_installed(h->resil.tables, m->dev, m->table_epoch);
	if (m->flags & RL_RESIL_STAGE && has_gen(h, m->hold_epoch))
		rl_tables_staged(h->resil.tables, m->dev, m->hold_epoch);
}

/* Epoch of tables that a device waits for or has; 0: none. */
static uint32_t
wanted_epoch(const struct host *h)
{
	const struct host_oob *x = &h->resil.oob;

	if (x->newest > rl_tables_newest(h->resil.tables))
		return x->newest;
	for (uint32_t d = 0; d < h->fabric.ndev; d++) {
		const struct host_local *l = &h->resil.local[d];
		const uint32_t epoch[] = {
			l->order.on && l->order.nr == 0
				? l->order.order.local.act.epoch
				: 0,
			x->epoch[d],
		};

		for (size_t i = 0; i < RL_ARRAY_SIZE(epoch); i++) {
			const struct host_recipe *r = recipe_of(h, epoch[i]);

			if (r != NULL && !r->bad && !has_gen(h, epoch[i]))
				return epoch[i];
		}
	}
	return 0;
}

struct rl_oob_recipe *
host_oob_wanted(struct host *h)
{
	struct host_oob *x = &h->resil.oob;
	struct host_recipe *r;
	uint32_t epoch;

	if (x->oob == NULL)
		return NULL;
	epoch = wanted_epoch(h);
	r = epoch == 0 ? NULL : recipe_of(h, epoch);
	return r == NULL || r->bad ? NULL : r->recipe;
}

void
host_oob_made(struct host *h, int status, const char *why)
{
	struct host_oob *x = &h->resil.oob;
	struct host_recipe *r = recipe_of(h, x->making->r.epoch);

	h->resil.next_ns = 0;
	x->making = NULL;
	if (r == NULL)
		return;
	/* memory becomes free when devices install newer tables */
	r->bad = status != 0 && status != -EALREADY && status != -ENOMEM;
	if (r->bad)
		snprintf(x->why, sizeof(x->why), "%s", why);
	else if (status == 0)
		x->why[0] = '\0'; /* the next time it is news again */
}

bool
host_oob_awaits(const struct host *h, uint32_t dev, uint32_t epoch)
{
	struct rl_local_info info;

	if (h->resil.oob.oob == NULL)
		return false;
	rl_local_info(h->resil.local[dev].local, &info);
	return info.want_epoch <= epoch;
}

bool
host_oob_stages(const struct host *h, uint32_t dev, uint32_t epoch)
{
	struct rl_local_info info;

	if (h->resil.oob.oob == NULL)
		return false;
	rl_local_info(h->resil.local[dev].local, &info);
	return info.stage_epoch == epoch;
}

bool
host_oob_idle(const struct host *h)
{
	struct rl_oob_info there;

	rl_oob_info(h->resil.oob.oob, &there);
	if (there.here || there.office[0] == '\0' || there.away)
		return h->resil.oob.crashed;
	for (uint32_t d = 0; d < h->fabric.ndev; d++) {
		const struct host_local *l = &h->resil.local[d];
		struct rl_local_info i;

		if (l->local == NULL)
			continue;
		rl_local_info(l->local, &i);
		if (l->order.on || i.reports != 0 || i.waits ||
		    i.hold != RL_RESIL_HOLD_NONE)
			return false;
	}
	return true;
}

bool
host_oob_tell(struct host *h, const struct rl_controller_result *res)
{
	struct host_oob *x = &h->resil.oob;
	struct rl_tables_recipe recipe;

	if (x->oob == NULL || res->status != 0 ||
	    rl_tables_recipe(h->resil.tables, res->epoch, &recipe) != 0 ||
	    rl_oob_store(x->oob, &recipe) != 0)
		return false;
	x->storing = res->epoch;
	return true;
}

int
host_oob_stand(struct host *h, bool stand)
{
	struct host_oob *x = &h->resil.oob;

	if (x->oob == NULL || x->crashed == !stand)
		return -EALREADY;
	x->crashed = !stand;
	rl_oob_stand(x->oob, stand);
	return 0;
}

void
host_oob_close(struct host *h)
{
	struct host_oob *x = &h->resil.oob;

	for (uint32_t i = 0; i < HOST_RECIPES; i++)
		rl_oob_drop(x->recipe[i].recipe);
}
