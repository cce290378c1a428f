/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Answers requests: the receiver of a request owes its source a response, which
 * is a packet of the reverse flow like any other. Responses are sent even if
 * their sender holds new requests: otherwise a quiesce that waits for answers
 * to all outstanding requests [RES-1] would never end. Flows that owe responses
 * take turns, and a flow that is full does not block the others.
 */

#include <errno.h>

#include "load_priv.h"

/* Responses that one poll may send. */
#define ANSWER_BURST 16

static struct load_flow *
first(const struct load_src *src)
{
	return &src->load->flow[src->owed_first - 1];
}

static void
push(struct load_src *src, struct load_flow *flow)
{
	const uint32_t at = (uint32_t)(flow - src->load->flow) + 1;

	flow->owed_next = 0;
	if (src->owed_first == 0)
		src->owed_first = at;
	else
		src->load->flow[src->owed_last - 1].owed_next = at;
	src->owed_last = at;
}

static struct load_flow *
pop(struct load_src *src)
{
	struct load_flow *flow = first(src);

	src->owed_first = flow->owed_next;
	return flow;
}

void
load_owe(struct rl_sim_load *load, uint16_t at, uint16_t peer, uint8_t cos,
	 uint64_t now_ns)
{
	struct load_flow *flow = load_flow(load, at, peer, cos);

	if (flow->owed++ != 0)
		return;
	flow->owed_ns = now_ns;
	push(&load->src[at], flow);
}

/* @return the same as load_offer() */
static int
answer_one(struct load_src *src, struct rl_ep *ep, struct load_flow *flow,
	   uint64_t now_ns)
{
	const size_t nep = src->load->cfg.nep;
	const struct load_later l = {
		.made_ns = flow->owed_ns,
		.dst = load_flow_dst(src->load, flow),
		.cos = (uint8_t)((size_t)(flow - src->load->flow) / nep / nep),
		.response = true,
	};
	const int ret = load_offer(src, ep, &l, now_ns);

	if (ret == 0 || ret == -EHOSTUNREACH) {
		flow->owed--;
		flow->owed_ns = now_ns;
	}
	return ret;
}

unsigned int
load_answer(struct load_src *src, struct rl_ep *ep, uint64_t now_ns)
{
	const struct load_flow *stuck = NULL;
	unsigned int n = 0;

	while (src->owed_first != 0 && n < ANSWER_BURST &&
	       first(src) != stuck) {
		struct load_flow *flow = pop(src);
		const int ret = answer_one(src, ep, flow, now_ns);

		if (flow->owed != 0)
			push(src, flow);
		if (ret == 0)
			n++;
		if (ret == 0 || ret == -EHOSTUNREACH)
			stuck = NULL;
		else if (stuck == NULL)
			stuck = flow;
	}
	return n;
}

void
load_owe_nothing(struct load_src *src)
{
	while (src->owed_first != 0)
		pop(src)->owed = 0;
}
