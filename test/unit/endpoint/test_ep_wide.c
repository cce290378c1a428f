/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ep_fixture.h"
#include "rl_seq.h"

/* Windows beyond 511 flits, with nineteen bits of number [EP-9]. */

static struct fx fx;

#define PACKETS 4095 /* of two flits each: the largest window, but for one */

static void
open_wide(void)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	cfg.isn = RL_ISN_WIDE19;
	cfg.window_flits = RL_E2E_WIDE_WINDOW_MAX;
	cfg.tx_buffer_flits = cfg.rx_buffer_flits =
		2 * RL_E2E_WIDE_WINDOW_MAX;
	fx_open(&fx, &cfg, 2, 40000);
}

/** Sends packets until the window is full; those lo .. hi-1 get lost. */
static void
fill_but(unsigned int lo, unsigned int hi)
{
	for (unsigned int i = 0; i < PACKETS; i++) {
		struct rl_pktq q;
		struct rl_flit *pkt;

		assert_int_equal(fx_send(&fx, 0, 1, 0, 300), 0);
		q = fx_poll(&fx, 0);
		while ((pkt = rl_pktq_pop(&q)) != NULL)
			if (i >= lo && i < hi)
				fx_drop(&fx, pkt);
			else
				fx_rx(&fx, 1, pkt);
	}
}

static void
a_window_of_8191_flits_fills_and_is_delivered(void **state)
{
	(void)state;
	open_wide();
	for (unsigned int round = 0; round < 70; round++) {
		for (unsigned int i = 0; i < PACKETS; i++)
			assert_int_equal(fx_send_raw(&fx, 1, 0, 0, 300), 0);
		assert_int_equal(fx_send_raw(&fx, 1, 0, 0, 300), -EBUSY);
		fx_run(&fx, 20);
		for (unsigned int i = 0; i < PACKETS; i++) {
			struct rl_flit *pkt = rl_ep_recv(fx.ep[1]);

			assert_non_null(pkt);
			rl_packet_put(&fx.cache, pkt);
		}
		assert_true(rl_ep_idle(fx.ep[0]));
	}
	/* the number has come round: 70 * 8190 is more than 2^19 */
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 0);
	fx_close(&fx);
}

static void
naks_ask_for_more_and_further_flits_than_one_bitmap_names(void **state)
{
	static const unsigned int lost[][2] = {
		{ 0, 1 }, { 0, 256 }, { 0, 257 }, { 700, 701 }, { 1000, 3000 },
		{ 3000, 4094 }, { 0, 4094 },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(lost); i++) {
		const unsigned int n = 2 * (lost[i][1] - lost[i][0]);

		open_wide();
		fill_but(lost[i][0], lost[i][1]);
		for (unsigned int k = 0; k < 20; k++)
			fx_settle(&fx);
		assert_int_equal(fx_take(&fx, 1, false), PACKETS);
		assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), n);
		assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent),
				 (n + 511) / 512);
		assert_int_equal(fx_ctr(&fx, 0, RL_EPC_timeouts), 0);
		fx_close(&fx);
	}
}

static void
echoes_name_a_lost_tail_of_any_length(void **state)
{
	static const unsigned int from[] = { 0, 1, 3000, 3838, 3839, 4094 };

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(from); i++) {
		const unsigned int n = 2 * (PACKETS - from[i]);

		open_wide();
		fill_but(from[i], PACKETS);
		fx_run(&fx, 100);
		assert_int_equal(fx_take(&fx, 1, false), PACKETS);
		assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), n);
		/* one that is full is followed by the next question at once */
		assert_int_equal(fx_ctr(&fx, 0, RL_EPC_timeouts), 1);
		assert_true(rl_ep_idle(fx.ep[0]));
		fx_close(&fx);
	}
}

/** The notice of flits from @p pos on of the @p nth packet. */
static void
tell_dropped(uint32_t nth, uint16_t pos, uint16_t flits)
{
	const struct rl_ep_notice n = {
		.tag = fx.tag0[0][1][0] + nth,
		.peer = 1,
		.pos = pos,
		.flits = flits,
		.why = RL_EP_DROP_LOST,
	};

	rl_ep_notice(fx.ep[0], fx.now, &n);
}

