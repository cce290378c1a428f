/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flits of frames that came together are taken as one row. Whatever happens to
 * a frame of a burst, the port does what it does if the frames come one by one.
 */
#include "rewrite.h"
#include "rl_auth.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS
#define POOL 8192
#define FEW 23

/* The frames of a test, and their results. */
struct run {
	const char *what;
	unsigned int flits, frame; /* a packet, a frame */
	uint32_t credits;	   /* 0: plenty */
	bool starve;		   /* now and then few flits are free */
	bool lazy;		   /* end 1 looks at its frames now and then */
	bool both;		   /* ways */
	bool cut_through, no_retry;
	struct bench_rule rule[2];
	enum rl_port_counter shows; /* what has happened, then; 0: rx_frames */
};

#define DATA(a, from, to, n)                                                   \
	{ .type = RL_FRAME_DATA, .act = (a), .first = (from), .last = (to),    \
	  .arg = (n) }

static const struct run runs[] = {
	{ "packets of one flit", 1, 1 },
	{ "packets of one flit, five a frame", 1, 5, .both = true },
	{ "long packets in short frames", 16, 5 },
	{ "both ways", 16, 5, .both = true },
	{ "frames of the longest sort", 16, 32 },
	{ "frames that end where packets do", 16, 16, .both = true },
	{ "cut-through", 16, 3, .cut_through = true },
	{ "a flit that is hurt", 7, 5, .rule = { DATA(BENCH_HURT, 9, 9, 3) },
	  .shows = RL_PC_rx_bad },
	{ "flits that are mended", 7, 5, .rule = { DATA(BENCH_NUDGE, 5, 30, 1) },
	  .shows = RL_PC_rx_corrected },
	{ "a header that is hurt", 7, 5, .rule = { DATA(BENCH_SPOIL, 9, 9, 20) },
	  .shows = RL_PC_rx_check_error },
	{ "a frame that is lost", 7, 5, .rule = { DATA(BENCH_DROP, 11, 11, 0) },
	  .shows = RL_PC_rx_missing_seq },
	{ "frames that come twice", 7, 5, .rule = { DATA(BENCH_TWICE, 3, 40, 0) },
	  .shows = RL_PC_rx_duplicate_seq },
	{ "frames that are overtaken", 7, 5,
	  .rule = { DATA(BENCH_LATE, 4, 4, 1500), DATA(BENCH_LATE, 21, 22, 2500) },
	  .shows = RL_PC_rx_missing_seq },
	{ "many that are hurt", 16, 5, .both = true,
	  .rule = { DATA(BENCH_HURT, 10, 30, 0), DATA(BENCH_DROP, 55, 60, 0) },
	  .shows = RL_PC_rx_silent_drop },
	{ "few flits are free", 16, 5, .starve = true,
	  .shows = RL_PC_rx_no_buffer },
	{ "no room", 4, 5, .credits = 16 },
	{ "bursts of several polls", 5, 3, .both = true, .lazy = true },
	{ "the same in longer frames", 16, 16, .both = true, .lazy = true },
	{ "the same, frames lost", 5, 3, .both = true, .lazy = true,
	  .rule = { DATA(BENCH_DROP, 9, 9, 0), DATA(BENCH_SPOIL, 30, 30, 57) },
	  .shows = RL_PC_rx_missing_seq },
	{ "a sideband that is hurt", 7, 5, .rule = { DATA(BENCH_SPOIL, 9, 9, 57) },
	  .shows = RL_PC_rx_check_error },
	{ "no retry, flits hurt", 7, 5, .no_retry = true,
	  .rule = { DATA(BENCH_HURT, 9, 12, 3) },
	  .shows = RL_PC_rx_bad },
	{ "no retry, frames lost", 7, 5, .no_retry = true,
	  .rule = { DATA(BENCH_DROP, 9, 12, 0) },
	  .shows = RL_PC_rx_missing_seq },
};

static void
run_open(struct bench *b, const struct run *r, unsigned int burst)
{
	struct rl_link_cfg cfg;

	bench_cfg(&cfg);
	cfg.flits_per_frame = (uint8_t)r->frame;
	cfg.window_flits = cfg.queue_flits = 512;
	cfg.credits_flits = r->credits != 0 ? r->credits : 512;
	cfg.max_packet_flits = 16;
	cfg.retry = !r->no_retry;
	if (r->credits != 0)
		cfg.max_packet_flits = 4;
	if (r->cut_through)
		cfg.switching = RL_CUT_THROUGH;
	memset(b, 0, sizeof(*b));
	b->pool_flits = POOL;
	bench_open(b, &cfg);
	b->end[0].burst = b->end[1].burst = burst;
	b->wire[0].delay_ns = b->wire[1].delay_ns = 2 * US;
	bench_start(b);
	for (unsigned int w = 0; w < 2; w++)
		for (unsigned int i = 0; i < 2; i++)
			if (r->rule[i].act != BENCH_PASS)
				bench_rule(&b->wire[w], r->rule[i]);
}

