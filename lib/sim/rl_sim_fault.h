/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SIM_FAULT_H
#define RL_SIM_FAULT_H

/**
 * @file
 * Faults of a simulated run, sorted by time. The list comes from a fault file,
 * from the swarm, or from a test. Control path only.
 */

#include "rl_fault.h"

/** Faults sorted by time. All zeroes is an empty list. */
struct rl_sim_faults {
	struct rl_fault *f;
	uint32_t n;
	uint32_t cap;
};

/** Control thread. @return 0 or -ENOMEM; the list stays sorted by time */
int rl_sim_fault_add(struct rl_sim_faults *list, const struct rl_fault *f);

/**
 * Control thread. For many faults: append without order, then sort. Faults of
 * equal time stay in the order in which they were added. @return 0 or -ENOMEM
 */
int rl_sim_fault_push(struct rl_sim_faults *list, const struct rl_fault *f);
int rl_sim_faults_sort(struct rl_sim_faults *list);

/** Any thread. @return the time of the last fault of a list; 0: it has none */
static inline uint64_t
rl_sim_faults_end(const struct rl_sim_faults *list)
{
	return list->n == 0 ? 0 : list->f[list->n - 1].t_ns;
}

/** Any thread. @return whether an endpoint crashes or restarts in a list */
bool rl_sim_faults_crash(const struct rl_sim_faults *list,
			 const struct rl_topo *topo);

/**
 * Any thread. @return whether a list corrupts or marks packets inside devices
 */
bool rl_sim_faults_soft(const struct rl_sim_faults *list);

/** Control thread. Frees the contents; the list may be empty. */
void rl_sim_faults_free(struct rl_sim_faults *list);

/**
 * Control thread. Reads a fault file by rl_fault_file(), and appends to @p list.
 * @return 0; -EINVAL (bad content), -ENOMEM; on failure nothing was appended
 */
int rl_sim_faults_text(const char *name, const char *text, size_t len,
		       const struct rl_topo *topo,
		       const struct rl_fault_run_lines *run,
		       struct rl_sim_faults *list, char *err, size_t errlen);

#endif /* RL_SIM_FAULT_H */
