/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>

#include "sim_show.h"

char *
sim_show_plan_text(const struct rl_swarm_plan *plan, char *buf, size_t len)
{
	const struct rl_link_cfg *l = &plan->cfg.link;
	const struct rl_sim_load_cfg *t = &plan->load;

	char wide[160] = "";
	size_t n = 0;

	for (unsigned int i = 0; i < RL_SWARM_WD_COUNT; i++)
		if (plan->wide >> i & 1 && n < sizeof(wide))
			n += (size_t)snprintf(
				wide + n, sizeof(wide) - n, "%s%s",
				n == 0 ? "; wide: " : " ",
				rl_swarm_wide_name((enum rl_swarm_wide)i));
	snprintf(buf, len,
		 "%s%s%s%s%s, %u levels; packets %u-%u, window %u, credits %u, queue %u, frame "
		 "%u, link retry %s, e2e retry %s, dup_filter %s; %s load "
		 "%.2f for %llu ns, %u faults, heal at %llu ns%s",
		 plan->shape == NULL ? "given fabric" : plan->shape,
		 l->switching == RL_CUT_THROUGH ? ", cut-through" : "",
		 plan->strict_order ? ", strict order" : "",
		 plan->controller ? ", controller" : "",
		 l->init_action == RL_INIT_BLOCK     ? ""
		 : l->init_action == RL_INIT_DISCARD ? ", init discards"
						     : ", init best effort",
		 plan->cfg.levels,
		 t->min_flits, t->max_flits, l->window_flits, l->credits_flits,
		 l->queue_flits, l->flits_per_frame, l->retry ? "on" : "off",
		 plan->cfg.endpoint.retry ? "on" : "off",
		 l->dup_filter ? "on" : "off", rl_pattern_name(t->pattern.kind),
		 t->load, (unsigned long long)(t->stop_ns - t->start_ns),
		 plan->faults.n, (unsigned long long)plan->heal_ns, wide);
	return buf;
}

void
sim_show_plan(const struct rl_swarm_plan *plan)
{
	char text[512];

	printf("plan: %s\n", sim_show_plan_text(plan, text, sizeof(text)));
	for (uint32_t i = 0; i < plan->faults.n; i++)
		printf("  %s\n",
		       rl_fault_text(&plan->faults.f[i], &plan->cfg.topo,
					 text, sizeof(text)));
}

static const char *
port_name(const struct rl_topo *topo, uint32_t dev, uint16_t port, char *buf,
	  size_t len)
{
	const struct rl_topo_port *tp = &topo->dev[dev].port[port];

	snprintf(buf, len, "%s>%s#%u", topo->dev[dev].name,
		 topo->dev[tp->peer_dev].name, topo->link[tp->link].k);
	return buf;
}

static void
show_port_event(void *ctx, uint32_t dev, uint16_t port,
		const struct rl_port_event *ev)
{
	static const char *const words[] = { "up",	"dead",	   "drained",
					     "rerouted", "retrain", "degraded",
					     "empty" };
	const struct rl_swarm_plan *plan = ctx;
	char name[80];

	printf("%10llu port %-10s %s, detector %s, epoch %u, loop %x, looped "
	       "%u packets, %u flits\n",
	       (unsigned long long)ev->t_ns,
	       port_name(&plan->cfg.topo, dev, port, name, sizeof(name)),
	       words[ev->type], rl_detector_name(ev->detector), ev->epoch,
	       ev->loop_id, ev->looped_packets, ev->looped_flits);
}

static void
show_core_event(void *ctx, uint32_t dev, const struct rl_core_event *ev)
{
	static const char *const words[] = { "hold", "resume", "restore",
					     "watchdog" };
	const struct rl_swarm_plan *plan = ctx;

	printf("%10llu core %s port %u: %s, %u packets\n",
	       (unsigned long long)ev->t_ns, plan->cfg.topo.dev[dev].name,
	       ev->port, words[ev->type], ev->packets);
}

static void
show_counters(const uint64_t *c, unsigned int n,
	      const char *(*name)(unsigned int))
{
	for (unsigned int i = 0; i < n; i++)
		if (c[i] != 0)
			printf(" %s=%llu", name(i), (unsigned long long)c[i]);
	printf("\n");
}

