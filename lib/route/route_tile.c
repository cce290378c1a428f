/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes entries to the tables by tiles of eight destinations. A plane has room
 * for as many next hops as its longest list: without parallel links, one on
 * planes away and tree, two on most others. So tables are less than half the
 * size of four next hops each, and memory is what limits their speed.
 */
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "route_impl.h"

void
route_tile_begin(struct route_build *b, uint32_t dst)
{
	uint16_t *to = (uint16_t *)(void *)(b->tile + (dst % ROUTE_TILE) *
						     b->tile_row);

	if (dst % ROUTE_TILE == 0)
		b->tile_planes = b->live_planes;
	for (size_t i = 0; i < b->tile_row; i++)
		to[i] = RL_FWD_PORT_NONE;
}

/* Start of the entries of a node on a plane, from a destination on. */
static inline struct rl_fwd_hop *
tile_at(const struct route_build *b, unsigned int plane, uint32_t node,
	uint32_t from)
{
	return b->list[plane] + ((node * b->row + from) << b->room[plane]);
}

/* Clears planes of a tile that the tables hold from times when it had more. */
static void
tile_clear(struct route_build *b, uint32_t from, uint32_t have)
{
	const unsigned int end = b->held[from / ROUTE_TILE];

	for (unsigned int p = b->tile_planes; p < end; p++)
		for (uint32_t u = 0; u < b->g.nnode; u++)
			memset(tile_at(b, p, u, from), 0,
			       (have << b->room[p]) *
				       sizeof(struct rl_fwd_hop));
	b->held[from / ROUTE_TILE] = (uint8_t)b->tile_planes;
}

/* Writes a cache line of a row past the caches, which would fetch it first, if
 * the processor can. */
static inline void
tile_line(struct rl_fwd_hop *to, const uint64_t line[ROUTE_TILE])
{
#ifdef __SSE2__
	for (unsigned int i = 0; i < ROUTE_TILE; i += 2)
		_mm_stream_si128((__m128i *)(void *)(to + i * RL_FWD_ALTS),
				 _mm_set_epi64x((long long)line[i + 1],
						(long long)line[i]));
#else
	memcpy(to, line, ROUTE_TILE * sizeof(*line));
#endif
}

/*
 * One plane of a tile, of `have` destinations. Lines of which a tile is only a
 * part stay in the caches until its neighbours come.
 */
static inline void
tile_plane(const struct route_build *b, unsigned int plane, uint32_t from,
	   uint32_t have, unsigned int room)
{
	const size_t bytes = sizeof(struct rl_fwd_hop) << room;
	const struct rl_fwd_hop *tile = b->tile + b->tile_plane[plane];

	for (uint32_t u = 0; u < b->g.nnode; u++) {
		struct rl_fwd_hop *to = tile_at(b, plane, u, from);
		struct rl_fwd_hop line[ROUTE_TILE * RL_FWD_ALTS];

		for (uint32_t k = 0; k < have; k++)
			memcpy(line + (k << room),
			       tile + k * b->tile_row + ((size_t)u << room),
			       bytes);
		memcpy(to, line, have * bytes);
	}
}

static void
tile_plane_lines(const struct route_build *b, unsigned int plane, uint32_t from)
{
	const struct rl_fwd_hop *tile = b->tile + b->tile_plane[plane];

	for (uint32_t u = 0; u < b->g.nnode; u++) {
		uint64_t line[ROUTE_TILE];

		for (uint32_t k = 0; k < ROUTE_TILE; k++)
			memcpy(&line[k], tile + k * b->tile_row +
						 (size_t)u * RL_FWD_ALTS,
			       sizeof(*line));
		tile_line(tile_at(b, plane, u, from), line);
	}
}

void
route_tables_done(void)
{
#ifdef __SSE2__
	_mm_sfence();
#endif
}

void
route_tile_end(struct route_build *b, uint32_t dst)
{
	const uint32_t from = dst - dst % ROUTE_TILE, have = dst + 1 - from;

	if (have < ROUTE_TILE && dst + 1 < b->topo->nep)
		return;
	for (unsigned int p = 0; p < b->tile_planes; p++) {
		/* Separate calls with constant arguments, so that the compiler
		   can specialise each loop. */
		if (have < ROUTE_TILE)
			tile_plane(b, p, from, have, b->room[p]);
		else if (b->room[p] == 0)
			tile_plane(b, p, from, ROUTE_TILE, 0);
		else if (b->room[p] == 1)
			tile_plane(b, p, from, ROUTE_TILE, 1);
		else
			tile_plane_lines(b, p, from);
	}
	tile_clear(b, from, have);
}
