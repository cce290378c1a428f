/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "rl_auth.h"
#include "rl_base.h"
#include "rl_flit.h"

#define KEY_BYTES 32
#define IV_BYTES 12
#define LINK_NAME_MAX 256

struct rl_auth {
	struct rl_link_auth link;
	struct rl_auth_root root;
	uint8_t init_key[2][KEY_BYTES]; /* of frames sent by end 0, 1 */
	EVP_CIPHER_CTX *epoch[2];	/* the same of an epoch */
	unsigned int end;		/* our own */
	char name[LINK_NAME_MAX];
};

static void
hmac(const uint8_t key[KEY_BYTES], const void *data, size_t len,
     uint8_t out[KEY_BYTES])
{
	unsigned int n = KEY_BYTES;

	/* a guessable key would be worse than none */
	RL_ASSERT(HMAC(EVP_sha256(), key, KEY_BYTES, data, len, out, &n) !=
		  NULL);
}

void
rl_auth_root_make(struct rl_auth_root *root, const void *secret, size_t len)
{
	static const uint8_t salt[KEY_BYTES] = "reflit link key 1";

	hmac(salt, secret, len, root->key);
}

/* HKDF-Expand of RFC 5869, one block: the key for a use and a sender. */
static void
expand(const uint8_t prk[KEY_BYTES], const struct rl_auth *a, const char *use,
       unsigned int end, uint8_t out[KEY_BYTES])
{
	uint8_t info[LINK_NAME_MAX + 16];
	size_t n = 0;

	for (; *use != '\0'; use++)
		info[n++] = (uint8_t)*use;
	info[n++] = 0;
	info[n++] = (uint8_t)end;
	memcpy(info + n, a->name, strlen(a->name));
	n += strlen(a->name);
	info[n++] = 1;
	hmac(prk, info, n, out);
}

/* The keys depend on the nonces in the order of the ends, not of the caller. */
static void
on_epoch(void *ctx, uint64_t own_nonce, uint64_t peer_nonce)
{
	struct rl_auth *a = ctx;
	uint8_t salt[KEY_BYTES] = { 0 }, prk[KEY_BYTES], key[KEY_BYTES];

	rl_put64(salt, a->end == 0 ? own_nonce : peer_nonce);
	rl_put64(salt + 8, a->end == 0 ? peer_nonce : own_nonce);
	hmac(salt, a->root.key, sizeof(a->root.key), prk);
	for (unsigned int e = 0; e < 2; e++) {
		expand(prk, a, "epoch", e, key);
		/* without a key, checks fail */
		(void)EVP_CIPHER_CTX_reset(a->epoch[e]);
		(void)EVP_EncryptInit_ex(a->epoch[e], EVP_aes_256_gcm(), NULL,
					 key, NULL);
	}
	OPENSSL_cleanse(prk, sizeof(prk));
	OPENSSL_cleanse(key, sizeof(key));
}

static bool
gmac(EVP_CIPHER_CTX *c, uint64_t stamp, const uint8_t *frame, uint32_t len,
     uint8_t tag[RL_AUTH_TAG_BYTES])
{
	uint8_t iv[IV_BYTES] = { 0 }, none[16];
	int n;

	rl_put64(iv, stamp);
	return EVP_EncryptInit_ex(c, NULL, NULL, NULL, iv) == 1 &&
	       EVP_EncryptUpdate(c, NULL, &n, frame, (int)len) == 1 &&
	       EVP_EncryptFinal_ex(c, none, &n) == 1 &&
	       EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG,
				   RL_AUTH_TAG_BYTES, tag) == 1;
}

/* The tag of a frame that @p end sends. */
static bool
make_tag(struct rl_auth *a, unsigned int end, enum rl_auth_use use,
	 uint64_t stamp, const uint8_t *frame, uint32_t len,
	 uint8_t tag[RL_AUTH_TAG_BYTES])
{
	uint8_t full[KEY_BYTES];

	if (use == RL_AUTH_EPOCH)
		return gmac(a->epoch[end], stamp, frame, len, tag);
	hmac(a->init_key[end], frame, len, full);
	memcpy(tag, full, RL_AUTH_TAG_BYTES);
	return true;
}

static void
on_seal(void *ctx, enum rl_auth_use use, uint64_t stamp, const uint8_t *frame,
	uint32_t len, uint8_t tag[RL_AUTH_TAG_BYTES])
{
	struct rl_auth *a = ctx;

	if (!make_tag(a, a->end, use, stamp, frame, len, tag))
		memset(tag, 0, RL_AUTH_TAG_BYTES); /* the peer will refuse it */
}

static bool
on_check(void *ctx, enum rl_auth_use use, uint64_t stamp, const uint8_t *frame,
	 uint32_t len, const uint8_t tag[RL_AUTH_TAG_BYTES])
{
	struct rl_auth *a = ctx;
	uint8_t want[RL_AUTH_TAG_BYTES];

	return make_tag(a, !a->end, use, stamp, frame, len, want) &&
	       CRYPTO_memcmp(want, tag, sizeof(want)) == 0;
}

static const struct rl_link_auth_ops ops = {
	.epoch = on_epoch,
	.seal = on_seal,
	.check = on_check,
};

struct rl_auth *
rl_auth_open(const struct rl_auth_root *root, const char *link,
	     unsigned int end)
{
	struct rl_auth *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return NULL;
	a->link = (struct rl_link_auth){ .ctx = a, .ops = &ops };
	a->root = *root;
	a->end = end & 1;
	memcpy(a->name, link, strnlen(link, LINK_NAME_MAX - 1));
	for (unsigned int e = 0; e < 2; e++) {
		expand(root->key, a, "init", e, a->init_key[e]);
		a->epoch[e] = EVP_CIPHER_CTX_new();
		if (a->epoch[e] == NULL) {
			rl_auth_close(a);
			return NULL;
		}
	}
	return a;
}

const struct rl_link_auth *
rl_auth_link(const struct rl_auth *a)
{
	return &a->link;
}

void
rl_auth_close(struct rl_auth *a)
{
	if (a == NULL)
		return;
	for (unsigned int e = 0; e < 2; e++)
		EVP_CIPHER_CTX_free(a->epoch[e]);
	OPENSSL_cleanse(a, sizeof(*a));
	free(a);
}
