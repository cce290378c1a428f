/* SPDX-License-Identifier: BSD-3-Clause */

/* What is wrong when a run is over: reflit's alarms, in virtual time. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alarm_kind.h"
#include "recovery_report.h"
#include "sim_app.h"

static void
add(json_t *list, enum alarm_kind kind, const char *where, const char *why,
    uint64_t since_ns)
{
	json_array_append_new(
		list, json_pack("{s:s, s:s, s:s, s:s, s:I}", "alarm",
				alarm_word(kind), "severity",
				alarm_severity(kind), "where", where, "why",
				why[0] != '\0' ? why : alarm_condition(kind),
				"since_ns", (json_int_t)since_ns));
}

/* Whether a link is out by order: removed, or taken down by command. */
static bool
out_by_order(const struct rl_topo *t, struct rl_sim *sim, uint32_t link)
{
	const struct rl_controller *c = rl_sim_controller(sim);

	if (c != NULL && rl_controller_link_out(c, link))
		return rl_controller_link_removed(c, link);
	for (int e = 0; e < 2; e++) {
		const struct rl_device *d =
			&rl_sim_fabric(sim)->dev[t->link[link].dev[e]];
		struct rl_port_info i;

		rl_port_info(d->port[t->link[link].port[e]].port, &i);
		if (i.state == RL_LINK_OFF)
			return true;
	}
	return false;
}

/* Whether no way leads there because all its links were taken out. */
static bool
away_by_order(const struct rl_topo *t, struct rl_sim *sim, uint32_t dev)
{
	for (uint16_t p = 0; p < t->dev[dev].nports; p++)
		if (!out_by_order(t, sim, t->dev[dev].port[p].link))
			return false;
	return !rl_sim_dev_dead(sim, dev);
}

static void
look_at_endpoints(const struct rl_topo *t, struct rl_sim *sim,
		  struct outcome *out, json_t *list)
{
	uint32_t n;
	struct absence_claim *away = absences_list(&out->absences, t, &n);
	char where[RL_NAME_MAX + 16];

	for (uint32_t i = 0; i < n; i++) {
		if (away[i].until_ns != 0 ||
		    away_by_order(t, sim, t->ep_dev[away[i].peer]) ||
		    (away[i].ep != RL_EP_ALL &&
		     away_by_order(t, sim, t->ep_dev[away[i].ep])))
			continue;
		snprintf(where, sizeof(where), "endpoint %s",
			 t->dev[t->ep_dev[away[i].peer]].name);
		add(list, ALARM_UNREACHABLE, where, ALARM_WHY_UNREACHABLE,
		    away[i].since_ns);
	}
	free(away);
}

static void
look_at_devices(const struct rl_topo *t, const struct rl_sim *sim,
		const struct outcome *out, json_t *list)
{
	char where[RL_NAME_MAX + 16];

	for (uint32_t d = 0; d < t->ndev; d++) {
		uint64_t since_ns = 0;

		if (!rl_sim_dev_dead(sim, d))
			continue;
		/* its neighbours found that out */
		for (uint16_t p = 0; p < t->dev[d].nports; p++)
			since_ns = rl_max_u64(
				since_ns,
				out->changed_ns[t->dev[d].port[p].link]);
		snprintf(where, sizeof(where), "device %s", t->dev[d].name);
		add(list, ALARM_DEVICE, where, ALARM_WHY_DEVICE, since_ns);
	}
}

