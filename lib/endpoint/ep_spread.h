/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EP_SPREAD_H
#define EP_SPREAD_H

/** @file One flow over many paths: how long a gap may last (ep_spread.c). */

#include <stdbool.h>
#include <stdint.h>

struct rl_ep;
struct ep_flow;

/** How much later than later ones flits of an endpoint's flows arrive. */
struct ep_spread {
	uint64_t most_ns[2]; /**< in this period and the last one */
	uint64_t period_ns;  /**< when this one began */
	uint64_t grown_ns;   /**< the wait does not grow again until then */
	uint32_t flits;	     /**< that came in this epoch, ... */
	uint16_t flows;	     /**< ... and flows that they are of */
	uint16_t epoch;
	uint8_t share; /**< reorder room is for 2^n flows */
};

/** How long a gap may be due to a detour, and is not asked for. */
uint64_t ep_nak_wait_ns(const struct rl_ep *ep, uint64_t now_ns);
/** Intact flit number @p seq has come. */
void ep_spread_came(struct rl_ep *ep, const struct ep_flow *flow, uint32_t seq,
		    uint64_t now_ns);
/** It had come before: the wait may have been too short. */
void ep_spread_needless(struct rl_ep *ep, uint64_t now_ns);
/** @p n flits have come, whatever becomes of them: counts flows. @p asks: the
    last one asks for an ACK, as those do that fill a window. */
void ep_spread_arrived(struct rl_ep *ep, const struct ep_flow *flow,
		       uint32_t n, bool asks);
/** Whether the sender of a flow does not know its share of the room. */
bool ep_spread_untold(const struct rl_ep *ep, const struct ep_flow *flow);
/** Its share, as a flag of the stand-alone flit that will tell it. */
uint8_t ep_spread_tell(struct rl_ep *ep, const struct ep_flow *flow);
/** A probe. @return whether its answer waits for what is missing */
bool ep_spread_asked(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns);
/** Data of the flow, which may take many paths, met one that led nowhere: asks by
    the tables, and keeps to them. @return false: it has one path only */
bool ep_spread_no_path(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns);
/** RL_FF_TABLES, or 0: for the next packet of a flow. */
uint8_t ep_spread_flags(const struct rl_ep *ep, const struct ep_flow *flow,
			uint64_t now_ns);
/** Answers if it is time. @return when it is next due */
uint64_t ep_spread_timer(struct rl_ep *ep, struct ep_flow *flow,
			 uint64_t now_ns);

#endif /* EP_SPREAD_H */
