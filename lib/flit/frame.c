/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "crc32_step.h"
#include "rl_crc32c.h"
#include "rl_frame.h"

/*
 * A header is built and read as words of eight bytes, in registers: if it were
 * stored in smaller pieces, loading it for its check would wait until all of
 * them, and the flits copied before them, have left the store buffer.
 *
 * The check covers the link header with its own field taken as zero. The
 * Ethernet header is left out: a kernel or a NIC may rewrite the addresses. So
 * the check begins with the last two bytes of word 1, and skips four of word 6.
 */
#define WORDS_SHORT (RL_FRAME_HEADER_SHORT / 8u)
#define WORDS_LONG (RL_FRAME_HEADER_LONG / 8u)
#define INIT_WORD (RL_FRAME_INIT_OFF / 8u)
#define CHECK_WORD (RL_FRAME_CHECK_OFF / 8u)
#define CHECK_SHIFT (8u * (RL_FRAME_CHECK_OFF % 8u))
#define CHECK_HOLE (~(UINT64_C(0xffffffff) << CHECK_SHIFT))
#define SIDEBAND_SHIFT (8u * (RL_FRAME_SIDEBAND_OFF % 8u))
#define SIDEBANDS_WORD 4u /* of word 7 and later ones */

#define FRAME_INLINE static inline __attribute__((always_inline))

/* Bytes 12 and 13, as in word 1. */
#define ETHERTYPE_LE                                                           \
	((uint64_t)(RL_FRAME_ETHERTYPE >> 8 | (RL_FRAME_ETHERTYPE & 0xff) << 8))

_Static_assert(CHECK_WORD == RL_FRAME_SIDEBAND_OFF / 8u &&
		       CHECK_WORD == WORDS_SHORT - 2,
	       "word 6 has the check and the first sideband");

/*
 * A header word in memory, loaded and stored as such: volatile. If the compiler
 * merges two words it goes through the stack, where loading both waits until
 * each has left the store buffer.
 */
typedef volatile uint64_t frame_word __attribute__((may_alias, aligned(1)));
/*
 * A sideband, too: the compiler merges four into a word, which waits as well.
 */
typedef volatile uint16_t frame_half __attribute__((may_alias, aligned(1)));

/* Bytes of the header that the check covers, and before them. */
FRAME_INLINE uint32_t
frame_header(unsigned int type, unsigned int nflits)
{
	return type == RL_FRAME_INIT ? RL_FRAME_HEADER_LONG
				     : rl_frame_header_bytes(nflits);
}

#if defined(CRC32_TARGET)
#define FRAME_HW CRC32_TARGET

/* The check of a header of @p n words. */
FRAME_HW FRAME_INLINE uint32_t
check_hw(const uint64_t w[], uint32_t n)
{
	uint64_t c = CRC32_2(~0u, (uint16_t)(w[1] >> 48));

	c = CRC32_8(c, w[2]);
	c = CRC32_8(c, w[3]);
	c = CRC32_8(c, w[4]);
	c = CRC32_8(c, w[5]);
	c = CRC32_8(c, w[6] & CHECK_HOLE);
	c = CRC32_8(c, w[7]);
	for (uint32_t i = WORDS_SHORT; i < n; i++)
		c = CRC32_8(c, w[i]);
	return ~(uint32_t)c;
}

#else
#define FRAME_HW

FRAME_INLINE uint32_t
check_hw(RL_UNUSED const uint64_t w[], RL_UNUSED uint32_t n)
{
	RL_ASSERT(false); /* never hw without the instruction */
	return 0;
}

#endif

static uint32_t
check_sw(const uint64_t w[], uint32_t n)
{
	return rl_crc32c_hole((const uint8_t *)w + RL_FRAME_LINK_OFF,
			      8 * n - RL_FRAME_LINK_OFF,
			      RL_FRAME_CHECK_OFF - RL_FRAME_LINK_OFF, false);
}