static void
run_send(struct bench *b, const struct run *r)
{
	const unsigned int packets = 64 / r->flits + 1;

	for (unsigned int vc = 0; vc < 4; vc++) {
		bench_send(b, 0, vc, r->flits, packets);
		if (r->both)
			bench_send(b, 1, vc, r->flits, packets);
	}
}

/* A time in which all but a few flits are used elsewhere. */
static void
run_starve(struct bench *b, uint64_t ns)
{
	static struct rl_flit *kept[POOL];
	struct rl_flit_cache *c = &b->pool.cache;
	const uint32_t n = c->count > FEW ? c->count - FEW : 0;

	(void)rl_flit_get_bulk(c, kept, n);
	bench_run(b, ns);
	rl_flit_put_bulk(c, kept, n);
}

/* One burst then holds what was sent in several. */
static void
run_lazy(struct bench *b, bool looks)
{
	for (unsigned int end = 0; end < 1u + looks; end++) {
		bench_end_port(&b->end[end], b->now_ns);
		bench_end_core(&b->end[end], b->now_ns);
	}
	b->now_ns += b->step_ns;
}

static void
run_step(struct bench *b, const struct run *r, unsigned int i)
{
	if (i % 20 == 0 && i < 100)
		run_send(b, r);
	if (r->starve && i % 20 == 2)
		run_starve(b, US);
	else if (r->lazy)
		run_lazy(b, i % 3 == 0);
	else
		bench_run(b, US);
}

static void
same(const struct bench *a, const struct bench *b)
{
	for (unsigned int i = 0; i < 2; i++) {
		const struct bench_end *x = &a->end[i], *y = &b->end[i];
		struct rl_port_info m, n;

		bench_snapshot(x, &m);
		bench_snapshot(y, &n);
		/* epochs begin anywhere */
		m.tx_epoch = n.tx_epoch;
		m.rx_epoch = n.rx_epoch;
		assert_memory_equal(&m, &n, sizeof(m));
		assert_memory_equal(&x->sink, &y->sink, sizeof(x->sink));
		for (unsigned int c = 0; c < RL_PORT_COUNTER_COUNT; c++)
			if (rl_port_counters(x->port)[c] !=
			    rl_port_counters(y->port)[c])
				fail_msg("%s: %llu and %llu",
					 rl_port_counter_name(c),
					 (unsigned long long)
						 rl_port_counters(x->port)[c],
					 (unsigned long long)
						 rl_port_counters(y->port)[c]);
	}
}

static void
a_burst_is_what_its_frames_are_one_by_one(void **state)
{
	static struct bench one, all;

	(void)state;
	for (size_t k = 0; k < RL_ARRAY_SIZE(runs); k++) {
		print_message("  %s\n", runs[k].what);
		run_open(&one, &runs[k], 1);
		run_open(&all, &runs[k], 0);
		for (unsigned int i = 0; i < 200; i++) {
			run_step(&one, &runs[k], i);
			run_step(&all, &runs[k], i);
			same(&one, &all);
		}
		bench_settle(&one, 50 * MS);
		bench_settle(&all, 50 * MS);
		same(&one, &all);
		assert_true(rl_port_counters(
				    all.end[1].port)[runs[k].shows] > 0);
		if (!runs[k].no_retry)
			bench_check_delivered(&all);
		bench_close(&one);
		bench_close(&all);
	}
}

/* Two frames of one flit each that left in one burst, and arrive by hand. */
struct two {
	struct bench b;
	uint8_t *data[2];
	uint32_t len[2];
	unsigned int n;
};

static enum bench_act
two_keep(void *ctx, struct bench_frame *f)
{
	struct two *t = ctx;

	if (f->h.type != RL_FRAME_DATA || t->n == 2)
		return BENCH_PASS;
	memcpy(t->data[t->n], f->data, f->len);
	t->len[t->n++] = f->len;
	return BENCH_DROP;
}

static void
two_open(struct two *t)
{
	bench_open(&t->b, NULL);
	bench_start(&t->b);
	bench_run(&t->b, 50 * US);
	for (unsigned int i = 0; i < 2; i++)
		t->data[i] = aligned_alloc(RL_CACHE_LINE, RL_FRAME_BYTES_MAX);
	t->b.wire[0].hook = two_keep;
	t->b.wire[0].ctx = t;
	bench_send(&t->b, 0, 0, 1, 2);
	bench_poll(&t->b);
	t->b.wire[0].hook = NULL;
	assert_int_equal(t->n, 2);
}

static void
two_close(struct two *t)
{
	for (unsigned int i = 0; i < 2; i++)
		free(t->data[i]);
	bench_close(&t->b);
}

