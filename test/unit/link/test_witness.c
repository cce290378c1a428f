/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The witness at a port [SW-5], and LCRC [LINK-7]: a flit that is altered in a
 * way that FEC takes for good is marked by the first port that sees it, and
 * counted against its own device as it leaves, against the link as it comes in.
 */
#include "bench.h"
#include "rl_witness.h"

#define US RL_NS_PER_US

struct setup {
	uint32_t witness;
	bool lcrc;
	bool no_retry;
};

static void
open_up(struct bench *b, const struct setup *s)
{
	struct rl_link_cfg cfg;

	bench_cfg(&cfg);
	cfg.witness = s->witness;
	cfg.lcrc = s->lcrc;
	cfg.retry = !s->no_retry;
	cfg.error_window_ns = 0;
	memset(b, 0, sizeof(*b));
	bench_open(b, &cfg);
	b->wire[0].delay_ns = b->wire[1].delay_ns = 2 * US;
	b->wire[0].slot_ns = b->wire[1].slot_ns = US;
	b->end[1].hold_vcs = 0xff;
	bench_start(b);
	bench_run(b, 50 * US);
}

/* One bit, and a FEC that says that all is well. */
static void
alter(struct bench *b, uint8_t *wire)
{
	wire[40] ^= 4;
	rl_codec_fec_encode(b->pool.codec, wire);
}

static struct rl_flit *
make(struct bench *b, unsigned int flits)
{
	const struct bench_packet k = {
		.src = 1, .dst = 2, .flits = (uint16_t)flits,
		.tag = b->end[0].next_tag[0]++,
	};

	return bench_make(&b->pool, &k);
}

static struct rl_flit *
flit_at(struct rl_flit *pkt, unsigned int i)
{
	while (i-- > 0)
		pkt = pkt->next;
	return pkt;
}

/* Alters the flit of the n-th DATA frame on its way, from 0. */
struct gremlin {
	struct bench *b;
	unsigned int nth, seen;
};

static enum bench_act
alter_on_the_way(void *ctx, struct bench_frame *f)
{
	struct gremlin *g = ctx;

	if (f->h.type == RL_FRAME_DATA && g->seen++ == g->nth)
		alter(g->b, f->data + rl_frame_header_bytes(f->h.nflits));
	return BENCH_PASS;
}

/* A packet of four has come: flit @p at is altered and marked, no other. */
static void
check_marked(struct bench *b, unsigned int at)
{
	struct rl_flit *pkt = b->end[1].kept.head;

	assert_int_equal(b->end[1].kept.packets, 1);
	assert_int_equal(pkt->pkt_flits, 4);
	rl_packet_open(pkt);
	for (unsigned int i = 0; i < 4; i++) {
		const struct rl_flit *f = flit_at(pkt, i);

		assert_int_equal(f->mark, i == at ? RL_MARK_SOFT_ERROR
						  : RL_MARK_OK);
	}
}

static void
finish(struct bench *b)
{
	b->wire[0].hook = NULL;
	bench_end_release(&b->end[1]);
	bench_run(b, 50 * US);
	assert_int_equal(bench_info(&b->end[0]).held_flits, 0);
	assert_int_equal(COUNTER(&b->end[0], deaths), 0);
	bench_close(b);
}

static void
a_flit_altered_inside_is_marked_as_it_leaves(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 8; k++) {
		const struct setup s = { .witness = 1, .no_retry = k >= 4 };
		struct rl_flit *pkt;
		struct bench b;

		open_up(&b, &s);
		pkt = make(&b, 4);
		alter(&b, flit_at(pkt, k % 4)->wire);
		rl_port_submit(b.end[0].port, pkt, b.now_ns);
		bench_run(&b, 50 * US);
		check_marked(&b, k % 4);
		assert_int_equal(COUNTER(&b.end[0], tx_witnessed), 4);
		assert_int_equal(COUNTER(&b.end[0], tx_altered), 1);
		assert_int_equal(COUNTER(&b.end[0], tx_soft_error), 1);
		assert_int_equal(COUNTER(&b.end[0], tx_poisoned), 1);
		/* the next one does not count it again */
		assert_int_equal(COUNTER(&b.end[1], rx_witnessed), 3);
		assert_int_equal(COUNTER(&b.end[1], rx_altered), 0);
		assert_int_equal(COUNTER(&b.end[1], tx_nak), 0);
		finish(&b);
	}
}

