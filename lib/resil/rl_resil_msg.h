/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_RESIL_MSG_H
#define RL_RESIL_MSG_H

/**
 * @file
 * Messages between local controllers and the controller. They travel out of
 * band, never over the links of the fabric [RES-1]. The host supplies the
 * channel: rings in one process, a seeded channel in the simulator, a store
 * between hosts. It may delay, lose, duplicate and reorder messages; no message
 * depends on an earlier one.
 *
 * Orders are *states*, not steps: "hold this, have that table". A receiver that
 * gets one twice or late compares incarnation and then number with what it
 * knows, and ignores what is old. Reports are states, too: "port 3 is dead, and
 * this is my 7th report about it".
 *
 * Large data does not travel in messages: tables and lists of flows to hold are
 * named by their epoch, and the host knows where they are.
 */

#include "rl_base.h"

#define RL_RESIL_VERSION 1

enum rl_resil_msg_type {
	/* local controller -> controller */
	RL_RESIL_HELLO = 1, /**< who I am, what I have installed and hold */
	RL_RESIL_LINK,	    /**< port, link, ver, t_ns, detector */
	RL_RESIL_STATUS,    /**< answer to ORDER seq: what I have, am I quiet;
				 seq 0: alive, but not done yet */
	RL_RESIL_GAVE_UP,   /**< ver, t_ns: packets found no path in time. Its
				 port is the number of ports, which means the
				 core [DRL-7] */
	RL_RESIL_PORT_DONE, /**< answer to PORT */
	/* controller -> local controller */
	RL_RESIL_CALL,	    /**< asks for HELLO and LINKs */
	RL_RESIL_LINK_ACK,  /**< report ver of the port, or of the core, has
				 arrived */
	RL_RESIL_ORDER,	    /**< order seq: the state that the device must
				 have */
	RL_RESIL_PORT,	    /**< port up, down, or down once empty: ver */
};

/** State of a link as a local controller reports it. */
enum rl_resil_link {
	RL_RESIL_LINK_UNKNOWN, /**< no report yet */
	RL_RESIL_LINK_UP,
	RL_RESIL_LINK_DEAD,
	RL_RESIL_LINK_DEGRADED, /**< up, but its error rate grows [RES-7] */
};

/** What a device must hold, or holds. */
enum rl_resil_hold {
	RL_RESIL_HOLD_NONE,
	RL_RESIL_HOLD_FLOWS, /**< the flows of hold_epoch's list [RES-6] */
	RL_RESIL_HOLD_ALL,   /**< all requests: the full quiesce */
};

/** Of ORDER: ports that wait for their first tables may train. */
#define RL_RESIL_START 1
/** Of HELLO and STATUS: ports wait for their first tables. */
#define RL_RESIL_WAITS 2
/** Of STATUS: nothing that must be held is on its way here. */
#define RL_RESIL_QUIET 4
/** Of ORDER: prepare for the tables of hold_epoch, by tokens [RES-5]. Of HELLO
    and STATUS: prepared or changing. Nothing is held then. */
#define RL_RESIL_STAGE 8
/** Of ORDER, with STAGE: all devices are prepared, so pass tokens on. */
#define RL_RESIL_PASS 16
/** Of LINK_ACK: no tables are being computed or installed. */
#define RL_RESIL_IDLE 32

struct rl_resil_msg {
	uint8_t version;
	uint8_t type;	      /**< enum rl_resil_msg_type */
	uint8_t hold;	      /**< enum rl_resil_hold: ordered, or present */
	uint8_t flags;	      /**< RL_RESIL_START to RL_RESIL_IDLE */
	uint32_t dev;	      /**< the device of the local controller */
	uint64_t ctl_inc;     /**< incarnation of the controller; 0: not
				   known */
	uint64_t local_inc;   /**< incarnation of the device; 0: not known */
	uint64_t seq;	      /**< number of the ORDER; STATUS: of the order
				   answered */
	uint32_t table_epoch; /**< tables ordered, or installed */
	uint32_t hold_epoch;  /**< list of flows ordered or held; STAGE: the
				   tables to change to */
	uint64_t activity;    /**< STATUS: packets that have passed here */
	uint64_t t_ns;	      /**< LINK, GAVE_UP: when it was detected */
	uint32_t ver;	      /**< LINK, GAVE_UP, LINK_ACK, PORT, PORT_DONE */
	uint16_t port;	      /**< the same types */
	uint8_t link;	      /**< LINK: enum rl_resil_link; PORT: order */
	uint8_t detector;     /**< LINK: what the port detected, for reports */
};

#endif /* RL_RESIL_MSG_H */
