/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_FAILOVER_H
#define RL_FAILOVER_H

/**
 * @file
 * Failovers: each death of a port and what followed, assembled from port
 * events. An all-zero log is empty. One thread owns it and passes in the events
 * of all ports: in order for each port, in any order between ports. It
 * allocates.
 */

#include "rl_port.h"
#include "rl_topo.h"

/** Times are those of the events; RL_NEVER: unknown, or not yet. */
struct rl_failover {
	uint32_t loop_id; /**< identifies it in the events */
	uint32_t dev;
	uint16_t port;
	uint16_t way;	 /**< port by which the first flit left; if any did */
	enum rl_detector detector;
	uint64_t fault_ns;    /**< when the fault of the link began; set by the
				   owner */
	uint64_t dead_ns;     /**< detected; RL_NEVER: another event came
				   first */
	uint64_t rerouted_ns; /**< first flit left by another port */
	uint64_t drained_ns;
	uint32_t looped_packets;
	uint32_t looped_flits;
	uint32_t looped_acked_flits;
};

struct rl_failover_log {
	struct rl_failover *rec; /**< in the order of their first event;
				      owned */
	uint32_t n;		 /**< failovers in @p rec */
	uint32_t cap;		 /**< room in @p rec, in failovers */
};

/**
 * Owner. Takes an event of port @p port of device @p dev.
 *
 * @return the failover of a port that has just died, for the owner to set
 *   fault_ns; NULL: no port died, or there is no memory
 */
struct rl_failover *rl_failover_take(struct rl_failover_log *l, uint32_t dev,
				     uint16_t port,
				     const struct rl_port_event *ev);

/** Owner. Frees the memory; the log is empty. */
void rl_failover_log_free(struct rl_failover_log *l);

/** Any thread. @return the link whose end died */
static inline uint32_t
rl_failover_link(const struct rl_failover *f, const struct rl_topo *t)
{
	return t->dev[f->dev].port[f->port].link;
}

/**
 * Any thread. @return nanoseconds between two times of a failover; 0: one is
 * unknown; 1: the same poll (events carry the time at which their poll began,
 * which may be just before the fault)
 */
static inline uint64_t
rl_failover_span(uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns == RL_NEVER || to_ns == RL_NEVER)
		return 0;
	return to_ns > from_ns ? to_ns - from_ns : 1;
}

#endif /* RL_FAILOVER_H */
