/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_WIRE_H
#define RL_WIRE_H

/**
 * @file
 * What faults do to the frames of one direction of a wire, the same on lcores
 * and in the simulator: the host asks for each frame in turn whether it is
 * lost, comes twice, is altered, or comes later, and does the rest.
 *
 * Owned by the thread that has that direction; kept by value, nothing
 * allocates. All randomness comes from `prng`, which the owner seeds.
 */

#include "rl_error.h"
#include "rl_fault.h"
#include "rl_flit.h"
#include "rl_frame.h"
#include "rl_prng.h"

struct rl_codec;

/**
 * Bit errors of a direction. All bytes on the wire, header or flit, are one
 * stream; the error process covers it in spans of RL_ERROR_SPAN_MAX bytes. So
 * bursts go on from frame to frame, as on a wire.
 */
struct rl_wire_bits {
	struct rl_error process;
	uint32_t at; /**< bytes of the span that have passed */
	bool hit;    /**< mask is not all zeros */
	uint8_t mask[RL_ERROR_SPAN_MAX];
};

struct rl_wire_faults {
	struct rl_prng prng;
	struct rl_noise noise;	/**< see rl_wire_noise() */
	uint32_t drop_left;	/**< data frames still to be lost */
	uint16_t corrupt_bytes; /**< of the next data frame; 0: none */
	/** make only errors that FEC corrects or detects; NULL: any */
	const struct rl_codec *fec_safe;
	uint64_t flipped_bits; /**< by the bit error rate */
	struct rl_wire_bits bits;
};

/** Owner. From now on there is this noise. */
void rl_wire_noise(struct rl_wire_faults *w, const struct rl_noise *n);

/** Owner. Ends all noise, and what waits for a data frame. */
void rl_wire_clear(struct rl_wire_faults *w);

/** Owner. Whether frames must be asked about. */
bool rl_wire_odd(const struct rl_wire_faults *w);

/** Any thread. @return flits of a data frame; 0: it is none */
uint32_t rl_wire_flits(const uint8_t *data, uint32_t len);

/** Owner. Whether a frame is lost. @p data: it carries flits */
bool rl_wire_loses(struct rl_wire_faults *w, bool data);

/** Owner. Whether it comes twice: the copy is taken before it is altered. */
bool rl_wire_twice(struct rl_wire_faults *w);

/**
 * Owner. Alters a frame, or cuts it short.
 * @return how often it was altered; 0: it is as it was
 */
unsigned int rl_wire_alter(struct rl_wire_faults *w, uint8_t *data, uint32_t *len);

/** Owner. How much later it comes. A copy has the delay alone. */
uint64_t rl_wire_later_ns(struct rl_wire_faults *w);

/** Owner. Soft errors and poison of a packet that is about to be sent. */
void rl_wire_packet(struct rl_wire_faults *w, struct rl_flit *pkt);

#endif /* RL_WIRE_H */
