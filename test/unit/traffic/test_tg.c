/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generators and checkers on real endpoints, and the books at the end. The
 * network is a queue that a test may rob, double, shuffle or forge.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_ledger.h"
#include "rl_tg.h"

#define EPS 5
#define FLITS 20000

static struct world {
	struct rl_ep_cfg cfg;
	struct rl_codec *codec;
	struct rl_flit_cache cache;
	struct rl_flit *arena;
	struct rl_pattern pattern;
	uint64_t pattern_mem[64];
	struct rl_ep *ep[EPS];
	struct rl_tg *tg[EPS];
	struct rl_prng prng;
	uint64_t now;
	uint32_t drop; /**< of 1024 packets */
	uint32_t cut_off; /**< endpoint whose packets all vanish, or none */
	uint32_t cut_cos; /**< the same of a class of service */
} w;

static void *
aligned(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) & ~(size_t)63);

	assert_non_null(p);
	memset(p, 0x77, bytes);
	return p;
}

static void
on_report(void *ctx, const struct rl_ep_report *r, uint64_t now_ns)
{
	(void)now_ns;
	rl_tg_report(ctx, r);
}

static void
tg_cfg(struct rl_tg_cfg *c)
{
	*c = (struct rl_tg_cfg){
		.pattern = &w.pattern,
		.ncos = 2,
		.min_flits = 1,
		.max_flits = 6,
		.seed = 42,
		.slot_ns = 10,
		.packets = 300,
		.max_flows = 64,
		.max_ranges = 4096,
	};
}

static void
open_world(enum rl_pattern_kind kind, bool retry, const struct rl_tg_cfg *tcfg)
{
	const struct rl_pattern_cfg pc = { .kind = kind, .nep = EPS, .seed = 1 };

	memset(&w, 0, sizeof(w));
	rl_prng_seed(&w.prng, 99);
	w.cut_off = EPS;
	w.cut_cos = 16;
	assert_int_equal(rl_pattern_init(&w.pattern, &pc, w.pattern_mem), 0);
	rl_ep_cfg_defaults(&w.cfg);
	w.cfg.retry = retry;
	w.cfg.retry_limit = 3;
	w.cfg.gap_skip_ns = 3000;
	w.codec = aligned(rl_codec_memsize());
	assert_int_equal(rl_codec_init(w.codec, w.cfg.crc, w.cfg.isn,
				       rl_codec_best_isa(512)), 0);
	w.arena = aligned(FLITS * sizeof(struct rl_flit));
	w.cache.slot = calloc(FLITS, sizeof(void *));
	w.cache.cap = FLITS;
	for (unsigned int i = 0; i < FLITS; i++)
		rl_flit_put(&w.cache, &w.arena[i]);
	for (unsigned int i = 0; i < EPS; i++) {
		struct rl_ep_params p = {
			.cfg = &w.cfg,
			.codec = w.codec,
			.cache = &w.cache,
			.ep_id = (uint16_t)i,
			.npeers = EPS,
			.report = on_report,
		};
		struct rl_tg_cfg c = *tcfg;

		c.ep_id = (uint16_t)i;
		w.tg[i] = rl_tg_init(aligned(rl_tg_memsize(&c)), &c, &w.cache);
		assert_non_null(w.tg[i]);
		p.report_ctx = w.tg[i];
		w.ep[i] = rl_ep_init(aligned(rl_ep_memsize(&w.cfg, EPS)), &p);
		rl_tg_start(w.tg[i], w.now);
	}
}

static void
close_world(void)
{
	for (unsigned int i = 0; i < EPS; i++) {
		rl_ep_flush(w.ep[i]);
		free(w.ep[i]);
		free(w.tg[i]);
	}
	assert_int_equal(w.cache.count, w.cache.cap);
	free(w.cache.slot);
	free(w.arena);
	free(w.codec);
}

static void
carry(struct rl_pktq *q)
{
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(q)) != NULL) {
		if (rl_prng_below(&w.prng, 1024) < w.drop ||
		    pkt->src == w.cut_off || pkt->dst == w.cut_off ||
		    pkt->wire[6] >> 4 == w.cut_cos)
			rl_packet_put(&w.cache, pkt);
		else
			rl_ep_rx(w.ep[pkt->dst], w.now, &pkt, 1);
	}
}

