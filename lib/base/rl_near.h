/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_NEAR_H
#define RL_NEAR_H

/** @file Which known name a wrong one may have been meant for. */

#include <string.h>

#include "rl_base.h"

#define RL_NEAR_NAME_MAX 32 /* longer names are close to none */
#define RL_NEAR_FAR 3	    /* this many letters off is not a typing error */

/** Any thread. Letters to change, add or drop between two names. */
static inline unsigned int
rl_name_distance(const char *a, const char *b)
{
	const size_t na = strlen(a), nb = strlen(b);
	unsigned int row[RL_NEAR_NAME_MAX + 1];

	if (na > RL_NEAR_NAME_MAX || nb > RL_NEAR_NAME_MAX)
		return UINT32_MAX;
	for (unsigned int j = 0; j <= nb; j++)
		row[j] = j;
	for (unsigned int i = 1; i <= na; i++) {
		unsigned int corner = row[0];

		row[0] = i;
		for (unsigned int j = 1; j <= nb; j++) {
			const unsigned int above = row[j];

			row[j] = rl_min_u32(rl_min_u32(above, row[j - 1]) + 1,
					    corner + (a[i - 1] != b[j - 1]));
			corner = above;
		}
	}
	return row[nb];
}

#endif /* RL_NEAR_H */
