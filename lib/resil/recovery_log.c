/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include "rl_grow.h"
#include "rl_recovery_log.h"

void
rl_recovery_log_begin(struct rl_recovery_log *l)
{
	l->seen = 0;
}

void
rl_recovery_log_take(struct rl_recovery_log *l, const struct rl_controller *c)
{
	const uint32_t n = rl_controller_recoveries(c);

	for (; l->seen < n &&
	       rl_grow(&l->rec, l->n, &l->cap, sizeof(*l->rec)); l->seen++) {
		const struct rl_recovery *rec =
			rl_controller_recovery(c, l->seen);

		if (rec != NULL)
			l->rec[l->n++] = *rec;
	}
}

void
rl_recovery_log_free(struct rl_recovery_log *l)
{
	free(l->rec);
	memset(l, 0, sizeof(*l));
}
