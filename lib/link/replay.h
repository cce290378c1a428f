/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_REPLAY_H
#define RL_REPLAY_H

/**
 * @file
 * The transmit replay buffer with its two kinds of pointers (DRL patent 102a,
 * 102c, 102d): numbers run freely and are masked on access.
 *
 *     base ........ acked ........ next ........ tail
 *      |              |              |              |
 *      |              |              |              next number to give
 *      |              |              next flit to send (== tail: all sent)
 *      |              flit pointer: all before it are acknowledged
 *      packet pointer: oldest flit of a packet not wholly acknowledged
 *
 * base <= acked <= next <= tail, tail - base <= window. A flit is freed only
 * when base passes it, so a packet can always be looped out whole [LINK-2].
 * Packets of different VCs may be interleaved; those of one VC may not.
 */

#include "rl_flit_cache.h"
#include "rl_frame.h"

/**
 * What the buffer knows of a flit without looking at it: the flit itself is
 * only read when it is sent.
 */
struct rl_replay_slot {
	struct rl_flit *flit;
	uint32_t loop_id;
	uint16_t sideband;
	uint16_t left; /**< flits of its packet or fragment from here to its end */
};

struct rl_replay {
	struct rl_replay_slot *slot;
	uint32_t mask;
	uint32_t window;
	uint32_t base;
	uint32_t acked;
	uint32_t next;
	uint32_t tail;
	uint32_t sent_max;  /**< highest `next` ever: what may be acknowledged */
	uint32_t reserved;  /**< flits still to come of packets begun */
	uint32_t part;	    /**< bit per VC: a packet is acknowledged in part */
	uint32_t part_sop[RL_VCS]; /**< and its first flit's number */
};

/** Bytes for the slots of a window. */
size_t rl_replay_memsize(uint32_t window_flits);

/** Owner. @p mem: rl_replay_memsize() bytes, kept by the caller. */
void rl_replay_init(struct rl_replay *r, void *mem, uint32_t window_flits);

/** Owner. Numbers start again at 0. The buffer must be empty. */
void rl_replay_reset(struct rl_replay *r);

/** Owner. Flits that fit beside what is held and what is reserved. */
static inline uint32_t
rl_replay_room(const struct rl_replay *r)
{
	return r->window - (r->tail - r->base) - r->reserved;
}

/** Owner. Flits numbered and not acknowledged. */
static inline uint32_t
rl_replay_outstanding(const struct rl_replay *r)
{
	return r->tail - r->acked;
}

static inline bool
rl_replay_empty(const struct rl_replay *r)
{
	return r->tail == r->base;
}

/**
 * Owner. Numbers and stores a packet, or a fragment of one; the buffer owns it.
 * There is room. All its flits get the head's VC, plane and port: the core sets
 * the head's, and any may become the head of a fragment.
 *
 * @param follower  packet that will be pushed next, or NULL: its chain is
 *                  walked alongside, so that its lines are there by then
 */
static inline void
rl_replay_push(struct rl_replay *r, struct rl_flit *head,
	       const struct rl_flit *follower)
{
	struct rl_flit *f = head;
	uint32_t tail = r->tail;

	RL_DASSERT(tail - r->base + head->pkt_flits <= r->window);
	for (uint16_t left = head->pkt_flits; left > 0; left--, tail++) {
		f->vc = head->vc;
		f->plane = head->plane;
		f->in_port = head->in_port;
		r->slot[tail & r->mask] = (struct rl_replay_slot){
			.flit = f,
			.loop_id = f->loop_id,
			.sideband = rl_sideband_pack(f),
			.left = left,
		};
		f = f->next;
		if (follower != NULL) {
			follower = follower->next;
			__builtin_prefetch(follower);
		}
	}
	r->tail = tail;
}

static inline struct rl_flit *
rl_replay_at(const struct rl_replay *r, uint32_t seq)
{
	return r->slot[seq & r->mask].flit;
}

/**
 * Owner. Acknowledges all before @p seq (acked <= seq <= sent_max, checked by
 * the caller); frees into @p cache every flit that no open packet needs and
 * adds to @p done, by VC, the flits acknowledged.
 *
 * @return flits newly acknowledged
 */
uint32_t rl_replay_ack(struct rl_replay *r, uint32_t seq,
		       struct rl_flit_cache *cache, uint32_t done[RL_VCS]);

/** Owner. Sends again from the first unacknowledged flit. */
static inline void
rl_replay_rewind(struct rl_replay *r)
{
	r->next = r->acked;
}

/** Owner. @p n flits from `next` on go out. */
static inline void
rl_replay_sent(struct rl_replay *r, uint32_t n)
{
	r->next += n;
	if ((int32_t)(r->next - r->sent_max) > 0)
		r->sent_max = r->next;
}

/** What rl_replay_drain() found. */
struct rl_replay_drained {
	uint32_t packets;
	uint32_t flits;
	uint32_t acked_flits; /**< of them already acknowledged */
};

/**
 * Owner. Empties the buffer: moves to @p out, as whole packets in order per
 * VC, everything that belongs to a packet not wholly acknowledged. A packet
 * whose last flits were not yet numbered ends without RL_FF_EOP; at most one
 * a VC, returned through @p open (by VC, NULL where none) instead of @p out.
 * Flits of wholly acknowledged packets are freed.
 *
 * @param unacked_only  leave out acknowledged flits: the related art [DRL-9]
 */
struct rl_replay_drained rl_replay_drain(struct rl_replay *r,
					 bool unacked_only,
					 struct rl_pktq *out,
					 struct rl_flit *open[RL_VCS],
					 struct rl_flit_cache *cache);

#endif /* RL_REPLAY_H */
