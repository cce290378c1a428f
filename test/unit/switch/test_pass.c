/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From old tables to new ones by tokens [RES-5]: by which of the two a packet
 * goes, what waits for a token, and what ends it.
 *
 * Old tables send to 0 by port 2, new ones by port 3; both send to 3 by port
 * 3, and to 6 by port 4. One VL. Channels in have ranks 1 to 6, out 11 to 16,
 * unless a test says otherwise; no endpoint is behind any port.
 */

#include "core_bench.h"

#define EPOCH 7
#define DST_MOVED 0
#define DST_SAME 3

struct pass_bench {
	struct core_bench c;
	struct rl_fwd_entry entry[CB_DSTS];
	struct rl_fwd fwd;
	struct rl_fwd_ranks rank[CB_PORTS];
	bool end[CB_PORTS];
	struct rl_fwd_pass pass;
};

static struct pass_bench b;

/* The link of port @p dark has yet to train. */
static void
begin_beside(int ep, uint16_t dark)
{
	static const uint16_t two[] = { 2 }, three[] = { 3 }, four[] = { 4 };

	memset(&b, 0, sizeof(b));
	cb_cfg(&b.c);
	cb_route(&b.c, 0, DST_MOVED, three, 1);
	cb_route(&b.c, 0, DST_SAME, three, 1);
	cb_route(&b.c, 0, 6, four, 1);
	memcpy(b.entry, b.c.entry[0], sizeof(b.entry));
	cb_route(&b.c, 0, DST_MOVED, two, 1);
	cb_open(&b.c, ep);
	for (uint16_t i = 0; i < CB_PORTS; i++) {
		if (i != dark)
			cb_mark(&b.c, i, RL_MARK_LINK_UP);
		b.rank[i].in[0] = 1u + i;
		b.rank[i].out[0] = 11u + i;
	}
	b.fwd = b.c.fwd;
	rl_fwd_entries(&b.fwd, b.entry);
	b.pass = (struct rl_fwd_pass){
		.fwd = &b.fwd, .epoch = EPOCH, .vls = 1,
		.rank = b.rank, .end = b.end,
	};
}

static void
begin(int ep)
{
	begin_beside(ep, CB_PORTS);
}

static void
stage(void)
{
	rl_core_stage(b.c.core, &b.pass);
	assert_true(rl_core_passing(b.c.core));
}

/* And all are prepared. Nothing leads to the ports whose bits are in @p bare. */
static void
stage_all(uint32_t bare)
{
	for (uint16_t i = 0; i < CB_PORTS; i++)
		if (bare & 1u << i)
			b.rank[i].out[0] = 0;
	stage();
	rl_core_pass(b.c.core);
}

static void
token_of(uint16_t port, uint32_t epoch)
{
	const struct bench_packet k = { .src = RL_EP_TOKEN,
					.dst = RL_EP_TOKEN, .flits = 1,
					.tag = epoch };
	struct rl_flit *f = bench_make(&b.c.pool, &k);

	f->in_port = port;
	f->in_vc = 0;
	f->hops = 1;
	f->flags |= RL_FF_CREDIT;
	cb_give(&b.c, port, f);
	cb_advance(&b.c, 1);
}

static void
token(uint16_t port)
{
	token_of(port, EPOCH);
}

/* Of ports @p from to @p to - 1. */
static void
tokens(uint16_t from, uint16_t to)
{
	for (uint16_t i = from; i < to; i++)
		token(i);
}

/* The packets that a port got: "o" a packet, "T" a token. */
static void
given(uint16_t port, const char *want)
{
	char got[64] = "";
	size_t n = 0;

	cb_tx(&b.c, port);
	for (const struct rl_flit *p = b.c.out[port].head; p != NULL;
	     p = p->next_pkt)
		got[n++] = p->dst == RL_EP_TOKEN ? 'T' : 'o';
	assert_string_equal(got, want);
}

