/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include "rl_recovery_log.h"

#define ROOM 32 /* recoveries, initially */

void
rl_recovery_log_begin(struct rl_recovery_log *l)
{
	l->seen = 0;
}

static bool
has_room(struct rl_recovery_log *l)
{
	const uint32_t cap = l->cap == 0 ? ROOM : 2 * l->cap;
	struct rl_recovery *more;

	if (l->n < l->cap)
		return true;
	more = realloc(l->rec, cap * sizeof(*more));
	if (more == NULL)
		return false;
	l->rec = more;
	l->cap = cap;
	return true;
}

void
rl_recovery_log_take(struct rl_recovery_log *l, const struct rl_controller *c)
{
	const uint32_t n = rl_controller_recoveries(c);

	for (; l->seen < n && has_room(l); l->seen++) {
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
