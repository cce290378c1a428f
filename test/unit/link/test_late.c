/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that are late, by however much: 16 bits of a number come round, 8 bits
 * of an epoch do, and yet nothing old is taken for something new.
 */
#include "../../few.h"
#include "bench.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

/* Keeps the number `nth` of the frames of a type, to let it arrive later. */
struct late {
	uint8_t type;
	unsigned int nth;
	unsigned int seen;
	uint32_t len;
	uint8_t *data;
};

static enum bench_act
keep(void *ctx, struct bench_frame *f)
{
	struct late *l = ctx;

	if (f->h.type == l->type && l->seen++ == l->nth) {
		l->len = f->len;
		memcpy(l->data, f->data, f->len);
	}
	return BENCH_PASS;
}

static void
open_up(struct bench *b, struct late *l, unsigned int wire)
{
	struct rl_link_cfg cfg;

	memset(b, 0, sizeof(*b));
	bench_cfg(&cfg);
	cfg.flits_per_frame = 8;
	bench_open(b, &cfg);
	b->step_ns = 200;
	l->data = aligned_alloc(64, b->wire[wire].frame_bytes);
	assert_non_null(l->data);
	b->wire[wire].hook = keep;
	b->wire[wire].ctx = l;
	bench_start(b);
	bench_run(b, 50 * US);
}

/* Flits flow until so many more have gone from end 0 to end 1. */
static void
pass(struct bench *b, unsigned int flits)
{
	for (unsigned int n = 0; n < flits; n += 64) {
		bench_send(b, 0, 0, 8, (rl_min_u32(flits - n, 64) + 7) / 8);
		bench_settle(b, MS);
	}
}

static void
arrive(struct bench *b, unsigned int end, const struct late *l)
{
	assert_true(l->len != 0);
	rl_port_rx_frame(b->end[end].port, l->data, l->len, b->now_ns);
}

static void
check_same(struct bench *b, unsigned int end, const struct late *l)
{
	struct rl_port_info was, is;

	bench_run(b, 100 * US);
	bench_snapshot(&b->end[end], &was);
	arrive(b, end, l);
	bench_snapshot(&b->end[end], &is);
	assert_memory_equal(&was, &is, sizeof(is));
}

/* Core 9: the limit of long ago lies ahead again after half a cycle. */
static void
late_credits_raise_nothing(void **state)
{
	(void)state;
	for (unsigned int flits = 64; flits <= 80000; flits = flits * 3 / 2) {
		struct late l = { .type = RL_FRAME_IDLE, .nth = 1 };
		struct bench b;

		open_up(&b, &l, 1);
		pass(&b, flits);
		check_same(&b, 0, &l);
		assert_int_equal(bench_info(&b.end[0]).credits[0], 256);
		assert_int_equal(COUNTER(&b.end[0], rx_stale), 1);
		assert_int_equal(COUNTER(&b.end[0], rx_ack_seq_error), 0);
		free(l.data);
		bench_check_delivered(&b);
		bench_close(&b);
	}
}

/* The ACK of 40, late by a cycle, when 40 more than that are outstanding. */
static void
a_late_ack_frees_nothing(void **state)
{
	struct late l = { .type = RL_FRAME_IDLE };
	struct bench b;

	(void)state;
	open_up(&b, &l, 1);
	l.seen = 0;
	pass(&b, 40);
	assert_true(l.len != 0);
	pass(&b, 65536 - 40);
	b.wire[1].cut = true;
	bench_send(&b, 0, 0, 8, 10);
	bench_run(&b, 20 * US);
	assert_int_equal(bench_info(&b.end[0]).outstanding_flits, 80);
	/* another frame came since: it alone is believed */
	arrive(&b, 0, &l);
	assert_int_equal(bench_info(&b.end[0]).outstanding_flits, 80);
	assert_int_equal(COUNTER(&b.end[0], rx_stale), 1);
	b.wire[1].cut = false;
	bench_settle(&b, 50 * MS);
	bench_check_delivered(&b);
	free(l.data);
	bench_close(&b);
}

