/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link that flaps [DRL-8]: each flap doubles the wait before it may train
 * again, a link that stayed up is forgiven, and one that something waits for
 * does not wait at all.
 */
#include "bench.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

/* No detector but the PHY's. */
static struct rl_link_cfg
flap_cfg(void)
{
	struct rl_link_cfg cfg;

	bench_cfg(&cfg);
	cfg.detect_phy = true;
	cfg.keepalive_dead_ns = 0;
	cfg.keepalive_ns = 200 * US;
	cfg.replay_limit = 255;
	cfg.error_window_ns = 0;
	return cfg;
}

/* Time from death to the first INIT frame of end 0. */
static uint64_t
time_to_train(struct bench *b)
{
	uint64_t dead;

	dead = b->now_ns;
	rl_port_phy_status(b->end[0].port, false, b->now_ns);
	rl_port_phy_status(b->end[0].port, true, b->now_ns);
	while (bench_state(&b->end[0]) != RL_LINK_INIT) {
		bench_run(b, b->step_ns);
		assert_true(b->now_ns - dead < 100 * MS);
	}
	return b->now_ns - dead;
}

static void
a_flapping_link_waits_twice_as_long_each_time(void **state)
{
	static const uint64_t want_us[] = { 100, 200, 400, 800, 1600, 3200,
					    5000, 5000, 5000 };
	struct rl_link_cfg cfg = flap_cfg();
	struct bench b;

	(void)state;
	cfg.flap_damping_ns = 100 * US;
	cfg.flap_damping_max_ns = 5 * MS;
	cfg.flap_forget_ns = 20 * MS;
	bench_open_up(&b, &cfg);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(want_us); i++) {
		assert_in_range(time_to_train(&b), want_us[i] * US,
				want_us[i] * US + 5 * US);
		assert_int_equal(bench_info(&b.end[0]).flaps, i + 1);
		bench_start(&b);
	}
	/* up for long enough, it is forgiven */
	bench_run(&b, 21 * MS);
	assert_in_range(time_to_train(&b), 100 * US, 105 * US);
	assert_int_equal(bench_info(&b.end[0]).flaps, 1);
	bench_close(&b);
}

static void
no_damping_trains_at_once(void **state)
{
	struct rl_link_cfg cfg = flap_cfg();
	struct bench b;

	(void)state;
	cfg.flap_damping_ns = 0;
	cfg.flap_damping_max_ns = 0;
	bench_open_up(&b, &cfg);
	for (unsigned int i = 0; i < 20; i++) {
		assert_true(time_to_train(&b) <= 5 * US);
		bench_start(&b);
	}
	bench_close(&b);
}

/* Looped packets do not matter here. */
static void
forget_looped(struct bench_end *e)
{
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(&e->looped)) != NULL)
		rl_packet_put(&e->pool->cache, pkt);
}

static void
a_death_in_retraining_is_forgiven_as_well(void **state)
{
	struct rl_link_cfg cfg = flap_cfg();
	struct bench b;

	(void)state;
	cfg.keepalive_ns = 0;
	cfg.replay_limit = 2;
	cfg.retrain_limit = 2;
	cfg.flap_damping_ns = 100 * US;
	cfg.flap_forget_ns = 5 * MS;
	bench_open_up(&b, &cfg);
	for (unsigned int i = 0; i < 4; i++) {
		uint64_t dead;

		bench_run(&b, 10 * MS);
		bench_cut(&b, true);
		bench_send(&b, 0, 0, 1, 1);
		while (bench_state(&b.end[0]) != RL_LINK_DAMPED) {
			bench_run(&b, b.step_ns);
			assert_true(b.now_ns < RL_NS_PER_S);
		}
		assert_int_equal(bench_end_detector(&b.end[0]),
				 RL_DET_RETRAIN);
		assert_int_equal(bench_info(&b.end[0]).flaps, 1);
		dead = b.now_ns;
		while (bench_state(&b.end[0]) == RL_LINK_DAMPED)
			bench_run(&b, b.step_ns);
		assert_true(b.now_ns - dead <= 105 * US);
		bench_cut(&b, false);
		bench_start(&b);
		forget_looped(&b.end[0]);
	}
	bench_close(&b);
}

/*
 * Damping does not help packets without another way. A host that sleeps until
 * the port's deadline has to hear of that, too.
 */
static void
a_link_that_something_waits_for_is_not_kept_out(void **state)
{
	struct rl_link_cfg cfg = flap_cfg();
	struct rl_port *port;
	struct bench b;

	(void)state;
	cfg.flap_damping_ns = 50 * MS;
	cfg.flap_damping_max_ns = 50 * MS;
	bench_open_up(&b, &cfg);
	port = b.end[0].port;
	rl_port_phy_status(port, false, b.now_ns);
	bench_run(&b, 10 * US);
	rl_shared_write(&b.end[0].shared->wanted, 1);
	bench_run(&b, 10 * US);
	/* nothing trains in the dark */
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_DAMPED);
	assert_true(rl_port_deadline(port, b.now_ns) == RL_NEVER);
	rl_port_phy_status(port, true, b.now_ns);
	assert_true(rl_port_deadline(port, b.now_ns) <= b.now_ns);
	bench_run(&b, 2 * US);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_INIT);
	rl_shared_write(&b.end[0].shared->wanted, 0);
	rl_shared_write(&b.end[1].shared->wanted, 1);
	bench_start(&b);

	/* no packet waits any more: it is kept out for its full time */
	rl_shared_write(&b.end[1].shared->wanted, 0);
	rl_port_phy_status(port, false, b.now_ns);
	rl_port_phy_status(port, true, b.now_ns);
	bench_run(&b, 40 * MS);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_DAMPED);
	assert_true(rl_port_deadline(port, b.now_ns) > b.now_ns + 5 * MS);
	bench_close(&b);
}

