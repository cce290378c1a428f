/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHECK_PARTS_H
#define CHECK_PARTS_H

/** @file Which pairs have to reach each other in a partitioned fabric. */

#include "rl_topo.h"

/** One device for each part, for all devices: [ndev]; NULL: no memory. */
uint32_t *check_parts(const struct rl_topo *t);

/** Whether endpoints @p a and @p b are connected through switches, or by a link
    of their own. */
bool check_together(const struct rl_topo *t, const uint32_t *part, uint32_t a,
		    uint32_t b);

/** Whether some present endpoints may be disconnected. */
bool check_cut(const struct rl_topo *t, const uint32_t *part);

#endif /* CHECK_PARTS_H */
