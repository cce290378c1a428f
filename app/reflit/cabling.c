/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>

#include "app.h"
#include "cabling.h"
#include "link_health.h"

#define LIMIT_NS (10 * RL_NS_PER_S)
/* A link is wrong if a stranger is there and the right peer has not come. */
#define SETTLE_NS (500 * RL_NS_PER_MS)

struct tally_of_links {
	uint32_t open;	/* nobody has answered yet */
	uint32_t wrong; /* a stranger has */
};

/* Whether a link is to be checked, and how it is. */
static bool
look(const struct app *app, uint32_t link, struct link_health *h)
{
	link_health(app, link, h);
	return h->admin != LINK_ADMIN_FAILED && h->admin != LINK_ADMIN_REMOTE;
}

static struct tally_of_links
count(const struct app *app)
{
	struct tally_of_links n = { 0 };
	struct link_health h;

	for (uint32_t l = 0; l < app->cfg.topo.nlink; l++) {
		if (link_is_well(app, l) || !look(app, l, &h))
			continue;
		n.wrong += h.oper == LINK_OPER_REFUSED;
		n.open += h.oper != LINK_OPER_REFUSED &&
			  h.oper > LINK_OPER_DEGRADED;
	}
	return n;
}

static void
wait_settled(struct app *app)
{
	const uint64_t from_ns = host_now(&app->host);
	const uint64_t limit_ns = app->opt.duration_ns != 0
					  ? app->opt.duration_ns
					  : LIMIT_NS;
	uint64_t settled_ns = 0;

	while (stop_asked() == 0) {
		const uint64_t now_ns = host_now(&app->host);
		const struct tally_of_links n = count(app);

		if (n.open + n.wrong == 0 || now_ns - from_ns >= limit_ns)
			return;
		if (n.open != 0)
			settled_ns = 0;
		else if (settled_ns == 0)
			settled_ns = now_ns;
		else if (now_ns - settled_ns >= SETTLE_NS)
			return;
		app_step(app, RL_NS_PER_MS);
	}
}

int
cabling_check(struct app *app)
{
	const struct rl_topo *t = &app->cfg.topo;
	struct link_health h;
	uint32_t wrong = 0;

	wait_settled(app);
	for (uint32_t l = 0; l < t->nlink; l++) {
		if (!look(app, l, &h) || h.oper <= LINK_OPER_DEGRADED)
			continue;
		wrong++;
		printf("link %s: %s\n", APP_LINK(app, l),
		       h.why[0] != '\0' ? h.why : link_oper_name(h.oper));
	}
	if (wrong == 0)
		printf("cabling ok\n");
	fflush(stdout);
	return wrong == 0 ? EXIT_KEPT : EXIT_BROKEN;
}
