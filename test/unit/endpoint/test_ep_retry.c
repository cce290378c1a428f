/* SPDX-License-Identifier: BSD-3-Clause */
/* Which flits are sent again, when, and how often: NAKs, timers [EP-2]. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ep_ctrl.h"
#include "ep_fixture.h"

static struct fx fx;

static void
open_mode(enum rl_e2e_retry mode)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	cfg.retry_mode = mode;
	fx_open(&fx, &cfg, 2, 4000);
}

/** Packets of one flit each from 0 to 1, those in @p lost dropped. */
static void
send_but(unsigned int n, const char *lost)
{
	for (unsigned int i = 0; i < n; i++) {
		struct rl_flit *pkt = fx_emit(&fx, 1);

		if (lost[i] == 'x')
			fx_drop(&fx, pkt);
		else
			fx_rx(&fx, 1, pkt);
	}
}

static void
selective_retry_sends_exactly_what_is_missing(void **state)
{
	struct rl_flit *nak;
	struct rl_pktq q;

	(void)state;
	open_mode(RL_RETRY_SELECTIVE);
	send_but(12, " x  xx     x");
	fx.now += 50;
	nak = fx_poll_one(&fx, 1);
	fx_rx(&fx, 0, nak);
	q = fx_poll(&fx, 0);
	assert_int_equal(q.flits, 3); /* 1, 4, 5; nothing shows 11 yet */
	assert_int_equal(rl_flit_tag(q.head->wire), 1);
	fx_rx_all(&fx, 1, &q);
	assert_int_equal(fx_take(&fx, 1, false), 11);
	fx_run(&fx, 10);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	assert_true(rl_ep_idle(fx.ep[0]));
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 4);
	fx_close(&fx);
}

static void
go_back_n_sends_everything_after_the_gap(void **state)
{
	struct rl_flit *nak;
	struct rl_pktq q;

	(void)state;
	open_mode(RL_RETRY_GBN);
	send_but(12, " x  xx      ");
	fx.now += 50;
	nak = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(nak), RL_CMD_NAK_GBN);
	assert_int_equal(fx_ctrl_n(nak), 0);
	fx_rx(&fx, 0, nak);
	q = fx_poll(&fx, 0);
	assert_int_equal(q.flits, 11);
	fx_rx_all(&fx, 1, &q);
	assert_int_equal(fx_take(&fx, 1, false), 12);
	/* 2, 3 and 6 to 11 were not kept the first time */
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_ahead), 8);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 0);
	fx_run(&fx, 10);
	assert_true(rl_ep_idle(fx.ep[0]));
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 1);
	fx_close(&fx);
}

/* The first of what is sent again is lost, too: the numbers go back. */
static void
go_back_n_asks_again_when_the_answer_lacks_the_expected_flit(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_mode(RL_RETRY_GBN);
	fx_advance(&fx, 4); /* a round trip is known */
	send_but(4, "x   ");
	fx.now += 50;
	fx_rx(&fx, 0, fx_poll_one(&fx, 1));
	q = fx_poll(&fx, 0);
	assert_int_equal(q.packets, 4);
	fx_drop(&fx, rl_pktq_pop(&q));
	fx_rx_all(&fx, 1, &q);
	fx.now += 50;
	fx_rx(&fx, 0, fx_poll_one(&fx, 1));
	q = fx_poll(&fx, 0);
	assert_int_equal(q.packets, 4);
	fx_rx_all(&fx, 1, &q);
	assert_int_equal(fx_take(&fx, 1, false), 4);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_timeouts), 0);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 2);
	fx_close(&fx);
}

static void
runs_sent_again_end_with_packets(void **state)
{
	struct rl_flit *pkt;
	struct rl_pktq q;

	(void)state;
	open_mode(RL_RETRY_SELECTIVE);
	pkt = fx_cut(&fx, fx_cut(&fx, fx_emit(&fx, 6), 5), 1);
	fx_rx(&fx, 1, pkt);
	fx_rx(&fx, 1, fx_cut(&fx, fx_emit(&fx, 3), 0));
	fx.now += 50;
	fx_rx(&fx, 0, fx_poll_one(&fx, 1));
	q = fx_poll(&fx, 0);
	/* 1 alone; 5 and 6 are neighbours, but of two packets */
	assert_int_equal(q.packets, 3);
	for (pkt = q.head; pkt != NULL; pkt = pkt->next_pkt) {
		assert_int_equal(pkt->flags, RL_FF_SOP | RL_FF_EOP);
		assert_int_equal(pkt->pkt_flits, 1);
	}
	assert_int_equal(rl_get16(q.head->wire + 14), 1);
	fx_rx_all(&fx, 1, &q);
	assert_int_equal(fx_take(&fx, 1, false), 2);
	fx_close(&fx);
}

