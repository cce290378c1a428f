/* SPDX-License-Identifier: BSD-3-Clause */
/* What a wide swarm draws, and what it keeps. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "rl_seq.h"
#include "rl_swarm_plan.h"

#define SEEDS 400

static void
draw(struct rl_swarm_plan *plan, uint64_t seed)
{
	char err[RL_ERR_MAX];

	assert_int_equal(rl_swarm_plan_draw(plan, seed, err), 0);
}

static void
dimensions_are_named_with_their_shares(void **state)
{
	static const char *const bad[] = {
		"", "nothing", "latency,", ",latency", "latency=",
		"latency=101", "latency=-1", "latency=1x", "latency 5", "all,vcs",
	};
	struct rl_swarm_shares s;

	(void)state;
	assert_int_equal(rl_swarm_wide_parse("all", &s), 0);
	for (unsigned int i = 0; i < RL_SWARM_WD_COUNT; i++)
		assert_int_equal(s.pct[i], i == RL_SWARM_WD_PATHS ? 5 : 25);
	assert_int_equal(rl_swarm_wide_parse("slow=100,vcs,latency=0", &s), 0);
	for (unsigned int i = 0; i < RL_SWARM_WD_COUNT; i++)
		assert_int_equal(s.pct[i], i == RL_SWARM_WD_SLOW  ? 100
					   : i == RL_SWARM_WD_VCS ? 25
								: 0);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(bad); i++)
		assert_int_equal(rl_swarm_wide_parse(bad[i], &s), -EINVAL);
}

static void
a_swarm_that_is_not_wide_is_the_plain_one(void **state)
{
	static struct rl_swarm_plan a, b;
	const struct rl_swarm_shares none = { { 0 } };

	(void)state;
	for (uint64_t seed = 1; seed < 50; seed++) {
		draw(&a, seed);
		draw(&b, seed);
		assert_int_equal(rl_swarm_plan_widen(&b, seed, &none), 0);
		assert_int_equal(b.wide, 0);
		assert_memory_equal(&a.cfg.link, &b.cfg.link, sizeof(a.cfg.link));
		assert_memory_equal(&a.load, &b.load, sizeof(a.load));
		assert_int_equal(a.faults.n, b.faults.n);
		rl_swarm_plan_free(&a);
		rl_swarm_plan_free(&b);
	}
}

/* The place of a dimension where the plain swarm has it never. */
static bool
beyond(const struct rl_swarm_plan *p, enum rl_swarm_wide dim)
{
	const struct rl_link_cfg *l = &p->cfg.link;
	const struct rl_ep_cfg *e = &p->cfg.endpoint;

	switch (dim) {
	case RL_SWARM_WD_VCS:
		return l->vcs < RL_VCS;
	case RL_SWARM_WD_WEIGHTS:
		return l->vc_weights[0] != 0;
	case RL_SWARM_WD_LONG:
		return p->load.max_flits > 32;
	case RL_SWARM_WD_WINDOW:
		return l->window_flits > 256 && l->credits_flits > 256;
	case RL_SWARM_WD_LATENCY:
		return p->wire.latency_ns < 10 || p->wire.latency_ns > 2000;
	case RL_SWARM_WD_LIMIT:
		return e->retry_limit != 0;
	case RL_SWARM_WD_BUFFERS:
		return e->tx_buffer_flits <= 512 && e->rx_buffer_flits <= 512;
	case RL_SWARM_WD_SLOW:
		return p->load.slow_ns != 0;
	case RL_SWARM_WD_COMPACT:
		return e->profile == RL_PROFILE_RXL_COMPACT;
	case RL_SWARM_WD_WIDE19:
		return e->isn == RL_ISN_WIDE19;
	case RL_SWARM_WD_KINDS:
		return p->load.by_kind;
	case RL_SWARM_WD_KEYED:
		return p->keyed;
	case RL_SWARM_WD_BUSY:
		return p->poll_jitter_ns > 2000;
	case RL_SWARM_WD_PATHS:
		return e->order == RL_ORDER_ENDPOINT;
	case RL_SWARM_WD_CONGESTION:
		return e->congestion == RL_CONGESTION_DELAY;
	case RL_SWARM_WD_DEVICE:
	case RL_SWARM_WD_PARTITION:
		return true; /* faults of the same kinds as others */
	case RL_SWARM_WD_REBORN:
		return rl_sim_faults_crash(&p->faults, &p->cfg.topo);
	case RL_SWARM_WD_COUNT:
		break;
	}
	return false;
}

