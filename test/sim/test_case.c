/* SPDX-License-Identifier: BSD-3-Clause */

/* A plan written as a fabric file and a fault file is the same run [SIM-2]. */

#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../few.h"
#include "rl_swarm_case.h"

#define SEEDS 60

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

/* What a file cannot say: a cut one way that counts frames of the other way. */
static void
expressible(struct rl_swarm_plan *plan)
{
	for (uint32_t i = 0; i < plan->faults.n; i++) {
		struct rl_fault *f = &plan->faults.f[i];

		if (f->dirs != RL_FAULT_DIR_BOTH)
			f->counts = f->dirs == RL_FAULT_DIR_BA;
		else if (f->kind != RL_FAULT_CUT || f->nth == 0)
			f->counts = 0;
	}
}

static void
read_back(const struct rl_swarm_plan *plan, struct rl_swarm_plan *again)
{
	char *fabric = rl_swarm_case_fabric(plan);
	char *faults = rl_swarm_case_faults(plan);
	char err[RL_ERR_MAX + 1024];
	bool run;

	memset(again, 0, sizeof(*again));
	if (rl_config_read_text("fabric", fabric, strlen(fabric), &again->cfg,
				err, sizeof(err)) != 0)
		fail_msg("%s in\n%s", err, fabric);
	if (rl_swarm_case_text("faults", faults, strlen(faults), again, &run,
			       err, sizeof(err)) != 0)
		fail_msg("%s in\n%s", err, faults);
	assert_true(run);
	assert_int_equal(rl_route_setup(&again->cfg.topo, again->cfg.engine,
					rl_min_u32(again->cfg.vls,
						   again->cfg.link.vcs),
					again->cfg.levels, &again->route, err),
			 0);
	again->load.nep = (uint16_t)again->cfg.topo.nep;
	free(fabric);
	free(faults);
}

static void
free_read(struct rl_swarm_plan *plan)
{
	rl_route_free(plan->route);
	rl_sim_faults_free(&plan->faults);
	rl_config_free(&plan->cfg);
}

static void
same_runs(const char *wide)
{
	static struct rl_swarm_plan plan, again;
	struct rl_swarm_verdict v, w;
	struct rl_swarm_shares shares;
	char err[RL_ERR_MAX];

	assert_int_equal(rl_swarm_wide_parse(wide, &shares), 0);
	for (uint64_t seed = 1; seed <= SEEDS; seed += FEW(4)) {
		assert_int_equal(rl_swarm_plan_draw(&plan, seed, err), 0);
		assert_int_equal(rl_swarm_plan_widen(&plan, seed, &shares), 0);
		expressible(&plan);
		read_back(&plan, &again);
		assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
		assert_int_equal(rl_swarm_plan_run(&again, &mem, &w), 0);
		if (v.hash != w.hash || v.ok != w.ok)
			fail_msg("seed %llu is another run as a case",
				 (unsigned long long)seed);
		free_read(&again);
		rl_swarm_plan_free(&plan);
	}
}

static void
a_drawn_plan_is_the_same_run_when_read_back(void **state)
{
	(void)state;
	same_runs("long=0");
}

static void
so_is_a_wide_one(void **state)
{
	(void)state;
	same_runs("all");
}

static const char fabric[] =
	"fabric: { topology = \"custom\"; switches = ( { name = \"s0\"; } );\n"
	" endpoints = ( { name = \"e0\"; }, { name = \"e1\"; } );\n"
	" links = ( { a = \"e0\"; b = \"s0\"; }, { a = \"s0\"; b = \"e1\"; } );"
	" };";

