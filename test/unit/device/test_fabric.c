/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole fabric on the smallest host there is: building it, and what its
 * roles promise to pipes, wires and clients [SW-3].
 */
#include "host.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

static struct host h;

static void
open_figure_1(void)
{
	host_open(&h, HOST_FIGURE_1);
	assert_int_equal(host_build(&h), 0);
	host_start(&h);
}

static void
packets_cross_both_ways(void **state)
{
	(void)state;
	open_figure_1();
	h.client[0].to_send = 500;
	h.client[1].to_send = 300;
	host_finish(&h, 200 * MS);
	assert_int_equal(h.client[1].got, 500);
	assert_int_equal(h.client[0].got, 300);
	assert_int_equal(h.drops, 0);
	assert_int_equal(h.dead, 0);
	host_close(&h);
}

/* One of the two links dies again and again, under load, in turn. */
static void
links_die_and_return_and_nothing_is_lost(void **state)
{
	(void)state;
	open_figure_1();
	h.client[0].to_send = 3000;
	h.client[1].to_send = 3000;
	for (unsigned int i = 0; i < 24; i++) {
		const char *link = i % 4 < 2 ? "s0-s1#0" : "s0-s1#1";

		host_run(&h, 37 * US);
		host_cut(&h, link, i % 2 == 0);
		host_run(&h, 300 * US);
	}
	host_finish(&h, 500 * MS);
	assert_int_equal(h.client[1].got, 3000);
	assert_int_equal(h.client[0].got, 3000);
	assert_true(h.dead >= 16); /* at both ends; some still waited */
	assert_true(h.core_events > 0);
	host_close(&h);
}

/* A pipe of a core, and what it is looked into for. */
struct spy {
	struct rl_pipe real;
	char what;
};

static struct spy spies[16];
static char looked[16 + 1];
static unsigned int nlooked;

static unsigned int
spy_get(void *ring, void *obj[], unsigned int n)
{
	const struct spy *s = ring;

	assert_true(nlooked < sizeof(looked) - 1);
	looked[nlooked++] = s->what;
	return s->real.get(s->real.ring, obj, n);
}

/* Looped packets are the oldest: their rings are emptied first [SW-1]. */
static void
loop_rings_go_before_all_others(void **state)
{
	struct rl_role_core *r;

	(void)state;
	open_figure_1();
	r = &h.fabric.dev[rl_topo_find_dev(&h.cfg.topo, "s0")].core;
	assert_int_equal(r->nports, 3);
	for (uint16_t i = 0; i < 2 * r->nports; i++) {
		struct rl_pipe *pipe = i % 2 == 0 ? &r->rx[i / 2]
						  : &r->loop[i / 2];

		spies[i] = (struct spy){ *pipe, i % 2 == 0 ? 'r' : 'l' };
		pipe->ring = &spies[i];
		pipe->get = spy_get;
	}
	memset(looked, 0, sizeof(looked));
	nlooked = 0;
	rl_role_core_poll(r, h.now_ns);
	assert_string_equal(looked, "lllrrr");
	host_close(&h);
}

/* Pipes hold what the fabric asked for, and no pointer more was needed. */
static void
pipes_are_large_enough_at_the_smallest_settings(void **state)
{
	static const char *const switching[] = { "store-and-forward",
						 "cut-through" };

	(void)state;
	for (unsigned int s = 0; s < 2; s++) {
		char text[2048];

		snprintf(text, sizeof(text),
			 HOST_FIGURE_1_FABRIC
			 "link: { switching = \"%s\"; max_packet_flits = 8;\n"
			 "  window_flits = 8; credits_flits = 8; queue_flits = "
			 "8;\n  flits_per_frame = 1; flap_damping_ns = 50000; "
			 "};\n",
			 switching[s]);
		host_open(&h, text);
		assert_int_equal(host_build(&h), 0);
		host_start(&h);
		h.client[0].to_send = 800;
		h.client[1].to_send = 800;
		for (unsigned int i = 0; i < 20; i++) {
			host_run(&h, 41 * US);
			host_cut(&h, i % 4 < 2 ? "s0-s1#0" : "s0-s1#1",
				 i % 2 == 0);
			host_run(&h, 200 * US);
		}
		host_finish(&h, 500 * MS);
		assert_int_equal(h.client[1].got, 800);
		for (unsigned int i = 0; i < h.npipes; i++)
			assert_true(h.pipe[i].peak <= h.pipe[i].size);
		host_close(&h);
	}
}

/* The wire takes nothing for a while; then all goes on. */
static void
a_wire_that_is_full_is_backpressure(void **state)
{
	struct rl_port_info info;

	(void)state;
	open_figure_1();
	for (unsigned int i = 0; i < HOST_WIRES; i++)
		h.end[i].full = h.end[i].tx != NULL;
	h.client[0].to_send = 100;
	host_run(&h, 5 * MS); /* less than the silence that means death */
	assert_int_equal(h.client[1].got, 0);
	assert_int_equal(h.dead, 0);
	rl_port_info(host_port(&h, "e0-s0", 0)->port, &info);
	assert_true(info.queued_flits + info.held_flits > 0);
	for (unsigned int i = 0; i < HOST_WIRES; i++)
		h.end[i].full = false;
	host_finish(&h, 200 * MS);
	assert_int_equal(h.client[1].got, 100);
	host_close(&h);
}

