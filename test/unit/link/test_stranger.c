/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strangers on the wire [PHY-3]: without the key no one can join, forge or
 * change a frame.
 */
#include "rl_crc32c.h"
#include "stranger.h"

/* --- who may join -------------------------------------------------------- */

static void
ends_train_only_with_one_key_and_say_why_once(void **state)
{
	static const struct {
		enum key a, b;
		const char *link_b;
		bool train;
		enum rl_refusal why[2];
	} c[] = {
		{ KEY_A, KEY_A, "s0-s1#0", true, { 0 } },
		{ NONE, NONE, "s0-s1#0", true, { 0 } },
		{ KEY_A, KEY_B, "s0-s1#0", false,
		  { RL_REFUSED_KEY, RL_REFUSED_KEY } },
		{ KEY_A, NONE, "s0-s1#0", false,
		  { RL_REFUSED_NO_KEY, RL_REFUSED_OUR_KEY } },
		{ NONE, KEY_B, "s0-s1#0", false,
		  { RL_REFUSED_OUR_KEY, RL_REFUSED_NO_KEY } },
		/* a cable in the wrong hole: the same key, another link */
		{ KEY_A, KEY_A, "s0-s1#1", false,
		  { RL_REFUSED_KEY, RL_REFUSED_KEY } },
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct pair p;

		pair_open(&p, c[i].a, "s0-s1#0", c[i].b, c[i].link_b, NULL);
		for (unsigned int k = 0; k < 2; k++)
			rl_port_start(p.b.end[k].port, p.b.now_ns);
		bench_run(&p.b, 5 * MS);
		for (unsigned int k = 0; k < 2; k++) {
			const struct bench_end *e = &p.b.end[k];

			assert_int_equal(bench_state(e), c[i].train
								 ? RL_LINK_UP
								 : RL_LINK_INIT);
			assert_int_equal(bench_end_events(e, RL_PEV_REFUSED),
					 !c[i].train);
			if (!c[i].train)
				assert_int_equal(e->event[0].refused.why,
						 c[i].why[k]);
		}
		if (c[i].train)
			check_carries(&p.b, 20);
		pair_close(&p);
	}
}

/* Frames get lost, and the tag costs no more than its bytes. */
static void
a_link_with_a_key_loses_no_packet_when_frames_are_lost(void **state)
{
	struct pair p;

	(void)state;
	keyed(&p, NULL);
	for (unsigned int i = 0; i < 2; i++)
		bench_rule(&p.b.wire[i], (struct bench_rule){
			.type = RL_FRAME_DATA, .act = BENCH_DROP,
			.first = 5, .last = 9 });
	check_carries(&p.b, 60);
	assert_true(COUNTER(&p.b.end[0], tx_replay_flits) > 0);
	assert_int_equal(COUNTER(&p.b.end[0], rx_auth_error), 0);
	assert_int_equal(COUNTER(&p.b.end[1], rx_auth_error), 0);
	pair_close(&p);
}

/* --- forged and changed --------------------------------------------------- */

/* The header check is no secret: who changes a frame mends it. */
static void
mend(uint8_t *frame)
{
	const uint32_t header = (frame[14] & 15) == RL_FRAME_INIT
					? RL_FRAME_HEADER_LONG
					: rl_frame_header_bytes(frame[15]);

	rl_put32(frame + RL_FRAME_CHECK_OFF,
		 rl_crc32c_hole(frame + RL_FRAME_LINK_OFF,
				header - RL_FRAME_LINK_OFF,
				RL_FRAME_CHECK_OFF - RL_FRAME_LINK_OFF, false));
}

struct flip {
	uint32_t byte; /* of the next DATA frame */
	bool done;
};

static enum bench_act
flip_one(void *ctx, struct bench_frame *f)
{
	struct flip *x = ctx;

	if (x->done || f->h.type != RL_FRAME_DATA)
		return BENCH_PASS;
	assert_true(x->byte < f->len);
	x->done = true;
	f->data[x->byte] ^= 0x10;
	if (x->byte < RL_FRAME_CHECK_OFF || x->byte >= RL_FRAME_CHECK_OFF + 4)
		mend(f->data);
	return BENCH_PASS;
}

/* A packet of one flit arrives, whatever @p hook does to it on its way. */
static void
one_packet(struct pair *p, enum bench_act (*hook)(void *, struct bench_frame *),
	   struct flip *x)
{
	keyed(p, NULL);
	p->b.wire[0].hook = hook;
	p->b.wire[0].ctx = x;
	bench_send(&p->b, 0, 0, 1, 1);
	bench_settle(&p->b, 50 * MS);
	bench_check_delivered(&p->b);
}

