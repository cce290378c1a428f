/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_WIRES_H
#define HOST_WIRES_H

/**
 * @file
 * The wires of a host [PHY-1]: ethdevs at the ends of links named in `wires` of
 * the fabric file, rings for all others. Control thread only.
 */

#include "rl_carrier.h"
#include "rl_wire_dev.h"

struct host;
struct host_params;

/** Before EAL. @return bytes of memory that the ethdevs need */
size_t host_wires_bytes(const struct host_params *p);

/**
 * Opens the ends in this process.
 *
 * @param err HOST_ERR_MAX bytes, one line on failure
 * @return 0 or -errno; in either case call host_wires_close()
 */
int host_wires_open(struct host *h, char *err);

/**
 * Has the kernel and drivers asked for the carriers of wires. Call it often;
 * after host_open().
 */
void host_wires_carriers(struct host *h);

/** Nobody is asked until the next host_wires_carriers(). */
void host_wires_carriers_stop(struct host *h);

/** The PHY at an end of an entry of the file: [2 * entry + end]. */
struct rl_phy_eth *host_wires_phy(struct host *h, uint32_t i);

/** Asks the drivers for their counters. */
void host_wires_note_stats(struct host *h);

/**
 * @return the ethdev at end 0 or 1 of entry @p wire of the file; NULL: of
 *   another process
 */
struct rl_wire_dev *host_wire_dev(const struct host *h, uint32_t wire, int end);

/** After the lcores have stopped and the PHYs are closed. */
void host_wires_close(struct host *h);

#endif /* HOST_WIRES_H */
