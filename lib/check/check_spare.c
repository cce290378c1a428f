/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks of the old and the new tables are two orders of many: a flow that
 * descends in both may still do no harm. All dependencies of the flows that go
 * on are gathered; then each flow to be held is added, one by one, and stays
 * held only if it closes a cycle. So each held flow has a reason: adding any
 * one of them makes a cycle.
 *
 * This checks all flows, not only those that a change touches, and is for
 * fabrics where that takes little time (RL_CHECK_SPARE_PAIRS).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_mix.h"

struct spare_edge {
	uint32_t from;
	uint32_t to;
};

struct spare {
	struct mix_run *r;
	uint32_t nchan;
	struct check_deps all; /* of flows that go on */
	struct check_deps one; /* of the current flow */
	struct spare_edge *edge; /* those of `all`, then new ones of `one` */
	uint32_t nedge;
	uint32_t room;
	uint32_t *value; /* [nchan] an order in which all edges ascend */
	uint32_t *first; /* [nchan + 1] edges of a channel in `to` */
	uint32_t *in;	 /* [nchan] */
	uint32_t *queue; /* [nchan] */
	uint32_t *to;	 /* [room] */
};

static void
spare_free(struct spare *s)
{
	check_deps_free(&s->all);
	check_deps_free(&s->one);
	free(s->edge);
	free(s->value);
	free(s->to);
}

static int
spare_init(struct spare *s, struct mix_run *r)
{
	memset(s, 0, sizeof(*s));
	s->r = r;
	s->nchan = rl_channels(r->topo);
	s->value = malloc((4u * (size_t)s->nchan + 1) * sizeof(*s->value));
	if (check_deps_init(&s->all) != 0 || check_deps_init(&s->one) != 0 ||
	    s->value == NULL)
		return -ENOMEM;
	s->first = s->value + s->nchan;
	s->in = s->first + s->nchan + 1;
	s->queue = s->in + s->nchan;
	return 0;
}

static int
spare_reserve(struct spare *s, uint32_t n)
{
	struct spare_edge *edge;
	uint32_t *to;

	if (n <= s->room)
		return 0;
	edge = realloc(s->edge, 2 * (size_t)n * sizeof(*edge));
	if (edge != NULL)
		s->edge = edge;
	to = realloc(s->to, 2 * (size_t)n * sizeof(*to));
	if (to != NULL)
		s->to = to;
	if (edge == NULL || to == NULL)
		return -ENOMEM;
	s->room = 2 * n;
	return 0;
}

/* Whether all edges ascend in some order; if so, value holds one. */
static bool
spare_order(struct spare *s)
{
	uint32_t head = 0, tail = 0;

	memset(s->first, 0, (s->nchan + 1) * sizeof(*s->first));
	memset(s->in, 0, s->nchan * sizeof(*s->in));
	for (uint32_t i = 0; i < s->nedge; i++) {
		s->first[s->edge[i].from + 1]++;
		s->in[s->edge[i].to]++;
	}
	for (uint32_t c = 0; c < s->nchan; c++)
		s->first[c + 1] += s->first[c];
	memcpy(s->queue, s->first, s->nchan * sizeof(*s->queue));
	for (uint32_t i = 0; i < s->nedge; i++)
		s->to[s->queue[s->edge[i].from]++] = s->edge[i].to;
	for (uint32_t c = 0; c < s->nchan; c++)
		if (s->in[c] == 0)
			s->queue[tail++] = c;
	while (head < tail) {
		const uint32_t c = s->queue[head++];

		for (uint32_t i = s->first[c]; i < s->first[c + 1]; i++)
			if (--s->in[s->to[i]] == 0)
				s->queue[tail++] = s->to[i];
	}
	for (uint32_t i = 0; i < tail && tail == s->nchan; i++)
		s->value[s->queue[i]] = i;
	return tail == s->nchan;
}

/* Adds the edges of `one` to those of `all`. Returns -ENOMEM; 1: that makes a
 * cycle, and nothing is added; 0. */
static int
spare_add(struct spare *s)
{
	const uint32_t had = s->nedge;
	bool ascends = had != 0;

	if (s->one.no_memory || spare_reserve(s, had + s->one.count + 1) != 0)
		return -ENOMEM;
	for (uint32_t i = 0; i <= s->one.mask; i++) {
		const struct check_dep *d = &s->one.slot[i];

		if (d->from == d->to || check_deps_has(&s->all, d->from, d->to))
			continue;
		s->edge[s->nedge++] = (struct spare_edge){d->from, d->to};
		ascends = ascends && s->value[d->from] < s->value[d->to];
	}
	if (!ascends && !spare_order(s)) {
		s->nedge = had;
		return 1;
	}
	for (uint32_t i = had; i < s->nedge; i++)
		check_deps_add(&s->all, s->edge[i].from, s->edge[i].to, 0, 0);
	return s->all.no_memory ? -ENOMEM : 0;
}

/* Adds the dependencies of all flows that are not held. */
static int
spare_begin(struct spare *s, const struct rl_flows *held)
{
	struct mix_run *r = s->r;
	const uint32_t nep = r->topo->nep;
	uint32_t len;

	for (uint32_t e = 0; e < nep; e++) {
		for (uint32_t k = 0; k < nep; k++)
			if (r->map.live[e] && r->map.live[k] && k != e &&
			    !rl_flows_has(held, k, e))
				check_mix_flow(r, k, e, &len);
		check_mix_forget(r);
	}
	return spare_add(s);
}

/* Tries to release a held flow. */
static int
spare_try(struct spare *s, struct rl_flows *held, uint32_t src, uint32_t dst)
{
	uint32_t len;
	unsigned int flags;
	int ret;

	check_deps_clear(&s->one);
	flags = check_mix_flow(s->r, src, dst, &len);
	check_mix_forget(s->r);
	if (flags & MIX_LOST)
		return 0;
	ret = spare_add(s);
	if (ret == 0)
		rl_flows_remove(held, src, dst);
	return ret < 0 ? ret : 0;
}

int
check_mix_spare(struct mix_run *r, struct rl_flows *held)
{
	struct spare s;
	int ret = spare_init(&s, r);

	r->deps = &s.one;
	if (ret == 0)
		ret = spare_begin(&s, held);
	for (uint32_t src = 0; src < held->nep && ret == 0; src++)
		for (uint32_t dst = 0; dst < held->nep && ret == 0; dst++)
			if (rl_flows_has(held, src, dst))
				ret = spare_try(&s, held, src, dst);
	r->deps = NULL;
	spare_free(&s);
	/* A cycle with all of them held: the tables were never proven. */
	return ret == 1 ? 0 : ret;
}
