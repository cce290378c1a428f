/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Devices that crash and restart. Roles of a dead device are not polled, its
 * wires are dark, and its contents are lost: the flits return to the pool. A
 * device that restarts knows nothing; with a controller, it gets tables before
 * its ports train.
 */

#include "sim_ctl.h"

static void
dev_wires(struct rl_sim *s, uint32_t dev, bool dark)
{
	const struct rl_topo_dev *td = &s->fabric.topo->dev[dev];

	for (uint16_t p = 0; p < td->nports; p++)
		for (unsigned int i = 0; i < 2; i++) {
			const uint32_t dir = 2 * td->port[p].link + i;

			if (dark) {
				s->fault_ns[td->port[p].link] = s->now_ns;
				sim_dir_darken(s, dir, SIM_DARK_CRASH,
					       RL_FAULT_FLIGHT_LOST, false);
			} else if (!sim_link_crashed(s, td->port[p].link)) {
				sim_dir_lighten(s, dir, SIM_DARK_CRASH);
			}
		}
}

bool
sim_link_crashed(const struct rl_sim *s, uint32_t link)
{
	const struct rl_topo_link *l = &s->fabric.topo->link[link];

	return s->dead[l->dev[0]] || s->dead[l->dev[1]];
}

void
sim_dev_crash(struct rl_sim *s, uint32_t dev)
{
	struct rl_device *d = &s->fabric.dev[dev];
	const uint32_t core = s->dev_role[dev];

	if (s->dead[dev])
		return;
	for (uint16_t p = 0; p < d->nports; p++) /* as if polled until now */
		if (s->role[core + 1 + p].end->dozes)
			sim_doze_end(s, &s->role[core + 1 + p]);
	s->dead[dev] = true;
	s->crashes++;
	sim_ctl_dev_crash(s, dev);
	dev_wires(s, dev, true);
	rl_fabric_dev_flush(&s->fabric, dev);
	for (uint16_t p = 0; p < d->nports; p++) {
		struct sim_pipe *sp = d->port[p].rx.ring;

		for (unsigned int i = 0; i < 3; i++)
			sim_pipe_flush(&sp[i]);
	}
	s->pending[dev].rx = s->pending[dev].loop = 0;
	for (uint32_t r = core; r <= core + d->nports; r++) {
		s->role[r].ext_ns = RL_NEVER;
		sim_heap_set(s, r, RL_NEVER);
	}
	if (d->core.ep != NULL && s->p.ep_crash != NULL)
		s->p.ep_crash(s->p.ctx, s->fabric.topo->dev[dev].ep_id,
			      s->now_ns);
}

void
sim_dev_restart(struct rl_sim *s, uint32_t dev)
{
	struct rl_device *d = &s->fabric.dev[dev];
	const uint32_t core = s->dev_role[dev];

	sim_dev_crash(s, dev); /* discards the old state */
	s->dead[dev] = false;
	rl_fabric_dev_restart(&s->fabric, dev, &s->p.fwd[dev]);
	dev_wires(s, dev, false);
	for (uint32_t r = core; r <= core + d->nports; r++)
		sim_ready(s, r);
	if (sim_ctl_dev_restart(s, dev))
		return;
	for (uint16_t p = 0; p < d->nports; p++)
		if (rl_topo_link_up(s->fabric.topo,
				    s->fabric.topo->dev[dev].port[p].link))
			rl_port_start(d->port[p].port, s->now_ns);
}

bool
rl_sim_dev_dead(const struct rl_sim *sim, uint32_t dev)
{
	return sim->dead[dev];
}
