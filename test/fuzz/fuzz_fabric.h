/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FUZZ_FABRIC_H
#define FUZZ_FABRIC_H

/**
 * @file The fabric whose names appear in the inputs of some harnesses.
 */

#include "../figure1.h"
#include "rl_config.h"

/** Figure 1, read at the first call. */
static inline const struct rl_config *
fuzz_fabric(void)
{
	static struct rl_config cfg;
	char err[RL_ERR_MAX + 512];

	if (cfg.topo.ndev == 0 &&
	    rl_config_read_text("fabric", FIGURE1_FABRIC,
				sizeof(FIGURE1_FABRIC) - 1, &cfg, err,
				sizeof(err)) != 0)
		__builtin_trap();
	return &cfg;
}

#endif /* FUZZ_FABRIC_H */
