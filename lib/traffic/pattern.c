/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "rl_pattern.h"

static const char *const words[] = { RL_PATTERNS(RL_WORD) };

int
rl_pattern_parse(const char *word)
{
	for (int i = 0; i < RL_PATTERN_COUNT; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -EINVAL;
}

const char *
rl_pattern_name(enum rl_pattern_kind kind)
{
	return kind < RL_PATTERN_COUNT ? words[kind] : "unknown";
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
		return c->nep * sizeof(uint16_t);
	case RL_PATTERN_PAIRS:
		return (c->nep + 1) * sizeof(uint32_t) +
		       c->npairs * sizeof(uint16_t);
	case RL_PATTERN_COUNT:
		break;
	}
	return 0;
}

/** A random order of all endpoints. */
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

/** A permutation without fixed points. */
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

static int
tornado(const struct rl_pattern_cfg *c, uint16_t *t)
{
	const uint32_t hosts = c->hosts_per_switch ? c->hosts_per_switch : 1;
	uint32_t dims[RL_PATTERN_DIMS] = { c->nep, 1, 1 };
	uint32_t ndims = 1, n = hosts;
	bool sends = false;

	if (c->ndims > RL_PATTERN_DIMS)
		return -EINVAL;
	if (c->ndims > 0) {
		ndims = c->ndims;
		for (uint32_t d = 0; d < ndims; d++)
			n *= dims[d] = c->dims[d];
		if (n != c->nep)
			return -EINVAL;
	}
	for (uint32_t i = 0; i < c->nep; i++) {
		uint32_t sw = c->ndims > 0 ? i / hosts : i;
		uint32_t dst = 0, scale = 1;

		for (uint32_t d = ndims; d-- > 0;) {
			const uint32_t k = dims[d];
			const uint32_t x = sw % k;

			sw /= k;
			dst += (x + tornado_hop(k)) % k * scale;
			scale *= k;
		}
		t[i] = (uint16_t)(c->ndims > 0 ? dst * hosts + i % hosts : dst);
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
		return tornado(c, t);
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
