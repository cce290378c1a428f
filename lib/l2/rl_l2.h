/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_L2_H
#define RL_L2_H

/**
 * @file A layer-2 network as one of its ports sees it [EP-1]: behind which
 * endpoint a station (MAC address and VLAN) is. A port learns from frames in
 * both directions, and forgets a station that is silent for long.
 *
 * A table belongs to one port and its lcore. The fabric never floods: the port
 * at which a broadcast frame comes in sends it once to each other port, so
 * there are no loops and each copy is a packet like any other.
 *
 * Pure: no clock, no memory of its own.
 */

#include "rl_base.h"

/** Stations a port can know: a power of two. More are flooded. */
#define RL_L2_STATIONS 4096
/** Number of places that a station may be in. */
#define RL_L2_WAYS 4

struct rl_l2_station {
	uint64_t key; /**< MAC and VLAN; 0: none */
	uint64_t seen_ns;
	uint16_t port;
	bool fixed; /**< by rl_l2_fix(): stays where it is */
};

struct rl_l2_counters {
	uint64_t learned;
	uint64_t moved;	   /**< stations that moved to another port */
	uint64_t pushed;   /**< the oldest of its places, for lack of room */
	uint64_t elsewhere; /**< frames of a fixed station, by another port */
	uint64_t flooded;  /**< frames for all, or for unknown stations */
	uint64_t filtered; /**< frames for a station behind the same port */
	uint64_t local;	   /**< frames that concern one cable only */
};

struct rl_l2 {
	uint64_t ageing_ns;
	uint16_t own; /**< the port that owns this table */
	struct rl_l2_counters c;
	struct rl_l2_station station[RL_L2_STATIONS];
};

/** Destination of a frame; otherwise a port. */
enum {
	RL_L2_ALL = -1,	   /**< to every other port */
	RL_L2_NOBODY = -2, /**< its station is behind its input port, or it is
				for the other end of one cable: PAUSE, LACP,
				STP, 802.1X, LLDP */
	RL_L2_BAD = -3,	   /**< no Ethernet frame, or an invalid source */
};

/** Any thread. @p own: number of the port; @p ageing_ns: see above. */
void rl_l2_init(struct rl_l2 *l2, uint16_t own, uint64_t ageing_ns);

/**
 * Any thread, before frames. A station that is permanently behind @p port:
 * neither forgotten nor learned elsewhere. @p vlan: 0 to 4095, 0: none.
 * @return whether there was a place for it
 */
bool rl_l2_fix(struct rl_l2 *l2, const uint8_t mac[6], uint16_t vlan,
	       uint16_t port);

/** Owner. A frame from the network, sent by @p port: learns its source. */
void rl_l2_arrived(struct rl_l2 *l2, const uint8_t *frame, uint32_t len,
		   uint16_t port, uint64_t now_ns);

/**
 * Owner. A frame from the port's own side: learns its source.
 * @return the port that it goes to, or RL_L2_*
 */
int rl_l2_route(struct rl_l2 *l2, const uint8_t *frame, uint32_t len,
		uint64_t now_ns);

#endif /* RL_L2_H */
