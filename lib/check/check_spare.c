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

struct spare {
	struct mix_run *r;
	uint32_t nchan;
	struct check_deps all; /* of flows that go on */
	struct check_deps one; /* of the current flow */
	uint32_t *value; /* [nchan] an order in which those of `all` ascend */
};

static void
spare_free(struct spare *s)
{
	check_deps_free(&s->all);
	check_deps_free(&s->one);
	free(s->value);
}

static int
spare_init(struct spare *s, struct mix_run *r)
{
	memset(s, 0, sizeof(*s));
	s->r = r;
	s->nchan = rl_channels(r->topo);
	s->value = calloc(s->nchan + 1u, sizeof(*s->value));
	return check_deps_init(&s->all) != 0 ||
	       check_deps_init(&s->one) != 0 || s->value == NULL ?
		       -ENOMEM : 0;
}

/* Adds the dependencies of `one` to those of `all`. Returns -ELOOP: that makes
 * a cycle, and nothing is added; -ENOMEM; 0. */
static int
spare_add(struct spare *s)
{
	int ret = 0;

	if (s->one.no_memory)
		return -ENOMEM;
	if (!check_deps_ascend(&s->one, s->value))
		ret = check_deps_order(&s->all, &s->one, s->nchan, s->value);
	if (ret != 0)
		return ret;
	for (uint32_t i = 0; i <= s->one.mask; i++) {
		const struct check_dep *d = &s->one.slot[i];

		if (d->from != d->to)
			check_deps_add(&s->all, d->from, d->to, 0, 0);
	}
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
			if (check_mix_counts(r, k, e) &&
			    !rl_flows_has(held, k, e))
				check_mix_flow(r, k, e, &len);
		check_mix_forget(r);
	}
	return spare_add(s);
}

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
	return ret == -ELOOP ? 0 : ret;
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
	return ret == -ELOOP ? 0 : ret;
}
