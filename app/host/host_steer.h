/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_STEER_H
#define HOST_STEER_H

/**
 * @file
 * Wires over net_af_xdp [PHY-2]: rl_steer (drivers/xdp) passes their flit
 * frames to the driver's socket and leaves all others to the kernel. Control
 * thread only.
 */

#include <stddef.h>
#include <stdint.h>

#include "rl_xdp.h"

struct host;

/** After host_wires_open(). @return 0 or -ENOMEM */
int host_steer_open(struct host *h);

/**
 * Before the port of @p end (2 * entry + end) is opened again: counts stay, and
 * what is left of its program is removed. @return 0; see rl_xdp_steer_clear()
 */
int host_steer_clear(struct host *h, uint32_t end, char *err);

/** Once it is open. */
void host_steer_take(struct host *h, uint32_t end);

/** Renews the lease of this process; call it often. */
void host_steer_renew(struct host *h);

/** Reads the counters, before the ports are closed. */
void host_steer_note(struct host *h);

/** @return verdicts at end 0 or 1 of entry @p wire; NULL: not steered */
const uint64_t *host_steer_counts(const struct host *h, uint32_t wire, int end);

void host_steer_close(struct host *h);

#endif /* HOST_STEER_H */
