/* SPDX-License-Identifier: BSD-3-Clause */

/* The fault layer between port and wire [APP-1]: no DPDK, no clock. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "fault_bed.h"

static void
without_orders_there_is_nothing_to_do(void **state)
{
	struct bed *b = *state;

	assert_false(rl_inject_poll(&b->link.dir[0], 1));
	assert_true(rl_inject_light(&b->link));
	assert_false(rl_inject_severed(&b->link));
}

static void
a_link_that_is_down_is_dark_at_both_ends_and_passes_nothing(void **state)
{
	struct bed *b = *state;

	make_all(b, 3, 2);
	rl_inject_down(&b->link, 100);
	rl_inject_down(&b->link, 200); /* the first moment counts */
	assert_int_equal(b->link.severed_ns, 100);
	assert_false(rl_inject_light(&b->link));
	for (unsigned int e = 0; e < 2; e++) {
		assert_true(rl_inject_poll(&b->link.dir[e], 300));
		assert_int_equal(pass_dir(b, e, 3, 300), 0);
		assert_int_equal(b->link.dir[e].c.dropped_frames, 3);
		assert_int_equal(b->link.dir[e].c.dropped_flits, 6);
	}
	rl_inject_light_up(&b->link);
	assert_int_equal(b->link.severed_ns, 0);
	assert_false(rl_inject_poll(&b->link.dir[0], 400));
}

static void
a_one_way_cut_spares_the_other_way_and_the_light(void **state)
{
	const struct rl_fault cut = { .kind = RL_FAULT_CUT, .silent = true };
	const struct rl_fault heal = { .kind = RL_FAULT_HEAL };
	struct bed *b = *state;

	make_all(b, 2, 1);
	assert_int_equal(rl_inject_order(&b->link, 0, &cut), 0);
	assert_int_equal(pass(b, 2, 50), 0);
	assert_true(rl_inject_severed(&b->link));
	assert_true(rl_inject_light(&b->link));
	assert_false(rl_inject_poll(&b->link.dir[1], 50));
	assert_int_equal(b->link.severed_ns, 50);
	assert_int_equal(rl_inject_order(&b->link, 0, &heal), 0);
	assert_int_equal(pass(b, 2, 60), 2);
}

static void
the_nth_data_frame_is_dropped_and_no_other(void **state)
{
	struct bed *b = *state;

	for (unsigned int n = 1; n <= 5; n++) {
		make_all(b, 10, 1);
		make(b, 0, 0, false); /* idle frames do not count */
		make(b, 2, 0, false);
		assert_int_equal(drop(b, n), 0);
		assert_int_equal(pass(b, 10, n), 9);
		/* data frames are 1, 3, 4, 5, ...; the lost one lies last */
		assert_int_equal(b->f[9].data[200], n == 1 ? 1 : n + 1);
	}
	assert_false(rl_inject_poll(&b->link.dir[0], 99));
}

static void
survivors_keep_their_order(void **state)
{
	struct bed *b = *state;

	make_all(b, 8, 1);
	assert_int_equal(drop(b, 3), 0);
	assert_int_equal(pass(b, 8, 1), 7);
	for (unsigned int i = 0; i < 7; i++)
		assert_int_equal(b->f[i].data[200], i < 2 ? i : i + 1);
}

static void
corrupt_changes_exactly_so_many_bytes_in_a_row(void **state)
{
	struct bed *b = *state;
	uint8_t before[RL_FRAME_BYTES_MAX];

	for (unsigned int n = 1; n <= RL_FLIT_BYTES; n = n * 2 + 1) {
		unsigned int first = 0, last = 0, changed = 0;

		make(b, 0, 4, true);
		memcpy(before, b->data[0], sizeof(before));
		assert_int_equal(corrupt(b, (uint16_t)n), 0);
		assert_int_equal(pass(b, 1, n), 1);
		for (unsigned int i = 0; i < sizeof(before); i++) {
			if (before[i] == b->data[0][i])
				continue;
			first = changed++ == 0 ? i : first;
			last = i;
		}
		assert_int_equal(changed, n);
		assert_int_equal(last - first + 1, n);
		assert_true(first >= RL_FRAME_LINK_OFF);
		assert_true(last < b->f[0].len);
	}
}

