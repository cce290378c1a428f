/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "link_health.h"
#include "refusal.h"

RL_NAMES(link_admin_name, enum link_admin, LINK_ADMINS(RL_WORD))

RL_NAMES(link_oper_name, enum link_oper, LINK_OPERS(RL_WORD))

/* The ethdev at an end, or NULL: a software wire, or another process's. */
static const struct rl_wire_dev *
wire_dev(const struct app *app, uint32_t link, int end)
{
	for (uint32_t i = 0; i < app->cfg.nwire; i++)
		if (app->cfg.wire[i].index == link)
			return host_wire_dev(&app->host, i, end);
	return NULL;
}

const char *
link_end_name(const struct app *app, uint32_t link, int end,
	      char buf[LINK_END_MAX])
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_topo_link *l = &t->link[link];
	const struct rl_wire_dev *d = wire_dev(app, link, end);
	char role[HOST_ROLE_NAME];

	host_role_name(t, l->dev[end], l->port[end], role);
	if (d == NULL)
		snprintf(buf, LINK_END_MAX, "%s", role);
	else
		snprintf(buf, LINK_END_MAX, "%s(%s)", role,
			 d->dev.iface[0] != '\0' ? d->dev.iface : d->dev.name);
	return buf;
}

/* Adds a reason; the first one is the most telling. */
__attribute__((format(printf, 2, 3))) static void
because(struct link_health *h, const char *format, ...)
{
	size_t at = strlen(h->why);
	va_list ap;

	if (at > 0 && at + 3 < sizeof(h->why))
		at += (size_t)snprintf(h->why + at, sizeof(h->why) - at, "; ");
	va_start(ap, format);
	vsnprintf(h->why + at, sizeof(h->why) - at, format, ap);
	va_end(ap);
}

static enum link_admin
ordered(const struct app *app, uint32_t link)
{
	const struct rl_controller *c = app->host.resil.controller;

	if (!rl_topo_link_up(&app->cfg.topo, link))
		return LINK_ADMIN_FAILED;
	if (app->link[link].disabled)
		return app->link[link].drained ? LINK_ADMIN_DRAINED
					       : LINK_ADMIN_DOWN;
	if (c == NULL || !rl_controller_link_out(c, link))
		return LINK_ADMIN_UP;
	return rl_controller_link_removed(c, link) ? LINK_ADMIN_REMOVED
						   : LINK_ADMIN_LEFT;
}

/* Why somebody wants it down, and how that ends. */
static void
tell_order(const struct app *app, uint32_t link, struct link_health *h)
{
	switch (h->admin) {
	case LINK_ADMIN_DOWN:
	case LINK_ADMIN_DRAINED:
		because(h, "by command, until link %s enable",
			APP_LINK(app, link));
		break;
	case LINK_ADMIN_REMOVED:
		because(h, "it or its device was removed, until it is added");
		break;
	case LINK_ADMIN_LEFT:
		because(h, "left for its errors, until link %s add",
			APP_LINK(app, link));
		break;
	case LINK_ADMIN_FAILED:
		because(h, "failed in the fabric file");
		break;
	case LINK_ADMIN_UP:
	case LINK_ADMIN_REMOTE:
		break;
	}
}

/* A port that is not up: what keeps it down. */
static void
tell_port(const struct app *app, uint32_t link, int end,
	  const struct rl_port_info *i, struct link_health *h)
{
	const struct rl_topo_link *l = &app->cfg.topo.link[link];
	const struct rl_phy_eth *phy = &app->host.phy[2 * link + (uint32_t)end];
	char name[LINK_END_MAX], why[REFUSAL_TEXT_MAX], other[HOST_ROLE_NAME];

	link_end_name(app, link, end, name);
	refusal_text(&app->host, l->dev[end], l->port[end], &i->refused, why);
	if (i->state == RL_LINK_INIT && why[0] != '\0')
		because(h, "%s: %s", name, why);
	else if (atomic_load(&phy->removed))
		because(h, "%s: its device was removed", name);
	else if (atomic_load(&phy->dark))
		because(h, "%s has no carrier", name);
	else if (i->state == RL_LINK_OFF && h->admin == LINK_ADMIN_UP)
		because(h, "%s is held down by the controller", name);
	else if (i->state == RL_LINK_INIT &&
		 app->watch.changed_ns[2 * link + (uint32_t)end] == 0)
		because(h, "%s: nothing answers, %s belongs here", name,
			host_role_name(&app->cfg.topo, l->dev[1 - end],
				       l->port[1 - end], other));
	else if (h->why[0] == '\0' && i->last_detector != RL_DET_NONE)
		because(h, "%s: died by %s, %s", name,
			rl_detector_name(i->last_detector),
			i->state == RL_LINK_DAMPED ? "waits to train" : "trains");
}