static void
a_notice_names_flits_of_its_own_packet_only(void **state)
{
	static const struct {
		uint32_t nth;
		uint16_t pos, flits;
		unsigned int again;
	} told[] = {
		{ 0, 0, 0, 1 }, { 0, 0, 1, 1 }, { 0, 0, 2, 2 },
		{ 0, 1, 9, 1 }, { 7, 0, 65535, 2 }, { 2000, 0, 2, 2 },
		{ 2000, 1, 1, 1 }, { 2000, 2, 1, 0 },
		{ PACKETS - 1, 0, 2, 2 }, { PACKETS - 1, 1, 65535, 1 },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(told); i++) {
		struct rl_pktq q;

		open_wide();
		fill_but(0, PACKETS);
		tell_dropped(told[i].nth, told[i].pos, told[i].flits);
		q = fx_poll(&fx, 0);
		fx_drop_all(&fx, &q);
		assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits),
				 told[i].again);
		fx_close(&fx);
	}
}

static void
notices_of_all_of_a_window_have_each_flit_sent_once_more(void **state)
{
	(void)state;
	open_wide();
	fill_but(0, PACKETS);
	for (uint32_t i = 0; i < PACKETS; i++)
		tell_dropped(i, 0, 2);
	fx_settle(&fx);
	assert_int_equal(fx_take(&fx, 1, false), PACKETS);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits),
			 2 * PACKETS);
	/* now none is under way */
	tell_dropped(0, 0, 2);
	tell_dropped(PACKETS - 1, 0, 2);
	fx_settle(&fx);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits),
			 2 * PACKETS);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_timeouts), 0);
	fx_close(&fx);
}

#define EACH 300 /* packets of one flit: more than a small window has */

/* One packet of each flow between endpoint 0 and the others, either way. */
static void
send_round(bool to_0, unsigned int want_busy)
{
	unsigned int busy = 0;

	for (unsigned int peer = 1; peer < 4; peer++)
		for (uint8_t cos = 0; cos < 16; cos++) {
			const int ret = to_0 ? fx_send(&fx, peer, 0, cos, 100)
					     : fx_send(&fx, 0, peer, cos, 100);

			assert_true(ret == 0 || ret == -EBUSY);
			busy += ret == -EBUSY;
		}
	assert_int_equal(busy, want_busy);
}

/* What @p from sends arrives, but for the first packet of each flow if @p hole. */
static void
carry_round(unsigned int from, bool hole)
{
	struct rl_pktq q = fx_poll(&fx, from);
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(&q)) != NULL)
		if (hole)
			fx_drop(&fx, pkt);
		else
			fx_rx(&fx, pkt->dst, pkt);
}

/*
 * Endpoint 0 has 64 large windows. 48 flows that come in take one each, for what
 * came behind a loss; of 48 that go out, the 16 to the first peer take the rest,
 * and 32 wait at 256 flits. All of it is delivered, as after any loss.
 */
static void
flows_without_a_large_window_have_256_flits(void **state)
{
	struct rl_ep_cfg cfg;

	(void)state;
	fx_cfg(&cfg);
	cfg.isn = RL_ISN_WIDE19;
	cfg.window_flits = 1000;
	cfg.max_flows = 64;
	cfg.max_packet_flits = 1;
	cfg.tx_buffer_flits = cfg.rx_buffer_flits = 32768;
	fx_open(&fx, &cfg, 4, 300000);
	send_round(true, 0); /* numbers are agreed on */
	send_round(false, 0);
	fx_run(&fx, 20);
	for (unsigned int turn = 0; turn < 2; turn++) {
		for (unsigned int i = 0; i < EACH; i++) {
			send_round(true, 0);
			for (unsigned int peer = 1; peer < 4; peer++)
				carry_round(peer, i == 0);
		}
		for (unsigned int i = 0; i < EACH; i++)
			send_round(false, i < 256 ? 0 : 32);
		assert_int_equal(fx_ctr(&fx, 0, RL_EPC_rx_overflow), 0);
		fx_run(&fx, 200);
		/* with the first round, which all flows have */
		assert_int_equal(fx_take(&fx, 0, false),
				 48 * (EACH + (turn == 0)));
		for (unsigned int peer = 1; peer < 4; peer++)
			assert_int_equal(fx_take(&fx, peer, false),
					 16 * ((turn == 0) +
					       (peer == 1 ? EACH : 256)));
	}
	fx_close(&fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_of_8191_flits_fills_and_is_delivered),
		cmocka_unit_test(
			naks_ask_for_more_and_further_flits_than_one_bitmap_names),
		cmocka_unit_test(echoes_name_a_lost_tail_of_any_length),
		cmocka_unit_test(a_notice_names_flits_of_its_own_packet_only),
		cmocka_unit_test(
			notices_of_all_of_a_window_have_each_flit_sent_once_more),
		cmocka_unit_test(flows_without_a_large_window_have_256_flits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
