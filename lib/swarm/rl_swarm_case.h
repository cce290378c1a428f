/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SWARM_CASE_H
#define RL_SWARM_CASE_H

/**
 * @file
 * A case: a plan as two texts, a fabric file and a fault file whose lines `run
 * KEY=VALUE ...` hold what neither the fabric nor a fault says (traffic, wires,
 * how the run is judged). Reading both gives the plan again. Control path only.
 */

#include "rl_swarm_plan.h"

/**
 * Control thread. The fabric file of a plan. Grids keep their form, other
 * fabrics become a list of links. Left out is what no simulation needs (attach,
 * wires, processes, networks, lcores), and `link_settings`.
 * @return the text, the caller's to free(); NULL: no memory
 */
char *rl_swarm_case_fabric(const struct rl_swarm_plan *plan);

/** Control thread. The fault file of a plan, its `run` lines first. The same. */
char *rl_swarm_case_faults(const struct rl_swarm_plan *plan);

/**
 * Control thread. Reads a fault file into @p plan, whose cfg is set: like
 * rl_sim_faults_text(), but `run` lines count, too. The first one sets all that
 * such lines may say to its default.
 *
 * @param run  set to whether there is such a line
 * @return as rl_sim_faults_text(); `run` lines may have been taken then
 */
int rl_swarm_case_text(const char *name, const char *text, size_t len,
		     struct rl_swarm_plan *plan, bool *run, char *err,
		     size_t errlen);

/** The same from a file. @return the same; -ENOENT or another -errno */
int rl_swarm_case_read(const char *path, struct rl_swarm_plan *plan, bool *run,
		     char *err, size_t errlen);

/** What the key of a `run` line sets. */
struct rl_swarm_setting {
	const char *key;
	uint32_t offset; /**< in struct rl_swarm_plan */
	uint8_t size;
	bool real;	 /**< a double */
	bool word;	 /**< a traffic pattern */
	bool needed;	 /**< without it the run makes no sense, or would be
			      judged otherwise: shrinking leaves it alone */
	bool never;	 /**< RL_NEVER is a value, too */
	uint64_t most;	 /**< 0: what its bytes hold, and 1 of a flag */
};

/** Any thread. The table of all settings, which never changes. */
const struct rl_swarm_setting *rl_swarm_settings(size_t *n);

/** Any thread. Sets everything that `run` lines may say to its default. */
void rl_swarm_settings_defaults(struct rl_swarm_plan *plan);

/** Any thread. @return 0; -ENOENT: no such key; -EINVAL: no such value */
int rl_swarm_setting_take(struct rl_swarm_plan *plan, const char *key,
			const char *value);

/**
 * Any thread. Whether what was set makes a run, with the fabric of @p plan.
 * @return 0; -EINVAL with the reason in @p err, RL_ERR_MAX bytes
 */
int rl_swarm_settings_check(const struct rl_swarm_plan *plan, char *err);

#endif /* RL_SWARM_CASE_H */
