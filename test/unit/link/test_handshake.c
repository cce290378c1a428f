/* SPDX-License-Identifier: BSD-3-Clause */
/* Training: the handshake of an epoch and what stays out of it [LINK-4]. */
#include "bench.h"

/* Seals a frame again after its header was changed. */
static void
reseal(struct bench_frame *f, const struct rl_frame_hdr *h)
{
	uint8_t mac[12];

	memcpy(mac, f->data, sizeof(mac));
	rl_frame_seal(f->data, h, mac, false);
	f->len = rl_frame_length(h);
}

enum forged { ECHO_NONCE, ECHO_EPOCH, ECHO_SHORT, ECHO_DROPPED };

static enum bench_act
forge_echo(void *ctx, struct bench_frame *f)
{
	const enum forged *what = ctx;
	struct rl_frame_hdr h = f->h;
	struct rl_frame_init init;

	if (h.type != RL_FRAME_INIT || !(h.flags & RL_FRF_ECHO))
		return BENCH_PASS;
	if (*what == ECHO_DROPPED)
		return BENCH_DROP;
	rl_frame_init_get(f->data, &init);
	if (*what == ECHO_NONCE)
		init.nonce_echo ^= 1ull << 40;
	else if (*what == ECHO_SHORT)
		h.bytes = (uint16_t)(h.bytes - 1); /* of what data needs */
	else
		h.rx_epoch ^= 1;
	rl_frame_init_put(f->data, &init);
	reseal(f, &h);
	return BENCH_PASS;
}

/* A DATA frame that says the epochs that the receiver has. */
static void
inject_data(struct bench *b, unsigned int to)
{
	struct rl_frame_hdr h = bench_forge(&b->end[to], RL_FRAME_DATA, 0,
					    b->now_ns);
	const struct bench_packet k = { .flits = 1 };
	struct rl_flit *f = bench_make(&b->pool, &k);
	uint8_t *frame = aligned_alloc(64, b->wire[0].frame_bytes);
	const uint8_t mac[12] = { 0 };

	h.nflits = 1;
	memset(frame, 0, b->wire[0].frame_bytes);
	memcpy(frame + RL_FRAME_HEADER_SHORT, f->wire, RL_FLIT_BYTES);
	rl_put16(frame + RL_FRAME_SIDEBAND_OFF, rl_sideband_pack(f));
	rl_frame_seal(frame, &h, mac, false);
	rl_port_rx_frame(b->end[to].port, frame, rl_frame_bytes(1), b->now_ns);
	free(frame);
	rl_packet_put(&b->pool.cache, f);
}

/* No echo that is right: the end whose INITs are answered so stays in INIT. */
static void
an_echo_lost_or_wrong_keeps_an_end_in_init(void **state)
{
	(void)state;
	for (enum forged what = ECHO_NONCE; what <= ECHO_DROPPED; what++) {
		struct bench b = { 0 };
		struct bench_end *e = &b.end[0];

		bench_open(&b, NULL);
		b.wire[1].hook = forge_echo;
		b.wire[1].ctx = &what;
		rl_port_start(e->port, b.now_ns);
		rl_port_start(b.end[1].port, b.now_ns);
		bench_run(&b, 5 * RL_NS_PER_MS);
		assert_int_equal(bench_state(e), RL_LINK_INIT);
		inject_data(&b, 0);
		assert_true(COUNTER(e, rx_state_drop) > 0);
		assert_int_equal(COUNTER(e, rx_ok), 0);
		if (what == ECHO_DROPPED)
			assert_int_equal(COUNTER(e, rx_init_echo), 0);
		else
			assert_true(COUNTER(e, rx_init_echo_error) > 0);
		bench_no_rules(&b.wire[1]);
		bench_run(&b, 5 * RL_NS_PER_MS);
		assert_int_equal(bench_state(e), RL_LINK_UP);
		bench_send(&b, 0, 0, 3, 5);
		bench_settle(&b, 5 * RL_NS_PER_MS);
		bench_check_delivered(&b);
		bench_close(&b);
	}
}

