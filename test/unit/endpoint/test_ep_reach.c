/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer without a way to it [EP-6]: it is known as such, probed, and comes
 * back by itself; what its flows hold waits for that, but not for ever.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ep_fixture.h"

#define PROBE 4
#define ECHO 5
#define PROBE_NS 200
#define GIVE_UP_NS 1000000

static struct fx fx;

static void
cfg_reach(struct rl_ep_cfg *cfg, bool retry)
{
	fx_cfg(cfg);
	cfg->retry = retry;
	cfg->probe_ns = PROBE_NS;
	cfg->give_up_ns = GIVE_UP_NS;
}

static void
open_reach(bool retry)
{
	struct rl_ep_cfg cfg;

	cfg_reach(&cfg, retry);
	fx_open(&fx, &cfg, 3, 4000);
}

/** The fabric drops a packet for want of a way, and says so. */
static void
no_path(struct rl_flit *pkt)
{
	const struct rl_flit *f = pkt;

	for (unsigned int n = pkt->pkt_flits; n > 0; n--, f = f->next)
		fx_notice(&fx, f, RL_EP_DROP_NO_PATH);
	fx_drop(&fx, pkt);
}

/** Packets from endpoint 0 to 1 find no way, until @p until_ns. */
static unsigned int
run_no_path(uint64_t until_ns, bool notices)
{
	unsigned int probes = 0;

	for (;;) {
		struct rl_pktq q = fx_poll(&fx, 0);
		const bool moved = !rl_pktq_empty(&q);
		uint64_t t;

		while (!rl_pktq_empty(&q)) {
			struct rl_flit *pkt = rl_pktq_pop(&q);

			probes += fx_ctrl_cmd(pkt) == PROBE;
			if (notices)
				no_path(pkt);
			else
				fx_drop(&fx, pkt);
		}
		if (moved)
			continue;
		t = rl_ep_deadline(fx.ep[0]);
		if (t >= until_ns) {
			fx.now = until_ns;
			return probes;
		}
		fx.now = rl_max_u64(fx.now, t);
	}
}

static void
a_notice_of_no_way_refuses_what_is_new_and_sends_nothing_but_probes(void **state)
{
	uint64_t since = 0;
	struct rl_flit *pkt;
	struct rl_pktq q;

	(void)state;
	open_reach(true);
	fx.now = 1000;
	assert_int_equal(fx_send(&fx, 0, 1, 0, 700), 0);
	assert_false(rl_ep_unreachable(fx.ep[0], 1, NULL));
	no_path(fx_poll_one(&fx, 0));
	assert_true(rl_ep_unreachable(fx.ep[0], 1, &since));
	assert_int_equal(since, 1000);
	assert_int_equal(rl_ep_unreachable_count(fx.ep[0]), 1);
	assert_int_equal(fx.nevents, 1);
	assert_int_equal(fx.event[0].kind, RL_EP_EV_UNREACHABLE);
	assert_int_equal(fx.event[0].peer, 1);
	assert_int_equal(fx.event[0].t_ns, 1000);
	/* whatever the class of service, but no other peer */
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), -EHOSTUNREACH);
	assert_int_equal(fx_send(&fx, 0, 1, 3, 224), -EHOSTUNREACH);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_tx_refused_unreachable), 2);
	assert_int_equal(fx_send(&fx, 0, 2, 0, 224), 0);
	pkt = fx_poll_one(&fx, 0);
	assert_int_equal(pkt->dst, 2);
	fx_drop(&fx, pkt);
	q = fx_poll(&fx, 0);
	assert_true(rl_pktq_empty(&q));
	fx.now += PROBE_NS;
	pkt = fx_poll_one(&fx, 0);
	assert_int_equal(fx_ctrl_cmd(pkt), PROBE);
	fx_drop(&fx, pkt);
	assert_int_equal(fx.nreports, 0);
	fx_close(&fx);
}

static void
a_probe_that_comes_through_has_all_sent_again(void **state)
{
	(void)state;
	open_reach(true);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 700), 0);
	no_path(fx_poll_one(&fx, 0));
	run_no_path(50000, true);
	fx_run(&fx, 6);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	assert_false(rl_ep_unreachable(fx.ep[0], 1, NULL));
	assert_int_equal(rl_ep_unreachable_count(fx.ep[0]), 0);
	assert_int_equal(fx.nreports, 0);
	assert_int_equal(fx.nevents, 2);
	assert_int_equal(fx.event[1].kind, RL_EP_EV_REACHABLE);
	assert_int_equal(fx.event[1].since_ns, fx.event[0].t_ns);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 700), 0);
	fx_run(&fx, 6);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	assert_true(rl_ep_idle(fx.ep[0]));
	fx_close(&fx);
}

