/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Suspects [SW-5]: a device that alters what it holds is named, wherever its
 * packets come from, and the rest of the fabric is not.
 */
#include "host.h"
#include "rl_suspect.h"
#include "role_soft.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS
#define PPB 1000000000u

static struct host h;

static void
open_with(const char *witness, bool joined)
{
	char text[1024];

	snprintf(text, sizeof(text), "%sswitch: { witness = %s; };\n",
		 HOST_FIGURE_1, witness);
	host_open(&h, text);
	assert_int_equal(host_build(&h), 0);
	host_start(&h);
	for (uint32_t d = 0; joined && d < h.fabric.ndev; d++)
		for (uint16_t p = 0; p < h.fabric.dev[d].nports; p++)
			rl_role_join(&h.fabric.dev[d].core,
				     &h.fabric.dev[d].port[p]);
}

static void
turns(uint64_t ns)
{
	const uint64_t end_ns = h.now_ns + ns;

	for (; h.now_ns < end_ns; h.now_ns += US)
		for (uint32_t i = 0; i < h.fabric.ndev; i++) {
			struct rl_device *d = &h.fabric.dev[i];

			for (uint16_t p = 0; p < d->nports; p++)
				rl_role_port_in(&d->port[p], h.now_ns);
			rl_role_core_poll(&d->core, h.now_ns);
			for (uint16_t p = 0; p < d->nports; p++)
				rl_role_port_out(&d->port[p], h.now_ns);
		}
}

/* Packets from e0 to e1 until some were altered, and all have come. */
static void
send_through(struct rl_role_core *guilty, bool joined)
{
	h.client[0].to_send = 300;
	rl_role_core_soft(guilty, PPB / 10);
	for (unsigned int i = 0; i < 3000 && h.client[1].got < 300; i++) {
		if (i == 40)
			rl_role_core_soft(guilty, 0);
		if (joined)
			turns(20 * US);
		else
			host_run(&h, 20 * US);
	}
	assert_int_equal(h.client[1].got, 300);
	assert_int_equal(h.client[1].wrong, 0);
}

static void
whoever_alters_is_named_alone(void **state)
{
	static const char *const name[] = { "s0", "s1", "e0", "e1" };
	struct rl_suspect s[16];
	char text[32];

	(void)state;
	for (unsigned int k = 0; k < 8; k++) {
		const bool joined = k >= 4;
		uint32_t dev;

		open_with("\"all\"", joined);
		dev = (uint32_t)rl_topo_find_dev(&h.cfg.topo, name[k % 4]);
		assert_int_equal(rl_suspects_of(s, &h.fabric), 0);
		send_through(&h.fabric.dev[dev].core, joined);
		assert_int_equal(rl_suspects_of(s, &h.fabric), 1);
		assert_string_equal(rl_suspect_name(&s[0], &h.cfg.topo, text,
						    sizeof(text)),
				    name[k % 4]);
		assert_true(s[0].altered > 0);
		if (k % 4 == 2) /* a sender, as its port sees */
			assert_true(rl_port_counters(
					    h.fabric.dev[dev].port[0].port)
					    [RL_PC_tx_altered] > 0);
		if (k % 4 == 3) /* a receiver: what came in intact is wrong */
			assert_true(rl_ep_counters(
					    h.fabric.dev[dev].core.ep)
					    [RL_EPC_rx_altered] > 0);
		host_close(&h);
	}
}

/* One run of 1 to 8 bytes of the data of one flit, each altered. */
static void
a_soft_error_hits_some_bytes_of_one_flit(void **state)
{
	static struct rl_role_core r;
	static _Alignas(64) struct rl_flit f[3];
	bool seen[9] = { false }, first = false, last = false;

	(void)state;
	rl_prng_seed(&r.soft_prng, 5);
	rl_role_core_soft(&r, PPB);
	for (unsigned int i = 0; i < 20000; i++) {
		unsigned int hit = 0, n = 0, from = 0, to = 0;

		memset(f, 0, sizeof(f));
		rl_packet_start(&f[0]);
		rl_packet_append(&f[0], &f[1]);
		rl_packet_append(&f[0], &f[2]);
		role_soft_alter(&r, &f[0]);
		for (unsigned int k = 0; k < 3; k++) {
			bool any = false;

			for (unsigned int at = 0; at < RL_FLIT_BYTES; at++) {
				if (f[k].wire[at] == 0)
					continue;
				from = n++ == 0 ? at : from;
				to = at;
				any = true;
			}
			hit += any;
		}
		assert_int_equal(hit, 1);
		assert_in_range(n, 1, 8);
		assert_int_equal(to - from + 1, n);
		assert_in_range(from, RL_FLIT_DATA_OFF,
				RL_FLIT_DATA_OFF + RL_FLIT_DATA_BYTES - n);
		seen[n] = true;
		first |= from == RL_FLIT_DATA_OFF;
		last |= to == RL_FLIT_DATA_OFF + RL_FLIT_DATA_BYTES - 1;
	}
	for (unsigned int n = 1; n <= 8; n++)
		assert_true(seen[n]);
	assert_true(first && last);
}

