/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Flits that arrive in a row are judged as one. Whatever of one of them differs
 * from what it should be must be found all the same.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ep_fixture.h"
#include "rl_flit_run.h"

#define FLITS 5
#define BEFORE 3 /* flits: of a flow that is new, each is looked at */

static struct fx fx;

static void
open_default(void)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	fx_open(&fx, &cfg, 2, 4000);
	fx_advance(&fx, BEFORE);
}

static struct rl_flit *
flit_of(struct rl_flit *pkt, unsigned int i)
{
	while (i-- > 0)
		pkt = pkt->next;
	return pkt;
}

typedef void (*change_fn)(struct rl_txn *t);

static void
another_tag(struct rl_txn *t)
{
	t->tag++;
}

static void
another_place(struct rl_txn *t)
{
	t->pos++;
}

static void
another_destination(struct rl_txn *t)
{
	t->dst = 0; /* which sent it */
}

static void
too_many_bytes(struct rl_txn *t)
{
	t->valid_bytes = RL_FLIT_DATA_BYTES + 1;
}

static void
an_early_end(struct rl_txn *t)
{
	t->eop = true;
}

static void
another_length(struct rl_txn *t)
{
	t->len_flits++;
	t->eop = false;
}

static const struct {
	change_fn change;
	enum rl_ep_counter why;
} wrong[] = {
	{ another_tag, RL_EPC_rx_inconsistent },
	{ another_place, RL_EPC_rx_inconsistent },
	{ another_destination, RL_EPC_rx_misrouted },
	{ too_many_bytes, RL_EPC_rx_malformed },
	{ an_early_end, RL_EPC_rx_malformed },
};

/* The CRC is right each time: its sender meant it so. */
static void
a_header_that_differs_within_a_packet_is_found(void **state)
{
	struct rl_flit *pkt;
	struct rl_txn txn;

	(void)state;
	for (size_t k = 0; k < RL_ARRAY_SIZE(wrong); k++) {
		open_default();
		pkt = fx_emit(&fx, FLITS);
		rl_txn_get(flit_of(pkt, 2)->wire, &txn);
		wrong[k].change(&txn);
		rl_txn_put(flit_of(pkt, 2)->wire, &txn);
		fx_encode(&fx, flit_of(pkt, 2), BEFORE + 2);
		fx_rx(&fx, 1, pkt);
		assert_int_equal(fx_ctr(&fx, 1, wrong[k].why), 1);
		assert_null(rl_ep_recv(fx.ep[1]));
		fx_run(&fx, 10);
		assert_int_equal(fx_take(&fx, 1, false), 1);
		fx_close(&fx);
	}
}

/* A packet of FLITS flits, the first from 0 to 1: all or only the first change. */
static void
send_changed(change_fn change, unsigned int n)
{
	struct rl_flit *const pkt = fx_emit(&fx, FLITS);
	struct rl_flit *f = pkt;
	struct rl_txn txn;

	for (uint32_t i = 0; i < n; i++, f = f->next) {
		rl_txn_get(f->wire, &txn);
		change(&txn);
		rl_txn_put(f->wire, &txn);
		fx_encode(&fx, f, BEFORE + i);
	}
	fx_rx(&fx, 1, pkt);
	assert_null(rl_ep_recv(fx.ep[1]));
}

static void
what_a_whole_packet_says_of_itself_is_looked_at(void **state)
{
	(void)state;
	open_default();
	send_changed(another_length, FLITS); /* than has come */
	fx_close(&fx);
	open_default();
	send_changed(another_destination, FLITS);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_misrouted), FLITS);
	fx_close(&fx);
	open_default();
	send_changed(too_many_bytes, 1);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_malformed), 1);
	fx_close(&fx);
	open_default();
	send_changed(another_tag, FLITS);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_inconsistent), 1);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_ahead), FLITS - 1);
	fx_close(&fx);
}

static void
a_packet_with_a_marked_flit_is_not_taken(void **state)
{
	struct rl_flit *pkt;

	(void)state;
	open_default();
	pkt = fx_emit(&fx, FLITS);
	flit_of(pkt, 3)->mark = RL_MARK_SOFT_ERROR;
	fx_rx(&fx, 1, pkt);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_marked), 1);
	assert_null(rl_ep_recv(fx.ep[1]));
	fx_run(&fx, 10);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	fx_close(&fx);
}

