/* SPDX-License-Identifier: BSD-3-Clause */

/* The events of a run: in parts for JSON, as a line of text. */

#include <string.h>

#include "report.h"

static const char *
kind_name(enum host_rec_kind kind)
{
	static const char *const names[] = {
		[HOST_REC_PORT] = "link",	[HOST_REC_CORE] = "core",
		[HOST_REC_EP] = "endpoint",	[HOST_REC_DROP] = "drop",
		[HOST_REC_REPORT] = "report",	[HOST_REC_CHANNEL] = "channel",
		[HOST_REC_NOTE] = "note",
	};

	return names[kind];
}

static const char *
endpoint_name(const struct rl_topo *t, uint16_t ep)
{
	return ep < t->nep ? t->dev[t->ep_dev[ep]].name : "?";
}

/* Facts that an event does not have are left out: NULL. */
void
event_say(const struct app *app, const struct host_rec *rec, struct facts *f)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct host_rec_packet *p = &rec->packet;
	const bool drop = rec->kind == HOST_REC_DROP;
	const bool packet = drop || rec->kind == HOST_REC_REPORT;
	const bool port = (rec->kind == HOST_REC_PORT ||
			   rec->kind == HOST_REC_CORE) &&
			  rec->port < t->dev[rec->dev].nports;
	const bool device = rec->kind == HOST_REC_PORT ||
			    rec->kind == HOST_REC_CORE ||
			    rec->kind == HOST_REC_EP;
	char line[WATCH_LINE_MAX], utc[APP_UTC_MAX], link[2 * RL_NAME_MAX + 8];

	watch_event_text(&app->watch, rec, line, sizeof(line));
	if (port)
		rl_topo_link_name(t, t->dev[rec->dev].port[rec->port].link,
				  link, sizeof(link));
	facts_row(f, "{line}\n",
		  FACTS(FACT_S("line", line),
			FACT_N("at_ns", watch_since(app->start_ns, rec->t_ns)),
			FACT_T("at_utc", app_utc(app, rec->t_ns, utc)),
			FACT_T("kind", kind_name((enum host_rec_kind)rec->kind)),
			FACT_T("device", device ? t->dev[rec->dev].name : NULL),
			FACT_T("link", port ? link : NULL),
			FACT_L("port", port ? json_integer(rec->port) : NULL),
			FACT_T("source", packet ? endpoint_name(t, p->src)
						: NULL),
			FACT_T("destination", packet ? endpoint_name(t, p->dst)
						     : NULL),
			FACT_L("tag", packet ? json_integer(p->tag) : NULL),
			FACT_T("why", !packet ? NULL
				      : drop  ? rl_drop_reason_name(
							(enum rl_drop_reason)
								p->why)
					      : rl_ep_reason_name(
							(enum rl_ep_reason)
								p->why)),
			FACT_T("text", strstr(line, " ms ") + 4)));
}

void
events_say(const struct app *app, struct facts *f)
{
	const struct watch *w = &app->watch;
	const uint64_t kept = rl_min_u64(w->nevents, WATCH_EVENTS);

	facts_list(f, "events");
	for (uint64_t i = w->nevents - kept; i < w->nevents; i++)
		event_say(app, &w->event[i % WATCH_EVENTS], f);
	facts_set(f, NULL, FACTS(FACT_N("events_before", w->nevents - kept)));
}