/* A mark says that a packet is bad; its source sends it again [LCB-2]. */
static void
poison_is_dropped_sent_again_and_no_alteration(void **state)
{
	struct rl_suspect s[16];
	uint64_t marked = 0;
	uint32_t s0;

	(void)state;
	open_with("\"all\"", false);
	s0 = (uint32_t)rl_topo_find_dev(&h.cfg.topo, "s0");
	h.client[0].to_send = 300;
	rl_role_core_poison(&h.fabric.dev[s0].core, PPB / 10);
	for (unsigned int i = 0; i < 3000 && h.client[1].got < 300; i++) {
		if (i == 40)
			rl_role_core_poison(&h.fabric.dev[s0].core, 0);
		host_run(&h, 20 * US);
	}
	assert_int_equal(h.client[1].got, 300);
	assert_int_equal(h.client[1].wrong, 0);
	for (uint32_t d = 0; d < h.fabric.ndev; d++)
		for (uint16_t p = 0; p < h.fabric.dev[d].nports; p++)
			marked += rl_port_counters(h.fabric.dev[d].port[p].port)
				[RL_PC_rx_poisoned];
	assert_true(marked > 0);
	assert_int_equal(rl_suspects_of(s, &h.fabric), 0);
	host_close(&h);
}

static void
without_a_witness_nothing_is_said_of_what_fec_mends(void **state)
{
	struct rl_suspect s[16];
	uint32_t n, s0;

	(void)state;
	open_with("\"off\"", true);
	s0 = (uint32_t)rl_topo_find_dev(&h.cfg.topo, "s0");
	send_through(&h.fabric.dev[s0].core, true);
	/* what FEC refused, its port found in its own buffer */
	n = rl_suspects_of(s, &h.fabric);
	assert_true(n <= 1);
	assert_true(n == 0 || (!s[0].is_link && s[0].index == s0));
	for (uint32_t i = 0; i < rl_suspects_max(&h.cfg.topo); i++)
		assert_int_equal(s[i].looked, 0);
	host_close(&h);
}

static void
the_worst_comes_first_and_is_the_surest(void **state)
{
	uint64_t port[RL_PORT_COUNTER_COUNT] = { 0 };
	uint64_t ep[RL_EP_COUNTER_COUNT] = { 0 };
	struct rl_suspect s[16];
	const struct rl_topo *t = &h.cfg.topo;
	uint32_t s0, e1;
	char text[32];

	(void)state;
	host_open(&h, HOST_FIGURE_1);
	assert_int_equal(host_build(&h), 0);
	s0 = (uint32_t)rl_topo_find_dev(t, "s0");
	e1 = (uint32_t)rl_topo_find_dev(t, "e1");
	rl_suspects_begin(s, t);
	for (uint32_t i = 0; i < t->ndev + t->nlink; i++) {
		assert_int_equal(s[i].is_link, i >= t->ndev);
		assert_int_equal(s[i].index, i % t->ndev);
		s[i].altered = 7; /* equals stay in the order of the file */
	}
	s[t->ndev + 1].altered = 8;
	assert_int_equal(rl_suspects_rank(s, t), t->ndev + t->nlink);
	for (uint32_t i = 1; i < t->ndev + t->nlink; i++) {
		const uint32_t was = i <= t->ndev + 1 ? i - 1 : i;

		assert_int_equal(s[i].is_link, was >= t->ndev);
		assert_int_equal(s[i].index, was % t->ndev);
		assert_int_equal(s[i].confidence_percent, 100 * 8 / 59);
	}
	assert_int_equal(s[0].confidence_percent, 100 * 9 / 59);
	rl_suspects_begin(s, t);
	assert_int_equal(rl_suspects_rank(s, t), 0);

	rl_suspects_begin(s, t);
	port[RL_PC_tx_altered] = 5;
	port[RL_PC_tx_witnessed] = 100;
	port[RL_PC_rx_altered] = 90;
	port[RL_PC_rx_witnessed] = 1000;
	rl_suspects_port(s, t, s0, 0, port);
	port[RL_PC_rx_altered] = 0;
	rl_suspects_port(s, t, s0, 1, port);
	ep[RL_EPC_rx_altered] = 3;
	rl_suspects_ep(s, e1, ep);
	assert_int_equal(rl_suspects_rank(s, t), 3);
	assert_true(s[0].is_link && s[0].index == t->dev[s0].port[0].link);
	assert_int_equal(s[0].altered, 90);
	assert_int_equal(s[0].looked, 1000);
	assert_int_equal(s[0].confidence_percent, 100 * 91 / 105);
	assert_true(!s[1].is_link && s[1].index == s0);
	assert_int_equal(s[1].altered, 10);
	assert_int_equal(s[1].looked, 200);
	assert_int_equal(s[1].confidence_percent, 100 * 11 / 105);
	assert_string_equal(rl_suspect_name(&s[2], t, text, sizeof(text)),
			    "e1");
	host_close(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whoever_alters_is_named_alone),
		cmocka_unit_test(a_soft_error_hits_some_bytes_of_one_flit),
		cmocka_unit_test(poison_is_dropped_sent_again_and_no_alteration),
		cmocka_unit_test(
			without_a_witness_nothing_is_said_of_what_fec_mends),
		cmocka_unit_test(the_worst_comes_first_and_is_the_surest),
	};

	return cmocka_run_group_tests_name("suspects [SW-5]", tests, NULL,
					   NULL);
}