/* A link came up somewhere: it is not a quarter of an hour until the next. */
static void
word_of_a_way_restarts_the_probes(void **state)
{
	unsigned int probes;

	(void)state;
	open_reach(true);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 700), 0);
	no_path(fx_poll_one(&fx, 0));
	run_no_path(400000, true);
	/* by now they are far apart */
	assert_int_equal(run_no_path(fx.now + 10 * PROBE_NS, true), 0);
	rl_ep_probe_again(fx.ep[0], fx.now);
	probes = run_no_path(fx.now + 10 * PROBE_NS, true);
	assert_in_range(probes, 5, 10);
	/* and further apart again */
	assert_in_range(run_no_path(fx.now + 100 * PROBE_NS, true), 5, 30);
	rl_ep_probe_again(fx.ep[0], fx.now);
	fx.now += PROBE_NS;
	fx_run(&fx, 6);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	assert_false(rl_ep_unreachable(fx.ep[0], 1, NULL));
	/* no peer is unreachable: it changes nothing */
	rl_ep_probe_again(fx.ep[0], fx.now);
	assert_true(rl_ep_idle(fx.ep[0]));
	assert_int_equal(fx.nreports, 0);
	fx_close(&fx);
}

/*
 * Probes that are lost without a word are spaced farther and farther apart, too.
 * A flow that synchronizes waits for all it has by them.
 */
static void
word_of_a_way_ends_the_backoff(void **state)
{
	(void)state;
	for (int sync = 0; sync < 2; sync++) {
		struct rl_ep_cfg cfg;
		uint64_t wait_ns;

		cfg_reach(&cfg, true);
		if (sync)
			fx_open_lives(&fx, &cfg, 3, 4000);
		else
			fx_open(&fx, &cfg, 3, 4000);
		assert_int_equal(fx_send(&fx, 0, 1, 0, 700), 0);
		run_no_path(400000, false);
		wait_ns = rl_ep_deadline(fx.ep[0]) - fx.now;
		rl_ep_probe_again(fx.ep[0], fx.now);
		assert_true(rl_ep_deadline(fx.ep[0]) - fx.now < wait_ns / 4);
		fx_run(&fx, 8);
		assert_int_equal(fx_take(&fx, 1, false), 1);
		assert_false(rl_ep_unreachable(fx.ep[0], 1, NULL));
		assert_int_equal(fx.nreports, 0);
		fx_close(&fx);
	}
}

/* its own timer may stop, but the peer would never come back without them */
static void
the_flow_that_probes_does_so_even_when_all_its_packets_are_acknowledged(
	void **state)
{
	struct rl_flit *first, *second;

	(void)state;
	open_reach(true);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	first = fx_poll_one(&fx, 0);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	second = fx_poll_one(&fx, 0);
	fx_rx(&fx, 1, fx_copy(&fx, first)); /* it went two ways */
	fx_rx(&fx, 1, fx_copy(&fx, second));
	no_path(first);
	no_path(second);
	assert_true(rl_ep_unreachable(fx.ep[0], 1, NULL));
	fx_run(&fx, 1); /* an ACK of both */
	fx_run(&fx, 5);
	assert_int_equal(fx_take(&fx, 1, false), 2);
	assert_false(rl_ep_unreachable(fx.ep[0], 1, NULL));
	assert_int_equal(fx_send(&fx, 0, 1, 3, 224), 0);
	fx_run(&fx, 5);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	fx_close(&fx);
}

static void
probes_are_quick_at_first_and_grow_rare(void **state)
{
	unsigned int first, later;

	(void)state;
	open_reach(true);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	no_path(fx_poll_one(&fx, 0));
	first = run_no_path(4 * PROBE_NS, true);
	assert_in_range(first, 3, 4);
	later = run_no_path(800000, true);
	/* each waits for a quarter of the time before it */
	assert_in_range(later, 15, 40);
	later = run_no_path(10800000, true);
	assert_in_range(later, 95, 105); /* retry_timer_max_ns apart */
	fx_close(&fx);
}

/* A late ACK of earlier packets does not prove that there is a way. */
static void
a_late_ack_does_not_stop_the_probes(void **state)
{
	struct rl_flit *ack;

	(void)state;
	open_reach(true);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	fx_rx(&fx, 1, fx_poll_one(&fx, 0));
	/* its ACK is late, so it is sent again, and there is no way any more */
	fx.now = rl_ep_deadline(fx.ep[0]);
	no_path(fx_poll_one(&fx, 0));
	assert_true(rl_ep_unreachable(fx.ep[0], 1, NULL));
	ack = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(ack), RL_CMD_ACK);
	fx_rx(&fx, 0, ack);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_ack_received), 1);
	assert_true(rl_ep_unreachable(fx.ep[0], 1, NULL));
	assert_true(run_no_path(fx.now + 20 * PROBE_NS, true) >= 3);
	fx_close(&fx);
}

