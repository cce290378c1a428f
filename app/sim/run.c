/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One run: traffic and faults as given, until everything has come to rest.
 * Faults that the file does not heal stay: a run can end with a dead link.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock_ns.h"
#include "failover_report.h"
#include "flit_trace.h"
#include "recovery_report.h"
#include "sim_app.h"
#include "stop_signal.h"
#include "suspect_report.h"

#define STEP_NS 10000
#define STEP_MAX_NS (10 * RL_NS_PER_MS)

struct run {
	struct outcome *out;
	const struct setup *s;
	struct rl_sim *sim;
	struct rl_sim_load *load;
	uint64_t start_wall_ns;
	uint64_t told_wall_ns;
	bool tty;
	bool events;  /**< to be printed */
	struct flit_trace *trace; /**< NULL: none */
	uint32_t faults; /**< that have happened, see crashes_until() */
	bool stopped; /**< a signal ended it before its time */
};

uint64_t
wall_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static const char *
port_name(const struct rl_topo *topo, uint32_t dev, uint16_t port, char *buf,
	  size_t len)
{
	rl_topo_link_name(topo, topo->dev[dev].port[port].link, buf, len);
	return buf;
}

__attribute__((format(printf, 3, 4))) static void
tell(const struct run *r, uint64_t t_ns, const char *format, ...)
{
	char text[4 * RL_NAME_MAX + 128];
	va_list ap;

	if (!r->events && r->trace == NULL)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (r->events)
		printf("%12" PRIu64 " ns  %s\n", t_ns, text);
	if (r->trace != NULL)
		flit_trace_event(r->trace, t_ns, text);
}

static void
on_port_event(void *ctx, uint32_t dev, uint16_t port,
		 const struct rl_port_event *ev)
{
	static const char *const words[] = {
		[RL_PEV_UP] = "up",
		[RL_PEV_DEAD] = "dead by ",
		[RL_PEV_DRAINED] = "drained",
		[RL_PEV_REROUTED] = "rerouted",
		[RL_PEV_RETRAIN] = "retrain",
		[RL_PEV_DEGRADED] = "degraded",
		[RL_PEV_EMPTY] = "empty",
		[RL_PEV_REFUSED] = "refused",
	};
	const struct run *r = ctx;
	const struct rl_topo *topo = &r->s->plan.cfg.topo;
	char name[2 * RL_NAME_MAX + 16], looped[48] = "";

	r->out->changed_ns[topo->dev[dev].port[port].link] = ev->t_ns;
	if (ev->type == RL_PEV_DRAINED)
		snprintf(looped, sizeof(looped), ", %u packets, %u flits",
			 ev->looped_packets, ev->looped_flits);
	tell(r, ev->t_ns, "%s at %s: %s%s",
	     port_name(topo, dev, port, name, sizeof(name)),
	     topo->dev[dev].name, words[ev->type],
	     ev->type == RL_PEV_DEAD ? rl_detector_name(ev->detector) : looped);
}

static void
crashes_until(struct run *r, uint64_t t_ns)
{
	const struct rl_sim_faults *list = &r->s->plan.faults;
	const struct rl_topo *topo = &r->s->plan.cfg.topo;

	for (; r->faults < list->n && list->f[r->faults].t_ns <= t_ns;
	     r->faults++) {
		const struct rl_fault *f = &list->f[r->faults];

		/* to restart one that lives is to crash it */
		if ((f->kind == RL_FAULT_CRASH || f->kind == RL_FAULT_RESTART) &&
		    topo->dev[f->dev].kind == RL_DEV_ENDPOINT)
			absences_crash(&r->out->absences,
				       topo->dev[f->dev].ep_id, f->t_ns);
	}
}

static void
on_ep_event(void *ctx, uint32_t dev, const struct rl_ep_event *ev)
{
	struct run *r = ctx;
	const struct rl_topo *topo = &r->s->plan.cfg.topo;

	crashes_until(r, ev->t_ns);
	absences_add(&r->out->absences, ev);
	tell(r, ev->t_ns, "%s: %s %s", topo->dev[dev].name,
	     ev->peer == RL_EP_ALL ? "all"
				   : topo->dev[topo->ep_dev[ev->peer]].name,
	     rl_ep_event_name(ev->kind));
}

static void
on_core_event(void *ctx, uint32_t dev, const struct rl_core_event *ev)
{
	const struct run *r = ctx;
	static const char *const words[] = {
		[RL_CEV_HOLD] = "holds",
		[RL_CEV_RESUME] = "resumes",
		[RL_CEV_RESTORE] = "restores",
		[RL_CEV_WATCHDOG] = "gives up",
	};
	const struct rl_topo *topo = &r->s->plan.cfg.topo;
	char name[2 * RL_NAME_MAX + 16] = "";

	if (ev->port < topo->dev[dev].nports)
		port_name(topo, dev, ev->port, name, sizeof(name));
	tell(r, ev->t_ns, "%s %s %s, %u packets", topo->dev[dev].name,
	     words[ev->type], name, ev->packets);
}

