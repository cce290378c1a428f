/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Planned changes of a whole fabric under load [LINK-C33]: a link dies, the
 * clients are quiesced, new routes go into every switch and endpoint, traffic
 * goes on; the link returns, and the same again with the old routes. Every
 * endpoint sends to every other all the while. Nothing is lost, comes twice or
 * out of order; between quiescing and going on the fabric runs empty.
 */

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rl_swarm_plan.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

static const char mesh[] =
	"fabric: { topology = \"mesh\"; dims = [3, 3]; };\n"
	"link: { ack_delay_ns = 200; replay_timer_min_ns = 2000;\n"
	"  replay_timer_max_ns = 20000; init_interval_ns = 1000;\n"
	"  resume_delay_ns = 200; restore_delay_ns = 1000;\n"
	"  flap_damping_ns = 1000; flap_damping_max_ns = 1000;\n"
	"  window_flits = 64; credits_flits = 32; queue_flits = 32;\n"
	"  max_packet_flits = 8; %s };\n";

struct world {
	struct rl_config cfg;
	struct rl_sim_mem mem;
	struct rl_sim_load *load;
	struct rl_sim *sim;
	struct rl_route *route;	    /* with all links */
	struct rl_route *without;   /* without the one that dies */
};

static struct world w;

static void
on_client(void *ctx, uint32_t dev, uint16_t ep,
	  const struct rl_sim_seat *seat, struct rl_client *client)
{
	(void)ctx;
	(void)dev;
	rl_sim_load_client(w.load, ep, seat, client);
}

static void
open_world(const char *link, const char *extra)
{
	char err[1024], text[1024];
	struct rl_sim_load_cfg load = {
		.pattern = { .kind = RL_PATTERN_UNIFORM },
		.load = 0.2, .slot_ps = 2000, .min_flits = 1, .max_flits = 8,
		.cos = 2, .stop_ns = 600 * US, .seed = 3, .nep = 9,
	};
	struct rl_sim_params p = {
		.mem = &w.mem, .cfg = &w.cfg, .seed = 3, .tick_ns = 1,
		.isa = rl_codec_best_isa(512), .notice_ns = 1000,
		.check_packets = true, .client = on_client,
	};

	memset(&w, 0, sizeof(w));
	snprintf(text, sizeof(text), mesh, extra);
	assert_int_equal(rl_config_read_text("mesh", text, strlen(text),
					     &w.cfg, err, sizeof(err)), 0);
	assert_int_equal(rl_topo_fail(&w.cfg.topo, link, err), 0);
	assert_int_equal(rl_route_setup(&w.cfg.topo, NULL, 8, 1, &w.without,
					err), 0);
	for (uint32_t i = 0; i < w.cfg.topo.nlink; i++)
		w.cfg.topo.link[i].failed = false;
	assert_int_equal(rl_route_setup(&w.cfg.topo, NULL, 8, 1, &w.route,
					err), 0);
	assert_int_equal(rl_sim_mem_init(&w.mem), 0);
	w.load = rl_sim_load_new(&load);
	assert_non_null(w.load);
	rl_sim_wire_defaults(&p.wire);
	p.fwd = w.route->fwd;
	assert_int_equal(rl_sim_create(&p, &w.sim, err), 0);
}

static void
close_world(void)
{
	char err[RL_ERR_MAX] = "";

	assert_int_equal(rl_sim_destroy(w.sim, err), 0);
	rl_sim_load_free(w.load);
	rl_sim_mem_free(&w.mem);
	rl_route_free(w.route);
	rl_route_free(w.without);
	rl_config_free(&w.cfg);
}

static uint64_t
ep_counters(enum rl_ep_counter c)
{
	const struct rl_fabric *f = rl_sim_fabric(w.sim);
	uint64_t n = 0;

	for (uint32_t d = 0; d < f->ndev; d++)
		if (f->dev[d].core.ep != NULL)
			n += rl_ep_counters(f->dev[d].core.ep)[c];
	return n;
}

static void
quiesce(bool on)
{
	struct rl_fabric *f = rl_sim_fabric(w.sim);

	for (uint32_t d = 0; d < f->ndev; d++) {
		if (f->dev[d].core.ep == NULL)
			continue;
		rl_ep_quiesce(f->dev[d].core.ep, rl_sim_now(w.sim), on);
		rl_sim_wake_core(w.sim, d);
	}
}

static void
run_for(uint64_t ns)
{
	char err[RL_ERR_MAX];

	rl_sim_run(w.sim, rl_sim_now(w.sim) + ns);
	if (rl_sim_audit(w.sim, false, err) != 0)
		fail_msg("%s", err);
}

/* Quiesces, waits until nothing is under way, and changes every table. */
static void
change_routes(const struct rl_route *to)
{
	struct rl_fabric *f = rl_sim_fabric(w.sim);
	const uint64_t refused = ep_counters(RL_EPC_tx_refused_quiesce);
	struct rl_sim_load_stats st;
	char why[RL_ERR_MAX];
	uint64_t sent;

	quiesce(true);
	rl_sim_load_stats(w.load, &st);
	sent = st.sent;
	for (unsigned int i = 0; !rl_sim_settled(w.sim, 0, why); i++) {
		if (i == 100)
			fail_msg("the quiesced fabric does not run empty: %s",
				 why);
		run_for(5 * US);
	}
	rl_sim_load_stats(w.load, &st);
	assert_int_equal(st.sent, sent);
	assert_int_equal(st.delivered, sent);
	assert_true(ep_counters(RL_EPC_tx_refused_quiesce) > refused);
	for (uint32_t d = 0; d < f->ndev; d++)
		rl_core_set_fwd(f->dev[d].core.core, &to->fwd[d]);
	quiesce(false);
	run_for(30 * US);
	rl_sim_load_stats(w.load, &st);
	assert_true(st.sent > sent); /* and on it goes */
}