static void
end(void)
{
	assert_int_equal(CB_COUNTER(&b.c, tokens_overtaken), 0);
	assert_int_equal(b.c.ndrops, 0);
	cb_close(&b.c);
}

static void
what_follows_a_token_goes_by_the_new_tables_behind_one(void **state)
{
	(void)state;
	begin(-1);
	stage();
	cb_rx(&b.c, 0, DST_MOVED, 2);
	given(2, "o");
	token(0);
	cb_rx(&b.c, 0, DST_MOVED, 2); /* by port 3, when its token has gone */
	given(2, "o");
	given(3, "");
	cb_rx(&b.c, 1, DST_SAME, 1); /* before it, by the old tables */
	given(3, "o");
	tokens(1, CB_PORTS);
	given(3, "oTo");
	given(2, "oT");
	assert_false(rl_core_passing(b.c.core));
	assert_ptr_equal(rl_core_fwd(b.c.core), &b.fwd);
	cb_rx(&b.c, 1, DST_MOVED, 1);
	given(3, "oToo");
	assert_int_equal(CB_COUNTER(&b.c, rx_tokens), CB_PORTS);
	assert_int_equal(CB_COUNTER(&b.c, tx_tokens), CB_PORTS);
	end();
}

static void
tokens_leave_in_the_order_of_ranks(void **state)
{
	(void)state;
	begin(-1);
	b.rank[2].out[0] = 3; /* only those of ports 0 and 1 lead there */
	b.rank[4].out[0] = 0; /* nothing does */
	stage();
	cb_advance(&b.c, 1);
	given(4, ""); /* not told that all are prepared */
	token(1);
	given(4, "T");
	given(2, "");
	token(0);
	given(2, "T");
	given(3, "");
	tokens(2, CB_PORTS);
	given(3, "T");
	given(2, "T");
	assert_false(rl_core_passing(b.c.core));
	end();
}

static void
a_switch_that_nothing_leads_to_begins_when_all_are_prepared(void **state)
{
	(void)state;
	begin(-1);
	stage_all(1u << 4);
	cb_advance(&b.c, 1);
	given(4, "T");
	given(3, "");
	rl_core_set_fwd(b.c.core, &b.c.fwd); /* given up */
	assert_false(rl_core_passing(b.c.core));
	end();
}

static void
a_source_sends_by_the_new_tables_once_all_are_prepared(void **state)
{
	struct rl_pktq q = { 0 };

	(void)state;
	begin(5);
	stage();
	token(0); /* tokens alone do not turn it */
	rl_pktq_push(&q, cb_packet(&b.c, RL_PORT_NONE, DST_MOVED, 1));
	rl_core_inject(b.c.core, &q, b.c.now_ns);
	given(2, "o");
	rl_core_pass(b.c.core);
	rl_pktq_push(&q, cb_packet(&b.c, RL_PORT_NONE, DST_MOVED, 1));
	rl_core_inject(b.c.core, &q, b.c.now_ns);
	given(3, "");
	tokens(1, CB_PORTS);
	given(3, "To");
	end();
}

/* Even where no other token has to come before: what it sent is older. */
static void
no_token_of_a_source_leaves_before_it_has_turned(void **state)
{
	struct rl_pktq q = { 0 };

	(void)state;
	begin(5);
	b.rank[2].out[0] = 0; /* nothing but its own leads there */
	stage();
	token(0);
	given(2, "");
	rl_pktq_push(&q, cb_packet(&b.c, RL_PORT_NONE, DST_MOVED, 1));
	rl_core_inject(b.c.core, &q, b.c.now_ns);
	given(2, "o");
	rl_core_pass(b.c.core);
	cb_advance(&b.c, 1);
	given(2, "oT");
	rl_core_set_fwd(b.c.core, &b.c.fwd); /* given up */
	end();
}

