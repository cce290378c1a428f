/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transmit replay buffer and its two kinds of pointers [LINK-2]: what an
 * acknowledgement frees, what a drain gives back, at every edge of the window
 * and of the numbers.
 */
#include "bench.h"
#include "replay.h"
#include "rl_seq.h"

struct rig {
	struct bench_pool pool;
	struct rl_replay r;
	void *mem;
	uint32_t done[RL_VCS];
};

static void
rig_open(struct rig *g, uint32_t window, uint32_t first)
{
	memset(g, 0, sizeof(*g));
	bench_pool_open(&g->pool, 1024);
	g->mem = malloc(rl_replay_memsize(window));
	rl_replay_init(&g->r, g->mem, window);
	g->r.base = g->r.acked = g->r.next = g->r.tail = g->r.sent_max = first;
}

static void
rig_close(struct rig *g)
{
	free(g->mem);
	bench_pool_check(&g->pool);
	bench_pool_close(&g->pool);
}

/* Numbers one flit of a packet of VC vc. */
static void
push(struct rig *g, unsigned int vc, bool sop, bool eop)
{
	struct rl_flit *f = rl_flit_get(&g->pool.cache);

	assert_non_null(f);
	f->vc = (uint8_t)vc;
	f->flags = (uint8_t)((sop ? RL_FF_SOP : 0) | (eop ? RL_FF_EOP : 0));
	rl_put32(f->wire, g->r.tail);
	rl_packet_start(f);
	rl_replay_push(&g->r, f, NULL);
}

static void
push_packet(struct rig *g, unsigned int vc, unsigned int flits)
{
	for (unsigned int i = 0; i < flits; i++)
		push(g, vc, i == 0, i + 1 == flits);
}

static void
send_all(struct rig *g)
{
	g->r.next = g->r.sent_max = g->r.tail;
}

static uint32_t
ack(struct rig *g, uint32_t seq)
{
	return rl_replay_ack(&g->r, seq, &g->pool.cache, g->done);
}

/* Gives the drained packets back; returns their flits. */
static uint32_t
drain(struct rig *g, bool unacked, struct rl_replay_drained *d,
      struct rl_pktq *out)
{
	struct rl_flit *open[RL_VCS];
	uint32_t n = 0;

	*out = (struct rl_pktq){ 0 };
	*d = rl_replay_drain(&g->r, unacked, out, open, &g->pool.cache);
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		assert_null(open[vc]);
	assert_true(rl_replay_empty(&g->r));
	n = out->flits;
	return n;
}

static void
put_all(struct rig *g, struct rl_pktq *out)
{
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(out)) != NULL)
		rl_packet_put(&g->pool.cache, pkt);
}

static void
flits_are_freed_when_their_whole_packet_is_acknowledged(void **state)
{
	struct rig g;

	(void)state;
	rig_open(&g, 16, 0);
	push_packet(&g, 0, 4);
	push_packet(&g, 0, 3);
	send_all(&g);
	assert_int_equal(rl_replay_room(&g.r), 9);
	assert_int_equal(ack(&g, 3), 3);
	assert_int_equal(g.r.base, 0); /* 3 of 4: nothing is freed */
	assert_int_equal(g.r.acked, 3);
	assert_int_equal(rl_replay_room(&g.r), 9);
	assert_int_equal(rl_replay_outstanding(&g.r), 4);
	assert_int_equal(ack(&g, 3), 0);
	assert_int_equal(ack(&g, 4), 1);
	assert_int_equal(g.r.base, 4);
	assert_int_equal(ack(&g, 6), 2);
	assert_int_equal(g.r.base, 4);
	assert_int_equal(ack(&g, 7), 1);
	assert_int_equal(g.r.base, 7);
	assert_true(rl_replay_empty(&g.r));
	assert_int_equal(rl_replay_room(&g.r), 16);
	assert_int_equal(g.done[0], 7);
	rig_close(&g);
}

static void
one_ack_covers_many_packets_and_part_of_the_next(void **state)
{
	struct rig g;

	(void)state;
	rig_open(&g, 64, 0);
	for (unsigned int i = 0; i < 10; i++)
		push_packet(&g, i % 3, 5);
	send_all(&g);
	assert_int_equal(ack(&g, 32), 32);
	assert_int_equal(g.r.base, 30);
	assert_int_equal(ack(&g, 50), 18);
	assert_true(rl_replay_empty(&g.r));
	rig_close(&g);
}

