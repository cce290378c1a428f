/* SPDX-License-Identifier: BSD-3-Clause */

/* The time of roles, by a clock moved by hand: who waits for whom [LINK-5]; and how
   long lcores may nap. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../figure1.h"
#include "host.h"
#include "host_time.h"
#include "rl_config.h"

#define START_NS 1000000000ull
#define STEP_NS 1000ull /* of a round */
#define LCORES 3

struct rig {
	struct host_time time;
	struct host_pace pace[LCORES];
	struct host_pace *all[LCORES];
	uint64_t clock_ns;
	uint64_t last_ns[LCORES]; /* the time that each saw */
};

static void
rig_init(struct rig *r)
{
	*r = (struct rig){ .clock_ns = START_NS };
	host_time_init(&r->time, LCORES);
	for (uint32_t i = 0; i < LCORES; i++) {
		r->all[i] = &r->pace[i];
		host_pace_init(r->all[i], START_NS);
		r->last_ns[i] = START_NS;
	}
}

/* A round of one lcore of the first @p n; time never goes back for it. */
static uint64_t
one(struct rig *r, uint32_t n, uint32_t i)
{
	const uint64_t t = host_time_round(&r->time, r->all, n, i, r->clock_ns);

	assert_true(t >= r->last_ns[i]);
	assert_true(t <= r->clock_ns);
	r->last_ns[i] = t;
	return t;
}

/* Lcores of @p mask come round and round for so long. */
static void
run(struct rig *r, uint32_t n, uint32_t mask, uint64_t ns)
{
	for (const uint64_t end = r->clock_ns + ns; r->clock_ns < end;
	     r->clock_ns += STEP_NS)
		for (uint32_t i = 0; i < n; i++)
			if (mask >> i & 1)
				one(r, n, i);
}

static void
while_all_come_round_the_time_of_roles_is_that_of_the_host(void **state)
{
	struct rig r;

	(void)state;
	for (uint32_t n = 1; n <= LCORES; n++) {
		rig_init(&r);
		run(&r, n, 7, 50 * HOST_AWAY_NS);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(r.last_ns[i], r.clock_ns - STEP_NS);
		assert_int_equal(host_time_left_out(&r.time), 0);
		assert_int_equal(atomic_load(&r.time.pauses), 0);
	}
}

static void
of_an_absence_no_more_than_a_little_counts(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r);
	run(&r, 1, 1, HOST_AWAY_NS);
	r.clock_ns += 2000 * HOST_AWAY_NS;
	one(&r, 1, 0);
	assert_int_equal(r.last_ns[0],
			 START_NS + 2 * HOST_AWAY_NS - STEP_NS);
	assert_int_equal(atomic_load(&r.time.pauses), 1);
	/* and then it goes on */
	run(&r, 1, 1, 10 * HOST_AWAY_NS);
	assert_true(r.last_ns[0] >= START_NS + 12 * HOST_AWAY_NS - 2 * STEP_NS);
	assert_int_equal(atomic_load(&r.time.pauses), 1);
}

static void
of_one_that_is_alone_more_counts(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r);
	host_time_init(&r.time, 1);
	r.clock_ns += HOST_ALONE_NS;
	assert_int_equal(one(&r, 1, 0), r.clock_ns);
	r.clock_ns += 20 * HOST_ALONE_NS;
	assert_int_equal(one(&r, 1, 0), START_NS + 2 * HOST_ALONE_NS);
}

static void
for_all_others_time_stands_while_one_is_away(void **state)
{
	struct rig r;
	uint64_t left;

	(void)state;
	rig_init(&r);
	run(&r, 3, 7, 5 * HOST_AWAY_NS);
	left = r.last_ns[2];
	run(&r, 3, 3, 3000 * HOST_AWAY_NS);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(r.last_ns[i] > left);
		assert_true(r.last_ns[i] <= left + HOST_AWAY_NS);
	}
	assert_int_equal(host_time_left_out(&r.time), 0);
	/* it comes back: no lcore ever sees the time in between */
	run(&r, 3, 7, HOST_AWAY_NS);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(r.last_ns[i] <= left + 2 * HOST_AWAY_NS + STEP_NS);
	assert_int_equal(r.last_ns[0], r.last_ns[2]);
	assert_int_equal(atomic_load(&r.time.pauses), 1);
}

static void
a_process_that_was_stopped_leaves_out_the_stop_once(void **state)
{
	struct rig r;

	(void)state;
	for (uint32_t first = 0; first < LCORES; first++) {
		rig_init(&r);
		/* each was stopped at a place of its own in its round */
		for (uint32_t i = 0; i < LCORES; i++) {
			r.clock_ns += 77;
			one(&r, LCORES, i);
		}
		r.clock_ns += 2000 * HOST_AWAY_NS;
		for (uint32_t k = 0; k < LCORES; k++) {
			one(&r, LCORES, (first + k) % LCORES);
			r.clock_ns += 333;
		}
		run(&r, LCORES, 7, 5 * HOST_AWAY_NS);
		for (uint32_t i = 0; i < LCORES; i++) {
			assert_int_equal(r.last_ns[i], r.last_ns[0]);
			assert_true(r.last_ns[i] >= START_NS +
							    4 * HOST_AWAY_NS);
			assert_true(r.last_ns[i] <= START_NS +
							    8 * HOST_AWAY_NS);
		}
	}
}

