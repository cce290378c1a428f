/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that packets may do if they have a choice: several next hops, or two
 * tables. There are too many paths, but few states: what happens to a packet to
 * one destination depends only on its input channel and its SL. A depth-first
 * search from all sources finds the states, the dependencies between their
 * channels, dead ends, packets that may loop for ever, and the longest path.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_adapt.h"

#define STATE_NEW 0
#define STATE_OPEN 1 /* on the search's stack */
#define STATE_GOOD 2 /* all successors arrive */
#define STATE_BAD 3

/* Successors of a state: a choice of tables times a choice of next hops. */
#define STATE_NEXT (2 * RL_FWD_ALTS)

struct state_info {
	uint8_t mark;
	uint8_t failed;
	uint16_t len; /* longest path to the destination */
	uint32_t src; /* a source that gets here */
};

struct state_frame {
	uint32_t state;
	uint32_t next; /* choice to try next */
	struct check_at at;
};

struct states {
	struct check_run *r;
	struct state_info *info; /* [channel * RL_SLS + sl] */
	uint32_t *touched;
	uint32_t ntouched;
	struct state_frame *stack;
	uint32_t depth;
	uint32_t dst;
	bool looped;
	struct check_adapt adapt; /* if r->in->joins */
};

/* The target of choice i of a packet; UINT32_MAX: no such choice. */
static uint32_t
states_choose(const struct check_run *r, uint32_t i, uint32_t dst,
	      struct check_at *at)
{
	const struct rl_fwd *tab = i < RL_FWD_ALTS ? r->in->fwd : r->in->old;
	const struct rl_fwd *f;
	struct rl_fwd_entry e;
	unsigned int plane;

	if (tab == NULL)
		return UINT32_MAX;
	f = &tab[at->dev];
	e = check_entry(f, at, dst, &plane);
	for (uint32_t k = 0; k < i % RL_FWD_ALTS; k++)
		if (check_ends(e.hop[k]))
			return UINT32_MAX;
	if (r->in->alts == RL_CHECK_FIRST)
		for (uint32_t k = 0; k < i % RL_FWD_ALTS; k++) {
			struct check_at tried = *at;

			if (check_move(r, f, plane, e.hop[k], &tried) !=
			    UINT32_MAX)
				return UINT32_MAX;
		}
	return check_move(r, f, plane, e.hop[i % RL_FWD_ALTS], at);
}

static void
states_push(struct states *s, uint32_t state, const struct check_at *at,
	    uint32_t src)
{
	s->info[state].mark = STATE_OPEN;
	s->info[state].len = 0;
	s->info[state].src = src;
	s->touched[s->ntouched++] = state;
	s->stack[s->depth++] = (struct state_frame){state, 0, *at};
}

static void
states_fold(struct states *s, uint32_t state, uint8_t mark, uint32_t len)
{
	struct state_info *i = &s->info[state];

	if (mark != STATE_GOOD)
		i->failed = 1;
	if (len + 1 > i->len)
		i->len = (uint16_t)rl_min_u32(len + 1, UINT16_MAX);
}

static void
states_pop(struct states *s, bool any)
{
	const uint32_t state = s->stack[--s->depth].state;
	struct state_info *i = &s->info[state];

	i->mark = any && !i->failed ? STATE_GOOD : STATE_BAD;
	if (s->depth != 0)
		states_fold(s, s->stack[s->depth - 1].state, i->mark, i->len);
}

static void
states_depend(struct states *s, uint32_t from, uint32_t to, uint32_t src)
{
	const struct rl_topo *t = s->r->topo;
	const struct rl_fwd *fwd = s->r->in->fwd;

	if (s->r->grouped) {
		from = check_first_beside(t, fwd, from);
		to = check_first_beside(t, fwd, to);
	}
	check_deps_add(&s->r->deps, from, to, src, s->dst);
}

static void
states_search(struct states *s)
{
	struct check_run *r = s->r;

	while (s->depth != 0) {
		struct state_frame *f = &s->stack[s->depth - 1];
		struct state_info *from = &s->info[f->state];
		struct check_at at = f->at;
		uint32_t chan, state;

		if (at.dev == r->topo->ep_dev[s->dst]) {
			states_pop(s, true);
			continue;
		}
		if (f->next == STATE_NEXT) {
			states_pop(s, from->len != 0);
			continue;
		}
		/* a packet stranded by the old tables waits for the new ones;
		 * one stranded by these is lost */
		if (f->next == RL_FWD_ALTS && from->len == 0)
			from->failed = 1;
		chan = states_choose(r, f->next++, s->dst, &at);
		if (chan == UINT32_MAX)
			continue;
		r->used[chan] = 1;
		states_depend(s, f->state / RL_SLS, chan, from->src);
		state = chan * RL_SLS + at.sl;
		if (s->info[state].mark == STATE_NEW) {
			states_push(s, state, &at, from->src);
			continue;
		}
		if (s->info[state].mark == STATE_OPEN)
			s->looped = true;
		states_fold(s, f->state, s->info[state].mark,
			    s->info[state].len);
	}
}

