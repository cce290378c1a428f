/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_TIME_H
#define HOST_TIME_H

/**
 * @file
 * The time of roles. Every timer of the protocol judges somebody by what he
 * has not done in time: no keepalive, no acknowledgement, no way, no end of a
 * packet. On a machine that takes the CPU away, or stops the process, he has
 * done nothing because nobody ran him. So the time of roles goes on only while
 * all lcores of this process come round: it stands still when one of them has
 * not for HOST_AWAY_NS (one alone: HOST_ALONE_NS), and what its absence took more than that is left out
 * for good, for all lcores alike. Roles of different lcores go on to agree
 * about the time, and it never goes back.
 *
 *     time of roles = time of the host - what is left out
 *
 * It says nothing of lcores of other processes. The control thread, and all
 * that is reported, has the time of the host; the controllers, which it serves,
 * that of roles.
 */

#include <stdatomic.h>
#include <stdint.h>

/**
 * So much of an absence counts. For a millisecond and a half a link sends again
 * before it doubts its peer (replay_limit times the shortest replay timer). An
 * lcore that is alone is away from nobody: both ends of a wire miss the same
 * time, and only what waits must not grow old by it.
 */
#define HOST_AWAY_NS 1000000ull
#define HOST_ALONE_NS 100000000ull

/** What all lcores of a host share. */
struct host_time {
	uint64_t away_ns; /**< so much of an absence counts */
	_Atomic uint64_t left_out_ns; /**< never falls */
	_Atomic uint64_t pauses;      /**< absences of which some is left out */
};

/** What an lcore says of itself; written by it alone. */
struct host_pace {
	_Atomic uint64_t round_ns; /**< time of roles as its last round began */
	uint64_t others_ns; /**< the oldest such time of others, seen last */
};

/** Control thread, before the lcores run: @p n of them. */
void host_time_init(struct host_time *t, uint32_t n);
void host_pace_init(struct host_pace *p, uint64_t now_ns);

/**
 * The lcore, as a round begins.
 *
 * @param pace     of all @p n lcores that run
 * @param self     which of them calls
 * @param host_ns  time of the host
 * @return the time that its roles are polled at: never less than before
 */
uint64_t host_time_round(struct host_time *t, struct host_pace *const pace[],
			 uint32_t n, uint32_t self, uint64_t host_ns);

/**
 * Any thread. The time of roles as one sees it who is none of the @p n lcores:
 * it stands still while one of them is away, were it not back yet. May go back
 * by what counts of an absence.
 */
uint64_t host_time_seen(const struct host_time *t,
			struct host_pace *const pace[], uint32_t n,
			uint64_t host_ns);

/** Any thread. */
static inline uint64_t
host_time_left_out(const struct host_time *t)
{
	/* relaxed: readers order nothing else by it */
	return atomic_load_explicit(&t->left_out_ns, memory_order_relaxed);
}

#endif /* HOST_TIME_H */
