/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "family.h"
#include "metrics.h"

/* Bounds of buckets of latencies: 2^10 to 2^33 ns, which histograms keep. */
#define FIRST_BUCKET 10
#define LAST_BUCKET 33

/* A source that is asked. */
struct scrape {
	struct tel *tel;
	unsigned int source;
	struct families *m;
	struct labels base; /* of all its samples */
};

/* Names of SAI that collectors of switches know, where a counter has one. */
static const char *const sai[][2] = {
	{ "tx_init", "TX_INIT_CTL_OS" },
	{ "tx_init_echo", "TX_INIT_ECHO_CTL_OS" },
	{ "tx_ack", "TX_ACK_CTL_OS" },
	{ "tx_nak", "TX_NACK_CTL_OS" },
	{ "tx_discard", "TX_DISCARD" },
	{ "tx_flits", "TX_OK" },
	{ "tx_poisoned", "TX_POISONED" },
	{ "tx_replays", "TX_REPLAY" },
	{ "rx_init", "RX_INIT_CTL_OS" },
	{ "rx_init_echo", "RX_INIT_ECHO_CTL_OS" },
	{ "rx_ack", "RX_ACK_CTL_OS" },
	{ "rx_nak", "RX_NACK_CTL_OS" },
	{ "rx_ack_seq_error", "RX_ACK_NACK_SEQ_ERROR" },
	{ "rx_ok", "RX_OK" },
	{ "rx_poisoned", "RX_POISONED (and RX_EXPECTED_SEQ_POISONED)" },
	{ "rx_bad", "RX_BAD" },
	{ "rx_expected_good", "RX_EXPECTED_SEQ_GOOD" },
	{ "rx_expected_bad", "RX_EXPECTED_SEQ_BAD" },
	{ "rx_missing_seq", "RX_MISSING_SEQ" },
	{ "rx_duplicate_seq", "RX_DUPLICATE_SEQ" },
	{ "rx_replays", "RX_REPLAY" },
	{ NULL, NULL },
};

static const char *
text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text != NULL ? text : "";
}

static const char *
column(const json_t *list, const char *key, size_t i)
{
	const char *text = json_string_value(
		json_array_get(json_object_get(list, key), i));

	return text != NULL ? text : "";
}

static uint64_t
number(const json_t *v)
{
	const json_int_t n = json_integer_value(v);

	return n > 0 ? (uint64_t)n : 0;
}

static json_t *
ask(const struct scrape *s, const char *cmd, const char *name)
{
	char line[TEL_CMD_MAX];

	snprintf(line, sizeof(line), "%s%s%s", cmd, name[0] == '\0' ? "" : ",",
		 name);
	return tel_ask(s->tel, s->source, line, TEL_ASK_S, NULL);
}

/* Each whole number of an answer is a counter. */
static void
counters(const struct scrape *s, const char *prefix, const char *of,
	 const json_t *answer, const struct labels *l)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)answer, key, v) {
		char name[FAMILY_NAME_MAX], help[160];
		const char *known = NULL;

		if (!json_is_integer(v))
			continue;
		for (unsigned int i = 0; sai[i][0] != NULL; i++)
			if (strcmp(prefix, "port") == 0 &&
			    strcmp(sai[i][0], key) == 0)
				known = sai[i][1];
		snprintf(name, sizeof(name), "reflit_%s_%s", prefix, key);
		if (known == NULL)
			snprintf(help, sizeof(help), "Counter %s of %s.", key,
				 of);
		else
			snprintf(help, sizeof(help), "Counter %s of %s; flits "
				 "where SAI_PORT_STAT_LLR_%s counts frames.",
				 key, of, known);
		sample_count(s->m, FAMILY_COUNTER, name, help, l, number(v));
	}
}

/* Numbers of a port that are no counters, in the order of telemetry. */
static void
port_gauges(const struct scrape *s, json_t *port, const struct labels *l)
{
	static const char *const keys[][2] = {
		{ "window_flits", "Replay window of a port." },
		{ "held_flits", "Flits in the replay buffer of a port." },
		{ "outstanding_flits", "Of these: not acknowledged." },
		{ "queued_flits", "Flits in the egress queues of a port." },
		{ "flaps", "Deaths of a link within its flap window." },
		{ NULL, NULL },
	};
	char name[FAMILY_NAME_MAX];

	for (unsigned int i = 0; keys[i][0] != NULL; i++) {
		snprintf(name, sizeof(name), "reflit_port_%s", keys[i][0]);
		sample_count(s->m, FAMILY_GAUGE, name, keys[i][1], l,
			     number(json_object_get(port, keys[i][0])));
		json_object_del(port, keys[i][0]);
	}
	sample(s->m, FAMILY_GAUGE, "reflit_port_round_trip_seconds",
	       "Smoothed round trip of a link, as a port sees it.", l,
	       (double)number(json_object_get(port, "round_trip_ns")) / 1e9);
	json_object_del(port, "round_trip_ns");
	json_object_del(port, "replay_timer_ns");
	json_object_del(port, "tx_epoch");
	json_object_del(port, "rx_epoch");
}