/* Searches all that may happen to a packet of src that device dev injects, or
   that leaves the adaptive plane there, with one SL. */
static bool
states_inject(struct states *s, uint32_t dev, uint32_t src, uint8_t sl,
	      uint32_t *len)
{
	struct check_run *r = s->r;
	bool any = false, good = true;

	for (uint32_t i = 0; i < STATE_NEXT; i++) {
		struct check_at at = {.dev = dev, .sl = sl};
		uint32_t chan, state;

		good &= i != RL_FWD_ALTS || any;
		at.in_port = r->in->fwd[dev].nports;
		chan = states_choose(r, i, s->dst, &at);
		if (chan == UINT32_MAX)
			continue;
		any = true;
		r->used[chan] = 1;
		state = chan * RL_SLS + sl;
		if (s->info[state].mark == STATE_NEW) {
			states_push(s, state, &at, src);
			states_search(s);
		}
		good &= s->info[state].mark == STATE_GOOD;
		if (s->info[state].len + 1u > *len)
			*len = s->info[state].len + 1u;
	}
	return any && good;
}

static void
states_source(struct states *s, uint32_t src)
{
	struct check_run *r = s->r;
	const uint32_t dev = r->topo->ep_dev[src];
	uint8_t sl = r->in->fwd[dev].path_sl[s->dst] & (RL_SLS - 1);
	uint32_t len = 0;
	bool good;

	s->looped = false;
	good = states_inject(s, dev, src, sl, &len);
	if (r->in->old != NULL) {
		sl = r->in->old[dev].path_sl[s->dst] & (RL_SLS - 1);
		good &= states_inject(s, dev, src, sl, &len);
	}
	if (!r->count)
		return;
	r->rep->pairs++;
	r->rep->reachable += good;
	if (len > r->rep->max_hops)
		r->rep->max_hops = len;
	if (!good)
		check_lost(r, src, s->dst, s->looped ? "may go round for ever" :
						       "may find no next hop");
}

/* Packets of the adaptive plane leave it, wherever they may be. */
static void
states_joins(struct states *s)
{
	struct check_run *r = s->r;
	struct check_adapt *a = &s->adapt;
	const bool bad = check_adapt_follow(r, a, s->dst) != NULL;

	r->rep->joins_lost += bad;
	for (uint32_t u = 0; u < r->topo->ndev && !bad; u++) {
		uint32_t len = 0;

		if (r->topo->dev[u].kind != RL_DEV_SWITCH)
			continue;
		for (unsigned int sl = 0; sl < RL_SLS; sl++) {
			if (!(a->sls[u] >> sl & 1))
				continue;
			r->rep->joins++;
			if (states_inject(s, u, a->src[u], (uint8_t)sl, &len))
				continue;
			r->rep->joins_lost++;
			check_lost(r, a->src[u], s->dst,
				   "has no way where it leaves the adaptive "
				   "plane");
		}
	}
}

int
check_states(struct check_run *r)
{
	const size_t n = (size_t)r->nchan * RL_SLS;
	struct states s = {.r = r};
	int ret = -ENOMEM;

	s.info = calloc(n + 1, sizeof(*s.info));
	s.touched = malloc((n + 1) * sizeof(*s.touched));
	s.stack = malloc((n + 1) * sizeof(*s.stack));
	if (s.info == NULL || s.touched == NULL || s.stack == NULL ||
	    (r->in->joins && check_adapt_init(&s.adapt, r->topo) != 0))
		goto out;
	for (s.dst = 0; s.dst < r->topo->nep; s.dst++) {
		if (!check_ep_live(r, s.dst))
			continue;
		for (uint32_t src = 0; src < r->topo->nep; src++)
			if (check_counts(r, src, s.dst))
				states_source(&s, src);
		if (r->in->joins)
			states_joins(&s);
		for (uint32_t i = 0; i < s.ntouched; i++)
			memset(&s.info[s.touched[i]], 0, sizeof(*s.info));
		s.ntouched = 0;
	}
	ret = 0;
out:
	free(s.stack);
	free(s.touched);
	free(s.info);
	check_adapt_free(&s.adapt);
	return ret;
}