/* Idle frames are frames: what only acknowledges is lost like all else. */
static void
random_loss_meets_its_share_of_frames_of_every_kind(void **state)
{
	struct bed *b = *state;
	const struct rl_inject_counters *c = &b->link.dir[0].c;
	unsigned int kept = 0;

	assert_int_equal(noise(b, (struct rl_noise){ .loss_ppb = 20000000 }), 0);
	for (unsigned int i = 0; i < 10000; i++) {
		make_all(b, 10, 1);
		make(b, 4, 0, false);
		kept += pass(b, 10, i);
	}
	/* 2,000 expected of 100,000; the standard deviation is 44 */
	assert_in_range(c->dropped_frames, 1750, 2250);
	assert_int_equal(kept + c->dropped_frames, 100000);
	assert_in_range(c->dropped_frames - c->dropped_flits, 130, 270);
	assert_false(rl_inject_severed(&b->link));
	assert_int_equal(noise(b, (struct rl_noise){ 0 }), 0);
	make_all(b, 10, 1);
	assert_int_equal(pass(b, 10, 20000), 10);
	assert_false(rl_inject_poll(&b->link.dir[0], 20001));
}

static void
a_stall_keeps_frames_for_its_time(void **state)
{
	const struct rl_fault stall = { .kind = RL_FAULT_STALL, .for_ns = 1000 };
	const struct rl_fault brief = { .kind = RL_FAULT_STALL, .for_ns = 1 };
	struct bed *b = *state;
	struct rl_inject_dir *d = &b->link.dir[0];

	assert_int_equal(rl_inject_order(&b->link, 0, &stall), 0);
	assert_int_equal(rl_inject_order(&b->link, 0, &brief), 0);
	assert_true(rl_inject_poll(d, 5000));
	assert_true(rl_inject_stalled(d, 5999));
	assert_false(rl_inject_stalled(d, 6000));
	assert_false(rl_inject_poll(d, 6000));
}

static void
delayed_frames_come_in_order_when_they_are_due(void **state)
{
	struct bed *b = *state;
	struct rl_inject_dir *d = &b->link.dir[0];
	struct rl_phy_frame out[FRAMES];

	make_all(b, 4, 1);
	assert_int_equal(noise(b, (struct rl_noise){ .delay_ns = 100 }), 0);
	assert_true(rl_inject_poll(d, 10));
	hold(b, 0, 2, 10);
	hold(b, 2, 2, 20);
	assert_int_equal(rl_inject_room(d), LINE - 4);
	assert_int_equal(due(b, out, FRAMES, 109), 0);
	assert_int_equal(due(b, out, FRAMES, 110), 2);
	assert_ptr_equal(out[0].cookie, b->data[0]);
	/* no more delay: what is in the line still comes, and in time */
	assert_int_equal(noise(b, (struct rl_noise){ 0 }), 0);
	assert_true(rl_inject_poll(d, 115));
	assert_int_equal(due(b, out, 1, 120), 1);
	assert_ptr_equal(out[0].cookie, b->data[2]);
	assert_int_equal(due(b, out, FRAMES, 120), 1);
	assert_false(rl_inject_poll(d, 121));
}

static void
jitter_lets_frames_overtake_and_keeps_them_all(void **state)
{
	const struct rl_noise half = { .jitter_ppb = RL_PPB / 2,
				       .jitter_ns = 100 };
	struct bed *b = *state;
	struct rl_inject_dir *d = &b->link.dir[0];
	struct rl_phy_frame out[FRAMES];
	unsigned int at_once, turned = 0;
	bool seen[FRAMES] = { false };

	make_all(b, 40, 1);
	assert_int_equal(noise(b, half), 0);
	assert_true(rl_inject_poll(d, 10));
	assert_true(rl_inject_delays(d));
	hold(b, 0, 40, 10);
	at_once = due(b, out, FRAMES, 10);
	assert_in_range(at_once, 8, 32);
	assert_int_equal(d->c.delayed_frames, 40 - at_once);
	assert_int_equal(due(b, out + at_once, FRAMES, 110),
			 40 - at_once);
	for (unsigned int i = 0; i < 40; i++) {
		const unsigned int k = out[i].data[0];

		assert_false(seen[k]);
		seen[k] = true;
		turned += i > 0 && out[i].data[0] < out[i - 1].data[0];
	}
	assert_true(turned > 2);
}