/* VCs 0 and 1 flit by flit in turn, VC 2 a packet in between. */
static void
interleaved_packets_are_each_kept_to_their_start(void **state)
{
	struct rig g;

	(void)state;
	rig_open(&g, 16, 100);
	push(&g, 0, true, false);  /* 100 */
	push(&g, 1, true, false);  /* 101 */
	push(&g, 0, false, false); /* 102 */
	push(&g, 2, true, true);   /* 103 */
	push(&g, 0, false, true);  /* 104 */
	push(&g, 1, false, false); /* 105 */
	push(&g, 1, false, true);  /* 106 */
	send_all(&g);
	ack(&g, 104);
	assert_int_equal(g.r.base, 100);
	ack(&g, 105); /* VC 0 is whole: VC 1 holds from 101 */
	assert_int_equal(g.r.base, 101);
	ack(&g, 106);
	assert_int_equal(g.r.base, 101);
	ack(&g, 107);
	assert_true(rl_replay_empty(&g.r));
	assert_int_equal(g.done[0], 3);
	assert_int_equal(g.done[1], 3);
	assert_int_equal(g.done[2], 1);
	rig_close(&g);
}

/* What drains of interleaved packets after each number of ACKs. */
static void
a_drain_gives_whole_packets_and_no_acknowledged_one(void **state)
{
	/* flits of packets not wholly acknowledged, by ACKs, see above */
	static const uint32_t want[8] = { 7, 7, 7, 7, 6, 3, 3, 0 };
	static const uint32_t want_acked[8] = { 0, 1, 2, 3, 3, 1, 2, 0 };

	(void)state;
	for (uint32_t k = 0; k <= 7; k++) {
		struct rl_replay_drained d;
		struct rl_pktq out;
		struct rl_flit *pkt;
		struct rig g;

		rig_open(&g, 16, UINT32_MAX - 3); /* and the wrap */
		push(&g, 0, true, false);
		push(&g, 1, true, false);
		push(&g, 0, false, false);
		push(&g, 2, true, true);
		push(&g, 0, false, true);
		push(&g, 1, false, false);
		push(&g, 1, false, true);
		send_all(&g); /* what this device noted is no sideband's: */
		rl_replay_at(&g.r, g.r.base + 3)->flags |= RL_FF_NEXT;
		ack(&g, UINT32_MAX - 3 + k);
		assert_int_equal(drain(&g, false, &d, &out), want[k]);
		assert_int_equal(d.flits, want[k]);
		assert_int_equal(d.acked_flits, want_acked[k]);
		assert_int_equal(d.packets, out.packets);
		for (pkt = out.head; pkt != NULL; pkt = pkt->next_pkt) {
			assert_true(pkt->flags & RL_FF_SOP);
			assert_true(pkt->last->flags & RL_FF_EOP);
			assert_int_equal(pkt->pkt_flits, pkt->vc == 2 ? 1 : 3);
			assert_int_equal(!!(pkt->flags & RL_FF_NEXT),
					 pkt->vc == 2);
		}
		put_all(&g, &out);
		rig_close(&g);
	}
}

static void
unacked_only_leaves_the_acknowledged_flits_out(void **state)
{
	struct rl_replay_drained d;
	struct rl_pktq out;
	struct rig g;

	(void)state;
	rig_open(&g, 16, 0);
	push_packet(&g, 0, 10);
	send_all(&g);
	ack(&g, 7);
	assert_int_equal(drain(&g, true, &d, &out), 3);
	assert_int_equal(d.acked_flits, 0);
	assert_int_equal(d.packets, 1);
	assert_false(out.head->flags & RL_FF_SOP);
	put_all(&g, &out);
	rig_close(&g);
}

