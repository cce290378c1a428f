/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DIR_H
#define RUNTIME_DIR_H

/**
 * @file
 * EAL wants a directory owned by its user, for the telemetry socket. An
 * ordinary user's default is /tmp/dpdk, where dpdk-telemetry.py looks, too.
 * All users share that name and the first one owns it; a user who cannot have
 * it gets a directory for the run.
 */

struct runtime_dir {
	char path[64]; /**< empty: none was made */
};

/**
 * Control thread, before rte_eal_init(). If the user is not root and the
 * environment names no directory: gives EAL /tmp/dpdk if it is free or this
 * user's. The last program that called this removes it at exit, if it is empty
 * then. Otherwise makes a directory and names it in XDG_RUNTIME_DIR.
 */
void runtime_dir_make(struct runtime_dir *d);

/** Control thread, after rte_eal_cleanup(). Removes it with all it holds. */
void runtime_dir_remove(struct runtime_dir *d);

#endif /* RUNTIME_DIR_H */
