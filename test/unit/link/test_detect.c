/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detectors that declare a link dead [LINK-5]: each fires, says its name, and
 * can be turned off. Also a PHY that is lost for a while. Flaps are in
 * test_flap.c.
 */
#include "detect.h"

static void
phy_loss_is_death_at_once(void **state)
{
	struct rl_link_cfg cfg = deaf_cfg();
	struct bench b;

	(void)state;
	cfg.detect_phy = true;
	bench_open_up(&b, &cfg);
	bench_send(&b, 0, 0, 4, 2);
	rl_port_phy_status(b.end[0].port, false, b.now_ns);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_LOOPBACK);
	bench_run(&b, 10 * US);
	check_dead(&b.end[0], RL_DET_PHY, "phy");
	assert_int_equal(b.end[0].looped.packets, 2);
	/* it does not train in the dark */
	bench_run(&b, 50 * MS);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_DAMPED);
	/* the peer may see what this end does not */
	assert_int_equal(b.wire[0].type[RL_FRAME_CLOSE], 1);
	rl_port_phy_status(b.end[0].port, true, b.now_ns);
	bench_start(&b);
	bench_close(&b);
}

/* Whatever the PHY's status is taken for, and however long it may be lost. */
static void
a_device_that_is_removed_is_death_at_once(void **state)
{
	(void)state;
	for (unsigned int detects = 0; detects < 2; detects++) {
		struct rl_link_cfg cfg = deaf_cfg();
		struct bench b;

		cfg.detect_phy = detects == 1;
		cfg.phy_lost_ns = 100 * MS;
		bench_open_up(&b, &cfg);
		bench_send(&b, 0, 0, 4, 2);
		rl_port_phy_status(b.end[0].port, RL_PHY_REMOVED, b.now_ns);
		assert_int_equal(bench_state(&b.end[0]), RL_LINK_LOOPBACK);
		bench_run(&b, 10 * US);
		check_dead(&b.end[0], RL_DET_REMOVED, "removed");
		assert_int_equal(b.end[0].looped.packets, 2);
		/* it stays away, and is back */
		rl_port_phy_status(b.end[0].port, RL_PHY_REMOVED, b.now_ns);
		bench_run(&b, 50 * MS);
		rl_port_phy_status(b.end[0].port, RL_PHY_UP, b.now_ns);
		bench_start(&b);
		bench_close(&b);
	}
}

static void
phy_status_is_ignored_if_it_is_turned_off(void **state)
{
	struct rl_link_cfg cfg = deaf_cfg();
	struct bench b;

	(void)state;
	bench_open_up(&b, &cfg);
	for (unsigned int i = 0; i < 2; i++)
		rl_port_phy_status(b.end[i].port, false, b.now_ns);
	bench_run(&b, 5 * MS);
	bench_send(&b, 0, 0, 4, 9);
	bench_settle(&b, MS);
	bench_check_delivered(&b);
	assert_int_equal(COUNTER(&b.end[0], deaths), 0);
	bench_close(&b);

	/* and the other detectors still judge */
	cfg.keepalive_dead_ns = 2 * MS;
	bench_open_up(&b, &cfg);
	rl_port_phy_status(b.end[0].port, false, b.now_ns);
	bench_cut(&b, true);
	bench_run(&b, 3 * MS);
	check_dead(&b.end[0], RL_DET_KEEPALIVE, "keepalive");
	bench_close(&b);
}

/* The PHY is away for `ms` of the 3 ms it may be; traffic runs. */
static void
phy_away(unsigned int ms, bool dead)
{
	struct rl_link_cfg cfg = deaf_cfg();
	struct bench b;

	cfg.detect_phy = true;
	cfg.phy_lost_ns = 3 * MS;
	cfg.replay_limit = 2; /* the dark is not held against the peer */
	cfg.retrain_limit = 1;
	cfg.retrain_interval_ns = 100 * US;
	cfg.keepalive_dead_ns = MS;
	cfg.flap_damping_ns = cfg.flap_damping_max_ns = 20 * MS;
	bench_open_up(&b, &cfg);
	bench_send(&b, 0, 0, 5, 10);
	bench_run(&b, 17 * US);
	bench_cut(&b, true);
	rl_port_phy_status(b.end[0].port, false, b.now_ns);
	rl_port_phy_status(b.end[1].port, false, b.now_ns);
	bench_run(&b, ms * MS);
	bench_cut(&b, false);
	rl_port_phy_status(b.end[0].port, true, b.now_ns);
	rl_port_phy_status(b.end[1].port, true, b.now_ns);
	bench_run(&b, MS);
	if (dead) {
		check_dead(&b.end[0], RL_DET_PHY, "phy");
		check_dead(&b.end[1], RL_DET_PHY, "phy");
		/* whole packets: those that came and those that loop */
		assert_true(b.end[0].looped.packets + b.end[1].sink.packets >=
			    10);
		assert_int_equal(b.end[0].looped.flits,
				 5 * b.end[0].looped.packets);
	} else {
		bench_settle(&b, MS);
		bench_check_delivered(&b);
		assert_int_equal(COUNTER(&b.end[0], deaths), 0);
		assert_int_equal(COUNTER(&b.end[0], retrains), 0);
		assert_int_equal(COUNTER(&b.end[0], tx_replay_timeout), 0);
	}
	bench_close(&b);
}

