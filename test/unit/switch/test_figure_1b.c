/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Figure 1B of the DRL patent, by name: a packet of 10 flits, 7 acknowledged
 * and 3 not; the link dies; all 10 leave by the other port, and the receiver
 * delivers the packet once [DRL-9]. The same for every length of packet and
 * every number of flits acknowledged [LINK-C27], and for the related art.
 */
#include "../../few.h"
#include "duo.h"

#define US RL_NS_PER_US

/* How the packet stands when the link dies. */
enum fate {
	ARRIVED_IN_PART, /* only acknowledged flits have arrived */
	ARRIVED_WHOLE,	 /* all of it, but not all was acknowledged */
};

/* Frames from number `from` on are lost. */
static enum bench_act
lose_from(void *ctx, struct bench_frame *f)
{
	const unsigned int from = *(unsigned int *)ctx;

	return f->h.type == RL_FRAME_DATA && f->h.seq >= from ? BENCH_DROP
							      : BENCH_PASS;
}

/* Acknowledgements beyond `up to` are lost. */
static enum bench_act
lose_acks_over(void *ctx, struct bench_frame *f)
{
	const unsigned int upto = *(unsigned int *)ctx;

	return f->h.ack > upto ? BENCH_DROP : BENCH_PASS;
}

static void
prepare(struct duo *d, enum rl_loopback mode)
{
	duo_cfg(d, 2);
	d->pool_flits = 128;
	d->cfg.loopback = mode;
	d->cfg.ack_coalesce_flits = 1;
	d->cfg.replay_timer_ns = RL_NS_PER_MS;
	duo_open(d);
}

/* Brings `flits` onto link 0 with `acked` acknowledged, and kills it. */
static void
die_with(struct duo *d, unsigned int flits, unsigned int *acked,
	 enum fate fate)
{
	struct rl_port_info info;

	d->wire[0][0].hook = fate == ARRIVED_IN_PART ? lose_from : NULL;
	d->wire[0][1].hook = fate == ARRIVED_WHOLE ? lose_acks_over : NULL;
	d->wire[0][0].ctx = d->wire[0][1].ctx = acked;
	duo_send(d, 0, flits);
	duo_run(d, (flits + 20) * US);
	info = bench_info(&d->a.end[0]);
	assert_int_equal(info.replay_acked, *acked);
	assert_int_equal(info.replay_tail, flits);
	assert_int_equal(info.replay_base, *acked == flits ? flits : 0);
	duo_kill(d, 0);
	duo_settle(d, RL_NS_PER_MS);
}

/* The loop of the one event of this type. */
static uint32_t
loop_of(const struct bench_end *e, enum rl_port_event_type type)
{
	for (unsigned int i = 0; i < e->nevents; i++)
		if (e->event[i].type == type)
			return e->event[i].loop_id;
	return 0;
}

static void
check_whole(struct duo *d, unsigned int flits, unsigned int acked,
	    enum fate fate)
{
	const struct bench_end *x = &d->a.end[0], *y = &d->a.end[1];
	const bool loops = acked < flits;

	assert_int_equal(COUNTER(x, looped_packets), loops);
	assert_int_equal(COUNTER(x, looped_flits), loops ? flits : 0);
	assert_int_equal(COUNTER(x, looped_acked_flits), loops ? acked : 0);
	assert_int_equal(COUNTER(y, tx_flits), loops ? flits : 0);
	assert_int_equal(COUNTER(&d->b.end[1], rx_packets), loops);
	assert_int_equal(bench_end_events(y, RL_PEV_REROUTED), loops);
	assert_int_not_equal(loop_of(x, RL_PEV_DEAD), 0);
	assert_int_equal(loop_of(y, RL_PEV_REROUTED),
			 loops ? loop_of(x, RL_PEV_DEAD) : 0);
	/* the partial copy was not delivered */
	assert_int_equal(COUNTER(&d->b.end[0], rx_partial_discard),
			 fate == ARRIVED_IN_PART && loops && acked > 0);
	assert_int_equal(DUO_COUNTER(&d->b, drop_duplicate),
			 fate == ARRIVED_WHOLE && loops);
	assert_int_equal(d->sink.packets, 1);
	assert_int_equal(d->sink.flits, flits);
	duo_check(d);
}