static void
no_echo_at_all_keeps_both_ends_in_init(void **state)
{
	struct bench b = { 0 };

	(void)state;
	bench_open(&b, NULL);
	for (unsigned int i = 0; i < 2; i++) {
		bench_rule(&b.wire[i], (struct bench_rule){
			.type = RL_FRAME_INIT, .with = RL_FRF_ECHO,
			.act = BENCH_DROP, .last = BENCH_EVER });
		rl_port_start(b.end[i].port, b.now_ns);
	}
	bench_run(&b, 3 * RL_NS_PER_MS);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(bench_state(&b.end[i]), RL_LINK_INIT);
		inject_data(&b, i);
		assert_int_equal(COUNTER(&b.end[i], rx_ok), 0);
		bench_no_rules(&b.wire[i]);
	}
	bench_run(&b, RL_NS_PER_MS);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_UP);
	assert_int_equal(bench_state(&b.end[1]), RL_LINK_UP);
	bench_close(&b);
}

static uint64_t
init_frames(const struct bench *b)
{
	return b->wire[0].type[RL_FRAME_INIT] + b->wire[1].type[RL_FRAME_INIT];
}

/* A trained link sends no INIT: not one in 20 ms. */
static void
check_quiet(struct bench *b)
{
	const uint64_t before = init_frames(b);

	bench_run(b, 20 * RL_NS_PER_MS);
	assert_int_equal(init_frames(b), before);
	assert_int_equal(COUNTER(&b->end[0], deaths), 0);
	assert_int_equal(COUNTER(&b->end[1], deaths), 0);
	bench_send(b, 0, 0, 3, 5);
	bench_settle(b, 5 * RL_NS_PER_MS);
	bench_check_delivered(b);
}

static void
an_echo_that_comes_twice_is_answered_once(void **state)
{
	(void)state;
	for (unsigned int way = 0; way < 3; way++) {
		struct bench b = { 0 };

		bench_open(&b, NULL);
		for (unsigned int i = 0; i < 2; i++)
			if (way == 2 || way == i)
				bench_rule(&b.wire[i], (struct bench_rule){
					.type = RL_FRAME_INIT,
					.act = BENCH_TWICE, .last = 9 });
		bench_start(&b);
		bench_run(&b, RL_NS_PER_MS);
		check_quiet(&b);
		bench_close(&b);
	}
}

static void
a_round_trip_longer_than_the_init_interval_ends_in_quiet(void **state)
{
	struct bench b = { 0 };

	(void)state;
	bench_open(&b, NULL);
	b.wire[0].delay_ns = b.wire[1].delay_ns = 250 * RL_NS_PER_US;
	bench_start(&b);
	bench_run(&b, 2 * RL_NS_PER_MS);
	check_quiet(&b);
	bench_close(&b);
}

static void
a_phy_that_blinks_causes_no_init_frames(void **state)
{
	struct rl_link_cfg cfg;
	struct bench b = { 0 };

	(void)state;
	bench_cfg(&cfg);
	cfg.phy_lost_ns = RL_NS_PER_MS;
	bench_open(&b, &cfg);
	bench_start(&b);
	bench_run(&b, RL_NS_PER_MS);
	rl_port_phy_status(b.end[0].port, false, b.now_ns);
	bench_run(&b, 10 * RL_NS_PER_US);
	rl_port_phy_status(b.end[0].port, true, b.now_ns);
	check_quiet(&b);
	bench_close(&b);
}

static void
the_end_that_starts_late_trains_with_the_other(void **state)
{
	struct bench b = { 0 };

	(void)state;
	bench_open(&b, NULL);
	rl_port_start(b.end[1].port, b.now_ns);
	bench_run(&b, 7 * RL_NS_PER_MS);
	assert_int_equal(bench_state(&b.end[1]), RL_LINK_INIT);
	bench_start(&b);
	check_quiet(&b);
	bench_close(&b);
}

static enum bench_act
lose_half(void *ctx, struct bench_frame *f)
{
	(void)f;
	return rl_prng_below(ctx, 2) == 0 ? BENCH_DROP : BENCH_PASS;
}

