/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slow is not dead [EP-8]: the peer answers, but much later than any timer
 * expects. Nothing is sent again, nothing is given up, and it is said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ep_ctrl.h"
#include "ep_fixture.h"

#define ONE_WAY_MAX 4096

static struct fx fx;

/** Both directions between 0 and 1, each a queue that takes one_way_ns. */
static struct way {
	struct rl_flit *pkt[ONE_WAY_MAX];
	uint64_t at_ns[ONE_WAY_MAX];
	uint32_t head;
	uint32_t tail;
} way[2];

static uint64_t one_way_ns;
static unsigned int lost; /* packets of 0 that are still to be lost */

static void
open_calm(uint64_t delay_ns, bool lives)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	cfg.retry_timer_ns = 0;
	cfg.retry_timer_max_ns = 10000;
	cfg.give_up_ns = 300000;
	memset(way, 0, sizeof(way));
	one_way_ns = delay_ns;
	lost = 0;
	if (lives)
		fx_open_lives(&fx, &cfg, 2, 4000);
	else
		fx_open(&fx, &cfg, 2, 4000);
}

/** A step at the next time that anything happens, until @p until_ns. */
static bool
step(uint64_t until_ns)
{
	uint64_t t = until_ns;

	for (unsigned int i = 0; i < 2; i++) {
		struct way *w = &way[i];
		struct rl_pktq q = fx_poll(&fx, i);

		while (!rl_pktq_empty(&q)) {
			struct rl_flit *pkt = rl_pktq_pop(&q);

			if (i == 0 && lost > 0) {
				lost--;
				fx_drop(&fx, pkt);
				continue;
			}
			w->pkt[w->tail % ONE_WAY_MAX] = pkt;
			w->at_ns[w->tail++ % ONE_WAY_MAX] = fx.now + one_way_ns;
		}
		for (; w->head != w->tail &&
		       w->at_ns[w->head % ONE_WAY_MAX] <= fx.now; w->head++)
			fx_rx(&fx, 1 - i, w->pkt[w->head % ONE_WAY_MAX]);
	}
	for (unsigned int i = 0; i < 2; i++) {
		const struct way *w = &way[i];

		t = rl_min_u64(t, rl_ep_deadline(fx.ep[i]));
		if (w->head != w->tail)
			t = rl_min_u64(t, w->at_ns[w->head % ONE_WAY_MAX]);
	}
	fx.now = rl_max_u64(fx.now, t);
	return fx.now < until_ns;
}

static void
close_calm(void)
{
	for (unsigned int i = 0; i < 2; i++)
		for (; way[i].head != way[i].tail; way[i].head++)
			fx_drop(&fx, way[i].pkt[way[i].head % ONE_WAY_MAX]);
	fx_close(&fx);
}

/* A sync needs two round trips: more than give_up_ns, but both are answered. */
static void
a_round_trip_beyond_every_timer_costs_no_flit_and_no_packet(void **state)
{
	(void)state;
	for (int lives = 0; lives < 2; lives++) {
		unsigned int sent = 0;

		open_calm(120000, lives);
		for (unsigned int i = 0; i < 40; i++) {
			while (sent < 400 && fx_send(&fx, 0, 1, 0, 500) == 0)
				sent++;
			while (step((i + 1) * 500000))
				;
			fx_take(&fx, 1, false);
		}
		assert_int_equal(sent, 400);
		assert_true(rl_ep_idle(fx.ep[0]));
		assert_int_equal(fx.got[0][1][0], 400);
		assert_int_equal(fx.nreports, 0);
		assert_true(fx_ctr(&fx, 0, RL_EPC_timeouts) > 0);
		assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 0);
		assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 0);
		close_calm();
	}
}

/* New flows have not measured a round trip, but their endpoint has. */
static void
a_round_trip_that_grows_gives_nothing_up_while_answers_come(void **state)
{
	(void)state;
	open_calm(1000, false);
	for (unsigned int i = 0; i < 60; i++) {
		fx_send(&fx, 0, 1, (uint8_t)(i / 20), 500);
		while (step(fx.now + one_way_ns))
			;
		one_way_ns += one_way_ns / 8;
		fx_take(&fx, 1, false);
	}
	while (!rl_ep_idle(fx.ep[0]) && step(RL_NEVER - 1))
		;
	fx_take(&fx, 1, false);
	assert_true(one_way_ns > 2 * fx.cfg.give_up_ns);
	assert_int_equal(fx.nreports, 0);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 0);
	close_calm();
}

/* The tail is lost in a slow fabric: the probe finds it out, after one trip. */
static void
what_a_slow_fabric_loses_is_sent_again_once(void **state)
{
	(void)state;
	open_calm(50000, false);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 2000), 0);
	lost = 1;
	while (step(3000000))
		;
	assert_int_equal(fx_take(&fx, 1, false), 1);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 9);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 0);
	close_calm();
}

static void
open_one_timer(void)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	fx_open(&fx, &cfg, 2, 4000);
}

