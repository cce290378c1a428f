/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HALF_H
#define HALF_H

/**
 * @file
 * One end of a flow whose other end is in another process [PHY-3]. Neither can
 * tell alone whether all arrived; each writes down what it knows, in a form
 * that reflit-report can put together:
 *
 *  - the source: the first number (tag), how many packets, the sum of their
 *    digests, and each packet that it gave up;
 *  - the sink: runs of numbers with what is missing in them, and the sum of the
 *    digests of what arrived.
 *
 * A digest mixes number, length and CRC of a packet, so that equal sums over
 * the same numbers mean equal packets. A sender that starts anew draws another
 * first number, which opens a new run at the sink; a sink that starts anew is
 * told to the source by its endpoint, and ends a span there.
 *
 * Written by one lcore; read by the control thread after the lcores. It may lie
 * in memory that outlives its process, and be read there: a process that was
 * killed in the middle of a change has left `writing` set. half_mend() takes back
 * what was being counted then; other changes, which are rare, it cannot.
 */

#include <stdatomic.h>

#include "rl_base.h"
#include "rl_ranges.h"

#define HALF_RUNS 32
#define HALF_SPANS 32
#define HALF_REPORTS 8192
#define HALF_NODES 1024
/** Numbers further apart than that belong to two lives of the sender. */
#define HALF_NEAR (1u << 16)

struct half_report {
	uint32_t tag;
	uint64_t digest;
};

/** What was sent to one life of the peer. */
struct half_span {
	uint32_t first;
	uint64_t packets;
	uint64_t digest;
};

/** What came from one life of the peer. */
struct half_run {
	uint32_t first;
	uint32_t next;
	uint64_t packets;
	uint64_t digest;
	struct rl_ranges missing; /**< relative to first */
};

enum half_writing {
	HALF_AT_REST,
	HALF_COUNTS, /**< a packet, in order: `before` holds what was */
	HALF_CHANGES, /**< anything else */
};

/** The last span, or the last run, before the packet that is being counted. */
struct half_before {
	uint32_t next;
	uint64_t packets;
	uint64_t digest;
};

struct half {
	_Atomic uint32_t writing; /**< enum half_writing */
	struct half_before before;
	bool sink;
	bool other_life; /**< source: the next packet opens a span */
	uint32_t nspans;
	uint32_t nruns;
	uint32_t nreports;
	uint64_t unlisted; /**< spans, runs, reports that found no room */
	uint64_t late;	   /**< came before one that had arrived */
	struct half_span span[HALF_SPANS];
	struct half_run run[HALF_RUNS];
	struct half_report report[HALF_REPORTS];
	struct rl_range_pool pool;
	struct rl_range node[HALF_NODES];
};

/** Control thread. */
void half_init(struct half *h, bool sink);

/** Any thread. What stands for a packet in sums. */
uint64_t half_digest(uint32_t tag, uint32_t len, uint32_t crc);

/** Source's lcore. A packet was accepted; one was given up. */
void half_sent(struct half *h, uint32_t tag, uint64_t digest);
void half_reported(struct half *h, uint32_t tag, uint64_t digest);

/**
 * Source's lcore. The peer restarted. The last @p packets accepted, from @p tag
 * on, with digests of that sum, had not left yet: the new life gets them.
 */
void half_peer_restarted(struct half *h, uint32_t tag, uint32_t packets,
			 uint64_t digest);

/** Sink's lcore. @return whether it comes before one that has arrived */
bool half_got(struct half *h, uint32_t tag, uint64_t digest);

/**
 * Any thread, of the half of a process that was killed.
 * @return whether it is whole; else nothing of it can be relied on
 */
bool half_mend(struct half *h);

#endif /* HALF_H */
