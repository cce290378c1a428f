/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the parts of a fabric are built, at first and when a device restarts,
 * and what its roles promise to their host [SW-3].
 */
#include "host.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

static struct host h;

static void
build(void)
{
	assert_int_equal(host_build(&h), 0);
}

static uint32_t
dev_of(const char *name)
{
	const int32_t d = rl_topo_find_dev(&h.cfg.topo, name);

	assert_true(d >= 0);
	return (uint32_t)d;
}

static const struct rl_port_params *
params(uint32_t dev, uint16_t port)
{
	return &h.fabric.dev[dev].port_params[port];
}

/* So that a capture tells who sent a frame, and to whom. */
static void
every_port_has_an_address_of_its_own_and_knows_its_peer_s(void **state)
{
	(void)state;
	build();
	for (uint32_t l = 0; l < h.cfg.topo.nlink; l++) {
		const struct rl_topo_link *a = &h.cfg.topo.link[l];
		const uint8_t *ma = params(a->dev[0], a->port[0])->mac;
		const uint8_t *mb = params(a->dev[1], a->port[1])->mac;

		assert_memory_equal(ma, mb + 6, 6);
		assert_memory_equal(mb, ma + 6, 6);
		assert_memory_not_equal(ma, mb, 6);
		assert_int_equal(ma[0] & 3, 2); /* one station, local */
		for (uint32_t k = 0; k < l; k++) {
			const struct rl_topo_link *b = &h.cfg.topo.link[k];
			const uint8_t *mc = params(b->dev[0], b->port[0])->mac;

			assert_memory_not_equal(ma, mc, 6);
			assert_memory_not_equal(mb, mc, 6);
		}
	}
}

static void
every_port_draws_from_a_seed_of_its_own(void **state)
{
	uint64_t seen[32];
	unsigned int n = 0;

	(void)state;
	build();
	for (uint32_t d = 0; d < h.fabric.ndev; d++)
		for (uint16_t p = 0; p < h.fabric.dev[d].nports; p++) {
			seen[n] = params(d, p)->seed;
			for (unsigned int i = 0; i < n; i++)
				assert_true(seen[i] != seen[n]);
			n++;
		}
}

static void
a_port_is_set_as_its_link_is(void **state)
{
	const struct rl_topo_link *l;

	(void)state;
	host_close(&h);
	host_open(&h, HOST_FIGURE_1_FABRIC
		  "link: { window_flits = 256; };\n"
		  "link_settings = ( { links = \"s0-s1#1\"; "
		  "window_flits = 64; } );\n");
	build();
	for (uint32_t i = 0; i < h.cfg.topo.nlink; i++) {
		l = &h.cfg.topo.link[i];
		for (unsigned int e = 0; e < 2; e++)
			assert_int_equal(
				params(l->dev[e], l->port[e])->cfg->window_flits,
				i == (uint32_t)rl_topo_find_link(
					     &h.cfg.topo, "s0-s1#1", NULL)
					? 64
					: 256);
	}
}

static uint32_t
life(uint32_t dev)
{
	return h.fabric.dev[dev].ep_params.incarnation;
}

/* [EP-7] */
static void
each_life_of_an_endpoint_is_told_from_all_others(void **state)
{
	const uint32_t e0 = dev_of("e0"), e1 = dev_of("e1");
	uint32_t first[2][2], again;

	(void)state;
	build();
	assert_int_equal(life(e0), 0); /* no device restarts here */
	for (unsigned int process = 0; process < 2; process++) {
		host_close(&h);
		host_open(&h, HOST_FIGURE_1);
		h.ops.incarnation = 1000 + process;
		build();
		first[process][0] = life(e0);
		first[process][1] = life(e1);
		assert_int_not_equal(life(e0), 0);
		assert_int_not_equal(life(e0), life(e1));
		rl_fabric_dev_flush(&h.fabric, e0);
		rl_fabric_dev_restart(&h.fabric, e0, &h.route->fwd[e0]);
		again = life(e0);
		assert_int_not_equal(again, 0);
		assert_int_not_equal(again, first[process][0]);
		rl_fabric_dev_restart(&h.fabric, e0, &h.route->fwd[e0]);
		assert_int_not_equal(life(e0), again);
		assert_int_not_equal(life(e0), first[process][0]);
		assert_int_equal(life(e1), first[process][1]);
	}
	/* another process of the same seed is another */
	assert_int_not_equal(first[0][0], first[1][0]);
	/* and if devices may restart within one */
	host_close(&h);
	host_open(&h, HOST_FIGURE_1);
	h.ops.lives = true;
	build();
	assert_int_not_equal(life(e0), 0);
}

