/* SPDX-License-Identifier: BSD-3-Clause */
#include "rl_grow.h"
#include "rl_ranges.h"

bool
rl_range_pool_grow(struct rl_range_pool *p)
{
	if (rl_likely(p->free != RL_RANGE_END || p->used < p->cap))
		return true;
	if (!rl_grow(&p->node, p->used, &p->cap, sizeof(*p->node)))
		return false;
	p->used = rl_max_u32(p->used, 1);
	return true;
}
