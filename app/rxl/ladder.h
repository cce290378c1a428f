/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_LADDER_H
#define RXL_LADDER_H

/**
 * @file
 * A ladder diagram: two hosts, time running down, an arrow for each flit that
 * leaves, arrives or is dropped, and remarks on both sides.
 */

#include <stdio.h>

#include "rl_endpoint.h"
#include "rl_rxl_path.h"

#define RXL_LADDER_LINES 256
#define RXL_LADDER_TEXT 64

struct rxl_rung {
	uint64_t t_ns;
	unsigned int from; /**< side that sent; of a remark: its side */
	bool remark;
	enum rl_rxl_step step;
	char text[RXL_LADDER_TEXT];
};

struct rxl_ladder {
	const char *left;
	const char *right;
	unsigned int n;
	bool full; /**< more happened than there is room for */
	struct rxl_rung rung[RXL_LADDER_LINES];
};

/** Owner. Adds a step of a flit; @p name is that of its packet ("read B"). */
void rxl_ladder_flit(struct rxl_ladder *l, uint64_t t_ns, unsigned int from,
		     enum rl_rxl_step step, const struct rl_flit *f,
		     enum rl_profile profile, const char *name);

/** Owner. Adds a remark on side @p side, printf-like. */
void rxl_ladder_remark(struct rxl_ladder *l, uint64_t t_ns, unsigned int side,
		       const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** Owner. Prints the diagram. */
void rxl_ladder_print(const struct rxl_ladder *l, FILE *out);

#endif /* RXL_LADDER_H */
