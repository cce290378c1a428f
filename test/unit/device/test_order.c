/* SPDX-License-Identifier: BSD-3-Clause */

/* Orders of a local controller, and how a device stands [RES-4]. */

#include "host.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

static struct host h;

static struct rl_device *
device(const char *name)
{
	return &h.fabric.dev[rl_topo_find_dev(&h.cfg.topo, name)];
}

static void
order(const char *dev, const struct rl_device_order *o)
{
	rl_device_order(device(dev), o, h.now_ns);
}

static void
hold(const char *dev, enum rl_resil_hold what, const struct rl_flows *flows)
{
	order(dev, &(struct rl_device_order){
		.act = { .type = what == RL_RESIL_HOLD_NONE ? RL_LOCAL_RELEASE
							    : RL_LOCAL_HOLD,
			 .hold = what },
		.flows = flows,
	});
}

static bool
quiet(const char *dev, enum rl_resil_hold what, const struct rl_flows *flows)
{
	const struct rl_local_info held = { .hold = what };
	struct rl_local_view v;

	rl_device_view(device(dev), &held, flows, &v);
	return v.quiet;
}

static enum rl_link_state
state_of(const char *link)
{
	return rl_port_state(host_port(&h, link, 0)->port);
}

static void
start_all(void)
{
	static const char *const devs[] = { "e0", "s0", "s1", "e1" };

	for (unsigned int i = 0; i < RL_ARRAY_SIZE(devs); i++)
		order(devs[i], &(struct rl_device_order){
			.act.type = RL_LOCAL_START });
}

static void
ports_that_wait_train_when_they_are_told_to(void **state)
{
	(void)state;
	assert_int_equal(host_build(&h), 0);
	host_run(&h, MS);
	assert_int_equal(state_of("s0-s1#0"), RL_LINK_OFF);
	start_all();
	host_run(&h, MS);
	assert_int_equal(state_of("s0-s1#0"), RL_LINK_UP);
	assert_int_equal(state_of("e0-s0"), RL_LINK_UP);
}

/* Each of these replaces the one before it, but none a start. */
static void
no_later_order_replaces_a_start(void **state)
{
	static const enum rl_port_order later[] = { RL_ORDER_UP, RL_ORDER_NONE };
	struct rl_role_port *r;

	(void)state;
	assert_int_equal(host_build(&h), 0);
	for (unsigned int end = 0; end < 2; end++)
		for (unsigned int i = 0; i < RL_ARRAY_SIZE(later); i++) {
			r = host_port(&h, "s0-s1#0", end);
			rl_role_port_order(r, RL_ORDER_START);
			rl_role_port_order(r, later[i]);
		}
	r = host_port(&h, "s0-s1#1", 0);
	rl_role_port_order(r, RL_ORDER_DOWN);
	rl_role_port_order(r, RL_ORDER_START);
	host_run(&h, MS);
	assert_int_equal(state_of("s0-s1#0"), RL_LINK_UP);
	assert_int_equal(state_of("s0-s1#1"), RL_LINK_OFF); /* it is down */
}

/* Down and up again while the device waits: by the host, and by its controller. */
static void
an_order_up_to_a_device_that_waits_takes_effect_at_its_start(void **state)
{
	static const enum rl_port_order down[] = { RL_ORDER_DOWN,
						   RL_ORDER_DRAIN };
	struct rl_device_order o = { .act.type = RL_LOCAL_PORT };

	(void)state;
	assert_int_equal(host_build(&h), 0);
	for (unsigned int i = 0; i < 4; i++) {
		struct rl_role_port *r = host_port(&h, i % 2 ? "s0-s1#0"
							     : "s0-s1#1", 0);

		o.act.port = r->index;
		o.act.order = i % 2 ? RL_LOCAL_PORT_DOWN : RL_LOCAL_PORT_DRAIN;
		if (i < 2)
			rl_role_port_order(r, down[i]);
		else
			order("s0", &o);
		host_run(&h, MS);
		o.act.order = RL_LOCAL_PORT_UP;
		if (i < 2)
			rl_role_port_order(r, RL_ORDER_UP);
		else
			order("s0", &o);
		host_run(&h, MS);
		assert_int_equal(rl_port_state(r->port), RL_LINK_OFF);
	}
	rl_role_port_order(host_port(&h, "s0-s1#1", 0), RL_ORDER_DOWN);
	host_run(&h, MS); /* else it starts first */
	start_all();
	host_run(&h, MS);
	assert_int_equal(state_of("s0-s1#0"), RL_LINK_UP);
	assert_int_equal(state_of("s0-s1#1"), RL_LINK_OFF); /* it is down */
	rl_role_port_order(host_port(&h, "s0-s1#1", 0), RL_ORDER_UP);
	host_run(&h, MS);
	assert_int_equal(state_of("s0-s1#1"), RL_LINK_UP);
}

