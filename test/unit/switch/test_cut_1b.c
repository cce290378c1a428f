/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Figure 1B cut through, on real ports and cores: the link dies when k flits
 * of a packet of F are acknowledged, while the rest of the packet still comes
 * in. All of it leaves by the other port, and its destination has it once; the
 * copy that was cut off is closed [DRL-1, DRL-3, LINK-C27].
 */
#include "../../few.h"
#include "duo.h"
#include "parts.h"

#define US RL_NS_PER_US

static enum bench_act
lose_from(void *ctx, struct bench_frame *f)
{
	const unsigned int from = *(unsigned int *)ctx;

	return f->h.type == RL_FRAME_DATA && f->h.seq >= from ? BENCH_DROP
							      : BENCH_PASS;
}

static void
prepare(struct duo *d, bool dup_filter)
{
	duo_cfg(d, 2);
	d->pool_flits = 256;
	d->cfg.switching = RL_CUT_THROUGH;
	d->cfg.ack_coalesce_flits = 1;
	d->cfg.replay_timer_ns = RL_NS_PER_MS;
	d->cfg.dup_filter = dup_filter;
	duo_open(d);
}

static void
give(struct duo *d, struct rl_flit **pkt, unsigned int n)
{
	while (n-- > 0 && *pkt != NULL)
		duo_give(d, parts_cut(pkt, 1));
}

/*
 * `given` flits come before the death, the others one every `pace` us after
 * it: some in the drain, some in the delay, some when all is over.
 */
static void
die_at(unsigned int flits, unsigned int given, unsigned int acked,
       unsigned int pace)
{
	unsigned int upto = acked;
	struct rl_port_info info;
	struct rl_flit *pkt;
	struct duo d;

	prepare(&d, pace % 2);
	d.wire[0][0].hook = lose_from;
	d.wire[0][0].ctx = &upto;
	pkt = duo_make(&d, 0, flits);
	give(&d, &pkt, given);
	duo_run(&d, (given + 20) * US);
	info = bench_info(&d.a.end[0]);
	assert_int_equal(info.replay_acked, acked);
	assert_int_equal(info.replay_tail, given);
	duo_kill(&d, 0);
	if (pace == 0)
		give(&d, &pkt, flits);
	while (pkt != NULL) {
		duo_run(&d, pace * US);
		give(&d, &pkt, 1);
	}
	duo_send(&d, 0, 3); /* the next of its flow is held, or follows */
	duo_settle(&d, 2 * RL_NS_PER_MS);
	assert_int_equal(COUNTER(&d.a.end[0], looped_acked_flits),
			 acked == flits ? 0 : acked);
	assert_int_equal(COUNTER(&d.a.end[1], tx_flits),
			 (acked == flits ? 0 : flits) + 3);
	/*
	 * the part that had gone on is closed, and its second copy is
	 * recognised
	 */
	assert_int_equal(COUNTER(&d.b.end[0], rx_closed),
			 acked > 0 && acked < flits);
	assert_int_equal(d.again_flits, acked == flits ? 0 : acked);
	assert_int_equal(d.sink.packets, 2);
	assert_int_equal(d.sink.flits, flits + 3);
	duo_check(&d);
	duo_run(&d, 50 * US); /* the last credits are told */
	assert_int_equal(bench_info(&d.a.end[0]).reserved_flits, 0);
	assert_int_equal(bench_info(&d.a.end[1]).reserved_flits, 0);
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		assert_int_equal(bench_info(&d.a.end[1]).credits[vc],
				 d.cfg.credits_flits);
	duo_close(&d);
}

static void
a_link_dies_at_every_flit_while_the_rest_comes_in(void **state)
{
	static const unsigned int pace[] = { 0, 1, 7 };

	(void)state;
	for (unsigned int flits = 1; flits <= 12; flits += FEW(3))
		for (unsigned int given = 1; given <= flits; given++)
			for (unsigned int k = 0; k <= given; k++)
				for (unsigned int i = 0;
				     i < RL_ARRAY_SIZE(pace); i++)
					die_at(flits, given, k, pace[i]);
}

/*
 * Both links die, the second `after` us later, under a packet that comes in
 * one flit a microsecond; the first returns. Whatever was cut off where.
 */
static void
both_links_die_under_one_packet_at_every_step(void **state)
{
	(void)state;
	for (unsigned int first = 1; first < 20; first += 2)
		for (unsigned int after = 0; after < 40; after += FEW(3)) {
			struct rl_flit *pkt;
			struct duo d;

			prepare(&d, false);
			pkt = duo_make(&d, 0, 16);
			for (unsigned int t = 0; t < 80; t++) {
				if (t == first)
					duo_kill(&d, 0);
				if (t == first + after)
					duo_kill(&d, 1);
				give(&d, &pkt, 1);
				duo_run(&d, US);
			}
			duo_send(&d, 0, 2);
			duo_run(&d, 100 * US);
			duo_heal(&d, 0);
			duo_settle(&d, 5 * RL_NS_PER_MS);
			assert_int_equal(d.sink.packets, 2);
			assert_int_equal(d.sink.flits, 18);
			duo_check(&d);
			duo_close(&d);
		}
}

/* Four flows cut through two links that flap, under loss. */
static void
flapping_links_under_open_packets(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 30; seed += FEW(3)) {
		struct rl_flit *pkt[DUO_FLOWS] = { NULL };
		struct rl_prng prng;
		struct duo d;

		prepare(&d, seed % 2);
		rl_prng_seed(&prng, seed);
		for (unsigned int t = 0; t < 1500; t++) {
			const unsigned int f = rl_prng_below(&prng, DUO_FLOWS);

			if (rl_prng_below(&prng, 150) == 0)
				duo_kill(&d, rl_prng_below(&prng, 2));
			if (rl_prng_below(&prng, 100) == 0)
				duo_heal(&d, rl_prng_below(&prng, 2));
			if (pkt[f] == NULL && d.pool.cache.count > 160)
				pkt[f] = duo_make(
					&d, f, 1 + rl_prng_below(&prng, 16));
			give(&d, &pkt[f], 1 + rl_prng_below(&prng, 3));
			duo_run(&d, US);
		}
		for (unsigned int f = 0; f < DUO_FLOWS; f++)
			give(&d, &pkt[f], 16);
		duo_heal(&d, 0);
		duo_heal(&d, 1);
		duo_settle(&d, 20 * RL_NS_PER_MS);
		duo_check(&d);
		duo_close(&d);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("LINK-C27 [DRL-1] a link dies at every flit while the rest "
		     "comes in",
		     a_link_dies_at_every_flit_while_the_rest_comes_in),
		CASE("LINK-C30 both links die under one packet, at every step",
		     both_links_die_under_one_packet_at_every_step),
		CASE("LINK-C33 flapping links under open packets",
		     flapping_links_under_open_packets),
	};

	return cmocka_run_group_tests_name("figure 1B cut through", tests,
					   NULL, NULL);
}
