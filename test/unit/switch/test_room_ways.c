/* SPDX-License-Identifier: BSD-3-Clause */
/* When what waits in a core finds a way: new tables, and others that give up. */
#include "parts.h"
#include "rl_wait.h"
#include "room_bench.h"

/* Flow 1 goes by X, or by Z, as X is dead: c.cfg is set, and may be changed. */
static void
detour_open(struct core_bench *c)
{
	cb_route(c, 0, 1, PORTS(X, Z));
	cb_open(c, -1);
	for (uint16_t p = 0; p < CB_PORTS; p++)
		cb_mark(c, p, RL_MARK_LINK_UP);
	die(c, X);
}

/* Other tables than those that the bench begins with. */
struct tables {
	struct rl_fwd_entry entry[CB_PLANES][CB_DSTS];
	struct rl_fwd fwd;
};

static void
copy_tables(struct tables *t, const struct core_bench *c)
{
	memcpy(t->entry, c->entry, sizeof(t->entry));
	t->fwd = c->fwd;
	rl_fwd_entries(&t->fwd, &t->entry[0][0]);
}

/*
 * One that can only go back where it came from stops those of its flow that
 * come another way; when it gives way to them they go.
 */
static void
what_joined_one_that_gives_way_goes(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	c.cfg.wait_flits = 4; /* 24 flits of all ports */
	detour_open(&c);
	cb_rx(&c, Z, 1, 4);
	for (unsigned int i = 0; i < 6; i++)
		cb_rx(&c, IN, 1, 4);
	assert_int_equal(c.ndrops, 1);
	assert_int_equal(c.drop[0].tag, 0);
	cb_advance(&c, 0);
	assert_int_equal(info(&c).packets, 0);
	cb_tx_all(&c);
	cb_expect(&c, Z, 1, 1, 6);
	assert_int_equal(c.ndrops, 1);
	cb_close(&c);
}

/*
 * Packets that waited too long count, too, not only those that give way. But a
 * packet that waited as long goes with it: an endpoint without retry has
 * skipped it by then.
 */
static void
what_joined_one_that_is_given_up_goes_in_its_time(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	detour_open(&c);
	cb_rx(&c, Z, 1, 4);
	cb_rx(&c, IN, 1, 4);
	cb_advance(&c, c.cfg.no_path_ns / 2);
	for (unsigned int i = 0; i < 6; i++)
		cb_rx(&c, IN, 1, 4);
	while (c.ndrops == 0)
		cb_advance(&c, rl_core_deadline(c.core) - c.now_ns);
	cb_advance(&c, 0);
	assert_int_equal(c.ndrops, 2);
	assert_int_equal(c.drop[0].tag, 0);
	assert_int_equal(c.drop[1].tag, 1);
	assert_int_equal(c.drop[1].why, RL_DROP_NO_PATH);
	cb_tx_all(&c);
	cb_expect(&c, Z, 1, 2, 7);
	cb_close(&c);
}

/*
 * A packet on a detour, which new tables lead back: its source sends it again,
 * and does not take its destination for unreachable.
 */
static void
what_new_tables_lead_back_is_sent_again_by_its_source(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	c.cfg.restore_delay_ns = 0;
	detour_open(&c);
	cb_rx(&c, Z, 1, 4);
	cb_rx(&c, IN, 1, 4);
	cb_advance(&c, 0);
	assert_int_equal(c.ndrops, 0); /* new tables may come */
	rl_core_set_fwd(c.core, &c.fwd);
	cb_advance(&c, 0);
	assert_int_equal(c.ndrops, 1);
	assert_int_equal(c.drop[0].tag, 0);
	assert_int_equal(c.drop[0].why, RL_DROP_ASTRAY);
	assert_int_equal(CB_COUNTER(&c, drop_astray), 1);
	cb_tx_all(&c);
	cb_expect(&c, Z, 1, 1, 1);
	/* without new tables it waits for a link that returns */
	cb_rx(&c, Z, 1, 4);
	cb_advance(&c, 0);
	assert_int_equal(c.ndrops, 1);
	rise(&c, X);
	cb_tx_all(&c);
	cb_expect(&c, X, 1, 2, 2);
	cb_close(&c);
}

/* Nor is one whose plane new tables do not lead on, where another plane does. */
static void
what_new_tables_know_by_another_plane_is_sent_again(void **state)
{
	struct core_bench c;
	struct tables t;

	(void)state;
	for (unsigned int other = 0; other < 2; other++) {
		room_open(&c, 1024);
		die(&c, X);
		cb_rx(&c, IN, 1, 1);
		copy_tables(&t, &c);
		t.entry[1][1].hop[0] = t.entry[0][1].hop[0];
		t.entry[0][1].hop[0].port = RL_FWD_PORT_NONE;
		if (!other)
			t.entry[1][1].hop[0].port = RL_FWD_PORT_NONE;
		t.fwd.nplanes = 2;
		rl_core_set_fwd(c.core, &t.fwd);
		cb_advance(&c, 0);
		assert_int_equal(c.ndrops, 1);
		assert_int_equal(c.drop[0].why, other ? RL_DROP_ASTRAY
						      : RL_DROP_NO_PATH);
		cb_close(&c);
	}
}

