/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_BASE_H
#define RL_BASE_H

/**
 * @file What every layer of reflit needs: limits, assertions, small arithmetic,
 * and the planted bugs that the simulation must find. Depends on the C
 * library's headers only.
 */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Around what a public header declares: functions of C, in a C++ program too,
 * and the symbols that the shared library exports. A field called `class` has
 * another name in C++, which reserves that word.
 */
#ifdef __cplusplus
#define RL_PUBLIC_BEGIN extern "C" {
#define RL_PUBLIC_END }
#define RL_CLASS_FIELD class_
#else
#define RL_PUBLIC_BEGIN _Pragma("GCC visibility push(default)")
#define RL_PUBLIC_END _Pragma("GCC visibility pop")
#define RL_CLASS_FIELD class
#endif

/** Virtual channels a link carries; the sideband has three bits for them. */
#define RL_VCS 8
/** Service levels; the transaction header has four bits for them. */
#define RL_SLS 16
/** Longest device name, with its terminating zero. */
#define RL_NAME_MAX 32
/** "No deadline": returned by a module that waits for nothing. */
#define RL_NEVER UINT64_MAX

#define RL_CACHE_LINE 64
#define RL_ALIGNED(n) __attribute__((aligned(n)))
#define RL_UNUSED __attribute__((unused))
#define RL_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/**
 * Defines a function that names the values of an enum which counts from 0, by
 * the list that makes them: LIST(RL_OWN_NAME) or LIST(RL_WORD).
 */
#define RL_NAMES(fn, type, ...)                                                \
	const char *fn(type v)                                                 \
	{                                                                      \
		static const char *const names[] = { __VA_ARGS__ };            \
                                                                               \
		return (unsigned int)v < RL_ARRAY_SIZE(names) ? names[v]       \
							      : "?";           \
	}
#define RL_OWN_NAME(name) #name,
#define RL_WORD(name, word) word,
#define rl_likely(x) __builtin_expect(!!(x), 1)
#define rl_unlikely(x) __builtin_expect(!!(x), 0)

/**
 * An invariant of control paths, checked in every build. A library neither
 * prints nor exits: a broken invariant traps, so that a core or a sanitizer
 * report names the line.
 */
#define RL_ASSERT(cond)                                                        \
	do {                                                                   \
		if (rl_unlikely(!(cond)))                                      \
			__builtin_trap();                                      \
	} while (0)

/** The same for data paths: compiled only with RL_DEBUG (tests, sanitizers). */
#ifdef RL_DEBUG
#define RL_DASSERT(cond) RL_ASSERT(cond)
#else
#define RL_DASSERT(cond)                                                       \
	do {                                                                   \
		(void)sizeof(cond);                                            \
	} while (0)
#endif

#define RL_NS_PER_US 1000ull
#define RL_NS_PER_MS 1000000ull
#define RL_NS_PER_S 1000000000ull

static inline uint32_t
rl_min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t
rl_max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline uint64_t
rl_min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t
rl_max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/** Deadline arithmetic that keeps RL_NEVER: t + d, saturating. */
static inline uint64_t
rl_deadline(uint64_t t_ns, uint64_t d_ns)
{
	return d_ns > RL_NEVER - t_ns ? RL_NEVER : t_ns + d_ns;
}

/** Smallest power of two >= v (v in 1..2^31). */
static inline uint32_t
rl_pow2_ceil(uint32_t v)
{
	return v <= 1 ? 1 : 1u << (32 - __builtin_clz(v - 1));
}

#endif /* RL_BASE_H */
