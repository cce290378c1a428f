/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_PORT_LANES_H
#define RL_PORT_LANES_H

/**
 * @file
 * Numbers of all VCs side by side, 16 bits each: credits, as a frame says them.
 * In a vector of 16 bytes, which every machine that we build for has. Numbers
 * that are stored one by one, and loaded at once, wait for all the stores.
 */

#include <string.h>

#include "rl_shared.h"

typedef uint16_t port_lanes
	__attribute__((vector_size(RL_VCS * sizeof(uint16_t))));
typedef uint64_t port_words __attribute__((vector_size(sizeof(port_lanes))));

/*
 * Whether they are the same. By words: a header has just been stored so, and a
 * load of all 16 bytes would wait for both stores, as that of memcmp() did.
 */
static inline bool
port_lanes_same(const uint16_t a[RL_VCS], const uint16_t b[RL_VCS])
{
	uint64_t x[2], y[2];

	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
}

static inline port_lanes
port_lanes_get(const uint16_t from[RL_VCS])
{
	port_lanes v;

	memcpy(&v, from, sizeof(v));
	return v;
}

static inline void
port_lanes_put(uint16_t to[RL_VCS], port_lanes v)
{
	memcpy(to, &v, sizeof(v));
}

/* Whether any of them, as a difference of two that go round, is below 0. */
static inline bool
port_lanes_back(port_lanes v)
{
	uint64_t w[2];

	memcpy(w, &v, sizeof(w));
	return ((w[0] | w[1]) & UINT64_C(0x8000800080008000)) != 0;
}

/* Whether any of them is more than @p step, as such differences are. */
static inline bool
port_lanes_above(port_lanes v, uint32_t step)
{
	typedef int16_t lanes_signed
		__attribute__((vector_size(RL_VCS * sizeof(int16_t))));
	const port_words w = (port_words)((lanes_signed)v > (int16_t)step);

	return (w[0] | w[1]) != 0;
}

/* The low halves of the four counters in two words. */
static inline uint64_t
port_lanes_half(uint64_t a, uint64_t b)
{
	return (a & 0xffff) | (a >> 16 & 0xffff0000) | (b & 0xffff) << 32 |
	       (b >> 32 & 0xffff) << 48;
}

/* The low halves of the counters `freed`; *@p seen: the words they lie in. */
static inline port_lanes
port_lanes_freed(const struct rl_port_shared *s, uint64_t seen[RL_SHARED_WORDS])
{
	/* no array: what is stored in words would be loaded in pairs */
	const uint64_t a = rl_shared_freed_word(s, 0);
	const uint64_t b = rl_shared_freed_word(s, 1);
	const uint64_t c = rl_shared_freed_word(s, 2);
	const uint64_t d = rl_shared_freed_word(s, 3);
	const port_words half = { port_lanes_half(a, b),
				  port_lanes_half(c, d) };

	_Static_assert(RL_SHARED_WORDS == 4, "all of them");
	seen[0] = a;
	seen[1] = b;
	seen[2] = c;
	seen[3] = d;
	return (port_lanes)half;
}

#endif /* RL_PORT_LANES_H */
