/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "apart_run.h"
#include "rl_route.h"

#define EPS_MAX 64

struct run {
	struct rl_sim_load *load;
	struct outcome *out;
	bool looks; /* reads all clients: there is one thread */
	struct rl_client client[EPS_MAX];
	struct run_end {
		struct run *run;
		uint16_t ep;
	} end[EPS_MAX];
	uint64_t last_ns; /* of any client */
	uint64_t told_ns;
};

static unsigned int
client_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	struct run_end *e = ctx;
	const struct rl_client *c = &e->run->client[e->ep];

	if (e->run->looks) {
		e->run->out->back += now_ns < e->run->last_ns;
		e->run->last_ns = now_ns;
	}
	return c->poll(c->ctx, ep, now_ns);
}

static uint64_t
client_deadline(void *ctx)
{
	struct run_end *e = ctx;
	const struct rl_client *c = &e->run->client[e->ep];

	return c->deadline(c->ctx);
}

static uint64_t
client_takes_ns(void *ctx)
{
	struct run_end *e = ctx;
	const struct rl_client *c = &e->run->client[e->ep];

	return c->takes_ns(c->ctx);
}

static void
on_client(void *ctx, uint32_t dev, uint16_t ep, const struct rl_sim_seat *seat,
	  struct rl_client *client)
{
	struct run *r = ctx;

	(void)dev;
	assert_true(ep < EPS_MAX);
	rl_sim_load_client(r->load, ep, seat, &r->client[ep]);
	r->end[ep] = (struct run_end){ r, ep };
	*client = (struct rl_client){ .ctx = &r->end[ep],
				      .poll = client_poll,
				      .deadline = client_deadline,
				      .takes_ns = client_takes_ns };
}

static void
note(struct run *r, uint64_t t_ns, uint32_t dev, uint32_t what, uint64_t more)
{
	struct outcome *o = r->out;

	assert_true(o->ntold < APART_EVENTS_MAX);
	o->untimely += t_ns < r->told_ns;
	r->told_ns = t_ns;
	o->told[o->ntold++] = (struct told){ t_ns, dev, what, more };
}

static void
on_port_event(void *ctx, uint32_t dev, uint16_t port,
	      const struct rl_port_event *ev)
{
	note(ctx, ev->t_ns, dev, 100u + ev->type,
	     (uint64_t)port << 48 | (uint64_t)ev->looped_flits << 32 |
		     ev->loop_id);
}

static void
on_core_event(void *ctx, uint32_t dev, const struct rl_core_event *ev)
{
	note(ctx, ev->t_ns, dev, 200u + ev->type,
	     (uint64_t)ev->port << 32 | ev->packets);
}

static void
on_ep_event(void *ctx, uint32_t dev, const struct rl_ep_event *ev)
{
	note(ctx, ev->t_ns, dev, 300u + ev->kind, ev->peer);
}

static void
on_report(void *ctx, const struct rl_ep_report *report, uint64_t now_ns)
{
	struct run *r = ctx;

	note(r, now_ns, 1000000, 400,
	     (uint64_t)report->src << 48 | (uint64_t)report->dst << 32 |
		     report->tag);
	rl_sim_load_report(r->load, report, now_ns);
}

static void
on_crash(void *ctx, uint16_t ep, uint64_t now_ns)
{
	struct run *r = ctx;

	(void)now_ns;
	rl_sim_load_crash(r->load, ep);
}

static void
hash_words(uint64_t *hash, const uint64_t *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*hash = (*hash ^ c[i]) * 0x100000001b3ull;
}

#define HASH_START 0xcbf29ce484222325ull

static uint64_t
hash_of(struct rl_sim *sim)
{
	const struct rl_fabric *f = rl_sim_fabric(sim);
	uint64_t hash = HASH_START;

	for (uint32_t d = 0; d < f->ndev; d++) {
		const struct rl_device *dev = &f->dev[d];

		hash_words(&hash, rl_core_counters(dev->core.core),
			   RL_CORE_COUNTER_COUNT);
		if (dev->core.ep != NULL)
			hash_words(&hash, rl_ep_counters(dev->core.ep),
				   RL_EP_COUNTER_COUNT);
		for (uint16_t p = 0; p < dev->nports; p++)
			hash_words(&hash, rl_port_counters(dev->port[p].port),
				   RL_PORT_COUNTER_COUNT);
	}
	return hash;
}

/* The order of failovers at the same time is undefined. */
static uint64_t
hash_failovers(struct rl_sim *sim, uint32_t *n)
{
	const struct rl_failover *f = rl_sim_failovers(sim, n);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < *n; i++) {
		const uint64_t w[] = { f[i].port, f[i].dev, f[i].detector,
				       f[i].fault_ns, f[i].dead_ns,
				       f[i].rerouted_ns, f[i].drained_ns,
				       f[i].looped_packets, f[i].looped_flits };
		uint64_t hash = HASH_START;

		hash_words(&hash, w, RL_ARRAY_SIZE(w));
		sum += hash;
	}
	return sum;
}