/** Packets of one flit each from 0 to 1, those in @p gone dropped. */
static void
send_but(unsigned int n, const char *gone)
{
	for (unsigned int i = 0; i < n; i++) {
		struct rl_flit *pkt = fx_emit(&fx, 1);

		if (gone[i] == 'x')
			fx_drop(&fx, pkt);
		else
			fx_rx(&fx, 1, pkt);
	}
}

/* The NAK is lost: the probe's answer names exactly what the NAK had named. */
static void
a_probe_finds_out_what_is_missing_and_only_that_is_sent_again(void **state)
{
	struct rl_flit *probe, *echo;
	struct rl_pktq q;

	(void)state;
	open_one_timer();
	send_but(9, " x  xx  x"); /* nothing shows the last */
	fx.now += 50;
	fx_drop(&fx, fx_poll_one(&fx, 1));
	fx.now = 10000;
	probe = fx_poll_one(&fx, 0);
	assert_int_equal(fx_ctrl_cmd(probe), EP_CMD_PROBE);
	assert_int_equal(fx_ctrl_n(probe), 9);
	fx_rx(&fx, 1, probe);
	echo = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(echo), EP_CMD_ECHO);
	assert_int_equal(fx_ctrl_n(echo), 0);
	fx_rx(&fx, 0, echo);
	q = fx_poll(&fx, 0);
	assert_int_equal(q.flits, 4);
	assert_int_equal(rl_flit_tag(q.head->wire), 1);
	fx_rx_all(&fx, 1, &q);
	fx_run(&fx, 3);
	assert_int_equal(fx_take(&fx, 1, false), 9);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 0);
	/* the echo has asked: no NAK is needed beside it */
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 1);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_timeouts), 1);
	fx_close(&fx);
}

/* A flit sent again after the probe is not behind its answer. */
static void
what_was_sent_again_behind_a_probe_is_not_taken_for_gone(void **state)
{
	struct rl_flit *nak, *probe;
	struct rl_pktq q;

	(void)state;
	open_one_timer();
	send_but(3, " x ");
	fx.now += 50;
	nak = fx_poll_one(&fx, 1);
	fx.now = 10000;
	probe = fx_poll_one(&fx, 0);
	fx_rx(&fx, 0, nak);
	q = fx_poll(&fx, 0);
	assert_int_equal(q.flits, 1);
	fx_rx(&fx, 1, probe);
	fx_rx(&fx, 0, fx_poll_one(&fx, 1));
	fx_rx_all(&fx, 1, &q);
	fx_run(&fx, 3);
	assert_int_equal(fx_take(&fx, 1, false), 3);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 1);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_timeouts), 1);
	fx_close(&fx);
}

/* Nor where nothing was acknowledged since: the probe is still to be answered. */
static void
an_answer_to_a_probe_before_the_resend_brings_nothing_again(void **state)
{
	struct rl_flit *nak, *probe;
	struct rl_pktq q, again;

	(void)state;
	open_one_timer();
	send_but(3, "x  ");
	fx.now += 50;
	nak = fx_poll_one(&fx, 1);
	fx.now = 10000;
	probe = fx_poll_one(&fx, 0);
	assert_int_equal(fx_ctrl_cmd(probe), EP_CMD_PROBE);
	fx_rx(&fx, 0, nak);
	q = fx_poll(&fx, 0);
	assert_int_equal(q.flits, 1);
	fx_rx(&fx, 1, probe);
	fx_rx(&fx, 0, fx_poll_one(&fx, 1)); /* names what is on its way again */
	again = fx_poll(&fx, 0);
	assert_true(rl_pktq_empty(&again));
	fx_rx_all(&fx, 1, &q);
	fx_run(&fx, 3);
	assert_int_equal(fx_take(&fx, 1, false), 3);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 1);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 0);
	fx_close(&fx);
}

/* The answer has asked for the tail: flits behind it ask no more. */
static void
what_an_answer_names_no_nak_asks_for(void **state)
{
	struct rl_flit *echo;
	struct rl_pktq q;

	(void)state;
	open_one_timer();
	send_but(3, "  x");
	fx.now = 10000;
	fx_rx(&fx, 1, fx_poll_one(&fx, 0));
	echo = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(echo), EP_CMD_ECHO);
	fx_rx(&fx, 1, fx_emit(&fx, 1));
	fx.now += 2 * fx.cfg.nak_delay_ns;
	q = fx_poll(&fx, 1);
	fx_drop_all(&fx, &q);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 0);
	fx_rx(&fx, 0, echo);
	fx_settle(&fx);
	fx_run(&fx, 3);
	assert_int_equal(fx_take(&fx, 1, false), 4);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 1);
	fx_close(&fx);
}

