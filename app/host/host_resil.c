/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Serves the controller and the local controllers. A local controller is served
 * when something happened to it, when it is due, or while it waits for an
 * lcore; without failures only at its deadlines.
 *
 * Orders that name tables need `tables`, which a running job owns: they wait
 * for its end. No deadline is shorter than that.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "host_push.h"

#define MSGS 65536u /* power of two */
#define PENDING_NS (50 * RL_NS_PER_US)
#define TRAIN_ROUNDS 16 /* a handshake takes four */

static uint64_t
clock_of(void *ctx)
{
	return host_now(ctx);
}

uint64_t
host_resil_now(struct host *h)
{
	uint64_t now_ns = host_now(h);

	if (h->running && h->p.oob == NULL)
		now_ns = host_time_seen(&h->time, h->pace, h->nlcores, now_ns);
	h->resil.now_ns = rl_max_u64(h->resil.now_ns, now_ns);
	return h->resil.now_ns;
}

static uint64_t
left_out(const struct host *h)
{
	return h->p.oob == NULL ? host_time_left_out(&h->time) : 0;
}

static uint64_t
role_time(const struct host *h, uint64_t t_ns)
{
	return t_ns - rl_min_u64(t_ns, left_out(h));
}

static void
touch(struct host *h, uint32_t dev)
{
	h->resil.local[dev].due_ns = 0;
	h->resil.next_ns = 0;
}

/* Drops the message if the ring is full: messages may be lost. */
static void
put_msg(struct host *h, const struct rl_resil_msg *m)
{
	struct host_resil *r = &h->resil;

	if (r->msg_tail - r->msg_head == MSGS)
		r->msg_lost++;
	else
		r->msg[r->msg_tail++ % MSGS] = *m;
}

static void
send_msg(struct host *h, const struct rl_resil_msg *m, uint64_t now_ns)
{
	if (!host_oob_send(h, m, now_ns))
		put_msg(h, m);
}

static bool
from_local(const struct rl_resil_msg *m)
{
	return m->type <= RL_RESIL_PORT_DONE;
}

static bool
deliver(struct host *h, uint64_t now_ns)
{
	struct host_resil *r = &h->resil;
	const uint32_t n = r->msg_tail - r->msg_head;

	for (uint32_t i = 0; i < n; i++) {
		const struct rl_resil_msg m = r->msg[r->msg_head++ % MSGS];

		if (from_local(&m)) {
			host_oob_heard(h, &m, host_job_tables_free(r));
			if (r->controller != NULL)
				rl_controller_rx(r->controller, &m, now_ns);
		} else if (r->local[m.dev].local != NULL) {
			rl_local_rx(r->local[m.dev].local, &m, now_ns);
			r->local[m.dev].due_ns = 0;
		}
	}
	return n != 0;
}

/*
 * Links that have not come up may be called dead only after all lcores have made
 * as many rounds as a handshake takes without an event of any port. Until then
 * the kernel may have stopped an lcore, or events may wait because its log is
 * full.
 */
static void
give_time_to_train(struct host *h, struct rl_local *l, uint64_t now_ns)
{
	struct host_resil *r = &h->resil;

	if (!rl_local_trains(l))
		return;
	if (r->news)
		host_rounds(h, r->since);
	r->news = false;
	if (!host_rounds_passed(h, r->since, TRAIN_ROUNDS))
		rl_local_late(l, now_ns);
}

static void
serve_local(struct host *h, uint32_t dev, uint64_t now_ns)
{
	struct host_local *l = &h->resil.local[dev];
	struct rl_local_action a;
	struct rl_resil_msg m;
	bool more;

	give_time_to_train(h, l->local, now_ns);
	rl_local_tick(l->local, now_ns);
	/* one order at a time: go on as soon as the lcore has done it, even
	   without a new event */
	do {
		host_push_order(h, dev);
		more = !l->order.on && rl_local_action(l->local, &a);
		if (more)
			l->order = (struct host_pending){
				.on = true,
				.order = { .dev = dev, .local.act = a },
			};
	} while (more);
	/* check what is held only once it is held */
	if (!l->order.on)
		host_push_view(h, dev);
	while (rl_local_tx(l->local, &m, now_ns))
		send_msg(h, &m, now_ns);
	rl_device_alone(&h->fabric.dev[dev],
			rl_local_alone(l->local) ||
				(h->resil.controller == NULL &&
				 h->resil.oob.oob == NULL));
	l->due_ns = l->order.on || l->asked.on
			    ? now_ns + PENDING_NS
			    : rl_local_deadline(l->local);
}

