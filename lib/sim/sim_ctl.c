/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The host of the controller. Local controllers and the controller are served
 * when something happened to them or is due, and not otherwise: a fabric
 * without failures costs nothing. Their orders are carried out at once, between
 * two polls of the roles.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim_ctl.h"
#include "rl_grow.h"

uint64_t
rl_sim_compute_model(const struct rl_topo *topo)
{
	/* measured on 4x4 and 10x10x10: tables and proof by ranks */
	return 50 * RL_NS_PER_US + 40ull * topo->ndev * topo->nep;
}

static void
touch(struct rl_sim *s, uint32_t dev)
{
	s->ctl->due_ns[dev] = 0;
	s->ctl->next_ns = rl_min_u64(s->ctl->next_ns, s->now_ns);
}

static void
heap_swap(struct sim_msg *a, struct sim_msg *b)
{
	const struct sim_msg t = *a;

	*a = *b;
	*b = t;
}

static bool
msg_before(const struct sim_msg *a, const struct sim_msg *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->nr < b->nr;
}

static void
msg_push(struct sim_ctl *k, const struct sim_msg *m)
{
	uint32_t i = k->nmsg;

	if (!rl_grow(&k->msg, k->nmsg, &k->cap_msg, sizeof(*m)))
		return; /* lost, as any message may be */
	k->msg[k->nmsg++] = *m;
	for (; i > 0 && msg_before(&k->msg[i], &k->msg[(i - 1) / 2]);
	     i = (i - 1) / 2)
		heap_swap(&k->msg[i], &k->msg[(i - 1) / 2]);
}

static struct sim_msg
msg_pop(struct sim_ctl *k)
{
	const struct sim_msg first = k->msg[0];
	uint32_t i = 0;

	k->msg[0] = k->msg[--k->nmsg];
	for (;;) {
		uint32_t best = i;

		for (uint32_t c = 2 * i + 1; c <= 2 * i + 2; c++)
			if (c < k->nmsg && msg_before(&k->msg[c], &k->msg[best]))
				best = c;
		if (best == i)
			return first;
		heap_swap(&k->msg[i], &k->msg[best]);
		i = best;
	}
}

static void
msg_send(struct rl_sim *s, const struct rl_resil_msg *m, bool to_ctl)
{
	const struct rl_sim_resil_cfg *c = &s->p.resil;
	struct sim_ctl *k = s->ctl;
	unsigned int copies = 1;

	k->sent++;
	if (c->loss_ppb != 0 && rl_prng_below(&k->prng, SIM_PPB) < c->loss_ppb)
		return;
	if (c->dup_ppb != 0 && rl_prng_below(&k->prng, SIM_PPB) < c->dup_ppb)
		copies++;
	while (copies-- > 0) {
		const struct sim_msg f = {
			.at_ns = s->now_ns + c->delay_ns + k->ctl_late_ns +
				 (c->jitter_ns == 0
					  ? 0
					  : rl_prng_range(&k->prng, 0,
							  c->jitter_ns)),
			.nr = k->nr++,
			.to_ctl = to_ctl,
			.m = *m,
		};

		msg_push(k, &f);
	}
}

static void
deliver(struct rl_sim *s)
{
	struct sim_ctl *k = s->ctl;

	while (k->nmsg != 0 && k->msg[0].at_ns <= s->now_ns) {
		const struct sim_msg f = msg_pop(k);

		if (!f.to_ctl && f.m.ctl_inc < k->least_inc)
			continue;
		if (f.to_ctl) {
			if (k->controller != NULL)
				rl_controller_rx(k->controller, &f.m,
						 s->now_ns);
		} else if (k->local[f.m.dev] != NULL) {
			rl_local_rx(k->local[f.m.dev], &f.m, s->now_ns);
			k->due_ns[f.m.dev] = 0;
		}
	}
}

/*
 * Whether a device carries out an order now. A late device acts like an lcore
 * that is busy: it gets the order, and obeys a while later.
 */
static bool
obeys(struct rl_sim *s, uint32_t dev)
{
	struct sim_ctl *k = s->ctl;

	if (k->late_ns[dev] == 0)
		return true;
	if (k->obeys_ns[dev] == 0)
		k->obeys_ns[dev] = s->now_ns + k->late_ns[dev];
	return s->now_ns >= k->obeys_ns[dev];
}

