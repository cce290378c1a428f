/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_AUTH_H
#define RL_AUTH_H

/**
 * @file The keyed check of frames by OpenSSL's libcrypto: implements
 * rl_link_auth.h [PHY-3].
 *
 *   key file --HKDF--> root --HKDF(link, end)--> key of INIT frames
 *                        \---HKDF(nonces, link, end)--> key of an epoch
 *
 * INIT frames have an HMAC-SHA-256, truncated to 16 bytes: their key is fixed,
 * and repeated stamps do no harm. All others have an AES-256-GMAC with the
 * stamp as its nonce, which is never repeated in an epoch.
 *
 * Anyone with the key file can act as either end of any link. Frames are not
 * encrypted: anyone who can listen can read them.
 */

#include <stddef.h>
#include <stdint.h>

#include "rl_link_auth.h"

#define RL_AUTH_ROOT_BYTES 32
/** Size limits of a key file, without white space at its end. */
#define RL_AUTH_FILE_MIN 32
#define RL_AUTH_FILE_MAX 4096

/** The secret from which all keys of a fabric are derived. */
struct rl_auth_root {
	uint8_t key[RL_AUTH_ROOT_BYTES];
};

/** The check of one end of one link. */
struct rl_auth;

/**
 * Control thread. Reads a key file: any 32 to 4,096 bytes, readable only by its
 * owner.
 *
 * @param err  @p len bytes: what is wrong and what to do, on failure
 * @return 0 or -errno of the file; -EACCES: others may read it; -EINVAL: too
 *   short, too long, or no plain file
 */
int rl_auth_root_read(struct rl_auth_root *root, const char *path, char *err,
		      size_t len);

/** Any thread. The same from memory, for tests and benchmarks. */
void rl_auth_root_make(struct rl_auth_root *root, const void *secret,
		       size_t len);

/**
 * Control thread. @p link: its name, the same at both ends; @p end: 0 or 1.
 * @return NULL: no memory
 */
struct rl_auth *rl_auth_open(const struct rl_auth_root *root, const char *link,
			     unsigned int end);

/** The check for a port; valid as long as @p a. */
const struct rl_link_auth *rl_auth_link(const struct rl_auth *a);

/** Control thread, after the port. Wipes the keys. @p a may be NULL. */
void rl_auth_close(struct rl_auth *a);

#endif /* RL_AUTH_H */
