/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What reflit makes of the records of lcores. Those of one come in order, those
 * of several in any: each failover is told as it was all the same.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_ring.h>

#include "../figure1.h"
#include "host_bed.h"
#include "watch.h"

static const char fabric_text[] =
	FIGURE1_FABRIC
	"routing: { engine = \"updown\"; };\n"
	"controller: { mode = \"off\"; };\n";

static struct host_bed bed;
static struct watch watch;

static int
setup(void **state)
{
	(void)state;
	host_bed_open(&bed, fabric_text, 16);
	return watch_open(&watch, &bed.host);
}

static int
teardown(void **state)
{
	(void)state;
	watch_close(&watch);
	host_bed_close(&bed);
	return 0;
}

/* An lcore says so of a port of s0. */
static void
tell(uint16_t port, enum rl_port_event_type type, uint32_t loop_id,
     uint64_t t_ns)
{
	struct host_lcore *lc = bed.host.lcore[bed.host.lcore_id[0]];
	struct host_rec rec = {
		.t_ns = t_ns,
		.kind = HOST_REC_PORT,
		.dev = (uint32_t)rl_topo_find_dev(&bed.cfg.topo, "s0"),
		.port = port,
		.port_ev = { .t_ns = t_ns, .type = type, .loop_id = loop_id },
	};

	assert_int_equal(rte_ring_sp_enqueue_elem(lc->log.ring, &rec,
						  sizeof(rec)),
			 0);
}

/* Several ports may carry what looped, and one may do so in turns. */
static void
the_first_flit_rerouted_is_the_earliest_whoever_tells_of_it_first(
	void **state)
{
	(void)state;
	tell(2, RL_PEV_REROUTED, 7, 1300);
	tell(1, RL_PEV_DEAD, 7, 1000);
	tell(0, RL_PEV_REROUTED, 7, 1200);
	tell(2, RL_PEV_REROUTED, 7, 1400);
	watch_pump(&watch);
	assert_int_equal(watch.nfailovers, 1);
	assert_int_equal(watch.failover[0].dead_ns, 1000);
	assert_int_equal(watch.failover[0].rerouted_ns, 1200);
	/* and what comes much later changes nothing */
	tell(2, RL_PEV_REROUTED, 7, 9000);
	watch_pump(&watch);
	assert_int_equal(watch_span(watch.failover[0].dead_ns,
				    watch.failover[0].rerouted_ns),
			 200);
}

static void
failovers_that_are_told_in_turns_are_kept_apart(void **state)
{
	(void)state;
	tell(1, RL_PEV_DEAD, 7, 1000);
	tell(2, RL_PEV_DEAD, 8, 1500);
	tell(0, RL_PEV_REROUTED, 8, 1600);
	tell(0, RL_PEV_REROUTED, 7, 1700);
	tell(2, RL_PEV_DRAINED, 8, 1800);
	tell(1, RL_PEV_DRAINED, 7, 1900);
	watch_pump(&watch);
	assert_int_equal(watch.nfailovers, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct failover *f = &watch.failover[i];

		assert_int_equal(f->loop_id, 7 + i);
		assert_int_equal(f->port, 1 + i);
		assert_int_equal(f->dead_ns, i == 0 ? 1000 : 1500);
		assert_int_equal(f->rerouted_ns, i == 0 ? 1700 : 1600);
		assert_int_equal(f->drained_ns, i == 0 ? 1900 : 1800);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_first_flit_rerouted_is_the_earliest_whoever_tells_of_it_first,
			setup, teardown),
		cmocka_unit_test_setup_teardown(
			failovers_that_are_told_in_turns_are_kept_apart, setup,
			teardown),
	};

	eal_fixture_start("0@0");
	return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