static void
serve_local(struct rl_sim *s, uint32_t dev)
{
	struct sim_ctl *k = s->ctl;
	struct rl_local *l = k->local[dev];
	struct rl_local_action a;
	struct rl_resil_msg m;

	rl_local_tick(l, s->now_ns);
	while (obeys(s, dev) && rl_local_action(l, &a))
		sim_ctl_act(s, dev, &a);
	if (obeys(s, dev) && rl_local_asked(l)) {
		struct rl_local_view v;

		sim_ctl_view(s, dev, &v);
		rl_local_answer(l, &v);
		k->obeys_ns[dev] = 0;
	}
	while (rl_local_tx(l, &m, s->now_ns))
		msg_send(s, &m, true);
	rl_device_alone(&s->fabric.dev[dev], rl_local_alone(l));
	k->due_ns[dev] = rl_local_deadline(l);
	if (k->obeys_ns[dev] > s->now_ns)
		k->due_ns[dev] = rl_min_u64(k->due_ns[dev], k->obeys_ns[dev]);
}

/* Does a job now; its result becomes known later. */
static void
begin_job(struct rl_sim *s, const struct rl_controller_job *job)
{
	const uint64_t takes = s->p.resil.compute_ns;
	struct sim_ctl *k = s->ctl;
	struct rl_controller_result *r = &k->result;
	uint64_t all;

	rl_tables_compute(k->tables, job, r);
	all = takes == 0	   ? rl_sim_compute_model(s->fabric.topo)
	      : takes == RL_NEVER ? r->compute_ns + r->prove_ns
				   : takes;
	if (takes != RL_NEVER) { /* the times must be the same on every
				    machine */
		r->compute_ns = all / 2;
		r->prove_ns = all - all / 2;
	}
	k->job = true;
	k->job_ns = s->now_ns + all;
}

static uint64_t
serve_controller(struct rl_sim *s)
{
	struct sim_ctl *k = s->ctl;
	struct rl_controller_job job;
	struct rl_resil_msg m;
	uint64_t t;

	rl_controller_tick(k->controller, s->now_ns);
	if (k->job && s->now_ns >= k->job_ns) {
		k->job = false;
		rl_controller_done(k->controller, &k->result, s->now_ns);
	}
	if (rl_controller_job(k->controller, &job))
		begin_job(s, &job);
	while (rl_controller_tx(k->controller, &m, s->now_ns))
		msg_send(s, &m, false);
	rl_recovery_log_take(&k->log, k->controller);
	t = rl_controller_deadline(k->controller);
	return k->job ? rl_min_u64(t, k->job_ns) : t;
}

void
sim_ctl_run(struct rl_sim *s)
{
	struct sim_ctl *k = s->ctl;

	deliver(s);
	k->next_ns = RL_NEVER;
	for (uint32_t d = 0; d < s->fabric.ndev; d++) {
		if (k->local[d] == NULL)
			continue;
		if (k->due_ns[d] <= s->now_ns)
			serve_local(s, d);
		k->next_ns = rl_min_u64(k->next_ns, k->due_ns[d]);
	}
	if (k->controller != NULL)
		k->next_ns = rl_min_u64(k->next_ns, serve_controller(s));
	if (k->nmsg != 0)
		k->next_ns = rl_min_u64(k->next_ns, k->msg[0].at_ns);
	/* an overdue item that cannot be served yet must not stop time */
	if (k->next_ns <= s->now_ns)
		k->next_ns = s->now_ns + SIM_CTL_SPIN_NS;
}

void
sim_ctl_port_event(struct rl_sim *s, uint32_t dev, uint16_t port,
		   const struct rl_port_event *ev)
{
	if (s->ctl == NULL || s->ctl->local[dev] == NULL)
		return;
	if (ev->type == RL_PEV_DEGRADED)
		s->degraded[s->fabric.topo->dev[dev].port[port].link] = true;
	if (rl_device_report_port(s->ctl->local[dev], port, ev, ev->t_ns))
		touch(s, dev);
}

