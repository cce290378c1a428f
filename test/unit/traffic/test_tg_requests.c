/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that are answered [EP-5], also while new ones are refused [RES-1].
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_source.h"
#include "tg_world.h"

/** A count of all clients together. */
#define SUM(field)                                                             \
	(rl_tg_counts(w.tg[0])->field + rl_tg_counts(w.tg[1])->field +         \
	 rl_tg_counts(w.tg[2])->field + rl_tg_counts(w.tg[3])->field +         \
	 rl_tg_counts(w.tg[4])->field)

static void
every_request_is_answered_once(void **state)
{
	(void)state;
	for (uint32_t ppm = 0; ppm <= 1000000; ppm += 500000) {
		struct rl_tg_cfg c;
		struct rl_ledger l;

		tg_cfg(&c);
		c.requests_ppm = ppm;
		open_world(RL_PATTERN_UNIFORM, true, &c);
		w.drop = 30;
		run_until(RL_NEVER);
		l = books();
		assert_true(ledger_clean(&l));
		assert_int_equal(l.sent_packets,
				 300 * EPS + SUM(sent_responses));
		assert_int_equal(SUM(delivered_requests), SUM(sent_requests));
		assert_int_equal(SUM(sent_responses), SUM(sent_requests));
		assert_int_equal(SUM(delivered_responses), SUM(sent_requests));
		assert_in_range(SUM(sent_requests), 300 * EPS / 5 * (ppm / 250000),
				300 * EPS * (ppm / 1e6) * 1.2);
		for (unsigned int i = 0; i < EPS; i++)
			assert_int_equal(rl_tg_owed(w.tg[i]), 0);
		close_world();
	}
}

/* Packets that all clients sent in a class of service. */
static uint64_t
sent_in(uint8_t cos)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < EPS; i++)
		for (uint32_t k = 0; k < rl_tg_flow_count(w.tg[i]); k++) {
			const struct rl_tg_flow *f = rl_tg_flow(w.tg[i], k);

			n += f->cos == cos ? f->sent : 0;
		}
	return n;
}

static void
kinds(struct rl_tg_cfg *c, uint32_t requests_ppm)
{
	tg_cfg(c);
	c->ncos = RL_KINDS;
	c->by_kind = true;
	c->requests_ppm = requests_ppm;
}

static void
each_kind_has_a_class_of_service_of_its_own(void **state)
{
	(void)state;
	for (uint32_t ppm = 0; ppm <= 1000000; ppm += 500000) {
		struct rl_tg_cfg c;
		struct rl_ledger l;

		kinds(&c, ppm);
		open_world(RL_PATTERN_UNIFORM, true, &c);
		w.drop = 30;
		run_until(RL_NEVER);
		l = books();
		assert_true(ledger_clean(&l));
		assert_int_equal(sent_in(RL_KIND_REQUEST), SUM(sent_requests));
		assert_int_equal(sent_in(RL_KIND_RESPONSE),
				 SUM(sent_requests));
		assert_int_equal(sent_in(RL_KIND_POSTED),
				 300 * EPS - SUM(sent_requests));
		assert_in_range(SUM(sent_requests), 300 * EPS / 5 * (ppm / 250000),
				300 * EPS * (ppm / 1e6) * 1.2);
		assert_int_equal(SUM(delivered_responses), SUM(sent_requests));
		close_world();
	}
}

/* A kind that gets nothing through leaves the load to the other. */
static void
a_kind_that_is_blocked_leaves_the_load_to_the_other(void **state)
{
	(void)state;
	for (uint8_t cos = RL_KIND_POSTED; cos <= RL_KIND_REQUEST; cos++) {
		for (unsigned int load = 0; load < 2; load++) {
			struct rl_tg_cfg c;

			kinds(&c, 500000);
			c.packets = 0;
			c.load = load;
			open_world(RL_PATTERN_INCAST, true, &c);
			w.cut_cos = cos;
			run_until(40000);
			for (unsigned int e = 1; e < EPS; e++)
				assert_true(rl_tg_counts(w.tg[e])
						    ->sent_packets > 600);
			assert_true(rl_tg_counts(w.tg[0])->delivered_packets >
				    2000);
			close_world();
		}
	}
}