static void
a_lost_nak_is_replaced_by_the_timer(void **state)
{
	for (int mode = 0; mode < 2; mode++) {
		(void)state;
		open_mode((enum rl_e2e_retry)mode);
		send_but(5, " x   ");
		fx.now += 50;
		struct rl_pktq q = fx_poll(&fx, 1);

		fx_drop_all(&fx, &q);
		fx_run(&fx, 30);
		assert_int_equal(fx_take(&fx, 1, false), 5);
		assert_true(rl_ep_idle(fx.ep[0]));
		assert_true(fx_ctr(&fx, 0, RL_EPC_timeouts) >= 1);
		fx_close(&fx);
	}
}

static void
a_lost_tail_with_silence_after_it_is_sent_again(void **state)
{
	static const char *const lost[] = { "x", "  xx", "xxxx" };

	(void)state;
	for (int mode = 0; mode < 2; mode++)
		for (size_t i = 0; i < 3; i++) {
			open_mode((enum rl_e2e_retry)mode);
			send_but((unsigned int)strlen(lost[i]), lost[i]);
			fx_run(&fx, 30);
			assert_int_equal(fx_take(&fx, 1, false),
					 strlen(lost[i]));
			assert_true(rl_ep_idle(fx.ep[0]));
			assert_int_equal(fx_ctr(&fx, 0, RL_EPC_timeouts), 1);
			fx_close(&fx);
		}
}

static void
a_lost_last_ack_costs_one_probe(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_mode(RL_RETRY_SELECTIVE);
	send_but(20, "                    ");
	q = fx_poll(&fx, 1);
	fx_drop_all(&fx, &q);
	fx_run(&fx, 30);
	assert_true(rl_ep_idle(fx.ep[0]));
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_probes), 1);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 0);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 0);
	fx_close(&fx);
}

/** Endpoint 0 sends a probe, and nothing else. */
static struct rl_flit *
poll_probe(void)
{
	struct rl_flit *f = fx_poll_one(&fx, 0);

	assert_int_equal(fx_ctrl_cmd(f), EP_CMD_PROBE);
	return f;
}

static void
the_timer_is_never_early_and_moves_only_with_progress(void **state)
{
	struct rl_flit *nak;
	struct rl_pktq q;

	(void)state;
	open_mode(RL_RETRY_GBN);
	send_but(4, "xxxx"); /* at 0; the timer is 10000 */
	fx.now = 9000;
	send_but(1, " "); /* more data does not move it */
	fx.now = 9050;
	nak = fx_poll_one(&fx, 1);
	fx_rx(&fx, 0, nak); /* nor does a NAK without progress */
	q = fx_poll(&fx, 0);
	assert_int_equal(q.flits, 5);
	fx_drop_all(&fx, &q);
	fx.now = 9999;
	q = fx_poll(&fx, 0);
	assert_true(rl_pktq_empty(&q));
	fx.now = 10000;
	fx_drop(&fx, poll_probe());
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_timeouts), 1);
	fx.now = 10000 + 20000 - 1; /* backed off */
	q = fx_poll(&fx, 0);
	assert_true(rl_pktq_empty(&q));
	fx.now++;
	fx_rx(&fx, 1, poll_probe());
	fx_rx(&fx, 0, fx_poll_one(&fx, 1));
	q = fx_poll(&fx, 0);
	assert_int_equal(q.flits, 5); /* all, as go-back-N keeps none */
	fx_rx_all(&fx, 1, &q);
	fx_run(&fx, 3);
	assert_true(rl_ep_idle(fx.ep[0]));
	send_but(1, "x");
	const uint64_t t0 = fx.now;

	fx.now = t0 + 9999; /* progress took the backoff away */
	q = fx_poll(&fx, 0);
	assert_true(rl_pktq_empty(&q));
	fx.now++;
	fx_drop(&fx, poll_probe());
	fx_close(&fx);
}

static void
the_round_trip_is_measured_but_not_on_flits_sent_twice(void **state)
{
	struct rl_ep_flow_info info;
	struct rl_ep_cfg cfg;

	(void)state;
	fx_cfg(&cfg);
	cfg.retry_timer_ns = 0;
	fx_open(&fx, &cfg, 2, 400);
	send_but(3, "   ");
	rl_ep_flow_info(fx.ep[0], 0, &info);
	assert_int_equal(info.srtt_ns, 0);
	assert_int_equal(info.rto_ns, 10 * cfg.retry_timer_min_ns);
	send_but(1, " ");
	fx.now += 4000;
	fx_settle(&fx);
	rl_ep_flow_info(fx.ep[0], 0, &info);
	assert_int_equal(info.srtt_ns, 4000);
	/* srtt + 4 * srtt / 2 + ack_delay */
	assert_int_equal(info.rto_ns, 12100);
	send_but(4, "xxxx");
	fx.now += 30000;
	fx_run(&fx, 10);
	assert_true(rl_ep_idle(fx.ep[0]));
	rl_ep_flow_info(fx.ep[0], 0, &info);
	/* the probe's was: 7/8 * 4000, as here it takes no time */
	assert_int_equal(info.srtt_ns, 3500);
	fx_close(&fx);
}

