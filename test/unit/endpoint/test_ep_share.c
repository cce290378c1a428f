/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shares of the retry buffer [DRL-11]: what can't be delivered never takes the
 * room of what can, and is reported where it holds too much.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ep_fixture.h"

#define BUFFER 64 /* half of it for stalled flows, a quarter dealt out */
#define GIVE_UP_NS 100000000

static struct fx fx;

static void
open_buffer(uint32_t flits)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	cfg.window_flits = BUFFER;
	cfg.tx_buffer_flits = flits;
	cfg.give_up_ns = GIVE_UP_NS;
	fx_open(&fx, &cfg, 4, 4000);
}

static void
open_shares(void)
{
	open_buffer(BUFFER);
}

static int
offer(unsigned int dst, uint8_t cos, uint32_t flits)
{
	return fx_send(&fx, 0, dst, cos, flits * 224);
}

/** Sends @p flits to a peer in packets as long as may be. */
static void
fill(unsigned int dst, uint32_t flits)
{
	for (; flits > 16; flits -= 16)
		assert_int_equal(offer(dst, 0, 16), 0);
	assert_int_equal(offer(dst, 0, flits), 0);
}

/** All that endpoint 0 sends from now on is silently lost. */
static void
lose(uint64_t for_ns)
{
	const uint64_t until_ns = fx.now + for_ns;

	while (fx.now < until_ns) {
		struct rl_pktq q = fx_poll(&fx, 0);

		fx_drop_all(&fx, &q);
		fx.now += 100;
	}
}

/** There is no way to peers of @p mask: all that leaves for them is dropped. */
static void
no_way(unsigned int mask)
{
	struct rl_pktq q = fx_poll(&fx, 0);

	while (!rl_pktq_empty(&q)) {
		struct rl_flit *pkt = rl_pktq_pop(&q);

		if (mask >> pkt->dst & 1)
			fx_notice(&fx, pkt, RL_EP_DROP_NO_PATH);
		fx_drop(&fx, pkt);
	}
}

static void
the_last_quarter_is_dealt_out_to_flows_alike(void **state)
{
	/* in this order; three quarters are 48 flits */
	static const struct {
		uint8_t dst, cos, flits;
		int rc;
	} row[] = {
		{ 1, 0, 16, 0 },	{ 1, 0, 16, 0 },
		{ 1, 0, 15, 0 },	{ 1, 0, 2, -EBUSY },
		{ 1, 0, 1, 0 },		{ 1, 0, 1, -EBUSY },
		{ 2, 0, 1, 0 }, /* one that holds nothing may always begin */
		{ 2, 0, 7, 0 }, /* 8 flits are half of 16 */
		{ 2, 0, 1, -EBUSY },	{ 3, 0, 6, 0 },
		{ 3, 0, 1, -EBUSY }, /* 5 flits are a third */
		{ 3, 1, 3, -EAGAIN },	{ 3, 1, 2, 0 },
		{ 3, 2, 1, -EAGAIN },
	};

	(void)state;
	open_shares();
	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (offer(row[i].dst, row[i].cos, row[i].flits) != row[i].rc)
			fail_msg("row %u", i);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_tx_refused_share), 4);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_tx_refused_buffer), 2);
	/* all of it arrives, and the first may go on */
	fx_run(&fx, 20);
	assert_int_equal(offer(1, 0, 16), 0);
	fx_close(&fx);
}

static void
stalled_flows_share_half_of_it_and_the_others_the_rest(void **state)
{
	static const struct {
		uint8_t dst, flits;
		int rc;
	} row[] = {
		{ 1, 4, 0 },	   { 2, 5, -ENOBUFS }, /* 28 of 32 flits */
		{ 2, 4, 0 },	   { 1, 1, -ENOBUFS },
		{ 2, 1, -ENOBUFS }, { 3, 16, 0 }, { 3, 1, -EBUSY },
	};

	(void)state;
	open_shares();
	fill(1, 16);
	fill(2, 8);
	lose(4 * fx.cfg.retry_timer_ns);
	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (offer(row[i].dst, 0, row[i].flits) != row[i].rc)
			fail_msg("row %u", i);
	assert_int_equal(fx.nreports, 0);
	/* a flow that makes progress has no bound any more */
	fx_run(&fx, 60);
	for (unsigned int dst = 1; dst <= 3; dst++)
		assert_true(fx_take(&fx, dst, false) > 0);
	assert_true(rl_ep_idle(fx.ep[0]));
	fill(1, 48);
	fx_close(&fx);
}

