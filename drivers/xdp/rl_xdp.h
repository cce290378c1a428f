/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_XDP_H
#define RL_XDP_H

/**
 * @file
 * Loads the XDP programs of this folder with libbpf and speaks to their maps
 * [PHY-2]. Control path only; one thread. All functions need the right to load
 * BPF programs (root, or CAP_BPF and CAP_NET_ADMIN). Errors come back as
 * -errno, with one line without newline in @p err (RL_XDP_ERR_MAX bytes).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rl_xdp_maps.h"

#define RL_XDP_ERR_MAX 256
/**
 * A fault program before rl_steer acts for so long after its last
 * rl_xdp_fault_poll(): it stays there when its process is killed.
 */
#define RL_XDP_LEASE_MS 2000

/** Where in the kernel a program runs. */
enum rl_xdp_mode {
	RL_XDP_ANY,	/**< in the driver where it can, else generic */
	RL_XDP_NATIVE,	/**< in the driver, or not at all */
	RL_XDP_GENERIC, /**< before the stack, any interface */
};

/** A fault program on an interface: ours, or another process's. */
struct rl_xdp_fault;

/** What user space counted of copies sent in. */
struct rl_xdp_copies {
	uint64_t sent;
	uint64_t failed;
};

/**
 * Puts a fault program on @p ifname that does what @p set says. Where rl_steer
 * stands there already, it is put before that; where another program does,
 * -EBUSY.
 *
 * @return 0; -ENODEV no such interface; -EPERM; -EBUSY: an XDP program that is
 *   not ours, or a fault program of another process; -EOPNOTSUPP: no XDP there
 */
int rl_xdp_fault_open(struct rl_xdp_fault **out, const char *ifname,
		      enum rl_xdp_mode mode, const struct rl_fault_set *set,
		      char *err);

/**
 * Finds the fault program that another process has put on @p ifname.
 * @return 0; -ENOENT: there is none; -ENODEV; -EPERM
 */
int rl_xdp_fault_find(struct rl_xdp_fault **out, const char *ifname, char *err);

/** Takes away what rl_xdp_fault_open() put there; forgets what was found. */
void rl_xdp_fault_close(struct rl_xdp_fault *f);

/** Whether it stands before rl_steer rather than alone. */
bool rl_xdp_fault_chained(const struct rl_xdp_fault *f);

/** Reads the faults that are set. @return 0 or -errno */
int rl_xdp_fault_get(const struct rl_xdp_fault *f, struct rl_fault_set *set);

/** Sets them all, at once. @return 0 or -errno */
int rl_xdp_fault_set(struct rl_xdp_fault *f, const struct rl_fault_set *set);

/** Reads the counters. @return 0 or -errno */
int rl_xdp_fault_counts(const struct rl_xdp_fault *f,
			struct rl_fault_count *counts);

/**
 * Of one opened, not found: waits up to @p timeout_ms for frames to be sent in
 * twice, sends them, and lets the faults before rl_steer act for
 * RL_XDP_LEASE_MS more. To be called again and again.
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
 * would take away whatever stands there as it ends.
 * @return 0; -EBUSY: somebody's program or socket; -ENODEV; -EPERM
 */
int rl_xdp_port_check(const char *ifname, uint32_t queue, char *err);

/** How long rl_steer counts as somebody's after its owner was last heard. */
#define RL_XDP_STEER_LEASE_MS 2000

/** rl_steer on an interface; this process has put it there. Zeroed: none. */
struct rl_xdp_steer {
	int count_fd; /**< map rl_steer_count; 0: none */
	int owner_fd; /**< map rl_steer_owner */
};

/**
 * Before DPDK puts rl_steer onto @p ifname: takes away one that a process has
 * left behind which was killed. Waits as long as it may still live.
 * @return 0: nothing stands there now; -EBUSY: somebody's program; -ENODEV;
 *   -EPERM
 */
int rl_xdp_steer_clear(const char *ifname, char *err);

/**
 * After DPDK has put rl_steer onto @p ifname: it is this process's.
 * @return 0; -ENOENT: it does not stand there; -ENODEV; -EPERM
 */
int rl_xdp_steer_own(struct rl_xdp_steer *s, const char *ifname, char *err);

/** Several times in RL_XDP_STEER_LEASE_MS: the owner lives. None: nothing. */
void rl_xdp_steer_renew(const struct rl_xdp_steer *s);

/**
 * What rl_steer has counted, all CPUs together; also after it was taken away.
 * @return 0 or -errno; -ENOENT: none
 */
int rl_xdp_steer_counts(const struct rl_xdp_steer *s,
			uint64_t counts[RL_STEER_COUNTS]);

/** Forgets it; the program goes with the port. None: nothing. */
void rl_xdp_steer_close(struct rl_xdp_steer *s);

#endif /* RL_XDP_H */
