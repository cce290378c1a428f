/* SPDX-License-Identifier: BSD-3-Clause */

/* The fault layer between port and wire [APP-1]: no DPDK, no clock. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "rl_inject.h"
#include "rl_frame.h"

#define LINE 64
#define FRAMES 64

struct bed {
	struct rl_inject_link link;
	struct rl_inject_held line[2 * LINE];
	uint8_t data[FRAMES][RL_FRAME_BYTES_MAX] RL_ALIGNED(RL_CACHE_LINE);
	struct rl_phy_frame f[FRAMES];
};

static struct bed bed;

static int
setup(void **state)
{
	memset(&bed, 0, sizeof(bed));
	rl_inject_init(&bed.link, 7, bed.line, LINE);
	*state = &bed;
	return 0;
}

/* Frame i with so many flits; the last of them ends a packet, or does not. */
static void
make(struct bed *b, unsigned int i, unsigned int flits, bool eop)
{
	uint8_t *d = b->data[i];

	memset(d, (int)i, sizeof(b->data[i]));
	d[RL_FRAME_LINK_OFF] = (uint8_t)(flits != 0 ? RL_FRAME_DATA
						    : RL_FRAME_IDLE);
	d[RL_FRAME_LINK_OFF + 1] = (uint8_t)flits;
	for (unsigned int k = 0; k < flits; k++)
		rl_put16(d + RL_FRAME_SIDEBAND_OFF + 2 * k,
			 k == flits - 1 && eop ? 16 : 0);
	b->f[i] = (struct rl_phy_frame){
		.data = d,
		.len = rl_frame_bytes(flits),
		.cookie = d,
	};
}

static void
make_all(struct bed *b, unsigned int n, unsigned int flits)
{
	for (unsigned int i = 0; i < n; i++)
		make(b, i, flits, true);
}

static int
order(struct bed *b, enum rl_inject_kind kind, uint64_t value)
{
	const struct rl_inject_order o = { .kind = kind, .value = value };

	return rl_inject_order(&b->link, 0, &o);
}

static unsigned int
pass(struct bed *b, unsigned int n, uint64_t now_ns)
{
	rl_inject_poll(&b->link.dir[0], now_ns);
	return rl_inject_pass(&b->link.dir[0], b->f, n, now_ns);
}

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
	for (int e = 0; e < 2; e++) {
		assert_true(rl_inject_poll(&b->link.dir[e], 300));
		assert_int_equal(rl_inject_pass(&b->link.dir[e], b->f, 3, 300),
				 0);
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
	struct bed *b = *state;

	make_all(b, 2, 1);
	assert_int_equal(order(b, RL_INJECT_CUT, 1), 0);
	assert_int_equal(pass(b, 2, 50), 0);
	assert_true(rl_inject_severed(&b->link));
	assert_true(rl_inject_light(&b->link));
	assert_false(rl_inject_poll(&b->link.dir[1], 50));
	assert_int_equal(b->link.severed_ns, 50);
	assert_int_equal(order(b, RL_INJECT_CUT, 0), 0);
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
		assert_int_equal(order(b, RL_INJECT_DROP, n), 0);
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
	assert_int_equal(order(b, RL_INJECT_DROP, 3), 0);
	assert_int_equal(pass(b, 8, 1), 7);
	for (unsigned int i = 0; i < 7; i++)
		assert_int_equal(b->f[i].data[200], i < 2 ? i : i + 1);
}