static bool
runs_half(void *ctx, uint32_t dev)
{
	(void)ctx;
	return dev == dev_of("s0") || dev == dev_of("e0");
}

static void
devices_of_another_process_lie_still(void **state)
{
	(void)state;
	h.ops.runs = runs_half;
	build();
	rl_fabric_start(&h.fabric, h.now_ns);
	for (uint32_t d = 0; d < h.fabric.ndev; d++) {
		assert_int_equal(h.fabric.dev[d].foreign, !runs_half(NULL, d));
		for (uint16_t p = 0; p < h.fabric.dev[d].nports; p++)
			assert_int_equal(
				rl_port_state(h.fabric.dev[d].port[p].port) ==
					RL_LINK_OFF,
				!runs_half(NULL, d));
	}
}

/* All state is lost, and its peers' data find the way by the new tables. */
static void
a_restarted_device_has_new_tables_and_no_old_orders(void **state)
{
	const uint32_t s0 = dev_of("s0");
	struct rl_device *d;
	struct rl_fwd fwd;

	(void)state;
	build();
	host_start(&h);
	d = &h.fabric.dev[s0];
	rl_fabric_dev_flush(&h.fabric, s0);
	for (uint16_t p = 0; p < d->nports; p++)
		rl_role_port_order(&d->port[p], RL_ORDER_DOWN);
	fwd = h.route->fwd[s0];
	rl_fabric_dev_restart(&h.fabric, s0, &fwd);
	assert_ptr_equal(d->core_params.fwd, &fwd);
	for (uint16_t p = 0; p < d->nports; p++) {
		assert_int_equal(rl_port_state(d->port[p].port), RL_LINK_OFF);
		assert_int_equal(atomic_load(&d->port[p].order),
				 RL_ORDER_NONE);
		rl_port_start(d->port[p].port, h.now_ns);
	}
	host_run(&h, 5 * MS);
	h.client[0].to_send = 50;
	host_finish(&h, 200 * MS);
	assert_int_equal(h.client[1].got, 50);
}

static void
a_restarted_endpoint_knows_nothing_of_its_former_life(void **state)
{
	const uint32_t e0 = dev_of("e0");
	struct rl_device *d;
	struct rl_fwd fwd;

	(void)state;
	build();
	host_start(&h);
	d = &h.fabric.dev[e0];
	host_cut(&h, "s0-s1#0", true);
	host_cut(&h, "s0-s1#1", true);
	h.client[0].to_send = 50;
	host_run(&h, MS);
	assert_true(rl_ep_counters(d->core.ep)[RL_EPC_tx_packets] > 0);
	assert_false(rl_ep_idle(d->core.ep));
	fwd = h.route->fwd[e0];
	fwd.levels++;
	rl_fabric_dev_flush(&h.fabric, e0);
	rl_fabric_dev_restart(&h.fabric, e0, &fwd);
	assert_true(rl_ep_idle(d->core.ep));
	for (unsigned int i = 0; i < RL_EP_COUNTER_COUNT; i++)
		assert_int_equal(rl_ep_counters(d->core.ep)[i], 0);
	assert_int_equal(d->ep_params.levels, h.route->fwd[e0].levels + 1);
	assert_ptr_equal(d->ep_params.path_sl, fwd.path_sl);
	assert_int_equal(d->life, 1);
}

