/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Requests are answered: whoever gets one owes its source a response, which
 * has its number in the flow back like any other packet. A response is made
 * whatever else its sender waits for: a quiesce that waits for all requests
 * under way to be answered [RES-1] would else wait for ever. Flows that owe
 * take turns, and one that is full keeps no other waiting.
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

/* @return as load_offer() */
static int
answer_one(struct load_src *src, struct rl_ep *ep, struct load_flow *flow,
	   uint64_t now_ns)
{
	const size_t at = (size_t)(flow - src->load->flow);
	const size_t nep = src->load->cfg.nep;
	const struct load_later l = {
		.made_ns = flow->owed_ns,
		.dst = (uint16_t)(at % nep),
		.cos = (uint8_t)(at / nep / nep),
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
