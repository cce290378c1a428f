/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The mirror, its lock, and the commands that read only the mirror: events,
 * failovers.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failover_report.h"
#include "telemetry_mirror.h"

#define PAGE_EVENTS 64
#define PAGE_FAILOVERS 64
#define PAGE_ALARMS 40
#define PORT_STATS_NS (100 * RL_NS_PER_MS)

struct mirror telemetry_mirror = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.answered = PTHREAD_COND_INITIALIZER,
};

struct app *
mirror_enter(void)
{
	pthread_mutex_lock(&telemetry_mirror.lock);
	return telemetry_mirror.app;
}

void
mirror_leave(void)
{
	pthread_mutex_unlock(&telemetry_mirror.lock);
}

int
mirror_page(struct rte_tel_data *d, const char *params, uint32_t total,
	    uint32_t most, uint32_t *start, uint32_t *count)
{
	unsigned long long v = 0;
	char *end = NULL;

	if (params != NULL && params[0] != '\0') {
		if (params[0] < '0' || params[0] > '9')
			return -EINVAL;
		v = strtoull(params, &end, 10);
		if (*end != '\0' || v > UINT32_MAX)
			return -EINVAL;
	}
	*start = v < total ? (uint32_t)v : total;
	*count = rl_min_u32(total - *start, most);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "start", *start);
	rte_tel_data_add_dict_uint(d, "count", *count);
	rte_tel_data_add_dict_uint(d, "total", total);
	return 0;
}

int
mirror_error(struct rte_tel_data *d, const char *format, ...)
{
	char text[RTE_TEL_MAX_STRING_LEN];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "error", text);
	return 0;
}

void
mirror_table(struct mirror_table *t, const char *const name[],
	     unsigned int texts, unsigned int numbers)
{
	*t = (struct mirror_table){ .name = name, .n = texts + numbers };
	RL_ASSERT(t->n <= MIRROR_COLUMNS);
	for (unsigned int i = 0; i < t->n; i++) {
		t->col[i] = rte_tel_data_alloc();
		if (t->col[i] != NULL)
			rte_tel_data_start_array(t->col[i],
						 i < texts ? RTE_TEL_STRING_VAL
							   : RTE_TEL_UINT_VAL);
	}
}

/* The column to fill; behind the last one the next row begins. */
static struct rte_tel_data *
next_column(struct mirror_table *t)
{
	struct rte_tel_data *c = t->col[t->at];

	t->at = (t->at + 1) % t->n;
	return c;
}

void
mirror_text(struct mirror_table *t, const char *text)
{
	struct rte_tel_data *c = next_column(t);

	if (c != NULL)
		rte_tel_data_add_array_string(c, text);
}

void
mirror_number(struct mirror_table *t, uint64_t v)
{
	struct rte_tel_data *c = next_column(t);

	if (c != NULL)
		rte_tel_data_add_array_uint(c, v);
}

void
mirror_table_end(struct mirror_table *t, struct rte_tel_data *d)
{
	for (unsigned int i = 0; i < t->n; i++)
		if (t->col[i] != NULL)
			rte_tel_data_add_dict_container(d, t->name[i],
							t->col[i], 0);
}

/*
 * "/reflit/events,N": events from number N on; without N the last page. They
 * are numbered from 0 since the start; those too old are gone.
 */
static int
events(const char *cmd, const char *params, struct rte_tel_data *d)
{
	static const char *const names[] = { "text", "t_ns" };
	const struct mirror *m = &telemetry_mirror;
	uint64_t from = UINT64_MAX, first, n;
	struct mirror_table t;
	char *end = NULL;

	(void)cmd;
	if (params != NULL && params[0] != '\0') {
		from = strtoull(params, &end, 10);
		if (params[0] < '0' || params[0] > '9' || *end != '\0')
			return -EINVAL;
	}
	mirror_table(&t, names, 1, 1);
	mirror_enter();
	first = m->nevents > MIRROR_EVENTS ? m->nevents - MIRROR_EVENTS : 0;
	if (from == UINT64_MAX)
		from = m->nevents > PAGE_EVENTS ? m->nevents - PAGE_EVENTS : 0;
	from = from < first ? first : from > m->nevents ? m->nevents : from;
	n = rl_min_u64(m->nevents - from, PAGE_EVENTS);
	for (uint64_t i = from; i < from + n; i++) {
		const struct mirror_event *e = &m->event[i % MIRROR_EVENTS];

		mirror_text(&t, e->text);
		mirror_number(&t, e->t_ns);
	}
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "start", from);
	rte_tel_data_add_dict_uint(d, "next", from + n);
	rte_tel_data_add_dict_uint(d, "total", m->nevents);
	mirror_leave();
	mirror_table_end(&t, d);
	return 0;
}

