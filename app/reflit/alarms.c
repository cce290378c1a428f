/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "link_health.h"
#include "recovery_report.h"
#include "rl_grow.h"

#define LOOK_NS (100 * RL_NS_PER_MS)
/* A look reads a cache line of each port, which its lcore writes. */
#define LOOK_LINK_NS (250 * RL_NS_PER_US)
#define ALL UINT32_MAX /* of no part: of the fabric */

/* Adds an alarm to a list that is being made; the caller fills in the texts. */
static struct alarm *
raise_alarm(struct alarms *a, enum alarm_kind kind, uint32_t part,
	    uint64_t since_ns)
{
	static struct alarm none; /* where there is no memory */
	struct alarm *now;

	if (!rl_grow(&a->now, a->n, &a->cap, sizeof(*now)))
		return &none;
	now = &a->now[a->n++];
	*now = (struct alarm){ .kind = kind, .part = part,
			       .since_ns = since_ns };
	return now;
}

__attribute__((format(printf, 2, 3))) static void
say_where(struct alarm *a, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(a->where, sizeof(a->where), format, ap);
	va_end(ap);
}

/* What a link's state means; ALARM_KIND_COUNT: nothing wrong. */
static enum alarm_kind
link_alarm(const struct app *app, const struct link_health *h, uint64_t now_ns)
{
	if (h->admin == LINK_ADMIN_LEFT)
		return ALARM_LINK_LEFT;
	if (h->admin != LINK_ADMIN_UP || h->crashed)
		return ALARM_KIND_COUNT;
	switch (h->oper) {
	case LINK_OPER_UP:
	case LINK_OPER_REMOTE:
		break;
	case LINK_OPER_DEGRADED:
		return ALARM_LINK_DEGRADED;
	case LINK_OPER_REFUSED:
		return h->miscabled ? ALARM_MISCABLED : ALARM_LINK_REFUSED;
	case LINK_OPER_TRAINING:
	case LINK_OPER_DOWN:
		/* at the start all links train for a moment */
		if (!h->fresh ||
		    now_ns - app->start_ns > ALARM_GRACE_NS)
			return ALARM_LINK_DOWN;
	}
	return ALARM_KIND_COUNT;
}

static void
look_at_links(const struct app *app, struct alarms *a, uint64_t now_ns)
{
	const struct rl_topo *t = &app->cfg.topo;

	for (uint32_t l = 0; l < t->nlink; l++) {
		struct link_health h;
		enum alarm_kind kind;
		struct alarm *al;

		if (link_is_well(app, l))
			continue;
		link_health(app, l, &h);
		kind = link_alarm(app, &h, now_ns);
		if (kind == ALARM_KIND_COUNT)
			continue;
		al = raise_alarm(a, kind, l, h.since_ns);
		say_where(al, "link %s", APP_LINK(app, l));
		snprintf(al->why, sizeof(al->why), "%s", h.why);
	}
}

static void
look_at_devices(const struct app *app, struct alarms *a, uint64_t now_ns)
{
	const struct channel_seen *seen = &app->channel_seen;

	for (uint32_t d = 0; d < app->cfg.topo.ndev; d++)
		if (app->host.dead[d]) {
			struct alarm *al = raise_alarm(a, ALARM_DEVICE, d,
						       now_ns);

			say_where(al, "device %s", app->cfg.topo.dev[d].name);
			snprintf(al->why, sizeof(al->why),
				 ALARM_WHY_DEVICE);
		}
	for (uint32_t p = 0; p < app->cfg.nprocess; p++)
		if (app->oob != NULL && !seen->away &&
		    (seen->members >> p & 1) == 0 && (int)p != app->process &&
		    now_ns - app->start_ns > ALARM_GRACE_NS)
			say_where(raise_alarm(a, ALARM_PROCESS, p, now_ns),
				  "process %s", app->cfg.process[p].name);
}

/* Whether no way leads to a device because all its links were taken out. */
static bool
away_by_order(const struct app *app, uint32_t dev)
{
	const struct rl_topo_dev *d = &app->cfg.topo.dev[dev];

	for (uint16_t p = 0; p < d->nports; p++) {
		struct link_health h;

		link_health(app, d->port[p].link, &h);
		if (h.crashed || (h.admin != LINK_ADMIN_DOWN &&
				  h.admin != LINK_ADMIN_DRAINED &&
				  h.admin != LINK_ADMIN_REMOVED))
			return false;
	}
	return true;
}

static void
look_at_endpoints(struct app *app, struct alarms *a)
{
	const struct rl_topo *t = &app->cfg.topo;
	struct absence_claim *away;
	uint32_t n;

	if (app->watch.absences.n == 0)
		return;
	away = absences_list(&app->watch.absences, t, &n);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t dev = t->ep_dev[away[i].peer];
		struct alarm *al;

		if (away[i].until_ns != 0 || away_by_order(app, dev) ||
		    (away[i].ep != RL_EP_ALL &&
		     away_by_order(app, t->ep_dev[away[i].ep])))
			continue;
		al = raise_alarm(a, ALARM_UNREACHABLE, dev, away[i].since_ns);
		say_where(al, "endpoint %s", t->dev[dev].name);
		snprintf(al->why, sizeof(al->why), ALARM_WHY_UNREACHABLE);
	}
	free(away);
}

