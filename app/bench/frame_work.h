/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_BENCH_FRAME_WORK_H
#define RL_BENCH_FRAME_WORK_H

/**
 * @file
 * What no hop can leave out of a frame of flits, as if all its flits were one
 * object: what the suites `floor` and `crossing` measure, by the same code.
 */

#include <string.h>

#include "rl_codec.h"
#include "rl_frame.h"

/** Flits that came in one frame, or are to leave in one. */
struct frame_body {
	uint8_t *data; /**< as many flits as a frame has, in a row */
	uint16_t sideband[RL_FRAME_FLITS_MAX + 4];
};

/** The addresses that all frames here have. */
extern const uint8_t frame_work_mac[12];

/** @p n good flits at @p data, whose bytes depend on @p seed. */
void frame_work_fill(const struct rl_codec *codec, uint8_t *data, uint32_t n,
		     uint32_t seed);

/**
 * FEC is checked while the flits of a frame, whose header was opened, are
 * copied into a body. @return flits that could not be corrected
 */
static inline uint32_t
frame_work_take(const struct rl_codec *codec, const uint8_t *frame,
		uint32_t nflits, struct frame_body *b)
{
	const uint8_t *src[RL_FRAME_FLITS_MAX];
	uint8_t *dst[RL_FRAME_FLITS_MAX], fec[RL_FRAME_FLITS_MAX];

	for (uint32_t i = 0; i < nflits; i++) {
		src[i] = frame + rl_frame_header_bytes(nflits) +
			 i * RL_FLIT_BYTES;
		dst[i] = b->data + i * RL_FLIT_BYTES;
	}
	memcpy(b->sideband, frame + RL_FRAME_SIDEBAND_OFF, 2 * nflits);
	return rl_codec_hop(codec, src, dst, nflits, fec);
}

/** A header is sealed, and a body copied behind it. @return the frame's bytes */
static inline uint32_t
frame_work_give(const struct rl_codec *codec, const struct rl_frame_hdr *h,
		const struct frame_body *b, uint8_t *frame, bool hw)
{
	const uint8_t *wire[RL_FRAME_FLITS_MAX];

	rl_frame_seal_from(frame, h, (const uint8_t *)b->sideband,
			   frame_work_mac, hw);
	for (uint32_t i = 0; i < h->nflits; i++)
		wire[i] = b->data + i * RL_FLIT_BYTES;
	rl_codec_copy(codec, frame + rl_frame_header_bytes(h->nflits), wire,
		      h->nflits);
	return rl_frame_length(h);
}

#endif /* RL_BENCH_FRAME_WORK_H */
