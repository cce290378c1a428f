/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A device's turn: its ports take what has come, its core is polled, its ports
 * send. What crosses a device, and what loops out of a dead link, does so in
 * one turn.
 */

#include "host.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

static struct host h;

static void
join(void)
{
	for (uint32_t d = 0; d < h.fabric.ndev; d++)
		for (uint16_t p = 0; p < h.fabric.dev[d].nports; p++)
			rl_role_join(&h.fabric.dev[d].core,
				     &h.fabric.dev[d].port[p]);
}

/* The same, and each port hands packets to its core, and takes them from it. */
static int
open_joined(void **state)
{
	host_set_up_started(state);
	join();
	return 0;
}

/* Two endpoints on each switch: between them go packets to both of a side. */
static int
open_joined_pairs(void **state)
{
	static const char pairs[] =
		"fabric: { topology = \"custom\";\n"
		"  switches = ( { name = \"s0\"; }, { name = \"s1\"; } );\n"
		"  endpoints = ( { name = \"e0\"; }, { name = \"e1\"; },\n"
		"    { name = \"e2\"; }, { name = \"e3\"; } );\n"
		"  links = ( { a = \"e0\"; b = \"s0\"; },\n"
		"    { a = \"e1\"; b = \"s1\"; },\n"
		"    { a = \"e2\"; b = \"s0\"; },\n"
		"    { a = \"e3\"; b = \"s1\"; },\n"
		"    { a = \"s0\"; b = \"s1\"; } ); };\n"
		"routing: { engine = \"updown\"; };\n";

	(void)state;
	host_open(&h, pairs);
	assert_int_equal(host_build(&h), 0);
	host_start(&h);
	join();
	return 0;
}

static void
turn(struct rl_device *d)
{
	for (uint16_t p = 0; p < d->nports; p++)
		rl_role_port_in(&d->port[p], h.now_ns);
	rl_role_core_poll(&d->core, h.now_ns);
	for (uint16_t p = 0; p < d->nports; p++)
		rl_role_port_out(&d->port[p], h.now_ns);
}

static void
run_turns(uint64_t ns)
{
	const uint64_t end_ns = h.now_ns + ns;

	for (; h.now_ns < end_ns; h.now_ns += US)
		for (uint32_t d = 0; d < h.fabric.ndev; d++)
			turn(&h.fabric.dev[d]);
}

static struct rl_device *
device(const char *name)
{
	return &h.fabric.dev[rl_topo_find_dev(&h.cfg.topo, name)];
}

static uint64_t
counter(const struct rl_role_port *r, enum rl_port_counter c)
{
	return rl_port_counters(r->port)[c];
}

static void
everything_has_come(void)
{
	for (unsigned int i = 0; i < 10000 && (h.client[0].got < 400 ||
					       h.client[1].got < 400);
	     i++)
		run_turns(10 * US);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(h.client[i].got, 400);
		assert_int_equal(h.client[i].wrong, 0);
	}
}

static void
a_flit_crosses_a_device_in_one_turn(void **state)
{
	struct rl_role_port *in = host_port(&h, "e0-s0", 1);
	struct rl_device *s0 = device("s0"), *e0 = device("e0");
	uint64_t out = 0;

	(void)state;
	h.client[0].to_send = 1;
	turn(e0);
	assert_int_equal(counter(in, RL_PC_rx_ok), 0);
	for (uint16_t p = 0; p < s0->nports; p++)
		out += counter(&s0->port[p], RL_PC_tx_flits);
	turn(s0);
	assert_true(counter(in, RL_PC_rx_ok) > 0);
	for (uint16_t p = 0; p < s0->nports; p++)
		out -= counter(&s0->port[p], RL_PC_tx_flits);
	assert_int_equal(-(int64_t)out, counter(in, RL_PC_rx_ok));
	h.client[0].to_send = h.client[1].to_send = 400;
	everything_has_come();
}

/* [DRL-1]: the death is found, and what was held is on its other way. */
static void
what_a_dead_link_held_leaves_in_the_turn_of_its_death(void **state)
{
	static const char *const links[] = { "s0-s1#0", "s0-s1#1" };
	struct rl_role_port *r[2];
	unsigned int dead;
	uint64_t before;

	(void)state;
	for (unsigned int k = 0; k < 2; k++)
		r[k] = host_port(&h, links[k], 0);
	h.client[0].to_send = h.client[1].to_send = 400;
	run_turns(20 * US);
	turn(device("e0"));
	turn(device("s0")); /* sent, and not acknowledged yet */
	dead = counter(r[1], RL_PC_tx_flits) != 0;
	assert_int_equal(counter(r[!dead], RL_PC_tx_flits), 0);
	assert_true(counter(r[dead], RL_PC_tx_flits) > 0);
	host_cut(&h, links[dead], true);
	before = counter(r[!dead], RL_PC_tx_flits);
	turn(device("s0"));
	assert_int_equal(counter(r[dead], RL_PC_deaths), 1);
	assert_true(counter(r[dead], RL_PC_looped_flits) > 0);
	assert_true(counter(r[!dead], RL_PC_tx_flits) > before);
	everything_has_come();
}

