/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Shares of an egress that is full [SW-6]. First come, first served would give
 * each input port an equal share, so at each merge the senders behind one port
 * would get half of what the one beside it gets. Here each sender that has
 * packets in a queue gets an equal share (start-time fair queueing):
 *
 *   round      5           6           7
 *   queue  --> a b c d --> a   c   --> a --> ...
 *
 * A sender may have `quantum` flits in each round, and what exceeds that goes
 * into the next one. Packets of a round leave in the order of their arrival.
 * The queue stays one list, in the order in which packets leave; a round only
 * knows its last packet, behind which the next one of the round is inserted. So
 * a packet costs the same however long the queue is, and other files take
 * packets out of the list as before.
 *
 * Packets of one sender stay in order. core_fair_level() makes one round of all
 * that is queued: no later packet passes it. It is called for tokens and for
 * packets by new tables behind them, for fences, and before anything but
 * tx_next() removes a packet.
 *
 * What a sender gets out by the adaptive plane counts in the rounds of the same
 * egress: packets that once left the plane never come back to it, so far senders
 * would have one share, and near ones two.
 *
 * A queue has rounds once packets of two input ports meet there. Few queues of a
 * core are full at a time, so only CORE_FAIR_QUEUES of them have rounds at once;
 * a queue without rounds takes packets at its end.
 */

#include "core_priv.h"

#define FAIR_ROUNDS 32	  /* a bit each in core_fair.filled */
#define FAIR_SOURCES 256  /* more share a place */

struct core_fair {
	struct core_port *cp; /* whose queue this is, or was last */
	uint32_t vl;
	uint32_t filled; /* bit r: there are packets of round + r */
	uint32_t round;  /* that of the first packet */
	struct rl_flit *last[FAIR_ROUNDS]; /* by number modulo FAIR_ROUNDS */
	uint32_t used[FAIR_SOURCES]; /* flits: rounds before this are used up */
};

size_t
core_fair_bytes(void)
{
	return CORE_FAIR_QUEUES * sizeof(struct core_fair);
}

/*
 * Flits of a sender in a round, as a power of two: few, but so many that the
 * rounds hold all that one input buffer may.
 */
unsigned int
core_fair_quantum(const struct rl_link_cfg *cfg)
{
	const uint32_t flits =
		rl_max_u32(cfg->credits_flits / FAIR_ROUNDS, 1);

	return (unsigned int)__builtin_ctz(rl_pow2_ceil(flits));
}

/* Gives a queue rounds, if there are any that no other uses. */
static struct core_fair *
fair_take(struct rl_core *core, struct core_port *cp, unsigned int vl)
{
	for (unsigned int i = 0; i < CORE_FAIR_QUEUES; i++) {
		struct core_fair *f = &core->fair[i];

		if (f->filled != 0)
			continue;
		if (f->cp != NULL)
			f->cp->fair[f->vl] = 0;
		f->cp = cp;
		f->vl = vl;
		f->round += FAIR_ROUNDS; /* nothing is used up */
		cp->fair[vl] = (uint8_t)(i + 1);
		return f;
	}
	return NULL;
}

/*
 * A packet counts for its sender. @return flits that the sender had used up before,
 * from the first round on
 */
static uint32_t
fair_pay(const struct rl_core *core, struct core_fair *f,
	 const struct rl_flit *pkt)
{
	const unsigned int shift = core->fair_shift;
	const uint32_t first = f->round << shift;
	const uint32_t n = rl_packet_ends(pkt) ? pkt->pkt_flits
					       : core->p.cfg->max_packet_flits;
	uint32_t *const used = &f->used[pkt->src % FAIR_SOURCES];
	uint32_t before;

	/* behind, by however much: it is never further ahead than this */
	if (*used - first > (FAIR_ROUNDS << shift) +
				    core->p.cfg->max_packet_flits)
		*used = first;
	before = *used - first;
	*used += n;
	if (before >> shift >= FAIR_ROUNDS)
		*used = first + (FAIR_ROUNDS << shift);
	return before;
}

void
core_fair_charge(struct rl_core *core, const struct core_port *cp,
		 const struct rl_flit *pkt)
{
	for (unsigned int vl = 0; vl < RL_VCS; vl++)
		if (cp->fair[vl] != 0 &&
		    core->fair[cp->fair[vl] - 1].filled != 0)
			fair_pay(core, &core->fair[cp->fair[vl] - 1], pkt);
}

void
core_fair_push(struct rl_core *core, struct core_port *cp, unsigned int vl,
	       struct rl_flit *pkt)
{
	struct rl_pktq *const q = &cp->q[vl];
	struct core_fair *f = cp->fair[vl] == 0 ? fair_take(core, cp, vl)
						: &core->fair[cp->fair[vl] - 1];
	struct rl_flit *before;
	uint32_t r, at;

	if (f == NULL || q->head == NULL ||
	    (f->filled == 0 && q->tail->in_port == pkt->in_port)) {
		rl_pktq_push(q, pkt);
		return;
	}
	if (f->filled == 0) { /* all that is queued is one round */
		f->filled = 1;
		f->last[f->round % FAIR_ROUNDS] = q->tail;
	}
	r = rl_min_u32(fair_pay(core, f, pkt) >> core->fair_shift,
		       FAIR_ROUNDS - 1);
	at = 31 - (uint32_t)__builtin_clz(f->filled & (UINT32_MAX >> (31 - r)));
	before = f->last[(f->round + at) % FAIR_ROUNDS];
	f->last[(f->round + r) % FAIR_ROUNDS] = pkt;
	f->filled |= 1u << r;
	pkt->next_pkt = before->next_pkt;
	before->next_pkt = pkt;
	if (q->tail == before)
		q->tail = pkt;
	q->counts += rl_pktq_count(pkt);
}

void
core_fair_taken(struct rl_core *core, struct core_port *cp, unsigned int vl,
		const struct rl_flit *pkt)
{
	struct core_fair *f = &core->fair[cp->fair[vl] - 1];
	uint32_t n;

	if (f->filled == 0 || pkt != f->last[f->round % FAIR_ROUNDS])
		return;
	f->filled &= ~1u;
	if (f->filled == 0)
		return;
	n = (uint32_t)__builtin_ctz(f->filled);
	f->filled >>= n;
	f->round += n;
}

void
core_fair_level_queue(struct rl_core *core, const struct rl_pktq *q)
{
	for (unsigned int i = 0; i < CORE_FAIR_QUEUES; i++)
		if (core->fair[i].cp != NULL &&
		    &core->fair[i].cp->q[core->fair[i].vl] == q)
			core->fair[i].filled = 0;
}

void
core_fair_level(struct rl_core *core, struct core_port *cp, unsigned int vl)
{
	if (cp->fair[vl] != 0)
		core->fair[cp->fair[vl] - 1].filled = 0;
}
