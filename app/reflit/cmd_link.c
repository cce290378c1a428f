/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Commands that inject faults into links and heal them. Each checks everything
 * first, so that an error changes nothing, even if "A-B" means several
 * parallel links.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "parse.h"

#define LINKS_MAX 64
#define FLAP_HALF_MIN_NS (1 * RL_NS_PER_MS)

struct links {
	uint32_t link[LINKS_MAX];
	uint8_t end[LINKS_MAX]; /* by find_end(): may differ by link */
	unsigned int n;
};

/* A line of a fault file. */
struct fault_text {
	char text[COMMAND_LINE_MAX + 512];
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void
put(struct fault_text *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	t->n += (size_t)vsnprintf(t->text + t->n, sizeof(t->text) - t->n,
				  format, ap);
	va_end(ap);
	RL_ASSERT(t->n < sizeof(t->text));
}

/* "A-B": all links between the two; "A-B#k": one. An end is in this process. */
static int
find_links(struct app *app, const char *name, struct links *l)
{
	if (command_find_links(app, name, l->link, LINKS_MAX, &l->n) != 0)
		return -EINVAL;
	return command_link_here(app, l->link[0]);
}

/* Links, and for each the end that is at a device. Its frames arrive here. */
static int
find_end(struct app *app, const char *link, const char *device,
	 struct links *l)
{
	const struct rl_config *cfg = &app->cfg;
	const struct rl_topo *t = &cfg->topo;
	const int32_t dev = rl_topo_find_dev(t, device);
	const uint32_t *ends;
	uint32_t other;

	if (find_links(app, link, l) != 0)
		return -EINVAL;
	ends = t->link[l->link[0]].dev;
	if (dev < 0 || (ends[0] != (uint32_t)dev && ends[1] != (uint32_t)dev))
		return app_error(app, "%s is no end of %s; its ends are %s "
				      "and %s",
				 device, link, t->dev[ends[0]].name,
				 t->dev[ends[1]].name);
	other = ends[ends[0] == (uint32_t)dev];
	if (!rl_config_runs(cfg, app->process, other))
		return app_error(app, "frames of %s arrive in process %s; give "
				      "the command there", device,
				 cfg->process[cfg->dev_process[other]].name);
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

/* Orders a fault for a link's frames of the end that was found. */
static int
post_one(struct app *app, const struct links *l, unsigned int i,
	 struct rl_fault *f, bool lasting)
{
	struct link_state *s = &app->link[l->link[i]];
	const unsigned int end = l->end[i];

	f->link = l->link[i];
	f->dirs = (uint8_t)(1u << end);
	if (rl_inject_order(&app->host.fault[f->link], end, f) != 0)
		return app_error(app, "%s: too many orders at once",
				 APP_LINK(app, f->link));
	s->hurt |= lasting;
	if (f->kind == RL_FAULT_CUT && (f->nth != 0 || f->mid))
		s->cut_waits[end] = true; /* recorded when it happens */
	else
		recorder_fault(app, f);
	if (f->kind == RL_FAULT_NOISE)
		s->noise[end] = f->noise;
	if (f->kind == RL_FAULT_NOISE || f->kind == RL_FAULT_STALL)
		watch_order(&app->watch, f->link);
	return 0;
}

/* The same for each link, where its frames arrive in this process. */
static int
post(struct app *app, const struct links *l, struct rl_fault *f, bool lasting)
{
	for (unsigned int i = 0; i < l->n && !app->checking; i++)
		if (app_takes_frames(app, l->link[i], l->end[i]) &&
		    post_one(app, l, i, f, lasting) != 0)
			return -EINVAL;
	return 0;
}

/* Checks that links have no fault yet, so that they can be cut. One that flaps
   would heal what follows. */
static int
find_whole(struct app *app, const char *name, struct links *l)
{
	if (find_links(app, name, l) != 0)
		return -EINVAL;
	for (unsigned int i = 0; i < l->n && !app->checking; i++)
		if (app->link[l->link[i]].flaps != 0 ||
		    rl_inject_severed(&app->host.fault[l->link[i]]))
			return app_error(app, "%s %s already",
					 APP_LINK(app, l->link[i]),
					 app->link[l->link[i]].flaps != 0
						 ? "flaps"
						 : "is down");
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
		recorder_link(app, RL_FAULT_CUT, l.link[i]);
	}
	return 0;
}

int
cmd_link_down_mid(struct app *app, const char *const arg[])
{
	struct rl_fault f = { .kind = RL_FAULT_CUT, .mid = true };
	struct links l;

	if (find_whole(app, arg[0], &l) != 0)
		return -EINVAL;
	/* the first direction that meets a packet in the middle */
	for (int e = 0; e < 2; e++) {
		memset(l.end, e, sizeof(l.end));
		if (post(app, &l, &f, true) != 0)
			return -EINVAL;
	}
	return 0;
}

static int
trigger_after(struct app *app, const char *link, const char *device,
	      const char *flits, bool down)
{
	struct rl_fault f = {
		.kind = RL_FAULT_CUT,
		.silent = !down,
		.nth_flit = true,
	};
	struct links l;
	uint64_t n;

	if (find_whole(app, link, &l) != 0 ||
	    find_end(app, link, device, &l) != 0 ||
	    number(app, flits, 0, UINT32_MAX - 1, &n) != 0)
		return -EINVAL;
	f.nth = (uint32_t)n + 1; /* the first that is lost */
	return post(app, &l, &f, true);
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
	struct rl_fault f = {
		.kind = RL_FAULT_CUT, .silent = true, .mid = true,
	};
	struct links l;

	if (find_whole(app, arg[0], &l) != 0 ||
	    find_end(app, arg[0], arg[1], &l) != 0)
		return -EINVAL;
	return post(app, &l, &f, true);
}

int
cmd_link_one_way(struct app *app, const char *const arg[])
{
	struct rl_fault f = { .kind = RL_FAULT_CUT, .silent = true };
	struct links l;

	if (find_whole(app, arg[0], &l) != 0 ||
	    find_end(app, arg[0], arg[1], &l) != 0)
		return -EINVAL;
	return post(app, &l, &f, true);
}

/* Whether the controller keeps a healthy link out until it is added. If so, says
   it: the order was carried out, but `add` is needed, too. */
static bool
kept_out(struct app *app, uint32_t link)
{
	const struct rl_controller *c = app->host.resil.controller;
	const char *name = APP_LINK(app, link);

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
					 APP_LINK(app, l.link[i]),
					 s->disabled ? "; enable it" : "");
	}
	for (unsigned int i = 0; i < l.n; i++) {
		app->link[l.link[i]].flaps = 0;
		app->link[l.link[i]].flap_down = false;
		if (app_heal(app, l.link[i]) != 0)
			return app_error(app, "%s: its ports do not answer",
					 APP_LINK(app, l.link[i]));
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
					 APP_LINK(app, l.link[i]),
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
		recorder_link(app,
			      order == RL_ORDER_UP     ? RL_FAULT_UP
			      : order == RL_ORDER_DOWN ? RL_FAULT_DOWN
						       : RL_FAULT_DRAIN,
			      l.link[i]);
	}
	return 0;
}

