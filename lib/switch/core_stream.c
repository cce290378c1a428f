/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Open packets: cut-through [LCB-1].
 *
 * With cut-through a packet reaches the core in fragments, the first with SOP,
 * the last with EOP. On one VC of one input port they are contiguous, so (input
 * port, VC) names the packet that is open there: a *stream*. The first fragment
 * is routed like a packet; the others follow it:
 *
 * QUEUED  none of it has left: fragments join the packet in the queue of its
 *         egress.
 * WAIT    the same in the waiting room.
 * BEGUN   some of it went to an egress; that egress VC sends nothing else
 *         until the packet's end has gone (core_begun).
 * LOCAL   it is for this device's endpoint, which takes fragments.
 * DROP    it was given up; the rest is dropped, too.
 *
 * A packet that is closed, by an end marked transmit_error, is useless: a whole
 * copy comes by another path. If none of it has left, its credits return at
 * once, and it is cut out of its queue; in the waiting room it is skipped at
 * its turn. If it has begun to leave, it goes on, so that the next device
 * downstream can finish with it [LCB-2].
 *
 * When an egress dies in the middle of a packet, its port loops out the part it
 * has, without an end. The part in the core, and fragments that still come in,
 * wait in core_begun.rest, charged to the waiting room's budget while that
 * lasts. They join the looped part, and the whole goes on as one packet, open
 * or ended, by another path [DRL-3].
 *
 * A looped packet no longer holds credits of its input. Fragments that join it
 * return theirs at once: they take the room that the dead port no longer uses.
 */

#include "core_priv.h"

static struct core_stream *
stream_of(struct rl_core *core, const struct rl_flit *pkt)
{
	if (core->stream == NULL || pkt->in_port >= core->p.nports)
		return NULL;
	return &core->stream[pkt->in_port * RL_VCS + pkt->in_vc];
}

/*
 * The only function that writes a stream's state. A packet that has begun to
 * leave comes back only by a loop ring, and a dropped one never.
 */
static void
stream_set(struct core_stream *st, enum core_stream_state to)
{
	bool legal = false;

	switch (st->state) {
	case CORE_STREAM_NONE:
		legal = to != CORE_STREAM_BEGUN;
		break;
	case CORE_STREAM_QUEUED:
		legal = to != CORE_STREAM_LOCAL;
		break;
	case CORE_STREAM_WAIT:
		legal = to != CORE_STREAM_BEGUN && to != CORE_STREAM_LOCAL;
		break;
	case CORE_STREAM_BEGUN:
		legal = to != CORE_STREAM_BEGUN && to != CORE_STREAM_LOCAL;
		break;
	case CORE_STREAM_LOCAL:
		legal = to == CORE_STREAM_LOCAL || to == CORE_STREAM_NONE;
		break;
	case CORE_STREAM_DROP:
		legal = to == CORE_STREAM_NONE;
		break;
	}
	RL_ASSERT(legal);
	*st = (struct core_stream){ .state = to };
}

/* @p more continues @p pkt. */
static void
stream_join(struct rl_core *core, struct rl_flit *pkt, struct rl_flit *more)
{
	if (pkt->flags & RL_FF_CREDIT) {
		more->flags &= (uint8_t)~RL_FF_CREDIT; /* counted in pkt now */
	} else {
		core_free_credit(core, more);
		if (pkt->flags & RL_FF_LENT)
			rl_wait_lend(core->wait, more->pkt_flits);
	}
	rl_packet_join(pkt, more);
}

/* If a queued packet is open, remember where its fragments join it. */
void
core_stream_queued(struct rl_core *core, struct rl_pktq *q,
		   struct rl_flit *pkt)
{
	struct core_stream *st;

	if (rl_likely(core->stream == NULL) || rl_packet_ends(pkt))
		return;
	st = stream_of(core, pkt);
	if (st == NULL)
		return;
	stream_set(st, CORE_STREAM_QUEUED);
	st->pkt = pkt;
	st->q = q;
}

void
core_stream_moved(struct rl_core *core, const struct rl_pktq *from,
		  struct rl_pktq *to)
{
	for (uint32_t i = 0; core->stream != NULL &&
			     i < core->p.nports * (uint32_t)RL_VCS; i++)
		if (core->stream[i].state == CORE_STREAM_QUEUED &&
		    core->stream[i].q == from)
			core->stream[i].q = to;
}

/* The same in the waiting room. */
void
core_stream_wait(struct rl_core *core, struct rl_flit *pkt)
{
	struct core_stream *st;

	if (rl_likely(core->stream == NULL) || rl_packet_ends(pkt))
		return;
	st = stream_of(core, pkt);
	if (st == NULL)
		return;
	stream_set(st, CORE_STREAM_WAIT);
	st->pkt = pkt;
}

