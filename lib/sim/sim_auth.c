/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The keyed check of links in virtual time. There is no attacker here, so a fast
 * hash replaces cryptography. Keys are as in drivers/auth: one for each end of
 * each link, for INIT frames and for each epoch.
 */

#include <errno.h>
#include <string.h>

#include "sim_priv.h"

/* One end of one link. */
struct sim_auth {
	struct rl_link_auth link;
	uint64_t sends; /* key of frames that it sends */
	uint64_t hears; /* key of frames that it receives */
	uint64_t epoch_sends;
	uint64_t epoch_hears;
};

static uint64_t
key_of(uint64_t end, uint64_t from_nonce, uint64_t to_nonce)
{
	uint64_t x = end ^ 0x6b6579u;

	x = rl_splitmix64(&x) ^ from_nonce;
	x = rl_splitmix64(&x) ^ to_nonce;
	return rl_splitmix64(&x);
}

static void
auth_epoch(void *ctx, uint64_t own_nonce, uint64_t peer_nonce)
{
	struct sim_auth *a = ctx;

	a->epoch_sends = key_of(a->sends, own_nonce, peer_nonce);
	a->epoch_hears = key_of(a->hears, peer_nonce, own_nonce);
}

static void
tag_of(uint64_t key, uint64_t stamp, const uint8_t *frame, uint32_t len,
       uint64_t tag[2])
{
	uint64_t h = key ^ stamp * 0x9e3779b97f4a7c15ull;

	for (uint32_t i = 0; i < len; i += 8) {
		uint64_t w = 0;

		memcpy(&w, frame + i, rl_min_u32(8, len - i));
		h = (h ^ w) * 0xff51afd7ed558ccdull;
		h ^= h >> 29;
	}
	tag[0] = rl_splitmix64(&h);
	tag[1] = rl_splitmix64(&h);
}

static void
auth_seal(void *ctx, enum rl_auth_use use, uint64_t stamp, const uint8_t *frame,
	  uint32_t len, uint8_t tag[RL_AUTH_TAG_BYTES])
{
	const struct sim_auth *a = ctx;
	uint64_t t[2];

	tag_of(use == RL_AUTH_INIT ? a->sends : a->epoch_sends, stamp, frame,
	       len, t);
	memcpy(tag, t, RL_AUTH_TAG_BYTES);
}

static bool
auth_check(void *ctx, enum rl_auth_use use, uint64_t stamp,
	   const uint8_t *frame, uint32_t len,
	   const uint8_t tag[RL_AUTH_TAG_BYTES])
{
	const struct sim_auth *a = ctx;
	uint64_t t[2];

	tag_of(use == RL_AUTH_INIT ? a->hears : a->epoch_hears, stamp, frame,
	       len, t);
	return memcmp(tag, t, RL_AUTH_TAG_BYTES) == 0;
}

const struct rl_link_auth *
sim_auth(void *ctx, uint32_t link, unsigned int end)
{
	static const struct rl_link_auth_ops ops = {
		.epoch = auth_epoch,
		.seal = auth_seal,
		.check = auth_check,
	};
	struct rl_sim *s = ctx;
	struct sim_auth *a = &s->auth[2 * link + end];

	a->sends = key_of(2 * (uint64_t)link + end, s->p.seed, 0);
	a->hears = key_of(2 * (uint64_t)link + !end, s->p.seed, 0);
	a->link = (struct rl_link_auth){ .ctx = a, .ops = &ops };
	return &a->link;
}

int
sim_auth_open(struct rl_sim *s)
{
	if (!s->p.keyed)
		return 0;
	s->auth = sim_alloc(s->mem, s->p.cfg->topo.nlink * 2 *
					    sizeof(*s->auth));
	return s->auth == NULL ? -ENOMEM : 0;
}
