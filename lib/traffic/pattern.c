/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rl_pattern.h"

static const char *const words[] = {
#define WORD(name, word, what) word,
	RL_PATTERNS(WORD)
#undef WORD
	"pairs",
};

int
rl_pattern_parse(const char *word)
{
	for (int i = 0; i < RL_PATTERN_PAIRS; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -EINVAL;
}

const char *
rl_pattern_name(enum rl_pattern_kind kind)
{
	return kind < RL_PATTERN_COUNT ? words[kind] : "unknown";
}

const char *
rl_pattern_words(char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (int i = 0; i < RL_PATTERN_PAIRS && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s",
				      i == 0			    ? ""
				      : i + 1 < RL_PATTERN_PAIRS ? ", "
								    : " or ",
				      words[i]);
	return buf;
}

const char *
rl_pattern_needs(enum rl_pattern_kind kind)
{
	if (kind == RL_PATTERN_TORNADO)
		return "a ring of two or more switches";
	if (kind == RL_PATTERN_TRANSPOSE)
		return "a grid whose dims are equal, or a square number of "
		       "endpoints in a row";
	return "two endpoints";
}

size_t
rl_pattern_memsize(const struct rl_pattern_cfg *c)
{
	switch (c->kind) {
	case RL_PATTERN_UNIFORM:
		return 0;
	case RL_PATTERN_PERMUTATION:
	case RL_PATTERN_TORNADO:
	case RL_PATTERN_HOTSPOT:
	case RL_PATTERN_INCAST:
	case RL_PATTERN_TRANSPOSE:
	case RL_PATTERN_BIT_COMPLEMENT:
		return c->nep * sizeof(uint16_t);
	case RL_PATTERN_PAIRS:
		return (c->nep + 1) * sizeof(uint32_t) +
		       c->npairs * sizeof(uint16_t);
	case RL_PATTERN_COUNT:
		break;
	}
	return 0;
}

static void
shuffle(uint16_t *t, uint32_t n, struct rl_prng *prng)
{
	for (uint32_t i = 0; i < n; i++)
		t[i] = (uint16_t)i;
	for (uint32_t i = n; i > 1; i--) {
		const uint32_t j = rl_prng_below(prng, i);
		const uint16_t tmp = t[i - 1];

		t[i - 1] = t[j];
		t[j] = tmp;
	}
}

static void
derange(uint16_t *t, uint32_t n, struct rl_prng *prng)
{
	shuffle(t, n, prng);
	/* an endpoint that would send to itself swaps with its neighbour: both
	   move */
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t j = (i + 1) % n;
		const uint16_t tmp = t[i];

		if (t[i] != i)
			continue;
		t[i] = t[j];
		t[j] = tmp;
	}
}

/* Halfway round, less one; for two the other one. */
static uint32_t
tornado_hop(uint32_t k)
{
	return k == 2 ? 1 : (k + 1) / 2 - 1;
}

struct grid {
	uint32_t dims[RL_PATTERN_DIMS];
	uint32_t ndims;
	uint32_t hosts; /* a switch */
};

/* The grid of the switches, or a row of all endpoints. */
static int
grid_of(const struct rl_pattern_cfg *c, struct grid *g)
{
	uint32_t n;

	*g = (struct grid){ { c->nep, 1, 1 }, 1, 1 };
	if (c->ndims > RL_PATTERN_DIMS)
		return -EINVAL;
	if (c->ndims == 0)
		return 0;
	g->ndims = c->ndims;
	n = g->hosts = c->hosts_per_switch ? c->hosts_per_switch : 1;
	for (uint32_t d = 0; d < g->ndims; d++)
		n *= g->dims[d] = c->dims[d];
	return n == c->nep ? 0 : -EINVAL;
}

/* Makes a square of a row, if it can. @return -EINVAL: dims that differ */
static int
make_square(struct grid *g)
{
	uint32_t m = 1;

	while (g->ndims == 1 && m * m < g->dims[0])
		m++;
	if (g->ndims == 1 && m * m == g->dims[0])
		*g = (struct grid){ { m, m, 1 }, 2, g->hosts };
	for (uint32_t d = 1; d < g->ndims; d++)
		if (g->dims[d] != g->dims[0])
			return -EINVAL;
	return 0;
}

