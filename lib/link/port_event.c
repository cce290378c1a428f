/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a port tells its host, in order, and the names of what it says.
 */

#include "port_priv.h"

bool
rl_port_event_pop(struct rl_port *port, struct rl_port_event *ev)
{
	if (port->events.head == port->events.tail)
		return false;
	*ev = port->events.ev[port->events.head++ % RL_PORT_EVENTS];
	return true;
}

struct rl_port_event *
port_event(struct rl_port *port, enum rl_port_event_type type, uint64_t now_ns)
{
	struct rl_port_event *ev;

	if (port->events.tail - port->events.head == RL_PORT_EVENTS) {
		/* the oldest goes: the newest tell the state */
		port->events.lost++;
		port->events.head++;
	}
	ev = &port->events.ev[port->events.tail++ % RL_PORT_EVENTS];
	*ev = (struct rl_port_event){
		.t_ns = now_ns,
		.type = type,
		.detector = port->link.detector,
		.planned = port->link.planned,
		.loop_id = port->link.loop_id,
		.epoch = port->link.epochs,
	};
	return ev;
}

RL_NAMES(rl_port_counter_name, enum rl_port_counter,
	 RL_PORT_COUNTERS(RL_OWN_NAME))

RL_NAMES(rl_link_state_name, enum rl_link_state, RL_LINK_STATES(RL_OWN_NAME))

RL_NAMES(rl_detector_name, enum rl_detector, RL_DETECTORS(RL_WORD))

RL_NAMES(rl_drop_reason_name, enum rl_drop_reason, RL_DROP_REASONS(RL_WORD))