void
sim_ctl_core_event(struct rl_sim *s, uint32_t dev,
		   const struct rl_core_event *ev)
{
	if (s->ctl != NULL && s->ctl->local[dev] != NULL &&
	    rl_device_report_core(s->ctl->local[dev], ev, ev->t_ns))
		touch(s, dev);
}

static int
local_begin(struct rl_sim *s, uint32_t dev, bool waits)
{
	const size_t bytes = rl_local_memsize(s->fabric.topo->dev[dev].nports);
	struct sim_ctl *k = s->ctl;

	if (k->local_mem[dev] == NULL)
		k->local_mem[dev] = sim_alloc(s->mem, bytes);
	if (k->local_mem[dev] == NULL)
		return -ENOMEM;
	k->local[dev] = rl_fabric_local(&s->fabric, dev, k->local_mem[dev],
					++k->incarnation, waits, s->now_ns);
	touch(s, dev);
	return 0;
}

/*
 * Whether a device at port @p port waits for tables that the controller must
 * not install: if its mode forbids holding, a restarted device may stay out.
 */
bool
sim_ctl_left_out(const struct rl_sim *s, uint32_t dev, uint16_t port)
{
	const uint32_t end[] = {
		dev, s->fabric.topo->dev[dev].port[port].peer_dev };
	struct rl_local_info info;

	if (s->ctl == NULL ||
	    (s->p.cfg->controller.mode != RL_RESIL_LIVE &&
	     s->p.cfg->controller.mode != RL_RESIL_PARTIAL))
		return false;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(end); i++) {
		if (s->ctl->local[end[i]] == NULL)
			continue;
		rl_local_info(s->ctl->local[end[i]], &info);
		if (info.waits)
			return true;
	}
	return false;
}

void
sim_ctl_dev_crash(struct rl_sim *s, uint32_t dev)
{
	if (s->ctl != NULL)
		s->ctl->local[dev] = NULL;
}

bool
sim_ctl_dev_restart(struct rl_sim *s, uint32_t dev)
{
	if (s->ctl == NULL)
		return false;
	rl_tables_installed(s->ctl->tables, dev, 0);
	return local_begin(s, dev, true) == 0;
}

void
sim_ctl_crash(struct rl_sim *s)
{
	if (s->ctl == NULL)
		return;
	s->ctl->controller = NULL;
	s->ctl->job = false;
}

void
sim_ctl_restart(struct rl_sim *s)
{
	struct sim_ctl *k = s->ctl;
	struct rl_controller_params p = {
		.cfg = &s->p.cfg->controller,
		.topo = s->fabric.topo,
		.at_rest = !s->p.cfg->endpoint.retry,
	};

	if (k == NULL)
		return;
	p.incarnation = k->ctl_inc = ++k->incarnation;
	p.epoch = rl_tables_newest(k->tables);
	k->controller = rl_controller_init(k->mem, &p, s->now_ns);
	rl_recovery_log_begin(&k->log);
	k->job = false;
	k->next_ns = rl_min_u64(k->next_ns, s->now_ns);
}

void
sim_ctl_late(struct rl_sim *s, const struct rl_fault *f)
{
	if (s->ctl == NULL)
		return;
	if (f->kind == RL_FAULT_CTL_LATE)
		s->ctl->ctl_late_ns = f->for_ns;
	else
		s->ctl->late_ns[f->dev] = f->for_ns;
}

/*
 * Orders of a dead controller that are still on their way must not undo a heal:
 * the new controller does not know of them.
 */
void
sim_ctl_heal(struct rl_sim *s)
{
	if (s->ctl == NULL)
		return;
	s->ctl->ctl_late_ns = 0;
	for (uint32_t d = 0; d < s->fabric.ndev; d++)
		s->ctl->late_ns[d] = 0;
	if (s->ctl->controller == NULL)
		sim_ctl_restart(s);
	s->ctl->least_inc = s->ctl->ctl_inc;
}

uint64_t
sim_ctl_due(const struct rl_sim *s)
{
	return s->ctl->next_ns;
}

