/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_XDP_H
#define RL_XDP_H

/**
 * @file Loads the XDP programs of this folder with libbpf and accesses their
 * maps [PHY-2]. Control path only; one thread. All functions need the right to
 * load BPF programs (root, or CAP_BPF and CAP_NET_ADMIN). Errors come back as
 * -errno, with one line without newline in @p err (RL_XDP_ERR_MAX bytes).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rl_xdp_maps.h"

#define RL_XDP_ERR_MAX 256
/**
 * A fault program before rl_steer stays active this long after its last
 * rl_xdp_fault_poll(): it stays attached when its process is killed.
 */
#define RL_XDP_LEASE_MS 2000

/** Where in the kernel a program runs. */
enum rl_xdp_mode {
	RL_XDP_ANY,	/**< in the driver if supported, else generic */
	RL_XDP_NATIVE,	/**< in the driver, or not at all */
	RL_XDP_GENERIC, /**< before the stack, any interface */
};

/** A fault program on an interface: ours, or another process's. */
struct rl_xdp_fault;

/** User space's counts of injected copies. */
struct rl_xdp_copies {
	uint64_t sent;
	uint64_t failed;
};

/**
 * Attaches a fault program with @p set to @p ifname: before rl_steer if that is
 * attached already; if another program is, -EBUSY.
 *
 * @return 0; -ENODEV no such interface; -EPERM; -EBUSY: an XDP program that is
 *   not ours, or a fault program of another process; -EOPNOTSUPP: no XDP there
 */
int rl_xdp_fault_open(struct rl_xdp_fault **out, const char *ifname,
		      enum rl_xdp_mode mode, const struct rl_fault_set *set,
		      char *err);

/**
 * Finds the fault program that another process has attached to @p ifname.
 * @return 0; -ENOENT: there is none; -ENODEV; -EPERM
 */
int rl_xdp_fault_find(struct rl_xdp_fault **out, const char *ifname, char *err);

/** Detaches a program of rl_xdp_fault_open(); forgets one that was found. */
void rl_xdp_fault_close(struct rl_xdp_fault *f);

/** Reads the faults that are set. @return 0 or -errno */
int rl_xdp_fault_get(const struct rl_xdp_fault *f, struct rl_fault_set *set);

/** Sets them all, at once. @return 0 or -errno */
int rl_xdp_fault_set(struct rl_xdp_fault *f, const struct rl_fault_set *set);

/** Reads the counters. @return 0 or -errno */
int rl_xdp_fault_counts(const struct rl_xdp_fault *f,
			struct rl_fault_count *counts);

/**
 * For an opened program, not a found one: waits up to @p timeout_ms for frames
 * to duplicate, injects them, and keeps the faults before rl_steer active for
 * RL_XDP_LEASE_MS more. Call it repeatedly.
 * @return 0 or -errno
 */
int rl_xdp_fault_poll(struct rl_xdp_fault *f, int timeout_ms,
		      struct rl_xdp_copies *copies);

/**
 * Writes to @p path (at least 64 bytes) the name of a file with the object of
 * rl_steer, for DPDK's `xdp_prog=`. It is readable as long as this process
 * lives.
 * @return 0 or -errno
 */
int rl_xdp_steer_path(char *path, size_t len, char *err);

/**
 * Before DPDK opens queue @p queue of @p ifname with a program of its own: it
 * would remove any attached program when it ends.
 * @return 0; -EBUSY: another program or socket; -ENODEV; -EPERM
 */
int rl_xdp_port_check(const char *ifname, uint32_t queue, char *err);

/** How long rl_steer counts as owned after its owner's last sign of life. */
#define RL_XDP_STEER_LEASE_MS 2000

/** rl_steer on an interface, attached by this process. Zeroed: none. */
struct rl_xdp_steer {
	int count_fd; /**< map rl_steer_count; 0: none */
	int owner_fd; /**< map rl_steer_owner */
};

/**
 * Before DPDK attaches rl_steer to @p ifname: removes one left behind by a
 * killed process. Waits as long as that may still live.
 * @return 0: nothing is attached now; -EBUSY: another program; -ENODEV; -EPERM
 */
int rl_xdp_steer_clear(const char *ifname, char *err);

/**
 * After DPDK has attached rl_steer to @p ifname: marks it as this process's.
 * @return 0; -ENOENT: it is not attached; -ENODEV; -EPERM
 */
int rl_xdp_steer_own(struct rl_xdp_steer *s, const char *ifname, char *err);

/**
 * Call it several times per RL_XDP_STEER_LEASE_MS: the owner lives. No effect
 * without rl_steer.
 */
void rl_xdp_steer_renew(const struct rl_xdp_steer *s);

/**
 * The counts of rl_steer, over all CPUs; also after its removal.
 * @return 0 or -errno; -ENOENT: none
 */
int rl_xdp_steer_counts(const struct rl_xdp_steer *s,
			uint64_t counts[RL_STEER_COUNTS]);

/** Forgets it; the program ends with the port. No effect without rl_steer. */
void rl_xdp_steer_close(struct rl_xdp_steer *s);

#endif /* RL_XDP_H */
