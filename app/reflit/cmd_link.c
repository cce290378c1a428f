/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Commands that inject faults into links and heal them. Each checks everything
 * first, so that an error changes nothing, even if "A-B" means several
 * parallel links.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "parse.h"

#define LINKS_MAX 64
/* A burst of bit errors must end: on average after 10,000 bits. */
#define BURST_MAX 0.9999
#define FLAP_HALF_MIN_NS (1 * RL_NS_PER_MS)

struct links {
	uint32_t link[LINKS_MAX];
	uint8_t end[LINKS_MAX]; /* by find_end(): may differ by link */
	unsigned int n;
};

static const char *
link_name(const struct app *app, uint32_t link)
{
	static char name[2 * RL_NAME_MAX + 8];

	return rl_topo_link_name(&app->cfg.topo, link, name, sizeof(name));
}

/* "A-B": all links between the two; "A-B#k": one. */
static int
find_links(struct app *app, const char *name, struct links *l)
{
	return command_find_links(app, name, l->link, LINKS_MAX, &l->n);
}

/* Links, and for each the end that is at a device. */
static int
find_end(struct app *app, const char *link, const char *device,
	 struct links *l)
{
	const struct rl_topo *t = &app->cfg.topo;
	const int32_t dev = rl_topo_find_dev(t, device);
	const uint32_t *ends;

	if (find_links(app, link, l) != 0)
		return -EINVAL;
	ends = t->link[l->link[0]].dev;
	if (dev < 0 || (ends[0] != (uint32_t)dev && ends[1] != (uint32_t)dev))
		return app_error(app, "%s is no end of %s; its ends are %s "
				      "and %s",
				 device, link, t->dev[ends[0]].name,
				 t->dev[ends[1]].name);
	for (unsigned int i = 0; i < l->n; i++)
		l->end[i] = t->link[l->link[i]].dev[1] == (uint32_t)dev;
	return 0;
}

static int
number(struct app *app, const char *text, uint64_t min, uint64_t max,
       uint64_t *v)
{
	if (parse_number(text, min, max, v) == 0)
		return 0;
	return app_error(app, "%s is out of range; use %" PRIu64 " to %" PRIu64,
			 text, min, max);
}

static int
duration(struct app *app, const char *text, uint64_t min_ns, uint64_t *ns)
{
	if (parse_time(text, ns) == 0 && *ns >= min_ns)
		return 0;
	return app_error(app, "%s is out of range; use a time of %" PRIu64
			      " ns to 3600s, such as 50ms",
			 text, min_ns);
}

/* Posts one order for each link's frames of the end that was found. */
static int
post(struct app *app, const struct links *l,
     const struct rl_inject_order *order, bool lasting)
{
	for (unsigned int i = 0; i < l->n && !app->checking; i++) {
		const uint32_t link = l->link[i];

		if (rl_inject_order(&app->host.fault[link], l->end[i],
				   order) != 0)
			return app_error(app, "%s: too many orders at once",
					 link_name(app, link));
		if (lasting)
			app->link[link].hurt = true;
		app->link[link].injected[l->end[i]][order->kind] = *order;
		recorder_order(app, link, l->end[i], order);
		if (order->kind == RL_INJECT_STALL ||
		    order->kind == RL_INJECT_DELAY ||
		    order->kind == RL_INJECT_BER ||
		    order->kind == RL_INJECT_LOSS ||
		    order->kind == RL_INJECT_DUP ||
		    order->kind == RL_INJECT_JITTER)
			watch_order(&app->watch, link);
	}
	return 0;
}

/* Checks that links have no fault yet, so that they can be cut. */
static int
find_whole(struct app *app, const char *name, struct links *l)
{
	if (find_links(app, name, l) != 0)
		return -EINVAL;
	for (unsigned int i = 0; i < l->n && !app->checking; i++)
		if (rl_inject_severed(&app->host.fault[l->link[i]]))
			return app_error(app, "%s is down already",
					 link_name(app, l->link[i]));
	return 0;
}

int
cmd_link_down(struct app *app, const char *const arg[])
{
	struct links l;

	if (find_whole(app, arg[0], &l) != 0)
		return -EINVAL;
	for (unsigned int i = 0; i < l.n && !app->checking; i++) {
		app->link[l.link[i]].hurt = true;
		rl_inject_down(&app->host.fault[l.link[i]],
			      host_role_now(&app->host));
		recorder_link(app, "cut", l.link[i]);
	}
	return 0;
}

