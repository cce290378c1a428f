/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAULT_OPTS_H
#define FAULT_OPTS_H

/**
 * @file
 * The command line of reflit-fault.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rl_xdp.h"

struct fault_opts {
	const char *ifname;
	const char *json;     /**< NULL: no report file */
	struct rl_fault_set set;
	struct rl_fault_set given; /**< all ones where `set` is to be taken */
	bool any;	      /**< any of it, not counting --clear */
	bool clear;
	enum rl_xdp_mode mode;
	uint64_t duration_ns; /**< 0: until a signal */
	bool show;
	bool help, version;
	bool done;	      /**< help or version was printed: exit 0 */
};

/**
 * Reads the command line. Says on standard error what is wrong with it.
 * @return 0 or -EINVAL
 */
int fault_opts_parse(struct fault_opts *o, int argc, char **argv);

/** Applies the options that were given to @p set. */
void fault_opts_apply(const struct fault_opts *o, struct rl_fault_set *set);

#endif /* FAULT_OPTS_H */