/* Words 0 to 6, except the check. @p first: sideband of the first flit. */
FRAME_INLINE void
head_words(uint64_t w[], const struct rl_frame_hdr *h, const uint8_t *mac,
	   uint16_t first)
{
	w[0] = rl_get64(mac);
	w[1] = rl_get32(mac + 8) | ETHERTYPE_LE << 32 |
	       (uint64_t)(h->type | RL_FRAME_VERSION << 4) << 48 |
	       (uint64_t)h->nflits << 56;
	w[2] = h->flags | (h->stamp >> 48 & 0xff) << 8 |
	       (uint64_t)h->tx_epoch << 16 | (uint64_t)h->rx_epoch << 24 |
	       (uint64_t)h->seq << 32 | (uint64_t)h->ack << 48;
	memcpy(w + 3, h->credit, sizeof(h->credit));
	w[5] = (h->stamp & 0xffffffffffff) | (uint64_t)h->stamp_echo << 48;
	w[6] = h->stamp_echo >> 16 | (uint64_t)first << SIDEBAND_SHIFT;
}

/*
 * Four sidebands as a word. One by one, as they were stored: a load of eight
 * bytes would wait for all four stores and earlier ones.
 */
FRAME_INLINE uint64_t
sideband_word(const uint8_t *sideband)
{
	const frame_half *const s = (const frame_half *)(const void *)sideband;
	const uint64_t a = s[0], b = s[1], c = s[2], d = s[3];

	return a | b << 16 | c << 32 | d << 48;
}

/*
 * Words from 7 on: the sidebands of all flits except the first, unused ones
 * zero.
 * @return how many words the header has
 */
FRAME_INLINE uint32_t
tail_words(uint64_t w[], const uint8_t *sideband, uint32_t words,
	   uint32_t nflits)
{
	uint32_t left = nflits - 1;

	for (uint32_t i = WORDS_SHORT - 1; i < words; i++) {
		w[i] = 0;
		if (left == 0)
			continue;
		w[i] = sideband_word(sideband + 2 +
				     8 * (i - (WORDS_SHORT - 1)));
		if (left < SIDEBANDS_WORD)
			w[i] &= (UINT64_C(1) << 16 * left) - 1;
		left -= left < SIDEBANDS_WORD ? left : SIDEBANDS_WORD;
	}
	return words;
}

/* A header without flits: its last words, and the frame's padding. */
static uint32_t
tail_empty(uint64_t w[], uint8_t *frame, const struct rl_frame_hdr *h)
{
	const uint32_t header_bytes = frame_header(h->type, 0);
	const uint32_t bytes = rl_frame_length(h);

	w[WORDS_SHORT - 1] = 0;
	if (h->type == RL_FRAME_INIT)
		memcpy(w + INIT_WORD, frame + RL_FRAME_INIT_OFF,
		       RL_FRAME_HEADER_LONG - RL_FRAME_INIT_OFF);
	memset(frame + header_bytes, 0, bytes - header_bytes);
	return header_bytes / 8;
}

/* A header except its check. @return its length in words */
FRAME_INLINE uint32_t
header_words(uint64_t w[], uint8_t *frame, const struct rl_frame_hdr *h,
	     const uint8_t *sideband, const uint8_t *mac)
{
	if (rl_likely(h->nflits != 0)) {
		head_words(w, h, mac, rl_get16(sideband));
		return tail_words(w, sideband,
				  frame_header(h->type, h->nflits) / 8,
				  h->nflits);
	}
	head_words(w, h, mac, (uint16_t)rl_frame_length(h));
	return tail_empty(w, frame, h);
}

FRAME_INLINE void
store_words(uint8_t *frame, uint64_t w[], uint32_t n, uint32_t check)
{
	frame_word *const to = (frame_word *)(void *)frame;

	w[CHECK_WORD] |= (uint64_t)check << CHECK_SHIFT;
#pragma GCC unroll 8
	for (uint32_t i = 0; i < n; i++)
		to[i] = w[i];
}

