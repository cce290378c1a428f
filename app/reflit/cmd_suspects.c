/* SPDX-License-Identifier: BSD-3-Clause */

/* Names parts that alter flits. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "rl_suspect.h"

/* The suspects since `clear counters`. @return how many */
static uint32_t
find(const struct app *app, struct rl_suspect *s)
{
	const struct rl_topo *t = &app->cfg.topo;
	uint64_t port[RL_PORT_COUNTER_COUNT], ep[RL_EP_COUNTER_COUNT];

	rl_suspects_begin(s, t);
	for (uint32_t d = 0; d < t->ndev; d++) {
		for (uint16_t p = 0; p < t->dev[d].nports; p++) {
			tally_port(&app->cleared, &app->host, d, p, port);
			rl_suspects_port(s, t, d, p, port);
		}
		if (app->host.fabric.dev[d].core.ep == NULL)
			continue;
		tally_ep(&app->cleared, &app->host, d, ep);
		rl_suspects_ep(s, d, ep);
	}
	return rl_suspects_rank(s, t);
}

static void
print(struct app *app, const struct rl_suspect *s, uint32_t n)
{
	char name[2 * RL_NAME_MAX + 8];

	if (facts_text(&app->facts) && n != 0)
		printf("%-24s %-7s %10s %12s %9s %11s\n", "part", "kind",
		       "altered", "looked at", "per flit", "confidence");
	facts_list(&app->facts, "suspects");
	for (uint32_t i = 0; i < n; i++, s++) {
		const double rate = s->looked == 0 ? 0.0
						   : (double)s->altered /
							     (double)s->looked;

		facts_row(&app->facts,
			  "{part:-24} {kind:-7} {count:10} {looked_flits:12} "
			  "{altered_rate:9.1e} {confidence_percent:9} %\n",
			  FACTS(FACT_T("part", rl_suspect_name(s,
							       &app->cfg.topo,
							       name,
							       sizeof(name))),
				FACT_T("kind", s->is_link ? "link" : "device"),
				FACT_N("count", s->altered),
				FACT_N("looked_flits", s->looked),
				FACT_R("altered_rate", rate),
				FACT_N("confidence_percent",
				       s->confidence_percent)));
	}
}

int
cmd_show_suspects(struct app *app, RL_UNUSED const char *const arg[])
{
	struct rl_suspect *s;
	uint32_t n;

	if (app->checking)
		return 0;
	s = calloc(rl_suspects_max(&app->cfg.topo), sizeof(*s));
	if (s == NULL)
		return app_error(app, "out of memory");
	n = find(app, s);
	facts_set(&app->facts, NULL,
		  FACTS(FACT_B("witness", app->cfg.link.witness != 0)));
	print(app, s, n);
	if (facts_text(&app->facts) && n == 0)
		printf("no part has altered a flit\n");
	if (facts_text(&app->facts) && app->cfg.link.witness == 0)
		printf("the witness is off; set switch.witness in the fabric "
		       "file\n");
	free(s);
	return 0;
}
