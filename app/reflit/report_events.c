/* SPDX-License-Identifier: BSD-3-Clause */

/* The events of a run as JSON: what `show events` says, in parts. */

#include <string.h>

#include "json_set.h"
#include "report.h"

static void
set_text(json_t *o, const char *key, const char *text)
{
	json_object_set_new(o, key, json_string(text));
}

static void
set_link(json_t *o, const struct rl_topo *t, const struct host_rec *rec)
{
	char name[2 * RL_NAME_MAX + 8];

	if (rec->port >= t->dev[rec->dev].nports)
		return;
	set_text(o, "link",
		 rl_topo_link_name(t, t->dev[rec->dev].port[rec->port].link,
				   name, sizeof(name)));
	set(o, "port", rec->port);
}

static const char *
endpoint_name(const struct rl_topo *t, uint16_t ep)
{
	return ep < t->nep ? t->dev[t->ep_dev[ep]].name : "?";
}

static void
set_packet(json_t *o, const struct rl_topo *t, const struct host_rec_packet *p,
	   const char *why)
{
	set_text(o, "source", endpoint_name(t, p->src));
	set_text(o, "destination", endpoint_name(t, p->dst));
	set(o, "tag", p->tag);
	set_text(o, "why", why);
}

static json_t *
event_json(const struct app *app, const struct host_rec *rec)
{
	const struct rl_topo *t = &app->cfg.topo;
	json_t *o = json_object();
	char line[WATCH_LINE_MAX];

	set(o, "at_ns", rec->t_ns > app->start_ns ? rec->t_ns - app->start_ns
						  : 0);
	switch ((enum host_rec_kind)rec->kind) {
	case HOST_REC_PORT:
		set_text(o, "kind", "link");
		set_text(o, "device", t->dev[rec->dev].name);
		set_link(o, t, rec);
		break;
	case HOST_REC_CORE:
		set_text(o, "kind", "core");
		set_text(o, "device", t->dev[rec->dev].name);
		set_link(o, t, rec);
		break;
	case HOST_REC_EP:
		set_text(o, "kind", "endpoint");
		set_text(o, "device", t->dev[rec->dev].name);
		break;
	case HOST_REC_DROP:
		set_text(o, "kind", "drop");
		set_packet(o, t, &rec->packet,
			   rl_drop_reason_name(
				   (enum rl_drop_reason)rec->packet.why));
		break;
	case HOST_REC_REPORT:
		set_text(o, "kind", "report");
		set_packet(o, t, &rec->packet,
			   rl_ep_reason_name(
				   (enum rl_ep_reason)rec->packet.why));
		break;
	case HOST_REC_CHANNEL:
		set_text(o, "kind", "channel");
		break;
	case HOST_REC_NOTE:
		set_text(o, "kind", "note");
		break;
	}
	set_text(o, "text",
		 strstr(watch_event_text(&app->watch, rec, line, sizeof(line)),
			" ms ") + 4); /* after its time */
	return o;
}

void
report_events(json_t *report, const struct app *app)
{
	const struct watch *w = &app->watch;
	const uint64_t kept = rl_min_u64(w->nevents, WATCH_EVENTS);
	json_t *a = json_array();

	for (uint64_t i = w->nevents - kept; i < w->nevents; i++)
		json_array_append_new(
			a, event_json(app, &w->event[i % WATCH_EVENTS]));
	json_object_set_new(report, "events", a);
	set(report, "events_before", w->nevents - kept);
}