static void
a_handshake_that_loses_every_second_frame_still_ends(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 40; seed++) {
		struct bench b = { 0 };
		struct rl_prng prng;

		rl_prng_seed(&prng, seed);
		bench_open(&b, NULL);
		for (unsigned int i = 0; i < 2; i++) {
			b.wire[i].hook = lose_half;
			b.wire[i].ctx = &prng;
		}
		bench_start(&b);
		for (unsigned int i = 0; i < 2; i++)
			bench_no_rules(&b.wire[i]);
		bench_run(&b, RL_NS_PER_MS);
		check_quiet(&b);
		bench_close(&b);
	}
}

/* Holds a copy of a frame that passed. */
struct copy {
	uint8_t *data;
	uint32_t len;
	uint8_t type;
};

static enum bench_act
copy_frame(void *ctx, struct bench_frame *f)
{
	struct copy *c = ctx;

	if (f->h.type == c->type && c->len == 0) {
		c->len = f->len;
		memcpy(c->data, f->data, f->len);
	}
	return BENCH_PASS;
}

/* Takes the link down and up again at end 0 and runs until both are UP. */
static void
restart(struct bench *b)
{
	assert_int_equal(rl_port_down(b->end[0].port, b->now_ns), 0);
	bench_run(b, 20 * RL_NS_PER_US);
	assert_int_equal(bench_state(&b->end[0]), RL_LINK_OFF);
	assert_int_equal(rl_port_up(b->end[0].port, b->now_ns), 0);
	bench_start(b);
}

static void
nothing_of_an_old_epoch_is_taken_in_a_new_one(void **state)
{
	static const uint8_t types[] = { RL_FRAME_DATA, RL_FRAME_IDLE,
					 RL_FRAME_CLOSE };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(types); i++) {
		struct bench b = { 0 };
		struct copy c = { .type = types[i] };
		struct rl_port_info was, is;
		struct bench_end *e = &b.end[1];

		bench_open(&b, NULL);
		c.data = aligned_alloc(64, b.wire[0].frame_bytes);
		b.wire[0].hook = copy_frame;
		b.wire[0].ctx = &c;
		bench_start(&b);
		bench_send(&b, 0, 0, 4, 2);
		bench_settle(&b, RL_NS_PER_MS);
		restart(&b);
		assert_true(c.len != 0);
		bench_run(&b, 100 * RL_NS_PER_US);
		bench_snapshot(e, &was);
		rl_port_rx_frame(e->port, c.data, c.len, b.now_ns);
		bench_snapshot(e, &is);
		assert_int_equal(COUNTER(e, rx_epoch_error), 1);
		assert_memory_equal(&was, &is, sizeof(is));
		bench_send(&b, 0, 0, 4, 2);
		bench_settle(&b, RL_NS_PER_MS);
		bench_check_delivered(&b);
		free(c.data);
		bench_close(&b);
	}
}

/* Both epochs of a frame must be the present ones. */
static void
a_frame_with_one_epoch_right_is_refused(void **state)
{
	(void)state;
	for (unsigned int wrong = 0; wrong < 3; wrong++) {
		struct bench b = { 0 };
		struct copy c = { .type = RL_FRAME_DATA };
		struct rl_port_info was, is;
		struct bench_end *e = &b.end[1];
		struct bench_frame f;

		bench_open(&b, NULL);
		c.data = aligned_alloc(64, b.wire[0].frame_bytes);
		b.wire[0].hook = copy_frame;
		b.wire[0].ctx = &c;
		bench_start(&b);
		bench_send(&b, 0, 0, 1, 1);
		bench_settle(&b, RL_NS_PER_MS);
		restart(&b);
		bench_run(&b, 100 * RL_NS_PER_US);
		bench_snapshot(e, &was);
		f.data = c.data;
		assert_int_equal(rl_frame_open(c.data, c.len, &f.h, false),
				 RL_FRAME_OK);
		f.h.stamp = bench_forge(e, RL_FRAME_DATA, 0, b.now_ns).stamp;
		f.h.tx_epoch = (uint8_t)(was.rx_epoch - (wrong == 1));
		f.h.rx_epoch = (uint8_t)(was.tx_epoch - (wrong == 2));
		reseal(&f, &f.h);
		rl_port_rx_frame(e->port, c.data, c.len, b.now_ns);
		bench_snapshot(e, &is);
		assert_int_equal(COUNTER(e, rx_epoch_error), wrong != 0);
		/* and with both right it is taken: the test means something */
		assert_int_equal(COUNTER(e, rx_ok), 1 + (wrong == 0));
		if (wrong != 0)
			assert_memory_equal(&was, &is, sizeof(is));
		free(c.data);
		bench_end_core(e, b.now_ns);
		bench_close(&b);
	}
}

