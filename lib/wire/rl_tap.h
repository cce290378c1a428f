/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_TAP_H
#define RL_TAP_H

/**
 * @file Copies of the frames of one direction, for a capture [APP-3]. The
 * receiving lcore puts them into a ring of bytes, the control thread takes them
 * out. A frame without room is counted and left out: the lcore never waits, and
 * the frame itself goes on in any case.
 *
 * Memory is the caller's; nothing allocates.
 */

#include <stdatomic.h>

#include "rl_base.h"

/** Fate of a frame on arrival. */
enum rl_tap_fate {
	RL_TAP_ARRIVED,
	RL_TAP_DARK, /**< lost: the link was cut both ways */
	RL_TAP_CUT,  /**< lost: this direction was cut */
	RL_TAP_LOST, /**< lost: by an injected fault */
};

struct rl_tap_rec {
	uint64_t t_ns;	   /**< of the poll that received it */
	uint64_t delay_ns; /**< that an injected delay added; 0: none */
	uint32_t len;	   /**< bytes of the frame */
	uint32_t missed;   /**< earlier frames left out for lack of room */
	uint8_t fate;	   /**< enum rl_tap_fate */
	uint8_t corrupted; /**< an injected fault has changed it */
	uint8_t spare[6];
};

struct rl_tap {
	uint8_t *ring;
	uint64_t size; /**< power of two */
	uint32_t missed; /**< the lcore's: since the last one that fitted */
	_Atomic uint64_t dropped; /**< frames left out, ever */
	_Atomic uint64_t tail RL_ALIGNED(RL_CACHE_LINE); /**< the lcore's */
	_Atomic uint64_t head RL_ALIGNED(RL_CACHE_LINE); /**< control's */
};

/** Control thread. @p ring: @p size bytes, a power of two. */
void rl_tap_init(struct rl_tap *tap, uint8_t *ring, uint64_t size);

/**
 * Receiving lcore. Copies a frame of rec->len bytes, or counts it as dropped.
 * Sets rec->missed.
 */
void rl_tap_put(struct rl_tap *tap, struct rl_tap_rec *rec,
		const uint8_t *frame);

/**
 * Control thread. Takes the oldest frame.
 *
 * @param frame  @p cap bytes; the rest of a longer one is skipped
 * @return whether there was one
 */
bool rl_tap_get(struct rl_tap *tap, struct rl_tap_rec *rec, uint8_t *frame,
		uint32_t cap);

#endif /* RL_TAP_H */
