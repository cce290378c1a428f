/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * New tables by tokens where there is an adaptive plane [RES-5, ROUTE-9]: its
 * channels carry no tokens. To destination 0 ports 3 and 4 lead nearer by both
 * tables; by the tables themselves port 5, and port 1 by the new ones. VL 0 for
 * packets that are injected here or leave the plane, VL 1 for others: the last
 * of two VLs that tokens go by.
 */
#include "core_bench.h"

#define PLANE 7
#define EPOCH 7
#define DST 0

struct bed {
	struct core_bench c;
	struct rl_fwd_entry entry[CB_DSTS];
	struct rl_fwd fwd;
	struct rl_fwd_ranks rank[CB_PORTS];
	bool end[CB_PORTS];
	struct rl_fwd_pass pass;
	uint64_t near[CB_DSTS];
};

static struct bed b;

static void
begin(int ep)
{
	static const uint16_t one[] = { 1 }, five[] = { 5 };
	struct core_bench *c = &b.c;

	memset(&b, 0, sizeof(b));
	cb_cfg(c);
	c->cfg.queue_flits = 16;
	b.near[DST] = 1u << 3 | 1u << 4;
	c->fwd.adapt = b.near;
	c->fwd.adapt_vl = PLANE;
	c->fwd.adapt_sls = 1;
	cb_route(c, 0, DST, one, 1);
	memcpy(b.entry, c->entry[0], sizeof(b.entry));
	cb_route(c, 0, DST, five, 1);
	cb_open(c, ep);
	for (unsigned int in = 0; in < CB_PORTS; in++)
		for (unsigned int out = 0; out < CB_PORTS; out++)
			c->sl2vl[(in * CB_PORTS + out) * RL_SLS] = 1;
	for (uint16_t i = 0; i < CB_PORTS; i++) {
		cb_mark(c, i, RL_MARK_LINK_UP);
		for (unsigned int vl = 0; vl < 2; vl++) {
			b.rank[i].in[vl] = 1u + i;
			b.rank[i].out[vl] = 11u + i;
		}
	}
	b.fwd = c->fwd;
	rl_fwd_entries(&b.fwd, b.entry);
	b.pass = (struct rl_fwd_pass){ .fwd = &b.fwd, .epoch = EPOCH, .vls = 2,
				       .rank = b.rank, .end = b.end };
}

/* A packet, or a token, comes by a port and a VL. */
static void
give(uint16_t port, uint8_t vl, uint16_t dst)
{
	const struct bench_packet k = { .src = dst, .dst = dst, .flits = 1,
					.tag = EPOCH };
	struct rl_flit *f = dst == RL_EP_TOKEN ? bench_make(&b.c.pool, &k)
					       : cb_packet(&b.c, port, dst, 1);

	f->in_port = port;
	f->in_vc = vl;
	f->hops = 1;
	f->flags |= RL_FF_CREDIT;
	cb_give(&b.c, port, f);
	cb_advance(&b.c, 1);
}

/* What a port got: its VL for a packet, "T" for a token. */
static void
given(uint16_t port, const char *want)
{
	char has[64] = "";
	size_t n = 0;

	cb_tx(&b.c, port);
	for (const struct rl_flit *p = b.c.out[port].head; p != NULL;
	     p = p->next_pkt)
		has[n++] = p->dst == RL_EP_TOKEN ? 'T' : (char)('0' + p->vc);
	assert_string_equal(has, want);
}

static void
end(void)
{
	assert_int_equal(CB_COUNTER(&b.c, tokens_overtaken), 0);
	assert_int_equal(b.c.ndrops, 0);
	cb_close(&b.c);
}

/* Until the change begins here, all is as before. */
static void
the_plane_serves_until_the_change_begins(void **state)
{
	(void)state;
	begin(-1);
	rl_core_stage(b.c.core, &b.pass);
	give(0, PLANE, DST);
	assert_int_equal(CB_COUNTER(&b.c, adaptive_packets), 1);
	b.near[DST] = 0; /* it must leave */
	give(0, PLANE, DST);
	given(5, "0");
	given(1, "");
	rl_core_set_fwd(b.c.core, &b.c.fwd);
	end();
}

static void
what_leaves_the_plane_later_goes_by_the_new_tables_behind_a_token(void **state)
{
	(void)state;
	begin(-1);
	rl_core_stage(b.c.core, &b.pass);
	rl_core_pass(b.c.core);
	cb_advance(&b.c, 1);
	give(0, PLANE, DST);
	given(3, ""); /* though there is room */
	given(4, "");
	given(5, "");
	given(1, ""); /* its token has not left */
	give(2, 0, DST); /* before the token of its own channel */
	given(5, "1");
	for (uint16_t i = 0; i < CB_PORTS; i++)
		for (uint8_t vl = 0; vl < 2; vl++)
			give(i, vl, RL_EP_TOKEN);
	given(1, "TT0");
	given(5, "1TT");
	assert_int_equal(CB_COUNTER(&b.c, adaptive_packets), 0);
	/* none by the plane's VL is awaited, and none is sent there */
	assert_false(rl_core_passing(b.c.core));
	assert_int_equal(CB_COUNTER(&b.c, tx_tokens), 2 * CB_PORTS);
	give(0, PLANE, DST);
	assert_int_equal(CB_COUNTER(&b.c, adaptive_packets), 1);
	end();
}

/* A token that comes in is as good as the order. */
static void
a_token_of_a_neighbour_closes_the_plane_here(void **state)
{
	(void)state;
	begin(-1);
	rl_core_stage(b.c.core, &b.pass);
	give(0, 0, RL_EP_TOKEN);
	give(2, PLANE, DST);
	assert_int_equal(CB_COUNTER(&b.c, adaptive_packets), 0);
	given(5, "");
	rl_core_set_fwd(b.c.core, &b.fwd);
	given(1, "0");
	end();
}

/* A source sends nothing by the plane until its own change is over. */
static void
an_endpoint_sends_by_the_new_tables_meanwhile(void **state)
{
	struct rl_pktq q = { 0 };

	(void)state;
	begin(6);
	rl_core_stage(b.c.core, &b.pass);
	rl_core_pass(b.c.core);
	rl_pktq_push(&q, cb_packet(&b.c, RL_PORT_NONE, DST, 1));
	rl_core_inject(b.c.core, &q, b.c.now_ns);
	cb_advance(&b.c, 1);
	given(3, "");
	given(4, "");
	for (uint16_t i = 0; i < CB_PORTS; i++)
		for (uint8_t vl = 0; vl < 2; vl++)
			give(i, vl, RL_EP_TOKEN);
	given(1, "TT0");
	assert_int_equal(CB_COUNTER(&b.c, adaptive_packets), 0);
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_plane_serves_until_the_change_begins),
		cmocka_unit_test(
			what_leaves_the_plane_later_goes_by_the_new_tables_behind_a_token),
		cmocka_unit_test(a_token_of_a_neighbour_closes_the_plane_here),
		cmocka_unit_test(an_endpoint_sends_by_the_new_tables_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
