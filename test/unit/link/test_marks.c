/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error marks at a port [LCB-2, LINK-C17]: a flit corrupted inside a switch is
 * found before its transmission, or at the latest before its second one; it is
 * marked, carried and never retried. Marks once given stay.
 */
#include "bench.h"

#define US RL_NS_PER_US

static void
open_up(struct bench *b, const struct rl_link_cfg *cfg)
{
	memset(b, 0, sizeof(*b));
	bench_open(b, cfg);
	b->wire[0].delay_ns = b->wire[1].delay_ns = 2 * US;
	b->wire[0].slot_ns = b->wire[1].slot_ns = US;
	b->end[1].hold_vcs = 0xff;
	bench_start(b);
	bench_run(b, 50 * US);
}

/* Corrupt bytes in a row: FEC corrects up to three; twelve are beyond it. */
static void
hurt(struct rl_flit *f, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		f->wire[40 + i] ^= (uint8_t)(0x11 + 7 * i * i);
}

static struct rl_flit *
flit_at(struct rl_flit *pkt, unsigned int i)
{
	while (i-- > 0)
		pkt = pkt->next;
	return pkt;
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

/* FEC of a flit, and whether its CRC is that of the number `seq`. */
static uint8_t
fec_of(struct bench *b, struct rl_flit *f, uint32_t seq, bool *intact)
{
	uint8_t copy[RL_FLIT_BYTES] RL_ALIGNED(RL_CACHE_LINE);
	uint8_t *wire = copy;
	uint64_t syndrome;
	uint8_t fec;

	memcpy(copy, f->wire, sizeof(copy));
	rl_codec_rx(b->pool.codec, &wire, &seq, 1, &syndrome, &fec);
	*intact = syndrome == 0;
	return fec;
}

/* One packet of four arrived: flit `at` with `mark`, and only that one. */
static void
check_marked(struct bench *b, unsigned int at, enum rl_mark mark)
{
	struct rl_flit *pkt = b->end[1].kept.head;

	assert_int_equal(b->end[1].kept.packets, 1);
	assert_int_equal(pkt->pkt_flits, 4);
	for (unsigned int i = 0; i < 4; i++) {
		struct rl_flit *f = flit_at(pkt, i);
		bool intact;

		assert_int_equal(f->mark, i == at ? mark : RL_MARK_OK);
		assert_int_equal(fec_of(b, f, i, &intact), RL_FEC_CLEAN);
		/* good for links, never for its endpoint */
		assert_int_equal(intact, i != at);
	}
	assert_int_equal(COUNTER(&b->end[1], rx_poisoned), 1);
	assert_int_equal(COUNTER(&b->end[1], rx_expected_good), 3);
	assert_int_equal(COUNTER(&b->end[0], tx_poisoned), 1);
	assert_int_equal(COUNTER(&b->end[0], deaths), 0);
	assert_int_equal(COUNTER(&b->end[0], retrains), 0);
}

static void
finish(struct bench *b)
{
	bench_end_release(&b->end[1]);
	bench_run(b, 50 * US);
	assert_int_equal(bench_info(&b->end[0]).held_flits, 0);
	assert_int_equal(bench_info(&b->end[0]).credits[0],
			 b->cfg.credits_flits);
	bench_close(b);
}

static void
a_soft_error_is_found_before_it_is_sent(void **state)
{
	(void)state;
	for (unsigned int at = 0; at < 4; at++) {
		struct rl_link_cfg cfg;
		struct rl_flit *pkt;
		struct bench b;

		bench_cfg(&cfg);
		cfg.soft_error_check = true;
		cfg.retry = at % 2 == 0; /* an RXL hop looks, too */
		open_up(&b, &cfg);
		pkt = make(&b, 4);
		hurt(flit_at(pkt, at), 12);
		rl_port_submit(b.end[0].port, pkt, b.now_ns);
		bench_run(&b, 50 * US);
		check_marked(&b, at, RL_MARK_SOFT_ERROR);
		assert_int_equal(COUNTER(&b.end[0], tx_soft_error), 1);
		assert_int_equal(COUNTER(&b.end[1], rx_bad), 0);
		assert_int_equal(COUNTER(&b.end[1], tx_nak), 0);
		assert_int_equal(COUNTER(&b.end[0], tx_replay_flits), 0);
		finish(&b);
	}
}

/*
 * The port does not check before the first transmission: the peer refuses the
 * flit, once.
 */
static void
a_soft_error_not_looked_for_costs_one_nak_and_no_link(void **state)
{
	(void)state;
	for (unsigned int at = 0; at < 4; at++) {
		struct rl_flit *pkt;
		struct bench b;

		open_up(&b, NULL);
		pkt = make(&b, 4);
		hurt(flit_at(pkt, at), 12);
		rl_port_submit(b.end[0].port, pkt, b.now_ns);
		bench_run(&b, 50 * US);
		check_marked(&b, at, RL_MARK_SOFT_ERROR);
		assert_int_equal(COUNTER(&b.end[0], tx_soft_error), 1);
		assert_int_equal(COUNTER(&b.end[1], rx_bad), 1);
		assert_int_equal(COUNTER(&b.end[1], tx_nak), 1);
		assert_int_equal(COUNTER(&b.end[0], tx_replays), 1);
		finish(&b);
	}
}

/* The buffer itself is corrupted while its flits are under way, and lost. */
static void
a_corrupted_replay_buffer_marks_what_it_sends_again(void **state)
{
	struct rl_flit *pkt;
	struct bench b;

	(void)state;
	open_up(&b, NULL);
	bench_rule(&b.wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .act = BENCH_DROP, .first = 1,
		.last = 1 });
	pkt = make(&b, 4);
	rl_port_submit(b.end[0].port, pkt, b.now_ns);
	bench_poll(&b);
	bench_run(&b, 5 * US);
	hurt(flit_at(pkt, 2), 12);
	bench_run(&b, 100 * US);
	check_marked(&b, 2, RL_MARK_SOFT_ERROR);
	finish(&b);
}

