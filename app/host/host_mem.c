/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdint.h>
#include <sys/mman.h>

#include "host_mem.h"

#define CHUNK_BYTES (2u << 20)
#define LARGE_BYTES (1u << 20)
#define LINE 64u

static void *
map(struct host_mem *m, size_t bytes, size_t align)
{
	struct host_chunk *c = &m->chunk[m->nchunks];
	uintptr_t p;

	if (m->nchunks == HOST_MEM_CHUNKS)
		return NULL;
	c->bytes = bytes + align;
	c->base = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (c->base == MAP_FAILED)
		return NULL;
	m->nchunks++;
	p = ((uintptr_t)c->base + align - 1) & ~(uintptr_t)(align - 1);
	return (void *)p;
}

void *
host_mem_alloc_huge(struct host_mem *m, size_t bytes)
{
	void *p;

	bytes = (bytes + CHUNK_BYTES - 1) & ~(size_t)(CHUNK_BYTES - 1);
	p = map(m, bytes, CHUNK_BYTES);
	if (p != NULL)
		(void)madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

void *
host_mem_alloc(struct host_mem *m, size_t bytes)
{
	void *p;

	bytes = (bytes + LINE - 1) & ~(size_t)(LINE - 1);
	if (bytes >= LARGE_BYTES)
		return map(m, bytes, LINE);
	if (bytes > m->left) {
		m->next = host_mem_alloc_huge(m, CHUNK_BYTES);
		m->left = m->next == NULL ? 0 : CHUNK_BYTES;
		if (m->next == NULL)
			return NULL;
	}
	p = m->next;
	m->next += bytes;
	m->left -= bytes;
	return p;
}

void
host_mem_free(struct host_mem *m)
{
	while (m->nchunks > 0) {
		m->nchunks--;
		(void)munmap(m->chunk[m->nchunks].base,
			     m->chunk[m->nchunks].bytes);
	}
	m->left = 0;
}