/* [PHY-3] That the one before it was true says nothing of a frame. */
static void
each_frame_of_a_burst_has_a_tag_of_its_own(void **state)
{
	struct rl_auth *auth[2];
	struct rl_auth_root root;
	struct two t = { .n = 0 };
	struct bench_end *e = &t.b.end[1];

	(void)state;
	rl_auth_root_make(&root, "a", 1);
	for (unsigned int i = 0; i < 2; i++) {
		auth[i] = rl_auth_open(&root, "s0-s1#0", i);
		t.b.auth[i] = rl_auth_link(auth[i]);
	}
	two_open(&t);
	t.data[1][t.len[1] - 1] ^= 1;
	rl_port_rx_burst(e->port, t.data, t.len, 2, t.b.now_ns);
	assert_int_equal(COUNTER(e, rx_ok), 1);
	assert_int_equal(COUNTER(e, rx_auth_error), 1);
	bench_settle(&t.b, 50 * MS);
	bench_check_delivered(&t.b);
	two_close(&t);
	for (unsigned int i = 0; i < 2; i++)
		rl_auth_close(auth[i]);
}

/* Frames behind the one that closes a link are not taken. */
static void
a_burst_ends_where_its_link_does(void **state)
{
	static const uint8_t mac[12] = { 0 };
	struct two t = { .n = 0 };
	struct bench_end *e = &t.b.end[1];
	struct rl_frame_hdr first, h;
	uint8_t *frame[3];
	uint32_t len[3];

	(void)state;
	two_open(&t);
	assert_int_equal(rl_frame_open(t.data[0], t.len[0], &first, false),
			 RL_FRAME_OK);
	h = bench_forge(e, RL_FRAME_CLOSE, 0, t.b.now_ns);
	h.stamp = first.stamp + 5;
	rl_frame_seal(e->frame, &h, mac, false);
	frame[0] = t.data[0];
	frame[1] = e->frame;
	frame[2] = t.data[1];
	len[0] = t.len[0];
	len[1] = rl_frame_length(&h);
	len[2] = t.len[1];
	assert_int_equal(rl_frame_open(t.data[1], t.len[1], &h, false),
			 RL_FRAME_OK);
	h.stamp = first.stamp + 10;
	rl_frame_seal(t.data[1], &h, mac, false);
	rl_port_rx_burst(e->port, frame, len, 3, t.b.now_ns);
	assert_int_equal(COUNTER(e, rx_close), 1);
	assert_int_equal(COUNTER(e, rx_ok), 1);
	assert_int_equal(COUNTER(e, rx_state_drop), 1);
	two_close(&t);
}

static void
open_rewritten(struct bench *b, struct rewrite *w)
{
	struct rl_link_cfg cfg;

	bench_cfg(&cfg);
	cfg.flits_per_frame = 8;
	cfg.max_packet_flits = 4;
	cfg.credits_flits = 16;
	memset(b, 0, sizeof(*b));
	bench_open(b, &cfg);
	bench_start(b);
	bench_run(b, 50 * US);
	rewrite_begin(b, w);
	b->end[1].hold_vcs = 0xff;
}

/* An open packet is given up for it. */
static void
a_whole_packet_ends_no_other(void **state)
{
	struct rewrite w = { .flit = 3, .clear = RL_SIDEBAND_EOP };
	struct bench_end *e;
	struct bench b;

	(void)state;
	open_rewritten(&b, &w);
	e = &b.end[1];
	bench_send(&b, 0, 0, 4, 2);
	bench_settle(&b, MS);
	assert_int_equal(COUNTER(e, rx_partial_discard), 1);
	assert_int_equal(e->kept.packets, 1);
	assert_int_equal(e->kept.flits, 4);
	assert_int_equal(bench_info(e).buffered[0], 4);
	bench_end_release(e);
	bench_close(&b);
}

/* A peer that sends by another VC than it has credits for. */
static void
whole_packets_are_taken_as_far_as_there_is_room(void **state)
{
	struct rewrite w = { .more = 7, .clear = 7, .from = 2, .to = 3 };
	struct bench_end *e;
	struct bench b;

	(void)state;
	open_rewritten(&b, &w);
	e = &b.end[1];
	bench_send(&b, 0, 0, 4, 4);
	bench_run(&b, 10 * US);
	assert_int_equal(bench_info(e).buffered[0], 16);
	bench_send(&b, 0, 1, 4, 4);
	bench_run(&b, 10 * US);
	assert_true(COUNTER(e, rx_overrun) > 0);
	assert_int_equal(bench_info(e).buffered[0], 16);
	bench_end_release(e);
	bench_settle(&b, 50 * MS);
	bench_end_release(e);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("a burst is what its frames are, one by one",
		     a_burst_is_what_its_frames_are_one_by_one),
		CASE("each frame of a burst has a tag of its own [PHY-3]",
		     each_frame_of_a_burst_has_a_tag_of_its_own),
		CASE("a whole packet ends no other",
		     a_whole_packet_ends_no_other),
		CASE("whole packets are taken as far as there is room",
		     whole_packets_are_taken_as_far_as_there_is_room),
		CASE("a burst ends where its link does",
		     a_burst_ends_where_its_link_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
