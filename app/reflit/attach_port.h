/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATTACH_PORT_H
#define ATTACH_PORT_H

/**
 * @file
 * One ethdev as a client's port. rl_netdev.h says what its driver needs and
 * can carry.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rl_config.h"
#include "rl_netdev.h"

struct rte_mempool;

/** An ethdev that frames are read from and written to. */
struct attach_port {
	struct rl_netdev dev;
	bool open;
	struct rte_mempool *pool; /**< of frames that it reads */
};

/** Any thread, before EAL too. Frames of a port's pool. */
uint32_t attach_port_frames(const char *name, uint32_t read_ahead);

/**
 * Control thread, after rte_eal_init(). Finds the port of @p cfg, makes its
 * pool, starts it, and makes sure that it can receive frames whole.
 *
 * @param max_bytes   longest packet of the fabric
 * @param read_ahead  frames that the driver keeps for good
 * @param err         @p len bytes, one line on failure
 * @return 0 or -errno; attach_port_close() is due in either case
 */
int attach_port_open(struct attach_port *p, const struct rl_attach *cfg,
		     uint32_t max_bytes, uint32_t read_ahead, char *err,
		     size_t len);

/** Control thread. Counts since the start. */
void attach_port_stats(struct attach_port *p, struct rl_netdev_stats *st);

void attach_port_close(struct attach_port *p);

#endif /* ATTACH_PORT_H */