static void
look_at_controller(const struct app *app, struct alarms *a, uint64_t now_ns)
{
	const struct host_resil *r = &app->host.resil;
	const struct rl_recovery *last =
		r->log.n > 0 ? &r->log.rec[r->log.n - 1] : NULL;
	const bool gone = app->oob == NULL ? r->controller == NULL
					   : app->channel_seen.holds[0] == '\0';
	char cause[2 * RL_NAME_MAX + 64];
	struct alarm *al;

	if (!r->on)
		return;
	if (app->oob != NULL && app->channel_seen.away)
		say_where(raise_alarm(a, ALARM_CHANNEL, ALL, now_ns), "etcd");
	else if (gone && (app->oob == NULL || now_ns - app->start_ns >
						      ALARM_GRACE_NS))
		say_where(raise_alarm(a, ALARM_CONTROLLER, ALL, now_ns),
			  "controller");
	if (last == NULL || !recovery_failed(last))
		return;
	al = raise_alarm(a, ALARM_RECOVERY, ALL, now_ns);
	say_where(al, "tables of epoch %u", last->epoch);
	snprintf(al->why, sizeof(al->why), "%s: %s%s%s",
		 rl_recovery_text(last, &app->cfg.topo, cause, sizeof(cause)),
		 rl_outcome_name(last->outcome),
		 last->outcome == RL_OUTCOME_REFUSED ? ": " : "",
		 last->outcome == RL_OUTCOME_REFUSED ? r->why : "");
}

static void
look_at_packets(const struct app *app, struct alarms *a, uint64_t now_ns)
{
	const struct watch *w = &app->watch;
	struct alarm *al;

	if (w->given_up == 0 || now_ns - w->given_up_ns > ALARM_GIVEN_UP_NS)
		return;
	al = raise_alarm(a, ALARM_GIVEN_UP, ALL, w->giving_up_ns);
	say_where(al, "traffic");
	snprintf(al->why, sizeof(al->why), "%llu packets in all; see show "
		 "events", (unsigned long long)w->given_up);
}

static const struct alarm *
find(const struct alarms *a, const struct alarm *like)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->now[i].kind == like->kind &&
		    a->now[i].part == like->part)
			return &a->now[i];
	return NULL;
}

static void
tell(struct app *app, const struct alarm *a, const char *what)
{
	char text[WATCH_NOTE_MAX];

	snprintf(text, sizeof(text), "alarm %s: %s: %s%s%.300s", what, a->where,
		 alarm_word(a->kind), a->why[0] == '\0' ? "" : ": ", a->why);
	watch_say(&app->watch, text, false);
	journal_alarm(app, a, what, text);
}

/* Which of two lists has what the other lacks; what stands, keeps its time. */
static void
tell_changes(struct app *app, struct alarms *old, struct alarms *new)
{
	for (uint32_t i = 0; i < new->n; i++) {
		const struct alarm *was = find(old, &new->now[i]);

		if (was == NULL)
			tell(app, &new->now[i], "raised");
		else if (was->since_ns < new->now[i].since_ns)
			new->now[i].since_ns = was->since_ns;
	}
	for (uint32_t i = 0; i < old->n; i++)
		if (find(new, &old->now[i]) == NULL)
			tell(app, &old->now[i], "over");
}

static int
worst_first(const void *pa, const void *pb)
{
	const struct alarm *a = pa, *b = pb;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->since_ns != b->since_ns)
		return a->since_ns < b->since_ns ? -1 : 1;
	return a->part < b->part ? -1 : a->part > b->part;
}

void
alarms_look(struct app *app)
{
	const uint64_t now_ns = host_now(&app->host);
	struct alarms new = { 0 };

	if (app->alarms.closed)
		return;
	look_at_links(app, &new, now_ns);
	look_at_devices(app, &new, now_ns);
	look_at_endpoints(app, &new);
	look_at_controller(app, &new, now_ns);
	look_at_packets(app, &new, now_ns);
	tell_changes(app, &app->alarms, &new);
	if (new.n > 0)
		qsort(new.now, new.n, sizeof(*new.now), worst_first);
	new.due_ns = now_ns + rl_max_u64(LOOK_NS, LOOK_LINK_NS *
						  app->cfg.topo.nlink);
	free(app->alarms.now);
	app->alarms = new;
}

void
alarms_step(struct app *app)
{
	if (host_now(&app->host) >= app->alarms.due_ns)
		alarms_look(app);
}

void
alarms_say(const struct app *app, struct facts *f)
{
	facts_list(f, "alarms");
	for (uint32_t i = 0; i < app->alarms.n; i++) {
		const struct alarm *a = &app->alarms.now[i];
		char utc[APP_UTC_MAX];

		app_utc(app, a->since_ns, utc);
		facts_row(f,
			  "{severity:-8} {where}: {alarm} since {since_utc}: "
			  "{why}\n",
			  FACTS(FACT_T("alarm", alarm_word(a->kind)),
				FACT_T("severity", alarm_severity(a->kind)),
				FACT_T("where", a->where),
				FACT_T("why", alarm_why(a)),
				FACT_N("since_ns", watch_since(app->start_ns,
							       a->since_ns)),
				FACT_T("since_utc", utc)));
	}
}

void
alarms_free(struct alarms *a)
{
	free(a->now);
	*a = (struct alarms){ 0 };
}
