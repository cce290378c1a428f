/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FRAME_CHECK_H
#define FRAME_CHECK_H

/**
 * @file
 * Frames from a kernel, and defects that its drivers do not report:
 *
 * - truncated: the driver's slot was smaller than the frame. The IP header has
 *   the true length.
 * - with a partial checksum: a stack with checksum offload leaves the sum of
 *   the pseudo header in the field, for the hardware to complete. A veth pair
 *   has no such hardware, and neither has a fabric.
 *
 * Parses Ethernet with stacks of VLAN tags (802.1Q, 802.1ad, 0x9100), 802.1ah,
 * MPLS, PPPoE; IPv4 and IPv6 (with the usual extension headers), TCP, UDP,
 * SCTP; and the same again in VXLAN (any port), VXLAN-GPE, Geneve, GRE, IPIP,
 * SIT, GTP-U and MPLS. Everything else passes unchecked. Frames nested deeper
 * than frame_check.c follows are refused, because their checksum cannot be
 * verified.
 */

#include <stdbool.h>
#include <stdint.h>

enum frame_state {
	FRAME_WHOLE,	 /**< as far as can be checked */
	FRAME_COMPLETED, /**< its checksum was partial, and was completed */
	FRAME_CUT,	 /**< truncated: must not be passed on */
	FRAME_DEEP,	 /**< nested too deep: must not be passed on */
};

/** Any thread. Checks a frame of @p len bytes; may complete its checksum. */
enum frame_state frame_check(uint8_t *frame, uint32_t len);

#endif /* FRAME_CHECK_H */
