/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim_priv.h"

/*
 * A device's turn, as an lcore of the host has it: what has come to each port,
 * what becomes of it in the core, and what goes. Whoever of the device is woken,
 * all of it is polled. So this costs more than polling roles one by one, which
 * is what a device does whose roles have lcores of their own.
 */

void
sim_turn(struct rl_sim *s, uint32_t dev)
{
	const uint32_t core = s->dev_role[dev];
	struct sim_role *r = &s->role[core];
	const uint16_t nports = r->rc->nports;
	const uint64_t now = s->now_ns;

	for (uint32_t p = 1; p <= nports; p++) {
		sim_role_begin(s, &r[p]);
		if (rl_role_port_in(r[p].rp, now) == 0)
			s->st.idle_polls++;
	}
	sim_poll_core(s, core);
	for (uint32_t p = 1; p <= nports; p++) {
		rl_role_port_out(r[p].rp, now);
		sim_port_polled(s, core + p);
	}
}
