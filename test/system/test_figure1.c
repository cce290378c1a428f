/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Figure 1B of the DRL patent through real lcores [DRL-1, DRL-9, LINK-C27]: a
 * packet of L flits, n of them acknowledged, the link dies, all L leave by the
 * other port, and the receiver delivers the packet once - for every L of 1..32
 * and every n of 0..L, store-and-forward, on net_ring wires.
 *
 * One flit a frame, so that the wire can be cut after any flit: the fault
 * layer lets n flits of the packet through and then nothing more that way.
 * Acknowledgments still come back. When the sender knows of n, the light goes
 * out.
 *
 *   test_figure1 LCORES
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../figure1.h"
#include "host_bed.h"

#define LIMIT_NS (5 * RL_NS_PER_S)
#define MAX_FLITS 32

/* End-to-end retry may not help: its timer is longer than the test. */
static const char fabric_text[] =
	FIGURE1_FABRIC
	"routing: { engine = \"updown\"; };\n"
	"link: { flits_per_frame = 1; max_packet_flits = 32;\n"
	"        ack_coalesce_flits = 1; replay_limit = 255;\n"
	"        keepalive_dead_ns = 0; flap_damping_ns = 0; };\n"
	"endpoint: { retry_timer_ns = 10000000000; retry_limit = 0;\n"
	"            retry_timer_max_ns = 10000000000; };\n";

/* Sends one packet when told to, checks what arrives. */
struct client {
	_Atomic uint32_t want_flits; /* 0: nothing */
	_Atomic uint32_t received;   /* packets */
	_Atomic uint32_t wrong;	     /* of them not as sent */
	struct rl_flit_cache *cache;
	uint32_t expect_flits;
	uint16_t dst;
};

struct bed {
	struct host_bed on;
	struct client client[2];
	uint32_t s0, link, other_link; /* the way to e1, and the other */
	uint16_t port, other_port;     /* at s0 */
};

static struct bed bed;

static unsigned int
client_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	static const uint8_t zero[MAX_FLITS * RL_FLIT_DATA_BYTES];
	struct client *c = ctx;
	const uint32_t flits = atomic_load(&c->want_flits);
	struct rl_flit *pkt = rl_ep_recv(ep);
	unsigned int work = 0;

	if (flits != 0) {
		uint8_t data[MAX_FLITS * RL_FLIT_DATA_BYTES];
		const struct rl_ep_msg msg = {
			.dst = c->dst,
			.len_bytes = flits * RL_FLIT_DATA_BYTES,
		};

		memset(data, (int)flits, sizeof(data));
		if (rl_ep_send(ep, now_ns, &msg, data, NULL) == 0)
			atomic_store(&c->want_flits, 0);
		work++;
	}
	if (pkt != NULL) {
		uint8_t data[MAX_FLITS * RL_FLIT_DATA_BYTES];
		const uint32_t len = rl_ep_copy_out(pkt, data, sizeof(data));

		for (uint32_t i = 0; i < len; i++)
			data[i] ^= (uint8_t)c->expect_flits;
		if (len != c->expect_flits * RL_FLIT_DATA_BYTES ||
		    memcmp(data, zero, len) != 0)
			atomic_fetch_add(&c->wrong, 1);
		atomic_fetch_add(&c->received, 1);
		rl_packet_put(c->cache, pkt);
		work++;
	}
	return work;
}

static int
setup(void **state)
{
	const struct rl_topo *t = &bed.on.cfg.topo;

	host_bed_open(&bed.on, fabric_text, 1);
	for (uint16_t e = 0; e < 2; e++) {
		const struct rl_client client = {
			.ctx = &bed.client[e],
			.poll = client_poll,
		};

		bed.client[e].cache = host_bed_client(&bed.on, e, &client);
		bed.client[e].dst = !e;
	}
	bed.s0 = (uint32_t)rl_topo_find_dev(t, "s0");
	bed.port = rl_fwd_lookup(&bed.on.route->fwd[bed.s0], 0, 1).hop[0].port;
	bed.link = t->dev[bed.s0].port[bed.port].link;
	bed.other_link = (uint32_t)rl_topo_find_link(t, "s0-s1#0", NULL);
	if (bed.other_link == bed.link)
		bed.other_link =
			(uint32_t)rl_topo_find_link(t, "s0-s1#1", NULL);
	bed.other_port = t->link[bed.other_link].port[0];
	*state = &bed;
	return host_start(&bed.on.host);
}

static int
teardown(void **state)
{
	struct bed *b = *state;

	host_bed_close(&b->on);
	return 0;
}

/* Lets the fabric work until `cond` holds. */
#define wait_for(b, cond, what)                                                \
	do {                                                                   \
		const uint64_t end_ns_ = host_now(&(b)->on.host) + LIMIT_NS;   \
                                                                               \
		while (!(cond)) {                                              \
			if (host_now(&(b)->on.host) > end_ns_)                 \
				fail_msg("%s, flits %u, acknowledged %u",      \
					 what, flits, acked);                  \
			host_run(&(b)->on.host, 20 * RL_NS_PER_US);            \
		}                                                              \
	} while (0)

