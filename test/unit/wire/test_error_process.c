/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The error processes do what their numbers say: rates, lengths, places. All
 * bounds are five standard deviations or more, and all seeds are fixed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rl_error.h"

static void
near(double got, double want, double sigma)
{
	if (fabs(got - want) > 5 * sigma)
		fail_msg("%g instead of %g, sigma %g", got, want, sigma);
}

/** One flit of zeros through the process; what is left is the error. */
static struct rl_error_hit
one(struct rl_error *e, uint8_t *wire)
{
	memset(wire, 0, RL_ERROR_SPAN_MAX);
	if (rl_error_pass(e))
		return (struct rl_error_hit){ false, 0, 0 };
	return rl_error_strike(e, wire);
}

static bool
bit(const uint8_t *wire, unsigned int i)
{
	return wire[i >> 3] >> (i & 7) & 1;
}

static void
independent_bits_come_at_their_rate_and_everywhere(void **state)
{
	static const double rates[] = { 1e-5, 1e-4, 1e-3, 3e-3 };
	uint8_t wire[RL_ERROR_SPAN_MAX];
	struct rl_error_cfg c;
	struct rl_error e;

	(void)state;
	rl_error_cfg_defaults(&c);
	for (size_t r = 0; r < RL_ARRAY_SIZE(rates); r++) {
		const double p = rates[r];
		const double n = 400000;
		const double fer = 1 - pow(1 - p, 2048);
		double bits = 0, hurt = 0, third[3] = { 0 };

		c.bit_rate = p;
		rl_error_init(&e, &c, 7 + r);
		for (double i = 0; i < n; i++) {
			const struct rl_error_hit h = one(&e, wire);

			bits += h.bits;
			hurt += h.bits > 0;
			for (unsigned int k = 0; h.bits > 0 && k < 2048; k++)
				third[k % 3] += bit(wire, k);
		}
		near(bits, n * 2048 * p, sqrt(n * 2048 * p));
		near(hurt, n * fer, sqrt(n * fer * (1 - fer)));
		for (int k = 0; k < 3; k++)
			near(third[k], bits / 3, sqrt(bits / 3));
	}
}

static void
a_certain_bit_error_leaves_no_bit_right(void **state)
{
	uint8_t wire[RL_ERROR_SPAN_MAX];
	struct rl_error_cfg c;
	struct rl_error e;

	(void)state;
	rl_error_cfg_defaults(&c);
	c.bit_rate = 1.0;
	rl_error_init(&e, &c, 3);
	for (int i = 0; i < 10; i++) {
		const struct rl_error_hit h = one(&e, wire);

		assert_int_equal(h.bits, 2048);
		assert_int_equal(h.bytes, 256);
	}
}

static void
skipping_is_the_same_as_passing_one_by_one(void **state)
{
	struct rl_error_cfg c;
	struct rl_error a, b;
	uint8_t wa[RL_ERROR_SPAN_MAX] = { 0 }, wb[RL_ERROR_SPAN_MAX] = { 0 };

	(void)state;
	rl_error_cfg_defaults(&c);
	c.bit_rate = 1e-5;
	c.propagate = 0.5;
	c.burst_rate = 1e-3;
	c.burst_max_bytes = 9;
	c.drop_rate = 1e-3;
	rl_error_init(&a, &c, 11);
	rl_error_init(&b, &c, 11);
	for (int i = 0; i < 2000; i++) {
		const uint64_t run = rl_error_clean_run(&a);
		struct rl_error_hit ha, hb;

		rl_error_skip(&a, run);
		for (uint64_t k = 0; k < run; k++)
			assert_true(rl_error_pass(&b));
		assert_false(rl_error_pass(&a));
		assert_false(rl_error_pass(&b));
		ha = rl_error_strike(&a, wa);
		hb = rl_error_strike(&b, wb);
		assert_int_equal(ha.bits, hb.bits);
		assert_int_equal(ha.dropped, hb.dropped);
		assert_memory_equal(wa, wb, sizeof(wa));
	}
}

static void
another_seed_is_another_run(void **state)
{
	struct rl_error_cfg c;
	struct rl_error a, b;
	int same = 0;

	(void)state;
	rl_error_cfg_defaults(&c);
	c.bit_rate = 1e-6;
	for (uint64_t i = 0; i < 100; i++) {
		rl_error_init(&a, &c, i);
		rl_error_init(&b, &c, i + 1);
		same += rl_error_clean_run(&a) == rl_error_clean_run(&b);
	}
	assert_true(same < 5);
}

