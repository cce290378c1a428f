/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One flow over many paths [EP-10]: flits overtake each other, the receiver
 * restores their order, and nothing that is only late is sent again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ep_congest.h"
#include "ep_ctrl.h"
#include "ep_fixture.h"
#include "rl_prng.h"

#define WAY_MAX 4096

static struct fx fx;
static struct rl_prng prng;

/** What is under way: each packet takes a path of its own. */
static struct {
	struct rl_flit *pkt;
	uint64_t at_ns;
	unsigned int to;
} way[WAY_MAX];
static unsigned int nway;
static uint64_t least_ns, spread_ns; /* of the paths */
static unsigned int one_in; /* data packets lost; 0: none */

static void
open_many(uint64_t least, uint64_t spread)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	cfg.order = RL_ORDER_ENDPOINT;
	cfg.retry_timer_ns = 0;
	cfg.retry_timer_max_ns = 100000;
	fx_open(&fx, &cfg, 2, 4000);
	rl_prng_seed(&prng, 7);
	nway = 0;
	least_ns = least;
	spread_ns = spread;
	one_in = 0;
}

static void
close_many(void)
{
	while (nway > 0)
		fx_drop(&fx, way[--nway].pkt);
	fx_close(&fx);
}

static void
leave(unsigned int from, struct rl_flit *pkt)
{
	if (fx_ctrl_cmd(pkt) < 0 && one_in != 0 &&
	    rl_prng_below(&prng, one_in) == 0) {
		fx_drop(&fx, pkt);
		return;
	}
	assert_true(nway < WAY_MAX);
	way[nway].pkt = pkt;
	way[nway].to = 1 - from;
	way[nway++].at_ns = fx.now + least_ns +
			    rl_prng_below(&prng, (uint32_t)spread_ns + 1);
}

/** One step, at the next time that anything happens. */
static bool
step(uint64_t until_ns)
{
	uint64_t t = until_ns;

	for (unsigned int i = 0; i < 2; i++) {
		struct rl_pktq q = fx_poll(&fx, i);

		while (!rl_pktq_empty(&q))
			leave(i, rl_pktq_pop(&q));
	}
	for (unsigned int i = 0; i < nway;) {
		if (way[i].at_ns > fx.now) {
			t = rl_min_u64(t, way[i++].at_ns);
			continue;
		}
		fx_rx(&fx, way[i].to, way[i].pkt);
		way[i] = way[--nway];
	}
	for (unsigned int i = 0; i < 2; i++)
		t = rl_min_u64(t, rl_ep_deadline(fx.ep[i]));
	fx.now = rl_max_u64(fx.now + 1, t);
	return fx.now < until_ns;
}

static void
run(unsigned int packets, uint64_t until_ns)
{
	unsigned int sent = 0;

	do {
		while (sent < packets && fx_send(&fx, 0, 1, 0, 500) == 0)
			sent++;
		fx_take(&fx, 1, false);
	} while (step(until_ns) && (sent < packets || !rl_ep_idle(fx.ep[0])));
	fx_take(&fx, 1, false);
	assert_int_equal(sent, packets);
	assert_true(rl_ep_idle(fx.ep[0]));
}

static void
what_is_only_late_is_not_sent_again(void **state)
{
	uint64_t naks;

	(void)state;
	open_many(300, 5000);
	run(500, RL_NEVER - 1); /* the first ones may be: nothing is known */
	naks = fx_ctr(&fx, 1, RL_EPC_nak_sent);
	run(4000, RL_NEVER - 1);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), naks);
	assert_true(fx_ctr(&fx, 1, RL_EPC_rx_ahead) > 4000);
	assert_true(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits) < 60);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_tx_flits), 4500 * 3);
	assert_int_equal(fx.nreports, 0);
	close_many();
}

/* All of it, the tail, too, and again and again. */
static void
what_is_lost_on_one_of_many_paths_is_sent_again(void **state)
{
	(void)state;
	open_many(300, 2000);
	one_in = 20;
	run(2000, RL_NEVER - 1);
	assert_true(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits) > 100);
	assert_true(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits) < 1000);
	assert_int_equal(fx.nreports, 0);
	close_many();
}

/* It is asked for once it has had twice the time that the latest took. */
static void
a_gap_is_asked_for_after_the_measured_spread_and_not_before(void **state)
{
	struct rl_flit *late, *lost, *nak;
	struct rl_pktq q;

	(void)state;
	open_many(0, 0);
	late = fx_emit(&fx, 1);
	fx_rx(&fx, 1, fx_emit(&fx, 1));
	fx.now += fx.cfg.nak_delay_ns - 1;
	q = fx_poll(&fx, 1);
	fx_drop_all(&fx, &q); /* ACKs, if any: it is not due */
	fx_rx(&fx, 1, late);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 0);
	lost = fx_emit(&fx, 1);
	fx_rx(&fx, 1, fx_emit(&fx, 1));
	fx.now += 2 * (fx.cfg.nak_delay_ns - 1) - 1;
	q = fx_poll(&fx, 1);
	fx_drop_all(&fx, &q);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 0);
	fx.now++;
	nak = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(nak), EP_CMD_NAK_ONE);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 1);
	fx_drop(&fx, lost);
	fx_rx(&fx, 0, nak);
	fx_settle(&fx);
	assert_int_equal(fx_take(&fx, 1, false), 4);
	close_many();
}

