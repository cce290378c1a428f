/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app.h"

#define LOOK_NS (20 * RL_NS_PER_MS)

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
	if (rl_oob_open(&p, &app->oob, err) == 0)
		return 0;
	fprintf(stderr, "%s:%u: %s\n", cfg->channel.file, cfg->channel.line,
		err);
	return -EINVAL;
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
	if (i.away && !s->away)
		fprintf(stderr, "reflit: etcd does not answer (%s): dead links "
				"are gone round, tables stay as they are\n",
			i.why);
	if (!i.away && s->away)
		fprintf(stderr, "reflit: etcd answers again\n");
	s->away = i.away;
	if (i.office[0] != '\0' && strcmp(i.office, s->office) != 0) {
		fprintf(stderr, "reflit: process %s has the controller\n",
			i.office);
		snprintf(s->office, sizeof(s->office), "%s", i.office);
	}
	if (strcmp(why, s->why) != 0) {
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
	printf("channel etcd: %s", i.away ? "does not answer" : "answers");
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
	       ", lost %" PRIu64 "; outages %" PRIu64 "\n",
	       i.sent, i.received, i.lost, i.outages);
	if (i.why[0] != '\0')
		printf("last trouble: %s\n", i.why);
}
