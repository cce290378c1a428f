/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_RESIL_MSG_H
#define RL_RESIL_MSG_H

/**
 * @file
 * What local controllers and the controller say to each other, out of band:
 * never over the fabric's own links [RES-1]. The channel is the host's (rings
 * in one process, a seeded channel in the simulator, a store between hosts).
 * It may delay, lose, double and reorder; no message needs the one before it.
 *
 * Orders are *states*, not steps: "hold this, have that table". Whoever gets
 * one twice, or late, compares it with what it knows (incarnation, then
 * number) and either has it already or throws it away. Reports are states,
 * too: "port 3 is dead, and this is the 7th thing I say of it".
 *
 * What is large does not travel in messages: tables, and lists of flows to
 * hold, are named by their epoch; the host knows where they are.
 */

#include "rl_base.h"

#define RL_RESIL_VERSION 1

enum rl_resil_msg_type {
	/* local controller -> controller */
	RL_RESIL_HELLO = 1, /**< who I am, what I have installed and hold */
	RL_RESIL_LINK,	    /**< port, link, ver, t_ns, detector */
	RL_RESIL_STATUS,    /**< answer to ORDER seq: what I have, am I quiet;
			       seq 0: I am there, and not done yet */
	RL_RESIL_GAVE_UP,   /**< ver, t_ns: packets found no way in time; its
			       port is the number of ports: the core [DRL-7] */
	RL_RESIL_PORT_DONE, /**< answer to PORT */
	/* controller -> local controller */
	RL_RESIL_CALL,	    /**< who is there? answered by HELLO and LINKs */
	RL_RESIL_LINK_ACK,  /**< report ver of port, or core, is known */
	RL_RESIL_ORDER,	    /**< the state that the device is to have: seq */
	RL_RESIL_PORT,	    /**< port up, down, or drained down: ver */
};

/** What a local controller says of a link. */
enum rl_resil_link {
	RL_RESIL_LINK_UNKNOWN, /**< nothing said yet */
	RL_RESIL_LINK_UP,
	RL_RESIL_LINK_DEAD,
	RL_RESIL_LINK_DEGRADED, /**< up, but its error rate grows [RES-7] */
};

/** What a device is to hold, or holds. */
enum rl_resil_hold {
	RL_RESIL_HOLD_NONE,
	RL_RESIL_HOLD_FLOWS, /**< the flows of hold_epoch's list [RES-6] */
	RL_RESIL_HOLD_ALL,   /**< all requests: the full quiesce */
};

/** Of ORDER: ports that wait for their first tables may train. */
#define RL_RESIL_START 1
/** Of HELLO and STATUS: such ports wait. */
#define RL_RESIL_WAITS 2
/** Of STATUS: nothing that is to be held is under way here. */
#define RL_RESIL_QUIET 4
/** Of ORDER: be prepared for the tables of hold_epoch, by tokens [RES-5]; of
    HELLO and STATUS: prepared, or on the way. Nothing is held then. */
#define RL_RESIL_STAGE 8
/** Of ORDER, with STAGE: all are prepared, pass tokens on. */
#define RL_RESIL_PASS 16
/** Of LINK_ACK: no tables are being made, or put in place. */
#define RL_RESIL_IDLE 32

struct rl_resil_msg {
	uint8_t version;
	uint8_t type;	      /**< enum rl_resil_msg_type */
	uint8_t hold;	      /**< enum rl_resil_hold: ordered, or as it is */
	uint8_t flags;	      /**< of the above */
	uint32_t dev;	      /**< the device whose local controller it is */
	uint64_t ctl_inc;     /**< incarnation of the controller, 0: not known */
	uint64_t local_inc;   /**< incarnation of the device, 0: not known */
	uint64_t seq;	      /**< ORDER: its number; STATUS: that answered */
	uint32_t table_epoch; /**< tables ordered, or installed */
	uint32_t hold_epoch;  /**< list of flows ordered, or held; with STAGE
				   the tables to change to */
	uint64_t activity;    /**< STATUS: packets that have passed here */
	uint64_t t_ns;	      /**< LINK, GAVE_UP: when it was found out */
	uint32_t ver;	      /**< LINK, GAVE_UP, LINK_ACK, PORT, PORT_DONE */
	uint16_t port;	      /**< the same */
	uint8_t link;	      /**< LINK: enum rl_resil_link; PORT: order */
	uint8_t detector;     /**< LINK: the port's word for it, for reports */
};

#endif /* RL_RESIL_MSG_H */
