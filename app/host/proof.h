/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PROOF_H
#define PROOF_H

/**
 * @file
 * Proof for packets that bear no stamp of ours: real frames. The sending
 * client writes down a digest and the time of each packet under its number
 * (tag); the receiving client looks up what it got and knows at once whether
 * it is altered, late, out of order or a second copy. What was written down
 * and never looked up is lost, unless the endpoint gave it up and said so.
 *
 * One flow has one proof. The sender's lcore writes its half of an entry
 * before the packet can leave; the packet itself, passing through rings,
 * orders that for the receiver. The control thread may read the counters at
 * any time and the entries once both lcores have stopped sending.
 */

#include <stdatomic.h>

#include "rl_base.h"
#include "half.h"
#include "rl_delay.h"
#include "rl_silence.h"

/** Packets a proof remembers: far more than can be under way. */
#define PROOF_ENTRIES (1u << 16)

struct proof_entry {
	uint64_t sent_ns;
	uint32_t digest;
	uint32_t len;
	uint32_t sent_tag; /**< tag + 1 of what the sender wrote last */
	_Atomic uint32_t seen_tag; /**< tag + 1 of what the receiver saw last */
	uint32_t reported_tag; /**< tag + 1 of what the sender gave up last */
};

struct proof {
	uint16_t src; /**< endpoint ids */
	uint16_t dst;
	bool hw_crc;
	struct half *half; /**< not NULL: its other end is another process's */
	/* the sender's */
	uint64_t sent_packets;
	uint64_t sent_bytes;
	uint64_t settled_reports; /**< given up, and too old to arrive */
	bool any_report; /**< entries hold some that were given up */
	/* the receiver's */
	uint32_t next_tag RL_ALIGNED(RL_CACHE_LINE);
	uint64_t delivered_packets;
	uint64_t duplicated_packets;
	uint64_t reordered_packets;
	uint64_t altered_packets;
	uint64_t last; /* latency of the last packet, for rl_delay_add() */
	struct rl_silence silence; /* of whole flows only */
	struct rl_delay delay[RL_VCS];
	struct proof_entry entry[PROOF_ENTRIES];
};

/** Control thread. Makes an empty proof of a flow in zeroed memory. */
void proof_init(struct proof *l, uint16_t src, uint16_t dst);

/**
 * Sender's lcore. The receiver has begun anew; what it had got it alone knew.
 * From @p tag on what was accepted goes to the new one.
 */
void proof_peer_restarted(struct proof *l, uint32_t tag);

/** Sender's lcore. Packet @p tag was accepted; @p data is all of it. */
void proof_sent(struct proof *l, uint32_t tag, const void *data,
		      uint32_t len, uint64_t now_ns);

/** Receiver's lcore. Packet @p tag came by @p vc and is @p data. */
void proof_got(struct proof *l, uint32_t tag, const void *data, uint32_t len,
	       unsigned int vc, uint64_t now_ns);

/**
 * Sender's lcore. Packet @p tag was given up: if it never arrives, it is
 * reported and not lost.
 */
void proof_reported(struct proof *l, uint32_t tag);

/** sent = delivered + reported + open, except of half a flow: open is 0. */
struct proof_look {
	uint64_t sent;
	uint64_t delivered;
	uint64_t reported; /**< given up, and did not arrive after all */
	uint64_t open;	   /**< under way, or lost */
};

/**
 * Any thread, at any time. The receiver's counts are read before the sender's,
 * so no packet counts twice. Of half a flow reflit-report knows what was
 * reported.
 */
void proof_look(const struct proof *l, struct proof_look *look);

#endif /* PROOF_H */
