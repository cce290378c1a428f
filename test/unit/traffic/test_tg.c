/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generators and checkers on real endpoints, and the books at the end.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tg_world.h"

static void
every_pattern_sends_what_is_asked_and_the_books_are_clean(void **state)
{
	struct rl_tg_cfg c;

	(void)state;
	/* a transpose of five is none */
	for (int k = 0; k < RL_PATTERN_TRANSPOSE; k++) {
		struct rl_ledger l;

		tg_cfg(&c);
		open_world((enum rl_pattern_kind)k, true, &c);
		run_until(RL_NEVER);
		l = books();
		assert_true(ledger_clean(&l));
		assert_int_equal(l.sent_packets,
				 300 * (k == RL_PATTERN_INCAST ? EPS - 1 : EPS));
		assert_int_equal(l.delivered_packets, l.sent_packets);
		assert_int_equal(l.delivered_flits, l.sent_flits);
		for (unsigned int i = 0; i < EPS; i++)
			assert_true(rl_tg_done(w.tg[i]));
		close_world();
	}
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
	assert_true(ledger_clean(&l));
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
		assert_true(ledger_balanced(&l));
		assert_int_equal(l.duplicated_packets, 0);
		assert_int_equal(l.reordered_packets, 0);
		assert_int_equal(l.corrupted_packets, 0);
		if (retry) {
			assert_int_equal(l.lost_packets, 0);
			assert_true(ledger_clean(&l));
		} else {
			assert_in_range(l.lost_packets, 30, 120);
			assert_false(ledger_clean(&l));
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
	assert_true(ledger_balanced(&l));
	assert_true(ledger_clean(&l));
	assert_in_range(l.reported_packets, 150, 250);
	assert_int_equal(l.delivered_packets + l.reported_packets, 500);
	close_world();
}

/* [EP-7]: what an endpoint took and had not handed on is told by its crash. */
static void
a_crash_excuses_what_was_held_and_what_was_on_its_way(void **state)
{
	struct rl_tg_cfg c;
	struct rl_ledger l;

	(void)state;
	tg_cfg(&c);
	c.packets = 100;
	open_world(RL_PATTERN_UNIFORM, false, &c);
	w.cut_off = 3;
	run_until(1000000);
	l = books();
	assert_false(ledger_clean(&l));
	for (unsigned int i = 0; i < EPS; i++)
		if (i != 3)
			rl_tg_excuse(w.tg[i], 3);
	l = books();
	assert_false(ledger_clean(&l));
	rl_tg_crashed(w.tg[3]);
	l = books();
	assert_true(ledger_clean(&l));
	assert_int_equal(l.delivered_packets + l.reported_packets,
			 l.sent_packets);
	assert_true(l.delivered_packets > 0);
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
	assert_true(ledger_clean(&l));
	assert_int_equal(l.reported_delivered, 1);
	assert_int_equal(l.reported_packets, 0);
	r.tag = f->sent; /* never sent */
	rl_tg_report(w.tg[0], &r);
	l = books();
	assert_false(ledger_balanced(&l));
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
	/* by the ledger, these were never sent */
	l = books();
	assert_false(ledger_balanced(&l));
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
	assert_false(ledger_balanced(&l));
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
	assert_false(ledger_balanced(&l));
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
	r.tag = rl_tg_flow_find(w.tg[1], 0, 0)->seen.next;
	assert_true(r.tag < rl_tg_flow_find(w.tg[0], 1, 0)->sent);
	l = books();
	assert_int_equal(l.reported_packets, 0);
	rl_tg_report(w.tg[0], &r);
	l = books();
	assert_int_equal(l.reported_packets, 1);
	for (r.tag = 0; r.tag < rl_tg_flow_find(w.tg[0], 1, 0)->sent; r.tag++)
		if (r.tag != rl_tg_flow_find(w.tg[1], 0, 0)->seen.next)
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
	assert_true(ledger_clean(&l) && l.sent_packets > 100);
	const uint64_t before = l.sent_packets;

	for (unsigned int i = 0; i < EPS; i++) {
		rl_tg_set(w.tg[i], &w.pattern, 0.2, 50, 0);
		rl_tg_start(w.tg[i], w.now);
	}
	run_until(RL_NEVER);
	l = books();
	assert_true(ledger_clean(&l));
	assert_int_equal(l.sent_packets, before + 50 * EPS);
	close_world();
}

static void
send_more(void)
{
	rl_tg_set(w.tg[0], &w.pattern, 0, 50, 0);
	rl_tg_start(w.tg[0], w.now);
	run_until(RL_NEVER);
}

/* The second time: tags start over, and are watched as before. */
static void
another_client_of_a_flow_is_told_after_a_crash_too(void **state)
{
	struct rl_tg_cfg c;

	(void)state;
	tg_cfg(&c);
	open_world(RL_PATTERN_UNIFORM, true, &c);
	run_until(RL_NEVER);
	rl_tg_crashed(w.tg[0]);
	send_more();
	assert_int_equal(rl_tg_counts(w.tg[0])->inexact, 0);
	forge(0, false);
	send_more();
	assert_true(rl_tg_counts(w.tg[0])->inexact > 0);
	close_world();
}

/* Packets set aside for a blocked class leave room for the others. */
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
	BAD(c.load = -1);
	BAD((c.load = 1, c.slot_ns = 0));
	BAD(c.max_flows = 0);
#undef BAD
}