/* The core's fence comes while the port sends: that ends the loopback. */
static void
a_loopback_ends_in_the_turn_in_which_the_fence_comes(void **state)
{
	struct rl_role_port *r = host_port(&h, "s0-s1#0", 0);

	(void)state;
	rl_role_port_order(r, RL_ORDER_DOWN);
	turn(device("s0"));
	assert_int_equal(rl_port_state(r->port), RL_LINK_OFF);
}

/* Or the control thread would take the fabric to be at rest. */
static void
a_port_that_handed_something_on_in_this_turn_is_not_idle(void **state)
{
	struct rl_role_port *in = host_port(&h, "e0-s0", 1);

	(void)state;
	h.client[0].to_send = 1;
	turn(device("e0"));
	turn(device("s0"));
	assert_true(counter(in, RL_PC_rx_ok) > 0);
	assert_int_equal(atomic_load(&in->idle), 0);
	run_turns(MS);
	assert_int_equal(h.client[1].got, 1);
	assert_int_equal(atomic_load(&in->idle), 1);
}

/* And their credits return. */
static void
packets_of_one_flit_cross_in_rows(void **state)
{
	struct rl_role_port *in = host_port(&h, "e0-s0", 1);
	struct rl_port_info info;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		h.client[i].small = true;
		h.client[i].to_send = 3000;
	}
	for (unsigned int i = 0; i < 10000 && (h.client[0].got < 3000 ||
					       h.client[1].got < 3000);
	     i++)
		run_turns(10 * US);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(h.client[i].got, 3000);
		assert_int_equal(h.client[i].wrong, 0);
	}
	rl_port_info(in->port, &info);
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		assert_int_equal(info.buffered[vc], 0);
}

static uint32_t
least_got(void)
{
	uint32_t n = UINT32_MAX;

	for (unsigned int i = 0; i < 4; i++)
		n = rl_min_u32(n, h.client[i].got);
	return n;
}

/*
 * Those of one VC that come side by side. An endpoint sends back what is not
 * its own, so that it would arrive all the same, by a detour.
 */
static void
packets_of_one_flit_go_to_their_own_endpoint_alone(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		h.client[i].small = true;
		h.client[i].to_send = 1000;
	}
	for (unsigned int i = 0; i < 10000 && least_got() < 1000; i++)
		run_turns(10 * US);
	for (unsigned int i = 0; i < 4; i++) {
		const struct rl_device *e =
			&h.fabric.dev[h.cfg.topo.ep_dev[i]];
		const uint64_t *c = rl_core_counters(e->core.core);

		assert_int_equal(h.client[i].got, 1000);
		assert_int_equal(h.client[i].wrong, 0);
		assert_int_equal(c[RL_CC_reflected_packets], 0);
		assert_int_equal(c[RL_CC_drop_misroute], 0);
	}
}

/* The first two next hops of every destination change places. */
static void
tables_swap(const struct rl_fwd *from, struct rl_fwd *to,
	    struct rl_fwd_entry *e)
{
	*to = *from;
	for (unsigned int p = 0; p < from->nplanes; p++)
		for (uint16_t d = 0; d < from->ndst; d++) {
			struct rl_fwd_entry *const at = &e[p * from->ndst + d];
			struct rl_fwd_hop first;

			*at = rl_fwd_lookup(from, p, d);
			first = at->hop[0];
			if (at->hop[1].port == RL_FWD_PORT_NONE)
				continue;
			at->hop[0] = at->hop[1];
			at->hop[1] = first;
		}
	rl_fwd_entries(to, e);
}