static uint64_t
hash_recoveries(struct rl_sim *sim, uint32_t *n)
{
	const struct rl_recovery *r = rl_sim_recoveries(sim, n);
	uint64_t hash = HASH_START;

	for (uint32_t i = 0; i < *n; i++) {
		const uint64_t w[] = { r[i].epoch, r[i].cause, r[i].at_ns,
				       r[i].detect_ns, r[i].mode,
				       r[i].paused_ns, r[i].outcome };

		hash_words(&hash, w, RL_ARRAY_SIZE(w));
	}
	return hash;
}

static uint64_t
hash_since(struct rl_sim *sim)
{
	const uint16_t nep = (uint16_t)rl_sim_fabric(sim)->topo->nep;
	uint64_t hash = HASH_START;

	for (uint16_t a = 0; a < nep; a++)
		for (uint16_t b = 0; b < nep; b++) {
			const uint64_t t = rl_sim_connected_since(sim, a, b);

			hash_words(&hash, &t, 1);
		}
	return hash;
}

static int
told_order(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct told));
}

static void
take_outcome(struct rl_sim *sim, struct run *r)
{
	struct outcome *o = r->out;

	rl_sim_load_stats(r->load, &o->load);
	rl_sim_load_delay(r->load, 0, &o->delay);
	rl_sim_stats(sim, &o->sim);
	o->counters = hash_of(sim);
	o->failovers = hash_failovers(sim, &o->nfailovers);
	o->recoveries = hash_recoveries(sim, &o->nrecoveries);
	o->since = hash_since(sim);
	qsort(o->told, o->ntold, sizeof(o->told[0]), told_order);
}

/* The inputs of a run. */
struct made {
	struct rl_sim_mem mem;
	struct rl_config cfg;
	struct rl_route *route;
	struct rl_sim_faults list;
};

static void
make(const struct apart_case *c, struct made *m)
{
	const char *faults = c->faults == NULL ? "" : c->faults;
	char err[1024];

	memset(m, 0, sizeof(*m));
	if (rl_config_read_text("f", c->fabric, strlen(c->fabric), &m->cfg, err,
				sizeof(err)) != 0 ||
	    rl_route_setup(&m->cfg.topo, NULL, 8, 1, &m->route, err) != 0 ||
	    rl_sim_faults_text("f", faults, strlen(faults), &m->cfg.topo, NULL,
			       &m->list, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	assert_int_equal(rl_sim_mem_init(&m->mem), 0);
}

static void
unmake(struct made *m)
{
	rl_sim_mem_free(&m->mem);
	rl_sim_faults_free(&m->list);
	rl_route_free(m->route);
	rl_config_free(&m->cfg);
}

/* Runs in steps that match no event. */
static void
run_sim(const struct apart_case *c, struct rl_sim *sim, struct run *r)
{
	char err[RL_ERR_MAX];

	for (uint64_t t = 0; t < c->end_us * RL_NS_PER_US; t += 3333)
		rl_sim_run(sim, t);
	if ((c->faults == NULL && !rl_sim_settled(sim, 0, err)) ||
	    rl_sim_audit(sim, false, err) != 0)
		fail_msg("%s", err);
	take_outcome(sim, r);
	assert_int_equal(rl_sim_destroy(sim, err), 0);
}

void
apart_run(const struct apart_case *c, enum how how, uint32_t threads,
	  struct outcome *out)
{
	struct run r = { .out = out, .looks = how != THREADS };
	struct made m;
	struct rl_sim *sim;
	char err[1024];
	const struct rl_role_sink sink = {
		.ctx = &r, .port_event = on_port_event,
		.core_event = on_core_event, .ep_event = on_ep_event,
	};
	struct rl_sim_load_cfg lc = {
		.pattern = { .kind = RL_PATTERN_UNIFORM },
		.load = c->load, .slot_ps = 2000, .min_flits = 1, .max_flits = 8,
		.cos = 2, .stop_ns = c->packets != 0 ? RL_NEVER : 20000,
		.packets = c->packets, .seed = 5, .delays = true,
		.requests_ppm = c->requests_ppm, .threads = threads,
	};
	struct rl_sim_params p = {
		.mem = &m.mem, .cfg = &m.cfg, .seed = 3, .tick_ns = c->tick_ns,
		.isa = rl_codec_best_isa(512), .turns = true,
		.apart = how != EACH_NS, .threads = threads,
		.notice_ns = c->notice_ns, .client = on_client,
		.report = on_report, .sink = &sink, .ep_crash = on_crash,
		.ctx = &r,
		.resil = { .delay_ns = 2000, .jitter_ns = 500 },
	};

	memset(out, 0, sizeof(*out));
	make(c, &m);
	lc.nep = (uint16_t)m.cfg.topo.nep;
	rl_sim_wire_defaults(&p.wire);
	p.wire.latency_ns = c->latency_ns;
	if (c->flit_ps != 0)
		p.wire.flit_ps = c->flit_ps;
	p.fwd = m.route->fwd;
	p.resil.route = m.route;
	p.soft = rl_sim_faults_soft(&m.list);
	p.lives = rl_sim_faults_crash(&m.list, &m.cfg.topo);
	r.load = rl_sim_load_new(&lc);
	assert_non_null(r.load);
	assert_int_equal(rl_sim_create(&p, &sim, err), 0);
	assert_int_equal(rl_sim_schedule(sim, &m.list), 0);
	run_sim(c, sim, &r);
	rl_sim_load_free(r.load);
	unmake(&m);
}
