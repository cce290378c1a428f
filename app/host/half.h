/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HALF_H
#define HALF_H

/**
 * @file
 * One end of a flow whose other end is in another process [PHY-3]. Neither end
 * alone knows whether everything arrived. Each records what it knows, and
 * reflit-report combines both records:
 *
 * - the source: the first number (tag), the number of packets, the sum of their
 *   digests, and each packet that it gave up;
 * - the sink: runs of numbers with the gaps in them, and the sum of the
 *   digests of packets that arrived.
 *
 * A digest mixes number, length and CRC of a packet, so that equal sums over
 * the same numbers mean equal packets. A sender that restarts draws a new first
 * number, which starts a new run at the sink. If a sink restarts, the
 * endpoint tells the source, which starts a new span.
 *
 * One lcore writes it; the control thread reads it after the lcores have
 * stopped. It may be in memory that outlives its process. A process that was
 * killed during a change has left `writing` set: half_mend() undoes the
 * counting of a packet, but not the other, rare changes.
 */

#include <stdatomic.h>

#include "rl_base.h"
#include "rl_seen.h"

#define HALF_RUNS 32
#define HALF_SPANS 32
#define HALF_REPORTS 8192
#define HALF_NODES 1024
/** Numbers further apart than this belong to two lives of the sender. */
#define HALF_NEAR (1u << 16)

struct half_report {
	uint32_t tag;
	uint64_t digest;
};

/** Packets sent to one life of the peer. */
struct half_span {
	uint32_t first;
	uint64_t packets;
	uint64_t digest;
};

/** Packets received from one life of the peer. */
struct half_run {
	uint32_t first;
	struct rl_seen seen; /**< numbers are relative to first */
	uint64_t packets;
	uint64_t digest;
};

enum half_writing {
	HALF_AT_REST,
	HALF_COUNTS, /**< counts a packet in order: `before` has the old
			  values */
	HALF_CHANGES, /**< anything else */
};

/** The last span or run before the packet that is being counted. */
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
	uint64_t unlisted; /**< spans, runs and reports without room */
	uint64_t late;	   /**< arrived after a later one */
	struct half_span span[HALF_SPANS];
	struct half_run run[HALF_RUNS];
	struct half_report report[HALF_REPORTS];
	struct rl_range_pool pool;
	struct rl_range node[HALF_NODES];
};

/** Control thread. */
void half_init(struct half *h, bool sink);

/** Any thread. @return the digest of a packet, for sums */
uint64_t half_digest(uint32_t tag, uint32_t len, uint32_t crc);

/** The source's lcore. A packet was accepted, or was given up. */
void half_sent(struct half *h, uint32_t tag, uint64_t digest);
void half_reported(struct half *h, uint32_t tag, uint64_t digest);

/**
 * The source's lcore. The peer restarted. The last @p packets accepted, from @p
 * tag on, with digests of that sum, had not left yet: they go to the new life.
 */
void half_peer_restarted(struct half *h, uint32_t tag, uint32_t packets,
			 uint64_t digest);

/** The sink's lcore. @return whether it arrives after a later one */
bool half_got(struct half *h, uint32_t tag, uint64_t digest);

/**
 * Any thread, for the record of a process that was killed.
 * @return whether it is consistent; otherwise nothing in it can be trusted
 */
bool half_mend(struct half *h);

#endif /* HALF_H */
