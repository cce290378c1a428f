/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINK_FRAME_FIXTURE_H
#define LINK_FRAME_FIXTURE_H

/**
 * @file A frame and a header for tests of headers.
 */

#include "bench.h"

static const uint8_t mac[12] = { 2, 1, 2, 3, 4, 5, 2, 6, 7, 8, 9, 10 };

/* A buffer for the longest frame; free() it. */
static inline uint8_t *
frame_new(void)
{
	uint8_t *f = aligned_alloc(RL_CACHE_LINE, RL_FRAME_BYTES_MAX);

	assert_non_null(f);
	memset(f, 0xa5, RL_FRAME_BYTES_MAX);
	return f;
}

/* Header of a data frame or, without flits, of an idle frame. */
static inline struct rl_frame_hdr
header(unsigned int nflits)
{
	struct rl_frame_hdr h = {
		.type = nflits != 0 ? RL_FRAME_DATA : RL_FRAME_IDLE,
		.nflits = (uint8_t)nflits, .flags = RL_FRF_NAK | RL_FRF_ACKREQ,
		.tx_epoch = 255, .rx_epoch = 1, .seq = 65535, .ack = 32768,
		.stamp = 0xfedcba98765432, .stamp_echo = 0x01020304,
	};

	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		h.credit[vc] = (uint16_t)(65535 - vc);
	return h;
}

#endif /* LINK_FRAME_FIXTURE_H */
