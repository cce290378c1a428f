/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The adaptive plane [ROUTE-9, SW-4]: among the ports that lead nearer to the
 * destination, a packet takes the one with the most room, on a VL of its own.
 *
 *   endpoint --> adaptive --> adaptive --> adaptive --> endpoint
 *                   |            |
 *                   | no room    |        the escape: the tables, on their VLs,
 *                   v            v        as if the packet were injected here
 *                 tables  -->  tables  -->  tables  --> endpoint
 *
 * Why this cannot deadlock (Duato): room is room in the egress queue of the
 * port. So a packet that takes it leaves the core, and returns the credit of the
 * input buffer that it came by, without waiting for any adaptive channel. All
 * others in that input buffer have left the plane, and wait for the tables'
 * channels alone, which have no cycle, and which no packet leaves for the
 * adaptive plane. So adaptive input buffers empty, and what waits for them in
 * an egress queue goes on. An endpoint has no input buffer that a packet which
 * it injects could hold: that packet waits for the adaptive plane.
 *
 * Each hop leads strictly nearer, except that the switch of the source may begin
 * with one that does not, so no packet goes round. A port that is not alive is
 * not taken: nothing waits for it. Packets overtake each other, and the receiving
 * endpoint restores their order [EP-10].
 *
 * If the tables have no living port either, a packet waits without a credit
 * (RL_WAIT_NOWAY) and looks again every ADAPT_AGAIN_NS. As long as a port of the
 * plane is alive, it has a way, and is not given up.
 */

#include "core_priv.h"

#define ADAPT_AGAIN_NS 1000
/* A non-minimal hop leads at most one link away, so it costs two. */
#define ADAPT_LONGER 2u
/* Queues differ by chance: a part of a queue's room that is not counted. */
#define ADAPT_BIAS 16u

/* Whether a packet is on the adaptive plane here. */
static bool
adapt_is_on(const struct rl_core *core, const struct rl_flit *pkt)
{
	const struct rl_fwd *fwd = core->fwd;

	if (pkt->dst >= fwd->ndst || core_pass_stays(core))
		return false;
	if (pkt->in_port != RL_PORT_NONE)
		return core_joins(core, pkt) && !core->p.endpoint;
	return pkt->class != RL_CLASS_CTRL && !(pkt->flags & RL_FF_TABLES) &&
	       (fwd->adapt_sls >> (pkt->sl & (RL_SLS - 1)) & 1);
}

/* Flits of the plane that wait at a port. */
static uint32_t
adapt_queued(const struct rl_core *core, const struct core_port *cp)
{
	const unsigned int vl = core->adapt_vl;

	return cp->sent[vl] - rl_shared_read(&cp->shared->taken[vl]) +
	       cp->q[vl].flits;
}

/* Flows prefer different ports: where to begin to look for the best one. */
static unsigned int
adapt_first(const struct rl_flit *pkt)
{
	const uint32_t h = (pkt->dst * 0x9e37u ^ pkt->src * 0x85ebu) & 0xffffu;

	return (h ^ h >> 7) % RL_FWD_ADAPT_PORTS;
}

/*
 * The one of @p ports with the most room. NULL: none has room for @p pkt.
 * @p lives: whether any is alive.
 */
static struct core_port *
adapt_best(struct rl_core *core, const struct rl_flit *pkt, uint64_t ports,
	   bool *lives)
{
	const unsigned int first = adapt_first(pkt);
	struct core_port *best = NULL;
	uint32_t least = core->p.endpoint ? UINT32_MAX
					  : core->p.cfg->queue_flits -
						    pkt->pkt_flits + 1;

	*lives = false;
	ports = ports >> first | ports << (-first % RL_FWD_ADAPT_PORTS);
	for (; ports != 0; ports &= ports - 1) {
		const unsigned int i = (unsigned int)__builtin_ctzll(ports);
		const unsigned int port = (i + first) % RL_FWD_ADAPT_PORTS;
		struct core_port *cp = &core->port[port];
		uint32_t queued;

		if (cp->state != RL_EGRESS_ALIVE)
			continue;
		*lives = true;
		queued = adapt_queued(core, cp);
		if (queued >= least)
			continue;
		least = queued;
		best = cp;
	}
	return best;
}