/* Both came: the wait was too short, and grows. */
static void
a_needless_copy_lengthens_the_wait(void **state)
{
	struct rl_flit *late;
	struct rl_pktq q;

	(void)state;
	open_many(0, 0);
	late = fx_emit(&fx, 1);
	fx_rx(&fx, 1, fx_emit(&fx, 1));
	fx.now += fx.cfg.nak_delay_ns;
	fx_settle(&fx);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 1);
	fx_rx(&fx, 1, late);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 1);
	late = fx_emit(&fx, 1);
	fx_rx(&fx, 1, fx_emit(&fx, 1));
	fx.now += fx.cfg.nak_delay_ns + fx.cfg.nak_delay_ns / 4;
	q = fx_poll(&fx, 1);
	fx_drop_all(&fx, &q);
	fx_rx(&fx, 1, late);
	fx_settle(&fx);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 1);
	assert_int_equal(fx_take(&fx, 1, false), 4);
	close_many();
}

/* An older flit is still missing, so both copies find it held. */
static void
a_needless_copy_behind_an_older_gap_lengthens_the_wait(void **state)
{
	struct rl_flit *older, *late, *copy;
	struct rl_pktq q;

	(void)state;
	open_many(0, 0);
	older = fx_emit(&fx, 1);
	late = fx_emit(&fx, 1);
	fx_rx(&fx, 1, fx_emit(&fx, 1));
	fx.now += fx.cfg.nak_delay_ns;
	fx_rx(&fx, 0, fx_poll_one(&fx, 1));
	q = fx_poll(&fx, 0);
	fx_drop(&fx, rl_pktq_pop(&q)); /* of the older one */
	copy = rl_pktq_pop(&q);
	assert_true(rl_pktq_empty(&q));
	fx_rx(&fx, 1, late);
	fx_rx(&fx, 1, copy);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 1);
	fx_rx(&fx, 1, older);
	late = fx_emit(&fx, 1);
	fx_rx(&fx, 1, fx_emit(&fx, 1));
	fx.now += fx.cfg.nak_delay_ns + fx.cfg.nak_delay_ns / 4;
	q = fx_poll(&fx, 1);
	fx_drop_all(&fx, &q); /* an ACK: it waits for longer now */
	fx_rx(&fx, 1, late);
	fx_settle(&fx);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 1);
	assert_int_equal(fx_take(&fx, 1, false), 5);
	close_many();
}

/* Its answer would call late flits lost. */
static void
a_probe_that_overtakes_data_is_answered_once_they_have_had_time(void **state)
{
	struct rl_flit *first, *second, *probe, *echo;
	struct rl_pktq q;

	(void)state;
	open_many(0, 0);
	first = fx_emit(&fx, 1);
	second = fx_emit(&fx, 1);
	fx.now = rl_ep_deadline(fx.ep[0]);
	probe = fx_poll_one(&fx, 0);
	assert_int_equal(fx_ctrl_cmd(probe), EP_CMD_PROBE);
	fx_rx(&fx, 1, probe);
	fx.now += fx.cfg.nak_delay_ns / 2;
	q = fx_poll(&fx, 1);
	assert_true(rl_pktq_empty(&q));
	fx_rx(&fx, 1, second);
	fx_rx(&fx, 1, first);
	fx.now += fx.cfg.nak_delay_ns / 2;
	echo = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(echo), EP_CMD_ECHO);
	assert_int_equal(fx_ctrl_n(echo), 1);
	fx_rx(&fx, 0, echo);
	assert_true(rl_ep_idle(fx.ep[0]));
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 0);
	fx_take(&fx, 1, false);
	close_many();
}

/* Only a probe of the sender shows that what was asked for is lost, too. */
static void
a_copy_of_what_is_held_asks_for_nothing_again(void **state)
{
	struct rl_flit *pkt, *copy;
	struct ep_flow *flow;
	uint64_t at_ns;

	(void)state;
	open_many(0, 0);
	fx_rx(&fx, 1, fx_emit(&fx, 1));
	fx_drop(&fx, fx_emit(&fx, 1));
	pkt = fx_emit(&fx, 1);
	copy = fx_copy(&fx, pkt);
	fx_rx(&fx, 1, pkt);
	flow = ep_flow_get(fx.ep[1], 0, 0);
	assert_int_equal(flow->held, 1);
	assert_int_equal((uintptr_t)fx.ep[1]->flow % RL_CACHE_LINE, 0);
	flow->nak_hi = flow->expect + 2; /* it has been asked for */
	at_ns = flow->gap_at_ns;
	fx.now += 100;
	fx_rx(&fx, 1, copy);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 1);
	assert_int_equal(flow->nak_hi, flow->expect + 2);
	assert_int_equal(flow->gap_at_ns, at_ns);
	close_many();
}