/* Flits of a packet leave by its head's VC, whatever they say themselves. */
static void
what_is_drained_goes_the_way_of_its_head(void **state)
{
	struct rl_flit *pkt = NULL, *f;
	struct rl_replay_drained d;
	struct rl_pktq out;
	struct rig g;

	(void)state;
	rig_open(&g, 16, 13); /* over the end of the ring */
	for (unsigned int i = 0; i < 6; i++) {
		f = rl_flit_get(&g.pool.cache);
		f->state = UINT64_MAX;
		f->flags = i == 0 ? RL_FF_SOP : i == 5 ? RL_FF_EOP : 0;
		f->mark = i == 4 ? RL_MARK_POISON : RL_MARK_OK;
		f->in_port = 99;
		if (i == 0) {
			rl_packet_start(f);
			pkt = f;
		} else {
			rl_packet_append(pkt, f);
		}
	}
	pkt->vc = 5;
	pkt->plane = 3;
	pkt->in_port = 7;
	rl_replay_push(&g.r, pkt, NULL);
	for (uint32_t i = 0; i < 6; i++) {
		const uint16_t s = g.r.sideband[(13 + i) & g.r.mask];

		assert_int_equal(RL_SIDEBAND_VC(s), 5);
		assert_int_equal(s >> 7 & 3,
				 i == 4 ? RL_MARK_POISON : RL_MARK_OK);
	}
	send_all(&g);
	ack(&g, 15);
	assert_int_equal(g.done[5], 2);
	assert_int_equal(drain(&g, true, &d, &out), 4);
	assert_int_equal(out.head->vc, 5);
	assert_int_equal(out.head->plane, 3);
	assert_int_equal(out.head->in_port, 7);
	put_all(&g, &out);
	rig_close(&g);
}

/* A packet, and its flits as they came. */
struct listed {
	struct rl_flit *f[80];
	unsigned int n;
};

/* A packet of n flits that came so many at a time, the first one by itself. */
static void
came(struct rig *g, unsigned int n, unsigned int step, struct listed *l)
{
	const uint64_t state = rl_flit_state(0, 0, 0);
	struct rl_flit *pkt;

	assert_int_equal(rl_flit_get_bulk(&g->pool.cache, l->f, n), n);
	for (unsigned int i = 0; i < n; i++) /* these must not be asked for */
		memset(l->f[i], 0xa5, offsetof(struct rl_flit, wire));
	pkt = l->f[0];
	rl_packet_start(pkt);
	pkt->state = rl_flit_state(1, 2, RL_FF_SOP | (n == 1 ? RL_FF_EOP : 0));
	pkt->in_port = 7;
	for (l->n = 1; l->n < n;) {
		const unsigned int k = rl_min_u32(step, n - l->n);

		rl_packet_extend(pkt, l->f + l->n, k, state,
				 rl_flit_state(0, 0, l->n + k == n ? RL_FF_EOP
								   : 0));
		l->n += k;
	}
}

/* Flits numbered from @p seq on. */
static void
numbered_as_they_came(const struct rig *g, uint32_t seq,
		      const struct listed *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		assert_ptr_equal(rl_replay_at(&g->r, seq + i), l->f[i]);
}

/* They come out again whole, each flit with a state of its own. */
static void
comes_back(struct rl_pktq *out, const struct listed *l)
{
	const struct rl_flit *pkt = rl_pktq_pop(out), *f = pkt;

	assert_non_null(pkt);
	assert_int_equal(pkt->pkt_flits, l->n);
	for (uint32_t i = 0; i < l->n; i++, f = f->next) {
		const unsigned int ends = (i == 0 ? RL_FF_SOP : 0) |
					  (i + 1 == l->n ? RL_FF_EOP : 0);

		assert_ptr_equal(f, l->f[i]);
		assert_int_equal(f->state, rl_flit_state(1, 2, (uint8_t)ends));
		assert_int_equal(f->in_port, 7);
		assert_int_equal(rl_run_flits(f), 0);
	}
	assert_null(f);
}

static void
packets_in_runs_are_numbered_and_drained_as_they_came(void **state)
{
	static struct listed a, b;
	struct rl_replay_drained d;
	struct rl_pktq out;
	struct rig g;

	(void)state;
	rig_open(&g, 256, 250);
	for (unsigned int n = 1; n <= 80; n++) {
		for (unsigned int step = 1; step <= 40; step++) {
			const uint32_t at = g.r.tail;

			came(&g, n, step, &a);
			came(&g, n, 80, &b);
			rl_replay_push(&g.r, a.f[0], b.f[0]);
			rl_replay_push(&g.r, b.f[0], NULL);
			numbered_as_they_came(&g, at, &a);
			numbered_as_they_came(&g, at + n, &b);
			send_all(&g);
			/* somewhere in the first one */
			ack(&g, at + step % n);
			drain(&g, false, &d, &out);
			comes_back(&out, &a);
			comes_back(&out, &b);
			assert_null(out.head);
			rl_replay_push(&g.r, a.f[0], NULL);
			send_all(&g);
			ack(&g, g.r.tail);
			rl_packet_put(&g.pool.cache, b.f[0]);
		}
	}
	assert_true(rl_replay_empty(&g.r));
	rig_close(&g);
}

