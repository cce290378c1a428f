/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_FLIT_CACHE_H
#define RL_FLIT_CACHE_H

/**
 * @file
 * Free flit buffers and queues of packets.
 *
 * A cache is a last-in first-out array of free flits that belongs to one lcore:
 * only the roles of that lcore share it, so a flit freed by a replay buffer is
 * reused while it is still warm. The host refills a cache that runs low and
 * spills one that runs over between polls (from a mempool on lcores, from an
 * arena in tests).
 */

#include "rl_flit_run.h"

struct rl_flit_cache {
	struct rl_flit **slot; /**< cap pointers, the caller's */
	uint32_t count;	       /**< free flits held */
	uint32_t cap;
	uint64_t empty_count;  /**< how often no flit was free */
};

/** Owner lcore. Takes a free flit; NULL (and counted) if there is none. */
static inline struct rl_flit *
rl_flit_get(struct rl_flit_cache *c)
{
	if (rl_unlikely(c->count == 0)) {
		c->empty_count++;
		return NULL;
	}
	return c->slot[--c->count];
}

/**
 * Owner lcore. Takes up to @p n free flits into @p f. @return how many; fewer
 * are counted once
 */
static inline uint32_t
rl_flit_get_bulk(struct rl_flit_cache *c, struct rl_flit *f[], uint32_t n)
{
	if (rl_unlikely(c->count < n)) {
		c->empty_count++;
		n = c->count;
	}
	c->count -= n;
	memcpy(f, c->slot + c->count, n * sizeof(f[0]));
	return n;
}

/** Owner lcore. Gives back a flit without any references. */
static inline void
rl_flit_put(struct rl_flit_cache *c, struct rl_flit *f)
{
	RL_ASSERT(c->count < c->cap);
	c->slot[c->count++] = f;
}

/** Owner lcore. Gives back @p n flits. */
static inline void
rl_flit_put_bulk(struct rl_flit_cache *c, struct rl_flit *const f[],
		 uint32_t n)
{
	RL_ASSERT(n <= c->cap - c->count);
	memcpy(c->slot + c->count, f, n * sizeof(f[0]));
	c->count += n;
}

/** Owner lcore. Gives back all flits of a packet. */
static inline void
rl_packet_put(struct rl_flit_cache *c, struct rl_flit *head)
{
	RL_ASSERT(head->pkt_flits <= c->cap - c->count);
	c->count += rl_packet_flits(head, c->slot + c->count);
}

/** Makes a packet of one flit. */
static inline void
rl_packet_start(struct rl_flit *f)
{
	rl_run_none(f);
	f->next = NULL;
	f->next_pkt = NULL;
	f->last = f;
	f->pkt_flits = 1;
}

/** Appends flit @p f to the packet of @p head. */
static inline void
rl_packet_append(struct rl_flit *head, struct rl_flit *f)
{
	rl_run_none(f);
	f->next = NULL;
	head->last->next = f;
	head->last = f;
	head->pkt_flits++;
}

/** Appends all flits of @p more to the packet of @p head; frees nothing. */
static inline void
rl_packet_join(struct rl_flit *head, struct rl_flit *more)
{
	head->last->next = more;
	head->last = more->last;
	head->pkt_flits = (uint16_t)(head->pkt_flits + more->pkt_flits);
}

/** Whether the packet of @p head has its end; a fragment may not. */
static inline bool
rl_packet_ends(const struct rl_flit *head)
{
	return head->last->flags & RL_FF_EOP;
}

/** First-in first-out queue of packets, by their heads. Zeroed = empty. */
struct rl_pktq {
	struct rl_flit *head;
	struct rl_flit *tail;
	union {
		__extension__ struct {
			uint32_t flits; /**< in all packets queued */
			uint32_t packets;
		};
		uint64_t counts; /**< both, changed at once */
	};
};

/** Contribution of a packet to rl_pktq.counts. */
static inline uint64_t
rl_pktq_count(const struct rl_flit *pkt)
{
	return pkt->pkt_flits | UINT64_C(1) << 32;
}

static inline bool
rl_pktq_empty(const struct rl_pktq *q)
{
	return q->head == NULL;
}

/** Owner. Appends a packet; the queue owns it from here on. */
static inline void
rl_pktq_push(struct rl_pktq *q, struct rl_flit *pkt)
{
	struct rl_flit **const last = q->head == NULL ? &q->head
						      : &q->tail->next_pkt;

	pkt->next_pkt = NULL;
	*last = pkt;
	q->tail = pkt;
	q->counts += rl_pktq_count(pkt);
}

/** Owner. Takes the oldest packet; NULL if the queue is empty. */
static inline struct rl_flit *
rl_pktq_pop(struct rl_pktq *q)
{
	struct rl_flit *pkt = q->head;

	if (pkt == NULL)
		return NULL;
	q->head = pkt->next_pkt;
	if (q->head == NULL)
		q->tail = NULL;
	q->counts -= rl_pktq_count(pkt);
	return pkt;
}

/** Owner. Appends all of @p from to @p to; @p from is empty afterwards. */
static inline void
rl_pktq_splice(struct rl_pktq *to, struct rl_pktq *from)
{
	if (from->head == NULL)
		return;
	if (to->head == NULL)
		to->head = from->head;
	else
		to->tail->next_pkt = from->head;
	to->tail = from->tail;
	to->counts += from->counts;
	memset(from, 0, sizeof(*from));
}

#endif /* RL_FLIT_CACHE_H */
