/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Shares of senders whose packets all go to one endpoint [SW-6]: none gets less
 * because it is far away, whether a link is full or the receiver. Jain's index
 * is 1 if all shares are equal.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_swarm_plan.h"

#define MS RL_NS_PER_MS
#define US RL_NS_PER_US
#define EPS_MAX 64

static struct rl_swarm_plan plan;
static struct rl_sim_flow flow[EPS_MAX * EPS_MAX];

static void
begin(const char *text, double load, uint32_t max_flits, uint64_t run_ns)
{
	struct rl_swarm_plan *const p = &plan;
	char err[1024];

	memset(p, 0, sizeof(*p));
	assert_int_equal(rl_config_read_text("drawn", text, strlen(text),
					     &p->cfg, err, sizeof(err)), 0);
	assert_int_equal(rl_route_setup(&p->cfg.topo, NULL, 8,
					rl_config_levels(&p->cfg), &p->route,
					err), 0);
	rl_sim_wire_defaults(&p->wire);
	p->seed = 1;
	p->turns = true;
	p->notice_ns = 1000;
	p->load = (struct rl_sim_load_cfg){
		.pattern = { .kind = RL_PATTERN_INCAST },
		.load = load,
		.slot_ps = p->wire.flit_ps,
		.min_flits = max_flits,
		.max_flits = max_flits,
		.cos = 1,
		.seed = 1,
		.stop_ns = RL_NEVER,
		.nep = (uint16_t)p->cfg.topo.nep,
	};
	p->heal_ns = run_ns;
	p->limit_ns = run_ns; /* shares are those of this time */
}

/* Packets of each sender, to the one that gets any. */
static uint32_t
run(uint64_t got[EPS_MAX])
{
	const uint32_t nep = plan.cfg.topo.nep;
	struct rl_swarm_verdict v;
	struct rl_sim_mem mem;
	uint32_t n = 0;

	memset(flow, 0, sizeof(flow));
	plan.load.flow = flow;
	assert_int_equal(rl_sim_mem_init(&mem), 0);
	assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
	rl_sim_mem_free(&mem);
	assert_int_equal(v.load.duplicated + v.load.reordered, 0);
	assert_int_equal(v.load.corrupted + v.load.reported, 0);
	for (uint32_t d = 0; d < nep && n == 0; d++)
		for (uint32_t s = 0, any = 0; s < nep; s++) {
			any += flow[s * nep + d].packets != 0;
			if (s != d)
				got[s < d ? s : s - 1] =
					flow[s * nep + d].packets;
			if (s + 1 == nep && any != 0)
				n = nep - 1;
		}
	rl_route_free(plan.route);
	rl_config_free(&plan.cfg);
	return n;
}

/* The smallest share, of the mean; *jain is set to Jain's index. */
static double
shares(const char *what, const uint64_t got[], uint32_t n, double *jain)
{
	double sum = 0, squares = 0, least = 1e30;

	for (uint32_t i = 0; i < n; i++) {
		const double x = (double)got[i];

		sum += x;
		squares += x * x;
		least = x < least ? x : least;
	}
	*jain = squares > 0 ? sum * sum / (n * squares) : 0;
	least = sum > 0 ? least * n / sum : 0;
	print_message("%s: %.0f packets, the slowest sender %.3f of its share, "
		      "Jain's index %.3f\n", what, sum, least, *jain);
	return least;
}

/* The plan that was begun. */
static void
judge(const char *what, double least, double index)
{
	uint64_t got[EPS_MAX];
	double jain;
	const uint32_t n = run(got);

	assert_int_equal(n, plan.load.nep - 1);
	assert_true(shares(what, got, n, &jain) > least);
	assert_true(jain > index);
}

static void
all_to_one(const char *what, const char *text, double least, double index)
{
	begin(text, 1.0, 8, MS / 2);
	judge(what, least, index);
}

#define FIXED "congestion = \"none\"; "

/*
 * Each switch merges what comes along with its own. With a window of 256 a
 * sender at the far end cannot quite fill its share.
 */
static void
senders_far_and_near_get_equal_shares_of_a_full_link(void **state)
{
	(void)state;
	all_to_one("chain of 8",
		   "fabric: { topology = \"mesh\"; dims = [8]; };\n"
		   "endpoint: { " FIXED "window_flits = 256; };\n", 0.85, 0.99);
	all_to_one("the same, window 511",
		   "fabric: { topology = \"mesh\"; dims = [8]; };\n"
		   "endpoint: { " FIXED "window_flits = 511; };\n", 0.97,
		   0.999);
	all_to_one("incast of 31",
		   "fabric: { topology = \"mesh\"; dims = [8, 4]; };\n"
		   "endpoint: { " FIXED "window_flits = 256; };\n", 0.85, 0.99);
}

#define DELAY "congestion = \"delay\"; "