static void
add_failover(const struct app *app, const struct rl_failover *f,
	     struct mirror_table *table)
{
	const struct rl_topo *t = &app->cfg.topo;
	uint64_t v[FAILOVER_NUMBERS];
	/* another port may have spoken of it before the one that died */
	const bool known = f->dead_ns != RL_NEVER;
	char link[2 * RL_NAME_MAX + 8] = "-", way[FAILOVER_WAY_MAX];

	if (known)
		rl_topo_link_name(t, rl_failover_link(f, t), link,
				  sizeof(link));
	mirror_text(table, link);
	mirror_text(table, known ? t->dev[f->dev].name : "-");
	mirror_text(table, rl_detector_name(f->detector));
	mirror_text(table, failover_way(f, t, way));
	failover_numbers(f, app->start_ns, v);
	for (unsigned int i = 0; i < FAILOVER_NUMBERS; i++)
		mirror_number(table, v[i]);
}

/* "/reflit/failovers,N": from number N on; without N the last page. */
static int
failovers(const char *cmd, const char *params, struct rte_tel_data *d)
{
	const char *names[4 + FAILOVER_NUMBERS] = { "link", "device",
						    "detector", "left_by" };
	const struct mirror *m = &telemetry_mirror;
	struct app *app = mirror_enter();
	const uint32_t total = m->nfailovers;
	const uint32_t kept = rl_min_u32(total, MIRROR_FAILOVERS);
	struct mirror_table t;
	uint32_t start, count;
	char last[16];
	int ret;

	(void)cmd;
	if (params == NULL || params[0] == '\0') {
		snprintf(last, sizeof(last), "%u",
			 total > PAGE_FAILOVERS ? total - PAGE_FAILOVERS : 0);
		params = last;
	}
	ret = mirror_page(d, params, total, PAGE_FAILOVERS, &start, &count);
	if (ret != 0) {
		mirror_leave();
		return ret;
	}
	for (unsigned int i = 0; i < FAILOVER_NUMBERS; i++)
		names[4 + i] = failover_key(i);
	mirror_table(&t, names, 4, FAILOVER_NUMBERS);
	for (uint32_t i = start; app != NULL && i < start + count; i++)
		if (i + kept >= total)
			add_failover(app, &m->failover[i % MIRROR_FAILOVERS],
				     &t);
	mirror_leave();
	mirror_table_end(&t, d);
	return 0;
}

/* "/reflit/alarms,N": from number N on, the worst first. */
static int
alarms(const char *cmd, const char *params, struct rte_tel_data *d)
{
	static const char *const names[] = { "alarm", "severity", "where",
					     "why", "since_ns" };
	const struct mirror *m = &telemetry_mirror;
	struct app *app = mirror_enter();
	struct mirror_table t;
	uint32_t start, count;
	const int ret = mirror_page(d, params,
				    rl_min_u32(m->nalarms, MIRROR_ALARMS),
				    PAGE_ALARMS, &start, &count);

	(void)cmd;
	if (ret != 0) {
		mirror_leave();
		return ret;
	}
	mirror_table(&t, names, 4, 1);
	for (uint32_t i = start; app != NULL && i < start + count; i++) {
		const struct alarm *a = &m->alarm[i];
		char why[MIRROR_TEXT];

		snprintf(why, sizeof(why), "%s", alarm_why(a));
		mirror_text(&t, alarm_word(a->kind));
		mirror_text(&t, alarm_severity(a->kind));
		mirror_text(&t, a->where);
		mirror_text(&t, why);
		mirror_number(&t, watch_since(app->start_ns, a->since_ns));
	}
	mirror_leave();
	mirror_table_end(&t, d);
	return 0;
}

static void
copy_alarms(const struct app *app)
{
	struct mirror *m = &telemetry_mirror;
	const uint32_t n = rl_min_u32(app->alarms.n, MIRROR_ALARMS);

	if (app->alarms.n + m->nalarms == 0 ||
	    pthread_mutex_trylock(&m->lock) != 0)
		return;
	for (uint32_t i = 0; i < n; i++)
		m->alarm[i] = app->alarms.now[i];
	m->nalarms = app->alarms.n;
	pthread_mutex_unlock(&m->lock);
}

static void
copy_recoveries(const struct app *app)
{
	const struct host_resil *r = &app->host.resil;
	struct mirror *m = &telemetry_mirror;

	if (m->nrecoveries == r->log.n || pthread_mutex_trylock(&m->lock) != 0)
		return;
	for (uint32_t i = r->log.n > MIRROR_RECOVERIES
				  ? r->log.n - MIRROR_RECOVERIES
				  : 0;
	     i < r->log.n; i++)
		m->recovery[i % MIRROR_RECOVERIES] = r->log.rec[i];
	m->nrecoveries = r->log.n;
	pthread_mutex_unlock(&m->lock);
}

