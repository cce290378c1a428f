/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Deliveries are counted from one moment to another, so that warm-up and drain
 * are left out. What the window says is compared with a count by hand: the
 * totals at both moments.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_route.h"
#include "rl_sim_load.h"

#define EPS 8
#define FLITS 4
#define END_NS 15000

static const char torus[] =
	"fabric: { topology = \"torus\"; dims = [2, 4]; };\n";

static struct rl_config cfg;
static struct rl_route *route;
static struct rl_sim_mem mem;
static struct rl_sim_flow flow[EPS * EPS];
static struct rl_sim_load *load;

static void
on_client(void *ctx, uint32_t dev, uint16_t ep, const struct rl_sim_seat *seat,
	  struct rl_client *client)
{
	(void)ctx;
	(void)dev;
	rl_sim_load_client(load, ep, seat, client);
}

static struct rl_sim *
begin(struct rl_sim_window window, enum rl_pattern_kind kind,
      unsigned int threads)
{
	const struct rl_sim_load_cfg c = {
		.pattern = { .kind = kind },
		.load = 0.8,
		.slot_ps = 2000,
		.min_flits = FLITS,
		.max_flits = FLITS,
		.cos = 2,
		.stop_ns = END_NS,
		.seed = 3,
		.nep = EPS,
		.threads = threads,
		.flow = flow,
		.window = window,
	};
	struct rl_sim_params p = {
		.mem = &mem,
		.cfg = &cfg,
		.fwd = route->fwd,
		.isa = rl_codec_best_isa(512),
		.seed = 3,
		.turns = true,
		.apart = true,
		.threads = threads,
		.notice_ns = RL_NEVER,
		.client = on_client,
	};
	struct rl_sim *sim;
	char err[RL_ERR_MAX];

	memset(flow, 0, sizeof(flow));
	load = rl_sim_load_new(&c);
	assert_non_null(load);
	rl_sim_wire_defaults(&p.wire);
	assert_int_equal(rl_sim_create(&p, &sim, err), 0);
	return sim;
}

static void
end(struct rl_sim *sim)
{
	assert_int_equal(rl_sim_destroy(sim, NULL), 0);
	rl_sim_load_free(load);
}

/* Packets that had been delivered, by source; @return their sum. */
static uint64_t
by_hand(uint64_t of[EPS])
{
	uint64_t sum = 0;

	for (unsigned int s = 0; s < EPS; s++) {
		of[s] = 0;
		for (unsigned int d = 0; d < EPS; d++)
			of[s] += flow[s * EPS + d].packets;
		sum += of[s];
	}
	return sum;
}

static uint64_t
delivered(void)
{
	struct rl_sim_load_stats st;

	rl_sim_load_stats(load, &st);
	return st.delivered;
}

static void
warm_up_and_drain_are_left_out_exactly(void **state)
{
	const struct rl_sim_window window = { 4000, 10001, NULL };

	(void)state;
	for (unsigned int threads = 1; threads <= 2; threads++) {
		struct rl_sim *sim =
			begin(window, RL_PATTERN_UNIFORM, threads);
		uint64_t was[EPS], is[EPS], n, least = UINT64_MAX;
		double squares = 0;
		struct rl_sim_load_window w;

		rl_sim_run(sim, window.from_ns);
		n = by_hand(was);
		assert_int_equal(n, delivered());
		rl_sim_run(sim, window.to_ns);
		n = by_hand(is) - n;
		assert_true(n > 500);
		rl_sim_run(sim, 4 * END_NS);
		assert_true(by_hand(is) > n + 500);
		/* again, now that later ones have come */
		rl_sim_load_window(load, &w);
		assert_int_equal(w.packets, n);
		assert_int_equal(w.flits, n * FLITS);
		assert_int_equal(w.latency.count, n);
		assert_int_equal(w.senders, EPS);
		end(sim);

		sim = begin(window, RL_PATTERN_UNIFORM, threads);
		rl_sim_run(sim, window.to_ns);
		by_hand(is);
		for (unsigned int s = 0; s < EPS; s++) {
			const uint64_t x = (is[s] - was[s]) * FLITS;

			squares += (double)x * (double)x;
			least = x < least ? x : least;
		}
		assert_int_equal(w.slowest_flits, least);
		assert_int_equal((is[w.slowest] - was[w.slowest]) * FLITS,
				 least);
		assert_true(w.jain * EPS * squares / ((double)w.flits *
						      (double)w.flits) >
				    1 - 1e-9 &&
			    w.jain <= 1);
		end(sim);
	}
}

