/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPLAY_RIG_H
#define REPLAY_RIG_H

/**
 * @file
 * A port whose replay buffer is full and whose peer says nothing: each time
 * its timer is due it sends the whole buffer again. All of it is the calling
 * thread's.
 */

#include "rl_auth.h"
#include "rl_phy_eth.h"
#include "rl_port.h"

/** The replay timer: time is moved by hand. */
#define REPLAY_EVERY_NS 1000

struct replay_rig {
	struct rl_link_cfg cfg;
	struct rl_codec *codec;
	struct rl_flit_cache cache;
	struct rl_flit *flits;
	struct rl_port_shared shared[2];
	struct rl_port *port[2]; /**< the second got no flit, and says so */
	uint8_t *frame;		 /**< of the handshake */
	uint64_t now_ns;	 /**< time, advanced by the caller */
	struct rl_auth *auth[2]; /**< NULL: no key */
	bool hears; /**< takes, and throws away, what comes in by the wire */
	uint64_t wait_cycles; /**< of the TSC, in polls that moved nothing */
};

/**
 * Two ports that have not begun, with settings that fit replays. @p replay_ns:
 * of their timer; @p keyed: frames end in a tag. @return 0; -ENOMEM
 */
int replay_rig_ports(struct replay_rig *g, uint32_t flits_per_frame,
		     uint32_t frame_bytes, uint64_t replay_ns, bool keyed);

/** The same, and trained, and the window of the first one is full.
 * @return 0; -ENOMEM; -EIO where the window was not filled
 */
int replay_rig_open(struct replay_rig *g, uint32_t flits_per_frame,
		    uint32_t frame_bytes, bool keyed);

/** Takes what came in, and would fill a wire that leads back. @return frames */
unsigned int replay_throw_away(struct rl_phy_eth *phy, uint64_t now_ns);

/** Also of one that could not be opened. */
void replay_rig_close(struct replay_rig *g);

/**
 * The timer is due at @p now_ns: one replay through @p phy, which is waited
 * for, a second at most. @return flits sent
 */
uint32_t replay_once(struct replay_rig *g, struct rl_phy_eth *phy,
		     uint64_t now_ns);

#endif /* REPLAY_RIG_H */