/* Windows by congestion [EP-9] take nothing from the far ones. */
static void
windows_by_congestion_leave_equal_shares(void **state)
{
	(void)state;
	all_to_one("chain of 8, congestion",
		   "fabric: { topology = \"mesh\"; dims = [8]; };\n"
		   "endpoint: { " DELAY "window_flits = 256; };\n", 0.85, 0.99);
	all_to_one("the same, window 511",
		   "fabric: { topology = \"mesh\"; dims = [8]; };\n"
		   "endpoint: { " DELAY "window_flits = 511; };\n", 0.95,
		   0.997);
	all_to_one("incast of 31, congestion",
		   "fabric: { topology = \"mesh\"; dims = [8, 4]; };\n"
		   "endpoint: { " DELAY "window_flits = 256; };\n", 0.9, 0.99);
}

/* Congestion and window as they are shipped. */
static void
the_defaults_leave_equal_shares_of_an_incast(void **state)
{
	(void)state;
	begin("fabric: { topology = \"mesh\"; dims = [8, 4]; };\n", 1.0, 8,
	      MS / 2);
	assert_int_equal(plan.cfg.endpoint.congestion, RL_CONGESTION_DELAY);
	assert_int_equal(plan.cfg.endpoint.window_flits, 4095);
	judge("incast of 31, defaults", 0.95, 0.99);
}

/*
 * What gets out by the adaptive plane counts for its sender, too: those behind it
 * have left the plane, and have the tables' queues alone.
 */
static void
an_adaptive_plane_leaves_equal_shares_of_an_incast(void **state)
{
	(void)state;
	begin("fabric: { topology = \"dragonfly\"; a = 4; p = 1; h = 2; };\n"
	      "routing: { adaptive = true; };\n", 1.0, 8, MS / 4);
	judge("dragonfly, incast of 35, adaptive", 0.9, 0.99);
}

/** A chain of switches with an endpoint at each end, as shipped. */
static void
chain_of(char *text, size_t size, unsigned int links)
{
	size_t n = (size_t)snprintf(
		text, size,
		"fabric: { topology = \"custom\"; endpoints = "
		"( { name = \"e0\"; }, { name = \"e1\"; } ); switches = ( ");

	for (unsigned int i = 0; i <= links; i++)
		n += (size_t)snprintf(text + n, size - n,
				      "%s{ name = \"s%u\"; }",
				      i == 0 ? "" : ", ", i);
	n += (size_t)snprintf(text + n, size - n,
			      " ); links = ( { a = \"e0\"; b = \"s0\"; }, "
			      "{ a = \"e1\"; b = \"s%u\"; }", links);
	for (unsigned int i = 0; i < links; i++)
		n += (size_t)snprintf(text + n, size - n,
				      ", { a = \"s%u\"; b = \"s%u\"; }", i,
				      i + 1);
	n += (size_t)snprintf(text + n, size - n, " ); };\n");
	assert_true(n < size);
}

static void
a_lone_flow_fills_its_link_over_any_number_of_hops(void **state)
{
	const uint64_t run_ns = MS / 2;

	(void)state;
	for (unsigned int links = 2; links <= 8; links += 2) {
		uint64_t got[EPS_MAX];
		char text[4096];
		double part;

		chain_of(text, sizeof(text), links);
		begin(text, 1.0, 8, run_ns);
		assert_int_equal(run(got), 1);
		part = (double)got[0] * 8 * 2 / (double)run_ns; /* 2 ns a flit */
		print_message("%u links: %.3f of the link\n", links, part);
		assert_true(part > 0.95);
	}
}

/* The receiver has little room, and takes little. */
static void
slow_receiver(const char *what, const char *text, uint64_t run_ns)
{
	uint64_t got[EPS_MAX];
	double jain;
	uint32_t n;

	begin(text, 0.5, 4, run_ns);
	plan.load.slow_ns = 20 * US;
	plan.load.take_ns = 100;
	n = run(got);
	assert_int_equal(n, 7);
	assert_true(shares(what, got, n, &jain) > 0.8);
	assert_true(jain > 0.98);
}

static void
a_full_receiver_serves_next_what_it_refused_longest_ago(void **state)
{
	(void)state;
	slow_receiver("star, room for one packet",
		      "fabric: { topology = \"mesh\"; dims = [1, 1]; "
		      "hosts_per_switch = 8; };\n"
		      "link: { max_packet_flits = 4; };\n"
		      "endpoint: { rx_buffer_flits = 4; };\n", 5 * MS);
	slow_receiver("chain, room for one packet",
		      "fabric: { topology = \"mesh\"; dims = [8]; };\n"
		      "link: { max_packet_flits = 4; };\n"
		      "endpoint: { rx_buffer_flits = 4; };\n", 5 * MS);
	slow_receiver("chain, room for 64 packets",
		      "fabric: { topology = \"mesh\"; dims = [8]; };\n"
		      "endpoint: { rx_buffer_flits = 256; };\n", 5 * MS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			senders_far_and_near_get_equal_shares_of_a_full_link),
		cmocka_unit_test(windows_by_congestion_leave_equal_shares),
		cmocka_unit_test(the_defaults_leave_equal_shares_of_an_incast),
		cmocka_unit_test(
			an_adaptive_plane_leaves_equal_shares_of_an_incast),
		cmocka_unit_test(
			a_lone_flow_fills_its_link_over_any_number_of_hops),
		cmocka_unit_test(
			a_full_receiver_serves_next_what_it_refused_longest_ago),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
