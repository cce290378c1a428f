/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DIR_H
#define RUNTIME_DIR_H

/**
 * @file
 * EAL wants a directory of its user's even where it puts no file into it. An
 * ordinary user's default would be one in /tmp that all users share and the
 * first one owns; so such a user gets one for the run.
 */

struct runtime_dir {
	char path[64]; /**< empty: none was made */
};

/**
 * Control thread, before rte_eal_init(). Makes a directory and names it in
 * XDG_RUNTIME_DIR where the user is not root and the environment names none.
 */
void runtime_dir_make(struct runtime_dir *d);

/** Control thread, after rte_eal_cleanup(). Removes it with all it holds. */
void runtime_dir_remove(struct runtime_dir *d);

#endif /* RUNTIME_DIR_H */