int
cmd_link_down_mid(struct app *app, const char *const arg[])
{
	const struct rl_inject_order o = {
		.kind = RL_INJECT_TRIGGER,
		.when = RL_INJECT_MID_PACKET,
		.down = true,
	};
	struct links l;

	if (find_whole(app, arg[0], &l) != 0)
		return -EINVAL;
	/* the first direction that meets a packet in the middle */
	for (int e = 0; e < 2; e++) {
		memset(l.end, e, sizeof(l.end));
		if (post(app, &l, &o, true) != 0)
			return -EINVAL;
	}
	return 0;
}

static int
trigger_after(struct app *app, const char *link, const char *device,
	      const char *flits, bool down)
{
	struct rl_inject_order o = {
		.kind = RL_INJECT_TRIGGER,
		.when = RL_INJECT_AFTER,
		.down = down,
	};
	struct links l;

	if (find_whole(app, link, &l) != 0 ||
	    find_end(app, link, device, &l) != 0 ||
	    number(app, flits, 0, UINT32_MAX, &o.value) != 0)
		return -EINVAL;
	return post(app, &l, &o, true);
}

int
cmd_link_down_after(struct app *app, const char *const arg[])
{
	return trigger_after(app, arg[0], arg[2], arg[1], true);
}

int
cmd_link_one_way_after(struct app *app, const char *const arg[])
{
	return trigger_after(app, arg[0], arg[1], arg[2], false);
}

int
cmd_link_one_way_mid(struct app *app, const char *const arg[])
{
	const struct rl_inject_order o = {
		.kind = RL_INJECT_TRIGGER,
		.when = RL_INJECT_MID_PACKET,
	};
	struct links l;

	if (find_whole(app, arg[0], &l) != 0 ||
	    find_end(app, arg[0], arg[1], &l) != 0)
		return -EINVAL;
	return post(app, &l, &o, true);
}

int
cmd_link_one_way(struct app *app, const char *const arg[])
{
	const struct rl_inject_order o = { .kind = RL_INJECT_CUT, .value = 1 };
	struct links l;

	if (find_whole(app, arg[0], &l) != 0 ||
	    find_end(app, arg[0], arg[1], &l) != 0)
		return -EINVAL;
	return post(app, &l, &o, true);
}

/* Whether the controller keeps a healthy link out until it is added. If so, says
   it: the order was carried out, but `add` is needed, too. */
static bool
kept_out(struct app *app, uint32_t link)
{
	const struct rl_controller *c = app->host.resil.controller;
	const char *name = link_name(app, link);

	if (c == NULL || !rl_controller_link_out(c, link))
		return false;
	printf("%s is whole again, but kept out: it was removed, or left "
	       "because it degraded; bring it back by link %s add\n",
	       name, name);
	return true;
}

