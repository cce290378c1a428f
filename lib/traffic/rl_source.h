/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SOURCE_H
#define RL_SOURCE_H

/**
 * @file
 * The sending side of a traffic client: when a packet is made, for which flow,
 * what it is, and which responses it owes. Its host offers the packets to an
 * endpoint, since it alone knows how its flows are kept.
 *
 * It is an open loop: packets are made by a schedule, and one that is delayed
 * by backpressure keeps its time, so its latency includes the wait. A refused
 * packet waits aside while others go on; flows still keep their order, since a
 * packet gets its number only when it is accepted. Each class of service has a
 * share of the places aside: a class that has used its share is not drawn any
 * more, so a blocked class leaves the load to the others. If a flow makes no
 * progress and the places are all taken, its packets go to other destinations.
 *
 * Responses go in turn over the flows that owe some, before other packets, and
 * even if new requests are refused: otherwise a quiesce that waits for answers
 * to all outstanding requests [RES-1] would never end. They need no memory, so
 * requests are taken whatever is owed: if they stayed in the endpoint, so would
 * the responses behind them, and two clients could wait for each other for
 * ever.
 *
 * Pure: time is a parameter, and the same seed makes the same packets. One
 * owner.
 */

#include "rl_endpoint.h"
#include "rl_kind.h"
#include "rl_pattern.h"
#include "rl_prng.h"
#include "rl_stamp.h"

#define RL_SOURCE_COS 16
#define RL_SOURCE_ASIDE 64 /**< places */
#define RL_SOURCE_PPM 1000000u

struct rl_source;

/** A packet that is made, and not yet accepted by the endpoint. */
struct rl_source_packet {
	uint64_t made_ns;
	uint16_t dst;
	uint8_t cos;
	bool response;
};

/** What all sources of a fabric have in common. */
struct rl_source_cfg {
	const struct rl_pattern *pattern;
	uint64_t seed;
	double load;		/**< flits per slot; 0: as fast as possible */
	uint32_t slot_ps;	/**< time of one flit */
	uint32_t min_flits;	/**< length of packets, 1.. */
	uint32_t max_flits;
	uint32_t requests_ppm;	/**< share of packets that are non-posted
				     requests, each answered by a response */
	uint8_t ncos;		/**< classes of service drawn from, 1..16 */
	bool by_kind;		/**< a class of service for each kind of packet,
				     enum rl_kind; ncos is RL_KINDS */
	uint32_t share;		/**< places aside for each class of service */
	uint64_t burst_ns;	/**< length of bursts, */
	uint64_t pause_ns;	/**< and of the silence between; 0: steady */
	/**
	 * Offers a packet to the endpoint. @return as rl_ep_send(): -EAGAIN:
	 * all flows must wait; -EBUSY, -ENOBUFS: this one must; 0 and
	 * -EHOSTUNREACH: it is gone
	 */
	int (*offer)(struct rl_source *src, struct rl_ep *ep,
		     const struct rl_source_packet *p, uint64_t now_ns);
	/** Whether a flow may make another packet; NULL: always. */
	bool (*may)(const struct rl_source *src, uint16_t dst, uint8_t cos);
	/** A flow's packet comes next: prefetches it; or NULL. */
	void (*warm)(const struct rl_source *src);
};

/** Responses owed to one peer in one class of service; zeroed: none. */
struct rl_owed {
	struct rl_owed *next;
	uint64_t since_ns; /**< when the oldest could be sent */
	uint32_t count;
	uint16_t dst;
	uint8_t cos;
};

struct rl_source {
	const struct rl_source_cfg *cfg;
	struct rl_prng prng;
	uint64_t next_ns; /**< time of its next packet; RL_NEVER: none */
	uint64_t end_ns;  /**< no packets are made from then on */
	uint64_t left;	  /**< packets that it may still make */
	uint64_t redirected; /**< packets that went to another destination: their
				  flow made no progress, and they would have
				  held up others */
	struct rl_owed *owed_first;
	struct rl_owed *owed_last;
	uint64_t owed;	/**< responses, of all flows */
	uint16_t id;	/**< of its endpoint */
	uint16_t dst;	/**< of the packet at next_ns */
	uint8_t cos;
	bool sends;	/**< it has made a packet */
	bool tried;	/**< the packet at next_ns was refused */
	uint16_t naside;
	uint8_t waits[RL_SOURCE_COS]; /**< how many of each class wait */
	struct rl_source_packet aside[RL_SOURCE_ASIDE];
};

/**
 * Owner. @return packet @p number of a flow. Its class and length follow from
 * the seed and its name: the flow, how often its endpoint has crashed, and how
 * many packets went before it since (@p life, @p nth).
 */
struct rl_stamp rl_source_draw(const struct rl_source *src,
			       const struct rl_source_packet *p,
			       uint32_t number, uint32_t life, uint32_t nth);

/** Owner. Gives it to the endpoint. @return as rl_ep_send() */
int rl_source_give(struct rl_ep *ep, const struct rl_stamp *s, uint64_t now_ns,
		   uint32_t *tag);

/** Owner. Draws the packet that follows one made at @p from_ns. */
void rl_source_next(struct rl_source *src, uint64_t from_ns);

/** Owner. Makes no more packets; drops those that wait aside. */
void rl_source_stop(struct rl_source *src);

/** Owner. Whether all that it was to make is gone, responses aside. */
static inline bool
rl_source_done(const struct rl_source *src)
{
	return src->next_ns == RL_NEVER && src->naside == 0;
}

/** Owner. Sends what is due. @return packets moved */
unsigned int rl_source_send(struct rl_source *src, struct rl_ep *ep,
			    uint64_t now_ns);

/** Owner. A request of @p peer in class of service @p cos has arrived. */
void rl_source_owe(struct rl_source *src, struct rl_owed *o, uint16_t peer,
		   uint8_t cos, uint64_t now_ns);

/** Owner. Forgets the responses owed to one peer. */
void rl_source_forgive(struct rl_source *src, struct rl_owed *o);

/** Owner. Its endpoint has crashed: forgets all responses it owes. */
void rl_source_owe_nothing(struct rl_source *src);

/** Owner. Sends as many responses as possible. @return how many */
unsigned int rl_source_answer(struct rl_source *src, struct rl_ep *ep,
			      uint64_t now_ns);

#endif /* RL_SOURCE_H */
