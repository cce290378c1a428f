/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "rl_l2.h"
#include "rl_prng.h"

#define HEADER_BYTES 14
#define TAG_BYTES 4
#define GROUP_BIT 0x01
#define KNOWN (1ull << 63) /* distinguishes a key from an empty place */

static uint64_t
mac_of(const uint8_t *p)
{
	uint64_t mac = 0;

	for (int i = 0; i < 6; i++)
		mac = mac << 8 | p[i];
	return mac;
}

/* 802.1Q and 802.1ad: the outer tag's VLAN; 0: none, or only a priority. */
static uint64_t
vlan_of(const uint8_t *frame, uint32_t len)
{
	const unsigned int type = frame[12] << 8 | frame[13];

	if ((type != 0x8100 && type != 0x88a8) ||
	    len < HEADER_BYTES + TAG_BYTES)
		return 0;
	return (uint64_t)(frame[14] & 0x0f) << 8 | frame[15];
}

static uint64_t
key_of(const uint8_t *mac, const uint8_t *frame, uint32_t len)
{
	return KNOWN | vlan_of(frame, len) << 48 | mac_of(mac);
}

/* The places that a station may be in. */
static struct rl_l2_station *
places(struct rl_l2 *l2, uint64_t key)
{
	uint64_t x = key;
	const uint64_t h = rl_splitmix64(&x);

	return &l2->station[h & (RL_L2_STATIONS - RL_L2_WAYS)];
}

static bool
is_old(const struct rl_l2 *l2, const struct rl_l2_station *s, uint64_t now_ns)
{
	return !s->fixed && now_ns - s->seen_ns >= l2->ageing_ns;
}

static struct rl_l2_station *
find(struct rl_l2 *l2, uint64_t key, uint64_t now_ns)
{
	struct rl_l2_station *s = places(l2, key);

	for (unsigned int i = 0; i < RL_L2_WAYS; i++)
		if (s[i].key == key && !is_old(l2, &s[i], now_ns))
			return &s[i];
	return NULL;
}

/*
 * A place for a new station: an empty one, an expired one, or the oldest. NULL:
 * fixed stations have all.
 */
static struct rl_l2_station *
place(struct rl_l2 *l2, uint64_t key, uint64_t now_ns)
{
	struct rl_l2_station *s = places(l2, key), *best = NULL;

	for (unsigned int i = 0; i < RL_L2_WAYS; i++) {
		if (s[i].key == key || s[i].key == 0)
			return &s[i];
		if (!s[i].fixed &&
		    (best == NULL || s[i].seen_ns < best->seen_ns))
			best = &s[i];
	}
	l2->c.pushed += best != NULL && !is_old(l2, best, now_ns);
	return best;
}

static void
learn(struct rl_l2 *l2, uint64_t key, uint16_t port, uint64_t now_ns)
{
	struct rl_l2_station *s = find(l2, key, now_ns);

	if (s != NULL && s->fixed) {
		l2->c.elsewhere += s->port != port;
		return;
	}
	if (s == NULL) {
		s = place(l2, key, now_ns);
		if (s == NULL)
			return;
		l2->c.learned++;
	} else if (s->port != port) {
		l2->c.moved++;
	}
	*s = (struct rl_l2_station){ key, now_ns, port, false };
}

void
rl_l2_init(struct rl_l2 *l2, uint16_t own, uint64_t ageing_ns)
{
	memset(l2, 0, sizeof(*l2));
	l2->own = own;
	l2->ageing_ns = ageing_ns;
}

bool
rl_l2_fix(struct rl_l2 *l2, const uint8_t mac[6], uint16_t vlan, uint16_t port)
{
	const uint64_t key = KNOWN | (uint64_t)(vlan & 0x0fff) << 48 |
			     mac_of(mac);
	struct rl_l2_station *s = place(l2, key, 0);

	if (s == NULL)
		return false;
	*s = (struct rl_l2_station){ key, 0, port, true };
	return true;
}

static bool
is_sane(const uint8_t *frame, uint32_t len)
{
	return len >= HEADER_BYTES && (frame[6] & GROUP_BIT) == 0;
}

void
rl_l2_arrived(struct rl_l2 *l2, const uint8_t *frame, uint32_t len,
	      uint16_t port, uint64_t now_ns)
{
	if (is_sane(frame, len))
		learn(l2, key_of(frame + 6, frame, len), port, now_ns);
}

/*
 * 01-80-C2-00-00-00 to -0F, which no bridge forwards [802.1Q, 8.6.3]: frames
 * between two neighbours must not reach a third.
 */
static bool
is_local(const uint8_t *dst)
{
	static const uint8_t group[5] = {0x01, 0x80, 0xc2, 0, 0};

	return memcmp(dst, group, sizeof(group)) == 0 && dst[5] < 16;
}

int
rl_l2_route(struct rl_l2 *l2, const uint8_t *frame, uint32_t len,
	    uint64_t now_ns)
{
	const struct rl_l2_station *s;

	if (!is_sane(frame, len))
		return RL_L2_BAD;
	if (is_local(frame)) {
		l2->c.local++;
		return RL_L2_NOBODY;
	}
	learn(l2, key_of(frame + 6, frame, len), l2->own, now_ns);
	s = (frame[0] & GROUP_BIT) != 0
		    ? NULL
		    : find(l2, key_of(frame, frame, len), now_ns);
	if (s == NULL) {
		l2->c.flooded++;
		return RL_L2_ALL;
	}
	if (s->port == l2->own) {
		l2->c.filtered++;
		return RL_L2_NOBODY;
	}
	return s->port;
}