/* Beyond FEC: found before the peer has to refuse it. */
static void
a_flit_corrupted_inside_costs_no_nak(void **state)
{
	const struct setup s = { .witness = 1 };
	struct rl_flit *pkt;
	struct bench b;

	(void)state;
	open_up(&b, &s);
	pkt = make(&b, 4);
	for (unsigned int i = 0; i < 12; i++)
		flit_at(pkt, 2)->wire[40 + i] ^= (uint8_t)(0x11 + 7 * i * i);
	rl_port_submit(b.end[0].port, pkt, b.now_ns);
	bench_run(&b, 50 * US);
	check_marked(&b, 2);
	assert_int_equal(COUNTER(&b.end[0], tx_altered), 1);
	assert_int_equal(COUNTER(&b.end[1], tx_nak), 0);
	finish(&b);
}

static void
what_fec_mends_inside_counts_and_gets_no_mark(void **state)
{
	const struct setup s = { .witness = 1 };
	struct rl_flit *pkt;
	struct bench b;

	(void)state;
	open_up(&b, &s);
	pkt = make(&b, 4);
	flit_at(pkt, 1)->wire[77] ^= 0x5a;
	rl_port_submit(b.end[0].port, pkt, b.now_ns);
	bench_run(&b, 50 * US);
	check_marked(&b, 9);
	assert_true(bench_intact(b.end[1].kept.head));
	assert_int_equal(COUNTER(&b.end[0], tx_altered), 1);
	assert_int_equal(COUNTER(&b.end[0], tx_soft_error), 0);
	assert_int_equal(COUNTER(&b.end[1], rx_corrected), 0);
	finish(&b);
}

static void
a_flit_altered_on_the_link_is_marked_as_it_comes_in(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 8; k++) {
		const struct setup s = { .witness = 1,
					 .no_retry = k >= 4 };
		struct bench b;
		struct gremlin g = { .b = &b, .nth = k % 4 };

		open_up(&b, &s);
		b.wire[0].hook = alter_on_the_way;
		b.wire[0].ctx = &g;
		rl_port_submit(b.end[0].port, make(&b, 4), b.now_ns);
		bench_run(&b, 50 * US);
		check_marked(&b, k % 4);
		assert_int_equal(COUNTER(&b.end[0], tx_altered), 0);
		assert_int_equal(COUNTER(&b.end[1], rx_witnessed), 4);
		assert_int_equal(COUNTER(&b.end[1], rx_altered), 1);
		assert_int_equal(COUNTER(&b.end[1], rx_poisoned), 1);
		assert_int_equal(COUNTER(&b.end[1], tx_nak), 0);
		finish(&b);
	}
}

/* A row of flits in one frame, longer than the witness takes at once. */
static void
each_flit_of_a_long_train_is_looked_at(void **state)
{
	const struct setup s = { .witness = 1 };
	struct bench b;

	(void)state;
	open_up(&b, &s);
	bench_send(&b, 0, 0, 32, 6);
	bench_run(&b, 400 * US);
	assert_int_equal(COUNTER(&b.end[0], tx_witnessed), 6 * 32);
	assert_int_equal(COUNTER(&b.end[1], rx_witnessed), 6 * 32);
	assert_int_equal(COUNTER(&b.end[1], rx_altered), 0);
	finish(&b);
}

static void
off_it_looks_at_nothing(void **state)
{
	const struct setup s = { .witness = 0 };
	struct rl_flit *pkt;
	struct bench b;

	(void)state;
	open_up(&b, &s);
	pkt = make(&b, 4);
	alter(&b, pkt->wire);
	rl_port_submit(b.end[0].port, pkt, b.now_ns);
	bench_run(&b, 50 * US);
	check_marked(&b, 9);
	assert_int_equal(COUNTER(&b.end[0], tx_witnessed), 0);
	assert_int_equal(COUNTER(&b.end[1], rx_witnessed), 0);
	finish(&b);
}

/* Both ends look at the same flits, and see what was altered among them. */
static void
one_in_n(bool lcrc)
{
	const struct setup s = { .witness = 4, .lcrc = lcrc };
	unsigned int looked = 0, altered = 0;
	struct bench b;

	open_up(&b, &s);
	for (unsigned int i = 0; i < 40; i++) {
		struct rl_flit *pkt = make(&b, 4);

		for (unsigned int k = 0; k < 4; k++) {
			struct rl_flit *f = flit_at(pkt, k);
			const bool sees = rl_witness_picks(4, f->wire);

			looked += sees;
			if (lcrc || k != 2)
				continue;
			alter(&b, f->wire);
			altered += sees;
		}
		rl_port_submit(b.end[0].port, pkt, b.now_ns);
		bench_run(&b, 20 * US);
		bench_end_release(&b.end[1]);
	}
	assert_in_range(looked, 20, 60);
	assert_in_range(altered, lcrc ? 0 : 1, 39);
	assert_int_equal(COUNTER(&b.end[0], tx_witnessed), looked);
	assert_int_equal(COUNTER(&b.end[0], tx_altered), altered);
	/* with LCRC, which looks at all flits, a rate is of the same ones */
	assert_int_equal(COUNTER(&b.end[1], rx_witnessed), looked - altered);
	assert_int_equal(COUNTER(&b.end[1], rx_altered), 0);
	finish(&b);
}

