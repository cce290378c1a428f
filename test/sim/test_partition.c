/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A fabric that is cut in two, or of which many endpoints are cut off [DRL-11,
 * EP-6]: flows whose ends are still connected keep 0.95 of what they had, and
 * none is silent for 5 ms, whatever the controller does. What is cut off is
 * delivered or reported.
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
#define CUT_NS (100 * US)
#define RUN_NS (1500 * US)
#define EPS_MAX 64

static struct rl_swarm_plan plan;
static bool cut_off[EPS_MAX]; /* endpoints on the other side of the cut */
static struct rl_sim_flow flow[EPS_MAX * EPS_MAX];

static const char mesh[] =
	"fabric: { topology = \"mesh\"; dims = [4, 4]; };\n"
	"endpoint: { tx_buffer_flits = 1024; give_up_ns = 100000000; };\n";
static const char star[] =
	"fabric: { topology = \"mesh\"; dims = [1, 1]; hosts_per_switch = 24; };\n"
	"endpoint: { give_up_ns = 100000000; };\n";

static void
begin(const char *text, double load, bool controller)
{
	struct rl_swarm_plan *const p = &plan;
	char err[1024];

	memset(p, 0, sizeof(*p));
	memset(cut_off, 0, sizeof(cut_off));
	assert_int_equal(rl_config_read_text("drawn", text, strlen(text),
					     &p->cfg, err, sizeof(err)), 0);
	assert_int_equal(rl_route_setup(&p->cfg.topo, NULL, 8, 1, &p->route,
					err), 0);
	rl_sim_wire_defaults(&p->wire);
	p->seed = 1;
	p->notice_ns = 1000;
	p->controller = controller;
	p->reports_ok = true;
	p->resil.delay_ns = 10000;
	p->resil.compute_ns = 500 * US;
	p->load = (struct rl_sim_load_cfg){
		.pattern = { .kind = RL_PATTERN_UNIFORM },
		.load = load,
		.slot_ps = p->wire.flit_ps,
		.min_flits = 1,
		.max_flits = 8,
		.cos = 1,
		.seed = 1,
		.stop_ns = RUN_NS,
		.nep = (uint16_t)p->cfg.topo.nep,
	};
	p->heal_ns = RUN_NS;
	p->limit_ns = 4 * RL_NS_PER_S;
}

static void
end(void)
{
	rl_route_free(plan.route);
	rl_sim_faults_free(&plan.faults);
	rl_config_free(&plan.cfg);
}

static void
cut(uint32_t link)
{
	const struct rl_fault f = {
		.t_ns = CUT_NS,
		.kind = RL_FAULT_CUT,
		.link = link,
		.dirs = RL_FAULT_DIR_BOTH,
		.lasting = true,
	};

	assert_int_equal(rl_sim_fault_add(&plan.faults, &f), 0);
}

/* The half of a mesh with the higher second coordinate, at once. */
static void
cut_in_two(void)
{
	const struct rl_topo *t = &plan.cfg.topo;

	for (uint32_t i = 0; i < t->nlink; i++) {
		const struct rl_topo_link *l = &t->link[i];

		if (l->kind == RL_LINK_ISL &&
		    (t->dev[l->dev[0]].coord[1] < 2) !=
			    (t->dev[l->dev[1]].coord[1] < 2))
			cut(i);
	}
	for (uint32_t e = 0; e < t->nep; e++) {
		const struct rl_topo_dev *d = &t->dev[t->ep_dev[e]];

		cut_off[e] = t->dev[d->port[0].peer_dev].coord[1] < 2;
	}
}

static void
cut_links_of_20(void)
{
	const struct rl_topo *t = &plan.cfg.topo;

	for (uint32_t e = 4; e < 24; e++) {
		cut_off[e] = true;
		cut(t->dev[t->ep_dev[e]].port[0].link);
	}
}

/* The controller is dead before, or takes longer than the run. */
static void
controller_dies(void)
{
	const struct rl_fault f = {
		.t_ns = CUT_NS / 2,
		.kind = RL_FAULT_CTL_CRASH,
		.lasting = true,
	};

	assert_int_equal(rl_sim_fault_add(&plan.faults, &f), 0);
}