/** Runs until nobody wants anything, or until @p end_ns. */
static void
run_until(uint64_t end_ns)
{
	for (unsigned int steps = 0;; steps++) {
		uint64_t t = RL_NEVER;

		assert_true(steps < 2000000);
		for (unsigned int i = 0; i < EPS; i++) {
			struct rl_pktq q = { 0 };

			rl_tg_poll(w.tg[i], w.ep[i], w.now);
			rl_ep_poll(w.ep[i], w.now, &q, 64);
			carry(&q);
		}
		for (unsigned int i = 0; i < EPS; i++) {
			rl_tg_poll(w.tg[i], w.ep[i], w.now);
			t = rl_min_u64(t, rl_ep_deadline(w.ep[i]));
			t = rl_min_u64(t, rl_tg_deadline(w.tg[i]));
		}
		if (t >= end_ns || w.now >= end_ns)
			return;
		w.now = rl_max_u64(w.now + 10, t);
	}
}

static struct rl_ledger
books(void)
{
	struct rl_ledger l;

	rl_ledger_close(&l, w.tg, EPS);
	return l;
}

static void
every_pattern_sends_what_is_asked_and_the_books_are_clean(void **state)
{
	struct rl_tg_cfg c;

	(void)state;
	for (int k = 0; k < RL_PATTERN_PAIRS; k++) {
		struct rl_ledger l;

		tg_cfg(&c);
		open_world((enum rl_pattern_kind)k, true, &c);
		run_until(RL_NEVER);
		l = books();
		assert_true(rl_ledger_clean(&l));
		assert_int_equal(l.sent_packets,
				 300 * (k == RL_PATTERN_INCAST ? EPS - 1 : EPS));
		assert_int_equal(l.delivered_packets, l.sent_packets);
		assert_int_equal(l.delivered_flits, l.sent_flits);
		for (unsigned int i = 0; i < EPS; i++)
			assert_true(rl_tg_done(w.tg[i]));
		close_world();
	}
}

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
		assert_true(rl_ledger_clean(&l));
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

static void
while_requests_are_refused_responses_go_on(void **state)
{
	struct rl_tg_cfg c;
	uint64_t requests, responses, others;

	(void)state;
	tg_cfg(&c);
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

static void
the_load_is_kept_in_the_mean(void **state)
{
	struct rl_tg_cfg c;
	struct rl_ledger l;

	(void)state;
	tg_cfg(&c);
	c.load = 0.3;
	c.packets = 0;
	c.duration_ns = 1000000;
	open_world(RL_PATTERN_UNIFORM, true, &c);
	run_until(RL_NEVER);
	l = books();
	assert_true(rl_ledger_clean(&l));
	/* 10^5 slots, five endpoints, three flits in ten slots */
	assert_in_range(l.sent_flits, 142500, 157500);
	close_world();
}

static void
the_same_seed_sends_the_same_and_another_one_does_not(void **state)
{
	struct rl_tg_cfg c;
	uint64_t bytes[3];

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		tg_cfg(&c);
		c.seed = i < 2 ? 4 : 5;
		open_world(RL_PATTERN_UNIFORM, true, &c);
		run_until(RL_NEVER);
		bytes[i] = rl_tg_counts(w.tg[2])->sent_bytes;
		close_world();
	}
	assert_int_equal(bytes[0], bytes[1]);
	assert_int_not_equal(bytes[0], bytes[2]);
}

