/* SPDX-License-Identifier: BSD-3-Clause */
#include "check_deps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEPS_FIRST_SLOTS 4096u
/* Channels per component from which a shortest cycle is searched. */
#define DEPS_STARTS 32u

int
check_deps_init(struct check_deps *d)
{
	memset(d, 0, sizeof(*d));
	d->slot = calloc(DEPS_FIRST_SLOTS, sizeof(*d->slot));
	d->mask = DEPS_FIRST_SLOTS - 1;
	return d->slot == NULL ? -ENOMEM : 0;
}

void
check_deps_free(struct check_deps *d)
{
	free(d->slot);
	memset(d, 0, sizeof(*d));
}

static uint32_t
deps_hash(uint32_t from, uint32_t to)
{
	uint64_t k = ((uint64_t)from << 32 | to) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(k >> 32);
}

static struct check_dep *
deps_find(const struct check_deps *d, uint32_t from, uint32_t to)
{
	uint32_t i = deps_hash(from, to) & d->mask;

	while (d->slot[i].from != d->slot[i].to &&
	       (d->slot[i].from != from || d->slot[i].to != to))
		i = (i + 1) & d->mask;
	return &d->slot[i];
}

static void
deps_grow(struct check_deps *d)
{
	struct check_deps big = {.mask = d->mask * 2 + 1, .count = d->count};

	big.slot = calloc((size_t)big.mask + 1, sizeof(*big.slot));
	if (big.slot == NULL) {
		d->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i <= d->mask; i++) {
		const struct check_dep *s = &d->slot[i];

		if (s->from != s->to)
			*deps_find(&big, s->from, s->to) = *s;
	}
	free(d->slot);
	*d = big;
}

void
check_deps_add(struct check_deps *d, uint32_t from, uint32_t to, uint32_t src,
	       uint32_t dst)
{
	struct check_dep *s = deps_find(d, from, to);

	RL_ASSERT(from != to);
	if (s->from != s->to || d->no_memory)
		return;
	*s = (struct check_dep){from, to, src, dst};
	if (++d->count * 2 > d->mask)
		deps_grow(d);
}

void
check_deps_clear(struct check_deps *d)
{
	memset(d->slot, 0, ((size_t)d->mask + 1) * sizeof(*d->slot));
	d->count = 0;
}

bool
check_deps_ascend(const struct check_deps *d, const uint32_t *rank)
{
	for (uint32_t i = 0; i <= d->mask; i++) {
		const struct check_dep *s = &d->slot[i];

		if (s->from != s->to && rank[s->from] >= rank[s->to])
			return false;
	}
	return true;
}

/* The dependencies as a graph: adjacency lists. */
struct deps_graph {
	uint32_t nchan;
	uint32_t *first; /* [nchan + 1] */
	uint32_t *to;	 /* [count] */
	uint32_t *in;	 /* [nchan] remaining dependencies on it */
	uint32_t *queue; /* [nchan] */
	uint32_t *from;	 /* [nchan] predecessor in a search */
};

static void
graph_count(struct deps_graph *g, const struct check_deps *d, bool turned)
{
	for (uint32_t i = 0; i <= d->mask; i++)
		if (d->slot[i].from != d->slot[i].to)
			g->first[turned ? d->slot[i].to : d->slot[i].from]++;
}

static void
graph_fill(struct deps_graph *g, const struct check_deps *d, bool turned)
{
	for (uint32_t i = 0; i <= d->mask; i++) {
		const struct check_dep *s = &d->slot[i];
		const uint32_t from = turned ? s->to : s->from;
		const uint32_t to = turned ? s->from : s->to;

		if (from == to)
			continue;
		g->to[g->queue[from]++] = to;
		g->in[to]++;
	}
}

/* more: a second set, or NULL */
static int
graph_init(struct deps_graph *g, const struct check_deps *d,
	   const struct check_deps *more, uint32_t nchan, bool turned)
{
	uint32_t sum = 0, count = d->count;

	if (more != NULL)
		count += more->count;
	g->nchan = nchan;
	g->first = calloc(4u * (size_t)nchan + 2 + count, sizeof(*g->first));
	if (g->first == NULL)
		return -ENOMEM;
	g->in = g->first + nchan + 1;
	g->queue = g->in + nchan;
	g->from = g->queue + nchan;
	g->to = g->from + nchan;
	graph_count(g, d, turned);
	if (more != NULL)
		graph_count(g, more, turned);
	for (uint32_t c = 0; c <= nchan; c++) {
		const uint32_t n = c < nchan ? g->first[c] : 0;

		g->first[c] = sum;
		sum += n;
	}
	memcpy(g->queue, g->first, nchan * sizeof(*g->queue));
	graph_fill(g, d, turned);
	if (more != NULL)
		graph_fill(g, more, turned);
	return 0;
}

