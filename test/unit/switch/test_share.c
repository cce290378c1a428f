/* SPDX-License-Identifier: BSD-3-Clause */
/* An egress that is full is shared among senders, not among ports [SW-6]. */
#include "core_bench.h"

#define PORTS(...)                                                             \
	(const uint16_t[]){ __VA_ARGS__ },                                     \
		sizeof((const uint16_t[]){ __VA_ARGS__ }) / sizeof(uint16_t)
#define SENDERS 5

static void
open_full(struct core_bench *c)
{
	cb_cfg(c);
	c->cfg.queue_flits = 4;
	cb_route(c, 0, 0, PORTS(5));
	cb_route(c, 0, 3, PORTS(4));
	cb_open(c, -1);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		cb_mark(c, i, RL_MARK_LINK_UP);
	c->full[5] = true;
}

/* Packets of one sender that arrive by a port. */
static void
give(struct core_bench *c, uint16_t in_port, uint16_t src, unsigned int n)
{
	while (n-- > 0) {
		struct rl_flit *pkt = cb_packet(c, in_port, 0, 4);

		pkt->src = src;
		cb_give(c, in_port, pkt);
	}
}

/* The port sends what it has, and takes @p n packets more. */
static void
leave(struct core_bench *c, unsigned int n, unsigned int got[SENDERS])
{
	uint32_t tag[SENDERS] = { 0 };

	for (unsigned int i = 0; i < n; i++) {
		cb_tx(c, 5);
		rl_shared_add(&c->shared[5]->taken[0], 4);
	}
	memset(got, 0, SENDERS * sizeof(got[0]));
	for (struct rl_flit *p = c->out[5].head; p != NULL; p = p->next_pkt) {
		const uint32_t now = rl_flit_tag(p->wire);

		assert_true(p->src < SENDERS);
		if (got[p->src]++ != 0)
			assert_true(now > tag[p->src]);
		tag[p->src] = now;
	}
}

static void
a_sender_alone_at_its_port_gets_what_each_of_four_gets(void **state)
{
	unsigned int got[SENDERS];
	struct core_bench c;

	(void)state;
	open_full(&c);
	for (unsigned int i = 0; i < 20; i++) {
		give(&c, 0, (uint16_t)(i % 4), 1);
		give(&c, 1, 4, 1);
	}
	leave(&c, 20, got);
	for (unsigned int s = 0; s < SENDERS; s++)
		assert_in_range(got[s], 3, 5);
	leave(&c, 20, got);
	for (unsigned int s = 0; s < 4; s++)
		assert_int_equal(got[s], 5);
	assert_int_equal(got[4], 20);
	assert_true(rl_core_idle(c.core));
	cb_close(&c);
}

/* What a sender had does not count later: it was alone, and harmed no other. */
static void
a_sender_that_begins_is_not_served_before_its_share(void **state)
{
	unsigned int got[SENDERS];
	struct core_bench c;

	(void)state;
	open_full(&c);
	give(&c, 0, 0, 1);
	give(&c, 1, 1, 100);
	leave(&c, 50, got);
	give(&c, 0, 0, 20);
	cb_ack(&c, 5);
	leave(&c, 20, got);
	assert_in_range(got[0], 9, 13);
	assert_in_range(got[1], 7, 11);
	leave(&c, 60, got);
	assert_true(rl_core_idle(c.core));
	cb_close(&c);
}

static void
a_sender_far_ahead_of_its_share_keeps_its_order(void **state)
{
	unsigned int got[SENDERS];
	struct core_bench c;

	(void)state;
	open_full(&c);
	give(&c, 0, 0, 2);
	for (unsigned int i = 0; i < 60; i++) {
		give(&c, 1, 1, 7); /* more than all rounds hold */
		give(&c, 2, 2, 1);
	}
	leave(&c, 482, got);
	assert_int_equal(got[0], 2);
	assert_int_equal(got[1], 420);
	assert_int_equal(got[2], 60);
	assert_true(rl_core_idle(c.core));
	cb_close(&c);
}

/* A fence says that all that was queued before it has left [DRL-8]. */
static void
no_later_packet_passes_a_fence(void **state)
{
	unsigned int got[SENDERS];
	struct core_bench c;

	(void)state;
	open_full(&c);
	cb_mark(&c, 4, RL_MARK_LOOP_BEGIN);
	cb_tx(&c, 4);
	cb_mark(&c, 4, RL_MARK_LOOP_END);
	cb_advance(&c, c.cfg.resume_delay_ns);
	assert_int_equal(CB_STATE(&c, 4), RL_EGRESS_DEAD);
	give(&c, 1, 1, 1);
	give(&c, 0, 0, 20);
	cb_mark(&c, 4, RL_MARK_LINK_UP);
	cb_advance(&c, 0);
	give(&c, 2, 2, 20); /* later, and it had nothing yet */
	c.fences[5] = 0;
	while (c.fences[5] == 0)
		leave(&c, 1, got);
	assert_int_equal(got[0], 20);
	assert_int_equal(got[1], 1);
	leave(&c, 21, got);
	assert_int_equal(got[2], 20);
	cb_close(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_sender_alone_at_its_port_gets_what_each_of_four_gets),
		cmocka_unit_test(
			a_sender_that_begins_is_not_served_before_its_share),
		cmocka_unit_test(
			a_sender_far_ahead_of_its_share_keeps_its_order),
		cmocka_unit_test(no_later_packet_passes_a_fence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