static void
kinds_are_three_classes_of_service(void **state)
{
	struct rl_tg_cfg c;
	uint8_t *mem;

	(void)state;
	kinds(&c, 0);
	mem = aligned(rl_tg_memsize(&c));
	assert_non_null(rl_tg_init(mem, &c, &w.cache));
	c.ncos = 2;
	assert_null(rl_tg_init(mem, &c, &w.cache));
	free(mem);
}

static void
requests_refused(bool by_kind)
{
	struct rl_tg_cfg c;
	uint64_t requests, responses, others;

	tg_cfg(&c);
	if (by_kind)
		kinds(&c, 0);
	c.requests_ppm = 1000000;
	c.load = 0.1;
	open_world(RL_PATTERN_UNIFORM, true, &c);
	run_until(20000);
	rl_ep_quiesce(w.ep[0], w.now, true);
	requests = rl_tg_counts(w.tg[0])->sent_requests;
	responses = rl_tg_counts(w.tg[0])->sent_responses;
	others = rl_tg_counts(w.tg[1])->sent_requests;
	run_until(60000);
	assert_int_equal(rl_tg_counts(w.tg[0])->sent_requests, requests);
	assert_true(rl_tg_counts(w.tg[0])->sent_responses > responses);
	assert_true(rl_tg_counts(w.tg[1])->sent_requests > others);
	/* all of them: what was asked is answered, and then all is quiet */
	for (unsigned int i = 0; i < EPS; i++)
		rl_ep_quiesce(w.ep[i], w.now, true);
	run_until(w.now + 100000);
	assert_int_equal(SUM(delivered_responses), SUM(sent_requests));
	for (unsigned int i = 0; i < EPS; i++) {
		assert_true(rl_ep_quiescent(w.ep[i], RL_EP_ALL));
		assert_false(rl_tg_done(w.tg[i]));
		rl_ep_quiesce(w.ep[i], w.now, false);
	}
	run_until(RL_NEVER);
	assert_int_equal(SUM(sent_requests), 300 * EPS);
	assert_int_equal(SUM(delivered_responses), 300 * EPS);
	close_world();
}

static void
while_requests_are_refused_responses_go_on(void **state)
{
	(void)state;
	requests_refused(false);
	requests_refused(true);
}

static void
a_client_that_is_stopped_still_answers(void **state)
{
	struct rl_tg_cfg c;

	(void)state;
	tg_cfg(&c);
	c.requests_ppm = 1000000;
	open_world(RL_PATTERN_UNIFORM, true, &c);
	rl_tg_stop(w.tg[0]);
	run_until(RL_NEVER);
	assert_int_equal(rl_tg_counts(w.tg[0])->sent_requests, 0);
	assert_true(rl_tg_counts(w.tg[0])->sent_responses > 0);
	assert_int_equal(SUM(delivered_responses), 300 * (EPS - 1));
	close_world();
}

/*
 * Responses that can't go wait, and go; those of a crashed endpoint are
 * forgotten.
 */
static void
owed_responses_wait_and_die_with_a_crash(void **state)
{
	(void)state;
	for (unsigned int crash = 0; crash < 2; crash++) {
		struct rl_tg_cfg c;

		tg_cfg(&c);
		c.requests_ppm = 1000000;
		open_world(RL_PATTERN_UNIFORM, true, &c);
		for (uint16_t d = 1; d < EPS; d++)
			rl_ep_hold(w.ep[0], w.now, d, true);
		run_until(30000);
		assert_true(rl_tg_owed(w.tg[0]) > 0);
		if (crash) {
			rl_tg_crashed(w.tg[0]);
			assert_int_equal(rl_tg_owed(w.tg[0]), 0);
		}
		for (uint16_t d = 1; d < EPS; d++)
			rl_ep_hold(w.ep[0], w.now, d, false);
		run_until(RL_NEVER);
		assert_int_equal(rl_tg_owed(w.tg[0]), 0);
		if (!crash)
			assert_int_equal(SUM(sent_responses),
					 SUM(delivered_requests));
		close_world();
	}
}

/*
 * A peer is cut off, and nobody knows it yet. Its flows fill their share of the
 * room and all places aside; then their packets go to others, in order, and
 * nothing is refused. A flow that still moves keeps its packets.
 */
