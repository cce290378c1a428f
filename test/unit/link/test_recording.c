/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recordings [PHY-3]: a frame that was sent before, here or elsewhere, by either
 * end, changes nothing when it comes again.
 */
#include "stranger.h"

/* In its epoch a frame that comes twice is stale, or a duplicate. */
static void
a_recording_of_this_epoch_delivers_nothing_twice(void **state)
{
	struct record r = { .n = 0 };
	struct pair p;
	struct bench_end *e = &p.b.end[1];
	uint64_t packets;

	(void)state;
	keyed(&p, NULL);
	record_on(&p.b, 0, &r);
	check_carries(&p.b, 40);
	packets = e->sink.packets;
	assert_true(r.n > 40);
	for (unsigned int i = 0; i < 3; i++) {
		play(&r, e, p.b.now_ns);
		bench_run(&p.b, 200 * US);
	}
	assert_int_equal(e->sink.packets, packets);
	assert_int_equal(COUNTER(e, rx_auth_error), 0); /* they are genuine */
	assert_int_equal(COUNTER(e, deaths), 0);
	bench_no_rules(&p.b.wire[0]);
	check_carries(&p.b, 10);
	record_free(&r);
	pair_close(&p);
}

/* Epochs have 8 bits and come round; keys do not. */
static void
a_recording_of_an_old_epoch_is_not_taken_when_its_number_comes_again(
	void **state)
{
	struct record r = { .n = 0 };
	struct pair p;
	struct bench_end *e = &p.b.end[1];
	uint64_t bad, packets;
	uint8_t epoch;

	(void)state;
	keyed(&p, NULL);
	epoch = bench_info(e).tx_epoch;
	record_on(&p.b, 0, &r);
	check_carries(&p.b, 10);
	bench_no_rules(&p.b.wire[0]);
	for (unsigned int i = 0; i < 256; i++) {
		rl_port_down(p.b.end[0].port, p.b.now_ns);
		bench_run(&p.b, 20 * US);
		rl_port_up(p.b.end[0].port, p.b.now_ns);
		p.b.now_ns += 20 * MS; /* past all damping */
		bench_start(&p.b);
		for (unsigned int k = 0; k < 2; k++)
			p.b.end[k].nevents = p.b.end[k].nmarks = 0;
	}
	assert_int_equal(bench_info(e).tx_epoch, epoch);
	bad = COUNTER(e, rx_auth_error);
	packets = e->sink.packets;
	play(&r, e, p.b.now_ns);
	assert_true(COUNTER(e, rx_auth_error) >= bad + 10);
	assert_int_equal(e->sink.packets, packets);
	assert_int_equal(bench_state(e), RL_LINK_UP);
	check_carries(&p.b, 10);
	record_free(&r);
	pair_close(&p);
}

/* A frame that an end has sent itself is not taken for its peer's. */
static void
frames_that_come_back_to_their_sender_are_strangers(void **state)
{
	struct record r = { .n = 0 };
	struct pair p;
	struct bench_end *e = &p.b.end[0];

	(void)state;
	pair_open(&p, KEY_A, "s0-s1#0", KEY_A, "s0-s1#0", NULL);
	record_on(&p.b, 0, &r);
	rl_port_start(e->port, p.b.now_ns);
	for (unsigned int i = 0; i < 10; i++) { /* alone with its echo */
		bench_run(&p.b, 1 * MS);
		play(&r, e, p.b.now_ns);
	}
	assert_int_equal(bench_state(e), RL_LINK_INIT);
	assert_true(COUNTER(e, rx_auth_error) > 10);
	rl_port_start(p.b.end[1].port, p.b.now_ns);
	bench_start(&p.b);
	check_carries(&p.b, 10);
	play(&r, e, p.b.now_ns);
	assert_int_equal(bench_state(e), RL_LINK_UP);
	record_free(&r);
	pair_close(&p);
}

/* The process at an end dies, and another takes its place. */
static void
renew(struct pair *p, unsigned int i)
{
	struct bench_end *e = &p->b.end[i];
	const struct bench_end_params ep = {
		.cfg = &p->b.cfg, .pool = &p->b.pool, .in = e->in,
		.out = e->out, .uid = i + 1, .index = (uint16_t)(i + 3),
		.kind = p->b.kind, .auth = p->b.auth[i],
	};

	bench_end_close(e);
	bench_end_open(e, &ep);
	rl_port_start(e->port, p->b.now_ns);
}

/* INIT frames bear the key that stays: only the nonce tells their age. */
static void
the_init_frames_of_a_process_that_is_gone_end_nothing(void **state)
{
	struct record r = { .n = 0 };
	struct pair p;
	struct bench_end *e = &p.b.end[1];
	uint64_t trainings;

	(void)state;
	pair_open(&p, KEY_A, "s0-s1#0", KEY_A, "s0-s1#0", NULL);
	record_on(&p.b, 0, &r);
	bench_start(&p.b);
	bench_no_rules(&p.b.wire[0]);
	renew(&p, 0);
	bench_run(&p.b, 5 * MS);
	bench_start(&p.b);
	trainings = COUNTER(e, trainings);
	for (unsigned int i = 0; i < 20; i++) {
		play(&r, e, p.b.now_ns);
		bench_run(&p.b, 100 * US);
	}
	assert_true(COUNTER(e, rx_init_unproven) > 0);
	assert_int_equal(COUNTER(e, trainings), trainings);
	assert_int_equal(bench_state(e), RL_LINK_UP);
	check_carries(&p.b, 10);
	record_free(&r);
	pair_close(&p);
}