/* Only this thread queries drivers, and not for each answer. */
static void
copy_port_stats(struct app *app)
{
	static uint64_t due_ns;
	const uint64_t now_ns = host_now(&app->host);

	if (app->attach.ndev == 0 || now_ns < due_ns)
		return;
	due_ns = now_ns + PORT_STATS_NS;
	attach_note_stats(&app->attach);
}

void
telemetry_step(struct app *app)
{
	const struct watch *w = &app->watch;
	struct mirror *m = &telemetry_mirror;
	uint32_t from;

	if (m->app == NULL) /* only this thread sets it */
		return;
	/* do not wait for a client that reads: the next step copies */
	if (m->nevents != w->nevents && pthread_mutex_trylock(&m->lock) == 0) {
		if (w->nevents - m->nevents > MIRROR_EVENTS)
			m->nevents = w->nevents - MIRROR_EVENTS;
		for (; m->nevents < w->nevents; m->nevents++) {
			const struct host_rec *r =
				&w->event[m->nevents % WATCH_EVENTS];
			struct mirror_event *e =
				&m->event[m->nevents % MIRROR_EVENTS];

			e->t_ns = watch_since(app->start_ns, r->t_ns);
			watch_event_text(w, r, e->text, sizeof(e->text));
		}
		/* the last ones may have progressed meanwhile */
		from = w->failovers.n > MIRROR_FAILOVERS
			       ? w->failovers.n - MIRROR_FAILOVERS
			       : 0;
		for (uint32_t i = from; i < w->failovers.n; i++)
			m->failover[i % MIRROR_FAILOVERS] = w->failovers.rec[i];
		m->nfailovers = w->failovers.n;
		pthread_mutex_unlock(&m->lock);
	}
	copy_recoveries(app);
	copy_alarms(app);
	copy_port_stats(app);
	if (app->opt.allow_orders)
		telemetry_take_order(app);
}

static const struct {
	const char *cmd;
	telemetry_cb fn;
	const char *help;
} commands[] = {
	{ "/reflit/fabric", telemetry_fabric, "What runs: sizes, time, state" },
	{ "/reflit/devices", telemetry_devices,
	  "Switches and endpoints. Parameter: number of the first" },
	{ "/reflit/links", telemetry_links,
	  "Links, their states and counters. Parameter: number of the first" },
	{ "/reflit/ports", telemetry_ports,
	  "Names of ports. Parameter: number of the first" },
	{ "/reflit/port", telemetry_port,
	  "State and counters of a port. Parameter: its name (s0/1)" },
	{ "/reflit/switch", telemetry_switch,
	  "Counters of a device's core. Parameter: its name" },
	{ "/reflit/endpoint", telemetry_endpoint,
	  "Counters of an endpoint. Parameter: its name" },
	{ "/reflit/flows", telemetry_flows,
	  "Flows of all endpoints. Parameter: number of the first" },
	{ "/reflit/events", events,
	  "Events. Parameter: number of the first; else the last ones" },
	{ "/reflit/failovers", failovers,
	  "Failovers. Parameter: number of the first; else the last ones" },
	{ "/reflit/alarms", alarms,
	  "What is wrong now. Parameter: number of the first" },
	{ "/reflit/recoveries", telemetry_recoveries,
	  "Recoveries by the controller: the last ones" },
	{ "/reflit/channel", telemetry_channel,
	  "Whether etcd answers, who has the controller, which processes are "
	  "there" },
	{ "/reflit/latency", telemetry_latency,
	  "Latency and jitter in ns. Parameter: a VC; else of all" },
	{ "/reflit/histogram", telemetry_histogram,
	  "Latencies by bucket. Parameter: number of the first bucket" },
	{ "/reflit/traffic", telemetry_traffic, "Packets sent, delivered ..." },
	{ "/reflit/lcores", telemetry_lcores, "Rounds of each lcore" },
	{ "/reflit/order", telemetry_order,
	  "Runs a prompt command (--allow-orders). Parameter: the line" },
};

void
telemetry_pause(void)
{
	pthread_mutex_lock(&telemetry_mirror.lock);
}

void
telemetry_resume(void)
{
	pthread_mutex_unlock(&telemetry_mirror.lock);
}

int
telemetry_open(struct app *app)
{
	pthread_mutex_lock(&telemetry_mirror.lock);
	telemetry_mirror.app = app;
	pthread_mutex_unlock(&telemetry_mirror.lock);
	for (unsigned int i = 0; i < RTE_DIM(commands); i++) {
		const int ret = rte_telemetry_register_cmd(
			commands[i].cmd, commands[i].fn, commands[i].help);

		if (ret == -ENOMEM)
			return ret;
	}
	return 0;
}

void
telemetry_close(void)
{
	pthread_mutex_lock(&telemetry_mirror.lock);
	telemetry_mirror.app = NULL;
	pthread_cond_broadcast(&telemetry_mirror.answered);
	pthread_mutex_unlock(&telemetry_mirror.lock);
}