static void
ports(const struct scrape *s)
{
	json_t *list = tel_list(s->tel, s->source, "/reflit/ports");
	json_t *names = json_object_get(list, "name");

	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = column(list, "name", i);
		const char *slash = strrchr(name, '/');
		json_t *port = ask(s, "/reflit/port", name);
		struct labels l = s->base;
		char device[64];

		if (slash == NULL || !json_is_object(port)) {
			json_decref(port);
			continue;
		}
		snprintf(device, sizeof(device), "%.*s", (int)(slash - name),
			 name);
		label(&l, "device", device);
		label(&l, "port", slash + 1);
		label(&l, "link", text_of(port, "link"));
		port_gauges(s, port, &l);
		counters(s, "port", "a port", port, &l);
		json_decref(port);
	}
	json_decref(list);
}

static void
devices(const struct scrape *s)
{
	json_t *list = tel_list(s->tel, s->source, "/reflit/devices");
	json_t *names = json_object_get(list, "name");

	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = column(list, "name", i);
		json_t *core = ask(s, "/reflit/switch", name), *ep = NULL;
		struct labels l = s->base, of_ep = s->base;

		label(&l, "device", name);
		counters(s, "core", "the core of a device", core, &l);
		json_decref(core);
		if (strcmp(column(list, "kind", i), "endpoint") != 0)
			continue;
		label(&of_ep, "endpoint", name);
		ep = ask(s, "/reflit/endpoint", name);
		counters(s, "endpoint", "an endpoint", ep, &of_ep);
		json_decref(ep);
	}
	json_decref(list);
}

static void
links(const struct scrape *s)
{
	json_t *list = tel_list(s->tel, s->source, "/reflit/links");
	json_t *names = json_object_get(list, "name");

	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *admin = column(list, "admin", i);
		const char *oper = column(list, "oper", i);
		struct labels l = s->base;

		if (strcmp(oper, "remote") == 0)
			continue; /* another process tells of it */
		label(&l, "link", column(list, "name", i));
		sample_count(s->m, FAMILY_GAUGE, "reflit_link_up",
			     "Whether a link carries traffic.", &l,
			     strcmp(oper, "up") == 0 ||
				     strcmp(oper, "degraded") == 0);
		sample_count(s->m, FAMILY_GAUGE, "reflit_link_admin_up",
			     "Whether no order keeps a link down.", &l,
			     strcmp(admin, "up") == 0);
	}
	json_decref(list);
}

static void
alarms(const struct scrape *s)
{
	static const char *const severity[] = { "critical", "major", "minor" };
	json_t *list = tel_list(s->tel, s->source, "/reflit/alarms");
	json_t *kinds = json_object_get(list, "alarm");
	uint64_t n[3] = { 0 };

	for (size_t i = 0; i < json_array_size(kinds); i++) {
		struct labels l = s->base;

		for (unsigned int k = 0; k < 3; k++)
			n[k] += strcmp(severity[k],
				       column(list, "severity", i)) == 0;
		label(&l, "alarm", column(list, "alarm", i));
		label(&l, "severity", column(list, "severity", i));
		label(&l, "where", column(list, "where", i));
		sample_count(s->m, FAMILY_GAUGE, "reflit_alarm",
			     "1 for each alarm that stands now.", &l, 1);
	}
	for (unsigned int k = 0; k < 3; k++) {
		struct labels l = s->base;

		label(&l, "severity", severity[k]);
		sample_count(s->m, FAMILY_GAUGE, "reflit_alarms",
			     "Alarms that stand now.", &l, n[k]);
	}
	json_decref(list);
}

/* Bounds of telemetry's buckets are finer, and these are among them. */
static void
latency_of(const struct scrape *s, const json_t *upper, const json_t *counts,
	   const struct labels *of)
{
	static const char name[] = "reflit_latency_seconds";
	static const char help[] = "From send to delivery of packets.";
	struct labels all = *of;
	uint64_t sum = 0;
	size_t i = 0;

	for (unsigned int b = FIRST_BUCKET; b <= LAST_BUCKET; b++) {
		const uint64_t bound_ns = (1ull << b) - 1;
		struct labels l = *of;
		char le[32];

		for (; i < json_array_size(upper) &&
		       number(json_array_get(upper, i)) <= bound_ns; i++)
			sum += number(json_array_get(counts, i));
		snprintf(le, sizeof(le), "%.10g", (double)bound_ns / 1e9);
		label(&l, "le", le);
		sample_part(s->m, name, help, "_bucket", &l, sum);
	}
	for (; i < json_array_size(upper); i++)
		sum += number(json_array_get(counts, i));
	label(&all, "le", "+Inf");
	sample_part(s->m, name, help, "_bucket", &all, sum);
}

/* By the VC of arrival. VC 0 is always there. */
static void
latency(const struct scrape *s)
{
	json_t *list = tel_list(s->tel, s->source, "/reflit/histogram");

	for (unsigned int vc = 0; vc < 8; vc++) {
		struct labels l = s->base;
		const json_t *counts;
		char name[8], key[16];
		bool any = vc == 0;

		snprintf(name, sizeof(name), "%u", vc);
		snprintf(key, sizeof(key), "vc%u_n", vc);
		counts = json_object_get(list, key);
		for (size_t i = 0; i < json_array_size(counts) && !any; i++)
			any = number(json_array_get(counts, i)) != 0;
		label(&l, "vc", name);
		if (any)
			latency_of(s, json_object_get(list, "upper_ns"), counts,
				   &l);
	}
	json_decref(list);
}

