/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CASE_PRIV_H
#define CASE_PRIV_H

/** @file A text that grows, and the options of faults; files and cases alone. */

#include "rl_sim_case.h"

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
void case_settings(struct case_text *to, const struct rl_sim_plan *plan);

/** The shortest text that is read as the same number. @return buf */
const char *case_real_text(double v, char *buf, size_t len);

/** A line of a fault file: one fault, or a row of cuts and heals. */
struct fault_line {
	struct rl_sim_fault f;
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

/** Writes all options that are no defaults, each behind a space. */
void fault_words_text(const struct rl_sim_fault *f, char *buf, size_t len);

#endif /* CASE_PRIV_H */
