/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults of a wire, and that they end: seen at its two ends, while only
 * keepalives pass. Which devices are connected meanwhile.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../figure1.h"
#include "rl_route.h"
#include "rl_sim.h"

#define US RL_NS_PER_US

/* Each end sends a frame every microsecond, and draws no conclusions. */
#define SIGNS_OF_LIFE                                                          \
	"link: { keepalive_ns = 1000; keepalive_dead_ns = 0;\n"                \
	"  detect_phy = false; error_window_ns = 0; };\n"
static const char figure1[] = FIGURE1_FABRIC SIGNS_OF_LIFE;
/* A switch more, and an endpoint behind it. */
static const char chain[] =
	"fabric: { topology = \"mesh\"; dims = [3]; };\n" SIGNS_OF_LIFE;

struct wire {
	struct rl_config cfg;
	struct rl_route *route;
	struct rl_sim_mem mem;
	struct rl_sim_faults faults;
	struct rl_sim *sim;
	const uint64_t *from; /* counters of the port at s0 */
	const uint64_t *to;   /* and at s1 */
};

static const uint64_t *
counters(struct wire *w, uint32_t link, unsigned int end)
{
	const struct rl_topo_link *l = &w->cfg.topo.link[link];
	struct rl_fabric *f = rl_sim_fabric(w->sim);

	return rl_port_counters(f->dev[l->dev[end]].port[l->port[end]].port);
}