static void
all_is_reported_in_bounded_time_whatever_notices_come(void **state)
{
	for (int notices = 0; notices < 2; notices++) {
		(void)state;
		open_reach(true);
		fx_advance(&fx, 5);
		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(fx_send(&fx, 0, 1, 0, 500), 0);
		run_no_path(fx.now + GIVE_UP_NS - 1, notices);
		assert_int_equal(fx.nreports, 0);
		/* without notices the time runs from the first probe on */
		run_no_path(fx.now + (notices ? 2 : GIVE_UP_NS / 10), notices);
		assert_int_equal(fx.nreports, 3);
		for (unsigned int i = 0; i < 3; i++) {
			assert_int_equal(fx.report[i].tag, 5 + i);
			assert_int_equal(fx.report[i].reason,
					 notices ? RL_EP_UNREACHABLE
						 : RL_EP_GIVE_UP);
		}
		assert_true(rl_ep_idle(fx.ep[0]));
		/* and it comes back, with the next number */
		fx.got[0][1][0] = 8;
		run_no_path(fx.now + GIVE_UP_NS, notices);
		fx_run(&fx, 4);
		assert_int_equal(rl_ep_unreachable_count(fx.ep[0]), 0);
		assert_int_equal(fx_send(&fx, 0, 1, 0, 500), 0);
		fx_run(&fx, 8);
		assert_int_equal(fx_take(&fx, 1, false), 1);
		assert_int_equal(fx.nreports, 3);
		fx_close(&fx);
	}
}

static void
retries_that_are_dropped_for_another_reason_do_not_keep_a_flow_alive(void **state)
{
	(void)state;
	open_reach(true);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	while (fx.nreports == 0) {
		struct rl_pktq q = fx_poll(&fx, 0);

		while (!rl_pktq_empty(&q)) {
			struct rl_flit *pkt = rl_pktq_pop(&q);

			fx_notice(&fx, pkt, RL_EP_DROP_LOST);
			fx_drop(&fx, pkt);
		}
		fx.now += 5000;
		assert_true(fx.now < 2 * GIVE_UP_NS);
	}
	assert_int_equal(fx.report[0].reason, RL_EP_GIVE_UP);
	fx_close(&fx);
}

static void
a_flow_that_gets_on_is_never_given_up(void **state)
{
	(void)state;
	open_reach(true);
	for (unsigned int i = 0; i < 20; i++) {
		struct rl_pktq q;

		for (unsigned int k = 0; k < 3; k++)
			assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
		q = fx_poll(&fx, 0);
		fx_rx(&fx, 1, rl_pktq_pop(&q));
		fx_drop_all(&fx, &q);
		fx.now += GIVE_UP_NS / 3;
		fx_run(&fx, 8);
		fx_take(&fx, 1, false);
	}
	assert_int_equal(fx.nreports, 0);
	fx_close(&fx);
}

static void
what_never_leaves_is_given_up_too_but_not_what_is_held(void **state)
{
	(void)state;
	open_reach(true);
	/* no room in the fabric: nothing is polled */
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	assert_int_equal(fx_send(&fx, 0, 2, 0, 224), 0);
	assert_int_equal(rl_ep_hold(fx.ep[0], fx.now, 2, true), 0);
	fx.now = GIVE_UP_NS + 1;
	{
		struct rl_pktq q = { 0 };

		rl_ep_poll(fx.ep[0], fx.now, &q, 0);
	}
	assert_int_equal(fx.nreports, 1);
	assert_int_equal(fx.report[0].dst, 1);
	fx.now = 5 * GIVE_UP_NS;
	assert_int_equal(rl_ep_hold(fx.ep[0], fx.now, 2, false), 0);
	fx_run(&fx, 4);
	assert_int_equal(fx_take(&fx, 2, false), 1);
	assert_int_equal(fx.nreports, 1);
	fx_close(&fx);
}

static void
a_notice_of_what_is_not_under_way_proves_nothing(void **state)
{
	(void)state;
	open_reach(true);
	fx_advance(&fx, 3);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	fx_rx(&fx, 1, fx_poll_one(&fx, 0));
	/* acknowledged long ago; never sent; no such flow; stand-alone */
	rl_ep_dropped(fx.ep[0], fx.now, 1, 0, 2, 0, RL_EP_DROP_NO_PATH);
	rl_ep_dropped(fx.ep[0], fx.now, 1, 0, 9, 0, RL_EP_DROP_NO_PATH);
	rl_ep_dropped(fx.ep[0], fx.now, 1, 5, 0, 0, RL_EP_DROP_NO_PATH);
	rl_ep_dropped(fx.ep[0], fx.now, 1, 0, 0, RL_EP_POS_CTRL,
		      RL_EP_DROP_NO_PATH);
	assert_int_equal(rl_ep_unreachable_count(fx.ep[0]), 0);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	fx_close(&fx);
}

