/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FUZZ_REPAIR_H
#define FUZZ_REPAIR_H

/**
 * @file Repairs the header check of a changed frame, as an attacker would.
 */

#include "rl_crc32c.h"
#include "rl_frame.h"

/** Number of bytes that the check of a frame covers. */
static inline uint32_t
fuzz_header_bytes(const uint8_t *frame)
{
	return (frame[14] & 15) == RL_FRAME_INIT
		       ? RL_FRAME_HEADER_LONG
		       : rl_frame_header_bytes(frame[15]);
}

/** Writes a stamp into a frame. */
static inline void
fuzz_put_stamp(uint8_t *frame, uint64_t stamp)
{
	for (unsigned int i = 0; i < 6; i++)
		frame[40 + i] = (uint8_t)(stamp >> 8 * i);
	frame[17] = (uint8_t)(stamp >> 48);
}

/** Updates the check of any frame of at least fuzz_header_bytes(). */
static inline void
fuzz_repair_check(uint8_t *frame)
{
	const uint32_t check = rl_crc32c_hole(
		frame + RL_FRAME_LINK_OFF,
		fuzz_header_bytes(frame) - RL_FRAME_LINK_OFF,
		RL_FRAME_CHECK_OFF - RL_FRAME_LINK_OFF, false);

	for (unsigned int i = 0; i < 4; i++)
		frame[RL_FRAME_CHECK_OFF + i] = (uint8_t)(check >> 8 * i);
}

#endif /* FUZZ_REPAIR_H */
