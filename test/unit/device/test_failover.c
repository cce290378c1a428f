/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What hosts make of what ports and cores say: failovers, put together whichever
 * lcore tells its part first; what the controller hears; and who waits for it
 * [RES-4].
 */

#include "host.h"
#include "rl_failover.h"

static struct rl_failover_log failovers;
static struct host h;

static int
no_failovers(void **state)
{
	(void)state;
	rl_failover_log_free(&failovers);
	return 0;
}

static struct rl_failover *
tell(uint16_t port, enum rl_port_event_type type, uint32_t loop_id,
     uint64_t t_ns)
{
	const struct rl_port_event ev = {
		.t_ns = t_ns, .type = type, .loop_id = loop_id,
		.detector = RL_DET_COMMAND, .looped_packets = 2,
		.looped_flits = 30, .looped_acked_flits = 10,
	};

	return rl_failover_take(&failovers, 3, port, &ev);
}

/* Several ports may carry what looped, and one may do so in turns. */
static void
the_first_flit_rerouted_is_the_earliest_whichever_tells_of_it_first(void **state)
{
	const struct rl_failover *f;

	(void)state;
	assert_null(tell(2, RL_PEV_REROUTED, 7, 1300));
	assert_int_equal(failovers.rec[0].dead_ns, RL_NEVER);
	assert_non_null(tell(1, RL_PEV_DEAD, 7, 1000));
	assert_null(tell(0, RL_PEV_REROUTED, 7, 1200));
	assert_null(tell(2, RL_PEV_REROUTED, 7, 1400));
	assert_int_equal(failovers.n, 1);
	f = failovers.rec;
	assert_int_equal(f->dead_ns, 1000);
	assert_int_equal(f->dev, 3);
	assert_int_equal(f->port, 1);
	assert_int_equal(f->detector, RL_DET_COMMAND);
	/* and what comes much later changes nothing */
	assert_null(tell(2, RL_PEV_REROUTED, 7, 9000));
	assert_int_equal(rl_failover_span(f->dead_ns, f->rerouted_ns), 200);
	assert_int_equal(f->way, 0); /* the earliest, not the first told */
	assert_int_equal(rl_failover_span(f->dead_ns, f->drained_ns), 0);
	assert_int_equal(rl_failover_span(f->fault_ns, f->dead_ns), 0);
	assert_int_equal(rl_failover_span(1001, f->dead_ns), 1);
}

static void
failovers_that_are_told_in_turns_are_kept_apart(void **state)
{
	(void)state;
	tell(1, RL_PEV_DEAD, 7, 1000)->fault_ns = 900;
	tell(2, RL_PEV_DEAD, 8, 1500)->fault_ns = 1400;
	tell(0, RL_PEV_REROUTED, 8, 1600);
	tell(0, RL_PEV_REROUTED, 7, 1700);
	tell(2, RL_PEV_DRAINED, 8, 1800);
	tell(1, RL_PEV_DRAINED, 7, 1900);
	assert_int_equal(failovers.n, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct rl_failover *f = &failovers.rec[i];

		assert_int_equal(f->loop_id, 7 + i);
		assert_int_equal(f->port, 1 + i);
		assert_int_equal(f->fault_ns, i == 0 ? 900 : 1400);
		assert_int_equal(f->dead_ns, i == 0 ? 1000 : 1500);
		assert_int_equal(f->rerouted_ns, i == 0 ? 1700 : 1600);
		assert_int_equal(f->drained_ns, i == 0 ? 1900 : 1800);
		assert_int_equal(f->looped_packets, 2);
		assert_int_equal(f->looped_flits, 30);
		assert_int_equal(f->looped_acked_flits, 10);
	}
}

/* A device that restarts counts its trainings, and so its deaths, from 0. */
static void
a_port_that_dies_in_two_lives_of_its_device_has_two_failovers(void **state)
{
	(void)state;
	for (uint64_t life = 0; life < 2; life++) {
		assert_non_null(tell(1, RL_PEV_DEAD, 7, 1000 + life * 5000));
		tell(0, RL_PEV_REROUTED, 7, 1200 + life * 5000);
		tell(1, RL_PEV_DRAINED, 7, 1300 + life * 5000);
	}
	assert_int_equal(failovers.n, 2);
	for (uint64_t i = 0; i < 2; i++) {
		assert_int_equal(failovers.rec[i].dead_ns, 1000 + i * 5000);
		assert_int_equal(failovers.rec[i].rerouted_ns, 1200 + i * 5000);
		assert_int_equal(failovers.rec[i].drained_ns, 1300 + i * 5000);
	}
}

