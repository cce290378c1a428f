/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EP_CTRL_H
#define EP_CTRL_H

/**
 * @file The data of a stand-alone flit (type RL_FLIT_CTRL), offsets within the
 * flit. It is not numbered: its CRC is that of number 0. It refers to the flow
 * in the other direction, except a sync, which refers to its own.
 *
 * | bytes | what                                                          |
 * |-------|---------------------------------------------------------------|
 * | 18    | command: enum ep_cmd                                          |
 * | 19    | bytes of bitmap, 0-64                                         |
 * | 20-23 | number n, all 32 bits of it                                   |
 * | 24-27 | sync: tag of the packet that begins at n; probe and echo: the  |
 * |       | number of the probe; else 0                                   |
 * | 28-31 | incarnation of the sender; 0: it has none                     |
 * | 32-35 | incarnation of the receiver, as the sender knows it; 0: not   |
 * | 36    | ACK, echo: bit 0: busy, the client of the flow takes nothing; |
 * |       | ACK, echo, NAK with a bitmap: bits 1-4: the reorder room of    |
 * |       | the sender is for 2^n flows                                    |
 * | 37-39 | base of the bitmap                                            |
 * | 40-   | bitmap: bit i set asks for n + 1 + base + i                   |
 *
 * ACK n: all up to n have arrived. NAK_GBN n: the same, and asks for all after
 * n. NAK_ONE n with a bitmap: the same, and asks for the flits whose bits are
 * set. NAK_ONE n without one: asks for flit n + 1, and acknowledges nothing.
 * Sync n: the sender has given up all before n; n is the next number, even if
 * others are missing. Probe: the sender has sent all before n, and asks which
 * of it has arrived. The answer is an echo, which acknowledges all up to n, and
 * whose bitmap names the missing flits of the rest: bit i is n + 1 + base + i.
 * A bitmap may end before the last of them: it asks for what it names, and says
 * nothing of the others.
 *
 * Lost n: without retry, the receiver did not wait for packets n .. tag-1.
 *
 * Hello: only identifies its sender (ep_inc.c).
 *
 * Profiles that have the fields also put command and low bits of n into
 * ReplayCmd and FSN. The full number keeps a late stand-alone flit from being
 * taken for another.
 */

#include "rl_flit.h"

/** Commands that have a ReplayCmd use its number. */
enum ep_cmd {
	EP_CMD_SYNC = RL_CMD_SEQ,
	EP_CMD_ACK = RL_CMD_ACK,
	EP_CMD_NAK_GBN = RL_CMD_NAK_GBN,
	EP_CMD_NAK_ONE = RL_CMD_NAK_ONE,
	EP_CMD_PROBE = RL_FLIT_CMD_PROBE,
	EP_CMD_ECHO,
	EP_CMD_LOST,
	EP_CMD_HELLO,
	EP_CMDS,
};

#define EP_CTRL_CMD_OFF RL_FLIT_CMD_OFF
#define EP_CTRL_MAP_BYTES_OFF 19
#define EP_CTRL_SEQ_OFF 20
#define EP_CTRL_TAG_OFF 24
#define EP_CTRL_FROM_OFF 28
#define EP_CTRL_TO_OFF 32
#define EP_CTRL_FLAGS_OFF 36
#define EP_CTRL_MAP_OFF 40
#define EP_CTRL_MAP_MAX 64
#define EP_CTRL_BUSY 0x01 /**< in the flags */
#define EP_CTRL_SHARE_SHIFT 1 /**< in the flags, ... */
#define EP_SHARE_MAX 15	      /**< ... four bits */
/** Bytes without a bitmap, as counted by valid_bytes. */
#define EP_CTRL_BYTES (EP_CTRL_MAP_OFF - 18)

/** The contents of a stand-alone flit. */
struct ep_ctrl {
	enum ep_cmd cmd;
	uint32_t n;
	uint32_t tag;
	uint32_t from; /**< incarnations, as received */
	uint32_t to;
	uint8_t flags;
	uint32_t base; /**< of the bitmap, 24 bits */
	unsigned int map_bytes;
	uint8_t map[EP_CTRL_MAP_MAX];
};

struct ep_flow;
struct rl_ep;

/* ep_ack.c */
/** A NAK with a bitmap. */
void ep_on_nak_map(struct rl_ep *ep, struct ep_flow *flow,
		   const struct ep_ctrl *c, uint64_t now_ns);
/** Of the flits sent, marks those that the bitmap names. */
void ep_mark_map(struct rl_ep *ep, struct ep_flow *flow,
		 const struct ep_ctrl *c);

#endif /* EP_CTRL_H */
