/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAMILY_H
#define FAMILY_H

/**
 * @file
 * Metrics by family, for the OpenMetrics text form: samples of a family must
 * stand together, but they come by source, device and port. Begins as zeros.
 * One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAMILY_NAME_MAX 96
#define LABELS_MAX 1024

enum family_type { FAMILY_GAUGE, FAMILY_COUNTER, FAMILY_HISTOGRAM, FAMILY_INFO };

struct family {
	char name[FAMILY_NAME_MAX];
	char help[160];
	enum family_type type;
	char *text; /**< its samples */
	size_t len, cap;
};

struct families {
	struct family *f;
	unsigned int n, cap;
	unsigned int last; /**< found; the next one is often looked for next */
	bool failed;	   /**< memory was exhausted */
};

/** Labels of a sample: `a="b",c="d"`. Begins as zeros, or as a copy. */
struct labels {
	char text[LABELS_MAX];
	size_t len;
};

/** Adds a label; its value is escaped. One that has no room is left out. */
void label(struct labels *l, const char *name, const char *value);

/**
 * A sample of the family @p name, which is made with the first one. Counters get
 * their _total. The unit is what the name ends in.
 */
void sample(struct families *m, enum family_type type, const char *name,
	    const char *help, const struct labels *l, double v);

/** The same for whole numbers, of which none is rounded. */
void sample_count(struct families *m, enum family_type type, const char *name,
		  const char *help, const struct labels *l, uint64_t v);

/** A bucket or a count of a histogram: @p suffix after its name. */
void sample_part(struct families *m, const char *name, const char *help,
		 const char *suffix, const struct labels *l, uint64_t v);

/**
 * All families as one text; @p m is empty then.
 * @return the text, the caller's; NULL: no memory
 */
char *families_text(struct families *m, size_t *len);

#endif /* FAMILY_H */
