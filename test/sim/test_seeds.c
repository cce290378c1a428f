/* SPDX-License-Identifier: BSD-3-Clause */

/* Plans of the campaign that once failed, each with what was wrong. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "../few.h"
#include "rl_swarm_plan.h"

static struct rl_sim_mem mem;

static int
setup(void **state)
{
	(void)state;
	return rl_sim_mem_init(&mem);
}

static int
teardown(void **state)
{
	(void)state;
	rl_sim_mem_free(&mem);
	return 0;
}

static void
draw(struct rl_swarm_plan *plan, uint64_t seed)
{
	char err[RL_ERR_MAX];

	assert_int_equal(rl_swarm_plan_draw(plan, seed, err), 0);
	plan->cfg.endpoint.congestion = RL_CONGESTION_NONE; /* as it failed */
}

/* And frees it. */
static void
passes(struct rl_swarm_plan *plan)
{
	struct rl_swarm_verdict v;

	assert_int_equal(rl_swarm_plan_run(plan, &mem, &v), 0);
	if (!v.ok)
		fail_msg("seed %u: %s", (unsigned int)plan->seed, v.why);
	rl_swarm_plan_free(plan);
}

/*
 * A device that crashes while its links doze restarts, and misses nothing. In
 * this plan it is a switch whose ends train on dark wires, without keepalives.
 */
static void
a_device_that_crashes_while_its_ends_doze_restarts(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw(&plan, 30018871);
	assert_true(plan.doze && plan.cfg.link.keepalive_ns == 0);
	passes(&plan);
}

static void
draw_mix(struct rl_swarm_plan *plan, uint64_t seed, const char *mix)
{
	struct rl_swarm_shares shares;

	assert_int_equal(rl_swarm_wide_parse(mix, &shares), 0);
	draw(plan, seed);
	assert_int_equal(rl_swarm_plan_widen(plan, seed, &shares), 0);
}

static void
draw_wide(struct rl_swarm_plan *plan, uint64_t seed)
{
	draw_mix(plan, seed, "all");
}

/* A client that takes packets for 344 ns is not missed by polls each microsecond. */
static void
a_slow_client_takes_a_packet_in_each_of_its_times(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_wide(&plan, 62007936);
	assert_int_equal(plan.load.take_ns, 344);
	passes(&plan);
}

/* Without retry: no way leads back from who gave packets up to who sent them. */
static void
an_endpoint_that_is_cut_off_hears_what_was_given_up(void **state)
{
	static const uint64_t seeds[] = { 62009767, 70098858 };
	struct rl_swarm_plan plan;

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(seeds); i++) {
		draw_wide(&plan, seeds[i]);
		assert_false(plan.cfg.endpoint.retry || plan.losses_ok);
		passes(&plan);
	}
}

/* A switch whose last link leads to an endpoint that had sent them on once. */
static void
packets_that_come_to_an_endpoint_twice_are_reported(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw(&plan, 31210616);
	assert_true(plan.fec_safe && plan.reports_ok);
	passes(&plan);
}

/* Links that die, without link retry, take tokens with them: all are held then. */
static void
a_change_whose_tokens_are_lost_is_soon_made_at_rest(void **state)
{
	static const uint64_t seeds[] = { 35022310, 36010931 };
	struct rl_swarm_plan plan;

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(seeds); i++) {
		draw(&plan, seeds[i]);
		assert_false(plan.cfg.link.retry);
		passes(&plan);
	}
}

/* A wire that was full has room again just when its port's time has come. */
static void
a_port_that_waits_for_its_wire_is_polled_when_there_is_room(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw(&plan, 35069442);
	assert_true(plan.turns);
	passes(&plan);
}

/* Of a peer that is cut off for good: the next is sent while one waits. */
static void
probes_that_wait_for_a_way_are_no_unrest(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw(&plan, 31056781);
	assert_true(plan.cfg.link.no_path_ns >
		    plan.cfg.endpoint.retry_timer_max_ns);
	passes(&plan);
}

/*
 * The controller has left the link, as it degraded: one end is off. The other
 * had died on the way, and waits for it.
 */
static void
a_link_that_was_left_may_have_one_end_that_waits(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw(&plan, 40252748);
	assert_true(plan.controller);
	passes(&plan);
}

/* The end of a packet that was cut off stands in room that was given away. */
static void
ends_made_here_take_room_that_was_given_away(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw(&plan, 40904148);
	assert_true(plan.cfg.link.retry &&
		    plan.cfg.link.switching == RL_CUT_THROUGH);
	passes(&plan);
}

/* An order to go down, of a controller that died, came after the healing. */
static void
orders_of_a_dead_controller_do_not_undo_what_is_healed(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw(&plan, 42616496);
	assert_true(plan.controller);
	passes(&plan);
}

/* All links are cut, and answers come after their time. */
static void
late_answers_do_not_begin_a_recovery_each(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw(&plan, 42785977);
	assert_true(plan.controller && !plan.cfg.endpoint.retry);
	passes(&plan);
}

/* A sync without a receiver, and data behind it, came to a new life. */
static void
a_new_life_does_not_take_what_was_for_the_old_one(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_wide(&plan, 65040923);
	passes(&plan);
}

