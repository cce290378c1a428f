/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An agent alone, with an endpoint that the test plays [EP-5]: what a peer says
 * wrongly completes nothing, replies always have room, and what shares a flit.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rl_memtxn.h"

#define LINES 4
#define FLITS 64
#define SENT_MAX 512

/* The endpoint: what arrives, and what was sent. */
static struct rl_flit flits[FLITS];
static struct rl_flit *slots[FLITS], *arrived[FLITS];
static struct rl_flit_cache cache;
static unsigned int narrived, ntaken, nsent;
static bool full;
static struct {
	uint8_t class;
	uint32_t messages;
} sent[SENT_MAX];

static struct rl_memtxn agent;
static uint8_t mem[LINES * RL_MEMTXN_LINE];

/* The linker hands these calls of the agent to us. */
struct rl_flit *__wrap_rl_ep_recv(struct rl_ep *ep);
int __wrap_rl_ep_send(struct rl_ep *ep, uint64_t now_ns,
		      const struct rl_ep_msg *msg, const void *data,
		      uint32_t *tag);

struct rl_flit *
__wrap_rl_ep_recv(struct rl_ep *ep)
{
	(void)ep;
	return ntaken == narrived ? NULL : arrived[ntaken++];
}

int
__wrap_rl_ep_send(struct rl_ep *ep, uint64_t now_ns,
		  const struct rl_ep_msg *msg, const void *data, uint32_t *tag)
{
	struct rl_memtxn_msg m;
	uint32_t at = 0;

	(void)ep;
	(void)now_ns;
	(void)tag;
	if (full)
		return -EAGAIN;
	assert_true(nsent < SENT_MAX);
	sent[nsent].class = (uint8_t)msg->class;
	sent[nsent].messages = 0;
	while (at < msg->len_bytes) {
		const uint32_t n = rl_memtxn_get(
			&m, (const uint8_t *)data + at, msg->len_bytes - at);

		assert_int_not_equal(n, 0);
		at += n;
		sent[nsent].messages++;
	}
	nsent++;
	return 0;
}

static int
fresh(void **state)
{
	const struct rl_memtxn_cfg cfg = { .peer = 1, .pack = 2, .mem = mem,
					   .mem_bytes = sizeof(mem),
					   .cache = &cache };

	(void)state;
	cache = (struct rl_flit_cache){ .slot = slots, .cap = FLITS };
	for (unsigned int i = 0; i < FLITS; i++)
		rl_flit_put(&cache, &flits[i]);
	narrived = ntaken = nsent = 0;
	full = false;
	rl_memtxn_init(&agent, &cfg);
	return 0;
}

static void
poll(void)
{
	rl_memtxn_poll(&agent, NULL, 0);
}

/* A packet of @p n messages arrives; the agent has not looked yet. */
static void
arrive(const struct rl_memtxn_msg *m, unsigned int n)
{
	struct rl_flit *f = rl_flit_get(&cache);
	uint32_t bytes = 0;

	assert_non_null(f);
	rl_packet_start(f);
	for (unsigned int i = 0; i < n; i++)
		bytes += rl_memtxn_put(&m[i],
				       f->wire + RL_FLIT_DATA_OFF + bytes,
				       RL_FLIT_DATA_BYTES - bytes);
	f->wire[8] = (uint8_t)bytes;
	assert_true(narrived < FLITS);
	arrived[narrived++] = f;
}

static void
hear(uint8_t op, uint32_t tag, uint16_t cqid)
{
	const struct rl_memtxn_msg m = {
		.op = op,
		.data_bytes = op == RL_MEMTXN_DATA ? RL_MEMTXN_LINE : 0,
		.tag = tag,
		.cqid = cqid,
	};

	arrive(&m, 1);
	poll();
}

/* Tags follow one another from 0: 64 lie in one place, see RL_MEMTXN_OPEN_MAX */
static void
what_fits_no_open_transaction_completes_none(void **state)
{
	static const uint8_t line[RL_MEMTXN_LINE];
	static const struct {
		uint8_t op;
		uint32_t tag;
		uint16_t cqid;
	} wrong[] = {
		{ RL_MEMTXN_RSP, RL_MEMTXN_OPEN_MAX, 3 }, /* one long past */
		{ RL_MEMTXN_DATA, RL_MEMTXN_OPEN_MAX, 3 },
		{ RL_MEMTXN_RSP, 0, 4 }, /* another queue's */
		{ RL_MEMTXN_DATA, 0, 4 },
		{ RL_MEMTXN_DATA, 1, 3 }, /* of a write */
		{ RL_MEMTXN_RSP, 2, 3 },  /* never issued */
	};
	uint32_t tag = UINT32_MAX;

	(void)state;
	assert_int_equal(rl_memtxn_issue(&agent, RL_MEMTXN_READ, 3, 0, NULL,
					 &tag), 0);
	assert_int_equal(tag, 0);
	assert_int_equal(rl_memtxn_issue(&agent, RL_MEMTXN_WRITE, 3, 0, line,
					 &tag), 0);
	assert_int_equal(tag, 1);
	poll();
	for (size_t i = 0; i < RL_ARRAY_SIZE(wrong); i++) {
		hear(wrong[i].op, wrong[i].tag, wrong[i].cqid);
		assert_int_equal(agent.ctr.event[RL_MEMTXN_UNEXPECTED], i + 1);
		assert_int_equal(agent.nopen, 2);
	}
	hear(RL_MEMTXN_RSP, 0, 3);
	assert_int_equal(agent.ctr.event[RL_MEMTXN_COMPLETED], 1);
	hear(RL_MEMTXN_RSP, 0, 3); /* once more: it has been responded to */
	assert_int_equal(agent.ctr.event[RL_MEMTXN_COMPLETED], 1);
	assert_int_equal(agent.ctr.event[RL_MEMTXN_UNEXPECTED],
			 RL_ARRAY_SIZE(wrong) + 1);
	hear(RL_MEMTXN_DATA, 0, 3);
	hear(RL_MEMTXN_RSP, 1, 3);
	assert_int_equal(agent.ctr.event[RL_MEMTXN_COMPLETED], 3);
	assert_true(rl_memtxn_idle(&agent));
	assert_int_equal(cache.count, FLITS);
}

