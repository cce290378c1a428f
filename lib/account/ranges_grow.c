/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "rl_ranges.h"

bool
rl_range_pool_grow(struct rl_range_pool *p)
{
	const uint32_t cap = p->cap == 0 ? 64 : 2 * p->cap;
	struct rl_range *more;

	if (rl_likely(p->free != RL_RANGE_END || p->used < p->cap))
		return true;
	more = realloc(p->node, cap * sizeof(*more));
	if (more == NULL)
		return false;
	p->node = more;
	p->cap = cap;
	p->used = rl_max_u32(p->used, 1);
	return true;
}