/* The flits that have the expected number again: once in 65,536. */
static void
late_flits_are_not_taken_for_those_expected(void **state)
{
	(void)state;
	for (unsigned int cycles = 0; cycles < 3; cycles++) {
		struct late l = { .type = RL_FRAME_DATA, .nth = 2 };
		struct rl_frame_hdr h;
		struct bench b;
		uint64_t ok;

		open_up(&b, &l, 0);
		pass(&b, 64);
		assert_int_equal(rl_frame_open(l.data, l.len, &h, false),
				 RL_FRAME_OK);
		pass(&b, cycles * 65536u + h.seq - 64 + (cycles ? 0 : 65536));
		ok = COUNTER(&b.end[1], rx_ok);
		assert_int_equal(ok % 65536, h.seq);
		arrive(&b, 1, &l);
		assert_int_equal(COUNTER(&b.end[1], rx_ok), ok);
		assert_int_equal(COUNTER(&b.end[1], rx_stale), 1);
		pass(&b, 64);
		bench_check_delivered(&b);
		free(l.data);
		bench_close(&b);
	}
}

/* But one that only changed places with its follower is of use. */
static void
a_frame_overtaken_by_its_follower_is_taken(void **state)
{
	struct late none = { .type = 0 };
	struct bench b;

	(void)state;
	open_up(&b, &none, 0);
	bench_no_rules(&b.wire[0]);
	bench_rule(&b.wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .act = BENCH_LATE, .first = 1,
		.last = 1, .arg = 1000 });
	b.wire[0].slot_ns = 200;
	bench_send(&b, 0, 0, 8, 4);
	bench_settle(&b, MS);
	assert_int_equal(COUNTER(&b.end[1], rx_stale), 1);
	assert_int_equal(COUNTER(&b.end[1], tx_nak), 1);
	assert_true(COUNTER(&b.end[1], rx_duplicate_seq) > 0);
	bench_check_delivered(&b);
	free(none.data);
	bench_close(&b);
}

/* Takes the link down and up again at end 0 and runs until both are UP. */
static void
retrain(struct bench *b)
{
	rl_port_down(b->end[0].port, b->now_ns);
	bench_run(b, 2 * US);
	assert_int_equal(bench_state(&b->end[0]), RL_LINK_OFF);
	rl_port_up(b->end[0].port, b->now_ns);
	bench_start(b);
	b->end[0].nmarks = b->end[1].nmarks = 0;
	b->end[0].nevents = b->end[1].nevents = 0;
}

/* Epochs have 8 bits: after 256 trainings they are what they were. */
static void
what_is_late_by_256_epochs_is_nothing(void **state)
{
	static const uint8_t types[] = { RL_FRAME_DATA, RL_FRAME_CLOSE,
					 RL_FRAME_INIT, RL_FRAME_IDLE };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(types); i += SOME(2)) {
		struct late l = { .type = types[i] };
		struct bench b;

		open_up(&b, &l, 0);
		pass(&b, 8);
		bench_run(&b, 2 * MS);
		retrain(&b);
		assert_true(l.len != 0);
		for (unsigned int k = 1; k < 256; k++)
			retrain(&b);
		check_same(&b, 1, &l);
		assert_int_equal(COUNTER(&b.end[1], rx_stale), 1);
		assert_int_equal(bench_state(&b.end[1]), RL_LINK_UP);
		pass(&b, 80);
		bench_check_delivered(&b);
		free(l.data);
		bench_close(&b);
	}
}

/* A late INIT, of the epoch before or of this, ends no link. */
static void
a_late_init_ends_nothing(void **state)
{
	(void)state;
	for (unsigned int trained = 0; trained < 2; trained++) {
		struct late l = { .type = RL_FRAME_INIT };
		struct bench b;

		open_up(&b, &l, 0);
		if (trained)
			retrain(&b);
		check_same(&b, 1, &l);
		bench_run(&b, MS);
		assert_int_equal(COUNTER(&b.end[1], rx_stale), 1);
		assert_int_equal(COUNTER(&b.end[1], trainings), 1 + trained);
		assert_int_equal(bench_state(&b.end[1]), RL_LINK_UP);
		free(l.data);
		bench_close(&b);
	}
}

