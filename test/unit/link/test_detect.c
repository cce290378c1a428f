/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What declares a link dead [LINK-5]: each detector fires, says its name, and
 * can be turned off. And what happens around: a PHY lost for a while. Flaps stand
 * in test_flap.c.
 */
#include "bench.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

static void
open_up(struct bench *b, const struct rl_link_cfg *cfg)
{
	memset(b, 0, sizeof(*b));
	bench_open(b, cfg);
	b->wire[0].delay_ns = b->wire[1].delay_ns = 2 * US;
	b->wire[0].slot_ns = b->wire[1].slot_ns = US;
	bench_start(b);
	bench_run(b, 50 * US);
}

/* All detectors off, but for what a test turns on. */
static struct rl_link_cfg
deaf_cfg(void)
{
	struct rl_link_cfg cfg;

	bench_cfg(&cfg);
	cfg.detect_phy = false;
	cfg.keepalive_dead_ns = 0;
	cfg.keepalive_ns = 200 * US;
	cfg.replay_limit = 255;
	cfg.error_window_ns = 0;
	return cfg;
}

static void
check_dead(const struct bench_end *e, enum rl_detector why, const char *word)
{
	assert_int_equal(bench_end_events(e, RL_PEV_DEAD), 1);
	assert_int_equal(bench_end_detector(e), why);
	assert_string_equal(rl_detector_name(bench_end_detector(e)), word);
	assert_int_equal(COUNTER(e, deaths), 1);
}

static void
phy_loss_is_death_at_once(void **state)
{
	struct rl_link_cfg cfg = deaf_cfg();
	struct bench b;

	(void)state;
	cfg.detect_phy = true;
	open_up(&b, &cfg);
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

static void
phy_status_is_not_looked_at_where_it_is_turned_off(void **state)
{
	struct rl_link_cfg cfg = deaf_cfg();
	struct bench b;

	(void)state;
	open_up(&b, &cfg);
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
	open_up(&b, &cfg);
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
	open_up(&b, &cfg);
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
	open_up(&b, &cfg);
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
	open_up(&b, &cfg);
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
	open_up(&b, &cfg);
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
	open_up(&b, &cfg);
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
	open_up(&b, &cfg);
	for (unsigned int i = 0; i < 200; i++) {
		b.now_ns += 900 * US; /* below half of what means death */
		bench_end_port(&b.end[i & 1], b.now_ns);
	}
	assert_int_equal(COUNTER(&b.end[0], deaths), 0);
	assert_int_equal(COUNTER(&b.end[1], deaths), 0);
	/* but who is silent at every one of many polls is dead */
	bench_cut(&b, true);
	for (unsigned int i = 0; i < 7; i++) {
		b.now_ns += 900 * US;
		bench_end_port(&b.end[0], b.now_ns);
		assert_int_equal(bench_state(&b.end[0]), RL_LINK_UP);
	}
	b.now_ns += 900 * US;
	bench_end_port(&b.end[0], b.now_ns);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_LOOPBACK);
	bench_close(&b);
}

/* What lies unread in the PHY may be from the peer. */
static void
silence_is_not_judged_while_the_phy_holds_frames(void **state)
{
	struct rl_link_cfg cfg = deaf_cfg();
	struct rl_port *port;
	struct bench b;

	(void)state;
	cfg.keepalive_dead_ns = 2 * MS;
	open_up(&b, &cfg);
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
	open_up(&b, &cfg);
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
	open_up(&b, &cfg);
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
	open_up(&b, &cfg);
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

/* Sends n flits of which each is nudged (corrected) or hurt once. */
static void
errors(struct bench *b, enum bench_act act, unsigned int n)
{
	bench_no_rules(&b->wire[0]);
	bench_rule(&b->wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .without = RL_FRF_RETRY, .act = act,
		.last = n - 1 });
	for (unsigned int i = 0; i < n; i++) {
		bench_send(b, 0, 0, 1, 1);
		bench_run(b, 12 * US);
	}
}

static void
an_error_rate_over_its_limit_is_death(void **state)
{
	(void)state;
	for (unsigned int hurt = 0; hurt < 2; hurt++) {
		const enum bench_act act = hurt ? BENCH_HURT : BENCH_NUDGE;
		struct rl_link_cfg cfg = deaf_cfg();
		struct bench_end *e;
		struct bench b;

		cfg.error_window_ns = 2 * MS;
		cfg.error_corrected_max = 20;
		cfg.error_uncorrectable_max = 20;
		open_up(&b, &cfg);
		e = &b.end[1];
		errors(&b, act, 10); /* half of it: no word */
		assert_int_equal(bench_end_events(e, RL_PEV_DEGRADED), 0);
		errors(&b, act, 10); /* the limit itself is not over it */
		assert_int_equal(bench_end_events(e, RL_PEV_DEGRADED), 1);
		assert_int_equal(COUNTER(e, deaths), 0);
		errors(&b, act, 1);
		bench_run(&b, 10 * US);
		check_dead(e, RL_DET_ERROR_RATE, "error-rate");
		assert_int_equal(bench_end_events(e, RL_PEV_DEGRADED), 1);
		bench_close(&b);
	}
}

