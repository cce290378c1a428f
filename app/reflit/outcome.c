/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app.h"

void
outcome_await(struct app *app, const char *what, const char *verb,
	      uint32_t epoch)
{
	struct outcomes *o = &app->outcomes;
	struct outcome_order *new = &o->open[o->n];

	if (o->n == OUTCOME_ORDERS)
		return; /* recoveries tell all the same */
	o->n++;
	snprintf(new->text, sizeof(new->text), "%s%s%s", what,
		 what[0] == '\0' ? "" : " ", verb);
	new->epoch = epoch;
	new->late = false;
}

static void
tell(struct app *app, bool order, const char *text)
{
	struct outcomes *o = &app->outcomes;
	const bool by_wait = order && o->waiting && o->failed[0] == '\0';

	watch_say(&app->watch, text, !by_wait);
	if (order)
		snprintf(o->failed, sizeof(o->failed), "%s", text);
}

/* An order that was refused stays: what it leads to, and how to undo it. */
static const char *
stays(const struct outcome_order *order)
{
	const size_t len = strlen(order->text);

	return len > 6 && strcmp(order->text + len - 6, "remove") == 0
		       ? "; it stays in use until tables can do without it"
		       : "";
}

/* @return whether the order is done with */
static bool
tell_order(struct app *app, struct outcome_order *order,
	   const struct rl_recovery *r)
{
	const char *why = app->host.resil.why;
	char text[OUTCOME_TEXT];

	switch (r->outcome) {
	case RL_OUTCOME_DONE:
	case RL_OUTCOME_DETOURS:
		return true;
	case RL_OUTCOME_REFUSED:
		snprintf(text, sizeof(text), "%s: refused: %s%s", order->text,
			 why, stays(order));
		tell(app, true, text);
		return true;
	case RL_OUTCOME_TIMEOUT:
		if (order->late)
			return false;
		order->late = true;
		snprintf(text, sizeof(text), "%s: not done in %.1f ms; it is "
			 "tried again (show recoveries)", order->text,
			 (double)(r->end_ns - rl_min_u64(r->at_ns, r->end_ns)) /
				 1e6);
		tell(app, false, text);
		return false;
	case RL_OUTCOME_OPEN:
	case RL_OUTCOME_SUPERSEDED:
		return false;
	}
	return false;
}

static void
take_recovery(struct app *app, const struct rl_recovery *r)
{
	struct outcomes *o = &app->outcomes;
	char text[OUTCOME_TEXT], cause[128];
	bool ordered = false;
	uint32_t left = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		const bool knows = r->epoch > o->open[i].epoch;

		ordered |= knows;
		if (!knows || !tell_order(app, &o->open[i], r))
			o->open[left++] = o->open[i];
	}
	o->n = left;
	if (ordered || r->outcome != RL_OUTCOME_REFUSED)
		return;
	snprintf(text, sizeof(text), "%s: no new tables: refused: %s",
		 rl_recovery_text(r, &app->cfg.topo, cause, sizeof(cause)),
		 app->host.resil.why);
	tell(app, false, text);
}

void
outcome_step(struct app *app)
{
	const struct host_resil *r = &app->host.resil;
	struct outcomes *o = &app->outcomes;
	char text[OUTCOME_TEXT];

	while (o->seen < r->log.n)
		take_recovery(app, &r->log.rec[o->seen++]);
	if (r->controller != NULL)
		return;
	for (uint32_t i = 0; i < o->n; i++) {
		snprintf(text, sizeof(text), "%s: not done: the controller is "
			 "gone, and its successor does not know of it",
			 o->open[i].text);
		tell(app, true, text);
	}
	o->n = 0;
}
