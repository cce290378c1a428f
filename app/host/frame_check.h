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
 * Looks at Ethernet with stacks of VLAN tags (802.1Q, 802.1ad, 0x9100), 802.1ah,
 * MPLS, PPPoE; IPv4 and IPv6 (with the usual extension headers), TCP, UDP, SCTP;
 * and at the same once more in VXLAN (any port), VXLAN-GPE, Geneve, GRE, IPIP,
 * SIT, GTP-U and MPLS. All else passes unchecked. What nests deeper than
 * frame_check.c follows is refused: its checksum can't be vouched for.
 */

#include <stdbool.h>
#include <stdint.h>

enum frame_state {
	FRAME_WHOLE,	 /**< as far as can be told */
	FRAME_COMPLETED, /**< its checksum was partial; it is right now */
	FRAME_CUT,	 /**< its end is missing: not to be passed on */
	FRAME_DEEP,	 /**< nests too deep: not to be passed on */
};

/** Any thread. Looks at a frame of @p len bytes; may write its checksum. */
enum frame_state frame_check(uint8_t *frame, uint32_t len);

#endif /* FRAME_CHECK_H */
