/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FACTS_H
#define FACTS_H

/**
 * @file
 * What `show` commands say, once: rows of facts, each with its name. A row is
 * printed as a line of text by its form, or kept as a JSON object where `json`
 * stands behind the command. Facts that a form leaves out are in JSON alone.
 *
 * A form is a text with the names of facts in braces, perhaps with how to print
 * them: `{link:-20} {frames:10} {rtt_ns:9us} {share:6.2}`. A minus aligns to the
 * left, numbers are width and digits after the point, and `us`, `ms`, `s`
 * convert from nanoseconds; `e` prints a power of ten. `{*}` is the row's last
 * fact, whatever its name.
 *
 * Control thread. It has no errors: memory that is missing leaves out facts. So
 * do a text and a list that are NULL, which a form must not name.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum fact_type { FACT_TEXT, FACT_COUNT, FACT_REAL, FACT_FLAG, FACT_LIST };

struct fact {
	const char *key; /**< its unit last; NULL: the row ends */
	enum fact_type type;
	const char *text;
	uint64_t count; /**< or a flag */
	double real;
	json_t *list; /**< the row takes it; a form prints texts and counts */
	bool shown;   /**< by a form, where JSON has other facts instead */
};

#define FACT_T(k, v) { .key = (k), .type = FACT_TEXT, .text = (v) }
#define FACT_N(k, v) { .key = (k), .type = FACT_COUNT, .count = (v) }
#define FACT_R(k, v) { .key = (k), .type = FACT_REAL, .real = (v) }
#define FACT_B(k, v) { .key = (k), .type = FACT_FLAG, .count = (v) }
#define FACT_L(k, v) { .key = (k), .type = FACT_LIST, .list = (v) }
#define FACT_S(k, v) { .key = (k), .text = (v), .shown = true }
/** A row, for the functions below. */
#define FACTS(...) ((const struct fact[]){ __VA_ARGS__, { .key = NULL } })

/** What one command says. All zeroes: text. */
struct facts {
	json_t *root; /**< NULL: text is printed */
	json_t *list; /**< where rows go; borrowed */
	json_t *row;  /**< the last one, to which facts_more() adds; borrowed */
};

/** A command begins that is to answer in JSON. */
void facts_begin(struct facts *f);

/** It has ended: prints the object on one line, if @p print. */
void facts_end(struct facts *f, bool print);

/** Rows from here on belong to the list @p key of the object. */
void facts_list(struct facts *f, const char *key);

/** A row of the list; @p form NULL: in JSON alone. */
void facts_row(struct facts *f, const char *form, const struct fact *row);

/** More facts of the last row, or of the object before the first list. */
void facts_more(struct facts *f, const char *form, const struct fact *row);

/** A row of facts of the object itself. */
void facts_set(struct facts *f, const char *form, const struct fact *row);

/** The object gets @p v under @p key. Takes @p v. */
void facts_add(struct facts *f, const char *key, json_t *v);

/** Whether text is wanted: for headings and drawings, which say no facts. */
static inline bool
facts_text(const struct facts *f)
{
	return f->root == NULL;
}

#endif /* FACTS_H */
