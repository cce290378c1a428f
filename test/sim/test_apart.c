/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices that have all turns of a wire's latency at once, and threads that
 * share them: a run counts the same as with one nanosecond for all devices at
 * a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../few.h"
#include "apart_run.h"

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
	assert_int_equal(a->since, b->since);
	assert_int_equal(a->ntold, b->ntold);
	assert_memory_equal(a->told, b->told, a->ntold * sizeof(a->told[0]));
}

static struct outcome each_ns, apart, threads;

/* The run for ThreadSanitizer: traffic both ways over all borders, a link
   that fails and returns, a device that crashes. */
static void
test_threads_share_a_fabric_while_links_fail(void **state)
{
	static const struct apart_case c = {
		"fabric: { topology = \"torus\"; dims = [2, 3]; };\n", 100, 1, 1000,
		0.3, 200000,
		"4us cut s0.0-s0.1\n9us heal s0.0-s0.1\n15us crash e1.1\n", 0, 60 };

	(void)state;
	apart_run(&c, EACH_NS, 0, &each_ns);
	apart_run(&c, THREADS, 3, &threads);
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
	apart_run(&c, EACH_NS, 0, &each_ns);
	apart_run(&c, THREADS, RL_SIM_THREADS_MAX, &threads);
	same(&each_ns, &threads);
}

/* All three ways. Three threads, and two every third time: where each has a CPU,
   they spin while they wait, and other tests have to wait for them. */
static void
run_all(const struct apart_case *c)
{
	static unsigned int runs;
	const uint32_t nthreads = runs++ % 3 == 0 ? 2 : 3;

	apart_run(c, EACH_NS, 0, &each_ns);
	apart_run(c, APART, 0, &apart);
	assert_int_equal(each_ns.back, 0);
	if (c->abreast)
		assert_int_equal(apart.back, 0);
	else
		assert_true(apart.back > 100); /* it was done */
	assert_int_equal(apart.untimely, 0);
	same(&each_ns, &apart);
	apart_run(c, THREADS, nthreads, &threads);
	assert_int_equal(threads.untimely, 0);
	assert_int_equal(threads.sim.flits_peak, apart.sim.flits_peak);
	same(&each_ns, &threads);
}

#define NO_CONTROLLER "controller: { mode = \"off\"; };\n"
/* Silence is noticed soon, and what is noticed is of no even time. */
#define QUICK                                                                  \
	"link: { keepalive_ns = 3370; keepalive_dead_ns = 17110;\n"             \
	"  replay_timer_min_ns = 3130; flap_damping_ns = 5390; };\n"
#define TORUS                                                                  \
	"fabric: { topology = \"torus\"; dims = [4, 4]; };\n"                  \
	"routing: { adaptive = false; };\n"

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
		/* ports that have an ACK to send, and no room, are due */
		{ TORUS NO_CONTROLLER "link: { ack_delay_ns = 0; };\n", 100, 1,
		  RL_NEVER, 1.5, 0, NULL, 0, 400 },
		/* a frame takes no time to speak of */
		{ TORUS NO_CONTROLLER, 0, 1, RL_NEVER, 0.1, 0, NULL, 2500, 50,
		  .flit_ps = 1, .abreast = true },
		{ TORUS NO_CONTROLLER "link: { no_path_ns = 10000; };\n", 700, 1,
		  60, 0.3, 0, "3us cut e1.1-s1.1\n5us crash s2.1\n", 0, 200 },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(cases); i += SOME(3)) {
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

/* A link that dies of a silence, or retrains for want of an answer, after its
   wire is whole again; and an order to ports that have not told of it yet. */
static void
test_no_fabric_is_calm_that_will_not_stay_so(void **state)
{
	static const struct apart_case cases[] = {
		{ TORUS "link_settings = ( { links = \"s1.1-s1.2\";\n"
		  "  keepalive_ns = 2000; keepalive_dead_ns = 9000; } );\n",
		  20000, 1, 1000, 0.3, 0,
		  "250us flap s1.1-s1.2 count=1 dark=70us light=20us silent\n",
		  1000, 700, .abreast = true },
		{ TORUS "link_settings = ( { links = \"s1.1-s1.2\";\n"
		  "  replay_timer_ns = 3130; replay_limit = 2;\n"
		  "  retrain_limit = 2; } );\n",
		  20000, 1, 1000, 0.3, 0,
		  "250us flap s1.1-s1.2 count=1 dark=80us light=20us silent\n",
		  1000, 700, .abreast = true },
		{ TORUS QUICK, 100, 1, 1000, 0.3, 0,
		  "46609ns down s3.0-s3.1\n46650ns down s1.0-s1.1\n", 0, 450 },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(cases); i++) {
		run_all(&cases[i]);
		assert_true(each_ns.ntold > 2 * 48); /* more than all are up */
	}
}

/* Frames that faults wait for, of many devices at one instant, and both ends of
   a link, whose devices are of two parts. */
static void
test_faults_that_wait_for_frames_hit_the_same_ones(void **state)
{
	static const char *const faults[] = {
		"1us cut s0.0-s0.1 flit=3\n6us heal s0.0-s0.1\n",
		("1us cut s0.1-s1.1 frame=2\n1us cut s2.1>s3.1 frame=1\n"
		 "2us cut s3.2-s0.2 late frame=3\n"
		 "2us cut s2.3-s3.3 arrive frame=7\n60us heal s2.3-s3.3\n"),
		("1us drop s1.2>s2.2 frame=5\n2us cut s2.2>s1.2 silent flit=9\n"
		 "30us heal s1.2-s2.2\n"),
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(faults); i++)
		for (uint64_t tick = 1; tick < 100; tick += 63) {
			if (SOME(2) > 1 && tick / 63 != i % 2)
				continue;

			const struct apart_case c = { TORUS QUICK NO_CONTROLLER,
						      33, tick, 1000, 0.6, 0,
						      faults[i], 0, 200,
						      .abreast = tick > 33 };

			run_all(&c);
		}
}

/* Links that die and return, noise, stalls, devices that restart, and
   planned changes: with a controller and without, the first ones both ways. */
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
			if ((i >= 4 || SOME(2) > 1) && k != i % 2)
				continue;

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
		cmocka_unit_test(test_no_fabric_is_calm_that_will_not_stay_so),
		cmocka_unit_test(
			test_faults_that_wait_for_frames_hit_the_same_ones),
		cmocka_unit_test(test_faults_are_the_same_for_all),
		cmocka_unit_test(test_threads_share_a_fabric_while_links_fail),
		cmocka_unit_test(test_threads_may_be_more_than_devices),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