FRAME_INLINE uint64_t
short_tail(const uint8_t *sideband, uint32_t nflits)
{
	return nflits == 1 ? 0
			   : sideband_word(sideband + 2) &
				     ~UINT64_C(0) >> (80 - 16 * nflits);
}

/* The common header: few flits. None of it goes through memory. */
FRAME_HW FRAME_INLINE void
seal_short_hw(uint8_t *frame, const struct rl_frame_hdr *h,
	      const uint8_t *sideband, const uint8_t *mac)
{
	uint64_t w[WORDS_SHORT];

	head_words(w, h, mac, rl_get16(sideband));
	w[7] = short_tail(sideband, h->nflits);
	store_words(frame, w, WORDS_SHORT, check_hw(w, WORDS_SHORT));
}

FRAME_HW static void
seal_long_hw(uint8_t *frame, const struct rl_frame_hdr *h,
	     const uint8_t *sideband, const uint8_t *mac)
{
	uint64_t w[WORDS_LONG];
	const uint32_t n = header_words(w, frame, h, sideband, mac);

	store_words(frame, w, n, check_hw(w, n));
}

FRAME_HW static void
seal_hw(uint8_t *frame, const struct rl_frame_hdr *h, const uint8_t *sideband,
	const uint8_t *mac)
{
	if (rl_likely(h->type == RL_FRAME_DATA &&
		      h->nflits - 1u < RL_FRAME_FLITS_SHORT))
		seal_short_hw(frame, h, sideband, mac);
	else
		seal_long_hw(frame, h, sideband, mac);
}

static void
seal_sw(uint8_t *frame, const struct rl_frame_hdr *h, const uint8_t *sideband,
	const uint8_t *mac)
{
	uint64_t w[WORDS_LONG];
	const uint32_t n = header_words(w, frame, h, sideband, mac);

	store_words(frame, w, n, check_sw(w, n));
}

void
rl_frame_seal_from(uint8_t *frame, const struct rl_frame_hdr *h,
		   const uint8_t *sideband, const uint8_t *mac, bool hw)
{
	RL_DASSERT(h->nflits <= RL_FRAME_FLITS_MAX);
	if (rl_likely(hw))
		seal_hw(frame, h, sideband, mac);
	else
		seal_sw(frame, h, sideband, mac);
}

void
rl_frame_like(struct rl_frame_like *like, const struct rl_frame_hdr *h,
	      const uint8_t *mac)
{
	struct rl_frame_hdr bare = *h;

	bare.type = RL_FRAME_DATA;
	bare.nflits = 0;
	bare.seq = 0;
	bare.stamp = 0;
	head_words(like->word, &bare, mac, 0);
}

/* Words 0 to 6 of such a header, except the check. */
FRAME_INLINE void
like_words(uint64_t w[], const struct rl_frame_like *like, uint32_t nflits,
	   uint16_t seq, uint64_t stamp, uint16_t first)
{
	const frame_word *const from = (const frame_word *)like->word;

	w[0] = from[0];
	w[1] = from[1] | (uint64_t)nflits << 56;
	w[2] = from[2] | (stamp >> 48 & 0xff) << 8 | (uint64_t)seq << 32;
	w[3] = from[3];
	w[4] = from[4];
	w[5] = from[5] | (stamp & 0xffffffffffff);
	w[6] = from[6] | (uint64_t)first << SIDEBAND_SHIFT;
}

FRAME_HW static void
like_short_hw(uint8_t *frame, const struct rl_frame_like *like,
	      uint32_t nflits, uint16_t seq, uint64_t stamp,
	      const uint8_t *sideband)
{
	uint64_t w[WORDS_SHORT];

	like_words(w, like, nflits, seq, stamp, rl_get16(sideband));
	w[7] = short_tail(sideband, nflits);
	store_words(frame, w, WORDS_SHORT, check_hw(w, WORDS_SHORT));
}

