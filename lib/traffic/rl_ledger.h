/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_LEDGER_H
#define RL_LEDGER_H

/**
 * @file
 * The books of a run: what all clients of a fabric sent, received and were
 * told, put together flow by flow and packet by packet. The balance
 *
 *     sent = delivered + reported + lost
 *
 * is struck from the packets themselves, not from sums: a packet counts as
 * delivered if it arrived (once or more), else as reported if a report names
 * it, else as lost. A packet that arrived although it was reported is
 * delivered.
 */

#include "rl_hist.h"
#include "rl_tg.h"

struct rl_ledger {
	uint64_t sent_packets;
	uint64_t delivered_packets;
	uint64_t lost_packets;
	uint64_t reported_packets;   /**< and not delivered */
	uint64_t reported_delivered; /**< reported all the same */
	uint64_t duplicated_packets;
	uint64_t reordered_packets;
	uint64_t corrupted_packets;
	uint64_t sent_flits;
	uint64_t delivered_flits;
	uint64_t delivered_bytes;
	uint64_t unknown_packets; /**< arrived, but never sent: a broken book */
	uint64_t inexact;	  /**< what clients could not remember */
};

/**
 * Owner of all clients, when none of them runs. tg[i] is the client of
 * endpoint i, or NULL where it has none.
 */
void rl_ledger_close(struct rl_ledger *l, struct rl_tg *const tg[],
		     uint32_t n);

/** The same balance of a run that goes on: what is neither is under way. */
struct rl_ledger_look {
	uint64_t sent_packets;
	uint64_t delivered_packets;
	uint64_t reported_packets; /**< and not delivered */
	uint64_t under_way_packets;
};

/**
 * Any thread, while the clients run. Deliveries are read first, then what was
 * reported and has not arrived, then what was sent: so each packet counts in
 * one place, and
 *
 *     sent = delivered + reported + under way
 *
 * holds at every look. Clients wait for nothing; a set of packets that changes
 * is read again.
 */
void rl_ledger_look(struct rl_ledger_look *l, struct rl_tg *const tg[],
		    uint32_t n);

/**
 * Any thread. Every packet sent is delivered or reported, once, in order,
 * unaltered, and the books balance.
 */
bool rl_ledger_clean(const struct rl_ledger *l);

/** Any thread. The books balance, whatever was lost. */
bool rl_ledger_balanced(const struct rl_ledger *l);

#endif /* RL_LEDGER_H */