static void
each_dimension_comes_up_in_its_share_and_plans_stay_sound(void **state)
{
	static struct rl_swarm_plan p;
	unsigned int seen[RL_SWARM_WD_COUNT] = { 0 }, large = 0;
	struct rl_swarm_shares all;
	char err[RL_ERR_MAX];
	const char *key;

	(void)state;
	assert_int_equal(rl_swarm_wide_parse("all", &all), 0);
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		draw(&p, seed);
		assert_int_equal(rl_swarm_plan_widen(&p, seed, &all), 0);
		for (unsigned int i = 0; i < RL_SWARM_WD_COUNT; i++) {
			seen[i] += p.wide >> i & 1;
			if (p.wide >> i & 1)
				assert_true(beyond(&p, (enum rl_swarm_wide)i));
		}
		large += p.cfg.endpoint.window_flits > RL_E2E_WINDOW_MAX &&
			 p.cfg.endpoint.congestion == RL_CONGESTION_DELAY;
		if (rl_link_cfg_check(&p.cfg.link, err, sizeof(err), &key) != 0 ||
		    rl_ep_cfg_check(&p.cfg.endpoint, err, sizeof(err), &key) != 0)
			fail_msg("seed %llu: %s", (unsigned long long)seed, err);
		rl_swarm_plan_free(&p);
	}
	assert_in_range(large, SEEDS / 100, SEEDS * 15 / 100);
	/* some go with few plans only */
	for (unsigned int i = 0; i < RL_SWARM_WD_COUNT; i++)
		assert_in_range(seen[i], SEEDS / 100, SEEDS * 35 / 100);
	assert_in_range(seen[RL_SWARM_WD_LATENCY], SEEDS * 15 / 100,
			SEEDS * 35 / 100);
}

/* Without its VL no packet would ever leave a source. */
static void
a_plane_keeps_its_vl(void **state)
{
	static const char text[] =
		"fabric: { topology = \"torus\"; dims = [3, 3]; };\n"
		"routing: { adaptive = true; };\n";
	static struct rl_swarm_plan p;
	struct rl_swarm_shares vcs;
	char err[1024];

	(void)state;
	assert_int_equal(rl_config_read_text("t", text, strlen(text), &p.cfg,
					     err, sizeof(err)), 0);
	assert_int_equal(rl_route_setup(&p.cfg.topo, NULL, RL_VCS,
					rl_config_levels(&p.cfg), &p.route,
					err), 0);
	assert_true(p.route->adapts);
	assert_int_equal(rl_swarm_wide_parse("vcs=100", &vcs), 0);
	assert_int_equal(rl_swarm_plan_widen(&p, 4, &vcs), 0);
	assert_int_equal(p.cfg.link.vcs, RL_VCS);
	rl_config_free(&p.cfg);
	rl_swarm_plan_free(&p);
}

/* Keepalives that come less often than the other end asks for. */
static void
a_healthy_link_that_dies_fails_the_run(void **state)
{
	static struct rl_swarm_plan p;
	struct rl_swarm_verdict v;
	struct rl_sim_mem mem;
	uint64_t seed = 1;

	(void)state;
	do {
		rl_swarm_plan_free(&p);
		draw(&p, seed++);
		p.faults.n = 0;
		p.doze = false;
	} while (p.controller || p.cfg.endpoint.retry == false);
	p.cfg.link.keepalive_ns = 20000;
	p.cfg.link.keepalive_dead_ns = 10000;
	p.limit_ns = p.heal_ns + RL_NS_PER_MS;
	assert_int_equal(rl_sim_mem_init(&mem), 0);
	assert_int_equal(rl_swarm_plan_run(&p, &mem, &v), 0);
	assert_false(v.ok);
	assert_non_null(strstr(v.why, "healthy"));
	p.cfg.link.keepalive_dead_ns = 0;
	assert_int_equal(rl_swarm_plan_run(&p, &mem, &v), 0);
	assert_true(v.ok);
	rl_sim_mem_free(&mem);
	rl_swarm_plan_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dimensions_are_named_with_their_shares),
		cmocka_unit_test(a_swarm_that_is_not_wide_is_the_plain_one),
		cmocka_unit_test(each_dimension_comes_up_in_its_share_and_plans_stay_sound),
		cmocka_unit_test(a_plane_keeps_its_vl),
		cmocka_unit_test(a_healthy_link_that_dies_fails_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
