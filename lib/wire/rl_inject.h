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
#include "rl_error.h"
#include "rl_prng.h"
#include "rl_phy_frame.h"

#define RL_INJECT_ORDERS 16 /* power of two */
/** Most bytes that RL_INJECT_CORRUPT can change in a row. */
#define RL_INJECT_CORRUPT_MAX 256

enum rl_inject_kind {
	RL_INJECT_CUT,	  /**< value 1: frames vanish; 0: no more */
	RL_INJECT_STALL,	  /**< frames are held for value ns, then delivered */
	RL_INJECT_DELAY,	  /**< each frame takes value ns longer; 0: no more */
	RL_INJECT_DROP,	  /**< the value-th data frame from now vanishes */
	RL_INJECT_CORRUPT, /**< value bytes in a row of the next data frame */
	RL_INJECT_BER,	  /**< first bit errors at `rate`; 0: no more */
	RL_INJECT_LOSS,	  /**< each frame vanishes with chance `rate`; 0: no more */
	RL_INJECT_DUP,	  /**< ... comes twice with chance `rate`; 0: no more */
	RL_INJECT_JITTER,  /**< ... takes up to value ns longer with chance
			       `rate`, so that others overtake it; 0: no more */
	RL_INJECT_TRIGGER, /**< severs by itself, see rl_inject_when */
	RL_INJECT_CLEAR,	  /**< ends all of the above */
};

/** When a trigger severs the link. */
enum rl_inject_when {
	RL_INJECT_AFTER,	     /**< once `value` more flits have passed */
	RL_INJECT_MID_PACKET, /**< after a frame that ends inside a packet */
};

struct rl_inject_order {
	enum rl_inject_kind kind;
	enum rl_inject_when when; /**< TRIGGER */
	bool down;		 /**< TRIGGER: both directions */
	uint64_t value;
	double rate;
	double propagate; /**< BER: see rl_error_cfg; 0: errors are independent */
	uint32_t lanes;	  /**< BER: 1, 2, 4, 8 or 16; 0: 1 */
};

/** Effects of faults, written by the receiving lcore, read by any. */
struct rl_inject_counters {
	uint64_t dropped_frames;   /**< one by one, or on a cut wire */
	uint64_t dropped_flits;
	uint64_t corrupted_frames;
	uint64_t flipped_bits;	   /**< by the bit error rate */
	uint64_t delayed_frames;
	uint64_t duplicated_frames;
};

/**
 * Bit errors of a direction. All bytes on the wire, header or flit, are one
 * stream; the error process covers it in spans of RL_ERROR_SPAN_MAX bytes. So
 * bursts go on from frame to frame, as on a wire.
 */
struct rl_inject_bits {
	struct rl_error process;
	uint32_t at; /**< bytes of the span that have passed */
	bool hit;    /**< mask is not all zeros */
	uint8_t mask[RL_ERROR_SPAN_MAX];
};

/** A frame in the delay line. */
struct rl_inject_held {
	struct rl_phy_frame frame;
	uint64_t due_ns;
};

struct rl_inject_link;

/** One direction; all but the ring belongs to the receiving lcore. */
struct rl_inject_dir {
	struct rl_inject_link *link;
	bool active; /**< any field below is in force */
	_Atomic uint32_t cut; /**< read by any */
	bool trigger;
	enum rl_inject_when trigger_when;
	bool trigger_down;
	uint64_t trigger_left; /**< flits */
	uint64_t drop_left;    /**< data frames; 0: none */
	uint32_t corrupt_bytes;
	uint64_t stall_until_ns;
	uint64_t delay_ns;
	bool bit_errors; /**< according to `bits` */
	double loss;
	double dup;
	double jitter;
	uint64_t jitter_ns; /**< at most */
	struct rl_prng prng;
	struct rl_inject_held *line; /**< the caller's, line_cap entries, by
					 due_ns */
	uint32_t line_cap;	    /**< power of two */
	uint32_t line_head;
	uint32_t line_tail;
	struct rl_inject_counters c;
	struct rl_inject_bits bits;

	/* orders: the control thread writes tail, the lcore head */
	_Atomic uint32_t order_tail RL_ALIGNED(RL_CACHE_LINE);
	struct rl_inject_order order[RL_INJECT_ORDERS];
	_Atomic uint32_t order_head RL_ALIGNED(RL_CACHE_LINE);
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
 * Control thread. Posts an order for the frames sent by end @p from; the
 * receiving port takes it at its next poll.
 *
 * @return 0; -EAGAIN: that lcore has not taken the last RL_INJECT_ORDERS;
 *   -ERANGE: invalid value or rate
 */
int rl_inject_order(struct rl_inject_link *l, unsigned int from,
		   const struct rl_inject_order *order);

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
 * Receiving lcore. Takes new orders. @return whether frames must pass
 * through rl_inject_pass(); while it is false, they need not
 */
bool rl_inject_poll(struct rl_inject_dir *d, uint64_t now_ns);

/** Receiving lcore. Whether the wire must be left alone (stall). */
static inline bool
rl_inject_stalled(const struct rl_inject_dir *d, uint64_t now_ns)
{
	return now_ns < d->stall_until_ns;
}

/**
 * Receiving lcore. Applies faults to @p n frames that arrived, in order: may
 * change some, and moves lost ones behind the others. @return how many stay
 */
unsigned int rl_inject_pass(struct rl_inject_dir *d, struct rl_phy_frame f[],
			   unsigned int n, uint64_t now_ns);

/** Receiving lcore. Whether frames must go through the delay line. */
static inline bool
rl_inject_delays(const struct rl_inject_dir *d)
{
	return d->delay_ns != 0 || d->dup > 0.0 || d->jitter > 0.0 ||
	       d->line_head != d->line_tail;
}

/** Receiving lcore. Whether the next frame comes twice: the caller copies it. */
bool rl_inject_twice(struct rl_inject_dir *d);

/** Receiving lcore. Frames that rl_inject_delay() can take now. */
static inline uint32_t
rl_inject_room(const struct rl_inject_dir *d)
{
	return d->line_cap - (d->line_tail - d->line_head);
}

/**
 * Receiving lcore. Puts @p n frames (at most rl_inject_room()) into the delay
 * line, which owns them.
 */
void rl_inject_delay(struct rl_inject_dir *d, const struct rl_phy_frame f[],
		    unsigned int n, uint64_t now_ns);

/** Receiving lcore. Takes up to @p n frames whose time has come. */
unsigned int rl_inject_due(struct rl_inject_dir *d, struct rl_phy_frame f[],
			  unsigned int n, uint64_t now_ns);

#endif /* RL_INJECT_H */