int
cmd_link_up(struct app *app, const char *const arg[])
{
	struct links l;

	if (find_links(app, arg[0], &l) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	for (unsigned int i = 0; i < l.n; i++) {
		const struct link_state *s = &app->link[l.link[i]];

		if (!s->hurt && s->flaps == 0 &&
		    !rl_inject_severed(&app->host.fault[l.link[i]]))
			return app_error(app, "%s is not down%s",
					 link_name(app, l.link[i]),
					 s->disabled ? "; enable it" : "");
	}
	for (unsigned int i = 0; i < l.n; i++) {
		app->link[l.link[i]].flaps = 0;
		app->link[l.link[i]].flap_down = false;
		if (app_heal(app, l.link[i]) != 0)
			return app_error(app, "%s: its ports do not answer",
					 link_name(app, l.link[i]));
	}
	for (unsigned int i = 0; i < l.n; i++)
		(void)kept_out(app, l.link[i]);
	return 0;
}

int
cmd_link_flap(struct app *app, const char *const arg[])
{
	uint64_t n, period_ns;
	struct links l;

	if (find_whole(app, arg[0], &l) != 0 ||
	    number(app, arg[1], 1, 1000000, &n) != 0 ||
	    duration(app, arg[2], 2 * FLAP_HALF_MIN_NS, &period_ns) != 0)
		return -EINVAL;
	for (unsigned int i = 0; i < l.n && !app->checking; i++) {
		struct link_state *s = &app->link[l.link[i]];

		s->flaps = 2 * (uint32_t)n;
		s->flap_half_ns = period_ns / 2;
		s->flap_due_ns = host_now(&app->host);
		s->flap_down = false;
	}
	return 0;
}

static void
order_ports(struct app *app, uint32_t link, enum rl_port_order order)
{
	const struct rl_topo_link *l = &app->cfg.topo.link[link];

	for (int e = 0; e < 2; e++)
		rl_role_port_order(&app->host.fabric.dev[l->dev[e]]
					    .port[l->port[e]],
				   order);
}

/* Orders the ports of links up, down, or down once they are empty. */
int
cmd_link_order(struct app *app, const char *const arg[])
{
	const enum rl_port_order order = (enum rl_port_order)app->with;
	const bool on = order == RL_ORDER_UP;
	struct links l;

	if (find_links(app, arg[0], &l) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	for (unsigned int i = 0; i < l.n; i++)
		if (app->link[l.link[i]].disabled != on)
			return app_error(app, "%s is %s already",
					 link_name(app, l.link[i]),
					 on ? "enabled" : "disabled");
	for (unsigned int i = 0; i < l.n; i++) {
		watch_pump(&app->watch);
		app->link[l.link[i]].disabled = !on;
		app->link[l.link[i]].drained = order == RL_ORDER_DRAIN;
		app->watch.order_ns[l.link[i]] =
			on ? 0 : host_now(&app->host);
		if (on && kept_out(app, l.link[i]))
			continue;
		order_ports(app, l.link[i], order);
		recorder_link(app, order == RL_ORDER_UP	   ? "up"
				   : order == RL_ORDER_DOWN ? "down"
							    : "drain",
			      l.link[i]);
	}
	return 0;
}

/* A frame that is lost, or some bytes of one that are changed. */
int
cmd_inject_number(struct app *app, const char *const arg[])
{
	struct rl_inject_order o = { .kind = (enum rl_inject_kind)app->with };
	const uint64_t max = o.kind == RL_INJECT_DROP ? UINT32_MAX
						     : RL_INJECT_CORRUPT_MAX;
	struct links l;

	if (find_end(app, arg[0], arg[1], &l) != 0 ||
	    number(app, arg[2], 1, max, &o.value) != 0)
		return -EINVAL;
	return post(app, &l, &o, false);
}

static int
rate(struct app *app, const char *text, double max, const char *example,
     double *v)
{
	if (parse_rate(text, 0.0, max, v) == 0)
		return 0;
	return app_error(app, "rate %s is out of range; use 0 to %g, such as "
			      "%s",
			 text, max, example);
}

int
cmd_inject_ber(struct app *app, const char *const arg[])
{
	const char *propagate = arg[3];
	const char *lanes = propagate == NULL ? NULL : arg[4];
	struct rl_inject_order o = { .kind = RL_INJECT_BER };
	uint64_t n = 1;
	struct links l;

	if (find_end(app, arg[0], arg[1], &l) != 0 ||
	    rate(app, arg[2], 0.5, "1e-5", &o.rate) != 0 ||
	    (propagate != NULL &&
	     rate(app, propagate, BURST_MAX, "0.8", &o.propagate) != 0))
		return -EINVAL;
	if (lanes != NULL &&
	    (parse_number(lanes, 1, RL_ERROR_LANES_MAX, &n) != 0 ||
	     (n & (n - 1)) != 0))
		return app_error(app, "%s lanes: use 1, 2, 4, 8 or 16", lanes);
	o.lanes = (uint32_t)n;
	return post(app, &l, &o, true);
}

/* A share of all frames, perhaps with a time. */
int
cmd_inject_rate(struct app *app, const char *const arg[])
{
	struct rl_inject_order o = { .kind = (enum rl_inject_kind)app->with };
	struct links l;

	if (find_end(app, arg[0], arg[1], &l) != 0 ||
	    rate(app, arg[2], 1.0, "0.02", &o.rate) != 0 ||
	    (arg[3] != NULL && duration(app, arg[3], 1, &o.value) != 0))
		return -EINVAL;
	return post(app, &l, &o, true);
}

/* Makes a receiver stop, or resume, taking packets of a VC. */
int
cmd_inject_block(struct app *app, const char *const arg[])
{
	const bool on = app->with;
	struct rl_role_core *core;
	uint32_t dev = 0, mask;
	uint64_t vc;

	if (command_find_endpoint(app, arg[0], &dev) != 0)
		return -EINVAL;
	if (number(app, arg[1], 0, app->cfg.link.vcs - 1, &vc) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	core = &app->host.fabric.dev[dev].core;
	mask = atomic_load(&core->hold_vcs);
	if ((mask >> vc & 1) == on)
		return app_error(app, "VC %s of %s is %s", arg[1], arg[0],
				 on ? "blocked already" : "not blocked");
	rl_role_core_hold(core, mask ^ 1u << vc);
	recorder_block(app, arg[0], arg[1], on);
	return 0;
}

/* A stall ends by itself, a delay lasts. */
int
cmd_inject_time(struct app *app, const char *const arg[])
{
	struct rl_inject_order o = { .kind = (enum rl_inject_kind)app->with };
	struct links l;

	if (find_end(app, arg[0], arg[1], &l) != 0 ||
	    duration(app, arg[2], 0, &o.value) != 0)
		return -EINVAL;
	return post(app, &l, &o, o.kind == RL_INJECT_DELAY);
}