/* Paced so slowly that its next packet would be too late, it is done before. */
static void
a_client_is_done_the_moment_its_time_is_over(void **state)
{
	struct rl_tg_cfg c;
	uint64_t sent;

	(void)state;
	for (unsigned int paced = 0; paced < 2; paced++) {
		tg_cfg(&c);
		c.load = paced ? 0.0001 : 0;
		c.packets = 0;
		c.duration_ns = 1000;
		open_world(RL_PATTERN_UNIFORM, true, &c);
		rl_tg_poll(w.tg[0], w.ep[0], 999);
		assert_int_equal(rl_tg_done(w.tg[0]), paced);
		sent = rl_tg_counts(w.tg[0])->sent_packets;
		rl_tg_poll(w.tg[0], w.ep[0], 1000);
		assert_int_equal(rl_tg_counts(w.tg[0])->sent_packets, sent);
		assert_true(rl_tg_done(w.tg[0]));
		close_world();
	}
}

struct looker {
	pthread_t thread;
	_Atomic int over;
	uint64_t looks;
	uint64_t wrong;
	uint64_t reported; /* at the last look */
};

static void *
look_on(void *ctx)
{
	struct looker *l = ctx;

	do {
		struct rl_ledger_look k;

		rl_ledger_look(&k, w.tg, EPS);
		l->wrong += k.delivered_packets + k.reported_packets +
				    k.under_way_packets !=
			    k.sent_packets;
		l->reported = k.reported_packets;
		l->looks++;
	} while (atomic_load(&l->over) == 0);
	return NULL;
}

/* [DRL-7] Peers go away and come back, packets are lost and come twice. */
static void
another_thread_sees_books_that_balance_at_any_moment(void **state)
{
	struct looker look = { .over = 0 };
	struct rl_ledger l;
	struct rl_tg_cfg c;

	(void)state;
	tg_cfg(&c);
	c.packets = 3000;
	open_world(RL_PATTERN_UNIFORM, true, &c);
	w.drop = 100;
	assert_int_equal(pthread_create(&look.thread, NULL, look_on, &look), 0);
	for (unsigned int i = 0; i < 40; i++) {
		w.cut_off = i % (2 * EPS); /* every other time none */
		run_until(w.now + 100000);
		if (i % 8 == 7)
			rl_tg_excuse(w.tg[i % EPS], (uint16_t)((i + 1) % EPS));
	}
	for (unsigned int i = 0; i < EPS; i++)
		rl_tg_stop(w.tg[i]);
	w.cut_off = EPS;
	run_until(RL_NEVER);
	atomic_store(&look.over, 1);
	pthread_join(look.thread, NULL);
	l = books();
	assert_true(look.looks > 0);
	assert_int_equal(look.wrong, 0);
	assert_true(l.reported_packets + l.reported_delivered > 0);
	close_world();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pattern_sends_what_is_asked_and_the_books_are_clean),
		cmocka_unit_test(the_load_is_kept_in_the_mean),
		cmocka_unit_test(the_same_seed_sends_the_same_and_another_one_does_not),
		cmocka_unit_test(latency_counts_from_the_planned_time),
		cmocka_unit_test(losses_with_retry_are_repaired_and_without_are_counted_exactly),
		cmocka_unit_test(what_cannot_be_delivered_is_reported_not_lost),
		cmocka_unit_test(a_crash_excuses_what_was_held_and_what_was_on_its_way),
		cmocka_unit_test(a_report_of_a_packet_that_arrived_does_not_make_it_lost),
		cmocka_unit_test(the_checker_tells_late_twice_damaged_and_foreign_packets),
		cmocka_unit_test(more_came_than_was_sent_is_said_flow_by_flow),
		cmocka_unit_test(what_clients_cannot_remember_makes_books_inexact),
		cmocka_unit_test(reports_beyond_what_arrived_count_once_each),
		cmocka_unit_test(another_thread_sees_books_that_balance_at_any_moment),
		cmocka_unit_test(a_stop_and_a_new_start_go_on_with_the_same_numbers),
		cmocka_unit_test(another_client_of_a_flow_is_told_after_a_crash_too),
		cmocka_unit_test(a_blocked_class_of_service_leaves_the_generator_to_the_others),
		cmocka_unit_test(a_client_is_done_the_moment_its_time_is_over),
		cmocka_unit_test(configurations_without_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
