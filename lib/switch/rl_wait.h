/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_WAIT_H
#define RL_WAIT_H

/**
 * @file The waiting room of a switch core [DRL-11]: the only place where
 * packets wait: for an egress that drains, trains, restores or leaves, or for
 * any path at all. wait.c explains how it works.
 *
 *      core_forward() -- no way now --> rl_wait_put() --> flow's queue
 *                                                             |
 *      an egress changes --> rl_wait_look_place(), _all() --> look list
 *                                                             |
 *      core_look(): rl_wait_look() --> way? rl_wait_pop() : rl_wait_settle()
 *
 *      time passes --> rl_wait_expired() --> given up and reported
 *
 * The room knows nothing of links, tables or credits: the core looks paths up,
 * and the room keeps order, time and budget. It reads packets only through the
 * accessors below.
 *
 * A room belongs to the lcore of its core. It allocates nothing.
 */

#include "rl_base.h"
#include "rl_flit.h"
#include "rl_seq.h"

/** The place of packets that wait for no egress: no path at all. */
#define RL_WAIT_NOWAY UINT16_MAX

/** Wheels of deadlines, and slots per wheel: the bits of one word. */
#define RL_WAIT_WHEELS 3
#define RL_WAIT_SLOTS 64
#define RL_WAIT_SLOT_NONE UINT8_MAX

/** Queues that flows share when there are more flows than records. */
#define RL_WAIT_MIXED 16

/** Link of a ring of records; a ring's head is a link of its own. */
struct rl_wait_link {
	struct rl_wait_link *next;
	struct rl_wait_link *prev;
};

/** The packets of one flow that wait, oldest first. */
struct rl_wait_flow {
	struct rl_wait_link at;	  /**< in its place's ring, or in the look
				       list */
	struct rl_wait_link slot; /**< in the wheel */
	uint64_t key;
	uint64_t since_ns; /**< has waited at this place since */
	struct rl_flit *head;
	struct rl_flit *tail;
	struct rl_flit *finger; /**< the last packet inserted between others */
	struct rl_wait_flow *next; /**< of its bucket, or of the free list */
	uint32_t packets;
	uint32_t flits;
	uint16_t place;	 /**< an egress, or RL_WAIT_NOWAY */
	uint8_t at_slot; /**< wheel * RL_WAIT_SLOTS + slot */
};

/** The packets that wait at one place. */
struct rl_wait_place {
	struct rl_wait_link flows;
	uint32_t packets;
	uint32_t flits;
};

struct rl_wait_params {
	uint16_t nports;
	uint32_t flows;	       /**< records; further flows share queues */
	uint32_t budget_flits; /**< most flits lent at once */
	uint64_t no_way_ns;    /**< how long to wait without any path */
	uint64_t bound_ns;     /**< how long in total */
};

struct rl_wait {
	uint32_t packets; /**< that wait; first: read for every packet */
	uint32_t flits;
	uint32_t lent_flits; /**< of the budget */
	uint32_t mixed;	     /**< packets in shared queues */
	struct rl_wait_params p;
	uint64_t await_ns;   /**< new tables are expected until then; 0: none */
	uint64_t steps;	     /**< packets passed while finding places, ever */
	uint64_t tick_ns;    /**< width of a slot of the first wheel */
	uint64_t at_ns;	     /**< slots up to here have been visited */
	uint64_t busy[RL_WAIT_WHEELS]; /**< bit per slot in use */
	struct rl_wait_link look;
	struct rl_wait_link wheel[RL_WAIT_WHEELS][RL_WAIT_SLOTS];
	struct rl_wait_flow *free;
	uint32_t fresh; /**< records from here on were never used */
	uint32_t mask;	/**< of the buckets */
	struct rl_wait_flow **bucket;
	struct rl_wait_flow *flow; /**< p.flows of them */
	struct rl_wait_flow *shared; /**< RL_WAIT_MIXED of them */
	struct rl_wait_place *place; /**< nports, and one for "no path" */
};

/* What the room reads of a packet. */

/** Whether it asks what has arrived of the data of its flow ahead of it. */
static inline bool
rl_is_probe(const struct rl_flit *pkt)
{
	return pkt->class == RL_CLASS_CTRL &&
	       pkt->wire[RL_FLIT_CMD_OFF] == RL_FLIT_CMD_PROBE;
}

/**
 * Key of its flow: destination, source, class of service; control apart, but for
 * probes. A probe that passed its data would call them lost.
 */
static inline uint64_t
rl_wait_key(const struct rl_flit *pkt)
{
	return (uint64_t)rl_get32(pkt->wire + 2) << 8 |
	       (uint64_t)(pkt->wire[6] >> 4) << 1 |
	       (pkt->class == RL_CLASS_CTRL && !rl_is_probe(pkt));
}

static inline uint32_t
rl_wait_flits_of(const struct rl_flit *pkt)
{
	return pkt->pkt_flits;
}

static inline struct rl_flit *
rl_wait_next_of(const struct rl_flit *pkt)
{
	return pkt->next_pkt;
}

static inline void
rl_wait_set_next(struct rl_flit *pkt, struct rl_flit *next)
{
	pkt->next_pkt = next;
}

/** When it began to wait. */
static inline uint64_t
rl_wait_since_of(const struct rl_flit *pkt)
{
	return pkt->t_ns;
}