static bool
link_works(struct bed *b)
{
	const struct rl_topo_link *l = &b->on.cfg.topo.link[b->link];

	for (int e = 0; e < 2; e++) {
		const struct rl_device *d = &b->on.host.fabric.dev[l->dev[e]];
		struct rl_port_info info;

		rl_port_info(d->port[l->port[e]].port, &info);
		if (info.state != RL_LINK_UP ||
		    rl_core_egress_state(d->core.core, l->port[e]) !=
			    RL_EGRESS_ALIVE)
			return false;
	}
	return true;
}

static void
port_info(struct bed *b, struct rl_port_info *info)
{
	rl_port_info(b->on.host.fabric.dev[b->s0].port[b->port].port, info);
}

static uint32_t
acked_since(struct bed *b, uint32_t base)
{
	struct rl_port_info info;

	port_info(b, &info);
	return info.replay_acked - base;
}

static uint64_t
other_tx_flits(struct bed *b)
{
	return rl_port_counters(b->on.host.fabric.dev[b->s0]
					.port[b->other_port].port)
		[RL_PC_tx_flits];
}

/* Takes records until the port has drained; others are of no interest. */
static bool
drained(struct bed *b, struct rl_port_event *ev)
{
	struct host_rec rec;

	while (host_next_record(&b->on.host, &rec)) {
		if (rec.kind != HOST_REC_PORT || rec.dev != b->s0 ||
		    rec.port != b->port ||
		    rec.port_ev.type != RL_PEV_DRAINED)
			continue;
		*ev = rec.port_ev;
		return true;
	}
	return false;
}

static void
heal(struct bed *b, unsigned int flits, unsigned int acked)
{
	struct rl_inject_link *f = &b->on.host.fault[b->link];

	assert_int_equal(rl_inject_clear(f), 0);
	wait_for(b, rl_inject_settled(f), "the fault layer does not answer");
	rl_inject_light_up(f);
}

/* A flow begins with a sync, which is no part of a case. */
static void
open_flow(struct bed *b)
{
	const unsigned int flits = 1, acked = 0;

	wait_for(b, link_works(b), "the link does not train");
	b->client[1].expect_flits = flits;
	atomic_store(&b->client[0].want_flits, flits);
	wait_for(b, atomic_load(&b->client[1].received) != 0, "nothing arrives");
}

/* Figure 1B with `flits` flits, `acked` of them acknowledged. */
static void
one_case(struct bed *b, unsigned int flits, unsigned int acked)
{
	const struct rl_fault cut = {
		.kind = RL_FAULT_CUT,
		.silent = true,
		.nth_flit = true,
		.nth = acked + 1,
	};
	struct rl_inject_link *f = &b->on.host.fault[b->link];
	struct client *to = &b->client[1];
	const uint64_t other0 = other_tx_flits(b);
	struct rl_port_event ev;
	struct rl_port_info info;
	uint32_t base;

	if (atomic_load(&to->received) == 0)
		open_flow(b);
	wait_for(b, link_works(b), "the link does not train");
	wait_for(b, host_drained(&b->on.host), "the fabric is not at rest");
	while (drained(b, &ev))
		;
	port_info(b, &info);
	base = info.replay_acked;
	to->expect_flits = flits;
	atomic_store(&to->received, 0);
	/* end 0 is s0's: the links are written "s0-s1" */
	assert_int_equal(rl_inject_order(f, 0, &cut), 0);
	wait_for(b, rl_inject_settled(f), "the fault layer does not answer");
	atomic_store(&b->client[0].want_flits, flits);
	wait_for(b, rl_inject_severed(f), "the wire is not cut");
	wait_for(b, acked_since(b, base) == acked, "not so many acknowledged");
	rl_inject_down(f, host_now(&b->on.host));
	wait_for(b, drained(b, &ev), "the port does not drain");
	wait_for(b, atomic_load(&to->received) != 0, "nothing arrives");
	wait_for(b, host_drained(&b->on.host), "the fabric is not at rest");

	assert_int_equal(atomic_load(&to->received), 1);
	assert_int_equal(atomic_load(&to->wrong), 0);
	/* a packet wholly acknowledged is through, and nothing loops */
	assert_int_equal(ev.looped_packets, acked < flits);
	assert_int_equal(ev.looped_flits, acked < flits ? flits : 0);
	assert_int_equal(ev.looped_acked_flits, acked < flits ? acked : 0);
	assert_int_equal(other_tx_flits(b) - other0,
			 acked < flits ? flits : 0);
	heal(b, flits, acked);
}

static void
figure_1b_ten_flits_seven_acknowledged_all_ten_leave_by_the_other_port(
	void **state)
{
	one_case(*state, 10, 7);
}

static void
every_length_and_every_number_acknowledged(void **state)
{
	struct bed *b = *state;
	const uint64_t *c;

	for (unsigned int flits = 1; flits <= MAX_FLITS; flits++)
		for (unsigned int acked = 0; acked <= flits; acked++)
			one_case(b, flits, acked);
	/* the links did it alone: nothing was sent again end to end */
	c = rl_ep_counters(b->on.host.fabric.dev[b->on.cfg.topo.ep_dev[0]].core.ep);
	assert_int_equal(c[RL_EPC_retransmitted_flits], 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			figure_1b_ten_flits_seven_acknowledged_all_ten_leave_by_the_other_port),
		cmocka_unit_test(every_length_and_every_number_acknowledged),
	};

	eal_fixture_start(argc > 1 ? argv[1] : "0");
	return cmocka_run_group_tests_name("figure-1b", tests, setup,
					   teardown);
}
