/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_PHY_FRAME_H
#define RL_PHY_FRAME_H

/** @file A frame between a port and its wire. */

#include <stdint.h>

/** A frame buffer of a PHY, 64-byte aligned. */
struct rl_phy_frame {
	uint8_t *data;
	uint32_t len;
	uint32_t pad;
	void *cookie; /**< owned by the PHY */
};

#endif /* RL_PHY_FRAME_H */
