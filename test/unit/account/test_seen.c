/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The judge of one flow beside two that are made otherwise: one that remembers
 * each number by itself, and one with a list of what is missing and a list of
 * what was reported. All three hear the same story, and must agree at each
 * step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_prng.h"
#include "rl_seen.h"

#define NUMBERS 400
#define NODES 512

/* By flags. */
static bool came[NUMBERS], reported[NUMBERS];
static uint32_t sent, highest; /* 1 + it */

/* By lists. */
struct list {
	uint32_t tag[NUMBERS];
	uint32_t n;
};

static struct list missing, told;
static uint32_t expected;

static struct rl_range node[2][NODES];
static struct rl_range_pool at_sink, at_source;
static struct rl_seen seen;
static struct rl_ranges given_up;

static bool
list_has(const struct list *l, uint32_t tag)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->tag[i] == tag)
			return true;
	return false;
}

static bool
list_take(struct list *l, uint32_t tag)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->tag[i] == tag) {
			l->tag[i] = l->tag[--l->n];
			return true;
		}
	return false;
}

static enum rl_seen_verdict
by_flags(uint32_t tag)
{
	const bool late = tag < highest, again = came[tag];

	came[tag] = true;
	highest = rl_max_u32(highest, tag + 1);
	return again ? RL_SEEN_AGAIN : late ? RL_SEEN_LATE : RL_SEEN_FIRST;
}

static enum rl_seen_verdict
by_lists(uint32_t tag)
{
	if (tag < expected)
		return list_take(&missing, tag) ? RL_SEEN_LATE : RL_SEEN_AGAIN;
	for (; expected != tag; expected++)
		missing.tag[missing.n++] = expected;
	expected++;
	return RL_SEEN_FIRST;
}

/* What is open below a number, and reported: the sums of all three. */
static void
compare_sums(uint32_t end)
{
	uint64_t open = 0, of_it = 0, listed = 0, listed_of_it = 0;

	for (uint32_t i = 0; i < end; i++) {
		open += !came[i];
		of_it += !came[i] && reported[i];
	}
	for (uint32_t i = expected; i < end; i++) {
		listed++;
		listed_of_it += list_has(&told, i);
	}
	for (uint32_t i = 0; i < missing.n; i++) {
		listed += missing.tag[i] < end;
		listed_of_it += missing.tag[i] < end &&
				list_has(&told, missing.tag[i]);
	}
	assert_int_equal(listed, open);
	assert_int_equal(listed_of_it, of_it);
	assert_int_equal(rl_seen_open(&at_sink, &seen, end), open);
	assert_int_equal(rl_seen_reported(&at_sink, &seen, &at_source,
					  &given_up, end), of_it);
}

static void
start(uint64_t seed, struct rl_prng *p)
{
	rl_prng_seed(p, seed);
	memset(came, 0, sizeof(came));
	memset(reported, 0, sizeof(reported));
	missing.n = told.n = 0;
	expected = highest = 0;
	sent = 1 + rl_prng_below(p, NUMBERS);
	rl_range_pool_init(&at_sink, node[0], NODES);
	rl_range_pool_init(&at_source, node[1], NODES);
	memset(&seen, 0, sizeof(seen));
	memset(&given_up, 0, sizeof(given_up));
}

static void
report(uint32_t tag)
{
	if (!reported[tag])
		told.tag[told.n++] = tag;
	reported[tag] = true;
	rl_ranges_add(&at_source, &given_up, tag, tag + 1);
	assert_int_equal(given_up.count, told.n);
}

/* One step of a story: packets mostly come in order, some not. */
static void
step(struct rl_prng *p)
{
	const uint32_t what = rl_prng_below(p, 10);
	uint32_t tag = highest;
	enum rl_seen_verdict v;

	if (what == 0) {
		report(rl_prng_below(p, sent));
		return;
	}
	if (what == 1)
		tag = rl_prng_below(p, sent); /* early, late, or once more */
	else if (what == 2)
		tag += rl_prng_below(p, 5);
	if (tag >= sent)
		return;
	v = by_flags(tag);
	assert_int_equal(by_lists(tag), v);
	assert_int_equal(rl_seen_take(&at_sink, &seen, tag), v);
	assert_int_equal(seen.next, highest);
}

static void
three_judges_agree_on_random_stories(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct rl_prng p;

		start(seed, &p);
		for (unsigned int i = 0; i < 500; i++)
			step(&p);
		assert_int_equal(at_sink.lost + at_source.lost, 0);
		for (unsigned int i = 0; i < 10; i++)
			compare_sums(rl_prng_below(&p, sent + 1));
		compare_sums(sent);
	}
}

static void
numbers_without_room_are_counted_and_more_room_helps(void **state)
{
	(void)state;
	rl_range_pool_init(&at_sink, node[0], 2);
	memset(&seen, 0, sizeof(seen));
	assert_int_equal(rl_seen_take(&at_sink, &seen, 2), RL_SEEN_FIRST);
	assert_int_equal(at_sink.lost, 0);
	assert_int_equal(rl_seen_take(&at_sink, &seen, 5), RL_SEEN_FIRST);
	assert_int_equal(at_sink.lost, 2);
	assert_int_equal(rl_seen_open(&at_sink, &seen, 6), 2);
	/* at another place there is more room */
	memcpy(node[1], node[0], sizeof(node[0]));
	at_sink.node = node[1];
	at_sink.cap = NODES;
	assert_int_equal(rl_seen_take(&at_sink, &seen, 1), RL_SEEN_LATE);
	assert_int_equal(rl_seen_take(&at_sink, &seen, 1), RL_SEEN_AGAIN);
	assert_int_equal(rl_seen_take(&at_sink, &seen, 9), RL_SEEN_FIRST);
	assert_int_equal(rl_seen_open(&at_sink, &seen, 10), 4);
}

static void
a_pool_that_grows_loses_nothing(void **state)
{
	struct rl_range_pool pool = { 0 };
	struct rl_seen all = { 0 };

	(void)state;
	for (uint32_t i = 1; i < 1000; i += 2) {
		assert_true(rl_range_pool_grow(&pool));
		assert_int_equal(rl_seen_take(&pool, &all, i), RL_SEEN_FIRST);
	}
	for (uint32_t i = 0; i < 1000; i += 4)
		assert_int_equal(rl_seen_take(&pool, &all, i), RL_SEEN_LATE);
	assert_int_equal(rl_seen_open(&pool, &all, 1000), 250);
	assert_int_equal(pool.lost, 0);
	free(pool.node);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_judges_agree_on_random_stories),
		cmocka_unit_test(
			numbers_without_room_are_counted_and_more_room_helps),
		cmocka_unit_test(a_pool_that_grows_loses_nothing),
	};

	return cmocka_run_group_tests_name("seen", tests, NULL, NULL);
}