/* Its peer answers each probe, but what it sends never arrives. */
static void
no_progress_beside_answers_is_overloaded_and_not_unreachable(void **state)
{
	struct rl_ep_event *ev = NULL;

	(void)state;
	open_calm(0, false);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 200), 0);
	while (fx.now < 20 * fx.cfg.give_up_ns) {
		struct rl_pktq q = fx_poll(&fx, 0);

		while (!rl_pktq_empty(&q)) {
			struct rl_flit *pkt = rl_pktq_pop(&q);

			if (fx_ctrl_cmd(pkt) == EP_CMD_PROBE)
				fx_rx(&fx, 1, pkt);
			else
				fx_drop(&fx, pkt);
		}
		q = fx_poll(&fx, 1);
		fx_rx_all(&fx, 0, &q);
		fx.now = rl_max_u64(fx.now + 100, rl_ep_deadline(fx.ep[0]));
	}
	assert_int_equal(fx.nreports, 0);
	assert_int_equal(rl_ep_unreachable_count(fx.ep[0]), 0);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_overloads), 1);
	for (unsigned int i = 0; i < fx.nevents; i++)
		if (fx.event[i].kind == RL_EP_EV_OVERLOADED)
			ev = &fx.event[i];
	assert_non_null(ev);
	assert_int_equal(ev->peer, 1);
	assert_int_equal(fx.nevents, 1); /* once, however long it lasts */
	fx_settle(&fx);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 200), 0);
	fx_run(&fx, 10);
	assert_int_equal(fx_take(&fx, 1, false), 2);
	close_calm();
}

/* Eight flows share what little leaves; each waits longer than give_up_ns. */
static void
what_waits_for_its_turn_ages_only_while_nothing_leaves(void **state)
{
	const uint64_t turn_ns = 50000;

	(void)state;
	open_calm(0, false);
	assert_true(7 * turn_ns > fx.cfg.give_up_ns);
	for (uint8_t cos = 0; cos < 8; cos++)
		assert_int_equal(fx_send(&fx, 0, 1, cos, 200), 0);
	for (unsigned int i = 0; i < 100; i++, fx.now += turn_ns) {
		struct rl_pktq q = { 0 };

		rl_ep_poll(fx.ep[0], fx.now, &q, 1);
		fx_rx_all(&fx, 1, &q);
		fx.now += fx.cfg.ack_delay_ns;
		q = fx_poll(&fx, 1);
		fx_rx_all(&fx, 0, &q);
	}
	assert_int_equal(fx_take(&fx, 1, false), 8);
	assert_int_equal(fx.nreports, 0);
	/* but if nothing leaves at all, it is given up */
	assert_int_equal(fx_send(&fx, 0, 1, 0, 200), 0);
	for (unsigned int i = 0; i < 8; i++, fx.now += turn_ns) {
		struct rl_pktq q = { 0 };

		assert_int_equal(rl_ep_poll(fx.ep[0], fx.now, &q, 0), 0);
	}
	assert_int_equal(fx.nreports, 1);
	close_calm();
}

/* But a peer that says nothing is given up, in bounded time. */
static void
a_peer_that_does_not_answer_is_given_up_all_the_same(void **state)
{
	(void)state;
	open_calm(1000, false);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 200), 0);
	while (step(100000))
		;
	assert_int_equal(fx_take(&fx, 1, false), 1);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 200), 0);
	lost = UINT32_MAX;
	while (fx.nreports == 0 && step(100000 + 3 * fx.cfg.give_up_ns))
		;
	assert_int_equal(fx.nreports, 1);
	assert_int_equal(fx.report[0].reason, RL_EP_GIVE_UP);
	close_calm();
}

/* ... and not before it could have answered, however slow the fabric is. */
static void
a_peer_has_the_time_of_several_round_trips_to_answer(void **state)
{
	const uint64_t trip_ns = 240000;
	uint64_t from_ns;

	(void)state;
	open_calm(trip_ns / 2, false);
	assert_true(7 * trip_ns > 5 * fx.cfg.give_up_ns);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 200), 0);
	while (step(10 * trip_ns))
		;
	assert_int_equal(fx_take(&fx, 1, false), 1);
	assert_int_equal(fx.nreports, 0);
	from_ns = fx.now;
	assert_int_equal(fx_send(&fx, 0, 1, 0, 200), 0);
	lost = UINT32_MAX;
	while (step(from_ns + 7 * trip_ns))
		;
	assert_int_equal(fx.nreports, 0);
	while (fx.nreports == 0 && step(from_ns + 20 * trip_ns))
		;
	assert_int_equal(fx.nreports, 1);
	close_calm();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_round_trip_beyond_every_timer_costs_no_flit_and_no_packet),
		cmocka_unit_test(a_round_trip_that_grows_gives_nothing_up_while_answers_come),
		cmocka_unit_test(what_a_slow_fabric_loses_is_sent_again_once),
		cmocka_unit_test(a_probe_finds_out_what_is_missing_and_only_that_is_sent_again),
		cmocka_unit_test(what_was_sent_again_behind_a_probe_is_not_taken_for_gone),
		cmocka_unit_test(an_answer_to_a_probe_before_the_resend_brings_nothing_again),
		cmocka_unit_test(what_an_answer_names_no_nak_asks_for),
		cmocka_unit_test(no_progress_beside_answers_is_overloaded_and_not_unreachable),
		cmocka_unit_test(what_waits_for_its_turn_ages_only_while_nothing_leaves),
		cmocka_unit_test(a_peer_that_does_not_answer_is_given_up_all_the_same),
		cmocka_unit_test(a_peer_has_the_time_of_several_round_trips_to_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
