/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "json_set.h"
#include "rl_secret.h"
#include "say_error.h"
#include "telemetry_mirror.h"

#define LOOK_NS (20 * RL_NS_PER_MS)

/* Warns if others may read the password, in its file or on the network. */
static void
warn_of_password(const struct rl_channel *ch)
{
	char why[RL_ERR_MAX];
	struct stat st;

	if (ch->user[0] == '\0')
		return;
	if (stat(ch->password_file, &st) == 0 &&
	    rl_secret_check(&st, why, sizeof(why)) != 0)
		fprintf(stderr, "%s:%u: etcd_password_file %s: %s\n", ch->file,
			ch->line, ch->password_file, why);
	for (uint32_t i = 0; i < ch->nurl; i++) {
		const char *host = ch->url[i] + strlen("http://");

		if (strncmp(ch->url[i], "http://", 7) == 0 &&
		    strncmp(host, "127.", 4) != 0 &&
		    strncmp(host, "localhost", 9) != 0 &&
		    strncmp(host, "[::1]", 5) != 0)
			fprintf(stderr, "%s:%u: the password of etcd_user goes "
					"to %s unencrypted; use https and "
					"etcd_ca_file\n", ch->file, ch->line,
				ch->url[i]);
	}
}

int
channel_open(struct app *app)
{
	static const char *name[RL_PROCESSES_MAX] = { "all" };
	const struct rl_config *cfg = &app->cfg;
	struct rl_oob_params p = {
		.channel = &cfg->channel,
		.topo = &cfg->topo,
		.dev_process = cfg->dev_process,
		.name = name,
		.nprocess = cfg->nprocess == 0 ? 1 : cfg->nprocess,
		.process = (uint32_t)app->process,
		.digest = rl_config_digest(cfg),
		.diff = rl_config_digest_diff,
	};
	char err[RL_OOB_ERR_MAX];

	if (cfg->channel.kind != RL_CHANNEL_ETCD ||
	    cfg->controller.mode == RL_RESIL_OFF)
		return 0;
	for (uint32_t i = 0; i < cfg->nprocess; i++)
		name[i] = cfg->process[i].name;
	if (rl_oob_open(&p, &app->oob, err) == 0) {
		warn_of_password(&cfg->channel);
		return 0;
	}
	return say_error(-EINVAL, "%s:%u: %s\n", cfg->channel.file,
			 cfg->channel.line, err);
}

/* An event among those of the fabric. */
static void
note(struct app *app, enum host_channel_news news, uint32_t process)
{
	const struct host_rec rec = {
		.t_ns = host_now(&app->host),
		.kind = HOST_REC_CHANNEL,
		.channel = { .news = (uint8_t)news,
			     .process = (uint8_t)process },
	};

	watch_note(&app->watch, &rec);
}

static void
say_away(struct app *app, const struct rl_oob_info *i)
{
	struct channel_seen *s = &app->channel_seen;

	if (i->away == s->away)
		return;
	s->away = i->away;
	note(app, i->away ? HOST_CHANNEL_AWAY : HOST_CHANNEL_BACK, 0);
	if (i->away)
		fprintf(stderr, "reflit: etcd %s (%s): packets take detours "
				"round dead links, tables stay as they are\n",
			i->refuses ? "refuses" : "does not answer", i->why);
	else
		fprintf(stderr, "reflit: etcd answers again\n");
}

static void
say_office(struct app *app, const struct rl_oob_info *i)
{
	struct channel_seen *s = &app->channel_seen;
	const int process = i->office[0] == '\0' || app->cfg.nprocess == 0
				    ? 0
				    : rl_config_process(&app->cfg, i->office);

	if (strcmp(i->office, s->holds) != 0)
		note(app,
		     i->office[0] == '\0' ? HOST_CHANNEL_NOBODY
					  : HOST_CHANNEL_OFFICE,
		     (uint32_t)process);
	snprintf(s->holds, sizeof(s->holds), "%s", i->office);
	if (i->office[0] == '\0' || strcmp(i->office, s->office) == 0)
		return;
	fprintf(stderr, "reflit: process %s has the controller\n", i->office);
	snprintf(s->office, sizeof(s->office), "%s", i->office);
}