static void
an_order_that_was_overtaken_changes_nothing(void **state)
{
	static const enum rl_local_action_type types[] = {
		RL_LOCAL_INSTALL, RL_LOCAL_STAGE, RL_LOCAL_PASS };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(types); i++)
		order("s0", &(struct rl_device_order){ .act.type = types[i] });
	h.client[0].to_send = h.client[1].to_send = 100;
	host_finish(&h, 100 * MS);
}

/* Orders that name tables wait for them; the others need none. */
static void
an_order_is_ready_once_the_tables_that_it_names_are_there(void **state)
{
	const struct rl_tables_params p = { .topo = &h.cfg.topo,
					    .engine = "updown", .vls = 1,
					    .levels = 1 };
	static const struct {
		enum rl_local_action_type type;
		enum rl_resil_hold hold;
		bool names, now, later; /* of epoch 0, and of one to come */
	} row[] = {
		{ RL_LOCAL_INSTALL, 0, true, true, false },
		{ RL_LOCAL_STAGE, 0, true, false, false },
		{ RL_LOCAL_PASS, 0, true, false, false },
		{ RL_LOCAL_HOLD, RL_RESIL_HOLD_ALL, true, true, true },
		{ RL_LOCAL_HOLD, RL_RESIL_HOLD_NONE, true, true, true },
		{ RL_LOCAL_HOLD, RL_RESIL_HOLD_FLOWS, true, false, false },
		{ RL_LOCAL_RELEASE, 0, false, true, true },
		{ RL_LOCAL_START, 0, false, true, true },
		{ RL_LOCAL_PORT, 0, false, true, true },
		{ RL_LOCAL_NO_TABLES, 0, false, true, true },
	};
	struct rl_tables *t = rl_tables_new(&p, h.route);

	(void)state;
	assert_non_null(t);
	for (size_t i = 0; i < RL_ARRAY_SIZE(row); i++)
		for (uint32_t epoch = 0; epoch < 10; epoch += 9) {
			struct rl_device_order o = {
				.act = { .type = row[i].type, .epoch = epoch,
					 .hold = row[i].hold } };

			assert_int_equal(rl_device_order_names(&o),
					 row[i].names);
			assert_int_equal(rl_device_order_find(&o, 1, t),
					 epoch == 0 ? row[i].now
						    : row[i].later);
			if (row[i].type == RL_LOCAL_INSTALL)
				assert_ptr_equal(o.fwd, rl_tables_fwd(t, epoch,
								      1));
		}
	rl_tables_free(t);
}

static void
a_port_obeys_its_orders(void **state)
{
	struct rl_device *s0 = device("s0");
	const uint16_t port = host_port(&h, "s0-s1#0", 0)->index;
	struct rl_device_order o = {
		.act = { .type = RL_LOCAL_PORT, .port = port,
			 .order = RL_LOCAL_PORT_DRAIN } };

	(void)state;
	rl_device_order(s0, &o, h.now_ns);
	host_run(&h, 10 * MS);
	assert_int_equal(state_of("s0-s1#0"), RL_LINK_OFF);
	o.act.order = RL_LOCAL_PORT_UP;
	rl_device_order(s0, &o, h.now_ns);
	host_run(&h, 10 * MS);
	assert_int_equal(state_of("s0-s1#0"), RL_LINK_UP);
	o.act.order = RL_LOCAL_PORT_DOWN;
	rl_device_order(s0, &o, h.now_ns);
	host_run(&h, MS);
	assert_int_equal(state_of("s0-s1#0"), RL_LINK_OFF);
}

