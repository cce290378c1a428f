/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a core does when its ports are polled by the same lcore: packets come as
 * a queue, not by a ring, and go straight into the replay buffer of the egress
 * if they can, bypassing two queues and a second ring.
 *
 * Most packets are of few kinds: the VC, service level and destination of one
 * that has passed before. They take the same path, so one lookup serves them
 * all until an egress changes state or tables change. Packets of one flit go in
 * rows, with one check of the egress per row.
 */

#include <string.h>

#include "core_priv.h"

struct turn {
	struct core_way *way;	  /* of the port that they came in by, by VC */
	struct core_port *egress; /* the last egress, */
	uint32_t room;		  /* its rl_port_hand_room(), */
	uint32_t sure;		  /* and the part that needs no check per VC */
	uint32_t packets;	  /* handed over, but not counted yet */
	uint32_t flits;
};

#define STATE_FLAGS(f) ((uint64_t)(f) << 48)
#define STATE_MARK(s) ((s) >> 24 & 0xff)
#define STATE_HOPS(s) ((s) >> 32 & 0xff)
#define STATE_WAY UINT64_C(0xff000000000000ff) /* plane and VC */
/* Flags and mark of an ordinary packet of one flit. */
#define STATE_UNLIKE (STATE_FLAGS(0xff) | UINT64_C(0xff000000))
#define STATE_PLAIN STATE_FLAGS(RL_FF_SOP | RL_FF_EOP | RL_FF_CREDIT)

_Static_assert(offsetof(struct rl_flit, plane) ==
			       offsetof(struct rl_flit, state) + 7 &&
		       offsetof(struct rl_flit, in_vc) ==
			       offsetof(struct rl_flit, state) + 1 &&
		       offsetof(struct rl_flit, sl) ==
			       offsetof(struct rl_flit, state) + 2,
	       "where they are looked for");

/* Key that tells the paths of packets of one VC apart. */
static inline uint32_t
turn_key(uint64_t state, uint16_t dst)
{
	return 1u << 31 | (uint32_t)(state >> 16 & 0xff) << 16 | dst;
}

/* Forgets how much may go where. */
static inline void
turn_forget(struct turn *t)
{
	t->egress = NULL;
	t->room = t->sure = 0;
}

/* Known paths hold until an egress changes state or tables change. */
static inline void
turn_ways(const struct rl_core *core, struct turn *t, struct core_port *in)
{
	t->way = in->way;
	if (rl_likely(in->ways_seen == core->ways))
		return;
	in->ways_seen = core->ways;
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		in->way[vc].key = 0;
}

static inline void
turn_begin(const struct rl_core *core, struct turn *t, struct core_port *in)
{
	turn_forget(t);
	turn_ways(core, t, in);
	t->packets = t->flits = 0;
}

/* Whether packets only need a lookup at the moment. */
static bool
turn_usual(const struct rl_core *core)
{
	return !core->p.endpoint && !core->p.cfg->dup_filter &&
	       !core->passing && !rl_wait_any(core->wait);
}

/* Takes the first next hop, if packets may go there. */
static bool
turn_lookup(struct rl_core *core, const struct rl_flit *pkt, uint64_t state,
	    uint32_t key, struct core_way *w)
{
	const struct rl_fwd *fwd = core->fwd;
	const unsigned int sl = state >> 16 & (RL_SLS - 1);
	const unsigned int plane = fwd->plane_of[state >> 8 & 7][sl];
	struct rl_fwd_hop hop;
	uint8_t vl;

	if (pkt->dst >= fwd->ndst || core_joins(core, pkt))
		return false;
	hop = rl_fwd_word_hop(rl_fwd_word(fwd, plane, pkt->dst));
	if (hop.port >= core->p.nports || hop.port == pkt->in_port ||
	    core->port[hop.port].state != RL_EGRESS_ALIVE)
		return false;
	vl = rl_fwd_vl(fwd, hop.plane, pkt->in_port, hop.port, (uint8_t)sl);
	*w = (struct core_way){
		.key = key,
		.vl = vl,
		.way = vl | (uint64_t)plane << 56,
		.egress = &core->port[hop.port],
	};
	return true;
}

/* Fetches the state of an egress, once for all packets that go there. */
static inline void
turn_egress(struct rl_core *core, struct turn *t, struct core_port *cp)
{
	t->egress = cp;
	core->given |= 1ull << ((cp - core->port) & 63);
	t->room = t->sure = 0;
	if (cp->near == NULL)
		return;
	t->room = rl_port_hand_room(cp->near);
	/* if anything is queued, each packet must check what is ahead */
	if (t->room != 0 && cp->qmask == 0)
		t->sure = rl_port_hand_sure(cp->near, t->room);
}