static uint64_t
serve_controller(struct host *h, uint64_t now_ns)
{
	struct host_resil *r = &h->resil;
	const uint32_t logged = r->log.n;
	struct rl_resil_msg m;

	rl_controller_tick(r->controller, now_ns);
	host_job_serve(h, now_ns);
	while (rl_controller_tx(r->controller, &m, now_ns))
		send_msg(h, &m, now_ns);
	rl_recovery_log_take(&r->log, r->controller);
	for (uint32_t i = logged; i < r->log.n; i++) { /* in host time, like all
							  reports */
		r->log.rec[i].at_ns += left_out(h);
		r->log.rec[i].end_ns += left_out(h);
	}
	if (host_job_pending(r))
		return now_ns + PENDING_NS;
	return rl_min_u64(rl_controller_deadline(r->controller),
			  rl_controller_idle(r->controller) ? r->prepare_ns
							    : RL_NEVER);
}

/* The controller is elsewhere: make the tables that it computed. */
static uint64_t
serve_without(struct host *h, uint64_t now_ns)
{
	if (h->resil.oob.oob == NULL)
		return RL_NEVER;
	host_job_serve(h, now_ns);
	return host_job_pending(&h->resil) || host_oob_wanted(h) != NULL
		       ? now_ns + PENDING_NS
		       : RL_NEVER;
}

static void
resil_begin(struct host *h, uint64_t incarnation, uint32_t epoch)
{
	struct host_resil *r = &h->resil;
	const struct rl_controller_params p = {
		.cfg = &h->p.cfg->controller,
		.topo = h->fabric.topo,
		.incarnation = incarnation,
		.epoch = rl_max_u32(epoch, rl_tables_newest(r->tables)),
		.at_rest = !h->p.cfg->endpoint.retry,
	};

	r->controller = rl_controller_init(r->mem, &p, host_resil_now(h));
	rl_recovery_log_begin(&r->log);
	r->next_ns = 0;
}

static void
take_recipe(struct host *h, struct rl_oob_recipe *recipe)
{
	struct host_oob *x = &h->resil.oob;
	struct host_recipe *r =
		&x->recipe[recipe->r.epoch % HOST_RECIPES];

	/* known, older than the present one, or being made */
	if (r->recipe != NULL && (r->recipe->r.epoch >= recipe->r.epoch ||
				  r->recipe == x->making)) {
		rl_oob_drop(recipe);
		return;
	}
	rl_oob_drop(r->recipe);
	*r = (struct host_recipe){ .recipe = recipe };
	x->newest = rl_max_u32(x->newest, recipe->r.epoch);
}

/* Its age becomes a time of the local clock. */
static void
take_msg(struct host *h, const struct rl_resil_msg *msg, uint64_t now_ns)
{
	struct rl_resil_msg m = *msg;

	m.t_ns = now_ns - rl_min_u64(now_ns, m.t_ns);
	put_msg(h, &m);
}

static void
depose(struct host *h)
{
	struct host_oob *x = &h->resil.oob;

	x->office = false;
	x->storing = 0;
	h->resil.controller = NULL;
}

static bool
settled(struct host *h)
{
	struct host_resil *r = &h->resil;

	return !host_job_pending(r) && host_oob_wanted(h) == NULL;
}

/*
 * What came from the other processes. A controller starts here when this
 * process is elected, every earlier recipe has been made, and no job of an
 * earlier controller runs. It stops when another process is elected, or after
 * the store has been silent for too long.
 */