bool
sim_ctl_planned(struct rl_sim *s, const struct rl_fault *f)
{
	struct rl_controller *c = s->ctl == NULL ? NULL : s->ctl->controller;

	if (c == NULL)
		return false;
	if (f->kind == RL_FAULT_REMOVE && f->is_dev)
		rl_controller_remove_dev(c, f->dev, s->now_ns);
	else if (f->kind == RL_FAULT_REMOVE)
		rl_controller_remove_link(c, f->link, s->now_ns);
	else if (f->is_dev)
		rl_controller_add_dev(c, f->dev, s->now_ns);
	else
		rl_controller_add_link(c, f->link, s->now_ns);
	s->ctl->next_ns = rl_min_u64(s->ctl->next_ns, s->now_ns);
	return true;
}

int
sim_ctl_open(struct rl_sim *s)
{
	const struct rl_config *cfg = s->p.cfg;
	const struct rl_tables_params tp = {
		.topo = &cfg->topo,
		.engine = s->p.resil.route == NULL ? NULL
						   : s->p.resil.route->engine,
		.vls = (uint8_t)rl_min_u32(cfg->vls, cfg->link.vcs),
		.levels = (uint8_t)cfg->levels,
		.retry = cfg->endpoint.retry,
		.link_retry = cfg->link.retry,
		.clock = s->p.resil.clock,
	};
	struct sim_ctl *k;

	if (s->p.resil.route == NULL ||
	    cfg->controller.mode == RL_RESIL_OFF)
		return 0;
	k = s->ctl = calloc(1, sizeof(*k));
	if (k == NULL)
		return -ENOMEM;
	k->local = sim_alloc(s->mem, cfg->topo.ndev * sizeof(struct rl_local *));
	k->local_mem = sim_alloc(s->mem, cfg->topo.ndev * sizeof(void *));
	k->due_ns = sim_alloc(s->mem, cfg->topo.ndev * sizeof(*k->due_ns));
	k->late_ns = sim_alloc(s->mem, cfg->topo.ndev * sizeof(*k->late_ns));
	k->obeys_ns = sim_alloc(s->mem, cfg->topo.ndev * sizeof(*k->obeys_ns));
	k->mem = sim_alloc(s->mem, rl_controller_memsize(&cfg->topo));
	k->tables = rl_tables_new(&tp, s->p.resil.route);
	/* with measured times, prepare like a real host */
	if (k->tables != NULL && s->p.resil.compute_ns == RL_NEVER)
		rl_tables_prepare(k->tables);
	if (k->local == NULL || k->local_mem == NULL || k->due_ns == NULL ||
	    k->late_ns == NULL || k->obeys_ns == NULL ||
	    k->mem == NULL || k->tables == NULL)
		return -ENOMEM;
	rl_prng_seed(&k->prng, s->p.seed ^ 0xc0117011e5ull);
	for (uint32_t d = 0; d < cfg->topo.ndev; d++)
		if (local_begin(s, d, false) != 0)
			return -ENOMEM;
	sim_ctl_restart(s);
	return 0;
}

void
sim_ctl_close(struct rl_sim *s)
{
	if (s->ctl == NULL)
		return;
	rl_tables_free(s->ctl->tables);
	free(s->ctl->msg);
	rl_recovery_log_free(&s->ctl->log);
	free(s->ctl);
	s->ctl = NULL;
}

const struct rl_recovery *
rl_sim_recoveries(const struct rl_sim *sim, uint32_t *n)
{
	*n = sim->ctl == NULL ? 0 : sim->ctl->log.n;
	return *n == 0 ? NULL : sim->ctl->log.rec;
}

const struct rl_flows *
rl_sim_held(const struct rl_sim *sim, uint32_t epoch)
{
	return sim->ctl == NULL ? NULL
				: rl_tables_flows(sim->ctl->tables, epoch);
}

const struct rl_controller *
rl_sim_controller(const struct rl_sim *sim)
{
	return sim->ctl == NULL ? NULL : sim->ctl->controller;
}

bool
rl_sim_recovered(const struct rl_sim *sim)
{
	return sim->ctl == NULL || sim->ctl->controller == NULL ||
	       rl_controller_idle(sim->ctl->controller);
}
