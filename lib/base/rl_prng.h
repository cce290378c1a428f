/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_PRNG_H
#define RL_PRNG_H

/**
 * @file
 * Seeded pseudo-random numbers (xoshiro256** after Blackman and Vigna, seeded
 * through splitmix64). The state belongs to the caller; the same seed gives
 * the same run on every machine. Not for cryptography.
 */

#include <stdint.h>

struct rl_prng {
	uint64_t s[4];
};

static inline uint64_t
rl_splitmix64(uint64_t *x)
{
	uint64_t z = (*x += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static inline void
rl_prng_seed(struct rl_prng *p, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		p->s[i] = rl_splitmix64(&seed);
}

static inline uint64_t
rl_rotl64(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static inline uint64_t
rl_prng_u64(struct rl_prng *p)
{
	uint64_t *s = p->s;
	const uint64_t r = rl_rotl64(s[1] * 5, 7) * 9;
	const uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rl_rotl64(s[3], 45);
	return r;
}

/** Uniform in 0..n-1; 0 if n is 0. Bias below 2^-32. */
static inline uint32_t
rl_prng_below(struct rl_prng *p, uint32_t n)
{
	return (uint32_t)(((rl_prng_u64(p) >> 32) * n) >> 32);
}

/** Uniform in lo..hi, both included; lo if hi is not above it. */
static inline uint64_t
rl_prng_range(struct rl_prng *p, uint64_t lo, uint64_t hi)
{
	const uint64_t n = hi - lo + 1; /* 0: all 2^64 numbers */

	if (hi <= lo)
		return lo;
	return n == 0 ? rl_prng_u64(p) : lo + rl_prng_u64(p) % n;
}

/** Uniform in [0, 1). */
static inline double
rl_prng_double(struct rl_prng *p)
{
	return (double)(rl_prng_u64(p) >> 11) / 9007199254740992.0; /* 2^53 */
}

#endif /* RL_PRNG_H */