static int
by_place(const struct rl_pattern_cfg *c, uint16_t *t)
{
	const bool turns = c->kind == RL_PATTERN_TRANSPOSE;
	struct grid g;
	bool sends = false;

	if (grid_of(c, &g) != 0 || (turns && make_square(&g) != 0))
		return -EINVAL;
	for (uint32_t i = 0; i < c->nep; i++) {
		uint32_t at[RL_PATTERN_DIMS], sw = i / g.hosts, dst = 0;

		for (uint32_t d = g.ndims; d-- > 0; sw /= g.dims[d])
			at[d] = sw % g.dims[d];
		for (uint32_t d = 0; d < g.ndims; d++) {
			const uint32_t k = g.dims[d];

			dst *= k;
			dst += turns ? at[(d + 1) % g.ndims]
				     : (at[d] + tornado_hop(k)) % k;
		}
		t[i] = (uint16_t)(dst * g.hosts + i % g.hosts);
		sends |= t[i] != i;
	}
	return sends ? 0 : -EINVAL; /* all would send to themselves */
}

static int
pairs(const struct rl_pattern_cfg *c, uint32_t *first, uint16_t *t)
{
	memset(first, 0, (c->nep + 1) * sizeof(*first));
	for (uint32_t i = 0; i < c->npairs; i++) {
		if (c->pair[i].src >= c->nep || c->pair[i].dst >= c->nep ||
		    c->pair[i].src == c->pair[i].dst)
			return -EINVAL;
		first[c->pair[i].src + 1]++;
	}
	for (uint32_t i = 0; i < c->nep; i++)
		first[i + 1] += first[i];
	/* fill each from its start, then shift the starts back */
	for (uint32_t i = 0; i < c->npairs; i++)
		t[first[c->pair[i].src]++] = c->pair[i].dst;
	memmove(first + 1, first, c->nep * sizeof(*first));
	first[0] = 0;
	return 0;
}

int
rl_pattern_init(struct rl_pattern *p, const struct rl_pattern_cfg *c, void *mem)
{
	struct rl_prng prng;
	uint16_t *t = mem;
	uint32_t *first = mem;

	if (c->nep < 2 || c->nep > 65535)
		return -EINVAL;
	*p = (struct rl_pattern){ .kind = c->kind, .nep = c->nep, .table = t };
	rl_prng_seed(&prng, c->seed);
	switch (c->kind) {
	case RL_PATTERN_UNIFORM:
		return 0;
	case RL_PATTERN_PERMUTATION:
		derange(t, c->nep, &prng);
		return 0;
	case RL_PATTERN_TORNADO:
	case RL_PATTERN_TRANSPOSE:
		return by_place(c, t);
	case RL_PATTERN_BIT_COMPLEMENT:
		for (uint32_t i = 0; i < c->nep; i++)
			t[i] = (uint16_t)(c->nep - 1 - i);
		return 0;
	case RL_PATTERN_HOTSPOT:
		p->hot_count = c->hot_count ? c->hot_count : 1;
		p->hot_pct = c->hot_pct;
		if (p->hot_count > c->nep || c->hot_pct > 100)
			return -EINVAL;
		shuffle(t, c->nep, &prng);
		return 0;
	case RL_PATTERN_INCAST:
		if (c->target >= c->nep)
			return -EINVAL;
		for (uint32_t i = 0; i < c->nep; i++)
			t[i] = c->target;
		return 0;
	case RL_PATTERN_PAIRS:
		p->first = first;
		t = (uint16_t *)(void *)(first + c->nep + 1);
		p->table = t;
		return c->npairs > 0 ? pairs(c, first, t) : -EINVAL;
	case RL_PATTERN_COUNT:
		break;
	}
	return -EINVAL;
}

static uint32_t
anyone_else(uint32_t nep, uint32_t src, struct rl_prng *prng)
{
	const uint32_t d = rl_prng_below(prng, nep - 1);

	return d >= src ? d + 1 : d;
}

uint32_t
rl_pattern_dst(const struct rl_pattern *p, uint32_t src, struct rl_prng *prng)
{
	uint32_t dst = RL_PATTERN_NONE;

	RL_DASSERT(src < p->nep);
	switch (p->kind) {
	case RL_PATTERN_UNIFORM:
		return anyone_else(p->nep, src, prng);
	case RL_PATTERN_PERMUTATION:
	case RL_PATTERN_TORNADO:
	case RL_PATTERN_INCAST:
	case RL_PATTERN_TRANSPOSE:
	case RL_PATTERN_BIT_COMPLEMENT:
		dst = p->table[src];
		break;
	case RL_PATTERN_HOTSPOT:
		if (rl_prng_below(prng, 100) < p->hot_pct)
			dst = p->table[rl_prng_below(prng, p->hot_count)];
		if (dst == RL_PATTERN_NONE || dst == src)
			return anyone_else(p->nep, src, prng);
		break;
	case RL_PATTERN_PAIRS:
		if (p->first[src + 1] > p->first[src])
			dst = p->table[p->first[src] +
				       rl_prng_below(prng,
						     p->first[src + 1] -
							     p->first[src])];
		break;
	case RL_PATTERN_COUNT:
		break;
	}
	return dst == src ? RL_PATTERN_NONE : dst;
}