static void
what_is_no_failover_opens_none(void **state)
{
	static const enum rl_port_event_type others[] = {
		RL_PEV_UP, RL_PEV_RETRAIN, RL_PEV_DEGRADED, RL_PEV_EMPTY,
		RL_PEV_REFUSED };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(others); i++)
		assert_null(tell(1, others[i], 7, 1000));
	assert_int_equal(failovers.n, 0);
}

/* A drain ends a link that is empty: nothing went another way. */
static void
a_planned_end_is_no_failover(void **state)
{
	static const enum rl_port_event_type types[] = { RL_PEV_DEAD,
							 RL_PEV_DRAINED };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(types); i++) {
		const struct rl_port_event ev = {
			.type = types[i], .loop_id = 7, .planned = true };

		assert_null(rl_failover_take(&failovers, 3, 1, &ev));
	}
	assert_int_equal(failovers.n, 0);
}

static void
the_controller_hears_of_links_and_of_what_a_watchdog_gave_up(void **state)
{
	static const bool port[] = {
		[RL_PEV_UP] = true, [RL_PEV_DEAD] = true,
		[RL_PEV_DEGRADED] = true, [RL_PEV_REFUSED] = false };
	static const bool core[] = { [RL_CEV_WATCHDOG] = true };
	struct rl_local *l;
	void *mem;

	(void)state;
	assert_int_equal(host_build(&h), 0);
	mem = calloc(1, rl_local_memsize(h.fabric.dev[0].nports));
	l = rl_fabric_local(&h.fabric, 0, mem, 1, false, 0);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(port); i++)
		assert_int_equal(
			rl_device_report_port(l, 0, &(struct rl_port_event){
				.type = (enum rl_port_event_type)i }, 5),
			port[i]);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(core); i++)
		assert_int_equal(
			rl_device_report_core(l, &(struct rl_core_event){
				.type = (enum rl_core_event_type)i }, 5),
			core[i]);
	free(mem);
}

static uint64_t
awaits_after(struct rl_device *d, enum rl_port_event_type type)
{
	const struct rl_port_event ev = { .type = type, .t_ns = 1000 };

	rl_device_port_event(d, &ev, 500);
	return atomic_exchange(&d->core.await_ns, 0);
}

static void
packets_wait_for_tables_after_a_death_while_a_controller_is_there(void **state)
{
	struct rl_device *d;

	(void)state;
	assert_int_equal(host_build(&h), 0);
	d = &h.fabric.dev[0];
	assert_int_equal(awaits_after(d, RL_PEV_DEAD), 0); /* there is none */
	rl_device_alone(d, false);
	assert_int_equal(awaits_after(d, RL_PEV_UP), 0);
	assert_int_equal(awaits_after(d, RL_PEV_DEAD), 1500);
	rl_device_alone(d, true);
	assert_int_equal(awaits_after(d, RL_PEV_DEAD), 0);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, no_failovers)
#define CASE_BUILT(name)                                                        \
	cmocka_unit_test_prestate_setup_teardown(name, host_set_up,             \
						 host_tear_down, &h)
	const struct CMUnitTest tests[] = {
		CASE(the_first_flit_rerouted_is_the_earliest_whichever_tells_of_it_first),
		CASE(failovers_that_are_told_in_turns_are_kept_apart),
		CASE(a_port_that_dies_in_two_lives_of_its_device_has_two_failovers),
		CASE(what_is_no_failover_opens_none),
		CASE(a_planned_end_is_no_failover),
		CASE_BUILT(the_controller_hears_of_links_and_of_what_a_watchdog_gave_up),
		CASE_BUILT(packets_wait_for_tables_after_a_death_while_a_controller_is_there),
	};

	return cmocka_run_group_tests_name("failover", tests, NULL, NULL);
}