static enum link_oper
port_oper(const struct rl_port_info *i)
{
	switch (i->state) {
	case RL_LINK_UP:
		return i->degraded ? LINK_OPER_DEGRADED : LINK_OPER_UP;
	case RL_LINK_RETRAIN:
		return LINK_OPER_TRAINING;
	case RL_LINK_INIT:
		return i->refused.why != RL_REFUSED_NONE ? LINK_OPER_REFUSED
							 : LINK_OPER_TRAINING;
	case RL_LINK_OFF:
	case RL_LINK_LOOPBACK:
	case RL_LINK_DAMPED:
		break;
	}
	return LINK_OPER_DOWN;
}

static void
tell_fault(const struct app *app, uint32_t link, struct link_health *h)
{
	const struct rl_topo_link *l = &app->cfg.topo.link[link];

	for (int e = 0; e < 2; e++)
		if (app->host.dead[l->dev[e]]) {
			h->crashed = true;
			because(h, "%s has crashed",
				app->cfg.topo.dev[l->dev[e]].name);
		}
	if (h->crashed || !rl_inject_severed(&app->host.fault[link]))
		return;
	because(h, "%s by command, until link %s up",
		app->link[link].flaps != 0 ? "flaps" : "cut",
		APP_LINK(app, link));
}

void
link_health(const struct app *app, uint32_t link, struct link_health *h)
{
	const struct rl_topo_link *l = &app->cfg.topo.link[link];
	uint64_t last_ns = 0;

	*h = (struct link_health){ .admin = ordered(app, link),
				   .oper = LINK_OPER_REMOTE };
	tell_order(app, link, h);
	tell_fault(app, link, h);
	for (int e = 0; e < 2; e++) {
		const struct rl_device *d = &app->host.fabric.dev[l->dev[e]];
		const uint64_t t_ns = app->watch.changed_ns[2 * link +
							    (uint32_t)e];
		struct rl_port_info i;
		enum link_oper o;

		if (d->foreign)
			continue;
		rl_port_info(d->port[l->port[e]].port, &i);
		if (h->crashed || app->host.dead[l->dev[e]])
			i.state = RL_LINK_DAMPED;
		o = port_oper(&i);
		if (o > LINK_OPER_DEGRADED && !h->crashed)
			tell_port(app, link, e, &i, h);
		h->miscabled |= o == LINK_OPER_REFUSED &&
				(i.refused.why == RL_REFUSED_PLACE ||
				 i.refused.why == RL_REFUSED_SELF ||
				 i.refused.why == RL_REFUSED_FABRIC);
		last_ns = rl_max_u64(last_ns, t_ns);
		if (h->oper == LINK_OPER_REMOTE || o > h->oper)
			h->oper = o;
	}
	if (h->oper == LINK_OPER_REMOTE)
		h->admin = LINK_ADMIN_REMOTE;
	if (h->oper == LINK_OPER_DEGRADED)
		because(h, "its error rate is over half of what ends it");
	h->fresh = last_ns == 0;
	h->since_ns = rl_max_u64(last_ns, app->start_ns);
}

bool
link_is_well(const struct app *app, uint32_t link)
{
	const struct rl_topo_link *l = &app->cfg.topo.link[link];

	for (int e = 0; e < 2; e++) {
		const struct rl_device *d = &app->host.fabric.dev[l->dev[e]];

		if (!d->foreign &&
		    (app->host.dead[l->dev[e]] ||
		     rl_port_state(d->port[l->port[e]].port) != RL_LINK_UP))
			return false;
	}
	return !app->watch.degraded[link] &&
	       ordered(app, link) == LINK_ADMIN_UP;
}
