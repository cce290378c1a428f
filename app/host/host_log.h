/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_LOG_H
#define HOST_LOG_H

/**
 * @file
 * Events on lcores for the control thread: one record for each event, in a ring
 * of each lcore. If a ring is full, the record is lost and counted; the data
 * path never waits for a reader. The last quarter of a ring is reserved for
 * events, so that many dropped packets do not displace events of links.
 */

#include <stdatomic.h>

#include <rte_ring.h>

#include "rl_role.h"

enum host_rec_kind {
	HOST_REC_PORT,	 /**< struct rl_port_event */
	HOST_REC_CORE,	 /**< struct rl_core_event */
	HOST_REC_DROP,	 /**< a packet dropped in the fabric */
	HOST_REC_REPORT, /**< a packet given up by an endpoint */
	HOST_REC_EP,	 /**< struct rl_ep_event */
	HOST_REC_CHANNEL, /**< of the channel between processes */
	HOST_REC_NOTE,	 /**< a line of text of the control thread */
};

/** Events of the channel, from the control thread; no lcore writes them. */
enum host_channel_news {
	HOST_CHANNEL_AWAY,    /**< the store does not answer */
	HOST_CHANNEL_BACK,    /**< it answers again */
	HOST_CHANNEL_OFFICE,  /**< a process has the controller */
	HOST_CHANNEL_NOBODY,  /**< no process has it any more */
	HOST_CHANNEL_JOINED,  /**< a process has shown that it lives */
	HOST_CHANNEL_GONE,    /**< it no longer does */
};

struct host_rec_channel {
	uint8_t news;	  /**< enum host_channel_news */
	uint8_t process; /**< index in the fabric file, if one is meant */
};

/** Names a packet in drops and reports. */
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
