/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FRAME_CHECK_H
#define FRAME_CHECK_H

/**
 * @file
 * Frames as a kernel hands them out, and what may be wrong with them although
 * no driver says so:
 *
 * - cut short: the driver's slot was smaller than the frame. IP knows how long
 *   the packet should be.
 * - with a partial checksum: a stack with checksum offload leaves the sum of
 *   the pseudo header in the field and trusts the hardware to do the rest. A
 *   veth pair has none, and a fabric has none, either.
 *
 * Looks at Ethernet, up to two VLAN tags, IPv4 and IPv6 (with the usual
 * extension headers), TCP and UDP. All else passes unchecked.
 */

#include <stdbool.h>
#include <stdint.h>

enum frame_state {
	FRAME_WHOLE,	 /**< as far as can be told */
	FRAME_COMPLETED, /**< its checksum was partial; it is right now */
	FRAME_CUT,	 /**< its end is missing: not to be passed on */
};

/** Any thread. Looks at a frame of @p len bytes; may write its checksum. */
enum frame_state frame_check(uint8_t *frame, uint32_t len);

#endif /* FRAME_CHECK_H */