/* A packet that arrives at the very moment belongs to what begins then. */
static void
a_moment_belongs_to_what_begins_with_it(void **state)
{
	struct rl_sim_load_window w;
	struct rl_sim *sim =
		begin((struct rl_sim_window){ 0, 0, NULL }, RL_PATTERN_UNIFORM, 1);
	uint64_t t = 8000, n, more;

	(void)state;
	rl_sim_run(sim, t);
	n = delivered();
	while ((more = delivered() - n) == 0)
		rl_sim_run(sim, ++t);
	end(sim); /* something arrived at t - 1 */

	for (unsigned int i = 0; i < 3; i++) {
		const struct rl_sim_window at[] = { { 8000, t - 1, NULL },
						    { t - 1, t, NULL },
						    { 8000, t, NULL } };

		sim = begin(at[i], RL_PATTERN_UNIFORM, 1);
		rl_sim_run(sim, t + 100);
		rl_sim_load_window(load, &w);
		assert_int_equal(w.packets, i == 0 ? 0 : more);
		end(sim);
	}
}

static void
only_the_chosen_sources_are_counted(void **state)
{
	static const bool chosen[EPS] = { [2] = true, [5] = true };
	const struct rl_sim_window window = { 4000, 10000, chosen };
	struct rl_sim *sim = begin(window, RL_PATTERN_UNIFORM, 1);
	uint64_t was[EPS], is[EPS];
	struct rl_sim_load_window w;

	(void)state;
	rl_sim_run(sim, window.from_ns);
	by_hand(was);
	rl_sim_run(sim, window.to_ns);
	by_hand(is);
	rl_sim_load_window(load, &w);
	assert_int_equal(w.senders, 2);
	assert_int_equal(w.packets, is[2] - was[2] + is[5] - was[5]);
	assert_int_equal(w.latency.count, w.packets);
	end(sim);
}

/* The silent target of an incast has no share; a sender that is shut out has
   one of nothing. */
static void
who_has_nothing_to_send_is_no_sender(void **state)
{
	struct rl_sim *sim = begin((struct rl_sim_window){ 1, 300, NULL },
				   RL_PATTERN_INCAST, 1);
	struct rl_sim_load_window w;

	(void)state;
	rl_sim_run(sim, END_NS);
	rl_sim_load_window(load, &w);
	assert_int_equal(w.senders, EPS - 1);
	assert_int_equal(w.slowest_flits, 0);
	assert_int_not_equal(w.slowest, 0);
	assert_true(w.jain < 0.7);
	end(sim);
}

static int
setup(void **state)
{
	char err[1024];

	(void)state;
	return rl_sim_mem_init(&mem) != 0 ||
	       rl_config_read_text("torus", torus, strlen(torus), &cfg, err,
				   sizeof(err)) != 0 ||
	       rl_route_setup(&cfg.topo, NULL, 8, 1, &route, err) != 0;
}

static int
teardown(void **state)
{
	(void)state;
	rl_route_free(route);
	rl_config_free(&cfg);
	rl_sim_mem_free(&mem);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warm_up_and_drain_are_left_out_exactly),
		cmocka_unit_test(a_moment_belongs_to_what_begins_with_it),
		cmocka_unit_test(only_the_chosen_sources_are_counted),
		cmocka_unit_test(who_has_nothing_to_send_is_no_sender),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
