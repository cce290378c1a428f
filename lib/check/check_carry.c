/* SPDX-License-Identifier: BSD-3-Clause */
/* What a proof keeps of what packets do: see check_carry.h. */
#include "check_carry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct check_carry *
check_carry_new(const struct rl_proof *p)
{
	struct check_carry *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->tile = calloc(p->ntile + 1u, sizeof(*c->tile));
	if (c->tile == NULL) {
		free(c);
		return NULL;
	}
	return c;
}

void
check_carry_free(struct check_carry *c, uint32_t ntile)
{
	if (c == NULL)
		return;
	for (uint32_t i = 0; c->tile != NULL && i < ntile; i++)
		free(c->tile[i].state);
	check_ranks_map_free(&c->map);
	free(c->tile);
	free(c);
}

uint8_t
check_carry_searched(const struct rl_proof *p)
{
	const struct check_carry *c = p != NULL ? p->carry : NULL;
	uint8_t planes = 0;

	for (unsigned int s = 0; c != NULL && s < c->map.nslots; s++)
		if (!c->map.slot_free[s])
			planes |= (uint8_t)(1u << c->map.slot_plane[s]);
	return planes;
}

uint8_t *
carry_room(struct carry_tile *t, unsigned int slot, uint32_t nsw)
{
	const size_t n = (size_t)nsw * RANKS_TILE;
	const unsigned int have = (unsigned int)__builtin_popcountll(t->slots);
	const unsigned int at = (unsigned int)__builtin_popcountll(
		t->slots & ((1ull << slot) - 1));
	uint8_t *state;

	if (t->slots >> slot & 1)
		return t->state + at * n;
	state = realloc(t->state, (have + 1) * n + 1);
	if (state == NULL)
		return NULL;
	memmove(state + (at + 1) * n, state + at * n, (have - at) * n);
	memset(state + at * n, 0, n);
	t->state = state;
	t->slots |= 1ull << slot;
	return state + at * n;
}

/* What the fast way has found of a slot; whether there is anything. */
static bool
carry_found(const struct ranks_run *r, unsigned int slot, unsigned int lanes,
	    uint8_t *to)
{
	const size_t n = (size_t)r->map.nsw * RANKS_TILE;
	const uint16_t *hops = r->hops + slot * n;
	const uint8_t *seen = r->seen + slot * n;
	const bool search = !r->map.slot_free[slot];
	uint8_t mask[RANKS_TILE], all = 0;

	/* Lanes that were there before stay, unless these are in their place. */
	if (!search && !(r->followed >> slot & 1) && lanes == 0xff) {
		memset(to, 0, n);
		return false;
	}
	for (unsigned int k = 0; k < RANKS_TILE; k++)
		mask[k] = lanes >> k & 1 ? 0xff : 0;
	for (size_t i = 0; i < n; i += RANKS_TILE)
		for (unsigned int k = 0; k < RANKS_TILE; k++) {
			const uint8_t x = (uint8_t)
				((hops[i + k] |
				  (search && seen[i + k] ? CARRY_SEEN : 0)) &
				 mask[k]);

			to[i + k] = (uint8_t)((to[i + k] & ~mask[k]) | x);
			all |= x;
		}
	return all != 0;
}

/* Destinations to which some way is too long to be written down. */
static unsigned int
carry_too_long(const struct ranks_run *r)
{
	const size_t n = (size_t)r->map.nsw * RANKS_TILE;
	uint16_t most[RANKS_TILE] = {0};
	unsigned int lanes = 0;

	for (unsigned int s = 0; s < r->map.nslots; s++)
		for (size_t i = s * n; i < (s + 1) * n &&
		     (r->followed >> s & 1); i += RANKS_TILE)
			for (unsigned int k = 0; k < RANKS_TILE; k++)
				most[k] |= r->hops[i + k];
	for (unsigned int k = 0; k < RANKS_TILE; k++)
		lanes |= most[k] > CARRY_HOPS ? 1u << k : 0;
	return lanes;
}

int
check_carry_store(const struct ranks_run *r, uint32_t from,
		  unsigned int lanes)
{
	const uint32_t nsw = r->map.nsw;
	struct carry_tile *t = &r->carry->tile[from / RANKS_TILE];
	uint8_t *state = r->found;

	/* Lanes that were not proven hold anything. */
	lanes &= ~carry_too_long(r);
	for (unsigned int s = 0; s < r->map.nslots; s++) {
		uint8_t *to = carry_states(t, s, nsw);

		if (to != NULL) {
			carry_found(r, s, lanes, to);
			continue;
		}
		memset(state, 0, (size_t)nsw * RANKS_TILE);
		if (!carry_found(r, s, lanes, state))
			continue;
		to = carry_room(t, s, nsw);
		if (to == NULL)
			return -ENOMEM;
		memcpy(to, state, (size_t)nsw * RANKS_TILE);
	}
	for (unsigned int k = 0; k < RANKS_TILE; k++)
		if (lanes >> k & 1)
			t->scanned[k] = r->scanned;
	for (unsigned int s = 0; s < r->map.nslots; s++)
		r->carry->bears[s] |= r->bears[s];
	t->carried |= (uint8_t)lanes;
	return 0;
}