static void
what_fec_mends_is_no_soft_error(void **state)
{
	(void)state;
	for (unsigned int bytes = 1; bytes <= 3; bytes++) {
		struct rl_link_cfg cfg;
		struct rl_flit *pkt;
		struct bench b;

		bench_cfg(&cfg);
		cfg.soft_error_check = true;
		open_up(&b, &cfg);
		pkt = make(&b, 3);
		hurt(pkt->next, bytes);
		rl_port_submit(b.end[0].port, pkt, b.now_ns);
		bench_run(&b, 50 * US);
		assert_int_equal(COUNTER(&b.end[0], tx_soft_error), 0);
		assert_int_equal(COUNTER(&b.end[1], rx_corrected), 1);
		assert_int_equal(COUNTER(&b.end[1], rx_poisoned), 0);
		finish(&b);
	}
}

/* A mark says what happened first; what happens later changes nothing. */
static void
a_mark_once_given_stays(void **state)
{
	static const enum rl_mark marks[] = {
		RL_MARK_TRANSMIT_ERROR, RL_MARK_SOFT_ERROR, RL_MARK_POISON,
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(marks); i++) {
		struct rl_link_cfg cfg;
		struct rl_flit *pkt;
		struct bench b;

		bench_cfg(&cfg);
		cfg.soft_error_check = true;
		open_up(&b, &cfg);
		pkt = make(&b, 4);
		flit_at(pkt, 3)->mark = (uint8_t)marks[i];
		hurt(flit_at(pkt, 3), 12);
		rl_port_submit(b.end[0].port, pkt, b.now_ns);
		bench_run(&b, 50 * US);
		check_marked(&b, 3, marks[i]);
		finish(&b);
	}
}

/* Poison is good for sequencing: taken, acknowledged, counted, no NAK. */
static void
poison_is_carried_counted_and_never_retried(void **state)
{
	(void)state;
	for (unsigned int at = 0; at < 4; at++) {
		struct rl_flit *pkt;
		struct bench b;
		bool intact;

		open_up(&b, NULL);
		pkt = make(&b, 4);
		flit_at(pkt, at)->mark = RL_MARK_POISON;
		rl_port_submit(b.end[0].port, pkt, b.now_ns);
		bench_run(&b, 50 * US);
		pkt = b.end[1].kept.head;
		assert_non_null(pkt);
		assert_int_equal(flit_at(pkt, at)->mark, RL_MARK_POISON);
		assert_int_equal(fec_of(&b, flit_at(pkt, at), at, &intact),
				 RL_FEC_CLEAN);
		assert_true(intact); /* the content is what its source sent */
		assert_int_equal(COUNTER(&b.end[1], rx_poisoned), 1);
		assert_int_equal(COUNTER(&b.end[1], tx_nak), 0);
		assert_int_equal(COUNTER(&b.end[0], tx_replay_flits), 0);
		finish(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("a soft error is found before it is sent [LCB-2]",
		     a_soft_error_is_found_before_it_is_sent),
		CASE("a soft error not looked for costs one NAK and no link "
		     "[LCB-2, SW-2]",
		     a_soft_error_not_looked_for_costs_one_nak_and_no_link),
		CASE("a replay buffer that is hurt marks what it sends again "
		     "[LCB-2]",
		     a_corrupted_replay_buffer_marks_what_it_sends_again),
		CASE("what FEC mends is no soft error [LCB-2, SW-2]",
		     what_fec_mends_is_no_soft_error),
		CASE("a mark once given stays [LCB-2]", a_mark_once_given_stays),
		CASE("poison is carried, counted and never retried [LINK-C17]",
		     poison_is_carried_counted_and_never_retried),
	};

	return cmocka_run_group_tests_name("error marks at a port", tests,
					   NULL, NULL);
}