static void
a_bad_run_line_is_refused_with_its_reason(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "run packets=1\nrun colour=red\n",
		  "f:2: run has no setting colour" },
		{ "run packets\n", "f:1: run has no setting packets" },
		{ "run packets=-1\n", "f:1: run: bad value of packets: -1" },
		{ "run classes=4294967296 packets=1\n", "bad value of classes" },
		{ "run doze=2 packets=1\n", "bad value of doze" },
		{ "run load=0 packets=1\n", "bad value of load" },
		{ "run load=nan packets=1\n", "bad value of load" },
		{ "run traffic=pairs packets=1\n", "bad value of traffic" },
		{ "run packets=1 max_flits=256\n", "packets of 1 to 256 flits" },
		{ "run packets=1 min_flits=0\n", "packets of 0 to 1 flits" },
		{ "run packets=1 classes=17\n", "17 classes" },
		{ "run packets=1 by_kind=1\n", "1 classes" },
		{ "run packets=1 flit_ps=0\n", "carries nothing" },
		{ "run packets=1 queue_frames=0\n", "carries nothing" },
		{ "run seed=1\n", "when does the traffic end?" },
		/* their sum, or the time in ps, would be anything */
		{ "run packets=1 slow_ns=18446744073709551615 take_ns=1\n",
		  "bad value of slow_ns" },
		{ "run packets=1 burst_ns=1000000000000001\n",
		  "bad value of burst_ns" },
		{ "run packets=1 latency_ns=18446744073709551615\n",
		  "bad value of latency_ns" },
		{ "run packets=1 start_ns=18446744073709551615\n",
		  "bad value of start_ns" },
		{ "run packets=1 frame_bytes=4000000000\n",
		  "bad value of frame_bytes" },
		{ "run packets=1 queue_frames=65536\n",
		  "bad value of queue_frames" },
		{ "run packets=1 requests_ppm=1000001\n",
		  "bad value of requests_ppm" },
		{ "run packets=1 hot_pct=101\n", "bad value of hot_pct" },
	};
	static struct rl_swarm_plan plan;
	char err[RL_ERR_MAX + 1024];
	bool run;

	(void)state;
	assert_int_equal(rl_config_read_text("fabric", fabric, strlen(fabric),
					     &plan.cfg, err, sizeof(err)), 0);
	for (size_t i = 0; i < RL_ARRAY_SIZE(bad); i++) {
		assert_int_equal(rl_swarm_case_text("f", bad[i].text,
						  strlen(bad[i].text), &plan,
						  &run, err, sizeof(err)),
				 -EINVAL);
		if (strstr(err, bad[i].why) == NULL)
			fail_msg("%s: %s", bad[i].text, err);
	}
	free_read(&plan);
}

static void
the_first_run_line_forgets_what_was_set_before(void **state)
{
	static const char text[] = "run seed=7 packets=3\nrun load=0.1\n";
	static struct rl_swarm_plan plan;
	char err[RL_ERR_MAX + 1024];
	bool run;

	(void)state;
	assert_int_equal(rl_config_read_text("fabric", fabric, strlen(fabric),
					     &plan.cfg, err, sizeof(err)), 0);
	plan.load.pause_ns = plan.poll_ns = 77;
	plan.heal_ns = 5;
	assert_int_equal(rl_swarm_case_text("f", text, strlen(text), &plan,
					    &run, err, sizeof(err)),
			 0);
	assert_true(run);
	assert_int_equal(plan.seed, 7);
	assert_int_equal(plan.load.seed, 7);
	assert_int_equal(plan.load.packets, 3);
	assert_int_equal(plan.load.load * 10, 1);
	assert_int_equal(plan.load.pause_ns + plan.poll_ns + plan.heal_ns, 0);
	assert_int_equal(rl_swarm_case_text("f", "", 0, &plan, &run, err,
					  sizeof(err)), 0);
	assert_false(run);
	assert_int_equal(plan.seed, 7);
	free_read(&plan);
}

/*
 * What seeds draw. A seed names the same run for good: in recipes, in pages, in
 * reports of failures. Where plans are to be drawn differently, these numbers
 * change; a failed test prints those of the present code.
 */
static const struct {
	const char *wide;
	uint32_t digest;
	uint64_t seeds; /* 0: SEEDS. So many that all there is is drawn */
} drawn[] = {
	{ "long=0", 0x0bfb03b0, 900 },
	{ "all", 0x5cd71f7a, 240 },
	{ "vcs,weights=50,long=10", 0x4feb9b0f },
	{ "vcs=100", 0xd3658100 },
	{ "weights=100", 0x6c5800f2 },
	{ "long=100", 0xf72e218b },
	{ "window=100", 0x4053410b },
	{ "latency=100", 0xcc39fedd },
	{ "limit=100", 0xf4e59778 },
	{ "buffers=100", 0x45fc6353 },
	{ "slow=100", 0xda5d42a2 },
	{ "compact=100", 0xc113f397 },
	{ "wide19=100", 0xec06dedc },
	{ "kinds=100", 0x250d08ae },
	{ "device=100", 0xb2c1f298 },
	{ "reborn=100", 0x0aa75863 },
	{ "keyed=100", 0xa6a1212f },
	{ "partition=100", 0x73bbfff8 },
	{ "busy=100", 0x7830f1be },
	{ "paths=100", 0xf0b51e2b },
	{ "congestion=100", 0x1c49b885 },
};

static uint32_t
digest_of(uint32_t h, char *text)
{
	assert_non_null(text);
	for (const char *c = text; *c != '\0'; c++)
		h = (h ^ (uint8_t)*c) * 16777619u;
	free(text);
	return h;
}

/* What a run is judged by, which its files do not say. */
static uint32_t
digest_of_limits(uint32_t h, const struct rl_swarm_plan *p)
{
	const uint64_t of[] = {
		p->wide,	p->controller, p->silence_ns,	 p->report_ns,
		p->reunite_ns,	p->heal_ns,    p->limit_ns,	 p->reports_ok,
		p->soft_errors, p->losses_ok,  p->strict_order,	 p->fec_safe,
		p->keyed,	p->turns,      p->doze,		 p->poll_ns,
		p->tick_ns,	p->notice_ns,  p->cfg.topo.ndev,
	};

	for (size_t i = 0; i < RL_ARRAY_SIZE(of); i++)
		for (unsigned int bit = 0; bit < 64; bit += 8)
			h = (h ^ (uint8_t)(of[i] >> bit)) * 16777619u;
	return h;
}