static void
corrupt_changes_exactly_so_many_bytes_in_a_row(void **state)
{
	struct bed *b = *state;
	uint8_t before[RL_FRAME_BYTES_MAX];

	for (unsigned int n = 1; n <= RL_INJECT_CORRUPT_MAX; n = n * 2 + 1) {
		unsigned int first = 0, last = 0, changed = 0;

		make(b, 0, 4, true);
		memcpy(before, b->data[0], sizeof(before));
		assert_int_equal(order(b, RL_INJECT_CORRUPT, n), 0);
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
	const struct rl_inject_order lossy = { .kind = RL_INJECT_LOSS,
					      .rate = 0.02 };
	const struct rl_inject_order whole = { .kind = RL_INJECT_LOSS };
	const struct rl_inject_order absurd = { .kind = RL_INJECT_LOSS,
					       .rate = 1.01 };
	struct bed *b = *state;
	const struct rl_inject_counters *c = &b->link.dir[0].c;
	unsigned int kept = 0;

	assert_int_equal(rl_inject_order(&b->link, 0, &absurd), -ERANGE);
	assert_int_equal(rl_inject_order(&b->link, 0, &lossy), 0);
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
	assert_int_equal(rl_inject_order(&b->link, 0, &whole), 0);
	make_all(b, 10, 1);
	assert_int_equal(pass(b, 10, 20000), 10);
	assert_false(rl_inject_poll(&b->link.dir[0], 20001));
}

static void
a_stall_keeps_frames_for_its_time(void **state)
{
	struct bed *b = *state;
	struct rl_inject_dir *d = &b->link.dir[0];

	assert_int_equal(order(b, RL_INJECT_STALL, 1000), 0);
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
	assert_int_equal(order(b, RL_INJECT_DELAY, 100), 0);
	assert_true(rl_inject_poll(d, 10));
	rl_inject_delay(d, b->f, 2, 10);
	rl_inject_delay(d, b->f + 2, 2, 20);
	assert_int_equal(rl_inject_room(d), LINE - 4);
	assert_int_equal(rl_inject_due(d, out, FRAMES, 109), 0);
	assert_int_equal(rl_inject_due(d, out, FRAMES, 110), 2);
	assert_ptr_equal(out[0].cookie, b->data[0]);
	/* no more delay: what is in the line still comes, and in time */
	assert_int_equal(order(b, RL_INJECT_DELAY, 0), 0);
	assert_true(rl_inject_poll(d, 115));
	assert_int_equal(rl_inject_due(d, out, 1, 120), 1);
	assert_ptr_equal(out[0].cookie, b->data[2]);
	assert_int_equal(rl_inject_due(d, out, FRAMES, 120), 1);
	assert_false(rl_inject_poll(d, 121));
}

static void
jitter_lets_frames_overtake_and_keeps_them_all(void **state)
{
	const struct rl_inject_order half = { .kind = RL_INJECT_JITTER,
					     .rate = 0.5, .value = 100 };
	struct bed *b = *state;
	struct rl_inject_dir *d = &b->link.dir[0];
	struct rl_phy_frame out[FRAMES];
	unsigned int at_once, turned = 0;
	bool seen[FRAMES] = { false };

	make_all(b, 40, 1);
	assert_int_equal(rl_inject_order(&b->link, 0, &half), 0);
	assert_true(rl_inject_poll(d, 10));
	assert_true(rl_inject_delays(d));
	rl_inject_delay(d, b->f, 40, 10);
	at_once = rl_inject_due(d, out, FRAMES, 10);
	assert_in_range(at_once, 8, 32);
	assert_int_equal(d->c.delayed_frames, 40 - at_once);
	assert_int_equal(rl_inject_due(d, out + at_once, FRAMES, 110),
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
	struct rl_inject_order o = { .kind = RL_INJECT_DUP, .rate = 0.25 };
	struct bed *b = *state;
	struct rl_inject_dir *d = &b->link.dir[0];
	unsigned int twice = 0;

	assert_false(rl_inject_twice(d));
	assert_int_equal(rl_inject_order(&b->link, 0, &o), 0);
	assert_true(rl_inject_poll(d, 1));
	assert_true(rl_inject_delays(d));
	for (unsigned int i = 0; i < 10000; i++)
		twice += rl_inject_twice(d);
	assert_in_range(twice, 2300, 2700);
	o.rate = 0;
	assert_int_equal(rl_inject_order(&b->link, 0, &o), 0);
	assert_false(rl_inject_poll(d, 2));
	assert_false(rl_inject_twice(d));
}

static void
a_trigger_lets_exactly_so_many_flits_through(void **state)
{
	struct bed *b = *state;

	for (unsigned int n = 0; n <= 32; n++) {
		const struct rl_inject_order o = {
			.kind = RL_INJECT_TRIGGER,
			.when = RL_INJECT_AFTER,
			.value = n,
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
	const struct rl_inject_order o = {
		.kind = RL_INJECT_TRIGGER, .when = RL_INJECT_AFTER, .value = 3,
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
	const struct rl_inject_order half = { .kind = RL_INJECT_LOSS,
					     .rate = 0.5 };
	const struct rl_inject_order cut = { .kind = RL_INJECT_CUT, .value = 1 };
	uint64_t lost[2] = { 0 };
	struct bed *b = *state;

	for (unsigned int dir = 0; dir < 2; dir++) {
		assert_int_equal(rl_inject_order(&b->link, dir, &half), 0);
		rl_inject_poll(&b->link.dir[dir], 1);
		for (unsigned int i = 0; i < 64; i++) {
			make(b, 0, 1, true);
			lost[dir] = lost[dir] << 1 |
				    (rl_inject_pass(&b->link.dir[dir], b->f, 1,
						   1) == 0);
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

/* One order after the other, each ended by RL_INJECT_CLEAR alone. */
static void
clearing_ends_loss_bit_errors_and_delay(void **state)
{
	static const struct rl_inject_order orders[] = {
		{ .kind = RL_INJECT_LOSS, .rate = 1.0 },
		{ .kind = RL_INJECT_BER, .rate = 0.5 },
		{ .kind = RL_INJECT_DELAY, .value = 1000 },
		{ .kind = RL_INJECT_STALL, .value = 1000 },
		{ .kind = RL_INJECT_CORRUPT, .value = 8 },
		{ .kind = RL_INJECT_DROP, .value = 1 },
		{ .kind = RL_INJECT_DUP, .rate = 1.0 },
		{ .kind = RL_INJECT_JITTER, .rate = 1.0, .value = 1000 },
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
		assert_int_equal(rl_inject_pass(&b->link.dir[0], b->f, 1, 2), 1);
		assert_memory_equal(before, b->data[0], sizeof(before));
		assert_false(rl_inject_stalled(&b->link.dir[0], 2));
	}
}

static void
a_trigger_in_the_middle_of_a_packet_spares_frames_that_end_one(void **state)
{
	const struct rl_inject_order o = {
		.kind = RL_INJECT_TRIGGER,
		.when = RL_INJECT_MID_PACKET,
		.down = true,
	};
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
	const struct rl_inject_order o = { .kind = RL_INJECT_BER, .rate = 1e-3 };
	struct bed *b = *state;
	double bits = 0;

	assert_int_equal(rl_inject_order(&b->link, 0, &o), 0);
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
	const struct rl_inject_order o = {
		.kind = RL_INJECT_BER,
		.rate = 1e-4,
		.propagate = 0.99,
		.lanes = LANES,
	};
	uint32_t n, bits = 0, next = 0, bit;
	struct bed *b = *state;
	double rate;

	assert_int_equal(rl_inject_order(&b->link, 0, &o), 0);
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
	const struct rl_inject_order o = {
		.kind = RL_INJECT_TRIGGER,
		.when = RL_INJECT_AFTER,
		.value = 1,
		.down = true,
	};
	struct bed *b = *state;

	make_all(b, 4, 1);
	assert_int_equal(rl_inject_order(&b->link, 0, &o), 0);
	assert_int_equal(order(b, RL_INJECT_DROP, 1), 0);
	assert_int_equal(rl_inject_clear(&b->link), 0);
	assert_false(rl_inject_settled(&b->link));
	rl_inject_poll(&b->link.dir[1], 1);
	assert_int_equal(pass(b, 4, 1), 4);
	assert_true(rl_inject_settled(&b->link));
	assert_false(rl_inject_severed(&b->link));
}

static void
orders_out_of_range_and_too_many_are_refused(void **state)
{
	static const struct {
		struct rl_inject_order o;
		int ret;
	} row[] = {
		{ { .kind = RL_INJECT_CUT, .value = 2 }, -ERANGE },
		{ { .kind = RL_INJECT_DROP, .value = 0 }, -ERANGE },
		{ { .kind = RL_INJECT_CORRUPT, .value = 0 }, -ERANGE },
		{ { .kind = RL_INJECT_CORRUPT, .value = 257 }, -ERANGE },
		{ { .kind = RL_INJECT_CORRUPT, .value = 256 }, 0 },
		{ { .kind = RL_INJECT_STALL, .value = RL_NEVER }, -ERANGE },
		{ { .kind = RL_INJECT_BER, .rate = -0.1 }, -ERANGE },
		{ { .kind = RL_INJECT_BER, .rate = 0.6 }, -ERANGE },
		{ { .kind = RL_INJECT_BER, .rate = 0.5 }, 0 },
		{ { .kind = RL_INJECT_BER, .propagate = 1 }, -ERANGE },
		{ { .kind = RL_INJECT_BER, .lanes = 3 }, -ERANGE },
		{ { .kind = RL_INJECT_BER, .lanes = 16 }, 0 },
		{ { .kind = RL_INJECT_DUP, .rate = 1.1 }, -ERANGE },
		{ { .kind = RL_INJECT_JITTER, .rate = 1.1 }, -ERANGE },
		{ { .kind = RL_INJECT_JITTER, .rate = 1, .value = RL_NEVER },
		  -ERANGE },
	};
	struct bed *b = *state;

	for (unsigned int i = 0; i < RL_ARRAY_SIZE(row); i++)
		assert_int_equal(rl_inject_order(&b->link, 0, &row[i].o),
				 row[i].ret);
	rl_inject_poll(&b->link.dir[0], 1);
	for (int i = 0; i < RL_INJECT_ORDERS; i++)
		assert_int_equal(order(b, RL_INJECT_DROP, 1), 0);
	assert_int_equal(order(b, RL_INJECT_DROP, 1), -EAGAIN);
	assert_int_equal(rl_inject_clear(&b->link), -EAGAIN);
	rl_inject_poll(&b->link.dir[0], 1);
	assert_int_equal(order(b, RL_INJECT_DROP, 1), 0);
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
		T(orders_out_of_range_and_too_many_are_refused),
	};
#undef T

	return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