/*
 * While tables are expected, a packet that gives way is not reported as
 * without a way.
 */
static void
what_gives_way_while_tables_are_expected_may_have_a_way_soon(void **state)
{
	struct core_bench c;

	(void)state;
	room_open(&c, 4); /* 24 flits of all ports */
	die(&c, X);
	rl_core_await_routes(c.core, c.now_ns + US);
	for (unsigned int i = 0; i < 7; i++)
		cb_rx(&c, IN, 1, 4);
	assert_int_equal(c.ndrops, 1);
	assert_int_equal(c.drop[0].why, RL_DROP_NO_ROOM);
	assert_int_equal(CB_COUNTER(&c, drop_no_path), 0);
	cb_rx(&c, IN, 1, 64); /* more than there ever is */
	assert_int_equal(c.drop[1].why, RL_DROP_NO_ROOM);
	cb_advance(&c, US);
	cb_rx(&c, IN, 1, 4);
	assert_int_equal(c.drop[2].why, RL_DROP_NO_PATH);
	assert_int_equal(CB_COUNTER(&c, evicted_packets), 3);
	cb_close(&c);
}

/*
 * An endpoint's link dies: what loops out of it spends more than the budget. Its
 * own packets wait with it, and none is given up for that.
 */
static void
looped_packets_beyond_the_budget_cost_no_other_packet(void **state)
{
	struct rl_pktq q = { 0 };
	struct core_bench c;

	(void)state;
	room_open(&c, 4); /* 24 flits of all ports */
	for (unsigned int i = 0; i < 8; i++)
		cb_rx(&c, IN, 1, 4);
	cb_tx(&c, X);
	cb_mark(&c, X, RL_MARK_LOOP_BEGIN);
	cb_loop(&c, X, 8);
	for (unsigned int i = 0; i < 3; i++) {
		rl_pktq_push(&q, cb_packet(&c, RL_PORT_NONE, 1, 4));
		rl_core_inject(c.core, &q, c.now_ns);
	}
	assert_int_equal(info(&c).kept_packets, 3);
	cb_mark(&c, X, RL_MARK_LOOP_END);
	cb_advance(&c, c.cfg.resume_delay_ns);
	assert_int_equal(CB_STATE(&c, X), RL_EGRESS_DEAD);
	assert_int_equal(info(&c).lent_flits, 32);
	assert_int_equal(c.ndrops, 0);
	assert_int_equal(CB_COUNTER(&c, evicted_packets), 0);
	rise(&c, X);
	cb_tx_all(&c);
	assert_int_equal(info(&c).lent_flits, 0);
	assert_int_equal(info(&c).kept_packets, 0);
	cb_close(&c);
}

/* New tables: what waits looks again, at once and in small steps. */
static void
new_tables_take_what_waits_along(void **state)
{
	struct core_bench c;
	struct tables t;

	(void)state;
	room_open(&c, 1024);
	die(&c, X);
	for (unsigned int i = 0; i < 1000; i++)
		cb_rx(&c, IN, 1, 1);
	rl_core_await_routes(c.core, c.now_ns + 2 * c.cfg.no_path_ns);
	cb_advance(&c, c.cfg.no_path_ns + c.cfg.no_path_ns / 8);
	assert_int_equal(c.ndrops, 0);
	copy_tables(&t, &c);
	t.entry[0][1].hop[0].port = Z;
	rl_core_set_fwd(c.core, &t.fwd);
	assert_true(rl_core_deadline(c.core) <= c.now_ns);
	cb_rx(&c, IN, 1, 1);
	for (unsigned int i = 0; i < 5; i++)
		cb_advance(&c, 0);
	cb_tx_all(&c);
	cb_expect(&c, Z, 1, 0, 1000);
	/* and where they say that there is no way, that is final */
	t.entry[0][1].hop[0].port = X;
	for (unsigned int i = 0; i < 3; i++)
		cb_rx(&c, IN, 1, 1);
	t.entry[0][1].hop[0].port = RL_FWD_PORT_NONE;
	rl_core_set_fwd(c.core, &t.fwd);
	cb_advance(&c, 0);
	assert_int_equal(c.ndrops, 3);
	assert_int_equal(c.drop[0].why, RL_DROP_NO_PATH);
	assert_int_equal(CB_COUNTER(&c, evicted_packets), 0);
	cb_close(&c);
}