static void
if_an_endpoint_is_behind_a_port_all_tokens_go_first(void **state)
{
	struct rl_flit *pkt;

	(void)state;
	begin(-1);
	b.pass.vls = 2;
	b.end[3] = true;
	for (uint16_t i = 0; i < CB_PORTS; i++) {
		b.rank[i].in[1] = 21u + i;
		b.rank[i].out[1] = 31u + i;
	}
	stage();
	tokens(0, CB_PORTS); /* of VL 0 */
	given(3, "T");
	cb_rx(&b.c, 0, DST_MOVED, 1);
	given(3, "T"); /* something on VL 1 may be older */
	for (uint16_t i = 0; i < CB_PORTS; i++) {
		const struct bench_packet k = { .src = RL_EP_TOKEN,
						.dst = RL_EP_TOKEN,
						.flits = 1, .tag = EPOCH };

		pkt = bench_make(&b.c.pool, &k);
		pkt->in_port = i;
		pkt->in_vc = 1;
		pkt->flags |= RL_FF_CREDIT;
		cb_give(&b.c, i, pkt);
	}
	cb_advance(&b.c, 1);
	assert_false(rl_core_passing(b.c.core));
	cb_tx(&b.c, 3);
	assert_int_equal(b.c.out[3].packets, 3);
	end();
}

static void
a_link_that_dies_owes_no_token_and_what_loops_out_goes_first(void **state)
{
	(void)state;
	begin(-1);
	stage_all(0);
	cb_rx(&b.c, 0, DST_MOVED, 1);
	cb_tx_all(&b.c);
	cb_mark(&b.c, 5, RL_MARK_LOOP_BEGIN);
	tokens(0, 5);
	given(3, ""); /* packets that loop out of port 5 are older */
	cb_mark(&b.c, 5, RL_MARK_LOOP_END);
	cb_advance(&b.c, b.c.cfg.resume_delay_ns);
	cb_advance(&b.c, 1);
	given(3, "T");
	assert_false(rl_core_passing(b.c.core));
	end();
}

/*
 * Old tables send to 0 by port @p other, too. A packet is in port 2; the tokens
 * of port 3 and of the other one have left.
 */
static void
in_port_2(uint16_t other)
{
	const uint16_t ways[] = { 2, other };

	begin(-1);
	cb_route(&b.c, 0, DST_MOVED, ways, 2);
	stage_all(1u << 3 | 1u << other);
	cb_rx(&b.c, 0, DST_MOVED, 1);
	cb_tx_all(&b.c);
	cb_advance(&b.c, 1);
}

static void
what_loops_out_after_the_token_goes_by_the_new_tables(void **state)
{
	(void)state;
	in_port_2(3);
	cb_mark(&b.c, 2, RL_MARK_LOOP_BEGIN);
	cb_loop(&b.c, 2, 1);
	given(3, "To"); /* it holds no credit, so it may follow */
	cb_mark(&b.c, 2, RL_MARK_LOOP_END);
	end();
}

/* The old tables know another way; the peer there goes by the new ones now. */
static void
what_loops_out_after_the_token_takes_no_way_of_the_old_tables(void **state)
{
	(void)state;
	in_port_2(4);
	given(3, "T");
	given(4, "T");
	cb_mark(&b.c, 2, RL_MARK_LOOP_BEGIN);
	cb_loop(&b.c, 2, 1);
	given(4, "T");
	given(3, "To");
	cb_mark(&b.c, 2, RL_MARK_LOOP_END);
	end();
}

/* The link of port 4 dies, and with it what it was given last. */
static void
dies_with_its_last(unsigned int looped)
{
	cb_mark(&b.c, 4, RL_MARK_LOOP_BEGIN);
	cb_loop(&b.c, 4, looped);
	cb_mark(&b.c, 4, RL_MARK_LOOP_END);
	cb_advance(&b.c, b.c.cfg.resume_delay_ns);
	cb_advance(&b.c, 1);
	given(4, "");
}

