/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAULT_BED_H
#define FAULT_BED_H

/** @file Frames, and a link whose faults a test orders. */

#include <string.h>

#include "rl_frame.h"
#include "rl_inject.h"

#define LINE 64
#define FRAMES 64

struct bed {
	struct rl_inject_link link;
	struct rl_inject_held line[2 * LINE];
	uint8_t data[FRAMES][RL_FRAME_BYTES_MAX] RL_ALIGNED(RL_CACHE_LINE);
	struct rl_phy_frame f[FRAMES];
};

static struct bed bed;

static inline int
setup(void **state)
{
	memset(&bed, 0, sizeof(bed));
	rl_inject_init(&bed.link, 7, bed.line, LINE);
	*state = &bed;
	return 0;
}

/* Frame i with so many flits; the last of them ends a packet, or does not. */
static inline void
make(struct bed *b, unsigned int i, unsigned int flits, bool eop)
{
	uint8_t *d = b->data[i];

	memset(d, (int)i, sizeof(b->data[i]));
	d[RL_FRAME_LINK_OFF] = (uint8_t)(flits != 0 ? RL_FRAME_DATA
						    : RL_FRAME_IDLE);
	d[RL_FRAME_LINK_OFF + 1] = (uint8_t)flits;
	for (unsigned int k = 0; k < flits; k++)
		rl_put16(d + RL_FRAME_SIDEBAND_OFF + 2 * k,
			 k == flits - 1 && eop ? 16 : 0);
	b->f[i] = (struct rl_phy_frame){
		.data = d,
		.len = rl_frame_bytes(flits),
		.cookie = d,
	};
}

static inline void
make_all(struct bed *b, unsigned int n, unsigned int flits)
{
	for (unsigned int i = 0; i < n; i++)
		make(b, i, flits, true);
}

static inline int
drop(struct bed *b, uint32_t nth)
{
	const struct rl_fault f = { .kind = RL_FAULT_DROP, .nth = nth };

	return rl_inject_order(&b->link, 0, &f);
}

static inline int
corrupt(struct bed *b, uint16_t bytes)
{
	const struct rl_fault f = { .kind = RL_FAULT_CORRUPT, .nth = 1,
				    .noise.burst_bytes = bytes };

	return rl_inject_order(&b->link, 0, &f);
}

static inline int
noise(struct bed *b, struct rl_noise n)
{
	const struct rl_fault f = { .kind = RL_FAULT_NOISE, .noise = n };

	return rl_inject_order(&b->link, 0, &f);
}

/* Frames that are lost are moved behind the others. @return how many are not */
static inline unsigned int
pass_dir(struct bed *b, unsigned int dir, unsigned int n, uint64_t now_ns)
{
	struct rl_inject_dir *d = &b->link.dir[dir];
	unsigned int kept = 0;

	rl_inject_poll(d, now_ns);
	for (unsigned int i = 0; i < n; i++) {
		struct rl_phy_frame f = b->f[i];

		if (rl_inject_loses(d, &f, now_ns))
			continue;
		rl_inject_alter(d, &f);
		b->f[i] = b->f[kept];
		b->f[kept++] = f;
	}
	return kept;
}

static inline unsigned int
pass(struct bed *b, unsigned int n, uint64_t now_ns)
{
	return pass_dir(b, 0, n, now_ns);
}

/* Puts frames into the delay line, as a receiver does. */
static inline void
hold(struct bed *b, unsigned int at, unsigned int n, uint64_t now_ns)
{
	struct rl_inject_dir *d = &b->link.dir[0];

	for (unsigned int i = at; i < at + n; i++) {
		struct rl_inject_held h = {
			.frame = b->f[i],
			.later_ns = rl_wire_later_ns(&d->wire),
		};

		rl_inject_hold(d, &h, now_ns);
	}
}

static inline unsigned int
due(struct bed *b, struct rl_phy_frame out[], unsigned int n, uint64_t now_ns)
{
	struct rl_inject_held h;
	unsigned int got = 0;

	while (got < n && rl_inject_due(&b->link.dir[0], &h, now_ns))
		out[got++] = h.frame;
	return got;
}

#endif /* FAULT_BED_H */
