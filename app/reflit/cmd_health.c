/* SPDX-License-Identifier: BSD-3-Clause */

/* Commands that say how links are, and what is wrong. */

#include <stdio.h>
#include <string.h>

#include "command.h"
#include "link_health.h"

static void
show_link(struct app *app, uint32_t link)
{
	char end[2][LINK_END_MAX];
	char ends[2 * LINK_END_MAX + 2], utc[APP_UTC_MAX], day[16];
	struct link_health h;

	link_health(app, link, &h);
	for (int e = 0; e < 2; e++)
		link_end_name(app, link, e, end[e]);
	snprintf(ends, sizeof(ends), "%s %s", end[0], end[1]);
	app_utc(app, h.since_ns, utc);
	snprintf(day, sizeof(day), "%.8s", utc + 11);
	facts_row(&app->facts,
		  "{link:-16} {ends:-20} {admin:-7} {oper:-8} {day} {reason}\n",
		  FACTS(FACT_T("link", APP_LINK(app, link)),
			FACT_S("ends", ends), FACT_T("a", end[0]),
			FACT_T("b", end[1]),
			FACT_T("admin", link_admin_name(h.admin)),
			FACT_T("oper", link_oper_name(h.oper)),
			FACT_T("reason", h.why), FACT_S("day", day),
			FACT_N("since_ns",
			       watch_since(app->start_ns, h.since_ns)),
			FACT_T("since_utc", utc)));
}

int
cmd_show_link(struct app *app, const char *const arg[])
{
	const struct rl_topo *t = &app->cfg.topo;
	unsigned int n = t->nlink;
	int64_t first = 0;

	if (arg[0] != NULL)
		first = rl_topo_find_link(t, arg[0], &n);
	if (first < 0)
		return app_error(app, "there is no link %s; see show link",
				 arg[0]);
	if (app->checking)
		return 0;
	watch_pump(&app->watch); /* what ports have just said */
	facts_list(&app->facts, "links");
	if (facts_text(&app->facts))
		printf("%-16s %-20s %-7s %-8s %-8s %s\n", "link", "ends",
		       "admin", "oper", "since", "reason");
	for (unsigned int k = 0; k < n; k++)
		show_link(app, arg[0] == NULL ? k
					      : rl_topo_link_of(t, first, n, k));
	return 0;
}

int
cmd_show_alarms(struct app *app, RL_UNUSED const char *const arg[])
{
	if (app->checking)
		return 0;
	watch_pump(&app->watch);
	alarms_look(app);
	if (facts_text(&app->facts) && app->alarms.n == 0)
		printf("no alarms\n");
	alarms_say(app, &app->facts);
	return 0;
}