static void
latency_counts_from_the_planned_time(void **state)
{
	struct rl_delay *d = malloc(sizeof(*d));
	struct rl_tg_cfg c;

	(void)state;
	tg_cfg(&c);
	c.load = 1;
	c.packets = 20;
	c.min_flits = c.max_flits = 1;
	c.hist_by_vc = true;
	open_world(RL_PATTERN_UNIFORM, true, &c);
	w.now = 1000000; /* the host was away: packets are late from the start */
	run_until(RL_NEVER);
	rl_delay_reset(d);
	for (unsigned int i = 0; i < EPS; i++)
		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			rl_delay_merge(d, rl_tg_delay(w.tg[i], vc));
	assert_int_equal(d->latency.count, 20 * EPS);
	assert_true(d->latency.min > 1000000 - 20 * 2 * 10 - 20);
	/* a packet of each flow has none before it */
	assert_in_range(d->jitter.count, 1, 20 * EPS - EPS);
	assert_null(rl_tg_delay(w.tg[0], RL_VCS));
	free(d);
	close_world();
}

static void
losses_with_retry_are_repaired_and_without_are_counted_exactly(void **state)
{
	(void)state;
	for (int retry = 0; retry < 2; retry++) {
		struct rl_tg_cfg c;
		struct rl_ledger l;

		tg_cfg(&c);
		c.load = 0.05;
		open_world(RL_PATTERN_UNIFORM, retry, &c);
		w.drop = 50;
		run_until(RL_NEVER);
		l = books();
		assert_true(rl_ledger_balanced(&l));
		assert_int_equal(l.duplicated_packets, 0);
		assert_int_equal(l.reordered_packets, 0);
		assert_int_equal(l.corrupted_packets, 0);
		if (retry) {
			assert_int_equal(l.lost_packets, 0);
			assert_true(rl_ledger_clean(&l));
		} else {
			assert_in_range(l.lost_packets, 30, 120);
			assert_false(rl_ledger_clean(&l));
		}
		close_world();
	}
}

static void
what_cannot_be_delivered_is_reported_not_lost(void **state)
{
	struct rl_tg_cfg c;
	struct rl_ledger l;

	(void)state;
	tg_cfg(&c);
	c.packets = 100;
	open_world(RL_PATTERN_UNIFORM, true, &c);
	w.cut_off = 3;
	run_until(RL_NEVER);
	l = books();
	assert_true(rl_ledger_balanced(&l));
	assert_true(rl_ledger_clean(&l));
	assert_in_range(l.reported_packets, 150, 250);
	assert_int_equal(l.delivered_packets + l.reported_packets, 500);
	close_world();
}

static void
a_report_of_a_packet_that_arrived_does_not_make_it_lost(void **state)
{
	struct rl_tg_cfg c;
	struct rl_ledger l;
	struct rl_ep_report r = { .src = 0, .dst = 1, .cos = 0, .tag = 0 };
	const struct rl_tg_flow *f;

	(void)state;
	tg_cfg(&c);
	open_world(RL_PATTERN_UNIFORM, true, &c);
	run_until(RL_NEVER);
	f = rl_tg_flow_find(w.tg[0], 1, 0);
	assert_non_null(f);
	rl_tg_report(w.tg[0], &r);
	rl_tg_report(w.tg[0], &r);
	l = books();
	assert_true(rl_ledger_clean(&l));
	assert_int_equal(l.reported_delivered, 1);
	assert_int_equal(l.reported_packets, 0);
	r.tag = f->sent; /* never sent */
	rl_tg_report(w.tg[0], &r);
	l = books();
	assert_false(rl_ledger_balanced(&l));
	close_world();
}

/** Hands a packet straight to the client of endpoint 1, as a bug would. */
static void
forge(uint32_t number, bool hurt)
{
	const struct rl_stamp s = { .src = 0, .dst = 1, .number = number,
				    .len_bytes = 100, .seed = 42 };
	const struct rl_ep_msg msg = { .dst = 1, .len_bytes = 100 };
	struct rl_stamp_writer sw;
	struct rl_pktq q = { 0 };
	uint8_t data[100];

	rl_stamp_begin(&sw, &s);
	rl_stamp_fill(&sw, data, 0, 100);
	if (hurt)
		data[80] ^= 4;
	assert_int_equal(rl_ep_send(w.ep[0], w.now, &msg, data, NULL), 0);
	rl_ep_poll(w.ep[0], w.now, &q, 64);
	carry(&q);
	rl_tg_poll(w.tg[1], w.ep[1], w.now);
}

