/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINK_REWRITE_H
#define LINK_REWRITE_H

/**
 * @file
 * The test as a malicious peer: it takes frames of an honest end off the wire,
 * rewrites them with valid checks, and forwards them.
 */

#include "bench.h"

static inline void
reseal(struct bench_frame *f)
{
	static const uint8_t mac[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };

	rl_frame_seal(f->data, &f->h, mac, false);
}

/* Bits of sidebands to be changed in some DATA frames. */
struct rewrite {
	unsigned int from; /* DATA frames, from 0 */
	unsigned int to;
	unsigned int flit; /* index in each of them */
	unsigned int more; /* number of further flits */
	uint16_t clear;
	uint16_t set;
	unsigned int seen;
};

static inline enum bench_act
rewrite_sidebands(void *ctx, struct bench_frame *f)
{
	struct rewrite *w = ctx;
	uint8_t *sb = f->data + RL_FRAME_SIDEBAND_OFF;

	if (f->h.type != RL_FRAME_DATA || w->seen < w->from || w->seen > w->to) {
		w->seen += f->h.type == RL_FRAME_DATA;
		return BENCH_PASS;
	}
	w->seen++;
	for (unsigned int i = w->flit; i <= w->flit + w->more; i++)
		rl_put16(sb + 2 * i,
			 (uint16_t)((rl_get16(sb + 2 * i) & ~w->clear) |
				    w->set));
	reseal(f);
	return BENCH_PASS;
}

/* Installs @p w on the wire from end 0 to end 1. */
static inline void
rewrite_begin(struct bench *b, struct rewrite *w)
{
	b->wire[0].hook = rewrite_sidebands;
	b->wire[0].ctx = w;
}

#endif /* LINK_REWRITE_H */
