/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CASE_PRIV_H
#define CASE_PRIV_H

/** @file A text that grows; case_*.c alone. */

#include "rl_swarm_case.h"

/** Zeroed: empty. */
struct case_text {
	char *text; /**< ended by a zero; NULL: empty */
	size_t len;
	size_t cap;
	bool bad; /**< no memory */
};

void case_put(struct case_text *to, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** Lines `run KEY=VALUE ...` of all that is no default. */
void case_settings(struct case_text *to, const struct rl_swarm_plan *plan);

#endif /* CASE_PRIV_H */