static void
take_events(struct host *h, uint64_t now_ns)
{
	struct host_oob *x = &h->resil.oob;
	struct rl_oob_event ev;

	while (x->oob != NULL && rl_oob_event(x->oob, &ev)) {
		h->resil.next_ns = 0;
		switch (ev.type) {
		case RL_OOB_MSG:
			take_msg(h, &ev.msg, now_ns);
			break;
		case RL_OOB_STORED:
			if (ev.epoch == x->storing) {
				x->storing = 0;
				host_job_stored(h, now_ns);
			}
			take_recipe(h, ev.recipe);
			break;
		case RL_OOB_RECIPE:
			take_recipe(h, ev.recipe);
			break;
		case RL_OOB_OFFICE:
			depose(h);
			x->office = true;
			x->incarnation = ev.incarnation;
			break;
		case RL_OOB_DEPOSED:
			depose(h);
			break;
		}
	}
	if (x->office && !x->crashed && h->resil.controller == NULL &&
	    settled(h))
		resil_begin(h, x->incarnation, x->newest);
}

void
host_resil_step(struct host *h)
{
	struct host_resil *r = &h->resil;
	const uint64_t now_ns = host_resil_now(h);
	bool more;

	if (!r->on || !(now_ns >= r->next_ns || r->msg_head != r->msg_tail ||
			host_oob_ready(h)))
		return;
	take_events(h, now_ns);
	/*
	 * answers to answers, so that a phase takes no longer than the lcores
	 * need
	 */
	for (int i = 0; i < 8; i++) {
		more = deliver(h, now_ns);
		r->next_ns = RL_NEVER;
		for (uint32_t d = 0; d < h->fabric.ndev; d++) {
			if (r->local[d].local == NULL)
				continue;
			if (r->local[d].due_ns <= now_ns)
				serve_local(h, d, now_ns);
			r->next_ns = rl_min_u64(r->next_ns,
						r->local[d].due_ns);
		}
		/* deliver answers before judging that one is late */
		deliver(h, now_ns);
		r->next_ns = rl_min_u64(r->next_ns,
					r->controller != NULL
						? serve_controller(h, now_ns)
						: serve_without(h, now_ns));
		if (!more && r->msg_head == r->msg_tail)
			break;
	}
}

void
host_resil_take(struct host *h, const struct host_rec *rec)
{
	struct rl_local *l;
	bool said = false;

	if (!h->resil.on ||
	    (rec->kind != HOST_REC_PORT && rec->kind != HOST_REC_CORE))
		return;
	h->resil.news |= rec->kind == HOST_REC_PORT;
	l = h->resil.local[rec->dev].local;
	if (l != NULL && rec->kind == HOST_REC_PORT)
		said = rl_device_report_port(l, rec->port, &rec->port_ev,
					     role_time(h, rec->t_ns));
	else if (l != NULL)
		said = rl_device_report_core(l, &rec->core_ev,
					     role_time(h, rec->t_ns));
	if (said)
		touch(h, rec->dev);
}

static void
local_begin(struct host *h, uint32_t dev, bool waits)
{
	struct host_local *l = &h->resil.local[dev];

	l->local = rl_fabric_local(&h->fabric, dev, l->mem,
				   ++h->resil.incarnation, waits,
				   host_resil_now(h));
	l->order.on = l->asked.on = false;
	touch(h, dev);
}

void
host_resil_dev_crash(struct host *h, uint32_t dev)
{
	if (!h->resil.on)
		return;
	h->resil.local[dev].local = NULL;
	h->resil.local[dev].order.on = false;
	h->resil.local[dev].asked.on = false;
}

bool
host_resil_dev_restart(struct host *h, uint32_t dev)
{
	if (!h->resil.on)
		return false;
	while (!host_job_tables_free(&h->resil))
		host_run(h, 100 * RL_NS_PER_US);
	rl_tables_installed(h->resil.tables, dev, 0);
	local_begin(h, dev, true);
	return true;
}