/* Requests arrive as many to a flit as there can be, and nothing can leave. */
static void
requests_are_left_with_the_endpoint_while_replies_have_no_room(void **state)
{
	struct rl_memtxn_msg read[RL_FLIT_DATA_BYTES / RL_MEMTXN_HEADER];
	uint32_t tag = 0;

	(void)state;
	full = true;
	for (unsigned int i = 0; i < 16; i++) {
		for (size_t k = 0; k < RL_ARRAY_SIZE(read); k++)
			read[k] = (struct rl_memtxn_msg){
				.op = RL_MEMTXN_READ, .tag = tag++ };
		arrive(read, RL_ARRAY_SIZE(read));
		poll();
	}
	assert_true(ntaken < narrived);
	assert_false(rl_memtxn_idle(&agent)); /* replies wait to be sent */
	/* requests of its own do not take the room of replies either */
	assert_int_equal(rl_memtxn_issue(&agent, RL_MEMTXN_READ, 0, 0, NULL,
					 NULL), -EAGAIN);
	assert_int_equal(agent.nopen, 0);
	full = false;
	for (unsigned int i = 0; i < 16; i++)
		poll();
	assert_int_equal(ntaken, narrived);
	assert_true(rl_memtxn_idle(&agent));
	assert_int_equal(agent.ctr.messages_sent, 2 * tag);
	assert_int_equal(cache.count, FLITS);
}

static void
a_flit_has_as_many_messages_as_pack_allows_and_of_one_kind(void **state)
{
	const struct rl_memtxn_msg read[] = { { .op = RL_MEMTXN_READ },
					      { .op = RL_MEMTXN_READ,
						.tag = 1 } };

	(void)state;
	full = true;
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(rl_memtxn_issue(&agent, RL_MEMTXN_READ, 0, 0,
						 NULL, NULL), 0);
	arrive(read, 2);
	poll();
	full = false;
	poll();
	/* requests 2 2 1; then response and data, twice */
	assert_int_equal(nsent, 5);
	for (unsigned int i = 0; i < nsent; i++) {
		assert_int_equal(sent[i].class, i < 3 ? RL_CLASS_REQ_NONPOSTED
						      : RL_CLASS_RSP);
		assert_int_equal(sent[i].messages, i == 2 ? 1 : 2);
	}
}

static void
a_line_that_ends_beyond_the_memory_is_not_touched(void **state)
{
	struct rl_memtxn_msg write = { .op = RL_MEMTXN_WRITE,
				       .data_bytes = RL_MEMTXN_LINE,
				       .addr = (LINES - 1) * RL_MEMTXN_LINE };

	(void)state;
	agent.cfg.mem_bytes = sizeof(mem) - 1;
	memset(mem, 0x5a, sizeof(mem));
	arrive(&write, 1);
	poll();
	assert_int_equal(agent.ctr.bad_addr, 1);
	assert_int_equal(agent.ctr.event[RL_MEMTXN_EXECUTED], 1);
	write.addr = 1; /* no line's */
	write.tag = 1;
	arrive(&write, 1);
	poll();
	assert_int_equal(agent.ctr.bad_addr, 2);
	for (size_t i = 0; i < sizeof(mem); i++)
		assert_int_equal(mem[i], 0x5a);
	assert_int_equal(nsent, 2); /* both are answered */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			what_fits_no_open_transaction_completes_none, fresh),
		cmocka_unit_test_setup(
			requests_are_left_with_the_endpoint_while_replies_have_no_room,
			fresh),
		cmocka_unit_test_setup(
			a_flit_has_as_many_messages_as_pack_allows_and_of_one_kind,
			fresh),
		cmocka_unit_test_setup(
			a_line_that_ends_beyond_the_memory_is_not_touched,
			fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