/* More flits, or another CPU. */
FRAME_HW static void
like_long(uint8_t *frame, const struct rl_frame_like *like, uint32_t nflits,
	  uint16_t seq, uint64_t stamp, const uint8_t *sideband, bool hw)
{
	uint64_t w[WORDS_LONG];
	uint32_t n;

	like_words(w, like, nflits, seq, stamp, rl_get16(sideband));
	n = tail_words(w, sideband, rl_frame_header_bytes(nflits) / 8, nflits);
	store_words(frame, w, n, hw ? check_hw(w, n) : check_sw(w, n));
}

void
rl_frame_seal_like(uint8_t *frame, const struct rl_frame_like *like,
		   uint32_t nflits, uint16_t seq, uint64_t stamp,
		   const uint8_t *sideband, bool hw)
{
	RL_DASSERT(nflits >= 1 && nflits <= RL_FRAME_FLITS_MAX);
	if (rl_likely(hw && nflits <= RL_FRAME_FLITS_SHORT))
		like_short_hw(frame, like, nflits, seq, stamp, sideband);
	else
		like_long(frame, like, nflits, seq, stamp, sideband, hw);
}

void
rl_frame_seal(uint8_t *frame, const struct rl_frame_hdr *h, const uint8_t *mac,
	      bool hw)
{
	rl_frame_seal_from(frame, h, frame + RL_FRAME_SIDEBAND_OFF, mac, hw);
}

void
rl_frame_init_put(uint8_t *frame, const struct rl_frame_init *init)
{
	uint8_t *at = frame + RL_FRAME_INIT_OFF;

	memset(at, 0, RL_FRAME_HEADER_LONG - RL_FRAME_INIT_OFF);
	rl_put64(at, init->nonce);
	rl_put64(at + 8, init->nonce_echo);
	rl_put64(at + 16, init->incarnation);
	rl_put64(at + 24, init->digest);
	at[32] = init->flits;
	at[33] = init->keyed;
	at[34] = init->place.end;
	rl_put32(at + 36, init->place.link);
	rl_put16(at + 40, init->place.port);
	memcpy(at + 42, init->place.dev, RL_FRAME_NAME_BYTES);
}

/* Makes a name safe for log lines. */
static char
name_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
			       (c >= 'a' && c <= 'z') || c == '.' || c == '_'
		       ? c
		       : '?';
}

void
rl_frame_init_get(const uint8_t *frame, struct rl_frame_init *init)
{
	const uint8_t *at = frame + RL_FRAME_INIT_OFF;

	init->nonce = rl_get64(at);
	init->nonce_echo = rl_get64(at + 8);
	init->incarnation = rl_get64(at + 16);
	init->digest = rl_get64(at + 24);
	init->flits = at[32];
	init->keyed = at[33] & 1;
	init->place = (struct rl_frame_place){
		.link = rl_get32(at + 36),
		.port = rl_get16(at + 40),
		.end = at[34] & 1,
	};
	for (unsigned int i = 0; i < RL_FRAME_NAME_BYTES && at[42 + i] != 0; i++)
		init->place.dev[i] = name_char((char)at[42 + i]);
}

/*
 * One by one, as they are read later: loads in blocks would stall those reads.
 */
FRAME_INLINE void
load_words(uint64_t w[], const uint8_t *frame, uint32_t from, uint32_t to)
{
	const frame_word *const word = (const frame_word *)(const void *)frame;

#pragma GCC unroll 8
	for (uint32_t i = from; i < to; i++)
		w[i] = word[i];
}

uint8_t
rl_frame_init_version(const uint8_t *frame, uint32_t len)
{
	uint64_t w[WORDS_LONG];

	if (len < RL_FRAME_HEADER_LONG)
		return 0;
	load_words(w, frame, 0, WORDS_LONG);
	if ((w[1] >> 32 & 0xffff) != ETHERTYPE_LE ||
	    (w[1] >> 48 & 0xf) != RL_FRAME_INIT || w[1] >> 56 != 0 ||
	    (uint32_t)(w[CHECK_WORD] >> CHECK_SHIFT) !=
		    check_sw(w, WORDS_LONG))
		return 0;
	return w[1] >> 52 & 0xf;
}