/* Only flows of the list are held, and they are quiet when all is acknowledged. */
static void
a_flow_that_is_held_comes_to_rest_and_the_other_goes_on(void **state)
{
	const uint16_t e0 = h.client[0].ep, e1 = h.client[0].peer;
	struct rl_flows f;

	(void)state;
	assert_int_equal(rl_flows_init(&f, h.cfg.topo.nep), 0);
	rl_flows_add(&f, e0, e1);
	h.client[0].to_send = h.client[1].to_send = 400;
	host_run(&h, 20 * US);
	assert_false(quiet("e0", RL_RESIL_HOLD_FLOWS, &f));
	assert_true(quiet("e0", RL_RESIL_HOLD_FLOWS, NULL)); /* holds none */
	hold("e0", RL_RESIL_HOLD_FLOWS, &f);
	hold("e1", RL_RESIL_HOLD_FLOWS, &f);
	host_run(&h, 50 * MS);
	assert_true(quiet("e0", RL_RESIL_HOLD_FLOWS, &f));
	assert_true(h.client[1].got < 400);
	assert_int_equal(h.client[0].got, 400);
	/* whose list is gone holds none, whatever it held before */
	hold("e0", RL_RESIL_HOLD_FLOWS, NULL);
	hold("e1", RL_RESIL_HOLD_NONE, NULL);
	host_finish(&h, 100 * MS);
	rl_flows_free(&f);
}

/*
 * Whatever holds a packet keeps its device from being at rest: whether one
 * thread runs it, or the ports have others and only their flags can be seen.
 */
static void
a_device_is_at_rest_when_nothing_is_in_ports_pipes_and_core(void **state)
{
	struct rl_role_port *in = host_port(&h, "e0-s0", 1);
	struct rl_device *s0 = device("s0");

	(void)state;
	for (unsigned int whole = 0; whole < 2; whole++) {
		s0->whole = whole;
		host_finish(&h, 100 * MS);
		host_run(&h, MS);
		assert_true(quiet("s0", RL_RESIL_HOLD_ALL, NULL));
		h.client[0].to_send++;
		while (in->rx.empty(in->rx.ring)) {
			rl_role_core_poll(&device("e0")->core, h.now_ns);
			rl_role_port_poll(host_port(&h, "e0-s0", 0), h.now_ns);
			rl_role_port_poll(in, h.now_ns);
			h.now_ns += US;
		}
		assert_false(quiet("s0", RL_RESIL_HOLD_ALL, NULL));
		rl_role_core_poll(&s0->core, h.now_ns); /* to a port's pipe */
		assert_true(in->rx.empty(in->rx.ring));
		assert_false(quiet("s0", RL_RESIL_HOLD_ALL, NULL));
	}
}

int
main(void)
{
#define CASE(name)                                                              \
	cmocka_unit_test_prestate_setup_teardown(name, host_set_up_started,     \
						 host_tear_down, &h)
#define CASE_OFF(name)                                                          \
	cmocka_unit_test_prestate_setup_teardown(name, host_set_up,             \
						 host_tear_down, &h)
	const struct CMUnitTest tests[] = {
		CASE_OFF(ports_that_wait_train_when_they_are_told_to),
		CASE_OFF(no_later_order_replaces_a_start),
		CASE_OFF(an_order_up_to_a_device_that_waits_takes_effect_at_its_start),
		CASE(an_order_that_was_overtaken_changes_nothing),
		CASE_OFF(an_order_is_ready_once_the_tables_that_it_names_are_there),
		CASE(a_port_obeys_its_orders),
		CASE(a_flow_that_is_held_comes_to_rest_and_the_other_goes_on),
		CASE(a_device_is_at_rest_when_nothing_is_in_ports_pipes_and_core),
	};

	return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
