/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Links that die for good, one after the other, in a fabric that stays
 * connected [RES-1, RES-6]: everything is delivered, nothing is reported or
 * refused, and no flow is silent for 5 ms, the time to compute included.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../few.h"
#include "rl_swarm_plan.h"

#define MS RL_NS_PER_MS
#define US RL_NS_PER_US
#define COMPUTE_NS (500 * US)

static void
begin(struct rl_swarm_plan *p)
{
	static const char text[] =
		"fabric: { topology = \"torus\"; dims = [4, 4]; };\n"
		"routing: { adaptive = false; };\n";
	char err[1024];

	memset(p, 0, sizeof(*p));
	assert_int_equal(rl_config_read_text("lasting", text, strlen(text),
					     &p->cfg, err, sizeof(err)), 0);
	assert_int_equal(rl_route_setup(&p->cfg.topo, NULL, 8, 1, &p->route,
					err), 0);
	rl_sim_wire_defaults(&p->wire);
	p->seed = 1;
	p->notice_ns = 1000;
	p->controller = true;
	p->resil.delay_ns = 10000;
	p->resil.compute_ns = COMPUTE_NS;
	p->load = (struct rl_sim_load_cfg){
		.pattern = { .kind = RL_PATTERN_UNIFORM },
		.load = 0.02,
		.slot_ps = p->wire.flit_ps,
		.min_flits = 1,
		.max_flits = 8,
		.cos = 1,
		.seed = 1,
		.nep = (uint16_t)p->cfg.topo.nep,
	};
}

/* Kills @p n links between switches, and none that the fabric hangs by. */
static void
kill_links(struct rl_swarm_plan *p, unsigned int n, uint64_t apart_ns)
{
	struct rl_topo *t = &p->cfg.topo;
	struct rl_prng prng;
	uint64_t at = 100 * US;
	char err[RL_ERR_MAX];

	rl_prng_seed(&prng, n * 1000 + apart_ns);
	while (n > 0) {
		const struct rl_fault f = {
			.t_ns = at,
			.kind = RL_FAULT_CUT,
			.link = rl_prng_below(&prng, t->nlink),
			.dirs = RL_FAULT_DIR_BOTH,
			.lasting = true,
		};
		struct rl_topo_link *l = &t->link[f.link];

		if (l->kind != RL_LINK_ISL || l->failed)
			continue;
		l->failed = true;
		if (rl_topo_reach(t, RL_REACH_WORKING, err) != 0) {
			l->failed = false;
			continue;
		}
		assert_int_equal(rl_sim_fault_add(&p->faults, &f), 0);
		at += apart_ns;
		n--;
	}
	for (uint32_t i = 0; i < t->nlink; i++)
		t->link[i].failed = false;
	p->load.stop_ns = p->heal_ns = at + 1 * MS;
	p->limit_ns = at + 400 * MS;
}

static void
links_that_die_for_good(uint64_t apart_ns)
{
	for (unsigned int n = 2; n <= 8; n += SOME(6)) {
		struct rl_swarm_verdict v;
		struct rl_swarm_plan p;
		struct rl_sim_mem mem;

		begin(&p);
		kill_links(&p, n, apart_ns);
		assert_int_equal(rl_sim_mem_init(&mem), 0);
		assert_int_equal(rl_swarm_plan_run(&p, &mem, &v), 0);
		if (!v.ok)
			fail_msg("%u links: %s", n, v.why);
		print_message("%u links, %llu us apart: longest outage %llu us, "
			      "%u recoveries\n", n,
			      (unsigned long long)(apart_ns / US),
			      (unsigned long long)(v.load.outage_ns / US),
			      v.recoveries);
		/* each is recovered from before the next */
		if (apart_ns > COMPUTE_NS)
			assert_int_equal(v.recoveries, n);
		assert_int_equal(v.load.delivered, v.load.sent);
		assert_int_equal(v.load.reported, 0);
		assert_int_equal(v.load.refused, 0);
		assert_true(v.load.outage_ns < 5 * MS);
		rl_route_free(p.route);
		rl_sim_faults_free(&p.faults);
		rl_config_free(&p.cfg);
		rl_sim_mem_free(&mem);
	}
}

static void
two_to_eight_links_20_us_apart_cost_no_packet(void **state)
{
	(void)state;
	links_that_die_for_good(20 * US);
}

static void
two_to_eight_links_one_after_the_other_cost_no_packet(void **state)
{
	(void)state;
	links_that_die_for_good(700 * US);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_to_eight_links_20_us_apart_cost_no_packet),
		cmocka_unit_test(two_to_eight_links_one_after_the_other_cost_no_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