/* The peer has the wish and this end the longer damping. */
static void
what_waits_at_the_peer_ends_damping_as_well(void **state)
{
	struct rl_link_cfg cfg = flap_cfg();
	struct bench b;

	(void)state;
	cfg.flap_damping_ns = 50 * MS;
	cfg.flap_damping_max_ns = 50 * MS;
	bench_open_up(&b, &cfg);
	rl_port_phy_status(b.end[0].port, false, b.now_ns);
	rl_port_phy_status(b.end[0].port, true, b.now_ns);
	bench_run(&b, MS);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_DAMPED);
	assert_int_equal(bench_state(&b.end[1]), RL_LINK_DAMPED);
	rl_shared_write(&b.end[1].shared->wanted, 1);
	bench_run(&b, MS);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_UP);
	assert_int_equal(bench_state(&b.end[1]), RL_LINK_UP);
	bench_close(&b);
}

/* Every flit is corrected until the link dies of it, or so many were sent. */
static void
hurt_to_death(struct bench *b, unsigned int n)
{
	bench_rule(&b->wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .act = BENCH_NUDGE,
		.last = BENCH_EVER });
	for (unsigned int i = 0; i < n &&
	     bench_state(&b->end[1]) == RL_LINK_UP; i++) {
		bench_send(b, 0, 0, 1, 1);
		bench_run(b, 3 * US);
	}
	bench_run(b, 50 * US);
	forget_looped(&b->end[0]);
	forget_looped(&b->end[1]);
}

static struct rl_link_cfg
ill_cfg(void)
{
	struct rl_link_cfg cfg = flap_cfg();

	cfg.error_window_ns = MS;
	cfg.error_corrected_max = 1000;
	cfg.flap_damping_ns = 50 * US;
	cfg.flap_damping_max_ns = 20 * MS;
	cfg.flap_forget_ns = 100 * US;
	return cfg;
}

/* Training mends no cable: not for a short while, and each time for longer. */
static void
a_link_that_died_of_its_errors_stays_out(void **state)
{
	struct rl_link_cfg cfg = ill_cfg();
	uint64_t out_ns = 20 * MS;
	struct bench b;

	(void)state;
	bench_open_up(&b, &cfg);
	for (unsigned int i = 0; i < 3; i++, out_ns *= 2) {
		uint64_t dead_ns;

		hurt_to_death(&b, 1000);
		assert_int_equal(bench_end_detector(&b.end[1]),
				 RL_DET_ERROR_RATE);
		dead_ns = b.now_ns;
		bench_run(&b, out_ns - MS);
		assert_int_equal(bench_state(&b.end[1]), RL_LINK_DAMPED);
		bench_start(&b);
		assert_in_range(b.now_ns - dead_ns, out_ns - MS, out_ns + MS);
		/* and comes back as one that is not to be relied on */
		assert_true(bench_info(&b.end[1]).degraded);
		assert_int_equal(b.end[1].event[b.end[1].nevents - 1].type,
				 RL_PEV_DEGRADED);
	}
	/* the cable is changed: all is forgotten */
	hurt_to_death(&b, 1000);
	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int up = 0; up < 2; up++)
			rl_port_phy_status(b.end[i].port, up, b.now_ns);
	bench_no_rules(&b.wire[0]);
	bench_run(&b, MS);
	assert_int_equal(bench_state(&b.end[1]), RL_LINK_UP);
	assert_false(bench_info(&b.end[1]).degraded);
	bench_close(&b);
}

/* The only way stays in use, however ill: it dies once in that time. */
static void
an_ill_link_that_is_the_only_way_stays_in_use(void **state)
{
	struct rl_link_cfg cfg = ill_cfg();
	struct bench b;

	(void)state;
	cfg.flap_damping_max_ns = 500 * MS;
	bench_open_up(&b, &cfg);
	rl_shared_write(&b.end[1].shared->wanted, 1);
	hurt_to_death(&b, 1000);
	bench_run(&b, MS);
	assert_int_equal(bench_state(&b.end[1]), RL_LINK_UP);
	rl_shared_write(&b.end[1].shared->wanted, 0);
	hurt_to_death(&b, 2000);
	assert_int_equal(bench_state(&b.end[1]), RL_LINK_UP);
	assert_int_equal(COUNTER(&b.end[1], deaths), 1);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("[DRL-8] a flapping link waits twice as long each time",
		     a_flapping_link_waits_twice_as_long_each_time),
		cmocka_unit_test(no_damping_trains_at_once),
		CASE("[DRL-8] a death in retraining is forgiven as well",
		     a_death_in_retraining_is_forgiven_as_well),
		CASE("[DRL-8] a link that something waits for is not kept out",
		     a_link_that_something_waits_for_is_not_kept_out),
		CASE("[LINK-5] a link that died of its errors stays out",
		     a_link_that_died_of_its_errors_stays_out),
		CASE("[LINK-5] an ill link that is the only way stays in use",
		     an_ill_link_that_is_the_only_way_stays_in_use),
		CASE("[DRL-8] what waits at the peer ends damping as well",
		     what_waits_at_the_peer_ends_damping_as_well),
	};

	return cmocka_run_group_tests_name("flap", tests, NULL, NULL);
}
