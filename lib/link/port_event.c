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
		port->events.lost++;
		port->events.head++; /* the oldest goes: the newest tell the state */
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

static const char *const counter_names[] = {
#define RL_PORT_NAME(name) #name,
	RL_PORT_COUNTERS(RL_PORT_NAME)
#undef RL_PORT_NAME
};

const char *
rl_port_counter_name(enum rl_port_counter c)
{
	return c < RL_PORT_COUNTER_COUNT ? counter_names[c] : "?";
}

const char *
rl_link_state_name(enum rl_link_state s)
{
	static const char *const names[] = {
#define RL_LINK_NAME(name) #name,
		RL_LINK_STATES(RL_LINK_NAME)
#undef RL_LINK_NAME
	};

	return (unsigned int)s < RL_ARRAY_SIZE(names) ? names[s] : "?";
}

const char *
rl_detector_name(enum rl_detector d)
{
	static const char *const names[] = {
#define RL_DET_NAME(name, word) word,
		RL_DETECTORS(RL_DET_NAME)
#undef RL_DET_NAME
	};

	return d < RL_DET_COUNT ? names[d] : "?";
}

const char *
rl_drop_reason_name(enum rl_drop_reason r)
{
	static const char *const names[] = {
#define RL_DROP_NAME(name, word) word,
		RL_DROP_REASONS(RL_DROP_NAME)
#undef RL_DROP_NAME
	};

	return r < RL_DROP_REASON_COUNT ? names[r] : "?";
}
