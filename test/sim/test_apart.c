/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices that have all turns of a wire's latency at once: whatever a run counts
 * is what it is where each nanosecond is everybody's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rl_route.h"
#include "rl_sim.h"
#include "rl_sim_load.h"

/* All that a run leaves behind. */
struct outcome {
	struct rl_sim_load_stats load;
	struct rl_sim_stats sim;
	uint64_t counters; /* a hash of all of them, in order */
	uint64_t back;	   /* times that a client's clock was behind another's */
};

struct run {
	struct rl_sim_load *load;
	struct rl_client client[64];
	struct run_end {
		struct run *run;
		uint16_t ep;
	} end[64];
	uint64_t last_ns; /* any client's */
	uint64_t back;
};

/* A case: a fabric, and what differs from the usual. */
struct apart_case {
	const char *fabric;
	uint64_t latency_ns;
	uint64_t tick_ns;
	uint64_t notice_ns;
	double load;
	uint32_t requests_ppm;
};

static unsigned int
client_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	struct run_end *e = ctx;
	const struct rl_client *c = &e->run->client[e->ep];

	e->run->back += now_ns < e->run->last_ns;
	e->run->last_ns = now_ns;
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
on_client(void *ctx, uint32_t dev, uint16_t ep, struct rl_client *client)
{
	struct run *r = ctx;

	(void)dev;
	assert_true(ep < RL_ARRAY_SIZE(r->end));
	rl_sim_load_client(r->load, ep, &r->client[ep]);
	r->end[ep] = (struct run_end){ r, ep };
	*client = (struct rl_client){ .ctx = &r->end[ep],
				      .poll = client_poll,
				      .deadline = client_deadline,
				      .takes_ns = client_takes_ns };
}

static void
hash_counters(uint64_t *hash, const uint64_t *c, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		*hash = (*hash ^ c[i]) * 0x100000001b3ull;
}

static uint64_t
hash_of(struct rl_sim *sim)
{
	const struct rl_fabric *f = rl_sim_fabric(sim);
	uint64_t hash = 0xcbf29ce484222325ull;

	for (uint32_t d = 0; d < f->ndev; d++) {
		const struct rl_device *dev = &f->dev[d];

		hash_counters(&hash, rl_core_counters(dev->core.core),
			      RL_CORE_COUNTER_COUNT);
		if (dev->core.ep != NULL)
			hash_counters(&hash, rl_ep_counters(dev->core.ep),
				      RL_EP_COUNTER_COUNT);
		for (uint16_t p = 0; p < dev->nports; p++)
			hash_counters(&hash,
				      rl_port_counters(dev->port[p].port),
				      RL_PORT_COUNTER_COUNT);
	}
	return hash;
}

static void
run(const struct apart_case *c, bool apart, const char *faults,
    struct outcome *out)
{
	struct rl_sim_faults list = { 0 };
	struct rl_sim_mem mem;
	struct rl_config cfg;
	struct rl_route *route;
	struct run r = { 0 };
	struct rl_sim *sim;
	char err[1024];
	struct rl_sim_load_cfg lc = {
		.pattern = { .kind = RL_PATTERN_UNIFORM },
		.load = c->load, .slot_ps = 2000, .min_flits = 1, .max_flits = 8,
		.cos = 2, .stop_ns = 20000, .seed = 5, .cache = &mem.cache,
		.requests_ppm = c->requests_ppm,
	};
	struct rl_sim_params p = {
		.mem = &mem, .cfg = &cfg, .seed = 3, .tick_ns = c->tick_ns,
		.isa = rl_codec_best_isa(512), .turns = true, .apart = apart,
		.notice_ns = c->notice_ns, .client = on_client, .ctx = &r,
	};

	if (rl_config_read_text("f", c->fabric, strlen(c->fabric), &cfg, err,
				sizeof(err)) != 0 ||
	    rl_route_setup(&cfg.topo, NULL, 8, 1, &route, err) != 0 ||
	    rl_sim_faults_text("f", faults, strlen(faults), &cfg.topo, &list,
			       err, sizeof(err)) != 0)
		fail_msg("%s", err);
	lc.nep = (uint16_t)cfg.topo.nep;
	assert_int_equal(rl_sim_mem_init(&mem), 0);
	rl_sim_wire_defaults(&p.wire);
	p.wire.latency_ns = c->latency_ns;
	p.fwd = route->fwd;
	r.load = rl_sim_load_new(&lc);
	assert_non_null(r.load);
	assert_int_equal(rl_sim_create(&p, &sim, err), 0);
	assert_int_equal(rl_sim_schedule(sim, &list), 0);
	/* in steps that do not fall on anything */
	for (uint64_t t = 0; t < RL_NS_PER_MS; t += 3333)
		rl_sim_run(sim, t);
	if (!rl_sim_settled(sim, 0, err))
		fail_msg("%s", err);
	memset(out, 0, sizeof(*out));
	rl_sim_load_stats(r.load, &out->load);
	rl_sim_stats(sim, &out->sim);
	out->sim.flits_peak = 0; /* of moments that are not the same */
	out->counters = hash_of(sim);
	out->back = r.back;
	assert_int_equal(rl_sim_destroy(sim, err), 0);
	rl_sim_load_free(r.load);
	rl_sim_mem_free(&mem);
	rl_sim_faults_free(&list);
	rl_route_free(route);
	rl_config_free(&cfg);
}

static void
same(const struct outcome *a, const struct outcome *b)
{
	assert_true(a->load.sent > 100);
	assert_int_equal(a->load.sent, a->load.delivered);
	assert_memory_equal(&a->load, &b->load, sizeof(a->load));
	assert_memory_equal(&a->sim, &b->sim, sizeof(a->sim));
	assert_int_equal(a->counters, b->counters);
}

#define TORUS "fabric: { topology = \"torus\"; dims = [4, 4]; };\n"

static void
test_what_a_run_counts_is_the_same(void **state)
{
	static const struct apart_case cases[] = {
		{ TORUS, 100, 1, RL_NEVER, 0.3, 0 },
		{ TORUS, 1, 1, RL_NEVER, 0.3, 0 },
		{ TORUS, 700, 1, 300, 0.9, 500000 },
		{ TORUS, 100, 7, RL_NEVER, 0.5, 0 },
		{ TORUS "link: { switching = \"cut-through\";\n"
			"  flits_per_frame = 2; };\n",
		  50, 1, RL_NEVER, 0.8, 100000 },
		{ TORUS "endpoint: { retry = false; };\n", 100, 1, 1000, 0.6,
		  0 },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(cases); i++) {
		struct outcome a, b;

		run(&cases[i], false, "", &a);
		run(&cases[i], true, "", &b);
		assert_int_equal(a.back, 0);
		assert_true(b.back > 100); /* it was done */
		same(&a, &b);
	}
}

/* A fault is everybody's: nobody is ahead of it. */
static void
test_nobody_is_ahead_where_there_are_faults(void **state)
{
	static const struct apart_case c = { TORUS, 100, 1, 1000, 0.3, 0 };
	static const char faults[] = "5us cut s0.0-s0.1\n9us heal s0.0-s0.1\n";
	struct outcome a, b;

	(void)state;
	run(&c, false, faults, &a);
	run(&c, true, faults, &b);
	assert_int_equal(b.back, 0);
	assert_true(a.sim.frames_lost > 0);
	same(&a, &b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_run_counts_is_the_same),
		cmocka_unit_test(test_nobody_is_ahead_where_there_are_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
