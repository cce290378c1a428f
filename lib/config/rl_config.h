/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CONFIG_H
#define RL_CONFIG_H

/**
 * @file
 * A fabric file, read and checked as a whole: nothing is taken of a file that
 * is not right in every key. Control path only. The file format stands in
 * docs/configuration.md.
 */

#include <stdint.h>

#include "rl_base.h"
#include "rl_ep_cfg.h"
#include "rl_link_cfg.h"
#include "rl_topo.h"

#define RL_ENGINE_MAX 32
#define RL_ATTACH_MAX 64
#define RL_PLACE_MAX 1024

/** An ethdev as the client of an endpoint. */
struct rl_attach {
	char endpoint[RL_NAME_MAX];
	char port[64];		/**< ethdev name */
	char dst[RL_NAME_MAX];	/**< where its frames go; empty: no way in */
	uint16_t line;
};

/** Placement: roles whose name begins with `role` run on `lcore`. */
struct rl_place {
	char role[RL_NAME_MAX + 8];
	uint16_t lcore;
	uint16_t line;
};

struct rl_config {
	char file[256];
	char engine[RL_ENGINE_MAX]; /**< "" where the file names none */
	uint16_t engine_line;
	uint16_t vls;		    /**< VLs the engine may use, default 8 */
	struct rl_link_cfg link;
	struct rl_ep_cfg endpoint;
	struct rl_topo topo;
	struct rl_attach attach[RL_ATTACH_MAX];
	uint32_t nattach;
	struct rl_place place[RL_PLACE_MAX];
	uint32_t nplace;
};

/**
 * Control thread. Reads @p path, checks every key and builds the topology.
 *
 * @param err  RL_ERR_MAX + 512 bytes: one line "FILE:LINE: reason; what to do"
 * @return 0; -EINVAL (bad content), -ENOENT or another -errno (no file),
 *   -ENOMEM; on failure @p cfg holds nothing to free
 */
int rl_config_read(const char *path, struct rl_config *cfg, char *err,
		   size_t errlen);

/** Control thread. Frees what rl_config_read() made. */
void rl_config_free(struct rl_config *cfg);

#endif /* RL_CONFIG_H */