/*
 * Repeatedly removes channels without predecessors, which leaves cycles and
 * what they lead to. Returns how many are left; in[c] is 0 for removed ones.
 */
static uint32_t
graph_peel(struct deps_graph *g)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t c = 0; c < g->nchan; c++)
		if (g->in[c] == 0)
			g->queue[tail++] = c;
	while (head < tail) {
		const uint32_t c = g->queue[head++];

		for (uint32_t i = g->first[c]; i < g->first[c + 1]; i++)
			if (--g->in[g->to[i]] == 0)
				g->queue[tail++] = g->to[i];
	}
	return g->nchan - tail;
}

/*
 * Length of the shortest cycle through c, at most max; from[] has its channels.
 */
static uint32_t
graph_cycle_at(struct deps_graph *g, uint32_t c, uint32_t max)
{
	uint32_t head = 0, tail = 0, level = 1, end;

	memset(g->from, 0xff, g->nchan * sizeof(*g->from));
	g->queue[tail++] = c;
	for (end = tail; head < tail && level <= max; level++, end = tail) {
		while (head < end) {
			const uint32_t u = g->queue[head++];

			for (uint32_t i = g->first[u]; i < g->first[u + 1];
			     i++) {
				const uint32_t w = g->to[i];

				if (g->in[w] == 0 || g->from[w] != UINT32_MAX)
					continue;
				g->from[w] = u;
				if (w == c)
					return level;
				g->queue[tail++] = w;
			}
		}
	}
	return 0;
}

static void
cycle_report(const struct deps_graph *g, const struct check_deps *d, uint32_t c,
	     uint32_t len, struct rl_check_report *rep)
{
	uint32_t to = c;

	rep->cycle_len = len;
	for (uint32_t i = len; i-- > 0; to = g->from[to]) {
		const uint32_t from = g->from[to];
		const struct check_dep *s = deps_find(d, from, to);

		if (i >= RL_CHECK_CYCLE_MAX)
			continue;
		rep->cycle[i].link = from / RL_VCS / 2;
		rep->cycle[i].end = (uint8_t)(from / RL_VCS & 1);
		rep->cycle[i].vl = (uint8_t)(from % RL_VCS);
		rep->cycle[i].src = s->src;
		rep->cycle[i].dst = s->dst;
	}
}

/*
 * Marks channels that lead to no cycle as removed: the same on the reversed
 * graph.
 */
static int
graph_trim(struct deps_graph *g, const struct check_deps *d)
{
	struct deps_graph turned;

	if (graph_init(&turned, d, NULL, g->nchan, true) != 0)
		return -ENOMEM;
	graph_peel(&turned);
	for (uint32_t c = 0; c < g->nchan; c++)
		if (turned.in[c] == 0)
			g->in[c] = 0;
	free(turned.first);
	return 0;
}

int
check_deps_cycle(const struct check_deps *d, uint32_t nchan,
		 struct rl_check_report *rep)
{
	uint32_t best = 0, at = 0, starts = 0, left, step;
	struct deps_graph g;

	if (d->no_memory || graph_init(&g, d, NULL, nchan, false) != 0)
		return -ENOMEM;
	left = graph_peel(&g);
	if (left != 0 && graph_trim(&g, d) != 0) {
		free(g.first);
		return -ENOMEM;
	}
	step = left / DEPS_STARTS + 1;
	for (uint32_t c = 0; c < nchan && left != 0; c++) {
		uint32_t len;

		/* a channel between two cycles is on none: try the next */
		if (g.in[c] == 0 || (starts++ % step != 0 && best != 0))
			continue;
		len = graph_cycle_at(&g, c, best != 0 ? best - 1 : nchan);
		if (len != 0) {
			best = len;
			at = c;
		}
	}
	if (best != 0) {
		graph_cycle_at(&g, at, best);
		cycle_report(&g, d, at, best, rep);
	}
	free(g.first);
	RL_ASSERT((left != 0) == (best != 0));
	return best != 0 ? -ELOOP : 0;
}

int
check_deps_order(const struct check_deps *d, const struct check_deps *more,
		 uint32_t nchan, uint32_t *rank)
{
	struct deps_graph g;
	bool loop;

	if (d->no_memory || (more != NULL && more->no_memory) ||
	    graph_init(&g, d, more, nchan, false) != 0)
		return -ENOMEM;
	loop = graph_peel(&g) != 0;
	for (uint32_t i = 0; i < nchan && !loop; i++)
		rank[g.queue[i]] = i;
	free(g.first);
	return loop ? -ELOOP : 0;
}