/* Appends the options of a row to a line: for each word that ends in '=' or in
   "=T", a time, the next parameter. */
static int
options(struct app *app, const char *row, const char *const arg[],
	struct fault_text *t)
{
	for (const char *at = strchr(row, ' '); at != NULL;) {
		const char *next = strchr(at + 1, ' ');
		size_t n = next == NULL ? strlen(at) : (size_t)(next - at);
		const bool time = at[n - 1] == 'T';
		uint64_t ns;

		n -= time;
		if (time && duration(app, *arg, 0, &ns) != 0)
			return -EINVAL;
		put(t, "%.*s%s", (int)n, at, at[n - 1] == '=' ? *arg++ : "");
		at = next;
	}
	return 0;
}

static int
take(void *to, const struct rl_fault *f)
{
	*(struct rl_fault *)to = *f;
	return 0;
}

static int
fault_of(struct app *app, const struct fault_text *t, struct rl_fault *f)
{
	char err[RL_ERR_MAX];

	if (rl_fault_file("", t->text, strlen(t->text), &app->cfg.topo, NULL,
			  take, f, err, sizeof(err)) == 0)
		return 0;
	return app_error(app, "%s", err + strlen(":1: "));
}

/* What the row says, as in a fault file, of frames that a device sends. Noise is
   added to the noise that is there. */
int
cmd_inject(struct app *app, const char *const arg[])
{
	const char *row = app->fault;
	const size_t kind = strcspn(row, " ");
	struct links l;

	if (find_end(app, arg[0], arg[1], &l) != 0)
		return -EINVAL;
	for (unsigned int i = 0; i < l.n; i++) {
		const struct rl_topo *topo = &app->cfg.topo;
		const struct rl_topo_link *tl = &topo->link[l.link[i]];
		const unsigned int end = l.end[i];
		struct fault_text t = { .n = 0 };
		char noise[320] = "";
		struct rl_fault f;

		if (row[0] == 'n' && !app->checking) /* links exist */
			rl_noise_text(&app->link[l.link[i]].noise[end], noise,
				      sizeof(noise));
		put(&t, "0 %.*s %s>%s#%u%s", (int)kind, row,
		    topo->dev[tl->dev[end]].name,
		    topo->dev[tl->dev[1 - end]].name, tl->k, noise);
		if (options(app, row, arg + 2, &t) != 0 ||
		    fault_of(app, &t, &f) != 0)
			return -EINVAL;
		if (f.noise.jitter_ppb == 0)
			f.noise.jitter_ns = 0;
		if (!app->checking &&
		    post_one(app, &l, i, &f, f.kind == RL_FAULT_NOISE) != 0)
			return -EINVAL;
	}
	return 0;
}

/* The same of a device: what its row says. */
int
cmd_inject_device(struct app *app, const char *const arg[])
{
	const size_t kind = strcspn(app->fault, " ");
	struct fault_text t = { .n = 0 };
	struct rl_role_core *core;
	struct rl_fault f;
	uint32_t dev = 0;
	bool blocked;

	if (command_find_device(app, arg[0], &dev) != 0 ||
	    command_here(app, dev) != 0)
		return -EINVAL;
	put(&t, "0 %.*s %s", (int)kind, app->fault, arg[0]);
	if (options(app, app->fault, arg + 1, &t) != 0 ||
	    fault_of(app, &t, &f) != 0)
		return -EINVAL;
	if (f.vc >= app->cfg.link.vcs)
		return app_error(app, "VC %s: links have %u", arg[1],
				 app->cfg.link.vcs);
	if (app->checking)
		return 0;
	core = &app->host.fabric.dev[dev].core;
	blocked = atomic_load(&core->hold_vcs) >> f.vc & 1;
	if (f.kind == (blocked ? RL_FAULT_BLOCK : RL_FAULT_UNBLOCK))
		return app_error(app, "VC %s of %s is %s", arg[1], arg[0],
				 blocked ? "blocked already" : "not blocked");
	rl_role_core_fault(core, &f);
	recorder_fault(app, &f);
	return 0;
}
