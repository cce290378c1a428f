/* SPDX-License-Identifier: BSD-3-Clause */

/* Passes events of ports and core on to the local controller and the core. */

#include <stdatomic.h>

#include "rl_device.h"

void
rl_device_port_event(struct rl_device *d, const struct rl_port_event *ev,
		     uint64_t await_ns)
{
	/* a core on another lcore may see the death first: packets that it
	   loops out until then do not wait for tables, which loses nothing */
	if (ev->type == RL_PEV_DEAD &&
	    !atomic_load_explicit(&d->alone, memory_order_relaxed))
		rl_role_core_await(&d->core, rl_deadline(ev->t_ns, await_ns));
}

void
rl_device_alone(struct rl_device *d, bool alone)
{
	/* relaxed: orders no other memory access */
	atomic_store_explicit(&d->alone, alone, memory_order_relaxed);
}

bool
rl_device_report_port(struct rl_local *l, uint16_t port,
		      const struct rl_port_event *ev, uint64_t t_ns)
{
	enum rl_resil_link said;

	switch (ev->type) {
	case RL_PEV_UP:
		said = RL_RESIL_LINK_UP;
		break;
	case RL_PEV_DEAD:
		said = RL_RESIL_LINK_DEAD;
		break;
	case RL_PEV_DEGRADED:
		said = RL_RESIL_LINK_DEGRADED;
		break;
	default: /* the controller does not need to know */
		return false;
	}
	rl_local_link(l, port, said, (uint8_t)ev->detector, t_ns);
	return true;
}

bool
rl_device_report_core(struct rl_local *l, const struct rl_core_event *ev,
		      uint64_t t_ns)
{
	if (ev->type != RL_CEV_WATCHDOG)
		return false;
	rl_local_gave_up(l, t_ns);
	return true;
}
