/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * End-to-end retry off: the links alone are trusted. Losses are losses, but
 * never disorder, duplicates or damage [DRL-5, DRL-9, EP-4].
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ep_fixture.h"

static struct fx fx;

static void
open_off(void)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	cfg.retry = false;
	cfg.window_flits = 64;
	fx_open(&fx, &cfg, 2, 4000);
}

/** @p n packets of @p flits flits, all lost or all received. */
static void
send_n(unsigned int n, uint32_t flits, bool lost)
{
	while (n-- > 0) {
		struct rl_flit *pkt = fx_emit(&fx, flits);

		if (lost)
			fx_drop(&fx, pkt);
		else
			fx_rx(&fx, 1, pkt);
	}
}

static void
nothing_is_kept_and_nothing_acknowledged(void **state)
{
	struct rl_flit *back;
	struct rl_pktq q;

	(void)state;
	open_off();
	send_n(500, 3, false);
	assert_int_equal(rl_ep_flits(fx.ep[0]), 0);
	assert_true(rl_ep_idle(fx.ep[0]));
	assert_int_equal(fx_take(&fx, 1, false), 500);
	/* nor by what goes back */
	assert_int_equal(fx_send(&fx, 1, 0, 0, 10), 0);
	back = fx_poll_one(&fx, 1);
	assert_int_equal(rl_flit_cmd(back->wire), RL_CMD_SEQ);
	assert_int_equal(rl_flit_fsn(back->wire), 0);
	assert_int_equal(rl_flit_ack(back->wire), 0);
	fx_rx(&fx, 0, back);
	assert_int_equal(fx_take(&fx, 0, false), 1);
	fx.now += 1000000;
	q = fx_poll(&fx, 1);
	assert_true(rl_pktq_empty(&q));
	assert_int_equal(rl_ep_deadline(fx.ep[0]), RL_NEVER);
	assert_int_equal(rl_ep_deadline(fx.ep[1]), RL_NEVER);
	fx_close(&fx);
}

static void
a_gap_is_waited_for_and_then_skipped_and_counted(void **state)
{
	struct rl_flit *late;

	(void)state;
	open_off();
	send_n(2, 2, false);
	late = fx_emit(&fx, 3);
	send_n(4, 2, false);
	assert_int_equal(fx_take(&fx, 1, false), 2);
	fx.now += 499;
	fx_settle(&fx);
	assert_int_equal(fx_take(&fx, 1, false), 0);
	fx.now += 1;
	fx_settle(&fx);
	assert_int_equal(fx_take(&fx, 1, true), 4);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_lost_flits), 3);
	/* too late is never */
	fx_rx(&fx, 1, late);
	assert_int_equal(fx_take(&fx, 1, true), 0);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_too_late), 1);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 2);
	fx_settle(&fx);
	assert_int_equal(fx.nreports, 1);
	assert_int_equal(fx.report[0].tag, 2);
	fx_close(&fx);
}

/* How often packet @p tag of endpoint 0 was reported. */
static unsigned int
reports_of(uint32_t tag)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < fx.nreports; i++)
		n += fx.report[i].src == 0 && fx.report[i].dst == 1 &&
		     fx.report[i].tag == tag &&
		     fx.report[i].reason == RL_EP_DROPPED;
	return n;
}

/*
 * Only the destination can tell its source: the fabric has delivered it
 * [EP-4].
 */
static void
what_comes_after_its_gap_was_skipped_is_reported_once(void **state)
{
	/* the order in which the late ones come; 0 and 7 were delivered */
	static const unsigned int order[][9] = {
		{ 1, 2, 3, 4, 5, 6, 0, 7, 3 },
		{ 6, 5, 4, 3, 2, 1, 7, 0, 1 },
		{ 3, 3, 0, 1, 5, 2, 7, 6, 4 },
		{ 1, 6, 2, 5, 3, 4, 4, 6, 1 },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(order); i++)
		for (unsigned int polls = 0; polls < 2; polls++) {
			struct rl_flit *pkt[8];

			open_off();
			for (unsigned int k = 0; k < 8; k++)
				pkt[k] = fx_emit(&fx, 1);
			fx_rx(&fx, 1, fx_copy(&fx, pkt[0]));
			fx_rx(&fx, 1, fx_copy(&fx, pkt[7]));
			fx.now += 500;
			fx_settle(&fx);
			assert_int_equal(fx_take(&fx, 1, true), 2);
			assert_int_equal(fx.nreports, 0);
			for (unsigned int k = 0; k < 9; k++) {
				fx_rx(&fx, 1, fx_copy(&fx, pkt[order[i][k]]));
				if (polls)
					fx_settle(&fx);
			}
			fx_settle(&fx);
			assert_int_equal(fx_take(&fx, 1, true), 0);
			assert_int_equal(fx.nreports, 6);
			for (unsigned int k = 0; k < 8; k++) {
				assert_int_equal(reports_of(k),
						 k != 0 && k != 7);
				fx_drop(&fx, pkt[k]);
			}
			assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_too_late), 6);
			assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 3);
			fx_close(&fx);
		}
}

