/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XDP_FIND_H
#define XDP_FIND_H

/**
 * @file Finds programs on an interface and their maps by name. Inside of
 * drivers/xdp.
 */

#include <stddef.h>
#include <stdint.h>

#include "rl_refuse.h"
#include "rl_xdp.h"

/** Writes one line to @p err and returns @p code. */
#define xdp_refuse(err, code, ...)                                             \
	rl_refuse(err, RL_XDP_ERR_MAX, code, __VA_ARGS__)

/** Says so of a program that is not ours. @return -EBUSY */
int xdp_taken(char *err, const char *ifname, const char *name, uint32_t id);

/** CLOCK_MONOTONIC, as leases are counted. */
uint64_t xdp_clock_ns(void);

/** @return the interface's index, or -ENODEV */
int xdp_ifindex(const char *ifname, char *err);

/** @return the program's id on the interface, 0: none, or -errno */
int xdp_prog_on(int ifindex, uint32_t *id, char *err);

/** Opens program @p id; @p name gets its name (BPF_OBJ_NAME_LEN bytes).
 *  @return a descriptor, the caller's, or -errno */
int xdp_prog_open(uint32_t id, char *name);

/** Opens the map called @p map that program @p prog_fd uses.
 *  @return a descriptor, the caller's; -ENOENT */
int xdp_map_open(int prog_fd, const char *map);

#endif /* XDP_FIND_H */