/* A flit that FEC can mend is taken as it left; no other is taken. */
static void
a_frame_changed_anywhere_is_mended_or_not_taken(void **state)
{
	const uint32_t flit = rl_frame_header_bytes(1);
	const uint32_t len = rl_frame_bytes(1) + RL_AUTH_TAG_BYTES;
	uint32_t by_tag = 0;

	(void)state;
	for (uint32_t at = RL_FRAME_LINK_OFF; at < len; at++) {
		struct flip x = { .byte = at };
		struct pair p;
		const struct bench_end *e = &p.b.end[1];
		const bool mended = at >= flit && at < flit + RL_FLIT_BYTES;
		uint64_t bad;

		one_packet(&p, flip_one, &x);
		assert_true(x.done);
		bad = COUNTER(e, rx_auth_error);
		by_tag += bad != 0;
		/* by the tag, or before it */
		assert_int_equal(bad + COUNTER(e, rx_version_error) +
					 COUNTER(e, rx_count_error) +
					 COUNTER(e, rx_check_error) +
					 COUNTER(e, rx_type_error) +
					 COUNTER(e, rx_epoch_error) +
					 COUNTER(e, rx_truncated), !mended);
		assert_int_equal(COUNTER(e, rx_corrected), mended);
		assert_int_equal(COUNTER(&p.b.end[0], tx_replays), !mended);
		pair_close(&p);
	}
	assert_in_range(by_tag, len - RL_FLIT_BYTES - RL_FRAME_LINK_OFF - 12,
			len);
}

/* Four bytes in a row are more than FEC mends, whatever it makes of them. */
static enum bench_act
flip_four(void *ctx, struct bench_frame *f)
{
	struct flip *x = ctx;

	if (x->done || f->h.type != RL_FRAME_DATA)
		return BENCH_PASS;
	x->done = true;
	for (uint32_t i = 0; i < 4; i++)
		f->data[x->byte + i] ^= (uint8_t)(17 + 40 * i);
	return BENCH_PASS;
}

static void
what_fec_makes_of_a_flit_is_believed_only_with_the_tag(void **state)
{
	(void)state;
	for (uint32_t at = 0; at + 4 <= RL_FLIT_BYTES; at += 9) {
		struct flip x = { .byte = rl_frame_header_bytes(1) + at };
		struct pair p;
		const struct bench_end *e = &p.b.end[1];

		one_packet(&p, flip_four, &x);
		assert_int_equal(COUNTER(e, rx_auth_error), 1);
		assert_int_equal(COUNTER(e, rx_corrected), 0);
		pair_close(&p);
	}
}

/* Each is one that a port without a key obeys. */
static void
a_forged_frame_changes_nothing(void **state)
{
	static const struct {
		enum rl_frame_type type;
		uint8_t flags;
	} c[] = {
		{ RL_FRAME_IDLE, 0 },
		{ RL_FRAME_IDLE, RL_FRF_NAK },
		{ RL_FRAME_IDLE, RL_FRF_DRAIN },
		{ RL_FRAME_RETRAIN, 0 },
		{ RL_FRAME_CLOSE, 0 },
		{ RL_FRAME_INIT, RL_FRF_ACKREQ },
		{ RL_FRAME_INIT, RL_FRF_ACKREQ | RL_FRF_ECHO },
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct rl_port_info before, after;
		struct rl_frame_hdr h;
		struct pair p;
		struct bench_end *e = &p.b.end[1];

		keyed(&p, NULL);
		bench_run(&p.b, 1 * MS);
		bench_snapshot(e, &before);
		h = bench_forge(e, c[i].type, c[i].flags, p.b.now_ns);
		memset(e->frame, 0, p.b.frame_bytes);
		h.bytes = h.type == RL_FRAME_INIT ? RL_FRAME_HEADER_LONG
						  : h.bytes;
		bench_inject(e, &h, p.b.now_ns);
		bench_snapshot(e, &after);
		assert_memory_equal(&before, &after, sizeof(before));
		assert_int_equal(COUNTER(e, rx_auth_error), 1);
		check_carries(&p.b, 5);
		assert_int_equal(COUNTER(e, deaths), 0);
		pair_close(&p);
	}
}