/* Packets of flows whose ends stay connected, and the slowest of them. */
static uint64_t
run(bool star_shaped, uint64_t *slowest_ns)
{
	const uint32_t nep = plan.cfg.topo.nep;
	struct rl_swarm_verdict v;
	struct rl_sim_mem mem;
	uint64_t n = 0;

	memset(flow, 0, sizeof(flow));
	plan.load.flow = flow;
	assert_int_equal(rl_sim_mem_init(&mem), 0);
	assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
	rl_sim_mem_free(&mem);
	if (!v.ok)
		fail_msg("%s", v.why);
	assert_true(v.load.sent <= v.load.delivered + v.load.reported);
	*slowest_ns = 0;
	for (uint32_t s = 0; s < nep; s++)
		for (uint32_t d = 0; d < nep; d++) {
			const struct rl_sim_flow *f = &flow[s * nep + d];

			if (cut_off[s] != cut_off[d] ||
			    (star_shaped && cut_off[s]))
				continue;
			n += f->packets;
			*slowest_ns = rl_max_u64(*slowest_ns, f->max_ns);
		}
	return n;
}

/* Of a mesh without faults, where a controller, dead or late, changes nothing. */
static uint64_t mesh_whole, mesh_before;

/* The same traffic without the cut, then with it. */
static void
compare(const char *what, void (*cut_it)(void), void (*more)(void))
{
	const bool is_star = cut_it == cut_links_of_20;
	uint64_t whole = mesh_whole, before = mesh_before, parted, slowest;
	struct rl_sim_faults faults;

	cut_it();
	if (more != NULL)
		more();
	faults = plan.faults;
	if (is_star || whole == 0) {
		plan.faults = (struct rl_sim_faults){ 0 };
		whole = run(is_star, &before);
		plan.faults = faults;
	}
	if (!is_star) {
		mesh_whole = whole;
		mesh_before = before;
	}
	parted = run(is_star, &slowest);
	print_message("%s: %llu of %llu packets between those that stay "
		      "connected, the slowest after %llu us (before: %llu)\n",
		      what, (unsigned long long)parted,
		      (unsigned long long)whole,
		      (unsigned long long)(slowest / US),
		      (unsigned long long)(before / US));
	assert_true(parted >= whole * 95 / 100);
	assert_true(slowest < 5 * MS);
	end();
}

static void
halves_of_a_mesh_do_not_feel_that_they_are_parted(void **state)
{
	(void)state;
	begin(mesh, 0.05, true);
	compare("controller", cut_in_two, NULL);
}

static void
halves_of_a_mesh_go_on_while_their_controller_is_dead(void **state)
{
	(void)state;
	begin(mesh, 0.05, true);
	plan.cfg.controller.await_ns = 500 * MS;
	compare("dead", cut_in_two, controller_dies);
}

static void
halves_of_a_mesh_go_on_while_their_controller_is_late(void **state)
{
	(void)state;
	begin(mesh, 0.05, true);
	plan.cfg.controller.await_ns = 500 * MS;
	plan.cfg.controller.compute_ns = 1 * RL_NS_PER_S;
	plan.resil.compute_ns = 10 * MS;
	compare("late", cut_in_two, NULL);
}

static void
three_receivers_of_23_are_served_while_20_are_cut_off(void **state)
{
	(void)state;
	begin(star, 0.05, true);
	compare("star", cut_links_of_20, NULL);
}

static void
three_receivers_of_23_are_served_without_a_controller(void **state)
{
	(void)state;
	begin(star, 0.05, false);
	compare("star, no controller", cut_links_of_20, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(halves_of_a_mesh_do_not_feel_that_they_are_parted),
		cmocka_unit_test(
			halves_of_a_mesh_go_on_while_their_controller_is_dead),
		cmocka_unit_test(
			halves_of_a_mesh_go_on_while_their_controller_is_late),
		cmocka_unit_test(three_receivers_of_23_are_served_while_20_are_cut_off),
		cmocka_unit_test(
			three_receivers_of_23_are_served_without_a_controller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