/*
 * A first timer that is shorter than the round trip, and probes that are lost:
 * no round trip can be measured, unless the timer stays backed off until one is.
 */
static void
a_first_timer_too_short_is_soon_long_enough(void **state)
{
	struct rl_ep_cfg cfg;
	uint64_t again = 0;

	(void)state;
	fx_cfg(&cfg);
	cfg.retry_timer_ns = 0;
	cfg.retry_timer_min_ns = 100;
	fx_open(&fx, &cfg, 2, 400);
	for (unsigned int i = 0; i < 20; i++) {
		struct rl_flit *first = fx_emit(&fx, 1);
		const uint64_t back = fx.now + 6000;
		struct rl_pktq q;

		if (i == 10)
			again = fx_ctr(&fx, 0, RL_EPC_probes);
		while (fx.now < back) { /* all probes are lost */
			fx.now = rl_min_u64(back, rl_max_u64(
				fx.now + 1, rl_ep_deadline(fx.ep[0])));
			q = fx_poll(&fx, 0);
			fx_drop_all(&fx, &q);
		}
		fx_rx(&fx, 1, first);
		fx.now += cfg.ack_delay_ns;
		q = fx_poll(&fx, 1);
		fx_rx_all(&fx, 0, &q);
		assert_true(rl_ep_idle(fx.ep[0]));
	}
	assert_int_equal(fx_take(&fx, 1, false), 20);
	assert_true(again > 0);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_probes), again);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 0);
	fx_close(&fx);
}

static void
backpressure_is_not_held_against_the_receiver(void **state)
{
	struct rl_ep_cfg cfg;

	(void)state;
	fx_cfg(&cfg);
	cfg.retry_limit = 2;
	cfg.retry_mode = RL_RETRY_GBN;
	fx_open(&fx, &cfg, 2, 400);
	send_but(4, "xxxx");
	fx.now = 10000;
	for (unsigned int i = 0; i < 50; i++) {
		struct rl_pktq q = { 0 };

		/* the core takes nothing */
		assert_int_equal(rl_ep_poll(fx.ep[0], fx.now, &q, 0), 0);
		fx.now += 100000;
	}
	assert_int_equal(fx.nreports, 0);
	fx_run(&fx, 5);
	assert_int_equal(fx_take(&fx, 1, false), 4);
	fx_close(&fx);
}

static void
a_drop_notice_has_the_flit_sent_again_at_once(void **state)
{
	struct rl_flit *pkt;
	struct rl_pktq q;

	(void)state;
	open_mode(RL_RETRY_SELECTIVE);
	fx_advance(&fx, 3);
	fx_rx(&fx, 1, fx_cut(&fx, fx_emit(&fx, 5), 2));
	rl_ep_dropped(fx.ep[0], fx.now, 1, 0, 3, 2,
		      RL_EP_DROP_LOST);
	pkt = fx_poll_one(&fx, 0);
	assert_int_equal(pkt->pkt_flits, 1);
	assert_int_equal(rl_get16(pkt->wire + 14), 2);
	fx_rx(&fx, 1, pkt);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	/* notices of what is unknown, acknowledged, or never was */
	fx_run(&fx, 4);
	rl_ep_dropped(fx.ep[0], fx.now, 1, 0, 3, 2,
		      RL_EP_DROP_LOST);
	rl_ep_dropped(fx.ep[0], fx.now, 1, 0, 4, 0,
		      RL_EP_DROP_LOST);
	rl_ep_dropped(fx.ep[0], fx.now, 1, 7, 0, 0,
		      RL_EP_DROP_LOST);
	q = fx_poll(&fx, 0);
	assert_true(rl_pktq_empty(&q));
	assert_int_equal(fx.nreports, 0);
	fx_close(&fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(selective_retry_sends_exactly_what_is_missing),
		cmocka_unit_test(go_back_n_sends_everything_after_the_gap),
		cmocka_unit_test(go_back_n_asks_again_when_the_answer_lacks_the_expected_flit),
		cmocka_unit_test(runs_sent_again_end_with_packets),
		cmocka_unit_test(a_lost_nak_is_replaced_by_the_timer),
		cmocka_unit_test(a_lost_tail_with_silence_after_it_is_sent_again),
		cmocka_unit_test(a_lost_last_ack_costs_one_probe),
		cmocka_unit_test(the_timer_is_never_early_and_moves_only_with_progress),
		cmocka_unit_test(the_round_trip_is_measured_but_not_on_flits_sent_twice),
		cmocka_unit_test(a_first_timer_too_short_is_soon_long_enough),
		cmocka_unit_test(backpressure_is_not_held_against_the_receiver),
		cmocka_unit_test(a_drop_notice_has_the_flit_sent_again_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