static void
frames_come_twice_at_their_rate(void **state)
{
	struct bed *b = *state;
	struct rl_inject_dir *d = &b->link.dir[0];
	unsigned int twice = 0;

	assert_false(rl_wire_twice(&d->wire));
	assert_int_equal(noise(b, (struct rl_noise){ .dup_ppb = RL_PPB / 4 }),
			 0);
	assert_true(rl_inject_poll(d, 1));
	assert_true(rl_inject_delays(d));
	for (unsigned int i = 0; i < 10000; i++)
		twice += rl_wire_twice(&d->wire);
	assert_in_range(twice, 2300, 2700);
	assert_int_equal(noise(b, (struct rl_noise){ 0 }), 0);
	assert_false(rl_inject_poll(d, 2));
	assert_false(rl_wire_twice(&d->wire));
}

static void
a_trigger_lets_exactly_so_many_flits_through(void **state)
{
	struct bed *b = *state;

	for (unsigned int n = 0; n <= 32; n++) {
		const struct rl_fault o = {
			.kind = RL_FAULT_CUT, .silent = true,
			.nth_flit = true, .nth = n + 1,
		};

		setup(state);
		make_all(b, 33, 1);
		assert_int_equal(rl_inject_order(&b->link, 0, &o), 0);
		assert_int_equal(pass(b, 33, 77), n);
		assert_true(rl_inject_severed(&b->link));
		assert_true(rl_inject_light(&b->link));
		assert_int_equal(b->link.severed_ns, 77);
	}
}

/* With the last flit that it lets through, not with the next frame. */
static void
a_trigger_fires_as_soon_as_its_flits_are_through(void **state)
{
	const struct rl_fault o = {
		.kind = RL_FAULT_CUT, .silent = true, .nth_flit = true, .nth = 4,
	};
	struct bed *b = *state;

	make_all(b, 2, 1);
	make(b, 1, 2, true);
	assert_int_equal(rl_inject_order(&b->link, 0, &o), 0);
	assert_int_equal(pass(b, 1, 5), 1);
	assert_false(rl_inject_severed(&b->link));
	b->f[0] = b->f[1];
	assert_int_equal(pass(b, 1, 6), 1);
	assert_true(rl_inject_severed(&b->link));
	assert_int_equal(b->link.severed_ns, 6);
}

static void
each_direction_is_cut_and_draws_by_itself(void **state)
{
	const struct rl_fault half = { .kind = RL_FAULT_NOISE,
				       .noise.loss_ppb = RL_PPB / 2 };
	const struct rl_fault cut = { .kind = RL_FAULT_CUT, .silent = true };
	uint64_t lost[2] = { 0 };
	struct bed *b = *state;

	for (unsigned int dir = 0; dir < 2; dir++) {
		assert_int_equal(rl_inject_order(&b->link, dir, &half), 0);
		rl_inject_poll(&b->link.dir[dir], 1);
		for (unsigned int i = 0; i < 64; i++) {
			make(b, 0, 1, true);
			lost[dir] = lost[dir] << 1 |
				    (pass_dir(b, dir, 1, 1) == 0);
		}
	}
	assert_int_not_equal(lost[0], lost[1]);
	for (unsigned int dir = 0; dir < 2; dir++) {
		setup(state);
		assert_false(rl_inject_severed(&b->link));
		assert_int_equal(rl_inject_order(&b->link, dir, &cut), 0);
		rl_inject_poll(&b->link.dir[dir], 2);
		assert_true(rl_inject_severed(&b->link));
	}
}

/* One order after the other, each ended by a heal alone. */
static void
clearing_ends_loss_bit_errors_and_delay(void **state)
{
	static const struct rl_fault orders[] = {
		{ .kind = RL_FAULT_NOISE, .noise.loss_ppb = RL_PPB },
		{ .kind = RL_FAULT_NOISE, .noise.bit_rate = 0.5 },
		{ .kind = RL_FAULT_NOISE, .noise.delay_ns = 1000 },
		{ .kind = RL_FAULT_STALL, .for_ns = 1000 },
		{ .kind = RL_FAULT_CORRUPT, .nth = 1, .noise.burst_bytes = 8 },
		{ .kind = RL_FAULT_DROP, .nth = 1 },
		{ .kind = RL_FAULT_NOISE, .noise.dup_ppb = RL_PPB },
		{ .kind = RL_FAULT_NOISE, .noise.jitter_ppb = RL_PPB,
		  .noise.jitter_ns = 1000 },
	};
	struct bed *b = *state;

	for (unsigned int i = 0; i < RL_ARRAY_SIZE(orders); i++) {
		uint8_t before[RL_FRAME_BYTES_MAX];

		setup(state);
		assert_int_equal(rl_inject_order(&b->link, 0, &orders[i]), 0);
		assert_true(rl_inject_poll(&b->link.dir[0], 1));
		assert_int_equal(rl_inject_clear(&b->link), 0);
		assert_false(rl_inject_poll(&b->link.dir[0], 2));
		make(b, 0, 1, true);
		memcpy(before, b->data[0], sizeof(before));
		assert_int_equal(pass(b, 1, 2), 1);
		assert_memory_equal(before, b->data[0], sizeof(before));
		assert_false(rl_inject_stalled(&b->link.dir[0], 2));
	}
}

