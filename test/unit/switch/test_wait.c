/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The waiting room by itself [DRL-11]: order, places, looks, deadlines, and what
 * happens when there are more flows than records.
 */
#include "bench.h"
#include "rl_wait.h"

#define N 512
#define PORTS 4
#define BOUND (1000 * RL_NS_PER_MS)
#define NO_WAY (1600 * RL_NS_PER_US)
#define SLOT (NO_WAY / 16)

struct room {
	struct rl_wait *w;
	struct rl_flit *pkt; /* N of them */
	unsigned int used;
	uint64_t now_ns;
};

static void
room_open(struct room *r, uint32_t flows, uint32_t budget_flits)
{
	const struct rl_wait_params p = {
		.nports = PORTS,
		.flows = flows,
		.budget_flits = budget_flits,
		.no_way_ns = NO_WAY,
		.bound_ns = BOUND,
	};
	const size_t n = rl_wait_memsize(&p);
	void *mem = aligned_alloc(64, n);

	memset(r, 0, sizeof(*r));
	memset(mem, 0xa5, n);
	r->w = rl_wait_init(mem, &p);
	r->pkt = aligned_alloc(64, N * sizeof(*r->pkt));
	r->now_ns = 12345678;
}

static void
room_close(struct room *r)
{
	free(r->w);
	free(r->pkt);
}

/* A packet of the flow from src, of so many flits, by number and position. */
static struct rl_flit *
make(struct room *r, uint16_t src, uint32_t tag, uint16_t pos)
{
	const struct rl_txn t = { .src = src, .dst = 1, .tag = tag,
				  .pos = pos, .len_flits = 64 };
	struct rl_flit *f = &r->pkt[r->used++];

	assert_true(r->used <= N);
	memset(f, 0, sizeof(*f));
	rl_txn_put(f->wire, &t);
	rl_packet_start(f);
	f->flags = RL_FF_SOP | RL_FF_EOP;
	return f;
}

static struct rl_flit *
put(struct room *r, uint16_t src, uint32_t tag, uint16_t place, bool old)
{
	struct rl_flit *f = make(r, src, tag, 0);

	rl_wait_put(r->w, f, place, old, r->now_ns);
	return f;
}

static struct rl_wait_flow *
flow(struct room *r, uint16_t src)
{
	const unsigned int used = r->used;
	struct rl_wait_flow *f = rl_wait_find(r->w, make(r, src, 0, 0));

	r->used = used;
	return f;
}

/* Takes all of a flow and checks the order of its numbers. */
static void
expect(struct room *r, uint16_t src, const uint32_t tags[], unsigned int n)
{
	bool more = true;

	for (unsigned int i = 0; i < n; i++) {
		struct rl_wait_flow *f = flow(r, src);

		assert_non_null(f);
		assert_true(more);
		assert_int_equal(
			rl_flit_tag(rl_wait_pop(r->w, f, &more)->wire),
			tags[i]);
	}
	assert_false(more);
	assert_null(flow(r, src));
}

/* Numbers in the order of arrival; an old one is marked by its sign. */
static void
what_is_old_goes_where_its_number_says(void **state)
{
	static const struct {
		int in[8];
		unsigned int n;
		uint32_t out[8];
	} c[] = {
		{ { 5, 6, 7 }, 3, { 5, 6, 7 } },
		{ { 5, 6, -4 }, 3, { 4, 5, 6 } },
		{ { 6, 7, -1, -2, -3 }, 5, { 1, 2, 3, 6, 7 } },
		{ { 6, 7, -3, -2, -1 }, 5, { 1, 2, 3, 6, 7 } },
		{ { 1, 6, -3, -4, -2 }, 5, { 1, 2, 3, 4, 6 } },
		{ { -7, -8, 9, -6, -5 }, 5, { 5, 6, 7, 8, 9 } },
		{ { 2, -1, 3, -3, -1 }, 5, { 1, 1, 2, 3, 3 } },
		{ { 1, 9, -3, 10, -5, -11, -4 }, 7, { 1, 3, 4, 5, 9, 10, 11 } },
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct room r;

		room_open(&r, 8, 100);
		for (unsigned int j = 0; j < c[i].n; j++)
			put(&r, 3, (uint32_t)abs(c[i].in[j]), 0,
			    c[i].in[j] < 0);
		expect(&r, 3, c[i].out, c[i].n);
		room_close(&r);
	}
}

