/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory of simulations. Flits and frames are allocated in chunks when they run
 * low, and freed at the end only: their number is the peak use. Objects of a
 * fabric come from an arena that the next run reuses. Large ones come from the
 * system, untouched, so that tables that a run never reads cost nothing.
 *
 * Chunks are huge pages if available: a run accesses all of its memory all the
 * time, and with small pages almost every flit would miss the TLB.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim_priv.h"

#define CHUNK_BYTES (2u << 20) /* a huge page */
#define FLITS_CHUNK ((uint32_t)(CHUNK_BYTES / sizeof(struct rl_flit)))
#define ARENA_BIG_BYTES (128u << 10)

/* A codec, kept because making its tables takes longer than many runs. */
struct rl_sim_codec {
	struct rl_sim_codec *next;
	struct rl_codec *codec;
	enum rl_crc_kind crc;
	enum rl_isn_kind isn;
	enum rl_isa isa;
};

/* @return an uninitialised chunk; NULL: no memory */
static void *
chunk_new(void)
{
	void *chunk = aligned_alloc(CHUNK_BYTES, CHUNK_BYTES);

	if (chunk != NULL) /* only an optimisation */
		(void)madvise(chunk, CHUNK_BYTES, MADV_HUGEPAGE);
	return chunk;
}

/* Appends to an array of pointers; it grows by doubling. */
static int
ptr_push(void ***array, uint32_t *n, void *ptr)
{
	void **a = *array;

	if ((*n & (*n - 1)) == 0) {
		a = realloc(a, (*n == 0 ? 1 : 2 * (size_t)*n) * sizeof(*a));
		if (a == NULL)
			return -ENOMEM;
		*array = a;
	}
	a[(*n)++] = ptr;
	return 0;
}

int
sim_flits_grow(struct rl_sim_mem *mem, struct rl_flit_cache *c)
{
	struct rl_flit *f = chunk_new();
	struct rl_flit **slot;

	if (f == NULL)
		return -ENOMEM;
	slot = realloc(c->slot,
		       (c->cap + FLITS_CHUNK) * sizeof(struct rl_flit *));
	if (slot != NULL)
		c->slot = slot;
	if (slot == NULL ||
	    ptr_push(&mem->flit_chunk, &mem->nflit_chunk, f) != 0) {
		free(f);
		return -ENOMEM;
	}
	memset(f, 0, FLITS_CHUNK * sizeof(*f));
	/* below those in use, so that warm ones stay on top */
	memmove(slot + FLITS_CHUNK, slot, c->count * sizeof(struct rl_flit *));
	for (uint32_t i = 0; i < FLITS_CHUNK; i++)
		slot[i] = &f[FLITS_CHUNK - 1 - i];
	c->count += FLITS_CHUNK;
	c->cap += FLITS_CHUNK;
	mem->flits += FLITS_CHUNK;
	return 0;
}

/* While a flit was in a run, its mark may have held the upper half of a pointer
   (rl_flit.row). No user-space pointer has this bit. */
#define MARK_BIT 0x80000000u

static int
flits_unique(const struct rl_flit_cache *c, uint32_t mark)
{
	for (uint32_t i = 0; i < c->count; i++) {
		struct rl_flit *f = c->slot[i];

		if (f->spare == mark)
			return -EUCLEAN;
		f->spare = mark;
	}
	return 0;
}

int
sim_flits_unique(struct rl_sim_mem *mem)
{
	mem->mark = (mem->mark + 1) | MARK_BIT;
	return flits_unique(&mem->cache, mem->mark) != 0 ||
			       flits_unique(&mem->keep, mem->mark) != 0
		       ? -EUCLEAN
		       : 0;
}

static void
frames_free(struct rl_sim_mem *mem)
{
	for (uint32_t i = 0; i < mem->nframe_chunk; i++)
		free(mem->frame_chunk[i]);
	mem->nframe_chunk = 0;
	memset(mem->frame, 0, sizeof(mem->frame));
	mem->frames = mem->frames_free = 0;
}

int
sim_frame_size(struct rl_sim_mem *mem, uint32_t frame_bytes)
{
	if (mem->frame_bytes == frame_bytes)
		return 0;
	RL_ASSERT(mem->frames == mem->frames_free);
	frames_free(mem);
	mem->frame_bytes = frame_bytes;
	return 0;
}

int
sim_frames_grow(struct rl_sim_mem *mem, uint32_t size)
{
	const size_t one = (sim_frame_room(mem, size) + RL_CACHE_LINE - 1) &
			   ~(size_t)(RL_CACHE_LINE - 1);
	/* first the bytes of all frames, then their descriptors */
	const uint32_t n = (uint32_t)(CHUNK_BYTES /
				      (one + sizeof(struct rl_sim_frame)));
	uint8_t *chunk = chunk_new();
	struct rl_sim_frame *f;

	if (chunk == NULL)
		return -ENOMEM;
	if (ptr_push(&mem->frame_chunk, &mem->nframe_chunk, chunk) != 0) {
		free(chunk);
		return -ENOMEM;
	}
	f = (struct rl_sim_frame *)(void *)(chunk + n * one);
	for (uint32_t i = n; i-- > 0;) {
		f[i].data = chunk + i * one;
		f[i].size = (uint16_t)size;
		f[i].home = mem->index;
		sim_frame_put(mem, &f[i]);
	}
	mem->frames += n;
	return 0;
}