static void
a_trigger_in_the_middle_of_a_packet_spares_frames_that_end_one(void **state)
{
	const struct rl_fault o = { .kind = RL_FAULT_CUT, .mid = true };
	struct bed *b = *state;

	make_all(b, 6, 4);
	make(b, 2, 4, false);
	assert_int_equal(rl_inject_order(&b->link, 0, &o), 0);
	assert_int_equal(pass(b, 6, 9), 3); /* the third, half a packet, too */
	assert_false(rl_inject_light(&b->link));
	assert_int_equal(b->link.severed_ns, 9);
}

static void
bit_errors_come_at_their_rate(void **state)
{
	struct bed *b = *state;
	double bits = 0;

	assert_int_equal(noise(b, (struct rl_noise){ .bit_rate = 1e-3 }), 0);
	for (int i = 0; i < 2000; i++) {
		make(b, 0, 4, true);
		assert_int_equal(pass(b, 1, 1), 1);
		bits += (b->f[0].len - RL_FRAME_LINK_OFF) * 8.0;
	}
	/* 17,000 expected: five standard deviations are 4 % */
	assert_true((double)b->link.dir[0].c.flipped_bits > 0.96e-3 * bits);
	assert_true((double)b->link.dir[0].c.flipped_bits < 1.04e-3 * bits);
}

/* Bytes of frames of odd lengths through the wire: what it did to them. */
static uint32_t
record_errors(struct bed *b, uint8_t *wrong, uint32_t room)
{
	static uint8_t before[RL_FRAME_BYTES_MAX];
	uint32_t n = 0;

	for (unsigned int i = 0; n + RL_FRAME_BYTES_MAX < room; i++) {
		make(b, 0, i % 4, true); /* no multiple of 16 bytes */
		memcpy(before, b->data[0], sizeof(before));
		assert_int_equal(pass(b, 1, 1), 1);
		assert_memory_equal(before, b->data[0], RL_FRAME_LINK_OFF);
		for (uint32_t k = RL_FRAME_LINK_OFF; k < b->f[0].len; k++)
			wrong[n++] = before[k] ^ b->data[0][k];
	}
	return n;
}

static bool
is_wrong(const uint8_t *wrong, uint32_t lane, uint32_t lanes, uint32_t bit)
{
	return wrong[bit / 8 * lanes + lane] >> bit % 8 & 1;
}

/* A burst goes along its lane, on over the ends of frames. */
static void
bit_errors_come_in_bursts_along_their_lanes(void **state)
{
	enum { BYTES = 8 << 20, LANES = 16 };
	static uint8_t wrong[BYTES];
	const struct rl_noise o = {
		.bit_rate = 1e-4, .propagate = 0.99, .lanes = LANES,
	};
	uint32_t n, bits = 0, next = 0, bit;
	struct bed *b = *state;
	double rate;

	assert_int_equal(noise(b, o), 0);
	n = record_errors(b, wrong, BYTES) / LANES * LANES;
	for (uint32_t lane = 0; lane < LANES; lane++)
		for (bit = 0; bit + 1 < n / LANES * 8; bit++) {
			if (!is_wrong(wrong, lane, LANES, bit))
				continue;
			bits++;
			next += is_wrong(wrong, lane, LANES, bit + 1);
		}
	/* 6700 bursts of 100 in the mean: four standard deviations are 7 % */
	rate = bits / (8.0 * n);
	assert_true(rate > 0.93e-2 && rate < 1.07e-2);
	/* 670,000 coins: eight are 0.001. Every second burst meets the end of
	 * a frame: if it ended there, 0.005 would be missing. */
	assert_true(next > 0.989 * bits && next < 0.991 * bits);
	assert_true(b->link.dir[0].c.flipped_bits - bits < 16);
}