/*
 * A port of a non-minimal way that @p pkt begins, or NULL: only at the switch of
 * its source, and if the queue there is so much shorter than at @p best, the
 * minimal one, as the way is longer (UGAL-L, Singh 2005). @p best may be NULL: its
 * queues are full.
 */
static struct core_port *
adapt_longer(struct rl_core *core, const struct rl_flit *pkt,
	     const struct core_port *best)
{
	const struct rl_fwd *fwd = core->fwd;
	const uint64_t ports = fwd->adapt_longer[pkt->dst];
	const uint32_t links = fwd->adapt_links[pkt->dst];
	const uint32_t room = core->p.cfg->queue_flits;
	struct core_port *longer;
	uint32_t queued;
	bool lives;

	if (ports == 0 || pkt->in_port >= RL_FWD_ADAPT_PORTS ||
	    !(fwd->adapt_ends >> pkt->in_port & 1))
		return NULL;
	longer = adapt_best(core, pkt, ports, &lives);
	queued = best == NULL ? room : adapt_queued(core, best);
	if (longer == NULL ||
	    (adapt_queued(core, longer) + room / ADAPT_BIAS) *
			    (links + ADAPT_LONGER) >= queued * links)
		return NULL;
	return longer;
}

/* Ports that lead where @p pkt came from: the one it came by, and parallel
   ones. */
static uint64_t
adapt_back(const struct rl_core *core, const struct rl_flit *pkt)
{
	const uint16_t in = pkt->in_port;
	uint64_t ports;

	if (in >= RL_FWD_ADAPT_PORTS)
		return 0;
	ports = UINT64_C(1) << in;
	if (core->p.beside != NULL)
		for (uint16_t p = core->p.beside[in]; p != in;
		     p = core->p.beside[p])
			ports |= UINT64_C(1) << p;
	return ports;
}

/*
 * The port that @p pkt takes: the one with the most room. NULL: none has room
 * for it. @p lives: whether any that leads nearer is alive.
 */
static struct core_port *
adapt_port(struct rl_core *core, const struct rl_flit *pkt, bool *lives)
{
	const uint64_t ports =
		core->fwd->adapt[pkt->dst] & ~adapt_back(core, pkt);
	struct core_port *longer, *best = adapt_best(core, pkt, ports, lives);

	if (core->fwd->adapt_longer == NULL || !*lives)
		return best;
	longer = adapt_longer(core, pkt, best);
	return longer != NULL ? longer : best;
}

bool
core_adapt(struct rl_core *core, struct rl_flit *pkt)
{
	struct core_port *best;
	bool lives;

	if (!adapt_is_on(core, pkt))
		return false;
	best = adapt_port(core, pkt, &lives);
	if (best == NULL) {
		CORE_COUNT_N(core, escaped_packets,
			     pkt->in_port != RL_PORT_NONE);
		return false;
	}
	CORE_COUNT(core, adaptive_packets);
	CORE_COUNT_N(core, nonminimal_packets,
		     !(core->fwd->adapt[pkt->dst] >> (best - core->port) & 1));
	pkt->vc = core->adapt_vl;
	core_fair_charge(core, best, pkt);
	core_enqueue(core, best, core->adapt_vl, pkt);
	return true;
}

enum core_adapt_state
core_adapt_look(struct rl_core *core, const struct rl_flit *pkt,
		uint64_t now_ns)
{
	bool lives;

	if (!adapt_is_on(core, pkt))
		return CORE_ADAPT_NONE;
	if (adapt_port(core, pkt, &lives) != NULL)
		return CORE_ADAPT_ROOM;
	if (!lives)
		return CORE_ADAPT_NONE;
	/* those that come later do not put it off */
	core->adapt_again_ns = rl_min_u64(core->adapt_again_ns,
					  rl_deadline(now_ns, ADAPT_AGAIN_NS));
	core_arm(core, core->adapt_again_ns);
	return CORE_ADAPT_FULL;
}