static int
arena_room(struct rl_sim_mem *mem, size_t bytes)
{
	void *chunk;

	if (mem->narena != 0 && mem->arena_used + bytes <= CHUNK_BYTES)
		return 0;
	if (mem->narena != 0 && mem->arena_cur + 1 < mem->narena) {
		mem->arena_cur++;
		mem->arena_used = 0;
		return 0;
	}
	chunk = chunk_new();
	if (chunk == NULL || ptr_push(&mem->arena, &mem->narena, chunk) != 0) {
		free(chunk);
		return -ENOMEM;
	}
	mem->arena_cur = mem->narena - 1;
	mem->arena_used = 0;
	return 0;
}

/* Allocates zeroed memory, aligned to a cache line, until sim_mem_reset(). */
void *
sim_alloc(struct rl_sim_mem *mem, size_t bytes)
{
	void *ptr;

	bytes = (bytes + RL_CACHE_LINE - 1) & ~(size_t)(RL_CACHE_LINE - 1);
	if (bytes >= ARENA_BIG_BYTES) {
		uint8_t *raw = calloc(1, bytes + RL_CACHE_LINE);

		if (raw == NULL)
			return NULL;
		if (ptr_push(&mem->big, &mem->nbig, raw) != 0) {
			free(raw);
			return NULL;
		}
		return raw + (-(uintptr_t)raw & (RL_CACHE_LINE - 1));
	}
	if (arena_room(mem, bytes) != 0)
		return NULL;
	ptr = (uint8_t *)mem->arena[mem->arena_cur] + mem->arena_used;
	mem->arena_used += bytes;
	return memset(ptr, 0, bytes);
}

struct rl_sim_mem *
sim_mem_part(struct rl_sim_mem *mem, uint32_t i)
{
	if (i == 0)
		return mem;
	while (mem->nmore < i) {
		struct rl_sim_mem *const m = aligned_alloc(
			2 * RL_CACHE_LINE,
			(sizeof(*m) + 2 * RL_CACHE_LINE - 1) &
				~(size_t)(2 * RL_CACHE_LINE - 1));

		if (m == NULL)
			return NULL;
		if (rl_sim_mem_init(m) != 0 ||
		    ptr_push(&mem->more, &mem->nmore, m) != 0) {
			rl_sim_mem_free(m);
			free(m);
			return NULL;
		}
		m->index = (uint16_t)mem->nmore;
	}
	return mem->more[i - 1];
}

uint64_t
sim_flits_used(const struct rl_sim *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->nparts; i++)
		n += s->part[i].mem->flits - sim_flits_free(s->part[i].mem);
	return n;
}

static void
mem_reset(struct rl_sim_mem *mem)
{
	mem->arena_cur = 0;
	mem->arena_used = 0;
	for (uint32_t i = 0; i < mem->nbig; i++)
		free(mem->big[i]);
	mem->nbig = 0;
}

void
sim_mem_reset(struct rl_sim_mem *mem)
{
	mem_reset(mem);
	for (uint32_t i = 0; i < mem->nmore; i++)
		mem_reset(mem->more[i]);
}

struct rl_codec *
sim_codec(struct rl_sim_mem *mem, enum rl_crc_kind crc, enum rl_isn_kind isn,
	  enum rl_isa isa)
{
	struct rl_sim_codec *c = mem->codec;

	while (c != NULL && (c->crc != crc || c->isn != isn || c->isa != isa))
		c = c->next;
	if (c != NULL)
		return c->codec;
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return NULL;
	*c = (struct rl_sim_codec){
		.next = mem->codec,
		.codec = aligned_alloc(RL_CACHE_LINE, rl_codec_memsize()),
		.crc = crc,
		.isn = isn,
		.isa = isa,
	};
	if (c->codec != NULL)
		memset(c->codec, 0, rl_codec_memsize());
	if (c->codec == NULL || rl_codec_init(c->codec, crc, isn, isa) != 0) {
		free(c->codec);
		free(c);
		return NULL;
	}
	mem->codec = c;
	return c->codec;
}

int
rl_sim_mem_init(struct rl_sim_mem *mem)
{
	*mem = (struct rl_sim_mem){ 0 };
	return sim_flits_grow(mem, &mem->cache);
}

void
rl_sim_mem_free(struct rl_sim_mem *mem)
{
	sim_mem_reset(mem);
	for (uint32_t i = 0; i < mem->nmore; i++) {
		rl_sim_mem_free(mem->more[i]);
		free(mem->more[i]);
	}
	free(mem->more);
	frames_free(mem);
	for (uint32_t i = 0; i < mem->nflit_chunk; i++)
		free(mem->flit_chunk[i]);
	for (uint32_t i = 0; i < mem->narena; i++)
		free(mem->arena[i]);
	while (mem->codec != NULL) {
		struct rl_sim_codec *c = mem->codec;

		mem->codec = c->next;
		free(c->codec);
		free(c);
	}
	free(mem->cache.slot);
	free(mem->keep.slot);
	free(mem->flit_chunk);
	free(mem->frame_chunk);
	free(mem->arena);
	free(mem->big);
	*mem = (struct rl_sim_mem){ 0 };
}

void
sim_pipe_flush(struct sim_pipe *sp)
{
	for (; sp->head != sp->tail; sp->head++) {
		struct rl_flit *f = sp->slot[sp->head & sp->mask].obj;

		if (rl_pipe_is_mark(f) == RL_MARK_NONE)
			rl_packet_put(&sp->part->mem->cache, f);
	}
}
