/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EP_CONGEST_H
#define EP_CONGEST_H

/** @file Windows by congestion; see ep_congest.c. */

#include "ep_priv.h"

/* Flags of a flow. */
#define EPF_FULL 0x400000     /**< its window was too small in this round, */
#define EPF_WAS_FULL 0x800000 /**< or in the one before */
#define EPF_RTT_ASKED 0x1000000 /**< rtt_seq is answered at once */

/** Round trips of a flow's path, for its window (ep_congest.c). */
struct ep_cc {
	uint64_t base_ns;   /**< the shortest; 0: none yet */
	uint64_t before_ns; /**< the one before a round at the floor */
	uint64_t tables_ns; /**< data keeps to the tables until then */
	uint16_t rounds;    /**< with a queue, since there was none */
	uint16_t kept; /**< window before a round at the floor; 0: in none */
	uint8_t share; /**< the peer's room is for 2^n flows */
	/* receiver: ep_spread.c */
	uint8_t told; /**< the same, as the peer knows it */
	uint16_t seen; /**< 1 + ep_spread.epoch when a flit of it came last */
};

/** The window of a new flow. */
void ep_cc_begin(const struct rl_ep *ep, struct ep_flow *flow);
/**
 * Whether the next packet, of @p n flits, asks for an ACK at once. @p timed:
 * its round trip will be taken.
 */
bool ep_cc_asks(const struct rl_ep *ep, const struct ep_flow *flow, uint32_t n,
		bool timed);
/** A probe that will be timed has left, behind all that the flow has sent. */
void ep_cc_asked(const struct rl_ep *ep, struct ep_flow *flow);
/**
 * The ACK of the timed flit, or the answer to the timed probe, took this long:
 * adjusts the window.
 */
void ep_cc_round(struct rl_ep *ep, struct ep_flow *flow, uint64_t rtt_ns);
/** A flit of the peer with @p flags says for how many flows its room is. */
void ep_cc_share(const struct rl_ep *ep, struct ep_flow *flow, uint8_t flags);

#endif /* EP_CONGEST_H */
