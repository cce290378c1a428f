/* SPDX-License-Identifier: BSD-3-Clause */

/* The copies in the mirror, and the commands that read only them: events,
   failovers. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "failover_report.h"
#include "parse.h"
#include "telemetry_mirror.h"

#define PAGE_EVENTS 64
#define PORT_STATS_NS (100 * RL_NS_PER_MS)

/* The page that @p params asks for, or the one from number @p from on: sets
   start, count, total. @return 0, -EINVAL, -ERANGE */
static int
begin_page(struct rte_tel_data *d, const char *params, uint64_t from,
	   uint32_t total, uint32_t most, uint32_t *start, uint32_t *count)
{
	int ret = 0;

	if (params != NULL && params[0] != '\0')
		ret = parse_number(params, 0, UINT32_MAX, &from);
	if (ret != 0)
		return ret;
	*start = (uint32_t)rl_min_u64(from, total);
	*count = rl_min_u32(total - *start, most);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "start", *start);
	rte_tel_data_add_dict_uint(d, "count", *count);
	rte_tel_data_add_dict_uint(d, "total", total);
	return 0;
}

/*
 * "/reflit/events,N": events from number N on; without N the last page. They
 * are numbered from 0 since the start; those too old are gone.
 */
static int
events(RL_UNUSED const struct app *app, const char *params,
       struct rte_tel_data *d)
{
	static const char *const names[] = { "text", "t_ns" };
	const struct mirror *m = &telemetry_mirror;
	const uint64_t first =
		m->nevents > MIRROR_EVENTS ? m->nevents - MIRROR_EVENTS : 0;
	uint64_t from = m->nevents > PAGE_EVENTS ? m->nevents - PAGE_EVENTS : 0;
	struct mirror_table t;
	uint64_t n;

	if (params != NULL && params[0] != '\0' &&
	    parse_number(params, 0, UINT64_MAX, &from) != 0)
		return -EINVAL;
	from = from < first ? first : from > m->nevents ? m->nevents : from;
	n = rl_min_u64(m->nevents - from, PAGE_EVENTS);
	mirror_table(&t, names, 1, 1);
	for (uint64_t i = from; i < from + n; i++) {
		const struct mirror_event *e = &m->event[i % MIRROR_EVENTS];

		mirror_row(&t, (const char *[]){ e->text }, &e->t_ns);
	}
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "start", from);
	rte_tel_data_add_dict_uint(d, "next", from + n);
	rte_tel_data_add_dict_uint(d, "total", m->nevents);
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
	failover_numbers(f, app->start_ns, v);
	mirror_row(table,
		   (const char *[]){ link, known ? t->dev[f->dev].name : "-",
				     rl_detector_name(f->detector),
				     failover_way(f, t, way) }, v);
}

static uint32_t
count_failovers(RL_UNUSED const struct app *app)
{
	return telemetry_mirror.nfailovers;
}

static void
add_failovers(const struct app *app, uint32_t from, uint32_t to,
	      struct mirror_table *t)
{
	const struct mirror *m = &telemetry_mirror;
	const uint32_t kept = rl_min_u32(m->nfailovers, MIRROR_FAILOVERS);

	for (uint32_t i = rl_max_u32(from, m->nfailovers - kept); i < to; i++)
		add_failover(app, &m->failover[i % MIRROR_FAILOVERS], t);
}

static const struct telemetry_list failovers = {
	.name = (const char *const[]){ "link", "device", "detector", "left_by",
				       FAILOVER_KEYS },
	.texts = 4, .numbers = FAILOVER_NUMBERS, .most = 64, .last = true,
	.total = count_failovers, .rows = add_failovers,
};

static uint32_t
count_alarms(RL_UNUSED const struct app *app)
{
	return rl_min_u32(telemetry_mirror.nalarms, MIRROR_ALARMS);
}

static void
add_alarms(const struct app *app, uint32_t from, uint32_t to,
	   struct mirror_table *t)
{
	for (uint32_t i = from; i < to; i++) {
		const struct alarm *a = &telemetry_mirror.alarm[i];
		const uint64_t since_ns = watch_since(app->start_ns,
						      a->since_ns);
		char why[MIRROR_TEXT];

		snprintf(why, sizeof(why), "%s", alarm_why(a));
		mirror_row(t, (const char *[]){ alarm_word(a->kind),
						alarm_severity(a->kind),
						a->where, why }, &since_ns);
	}
}

/* The worst first. */
static const struct telemetry_list alarms = {
	.name = (const char *const[]){ "alarm", "severity", "where", "why",
				       "since_ns" },
	.texts = 4, .numbers = 1, .most = 40,
	.total = count_alarms, .rows = add_alarms,
};

static void
copy_events(const struct watch *w, uint64_t start_ns)
{
	struct mirror *m = &telemetry_mirror;

	if (w->nevents - m->nevents > MIRROR_EVENTS)
		m->nevents = w->nevents - MIRROR_EVENTS;
	for (; m->nevents < w->nevents; m->nevents++) {
		const struct host_rec *r =
			&w->event[m->nevents % WATCH_EVENTS];
		struct mirror_event *e = &m->event[m->nevents % MIRROR_EVENTS];

		e->t_ns = watch_since(start_ns, r->t_ns);
		watch_event_text(w, r, e->text, sizeof(e->text));
	}
	/* the last ones may have progressed meanwhile */
	for (uint32_t i = w->failovers.n > MIRROR_FAILOVERS
				  ? w->failovers.n - MIRROR_FAILOVERS
				  : 0;
	     i < w->failovers.n; i++)
		m->failover[i % MIRROR_FAILOVERS] = w->failovers.rec[i];
	m->nfailovers = w->failovers.n;
}

