/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROLE_SOFT_H
#define ROLE_SOFT_H

/** @file Soft errors of a device (soft.c), as its core role asks for them. */

#include <stdatomic.h>

#include "rl_role.h"

#define ROLE_SOFT_ALL 1000000000u

/* Whether any are injected. */
static inline bool
role_soft(const struct rl_role_core *r)
{
	return rl_unlikely((atomic_load_explicit(&r->soft_ppb,
						 memory_order_relaxed) |
			    atomic_load_explicit(&r->poison_ppb,
						 memory_order_relaxed)) != 0);
}

void role_soft_alter(struct rl_role_core *r, struct rl_flit *pkt);
void role_soft_queue(struct rl_role_core *r, struct rl_pktq *q);

#endif /* ROLE_SOFT_H */
