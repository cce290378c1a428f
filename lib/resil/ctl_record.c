/* SPDX-License-Identifier: BSD-3-Clause */

/* Records of recoveries; getters of a controller. */

#include <stdio.h>

#include "ctl_priv.h"

uint32_t
ctl_all_flows(const struct rl_controller *c)
{
	return c->p.topo->nep * (c->p.topo->nep - 1);
}

void
ctl_record_open(struct rl_controller *c)
{
	c->cur = (struct rl_recovery){
		.epoch = c->epoch,
		.cause = c->why,
		.what = c->what,
		.what_is_dev = c->why == RL_CAUSE_GAVE_UP ||
			       c->why == RL_CAUSE_DEVICE ||
			       c->why == RL_CAUSE_REMOVE_DEV,
		.changes = c->changes,
		.at_ns = c->why_ns,
		.mode = c->p.cfg->mode,
	};
	c->recording = true;
}

void
ctl_record_quiesce(struct rl_controller *c)
{
	c->cur = (struct rl_recovery){
		.epoch = c->epoch,
		.cause = RL_CAUSE_QUIESCE,
		.changes = 1,
		.at_ns = c->hold_ns,
		.mode = RL_RESIL_FULL,
		.held_flows = ctl_all_flows(c),
	};
	c->recording = true;
}

void
ctl_record_close(struct rl_controller *c, enum rl_outcome outcome,
		 uint64_t now_ns)
{
	if (!c->recording)
		return;
	c->recording = false;
	c->cur.outcome = outcome;
	c->cur.end_ns = now_ns;
	if (c->pause_ns != RL_NEVER)
		c->cur.paused_ns += now_ns - c->pause_ns;
	c->record[c->nrecord++ % RL_RECOVERIES] = c->cur;
}

void
ctl_record_paused(struct rl_controller *c, uint64_t now_ns)
{
	if (c->pause_ns != RL_NEVER && c->recording)
		c->cur.paused_ns += now_ns - c->pause_ns;
	c->pause_ns = RL_NEVER;
}

uint32_t
rl_controller_recoveries(const struct rl_controller *c)
{
	return c->nrecord;
}

const struct rl_recovery *
rl_controller_recovery(const struct rl_controller *c, uint32_t i)
{
	if (i >= c->nrecord || c->nrecord - i > RL_RECOVERIES)
		return NULL;
	return &c->record[i % RL_RECOVERIES];
}

enum rl_controller_phase
rl_controller_phase(const struct rl_controller *c)
{
	return c->phase;
}

uint32_t
rl_controller_epoch(const struct rl_controller *c)
{
	return c->table_epoch;
}

uint32_t
rl_controller_newest(const struct rl_controller *c)
{
	return c->epoch;
}

bool
rl_controller_link_ok(const struct rl_controller *c, uint32_t link)
{
	return c->link[link].ok;
}

static RL_NAMES(cause_name, enum rl_cause, RL_CAUSES(RL_WORD))

char *
rl_recovery_text(const struct rl_recovery *r, const struct rl_topo *topo,
		 char *buf, size_t len)
{
	char link[2 * RL_NAME_MAX + 16];
	char more[32] = "";

	if (r->changes > 1)
		snprintf(more, sizeof(more), " (+%u)", r->changes - 1);
	switch (r->cause) {
	case RL_CAUSE_CONTROLLER:
	case RL_CAUSE_COMMAND:
	case RL_CAUSE_QUIESCE:
	case RL_CAUSE_RETRY:
		snprintf(buf, len, "%s%s", cause_name(r->cause), more);
		return buf;
	case RL_CAUSE_LINK_DEAD:
	case RL_CAUSE_LINK_BACK:
	case RL_CAUSE_DEVICE:
	case RL_CAUSE_GAVE_UP:
	case RL_CAUSE_DEGRADED:
	case RL_CAUSE_REMOVE:
	case RL_CAUSE_REMOVE_DEV:
	case RL_CAUSE_ADD:
		break;
	}
	if (r->what_is_dev)
		snprintf(buf, len, "device %s %s%s", topo->dev[r->what].name,
			 cause_name(r->cause), more);
	else
		snprintf(buf, len, "link %s %s%s",
			 rl_topo_link_name(topo, r->what, link, sizeof(link)),
			 cause_name(r->cause), more);
	return buf;
}

RL_NAMES(rl_controller_phase_name, enum rl_controller_phase, RL_CONTROLLER_PHASES(RL_WORD))

RL_NAMES(rl_outcome_name, enum rl_outcome, RL_OUTCOMES(RL_WORD))
