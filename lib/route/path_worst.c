/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The permutation that tables carry worst. A permutation has as many flows on a
 * link as pairs of it can be chosen with no source and no destination in two of
 * them: the largest matching of the sources and destinations whose paths cross
 * the link. The best link's pairs are taken, and again without their ends, until
 * no two pairs are left that share a link.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rl_path.h"

#define NONE UINT16_MAX
#define HOPS_MAX 255

struct pair {
	uint16_t src;
	uint16_t dst;
};

struct worst {
	const struct rl_topo *t;
	const struct rl_fwd *fwd;
	uint32_t *first;   /* [2 * nlink + 1] of the pairs that cross it */
	struct pair *pair; /* by source */
	uint16_t *to;	   /* [nep] the result; NONE: free */
	uint16_t *from;	   /* [nep] the same by destination */
	uint16_t *match;   /* [nep] source of each destination, or NONE */
	uint16_t *best;	   /* the largest matching so far */
	uint32_t *seen;	   /* [nep] search that saw a destination last */
	uint32_t search;
	uint16_t last; /* source of the pair taken last */
};

/* Tells of each link that a path crosses: first counts, then fills in. */
static void
cross(struct worst *w, uint16_t src, uint16_t dst, bool fill)
{
	struct rl_path at = rl_path_begin(w->t, w->fwd, src, dst);

	for (unsigned int hops = 0; hops < HOPS_MAX; hops++) {
		const struct rl_topo_port *p =
			rl_path_step(w->t, w->fwd, &at, dst);
		uint32_t *n;

		if (p == NULL || at.dev == w->t->ep_dev[dst])
			return;
		if (hops == 0)
			continue; /* the endpoint's own link */
		n = &w->first[2 * p->link + p->end];
		if (fill)
			w->pair[--*n] = (struct pair){ src, dst };
		else
			++*n;
	}
}

static void
cross_all(struct worst *w, bool fill)
{
	/* filled from the end, so that sources ascend */
	for (uint32_t s = w->t->nep; s-- > 0;)
		for (uint32_t d = 0; d < w->t->nep; d++)
			if (s != d)
				cross(w, (uint16_t)s, (uint16_t)d, fill);
}

static int
find_pairs(struct worst *w)
{
	const uint32_t n = 2 * w->t->nlink;

	cross_all(w, false);
	for (uint32_t l = 0; l < n; l++)
		w->first[l + 1] += w->first[l];
	w->pair = calloc(w->first[n] + 1u, sizeof(*w->pair));
	if (w->pair == NULL)
		return -ENOMEM;
	cross_all(w, true);
	return 0;
}

/* Whether a source can have a destination, others moving to make room. */
static bool
augment(struct worst *w, uint32_t link, uint16_t src)
{
	for (uint32_t i = w->first[link]; i < w->first[link + 1]; i++) {
		const struct pair p = w->pair[i];

		if (p.src != src || w->from[p.dst] != NONE ||
		    w->seen[p.dst] == w->search)
			continue;
		w->seen[p.dst] = w->search;
		if (w->match[p.dst] == NONE ||
		    augment(w, link, w->match[p.dst])) {
			w->match[p.dst] = src;
			return true;
		}
	}
	return false;
}

static unsigned int
match_link(struct worst *w, uint32_t link)
{
	uint16_t last = NONE;
	unsigned int n = 0;

	memset(w->match, 0xff, w->t->nep * sizeof(*w->match));
	for (uint32_t i = w->first[link]; i < w->first[link + 1]; i++) {
		const uint16_t src = w->pair[i].src;

		if (src == last || w->to[src] != NONE)
			continue;
		last = src;
		w->search++;
		n += augment(w, link, src);
	}
	return n;
}

/* Takes the largest matching of all links. @return how large it is */
static unsigned int
take_link(struct worst *w)
{
	unsigned int most = 0;

	for (uint32_t l = 0; l < 2 * w->t->nlink; l++) {
		unsigned int n;

		if (w->first[l + 1] - w->first[l] <= most)
			continue;
		n = match_link(w, l);
		if (n <= most)
			continue;
		most = n;
		memcpy(w->best, w->match, w->t->nep * sizeof(*w->best));
	}
	for (uint32_t d = 0; most > 1 && d < w->t->nep; d++)
		if (w->best[d] != NONE) {
			w->from[d] = w->best[d];
			w->to[w->best[d]] = (uint16_t)d;
			w->last = w->best[d];
		}
	return most;
}

/* Any destinations for the others, but not themselves. */
static void
take_rest(struct worst *w)
{
	const uint16_t n = (uint16_t)w->t->nep;
	uint16_t other = w->last;

	for (uint16_t s = 0; s < n; s++) {
		uint16_t d = 0;

		if (w->to[s] != NONE)
			continue;
		while (d < n && (w->from[d] != NONE || d == s))
			d++;
		if (d == n) { /* only itself is left: another one takes that */
			d = w->to[other];
			w->to[other] = s;
			w->from[s] = other;
		}
		w->to[s] = d;
		w->from[d] = s;
		other = s;
	}
}

static int
find_worst(struct worst *w)
{
	int most = 0;
	unsigned int n = 2;

	if (w->first == NULL || w->from == NULL || w->match == NULL ||
	    w->best == NULL || w->seen == NULL || find_pairs(w) != 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->t->nep; i++)
		w->to[i] = w->from[i] = NONE;
	while (n > 1) {
		n = take_link(w);
		most = most == 0 ? (int)n : most;
	}
	take_rest(w);
	return most;
}

int
rl_path_worst(const struct rl_topo *t, const struct rl_fwd *fwd, uint16_t to[])
{
	const size_t n = t->nep;
	struct worst w = {
		.t = t,
		.fwd = fwd,
		.first = calloc(2 * (size_t)t->nlink + 2, sizeof(*w.first)),
		.to = to,
		.from = calloc(n + 1, sizeof(*w.from)),
		.match = calloc(n + 1, sizeof(*w.match)),
		.best = calloc(n + 1, sizeof(*w.best)),
		.seen = calloc(n + 1, sizeof(*w.seen)),
	};
	int ret = n < 2 ? -EINVAL : find_worst(&w);

	free(w.first);
	free(w.pair);
	free(w.from);
	free(w.match);
	free(w.best);
	free(w.seen);
	return ret;
}