/*
 * The word that packets came too late is lost on its way: its notice says it.
 * @return the notice; endpoint 0 has sent 8 packets, of which each but the first
 * and the last came too late
 */
static struct rl_ep_notice
lose_the_word(void)
{
	struct rl_flit *pkt[8];
	struct rl_ep_notice notice;
	struct rl_pktq q;

	for (unsigned int k = 0; k < 8; k++)
		pkt[k] = fx_emit(&fx, 1);
	fx_rx(&fx, 1, pkt[0]);
	fx_rx(&fx, 1, pkt[7]);
	fx.now += 500;
	fx_settle(&fx);
	assert_int_equal(fx_take(&fx, 1, true), 2);
	for (unsigned int k = 1; k < 7; k++)
		fx_rx(&fx, 1, pkt[k]);
	q = fx_poll(&fx, 1);
	assert_int_equal(q.flits, 1);
	rl_ep_notice_of(q.head, RL_EP_DROP_NO_PATH, &notice);
	fx_drop_all(&fx, &q);
	fx_settle(&fx);
	assert_int_equal(fx.nreports, 0);
	return notice;
}

static void
the_word_of_late_packets_is_told_by_its_notice_too(void **state)
{
	struct rl_ep_notice n;

	(void)state;
	open_off();
	n = lose_the_word();
	assert_int_equal(n.whose, 0); /* not 1, which has sent it */
	assert_int_equal(n.peer, 1);
	assert_int_equal(n.pos, RL_EP_POS_SKIPPED);
	for (unsigned int i = 0; i < 2; i++) {
		rl_ep_notice(fx.ep[n.whose], fx.now, &n);
		assert_int_equal(fx.nreports, 6);
	}
	for (unsigned int k = 0; k < 8; k++)
		assert_int_equal(reports_of(k), k != 0 && k != 7);
	/* it says nothing of the way to whom it names */
	assert_false(rl_ep_unreachable(fx.ep[0], 1, NULL));
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_drop_notices), 2);
	fx_close(&fx);
}

/*
 * The content of a flit that was corrupted before it was dropped is not
 * believed.
 */
static void
a_notice_of_packets_never_sent_reports_nothing(void **state)
{
	static const struct {
		uint16_t peer;
		uint8_t cos;
		uint32_t tag, end;
	} bad[] = {
		{ 1, 0, 1, 9 },		    /* beyond what was sent */
		{ 1, 0, 0xfffffff0u, 2 },   /* before the first */
		{ 1, 0, 5, 4 },		    /* backwards */
		{ 1, 3, 1, 4 },		    /* no such flow */
		{ 2, 0, 1, 4 },		    /* no such peer's flow */
		{ 1, 0, 0x40000000u, 4 },   /* far off */
	};
	struct rl_ep_notice n;

	(void)state;
	open_off();
	n = lose_the_word();
	for (size_t i = 0; i < RL_ARRAY_SIZE(bad); i++) {
		struct rl_ep_notice m = n;

		m.peer = bad[i].peer;
		m.cos = bad[i].cos;
		m.tag = bad[i].tag;
		m.end = bad[i].end;
		rl_ep_notice(fx.ep[0], fx.now, &m);
		assert_int_equal(fx.nreports, 0);
	}
	fx_close(&fx);
}

