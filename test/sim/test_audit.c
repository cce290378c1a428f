/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The oracles of the simulation before a fabric that the test has broken by
 * hand: each says no, and what is wrong. One that never does proves nothing.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rl_route.h"
#include "rl_sim.h"

static const char fabric[] =
	"fabric: { topology = \"mesh\"; dims = [2]; };\n"
	"endpoint: { retry = false; gap_skip_ns = 20000; };\n";

static struct rl_config cfg;
static struct rl_route *route;
static struct rl_sim_mem mem;
static struct rl_sim *sim;
static struct rl_fabric *f;
static uint32_t sw; /* a switch, and one of its ports to another */
static uint16_t port;
static char why[RL_ERR_MAX];
static uint64_t poll_ns; /* how long a role takes to notice something */

static int
open_sim(uint64_t run_ns)
{
	struct rl_sim_params p = {
		.mem = &mem, .cfg = &cfg, .seed = 1, .tick_ns = 1,
		.poll_ns = poll_ns, .isa = rl_codec_best_isa(512), .check_packets = true,
	};
	char err[1024];

	if (rl_config_read_text("f", fabric, strlen(fabric), &cfg, err,
				sizeof(err)) != 0 ||
	    rl_route_setup(&cfg.topo, NULL, 8, 1, &route, err) != 0 ||
	    rl_sim_mem_init(&mem) != 0)
		return -1;
	rl_sim_wire_defaults(&p.wire);
	p.fwd = route->fwd;
	if (rl_sim_create(&p, &sim, err) != 0)
		return -1;
	f = rl_sim_fabric(sim);
	sw = cfg.topo.link[cfg.topo.nlink - 1].dev[0];
	port = cfg.topo.link[cfg.topo.nlink - 1].port[0];
	rl_sim_run(sim, run_ns);
	return 0;
}

static int
fresh(void **state)
{
	(void)state;
	return open_sim(100 * RL_NS_PER_US);
}

static int
done(void **state)
{
	(void)state;
	assert_int_equal(rl_sim_destroy(sim, why), 0);
	rl_sim_mem_free(&mem);
	rl_route_free(route);
	rl_config_free(&cfg);
	return 0;
}

/* A packet of @p n flits from one endpoint to the other, as it should be. */
static struct rl_flit *
make(unsigned int n)
{
	struct rl_flit *head = NULL;

	for (uint32_t i = 0; i < n; i++) {
		struct rl_flit *flit = rl_flit_get(&mem.cache);
		uint8_t *wire = flit->wire;
		const struct rl_txn t = {
			.dst = 1, .sop = i == 0, .eop = i + 1 == n,
			.valid_bytes = RL_FLIT_DATA_BYTES, .pos = (uint16_t)i,
			.len_flits = (uint16_t)n,
		};

		assert_non_null(flit);
		memset(flit, 0, sizeof(*flit));
		rl_txn_put(flit->wire, &t);
		rl_codec_tx(f->codec, &wire, &i, 1);
		flit->dst = 1;
		flit->flags = (uint8_t)((i == 0 ? RL_FF_SOP : 0) |
					(i + 1 == n ? RL_FF_EOP : 0));
		if (head == NULL) {
			rl_packet_start(flit);
			head = flit;
		} else {
			rl_packet_append(head, flit);
		}
	}
	return head;
}

static void
pass(const struct rl_pipe *pipe, struct rl_flit *pkt)
{
	void *obj = pkt;

	assert_int_equal(pipe->put(pipe->ring, &obj, 1), 1);
}

static void
says(const char *words)
{
	assert_int_equal(rl_sim_audit(sim, true, why), -EUCLEAN);
	if (strstr(why, words) == NULL)
		fail_msg("'%s' is not '%s'", why, words);
}

static void
a_quiet_fabric_passes_and_is_at_rest(void **state)
{
	(void)state;
	assert_int_equal(rl_sim_audit(sim, true, why), 0);
	assert_true(rl_sim_settled(sim, RL_SIM_LINKS, why));
}

/* Whole packets pass, also while they are in a pipe; but that is no rest. */
static void
packets_in_pipes_count_and_are_no_rest(void **state)
{
	(void)state;
	pass(&f->dev[sw].port[port].rx, make(3));
	assert_int_equal(rl_sim_audit(sim, true, why), 0);
	assert_false(rl_sim_settled(sim, 0, why));
	assert_non_null(strstr(why, "a pipe of role"));
}

static void
a_packet_that_is_no_whole_one_is_seen_as_it_passes(void **state)
{
	static const char *const words[] = {
		"a start in its middle", "an end in its middle",
		"its last flit is another", "longer or shorter than it says",
		"no start", "no end", "flits of it are missing", "not all of it",
	};

	for (unsigned int i = 0; i < RL_ARRAY_SIZE(words); i++) {
		struct rl_flit *pkt = make(3);
		struct rl_txn t;

		switch (i) {
		case 0:
			pkt->next->flags |= RL_FF_SOP;
			break;
		case 1:
			pkt->next->flags |= RL_FF_EOP;
			break;
		case 2:
			pkt->last = pkt->next;
			break;
		case 3:
			pkt->pkt_flits = 2;
			break;
		case 4:
			pkt->flags = 0;
			break;
		case 5:
			pkt->last->flags = 0;
			break;
		case 6: /* the second of four */
			rl_txn_get(pkt->next->wire, &t);
			t.pos++;
			rl_txn_put(pkt->next->wire, &t);
			break;
		default:
			rl_txn_get(pkt->wire, &t);
			t.len_flits++;
			rl_txn_put(pkt->wire, &t);
			break;
		}
		pass(&f->dev[sw].port[port].rx, pkt);
		pkt->pkt_flits = 3; /* all of it goes back in the end */
		says(words[i]); /* the first finding is kept */
		done(state);
		assert_int_equal(fresh(state), 0);
	}
}

