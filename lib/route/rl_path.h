/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_PATH_H
#define RL_PATH_H

/**
 * @file The paths that tables give to packets while nothing fails: each device
 * takes the first next hop.
 */

#include "rl_fwd.h"
#include "rl_topo.h"

/** Where a packet is. */
struct rl_path {
	uint32_t dev;
	uint16_t in_port; /**< the table's nports: it was injected here */
	uint8_t vl;
	uint8_t sl;
};

/** Any thread. A packet of endpoint @p src to @p dst, not sent yet. */
struct rl_path rl_path_begin(const struct rl_topo *t, const struct rl_fwd *fwd,
			     uint16_t src, uint16_t dst);

/**
 * Any thread. Crosses one link.
 * @return the port by which it left; NULL: there is no next hop
 */
const struct rl_topo_port *rl_path_step(const struct rl_topo *t,
					const struct rl_fwd *fwd,
					struct rl_path *at, uint16_t dst);

/**
 * Control thread. The permutation that these tables carry worst: as many flows
 * as possible cross one link between switches (no permutation has more on any
 * link); of the endpoints that are left, as many as possible cross another one,
 * and so on. Same input, same permutation.
 *
 * @param to  [t->nep], filled: the destination of each endpoint, never itself
 * @return the number of flows on the first link; -EINVAL: less than two
 *   endpoints; -ENOMEM
 */
int rl_path_worst(const struct rl_topo *t, const struct rl_fwd *fwd,
		  uint16_t to[]);

#endif /* RL_PATH_H */