/* The state of a link by that of its worse end; ALARM_KIND_COUNT: it is well. */
static enum alarm_kind
link_alarm(const struct rl_topo *t, struct rl_sim *sim, uint32_t link,
	   char why[64])
{
	const struct rl_controller *c = rl_sim_controller(sim);
	enum alarm_kind kind = ALARM_KIND_COUNT;

	why[0] = '\0';
	if (!rl_topo_link_up(t, link) ||
	    rl_sim_dev_dead(sim, t->link[link].dev[0]) ||
	    rl_sim_dev_dead(sim, t->link[link].dev[1]))
		return kind;
	if (out_by_order(t, sim, link))
		return kind;
	if (c != NULL && rl_controller_link_out(c, link))
		return ALARM_LINK_LEFT;
	for (int e = 0; e < 2; e++) {
		const struct rl_device *d =
			&rl_sim_fabric(sim)->dev[t->link[link].dev[e]];
		struct rl_port_info i;

		rl_port_info(d->port[t->link[link].port[e]].port, &i);
		if (i.state != RL_LINK_UP)
			kind = ALARM_LINK_DOWN;
		else if (i.degraded && kind == ALARM_KIND_COUNT)
			kind = ALARM_LINK_DEGRADED;
		if (i.state != RL_LINK_UP && i.last_detector != RL_DET_NONE)
			snprintf(why, 64, "died by %s",
				 rl_detector_name(i.last_detector));
	}
	return kind;
}

static void
look_at_links(const struct rl_topo *t, struct rl_sim *sim,
	      const struct outcome *out, enum alarm_kind kind, json_t *list)
{
	char name[2 * RL_NAME_MAX + 8], where[2 * RL_NAME_MAX + 16], why[64];

	for (uint32_t l = 0; l < t->nlink; l++) {
		if (link_alarm(t, sim, l, why) != kind)
			continue;
		snprintf(where, sizeof(where), "link %s",
			 rl_topo_link_name(t, l, name, sizeof(name)));
		add(list, kind, where, why, out->changed_ns[l]);
	}
}

static void
look_at_controller(const struct setup *s, const struct rl_sim *sim,
		   const struct outcome *out, json_t *list)
{
	const struct rl_recovery *last = &out->recovery;
	const struct rl_sim_faults *f = &s->plan.faults;
	char cause[2 * RL_NAME_MAX + 64], why[sizeof(cause) + 16], where[40];
	uint64_t gone_ns = 0;
	bool gone = false;

	if (s->plan.cfg.controller.mode == RL_RESIL_OFF)
		return;
	/* since the first crash that no restart has followed */
	for (uint32_t i = 0; i < f->n && f->f[i].t_ns <= out->elapsed_ns; i++) {
		if (f->f[i].kind == RL_FAULT_CTL_CRASH && !gone)
			gone_ns = f->f[i].t_ns;
		if (f->f[i].kind == RL_FAULT_CTL_CRASH)
			gone = true;
		if (f->f[i].kind == RL_FAULT_CTL_RESTART)
			gone = false;
	}
	if (rl_sim_controller(sim) == NULL)
		add(list, ALARM_CONTROLLER, "controller", "", gone_ns);
	if (out->nrecoveries == 0 || !recovery_failed(last))
		return;
	snprintf(where, sizeof(where), "tables of epoch %u", last->epoch);
	rl_recovery_text(last, &s->plan.cfg.topo, cause, sizeof(cause));
	snprintf(why, sizeof(why), "%s: %s", cause,
		 rl_outcome_name(last->outcome));
	add(list, ALARM_RECOVERY, where, why, last->at_ns);
}

json_t *
sim_alarms_json(const struct setup *s, struct rl_sim *sim, struct outcome *out)
{
	const struct rl_topo *t = &s->plan.cfg.topo;
	const struct rl_sim_load_stats *l = &out->v.load;
	/* what died with a device is no giving up */
	const uint64_t reported = l->reported - l->reported_delivered;
	json_t *list = json_array();
	char why[64];

	/* in the order of ALARM_KINDS, the worst first */
	look_at_endpoints(t, sim, out, list);
	look_at_devices(t, sim, out, list);
	look_at_links(t, sim, out, ALARM_LINK_DOWN, list);
	look_at_links(t, sim, out, ALARM_LINK_LEFT, list);
	look_at_controller(s, sim, out, list);
	if (reported != 0 &&
	    out->elapsed_ns - l->reported_ns <= ALARM_GIVEN_UP_NS) {
		snprintf(why, sizeof(why), "%llu packets in all",
			 (unsigned long long)reported);
		add(list, ALARM_GIVEN_UP, "traffic", why, l->reporting_ns);
	}
	look_at_links(t, sim, out, ALARM_LINK_DEGRADED, list);
	return list;
}
