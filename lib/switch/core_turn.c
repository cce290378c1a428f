/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a core does when its ports are polled by the same lcore: packets come as
 * a queue, not by a ring, and go where they can into the replay buffer of the
 * egress, past two queues and another ring.
 *
 * Most packets are of few kinds: same VC, service level and destination as one
 * that has just passed. They go the same way: one lookup serves them all. It
 * holds for one call, and only as long as nothing unusual happens in it.
 */

#include "core_priv.h"

/* Where packets of a VC went, and which: nothing is known where key is 0. */
struct turn_way {
	uint32_t key;
	uint32_t vl; /* that they leave by */
	uint64_t way; /* the same, and the plane they travel on, as state */
	struct core_port *egress;
};

struct turn {
	struct turn_way way[RL_VCS];
	struct core_port *egress; /* the last one, */
	uint32_t room;		  /* and rl_port_hand_room() there */
	uint32_t packets;	  /* handed over, and not counted yet */
	uint32_t flits;
};

#define STATE_FLAGS(f) ((uint64_t)(f) << 48)
#define STATE_MARK(s) ((s) >> 24 & 0xff)
#define STATE_HOPS(s) ((s) >> 32 & 0xff)
#define STATE_WAY UINT64_C(0xff000000000000ff) /* plane and VC */

_Static_assert(offsetof(struct rl_flit, plane) ==
			       offsetof(struct rl_flit, state) + 7 &&
		       offsetof(struct rl_flit, in_vc) ==
			       offsetof(struct rl_flit, state) + 1 &&
		       offsetof(struct rl_flit, sl) ==
			       offsetof(struct rl_flit, state) + 2,
	       "where they are looked for");

/* Nothing is known of where packets go. */
static inline void
turn_forget(struct turn *t)
{
#pragma GCC unroll 8
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		t->way[vc].key = 0;
	t->egress = NULL;
}

static inline void
turn_begin(struct turn *t)
{
	turn_forget(t);
	t->room = t->packets = t->flits = 0;
}

/* Whether packets are looked up, and nothing else, at the moment. */
static bool
turn_usual(const struct rl_core *core)
{
	return !core->p.endpoint && !core->p.cfg->dup_filter &&
	       !core->passing && !rl_wait_any(core->wait);
}

/* The first of the next hops, if that is the way. */
static bool
turn_lookup(struct rl_core *core, const struct rl_flit *pkt, uint64_t state,
	    uint32_t key, struct turn_way *w)
{
	const struct rl_fwd *fwd = core->fwd;
	const unsigned int sl = state >> 16 & (RL_SLS - 1);
	const unsigned int plane = fwd->plane_of[state >> 8 & 7][sl];
	struct rl_fwd_hop hop;
	uint8_t vl;

	if (pkt->dst >= fwd->ndst)
		return false;
	hop = rl_fwd_word_hop(rl_fwd_word(fwd, plane, pkt->dst));
	if (hop.port >= core->p.nports || hop.port == pkt->in_port ||
	    core->port[hop.port].state != RL_EGRESS_ALIVE)
		return false;
	vl = rl_fwd_vl(fwd, hop.plane, pkt->in_port, hop.port, (uint8_t)sl);
	*w = (struct turn_way){
		.key = key,
		.vl = vl,
		.way = vl | (uint64_t)plane << 56,
		.egress = &core->port[hop.port],
	};
	return true;
}

/*
 * A whole packet goes past the queue of its egress, and that of the port, where
 * nothing is before it. @return whether it has gone; its credit is still to be
 * returned
 */
static inline bool
turn_hand(struct turn *t, const struct turn_way *w, struct rl_flit *pkt,
	  uint64_t state, const struct rl_flit *next)
{
	struct core_port *const cp = w->egress;
	const uint32_t n = pkt->pkt_flits;

	if (rl_unlikely(t->egress != cp)) {
		t->egress = cp;
		t->room = cp->near == NULL ? 0 : rl_port_hand_room(cp->near);
	}
	if (n > t->room || cp->qmask >> w->vl & 1)
		return false;
	RL_DASSERT(rl_pktq_empty(&cp->q[w->vl]) && !cp->begun[w->vl].on);
	if (!rl_port_hand(cp->near, pkt, state, next))
		return false;
	cp->ended[w->vl]++;
	t->room -= n;
	t->packets++;
	t->flits += n;
	return true;
}

/* A packet with nothing unusual about it. @return whether it was one */
static inline bool
turn_packet(struct rl_core *core, struct turn *t, struct rl_flit *pkt,
	    struct rl_port_shared *in, const struct rl_flit *next)
{
	const uint32_t n = pkt->pkt_flits;
	const uint64_t was = pkt->state;
	const uint64_t end = n == 1 ? was : pkt->last->state;
	const uint32_t key = 1u << 31 | (uint32_t)(was >> 16 & 0xff) << 16 |
			     pkt->dst;
	const unsigned int vc = was >> 8 & (RL_VCS - 1);
	struct turn_way *const w = &t->way[vc];
	uint64_t state;

	if (!(was & STATE_FLAGS(RL_FF_SOP)) ||
	    !(end & STATE_FLAGS(RL_FF_EOP)) ||
	    STATE_MARK(end) == RL_MARK_TRANSMIT_ERROR ||
	    STATE_HOPS(was) >= RL_HOPS_MAX)
		return false;
	if (rl_unlikely(w->key != key) &&
	    !turn_lookup(core, pkt, was, key, w))
		return false;
	state = (was & ~STATE_WAY) | w->way;
	if (rl_likely(turn_hand(t, w, pkt,
				state & ~STATE_FLAGS(RL_FF_CREDIT), next))) {
		rl_shared_add(&in->freed[vc], n);
		return true;
	}
	pkt->state = state;
	rl_pktq_push(&w->egress->q[w->vl], pkt);
	w->egress->qmask |= 1u << w->vl;
	return true;
}

void
rl_core_rx_queue(struct rl_core *core, uint16_t port, struct rl_pktq *q,
		 uint64_t now_ns)
{
	struct rl_flit *pkt = q->head, *next;
	struct rl_port_shared *const in = core->port[port].shared;
	bool usual = turn_usual(core);
	struct turn t;

	RL_DASSERT(port < core->p.nports);
	CORE_COUNT_N(core, rx_packets, q->packets);
	*q = (struct rl_pktq){ 0 };
	turn_begin(&t);
	for (; pkt != NULL; pkt = next) {
		next = pkt->next_pkt;
		__builtin_prefetch(next);
		if (rl_likely(usual) && turn_packet(core, &t, pkt, in, next))
			continue;
		if (usual) /* what comes of it, nobody knows */
			turn_forget(&t);
		core_rx_one(core, port, pkt, now_ns);
		usual = turn_usual(core);
	}
	if (t.packets == 0)
		return;
	core->freed |= 1ull << (port & 63);
	CORE_COUNT_N(core, tx_packets, t.packets);
	CORE_COUNT_N(core, tx_flits, t.flits);
}

void
rl_core_join(struct rl_core *core, uint16_t i, struct rl_port *port)
{
	core->port[i].near = port;
}