static void
of_two_that_are_away_both_are_waited_for(void **state)
{
	struct rig r;
	uint64_t left;

	(void)state;
	rig_init(&r);
	run(&r, 3, 7, HOST_AWAY_NS);
	left = r.last_ns[0];
	run(&r, 3, 1, 100 * HOST_AWAY_NS);
	run(&r, 3, 3, 100 * HOST_AWAY_NS); /* the second is back, not the third */
	assert_true(r.last_ns[0] <= left + HOST_AWAY_NS);
	assert_true(r.last_ns[1] <= left + HOST_AWAY_NS);
	run(&r, 3, 7, 10 * HOST_AWAY_NS);
	assert_true(r.last_ns[1] >= left + 10 * HOST_AWAY_NS);
	assert_int_equal(r.last_ns[1], r.last_ns[2]);
}

static void
lcores_that_are_run_by_turns_all_get_on(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r);
	/* a machine that gives each a slice, and others ten */
	for (unsigned int turn = 0; turn < 100; turn++) {
		run(&r, 3, 1u << turn % 3, 4 * HOST_AWAY_NS);
		r.clock_ns += 40 * HOST_AWAY_NS;
	}
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(r.last_ns[i] > START_NS + 25 * HOST_AWAY_NS);
		assert_true(r.last_ns[i] < START_NS + 200 * HOST_AWAY_NS);
	}
}

/* The controllers wait for answers of lcores, and are none themselves. */
static void
an_onlooker_sees_it_stand_while_one_is_away(void **state)
{
	struct rig r;
	uint64_t seen;

	(void)state;
	rig_init(&r);
	run(&r, LCORES, 7, 10 * HOST_AWAY_NS);
	seen = host_time_seen(&r.time, r.all, LCORES, r.clock_ns);
	assert_int_equal(seen, r.clock_ns);
	run(&r, LCORES, 3, 500 * HOST_AWAY_NS);
	assert_int_equal(host_time_seen(&r.time, r.all, LCORES, r.clock_ns),
			 r.last_ns[2] + HOST_AWAY_NS);
	run(&r, LCORES, 7, 10 * HOST_AWAY_NS); /* it is back */
	assert_int_equal(host_time_seen(&r.time, r.all, LCORES, r.clock_ns),
			 r.clock_ns - host_time_left_out(&r.time));
	assert_true(host_time_left_out(&r.time) > 400 * HOST_AWAY_NS);
}

static void
long_naps_leave_timers_of_links_alone(void **state)
{
	static const struct {
		const char *link;
		uint32_t nlcores;
		uint32_t idle_sleep_ns;
		uint32_t nap_ns;
	} cases[] = {
		{ "", 1, 50000, 400000 },
		{ "", 1, 0, 0 },
		{ "", 1, 399999, 400000 },
		{ "", 1, 400001, 400001 },
		{ "", 2, 50000, 100000 }, /* replay_timer_min_ns: 200 us */
		{ "", 2, 100001, 100001 },
		{ "", 2, 0, 0 },
		{ "replay_timer_min_ns = 900000;", 2, 50000, 400000 },
		{ "replay_timer_ns = 150000;", 2, 50000, 75000 },
		{ "replay_timer_ns = 150000;", 1, 50000, 400000 },
		{ "keepalive_ns = 800000;", 1, 50000, 400000 },
		{ "keepalive_ns = 799998;", 1, 50000, 399999 },
		{ "keepalive_ns = 100000;", 1, 50000, 50000 },
		{ "keepalive_ns = 99000;", 1, 50000, 50000 },
		{ "keepalive_ns = 99000;", 1, 0, 0 },
		{ "keepalive_ns = 0; keepalive_dead_ns = 0;", 1, 50000,
		  400000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rl_config cfg;
		char text[512], err[RL_ERR_MAX + 512];

		snprintf(text, sizeof(text), FIGURE1_FABRIC "link: { %s };",
			 cases[i].link);
		assert_int_equal(rl_config_read_text("text", text, strlen(text),
						     &cfg, err, sizeof(err)),
				 0);
		assert_int_equal(host_long_nap_ns(&cfg, cases[i].nlcores,
						  cases[i].idle_sleep_ns),
				 cases[i].nap_ns);
		rl_config_free(&cfg);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			while_all_come_round_the_time_of_roles_is_that_of_the_host),
		cmocka_unit_test(of_an_absence_no_more_than_a_little_counts),
		cmocka_unit_test(of_one_that_is_alone_more_counts),
		cmocka_unit_test(for_all_others_time_stands_while_one_is_away),
		cmocka_unit_test(
			a_process_that_was_stopped_leaves_out_the_stop_once),
		cmocka_unit_test(of_two_that_are_away_both_are_waited_for),
		cmocka_unit_test(lcores_that_are_run_by_turns_all_get_on),
		cmocka_unit_test(an_onlooker_sees_it_stand_while_one_is_away),
		cmocka_unit_test(long_naps_leave_timers_of_links_alone),
	};

	return cmocka_run_group_tests_name("host-time", tests, NULL, NULL);
}