/* A packet that is acknowledged step by step is freed when its end is. */
static void
a_packet_is_acknowledged_in_any_steps(void **state)
{
	static struct listed a;
	struct rig g;

	(void)state;
	rig_open(&g, 64, 30);
	for (unsigned int step = 1; step <= 20; step++) {
		const uint32_t at = g.r.tail;
		const uint32_t free = g.pool.cache.count;

		came(&g, 20, 20, &a);
		rl_replay_push(&g.r, a.f[0], NULL);
		push_packet(&g, 0, 1);
		send_all(&g);
		for (uint32_t k = step; k < 20; k += step) {
			ack(&g, at + k);
			assert_int_equal(g.r.base, at);
		}
		ack(&g, at + 20);
		assert_int_equal(g.r.base, at + 20);
		ack(&g, at + 21);
		assert_true(rl_replay_empty(&g.r));
		assert_int_equal(g.pool.cache.count, free);
	}
	rig_close(&g);
}

static void
a_packet_cut_by_the_drain_comes_back_open(void **state)
{
	struct rl_flit *open[RL_VCS];
	struct rl_replay_drained d;
	struct rl_pktq out = { 0 };
	struct rig g;

	(void)state;
	rig_open(&g, 16, 0);
	push_packet(&g, 0, 2);
	push(&g, 1, true, false);
	push(&g, 0, true, true);
	push(&g, 1, false, false);
	send_all(&g);
	ack(&g, 3);
	d = rl_replay_drain(&g.r, false, &out, open, &g.pool.cache);
	assert_int_equal(d.packets, 2);
	assert_int_equal(d.flits, 3);
	assert_int_equal(d.acked_flits, 1);
	assert_int_equal(out.packets, 1);
	assert_non_null(open[1]);
	assert_int_equal(open[1]->pkt_flits, 2);
	assert_null(open[0]);
	rl_packet_put(&g.pool.cache, open[1]);
	put_all(&g, &out);
	rig_close(&g);
}

/* Every packet length, every number acknowledged, at any place of the ring. */
static void
every_length_and_every_ack_drains_whole(void **state)
{
	(void)state;
	for (uint32_t len = 1; len <= 32; len++) {
		struct rig g;

		rig_open(&g, 33, UINT32_MAX - 100);
		for (uint32_t k = 0; k <= len; k++) {
			struct rl_replay_drained d;
			struct rl_pktq out;

			push_packet(&g, 5, len);
			send_all(&g);
			ack(&g, g.r.acked + k);
			assert_int_equal(drain(&g, false, &d, &out),
					 k == len ? 0 : len);
			assert_int_equal(d.acked_flits, k == len ? 0 : k);
			put_all(&g, &out);
			/* as the next epoch would, but the numbers go on */
			g.r.sent_max = g.r.tail;
		}
		rig_close(&g);
	}
}

static void
a_full_window_has_no_room_and_an_empty_one_all(void **state)
{
	static const uint32_t window[] = { 1, 2, 3, 4, 7, 8, 9, 31, 32, 33,
					   100 };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(window); i++) {
		const uint32_t w = window[i];
		struct rig g;

		rig_open(&g, w, UINT32_MAX - w / 2); /* full across the wrap */
		for (uint32_t n = 0; n < w; n++) {
			assert_int_equal(rl_replay_room(&g.r), w - n);
			push(&g, n % RL_VCS, true, true);
		}
		assert_int_equal(rl_replay_room(&g.r), 0);
		send_all(&g);
		for (uint32_t n = 0; n < w; n++) /* each is where it was put */
			assert_int_equal(
				rl_get32(rl_replay_at(&g.r, g.r.base + n)->wire),
				UINT32_MAX - w / 2 + n);
		for (uint32_t n = 1; n <= w; n++) {
			ack(&g, g.r.acked + 1);
			assert_int_equal(rl_replay_room(&g.r), n);
		}
		rig_close(&g);
	}
}