static void
a_phy_lost_for_less_than_the_timeout_resumes(void **state)
{
	(void)state;
	phy_away(1, false);
	phy_away(2, false);
}

static void
a_phy_lost_for_longer_goes_to_loopback(void **state)
{
	(void)state;
	phy_away(4, true);
	phy_away(10, true);
}

/* While the PHY is away a port waits for one thing, and says so. */
static void
a_port_in_the_dark_has_one_deadline(void **state)
{
	struct rl_link_cfg cfg = deaf_cfg();
	uint64_t lost;
	struct bench b;

	(void)state;
	cfg.detect_phy = true;
	cfg.phy_lost_ns = 30 * MS;
	cfg.keepalive_dead_ns = MS;
	bench_open_up(&b, &cfg);
	bench_send(&b, 0, 0, 5, 10);
	bench_run(&b, 17 * US);
	lost = b.now_ns;
	for (unsigned int i = 0; i < 2; i++)
		rl_port_phy_status(b.end[i].port, false, lost);
	for (unsigned int i = 0; i < 29; i++) {
		bench_run(&b, MS);
		assert_int_equal(rl_port_deadline(b.end[0].port, b.now_ns),
				 lost + 30 * MS);
	}
	bench_close(&b);
}

static void
silence_is_death_after_its_time(void **state)
{
	struct rl_link_cfg cfg = deaf_cfg();
	uint64_t t;
	struct bench b;

	(void)state;
	cfg.keepalive_dead_ns = 2 * MS;
	bench_open_up(&b, &cfg);
	bench_run(&b, 20 * MS); /* idle, but alive */
	assert_int_equal(COUNTER(&b.end[0], deaths), 0);
	bench_cut(&b, true);
	t = b.now_ns;
	while (bench_state(&b.end[0]) == RL_LINK_UP)
		bench_run(&b, b.step_ns);
	assert_in_range(b.now_ns - t, 2 * MS - 210 * US, 2 * MS + 10 * US);
	bench_run(&b, 300 * US);
	check_dead(&b.end[0], RL_DET_KEEPALIVE, "keepalive");
	bench_close(&b);

	cfg.keepalive_dead_ns = 0;
	bench_open_up(&b, &cfg);
	bench_cut(&b, true);
	bench_run(&b, 100 * MS);
	assert_int_equal(COUNTER(&b.end[0], deaths), 0);
	bench_cut(&b, false);
	bench_send(&b, 0, 0, 3, 3);
	bench_settle(&b, MS);
	bench_check_delivered(&b);
	bench_close(&b);
}

/* An lcore that stood still for a second has heard nothing of anybody. */
static void
a_pause_of_ones_own_is_not_held_against_the_peer(void **state)
{
	struct rl_link_cfg cfg = deaf_cfg();
	struct bench b;

	(void)state;
	cfg.keepalive_dead_ns = 2 * MS;
	bench_open_up(&b, &cfg);
	b.now_ns += RL_NS_PER_S;
	bench_run(&b, 5 * MS);
	assert_int_equal(COUNTER(&b.end[0], deaths), 0);
	assert_int_equal(COUNTER(&b.end[1], deaths), 0);
	bench_close(&b);
}

/* Cut one way: the deaf end finds out, and the other hears it from it. */
/*
 * A loaded machine lets the lcores run for a moment now and then: much silence
 * by the clock, none by what was listened to.
 */
