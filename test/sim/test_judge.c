/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The judge of simulated traffic before packets that the test hands it: once
 * and whole, twice, late, altered, at the wrong place, or never. A judge that
 * sees nothing would let every campaign pass.
 */
#include "judge_bench.h"

static void
what_comes_once_whole_and_in_order_is_delivered(void **state)
{
	struct rl_sim_load_stats st;

	(void)state;
	deliver_all_but(nsent);
	st = stats();
	assert_int_equal(st.delivered, PACKETS);
	assert_int_equal(st.lost + st.duplicated + st.reordered +
			 st.corrupted + st.reported + st.died, 0);
	assert_string_equal(st.first_error, "");
}

static void
what_comes_twice_is_seen_however_late(void **state)
{
	(void)state;
	deliver(of_flow(0));
	deliver(of_flow(0));
	assert_int_equal(stats().duplicated, 1);
	deliver(of_flow(1));
	deliver(of_flow(2));
	deliver(of_flow(0));
	assert_int_equal(stats().duplicated, 2);
	assert_int_equal(stats().delivered, 3);
	assert_non_null(strstr(stats().first_error, "came twice"));
}

static void
what_comes_late_is_out_of_order_and_delivered(void **state)
{
	(void)state;
	deliver(of_flow(1));
	assert_int_equal(stats().reordered, 0);
	deliver(of_flow(0));
	assert_int_equal(stats().reordered, 1);
	assert_int_equal(stats().delivered, 2);
	deliver(of_flow(0)); /* and once more is once too often */
	assert_int_equal(stats().duplicated, 1);
}

static void
what_never_comes_is_lost_wherever_it_stood(void **state)
{
	(void)state;
	for (unsigned int skip = 0; skip < PACKETS; skip++) {
		rl_sim_load_free(load);
		open_load(0);
		deliver_all_but(skip);
		assert_int_equal(stats().lost, 1);
		assert_int_equal(stats().delivered, PACKETS - 1);
	}
}

static void
what_was_given_up_openly_is_not_lost(void **state)
{
	const struct rl_ep_report r = { .src = sent[0].src,
					.dst = sent[0].dst,
					.tag = sent[0].tag };

	(void)state;
	rl_sim_load_report(load, &r, 150 * US);
	rl_sim_load_report(load, &r, 160 * US); /* told twice: once */
	deliver_all_but(0);
	assert_int_equal(stats().lost, 0);
	assert_int_equal(stats().reported, 1);
	assert_int_equal(stats().reported_delivered, 0);
	deliver(0);
	assert_int_equal(stats().reported_delivered, 1);
}

static void
another_content_is_seen_in_every_part_of_a_packet(void **state)
{
	uint64_t n = 0;

	(void)state;
	for (uint32_t at = 0; at < sent[0].bytes; at += 13) {
		struct sent s = sent[0];

		s.data[at] ^= 0x10;
		hand(&s, s.dst, 200 * US);
		assert_int_equal(stats().corrupted, ++n);
	}
	for (int k = 0; k < 4; k++) {
		struct sent s = sent[0];

		s.bytes -= k == 0 ? 1 : k == 1 ? RL_FLIT_DATA_BYTES : 0;
		if (k == 2)
			s.class ^= RL_CLASS_REQ_POSTED ^ RL_CLASS_REQ_NONPOSTED;
		if (k == 3)
			s.tag += PACKETS; /* never sent */
		hand(&s, s.dst, 200 * US);
		assert_int_equal(stats().corrupted, ++n);
	}
	assert_int_equal(stats().delivered, 0);
}

static void
a_packet_at_another_endpoint_is_seen(void **state)
{
	(void)state;
	hand(&sent[0], (uint16_t)(3 - sent[0].src - sent[0].dst), 200 * US);
	assert_int_equal(stats().corrupted, 1);
	assert_int_equal(stats().delivered, 0);
}

static void
what_was_on_its_way_to_an_endpoint_that_crashed_has_died(void **state)
{
	const uint16_t dead = sent[0].dst;
	uint64_t to = 0, from = 0;

	(void)state;
	for (unsigned int i = 0; i < nsent; i++) {
		to += sent[i].dst == dead;
		from += sent[i].src == dead;
	}
	assert_true(to > 1 && from > 1);
	rl_sim_load_crash(load, dead);
	for (unsigned int i = 0; i < nsent; i++)
		if (sent[i].dst != dead && sent[i].src != dead)
			deliver(i);
	assert_int_equal(stats().died, to + from);
	assert_int_equal(stats().lost, 0);
	assert_true(rl_sim_load_done(load));
}