/* The newest are kept in mind, of all flows; the rest is late and no more. */
static void
so_many_gaps_are_kept_in_mind_and_no_more(void **state)
{
	struct rl_flit *late[40];

	(void)state;
	open_off();
	for (unsigned int i = 0; i < 40; i++) {
		late[i] = fx_emit(&fx, 1);
		send_n(1, 1, false);
		fx.now += 500;
		fx_settle(&fx);
	}
	assert_int_equal(fx_take(&fx, 1, true), 40);
	for (unsigned int i = 0; i < 40; i++)
		fx_rx(&fx, 1, late[i]);
	fx_settle(&fx);
	assert_int_equal(fx.nreports, 32);
	for (unsigned int i = 0; i < 40; i++)
		assert_int_equal(reports_of(2 * i), i >= 8);
	fx_close(&fx);
}

static void
each_gap_has_a_time_of_its_own(void **state)
{
	(void)state;
	open_off();
	send_n(1, 1, true);
	send_n(1, 1, false); /* at 0 */
	fx.now = 400;
	send_n(1, 1, true);
	send_n(1, 1, false); /* at 400 */
	fx.now = 500;
	fx_settle(&fx);
	assert_int_equal(fx_take(&fx, 1, true), 1);
	fx.now = 899;
	fx_settle(&fx);
	assert_int_equal(fx_take(&fx, 1, true), 0);
	fx.now = 900;
	fx_settle(&fx);
	assert_int_equal(fx_take(&fx, 1, true), 1);
	fx_close(&fx);
}

static void
many_flows_skip_their_gaps_each_at_its_time(void **state)
{
	(void)state;
	open_off();
	for (uint8_t cos = 0; cos < 8; cos++) {
		fx.now = 10 * cos;
		assert_int_equal(fx_send(&fx, 0, 1, cos, 8), 0);
		fx_drop(&fx, fx_poll_one(&fx, 0));
		assert_int_equal(fx_send(&fx, 0, 1, cos, 8), 0);
		fx_rx(&fx, 1, fx_poll_one(&fx, 0));
	}
	for (unsigned int i = 0; i < 8; i++) {
		fx.now = 500 + 10 * i;
		assert_int_equal(rl_ep_deadline(fx.ep[1]), fx.now);
		fx_settle(&fx);
		assert_int_equal(fx_take(&fx, 1, true), 1);
	}
	fx_close(&fx);
}

static void
what_comes_late_but_in_time_is_put_in_its_place(void **state)
{
	struct rl_flit *late;

	(void)state;
	open_off();
	late = fx_emit(&fx, 3);
	send_n(10, 2, false);
	fx.now += 499;
	fx_settle(&fx);
	fx_rx(&fx, 1, late);
	assert_int_equal(fx_take(&fx, 1, false), 11);
	fx.now += 10000;
	fx_settle(&fx);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_lost_flits), 0);
	fx_close(&fx);
}

static void
a_packet_that_lacks_any_flit_is_dropped_whole(void **state)
{
	(void)state;
	for (unsigned int cut = 0; cut < 6; cut++) {
		open_off();
		send_n(1, 2, false);
		fx_rx(&fx, 1, fx_cut(&fx, fx_emit(&fx, 6), cut));
		send_n(2, 3, false);
		fx_run(&fx, 4);
		assert_int_equal(fx_take(&fx, 1, true), 3);
		assert_int_equal(fx.got[0][1][0], 4);
		assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_lost_flits), 1);
		assert_int_equal(rl_ep_flits(fx.ep[1]), 0);
		fx_close(&fx);
	}
}

static void
losses_of_any_length_are_survived_even_beyond_the_modulus(void **state)
{
	static const unsigned int lost[] = { 1,	   62,	 63,   64,   65,   511,
					     512,  513,	 700,  1022, 1023, 1024,
					     1025, 1500, 2047, 2048, 2049, 5000 };

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(lost); i++) {
		open_off();
		send_n(100, 1, false);
		assert_int_equal(fx_take(&fx, 1, false), 100);
		send_n(lost[i], 1, true);
		send_n(10, 3, false);
		fx_run(&fx, 4);
		assert_int_equal(fx_take(&fx, 1, true), 10);
		assert_int_equal(fx.got[0][1][0], 100 + lost[i] + 10);
		if (lost[i] < 1023) /* a multiple of the modulus hides */
			assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_lost_flits),
					 lost[i]);
		fx_close(&fx);
	}
}