static void
the_echo_of_an_earlier_absence_opens_nothing(void **state)
{
	struct rl_flit *echo, *old;
	struct rl_pktq q;

	(void)state;
	open_reach(true);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	no_path(fx_poll_one(&fx, 0));
	fx.now += PROBE_NS;
	fx_rx(&fx, 1, fx_poll_one(&fx, 0));
	echo = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(echo), ECHO);
	old = fx_copy(&fx, echo);
	fx_rx(&fx, 0, echo);
	assert_int_equal(rl_ep_unreachable_count(fx.ep[0]), 0);
	q = fx_poll(&fx, 0);
	assert_int_equal(q.packets, 1);
	no_path(rl_pktq_pop(&q));
	assert_int_equal(rl_ep_unreachable_count(fx.ep[0]), 1);
	fx_rx(&fx, 0, old);
	assert_int_equal(rl_ep_unreachable_count(fx.ep[0]), 1);
	fx_run(&fx, 6);
	assert_int_equal(rl_ep_unreachable_count(fx.ep[0]), 0);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	fx_close(&fx);
}

static void
without_retry_a_peer_is_unreachable_too_and_every_packet_is_reported(void **state)
{
	(void)state;
	open_reach(false);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	{
		struct rl_pktq q = { 0 };

		rl_ep_poll(fx.ep[0], fx.now, &q, 1);
		assert_int_equal(q.packets, 1);
		no_path(rl_pktq_pop(&q));
	}
	assert_int_equal(fx.nreports, 1); /* dropped; the other one waits */
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), -EHOSTUNREACH);
	run_no_path(GIVE_UP_NS + 1, true);
	assert_int_equal(fx.nreports, 2);
	assert_int_equal(fx.report[1].reason, RL_EP_UNREACHABLE);
	fx_run(&fx, 5);
	assert_int_equal(rl_ep_unreachable_count(fx.ep[0]), 0);
	fx.got[0][1][0] = 2;
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	fx_run(&fx, 5);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	fx_close(&fx);
}

/*
 * [RES-1] A fabric that is to come to rest sees no probes: each would be a
 * packet that moves. They go on after the release, soon.
 */
static void
while_all_is_held_nobody_probes_unreachable_peers(void **state)
{
	(void)state;
	open_reach(true);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 700), 0);
	no_path(fx_poll_one(&fx, 0));
	assert_true(run_no_path(5000, true) > 3);
	rl_ep_quiesce(fx.ep[0], fx.now, true);
	assert_int_equal(run_no_path(50000, true), 0);
	rl_ep_probe_again(fx.ep[0], fx.now);
	rl_ep_quiesce(fx.ep[0], fx.now, false);
	assert_int_equal(run_no_path(50000 + PROBE_NS + 1, true), 1);
	fx_run(&fx, 6);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	assert_false(rl_ep_unreachable(fx.ep[0], 1, NULL));
	fx_close(&fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_notice_of_no_way_refuses_what_is_new_and_sends_nothing_but_probes),
		cmocka_unit_test(a_probe_that_comes_through_has_all_sent_again),
		cmocka_unit_test(word_of_a_way_restarts_the_probes),
		cmocka_unit_test(word_of_a_way_ends_the_backoff),
		cmocka_unit_test(while_all_is_held_nobody_probes_unreachable_peers),
		cmocka_unit_test(the_flow_that_probes_does_so_even_when_all_its_packets_are_acknowledged),
		cmocka_unit_test(probes_are_quick_at_first_and_grow_rare),
		cmocka_unit_test(a_late_ack_does_not_stop_the_probes),
		cmocka_unit_test(all_is_reported_in_bounded_time_whatever_notices_come),
		cmocka_unit_test(retries_that_are_dropped_for_another_reason_do_not_keep_a_flow_alive),
		cmocka_unit_test(a_flow_that_gets_on_is_never_given_up),
		cmocka_unit_test(what_never_leaves_is_given_up_too_but_not_what_is_held),
		cmocka_unit_test(a_notice_of_what_is_not_under_way_proves_nothing),
		cmocka_unit_test(the_echo_of_an_earlier_absence_opens_nothing),
		cmocka_unit_test(without_retry_a_peer_is_unreachable_too_and_every_packet_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
