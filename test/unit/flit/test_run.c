/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Runs: whatever a packet came in, it has the flits that came, in order, and
 * once it has been opened, each has the state that it came with.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rl_flit_cache.h"
#include "rl_flit_run.h"

#define FLITS 255

static struct rl_flit flit[FLITS];
static struct rl_flit *slot[FLITS], *listed[FLITS];
static struct rl_flit_cache cache = { .slot = slot, .cap = FLITS };

/* Flits of the middle, of the last of each part, and of the whole. */
static const uint64_t states[] = { 0x0000000300000000u, 0x0000000500000000u,
				   0x0002000500000000u };

/* The state that flit @p i has of @p n that came @p step at a time. */
static uint64_t
state_of(unsigned int i, unsigned int n, unsigned int step)
{
	if (i == 0)
		return 77;
	if (i + 1 == n)
		return states[2];
	return states[i % step == 0];
}

/* A packet of @p n flits: one, and then @p step at a time. */
static struct rl_flit *
came(unsigned int n, unsigned int step)
{
	for (unsigned int i = 0; i < n; i++) {
		memset(&flit[i], 0xa5, offsetof(struct rl_flit, wire));
		listed[i] = &flit[i];
	}
	rl_packet_start(&flit[0]);
	flit[0].state = 77;
	for (unsigned int at = 1; at < n; at += step) {
		const unsigned int k = at + step < n ? step : n - at;

		rl_packet_extend(&flit[0], listed + at, k, states[0],
				 states[at + k == n ? 2 : 1]);
	}
	return &flit[0];
}

static void
all_flits_are_found_and_given_back_in_order(void **state)
{
	(void)state;
	for (unsigned int n = 1; n <= FLITS; n++)
		for (unsigned int step = 1; step <= 70; step++) {
			struct rl_flit *pkt = came(n, step);
			struct rl_flit *f[FLITS];

			assert_int_equal(pkt->pkt_flits, n);
			assert_ptr_equal(pkt->last, listed[n - 1]);
			assert_int_equal(rl_packet_flits(pkt, f), n);
			assert_memory_equal(f, listed, n * sizeof(f[0]));
			cache.count = 0;
			rl_packet_put(&cache, pkt);
			assert_int_equal(cache.count, n);
			assert_memory_equal(slot, listed, n * sizeof(f[0]));
		}
}

static void
an_opened_packet_is_a_chain_of_flits_with_their_states(void **state)
{
	(void)state;
	for (unsigned int n = 1; n <= FLITS; n++)
		for (unsigned int step = 1; step <= 70; step++) {
			const struct rl_flit *f = came(n, step);

			rl_packet_open(&flit[0]);
			for (unsigned int i = 0; i < n; i++, f = f->next) {
				assert_ptr_equal(f, listed[i]);
				assert_int_equal(rl_run_flits(f), 0);
				assert_true(f->state == state_of(i, n, step));
				if (i != 0) /* a head's is its owner's */
					assert_int_equal(f->loop_id, 0);
			}
			assert_null(f);
		}
}

/* All parts of a device read the first and the last flit of a packet. */
static void
a_run_is_longer_than_one_flit_and_never_at_an_end(void **state)
{
	(void)state;
	for (unsigned int n = 1; n <= FLITS; n++)
		for (unsigned int step = 1; step <= 70; step++) {
			const struct rl_flit *f = came(n, step), *last = f;
			unsigned int lines = 0;

			assert_int_equal(rl_run_flits(f), 0);
			for (; f != NULL; f = rl_packet_next(f), lines++) {
				assert_int_not_equal(rl_run_flits(f), 1);
				assert_true(rl_run_flits(f) <= RL_RUN_FLITS);
				last = f;
			}
			assert_int_equal(rl_run_flits(last), 0);
			assert_ptr_equal(last, flit[0].last);
			if (n == 16 && step >= 15)
				assert_int_equal(lines, 3);
		}
}

/* Each keeps the loop_id that it has. */
static void
what_has_looped_is_in_no_run(void **state)
{
	const uint64_t looped = rl_flit_state(0, 0, RL_FF_LOOPED);

	(void)state;
	for (unsigned int n = 2; n <= FLITS; n++) {
		struct rl_flit *const pkt = came(1, 1), *f[FLITS];
		unsigned int singles = 0;

		for (unsigned int i = 1; i < n; i++)
			listed[i] = &flit[i];
		rl_packet_extend(pkt, listed + 1, n - 1, looped,
				 looped | states[2]);
		for (const struct rl_flit *at = pkt; at != NULL; at = at->next) {
			assert_int_equal(rl_run_flits(at), 0);
			assert_true(at == pkt ||
				    at->state == (looped | (at == pkt->last
								    ? states[2]
								    : 0)));
			singles++;
		}
		assert_int_equal(singles, n);
		assert_int_equal(pkt->pkt_flits, n);
		assert_int_equal(rl_packet_flits(pkt, f), n);
		assert_memory_equal(f, listed, n * sizeof(f[0]));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_flits_are_found_and_given_back_in_order),
		cmocka_unit_test(
			an_opened_packet_is_a_chain_of_flits_with_their_states),
		cmocka_unit_test(
			a_run_is_longer_than_one_flit_and_never_at_an_end),
		cmocka_unit_test(what_has_looped_is_in_no_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