static void
packets_of_a_stalled_flow_go_to_others_once_all_places_are_taken(void **state)
{
	const struct rl_tg_counts *n;
	uint64_t to_others, redirected = 0;
	struct rl_tg_cfg c;
	struct rl_ledger l;

	(void)state;
	tg_cfg(&c);
	c.ncos = 1;
	c.packets = 0;
	c.load = 0.4;
	open_world(RL_PATTERN_UNIFORM, true, &c);
	run_until(100000);
	for (unsigned int i = 0; i < EPS; i++)
		assert_int_equal(rl_tg_counts(w.tg[i])->redirected_packets, 0);
	w.cut_off = 3;
	run_until(4000000); /* two timers have expired */
	to_others = rl_tg_counts(w.tg[0])->sent_packets -
		    rl_tg_flow_find(w.tg[0], 3, 0)->sent;
	run_until(4400000);
	n = rl_tg_counts(w.tg[0]);
	/* 40000 slots, 0.4 flits in each, 3.5 flits a packet: all to others */
	assert_in_range(n->sent_packets - rl_tg_flow_find(w.tg[0], 3, 0)->sent -
				to_others,
			4300, 4900);
	for (unsigned int i = 0; i < EPS; i++) {
		n = rl_tg_counts(w.tg[i]);
		assert_int_equal(n->unreachable_packets, 0);
		redirected += n->redirected_packets;
	}
	assert_true(redirected > 100);
	/* eight places take four packets, whosesoever they are */
	for (unsigned int i = 0; i < EPS; i++) {
		rl_tg_stop(w.tg[i]);
		rl_tg_set(w.tg[i], &w.pattern, 0.4, 4, 0);
		rl_tg_start(w.tg[i], w.now);
	}
	run_until(4500000);
	for (unsigned int i = 0; i < EPS; i++)
		redirected -= rl_tg_counts(w.tg[i])->redirected_packets;
	assert_int_equal(redirected, 0);
	w.cut_off = EPS;
	run_until(RL_NEVER);
	l = books();
	assert_true(ledger_clean(&l));
	assert_int_equal(l.delivered_packets, l.sent_packets);
	close_world();
}

/* Whoever is forgiven, the others stay in their order. */
static void
a_peer_that_is_forgiven_leaves_the_others_in_their_turn(void **state)
{
	static const struct rl_source_cfg cfg = { .by_kind = false };

	(void)state;
	for (unsigned int n = 1; n <= 4; n++)
		for (unsigned int gone = 0; gone < n; gone++) {
			struct rl_source src = { .cfg = &cfg };
			struct rl_owed o[4] = { 0 };
			const struct rl_owed *at;

			for (unsigned int i = 0; i < n; i++)
				for (unsigned int k = 0; k <= i; k++)
					rl_source_owe(&src, &o[i],
						      (uint16_t)(20 + i),
						      (uint8_t)i, 100 * i + k);
			assert_int_equal(src.owed, n * (n + 1) / 2);
			rl_source_forgive(&src, &o[gone]);
			assert_int_equal(src.owed, n * (n + 1) / 2 - gone - 1);
			assert_int_equal(o[gone].count, 0);
			at = src.owed_first;
			for (unsigned int i = 0; i < n; i++) {
				if (i == gone)
					continue;
				assert_ptr_equal(at, &o[i]);
				assert_int_equal(at->count, i + 1);
				assert_int_equal(at->dst, 20 + i);
				assert_int_equal(at->cos, i);
				assert_int_equal(at->since_ns, 100 * i);
				at = at->next;
			}
			assert_null(at);
			/* it may owe again, behind the others */
			rl_source_owe(&src, &o[gone], 9, 1, 7);
			assert_ptr_equal(src.owed_last, &o[gone]);
			assert_null(o[gone].next);
			rl_source_owe_nothing(&src);
			assert_null(src.owed_first);
			assert_int_equal(src.owed, 0);
			for (unsigned int i = 0; i < n; i++)
				assert_int_equal(o[i].count, 0);
		}
}

static unsigned int offered[8]; /* by destination */
static int answer[8];
static bool may_go;

static int
offer_it(struct rl_source *src, struct rl_ep *ep,
	 const struct rl_source_packet *p, uint64_t now_ns)
{
	(void)src;
	(void)ep;
	(void)now_ns;
	offered[p->dst]++;
	return answer[p->dst];
}

static bool
may_it(const struct rl_source *src, uint16_t dst, uint8_t cos)
{
	(void)src;
	(void)dst;
	(void)cos;
	return may_go;
}