static void
one_in_n_looks_at_the_same_flits_everywhere(void **state)
{
	(void)state;
	one_in_n(false);
	one_in_n(true);
}

static void
with_lcrc_a_flit_altered_on_the_link_is_sent_again(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 8; k++) {
		const struct setup s = { .lcrc = true, .witness = k / 4 };
		struct bench b;
		struct gremlin g = { .b = &b, .nth = k % 4 };

		open_up(&b, &s);
		b.wire[0].hook = alter_on_the_way;
		b.wire[0].ctx = &g;
		rl_port_submit(b.end[0].port, make(&b, 4), b.now_ns);
		bench_run(&b, 200 * US);
		check_marked(&b, 9);
		assert_true(bench_intact(b.end[1].kept.head));
		assert_int_equal(COUNTER(&b.end[1], rx_lcrc_bad), 1);
		assert_int_equal(COUNTER(&b.end[1], rx_altered), k / 4);
		assert_int_equal(COUNTER(&b.end[1], tx_nak), 1);
		assert_int_equal(COUNTER(&b.end[0], tx_replays), 1);
		assert_int_equal(COUNTER(&b.end[0], tx_altered), 0);
		finish(&b);
	}
}

/* What the sender has only like this cannot be sent better: no endless NAKs. */
static void
with_lcrc_a_flit_altered_inside_costs_one_nak(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		const struct setup s = { .lcrc = true };
		struct rl_flit *pkt;
		struct bench b;

		open_up(&b, &s);
		pkt = make(&b, 4);
		alter(&b, flit_at(pkt, k)->wire);
		rl_port_submit(b.end[0].port, pkt, b.now_ns);
		bench_run(&b, 200 * US);
		check_marked(&b, k);
		assert_int_equal(COUNTER(&b.end[0], tx_altered), 1);
		assert_int_equal(COUNTER(&b.end[1], rx_lcrc_bad), 1);
		assert_int_equal(COUNTER(&b.end[1], rx_altered), 0);
		assert_int_equal(COUNTER(&b.end[1], tx_nak), 1);
		finish(&b);
	}
}

/* Without retry it is dropped as what FEC refuses is, and reported. */
static void
with_lcrc_and_no_retry_an_altered_flit_is_dropped_and_reported(void **state)
{
	const struct setup s = { .lcrc = true, .no_retry = true };
	struct bench b;
	struct gremlin g = { .b = &b, .nth = 1 };

	(void)state;
	open_up(&b, &s);
	b.wire[0].hook = alter_on_the_way;
	b.wire[0].ctx = &g;
	rl_port_submit(b.end[0].port, make(&b, 4), b.now_ns);
	bench_run(&b, 200 * US);
	assert_int_equal(b.end[1].kept.packets, 0);
	assert_int_equal(COUNTER(&b.end[1], rx_lcrc_bad), 1);
	assert_true(b.end[1].ndrops >= 1);
	assert_int_equal(b.end[1].drop[0].why, RL_DROP_UNCORRECTABLE);
	finish(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("a flit altered inside is marked as it leaves [SW-5]",
		     a_flit_altered_inside_is_marked_as_it_leaves),
		CASE("a flit corrupted inside costs no NAK [SW-5]",
		     a_flit_corrupted_inside_costs_no_nak),
		CASE("what FEC mends inside counts and gets no mark [SW-5]",
		     what_fec_mends_inside_counts_and_gets_no_mark),
		CASE("a flit altered on the link is marked as it comes in "
		     "[SW-5]",
		     a_flit_altered_on_the_link_is_marked_as_it_comes_in),
		CASE("each flit of a long train is looked at [SW-5]",
		     each_flit_of_a_long_train_is_looked_at),
		CASE("off, it looks at nothing [SW-5]", off_it_looks_at_nothing),
		CASE("one in N looks at the same flits everywhere [SW-5]",
		     one_in_n_looks_at_the_same_flits_everywhere),
		CASE("with LCRC a flit altered on the link is sent again "
		     "[LINK-7]",
		     with_lcrc_a_flit_altered_on_the_link_is_sent_again),
		CASE("with LCRC a flit altered inside costs one NAK [LINK-7]",
		     with_lcrc_a_flit_altered_inside_costs_one_nak),
		CASE("with LCRC and no retry an altered flit is dropped and "
		     "reported [LINK-7]",
		     with_lcrc_and_no_retry_an_altered_flit_is_dropped_and_reported),
	};

	return cmocka_run_group_tests_name("witness at a port", tests, NULL,
					   NULL);
}
