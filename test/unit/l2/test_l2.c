/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a frame goes on a layer-2 network [EP-1]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rl_l2.h"

#define OWN 3
#define AGE 1000u

static struct rl_l2 l2;
static uint8_t frame[64];

static int
fresh(void **state)
{
	(void)state;
	rl_l2_init(&l2, OWN, AGE);
	return 0;
}

/* From station src to station dst, on a VLAN; 0: untagged. */
static const uint8_t *
make(uint32_t dst, uint32_t src, unsigned int vlan)
{
	memset(frame, 0, sizeof(frame));
	frame[0] = frame[6] = 0x02;
	for (int i = 0; i < 4; i++) {
		frame[2 + i] = (uint8_t)(dst >> (24 - 8 * i));
		frame[8 + i] = (uint8_t)(src >> (24 - 8 * i));
	}
	frame[12] = 0x08;
	if (vlan != 0) {
		frame[12] = 0x81;
		frame[14] = (uint8_t)(0xe0 | vlan >> 8); /* and a priority */
		frame[15] = (uint8_t)vlan;
	}
	return frame;
}

static int
route(uint32_t dst, uint32_t src, uint64_t now_ns)
{
	return rl_l2_route(&l2, make(dst, src, 0), 60, now_ns);
}

static void
arrived(uint32_t src, uint16_t port, uint64_t now_ns)
{
	rl_l2_arrived(&l2, make(1, src, 0), 60, port, now_ns);
}

static void
a_station_is_learned_from_what_it_sends(void **state)
{
	(void)state;
	assert_int_equal(route(7, 1, 10), RL_L2_ALL);
	arrived(7, 5, 20);
	assert_int_equal(route(7, 1, 30), 5);
	assert_int_equal(l2.c.learned, 2);
	assert_int_equal(l2.c.flooded, 1);
	arrived(7, 6, 40); /* it was plugged in elsewhere */
	assert_int_equal(route(7, 1, 50), 6);
	assert_int_equal(l2.c.moved, 1);
}

static void
a_silent_station_is_forgotten(void **state)
{
	(void)state;
	arrived(7, 5, 0);
	assert_int_equal(route(7, 1, AGE - 1), 5);
	assert_int_equal(route(7, 1, AGE), RL_L2_ALL);
	arrived(7, 5, AGE + 1);
	arrived(7, 5, AGE + 500); /* its own frames keep it */
	assert_int_equal(route(7, 1, 2 * AGE + 100), 5);
}

static void
groups_go_to_all_and_are_never_learned(void **state)
{
	uint8_t all[64];

	(void)state;
	memcpy(all, make(7, 1, 0), sizeof(all));
	memset(all, 0xff, 6);
	assert_int_equal(rl_l2_route(&l2, all, 60, 1), RL_L2_ALL);
	memcpy(all, "\x33\x33\0\0\0\1", 6); /* IPv6 neighbours */
	rl_l2_arrived(&l2, make(1, 9, 0), 60, 5, 1);
	assert_int_equal(rl_l2_route(&l2, all, 60, 2), RL_L2_ALL);
	/* a source that is a group: no station can have it */
	all[6] |= 1;
	assert_int_equal(rl_l2_route(&l2, all, 60, 3), RL_L2_BAD);
	rl_l2_arrived(&l2, all, 60, 5, 4);
	assert_int_equal(l2.c.learned, 2);
}

static void
a_vlan_is_no_part_of_an_address(void **state)
{
	const uint8_t mac[6] = {0x82, 0, 0, 0, 0, 7};

	(void)state;
	assert_true(rl_l2_fix(&l2, mac, 0, 5));
	assert_int_equal(rl_l2_route(&l2, make(7, 1, 1), 60, 1), RL_L2_ALL);
	make(7, 1, 0);
	frame[0] = 0x82;
	assert_int_equal(rl_l2_route(&l2, frame, 60, 2), 5);
}

static void
what_concerns_one_cable_stays_there(void **state)
{
	static const struct {
		uint8_t last;
		int to;
	} c[] = {
		{0x00, RL_L2_NOBODY}, /* STP */
		{0x01, RL_L2_NOBODY}, /* PAUSE */
		{0x02, RL_L2_NOBODY}, /* LACP, OAM */
		{0x03, RL_L2_NOBODY}, /* 802.1X */
		{0x0e, RL_L2_NOBODY}, /* LLDP, PTP peer delay */
		{0x0f, RL_L2_NOBODY}, {0x10, RL_L2_ALL}, {0x20, RL_L2_ALL},
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		uint8_t at[64];

		memcpy(at, make(1, 7, 0), sizeof(at));
		memcpy(at, "\x01\x80\xc2\0\0", 5);
		at[5] = c[i].last;
		assert_int_equal(rl_l2_route(&l2, at, 60, 1), c[i].to);
	}
	assert_int_equal(l2.c.local, 6);
	assert_int_equal(l2.c.flooded, 2);
}

static void
what_stays_behind_the_own_port_is_filtered(void **state)
{
	(void)state;
	assert_int_equal(route(2, 1, 1), RL_L2_ALL);
	assert_int_equal(route(1, 2, 2), RL_L2_NOBODY);
	assert_int_equal(l2.c.filtered, 1);
}