static void
a_long_loss_in_a_packet_drops_its_start_and_its_end(void **state)
{
	struct rl_flit *pkt, *end;

	(void)state;
	open_off();
	pkt = fx_emit(&fx, 4);
	pkt = fx_cut(&fx, fx_cut(&fx, pkt, 3), 2);
	fx_rx(&fx, 1, pkt);
	send_n(200, 5, true);
	end = fx_emit(&fx, 4);
	end = fx_cut(&fx, fx_cut(&fx, end, 0), 0);
	fx_rx(&fx, 1, end);
	send_n(3, 1, false);
	fx_run(&fx, 4);
	assert_int_equal(fx_take(&fx, 1, true), 3);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_partial_dropped), 1);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_orphan_flits), 2);
	fx_close(&fx);
}

static void
a_jump_delivers_what_was_held_before_it(void **state)
{
	(void)state;
	open_off();
	send_n(1, 1, true);
	send_n(5, 2, false);
	assert_int_equal(fx_take(&fx, 1, true), 0);
	send_n(300, 3, true);
	send_n(1, 2, false);
	assert_int_equal(fx_take(&fx, 1, true), 6);
	assert_int_equal(fx.got[0][1][0], 307);
	fx_close(&fx);
}

/* [LINK-C29] without retry. */
static void
duplicates_of_a_reroute_are_dropped_by_tag(void **state)
{
	struct rl_flit *pkt, *dup;

	(void)state;
	open_off();
	for (unsigned int i = 0; i < 3000; i++) {
		pkt = fx_emit(&fx, 1 + i % 5);
		dup = fx_copy(&fx, pkt);
		fx_rx(&fx, 1, pkt);
		fx_rx(&fx, 1, dup);
		assert_int_equal(fx_take(&fx, 1, false), 1);
	}
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 9000);
	fx_close(&fx);
}

/* The fabric dropped nothing, so its source hears of it from nobody else. */
static void
a_packet_that_arrives_hurt_is_reported_when_it_is_skipped(void **state)
{
	struct rl_flit *pkt;
	struct rl_pktq q;

	(void)state;
	open_off();
	send_n(2, 3, false);
	pkt = fx_emit(&fx, 3);
	fx_corrupt(pkt, 1);
	fx_rx(&fx, 1, pkt);
	send_n(2, 3, false);
	send_n(1, 3, true); /* lost on the way: the fabric says so */
	send_n(1, 3, false);
	fx.now += fx.cfg.gap_skip_ns;
	q = fx_poll(&fx, 1);
	assert_int_equal(q.packets, 1);
	fx_rx_all(&fx, 0, &q);
	assert_int_equal(fx.nreports, 1);
	assert_int_equal(fx.report[0].tag, 2);
	assert_int_equal(fx.report[0].reason, RL_EP_DROPPED);
	assert_int_equal(fx_take(&fx, 1, true), 5);
	fx_close(&fx);
}

/* In several ranges: a sender refuses one that is longer than its numbers. */
static void
a_long_gap_with_a_corrupt_packet_is_reported_whole(void **state)
{
	static const unsigned int lost[] = { 511, 512, 1022, 1500, 3000 };

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(lost); i++) {
		struct rl_flit *pkt;

		open_off();
		send_n(2, 1, false);
		pkt = fx_emit(&fx, 1);
		fx_corrupt(pkt, 0);
		fx_rx(&fx, 1, pkt);
		send_n(lost[i], 1, true);
		send_n(3, 1, false);
		fx_run(&fx, 4);
		assert_int_equal(fx_take(&fx, 1, true), 5);
		assert_int_equal(fx_ctr(&fx, 0, RL_EPC_ack_invalid), 0);
		assert_int_equal(fx_ctr(&fx, 0, RL_EPC_reported_packets),
				 lost[i] + 1);
		fx_close(&fx);
	}
}