/*
 * Hands a whole packet to its port, past the core's queue and the port's, if
 * both are empty. @return whether it has gone; the caller returns its credit
 */
static inline bool
turn_hand(struct rl_core *core, struct turn *t, const struct core_way *w,
	  struct rl_flit *pkt, uint64_t state, const struct rl_flit *next)
{
	struct core_port *const cp = w->egress;
	const uint32_t n = pkt->pkt_flits;

	if (rl_unlikely(t->egress != cp))
		turn_egress(core, t, cp);
	if (n > t->room || cp->qmask >> w->vl & 1)
		return false;
	RL_DASSERT(rl_pktq_empty(&cp->q[w->vl]) && !cp->begun[w->vl].on);
	if (!rl_port_hand(cp->near, pkt, state, next))
		return false;
	cp->ended[w->vl]++;
	t->room -= n;
	t->sure -= rl_min_u32(t->sure, n);
	t->packets++;
	t->flits += n;
	return true;
}

/* Takes an ordinary packet. @return whether it was one */
static inline bool
turn_packet(struct rl_core *core, struct turn *t, struct rl_flit *pkt,
	    struct rl_port_shared *in, const struct rl_flit *next)
{
	const uint32_t n = pkt->pkt_flits;
	const uint64_t was = pkt->state;
	const uint64_t end = n == 1 ? was : pkt->last->state;
	const uint32_t key = turn_key(was, pkt->dst);
	const unsigned int vc = was >> 8 & (RL_VCS - 1);
	struct core_way *const w = &t->way[vc];
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
	if (rl_likely(turn_hand(core, t, w, pkt,
				state & ~STATE_FLAGS(RL_FF_CREDIT), next))) {
		rl_shared_add(&in->freed[vc], n);
		return true;
	}
	pkt->state = state;
	core_enqueue(core, w->egress, w->vl, pkt);
	t->sure = 0; /* later packets must not pass it */
	return true;
}

/* Ends a row: it leaves, and its credits return. */
static inline void
turn_row_end(struct turn *t, const struct rl_port_row *row,
	     const uint32_t in_vc[RL_VCS], struct rl_port_shared *in)
{
	struct core_port *const cp = t->egress;

	rl_port_hand_row(cp->near, row);
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		rl_shared_add(&in->freed[vc], in_vc[vc]);
		cp->ended[vc] += row->by_vc[vc];
	}
	t->room -= row->n;
	t->sure -= row->n;
	t->packets += row->n;
	t->flits += row->n;
}

/*
 * Packets of one flit, from @p pkt on, that go where the last ones went.
 * @return the first that does not, or that may have to wait; NULL: none
 */
static struct rl_flit *
turn_row(struct turn *t, struct rl_flit *pkt, struct rl_port_shared *in)
{
	const uint32_t most = rl_min_u32(t->sure, RL_PORT_ROW);
	uint32_t in_vc[RL_VCS] = { 0 };
	struct rl_port_row row;

	memset(row.by_vc, 0, sizeof(row.by_vc));
	for (row.n = 0; row.n < most && pkt != NULL; row.n++) {
		const uint64_t was = pkt->state;
		const uint64_t hops = STATE_HOPS(was);
		const unsigned int vc = was >> 8 & (RL_VCS - 1);
		const struct core_way *const w = &t->way[vc];

		if ((was & STATE_UNLIKE) != STATE_PLAIN ||
		    hops >= RL_HOPS_MAX || pkt->pkt_flits != 1 ||
		    w->key != turn_key(was, pkt->dst) ||
		    w->egress != t->egress)
			break;
		pkt->state = (was & ~(STATE_WAY | STATE_FLAGS(RL_FF_CREDIT))) |
			     w->way;
		row.pkt[row.n] = pkt;
		row.sideband[row.n] = (uint16_t)(RL_SIDEBAND_SINGLE | w->vl |
						 hops << 9);
		row.by_vc[w->vl]++;
		in_vc[vc]++;
		pkt = pkt->next_pkt;
		__builtin_prefetch(pkt);
	}
	if (row.n != 0)
		turn_row_end(t, &row, in_vc, in);
	return pkt;
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
	turn_begin(core, &t, &core->port[port]);
	for (; pkt != NULL; pkt = next) {
		if (t.sure != 0 && pkt->pkt_flits == 1) {
			pkt = turn_row(&t, pkt, in);
			if (pkt == NULL)
				break;
		}
		next = pkt->next_pkt;
		__builtin_prefetch(next);
		if (rl_likely(usual) && turn_packet(core, &t, pkt, in, next))
			continue;
		if (usual) /* this may change anything */
			turn_forget(&t);
		core_rx_one(core, port, pkt, now_ns);
		usual = turn_usual(core);
		turn_ways(core, &t, &core->port[port]);
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