static inline void
rl_wait_set_since(struct rl_flit *pkt, uint64_t t_ns)
{
	pkt->t_ns = t_ns;
}

/** Whether @p a comes before @p b, both of one flow, when @p b came first. */
static inline bool
rl_wait_older(const struct rl_flit *a, const struct rl_flit *b)
{
	int32_t d;

	if (a->class == RL_CLASS_CTRL)
		return false; /* not numbered: first come, first served */
	if (b->class == RL_CLASS_CTRL)
		return true; /* a probe: behind all that was sent before it */
	d = rl_seq_diff(rl_flit_tag(a->wire), rl_flit_tag(b->wire));
	return d < 0 || (d == 0 && rl_get16(a->wire + 14) <
					   rl_get16(b->wire + 14));
}

/** Any thread. Bytes of a room, 64-byte aligned. */
size_t rl_wait_memsize(const struct rl_wait_params *p);

/** Control thread. Builds an empty room in @p mem; returns it (== mem). */
struct rl_wait *rl_wait_init(void *mem, const struct rl_wait_params *p);

/** Owner. Whether anything waits. */
static inline bool
rl_wait_any(const struct rl_wait *w)
{
	return w->packets != 0;
}

/** Owner. The queue in which packets of the flow of @p pkt wait, or NULL. */
struct rl_wait_flow *rl_wait_find(struct rl_wait *w,
				  const struct rl_flit *pkt);

/**
 * Owner. Whether a packet would wait in a shared queue: none of its flow waits
 * yet, and all records are in use.
 */
static inline bool
rl_wait_is_full(const struct rl_wait *w)
{
	return w->free == NULL && w->fresh == w->p.flows;
}

/** Owner. Whether @p pkt belongs ahead of all packets in @p f. */
bool rl_wait_is_oldest(const struct rl_wait_flow *f,
		       const struct rl_flit *pkt);

/**
 * Owner. Takes a packet into the queue of its flow; the room owns it until it
 * is popped. @p old: it may be older than some that wait there, and goes ahead
 * of those. If it becomes the head, the flow waits at @p place from now on.
 */
void rl_wait_put(struct rl_wait *w, struct rl_flit *pkt, uint16_t place,
		 bool old, uint64_t now_ns);

/** Owner. @p pkt, which waits here, has grown by @p flits. */
void rl_wait_grow(struct rl_wait *w, const struct rl_flit *pkt,
		  uint32_t flits);

/**
 * Owner. Takes the oldest packet of a flow. @return the packet, now the
 * caller's; @p more: whether others wait, else @p f is gone
 */
struct rl_flit *rl_wait_pop(struct rl_wait *w, struct rl_wait_flow *f,
			    bool *more);

/** Owner. All flows that wait at @p place must be looked at again. */
void rl_wait_look_place(struct rl_wait *w, uint16_t place);

/** Owner. The same for all flows. */
void rl_wait_look_all(struct rl_wait *w);

/** Owner. A flow to be looked at; NULL if there is none. */
struct rl_wait_flow *rl_wait_look(struct rl_wait *w);

/** Owner. Looked at in part: another flow's turn comes first. */
void rl_wait_later(struct rl_wait *w, struct rl_wait_flow *f);

/** Owner. A flow that waits has a way after all: its time begins again. */
void rl_wait_renew(struct rl_wait *w, struct rl_wait_flow *f, uint64_t now_ns);

/** Owner. Looked at: its oldest packet waits at @p place. */
void rl_wait_settle(struct rl_wait *w, struct rl_wait_flow *f, uint16_t place,
		    uint64_t now_ns);

/**
 * Owner. The flow whose oldest packet has been without a path for longest,
 * estimated from two of them; NULL if there is none.
 */
struct rl_wait_flow *rl_wait_oldest(struct rl_wait *w);

/**
 * Owner. A flow whose oldest packet has waited too long: without a path longer
 * than p.no_way_ns, or for one longer than p.bound_ns. NULL: none at @p now_ns.
 */
struct rl_wait_flow *rl_wait_expired(struct rl_wait *w, uint64_t now_ns);

/** Owner. When rl_wait_expired() next has a flow to return; RL_NEVER. */
uint64_t rl_wait_due(const struct rl_wait *w);

/**
 * Owner. New tables are expected until @p until_ns: packets without a path may
 * wait for them that long, but not beyond p.bound_ns. 0: none are.
 */
void rl_wait_await(struct rl_wait *w, uint64_t until_ns);

/** Owner. Whether the budget has room for @p flits more. */
static inline bool
rl_wait_affords(const struct rl_wait *w, uint32_t flits)
{
	return w->lent_flits + flits <= w->p.budget_flits;
}

/** Owner. Lends them, even beyond the budget; rl_wait_repay() returns them. */
static inline void
rl_wait_lend(struct rl_wait *w, uint32_t flits)
{
	w->lent_flits += flits;
}

/** Owner. Takes lent flits back. */
static inline void
rl_wait_repay(struct rl_wait *w, uint32_t flits)
{
	RL_DASSERT(w->lent_flits >= flits);
	w->lent_flits -= flits;
}

/** Owner. The packets that wait at a place, for reports. */
const struct rl_wait_place *rl_wait_at(const struct rl_wait *w,
				       uint16_t place);

#endif /* RL_WAIT_H */