/* The content of the first INIT of a port that starts now. */
static struct rl_frame_init
first_init(uint32_t dev)
{
	const struct rl_topo_port *tp = &h.cfg.topo.dev[dev].port[0];
	struct host_wire *w = &h.wire[2 * tp->link + tp->end];
	struct rl_role_port *r = &h.fabric.dev[dev].port[0];
	struct rl_frame_init init;

	w->head = w->tail;
	rl_port_start(r->port, h.now_ns);
	rl_role_port_poll(r, h.now_ns);
	assert_true(w->head != w->tail);
	rl_frame_init_get(w->frame[w->head % HOST_FRAMES], &init);
	return init;
}

/* Frames of a former life that linger are not taken for the new one's. */
static void
a_restarted_port_says_that_it_is_another(void **state)
{
	const uint32_t e0 = dev_of("e0");
	uint64_t seen[3];

	(void)state;
	host_close(&h);
	host_open(&h, HOST_FIGURE_1);
	h.ops.incarnation = 77;
	build();
	for (unsigned int i = 0; i < 3; i++) {
		seen[i] = first_init(e0).incarnation;
		assert_true(seen[i] != 0);
		for (unsigned int k = 0; k < i; k++)
			assert_true(seen[i] != seen[k]);
		rl_fabric_dev_flush(&h.fabric, e0);
		rl_fabric_dev_restart(&h.fabric, e0, &h.route->fwd[e0]);
	}
	assert_int_equal(seen[0], 77);
}

/* Both ways are dead: only who expects new tables lets packets wait. */
static void
packets_wait_for_the_routes_that_are_awaited(void **state)
{
	(void)state;
	for (unsigned int awaited = 0; awaited < 2; awaited++) {
		host_close(&h);
		host_open(&h, HOST_FIGURE_1_FABRIC
			  "link: { no_path_ns = 100000; };\n"
			  "endpoint: { retry = false; };\n");
		build();
		host_start(&h);
		host_cut(&h, "s0-s1#0", true);
		host_cut(&h, "s0-s1#1", true);
		host_run(&h, 10 * US);
		if (awaited)
			rl_role_core_await(&h.fabric.dev[dev_of("s0")].core,
					   h.now_ns + 3 * MS);
		h.client[0].to_send = 20;
		host_run(&h, MS);
		assert_int_equal(h.drops == 0, awaited);
	}
}

static void
flits_are_counted_wherever_a_device_holds_them(void **state)
{
	(void)state;
	build();
	host_start(&h);
	assert_int_equal(rl_fabric_flits(&h.fabric), 0);
	for (unsigned int i = 0; i < HOST_WIRES; i++)
		h.end[i].full = h.end[i].tx != NULL;
	h.client[0].to_send = 100;
	host_run(&h, 100 * US);
	assert_true(rl_fabric_flits(&h.fabric) > 0);
	/* pipes are empty: what is not free is held */
	assert_int_equal(rl_fabric_flits(&h.fabric),
			 h.nflits - h.cache.count);
	rl_fabric_flush(&h.fabric);
	assert_int_equal(rl_fabric_flits(&h.fabric), 0);
	assert_int_equal(h.cache.count, h.nflits);
}

static void
a_pool_is_planned_for_all_that_a_port_and_an_endpoint_may_hold(void **state)
{
	const struct rl_link_cfg *l = &h.cfg.link;
	struct rl_ep_cfg e = h.cfg.endpoint;

	(void)state;
	assert_int_equal(rl_fabric_port_flits(l, 3),
			 l->window_flits + l->wait_flits +
				 3 * (l->queue_flits + l->credits_flits));
	e.max_flows = 10;
	e.window_flits = 511;
	assert_int_equal(rl_fabric_ep_flits(&e, 4),
			 12 * e.window_flits + 1024);
	assert_int_equal(rl_fabric_ep_flits(&e, 1000),
			 30 * e.window_flits + 1024);
	/* however large windows are, its buffers hold no more */
	e.max_flows = 1000;
	assert_int_equal(rl_fabric_ep_flits(&e, 1000),
			 2 * (e.tx_buffer_flits + e.rx_buffer_flits) +
				 1000 * e.max_packet_flits + 1024);
}