/* Even where both limits are passed between two looks. */
static void
degraded_is_said_before_dead_whatever_comes(void **state)
{
	struct rl_link_cfg cfg = deaf_cfg();
	unsigned int degraded = 0, dead = 0;
	struct bench_end *e;
	struct bench b;

	(void)state;
	cfg.error_window_ns = 2 * MS;
	cfg.error_corrected_max = 20;
	open_up(&b, &cfg);
	e = &b.end[1];
	b.wire[0].slot_ns = 0;
	bench_rule(&b.wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .act = BENCH_NUDGE,
		.last = BENCH_EVER });
	bench_send(&b, 0, 0, 1, 25);
	bench_end_port(&b.end[0], b.now_ns);
	b.now_ns += 100 * US; /* all of them arrive at once */
	bench_end_port(e, b.now_ns);
	bench_run(&b, 10 * US);
	check_dead(e, RL_DET_ERROR_RATE, "error-rate");
	assert_int_equal(COUNTER(e, rx_corrected), 25);
	for (unsigned int i = 0; i < e->nevents; i++) {
		if (e->event[i].type == RL_PEV_DEGRADED && degraded == 0)
			degraded = i + 1;
		if (e->event[i].type == RL_PEV_DEAD && dead == 0)
			dead = i + 1;
	}
	assert_true(degraded != 0 && degraded < dead);
	assert_int_equal(COUNTER(e, degraded), 1);
	bench_close(&b);
}

/* Until a window has less than half of the limits again. */
static void
a_degraded_link_may_recover_and_degrade_again(void **state)
{
	struct rl_link_cfg cfg = deaf_cfg();
	struct bench_end *e;
	struct bench b;

	(void)state;
	cfg.error_window_ns = MS;
	cfg.error_corrected_max = 20;
	open_up(&b, &cfg);
	e = &b.end[1];
	for (unsigned int n = 1; n <= 3; n++) {
		bench_run(&b, 2 * MS); /* past the end of a good window */
		assert_false(bench_info(e).degraded);
		errors(&b, BENCH_NUDGE, 10);
		assert_false(bench_info(e).degraded);
		assert_int_equal(bench_info(e).window_corrected, 10);
		errors(&b, BENCH_NUDGE, 5);
		assert_true(bench_info(e).degraded);
		assert_int_equal(bench_info(e).window_corrected, 15);
		assert_int_equal(bench_end_events(e, RL_PEV_DEGRADED), n);
		assert_int_equal(COUNTER(e, degraded), n);
		bench_no_rules(&b.wire[0]);
		bench_run(&b, MS - 15 * 12 * US); /* a bad window ends */
		assert_true(bench_info(e).degraded);
	}
	assert_int_equal(COUNTER(e, deaths), 0);
	bench_close(&b);
}

/* As many errors, but spread over windows; and with the detector off. */
static void
errors_spread_over_windows_are_borne(void **state)
{
	(void)state;
	for (unsigned int off = 0; off < 2; off++) {
		struct rl_link_cfg cfg = deaf_cfg();
		struct bench b;

		cfg.error_window_ns = off ? 0 : MS;
		cfg.error_corrected_max = 20;
		cfg.error_uncorrectable_max = 20;
		open_up(&b, &cfg);
		for (unsigned int i = 0; i < 10; i++) {
			errors(&b, BENCH_NUDGE, off ? 40 : 9);
			errors(&b, BENCH_HURT, off ? 40 : 9);
			bench_run(&b, MS);
		}
		assert_int_equal(COUNTER(&b.end[1], deaths), 0);
		assert_int_equal(bench_end_events(&b.end[1], RL_PEV_DEGRADED),
				 0);
		bench_no_rules(&b.wire[0]);
		bench_settle(&b, MS);
		bench_check_delivered(&b);
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
	open_up(&b, NULL);
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
		CASE("[LINK-5] PHY status is not looked at where it is off",
		     phy_status_is_not_looked_at_where_it_is_turned_off),
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
		CASE("[LINK-5] an error rate over its limit is degraded, then "
		     "death",
		     an_error_rate_over_its_limit_is_death),
		CASE("[LINK-5] degraded is said before dead, whatever comes",
		     degraded_is_said_before_dead_whatever_comes),
		CASE("[LINK-5] a degraded link may recover and degrade again",
		     a_degraded_link_may_recover_and_degrade_again),
		CASE("[LINK-5] errors spread over windows are borne",
		     errors_spread_over_windows_are_borne),
		CASE("[LINK-5] events and names say what happened",
		     events_and_names_say_what_happened),
	};

	return cmocka_run_group_tests_name("detect", tests, NULL, NULL);
}