static void
what_was_sent_before_a_crash_may_come_after_what_is_sent_since(void **state)
{
	unsigned int before, n = 0;
	uint64_t t_ns = 0;

	(void)done(state);
	new_load_of(0, 1);
	for (; nsent < PACKETS / 2; t_ns++)
		poll_all(t_ns);
	before = nsent;
	rl_sim_load_crash(load, 0);
	for (unsigned int d = 0; d < NEP; d++)
		next_tag[0][d] = 77; /* tags start again */
	for (; t_ns < US; t_ns++)
		poll_all(t_ns);
	assert_int_equal(nsent, PACKETS);
	for (unsigned int i = 0; i < 2 * PACKETS; i++) {
		const unsigned int k = (before + i) % PACKETS;
		const uint64_t died = stats().died;

		if (sent[k].src != 0)
			continue;
		deliver(k);
		n += i < PACKETS; /* and then all once more */
		assert_int_equal(stats().delivered, n);
		assert_int_equal(died - stats().died, i < PACKETS && k < before);
	}
	assert_int_equal(stats().duplicated, n);
	assert_int_equal(stats().reordered + stats().corrupted, 0);
}

/* All are requests; who answers one is not kept from answering another. */
static void
every_request_is_answered_though_one_source_takes_nothing(void **state)
{
	uint64_t to[NEP] = { 0 }, answers = 0, others = 0;
	struct rl_sim_load_stats st;

	(void)state;
	rl_sim_load_free(load);
	open_load(1000000);
	for (unsigned int i = 0; i < PACKETS; i++)
		to[sent[i].src] += sent[i].dst == 2;
	assert_true(to[0] > 1 && to[1] > 1);
	full = (1u << NEP) - 1;
	for (unsigned int i = 0; i < PACKETS; i++) {
		others += sent[i].src != sent[0].src;
		deliver(i);
	}
	assert_int_equal(nsent, PACKETS);
	full = 1u << sent[0].src; /* it alone takes no answers */
	poll_all(300 * US);
	for (unsigned int i = PACKETS; i < nsent; i++) {
		assert_int_equal(sent[i].class, RL_CLASS_RSP);
		assert_int_not_equal(sent[i].dst, sent[0].src);
		answers++;
	}
	assert_int_equal(answers, others);
	assert_false(rl_sim_load_done(load));
	full = 0;
	for (int i = 0; i < 10; i++)
		poll_all(400 * US);
	assert_int_equal(nsent, 2 * PACKETS);
	for (unsigned int i = PACKETS; i < 2 * PACKETS; i++)
		deliver(i);
	st = stats();
	assert_true(rl_sim_load_done(load));
	assert_int_equal(st.sent_requests, PACKETS);
	assert_int_equal(st.delivered_requests, PACKETS);
	assert_int_equal(st.sent_responses, PACKETS);
	assert_int_equal(st.delivered_responses, PACKETS);
	assert_int_equal(st.lost + st.duplicated + st.reordered +
			 st.corrupted, 0);
}

static void
a_flow_is_silent_while_something_of_it_is_under_way(void **state)
{
	const uint64_t end = 5000 * US;
	const unsigned int last = flow_len() - 1;
	uint16_t src = 9, dst = 9;
	uint64_t ns;

	(void)state;
	for (unsigned int i = 0; i < nsent; i++)
		if (i != of_flow(last) && i != of_flow(last - 1))
			deliver(i); /* at 200 us */
	ns = rl_sim_load_silence(load, end, &src, &dst);
	assert_int_equal(ns, end - 200 * US);
	assert_int_equal(src, sent[0].src);
	assert_int_equal(dst, sent[0].dst);
	/* silence has a reason while its ends are not connected */
	connected_ns = 3000 * US;
	assert_int_equal(rl_sim_load_silence(load, end, &src, &dst),
			 end - connected_ns);
	connected_ns = RL_NEVER;
	assert_int_equal(rl_sim_load_silence(load, end, &src, &dst), 0);
	/* but a word of it is due all the same: it came, or it was reported */
	assert_int_equal(rl_sim_load_unheard(load, end, &src, &dst),
			 end - 200 * US);
	for (unsigned int n = last - 1; n <= last; n++) {
		const struct rl_ep_report r = { .src = sent[0].src,
						.dst = sent[0].dst,
						.tag = sent[of_flow(n)].tag };

		rl_sim_load_report(load, &r, 4000 * US);
		assert_int_equal(rl_sim_load_unheard(load, end, &src, &dst),
				 n < last ? end - 4000 * US : 0);
	}
	connected_ns = 0;
	assert_int_equal(rl_sim_load_silence(load, end, &src, &dst), 0);
}

/* It reports what it has taken; what the client has made waits before that. */
static void
what_a_full_endpoint_has_not_taken_it_need_not_report(void **state)
{
	const uint64_t end = 5000 * US, taken = 3000 * US;
	uint16_t src, dst;

	(void)done(state);
	new_load_of(0, 1);
	full = (1u << NEP) - 1;
	for (uint64_t t_ns = 0; t_ns < US; t_ns++)
		poll_all(t_ns);
	assert_int_equal(nsent, 0);
	full = 0;
	for (unsigned int i = 0; i < PACKETS && nsent < PACKETS; i++)
		poll_all(taken);
	assert_true(nsent > 0);
	assert_int_equal(rl_sim_load_unheard(load, end, &src, &dst),
			 end - taken);
	/* still, no one has heard of it */
	assert_true(rl_sim_load_silence(load, end, &src, &dst) > end - US);
}