static void
figure_1b_ten_flits_seven_acknowledged(void **state)
{
	unsigned int acked = 7;
	struct duo d;

	(void)state;
	prepare(&d, RL_LOOPBACK_WHOLE);
	die_with(&d, 10, &acked, ARRIVED_IN_PART);
	assert_int_equal(COUNTER(&d.a.end[0], looped_flits), 10);
	assert_int_equal(COUNTER(&d.a.end[0], looped_acked_flits), 7);
	assert_int_equal(COUNTER(&d.a.end[1], tx_flits), 10);
	assert_int_equal(d.sink.packets, 1);
	check_whole(&d, 10, 7, ARRIVED_IN_PART);
	duo_close(&d);
}

static void
every_length(enum fate fate)
{
	for (unsigned int flits = 1; flits <= 32; flits += FEW(4)) {
		for (unsigned int acked = 0; acked <= flits; acked++) {
			unsigned int k = acked;
			struct duo d;

			prepare(&d, RL_LOOPBACK_WHOLE);
			die_with(&d, flits, &k, fate);
			check_whole(&d, flits, acked, fate);
			duo_close(&d);
		}
	}
}

static void
every_length_and_every_number_acknowledged(void **state)
{
	(void)state;
	every_length(ARRIVED_IN_PART);
}

static void
the_same_if_all_had_arrived_unacknowledged(void **state)
{
	(void)state;
	every_length(ARRIVED_WHOLE);
}

/* The related art: the same cuts lose the packet. */
static void
unacked_only_and_none_lose_what_whole_packets_keeps(void **state)
{
	unsigned int lost[2] = { 0, 0 };

	(void)state;
	for (unsigned int acked = 0; acked < 10; acked++) {
		for (unsigned int i = 0; i < 2; i++) {
			unsigned int k = acked;
			struct duo d;

			prepare(&d, i ? RL_LOOPBACK_NONE
				      : RL_LOOPBACK_UNACKED);
			die_with(&d, 10, &k, ARRIVED_IN_PART);
			assert_int_equal(COUNTER(&d.a.end[1], tx_flits),
					 i ? 0 : 10 - acked);
			lost[i] += d.sink.packets == 0;
			/* and every loss is reported, once, with its reason */
			if (i)
				assert_int_equal(d.a.end[0].drop[0].why,
						 RL_DROP_LOOPBACK_NONE);
			else if (acked > 0)
				assert_int_equal(d.b.end[1].drop[0].why,
						 RL_DROP_FRAGMENT);
			assert_int_equal(d.a.end[0].ndrops +
						 d.b.end[1].ndrops +
						 d.sink.packets,
					 1);
			duo_close(&d);
		}
	}
	assert_int_equal(lost[0], 9); /* all but the one not begun */
	assert_int_equal(lost[1], 10);
}

/* Packets before and after the one that was cut, on all VCs. */
static void
neighbours_of_the_cut_packet_keep_their_order(void **state)
{
	(void)state;
	for (unsigned int at = 1; at < 120; at += FEW(3)) {
		struct duo d;

		prepare(&d, RL_LOOPBACK_WHOLE);
		for (unsigned int i = 0; i < 12; i++)
			duo_send(&d, i % DUO_FLOWS, 1 + 7 * i % 10);
		duo_run(&d, at * US);
		duo_kill(&d, 0);
		for (unsigned int i = 0; i < 8; i++)
			duo_send(&d, i % DUO_FLOWS, 1 + 3 * i % 5);
		duo_settle(&d, RL_NS_PER_MS);
		duo_check(&d);
		duo_close(&d);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("LINK-C27 [DRL-9] Figure 1B: 10 flits, 7 acknowledged, 3 "
		     "not; all 10 leave by the other port, delivered once",
		     figure_1b_ten_flits_seven_acknowledged),
		CASE("LINK-C27 [DRL-9] every length 1..32, every number "
		     "acknowledged 0..length",
		     every_length_and_every_number_acknowledged),
		CASE("LINK-C27 LINK-C29 the same where all had arrived: the "
		     "second copy is dropped by its tag",
		     the_same_if_all_had_arrived_unacknowledged),
		CASE("[DRL-9] unacked-only and none lose what whole-packets "
		     "keeps",
		     unacked_only_and_none_lose_what_whole_packets_keeps),
		CASE("LINK-C28 neighbours of the cut packet keep their order",
		     neighbours_of_the_cut_packet_keep_their_order),
	};

	return cmocka_run_group_tests_name("figure-1b", tests, NULL, NULL);
}