/*
 * An endpoint restarts. New tables use its links before they have trained, so
 * packets for it turned back, from switches with new tables to some with old
 * ones, and waited for each other in a circle.
 */
static void
no_circle_closes_before_the_links_of_a_device_are_back(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_wide(&plan, 71071798);
	assert_true(plan.controller && plan.cfg.endpoint.retry);
	passes(&plan);
}

/*
 * Tables are installed at rest, one device after the other, and an endpoint
 * probes. A switch with new ones and one with old ones send the probe to each
 * other until it has crossed as many links as any may.
 */
static void
a_probe_may_end_between_old_and_new_tables(void **state)
{
	struct rl_swarm_plan plan;
	struct rl_swarm_verdict v;

	(void)state;
	draw(&plan, 52494434);
	assert_true(plan.controller && !plan.cfg.endpoint.retry);
	assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
	assert_true(v.ok);
	assert_int_equal(v.load.lost, 0);
	/* a probe alone may; it need not, for parallel links stand in for others
	   and limits follow the answers */
	assert_int_equal(v.sim.drops[RL_DROP_HOPS],
			 v.sim.ctrl_drops[RL_DROP_HOPS]);
	rl_swarm_plan_free(&plan);
}

/*
 * The next keepalive repeats what a lost frame said. In these seeds it is the
 * first credits of a link that has just trained.
 */
static void
no_link_dozes_while_there_is_news(void **state)
{
	static const uint64_t seeds[] = { 20001053, 20001464, 20001557,
					  20001767 };
	struct rl_swarm_plan plan;

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(seeds); i++) {
		draw(&plan, seeds[i]);
		plan.doze = true;
		passes(&plan);
	}
}

/*
 * Eight senders fill a receiver with room for one packet, which it takes every
 * 100 us. One of them was always first when there was room again; another got
 * nothing for 10 ms [SW-6].
 */
static void
a_full_receiver_serves_all_its_senders(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_wide(&plan, 92029273);
	assert_true(plan.load.slow_ns != 0 && plan.silence_ns != 0);
	plan.load.flow_packets = 50 / SOME(5); /* 50 are enough to see it */
	passes(&plan);
}

/* It knew no round trip, and took the room back before a sender could come. */
static void
a_full_receiver_that_only_receives_waits_for_slow_senders(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_wide(&plan, 20017722);
	assert_true(plan.silence_ns != 0);
	passes(&plan);
}

/* The controller that it is told to has just begun, and knows nothing yet. */
static void
a_link_that_is_added_beside_a_new_controller_comes_up(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_wide(&plan, 80059874);
	passes(&plan);
}

/*
 * Without link retry, a packet whose rest comes slowly was taken for lost, again
 * and again: cut-through, on cores that are polled late.
 */
static void
a_packet_that_comes_slowly_is_not_taken_for_lost(void **state)
{
	static const uint64_t seeds[] = { 80000822, 80015160 };
	struct rl_swarm_plan plan;

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(seeds); i++) {
		draw_wide(&plan, seeds[i]);
		assert_true(!plan.cfg.link.retry && plan.poll_jitter_ns != 0);
		passes(&plan);
	}
}

/* The switch restarted, and packets waited there for links that stay dark. */
static void
packets_for_a_link_that_does_not_train_are_at_rest(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_wide(&plan, 80001846);
	assert_int_equal(plan.cfg.controller.mode, RL_RESIL_FULL);
	passes(&plan);
}

/* It needed more than quiesce_ns to come to rest: no try had time for it. */
static void
a_busy_fabric_comes_to_rest_for_a_device_that_restarts(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_wide(&plan, 80002695);
	assert_true(plan.poll_jitter_ns != 0);
	plan.limit_ns = plan.heal_ns + 2 * RL_NS_PER_S;
	passes(&plan);
}

/* They waited for a link that had yet to train, and tokens passed. */
static void
all_that_waits_is_at_rest_once_a_held_switch_has_new_tables(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_wide(&plan, 80040230);
	assert_true(plan.poll_jitter_ns != 0 && !plan.cfg.link.retry);
	passes(&plan);
}

/* The link was down and is to be up, while its device has no tables. */
static void
a_port_is_not_taken_up_before_its_device_has_tables(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_wide(&plan, 7101318);
	assert_true(plan.controller);
	plan.silence_ns = 10 * RL_NS_PER_MS;
	passes(&plan);
}

/*
 * What can only go back waits in a switch. Had a probe of its flow another way
 * from there, all would be sent again, without end, and nothing came to rest.
 */
static void
a_probe_does_not_pass_what_waits(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw(&plan, 97012646);
	assert_true(plan.controller && plan.silence_ns != 0);
	plan.silence_ns = 10 * RL_NS_PER_MS;
	passes(&plan);
}

/*
 * What these seeds draw explains it: tables without an endpoint, and a small
 * retry buffer; tokens that a link lost; a drain of many polls; a switch that
 * restarts beside a link that does not train.
 */