static void
a_missing_flit_is_seen(void **state)
{
	struct rl_flit *flit = make(1);

	(void)state;
	says("flits: ");
	rl_flit_put(&mem.cache, flit);
	assert_int_equal(rl_sim_audit(sim, true, why), 0);
}

/* Of a port's counters a reader sees all; only a test may write them. */
static uint64_t *
counter(enum rl_port_counter c)
{
	union {
		const uint64_t *in;
		uint64_t *out;
	} p = { .in = rl_port_counters(f->dev[sw].port[port].port) };

	return &p.out[c];
}

static void
what_came_beyond_the_credits_given_is_seen(void **state)
{
	(void)state;
	*counter(RL_PC_rx_overrun) = 1;
	says("1 flits beyond the credits given");
}

static void
a_port_that_holds_something_is_no_rest(void **state)
{
	(void)state;
	rl_port_submit(f->dev[sw].port[port].port, make(2), rl_sim_now(sim));
	assert_false(rl_sim_settled(sim, 0, why));
	assert_non_null(strstr(why, "holds 2 flits"));
	assert_int_equal(rl_sim_audit(sim, false, why), 0);
}

/* Credits that are out with a packet are out; at rest they are missed. */
static void
credits_that_are_not_back_at_rest_are_seen(void **state)
{
	const uint32_t e1 = cfg.topo.ep_dev[1];
	const struct rl_topo_port *tp = &cfg.topo.dev[e1].port[0];

	(void)state;
	rl_role_core_hold(&f->dev[e1].core, UINT32_MAX);
	pass(&f->dev[tp->peer_dev].port[tp->peer_port].tx, make(2));
	rl_sim_run(sim, rl_sim_now(sim) + 10 * RL_NS_PER_US);
	assert_int_equal(rl_sim_audit(sim, false, why), 0);
	says(" credits on VC 0 of ");
	assert_non_null(strstr(why, "at rest"));
	rl_role_core_hold(&f->dev[e1].core, 0);
	rl_sim_wake_core(sim, e1);
	rl_sim_run(sim, rl_sim_now(sim) + 10 * RL_NS_PER_US);
	assert_int_equal(rl_sim_audit(sim, true, why), 0);
}

/* Nothing is anywhere; but the links have not trained yet. */
static void
a_link_that_is_not_up_is_no_rest_if_links_count(void **state)
{
	done(state);
	assert_int_equal(open_sim(1), 0);
	if (!rl_sim_settled(sim, 0, why))
		fail_msg("%s", why);
	assert_false(rl_sim_settled(sim, RL_SIM_LINKS, why));
}

/*
 * A credit is given back that was never taken: the far end may send too much.
 */
static void
credits_that_were_never_taken_are_seen(void **state)
{
	const struct rl_topo_port *tp = &cfg.topo.dev[sw].port[port];
	struct rl_flit *pkt = make(2);

	(void)state;
	for (struct rl_flit *flit = pkt; flit != NULL; flit = flit->next) {
		flit->flags |= RL_FF_CREDIT;
		flit->in_port = port;
	}
	pass(&f->dev[sw].port[port].rx, pkt);
	rl_sim_wake_core(sim, sw);
	rl_sim_run(sim, rl_sim_now(sim) + 10 * RL_NS_PER_US);
	pass(&f->dev[tp->peer_dev].port[tp->peer_port].tx, make(1));
	rl_sim_run(sim, rl_sim_now(sim) + 10 * RL_NS_PER_US);
	assert_int_equal(rl_sim_audit(sim, false, why), -EUCLEAN);
	assert_non_null(strstr(why, "more credits than there is room"));
}

/* Before it has noticed them. */
static void
what_a_device_that_crashes_has_in_its_pipes_is_given_back(void **state)
{
	struct rl_fault crash = { .kind = RL_FAULT_CRASH, .is_dev = true };
	struct rl_sim_faults list = { 0 };

	done(state);
	poll_ns = RL_NS_PER_US;
	assert_int_equal(open_sim(100 * RL_NS_PER_US), 0);
	poll_ns = 0;
	crash.dev = sw;
	crash.t_ns = rl_sim_now(sim) + 500;
	assert_int_equal(rl_sim_fault_add(&list, &crash), 0);
	assert_int_equal(rl_sim_schedule(sim, &list), 0);
	rl_sim_faults_free(&list);
	pass(&f->dev[sw].port[port].rx, make(3));
	rl_sim_run(sim, crash.t_ns + 1);
	assert_true(rl_sim_dev_dead(sim, sw));
	if (rl_sim_audit(sim, false, why) != 0)
		fail_msg("%s", why);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, done)
	const struct CMUnitTest tests[] = {
		CASE(a_quiet_fabric_passes_and_is_at_rest),
		CASE(packets_in_pipes_count_and_are_no_rest),
		CASE(a_packet_that_is_no_whole_one_is_seen_as_it_passes),
		CASE(a_missing_flit_is_seen),
		CASE(what_came_beyond_the_credits_given_is_seen),
		CASE(a_port_that_holds_something_is_no_rest),
		CASE(credits_that_are_not_back_at_rest_are_seen),
		CASE(a_link_that_is_not_up_is_no_rest_if_links_count),
		CASE(credits_that_were_never_taken_are_seen),
		CASE(what_a_device_that_crashes_has_in_its_pipes_is_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
