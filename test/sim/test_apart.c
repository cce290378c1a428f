/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices that have all turns of a wire's latency at once, and threads that share
 * them: whatever a run counts is what it is where each nanosecond is everybody's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_route.h"
#include "rl_sim.h"
#include "rl_sim_load.h"

#define EVENTS_MAX 20000
#define EPS_MAX 64

/* Something that the host was told. */
struct told {
	uint64_t t_ns;
	uint32_t dev;
	uint32_t what; /* who tells it, and the event's kind */
	uint64_t more;
};

/* All that a run leaves behind. */
struct outcome {
	struct rl_sim_load_stats load;
	struct rl_sim_stats sim;
	struct rl_delay delay; /* of VC 0 */
	uint64_t counters; /* a hash of all of them, in order */
	uint64_t failovers; /* the same */
	uint64_t recoveries; /* the same; in order of time */
	uint32_t nfailovers;
	uint32_t nrecoveries;
	uint64_t back;	   /* times that a client's clock was behind another's */
	uint32_t untimely; /* tales that came after later ones */
	uint32_t ntold;
	struct told told[EVENTS_MAX];
};

struct run {
	struct rl_sim_load *load;
	struct outcome *out;
	bool looks; /* at all clients: there is one thread */
	struct rl_client client[EPS_MAX];
	struct run_end {
		struct run *run;
		uint16_t ep;
	} end[EPS_MAX];
	uint64_t last_ns; /* any client's */
	uint64_t told_ns;
};

/* A case: a fabric, and what differs from the usual. */
struct apart_case {
	const char *fabric;
	uint64_t latency_ns;
	uint64_t tick_ns;
	uint64_t notice_ns;
	double load;
	uint32_t requests_ppm;
	const char *faults;
	uint64_t packets; /* 0: 20 us of them */
	uint64_t end_us;
};

/* How it is run. */
enum how { EACH_NS, APART, THREADS };

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

	assert_true(o->ntold < EVENTS_MAX);
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