static const char *
port_counter(unsigned int i)
{
	return rl_port_counter_name((enum rl_port_counter)i);
}

static const char *
core_counter(unsigned int i)
{
	return rl_core_counter_name((enum rl_core_counter)i);
}

static const char *
ep_counter(unsigned int i)
{
	return rl_ep_counter_name((enum rl_ep_counter)i);
}

static void
show_device(const struct rl_fabric *f, uint32_t dev)
{
	const struct rl_device *d = &f->dev[dev];
	char name[80];

	printf("core %s holds %u flits:", f->topo->dev[dev].name,
	       rl_core_flits(d->core.core));
	show_counters(rl_core_counters(d->core.core), RL_CORE_COUNTER_COUNT,
		      core_counter);
	if (d->core.ep != NULL) {
		printf("endpoint %s holds %u flits:", f->topo->dev[dev].name,
		       rl_ep_flits(d->core.ep));
		show_counters(rl_ep_counters(d->core.ep), RL_EP_COUNTER_COUNT,
			      ep_counter);
	}
	for (uint16_t p = 0; p < d->nports; p++) {
		struct rl_port_info info;

		rl_port_info(d->port[p].port, &info);
		printf("port %s %s, egress %s, replay %u/%u/%u/%u, queued %u, "
		       "epochs %u/%u, held in core %u, credits",
		       port_name(f->topo, dev, p, name, sizeof(name)),
		       rl_link_state_name(info.state),
		       rl_egress_state_name(
			       rl_core_egress_state(d->core.core, p)),
		       info.replay_base, info.replay_acked, info.replay_next,
		       info.replay_tail, info.queued_flits, info.tx_epoch,
		       info.rx_epoch, rl_core_held(d->core.core, p));
		for (unsigned int vc = 0; vc < f->cfg->link.vcs; vc++)
			printf(" %u", info.credits[vc]);
		printf(":");
		show_counters(rl_port_counters(d->port[p].port),
			      RL_PORT_COUNTER_COUNT, port_counter);
	}
}

static void
show_recoveries(const struct rl_sim *sim, const struct rl_topo *topo)
{
	uint32_t n;
	const struct rl_recovery *r = rl_sim_recoveries(sim, &n);
	const struct rl_controller *c = rl_sim_controller(sim);
	char text[128];

	for (uint32_t i = 0; c != NULL && i < topo->nlink; i++)
		if (!rl_controller_link_ok(c, i))
			printf("controller: link %s is not used\n",
			       rl_topo_link_name(topo, i, text, sizeof(text)));
	for (uint32_t i = 0; i < n; i++, r++)
		printf("recovery %u at %llu to %llu: %s, %s, %s, held %u, "
		       "silent %u\n",
		       r->epoch, (unsigned long long)r->at_ns,
		       (unsigned long long)r->end_ns,
		       rl_recovery_text(r, topo, text, sizeof(text)),
		       rl_resil_mode_name(r->mode),
		       rl_outcome_name(r->outcome), r->held_flows, r->silent);
}

static void
show_end(void *ctx, struct rl_sim *sim)
{
	const struct rl_fabric *f = rl_sim_fabric(sim);
	struct rl_sim_stats st;

	(void)ctx;
	for (uint32_t d = 0; d < f->ndev; d++)
		show_device(f, d);
	show_recoveries(sim, f->topo);
	rl_sim_stats(sim, &st);
	printf("dropped:");
	for (unsigned int i = 0; i < RL_DROP_REASON_COUNT; i++)
		printf(" %s=%llu", rl_drop_reason_name((enum rl_drop_reason)i),
		       (unsigned long long)st.drops[i]);
	printf("\nframes: %llu, lost %llu, hurt %llu, repeated %llu, late "
	       "%llu\n",
	       (unsigned long long)st.frames,
	       (unsigned long long)st.frames_lost,
	       (unsigned long long)st.frames_corrupt,
	       (unsigned long long)st.frames_dup,
	       (unsigned long long)st.frames_late);
}

void
sim_show_follow(struct rl_swarm_plan *plan, struct rl_role_sink *sink)
{
	*sink = (struct rl_role_sink){
		.ctx = plan,
		.port_event = show_port_event,
		.core_event = show_core_event,
	};
	plan->sink = sink;
	plan->inspect = show_end;
	plan->inspect_ctx = plan;
}