static void
limits_follow_what_is_drawn(void **state)
{
	static const uint64_t seeds[] = { 80012555, 80010719, 50001382,
					  93012483 };
	struct rl_swarm_plan plan;

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(seeds); i += FEW(2)) {
		draw_wide(&plan, seeds[i]);
		passes(&plan);
	}
}

/* The switch of an endpoint crashes for good before their link has come up. */
static void
an_endpoint_whose_link_never_comes_up_stops_no_recovery(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw(&plan, 330026840);
	assert_true(plan.controller);
	passes(&plan);
}

/* It hears from nobody that its probes are lost, and asks more and more rarely. */
static void
an_endpoint_that_comes_back_is_heard_once_there_are_tables(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_wide(&plan, 340007558);
	passes(&plan);
}

/* Each of its flows had a share of the full receiver, one after the other. */
static void
an_endpoint_that_is_cut_off_keeps_no_room_of_a_full_receiver(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_wide(&plan, 370006138);
	assert_true(plan.cfg.endpoint.rx_buffer_flits < 64);
	passes(&plan);
}

/* A fabric slower than the timers of flows that give up after one of them. */
static void
a_flow_learns_from_answers_that_come_after_it_gave_up(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_wide(&plan, 370005709);
	assert_true(plan.cfg.endpoint.retry_limit == 1);
	passes(&plan);
}

/* It gave up before each answer, and had not sent again when that came. */
static void
a_slow_client_learns_from_late_answers_too(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_mix(&plan, 905001170,
		 "buffers=90,partition=60,slow=50,limit=30,busy=20");
	assert_true(plan.cfg.endpoint.retry_limit == 1);
	passes(&plan);
}

/* Of two shortest ways one leads to a switch whose other links are dead. */
static void
data_goes_where_probes_come_through(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_mix(&plan, 903000330,
		 "paths=100,partition=30,slow=30,reborn=40,device=40");
	assert_true(plan.cfg.adaptive && !plan.controller);
	passes(&plan);
}

/* A probe takes milliseconds in a busy fabric, and one is always under way. */
static void
probes_that_are_under_way_are_no_unrest(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	draw_wide(&plan, 900116024);
	assert_true(plan.wide & 1u << RL_SWARM_WD_BUSY);
	passes(&plan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_device_that_crashes_while_its_ends_doze_restarts),
		cmocka_unit_test(
			a_slow_client_takes_a_packet_in_each_of_its_times),
		cmocka_unit_test(
			an_endpoint_that_is_cut_off_hears_what_was_given_up),
		cmocka_unit_test(
			packets_that_come_to_an_endpoint_twice_are_reported),
		cmocka_unit_test(
			a_change_whose_tokens_are_lost_is_soon_made_at_rest),
		cmocka_unit_test(
			a_port_that_waits_for_its_wire_is_polled_when_there_is_room),
		cmocka_unit_test(probes_that_wait_for_a_way_are_no_unrest),
		cmocka_unit_test(
			a_link_that_was_left_may_have_one_end_that_waits),
		cmocka_unit_test(ends_made_here_take_room_that_was_given_away),
		cmocka_unit_test(
			orders_of_a_dead_controller_do_not_undo_what_is_healed),
		cmocka_unit_test(late_answers_do_not_begin_a_recovery_each),
		cmocka_unit_test(
			a_new_life_does_not_take_what_was_for_the_old_one),
		cmocka_unit_test(
			no_circle_closes_before_the_links_of_a_device_are_back),
		cmocka_unit_test(a_probe_may_end_between_old_and_new_tables),
		cmocka_unit_test(no_link_dozes_while_there_is_news),
		cmocka_unit_test(a_full_receiver_serves_all_its_senders),
		cmocka_unit_test(
			a_full_receiver_that_only_receives_waits_for_slow_senders),
		cmocka_unit_test(
			a_link_that_is_added_beside_a_new_controller_comes_up),
		cmocka_unit_test(
			a_packet_that_comes_slowly_is_not_taken_for_lost),
		cmocka_unit_test(
			packets_for_a_link_that_does_not_train_are_at_rest),
		cmocka_unit_test(
			a_busy_fabric_comes_to_rest_for_a_device_that_restarts),
		cmocka_unit_test(
			all_that_waits_is_at_rest_once_a_held_switch_has_new_tables),
		cmocka_unit_test(
			a_port_is_not_taken_up_before_its_device_has_tables),
		cmocka_unit_test(a_probe_does_not_pass_what_waits),
		cmocka_unit_test(limits_follow_what_is_drawn),
		cmocka_unit_test(
			an_endpoint_whose_link_never_comes_up_stops_no_recovery),
		cmocka_unit_test(
			an_endpoint_that_comes_back_is_heard_once_there_are_tables),
		cmocka_unit_test(
			an_endpoint_that_is_cut_off_keeps_no_room_of_a_full_receiver),
		cmocka_unit_test(
			a_flow_learns_from_answers_that_come_after_it_gave_up),
		cmocka_unit_test(a_slow_client_learns_from_late_answers_too),
		cmocka_unit_test(data_goes_where_probes_come_through),
		cmocka_unit_test(probes_that_are_under_way_are_no_unrest),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