static void
what_an_endpoint_holds_back_waits_and_then_comes(void **state)
{
	struct rl_role_core *core;

	(void)state;
	build();
	host_start(&h);
	core = &h.fabric.dev[dev_of("e1")].core;
	rl_role_core_hold(core, UINT32_MAX);
	h.client[0].to_send = 20;
	host_run(&h, MS);
	assert_int_equal(h.client[1].got, 0);
	rl_role_core_hold(core, 0);
	host_finish(&h, 100 * MS);
	assert_int_equal(h.client[1].got, 20);
}

/* Only pipes that a host says hold something are looked into: any of 64. */
static void
every_pipe_that_holds_something_is_looked_into(void **state)
{
	struct rl_role_core *core;
	uint64_t pending = 0;
	char link[16];

	(void)state;
	host_close(&h);
	host_open(&h,
		  "fabric: { topology = \"custom\"; switches = ( { name = "
		  "\"s0\"; } ); endpoints = ( { name = \"e0\"; }, "
		  "{ name = \"e1\"; } ); links = ( "
		  "{ a = \"e0\"; b = \"s0\"; count = 17; }, "
		  "{ a = \"e1\"; b = \"s0\"; count = 17; } ); };\n");
	for (unsigned int k = 0; k < 16; k++) { /* all but e1's last */
		snprintf(link, sizeof(link), "e1-s0#%u", k);
		host_fail(&h, link);
	}
	build();
	rl_fabric_start(&h.fabric, h.now_ns);
	host_run(&h, 200 * US);
	core = &h.fabric.dev[dev_of("s0")].core;
	core->rx_pending = core->loop_pending = &pending;
	h.client[1].to_send = 20;
	host_run(&h, MS);
	assert_int_equal(h.client[0].got, 0);
	pending = 1ull << 33;
	host_run(&h, 10 * MS);
	assert_int_equal(h.client[0].got, 20);
}

static uint64_t asked_ns;
static unsigned int told;

static uint64_t
client_deadline(void *ctx)
{
	(void)ctx;
	return asked_ns;
}

static void
client_event(void *ctx, const struct rl_ep_event *ev)
{
	(void)ctx;
	(void)ev;
	told++;
}

static uint64_t
wire_deadline(void *phy)
{
	(void)phy;
	return asked_ns;
}

/* A host sleeps until then: what is forgotten here comes late. */
static void
a_role_wakes_for_its_client_and_for_its_wire(void **state)
{
	const uint32_t e0 = dev_of("e0");
	struct rl_role_core *core;
	struct rl_role_port *port;
	struct rl_phy_ops ops;

	(void)state;
	build();
	host_start(&h);
	core = &h.fabric.dev[e0].core;
	port = &h.fabric.dev[e0].port[0];
	asked_ns = 7; /* before any timer */
	assert_true(rl_role_core_deadline(core) > asked_ns);
	core->client.deadline = client_deadline;
	assert_int_equal(rl_role_core_deadline(core), asked_ns);
	core->client.deadline = NULL;
	ops = *port->phy.ops;
	ops.deadline = wire_deadline;
	port->phy.ops = &ops;
	assert_int_equal(rl_role_port_deadline(port, h.now_ns), asked_ns);
	asked_ns = RL_NEVER;
	assert_true(rl_role_port_deadline(port, h.now_ns) > 7);
	/* set back: the ops are this function's */
	ops.deadline = NULL;
	port->phy.ops = host_port(&h, "e1-s1", 1)->phy.ops;
}

static void
a_client_is_told_what_becomes_of_its_peers(void **state)
{
	struct rl_ep_event ev = { .kind = RL_EP_EV_UNREACHABLE };
	struct rl_role_core *core;

	(void)state;
	build();
	core = &h.fabric.dev[dev_of("e0")].core;
	rl_role_core_ep_event(core, &ev); /* no listener */
	core->client.event = client_event;
	told = 0;
	rl_role_core_ep_event(core, &ev);
	assert_int_equal(told, 1);
}