/* The links have trained; the faults come at 100 us or later. */
static void
begin_with(struct wire *w, const char *fabric, uint64_t latency_ns,
	   const char *faults)
{
	struct rl_sim_params p = {
		.mem = &w->mem, .cfg = &w->cfg, .seed = 1, .tick_ns = 1,
		.isa = rl_codec_best_isa(512),
	};
	char err[1024];
	int32_t link;

	memset(w, 0, sizeof(*w));
	if (rl_config_read_text("f", fabric, strlen(fabric), &w->cfg, err,
				sizeof(err)) != 0 ||
	    rl_route_setup(&w->cfg.topo, NULL, 8, 1, &w->route, err) != 0 ||
	    rl_sim_faults_text("f", faults, strlen(faults), &w->cfg.topo, NULL,
			       &w->faults, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	assert_int_equal(rl_sim_mem_init(&w->mem), 0);
	rl_sim_wire_defaults(&p.wire);
	p.wire.latency_ns = latency_ns;
	p.fwd = w->route->fwd;
	assert_int_equal(rl_sim_create(&p, &w->sim, err), 0);
	assert_int_equal(rl_sim_schedule(w->sim, &w->faults), 0);
	link = rl_topo_find_link(&w->cfg.topo, fabric == chain ? "s0-s1"
							     : "s0-s1#0",
				 NULL);
	assert_true(link >= 0);
	w->from = counters(w, (uint32_t)link, 0);
	w->to = counters(w, (uint32_t)link, 1);
	rl_sim_run(w->sim, 100 * US);
	assert_true(w->to[RL_PC_rx_frames] > 20);
}

static void
begin(struct wire *w, uint64_t latency_ns, const char *faults)
{
	begin_with(w, figure1, latency_ns, faults);
}

static void
end(struct wire *w)
{
	char err[1024];

	assert_int_equal(rl_sim_destroy(w->sim, err), 0);
	rl_sim_mem_free(&w->mem);
	rl_sim_faults_free(&w->faults);
	rl_route_free(w->route);
	rl_config_free(&w->cfg);
}

/* Frames that arrive until then. */
static uint64_t
arrive(struct wire *w, uint64_t until_ns)
{
	const uint64_t before = w->to[RL_PC_rx_frames];

	rl_sim_run(w->sim, until_ns);
	return w->to[RL_PC_rx_frames] - before;
}

static struct rl_sim_stats
stats(const struct wire *w)
{
	struct rl_sim_stats s;

	rl_sim_stats(w->sim, &s);
	return s;
}

static void
a_dark_wire_carries_nothing_and_a_healed_one_does(void **state)
{
	struct wire w;

	(void)state;
	begin(&w, 100, "100us cut s0-s1#0 silent\n150us heal s0-s1#0\n");
	rl_sim_run(w.sim, 101 * US);
	assert_int_equal(arrive(&w, 149 * US), 0);
	assert_true(stats(&w).frames_lost > 40);
	assert_true(arrive(&w, 200 * US) > 40);
	end(&w);
}

/* A frame with a corrupt header is refused, wherever it is corrupt. */
static void
every_frame_is_corrupted_at_a_rate_of_1(void **state)
{
	uint64_t refused, frames;
	struct wire w;

	(void)state;
	begin(&w, 100, "100us noise s0-s1#0 corrupt=1 hurt=header\n");
	rl_sim_run(w.sim, 101 * US);
	refused = w.to[RL_PC_rx_check_error] + w.to[RL_PC_rx_version_error] +
		  w.to[RL_PC_rx_count_error] + w.to[RL_PC_rx_truncated];
	frames = arrive(&w, 150 * US);
	assert_true(frames > 40);
	assert_int_equal(w.to[RL_PC_rx_check_error] +
				 w.to[RL_PC_rx_version_error] +
				 w.to[RL_PC_rx_count_error] +
				 w.to[RL_PC_rx_truncated] - refused,
			 frames);
	assert_true(stats(&w).frames_corrupt >= 2 * frames);
	end(&w);
}

static void
every_frame_comes_twice_at_a_rate_of_1(void **state)
{
	uint64_t sent, frames;
	struct wire w;

	(void)state;
	begin(&w, 100, "100us noise s0-s1#0 dup=1\n");
	rl_sim_run(w.sim, 101 * US);
	sent = w.from[RL_PC_tx_frames];
	frames = arrive(&w, 150 * US);
	sent = w.from[RL_PC_tx_frames] - sent;
	assert_true(sent > 40);
	assert_in_range(frames, 2 * sent - 2, 2 * sent + 2);
	assert_true(stats(&w).frames_dup >= sent);
	end(&w);
}

static void
noise_ends_when_it_is_healed(void **state)
{
	uint64_t lost;
	struct wire w;

	(void)state;
	begin(&w, 100, "100us noise s0-s1#0 loss=1\n150us heal s0-s1#0\n");
	rl_sim_run(w.sim, 101 * US);
	assert_int_equal(arrive(&w, 149 * US), 0);
	rl_sim_run(w.sim, 151 * US);
	lost = stats(&w).frames_lost;
	assert_true(lost > 40);
	assert_true(arrive(&w, 250 * US) > 80);
	assert_int_equal(stats(&w).frames_lost, lost);
	end(&w);
}

/* Packets under way wait as well; then all of them come, and none is lost. */
static void
during_a_stall_nothing_arrives(void **state)
{
	struct wire w;

	(void)state;
	begin(&w, 5000, "200us stall s0-s1#0 for=20us\n");
	rl_sim_run(w.sim, 200 * US);
	assert_int_equal(arrive(&w, 220 * US - 1), 0);
	assert_true(arrive(&w, 221 * US) >= 4);
	assert_int_equal(stats(&w).frames_lost, 0);
	end(&w);
}

/* Some of what is under way when a wire is cut comes after it is healed. */
static void
what_lingers_over_a_cut_comes_in_the_end(void **state)
{
	const uint64_t latency_ns = 20 * US;
	uint64_t late, sent, before;
	struct wire w;

	(void)state;
	begin(&w, latency_ns, "200us cut s0>s1#0 late silent\n"
			      "260us heal s0-s1#0\n");
	rl_sim_run(w.sim, 201 * US);
	late = stats(&w).frames_late;
	assert_in_range(late, 5, 20);
	assert_int_equal(arrive(&w, 259 * US), 0);
	before = w.to[RL_PC_rx_frames];
	rl_sim_run(w.sim, 260 * US);
	sent = w.from[RL_PC_tx_frames];
	rl_sim_run(w.sim, 600 * US - latency_ns);
	sent = w.from[RL_PC_tx_frames] - sent;
	rl_sim_run(w.sim, 600 * US);
	assert_in_range(w.to[RL_PC_rx_frames] - before, sent + late - 1,
			sent + late + 1);
	end(&w);
}

/* A crashed device restarts when all but lasting faults are healed. */
static void
what_crashed_for_a_while_is_back_and_what_crashed_for_good_is_not(void **state)
{
	struct rl_fault f = { .t_ns = 110 * US, .kind = RL_FAULT_CRASH,
				  .is_dev = true };
	struct rl_sim_faults more = { 0 };
	uint64_t trainings;
	struct wire w;

	(void)state;
	begin(&w, 100, "");
	for (uint32_t dev = 0; dev < 2; dev++) {
		f.dev = dev;
		f.lasting = dev == 1;
		assert_int_equal(rl_sim_fault_add(&more, &f), 0);
	}
	assert_int_equal(rl_sim_schedule(w.sim, &more), 0);
	rl_sim_faults_free(&more);
	rl_sim_run(w.sim, 120 * US);
	assert_true(rl_sim_dev_dead(w.sim, 0) && rl_sim_dev_dead(w.sim, 1));
	assert_int_equal(rl_sim_heal_most(w.sim), 0);
	assert_false(rl_sim_dev_dead(w.sim, 0));
	assert_true(rl_sim_dev_dead(w.sim, 1));
	rl_sim_heal_all(w.sim);
	assert_false(rl_sim_dev_dead(w.sim, 1));
	/* and its links train again */
	trainings = w.to[RL_PC_trainings];
	rl_sim_run(w.sim, 2 * RL_NS_PER_MS);
	assert_int_equal(w.to[RL_PC_trainings], trainings + 1);
	end(&w);
}

/* Since when, not since the last change; and a link by order down is none. */
static void
ends_are_connected_while_one_link_between_them_is_whole(void **state)
{
	uint64_t since;
	struct wire w;

	(void)state;
	begin(&w, 100, "120us down s0-s1#0\n140us up s0-s1#0\n"
		       "160us down s0-s1\n180us up s0-s1#1\n");
	since = rl_sim_connected_since(w.sim, 0, 1);
	assert_true(since < 100 * US);
	rl_sim_run(w.sim, 130 * US);
	assert_int_equal(rl_sim_connected_since(w.sim, 0, 1), since);
	rl_sim_run(w.sim, 150 * US);
	assert_int_equal(rl_sim_connected_since(w.sim, 0, 1), since);
	rl_sim_run(w.sim, 170 * US);
	assert_true(rl_sim_connected_since(w.sim, 0, 1) == RL_NEVER);
	rl_sim_run(w.sim, 190 * US);
	assert_int_equal(rl_sim_connected_since(w.sim, 0, 1), 180 * US);
	end(&w);
	/* nor since something happened to others */
	begin_with(&w, chain, 100, "120us cut s1-s2\n");
	since = rl_sim_connected_since(w.sim, 0, 1);
	rl_sim_run(w.sim, 130 * US);
	assert_int_equal(rl_sim_connected_since(w.sim, 0, 1), since);
	assert_true(rl_sim_connected_since(w.sim, 1, 2) == RL_NEVER);
	end(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_dark_wire_carries_nothing_and_a_healed_one_does),
		cmocka_unit_test(every_frame_is_corrupted_at_a_rate_of_1),
		cmocka_unit_test(every_frame_comes_twice_at_a_rate_of_1),
		cmocka_unit_test(noise_ends_when_it_is_healed),
		cmocka_unit_test(during_a_stall_nothing_arrives),
		cmocka_unit_test(what_lingers_over_a_cut_comes_in_the_end),
		cmocka_unit_test(
			what_crashed_for_a_while_is_back_and_what_crashed_for_good_is_not),
		cmocka_unit_test(
			ends_are_connected_while_one_link_between_them_is_whole),
	};

	return cmocka_run_group_tests_name("wires", tests, NULL, NULL);
}