static void
it_needs_end_to_end_retry_of_single_flits_and_numbers_in_crcs(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct rl_ep_cfg cfg;
		const char *key = NULL;
		char err[256] = "";

		rl_ep_cfg_defaults(&cfg);
		cfg.order = RL_ORDER_ENDPOINT;
		assert_int_equal(rl_ep_cfg_check(&cfg, err, sizeof(err), &key),
				 0);
		if (i == 0)
			cfg.retry = false;
		else if (i == 1)
			cfg.retry_mode = RL_RETRY_GBN;
		else
			cfg.profile = i == 2 ? RL_PROFILE_CXL
					     : RL_PROFILE_CXL_SEP_ACK;
		assert_true(rl_ep_cfg_check(&cfg, err, sizeof(err), &key) < 0);
		assert_string_equal(key, "order");
	}
}

/* Flows that fill their windows share the room; it is one part for up to two of
   them, then for up to four. */
static void
room_is_shared_by_the_flows_that_fill_their_windows(void **state)
{
	static const uint8_t want[] = { 0, 1, 2, 2, 3, 3, 3, 3, 4 };
	struct rl_ep_cfg cfg;
	struct rl_ep *ep;

	(void)state;
	fx_cfg(&cfg);
	cfg.order = RL_ORDER_ENDPOINT;
	cfg.congestion = RL_CONGESTION_DELAY;
	cfg.rx_buffer_flits = 128;
	fx_open(&fx, &cfg, 2, 4000);
	ep = fx.ep[1];
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(want); i++) {
		ep_spread_arrived(ep, &ep->flow[i], 1, false);
		assert_int_equal(ep->spread.share, i > 0 ? want[i - 1] : 0);
		ep_spread_arrived(ep, &ep->flow[i], 1, true);
		ep_spread_arrived(ep, &ep->flow[i], 1, true);
		assert_int_equal(ep->spread.share, want[i]);
	}
	assert_true(ep_spread_untold(ep, &ep->flow[3]));
	assert_int_equal(ep_spread_tell(ep, &ep->flow[3]), 8);
	assert_false(ep_spread_untold(ep, &ep->flow[3]));
	/* the rest of an epoch, and one of seven flows, nearly a half of 16 */
	for (unsigned int i = 0; i < 128 - 27 + 128; i++)
		ep_spread_arrived(ep, &ep->flow[i % 7], 1, true);
	assert_int_equal(ep->spread.share, 4);
	for (unsigned int i = 0; i < 128; i++)
		ep_spread_arrived(ep, &ep->flow[i % 6], 1, true);
	assert_int_equal(ep->spread.share, 3);
	for (unsigned int i = 0; i < 3 * 128; i++)
		ep_spread_arrived(ep, &ep->flow[7], 1, true);
	assert_int_equal(ep->spread.share, 0);
	fx_close(&fx);
}

/* A sender keeps no more in flight than its part, and a packet at least. */
static void
a_window_is_no_larger_than_its_part_of_the_room(void **state)
{
	struct rl_ep_cfg cfg;
	struct ep_flow *flow;

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		fx_cfg(&cfg);
		cfg.order = RL_ORDER_ENDPOINT;
		cfg.congestion = k == 0 ? RL_CONGESTION_NONE
					: RL_CONGESTION_DELAY;
		cfg.window_flits = 256;
		cfg.rx_buffer_flits = 512;
		cfg.max_packet_flits = 32;
		fx_open(&fx, &cfg, 2, 4000);
		flow = &fx.ep[0]->flow[0];
		flow->window = 256;
		ep_cc_share(fx.ep[0], flow, 1 << EP_CTRL_SHARE_SHIFT);
		assert_int_equal(flow->window, 256);
		ep_cc_share(fx.ep[0], flow,
			    3 << EP_CTRL_SHARE_SHIFT | EP_CTRL_BUSY);
		assert_int_equal(flow->window, 64);
		ep_cc_share(fx.ep[0], flow, 0xff);
		assert_int_equal(flow->window, 32);
		/* with congestion control it grows when it was too small */
		ep_cc_share(fx.ep[0], flow, 2 << EP_CTRL_SHARE_SHIFT);
		assert_int_equal(flow->window, k == 0 ? 128 : 32);
		fx_close(&fx);
	}
}

