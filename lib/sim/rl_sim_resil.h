/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SIM_RESIL_H
#define RL_SIM_RESIL_H

/**
 * @file
 * The resiliency controller of a simulated run: local controllers beside each
 * device, the controller, the channel between them with its own faults, and
 * the time that computing takes.
 */

#include "rl_controller.h"
#include "rl_route.h"

struct rl_sim_resil_cfg {
	/** tables that the fabric begins with, accepted; outlive the run. NULL:
	    there is no controller */
	const struct rl_route *route;
	/** the out-of-band channel: a message takes so long, */
	uint64_t delay_ns;
	uint64_t jitter_ns; /**< and up to so much longer: some overtake */
	uint32_t loss_ppb;
	uint32_t dup_ppb;
	/**
	 * Time that computing and proving takes, together; 0: as
	 * rl_sim_compute_model() says; RL_NEVER: as measured, and then the same
	 * seed does not give the same run.
	 */
	uint64_t compute_ns;
	/** nanoseconds of a real clock, to measure with; NULL: nothing is */
	uint64_t (*clock)(void *ctx);
};

/** Any thread. Nanoseconds that new tables of a fabric take, about. */
uint64_t rl_sim_compute_model(const struct rl_topo *topo);

#endif /* RL_SIM_RESIL_H */
