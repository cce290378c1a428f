/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SIM_RESIL_H
#define RL_SIM_RESIL_H

/**
 * @file
 * The resiliency controller of a simulated run: a local controller for each
 * device, the controller, an unreliable channel between them, and the time that
 * computing takes.
 */

#include "rl_controller.h"
#include "rl_route.h"

struct rl_sim_resil_cfg {
	/** initial tables, accepted; must outlive the run. NULL: no
	    controller */
	const struct rl_route *route;
	/** the out-of-band channel: delay of a message, */
	uint64_t delay_ns;
	uint64_t jitter_ns; /**< and its random addition, so that some
				 overtake */
	uint32_t loss_ppb;
	uint32_t dup_ppb;
	/**
	 * Time of computing and proving together; 0: rl_sim_compute_model();
	 * RL_NEVER: as measured, so that equal seeds give different runs.
	 */
	uint64_t compute_ns;
	/** a real clock in nanoseconds, to measure with; NULL: no
	    measurement */
	uint64_t (*clock)(void *ctx);
};

/**
 * Any thread. @return about how many nanoseconds new tables of a fabric take
 */
uint64_t rl_sim_compute_model(const struct rl_topo *topo);

#endif /* RL_SIM_RESIL_H */
