/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_INJECT_H
#define RL_INJECT_H

/**
 * @file Faults of a link, injected between a port and its wire: the effects of
 * a cable that is cut, bent, or pulled [APP-1].
 *
 * A link has one rl_inject_link with two directions. Faults of a direction are
 * applied where its frames arrive, by the lcore of the receiving port; only
 * that lcore touches the state of the direction. Other threads post orders into
 * a small ring (one producer: the control thread). Only "down" is a flag that
 * both ends read, because both ends of a cut cable lose the light.
 *
 * All randomness comes from the seed, and nothing here depends on DPDK: the
 * frames are those of rl_phy_frame.h.
 *
 * Frames are judged whole. A frame that carries flits is a *data frame*; "the
 * n-th" and "the next" count data frames only, because the fate of a keepalive
 * says little. Random loss and bit errors affect every frame, including those
 * that only acknowledge.
 */

#include <stdatomic.h>

#include "rl_base.h"
#include "rl_wire.h"
#include "rl_phy_frame.h"

#define RL_INJECT_ORDERS 16 /* power of two */
#define RL_INJECT_WAITS 8 /* faults of a direction that wait for a frame */

/** Effects of faults, written by the receiving lcore, read by any. */
struct rl_inject_counters {
	uint64_t dropped_frames;   /**< one by one, or on a cut wire */
	uint64_t dropped_flits;
	uint64_t corrupted_frames;
	uint64_t flipped_bits;	   /**< by the bit error rate */
	uint64_t delayed_frames;
	uint64_t duplicated_frames;
};

/** A frame in the delay line. */
struct rl_inject_held {
	struct rl_phy_frame frame;
	uint64_t due_ns;
	uint64_t later_ns; /**< that a fault added */
	bool corrupted;
};

/** A fault that waits for a data frame. */
struct rl_inject_wait {
	enum rl_fault_kind kind; /**< CUT, DROP, CORRUPT */
	bool flits;		 /**< `left` counts flits, not frames */
	bool mid;		 /**< CUT: after a frame that ends in a packet */
	bool down;		 /**< CUT: both directions, and the light */
	uint32_t left;
	uint32_t what; /**< DROP: frames; CORRUPT: bytes */
};

struct rl_inject_link;

/** One direction; all but the ring belongs to the receiving lcore. */
struct rl_inject_dir {
	struct rl_inject_link *link;
	bool active; /**< any field below is in force */
	_Atomic uint32_t cut; /**< read by any */
	uint32_t nwaits;
	struct rl_inject_wait wait[RL_INJECT_WAITS];
	uint64_t stall_until_ns;
	struct rl_wire_faults wire;
	struct rl_inject_held *line; /**< the caller's, line_cap entries, by
					 due_ns */
	uint32_t line_cap;	    /**< power of two */
	uint32_t line_head;
	uint32_t line_tail;
	struct rl_inject_counters c;

	/* orders: the control thread writes tail, the lcore head */
	_Atomic uint32_t order_tail RL_ALIGNED(RL_CACHE_LINE);
	uint32_t waits; /**< orders ever that wait for a frame */
	struct rl_fault order[RL_INJECT_ORDERS];
	_Atomic uint32_t order_head RL_ALIGNED(RL_CACHE_LINE);
	_Atomic uint32_t waited; /**< of these, those that wait no more */
};

struct rl_inject_link {
	_Atomic uint32_t down; /**< dark at both ends; frames vanish */
	/** When frames began to vanish for good; 0: never, or healed. */
	_Atomic uint64_t severed_ns;
	struct rl_inject_dir dir[2]; /**< by the end that sends the frames */
};

/**
 * Control thread, before the lcores run. @p line: 2 * @p line_cap entries of
 * the caller's for the delay lines, @p line_cap a power of two.
 */
void rl_inject_init(struct rl_inject_link *l, uint64_t seed,
		   struct rl_inject_held *line, uint32_t line_cap);