/* Its peer may wait for one. */
static void
a_token_goes_when_it_has_returned(void)
{
	cb_mark(&b.c, 4, RL_MARK_LINK_UP);
	token(5);
	assert_true(rl_core_passing(b.c.core));
	cb_tx_all(&b.c);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		if (b.c.fences[i] != 0)
			cb_mark(&b.c, i, RL_MARK_FENCE_DONE);
	cb_advance(&b.c, 1);
	cb_advance(&b.c, b.c.cfg.restore_delay_ns);
	cb_advance(&b.c, 1);
	assert_int_equal(CB_STATE(&b.c, 4), RL_EGRESS_ALIVE);
	given(4, "T");
	assert_false(rl_core_passing(b.c.core));
	end();
}

static void
tokens_go_again_on_a_link_that_returns(void **state)
{
	(void)state;
	begin(-1);
	stage_all(0);
	tokens(0, 4);
	dies_with_its_last(0);
	a_token_goes_when_it_has_returned();
}

/* The first one may never have got there. */
static void
a_token_that_a_link_took_with_it_goes_again_when_it_returns(void **state)
{
	(void)state;
	begin(-1);
	stage_all(1u << 4);
	tokens(0, 4);
	given(4, "T");
	dies_with_its_last(1);
	a_token_goes_when_it_has_returned();
}

static void
while_all_are_held_nothing_waits_for_a_token(void **state)
{
	(void)state;
	for (int done = 0; done < 2; done++) {
		begin(-1);
		stage_all(0);
		token(0);
		cb_rx(&b.c, 0, DST_MOVED, 1);
		assert_int_equal(rl_core_transit(b.c.core), 1);
		rl_core_still(b.c.core, true);
		cb_advance(&b.c, 1);
		assert_int_equal(rl_core_transit(b.c.core), 0);
		assert_int_equal(rl_core_flits(b.c.core), 1);
		cb_rx(&b.c, 0, DST_MOVED, 1); /* nor what comes later */
		assert_int_equal(rl_core_transit(b.c.core), 0);
		/* the new tables at rest, or the old ones again */
		rl_core_set_fwd(b.c.core, done ? &b.fwd : &b.c.fwd);
		cb_advance(&b.c, 1);
		rl_core_still(b.c.core, false);
		cb_advance(&b.c, 1);
		cb_expect(&b.c, 2, DST_MOVED, 0, UINT32_MAX);
		cb_tx_all(&b.c);
		cb_expect(&b.c, done ? 3 : 2, DST_MOVED, 0, 1);
		end();
	}
}

/* Nothing that waits moves while tokens pass: not even to an egress that is back. */
static void
while_all_are_held_what_waits_for_an_egress_is_at_rest_too(void **state)
{
	(void)state;
	begin(-1);
	cb_mark(&b.c, 2, RL_MARK_LOOP_BEGIN);
	stage_all(0);
	cb_rx(&b.c, 0, DST_MOVED, 1); /* waits for the drain of port 2 */
	assert_int_equal(rl_core_transit(b.c.core), 1);
	cb_mark(&b.c, 2, RL_MARK_LOOP_END);
	cb_advance(&b.c, b.c.cfg.resume_delay_ns);
	cb_advance(&b.c, 1);
	assert_int_equal(rl_core_transit(b.c.core), 1);
	rl_core_still(b.c.core, true);
	cb_advance(&b.c, 1);
	assert_int_equal(rl_core_transit(b.c.core), 0);
	assert_int_equal(rl_core_flits(b.c.core), 1);
	rl_core_set_fwd(b.c.core, &b.fwd);
	cb_advance(&b.c, 1);
	assert_int_equal(b.c.out[3].packets, 0); /* until all go on */
	rl_core_still(b.c.core, false);
	cb_advance(&b.c, 1);
	cb_tx_all(&b.c);
	cb_expect(&b.c, 3, DST_MOVED, 0, 0);
	end();
}

