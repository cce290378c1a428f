/* SPDX-License-Identifier: BSD-3-Clause */

/* State of a device: whether held traffic has come to rest. */

#include <stdatomic.h>

#include "rl_device.h"

static bool
flows_quiet(const struct rl_device *d, const struct rl_flows *flows)
{
	const struct rl_ep_params *ep = &d->ep_params;

	if (d->core.ep == NULL || flows == NULL)
		return true;
	for (uint16_t dst = 0; dst < ep->npeers; dst++)
		if (rl_flows_has(flows, ep->ep_id, dst) &&
		    !rl_ep_quiescent(d->core.ep, dst))
			return false;
	return true;
}

static bool
pipe_empty(const struct rl_pipe *p)
{
	return p->empty(p->ring);
}

/* Check the port before its pipes, because it fills them. */
static bool
port_quiet(const struct rl_device *d, const struct rl_role_port *r)
{
	const bool idle =
		d->whole ? rl_port_idle(r->port)
			 : atomic_load_explicit(&r->idle,
						memory_order_acquire) != 0;

	return idle && pipe_empty(&r->rx) && pipe_empty(&r->loop) &&
	       pipe_empty(&r->tx);
}

/*
 * Whether nothing is in transit. Packets without a path that wait for a release
 * (rl_core_still()) are not in transit.
 */
static bool
all_quiet(const struct rl_device *d)
{
	for (uint16_t p = 0; p < d->nports; p++)
		if (!port_quiet(d, &d->port[p]))
			return false;
	return rl_core_transit(d->core.core) == 0;
}

void
rl_device_view(const struct rl_device *d, const struct rl_local_info *held,
	       const struct rl_flows *flows, struct rl_local_view *v)
{
	const uint64_t *c = rl_core_counters(d->core.core);

	*v = (struct rl_local_view){
		.activity = c[RL_CC_rx_packets] + c[RL_CC_looped_packets] +
			    c[RL_CC_injected_packets] + c[RL_CC_tx_packets],
	};
	switch (held->hold) {
	case RL_RESIL_HOLD_NONE:
		v->quiet = !held->passes || !rl_core_passing(d->core.core);
		return;
	case RL_RESIL_HOLD_FLOWS:
		v->quiet = flows_quiet(d, flows);
		return;
	case RL_RESIL_HOLD_ALL:
		v->quiet = all_quiet(d);
		return;
	}
}
