/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_CTL_H
#define SIM_CTL_H

/**
 * @file
 * The host of the controller in a simulation: sim_ctl.c serves it and its
 * channel, sim_act.c carries out orders of local controllers.
 */

#include "rl_recovery_log.h"
#include "rl_tables.h"
#include "sim_priv.h"

#define SIM_PPB 1000000000u
#define SIM_CTL_SPIN_NS 1000

struct sim_msg {
	uint64_t at_ns;
	uint64_t nr; /* at equal times, the lower one is first */
	bool to_ctl;
	struct rl_resil_msg m;
};

struct sim_ctl {
	struct rl_controller *controller; /* NULL: dead */
	void *mem;
	struct rl_tables *tables;
	struct rl_local **local; /* [ndev]; NULL: dead */
	void **local_mem;
	uint64_t *due_ns;	 /* [ndev]: when to serve a local one */
	uint64_t *late_ns;	 /* [ndev]: delay of an order */
	uint64_t *obeys_ns;	 /* [ndev]: end of the present delay; 0: none */
	uint64_t ctl_late_ns;	 /* additional delay of its messages */
	uint64_t next_ns;	 /* when to serve any of them */
	uint64_t incarnation;	 /* the last one given out */
	uint64_t ctl_inc;	 /* of the controller */
	uint64_t least_inc;	 /* orders of earlier controllers are lost */
	struct rl_prng prng;	 /* of the channel */
	struct sim_msg *msg;	 /* heap */
	uint32_t nmsg;
	uint32_t cap_msg;
	uint64_t nr;
	uint64_t sent;
	bool job;		 /* done, with a result that is known at: */
	uint64_t job_ns;
	struct rl_controller_result result;
	struct rl_recovery_log log;
};

/* sim_act.c */
void sim_ctl_act(struct rl_sim *s, uint32_t dev,
		 const struct rl_local_action *a);
void sim_ctl_view(struct rl_sim *s, uint32_t dev, struct rl_local_view *v);

#endif /* SIM_CTL_H */