/* Sent twice, flits of a packet may carry ACKs of different times. */
static void
each_ack_within_a_packet_is_heard(void **state)
{
	struct rl_flit *pkt, *f;
	uint64_t before;

	(void)state;
	for (unsigned int at = 0; at < FLITS; at++) {
		open_default();
		before = fx_ctr(&fx, 0, RL_EPC_ack_received);
		fx_drop(&fx, fx_emit(&fx, 2)); /* awaits its ACK */
		assert_int_equal(fx_send(&fx, 1, 0, 0, FLITS * 224), 0);
		pkt = fx_poll_one(&fx, 1);
		f = flit_of(pkt, at);
		rl_flit_set_ack(f->wire, BEFORE + 1);
		fx_encode(&fx, f, at);
		fx_rx(&fx, 0, pkt);
		assert_int_equal(fx_take(&fx, 0, false), 1);
		assert_int_equal(fx_ctr(&fx, 0, RL_EPC_ack_received),
				 before + 1);
		fx_close(&fx);
	}
}

/* FEC that corrects one flit, and a flit lost from the packet before. */
static void
what_is_not_clean_is_taken_flit_by_flit(void **state)
{
	struct rl_flit *pkt;

	(void)state;
	open_default();
	pkt = fx_emit(&fx, FLITS);
	flit_of(pkt, 1)->wire[100] ^= 0x55;
	fx_rx(&fx, 1, pkt);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_fec_corrected), 1);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	pkt = fx_emit(&fx, FLITS);
	fx_rx(&fx, 1, fx_cut(&fx, pkt, 2));
	fx_rx(&fx, 1, fx_emit(&fx, FLITS)); /* whole, but not the next */
	assert_null(rl_ep_recv(fx.ep[1]));
	fx_run(&fx, 10);
	assert_int_equal(fx_take(&fx, 1, false), 2);
	fx_close(&fx);
}

/* Takes a packet apart, as cut-through does: the first @p n flits of it. */
static struct rl_flit *
part_of(struct rl_flit **pkt, unsigned int n)
{
	struct rl_flit *const head = *pkt;
	struct rl_flit *last = flit_of(head, n - 1);
	struct rl_flit *rest = last->next;

	if (rest != NULL) {
		rest->last = head->last;
		rest->pkt_flits = (uint16_t)(head->pkt_flits - n);
		rl_run_none(rest);
	}
	last->next = NULL;
	head->last = last;
	head->pkt_flits = (uint16_t)n;
	*pkt = rest;
	return head;
}

/* Parts are flits in a row, too; one that is missing holds up the others. */
static void
a_packet_that_comes_in_parts_is_put_together(void **state)
{
	struct rl_flit *pkt, *missing;

	(void)state;
	for (unsigned int cut = 1; cut < FLITS; cut++) {
		open_default();
		pkt = fx_emit(&fx, FLITS);
		fx_rx(&fx, 1, part_of(&pkt, cut));
		assert_null(rl_ep_recv(fx.ep[1]));
		fx_rx(&fx, 1, pkt);
		assert_int_equal(fx_take(&fx, 1, false), 1);
		pkt = fx_emit(&fx, FLITS);
		missing = part_of(&pkt, cut);
		fx_rx(&fx, 1, pkt);
		assert_null(rl_ep_recv(fx.ep[1]));
		fx_rx(&fx, 1, fx_emit(&fx, 2));
		fx_rx(&fx, 1, missing);
		assert_int_equal(fx_take(&fx, 1, false), 2);
		fx_close(&fx);
	}
}

/* The ACK that so many flits ask for does not wait for more. */
static void
a_whole_packet_is_acknowledged_as_its_flits_would_be(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_default();
	fx_rx(&fx, 1, fx_emit(&fx, fx.cfg.ack_coalesce_flits - 1));
	q = fx_poll(&fx, 1);
	assert_true(rl_pktq_empty(&q));
	fx_rx(&fx, 1, fx_emit(&fx, FLITS));
	q = fx_poll(&fx, 1);
	assert_int_equal(q.packets, 1);
	fx_rx_all(&fx, 0, &q);
	assert_true(rl_ep_idle(fx.ep[0]));
	assert_int_equal(fx_take(&fx, 1, false), 2);
	fx_close(&fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_header_that_differs_within_a_packet_is_found),
		cmocka_unit_test(
			what_a_whole_packet_says_of_itself_is_looked_at),
		cmocka_unit_test(a_packet_with_a_marked_flit_is_not_taken),
		cmocka_unit_test(each_ack_within_a_packet_is_heard),
		cmocka_unit_test(what_is_not_clean_is_taken_flit_by_flit),
		cmocka_unit_test(a_packet_that_comes_in_parts_is_put_together),
		cmocka_unit_test(
			a_whole_packet_is_acknowledged_as_its_flits_would_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