static void
fault(const char *text)
{
	struct rl_sim_faults list = { 0 };
	char line[64], err[RL_ERR_MAX + 512];

	snprintf(line, sizeof(line), "%lluns %s\n",
		 (unsigned long long)rl_sim_now(w.sim) + 1, text);
	assert_int_equal(rl_sim_faults_text("fault", line, strlen(line),
					     &w.cfg.topo, NULL, &list, err,
					     sizeof(err)), 0);
	assert_int_equal(rl_sim_schedule(w.sim, &list), 0);
	rl_sim_faults_free(&list);
}

/* Flits that crossed a link, both ways. */
static uint64_t
link_flits(const char *a, uint16_t port)
{
	const struct rl_fabric *f = rl_sim_fabric(w.sim);
	const int32_t d = rl_topo_find_dev(&w.cfg.topo, a);

	assert_true(d >= 0);
	return rl_port_counters(f->dev[d].port[port].port)[RL_PC_tx_flits];
}

/* The port of a device by which a link leaves it. */
static uint16_t
port_to(const char *a, const char *b)
{
	const int32_t d = rl_topo_find_dev(&w.cfg.topo, a);
	const int32_t e = rl_topo_find_dev(&w.cfg.topo, b);
	uint16_t p = 0;

	assert_true(d >= 0 && e >= 0);
	while (w.cfg.topo.dev[d].port[p].peer_dev != (uint32_t)e)
		p++;
	return p;
}

static void
finish(void)
{
	struct rl_sim_load_stats st;
	char why[RL_ERR_MAX];

	for (unsigned int i = 0; !rl_sim_load_done(w.load) ||
				 !rl_sim_settled(w.sim, RL_SIM_LINKS, why); i++) {
		if (i == 1000)
			fail_msg("not at rest: %s", why);
		run_for(20 * US);
	}
	if (rl_sim_audit(w.sim, true, why) != 0)
		fail_msg("%s", why);
	rl_sim_load_stats(w.load, &st);
	assert_true(st.sent > 3000);
	assert_int_equal(st.delivered, st.sent);
	assert_int_equal(st.lost, 0);
	assert_int_equal(st.reordered, 0);
	assert_int_equal(st.duplicated, 0);
	assert_int_equal(st.corrupted, 0);
	assert_int_equal(st.reported, 0);
}

static void
quiesce_new_routes_and_a_link_added_again(void **state)
{
	static const char *const extra[] = {
		"", "switching = \"cut-through\"; flits_per_frame = 2;",
		("detect_phy = false; keepalive_ns = 2000; "
		 "keepalive_dead_ns = 8000;"),
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(extra); i++) {
		uint64_t before;
		uint16_t port;

		open_world("s0.1-s1.1", extra[i]);
		port = port_to("s0.1", "s1.1");
		run_for(100 * US);
		assert_true(link_flits("s0.1", port) > 0);
		fault("cut s0.1-s1.1");
		run_for(7 * US + i); /* mostly before all has been looped out */
		change_routes(w.without);
		before = link_flits("s0.1", port);
		run_for(100 * US);
		fault("heal s0.1-s1.1");
		run_for(100 * US); /* trained again, and nothing asks for it */
		assert_int_equal(link_flits("s0.1", port), before);
		change_routes(w.route);
		run_for(50 * US);
		assert_true(link_flits("s0.1", port) > before);
		finish();
		close_world();
	}
}

/* A link is taken out on purpose and comes back: not one packet loops. */
static void
a_link_is_drained_routed_around_and_added_again(void **state)
{
	const struct rl_fabric *f;
	uint64_t looped = 0;

	(void)state;
	open_world("s1.1-s2.1", "");
	run_for(100 * US);
	fault("drain s1.1-s2.1");
	run_for(20 * US);
	change_routes(w.without);
	fault("up s1.1-s2.1");
	run_for(50 * US);
	change_routes(w.route);
	run_for(50 * US);
	assert_true(link_flits("s1.1", port_to("s1.1", "s2.1")) > 0);
	f = rl_sim_fabric(w.sim);
	for (uint32_t d = 0; d < f->ndev; d++)
		looped += rl_core_counters(
			f->dev[d].core.core)[RL_CC_looped_packets];
	assert_int_equal(looped, 0);
	finish();
	close_world();
}

#define CASE(name, fn) { name, fn, NULL, NULL, NULL }

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("LINK-C33 quiesce, new routes, and a link added again, "
		     "under load",
		     quiesce_new_routes_and_a_link_added_again),
		CASE("LINK-C33 a link is drained, routed around and added "
		     "again",
		     a_link_is_drained_routed_around_and_added_again),
	};

	return cmocka_run_group_tests_name("planned changes of a fabric",
					   tests, NULL, NULL);
}