/**
 * Control thread. Posts a fault for the frames sent by end @p from: CUT (of
 * both directions, and their light, unless `silent`; perhaps once it has waited
 * for its frame), HEAL, STALL, NOISE, DROP or CORRUPT. The receiving port takes
 * it at its next poll. Only what concerns this direction is used of it.
 *
 * @return 0; -EAGAIN: that lcore has not taken the last RL_INJECT_ORDERS, or
 *   RL_INJECT_WAITS wait for a frame
 */
int rl_inject_order(struct rl_inject_link *l, unsigned int from,
		    const struct rl_fault *f);

/** Control thread. Turns the light off at both ends, at @p now_ns. */
void rl_inject_down(struct rl_inject_link *l, uint64_t now_ns);

/**
 * Control thread. Healing takes three steps, because a trigger may fire until
 * the order to forget it is taken: rl_inject_clear() ends every fault of both
 * directions, rl_inject_settled() confirms that, rl_inject_light_up() turns the
 * light on.
 *
 * @return 0; -EAGAIN as for rl_inject_order(), nothing changed
 */
int rl_inject_clear(struct rl_inject_link *l);

/** Control thread. Whether all orders of both directions were taken. */
bool rl_inject_settled(const struct rl_inject_link *l);

/** Control thread. See rl_inject_clear(). */
void rl_inject_light_up(struct rl_inject_link *l);

/** Any thread. Whether frames vanish for good in a direction, or both. */
bool rl_inject_severed(const struct rl_inject_link *l);

/** Any thread. Whether the PHY sees light. */
static inline bool
rl_inject_light(const struct rl_inject_link *l)
{
	return atomic_load_explicit(&l->down, memory_order_relaxed) == 0;
}

/**
 * Receiving lcore. Takes new orders. @return whether frames must pass through
 * rl_inject_loses() and the functions behind it; while it is false, they need
 * not
 */
bool rl_inject_poll(struct rl_inject_dir *d, uint64_t now_ns);

/** Receiving lcore. Whether the wire must be left alone (stall). */
static inline bool
rl_inject_stalled(const struct rl_inject_dir *d, uint64_t now_ns)
{
	return now_ns < d->stall_until_ns;
}

/** Receiving lcore. Whether the next frame in order is lost. */
bool rl_inject_loses(struct rl_inject_dir *d, const struct rl_phy_frame *f,
		     uint64_t now_ns);

/** Receiving lcore. Alters a frame that is not lost. @return whether it did */
bool rl_inject_alter(struct rl_inject_dir *d, struct rl_phy_frame *f);

/** Receiving lcore. Whether frames must go through the delay line. */
static inline bool
rl_inject_delays(const struct rl_inject_dir *d)
{
	const struct rl_noise *n = &d->wire.noise;

	return n->delay_ns != 0 || (n->dup_ppb | n->jitter_ppb) != 0 ||
	       d->line_head != d->line_tail;
}

/** Receiving lcore. Frames that rl_inject_hold() can take now. */
static inline uint32_t
rl_inject_room(const struct rl_inject_dir *d)
{
	return d->line_cap - (d->line_tail - d->line_head);
}

/**
 * Receiving lcore. Puts a frame into the delay line, which owns it; there is
 * room. It comes h->later_ns after @p now_ns.
 */
void rl_inject_hold(struct rl_inject_dir *d, struct rl_inject_held *h,
		    uint64_t now_ns);

/** Receiving lcore. Takes the next frame if its time has come. @return whether
    there was one; on a dark wire it is lost, and counted so */
bool rl_inject_due(struct rl_inject_dir *d, struct rl_inject_held *h,
		   uint64_t now_ns);

/** Receiving lcore. Whether frames vanish now. */
static inline bool
rl_inject_dark(const struct rl_inject_dir *d)
{
	return !rl_inject_light(d->link) ||
	       atomic_load_explicit(&d->cut, memory_order_relaxed) != 0;
}

#endif /* RL_INJECT_H */
