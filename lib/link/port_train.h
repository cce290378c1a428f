/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORT_TRAIN_H
#define PORT_TRAIN_H

/**
 * @file
 * `struct port_train`: flits that follow each other on a link, of one frame or
 * of several that came in one burst. They are checked, copied and taken as one
 * row, so that short frames cost what long ones cost. The flits stay in their
 * frames until the train is taken; a train lives no longer than the call that
 * made it.
 */

#include <string.h>

#include "port_priv.h"

/** Flits of a train: about what a poll sends. */
#define PORT_TRAIN_FLITS 80
#define PORT_TRAIN_FRAMES 32
/** Sidebands are copied in steps of so many bytes: none longer than a flit. */
#define PORT_TRAIN_STEP 16

struct port_train {
	uint32_t flits, frames;
	const uint8_t *src[PORT_TRAIN_FLITS]; /**< in their frames */
	uint8_t sideband[2 * PORT_TRAIN_FLITS + PORT_TRAIN_STEP];
	/** by frame: its stamp, and the flits up to its end */
	uint64_t stamp[PORT_TRAIN_FRAMES];
	uint32_t end[PORT_TRAIN_FRAMES];
};

static inline void
port_train_begin(struct port_train *t)
{
	t->flits = t->frames = 0;
}

/* Whether the flits of another frame find room. */
static inline bool
port_train_room(const struct port_train *t, uint32_t nflits)
{
	return t->frames < PORT_TRAIN_FRAMES &&
	       t->flits + nflits <= PORT_TRAIN_FLITS;
}

/* The flits of a frame join the train. */
static inline void
port_train_add(struct port_train *t, const uint8_t *frame, uint32_t nflits,
	       uint64_t stamp)
{
	const uint8_t *flit = frame + rl_frame_header_bytes(nflits);
	const uint8_t *from = frame + RL_FRAME_SIDEBAND_OFF;
	uint8_t *to = t->sideband + 2 * t->flits;

	for (uint32_t i = 0; i < 2 * nflits; i += PORT_TRAIN_STEP)
		memcpy(to + i, from + i, PORT_TRAIN_STEP);
	for (uint32_t i = 0; i < nflits; i++)
		t->src[t->flits + i] = flit + (size_t)i * RL_FLIT_BYTES;
	t->flits += nflits;
	t->stamp[t->frames] = stamp;
	t->end[t->frames++] = t->flits;
}

#endif /* PORT_TRAIN_H */