/* Without flits: checks the stated length of the frame. */
static enum rl_frame_error
open_empty(struct rl_frame_hdr *h, uint32_t len, uint16_t said)
{
	h->bytes = said;
	h->bytes = (uint16_t)rl_frame_length(h);
	if (h->bytes > RL_FRAME_BYTES_MAX)
		return RL_FRAME_COUNT_ERR;
	return len < h->bytes ? RL_FRAME_TRUNCATED : RL_FRAME_OK;
}

FRAME_INLINE uint64_t
stamp_of(const uint64_t w[])
{
	return (w[2] >> 8 & 0xff) << 48 | (w[5] & 0xffffffffffff);
}

FRAME_INLINE void
read_words(struct rl_frame_hdr *h, const uint64_t w[])
{
	h->flags = (uint8_t)w[2];
	h->tx_epoch = (uint8_t)(w[2] >> 16);
	h->rx_epoch = (uint8_t)(w[2] >> 24);
	h->seq = (uint16_t)(w[2] >> 32);
	h->ack = (uint16_t)(w[2] >> 48);
	/* as two words, as they were loaded */
	memcpy(h->credit, w + 3, sizeof(w[3]));
	memcpy(h->credit + RL_VCS / 2, w + 4, sizeof(w[4]));
	h->stamp = stamp_of(w);
	h->stamp_echo = (uint32_t)(w[5] >> 48 | w[6] << 16);
	h->bytes = 0;
}

/* Checks before the CRC. @p n: words of the header */
FRAME_INLINE enum rl_frame_error
open_words(uint64_t w[], const uint8_t *frame, uint32_t len,
	   struct rl_frame_hdr *h, uint32_t *n)
{
	if (len < RL_FRAME_HEADER_SHORT)
		return RL_FRAME_TRUNCATED;
	load_words(w, frame, 0, WORDS_SHORT);
	if ((w[1] >> 32 & 0xffff) != ETHERTYPE_LE)
		return RL_FRAME_ETHERTYPE_ERR;
	if ((w[1] >> 52 & 0xf) != RL_FRAME_VERSION)
		return RL_FRAME_VERSION_ERR;
	h->type = w[1] >> 48 & 0xf;
	h->nflits = (uint8_t)(w[1] >> 56);
	if (h->nflits > RL_FRAME_FLITS_MAX || len < rl_frame_bytes(h->nflits))
		return RL_FRAME_COUNT_ERR;
	*n = frame_header(h->type, h->nflits) / 8;
	if (len < 8 * *n)
		return RL_FRAME_TRUNCATED;
	load_words(w, frame, WORDS_SHORT, *n);
	return RL_FRAME_OK;
}

FRAME_INLINE enum rl_frame_error
open_checked(const uint64_t w[], uint32_t len, struct rl_frame_hdr *h,
	     uint32_t check)
{
	if ((uint32_t)(w[CHECK_WORD] >> CHECK_SHIFT) != check)
		return RL_FRAME_CHECK_ERR;
	if (h->type < RL_FRAME_DATA || h->type > RL_FRAME_CLOSE ||
	    (h->type == RL_FRAME_DATA) != (h->nflits > 0))
		return RL_FRAME_TYPE_ERR;
	read_words(h, w);
	if (rl_likely(h->nflits > 0))
		return RL_FRAME_OK;
	return open_empty(h, len, (uint16_t)(w[6] >> SIDEBAND_SHIFT));
}

/*
 * The common header: valid, with few flits. @return whether it was one;
 * otherwise the caller must find out what it is.
 */