/* A sliding window of odd size runs over the ring and the wrap of 32 bits. */
static void
numbers_wrap_without_losing_a_flit(void **state)
{
	struct rl_prng prng;
	struct rig g;

	(void)state;
	rl_prng_seed(&prng, 1);
	rig_open(&g, 61, UINT32_MAX - 1000);
	for (unsigned int i = 0; i < 2000; i++) {
		const uint32_t len = 1 + rl_prng_below(&prng, 8);

		while (rl_replay_room(&g.r) < len) {
			const uint32_t n = 1 + rl_prng_below(
				&prng, rl_replay_outstanding(&g.r));

			send_all(&g);
			ack(&g, g.r.acked + n);
			if (rl_prng_below(&prng, 4) == 0)
				rl_replay_rewind(&g.r);
			assert_true(rl_seq_before_eq(g.r.base, g.r.acked));
			assert_true(rl_seq_before_eq(g.r.acked, g.r.next));
			assert_true(rl_seq_before_eq(g.r.next, g.r.tail));
			assert_true(g.r.tail - g.r.base <= 61);
		}
		push_packet(&g, i % RL_VCS, len);
	}
	assert_true(g.r.tail < 100000); /* it did wrap */
	send_all(&g);
	ack(&g, g.r.tail);
	assert_true(rl_replay_empty(&g.r));
	rig_close(&g);
}

static void
an_ack_beyond_a_rewind_moves_the_send_pointer(void **state)
{
	struct rig g;

	(void)state;
	rig_open(&g, 16, 0);
	push_packet(&g, 0, 8);
	send_all(&g);
	ack(&g, 2);
	rl_replay_rewind(&g.r);
	assert_int_equal(g.r.next, 2);
	g.r.next = 4; /* two were sent again when an old ACK arrives */
	ack(&g, 6);
	assert_int_equal(g.r.next, 6);
	assert_int_equal(g.r.base, 0);
	ack(&g, 8);
	assert_int_equal(g.r.next, 8);
	rig_close(&g);
}

static void
a_reset_starts_again_at_zero(void **state)
{
	struct rl_replay_drained d;
	struct rl_pktq out;
	struct rig g;

	(void)state;
	rig_open(&g, 16, 70000);
	push_packet(&g, 0, 5);
	g.r.next = g.r.sent_max = 70002; /* three never left */
	drain(&g, false, &d, &out);
	put_all(&g, &out);
	rl_replay_reset(&g.r);
	assert_int_equal(g.r.base, 0);
	assert_int_equal(g.r.sent_max, 0);
	assert_int_equal(rl_replay_room(&g.r), 16);
	rig_close(&g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("LINK-C27 flits are freed when their whole packet is "
		     "acknowledged [LINK-2]",
		     flits_are_freed_when_their_whole_packet_is_acknowledged),
		CASE("LINK-C4 one ACK covers many packets and part of the next",
		     one_ack_covers_many_packets_and_part_of_the_next),
		cmocka_unit_test(
			interleaved_packets_are_each_kept_to_their_start),
		cmocka_unit_test(
			a_drain_gives_whole_packets_and_no_acknowledged_one),
		cmocka_unit_test(unacked_only_leaves_the_acknowledged_flits_out),
		cmocka_unit_test(what_is_drained_goes_the_way_of_its_head),
		cmocka_unit_test(
			packets_in_runs_are_numbered_and_drained_as_they_came),
		cmocka_unit_test(a_packet_is_acknowledged_in_any_steps),
		cmocka_unit_test(a_packet_cut_by_the_drain_comes_back_open),
		CASE("LINK-C20 every length and every ACK drains whole",
		     every_length_and_every_ack_drains_whole),
		cmocka_unit_test(a_full_window_has_no_room_and_an_empty_one_all),
		cmocka_unit_test(numbers_wrap_without_losing_a_flit),
		cmocka_unit_test(an_ack_beyond_a_rewind_moves_the_send_pointer),
		cmocka_unit_test(a_reset_starts_again_at_zero),
	};

	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
