/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_LOG_H
#define HOST_LOG_H

/**
 * @file
 * What happens on lcores, told to the control thread: one record an event, in
 * a ring of each lcore's own. A full ring loses the record and counts it; the
 * data path never waits for a reader. The last quarter of a ring is kept for
 * events: a storm of dropped packets does not push out what happened to links.
 */

#include <stdatomic.h>

#include <rte_ring.h>

#include "rl_role.h"

enum host_rec_kind {
	HOST_REC_PORT,	 /**< struct rl_port_event */
	HOST_REC_CORE,	 /**< struct rl_core_event */
	HOST_REC_DROP,	 /**< a packet dropped in the fabric */
	HOST_REC_REPORT, /**< a packet that an endpoint gave up */
	HOST_REC_EP,	 /**< struct rl_ep_event */
	HOST_REC_CHANNEL, /**< of the channel between processes */
	HOST_REC_NOTE,	 /**< a line of text of the control thread */
};

/** What the control thread hears of the channel: no lcore writes it. */
enum host_channel_news {
	HOST_CHANNEL_AWAY,    /**< the store does not answer */
	HOST_CHANNEL_BACK,    /**< it answers again */
	HOST_CHANNEL_OFFICE,  /**< a process has the controller */
	HOST_CHANNEL_NOBODY,  /**< no process has it any more */
	HOST_CHANNEL_JOINED,  /**< a process gives signs of life */
	HOST_CHANNEL_GONE,    /**< not any more */
};

struct host_rec_channel {
	uint8_t news;	  /**< enum host_channel_news */
	uint8_t process; /**< of the fabric file, where one is meant */
};

/** A packet, as drops and reports name it. */
struct host_rec_packet {
	uint16_t src;
	uint16_t dst;
	uint8_t cos;
	uint8_t why; /**< enum rl_drop_reason, or enum rl_ep_reason */
	uint16_t flits;
	uint32_t tag;
};

struct host_rec {
	uint64_t t_ns;
	uint32_t kind;
	uint16_t port;
	uint16_t spare;
	uint32_t dev;
	uint32_t spare2;
	union {
		struct rl_port_event port_ev;
		struct rl_core_event core_ev;
		struct host_rec_packet packet;
		struct rl_ep_event ep_ev;
		struct host_rec_channel channel;
		uint64_t note; /**< its number */
	};
};

struct host_log {
	struct rte_ring *ring;
	_Atomic uint64_t lost;	      /**< events; written by the lcore */
	_Atomic uint64_t lost_packets; /**< records of single packets */
};

#endif /* HOST_LOG_H */
