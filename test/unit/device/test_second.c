/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second time: a device that has crashed under load, and is restarted, is
 * what it was when it was built: its roles, ports, core and endpoint.
 */
#include "core_priv.h"
#include "ep_priv.h"
#include "host.h"
#include "port_priv.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS
#define PORTS 3

/* All that a device is: where nothing points to memory of a run. */
struct made {
	struct rl_role_core role;
	struct rl_role_port prole[PORTS];
	struct rl_port port[PORTS];
	struct rl_core core;
	struct core_port cport[PORTS];
	struct rl_ep ep;
};

static struct host h;

static struct made
look(const struct rl_device *d)
{
	struct made m;

	memset(&m, 0, sizeof(m));
	memcpy(&m.role, &d->core, sizeof(m.role));
	memcpy(&m.core, d->core.core, sizeof(m.core));
	for (uint16_t i = 0; i < d->nports; i++) {
		memcpy(&m.prole[i], &d->port[i], sizeof(m.prole[i]));
		memcpy(&m.port[i], d->port[i].port, sizeof(m.port[i]));
		memcpy(&m.cport[i], &d->core.core->port[i], sizeof(m.cport[i]));
		/* who it is, so that peers notice, and what is drawn by that */
		m.port[i].p.incarnation = 0;
		atomic_store(&m.prole[i].idle, 0); /* as the last poll found */
		m.port[i].shake.nonce = m.port[i].shake.tx_epoch = 0;
		memset(&m.port[i].shake.prng, 0, sizeof(m.port[i].shake.prng));
	}
	if (d->core.ep != NULL) {
		memcpy(&m.ep, d->core.ep, sizeof(m.ep));
		m.ep.incarnation = 0;
	}
	/* the client is the test's, and goes on; so do injected soft errors */
	memset(&m.role.client, 0, sizeof(m.role.client));
	memset(&m.role.soft_prng, 0, sizeof(m.role.soft_prng));
	atomic_store(&m.role.idle, 0);
	return m;
}

static void
crash(struct rl_device *d, uint32_t dev)
{
	rl_fabric_dev_flush(&h.fabric, dev);
	for (uint16_t i = 0; i < d->nports; i++) {
		struct rl_pipe *pipe[] = { &d->port[i].rx, &d->port[i].loop,
					   &d->port[i].tx };
		void *obj;

		for (unsigned int k = 0; k < RL_ARRAY_SIZE(pipe); k++)
			while (pipe[k]->get(pipe[k]->ring, &obj, 1) == 1)
				if (rl_pipe_is_mark(obj) == RL_MARK_NONE)
					rl_packet_put(&h.cache, obj);
	}
}

#define CHECK(part)                                                            \
	if (memcmp(&a.part, &b.part, sizeof(a.part)) != 0)                     \
		others += (print_error("%s of %s is another one\n", #part,     \
				       name),                                  \
			   1);

static void
check_device(const char *name, const struct made *new)
{
	const uint32_t dev = rl_topo_find_dev(&h.cfg.topo, name);
	struct rl_device *d = &h.fabric.dev[dev];
	const struct made a = *new;
	unsigned int others = 0;
	struct made b;

	crash(d, dev);
	rl_fabric_dev_restart(&h.fabric, dev, &h.route->fwd[dev]);
	b = look(d);
	CHECK(role)
	CHECK(prole)
	CHECK(port)
	CHECK(core)
	CHECK(cport)
	CHECK(ep)
	assert_int_equal(others, 0);
}

static void
a_restarted_device_is_as_it_was_built(void **state)
{
	struct made s0, e1;

	(void)state;
	host_open(&h, HOST_FIGURE_1);
	assert_int_equal(host_build(&h), 0);
	s0 = look(&h.fabric.dev[rl_topo_find_dev(&h.cfg.topo, "s0")]);
	e1 = look(&h.fabric.dev[rl_topo_find_dev(&h.cfg.topo, "e1")]);
	host_start(&h);
	h.client[0].to_send = h.client[1].to_send = 1000;
	host_run(&h, 50 * US);
	host_cut(&h, "s0-s1#0", true);
	host_run(&h, 300 * US);
	for (unsigned int i = 0; i < 2; i++) {
		rl_role_core_await(
			&h.fabric.dev[rl_topo_find_dev(&h.cfg.topo, "s0")].core,
			h.now_ns + MS);
		rl_role_port_order(host_port(&h, "s0-s1#1", 0), RL_ORDER_DRAIN);
		check_device("s0", &s0);
		check_device("e1", &e1);
	}
	host_close(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_restarted_device_is_as_it_was_built),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