static void
a_seed_draws_the_plan_that_it_always_drew(void **state)
{
	static struct rl_swarm_plan plan;
	struct rl_swarm_shares shares;
	char err[RL_ERR_MAX];
	unsigned int others = 0;

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(drawn); i++) {
		const uint64_t seeds = drawn[i].seeds == 0 ? SEEDS
							   : drawn[i].seeds;
		uint32_t h = 2166136261u;

		assert_int_equal(rl_swarm_wide_parse(drawn[i].wide, &shares),
				 0);
		for (uint64_t seed = 1; seed <= seeds; seed++) {
			assert_int_equal(rl_swarm_plan_draw(&plan, seed, err),
					 0);
			assert_int_equal(
				rl_swarm_plan_widen(&plan, seed, &shares), 0);
			h = digest_of(h, rl_swarm_case_fabric(&plan));
			h = digest_of(h, rl_swarm_case_faults(&plan));
			h = digest_of_limits(h, &plan);
			rl_swarm_plan_free(&plan);
		}
		if (h == drawn[i].digest)
			continue;
		others++;
		print_error("{ \"%s\", 0x%08x, %u },\n", drawn[i].wide, h,
			    (unsigned int)drawn[i].seeds);
	}
	assert_int_equal(others, 0);
}

/* A drop that the plan does not explain is a failure, and one that it does is
   none; of packets without a path the judge of reports speaks first. */
static const struct {
	enum rl_drop_reason why;
	const char *fabric, *faults, *set;
	bool good;
} drop[] = {
	{ RL_DROP_MARKED, "", "2us poison s0 rate=0.3\n", "soft_errors=1",
	  true },
	{ RL_DROP_MARKED, "", "2us poison s0 rate=0.3\n", "reports_ok=1",
	  false },
	{ RL_DROP_NO_PATH, "endpoint: { retry = false; };", "5us cut s0-s1\n",
	  "reports_ok=1", true },
	{ RL_DROP_LOOPBACK_NONE, "link: { loopback = \"none\"; };",
	  "5us cut s0-s1\n", "reports_ok=1", true },
	{ RL_DROP_UNCORRECTABLE, "link: { retry = false; };",
	  "2us noise s0-s1 corrupt=0.3\n", "reports_ok=1", true },
};

static void
drops_are_explained_by_the_plan_or_fail(void **state)
{
	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(drop); i++) {
		static struct rl_swarm_plan plan;
		struct rl_swarm_verdict v;
		char text[2][1024], err[RL_ERR_MAX + 1024], said[64];
		bool run;

		snprintf(text[0], sizeof(text[0]),
			 "fabric: { topology = \"mesh\"; dims = [2]; };\n%s\n",
			 drop[i].fabric);
		snprintf(text[1], sizeof(text[1]),
			 "run seed=7 load=0.3 max_flits=4 stop_ns=20000 "
			 "heal_ns=4000000 limit_ns=2000000000 fec_safe=1\n"
			 "run losses_ok=1 %s\n%s",
			 drop[i].set, drop[i].faults);
		memset(&plan, 0, sizeof(plan));
		if (rl_config_read_text("f", text[0], strlen(text[0]),
					&plan.cfg, err, sizeof(err)) != 0 ||
		    rl_swarm_case_text("c", text[1], strlen(text[1]), &plan,
				       &run, err, sizeof(err)) != 0)
			fail_msg("%s", err);
		if (rl_route_setup(&plan.cfg.topo, plan.cfg.engine,
				   rl_min_u32(plan.cfg.vls, plan.cfg.link.vcs),
				   rl_config_levels(&plan.cfg), &plan.route,
				   err) != 0)
			fail_msg("%s", err);
		plan.load.nep = (uint16_t)plan.cfg.topo.nep;
		assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
		snprintf(said, sizeof(said), "packets dropped: %s",
			 rl_drop_reason_name(drop[i].why));
		if (v.sim.drops[drop[i].why] == 0 ||
		    (strstr(v.why, said) == NULL) != drop[i].good)
			fail_msg("row %zu: %llu dropped; %s", i,
				 (unsigned long long)v.sim.drops[drop[i].why],
				 v.why);
		free_read(&plan);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_drawn_plan_is_the_same_run_when_read_back),
		cmocka_unit_test(so_is_a_wide_one),
		cmocka_unit_test(a_seed_draws_the_plan_that_it_always_drew),
		cmocka_unit_test(drops_are_explained_by_the_plan_or_fail),
		cmocka_unit_test(a_bad_run_line_is_refused_with_its_reason),
		cmocka_unit_test(
			the_first_run_line_forgets_what_was_set_before),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
