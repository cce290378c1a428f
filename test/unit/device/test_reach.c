/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When an endpoint probes unreachable peers again [EP-6]: its device decides, on
 * all hosts.
 */

#include "host.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

static struct host h;

static struct rl_device *
e0(void)
{
	return &h.fabric.dev[rl_topo_find_dev(&h.cfg.topo, "e0")];
}

static uint64_t
probes_in(uint64_t ns)
{
	const uint64_t *n = &rl_ep_counters(e0()->core.ep)[RL_EPC_probes];
	const uint64_t before = *n;

	host_run(&h, ns);
	return *n - before;
}

/* Cuts e0 off, until its probes are more than 2 ms apart. */
static void
cut_off(const char *a, const char *b)
{
	host_cut(&h, a, true);
	host_cut(&h, b, true);
	h.client[0].to_send++;
	for (int i = 0; i < 100 &&
			rl_ep_unreachable_count(e0()->core.ep) == 0; i++)
		host_run(&h, MS);
	assert_int_equal(rl_ep_unreachable_count(e0()->core.ep), 1);
	host_run(&h, 20 * MS);
	assert_in_range(probes_in(2 * MS), 0, 1);
}

static void
new_tables_make_an_endpoint_probe_again(void **state)
{
	const uint32_t dev = (uint32_t)rl_topo_find_dev(&h.cfg.topo, "e0");
	struct rl_fwd fwd = h.route->fwd[dev];
	const struct rl_fwd_pass pass = { .fwd = &fwd, .epoch = 7, .vls = 1 };
	struct rl_device_order o = { .fwd = &h.route->fwd[dev],
				     .pass = &pass };

	(void)state;
	cut_off("s0-s1#0", "s0-s1#1");
	o.act.type = RL_LOCAL_INSTALL;
	rl_device_order(e0(), &o, h.now_ns);
	assert_in_range(probes_in(2 * MS), 3, 40);
	host_run(&h, 20 * MS);
	assert_in_range(probes_in(2 * MS), 0, 1);
	o.act.type = RL_LOCAL_PASS; /* the same by tokens */
	rl_device_order(e0(), &o, h.now_ns);
	assert_in_range(probes_in(2 * MS), 3, 40);
	host_cut(&h, "s0-s1#0", false);
	host_cut(&h, "s0-s1#1", false);
	host_finish(&h, 200 * MS);
}

static void
a_link_of_its_own_that_is_back_makes_an_endpoint_probe_again(void **state)
{
	uint64_t at_ns;

	(void)state;
	cut_off("e0-s0", "s0-s1#1");
	host_cut(&h, "e0-s0", false);
	while (rl_port_state(host_port(&h, "e0-s0", 0)->port) != RL_LINK_UP)
		host_run(&h, 10 * US);
	at_ns = h.now_ns;
	while (rl_ep_unreachable_count(e0()->core.ep) != 0)
		host_run(&h, 10 * US);
	assert_in_range(h.now_ns - at_ns, 0, MS);
	host_cut(&h, "s0-s1#1", false);
	host_finish(&h, 200 * MS);
}

int
main(void)
{
#define CASE(name)                                                              \
	cmocka_unit_test_prestate_setup_teardown(name, host_set_up_started,     \
						 host_tear_down, &h)
	const struct CMUnitTest tests[] = {
		CASE(new_tables_make_an_endpoint_probe_again),
		CASE(a_link_of_its_own_that_is_back_makes_an_endpoint_probe_again),
	};

	return cmocka_run_group_tests_name("reach", tests, NULL, NULL);
}