/* A probe comes behind all that waits, and before it goes what is old. */
static void
a_probe_lets_what_is_old_go_first(void **state)
{
	static const uint32_t tags[] = { 1, 2, 5, 0, 6 };
	struct rl_flit *probe;
	struct room r;

	(void)state;
	room_open(&r, 8, 100);
	put(&r, 3, 1, 0, false);
	put(&r, 3, 5, 0, false);
	probe = make(&r, 3, 0, 0);
	probe->class = RL_CLASS_CTRL;
	probe->wire[RL_FLIT_CMD_OFF] = RL_FLIT_CMD_PROBE;
	rl_wait_put(r.w, probe, 0, true, r.now_ns);
	put(&r, 3, 2, 0, true);
	put(&r, 3, 6, 0, false);
	assert_int_equal(r.w->packets, flow(&r, 3)->packets);
	expect(&r, 3, tags, RL_ARRAY_SIZE(tags));
	room_close(&r);
}

/* Pieces of one packet are kept in order, over the wrap of numbers as well. */
static void
positions_and_the_wrap_of_numbers_are_in_order(void **state)
{
	static const uint32_t tags[] = { UINT32_MAX - 1, UINT32_MAX, 0, 1 };
	struct rl_wait_flow *f;
	struct room r;
	bool more;

	(void)state;
	room_open(&r, 8, 100);
	for (unsigned int i = 4; i-- > 0;)
		put(&r, 3, tags[i], 0, true);
	expect(&r, 3, tags, 4);
	rl_wait_put(r.w, make(&r, 3, 9, 32), 0, false, r.now_ns);
	rl_wait_put(r.w, make(&r, 3, 9, 0), 0, true, r.now_ns);
	rl_wait_put(r.w, make(&r, 3, 9, 16), 0, true, r.now_ns);
	for (uint16_t pos = 0; pos <= 32; pos = (uint16_t)(pos + 16)) {
		f = flow(&r, 3);
		assert_int_equal(
			rl_get16(rl_wait_pop(r.w, f, &more)->wire + 14), pos);
	}
	assert_false(more);
	room_close(&r);
}

/* However many loop out in a row, each finds its place in one step. */
static void
looped_packets_cost_one_step_each(void **state)
{
	struct room r;

	(void)state;
	room_open(&r, 8, 1000);
	for (uint32_t i = 300; i < 400; i++)
		put(&r, 3, i, 0, false);
	for (uint32_t i = 0; i < 300; i++)
		put(&r, 3, i, 0, true);
	assert_true(r.w->steps <= 300);
	for (uint32_t i = 0; i < 400; i++) {
		struct rl_wait_flow *f = flow(&r, 3);
		bool more;

		assert_int_equal(
			rl_flit_tag(rl_wait_pop(r.w, f, &more)->wire), i);
	}
	room_close(&r);
}

/* Only the flows of the place that changed are looked at. */
static void
a_change_wakes_the_flows_of_its_place_alone(void **state)
{
	struct rl_wait_flow *f;
	struct room r;

	(void)state;
	room_open(&r, 32, 100);
	for (uint16_t i = 0; i < 12; i++)
		put(&r, i, 0, i % 4 == 3 ? RL_WAIT_NOWAY : i % 4, false);
	assert_null(rl_wait_look(r.w));
	rl_wait_look_place(r.w, 1);
	for (unsigned int i = 0; i < 3; i++) {
		f = rl_wait_look(r.w);
		assert_non_null(f);
		assert_int_equal(f->place, 1);
		rl_wait_settle(r.w, f, 2, r.now_ns);
	}
	assert_null(rl_wait_look(r.w));
	assert_int_equal(rl_wait_at(r.w, 1)->packets, 0);
	assert_int_equal(rl_wait_at(r.w, 2)->packets, 6);
	assert_int_equal(rl_wait_at(r.w, RL_WAIT_NOWAY)->packets, 3);
	rl_wait_look_all(r.w);
	for (unsigned int i = 0; i < 12; i++) {
		f = rl_wait_look(r.w);
		assert_non_null(f);
		if (i % 2 == 0) { /* its turn comes again, after all others */
			rl_wait_later(r.w, f);
			f = rl_wait_look(r.w);
		}
		rl_wait_settle(r.w, f, 0, r.now_ns);
	}
	assert_null(rl_wait_look(r.w));
	assert_int_equal(rl_wait_at(r.w, 0)->flits, 12);
	room_close(&r);
}