/* The cached ways belong to the old tables. */
static void
by_new_tables_packets_go_their_new_way_at_once(void **state)
{
	static struct rl_fwd_entry entry[RL_FWD_PLANES * 64];
	static struct rl_fwd fwd;
	struct rl_device *s0 = device("s0");
	struct rl_role_port *r[2];
	uint64_t before[2];
	unsigned int old;

	(void)state;
	r[0] = host_port(&h, "s0-s1#0", 0);
	r[1] = host_port(&h, "s0-s1#1", 0);
	h.client[0].to_send = 40;
	run_turns(MS);
	old = counter(r[1], RL_PC_tx_flits) != 0;
	assert_int_equal(counter(r[!old], RL_PC_tx_flits), 0);
	assert_true(s0->core.core != NULL);
	tables_swap(&h.route->fwd[s0 - h.fabric.dev], &fwd, entry);
	rl_core_set_fwd(s0->core.core, &fwd);
	for (unsigned int k = 0; k < 2; k++)
		before[k] = counter(r[k], RL_PC_tx_flits);
	h.client[0].to_send = 400;
	for (unsigned int i = 0; i < 10000 && h.client[1].got < 400; i++)
		run_turns(10 * US);
	assert_int_equal(h.client[1].got, 400);
	assert_int_equal(h.client[1].wrong, 0);
	assert_int_equal(counter(r[old], RL_PC_tx_flits), before[old]);
	assert_true(counter(r[!old], RL_PC_tx_flits) > before[!old]);
}

/* A device that is made again is joined as it was before. */
static void
a_joined_device_that_is_made_again_is_joined(void **state)
{
	const uint32_t d = rl_topo_find_dev(&h.cfg.topo, "s0");
	struct rl_device *s0 = &h.fabric.dev[d];
	uint32_t queued = 0;

	(void)state;
	rl_fabric_dev_flush(&h.fabric, d);
	rl_fabric_dev_restart(&h.fabric, d, &h.route->fwd[d]);
	for (uint16_t p = 0; p < s0->nports; p++)
		rl_port_start(s0->port[p].port, h.now_ns);
	for (uint16_t p = 0; p < s0->nports; p++) {
		s0->port[p].rx.put = s0->port[p].tx.put = NULL;
		s0->core.tx[p].put = NULL;
	}
	run_turns(2 * MS);
	h.client[0].to_send = 1;
	run_turns(MS);
	assert_int_equal(h.client[1].got, 1);
	for (uint16_t p = 0; p < s0->nports; p++) /* nothing was queued */
		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			queued += rl_shared_read(
				&s0->port_params[p].shared->taken[vc]);
	assert_int_equal(queued, 0);
	h.client[0].to_send = h.client[1].to_send = 400;
	everything_has_come();
}

/* [PHY-1] What a kernel sends costs a system call a burst. */
static void
if_bursts_cost_system_calls_more_frames_go_in_one(void **state)
{
	struct rl_role_port *r = host_port(&h, "e0-s0", 0);
	const struct host_end *end = r->phy.ctx;

	(void)state;
	h.client[0].to_send = h.client[1].to_send = 400;
	everything_has_come();
	assert_int_equal(end->tx->longest, 8);
	r->phy.syscalls = true;
	h.client[0].sent = h.client[0].got = 0;
	h.client[1].sent = h.client[1].got = 0;
	everything_has_come();
	assert_true(end->tx->longest > 16);
}

int
main(void)
{
#define JOINED(name)                                                            \
	{ "joined: " #name, name, open_joined, host_tear_down, &h }
#define CASE(name)                                                              \
	cmocka_unit_test_prestate_setup_teardown(name, host_set_up_started,     \
						 host_tear_down, &h)
	const struct CMUnitTest tests[] = {
		CASE(a_flit_crosses_a_device_in_one_turn),
		CASE(what_a_dead_link_held_leaves_in_the_turn_of_its_death),
		CASE(a_loopback_ends_in_the_turn_in_which_the_fence_comes),
		CASE(a_port_that_handed_something_on_in_this_turn_is_not_idle),
		JOINED(a_flit_crosses_a_device_in_one_turn),
		JOINED(what_a_dead_link_held_leaves_in_the_turn_of_its_death),
		JOINED(a_loopback_ends_in_the_turn_in_which_the_fence_comes),
		JOINED(a_port_that_handed_something_on_in_this_turn_is_not_idle),
		CASE(packets_of_one_flit_cross_in_rows),
		JOINED(packets_of_one_flit_cross_in_rows),
		{ "joined: packets_of_one_flit_go_to_their_own_endpoint_alone",
		  packets_of_one_flit_go_to_their_own_endpoint_alone,
		  open_joined_pairs, host_tear_down, &h },
		CASE(by_new_tables_packets_go_their_new_way_at_once),
		JOINED(by_new_tables_packets_go_their_new_way_at_once),
		JOINED(a_joined_device_that_is_made_again_is_joined),
		CASE(if_bursts_cost_system_calls_more_frames_go_in_one),
	};

	return cmocka_run_group_tests_name("turn", tests, NULL, NULL);
}