/* Packets under way when the epoch ends come out whole at the sender. */
static void
a_new_epoch_restarts_numbers_and_credits(void **state)
{
	struct bench b = { 0 };
	struct bench_end *e = &b.end[0];

	(void)state;
	bench_open(&b, NULL);
	bench_start(&b);
	bench_send(&b, 0, 2, 7, 3);
	bench_settle(&b, RL_NS_PER_MS);
	assert_int_equal(bench_info(e).replay_tail, 21);
	b.end[1].hold_vcs = 1u << 2; /* its core keeps 14 flits */
	bench_send(&b, 0, 2, 7, 2);
	bench_settle(&b, RL_NS_PER_MS);
	restart(&b);
	assert_int_equal(bench_info(e).replay_tail, 0);
	bench_run(&b, 50 * RL_NS_PER_US);
	/* flits that the core still holds take room in the new epoch, too */
	assert_int_equal(bench_info(e).credits[2], 256 - 14);
	assert_int_equal(bench_info(e).credits[1], 256);
	bench_end_release(&b.end[1]);
	bench_run(&b, 100 * RL_NS_PER_US);
	assert_int_equal(bench_info(e).credits[2], 256);
	bench_check_delivered(&b);
	bench_close(&b);
}

static void
epochs_wrap_after_256_trainings(void **state)
{
	struct bench b = { 0 };

	(void)state;
	bench_open(&b, NULL);
	bench_start(&b);
	for (unsigned int i = 0; i < 600; i++) {
		bench_send(&b, 0, i % RL_VCS, 1 + i % 5, 1);
		bench_settle(&b, RL_NS_PER_MS);
		restart(&b);
		b.end[0].nmarks = b.end[1].nmarks = 0;
		b.end[0].nevents = b.end[1].nevents = 0;
	}
	assert_int_equal(COUNTER(&b.end[0], trainings), 601);
	bench_check_delivered(&b);
	bench_close(&b);
}

static void
a_restarted_peer_ends_the_epoch_here(void **state)
{
	struct bench b = { 0 };
	struct bench_end *e = &b.end[0];
	struct bench_end_params p;
	void *mem;

	(void)state;
	bench_open(&b, NULL);
	bench_start(&b);
	b.end[1].no_core = true;
	bench_send(&b, 0, 0, 5, 3);
	b.wire[1].cut = true; /* nothing is acknowledged */
	bench_run(&b, 50 * RL_NS_PER_US);
	b.wire[1].cut = false;
	/* the peer's process dies and another takes its place */
	rl_port_flush(b.end[1].port);
	mem = b.end[1].mem;
	free(b.end[1].shared);
	free(b.end[1].frame);
	free(mem);
	p = (struct bench_end_params){
		.cfg = &b.cfg, .pool = &b.pool, .in = &b.wire[0],
		.out = &b.wire[1], .uid = 77, .index = 4, .kind = b.kind,
	};
	bench_end_open(&b.end[1], &p);
	rl_port_start(b.end[1].port, b.now_ns);
	bench_run(&b, 20 * RL_NS_PER_US);
	assert_int_equal(bench_end_detector(e), RL_DET_PEER);
	assert_int_equal(e->looped.packets, 3);
	assert_int_equal(e->looped.flits, 15);
	bench_start(&b);
	bench_close(&b);
}

static void
five_links_train_at_once(void **state)
{
	static struct bench b[5];

	(void)state;
	memset(b, 0, sizeof(b));
	for (unsigned int i = 0; i < 5; i++) {
		bench_open(&b[i], NULL);
		rl_port_start(b[i].end[0].port, b[i].now_ns);
		rl_port_start(b[i].end[1].port, b[i].now_ns);
	}
	for (unsigned int n = 0; n < 300; n++)
		for (unsigned int i = 0; i < 5; i++)
			bench_run(&b[i], b[i].step_ns);
	for (unsigned int i = 0; i < 5; i++) {
		assert_int_equal(bench_state(&b[i].end[0]), RL_LINK_UP);
		assert_int_equal(bench_state(&b[i].end[1]), RL_LINK_UP);
		bench_close(&b[i]);
	}
}

