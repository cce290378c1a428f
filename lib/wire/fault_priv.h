/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAULT_PRIV_H
#define FAULT_PRIV_H

/** @file Lines of fault files and their options. */

#include "rl_fault.h"

/** A line of a fault file: one fault, or a row of cuts and heals. */
struct fault_line {
	struct rl_fault f;
	bool flap;
	uint32_t flaps;
	uint64_t dark_ns;
	uint64_t light_ns;
};

/** Reads "250", "10us" or "1.5ms" as nanoseconds. @return 0 or -EINVAL */
int fault_time(const char *text, uint64_t *ns);

/**
 * Takes an option of a line, whose kind is set. @p value NULL: a word alone.
 * @return 0; -ENOENT: its kind has no such option; -EINVAL: a bad value
 */
int fault_word_take(struct fault_line *l, const char *key, const char *value);

#endif /* FAULT_PRIV_H */
