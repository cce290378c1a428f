/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what rl_steer on an interface has counted: flits, others, nobody's. */
#include <inttypes.h>
#include <stdio.h>

#include "rl_xdp.h"

int
main(int argc, char **argv)
{
	uint64_t c[RL_STEER_COUNTS];
	char err[RL_XDP_ERR_MAX] = "";
	struct rl_xdp_steer s;

	if (argc != 2 || rl_xdp_steer_own(&s, argv[1], err) != 0 ||
	    rl_xdp_steer_counts(&s, c) != 0) {
		fprintf(stderr, "steer_counts: %s\n", err);
		return 1;
	}
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", c[RL_STEER_FLIT],
	       c[RL_STEER_KERNEL], c[RL_STEER_NOBODY]);
	rl_xdp_steer_close(&s);
	return 0;
}