/*
 * The link died: packets that wait for others to loop out return their credits.
 */
void
core_rests_wait(struct rl_core *core, uint16_t port)
{
	for (unsigned int vl = 0; vl < RL_VCS; vl++)
		for (struct rl_flit *f = core->port[port].begun[vl].rest.head;
		     f != NULL; f = f->next_pkt)
			core_rest_lend(core, f);
}

/* Adds to a packet that came in by @p in_port; credits are settled. */
static void
packet_grow(struct rl_flit **head, struct rl_flit *f, uint16_t in_port)
{
	if (*head == NULL) {
		rl_packet_start(f);
		f->flags &= (uint8_t)~RL_FF_CREDIT;
		/* in_port is only set on the first flit */
		f->in_port = in_port;
		*head = f;
	} else {
		rl_packet_append(*head, f);
	}
}

/* Flits with an error mark are gone for good: report that. */
static void
drop_marked(struct rl_core *core, struct rl_flit *bad, uint64_t now_ns)
{
	bad->dst = rl_flit_dst(bad->wire);
	bad->src = rl_flit_src(bad->wire);
	bad->sl = rl_flit_sl(bad->wire);
	bad->class = rl_flit_class(bad->wire);
	if (core->p.drop != NULL && !RL_PLANTED(MARK_SILENT))
		core->p.drop(core->p.drop_ctx, bad, RL_DROP_MARKED, now_ns);
	rl_packet_put(core->p.cache, bad);
}

/*
 * The endpoint never sees a flit with an error mark [LCB-2]. The end of a
 * packet that was cut off is no loss: the whole packet comes by another path,
 * or was reported where it was cut off.
 */
void
core_local(struct rl_core *core, struct rl_flit *pkt, uint64_t now_ns)
{
	struct core_stream *st = stream_of(core, pkt);
	const bool ends = rl_packet_ends(pkt);
	struct rl_flit *f = pkt, *next, *good = NULL, *bad = NULL;
	const uint16_t n = pkt->pkt_flits, in_port = pkt->in_port;

	if (st != NULL)
		stream_set(st, ends ? CORE_STREAM_NONE : CORE_STREAM_LOCAL);
	for (; f != NULL; f = rl_packet_next(f))
		if (f->mark != RL_MARK_OK)
			break;
	if (rl_likely(f == NULL)) {
		rl_pktq_push(&core->local, pkt);
		return;
	}
	core_free_credit(core, pkt);
	rl_packet_open(pkt);
	f = pkt;
	for (uint16_t i = 0; i < n; i++, f = next) {
		next = f->next;
		if (f->mark == RL_MARK_OK) {
			packet_grow(&good, f, in_port);
			continue;
		}
		CORE_COUNT(core, drop_marked);
		if (f->mark == RL_MARK_TRANSMIT_ERROR)
			rl_flit_put(core->p.cache, f);
		else
			packet_grow(&bad, f, in_port);
	}
	if (bad != NULL)
		drop_marked(core, bad, now_ns);
	if (good != NULL)
		rl_pktq_push(&core->local, good);
}

/* Excises a closed packet of which nothing has left. */
void
core_excise(struct rl_core *core, struct rl_flit *pkt)
{
	CORE_COUNT(core, excised_packets);
	if (RL_PLANTED(CREDIT_EXCISE))
		pkt->flags &= (uint8_t)~RL_FF_CREDIT;
	core_free_credit(core, pkt);
	rl_packet_put(core->p.cache, pkt);
}

/* The same, out of the queue of its egress. */
static void
stream_excise(struct rl_core *core, struct core_stream *st)
{
	struct rl_pktq *q = st->q;
	struct rl_flit *pkt = st->pkt, *before = NULL;

	core_fair_level_queue(core, q);
	for (struct rl_flit *p = q->head; p != pkt; p = p->next_pkt)
		before = p;
	if (before == NULL)
		q->head = pkt->next_pkt;
	else
		before->next_pkt = pkt->next_pkt;
	if (q->tail == pkt)
		q->tail = before;
	q->flits -= pkt->pkt_flits;
	q->packets--;
	core_excise(core, pkt);
}

/*
 * A closed packet in the waiting room: returns its credit now, and skips it at
 * its turn.
 */
static void
stream_leave_out(struct rl_core *core, struct rl_flit *pkt)
{
	CORE_COUNT(core, excised_packets);
	if (!(pkt->flags & RL_FF_CREDIT))
		return;
	core_free_credit(core, pkt);
	core->kept--;
}

/* Adds a fragment to a packet that waits here. */
static void
stream_grow(struct rl_core *core, struct core_stream *st,
	    struct rl_flit *more)
{
	struct rl_flit *pkt = st->pkt;