FRAME_HW FRAME_INLINE bool
open_short_hw(const uint8_t *frame, uint32_t len, struct rl_frame_hdr *h)
{
	const uint64_t like = ETHERTYPE_LE |
			      (RL_FRAME_DATA | RL_FRAME_VERSION << 4) << 16;
	uint64_t w[WORDS_SHORT];

	if (len < RL_FRAME_HEADER_SHORT)
		return false;
	load_words(w, frame, 0, WORDS_SHORT);
	h->type = RL_FRAME_DATA;
	h->nflits = (uint8_t)(w[1] >> 56);
	if ((w[1] >> 32 & 0xffffff) != like ||
	    h->nflits - 1u >= RL_FRAME_FLITS_SHORT ||
	    len < RL_FRAME_HEADER_SHORT + (uint32_t)h->nflits * RL_FLIT_BYTES ||
	    (uint32_t)(w[CHECK_WORD] >> CHECK_SHIFT) !=
		    check_hw(w, WORDS_SHORT))
		return false;
	read_words(h, w);
	return true;
}

FRAME_HW static enum rl_frame_error
open_long_hw(const uint8_t *frame, uint32_t len, struct rl_frame_hdr *h)
{
	uint64_t w[WORDS_LONG];
	uint32_t n = 0;
	const enum rl_frame_error e = open_words(w, frame, len, h, &n);

	return rl_unlikely(e != RL_FRAME_OK)
		       ? e
		       : open_checked(w, len, h, check_hw(w, n));
}

FRAME_HW static enum rl_frame_error
open_hw(const uint8_t *frame, uint32_t len, struct rl_frame_hdr *h)
{
	if (rl_likely(open_short_hw(frame, len, h)))
		return RL_FRAME_OK;
	return open_long_hw(frame, len, h);
}

static enum rl_frame_error
open_sw(const uint8_t *frame, uint32_t len, struct rl_frame_hdr *h)
{
	uint64_t w[WORDS_LONG];
	uint32_t n = 0;
	const enum rl_frame_error e = open_words(w, frame, len, h, &n);

	return e != RL_FRAME_OK ? e
				: open_checked(w, len, h, check_sw(w, n));
}

/* Fields shared by the headers of a burst, by words from 1 on. */
#define LIKE_WORD1 UINT64_C(0x00ffffff00000000)
#define LIKE_WORD2 (~(UINT64_C(0xffff) << 32))
#define LIKE_WORD5 (UINT64_C(0xffff) << 48)
#define LIKE_WORD6 UINT64_C(0xffff)

FRAME_HW static uint32_t
open_like_hw(const uint8_t *frame, uint32_t len, const uint8_t *before,
	     uint16_t *seq, uint64_t *stamp)
{
	const frame_word *const b = (const frame_word *)(const void *)before;
	uint64_t w[WORDS_LONG];
	uint32_t nflits, n;

	if (rl_unlikely(len < RL_FRAME_HEADER_SHORT))
		return 0;
	load_words(w, frame, 0, WORDS_SHORT);
	if (((w[1] ^ b[1]) & LIKE_WORD1) | ((w[2] ^ b[2]) & LIKE_WORD2) |
	    (w[3] ^ b[3]) | (w[4] ^ b[4]) | ((w[5] ^ b[5]) & LIKE_WORD5) |
	    ((w[6] ^ b[6]) & LIKE_WORD6))
		return 0;
	nflits = w[1] >> 56;
	if (nflits - 1u >= RL_FRAME_FLITS_MAX || len < rl_frame_bytes(nflits))
		return 0;
	n = rl_frame_header_bytes(nflits) / 8;
	load_words(w, frame, WORDS_SHORT, n);
	if ((uint32_t)(w[CHECK_WORD] >> CHECK_SHIFT) != check_hw(w, n))
		return 0;
	*seq = (uint16_t)(w[2] >> 32);
	*stamp = stamp_of(w);
	return nflits;
}

uint32_t
rl_frame_open_like(const uint8_t *frame, uint32_t len, const uint8_t *before,
		   uint16_t *seq, uint64_t *stamp, bool hw)
{
	return rl_likely(hw) ? open_like_hw(frame, len, before, seq, stamp) : 0;
}

enum rl_frame_error
rl_frame_open(const uint8_t *frame, uint32_t len, struct rl_frame_hdr *h,
	      bool hw)
{
	if (rl_likely(hw))
		return open_hw(frame, len, h);
	return open_sw(frame, len, h);
}
