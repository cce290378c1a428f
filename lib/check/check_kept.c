/* SPDX-License-Identifier: BSD-3-Clause */
#include "check_kept.h"

#include <errno.h>
#include <stdlib.h>

struct check_kept *
check_kept_new(const struct rl_proof *p)
{
	struct check_kept *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return NULL;
	k->tile = calloc(p->ntile + 1u, sizeof(*k->tile));
	if (k->tile == NULL) {
		free(k);
		return NULL;
	}
	return k;
}

void
check_kept_free(struct check_kept *k, uint32_t ntile)
{
	if (k == NULL)
		return;
	for (uint32_t i = 0; i < ntile; i++)
		free(k->tile[i].comes);
	check_ranks_map_free(&k->map);
	free(k->tile);
	free(k);
}

int
check_kept_store(const struct ranks_run *r, uint32_t from, unsigned int lanes)
{
	const uint32_t nsw = r->map.nsw;
	struct kept_tile *t = &r->kept->tile[from / RANKS_TILE];
	uint8_t *to;

	t->slots = r->followed;
	t->known = (uint8_t)lanes;
	to = malloc((size_t)__builtin_popcountll(t->slots) * nsw + 1);
	if (to == NULL)
		return -ENOMEM;
	t->comes = to;
	for (uint64_t s = t->slots; s != 0; s &= s - 1) {
		const uint16_t *hops = r->hops + (size_t)__builtin_ctzll(s) *
						 nsw * RANKS_TILE;

		for (uint32_t u = 0; u < nsw; u++, hops += RANKS_TILE) {
			unsigned int come = 0;

			for (unsigned int k = 0; k < RANKS_TILE; k++)
				come |= (unsigned int)(hops[k] != 0) << k;
			*to++ = (uint8_t)(come & lanes);
		}
	}
	return 0;
}