static void
the_checker_tells_late_twice_damaged_and_foreign_packets(void **state)
{
	const struct rl_tg_counts *n;
	struct rl_tg_cfg c;
	struct rl_ledger l;

	(void)state;
	tg_cfg(&c);
	open_world(RL_PATTERN_UNIFORM, true, &c);
	for (unsigned int i = 0; i < EPS; i++)
		rl_tg_stop(w.tg[i]);
	n = rl_tg_counts(w.tg[1]);
	forge(0, false);
	forge(1, false);
	forge(4, false);
	assert_int_equal(n->delivered_packets, 3);
	forge(3, false);
	assert_int_equal(n->reordered_packets, 1);
	forge(3, false);
	forge(0, false);
	assert_int_equal(n->duplicated_packets, 2);
	forge(5, true);
	assert_int_equal(n->corrupted_packets, 1);
	assert_int_equal(n->foreign_packets, 0);
	assert_int_equal(n->delivered_packets, 5);
	/* nobody has sent these, say the books */
	l = books();
	assert_false(rl_ledger_balanced(&l));
	assert_int_equal(l.unknown_packets, 6);
	/* and what one client saw stands in the sums of all */
	assert_int_equal(l.reordered_packets, 1);
	assert_int_equal(l.duplicated_packets, 2);
	assert_int_equal(l.corrupted_packets, 1);
	close_world();
}

/* A flow's number that came twice, of packets that its source did send. */
static void
more_came_than_was_sent_is_said_flow_by_flow(void **state)
{
	struct rl_tg_cfg c;
	struct rl_ledger l;
	uint32_t sent;

	(void)state;
	tg_cfg(&c);
	open_world(RL_PATTERN_UNIFORM, true, &c);
	run_until(RL_NEVER);
	sent = rl_tg_flow_find(w.tg[0], 1, 0)->sent;
	forge(sent + 6, false);
	l = books();
	assert_int_equal(l.unknown_packets, 7);
	assert_false(rl_ledger_balanced(&l));
	close_world();
}

/* Ranges have no room: what is forgotten is told, never passed over. */
static void
what_clients_cannot_remember_makes_books_inexact(void **state)
{
	struct rl_tg_cfg c;
	struct rl_ledger l;

	(void)state;
	tg_cfg(&c);
	c.max_ranges = 1;
	open_world(RL_PATTERN_UNIFORM, true, &c);
	for (unsigned int i = 0; i < EPS; i++)
		rl_tg_stop(w.tg[i]);
	for (uint32_t n = 1; n < 12; n += 2)
		forge(n, false);
	l = books();
	assert_true(l.inexact > 0);
	assert_false(rl_ledger_balanced(&l));
	close_world();
}

/* Every second packet of a flow is reported, and some of these arrived. */
static void
reports_beyond_what_arrived_count_once_each(void **state)
{
	struct rl_ep_report r = { .src = 0, .dst = 1, .cos = 0 };
	struct rl_tg_cfg c;
	struct rl_ledger l;

	(void)state;
	tg_cfg(&c);
	c.packets = 0;
	c.load = 0.2;
	c.ncos = 1;
	open_world(RL_PATTERN_UNIFORM, true, &c);
	run_until(20000);
	w.cut_off = 1;
	run_until(40000);
	for (unsigned int i = 0; i < EPS; i++)
		rl_tg_stop(w.tg[i]);
	/* the first that did not arrive, alone: a range of one */
	r.tag = rl_tg_flow_find(w.tg[1], 0, 0)->next;
	assert_true(r.tag < rl_tg_flow_find(w.tg[0], 1, 0)->sent);
	l = books();
	assert_int_equal(l.reported_packets, 0);
	rl_tg_report(w.tg[0], &r);
	l = books();
	assert_int_equal(l.reported_packets, 1);
	for (r.tag = 0; r.tag < rl_tg_flow_find(w.tg[0], 1, 0)->sent; r.tag++)
		if (r.tag != rl_tg_flow_find(w.tg[1], 0, 0)->next)
			rl_tg_report(w.tg[0], &r);
	l = books();
	assert_true(l.reported_packets > 0 && l.reported_delivered > 0);
	assert_int_equal(l.reported_packets + l.reported_delivered,
			 rl_tg_flow_find(w.tg[0], 1, 0)->sent);
	close_world();
}

