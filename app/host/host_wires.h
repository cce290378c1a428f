/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_WIRES_H
#define HOST_WIRES_H

/**
 * @file
 * The wires of a host [PHY-1]: ethdevs at the ends of the links that the fabric
 * file names in `wires`, rings for all others. All of it is the control
 * thread's.
 */

#include "rl_carrier.h"
#include "rl_wire_dev.h"

struct host;
struct host_params;

/** Before EAL. Memory that the ethdevs need, in bytes. */
size_t host_wires_bytes(const struct host_params *p);

/**
 * Opens the ends that this process has.
 *
 * @param err  HOST_ERR_MAX bytes, one line on failure
 * @return 0 or -errno; host_wires_close() is due in either case
 */
int host_wires_open(struct host *h, char *err);

/**
 * Has the kernel and drivers asked for the carriers of wires, and looks after
 * devices that come and go. Call it often; after host_open().
 */
void host_wires_carriers(struct host *h);

/** Nobody is asked until the next host_wires_carriers(). */
void host_wires_carriers_stop(struct host *h);

/** The PHY at an end of an entry of the file: [2 * entry + end]. */
struct rl_phy_eth *host_wires_phy(struct host *h, uint32_t i);

/** Asks the drivers for their counters. */
void host_wires_note_stats(struct host *h);

/** The ethdev at end 0 or 1 of entry @p wire of the file; NULL: not ours. */
struct rl_wire_dev *host_wire_dev(const struct host *h, uint32_t wire, int end);

/** After the lcores and the PHYs. */
void host_wires_close(struct host *h);

#endif /* HOST_WIRES_H */