static void
an_lcore_that_seldom_runs_ends_no_link(void **state)
{
	struct rl_link_cfg cfg = deaf_cfg();
	struct bench b;

	(void)state;
	cfg.keepalive_dead_ns = 2 * MS;
	bench_open_up(&b, &cfg);
	for (unsigned int i = 0; i < 200; i++) {
		b.now_ns += 900 * US; /* below half of what means death */
		bench_end_port(&b.end[i & 1], b.now_ns);
	}
	assert_int_equal(COUNTER(&b.end[0], deaths), 0);
	assert_int_equal(COUNTER(&b.end[1], deaths), 0);
	/* but a peer that is silent at each of many polls is dead */
	bench_cut(&b, true);
	for (unsigned int i = 0; i < 7; i++) {
		b.now_ns += 900 * US;
		bench_end_port(&b.end[0], b.now_ns);
		assert_int_equal(bench_state(&b.end[0]), RL_LINK_UP);
	}
	/* twice the longest round trip, which had the peer's absence in it */
	for (unsigned int i = 0; i < 12; i++) {
		b.now_ns += 900 * US;
		bench_end_port(&b.end[0], b.now_ns);
	}
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_LOOPBACK);
	bench_close(&b);
}

/* Unread frames in the PHY may be from the peer. */
static void
silence_is_not_judged_while_the_phy_holds_frames(void **state)
{
	struct rl_link_cfg cfg = deaf_cfg();
	struct rl_port *port;
	struct bench b;

	(void)state;
	cfg.keepalive_dead_ns = 2 * MS;
	bench_open_up(&b, &cfg);
	port = b.end[0].port;
	bench_cut(&b, true);
	for (unsigned int i = 0; i < 100; i++) {
		b.now_ns += 100 * US;
		rl_port_rx_more(port);
		rl_port_tick(port, b.now_ns);
	}
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_UP);
	bench_run(&b, 3 * MS);
	assert_int_not_equal(bench_state(&b.end[0]), RL_LINK_UP);
	bench_close(&b);
}

static void
a_link_cut_one_way_dies_at_both_ends(void **state)
{
	struct rl_link_cfg cfg = deaf_cfg();
	struct bench b;

	(void)state;
	cfg.keepalive_dead_ns = 2 * MS;
	bench_open_up(&b, &cfg);
	b.wire[0].cut = true;
	bench_send(&b, 0, 0, 3, 3);
	bench_run(&b, 3 * MS);
	check_dead(&b.end[1], RL_DET_KEEPALIVE, "keepalive");
	check_dead(&b.end[0], RL_DET_PEER, "peer");
	assert_int_equal(COUNTER(&b.end[0], rx_close), 1);
	assert_int_equal(b.end[0].looped.packets, 3);
	bench_close(&b);
}

/* CLOSE lost too: the INIT of the new epoch tells. */
static void
a_lost_close_is_made_good_by_the_next_init(void **state)
{
	struct rl_link_cfg cfg = deaf_cfg();
	struct bench b;

	(void)state;
	bench_open_up(&b, &cfg);
	b.wire[0].cut = true;
	bench_send(&b, 0, 0, 3, 3);
	bench_rule(&b.wire[1], (struct bench_rule){
		.type = RL_FRAME_CLOSE, .act = BENCH_DROP,
		.last = BENCH_EVER });
	rl_port_down(b.end[1].port, b.now_ns);
	bench_run(&b, 20 * US);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_UP);
	rl_port_up(b.end[1].port, b.now_ns);
	bench_run(&b, 20 * US);
	check_dead(&b.end[0], RL_DET_PEER, "peer");
	assert_int_equal(b.end[0].looped.packets, 3);
	bench_close(&b);
}

static void
a_command_is_death_and_off(void **state)
{
	struct rl_link_cfg cfg = deaf_cfg();
	struct bench b;

	(void)state;
	bench_open_up(&b, &cfg);
	bench_send(&b, 0, 0, 3, 3);
	assert_int_equal(rl_port_down(b.end[0].port, b.now_ns), 0);
	bench_run(&b, 20 * US);
	check_dead(&b.end[0], RL_DET_COMMAND, "command");
	check_dead(&b.end[1], RL_DET_PEER, "peer");
	bench_run(&b, 50 * MS);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_OFF);
	assert_int_equal(bench_state(&b.end[1]), RL_LINK_INIT);
	assert_int_equal(rl_port_up(b.end[0].port, b.now_ns), 0);
	bench_start(&b);
	bench_close(&b);
}

