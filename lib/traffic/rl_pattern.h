/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_PATTERN_H
#define RL_PATTERN_H

/**
 * @file Traffic patterns: which endpoint sends to which. Make a pattern once;
 * then any number of generators may read it.
 */

#include <stddef.h>
#include <stdint.h>

#include "rl_base.h"
#include "rl_prng.h"

#define RL_PATTERN_NONE UINT32_MAX
#define RL_PATTERN_DIMS 3

/**
 * X(name, word in options, what it is): the one table of names. Campaigns draw
 * from those above TRANSPOSE, so new ones go below it.
 */
#define RL_PATTERNS(X)                                                         \
	X(UNIFORM, "uniform", "each packet to any other endpoint (default)")   \
	X(PERMUTATION, "permutation", "each to one, each from one, by seed")   \
	X(TORNADO, "tornado", "nearly half way round each ring of a grid")     \
	X(HOTSPOT, "hotspot", "a share to one endpoint, the rest uniform")     \
	X(INCAST, "incast", "all to the first endpoint, which is silent")      \
	X(TRANSPOSE, "transpose", "(x, y) to (y, x), (x, y, z) to (y, z, x)")  \
	X(BIT_COMPLEMENT, "bit-complement", "number i of n to n - 1 - i")

enum rl_pattern_kind {
#define RL_PATTERN_ENUM(name, word, what) RL_PATTERN_##name,
	RL_PATTERNS(RL_PATTERN_ENUM)
#undef RL_PATTERN_ENUM
	RL_PATTERN_PAIRS, /**< a list, which a name alone cannot give */
	RL_PATTERN_COUNT
};

/** The lines of a help text, below a heading. */
#define RL_PATTERN_LINE(name, word, what) "  " word " - " what "\n"
#define RL_PATTERN_HELP RL_PATTERNS(RL_PATTERN_LINE)

struct rl_pattern_pair {
	uint16_t src;
	uint16_t dst;
};

struct rl_pattern_cfg {
	enum rl_pattern_kind kind;
	uint32_t nep;  /**< endpoints, 1..65535 */
	uint64_t seed; /**< PERMUTATION, HOTSPOT */
	/** TORNADO, TRANSPOSE: grid of the switches, x slowest; 0 dims: one row
	    of all endpoints */
	uint32_t ndims;
	uint16_t dims[RL_PATTERN_DIMS];
	uint32_t hosts_per_switch; /**< of the grid; 0: 1 */
	uint32_t hot_count;	   /**< HOTSPOT: how many are hot; 0: 1 */
	uint32_t hot_pct;	   /**< HOTSPOT: their share, 0..100 */
	uint16_t target;	   /**< INCAST */
	const struct rl_pattern_pair *pair; /**< PAIRS; read at init only */
	uint32_t npairs;
};

/** Read-only after rl_pattern_init(). */
struct rl_pattern {
	enum rl_pattern_kind kind;
	uint32_t nep;
	uint32_t hot_count;
	uint32_t hot_pct;
	const uint32_t *first; /**< PAIRS: nep + 1 indexes into table */
	const uint16_t *table; /**< fixed destinations, or the hot ones */
};

/** Any thread. Bytes of tables that a pattern needs; may be 0. */
size_t rl_pattern_memsize(const struct rl_pattern_cfg *cfg);

/**
 * Control thread. Makes @p p with tables in @p mem (8-byte aligned, the
 * caller's, outlives the pattern).
 *
 * TRANSPOSE folds a row of m * m into a square, as it swaps the halves of a
 * number's bits. BIT_COMPLEMENT is that of the bits if nep is a power of two;
 * a grid is mirrored in each dimension, and an odd one's middle is silent.
 *
 * @return 0; -EINVAL: no destinations (a tornado of rings of one), a grid that
 *   does not match the endpoints, a target, pair or share out of range; see
 *   rl_pattern_needs()
 */
int rl_pattern_init(struct rl_pattern *p, const struct rl_pattern_cfg *cfg,
		    void *mem);

/**
 * Any thread. Destination of the next packet of @p src; never src itself.
 * @return RL_PATTERN_NONE if src does not send
 */
uint32_t rl_pattern_dst(const struct rl_pattern *p, uint32_t src,
			struct rl_prng *prng);

/** Any thread. Whether @p src sends to several destinations. */
static inline bool
rl_pattern_spreads(const struct rl_pattern *p, uint32_t src)
{
	return ((p->kind == RL_PATTERN_UNIFORM ||
		 p->kind == RL_PATTERN_HOTSPOT) && p->nep > 2) ||
	       (p->kind == RL_PATTERN_PAIRS &&
		p->first[src + 1] - p->first[src] > 1);
}

/** Any thread. Kind with this name, or -EINVAL; never PAIRS. */
int rl_pattern_parse(const char *word);
const char *rl_pattern_name(enum rl_pattern_kind kind);

/** Any thread. All names that rl_pattern_parse() takes: "a, b or c". */
const char *rl_pattern_words(char *buf, size_t size);

/** Any thread. What a fabric must have for it, for an error message. */
const char *rl_pattern_needs(enum rl_pattern_kind kind);

#endif /* RL_PATTERN_H */