/* Which processes are alive; unknown while the store is away. */
static void
say_members(struct app *app, const struct rl_oob_info *i)
{
	struct channel_seen *s = &app->channel_seen;
	const uint64_t other = i->away ? 0 : i->members ^ s->members;

	for (uint32_t p = 0; p < app->cfg.nprocess; p++)
		if (other >> p & 1)
			note(app,
			     i->members >> p & 1 ? HOST_CHANNEL_JOINED
						 : HOST_CHANNEL_GONE,
			     p);
	s->members ^= other;
}

void
channel_step(struct app *app)
{
	const uint64_t now_ns = host_now(&app->host);
	struct channel_seen *s = &app->channel_seen;
	const char *why = app->host.resil.oob.why;
	struct rl_oob_info i;

	if (app->oob == NULL || now_ns < s->due_ns)
		return;
	s->due_ns = now_ns + LOOK_NS;
	rl_oob_info(app->oob, &i);
	say_away(app, &i);
	say_office(app, &i);
	say_members(app, &i);
	if (strcmp(why, s->why) != 0) {
		if (why[0] != '\0')
			fprintf(stderr, "reflit: %s\n", why);
		snprintf(s->why, sizeof(s->why), "%s", why);
	}
}

void
channel_show(struct app *app)
{
	const struct rl_config *cfg = &app->cfg;
	struct rl_oob_info i;

	if (app->oob == NULL)
		return;
	rl_oob_info(app->oob, &i);
	printf("channel etcd: %s",
	       i.refuses ? "refuses"
	       : i.away	 ? "does not answer"
			 : "answers");
	if (i.office[0] != '\0')
		printf("  controller in process %s%s", i.office,
		       i.here ? " (this one)" : "");
	else
		printf("  no controller");
	printf("\nprocesses");
	for (uint32_t p = 0; p < cfg->nprocess; p++)
		printf(" %s:%s", cfg->process[p].name,
		       i.members >> p & 1 ? "there" : "not there");
	printf("\nmessages sent %" PRIu64 ", received %" PRIu64
	       ", lost %" PRIu64 "; outages %" PRIu64 ", %.1f s in all\n",
	       i.sent, i.received, i.lost, i.outages,
	       (double)i.away_ns / 1e9);
	if (i.why[0] != '\0')
		printf("last trouble: %s\n", i.why);
}

void
channel_json(struct app *app, json_t *report)
{
	json_t *o = json_object(), *there = json_array();
	struct rl_oob_info i = { 0 };

	if (app->oob != NULL)
		rl_oob_info(app->oob, &i);
	json_object_set_new(o, "kind",
			    json_string(app->oob == NULL ? "local" : "etcd"));
	json_object_set_new(o, "answers", json_boolean(!i.away));
	json_object_set_new(o, "controller", json_string(i.office));
	for (uint32_t p = 0; p < app->cfg.nprocess; p++)
		if (i.members >> p & 1)
			json_array_append_new(
				there, json_string(app->cfg.process[p].name));
	json_object_set_new(o, "there", there);
	set(o, "outages", i.outages);
	set(o, "away_ns", i.away_ns);
	set(o, "sent_messages", i.sent);
	set(o, "received_messages", i.received);
	set(o, "lost_messages", i.lost);
	json_object_set_new(o, "last_trouble", json_string(i.why));
	json_object_set_new(report, "channel", o);
}

int
telemetry_channel(const struct app *app, RL_UNUSED const char *params,
		  struct rte_tel_data *d)
{
	static const char *const names[] = { "there" };
	struct rl_oob_info i = { 0 };
	struct mirror_table there;

	mirror_table(&there, names, 1, 0);
	if (app->oob != NULL)
		rl_oob_info(app->oob, &i);
	rte_tel_data_start_dict(d);
	mirror_string(d, "kind", app->oob == NULL ? "local" : "etcd");
	rte_tel_data_add_dict_uint(d, "answers", !i.away);
	mirror_string(d, "controller", i.office);
	for (uint32_t p = 0; p < app->cfg.nprocess; p++)
		if (i.members >> p & 1)
			mirror_text(&there, app->cfg.process[p].name);
	rte_tel_data_add_dict_uint(d, "outages", i.outages);
	rte_tel_data_add_dict_uint(d, "away_ns", i.away_ns);
	rte_tel_data_add_dict_uint(d, "sent_messages", i.sent);
	rte_tel_data_add_dict_uint(d, "received_messages", i.received);
	rte_tel_data_add_dict_uint(d, "lost_messages", i.lost);
	mirror_table_end(&there, d);
	return 0;
}