static void
orders_are_taken_once_and_the_last_one_wins(void **state)
{
	struct rl_role_port *r;
	struct rl_port_info info;

	(void)state;
	open_figure_1();
	r = host_port(&h, "s0-s1#0", 0);
	rl_role_port_order(r, RL_ORDER_DOWN);
	rl_role_port_order(r, RL_ORDER_UP); /* nothing is down: no effect */
	host_run(&h, 10 * US);
	rl_port_info(r->port, &info);
	assert_int_equal(info.state, RL_LINK_UP);
	assert_int_equal(atomic_load(&r->order), RL_ORDER_NONE);
	assert_int_equal(h.dead, 0);
	rl_role_port_order(r, RL_ORDER_DOWN);
	host_run(&h, 50 * US);
	rl_port_info(r->port, &info);
	assert_int_equal(info.state, RL_LINK_OFF);
	assert_int_equal(info.last_detector, RL_DET_COMMAND);
	assert_int_equal(h.dead, 2);
	host_run(&h, 5 * MS);
	rl_port_info(r->port, &info);
	assert_int_equal(info.state, RL_LINK_OFF);
	h.client[0].to_send = 50; /* by the other link */
	host_finish(&h, 100 * MS);
	rl_role_port_order(r, RL_ORDER_UP);
	host_run(&h, 5 * MS);
	rl_port_info(r->port, &info);
	assert_int_equal(info.state, RL_LINK_UP);
	host_close(&h);
}

/* Roles say when they have nothing left, and that they have something. */
static void
idle_is_said_when_it_is_so(void **state)
{
	struct rl_role_core *core;

	(void)state;
	open_figure_1();
	host_finish(&h, 10 * MS); /* nothing to do: all idle */
	core = &h.fabric.dev[h.cfg.topo.ep_dev[0]].core;
	assert_int_equal(atomic_load(&core->idle), 1);
	h.client[0].to_send = 20;
	host_run(&h, 2 * US);
	assert_int_equal(atomic_load(&core->idle), 0);
	host_cut(&h, "e0-s0", true); /* its only link: not idle for long */
	host_run(&h, 3 * MS);
	assert_int_equal(atomic_load(&core->idle), 0);
	host_cut(&h, "e0-s0", false);
	host_finish(&h, 500 * MS);
	assert_int_equal(h.client[1].got, 20);
	host_close(&h);
}

/* --- building ------------------------------------------------------------ */

static void
memory_that_runs_out_anywhere_is_an_error(void **state)
{
	unsigned int requests;

	(void)state;
	host_open(&h, HOST_FIGURE_1);
	assert_int_equal(host_build(&h), 0);
	requests = h.asked;
	host_close(&h);
	assert_true(requests > 10);
	for (unsigned int i = 1; i <= requests; i++) {
		host_open(&h, HOST_FIGURE_1);
		h.fail_at = i;
		assert_int_equal(host_build(&h), -ENOMEM);
		host_close(&h);
	}
}

static void
what_a_pipe_or_a_wire_says_is_passed_on_with_the_device(void **state)
{
	(void)state;
	for (unsigned int i = 1; i <= 24; i += 5) {
		host_open(&h, HOST_FIGURE_1);
		h.pipe_fail_at = i;
		assert_int_equal(host_build(&h), -ENOSPC);
		assert_non_null(strstr(h.err, "device "));
		host_close(&h);
	}
	for (unsigned int i = 1; i <= 8; i++) {
		host_open(&h, HOST_FIGURE_1);
		h.phy_fail_at = i;
		assert_int_equal(host_build(&h), -ENODEV);
		assert_non_null(strstr(h.err, "device "));
		host_close(&h);
	}
}

static void
frames_that_hold_no_flit_are_refused_with_what_to_do(void **state)
{
	(void)state;
	host_open(&h, HOST_FIGURE_1);
	h.frame_bytes = 319;
	assert_int_equal(host_build(&h), -EINVAL);
	assert_non_null(strstr(h.err, "319"));
	assert_non_null(strstr(h.err, "320"));
	host_close(&h);
}

/* Links that are marked failed from the start stay off; the others start. */
static void
failed_links_are_not_started(void **state)
{
	struct rl_port_info info;

	(void)state;
	host_open(&h, HOST_FIGURE_1);
	host_fail(&h, "s0-s1#1");
	assert_int_equal(host_build(&h), 0);
	rl_fabric_start(&h.fabric, h.now_ns);
	host_run(&h, MS);
	for (unsigned int i = 0; i < 2; i++) {
		rl_port_info(host_port(&h, "s0-s1#0", i)->port, &info);
		assert_int_equal(info.state, RL_LINK_UP);
		rl_port_info(host_port(&h, "s0-s1#1", i)->port, &info);
		assert_int_equal(info.state, RL_LINK_OFF);
	}
	h.client[0].to_send = 50;
	host_run(&h, 50 * MS);
	assert_int_equal(h.client[1].got, 50);
	assert_int_equal(h.client[1].wrong, 0);
	host_close(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_cross_both_ways),
		cmocka_unit_test(links_die_and_return_and_nothing_is_lost),
		cmocka_unit_test(loop_rings_go_before_all_others),
		cmocka_unit_test(
			pipes_are_large_enough_at_the_smallest_settings),
		cmocka_unit_test(a_wire_that_is_full_is_backpressure),
		cmocka_unit_test(orders_are_taken_once_and_the_last_one_wins),
		cmocka_unit_test(idle_is_said_when_it_is_so),
		cmocka_unit_test(memory_that_runs_out_anywhere_is_an_error),
		cmocka_unit_test(
			what_a_pipe_or_a_wire_says_is_passed_on_with_the_device),
		cmocka_unit_test(
			frames_that_hold_no_flit_are_refused_with_what_to_do),
		cmocka_unit_test(failed_links_are_not_started),
	};

	return cmocka_run_group_tests_name("fabric", tests, NULL, NULL);
}
