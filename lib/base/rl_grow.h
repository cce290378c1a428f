/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_GROW_H
#define RL_GROW_H

/** @file Arrays that grow by doubling. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/**
 * Owner. Makes room for one more than @p n elements of @p size bytes.
 * @param array  the address of the pointer to them, which free() frees
 * @return false: no memory, and nothing has changed
 */
static inline bool
rl_grow(void *array, uint32_t n, uint32_t *cap, size_t size)
{
	const uint32_t more = *cap == 0 ? 16 : 2 * *cap;
	void *at;

	if (n < *cap)
		return true;
	memcpy(&at, array, sizeof(at));
	at = realloc(at, more * size);
	if (at == NULL)
		return false;
	memcpy(array, &at, sizeof(at));
	*cap = more;
	return true;
}

#endif /* RL_GROW_H */