	if (st->state == CORE_STREAM_QUEUED) {
		st->q->flits += more->pkt_flits;
		stream_join(core, pkt, more);
		if (core_closed(pkt))
			stream_excise(core, st);
		return;
	}
	rl_wait_grow(core->wait, pkt, more->pkt_flits);
	stream_join(core, pkt, more);
	if (core_closed(pkt))
		stream_leave_out(core, pkt);
}

/* Adds a fragment to a packet that has begun to leave. */
static void
stream_follow(struct rl_core *core, struct core_stream *st,
	      struct rl_flit *more)
{
	struct core_port *cp = &core->port[st->port];

	if (RL_PLANTED(WRONG_EXCISE) && core_closed(more)) {
		core_excise(core, more);
		return;
	}
	rl_pktq_push(&cp->begun[st->vl].rest, more);
	if (rl_unlikely(cp->state == RL_EGRESS_DRAIN))
		core_rest_lend(core, more);
}

/* Takes a fragment that does not begin a packet. */
void
core_fragment(struct rl_core *core, struct rl_flit *pkt, uint64_t now_ns)
{
	struct core_stream *st = stream_of(core, pkt);
	const bool ends = rl_packet_ends(pkt);

	switch (st->state) {
	case CORE_STREAM_QUEUED:
	case CORE_STREAM_WAIT:
		stream_grow(core, st, pkt);
		break;
	case CORE_STREAM_BEGUN:
		stream_follow(core, st, pkt);
		break;
	case CORE_STREAM_LOCAL:
		core_local(core, pkt, now_ns);
		return;
	case CORE_STREAM_NONE:
	case CORE_STREAM_DROP:
		CORE_COUNT(core, drop_fragments);
		core_free_credit(core, pkt);
		rl_packet_put(core->p.cache, pkt);
		break;
	}
	if (ends)
		stream_set(st, CORE_STREAM_NONE);
}

/* The first fragment of @p pkt goes to an egress; its end is still to come. */
void
core_begin(struct rl_core *core, uint16_t port, unsigned int vl,
	   const struct rl_flit *pkt)
{
	struct core_begun *b = &core->port[port].begun[vl];
	struct core_stream *st = stream_of(core, pkt);

	b->on = true;
	b->in_port = pkt->in_port;
	b->in_vc = pkt->in_vc;
	if (st == NULL)
		return;
	stream_set(st, CORE_STREAM_BEGUN);
	st->port = port;
	st->vl = (uint8_t)vl;
}

/* Its end goes. */
void
core_begun_end(struct rl_core *core, uint16_t port, unsigned int vl)
{
	core->port[port].begun[vl].on = false;
}

/*
 * A packet looped out of @p port without its end: joins the rest that waits
 * here. Afterwards it is a packet like any other, open or not.
 */
void
core_looped_open(struct rl_core *core, uint16_t port, struct rl_flit *pkt)
{
	struct core_begun *b = &core->port[port].begun[pkt->vc];
	struct rl_flit *more;

	if (!b->on)
		return;
	while ((more = rl_pktq_pop(&b->rest)) != NULL) {
		if (RL_PLANTED(JOIN_LOST) && !rl_packet_ends(more)) {
			core_free_credit(core, more);
			rl_packet_put(core->p.cache, more);
			continue;
		}
		stream_join(core, pkt, more);
	}
	b->on = false;
}

/* The drain is over: a packet that began there and did not loop is lost. */
void
core_begun_abort(struct rl_core *core, uint16_t port, uint64_t now_ns)
{
	(void)now_ns;
	for (unsigned int vl = 0; vl < RL_VCS; vl++) {
		struct core_begun *b = &core->port[port].begun[vl];
		struct rl_flit *pkt;

		if (!b->on)
			continue;
		while ((pkt = rl_pktq_pop(&b->rest)) != NULL) {
			CORE_COUNT(core, drop_fragments);
			core_free_credit(core, pkt);
			rl_packet_put(core->p.cache, pkt);
		}
		b->on = false;
		for (uint32_t i = 0;
		     i < core->p.nports * (uint32_t)RL_VCS; i++) {
			struct core_stream *st = &core->stream[i];

			if (st->state == CORE_STREAM_BEGUN &&
			    st->port == port && st->vl == vl)
				stream_set(st, CORE_STREAM_DROP);
		}
	}
}

/* Gives up a packet: if it is open, drop its rest, too. */
void
core_stream_dropped(struct rl_core *core, const struct rl_flit *pkt)
{
	struct core_stream *st;

	if (core->stream == NULL || rl_packet_ends(pkt))
		return;
	st = stream_of(core, pkt);
	if (st != NULL)
		stream_set(st, CORE_STREAM_DROP);
}