static enum bench_act
take_away(void *ctx, struct bench_frame *f)
{
	(void)on_frame(ctx, f);
	return BENCH_DROP;
}

/* Nor do they where they echo the nonce that this end goes by now. */
static void
an_echo_of_a_former_life_ends_nothing(void **state)
{
	struct record r = { .n = 0 };
	struct pair p;
	struct bench_end *e = &p.b.end[1];

	(void)state;
	pair_open(&p, KEY_A, "s0-s1#0", KEY_A, "s0-s1#0", NULL);
	for (unsigned int i = 0; i < 2; i++)
		rl_port_start(p.b.end[i].port, p.b.now_ns);
	p.b.wire[0].hook = take_away; /* somebody holds its answers back */
	p.b.wire[0].ctx = &r;
	bench_run(&p.b, MS);
	assert_int_equal(bench_state(e), RL_LINK_INIT);
	p.b.wire[0].hook = NULL;
	renew(&p, 0);
	bench_start(&p.b);
	assert_int_equal(COUNTER(e, trainings), 1);
	for (unsigned int i = 0; i < 5; i++) {
		play(&r, e, p.b.now_ns);
		bench_run(&p.b, 100 * US);
	}
	assert_true(COUNTER(e, rx_init_unproven) > 0);
	assert_int_equal(COUNTER(e, deaths), 0);
	assert_int_equal(COUNTER(e, trainings), 1);
	check_carries(&p.b, 10);
	record_free(&r);
	pair_close(&p);
}

/* The first INIT frame that knows the peer is kept; no echo passes. */
static enum bench_act
hold_echoes(void *ctx, struct bench_frame *f)
{
	struct record *r = ctx;

	if (f->h.flags & RL_FRF_ECHO)
		return BENCH_DROP;
	return f->h.rx_epoch != 0 && r->n == 0 ? on_frame(ctx, f) : BENCH_PASS;
}

static enum bench_act
drop(void *ctx, struct bench_frame *f)
{
	(void)ctx;
	(void)f;
	return BENCH_DROP;
}

/* A long round trip would make this end slow to see that the peer is gone. */
static void
a_recording_of_this_handshake_does_not_lengthen_the_round_trip(void **state)
{
	struct record r[2] = { { .n = 0 }, { .n = 0 } };
	struct pair p;

	(void)state;
	pair_open(&p, KEY_A, "s0-s1#0", KEY_A, "s0-s1#0", NULL);
	for (unsigned int i = 0; i < 2; i++) {
		p.b.wire[i].hook = hold_echoes;
		p.b.wire[i].ctx = &r[i];
		rl_port_start(p.b.end[i].port, p.b.now_ns);
	}
	bench_run(&p.b, 100 * MS);
	assert_int_equal(r[1].n, 1);
	p.b.wire[1].hook = drop;
	p.b.wire[0].hook = NULL;
	for (unsigned int i = 0; i < 1000; i++) {
		play(&r[1], &p.b.end[0], p.b.now_ns);
		bench_run(&p.b, p.b.step_ns);
	}
	assert_int_equal(bench_state(&p.b.end[1]), RL_LINK_UP);
	assert_in_range(bench_info(&p.b.end[1]).srtt_ns, 1, MS);
	p.b.wire[1].hook = NULL;
	bench_start(&p.b);
	check_carries(&p.b, 10);
	for (unsigned int i = 0; i < 2; i++)
		record_free(&r[i]);
	pair_close(&p);
}

/* One that lives proves it, though there are no keepalives to miss. */
static void
a_restarted_peer_is_followed_after_one_question(void **state)
{
	struct rl_link_cfg cfg;
	struct pair p;

	(void)state;
	bench_cfg(&cfg);
	cfg.keepalive_ns = cfg.keepalive_dead_ns = 0;
	keyed(&p, &cfg);
	check_carries(&p.b, 20);
	renew(&p, 1);
	bench_run(&p.b, 2 * MS);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(bench_state(&p.b.end[i]), RL_LINK_UP);
	assert_int_equal(COUNTER(&p.b.end[0], deaths), 1);
	assert_int_equal(bench_end_detector(&p.b.end[0]), RL_DET_PEER);
	assert_int_equal(COUNTER(&p.b.end[0], peer_restarts), 1);
	assert_in_range(COUNTER(&p.b.end[0], rx_init_unproven), 1, 3);
	check_carries(&p.b, 20);
	pair_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("a recording of this epoch delivers nothing twice",
		     a_recording_of_this_epoch_delivers_nothing_twice),
		CASE("a recording of an old epoch is not taken when its number "
		     "comes again",
		     a_recording_of_an_old_epoch_is_not_taken_when_its_number_comes_again),
		CASE("frames that come back to their sender are strangers",
		     frames_that_come_back_to_their_sender_are_strangers),
		CASE("the INIT frames of a process that is gone end nothing",
		     the_init_frames_of_a_process_that_is_gone_end_nothing),
		CASE("an echo of a former life ends nothing",
		     an_echo_of_a_former_life_ends_nothing),
		CASE("a recording of this handshake does not lengthen the round trip",
		     a_recording_of_this_handshake_does_not_lengthen_the_round_trip),
		CASE("a peer that starts anew is followed after one question",
		     a_restarted_peer_is_followed_after_one_question),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