/* The CLOSE was lost, and this end is down: who still sends is told again. */
static void
an_end_that_is_down_says_so_whenever_it_is_sent_something(void **state)
{
	(void)state;
	for (unsigned int anew = 0; anew < 2; anew++) {
		struct rl_link_cfg cfg = deaf_cfg();
		struct bench b;

		bench_open_up(&b, &cfg);
		bench_rule(&b.wire[1], (struct bench_rule){
			.type = RL_FRAME_CLOSE, .act = BENCH_DROP });
		bench_cut(&b, anew);
		rl_port_down(b.end[1].port, b.now_ns);
		bench_run(&b, 20 * US);
		assert_int_equal(bench_state(&b.end[0]), RL_LINK_UP);
		if (anew) { /* a process that knows nothing of the epoch */
			const struct bench_end_params p = {
				.cfg = &b.cfg, .pool = &b.pool,
				.in = &b.wire[0], .out = &b.wire[1],
				.uid = 2, .index = 4, .kind = b.kind,
			};

			bench_end_close(&b.end[1]);
			bench_end_open(&b.end[1], &p);
			bench_no_rules(&b.wire[1]);
		}
		bench_cut(&b, false);
		bench_send(&b, 0, 0, 3, 3);
		bench_run(&b, MS);
		check_dead(&b.end[0], RL_DET_PEER, "peer");
		assert_int_equal(b.end[0].looped.packets, 3);
		bench_close(&b);
	}
}

/* The detector and the epoch stand in each event; the states have names. */
static void
events_and_names_say_what_happened(void **state)
{
	struct bench_end *e;
	struct bench b;

	(void)state;
	bench_open_up(&b, NULL);
	e = &b.end[0];
	bench_send(&b, 0, 0, 3, 3);
	rl_port_phy_status(e->port, false, b.now_ns);
	bench_run(&b, 10 * US);
	assert_int_equal(e->nevents, 3);
	assert_int_equal(e->event[0].type, RL_PEV_UP);
	assert_int_equal(e->event[0].epoch, 1);
	assert_int_equal(e->event[1].type, RL_PEV_DEAD);
	assert_int_equal(e->event[1].detector, RL_DET_PHY);
	assert_int_equal(e->event[2].type, RL_PEV_DRAINED);
	assert_int_equal(e->event[2].loop_id, e->event[1].loop_id);
	assert_int_not_equal(e->event[2].loop_id, 0);
	assert_int_equal(e->event[2].looped_packets, 3);
	assert_int_equal(e->event[2].looped_flits, 9);
	assert_true(e->event[2].t_ns >= e->event[1].t_ns);
	assert_string_equal(rl_link_state_name(RL_LINK_LOOPBACK), "LOOPBACK");
	assert_string_equal(rl_link_state_name(99), "?");
	assert_string_equal(rl_detector_name(RL_DET_COUNT), "?");
	assert_string_equal(rl_drop_reason_name(RL_DROP_WATCHDOG), "watchdog");
	assert_string_equal(rl_drop_reason_name(RL_DROP_REASON_COUNT), "?");
	assert_string_equal(rl_port_counter_name(RL_PC_tx_nak), "tx_nak");
	assert_string_equal(rl_port_counter_name(RL_PORT_COUNTER_COUNT), "?");
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("[LINK-5] PHY loss is death at once",
		     phy_loss_is_death_at_once),
		CASE("[LINK-5] [PHY-7] a device that is removed is a dead link at once",
		     a_device_that_is_removed_is_death_at_once),
		CASE("[LINK-5] PHY status is not looked at where it is off",
		     phy_status_is_ignored_if_it_is_turned_off),
		CASE("LINK-C22 a PHY lost for less than the timeout resumes "
		     "without loss",
		     a_phy_lost_for_less_than_the_timeout_resumes),
		CASE("LINK-C22 a PHY lost for longer goes to loopback",
		     a_phy_lost_for_longer_goes_to_loopback),
		cmocka_unit_test(a_port_in_the_dark_has_one_deadline),
		CASE("[LINK-5] silence is death after its time, or never",
		     silence_is_death_after_its_time),
		cmocka_unit_test(
			a_pause_of_ones_own_is_not_held_against_the_peer),
		CASE("[LINK-5] an lcore that seldom runs ends no link",
		     an_lcore_that_seldom_runs_ends_no_link),
		CASE("[LINK-5] silence is not judged while the PHY holds frames",
		     silence_is_not_judged_while_the_phy_holds_frames),
		CASE("[LINK-5] a link cut one way dies at both ends",
		     a_link_cut_one_way_dies_at_both_ends),
		CASE("[LINK-5] a lost CLOSE is made good by the next INIT",
		     a_lost_close_is_made_good_by_the_next_init),
		CASE("[LINK-5] a command is death and OFF",
		     a_command_is_death_and_off),
		CASE("[LINK-5] an end that is down says so whenever it is sent "
		     "something",
		     an_end_that_is_down_says_so_whenever_it_is_sent_something),
		CASE("[LINK-5] events and names say what happened",
		     events_and_names_say_what_happened),
	};

	return cmocka_run_group_tests_name("detect", tests, NULL, NULL);
}