static void
dfe_bursts_are_runs_of_geometric_length(void **state)
{
	const double p = 0.75, n = 200000;
	uint8_t wire[RL_ERROR_SPAN_MAX];
	struct rl_error_cfg c;
	struct rl_error e;
	double runs = 0, bits = 0, longer_than_4 = 0;

	(void)state;
	rl_error_cfg_defaults(&c);
	c.bit_rate = 1e-6; /* rarely two in a flit */
	c.propagate = p;
	rl_error_init(&e, &c, 5);
	while (runs < n) {
		unsigned int first = 0, last = 0, count = 0;

		rl_error_skip(&e, rl_error_clean_run(&e));
		one(&e, wire);
		for (unsigned int k = 0; k < 2048; k++)
			if (bit(wire, k)) {
				if (count++ == 0)
					first = k;
				last = k;
			}
		/* skip those cut by an end, and flits with two bursts */
		if (first < 100 || first > 1900 || last - first + 1 != count)
			continue;
		runs++;
		bits += count;
		longer_than_4 += count > 4;
	}
	near(bits / runs, 1 / (1 - p), sqrt(p) / (1 - p) / sqrt(runs));
	near(longer_than_4, runs * pow(p, 4), sqrt(runs * pow(p, 4)));
}

static void
a_burst_runs_on_into_the_next_flit(void **state)
{
	uint8_t wire[RL_ERROR_SPAN_MAX];
	struct rl_error_cfg c;
	struct rl_error e;
	int over = 0, ends = 0;

	(void)state;
	rl_error_cfg_defaults(&c);
	c.bit_rate = 1e-6;
	c.propagate = 0.98;
	rl_error_init(&e, &c, 6);
	while (ends < 200) {
		bool to_the_end;

		rl_error_skip(&e, rl_error_clean_run(&e));
		one(&e, wire);
		to_the_end = bit(wire, 2047);
		if (!to_the_end)
			continue;
		ends++;
		if (rl_error_clean_run(&e) != 0)
			continue;
		one(&e, wire);
		assert_true(bit(wire, 0));
		over++;
	}
	/* a bit of 50 ends its burst just at the end of the flit */
	assert_true(over > 180 && over < 200);
}

/*
 * Bursts run over each other and over the ends of flits: a bit is right where
 * none of those that began before it lasts so long.
 */
static void
of_two_bursts_the_longer_goes_on_into_the_next_flit(void **state)
{
	const double rate = 0.01, p = 0.99, flits = 20000;
	uint8_t wire[RL_ERROR_SPAN_MAX];
	struct rl_error_cfg c;
	struct rl_error e;
	double bits = 0, right = 1;

	(void)state;
	rl_error_cfg_defaults(&c);
	c.bit_rate = rate;
	c.propagate = p;
	c.span_bytes = 16;
	rl_error_init(&e, &c, 7);
	for (int k = 0; k < 3000; k++)
		right *= 1 - rate * pow(p, k);
	for (double i = 0; i < flits; i++)
		bits += one(&e, wire).bits;
	/* neighbours within two bursts' length are alike */
	near(bits / (128 * flits), 1 - right,
	     sqrt(right * (1 - right) * 200 / (128 * flits)));
}

static void
on_16_lanes_a_burst_hits_every_16th_byte(void **state)
{
	uint8_t wire[RL_ERROR_SPAN_MAX];
	struct rl_error_cfg c;
	struct rl_error e;
	int seen = 0, spread = 0;

	(void)state;
	rl_error_cfg_defaults(&c);
	c.bit_rate = 1e-7;
	c.propagate = 0.9;
	c.lanes = 16;
	rl_error_init(&e, &c, 8);
	for (int i = 0; i < 3000; i++) {
		int lane = -1, first = -1, last = -1, count = 0;

		rl_error_skip(&e, rl_error_clean_run(&e));
		one(&e, wire);
		for (int k = 0; k < 256; k++) {
			if (wire[k] == 0)
				continue;
			if (lane < 0)
				lane = k % 16;
			assert_int_equal(k % 16, lane);
			if (first < 0)
				first = k;
			last = k;
			count++;
		}
		assert_int_equal(last - first, 16 * (count - 1));
		seen++;
		spread += count > 1;
	}
	assert_true(seen == 3000 && spread > 1000);
}