/* When the room next speaks up, and for whom; the clock goes there. */
static struct rl_wait_flow *
next_expired(struct room *r)
{
	struct rl_wait_flow *f = NULL;

	while (f == NULL) {
		const uint64_t due = rl_wait_due(r->w);

		assert_true(due != RL_NEVER);
		r->now_ns = rl_max_u64(r->now_ns, due);
		f = rl_wait_expired(r->w, r->now_ns);
	}
	return f;
}

/* Each packet has all of its time, and a slot of the wheel more at most. */
static void
no_packet_is_given_up_before_its_time_nor_long_after(void **state)
{
	static const uint64_t gaps[] = { 0, 1, SLOT - 1, SLOT, SLOT + 1,
					 NO_WAY / 2, NO_WAY - 1, NO_WAY + 1,
					 70 * SLOT, 5000 * SLOT };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(gaps); i++) {
		uint64_t born[3];
		struct room r;

		room_open(&r, 8, 100);
		for (uint16_t k = 0; k < 3; k++) {
			/* one of them in the flow of the first */
			born[k] = r.now_ns;
			put(&r, k == 2 ? 0 : k, k, RL_WAIT_NOWAY, false);
			if (k < 2 && gaps[i] < NO_WAY)
				r.now_ns += gaps[i] / 2;
		}
		for (unsigned int k = 0; k < 3; k++) {
			struct rl_wait_flow *f = next_expired(&r);
			bool more;
			const uint32_t tag = rl_flit_tag(
				rl_wait_pop(r.w, f, &more)->wire);

			assert_in_range(r.now_ns, born[tag] + NO_WAY,
					born[tag] + NO_WAY + SLOT);
		}
		assert_true(rl_wait_due(r.w) == RL_NEVER);
		/* after a silence the wheel goes on from where time is */
		r.now_ns += gaps[i];
		born[0] = r.now_ns;
		put(&r, 7, 0, RL_WAIT_NOWAY, false);
		next_expired(&r);
		assert_in_range(r.now_ns, born[0] + NO_WAY,
				born[0] + NO_WAY + SLOT);
		room_close(&r);
	}
}

/* The time without a way begins when the way is lost. */
static void
a_way_that_was_coming_and_is_lost_restarts_the_time(void **state)
{
	uint64_t came, lost;
	struct room r;

	(void)state;
	room_open(&r, 8, 100);
	came = r.now_ns;
	put(&r, 1, 0, 2, false);
	put(&r, 2, 0, 2, false);
	r.now_ns += 5 * NO_WAY;
	assert_null(rl_wait_expired(r.w, r.now_ns)); /* one is coming */
	rl_wait_look_place(r.w, 2);
	lost = r.now_ns;
	rl_wait_settle(r.w, rl_wait_look(r.w), RL_WAIT_NOWAY, lost);
	rl_wait_settle(r.w, rl_wait_look(r.w), 2, lost);
	assert_int_equal(next_expired(&r)->place, RL_WAIT_NOWAY);
	assert_in_range(r.now_ns, lost + NO_WAY, lost + NO_WAY + SLOT);
	rl_wait_settle(r.w, rl_wait_oldest(r.w), 2, r.now_ns);
	next_expired(&r); /* and for ever nothing waits */
	assert_in_range(r.now_ns, came + BOUND, came + BOUND + SLOT);
	room_close(&r);
}

/* Tables that are expected put the end off. */
static void
new_tables_are_waited_for_within_bounds(void **state)
{
	static const struct {
		uint64_t await_ns;  /* from the packet's coming */
		uint64_t want_ns;
	} c[] = {
		{ 0, NO_WAY },
		{ NO_WAY / 2, NO_WAY },
		{ 3 * NO_WAY, 3 * NO_WAY },
		{ 200 * NO_WAY, 200 * NO_WAY },
		{ 2 * BOUND, BOUND },
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct room r;
		uint64_t t;

		room_open(&r, 8, 100);
		t = r.now_ns;
		put(&r, 1, 0, RL_WAIT_NOWAY, false);
		if (c[i].await_ns != 0)
			rl_wait_await(r.w, t + c[i].await_ns);
		next_expired(&r);
		assert_in_range(r.now_ns, t + c[i].want_ns,
				t + c[i].want_ns + SLOT);
		room_close(&r);
	}
}