/*
 * Tables that are proven at rest only: until all devices have them, what waits
 * waits, for a way that has returned, too; then all of it goes.
 */
static void
what_waits_is_still_while_the_fabric_is(void **state)
{
	struct core_bench c;
	struct tables t;

	(void)state;
	room_open(&c, 1024);
	die(&c, X);
	die(&c, Y);
	cb_rx(&c, IN, 1, 1);
	cb_rx(&c, IN, 2, 1);
	rl_core_still(c.core, true);
	cb_advance(&c, c.cfg.no_path_ns + c.cfg.no_path_ns / 8);
	assert_int_equal(c.ndrops, 0);
	rise(&c, Y); /* not by this way: who knows what others have by now */
	cb_rx(&c, IN, 4, 1);
	cb_tx_all(&c);
	cb_expect(&c, Z, 4, 0, 0); /* packets under way go on */
	assert_int_equal(info(&c).packets, 2);
	copy_tables(&t, &c);
	t.entry[0][1].hop[0].port = Z;
	rl_core_set_fwd(c.core, &t.fwd);
	cb_advance(&c, c.cfg.no_path_ns / 2);
	assert_int_equal(info(&c).packets, 2);
	assert_int_equal(c.ndrops, 0);
	rl_core_still(c.core, false);
	assert_true(rl_core_deadline(c.core) <= c.now_ns);
	cb_advance(&c, 0);
	cb_tx_all(&c);
	cb_expect(&c, Z, 1, 0, 0);
	cb_expect(&c, Y, 2, 0, 0);
	/* without tables: as long as they were waited for before */
	die(&c, Y);
	cb_rx(&c, IN, 2, 1);
	rl_core_still(c.core, true);
	rl_core_still(c.core, false);
	cb_advance(&c, 0);
	cb_advance(&c, c.cfg.no_path_ns + c.cfg.no_path_ns / 8);
	assert_int_equal(c.ndrops, 1);
	cb_close(&c);
}

/* The drain ends while the fabric is stilled, and the packet goes on. */
static void
what_waits_for_a_drain_is_under_way_while_the_fabric_is_stilled(void **state)
{
	struct core_bench c;

	(void)state;
	room_open(&c, 1024);
	cb_mark(&c, X, RL_MARK_LOOP_BEGIN);
	cb_rx(&c, IN, 3, 1);
	assert_int_equal(info(&c).packets, 1);
	rl_core_still(c.core, true);
	cb_advance(&c, 0);
	assert_int_equal(rl_core_transit(c.core), 1);
	cb_mark(&c, X, RL_MARK_LOOP_END);
	cb_advance(&c, c.cfg.resume_delay_ns);
	cb_advance(&c, 0);
	cb_tx_all(&c);
	cb_expect(&c, Y, 3, 0, 0);
	assert_int_equal(rl_core_transit(c.core), 0);
	rl_core_still(c.core, false);
	cb_close(&c);
}

/*
 * A device that restarts may have links that do not train: what waits for them
 * does not keep a fabric from rest. It stays, even if its link comes up.
 */
static void
what_waits_for_a_link_to_train_is_at_rest(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	c.cfg.wait_flits = 1024;
	c.cfg.restore_delay_ns = 0;
	cb_route(&c, 0, 1, PORTS(X));
	cb_route(&c, 0, 2, PORTS(Y));
	cb_open(&c, -1);
	cb_rx(&c, IN, 1, 1); /* before all is stilled, and after */
	assert_int_equal(rl_core_transit(c.core), 1);
	rl_core_still(c.core, true);
	cb_advance(&c, 0);
	cb_rx(&c, IN, 1, 1);
	cb_rx(&c, IN, 2, 1);
	assert_int_equal(rl_core_transit(c.core), 0);
	cb_mark(&c, X, RL_MARK_LINK_UP);
	cb_advance(&c, c.cfg.no_path_ns + c.cfg.no_path_ns / 8);
	cb_advance(&c, 0);
	cb_tx_all(&c);
	assert_int_equal(c.out[X].packets, 0);
	assert_int_equal(c.ndrops, 0);
	rl_core_still(c.core, false);
	cb_advance(&c, 0);
	cb_tx_all(&c);
	cb_expect(&c, X, 1, 0, 1);
	assert_int_equal(info(&c).packets, 1);
	cb_close(&c);
}

/* As an endpoint marks what it asks with, and what it answers with. */
static struct rl_flit *
probe_of(struct core_bench *c, uint16_t dst, uint32_t tag)
{
	struct rl_flit *pkt;

	c->next_tag[dst] = tag;
	pkt = cb_packet(c, IN, dst, 1);
	pkt->class = RL_CLASS_CTRL;
	return pkt;
}

/*
 * The source of a flow that is held asks whether what it has sent is still on
 * its way: where there is none it hears so, and what waits there stays.
 */