static void
classes(const struct scrape *s)
{
	static const char *const gauge[][2] = {
		{ "flows", "Flows of a class of service." },
		{ "outstanding_flits", "Flits of a class that were sent and "
				       "not acknowledged." },
		{ "resend_flits", "Of these: to be sent again." },
		{ "held_flits", "Flits of a class that wait for those before "
				"them, where they arrive." },
		{ NULL, NULL },
	};
	json_t *list = tel_list(s->tel, s->source, "/reflit/classes");
	json_t *cos = json_object_get(list, "cos");

	for (size_t i = 0; i < json_array_size(cos); i++) {
		struct labels l = s->base;
		char name[FAMILY_NAME_MAX];

		snprintf(name, sizeof(name), "%" PRIu64,
			 number(json_array_get(cos, i)));
		label(&l, "class", name);
		for (unsigned int k = 0; gauge[k][0] != NULL; k++) {
			snprintf(name, sizeof(name), "reflit_class_%s",
				 gauge[k][0]);
			sample_count(s->m, FAMILY_GAUGE, name, gauge[k][1], &l,
				     number(json_array_get(
					     json_object_get(list, gauge[k][0]),
					     i)));
		}
	}
	json_decref(list);
}

static void
traffic(const struct scrape *s)
{
	json_t *t = ask(s, "/reflit/traffic", "");

	if (!json_is_object(t)) {
		json_decref(t);
		return;
	}
	sample_count(s->m, FAMILY_GAUGE, "reflit_traffic_under_way_packets",
		     "Packets sent, and neither delivered nor given up.",
		     &s->base, number(json_object_get(t, "under_way_packets")));
	json_object_del(t, "under_way_packets");
	/* one that arrives after all was delivered: it is taken off again */
	sample_count(s->m, FAMILY_GAUGE, "reflit_traffic_reported_packets",
		     "Packets given up openly that have not arrived after all.",
		     &s->base, number(json_object_get(t, "reported_packets")));
	json_object_del(t, "reported_packets");
	counters(s, "traffic", "all clients of this process", t, &s->base);
	json_decref(t);
}

static void
process(const struct scrape *s, const json_t *fabric)
{
	static const char *const info[] = { "version", "topology", "engine",
					    "start_utc", NULL };
	json_t *channel = ask(s, "/reflit/channel", "");
	struct labels l = s->base;

	for (unsigned int i = 0; info[i] != NULL; i++)
		label(&l, info[i], text_of(fabric, info[i]));
	sample_count(s->m, FAMILY_INFO, "reflit_process", "What runs.", &l, 1);
	sample(s->m, FAMILY_GAUGE, "reflit_uptime_seconds",
	       "Since the links of this process started.", &s->base,
	       (double)number(json_object_get(fabric, "now_ns")) / 1e9);
	sample_count(s->m, FAMILY_COUNTER, "reflit_failovers",
		     "Ports that died.", &s->base,
		     number(json_object_get(fabric, "failovers")));
	sample_count(s->m, FAMILY_COUNTER, "reflit_events",
		     "Events of ports, cores, endpoints, controller.", &s->base,
		     number(json_object_get(fabric, "events")));
	if (strcmp(text_of(channel, "kind"), "etcd") == 0)
		sample_count(s->m, FAMILY_GAUGE, "reflit_etcd_up",
			     "Whether etcd answers.", &s->base,
			     number(json_object_get(channel, "answers")));
	json_decref(channel);
}

static void
scrape(struct scrape *s, const char *path)
{
	json_t *fabric = ask(s, "/reflit/fabric", "");
	const bool up = json_is_object(fabric) && json_object_size(fabric) != 0;
	struct labels l = { 0 };

	if (json_is_null(fabric)) {
		json_decref(fabric);
		return; /* another DPDK program's socket */
	}
	label(&l, "socket", path);
	sample_count(s->m, FAMILY_GAUGE, "reflit_source_up",
		     "Whether the process at a telemetry socket answers.", &l,
		     up);
	if (up) {
		label(&s->base, "fabric", text_of(fabric, "config"));
		label(&s->base, "process", text_of(fabric, "process"));
		label(&s->base, "socket", path);
		process(s, fabric);
		traffic(s);
		alarms(s);
		links(s);
		ports(s);
		devices(s);
		classes(s);
		latency(s);
	}
	json_decref(fabric);
}

char *
metrics_text(struct tel *tel, size_t *len)
{
	struct families m = { 0 };
	char path[TEL_PATH_MAX];

	tel_find(tel);
	for (unsigned int i = 0; i < TEL_SOURCES_MAX; i++) {
		struct scrape s = { .tel = tel, .source = i, .m = &m };

		if (tel_path(tel, i, path))
			scrape(&s, path);
	}
	return families_text(&m, len);
}