/* The one to give up next is the one that has been without a way for longest. */
static void
the_oldest_without_a_way_is_named(void **state)
{
	struct rl_wait_flow *f;
	struct room r;
	bool more;

	(void)state;
	room_open(&r, 8, 100);
	assert_null(rl_wait_oldest(r.w));
	put(&r, 9, 0, 1, false); /* has one */
	assert_null(rl_wait_oldest(r.w));
	for (uint32_t i = 0; i < 6; i++) {
		put(&r, (uint16_t)(i % 2), i, RL_WAIT_NOWAY, false);
		r.now_ns += 100;
	}
	for (uint32_t i = 0; i < 6; i++) {
		f = rl_wait_oldest(r.w);
		assert_int_equal(
			rl_flit_tag(rl_wait_pop(r.w, f, &more)->wire), i);
	}
	assert_null(rl_wait_oldest(r.w));
	assert_int_equal(r.w->packets, 1);
	room_close(&r);
}

/* Flows without a record share: nothing is lost, each stays in order. */
static void
more_flows_than_records_keep_their_order(void **state)
{
	uint32_t got[64] = { 0 };
	struct rl_wait_flow *f;
	struct room r;
	unsigned int n = 0;
	bool more;

	(void)state;
	room_open(&r, 4, 1000);
	for (uint32_t tag = 0; tag < 4; tag++)
		for (uint16_t src = 0; src < 64; src++)
			put(&r, src, tag, src % 2, false);
	assert_int_equal(r.w->packets, 256);
	assert_int_equal(r.w->mixed, 240);
	rl_wait_look_all(r.w);
	while ((f = rl_wait_look(r.w)) != NULL) {
		struct rl_flit *pkt = rl_wait_pop(r.w, f, &more);

		assert_int_equal(rl_flit_tag(pkt->wire),
				 got[rl_flit_src(pkt->wire)]++);
		if (++n == 100) /* records are free again: none is overtaken */
			for (uint16_t src = 0; src < 64; src++)
				put(&r, src, 4, 0, false);
		if (n == 101)
			rl_wait_look_all(r.w);
	}
	assert_int_equal(n, 320);
	for (unsigned int src = 0; src < 64; src++)
		assert_int_equal(got[src], 5);
	assert_int_equal(r.w->packets, 0);
	assert_int_equal(r.w->mixed, 0);
	assert_int_equal(rl_wait_at(r.w, 0)->packets, 0);
	assert_int_equal(rl_wait_at(r.w, 1)->flits, 0);
	assert_true(rl_wait_due(r.w) == RL_NEVER);
	room_close(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("[DRL-4] what is old goes where its number says",
		     what_is_old_goes_where_its_number_says),
		CASE("[DRL-4] positions and the wrap of numbers are in order",
		     positions_and_the_wrap_of_numbers_are_in_order),
		CASE("[EP-8] a probe lets what is old go first",
		     a_probe_lets_what_is_old_go_first),
		CASE("[DRL-11] looped packets cost one step each",
		     looped_packets_cost_one_step_each),
		CASE("[DRL-11] a change wakes the flows of its place alone",
		     a_change_wakes_the_flows_of_its_place_alone),
		CASE("[DRL-7] [DRL-11] no packet is given up before its time, "
		     "nor long after",
		     no_packet_is_given_up_before_its_time_nor_long_after),
		CASE("[DRL-11] a way that was coming and is lost starts the "
		     "time anew",
		     a_way_that_was_coming_and_is_lost_restarts_the_time),
		CASE("[DRL-11] new tables are waited for, within bounds",
		     new_tables_are_waited_for_within_bounds),
		CASE("[DRL-11] the oldest without a way is named",
		     the_oldest_without_a_way_is_named),
		CASE("[DRL-11] more flows than records keep their order",
		     more_flows_than_records_keep_their_order),
	};

	return cmocka_run_group_tests_name("wait", tests, NULL, NULL);
}