/* Nor can noise make a detector end the link. */
static void
strangers_cannot_count_a_link_to_death(void **state)
{
	struct rl_link_cfg cfg;
	struct pair p;
	struct bench_end *e = &p.b.end[1];

	(void)state;
	bench_cfg(&cfg);
	cfg.error_window_ns = 1 * MS;
	cfg.error_corrected_max = cfg.error_uncorrectable_max = 1;
	cfg.error_replay_max = 1;
	keyed(&p, &cfg);
	for (unsigned int i = 0; i < 500; i++) {
		struct rl_frame_hdr h = bench_forge(e, RL_FRAME_IDLE, 0,
						    p.b.now_ns);

		bench_inject(e, &h, p.b.now_ns);
		e->frame[20] ^= 1; /* and its check is wrong */
		rl_port_rx_frame(e->port, e->frame, rl_frame_length(&h),
				 p.b.now_ns);
		bench_run(&p.b, 2 * US);
	}
	assert_int_equal(COUNTER(e, rx_check_error), 500);
	assert_int_equal(COUNTER(e, rx_auth_error), 500);
	assert_int_equal(COUNTER(e, degraded), 0);
	assert_int_equal(COUNTER(e, deaths), 0);
	check_carries(&p.b, 5);
	pair_close(&p);
}

/* A stranger's INIT without a key does not hide that the peer's is wrong. */
static void
a_stranger_hides_no_reason(void **state)
{
	struct record r = { .n = 0 };
	struct pair p, q;
	const struct bench_end *e = &p.b.end[1];

	(void)state;
	pair_open(&q, NONE, "s0-s1#0", NONE, "s0-s1#0", NULL);
	record_on(&q.b, 0, &r);
	rl_port_start(q.b.end[0].port, q.b.now_ns);
	bench_run(&q.b, MS);
	pair_open(&p, KEY_B, "s0-s1#0", KEY_A, "s0-s1#0", NULL);
	rl_port_start(p.b.end[1].port, p.b.now_ns);
	play(&r, &p.b.end[1], p.b.now_ns);
	rl_port_start(p.b.end[0].port, p.b.now_ns);
	bench_run(&p.b, 5 * MS);
	assert_int_equal(bench_end_events(e, RL_PEV_REFUSED), 2);
	assert_int_equal(e->event[0].refused.why, RL_REFUSED_NO_KEY);
	assert_int_equal(e->event[1].refused.why, RL_REFUSED_KEY);
	record_free(&r);
	pair_close(&p);
	pair_close(&q);
}

/* Bits turn on a link with a key as on any other. */
static void
a_link_with_a_key_degrades_as_any_other(void **state)
{
	static const enum bench_act act[] = { BENCH_NUDGE, BENCH_HURT,
					      BENCH_SPOIL, BENCH_DROP };

	(void)state;
	for (unsigned int i = 0; i < 2 * RL_ARRAY_SIZE(act); i++) {
		const enum bench_act a = act[i / 2];
		const bool lost = i % 2 == 0; /* or errors alone count */
		struct rl_link_cfg cfg;
		struct pair p;

		bench_cfg(&cfg);
		cfg.error_window_ns = MS;
		cfg.error_replay_max = lost ? 10000 : 0;
		keyed(&p, &cfg);
		bench_rule(&p.b.wire[0], (struct bench_rule){
			.type = RL_FRAME_DATA, .without = RL_FRF_RETRY,
			.act = a, .last = BENCH_EVER, .arg =
			a == BENCH_SPOIL ? 30 : 0 });
		for (unsigned int n = 0; n < 1500; n++) {
			if (bench_state(&p.b.end[1]) != RL_LINK_UP)
				break;
			bench_send(&p.b, 0, 0, 1, 1);
			bench_run(&p.b, 12 * US);
		}
		assert_int_equal(bench_end_events(&p.b.end[1],
						  RL_PEV_DEGRADED) > 0,
				 lost || a != BENCH_DROP);
		pair_close(&p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("ends train only with one key, and say why once [PHY-3]",
		     ends_train_only_with_one_key_and_say_why_once),
		CASE("a link with a key loses nothing where frames do",
		     a_link_with_a_key_loses_no_packet_when_frames_are_lost),
		CASE("a frame changed anywhere is mended or not taken",
		     a_frame_changed_anywhere_is_mended_or_not_taken),
		CASE("what FEC makes of a flit is believed only with the tag",
		     what_fec_makes_of_a_flit_is_believed_only_with_the_tag),
		CASE("a forged frame changes nothing",
		     a_forged_frame_changes_nothing),
		CASE("strangers cannot count a link to death",
		     strangers_cannot_count_a_link_to_death),
		CASE("a stranger hides no reason", a_stranger_hides_no_reason),
		CASE("[LINK-5] a link with a key degrades as any other",
		     a_link_with_a_key_degrades_as_any_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