/* It waits for a link that died, or that has yet to train. */
static void
the_last_token_stirs_nothing_that_waits_while_all_are_held(void **state)
{
	(void)state;
	for (int dies = 0; dies < 2; dies++) {
		begin_beside(-1, dies ? CB_PORTS : 2);
		if (dies)
			cb_mark(&b.c, 2, RL_MARK_LOOP_BEGIN);
		cb_rx(&b.c, 0, DST_MOVED, 1);
		stage_all(0);
		token(0);
		rl_core_still(b.c.core, true);
		if (dies)
			cb_mark(&b.c, 2, RL_MARK_LOOP_END);
		cb_advance(&b.c, b.c.cfg.resume_delay_ns + 1);
		cb_advance(&b.c, 1);
		assert_int_equal(rl_core_transit(b.c.core), 0);
		for (uint16_t i = 1; i < CB_PORTS; i++)
			if (i != 2)
				token(i);
		cb_advance(&b.c, 1);
		assert_false(rl_core_passing(b.c.core));
		cb_tx_all(&b.c);
		assert_int_equal(rl_core_transit(b.c.core), 0);
		assert_int_equal(rl_core_flits(b.c.core), 1);
		given(3, "T");
		rl_core_still(b.c.core, false);
		cb_advance(&b.c, 1);
		given(3, "To");
		end();
	}
}

static void
tokens_of_another_epoch_and_out_of_time_are_nothing(void **state)
{
	(void)state;
	begin(-1);
	token(0); /* unrequested */
	assert_int_equal(rl_core_flits(b.c.core), 0);
	stage();
	token_of(0, EPOCH - 1);
	assert_int_equal(CB_COUNTER(&b.c, rx_tokens), 0);
	cb_rx(&b.c, 0, DST_MOVED, 1);
	given(2, "o");
	assert_true(rl_core_passing(b.c.core));
	end();
}

/* No token comes a second time: who forgot one would wait for it for ever. */
static void
a_change_that_is_told_twice_knows_the_tokens_that_have_come(void **state)
{
	(void)state;
	begin(-1);
	stage();
	token(0);
	stage();
	cb_rx(&b.c, 0, DST_MOVED, 1);
	given(2, "");
	tokens(1, CB_PORTS);
	given(3, "To");
	given(2, "T");
	assert_false(rl_core_passing(b.c.core));
	rl_core_stage(b.c.core, &b.pass); /* done, and told once more */
	assert_false(rl_core_passing(b.c.core));
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_follows_a_token_goes_by_the_new_tables_behind_one),
		cmocka_unit_test(tokens_leave_in_the_order_of_ranks),
		cmocka_unit_test(a_switch_that_nothing_leads_to_begins_when_all_are_prepared),
		cmocka_unit_test(a_source_sends_by_the_new_tables_once_all_are_prepared),
		cmocka_unit_test(no_token_of_a_source_leaves_before_it_has_turned),
		cmocka_unit_test(if_an_endpoint_is_behind_a_port_all_tokens_go_first),
		cmocka_unit_test(a_link_that_dies_owes_no_token_and_what_loops_out_goes_first),
		cmocka_unit_test(what_loops_out_after_the_token_goes_by_the_new_tables),
		cmocka_unit_test(
			what_loops_out_after_the_token_takes_no_way_of_the_old_tables),
		cmocka_unit_test(tokens_go_again_on_a_link_that_returns),
		cmocka_unit_test(
			a_token_that_a_link_took_with_it_goes_again_when_it_returns),
		cmocka_unit_test(while_all_are_held_nothing_waits_for_a_token),
		cmocka_unit_test(
			while_all_are_held_what_waits_for_an_egress_is_at_rest_too),
		cmocka_unit_test(
			the_last_token_stirs_nothing_that_waits_while_all_are_held),
		cmocka_unit_test(tokens_of_another_epoch_and_out_of_time_are_nothing),
		cmocka_unit_test(
			a_change_that_is_told_twice_knows_the_tokens_that_have_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