static void
copy_recoveries(const struct rl_recovery_log *l)
{
	struct mirror *m = &telemetry_mirror;

	for (uint32_t i = l->n > MIRROR_RECOVERIES ? l->n - MIRROR_RECOVERIES
						   : 0;
	     i < l->n; i++)
		m->recovery[i % MIRROR_RECOVERIES] = l->rec[i];
	m->nrecoveries = l->n;
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
	const struct alarms *a = &app->alarms;
	struct mirror *m = &telemetry_mirror;

	if (m->app == NULL) /* only this thread sets it */
		return;
	/* do not wait for a client that reads: the next step copies */
	if (pthread_mutex_trylock(&m->lock) == 0) {
		if (m->nevents != app->watch.nevents)
			copy_events(&app->watch, app->start_ns);
		if (m->nrecoveries != app->host.resil.log.n)
			copy_recoveries(&app->host.resil.log);
		m->nalarms = a->n;
		for (uint32_t i = 0; i < rl_min_u32(a->n, MIRROR_ALARMS); i++)
			m->alarm[i] = a->now[i];
		pthread_mutex_unlock(&m->lock);
	}
	copy_port_stats(app);
	if (app->opt.allow_orders)
		telemetry_take_order(app);
}

/* Each has a `dict` or a `list`. */
static const struct {
	const char *cmd;
	const char *help;
	telemetry_dict_fn *dict;
	const struct telemetry_list *list;
} commands[] = {
	{ "/reflit/fabric", "What runs: sizes, time, state",
	  .dict = telemetry_fabric },
	{ "/reflit/devices",
	  "Switches and endpoints. Parameter: number of the first",
	  .list = &telemetry_devices },
	{ "/reflit/links",
	  "Links, their states and counters. Parameter: number of the first",
	  .list = &telemetry_links },
	{ "/reflit/ports", "Names of ports. Parameter: number of the first",
	  .list = &telemetry_ports },
	{ "/reflit/port",
	  "State and counters of a port. Parameter: its name (s0/1)",
	  .dict = telemetry_port },
	{ "/reflit/switch", "Counters of a device's core. Parameter: its name",
	  .dict = telemetry_switch },
	{ "/reflit/endpoint", "Counters of an endpoint. Parameter: its name",
	  .dict = telemetry_endpoint },
	{ "/reflit/flows",
	  "Flows of all endpoints. Parameter: number of the first",
	  .list = &telemetry_flows },
	{ "/reflit/classes",
	  "Flows by class of service. Parameter: number of the first class",
	  .list = &telemetry_classes },
	{ "/reflit/events",
	  "Events. Parameter: number of the first; else the last ones",
	  .dict = events },
	{ "/reflit/failovers",
	  "Failovers. Parameter: number of the first; else the last ones",
	  .list = &failovers },
	{ "/reflit/alarms",
	  "What is wrong now. Parameter: number of the first",
	  .list = &alarms },
	{ "/reflit/recoveries", "Recoveries by the controller: the last ones",
	  .dict = telemetry_recoveries },
	{ "/reflit/channel",
	  "Whether etcd answers, who has the controller, which processes are "
	  "there", .dict = telemetry_channel },
	{ "/reflit/latency", "Latency and jitter in ns. Parameter: a VC; else of all",
	  .dict = telemetry_latency },
	{ "/reflit/histogram",
	  "Latencies by bucket and VC. Parameter: number of the first bucket",
	  .list = &telemetry_histogram },
	{ "/reflit/traffic", "Packets sent, delivered ...",
	  .dict = telemetry_traffic },
	{ "/reflit/lcores", "Rounds of each lcore", .dict = telemetry_lcores },
};

static int
answer_list(const struct telemetry_list *l, const struct app *app,
	    const char *params, struct rte_tel_data *d)
{
	const uint32_t total = app == NULL ? 0 : l->total(app);
	const uint32_t from = l->last && total > l->most ? total - l->most : 0;
	uint32_t start, count;
	struct mirror_table t;
	const int ret = begin_page(d, params, from, total, l->most, &start,
				   &count);

	if (ret != 0)
		return ret;
	mirror_table(&t, l->name, l->texts, l->numbers);
	if (count != 0)
		l->rows(app, start, start + count, &t);
	mirror_table_end(&t, d);
	return 0;
}

static int
answer(const char *cmd, const char *params, struct rte_tel_data *d)
{
	const struct app *app = mirror_enter();
	unsigned int i = 0;
	int ret = 0;

	while (strcmp(commands[i].cmd, cmd) != 0)
		i++;
	if (commands[i].list != NULL)
		ret = answer_list(commands[i].list, app, params, d);
	else if (app != NULL)
		ret = commands[i].dict(app, params, d);
	else
		rte_tel_data_start_dict(d);
	mirror_leave();
	return ret;
}

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
	for (unsigned int i = 0; i < RTE_DIM(commands); i++)
		if (rte_telemetry_register_cmd(commands[i].cmd, answer,
					       commands[i].help) == -ENOMEM)
			return -ENOMEM;
	return rte_telemetry_register_cmd(
		       "/reflit/order", telemetry_order,
		       "Runs a prompt command (--allow-orders). Parameter: the "
		       "line") == -ENOMEM ? -ENOMEM : 0;
}

void
telemetry_close(void)
{
	pthread_mutex_lock(&telemetry_mirror.lock);
	telemetry_mirror.app = NULL;
	pthread_cond_broadcast(&telemetry_mirror.answered);
	pthread_mutex_unlock(&telemetry_mirror.lock);
}