/*
 * Of the three actions that others let one set for data while a link trains,
 * reflit has one: what is to be sent waits, what comes is discarded.
 */
static void
while_it_trains_data_waits_and_is_not_taken(void **state)
{
	struct bench b = { 0 };

	(void)state;
	bench_open(&b, NULL);
	bench_rule(&b.wire[1], (struct bench_rule){
		.type = RL_FRAME_INIT, .act = BENCH_DROP,
		.last = BENCH_EVER });
	rl_port_start(b.end[0].port, b.now_ns);
	rl_port_start(b.end[1].port, b.now_ns);
	bench_send(&b, 0, 3, 4, 5);
	bench_run(&b, 2 * RL_NS_PER_MS);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_INIT);
	assert_int_equal(b.wire[0].type[RL_FRAME_DATA], 0);
	assert_int_equal(bench_info(&b.end[0]).queued_flits, 20);
	inject_data(&b, 0);
	assert_int_equal(COUNTER(&b.end[0], rx_state_drop), 1);
	bench_no_rules(&b.wire[1]);
	bench_settle(&b, 5 * RL_NS_PER_MS);
	bench_check_delivered(&b);
	bench_close(&b);
}

static void
commands_that_change_nothing_say_so(void **state)
{
	struct bench b = { 0 };
	struct rl_port *p;
	uint8_t epoch;

	(void)state;
	bench_open(&b, NULL);
	p = b.end[0].port;
	assert_int_equal(rl_port_up(p, b.now_ns), -EALREADY);
	assert_int_equal(rl_port_down(p, b.now_ns), 0);
	assert_int_equal(rl_port_down(p, b.now_ns), -EALREADY);
	rl_port_start(p, b.now_ns); /* down by command: stays OFF */
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_OFF);
	assert_int_equal(rl_port_up(p, b.now_ns), 0);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_INIT);
	epoch = bench_info(&b.end[0]).tx_epoch;
	rl_port_start(p, b.now_ns); /* already on: nothing */
	assert_int_equal(bench_info(&b.end[0]).tx_epoch, epoch);
	assert_int_equal(rl_port_down(p, b.now_ns), 0);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_OFF);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("LINK-C2 an echo lost or wrong keeps an end in INIT, and "
		     "no data is taken",
		     an_echo_lost_or_wrong_keeps_an_end_in_init),
		CASE("LINK-C2 no echo at all keeps both ends in INIT",
		     no_echo_at_all_keeps_both_ends_in_init),
		CASE("LINK-C2 an echo that comes twice is answered once",
		     an_echo_that_comes_twice_is_answered_once),
		CASE("LINK-C2 a round trip longer than the init interval ends "
		     "in quiet",
		     a_round_trip_longer_than_the_init_interval_ends_in_quiet),
		CASE("LINK-C3 while it trains data waits and is not taken",
		     while_it_trains_data_waits_and_is_not_taken),
		cmocka_unit_test(a_phy_that_blinks_causes_no_init_frames),
		cmocka_unit_test(the_end_that_starts_late_trains_with_the_other),
		cmocka_unit_test(
			a_handshake_that_loses_every_second_frame_still_ends),
		CASE("LINK-C23 nothing of an old epoch is taken in a new one",
		     nothing_of_an_old_epoch_is_taken_in_a_new_one),
		CASE("LINK-C23 a frame with one epoch right is refused",
		     a_frame_with_one_epoch_right_is_refused),
		CASE("LINK-C23 a new epoch starts its numbers and credits anew",
		     a_new_epoch_restarts_numbers_and_credits),
		CASE("LINK-C23 epochs wrap after 256 trainings",
		     epochs_wrap_after_256_trainings),
		CASE("LINK-C23 a peer that starts anew ends the epoch here",
		     a_restarted_peer_ends_the_epoch_here),
		CASE("LINK-C33 five links, ten ports, train at once",
		     five_links_train_at_once),
		cmocka_unit_test(commands_that_change_nothing_say_so),
	};

	return cmocka_run_group_tests_name("handshake", tests, NULL, NULL);
}
