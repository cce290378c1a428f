/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_KEYS_H
#define HOST_KEYS_H

/**
 * @file
 * The keyed check of links over `wires` [PHY-3]. Links over rings need none,
 * because no other process can reach them. Control thread only.
 */

#include "rl_auth.h"

struct host;
struct rl_config;

/**
 * Before EAL. Reads the file named by link.key_file, if any.
 *
 * @param keyed set to whether there is a key
 * @param err HOST_ERR_MAX bytes, one line on failure
 * @return 0 or -errno
 */
int host_key_read(const struct rl_config *cfg, struct rl_auth_root *root,
		  bool *keyed, char *err);

/**
 * After host_wires_open(), if there is a key: makes a check for each end of a
 * wire in this process. @return 0 or -ENOMEM
 */
int host_keys_open(struct host *h);

/** @return the check of end 0 or 1 of a link; NULL: none */
const struct rl_link_auth *host_keys_of(const struct host *h, uint32_t link,
					unsigned int end);

/** After the lcores have stopped. */
void host_keys_close(struct host *h);

#endif /* HOST_KEYS_H */
