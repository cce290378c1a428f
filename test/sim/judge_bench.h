/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JUDGE_BENCH_H
#define JUDGE_BENCH_H

/*
 * A load whose endpoints the test plays: what it sends is kept, and comes to
 * whom the test hands it.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rl_sim_load.h"

#define NEP 3
#define PACKETS 48
#define FLITS 256
#define TAG0 1000
#define US RL_NS_PER_US

/* A packet as an endpoint accepted it. */
struct sent {
	uint16_t src, dst;
	uint8_t class;
	uint32_t tag, bytes;
	uint8_t data[2 * RL_FLIT_DATA_BYTES];
};

static struct sent sent[4 * PACKETS];
static unsigned int nsent;
static uint32_t next_tag[NEP][NEP];
static uint16_t self; /* whose endpoint is asked */
static uint32_t full; /* bit per destination that takes nothing */

static struct rl_flit flits[FLITS];
static struct rl_flit *slots[FLITS];
static struct rl_flit_cache cache;
static struct rl_flit *waiting; /* what rl_ep_recv() gives next */

static struct rl_sim_load *load;
static struct rl_client client[NEP];
static uint64_t connected_ns;

/* The linker hands these calls of the load to us. */
struct rl_flit *__wrap_rl_ep_recv(struct rl_ep *ep);
void __wrap_rl_ep_prefetch(const struct rl_ep *ep, uint16_t peer, uint8_t cos);
int __wrap_rl_ep_send_fill(struct rl_ep *ep, uint64_t now_ns,
			   const struct rl_ep_msg *msg, rl_ep_fill_fn fill,
			   void *ctx, uint32_t *tag);

struct rl_flit *
__wrap_rl_ep_recv(struct rl_ep *ep)
{
	struct rl_flit *f = waiting;

	(void)ep;
	waiting = NULL;
	return f;
}

void
__wrap_rl_ep_prefetch(const struct rl_ep *ep, uint16_t peer, uint8_t cos)
{
	(void)ep;
	(void)peer;
	(void)cos;
}

int
__wrap_rl_ep_send_fill(struct rl_ep *ep, uint64_t now_ns,
		       const struct rl_ep_msg *msg, rl_ep_fill_fn fill,
		       void *ctx, uint32_t *tag)
{
	struct sent *s = &sent[nsent];

	(void)ep;
	(void)now_ns;
	if (full >> msg->dst & 1)
		return -EAGAIN;
	assert_true(nsent < RL_ARRAY_SIZE(sent));
	assert_true(msg->len_bytes <= sizeof(s->data));
	*s = (struct sent){ .src = self, .dst = msg->dst,
			    .class = (uint8_t)msg->class,
			    .tag = TAG0 + next_tag[self][msg->dst]++,
			    .bytes = msg->len_bytes };
	for (uint32_t at = 0; at < s->bytes; at += RL_FLIT_DATA_BYTES)
		fill(ctx, s->data + at, at,
		     rl_min_u32(s->bytes - at, RL_FLIT_DATA_BYTES));
	*tag = s->tag;
	nsent++;
	return 0;
}

static uint64_t
connected(void *ctx, uint16_t src, uint16_t dst)
{
	(void)ctx;
	(void)src;
	(void)dst;
	return connected_ns;
}

/* All sources make what they have to by @p now_ns. */
static void
poll_all(uint64_t now_ns)
{
	for (self = 0; self < NEP; self++)
		client[self].poll(client[self].ctx, NULL, now_ns);
}

/* Clients of @p threads threads. */
static void
new_load_of(uint32_t requests_ppm, unsigned int threads)
{
	const struct rl_sim_load_cfg cfg = {
		.pattern = { .kind = RL_PATTERN_UNIFORM },
		.load = 1, .slot_ps = 2000, .min_flits = 2, .max_flits = 2,
		.cos = 1, .packets = PACKETS, .stop_ns = RL_NEVER, .seed = 3,
		.nep = NEP, .requests_ppm = requests_ppm,
		.connected = connected, .threads = threads,
	};

	cache = (struct rl_flit_cache){ .slot = slots, .cap = FLITS };
	for (unsigned int i = 0; i < FLITS; i++)
		rl_flit_put(&cache, &flits[i]);
	memset(next_tag, 0, sizeof(next_tag));
	nsent = full = 0;
	connected_ns = 0;
	load = rl_sim_load_new(&cfg);
	assert_non_null(load);
	for (uint16_t i = 0; i < NEP; i++) {
		const struct rl_sim_seat seat = { .part = i % threads,
						  .cache = &cache };

		rl_sim_load_client(load, i, &seat, &client[i]);
	}
}

static void
open_load(uint32_t requests_ppm)
{
	new_load_of(requests_ppm, 1);
	/* as time goes on, so that all sources have their share */
	for (uint64_t t_ns = 0; t_ns < US; t_ns++)
		poll_all(t_ns);
	assert_int_equal(nsent, PACKETS);
}

static int
fresh(void **state)
{
	(void)state;
	open_load(0);
	return 0;
}

static int
done(void **state)
{
	(void)state;
	rl_sim_load_free(load);
	assert_int_equal(cache.count, FLITS);
	return 0;
}

/* Packet @p s comes to endpoint @p at as it is. */
static void
hand(const struct sent *s, uint16_t at, uint64_t now_ns)
{
	struct rl_flit *head = NULL;

	for (uint32_t off = 0; off < s->bytes; off += RL_FLIT_DATA_BYTES) {
		struct rl_flit *f = rl_flit_get(&cache);
		const uint32_t n =
			rl_min_u32(s->bytes - off, RL_FLIT_DATA_BYTES);
		const struct rl_txn t = {
			.dst = s->dst, .src = s->src, .class = s->class,
			.tag = s->tag, .valid_bytes = (uint8_t)n,
		};

		assert_non_null(f);
		rl_txn_put(f->wire, &t);
		memcpy(f->wire + RL_FLIT_DATA_OFF, s->data + off, n);
		f->class = s->class;
		f->in_vc = 0;
		if (head == NULL) {
			rl_packet_start(f);
			head = f;
		} else {
			rl_packet_append(head, f);
		}
	}
	waiting = head;
	self = at;
	client[at].poll(client[at].ctx, NULL, now_ns);
	assert_null(waiting);
}

static void
deliver(unsigned int i)
{
	hand(&sent[i], sent[i].dst, 200 * US);
}

/* The @p n-th packet of the flow of packet 0. */
static unsigned int
of_flow(unsigned int n)
{
	for (unsigned int i = 0; i < nsent; i++)
		if (sent[i].src == sent[0].src && sent[i].dst == sent[0].dst &&
		    n-- == 0)
			return i;
	fail_msg("the flow is too short");
	return 0;
}

static unsigned int
flow_len(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < nsent; i++)
		n += sent[i].src == sent[0].src && sent[i].dst == sent[0].dst;
	return n;
}

static struct rl_sim_load_stats
stats(void)
{
	struct rl_sim_load_stats st;

	rl_sim_load_stats(load, &st);
	return st;
}

/* All packets in order, but for one. */
static void
deliver_all_but(unsigned int skip)
{
	for (unsigned int i = 0; i < nsent; i++)
		if (i != skip)
			deliver(i);
}

#endif /* JUDGE_BENCH_H */