static void
a_probe_without_a_way_is_dropped_while_flows_are_held(void **state)
{
	struct core_bench c;

	(void)state;
	room_open(&c, 1024);
	die(&c, X);
	die(&c, Y);
	cb_rx(&c, IN, 1, 1);
	cb_give(&c, IN, probe_of(&c, 1, 7)); /* before it was said here, too */
	cb_give(&c, IN, probe_of(&c, 1, 0)); /* an acknowledgment: it waits */
	cb_advance(&c, 0);
	assert_int_equal(c.ndrops, 0);
	rl_core_still(c.core, true);
	cb_advance(&c, 0);
	assert_int_equal(c.ndrops, 1);
	cb_give(&c, IN, probe_of(&c, 1, 8));
	assert_int_equal(c.ndrops, 2);
	assert_int_equal(c.drop[0].why, RL_DROP_ASTRAY);
	assert_int_equal(c.drop[1].why, RL_DROP_ASTRAY);
	assert_int_equal(info(&c).packets, 2);
	rl_core_still(c.core, false);
	cb_give(&c, IN, probe_of(&c, 1, 9)); /* a way may come: it waits */
	assert_int_equal(c.ndrops, 2);
	assert_int_equal(info(&c).packets, 3);
	cb_close(&c);
}

/*
 * A probe asks what has arrived of the data ahead of it. It may have a way that
 * these do not: if it took it, they would count as lost, and be sent again.
 */
static void
a_probe_stays_behind_the_data_of_its_flow(void **state)
{
	struct core_bench c;
	struct rl_flit *probe;

	(void)state;
	cb_cfg(&c);
	c.cfg.restore_delay_ns = 0;
	detour_open(&c);
	cb_rx(&c, Z, 1, 4);
	probe = probe_of(&c, 1, 1);
	probe->wire[RL_FLIT_CMD_OFF] = RL_FLIT_CMD_PROBE;
	cb_give(&c, IN, probe);
	cb_give(&c, IN, probe_of(&c, 1, 2)); /* an answer: it need not wait */
	cb_tx_all(&c);
	cb_expect(&c, Z, 1, 2, 2);
	assert_int_equal(info(&c).packets, 2);
	rl_core_still(c.core, true);
	cb_advance(&c, 0);
	probe = probe_of(&c, 1, 3);
	probe->wire[RL_FLIT_CMD_OFF] = RL_FLIT_CMD_PROBE;
	cb_give(&c, IN, probe); /* its source need not wait for it */
	assert_int_equal(c.ndrops, 1);
	assert_int_equal(c.drop[0].tag, 3);
	assert_int_equal(c.drop[0].why, RL_DROP_ASTRAY);
	rl_core_still(c.core, false);
	rise(&c, X);
	cb_tx_all(&c);
	assert_int_equal(c.out[X].packets, 2);
	assert_int_equal(rl_flit_tag(c.out[X].head->wire), 0);
	assert_true(rl_is_probe(c.out[X].tail));
	cb_close(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("[DRL-11] what joined one that gives way goes",
		     what_joined_one_that_gives_way_goes),
		CASE("[DRL-7] what joined one that is given up goes in its time",
		     what_joined_one_that_is_given_up_goes_in_its_time),
		CASE("[RES-3] what new tables lead back is sent again by its "
		     "source",
		     what_new_tables_lead_back_is_sent_again_by_its_source),
		CASE("[RES-3] what new tables know by another plane is sent "
		     "again",
		     what_new_tables_know_by_another_plane_is_sent_again),
		CASE("[RES-3] what gives way while tables are expected may "
		     "have a way soon",
		     what_gives_way_while_tables_are_expected_may_have_a_way_soon),
		CASE("[DRL-11] what looped beyond the budget costs nobody a "
		     "packet",
		     looped_packets_beyond_the_budget_cost_no_other_packet),
		CASE("[RES-3] new tables take what waits along",
		     new_tables_take_what_waits_along),
		CASE("[RES-1] what waits is still while the fabric is",
		     what_waits_is_still_while_the_fabric_is),
		CASE("[RES-1] what waits for a drain is under way while the "
		     "fabric is stilled",
		     what_waits_for_a_drain_is_under_way_while_the_fabric_is_stilled),
		CASE("[RES-1] what waits for a link to train is at rest",
		     what_waits_for_a_link_to_train_is_at_rest),
		CASE("[RES-6] a probe without a way is dropped while flows are "
		     "held",
		     a_probe_without_a_way_is_dropped_while_flows_are_held),
		CASE("[EP-8] a probe stays behind the data of its flow",
		     a_probe_stays_behind_the_data_of_its_flow),
	};

	return cmocka_run_group_tests_name("room-ways", tests, NULL, NULL);
}