static void
byte_bursts_are_solid_and_reach_both_ends(void **state)
{
	uint8_t wire[RL_ERROR_SPAN_MAX];
	unsigned int len[8] = { 0 }, at_start = 0, at_end = 0;
	struct rl_error_cfg c;
	struct rl_error e;
	double hits = 0;

	(void)state;
	rl_error_cfg_defaults(&c);
	c.burst_rate = 0.25;
	c.burst_min_bytes = 3;
	c.burst_max_bytes = 5;
	rl_error_init(&e, &c, 9);
	for (int i = 0; i < 200000; i++) {
		const struct rl_error_hit h = one(&e, wire);
		unsigned int first = 0;

		if (h.bytes == 0)
			continue;
		hits++;
		while (wire[first] == 0)
			first++;
		for (unsigned int k = 0; k < h.bytes; k++)
			assert_int_not_equal(wire[first + k], 0);
		assert_true(h.bytes >= 3 && h.bytes <= 5);
		len[h.bytes]++;
		at_start += first == 0;
		at_end += first + h.bytes == 256;
	}
	near(hits, 50000, sqrt(50000 * 0.75));
	for (int k = 3; k <= 5; k++)
		near(len[k], hits / 3, sqrt(hits / 3));
	assert_true(at_start > 50 && at_end > 50);
}

static void
whole_flits_are_dropped_at_their_rate_and_not_altered(void **state)
{
	uint8_t wire[RL_ERROR_SPAN_MAX], zero[RL_ERROR_SPAN_MAX] = { 0 };
	struct rl_error_cfg c;
	struct rl_error e;
	double drops = 0;

	(void)state;
	rl_error_cfg_defaults(&c);
	c.drop_rate = 0.01;
	c.bit_rate = 1e-3;
	rl_error_init(&e, &c, 10);
	for (int i = 0; i < 100000; i++) {
		const struct rl_error_hit h = one(&e, wire);

		if (!h.dropped)
			continue;
		drops++;
		assert_memory_equal(wire, zero, sizeof(wire));
	}
	near(drops, 1000, sqrt(1000));
}

/* Inside a switch there is no FEC that could be hit. */
static void
what_lies_beyond_the_span_is_never_touched(void **state)
{
	uint8_t wire[RL_ERROR_SPAN_MAX];
	bool last_hit = false;
	struct rl_error_cfg c;
	struct rl_error e;

	(void)state;
	rl_error_cfg_defaults(&c);
	c.bit_rate = 1e-3;
	c.propagate = 0.5;
	c.burst_rate = 0.1;
	c.burst_max_bytes = 20;
	c.span_bytes = 250;
	rl_error_init(&e, &c, 12);
	for (int i = 0; i < 20000; i++) {
		one(&e, wire);
		for (int k = 250; k < 256; k++)
			assert_int_equal(wire[k], 0);
		last_hit |= wire[249] != 0;
	}
	assert_true(last_hit);
}

static void
a_strike_always_changes_something(void **state)
{
	uint8_t wire[RL_ERROR_SPAN_MAX];
	struct rl_error_cfg c;
	struct rl_error e;

	(void)state;
	rl_error_cfg_defaults(&c);
	c.bit_rate = 1e-4;
	c.propagate = 0.9;
	c.lanes = 4;
	c.burst_rate = 1e-2;
	c.burst_max_bytes = 6;
	rl_error_init(&e, &c, 13);
	for (int i = 0; i < 50000; i++) {
		rl_error_skip(&e, rl_error_clean_run(&e));
		assert_true(one(&e, wire).bits > 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			independent_bits_come_at_their_rate_and_everywhere),
		cmocka_unit_test(a_certain_bit_error_leaves_no_bit_right),
		cmocka_unit_test(skipping_is_the_same_as_passing_one_by_one),
		cmocka_unit_test(another_seed_is_another_run),
		cmocka_unit_test(dfe_bursts_are_runs_of_geometric_length),
		cmocka_unit_test(a_burst_runs_on_into_the_next_flit),
		cmocka_unit_test(
			of_two_bursts_the_longer_goes_on_into_the_next_flit),
		cmocka_unit_test(on_16_lanes_a_burst_hits_every_16th_byte),
		cmocka_unit_test(byte_bursts_are_solid_and_reach_both_ends),
		cmocka_unit_test(
			whole_flits_are_dropped_at_their_rate_and_not_altered),
		cmocka_unit_test(what_lies_beyond_the_span_is_never_touched),
		cmocka_unit_test(a_strike_always_changes_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