static void
clearing_ends_everything_also_a_trigger_that_waits(void **state)
{
	const struct rl_fault o = {
		.kind = RL_FAULT_CUT, .nth_flit = true, .nth = 2,
	};
	struct bed *b = *state;

	make_all(b, 4, 1);
	assert_int_equal(rl_inject_order(&b->link, 0, &o), 0);
	assert_int_equal(drop(b, 1), 0);
	assert_int_equal(rl_inject_clear(&b->link), 0);
	assert_false(rl_inject_settled(&b->link));
	rl_inject_poll(&b->link.dir[1], 1);
	assert_int_equal(pass(b, 4, 1), 4);
	assert_true(rl_inject_settled(&b->link));
	assert_false(rl_inject_severed(&b->link));
}

static void
too_many_orders_are_refused(void **state)
{
	const struct rl_fault stall = { .kind = RL_FAULT_STALL, .for_ns = 1 };
	struct bed *b = *state;

	for (int i = 0; i < RL_INJECT_ORDERS; i++)
		assert_int_equal(rl_inject_order(&b->link, 0, &stall), 0);
	assert_int_equal(rl_inject_order(&b->link, 0, &stall), -EAGAIN);
	assert_int_equal(rl_inject_clear(&b->link), -EAGAIN);
	rl_inject_poll(&b->link.dir[0], 1);
	assert_int_equal(drop(b, 1), 0);
}

/* What waits for a frame waits beside what waits already, up to a limit. */
static void
drops_that_wait_all_happen_and_too_many_are_refused(void **state)
{
	struct bed *b = *state;

	make_all(b, 8, 1);
	assert_int_equal(drop(b, 2), 0);
	assert_int_equal(drop(b, 5), 0);
	assert_int_equal(pass(b, 8, 1), 6);
	assert_int_equal(b->f[1].data[200], 2);
	assert_int_equal(b->f[3].data[200], 5);
	for (int i = 0; i < RL_INJECT_WAITS; i++)
		assert_int_equal(drop(b, 1000), 0);
	assert_int_equal(drop(b, 1000), -EAGAIN);
	assert_int_equal(rl_inject_clear(&b->link), 0);
	rl_inject_poll(&b->link.dir[0], 2);
	assert_int_equal(drop(b, 1), 0);
	make_all(b, 8, 1);
	assert_int_equal(pass(b, 8, 2), 7);
}

/* What a cut finds in the delay line is lost, and counted so. */
static void
delayed_frames_are_lost_on_a_wire_that_is_cut(void **state)
{
	struct bed *b = *state;
	struct rl_phy_frame out[FRAMES];

	make_all(b, 2, 1);
	assert_int_equal(noise(b, (struct rl_noise){ .delay_ns = 100 }), 0);
	rl_inject_poll(&b->link.dir[0], 10);
	hold(b, 0, 2, 10);
	assert_int_equal(due(b, out, 0, 200), 0);
	rl_inject_down(&b->link, 50);
	assert_int_equal(due(b, out, FRAMES, 200), 2);
	assert_true(rl_inject_dark(&b->link.dir[0]));
	assert_int_equal(b->link.dir[0].c.dropped_frames, 2);
	assert_int_equal(b->link.dir[0].c.dropped_flits, 2);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		T(without_orders_there_is_nothing_to_do),
		T(a_link_that_is_down_is_dark_at_both_ends_and_passes_nothing),
		T(a_one_way_cut_spares_the_other_way_and_the_light),
		T(the_nth_data_frame_is_dropped_and_no_other),
		T(survivors_keep_their_order),
		T(corrupt_changes_exactly_so_many_bytes_in_a_row),
		T(a_stall_keeps_frames_for_its_time),
		T(delayed_frames_come_in_order_when_they_are_due),
		T(jitter_lets_frames_overtake_and_keeps_them_all),
		T(frames_come_twice_at_their_rate),
		T(a_trigger_lets_exactly_so_many_flits_through),
		T(a_trigger_fires_as_soon_as_its_flits_are_through),
		T(each_direction_is_cut_and_draws_by_itself),
		T(clearing_ends_loss_bit_errors_and_delay),
		T(a_trigger_in_the_middle_of_a_packet_spares_frames_that_end_one),
		T(bit_errors_come_at_their_rate),
		T(bit_errors_come_in_bursts_along_their_lanes),
		T(random_loss_meets_its_share_of_frames_of_every_kind),
		T(clearing_ends_everything_also_a_trigger_that_waits),
		T(too_many_orders_are_refused),
		T(drops_that_wait_all_happen_and_too_many_are_refused),
		T(delayed_frames_are_lost_on_a_wire_that_is_cut),
	};
#undef T

	return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