/* Its client made it long ago, but kept it behind others. */
static void
a_flow_is_silent_since_its_packet_was_first_offered(void **state)
{
	const uint64_t end = 5000 * US, offered = 3000 * US;
	unsigned int before, late = 0;
	uint16_t src, dst;

	(void)done(state);
	new_load_of(0, 1);
	full = 1u << 0; /* those for it are refused, and others come behind */
	for (uint64_t t_ns = 0; t_ns < US; t_ns += 10)
		poll_all(t_ns);
	before = nsent;
	for (unsigned int i = 0; i < before; i++)
		deliver(i); /* at 200 us */
	full = 0;
	for (unsigned int i = 0; i < PACKETS && nsent < PACKETS; i++)
		poll_all(offered);
	assert_int_equal(nsent, PACKETS);
	for (unsigned int i = before; i < nsent; i++)
		if (sent[i].dst == 0)
			deliver(i);
		else
			late++;
	assert_true(late > 0);
	assert_int_equal(rl_sim_load_silence(load, end, &src, &dst),
			 end - offered);
	assert_int_not_equal(dst, 0);
}

static void
the_longest_outage_is_kept_with_its_flow(void **state)
{
	(void)state;
	hand(&sent[of_flow(0)], sent[0].dst, 200 * US);
	assert_true(stats().outage_ns < 200 * US);
	hand(&sent[of_flow(1)], sent[0].dst, 900 * US);
	assert_int_equal(stats().outage_ns, 700 * US);
	assert_int_equal(stats().outage_at_ns, 900 * US);
	hand(&sent[of_flow(2)], sent[0].dst, 1000 * US);
	assert_int_equal(stats().outage_ns, 700 * US);
	assert_int_equal(stats().outage_src, sent[0].src);
	assert_int_equal(stats().outage_dst, sent[0].dst);
}

/* Independent of the order and the time of polls. */
static void
the_number_of_packets_of_each_endpoint_follows_from_the_seed(void **state)
{
	uint32_t usual[NEP][NEP];

	(void)done(state);
	open_load(0);
	memcpy(usual, next_tag, sizeof(usual));
	rl_sim_load_free(load);
	new_load_of(0, 1);
	for (self = NEP; self-- > 0;)
		for (unsigned int i = 0; i < PACKETS; i++)
			client[self].poll(client[self].ctx, NULL, US);
	assert_int_equal(nsent, PACKETS);
	assert_memory_equal(next_tag, usual, sizeof(usual));
	assert_true(rl_sim_load_done(load));
}

static void
clients_of_several_threads_add_up(void **state)
{
	struct rl_sim_load_stats one, three;

	(void)done(state);
	for (unsigned int threads = 1; threads <= 3; threads += 2) {
		new_load_of(500000, threads);
		for (uint64_t t_ns = 0; t_ns < US; t_ns++)
			poll_all(t_ns);
		for (unsigned int i = 0; i < nsent; i++)
			if (i % 5 != 1)
				hand(&sent[i], sent[i].dst, (200 + i) * US);
		hand(&sent[5], sent[5].dst, 900 * US); /* twice */
		hand(&sent[0], (sent[0].dst + 1u) % NEP, 800 * US); /* astray */
		*(threads == 1 ? &one : &three) = stats();
		if (threads == 1)
			rl_sim_load_free(load);
	}
	assert_int_equal(one.duplicated, 1);
	assert_int_equal(one.corrupted, 1);
	assert_true(one.lost > 0 && one.sent_responses > 0);
	assert_true(one.outage_ns > 0 && one.latency.count > 0);
	/* the first thing that went wrong, by time */
	assert_non_null(strstr(one.first_error, "got a packet of"));
	assert_memory_equal(&one, &three, sizeof(one));
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, done)
	const struct CMUnitTest tests[] = {
		CASE(what_comes_once_whole_and_in_order_is_delivered),
		CASE(what_comes_twice_is_seen_however_late),
		CASE(what_comes_late_is_out_of_order_and_delivered),
		CASE(what_never_comes_is_lost_wherever_it_stood),
		CASE(what_was_given_up_openly_is_not_lost),
		CASE(another_content_is_seen_in_every_part_of_a_packet),
		CASE(a_packet_at_another_endpoint_is_seen),
		CASE(what_was_on_its_way_to_an_endpoint_that_crashed_has_died),
		CASE(what_was_sent_before_a_crash_may_come_after_what_is_sent_since),
		CASE(every_request_is_answered_though_one_source_takes_nothing),
		CASE(a_flow_is_silent_while_something_of_it_is_under_way),
		CASE(what_a_full_endpoint_has_not_taken_it_need_not_report),
		CASE(the_longest_outage_is_kept_with_its_flow),
		CASE(a_flow_is_silent_since_its_packet_was_first_offered),
		CASE(the_number_of_packets_of_each_endpoint_follows_from_the_seed),
		CASE(clients_of_several_threads_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