static struct rl_role_sink
sink_of(struct run *r)
{
	return (struct rl_role_sink){
		.ctx = r,
		.port_event = on_port_event,
		.core_event = on_core_event,
		.ep_event = on_ep_event,
	};
}

static void
progress(struct run *r)
{
	const uint64_t now = wall_ns();
	struct rl_sim_stats st;

	if (!r->tty || now - r->told_wall_ns < RL_NS_PER_S)
		return;
	r->told_wall_ns = now;
	rl_sim_stats(r->sim, &st);
	fprintf(stderr, "\r%.3f ms, %" PRIu64 " flit-hops, %.2f M a second  ",
		(double)rl_sim_now(r->sim) / 1e6, st.flits,
		(double)st.flits * 1e3 / (double)(now - r->start_wall_ns));
}

/* Retried until it was given up: the rest of such a packet never comes. */
static bool
parts_ok(const struct run *r)
{
	struct rl_sim_load_stats st;

	rl_sim_load_stats(r->load, &st);
	return r->s->plan.cfg.endpoint.retry && st.reported + st.died != 0;
}

/* @return whether all came to rest */
static bool
run_to_end(struct run *r, const struct options *o)
{
	const struct rl_swarm_plan *plan = &r->s->plan;
	const uint64_t stop_ns = plan->load.stop_ns;
	/* until then, things happen by themselves */
	uint64_t quiet = rl_max_u64(rl_sim_faults_end(&plan->faults),
				    stop_ns == RL_NEVER ? 0 : stop_ns);
	uint64_t step = STEP_NS, limit = RL_NEVER;

	for (;;) {
		const uint64_t now = rl_sim_now(r->sim);

		if (now >= quiet && rl_sim_load_done(r->load)) {
			if (rl_sim_recovered(r->sim) &&
			    rl_sim_settled(r->sim,
					   parts_ok(r) ? RL_SIM_PARTS_OK : 0,
					   NULL))
				return true;
			if (limit == RL_NEVER)
				limit = rl_deadline(now, o->drain_ns);
			/* the longer the wait, the longer the next step */
			step = rl_min_u64(step + step / 16, STEP_MAX_NS);
		} else if (now >= quiet && limit == RL_NEVER &&
			   plan->load.stop_ns != RL_NEVER) {
			limit = rl_deadline(now, o->drain_ns);
		}
		r->stopped = now < limit && stop_asked() != 0;
		if (now >= limit || r->stopped)
			return rl_sim_settled(r->sim, RL_SIM_PARTS_OK, NULL);
		rl_sim_run(r->sim, now < plan->load.stop_ns
					   ? rl_min_u64(now + step,
							plan->load.stop_ns)
					   : now + step);
		progress(r);
	}
}

static void
take_recoveries(const struct run *r, bool json, struct outcome *out)
{
	const struct rl_recovery *rec =
		rl_sim_recoveries(r->sim, &out->nrecoveries);

	if (out->nrecoveries != 0)
		out->recovery = rec[out->nrecoveries - 1];
	if (json)
		out->recoveries = recoveries_json(rec, out->nrecoveries,
						  &r->s->plan.cfg.topo, 0);
}

/* Unless nothing was delivered, or a signal came before the window's end. */
static void
take_window(const struct run *r, struct outcome *out)
{
	if (out->counted.to_ns == 0 ||
	    (r->stopped && out->elapsed_ns < out->counted.to_ns))
		return;
	out->window = malloc(sizeof(*out->window));
	if (out->window == NULL)
		return;
	rl_sim_load_window(r->load, out->window);
	if (out->window->flits != 0)
		return;
	free(out->window);
	out->window = NULL;
}

static void
take_outcome(struct run *r, bool json, struct outcome *out)
{
	struct rl_swarm_verdict *v = &out->v;
	const struct rl_failover *f = rl_sim_failovers(r->sim, &v->failovers);

	out->elapsed_ns = rl_sim_now(r->sim);
	crashes_until(r, out->elapsed_ns);
	out->interrupted = r->stopped;
	rl_sim_stats(r->sim, &v->sim);
	rl_sim_load_stats(r->load, &v->load);
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		rl_sim_load_delay(r->load, vc, &out->delay[vc]);
	counter_sums_of(rl_sim_fabric(r->sim), &out->counters);
	take_recoveries(r, json, out);
	if (json)
		out->failovers = failovers_json(f, v->failovers,
						&r->s->plan.cfg.topo, 0);
	if (json && out->parts == NULL)
		out->parts = json_object();
	if (json)
		counter_parts_json(out->parts, rl_sim_fabric(r->sim));
	if (json)
		json_object_set_new(out->parts, "suspects",
				    suspects_json(rl_sim_fabric(r->sim)));
	if (json)
		json_object_set_new(out->parts, "alarms",
				    sim_alarms_json(r->s, r->sim, out));
	take_window(r, out);
	if (!out->at_rest)
		rl_sim_settled(r->sim, 0, v->why);
	else if (rl_sim_audit(r->sim, false, v->why) != 0)
		v->ok = false;
}