/* Packets on the link arrive before it goes down. */
static void
an_order_to_drain_loses_and_loops_nothing(void **state)
{
	static const char *const links[] = { "s0-s1#0", "s0-s1#1" };
	struct rl_port_info info;
	unsigned int used = 0;

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		struct rl_role_port *r[2];
		uint64_t sent = 0, looped = 0;

		host_close(&h);
		host_open(&h, HOST_FIGURE_1);
		build();
		host_start(&h);
		for (unsigned int e = 0; e < 2; e++)
			r[e] = host_port(&h, links[k], e);
		h.client[0].to_send = h.client[1].to_send = 400;
		host_run(&h, 20 * US);
		for (unsigned int e = 0; e < 2; e++) {
			sent += rl_port_counters(r[e]->port)[RL_PC_tx_flits];
			rl_role_port_order(r[e], RL_ORDER_DRAIN);
		}
		host_finish(&h, 200 * MS);
		host_run(&h, 10 * MS);
		for (unsigned int e = 0; e < 2; e++) {
			rl_port_info(r[e]->port, &info);
			assert_int_equal(info.state, RL_LINK_OFF);
			looped += rl_port_counters(
				r[e]->port)[RL_PC_looped_flits];
		}
		used += sent != 0;
		assert_int_equal(looped, 0);
		assert_int_equal(h.client[1].got, 400);
		assert_int_equal(h.client[0].got, 400);
	}
	assert_true(used > 0);
}

/* Or the control thread would take the fabric to be at rest. */
static void
a_port_that_has_just_handed_something_on_is_not_idle(void **state)
{
	struct rl_role_port *r;
	struct host_pipe *rx;
	unsigned int moved = 0;

	(void)state;
	build();
	host_start(&h);
	r = host_port(&h, "e0-s0", 1);
	rx = r->rx.ring;
	h.client[0].to_send = 5;
	for (unsigned int i = 0; i < 200; i++) {
		uint32_t tail;

		rl_role_core_poll(&h.fabric.dev[dev_of("e0")].core, h.now_ns);
		rl_role_port_poll(host_port(&h, "e0-s0", 0), h.now_ns);
		tail = rx->tail;
		rl_role_port_poll(r, h.now_ns);
		if (rx->tail != tail) {
			assert_int_equal(atomic_load(&r->idle), 0);
			moved++;
		}
		rl_role_core_poll(&h.fabric.dev[dev_of("s0")].core, h.now_ns);
		h.now_ns += 1000;
	}
	assert_true(moved > 0);
}

static void
a_frame_that_was_received_is_given_back(void **state)
{
	(void)state;
	build();
	host_start(&h);
	h.client[0].to_send = 200;
	host_finish(&h, 100 * MS);
	for (unsigned int i = 0; i < HOST_WIRES; i++) {
		assert_int_equal(h.wire[i].unread, 0);
		assert_int_equal(h.wire[i].lent, 0);
	}
}

int
main(void)
{
#define CASE(name)                                                              \
	cmocka_unit_test_prestate_setup_teardown(name, host_set_up,             \
						 host_tear_down, &h)
	const struct CMUnitTest tests[] = {
		CASE(every_port_has_an_address_of_its_own_and_knows_its_peer_s),
		CASE(every_port_draws_from_a_seed_of_its_own),
		CASE(a_port_is_set_as_its_link_is),
		CASE(each_life_of_an_endpoint_is_told_from_all_others),
		CASE(devices_of_another_process_lie_still),
		CASE(a_restarted_device_has_new_tables_and_no_old_orders),
		CASE(a_restarted_endpoint_knows_nothing_of_its_former_life),
		CASE(a_restarted_port_says_that_it_is_another),
		CASE(packets_wait_for_the_routes_that_are_awaited),
		CASE(flits_are_counted_wherever_a_device_holds_them),
		CASE(a_pool_is_planned_for_all_that_a_port_and_an_endpoint_may_hold),
		CASE(what_an_endpoint_holds_back_waits_and_then_comes),
		CASE(every_pipe_that_holds_something_is_looked_into),
		CASE(a_role_wakes_for_its_client_and_for_its_wire),
		CASE(a_client_is_told_what_becomes_of_its_peers),
		CASE(an_order_to_drain_loses_and_loops_nothing),
		CASE(a_port_that_has_just_handed_something_on_is_not_idle),
		CASE(a_frame_that_was_received_is_given_back),
	};

	return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