static void
a_stop_and_a_new_start_go_on_with_the_same_numbers(void **state)
{
	struct rl_tg_cfg c;
	struct rl_ledger l;

	(void)state;
	tg_cfg(&c);
	c.packets = 0;
	c.load = 0.1;
	open_world(RL_PATTERN_PERMUTATION, true, &c);
	run_until(50000);
	for (unsigned int i = 0; i < EPS; i++) {
		rl_tg_stop(w.tg[i]);
		assert_int_equal(rl_tg_deadline(w.tg[i]), RL_NEVER);
	}
	run_until(RL_NEVER);
	l = books();
	assert_true(rl_ledger_clean(&l) && l.sent_packets > 100);
	const uint64_t before = l.sent_packets;

	for (unsigned int i = 0; i < EPS; i++) {
		rl_tg_set(w.tg[i], &w.pattern, 0.2, 50, 0);
		rl_tg_start(w.tg[i], w.now);
	}
	run_until(RL_NEVER);
	l = books();
	assert_true(rl_ledger_clean(&l));
	assert_int_equal(l.sent_packets, before + 50 * EPS);
	close_world();
}

/* What waits aside for a class that is blocked leaves room for the others. */
static void
a_blocked_class_of_service_leaves_the_generator_to_the_others(void **state)
{
	static const uint8_t classes[] = { 2, 16 };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(classes); i++) {
		for (unsigned int load = 0; load < 2; load++) {
			struct rl_tg_cfg c;

			tg_cfg(&c);
			c.ncos = classes[i];
			c.packets = 0;
			c.load = load;
			open_world(RL_PATTERN_INCAST, true, &c);
			w.cut_cos = 1;
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
configurations_without_sense_are_refused(void **state)
{
	static uint8_t mem[1 << 20] RL_ALIGNED(64);
	struct rl_tg_cfg c;

	(void)state;
#define BAD(change)                                                            \
	do {                                                                   \
		tg_cfg(&c);                                                    \
		change;                                                        \
		assert_null(rl_tg_init(mem, &c, &w.cache));                    \
	} while (0)
	BAD(c.ncos = 0);
	BAD(c.ncos = 17);
	BAD(c.min_flits = 0);
	BAD(c.min_flits = 7);
	BAD(c.max_flits = 256);
	BAD(c.class = RL_CLASS_CTRL);
	BAD(c.load = -1);
	BAD((c.load = 1, c.slot_ns = 0));
	BAD(c.max_flows = 0);
#undef BAD
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pattern_sends_what_is_asked_and_the_books_are_clean),
		cmocka_unit_test(every_request_is_answered_once),
		cmocka_unit_test(while_requests_are_refused_responses_go_on),
		cmocka_unit_test(a_client_that_is_stopped_still_answers),
		cmocka_unit_test(the_load_is_kept_in_the_mean),
		cmocka_unit_test(the_same_seed_sends_the_same_and_another_one_does_not),
		cmocka_unit_test(latency_counts_from_the_planned_time),
		cmocka_unit_test(losses_with_retry_are_repaired_and_without_are_counted_exactly),
		cmocka_unit_test(what_cannot_be_delivered_is_reported_not_lost),
		cmocka_unit_test(a_report_of_a_packet_that_arrived_does_not_make_it_lost),
		cmocka_unit_test(the_checker_tells_late_twice_damaged_and_foreign_packets),
		cmocka_unit_test(more_came_than_was_sent_is_said_flow_by_flow),
		cmocka_unit_test(what_clients_cannot_remember_makes_books_inexact),
		cmocka_unit_test(reports_beyond_what_arrived_count_once_each),
		cmocka_unit_test(a_stop_and_a_new_start_go_on_with_the_same_numbers),
		cmocka_unit_test(a_blocked_class_of_service_leaves_the_generator_to_the_others),
		cmocka_unit_test(configurations_without_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
