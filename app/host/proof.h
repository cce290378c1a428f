/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PROOF_H
#define PROOF_H

/**
 * @file
 * Proof of delivery for packets without a stamp: real frames. The sending
 * client records digest and time of each packet under its number (tag); the
 * receiving client looks up the packet and knows at once whether it is altered,
 * late, out of order or a duplicate. A recorded packet that was never looked up
 * is lost, unless the endpoint reported that it gave it up.
 *
 * One flow has one proof. The sender's lcore writes its half of an entry before
 * the packet can leave; the packet's way through rings orders that for the
 * receiver. The control thread may read the counters at any time, and the
 * entries once both lcores have stopped sending.
 */

#include <stdatomic.h>

#include "rl_base.h"
#include "half.h"
#include "rl_delay.h"
#include "rl_silence.h"

/** Packets that a proof remembers: far more than can be outstanding. */
#define PROOF_ENTRIES (1u << 16)

struct proof_entry {
	uint64_t sent_ns;
	uint32_t digest;
	uint32_t len;
	uint32_t sent_tag; /**< tag + 1 of the last packet sent */
	_Atomic uint32_t seen_tag; /**< tag + 1 of the last packet received */
	uint32_t reported_tag; /**< tag + 1 of the last packet given up */
};

struct proof {
	uint16_t src; /**< endpoint ids */
	uint16_t dst;
	bool hw_crc;
	struct half *half; /**< if not NULL, the other end is in another
				process */
	/* written by the sender */
	uint64_t sent_packets;
	uint64_t sent_bytes;
	uint64_t settled_reports; /**< given up, and too old to arrive */
	bool any_report; /**< some entries were given up */
	/* written by the receiver */
	uint32_t next_tag RL_ALIGNED(RL_CACHE_LINE);
	uint64_t delivered_packets;
	uint64_t duplicated_packets;
	uint64_t reordered_packets;
	uint64_t altered_packets;
	uint64_t last; /* latency of the last packet, for rl_delay_add() */
	struct rl_silence silence; /* only if both ends are here */
	struct rl_delay delay[RL_VCS];
	struct proof_entry entry[PROOF_ENTRIES];
};

/** Control thread. Initialises an empty proof in zeroed memory. */
void proof_init(struct proof *l, uint16_t src, uint16_t dst);

/**
 * Sender's lcore. The receiver restarted, and what it had received is unknown.
 * Packets accepted from @p tag on go to its new life.
 */
void proof_peer_restarted(struct proof *l, uint32_t tag);

/** Sender's lcore. Packet @p tag was accepted; @p data is all of it. */
void proof_sent(struct proof *l, uint32_t tag, const void *data,
		      uint32_t len, uint64_t now_ns);

/** Receiver's lcore. Packet @p tag arrived on @p vc with @p data. */
void proof_got(struct proof *l, uint32_t tag, const void *data, uint32_t len,
	       unsigned int vc, uint64_t now_ns);

/**
 * Sender's lcore. Packet @p tag was given up: if it never arrives, it counts as
 * reported, not as lost.
 */
void proof_reported(struct proof *l, uint32_t tag);

/** sent = delivered + reported + open; for half a flow, open is 0. */
struct proof_look {
	uint64_t sent;
	uint64_t delivered;
	uint64_t reported; /**< given up, and did not arrive */
	uint64_t open;	   /**< outstanding, or lost */
};

/**
 * Any thread, at any time. Reads the receiver's counts before the sender's, so
 * that no packet counts twice. For half a flow, reflit-report knows what was
 * reported.
 */
void proof_look(const struct proof *l, struct proof_look *look);

#endif /* PROOF_H */