/* Of failovers of one instant, either may be told of first. */
static uint64_t
hash_failovers(struct rl_sim *sim, uint32_t *n)
{
	const struct rl_sim_failover *f = rl_sim_failovers(sim, n);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < *n; i++) {
		const uint64_t w[] = { f[i].link, f[i].dev, f[i].detector,
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
	qsort(o->told, o->ntold, sizeof(o->told[0]), told_order);
}

/* What a run is made of. */
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
	    rl_sim_faults_text("f", faults, strlen(faults), &m->cfg.topo,
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

/* In steps that do not fall on anything. */
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

static void
run(const struct apart_case *c, enum how how, uint32_t threads,
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

static void
same(const struct outcome *a, const struct outcome *b)
{
	struct rl_sim_stats x = a->sim, y = b->sim;

	x.flits_peak = y.flits_peak = 0; /* of moments that are not the same */
	assert_true(a->load.sent > 100);
	assert_memory_equal(&a->load, &b->load, sizeof(a->load));
	assert_memory_equal(&a->delay, &b->delay, sizeof(a->delay));
	assert_memory_equal(&x, &y, sizeof(x));
	assert_int_equal(a->counters, b->counters);
	assert_int_equal(a->nfailovers, b->nfailovers);
	assert_int_equal(a->failovers, b->failovers);
	assert_int_equal(a->nrecoveries, b->nrecoveries);
	assert_int_equal(a->recoveries, b->recoveries);
	assert_int_equal(a->ntold, b->ntold);
	assert_memory_equal(a->told, b->told, a->ntold * sizeof(a->told[0]));
}

static struct outcome each_ns, apart, threads;

/* What ThreadSanitizer looks at: traffic both ways over all borders, a link that
   fails and returns, a device that crashes. */
static void
test_threads_share_a_fabric_while_links_fail(void **state)
{
	static const struct apart_case c = {
		"fabric: { topology = \"torus\"; dims = [2, 3]; };\n", 100, 1, 1000,
		0.3, 200000,
		"4us cut s0.0-s0.1\n9us heal s0.0-s0.1\n15us crash e1.1\n", 0, 60 };

	(void)state;
	run(&c, EACH_NS, 0, &each_ns);
	run(&c, THREADS, 3, &threads);
	same(&each_ns, &threads);
}

/* More threads than there are CPUs, and than there are devices. */
static void
test_threads_may_be_more_than_devices(void **state)
{
	static const struct apart_case c = {
		"fabric: { topology = \"torus\"; dims = [3]; };\n", 100, 1, 1000,
		0.3, 0, NULL, 300, 30 };

	(void)state;
	run(&c, EACH_NS, 0, &each_ns);
	run(&c, THREADS, RL_SIM_THREADS_MAX, &threads);
	same(&each_ns, &threads);
}

/* All three ways. */
static void
run_all(const struct apart_case *c)
{
	run(c, EACH_NS, 0, &each_ns);
	run(c, APART, 0, &apart);
	assert_int_equal(each_ns.back, 0);
	assert_true(apart.back > 100); /* it was done */
	assert_int_equal(apart.untimely, 0);
	same(&each_ns, &apart);
	run(c, THREADS, 3, &threads);
	assert_int_equal(threads.untimely, 0);
	assert_int_equal(threads.sim.flits_peak, apart.sim.flits_peak);
	same(&each_ns, &threads);
}

#define NO_CONTROLLER "controller: { mode = \"off\"; };\n"
/* Silence is noticed soon, and what is noticed is of no even time. */
#define QUICK                                                                  \
	"link: { keepalive_ns = 3370; keepalive_dead_ns = 17110;\n"             \
	"  replay_timer_min_ns = 3130; flap_damping_ns = 5390; };\n"
#define TORUS "fabric: { topology = \"torus\"; dims = [4, 4]; };\n"

static void
test_what_a_run_counts_is_the_same(void **state)
{
	static const struct apart_case cases[] = {
		{ TORUS NO_CONTROLLER, 100, 1, RL_NEVER, 0.3, 0, NULL, 0, 200 },
		{ TORUS NO_CONTROLLER, 1, 1, RL_NEVER, 0.3, 0, NULL, 0, 200 },
		{ TORUS NO_CONTROLLER, 700, 1, 300, 0.9, 500000, NULL, 0, 200 },
		{ TORUS NO_CONTROLLER, 100, 7, RL_NEVER, 0.5, 0, NULL, 0, 200 },
		{ TORUS NO_CONTROLLER
		  "link: { switching = \"cut-through\";\n"
		  "  flits_per_frame = 2; };\n",
		  50, 1, RL_NEVER, 0.8, 100000, NULL, 0, 200 },
		{ TORUS NO_CONTROLLER "endpoint: { retry = false; };\n", 100, 1,
		  1000, 0.6, 0, NULL, 0, 2000 },
		{ TORUS NO_CONTROLLER, 100, 1, 1000, 0.3, 0, NULL, 2500, 200 },
		/* notices of drops are faster than wires */
		{ TORUS NO_CONTROLLER "link: { no_path_ns = 10000; };\n", 700, 1,
		  60, 0.3, 0, "3us cut e1.1-s1.1\n5us crash s2.1\n", 0, 200 },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(cases); i++) {
		run_all(&cases[i]);
		if (cases[i].faults == NULL)
			assert_int_equal(each_ns.load.sent,
					 each_ns.load.delivered);
		if (cases[i].packets != 0)
			assert_int_equal(each_ns.load.sent, cases[i].packets);
	}
}

/* A controller has nothing to do while the fabric is calm, and hears of the rest
   when it happens. */
static void
test_a_controller_changes_nothing_by_being_there(void **state)
{
	static const struct apart_case c = { TORUS, 100, 1, 1000, 0.3, 0, NULL,
					     0, 200 };

	(void)state;
	run_all(&c);
	assert_int_equal(each_ns.load.sent, each_ns.load.delivered);
}

/* Links that die and return, noise, stalls, devices that begin anew, and changes
   that are planned: with a controller, and without. */
static void
test_faults_are_the_same_for_all(void **state)
{
	static const char *const fabrics[] = { TORUS QUICK,
					       TORUS QUICK NO_CONTROLLER };
	static const char *const faults[] = {
		"5us cut s0.0-s0.1\n9us heal s0.0-s0.1\n",
		"4us cut s1.1-s1.2\n6us cut s2.1-s2.2\n",
		"3us noise s0.0-s1.0 loss=0.01 corrupt=0.005\n"
		"15us heal s0.0-s1.0\n",
		"3us noise s0.0-s1.0 loss=0.97\n25us heal s0.0-s1.0\n",
		"5us stall s2.2-s2.3 for=3us\n",
		"5us stall s2.2-s2.3 for=60us\n",
		"5us crash s3.1\n200us restart s3.1\n",
		"6us crash e1.1\n250us restart e1.1\n",
		"5us remove s0.2-s0.3\n200us add s0.2-s0.3\n",
		"5us remove s1.3\n250us add s1.3\n",
		"4us cut s0.1>s0.2 flit=40\n60us heal s0.1-s0.2\n",
		"4us flap s0.1-s0.2 count=2 dark=3us light=20us silent\n",
		"3us noise s1.0-s1.1 jitter=0.1 within=300 dup=0.05 poison=0.01\n"
		"12us controller crash\n40us controller restart\n",
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(faults); i++)
		for (size_t k = 0; k < RL_ARRAY_SIZE(fabrics); k++) {
			const struct apart_case c = { fabrics[k], 100, 1, 1000,
						      0.3, 0, faults[i], 0,
						      450 };

			run_all(&c);
		}
}

/* test_sim_apart [PATTERN]: tests whose names it matches */
int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_run_counts_is_the_same),
		cmocka_unit_test(
			test_a_controller_changes_nothing_by_being_there),
		cmocka_unit_test(test_faults_are_the_same_for_all),
		cmocka_unit_test(test_threads_share_a_fabric_while_links_fail),
		cmocka_unit_test(test_threads_may_be_more_than_devices),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
