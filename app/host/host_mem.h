/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_MEM_H
#define HOST_MEM_H

/**
 * @file
 * Memory for the objects of the fabric: allocated at the start, freed as a
 * whole. No device accesses it (frames are copied into mbufs), so it needs
 * neither hugepages nor locked pages; the kernel is asked for transparent huge
 * pages.
 */

#include <stddef.h>

#define HOST_MEM_CHUNKS 4096

struct host_chunk {
	void *base;
	size_t bytes;
};

struct host_mem {
	struct host_chunk chunk[HOST_MEM_CHUNKS];
	unsigned int nchunks;
	char *next; /**< of the last small chunk */
	size_t left;
};

/**
 * Control thread. Allocates zeroed memory, 64-byte aligned, owned by the arena.
 * Large pieces get their own pages, which cost nothing while untouched.
 * @return NULL if there is no memory
 */
void *host_mem_alloc(struct host_mem *m, size_t bytes);

/** Control thread. The same, on huge pages if the kernel has some. */
void *host_mem_alloc_huge(struct host_mem *m, size_t bytes);

/** Control thread. Frees everything. */
void host_mem_free(struct host_mem *m);

#endif /* HOST_MEM_H */