static void
vlans_are_apart_and_priorities_are_not(void **state)
{
	(void)state;
	rl_l2_arrived(&l2, make(1, 7, 10), 60, 5, 1);
	assert_int_equal(rl_l2_route(&l2, make(7, 1, 10), 60, 2), 5);
	assert_int_equal(rl_l2_route(&l2, make(7, 1, 11), 60, 2), RL_L2_ALL);
	assert_int_equal(rl_l2_route(&l2, make(7, 1, 0), 60, 2), RL_L2_ALL);
	make(7, 1, 10);
	frame[14] &= 0x0f;
	assert_int_equal(rl_l2_route(&l2, frame, 60, 3), 5);
	/* cut within its tag */
	assert_int_equal(rl_l2_route(&l2, make(7, 1, 10), 17, 3), RL_L2_ALL);
	assert_int_equal(rl_l2_route(&l2, frame, 13, 3), RL_L2_BAD);
	rl_l2_arrived(&l2, frame, 13, 5, 3);
}

/* 802.1ad: of two tags the outer one says which network it is. */
static void
the_outer_tag_of_two_tells_the_vlan(void **state)
{
	uint8_t tagged[64];

	(void)state;
	memcpy(tagged, make(1, 7, 10), sizeof(tagged));
	memcpy(tagged + 12, "\x88\xa8", 2);
	rl_l2_arrived(&l2, tagged, 60, 5, 1);
	memcpy(tagged, make(7, 1, 10), sizeof(tagged));
	memcpy(tagged + 12, "\x88\xa8", 2);
	assert_int_equal(rl_l2_route(&l2, tagged, 60, 2), 5);
	tagged[15]++;
	assert_int_equal(rl_l2_route(&l2, tagged, 60, 2), RL_L2_ALL);
}

/* Far more stations than there is room for: the newest are known. */
static void
without_room_the_oldest_goes(void **state)
{
	unsigned int known = 0;

	(void)state;
	l2.ageing_ns = UINT64_MAX;
	for (uint32_t i = 0; i < 3 * RL_L2_STATIONS; i++)
		arrived(100 + i, 5, i);
	assert_true(l2.c.pushed >= 2 * RL_L2_STATIONS);
	arrived(100, 6, 3 * RL_L2_STATIONS);
	assert_int_equal(route(100, 1, 3 * RL_L2_STATIONS), 6);
	for (uint32_t i = 2 * RL_L2_STATIONS; i < 3 * RL_L2_STATIONS; i++)
		known += route(100 + i, 100, 3 * RL_L2_STATIONS) == 5;
	assert_true(known > RL_L2_STATIONS / 2);
}

/* Only a station that is still known is pushed out. */
static void
a_forgotten_station_makes_room_without_being_pushed_out(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 3 * RL_L2_STATIONS; i++)
		arrived(100 + i, 5, (uint64_t)i * AGE);
	assert_int_equal(l2.c.learned, 3 * RL_L2_STATIONS);
	assert_int_equal(l2.c.pushed, 0);
}

static void
a_fixed_station_stays_where_it_is(void **state)
{
	uint8_t mac[6];

	(void)state;
	memcpy(mac, make(7, 1, 0), sizeof(mac));
	assert_true(rl_l2_fix(&l2, mac, 0, 5));
	assert_int_equal(route(7, 1, 10), 5); /* it has not spoken yet */
	arrived(7, 6, 20);		      /* nor may another for it */
	assert_int_equal(l2.c.elsewhere, 1);
	arrived(7, 5, 30);
	assert_int_equal(l2.c.elsewhere, 1);
	assert_int_equal(route(7, 1, 100 * l2.ageing_ns), 5);
	assert_int_equal(l2.c.moved, 0);
	/* and is not pushed out by however many others */
	for (uint32_t i = 0; i < 4 * RL_L2_STATIONS; i++)
		arrived(1000 + i, 6, 40);
	assert_true(l2.c.pushed > 0);
	assert_int_equal(route(7, 1, 50), 5);
	/* in its VLAN alone */
	assert_int_equal(rl_l2_route(&l2, make(7, 1, 9), 60, 60), RL_L2_ALL);
}

static void
if_all_places_are_fixed_others_go_to_all(void **state)
{
	unsigned int n = 0;
	uint8_t mac[6];

	(void)state;
	for (uint32_t i = 0; i < 8 * RL_L2_STATIONS; i++) {
		memcpy(mac, make(i, 1, 0), sizeof(mac));
		n += rl_l2_fix(&l2, mac, 0, 5);
	}
	assert_int_equal(n, RL_L2_STATIONS);
	arrived(1u << 20, 6, 10);
	assert_int_equal(l2.c.learned, 0);
	assert_int_equal(route(1u << 20, 1u << 21, 20), RL_L2_ALL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_station_is_learned_from_what_it_sends,
				       fresh),
		cmocka_unit_test_setup(a_silent_station_is_forgotten, fresh),
		cmocka_unit_test_setup(a_fixed_station_stays_where_it_is,
				       fresh),
		cmocka_unit_test_setup(
			if_all_places_are_fixed_others_go_to_all, fresh),
		cmocka_unit_test_setup(groups_go_to_all_and_are_never_learned,
				       fresh),
		cmocka_unit_test_setup(a_vlan_is_no_part_of_an_address, fresh),
		cmocka_unit_test_setup(what_concerns_one_cable_stays_there, fresh),
		cmocka_unit_test_setup(
			what_stays_behind_the_own_port_is_filtered, fresh),
		cmocka_unit_test_setup(vlans_are_apart_and_priorities_are_not,
				       fresh),
		cmocka_unit_test_setup(the_outer_tag_of_two_tells_the_vlan,
				       fresh),
		cmocka_unit_test_setup(without_room_the_oldest_goes,
				       fresh),
		cmocka_unit_test_setup(
			a_forgotten_station_makes_room_without_being_pushed_out,
			fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