/* One of the far future would make all that are true look late. */
static void
a_stamp_of_the_future_makes_no_port_deaf(void **state)
{
	static const uint64_t ahead[] = { 2 * RL_NS_PER_S, 3600 * RL_NS_PER_S,
					  1ull << 54, (1ull << 55) - RL_NS_PER_S };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(ahead); i++) {
		struct late none = { .type = 0 };
		struct rl_frame_hdr h;
		struct bench b;

		open_up(&b, &none, 0);
		bench_run(&b, 10 * MS);
		h = bench_forge(&b.end[1], RL_FRAME_IDLE, 0, b.now_ns);
		h.stamp += ahead[i];
		bench_inject(&b.end[1], &h, b.now_ns);
		assert_int_equal(COUNTER(&b.end[1], rx_stamp_error), 1);
		pass(&b, 80);
		assert_int_equal(COUNTER(&b.end[1], rx_stale), 0);
		assert_int_equal(COUNTER(&b.end[1], deaths), 0);
		bench_check_delivered(&b);
		free(none.data);
		bench_close(&b);
	}
}

/* Without link retry nothing brings a number back but the next frame's. */
static void
without_link_retry_a_wrong_number_costs_no_more_than_a_frame(void **state)
{
	(void)state;
	for (unsigned int idle = 0; idle < 2; idle++) {
		struct rl_link_cfg cfg;
		struct rl_frame_hdr h;
		struct bench b = { 0 };

		bench_cfg(&cfg);
		cfg.retry = false;
		cfg.keepalive_ns = idle ? 50 * US : 0;
		cfg.keepalive_dead_ns = 0;
		bench_open(&b, &cfg);
		bench_start(&b);
		bench_send(&b, 0, 0, 4, 10);
		bench_settle(&b, MS);
		h = bench_forge(&b.end[1], RL_FRAME_IDLE, 0, b.now_ns);
		h.seq = 30000;
		bench_inject(&b.end[1], &h, b.now_ns);
		bench_run(&b, 100 * US);
		bench_send(&b, 0, 0, 4, 10);
		bench_settle(&b, MS);
		bench_check_delivered(&b);
		assert_int_equal(COUNTER(&b.end[1], rx_duplicate_seq), 0);
		bench_close(&b);
	}
}

/* A little ahead it is believed, and costs what silence costs: an epoch. */
static void
a_stamp_a_little_ahead_costs_an_epoch_at_most(void **state)
{
	struct late none = { .type = 0 };
	struct rl_frame_hdr h;
	struct bench b;

	(void)state;
	open_up(&b, &none, 0);
	h = bench_forge(&b.end[1], RL_FRAME_IDLE, 0, b.now_ns);
	h.stamp += 900 * MS;
	bench_inject(&b.end[1], &h, b.now_ns);
	bench_run(&b, 40 * MS);
	assert_int_equal(bench_end_detector(&b.end[1]), RL_DET_KEEPALIVE);
	bench_start(&b);
	pass(&b, 80);
	bench_check_delivered(&b);
	free(none.data);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("[LCB-3] late credits raise nothing",
		     late_credits_raise_nothing),
		CASE("[LINK-3] a late ACK frees nothing",
		     a_late_ack_frees_nothing),
		CASE("[LINK-3] late flits are not taken for those expected",
		     late_flits_are_not_taken_for_those_expected),
		CASE("[LINK-3] a frame overtaken by its follower is taken",
		     a_frame_overtaken_by_its_follower_is_taken),
		CASE("[LINK-4] what is late by 256 epochs is nothing",
		     what_is_late_by_256_epochs_is_nothing),
		CASE("[LINK-3] a stamp of the future makes nobody deaf",
		     a_stamp_of_the_future_makes_no_port_deaf),
		CASE("[LCB-4] without link retry a wrong number costs no more "
		     "than a frame",
		     without_link_retry_a_wrong_number_costs_no_more_than_a_frame),
		cmocka_unit_test(a_stamp_a_little_ahead_costs_an_epoch_at_most),
		CASE("[LINK-4] a late INIT ends nothing",
		     a_late_init_ends_nothing),
	};

	return cmocka_run_group_tests_name("late", tests, NULL, NULL);
}