static void
a_drop_notice_becomes_a_report(void **state)
{
	(void)state;
	open_off();
	send_n(3, 2, true);
	rl_ep_dropped(fx.ep[0], fx.now, 1, 0, 1, 0,
		      RL_EP_DROP_LOST);
	assert_int_equal(fx.nreports, 1);
	assert_int_equal(fx.report[0].tag, 1);
	assert_int_equal(fx.report[0].dst, 1);
	assert_int_equal(fx.report[0].reason, RL_EP_DROPPED);
	rl_ep_dropped(fx.ep[0], fx.now, 1, 0, 3, 0,
		      RL_EP_DROP_LOST); /* never sent */
	rl_ep_dropped(fx.ep[0], fx.now, 1, 1, 0, 0,
		      RL_EP_DROP_LOST); /* no such flow */
	assert_int_equal(fx.nreports, 1);
	fx_close(&fx);
}

/* Each flit that is dropped brings a notice, from wherever it was. */
static void
a_packet_is_reported_once_however_many_of_its_flits_are_dropped(void **state)
{
	(void)state;
	open_off();
	send_n(300, 3, true);
	for (uint32_t tag = 0; tag < 300; tag += 10)
		for (uint16_t pos = 0; pos < 3; pos++)
			for (uint32_t i = 0; i < 10; i++)
				rl_ep_dropped(fx.ep[0], fx.now, 1, 0,
					      tag + (pos & 1 ? 9 - i : i), pos,
					      RL_EP_DROP_LOST);
	assert_int_equal(fx.nreports, 300);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_reported_packets), 300);
	for (uint32_t i = 0; i < 300; i++)
		assert_int_equal(fx.report[i].tag, i);
	/* 64 are known; what is older is rather reported twice than never */
	rl_ep_dropped(fx.ep[0], fx.now, 1, 0, 236, 1, RL_EP_DROP_LOST);
	assert_int_equal(fx.nreports, 300);
	rl_ep_dropped(fx.ep[0], fx.now, 1, 0, 235, 1, RL_EP_DROP_LOST);
	assert_int_equal(fx.nreports, 301);
	fx_close(&fx);
}

/* And after a gap of any length. */
static void
a_packet_far_behind_the_last_report_is_reported(void **state)
{
	static const uint32_t tags[] = { 5, 68, 69, 6, 5, 133, 68, 299, 235 };

	(void)state;
	open_off();
	send_n(300, 1, true);
	for (size_t i = 0; i < RL_ARRAY_SIZE(tags); i++)
		rl_ep_dropped(fx.ep[0], fx.now, 1, 0, tags[i], 0,
			      RL_EP_DROP_LOST);
	/* 5 is 64 behind 69, and 68 is 65 behind 133 */
	assert_int_equal(fx.nreports, 9);
	rl_ep_dropped(fx.ep[0], fx.now, 1, 0, 299, 0, RL_EP_DROP_LOST);
	assert_int_equal(fx.nreports, 9);
	fx_close(&fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_kept_and_nothing_acknowledged),
		cmocka_unit_test(a_gap_is_waited_for_and_then_skipped_and_counted),
		cmocka_unit_test(
			what_comes_after_its_gap_was_skipped_is_reported_once),
		cmocka_unit_test(
			the_word_of_late_packets_is_told_by_its_notice_too),
		cmocka_unit_test(a_notice_of_packets_never_sent_reports_nothing),
		cmocka_unit_test(so_many_gaps_are_kept_in_mind_and_no_more),
		cmocka_unit_test(each_gap_has_a_time_of_its_own),
		cmocka_unit_test(many_flows_skip_their_gaps_each_at_its_time),
		cmocka_unit_test(what_comes_late_but_in_time_is_put_in_its_place),
		cmocka_unit_test(a_packet_that_lacks_any_flit_is_dropped_whole),
		cmocka_unit_test(losses_of_any_length_are_survived_even_beyond_the_modulus),
		cmocka_unit_test(a_long_loss_in_a_packet_drops_its_start_and_its_end),
		cmocka_unit_test(a_jump_delivers_what_was_held_before_it),
		cmocka_unit_test(duplicates_of_a_reroute_are_dropped_by_tag),
		cmocka_unit_test(a_packet_that_arrives_hurt_is_reported_when_it_is_skipped),
		cmocka_unit_test(a_long_gap_with_a_corrupt_packet_is_reported_whole),
		cmocka_unit_test(a_drop_notice_becomes_a_report),
		cmocka_unit_test(
			a_packet_is_reported_once_however_many_of_its_flits_are_dropped),
		cmocka_unit_test(
			a_packet_far_behind_the_last_report_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