/* What an endpoint was told in one life is nothing in the next. */
static void
a_new_life_knows_of_no_part(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		const struct ep_cc none = { 0 };
		struct rl_ep_cfg cfg;
		struct ep_flow *flow;

		fx_cfg(&cfg);
		cfg.order = RL_ORDER_ENDPOINT;
		cfg.congestion = k == 0 ? RL_CONGESTION_NONE
					: RL_CONGESTION_DELAY;
		fx_open_lives(&fx, &cfg, 2, 4000);
		flow = ep_flow_get(fx.ep[0], 1, 0);
		assert_ptr_equal(flow, &fx.ep[0]->flow[0]);
		ep_cc_share(fx.ep[0], flow, 3 << EP_CTRL_SHARE_SHIFT);
		fx.ep[0]->spread.share = 2;
		assert_true(ep_spread_untold(fx.ep[0], flow));
		ep_spread_tell(fx.ep[0], flow);
		fx_restart(&fx, 0, 77);
		flow = ep_flow_get(fx.ep[0], 1, 0);
		assert_ptr_equal(flow, &fx.ep[0]->flow[0]);
		assert_memory_equal(&fx.ep[0]->cc[0], &none, sizeof(none));
		fx_close(&fx);
	}
}

/** The flits of a packet met no path. */
static void
no_path(struct rl_flit *pkt)
{
	struct rl_flit *f = pkt;

	for (unsigned int n = pkt->pkt_flits; n > 0; n--, f = f->next)
		fx_notice(&fx, f, RL_EP_DROP_NO_PATH);
	fx_drop(&fx, pkt);
}

/** Of what the sender sends now. @return its probe, or NULL */
static struct rl_flit *
sent_now(unsigned int *by_tables, unsigned int *by_plane)
{
	struct rl_pktq q = fx_poll(&fx, 0);
	struct rl_flit *probe = NULL;

	*by_tables = *by_plane = 0;
	while (!rl_pktq_empty(&q)) {
		struct rl_flit *pkt = rl_pktq_pop(&q);

		if (fx_ctrl_cmd(pkt) == RL_FLIT_CMD_PROBE) {
			assert_null(probe);
			probe = pkt;
			continue;
		}
		*by_tables += (pkt->flags & RL_FF_TABLES) != 0;
		*by_plane += !(pkt->flags & RL_FF_TABLES);
		fx_drop(&fx, pkt);
	}
	return probe;
}

static void
one_path_that_leads_nowhere_has_data_keep_to_the_tables_and_ask(void **state)
{
	unsigned int tables, plane;
	struct rl_flit *a, *b;

	(void)state;
	open_many(0, 0);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 500), 0);
	a = fx_poll_one(&fx, 0);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 500), 0);
	b = fx_poll_one(&fx, 0);
	assert_false((a->flags | b->flags) & RL_FF_TABLES);
	no_path(a);
	no_path(b);
	assert_false(rl_ep_unreachable(fx.ep[0], 1, NULL));
	assert_int_equal(fx_send(&fx, 0, 1, 0, 500), 0);
	a = sent_now(&tables, &plane);
	assert_non_null(a);
	assert_int_equal(tables, 3);
	assert_int_equal(plane, 0);
	fx.now += 100000; /* retry_timer_max_ns */
	assert_int_equal(fx_send(&fx, 0, 1, 0, 500), 0);
	fx_drop(&fx, a);
	a = sent_now(&tables, &plane);
	assert_int_equal(tables, 0);
	assert_int_equal(plane, 1);
	/* the tables lead nowhere either */
	assert_non_null(a);
	no_path(a);
	assert_true(rl_ep_unreachable(fx.ep[0], 1, NULL));
	close_many();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_only_late_is_not_sent_again),
		cmocka_unit_test(
			what_is_lost_on_one_of_many_paths_is_sent_again),
		cmocka_unit_test(
			a_gap_is_asked_for_after_the_measured_spread_and_not_before),
		cmocka_unit_test(a_needless_copy_lengthens_the_wait),
		cmocka_unit_test(
			a_needless_copy_behind_an_older_gap_lengthens_the_wait),
		cmocka_unit_test(
			a_probe_that_overtakes_data_is_answered_once_they_have_had_time),
		cmocka_unit_test(a_copy_of_what_is_held_asks_for_nothing_again),
		cmocka_unit_test(
			it_needs_end_to_end_retry_of_single_flits_and_numbers_in_crcs),
		cmocka_unit_test(
			room_is_shared_by_the_flows_that_fill_their_windows),
		cmocka_unit_test(
			a_window_is_no_larger_than_its_part_of_the_room),
		cmocka_unit_test(a_new_life_knows_of_no_part),
		cmocka_unit_test(
			one_path_that_leads_nowhere_has_data_keep_to_the_tables_and_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