static void
what_unreachable_peers_hold_beyond_their_share_is_reported(void **state)
{
	(void)state;
	open_shares();
	fill(1, 20);
	fill(2, 20);
	fill(3, 16);
	no_way(1u << 1);
	assert_int_equal(fx.nreports, 0); /* 20 of 32 flits: there may be a way */
	lose(fx.cfg.probe_ns / 2);
	/* the way to the two others is lost as well, found as they are asked */
	for (unsigned int i = 0; i < 2000 && fx.nreports < 3; i++) {
		no_way(~0u);
		fx.now += 100;
	}
	assert_int_equal(fx.nreports, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(fx.report[i].reason, RL_EP_UNREACHABLE);
		assert_int_not_equal(fx.report[i].dst, 1);
	}
	assert_int_equal(rl_ep_flits(fx.ep[0]), 20);
	fx_run(&fx, 60); /* there are ways again */
	assert_int_equal(fx_take(&fx, 1, false), 2);
	for (unsigned int dst = 1; dst <= 3; dst++)
		assert_int_equal(offer(dst, 0, 1), 0);
	fx_run(&fx, 20);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	assert_int_equal(fx_take(&fx, 2, true), 1);
	assert_int_equal(fx_take(&fx, 3, true), 1);
	fx_close(&fx);
}

/* Half of a buffer that has room for one packet would stop all that are longer. */
static void
the_longest_packet_fits_beside_what_unreachable_peers_hold(void **state)
{
	(void)state;
	for (uint32_t spare = 0; spare < 8; spare += 7) {
		struct rl_flit *pkt;

		open_buffer(16 + spare);
		assert_int_equal(fx.cfg.max_packet_flits, 16);
		fill(1, 7);
		no_way(1u << 1);
		assert_int_equal(fx.nreports, spare == 0);
		assert_int_equal(offer(2, 0, 16), 0);
		pkt = fx_poll_one(&fx, 0);
		assert_int_equal(pkt->dst, 2);
		fx_drop(&fx, pkt);
		fx_close(&fx);
	}
}

static void
flows_that_stall_later_take_the_room_of_unreachable_peers(void **state)
{
	(void)state;
	open_shares();
	fill(1, 32);
	no_way(1u << 1);
	fill(2, 8);
	assert_int_equal(fx.nreports, 0);
	lose(4 * fx.cfg.retry_timer_ns + 2 * fx.cfg.retry_timer_max_ns);
	assert_int_equal(fx.nreports, 2);
	assert_int_equal(fx.report[0].dst, 1);
	assert_int_equal(rl_ep_flits(fx.ep[0]), 8);
	assert_int_equal(offer(2, 0, 16), 0);
	fx_close(&fx);
}

/* Two senders whose first flit is lost; the first one has sent all it may. */
static void
check_reorder_room(uint32_t room, unsigned int first, unsigned int second)
{
	struct rl_ep_cfg cfg;
	unsigned int taken = 0;
	uint64_t before;

	fx_cfg(&cfg);
	cfg.max_packet_flits = 16;
	cfg.window_flits = BUFFER;
	cfg.rx_buffer_flits = room;
	cfg.nak_delay_ns = GIVE_UP_NS;
	fx_open(&fx, &cfg, 3, 4000);
	for (unsigned int src = 0; src < 3; src += 2) {
		before = fx_ctr(&fx, 1, RL_EPC_rx_overflow);
		for (unsigned int i = 0; i < BUFFER; i++) {
			struct rl_flit *pkt;

			assert_int_equal(fx_send(&fx, src, 1, 0, 200), 0);
			pkt = fx_poll_one(&fx, src);
			if (i == 0)
				fx_drop(&fx, pkt);
			else
				fx_rx(&fx, 1, pkt);
		}
		assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_overflow) - before,
				 63 - (src == 0 ? first : second));
	}
	for (unsigned int i = 0; i < 200; i++) {
		fx_run(&fx, 1);
		taken += fx_take(&fx, 1, false);
	}
	assert_int_equal(taken, 2 * BUFFER);
	fx_close(&fx);
}

static void
no_sender_takes_the_whole_reorder_room(void **state)
{
	(void)state;
	/* four fifths for the first; the second begins all the same */
	check_reorder_room(64, 52, 10);
	check_reorder_room(65, 52, 11); /* exactly four fifths */
	check_reorder_room(66, 53, 11);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_quarter_is_dealt_out_to_flows_alike),
		cmocka_unit_test(stalled_flows_share_half_of_it_and_the_others_the_rest),
		cmocka_unit_test(what_unreachable_peers_hold_beyond_their_share_is_reported),
		cmocka_unit_test(the_longest_packet_fits_beside_what_unreachable_peers_hold),
		cmocka_unit_test(flows_that_stall_later_take_the_room_of_unreachable_peers),
		cmocka_unit_test(no_sender_takes_the_whole_reorder_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
