/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SOCKETS_H
#define RL_SOCKETS_H

/**
 * @file Sockets by which a driver has the frames of a kernel interface, one for
 * each queue. Drivers do not expose them, and leave out some of their counts.
 */

#include <stdbool.h>
#include <stdint.h>

/** Sockets of AF_XDP at an interface, or else of AF_PACKET. */
struct rl_sockets {
	int ifindex; /**< it may be renamed; 0: none */
	bool xdp;
};

/**
 * Control thread, once a port has started, before the next one does. No frames
 * that the machine itself sends by the interface come any more.
 */
void rl_sockets_begin(const struct rl_sockets *s);

/** Control thread. One of them; -1: there is none. */
int rl_sockets_any(const struct rl_sockets *s);

/**
 * Any thread. Whether a socket of rl_sockets_any() has lost its interface, which
 * was deleted or went to another network namespace; even if that is back.
 */
bool rl_sockets_lost(int fd);

/**
 * Control thread. Frames that came while their queue was full. @p before: what
 * this returned last.
 */
uint64_t rl_sockets_missed(const struct rl_sockets *s, uint64_t before);

/** Control thread. Whether all that was given to them to send has been sent. */
bool rl_sockets_flush(const struct rl_sockets *s);

#endif /* RL_SOCKETS_H */
