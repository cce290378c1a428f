/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WIRE_PORT_H
#define WIRE_PORT_H

/** @file An ethdev of --port, by the address of its device or as a --vdev. */

#include "rl_wire_dev.h"

#define WIRE_PORT_LINE 512

struct wire_port {
	const char *arg; /**< of --port */
	char name[64];
	struct rl_wire_dev w;
	struct rl_phy_eth phy;
	uint32_t link_mbps; /**< by the word of its driver; 0: it has none */
};

/**
 * Opens it. @return 0; -EINVAL with a line on stderr, or -errno;
 * wire_port_close() is due in either case
 */
int wire_port_open(struct wire_port *p, const char *arg);

/** Waits for its link, some seconds. @return 0; -EINVAL with a line on stderr */
int wire_port_wait(struct wire_port *p);

/** Lets the device go, too: another program may have it. */
void wire_port_close(struct wire_port *p);

/** Flits that its line carries in a second in frames of so many; 0: unknown. */
double wire_port_line_flits(const struct wire_port *p, uint32_t flits);

/**
 * Frames a second of dpdk-testpmd in txonly at the same ethdev, which must be
 * closed. 0: it could not be run.
 */
double wire_port_testpmd(const struct wire_port *p, uint32_t frame_bytes,
			 bool quick);

#endif /* WIRE_PORT_H */