static int
run_sim(struct run *r, const struct options *o, struct rl_sim_mem *mem,
	bool json, struct outcome *out)
{
	const struct rl_swarm_plan *plan = &r->s->plan;
	const struct rl_role_sink sink = sink_of(r);
	struct rl_sim_params p;
	int ret;

	rl_swarm_plan_params(plan, mem, &p);
	rl_sim_load_serve(r->load, &p);
	p.apart = true;
	p.threads = r->s->threads;
	p.sink = &sink;
	p.tap = r->trace == NULL ? NULL : flit_trace_tap(r->trace);
	p.resil.route = plan->route;
	ret = rl_sim_create(&p, &r->sim, out->v.why);
	if (ret != 0)
		return ret;
	ret = rl_sim_schedule(r->sim, &plan->faults);
	if (ret == 0) {
		r->start_wall_ns = r->told_wall_ns = wall_ns();
		out->at_rest = run_to_end(r, o);
		out->wall_ns = wall_ns() - r->start_wall_ns;
		take_outcome(r, json, out);
	}
	if (rl_sim_destroy(r->sim, out->v.ok ? out->v.why : NULL) != 0)
		out->v.ok = false;
	return ret;
}

static int
open_trace(struct run *r, const struct options *o, struct rl_sim_load_cfg *load)
{
	if (o->trace == NULL)
		return 0;
	r->trace = flit_trace_open(o->trace, &r->s->plan.cfg.topo);
	if (r->trace == NULL)
		return -errno;
	load->taken = flit_trace_taken;
	load->taken_ctx = r->trace;
	return 0;
}

static void
close_trace(struct run *r, const struct options *o)
{
	if (r->trace == NULL || flit_trace_close(r->trace) == 0)
		return;
	fprintf(stderr, "reflit-sim: cannot write %s: %s\n", o->trace,
		strerror(errno));
	r->out->trace_torn = true;
}

int
run_case(const struct setup *s, const struct options *o,
	 struct rl_sim_mem *mem, struct outcome *out)
{
	struct rl_swarm_plan plan = s->plan; /* the same arrays */
	struct run r = { .s = s, .out = out, .events = o->events };
	const struct rl_role_sink sink = sink_of(&r);
	int ret;

	memset(out, 0, sizeof(*out));
	out->changed_ns = calloc(plan.cfg.topo.nlink, sizeof(*out->changed_ns));
	ret = out->changed_ns == NULL ? -ENOMEM : open_trace(&r, o, &plan.load);
	if (ret != 0)
		return ret;
	plan.sink = &sink;
	plan.tap = r.trace == NULL ? NULL : flit_trace_tap(r.trace);
	ret = rl_swarm_plan_run(&plan, mem, &out->v);
	close_trace(&r, o);
	return ret;
}

int
run_once(const struct setup *s, const struct options *o,
	 struct rl_sim_mem *mem, bool json, struct outcome *out)
{
	struct rl_sim_load_cfg load = s->plan.load;
	struct run r = { .s = s, .tty = isatty(STDERR_FILENO) };
	int ret;

	memset(out, 0, sizeof(*out));
	out->v.ok = true;
	r.out = out;
	r.events = o->events;
	load.seed = s->plan.seed;
	out->delay = calloc(RL_VCS, sizeof(*out->delay));
	out->changed_ns = calloc(s->plan.cfg.topo.nlink,
				 sizeof(*out->changed_ns));
	if (out->delay == NULL || out->changed_ns == NULL)
		return -ENOMEM;
	load.delays = true;
	load.threads = s->threads;
	load.connected = rl_sim_load_connected;
	load.connected_ctx = &r.sim;
	if (load.window.to_ns == 0 && load.stop_ns != RL_NEVER)
		load.window.to_ns = load.stop_ns;
	out->counted = load.window;
	ret = open_trace(&r, o, &load);
	if (ret != 0)
		return ret;
	r.load = rl_sim_load_new(&load);
	ret = r.load == NULL ? -ENOMEM : run_sim(&r, o, mem, json, out);
	rl_sim_load_free(r.load);
	close_trace(&r, o);
	if (r.tty && r.told_wall_ns != r.start_wall_ns)
		fputc('\n', stderr);
	return ret;
}

void
outcome_free(struct outcome *out)
{
	json_decref(out->failovers);
	json_decref(out->parts);
	absences_free(&out->absences);
	json_decref(out->recoveries);
	out->failovers = out->recoveries = out->parts = NULL;
	free(out->window);
	out->window = NULL;
	free(out->delay);
	free(out->changed_ns);
	out->delay = NULL;
	out->changed_ns = NULL;
}

const char *
outcome_failure(const struct outcome *out)
{
	const struct rl_sim_load_stats *l = &out->v.load;

	if (l->sent == 0)
		return "nothing was sent";
	if (2 * rl_sim_load_given_up(l) > l->sent)
		return "most of what was sent was given up";
	return NULL;
}

bool
outcome_kept(const struct outcome *out)
{
	const struct rl_sim_load_stats *l = &out->v.load;

	return out->v.ok && l->sent != 0 && out->at_rest && l->lost == 0 &&
	       l->duplicated == 0 && l->reordered == 0 && l->corrupted == 0;
}
