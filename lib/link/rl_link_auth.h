/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_LINK_AUTH_H
#define RL_LINK_AUTH_H

/**
 * @file
 * The keyed check of a link's frames, as a port sees it [PHY-3]. Who knows no
 * key can neither send a frame that a port takes, nor change one, nor make it
 * take an old one again, nor send it its own.
 *
 * A port with a check puts a tag behind each frame it sends, and drops each
 * frame whose tag is not right, also after FEC has mended its flits. The tag
 * covers all of a frame behind its Ethernet header, which a kernel or a NIC may
 * rewrite. What tells one frame from another:
 *
 *  - which link, and which end of it sends: another key for each. So a frame
 *    of another link, and one that comes back to its sender, are strangers'.
 *  - the training: the keys of an epoch come from the nonces of both ends.
 *    INIT frames, which bring the nonces, have a key that stays.
 *  - the stamp: it grows from frame to frame and is part of the check. What is
 *    not newer than what was heard is dropped, or is a duplicate, as without
 *    a key.
 *
 * An INIT frame of an earlier training can be sent again by anyone who has
 * recorded it. It opens nothing, for it does not echo the nonce of now. And it
 * ends nothing: an end that is UP believes a new peer only when that echoes
 * its nonce (port_shake.c).
 *
 * The check itself comes from the host (drivers/auth): this folder has no
 * cryptography.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rl_base.h"

RL_PUBLIC_BEGIN

/** Bytes of a tag. */
#define RL_AUTH_TAG_BYTES 16

/** Which of a link's keys. */
enum rl_auth_use {
	RL_AUTH_INIT,  /**< INIT frames: the same key at all times */
	RL_AUTH_EPOCH, /**< all others: rl_link_auth_ops.epoch() */
};

/**
 * All calls are made on the lcore of the port. @p frame points behind the
 * Ethernet header, at @p len bytes; @p stamp is the frame's own, which its
 * sender never uses twice in an epoch.
 */
struct rl_link_auth_ops {
	/** An epoch begins; its keys hold until the next one. */
	void (*epoch)(void *ctx, uint64_t own_nonce, uint64_t peer_nonce);
	/** Writes the tag of a frame of this end. */
	void (*seal)(void *ctx, enum rl_auth_use use, uint64_t stamp,
		     const uint8_t *frame, uint32_t len,
		     uint8_t tag[RL_AUTH_TAG_BYTES]);
	/** @return whether a frame is the other end's, as it left there */
	bool (*check)(void *ctx, enum rl_auth_use use, uint64_t stamp,
		      const uint8_t *frame, uint32_t len,
		      const uint8_t tag[RL_AUTH_TAG_BYTES]);
};

/** The check of one end of one link. */
struct rl_link_auth {
	void *ctx;
	const struct rl_link_auth_ops *ops;
};

RL_PUBLIC_END

#endif /* RL_LINK_AUTH_H */