/* Packets aside for 3, 5, 3 and 3, and what becomes of them. */
static void
check_aside(const struct rl_source_cfg *cfg, int of_3, int of_5,
	    unsigned int offers_3, unsigned int offers_5, const char *left)
{
	struct rl_source src = {
		.cfg = cfg, .next_ns = RL_NEVER, .end_ns = RL_NEVER,
		.naside = 4, .waits = { 4 },
		.aside = { { .dst = 3, .made_ns = 1 }, { .dst = 5 },
			   { .dst = 3, .made_ns = 2 },
			   { .dst = 3, .made_ns = 3 } },
	};
	const size_t n = strlen(left);
	uint64_t made_ns = 0;

	memset(offered, 0, sizeof(offered));
	answer[3] = of_3;
	answer[5] = of_5;
	assert_int_equal(rl_source_send(&src, NULL, 10), 4 - n);
	assert_int_equal(offered[3], offers_3);
	assert_int_equal(offered[5], offers_5);
	assert_int_equal(src.naside, n);
	assert_int_equal(src.waits[0], n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(src.aside[i].dst, left[i] - '0');
		if (left[i] == '3') {
			assert_true(src.aside[i].made_ns > made_ns);
			made_ns = src.aside[i].made_ns;
		}
	}
}

static void
packets_aside_are_offered_in_the_order_of_their_flow(void **state)
{
	struct rl_source_cfg cfg = { .load = 1.0, .share = 64,
				     .offer = offer_it, .may = may_it };

	(void)state;
	check_aside(&cfg, 0, 0, 3, 1, "");
	check_aside(&cfg, -EBUSY, -EBUSY, 1, 1, "3533");
	check_aside(&cfg, -EBUSY, 0, 1, 1, "333");
	check_aside(&cfg, 0, -EBUSY, 3, 1, "5");
	check_aside(&cfg, -EAGAIN, 0, 1, 0, "3533"); /* all must wait */
	check_aside(&cfg, 0, -EAGAIN, 1, 1, "533");
}

/* All places are taken: one goes elsewhere, if it may. */
static void
a_packet_goes_elsewhere_only_where_it_may(void **state)
{
	struct rl_source_cfg cfg = { .load = 1.0, .share = 1,
				     .pattern = &w.pattern, .offer = offer_it,
				     .may = may_it };
	struct rl_tg_cfg c;

	(void)state;
	tg_cfg(&c);
	open_world(RL_PATTERN_UNIFORM, true, &c);
	for (unsigned int i = 0; i < 2 * EPS; i++) {
		struct rl_source src = {
			.cfg = &cfg, .next_ns = RL_NEVER, .end_ns = RL_NEVER,
			.naside = 1, .waits = { 1 }, .aside = { { .dst = 3 } },
		};

		rl_prng_seed(&src.prng, i);
		may_go = i % 2;
		answer[3] = -ENOBUFS;
		assert_int_equal(rl_source_send(&src, NULL, 10), 0);
		assert_int_equal(src.redirected, src.aside[0].dst != 3);
		if (!may_go)
			assert_int_equal(src.aside[0].dst, 3);
		/* the next one finds no place, and waits where it may not go */
		src.dst = 3;
		src.next_ns = 5;
		src.aside[0].dst = 2;
		answer[2] = -EBUSY;
		if (!may_go) {
			memset(offered, 0, sizeof(offered));
			assert_int_equal(rl_source_send(&src, NULL, 10), 0);
			assert_int_equal(offered[3], 1);
			assert_true(src.tried);
			assert_int_equal(src.dst, 3);
			assert_int_equal(src.naside, 1);
		}
	}
	close_world();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_request_is_answered_once),
		cmocka_unit_test(each_kind_has_a_class_of_service_of_its_own),
		cmocka_unit_test(
			a_kind_that_is_blocked_leaves_the_load_to_the_other),
		cmocka_unit_test(kinds_are_three_classes_of_service),
		cmocka_unit_test(while_requests_are_refused_responses_go_on),
		cmocka_unit_test(a_client_that_is_stopped_still_answers),
		cmocka_unit_test(owed_responses_wait_and_die_with_a_crash),
		cmocka_unit_test(packets_of_a_stalled_flow_go_to_others_once_all_places_are_taken),
		cmocka_unit_test(
			a_peer_that_is_forgiven_leaves_the_others_in_their_turn),
		cmocka_unit_test(
			packets_aside_are_offered_in_the_order_of_their_flow),
		cmocka_unit_test(a_packet_goes_elsewhere_only_where_it_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
