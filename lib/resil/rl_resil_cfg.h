/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_RESIL_CFG_H
#define RL_RESIL_CFG_H

/**
 * @file
 * Settings of the resiliency controller: the group `controller` of a fabric
 * file. Every phase of a recovery has a time limit here.
 */

#include "rl_base.h"

RL_PUBLIC_BEGIN

/**
 * How new tables are installed [RES-1, RES-5, RES-6]. X(name, word in files).
 */
#define RL_RESIL_MODES(X)                                                      \
	X(AUTO, "auto")	      /* the mildest mode that is proven */            \
	X(LIVE, "live")	      /* no traffic stops; refused if not proven */    \
	X(PARTIAL, "partial") /* holds a few flows; never a full quiesce */    \
	X(TOKENS, "tokens")   /* no traffic stops; tokens part old from new */ \
	X(FULL, "full")	      /* always the full quiesce */                    \
	X(OFF, "off")	      /* no controller: detours and waiting only */

enum rl_resil_mode {
#define RL_RESIL_MODE_ENUM(name, word) RL_RESIL_##name,
	RL_RESIL_MODES(RL_RESIL_MODE_ENUM)
#undef RL_RESIL_MODE_ENUM
	RL_RESIL_MODE_COUNT
};

struct rl_resil_cfg {
	enum rl_resil_mode mode;
	uint64_t gather_ns;  /**< from the first report until computing
				  starts */
	uint64_t return_ns;  /**< a link is up for this long before it is
				  used */
	uint64_t train_ns;   /**< longest time that a new link may take to
				  train */
	uint64_t resend_ns;  /**< an unanswered order or report is sent again */
	uint64_t answer_ns;  /**< a device without an answer for this long is
				  silent */
	uint64_t await_ns;   /**< how long packets without a path wait after a
				  death */
	uint64_t compute_ns; /**< limit: computing and proving */
	uint64_t quiesce_ns; /**< limit: until what is held has left the fabric */
	uint64_t observe_ns; /**< interval between quiescence checks */
	uint64_t install_ns; /**< limit: until all devices have the new tables */
	uint64_t lease_ns;   /**< a held device that hears nothing releases by
				  itself */
	uint64_t retry_ns;   /**< from a failed recovery to the next attempt */
};

/** Any thread. Defaults for a channel within one process. */
void rl_resil_cfg_defaults(struct rl_resil_cfg *cfg);

/**
 * Any thread. Defaults for a channel through a store between hosts, where a
 * message takes milliseconds: times that wait for answers are longer.
 */
void rl_resil_cfg_defaults_store(struct rl_resil_cfg *cfg);

/**
 * Any thread. Checks all settings together.
 * @param err @p errlen bytes: the reason, and what to do
 * @param key set to the name of the wrong key
 * @return 0 or -EINVAL
 */
int rl_resil_cfg_check(const struct rl_resil_cfg *cfg, char *err,
		       size_t errlen, const char **key);

const char *rl_resil_mode_name(enum rl_resil_mode m);

RL_PUBLIC_END

#endif /* RL_RESIL_CFG_H */
