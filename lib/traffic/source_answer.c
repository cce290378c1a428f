/* SPDX-License-Identifier: BSD-3-Clause */

/* The responses that a source owes. */

#include <errno.h>

#include "rl_plant.h"
#include "rl_source.h"

/* Responses that one poll may send. */
#define ANSWER_BURST 16

static void
push(struct rl_source *src, struct rl_owed *o)
{
	o->next = NULL;
	if (src->owed_first == NULL)
		src->owed_first = o;
	else
		src->owed_last->next = o;
	src->owed_last = o;
}

static struct rl_owed *
pop(struct rl_source *src)
{
	struct rl_owed *o = src->owed_first;

	src->owed_first = o->next;
	return o;
}

void
rl_source_owe(struct rl_source *src, struct rl_owed *o, uint16_t peer,
	      uint8_t cos, uint64_t now_ns)
{
	src->owed++;
	if (o->count++ != 0)
		return;
	o->since_ns = now_ns;
	o->dst = peer;
	o->cos = src->cfg->by_kind ? RL_KIND_RESPONSE : cos;
	push(src, o);
}

void
rl_source_forgive(struct rl_source *src, struct rl_owed *o)
{
	struct rl_owed *rest = src->owed_first;

	src->owed -= o->count;
	o->count = 0;
	src->owed_first = NULL;
	while (rest != NULL) {
		struct rl_owed *const next = rest->next;

		if (rest != o)
			push(src, rest);
		rest = next;
	}
}

void
rl_source_owe_nothing(struct rl_source *src)
{
	while (src->owed_first != NULL)
		pop(src)->count = 0;
	src->owed = 0;
}

/* @return as rl_source_cfg.offer */
static int
answer_one(struct rl_source *src, struct rl_ep *ep, struct rl_owed *o,
	   uint64_t now_ns)
{
	const struct rl_source_packet p = {
		.made_ns = o->since_ns,
		.dst = o->dst,
		.cos = o->cos,
		.response = true,
	};
	const int ret = src->cfg->offer(src, ep, &p, now_ns);

	if (ret == 0 || ret == -EHOSTUNREACH || RL_PLANTED(ASK_FORGOTTEN)) {
		o->count--;
		src->owed--;
		o->since_ns = now_ns;
	}
	return ret;
}

unsigned int
rl_source_answer(struct rl_source *src, struct rl_ep *ep, uint64_t now_ns)
{
	const struct rl_owed *stuck = NULL;
	unsigned int n = 0;

	while (src->owed_first != NULL && n < ANSWER_BURST &&
	       src->owed_first != stuck) {
		struct rl_owed *o = pop(src);
		const int ret = answer_one(src, ep, o, now_ns);

		if (o->count != 0)
			push(src, o);
		if (ret == 0)
			n++;
		if (ret == 0 || ret == -EHOSTUNREACH)
			stuck = NULL;
		else if (stuck == NULL)
			stuck = o;
	}
	return n;
}
