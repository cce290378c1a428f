/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_TIME_H
#define HOST_TIME_H

/**
 * @file
 * The time of roles. Every timer of the protocol judges that something did not
 * happen in time: a keepalive, an acknowledgement, a path, the end of a packet.
 * If the machine takes the CPU away or stops the process, nothing happened
 * because nothing ran. So the time of roles only advances while all lcores of
 * this process make rounds: it stops when one has been away for HOST_AWAY_NS (a
 * single lcore: HOST_ALONE_NS), and any longer absence is left out for good,
 * for all lcores alike. Roles on different lcores agree about the time, and it
 * never goes back.
 *
 *     time of roles = time of the host - left out
 *
 * Lcores of other processes do not count. The control thread and all reports
 * use the time of the host; the controllers, which it serves, use that of
 * roles.
 */

#include <stdatomic.h>
#include <stdint.h>

/**
 * Longest absence that counts. A link retries for a millisecond and a half
 * before it doubts its peer (replay_limit times the shortest replay timer). A
 * single lcore runs both ends of every wire, so both miss the same time, and
 * only waiting packets must not age.
 */
#define HOST_AWAY_NS 1000000ull
#define HOST_ALONE_NS 100000000ull

/** Shared by all lcores of a host. */
struct host_time {
	uint64_t away_ns; /**< longest absence that counts */
	_Atomic uint64_t left_out_ns; /**< never decreases */
	_Atomic uint64_t pauses;      /**< absences of which a part was left
					   out */
};

/** State of an lcore; only it writes it. */
struct host_pace {
	_Atomic uint64_t round_ns; /**< time of roles at the start of its last
					round */
	uint64_t others_ns; /**< oldest such time of the others, when last
				 read */
};

/** Control thread, before the lcores run: @p n of them. */
void host_time_init(struct host_time *t, uint32_t n);
void host_pace_init(struct host_pace *p, uint64_t now_ns);

/**
 * The lcore, at the start of a round.
 *
 * @param pace of all @p n lcores that run
 * @param self index of the caller
 * @param host_ns time of the host
 * @return time for polls of its roles: never less than before
 */
uint64_t host_time_round(struct host_time *t, struct host_pace *const pace[],
			 uint32_t n, uint32_t self, uint64_t host_ns);

/**
 * Any thread other than the @p n lcores. @return the time of roles: it stops
 * while an lcore is away, even if it has not returned yet. May go back by as
 * much of an absence as counts
 */
uint64_t host_time_seen(const struct host_time *t,
			struct host_pace *const pace[], uint32_t n,
			uint64_t host_ns);

/** Any thread. @return nanoseconds left out so far */
static inline uint64_t
host_time_left_out(const struct host_time *t)
{
	/* relaxed: orders no other memory access */
	return atomic_load_explicit(&t->left_out_ns, memory_order_relaxed);
}

#endif /* HOST_TIME_H */
