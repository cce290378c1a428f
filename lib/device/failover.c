/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include "rl_failover.h"
#include "rl_grow.h"

static struct rl_failover *
open_new(struct rl_failover_log *l, uint32_t loop_id)
{
	if (!rl_grow(&l->rec, l->n, &l->cap, sizeof(*l->rec)))
		return NULL;
	l->rec[l->n] = (struct rl_failover){
		.loop_id = loop_id,
		.fault_ns = RL_NEVER,
		.dead_ns = RL_NEVER,
		.rerouted_ns = RL_NEVER,
		.drained_ns = RL_NEVER,
	};
	return &l->rec[l->n++];
}

/*
 * The newest failover of this loopback: a restarted device counts from 0 again.
 */
static struct rl_failover *
find(struct rl_failover_log *l, uint32_t loop_id)
{
	for (uint32_t i = l->n; i > 0; i--)
		if (l->rec[i - 1].loop_id == loop_id)
			return &l->rec[i - 1];
	return open_new(l, loop_id);
}

static struct rl_failover *
dead(struct rl_failover_log *l, uint32_t dev, uint16_t port,
     const struct rl_port_event *ev)
{
	struct rl_failover *f = find(l, ev->loop_id);

	if (f != NULL && f->dead_ns != RL_NEVER)
		f = open_new(l, ev->loop_id);
	if (f == NULL)
		return NULL;
	f->dev = dev;
	f->port = port;
	f->detector = ev->detector;
	f->dead_ns = ev->t_ns;
	return f;
}

struct rl_failover *
rl_failover_take(struct rl_failover_log *l, uint32_t dev, uint16_t port,
		 const struct rl_port_event *ev)
{
	struct rl_failover *f;

	/* planned: the port was empty, and no packet was rerouted */
	if (ev->planned &&
	    (ev->type == RL_PEV_DEAD || ev->type == RL_PEV_DRAINED))
		return NULL;
	switch (ev->type) {
	case RL_PEV_DEAD:
		return dead(l, dev, port, ev);
	case RL_PEV_REROUTED:
		f = find(l, ev->loop_id);
		if (f != NULL && ev->t_ns < f->rerouted_ns) {
			f->rerouted_ns = ev->t_ns;
			f->way = port;
		}
		return NULL;
	case RL_PEV_DRAINED:
		f = find(l, ev->loop_id);
		if (f == NULL)
			return NULL;
		f->drained_ns = ev->t_ns;
		f->looped_packets = ev->looped_packets;
		f->looped_flits = ev->looped_flits;
		f->looped_acked_flits = ev->looped_acked_flits;
		return NULL;
	case RL_PEV_UP:
	case RL_PEV_RETRAIN:
	case RL_PEV_DEGRADED:
	case RL_PEV_EMPTY:
	case RL_PEV_REFUSED:
		return NULL;
	}
	return NULL;
}

void
rl_failover_log_free(struct rl_failover_log *l)
{
	free(l->rec);
	memset(l, 0, sizeof(*l));
}
