/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_RESIL_CFG_H
#define RL_RESIL_CFG_H

/**
 * @file
 * Settings of the resiliency controller: the group `controller` of a fabric
 * file. Every phase of a recovery has a time limit here.
 */

#include "rl_base.h"

/** How new tables are put in place [RES-1, RES-5, RES-6]. X(name, word in files). */
#define RL_RESIL_MODES(X)                                                      \
	X(AUTO, "auto")	      /* the mildest that is proven */                 \
	X(LIVE, "live")	      /* nobody stops; refused where not proven */     \
	X(PARTIAL, "partial") /* a few flows are held; never a full quiesce */ \
	X(TOKENS, "tokens")   /* nobody stops; tokens part old from new */     \
	X(FULL, "full")	      /* always the full quiesce */                    \
	X(OFF, "off")	      /* no controller: detours and waiting alone */

enum rl_resil_mode {
#define RL_RESIL_MODE_ENUM(name, word) RL_RESIL_##name,
	RL_RESIL_MODES(RL_RESIL_MODE_ENUM)
#undef RL_RESIL_MODE_ENUM
	RL_RESIL_MODE_COUNT
};

struct rl_resil_cfg {
	enum rl_resil_mode mode;
	uint64_t gather_ns;  /**< from the first report until computing begins */
	uint64_t return_ns;  /**< a link is up for so long before it is used */
	uint64_t train_ns;   /**< longest time that a new link may take to train */
	uint64_t resend_ns;  /**< an order or report without an answer goes again */
	uint64_t answer_ns;  /**< who does not answer for so long is silent */
	uint64_t await_ns;   /**< after a death, packets without a way wait */
	uint64_t compute_ns; /**< limit: computing and proving */
	uint64_t quiesce_ns; /**< limit: until what is held has left the fabric */
	uint64_t observe_ns; /**< interval between quiescence checks */
	uint64_t install_ns; /**< limit: until all devices have the new tables */
	uint64_t lease_ns;   /**< who is held and hears nothing goes on by itself */
	uint64_t retry_ns;   /**< after a recovery that failed, until the next */
};

/** Any thread. For a channel within one process. */
void rl_resil_cfg_defaults(struct rl_resil_cfg *cfg);

/**
 * Any thread. For a channel through a store between hosts, where a message
 * takes milliseconds: the times that wait for answers are longer.
 */
void rl_resil_cfg_defaults_store(struct rl_resil_cfg *cfg);

/**
 * Any thread. Judges the whole.
 * @param err  @p errlen bytes: the reason, and what to do
 * @param key  set to the name of the key that is wrong
 * @return 0 or -EINVAL
 */
int rl_resil_cfg_check(const struct rl_resil_cfg *cfg, char *err,
		       size_t errlen, const char **key);

const char *rl_resil_mode_name(enum rl_resil_mode m);

#endif /* RL_RESIL_CFG_H */
