/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_LEDGER_H
#define RL_LEDGER_H

/**
 * @file The balance of a run: what all clients of a fabric sent, received and
 * were told, combined flow by flow and packet by packet. The balance
 *
 *     sent = delivered + reported + lost
 *
 * is computed from individual packets, not from sums: a packet counts as
 * delivered if it arrived (once or more), else as reported if a report names
 * it, else as lost. A packet that arrived although it was reported counts as
 * delivered.
 */

#include "rl_hist.h"
#include "rl_tg.h"

struct rl_ledger {
	uint64_t sent_packets;
	uint64_t delivered_packets;
	uint64_t lost_packets;
	uint64_t reported_packets;   /**< and not delivered */
	uint64_t reported_delivered; /**< both reported and delivered */
	uint64_t duplicated_packets;
	uint64_t reordered_packets;
	uint64_t corrupted_packets;
	uint64_t sent_flits;
	uint64_t delivered_flits;
	uint64_t delivered_bytes;
	uint64_t unknown_packets; /**< arrived, but never sent: inconsistent */
	uint64_t inexact;	  /**< events not recorded for lack of room */
};

/**
 * Owner of all clients, while none of them runs. tg[i] is the client of
 * endpoint i, or NULL if it has none.
 */
void rl_ledger_close(struct rl_ledger *l, struct rl_tg *const tg[],
		     uint32_t n);

/** The same balance during a run: all other packets are under way. */
struct rl_ledger_look {
	uint64_t sent_packets;
	uint64_t delivered_packets;
	uint64_t reported_packets; /**< and not delivered */
	uint64_t under_way_packets;
};

/**
 * Any thread, while the clients run. Deliveries are read first, then reported
 * packets that have not arrived, then sent ones: so each packet counts in one
 * place, and
 *
 *     sent = delivered + reported + under way
 *
 * holds in every result. Clients never wait; a set of packets that changes is
 * read again.
 */
void rl_ledger_look(struct rl_ledger_look *l, struct rl_tg *const tg[],
		    uint32_t n);

#endif /* RL_LEDGER_H */
