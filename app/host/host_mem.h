/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_MEM_H
#define HOST_MEM_H

/**
 * @file
 * Memory of the fabric's objects: taken once at the start, given back as a
 * whole. It never meets a device (frames are copied into mbufs), so it needs
 * neither hugepages nor locked pages; the kernel is asked for transparent
 * huge ones.
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
	size_t total_bytes;
};

/**
 * Control thread. Zeroed memory, 64-byte aligned, the arena's. Large pieces
 * get pages of their own, of which the untouched ones cost nothing.
 * @return NULL where there is none
 */
void *host_mem_alloc(struct host_mem *m, size_t bytes);

/** Control thread. The same on huge pages where the kernel has some. */
void *host_mem_alloc_huge(struct host_mem *m, size_t bytes);

/** Control thread. Gives everything back. */
void host_mem_free(struct host_mem *m);

#endif /* HOST_MEM_H */