bool
host_resil_idle(const struct host *h)
{
	const struct host_resil *r = &h->resil;

	if (r->controller == NULL && r->oob.oob != NULL)
		return host_oob_idle(h);
	return !r->on || r->controller == NULL ||
	       (r->msg_head == r->msg_tail &&
		rl_controller_idle(r->controller));
}

int
host_resil_crash(struct host *h)
{
	if (!h->resil.on)
		return -ENOTSUP;
	if (h->resil.controller == NULL)
		return -EALREADY;
	h->resil.controller = NULL;
	host_oob_stand(h, false);
	for (uint32_t d = 0; d < h->fabric.ndev; d++)
		touch(h, d);
	return 0;
}

int
host_resil_restart(struct host *h)
{
	struct host_resil *r = &h->resil;

	if (!r->on)
		return -ENOTSUP;
	if (r->oob.oob != NULL)
		return host_oob_stand(h, true);
	if (r->controller != NULL)
		return -EALREADY;
	/* the job of the earlier controller has no owner */
	while (!host_job_tables_free(r))
		host_run(h, 100 * RL_NS_PER_US);
	r->state = HOST_JOB_NONE;
	r->preparing = false;
	resil_begin(h, ++r->incarnation, 0);
	return 0;
}

static int
open_memory(struct host *h)
{
	const struct rl_topo *t = h->fabric.topo;
	struct host_resil *r = &h->resil;
	const struct rl_tables_params tp = {
		.topo = t,
		.engine = h->p.route->engine,
		.vls = (uint8_t)rl_min_u32(h->p.cfg->vls,
					   h->p.cfg->link.vcs),
		.levels = (uint8_t)h->p.cfg->levels,
		.retry = h->p.cfg->endpoint.retry,
		.link_retry = h->p.cfg->link.retry,
		.anew = h->p.oob != NULL,
		.clock = clock_of,
		.clock_ctx = h,
	};

	r->local = host_mem_alloc(&h->mem, t->ndev * sizeof(*r->local));
	r->mem = host_mem_alloc(&h->mem, rl_controller_memsize(t));
	r->msg = host_mem_alloc(&h->mem, MSGS * sizeof(*r->msg));
	r->job_mem = host_mem_alloc(&h->mem,
				    8ull * t->ndev + t->nlink + 64);
	r->oob.epoch = host_mem_alloc(&h->mem, t->ndev * sizeof(uint32_t));
	r->tables = rl_tables_new(&tp, h->p.route);
	if (r->oob.epoch == NULL || r->local == NULL || r->mem == NULL || r->msg == NULL ||
	    r->job_mem == NULL || r->tables == NULL)
		return -ENOMEM;
	for (uint32_t d = 0; d < t->ndev; d++) {
		r->local[d].mem = host_mem_alloc(
			&h->mem, rl_local_memsize(t->dev[d].nports));
		if (r->local[d].mem == NULL)
			return -ENOMEM;
	}
	return 0;
}

int
host_resil_open(struct host *h)
{
	struct host_resil *r = &h->resil;
	int ret;

	memset(r, 0, sizeof(*r));
	if (h->p.cfg->controller.mode == RL_RESIL_OFF)
		return 0;
	ret = open_memory(h);
	if (ret != 0)
		return ret;
	ret = host_job_open(r);
	if (ret != 0)
		return ret;
	r->oob.oob = h->p.oob;
	if (h->p.oob != NULL) {
		r->incarnation = rl_oob_incarnation(h->p.oob);
		r->waits = rl_oob_joined_others(h->p.oob);
	}
	for (uint32_t d = 0; d < h->fabric.ndev; d++)
		if (!h->fabric.dev[d].foreign)
			local_begin(h, d, r->waits);
	if (h->p.oob == NULL)
		resil_begin(h, ++r->incarnation, 0);
	r->on = true;
	return 0;
}

void
host_resil_close(struct host *h)
{
	struct host_resil *r = &h->resil;

	host_job_close(r);
	host_oob_close(h);
	rl_tables_free(r->tables);
	rl_recovery_log_free(&r->log);
	memset(r, 0, sizeof(*r));
}
