/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_FRAME_H
#define RL_FRAME_H

/**
 * @file The frame: what a PHY sends at once [FLIT-3]. An Ethernet header, the
 * link header (YARC's sideband, with a check of its own), and up to 32 flits.
 * All fields that change from hop to hop are here, outside the end-to-end CRC.
 *
 * Offsets from the first byte of the Ethernet header, little-endian except
 * for the EtherType:
 *
 * | bytes | what                                                          |
 * |-------|---------------------------------------------------------------|
 * | 0-5   | destination MAC (the link's own, locally administered)        |
 * | 6-11  | source MAC                                                    |
 * | 12-13 | EtherType 0x88B5 (local experimental), big-endian             |
 * | 14    | bits 0-3 type, bits 4-7 version (3)                           |
 * | 15    | flits in this frame, 0-32                                     |
 * | 16    | flags (RL_FRF_*)                                              |
 * | 17    | stamp, bits 48-55                                             |
 * | 18    | sender's transmit epoch                                       |
 * | 19    | sender's receive epoch (the peer's transmit epoch)            |
 * | 20-21 | link sequence number of the first flit (or of the next one)   |
 * | 22-23 | acknowledges every flit before this number                    |
 * | 24-39 | credit limit of VC 0-7: flits the peer may have sent in all   |
 * | 40-45 | stamp, bits 0-47: sender's clock in ns, new in each frame     |
 * | 46-49 | stamp echoed, low 32 bits                                     |
 * | 50-53 | CRC-32C over bytes 14-49 and 54-end of header                 |
 * | 54-   | two sideband bytes a flit, five of them up to byte 63         |
 * | 54-55 | without flits: bytes of the whole frame, padding included     |
 *
 * With more than five flits the header grows to 128 bytes, so that flits
 * always start on a cache line of an aligned frame.
 *
 * An INIT frame has no flits and a header of 128 bytes:
 *
 * | bytes   | what                                                        |
 * |---------|-------------------------------------------------------------|
 * | 64-71   | nonce of the sender                                         |
 * | 72-79   | nonce echoed                                                |
 * | 80-87   | incarnation of the sender's process; 0: not told            |
 * | 88-95   | digest of its fabric's configuration; 0: not told           |
 * | 96      | most flits that its frames may carry, 1-32                  |
 * | 97      | 1: the sender's frames end in a tag (rl_link_auth.h)        |
 * | 98      | end of its link that the sender is, 0 or 1                  |
 * | 99      | spare (0)                                                   |
 * | 100-103 | number of its link, from 1; 0: not told                     |
 * | 104-105 | number of the port at its device                            |
 * | 106-127 | name of its device, as much as fits, then 0                 |
 *
 * Sideband of a flit: bits 0-2 VC, 3 SOP, 4 EOP, 5 looped, 6 reflected,
 * 7-8 mark, 9-15 hops.
 */

#include "rl_flit.h"

RL_PUBLIC_BEGIN

#define RL_FRAME_ETHERTYPE 0x88B5
#define RL_FRAME_VERSION 3
#define RL_FRAME_LINK_OFF 14
#define RL_FRAME_CHECK_OFF 50
#define RL_FRAME_SIDEBAND_OFF 54
#define RL_FRAME_INIT_OFF 64
#define RL_FRAME_HEADER_SHORT 64
#define RL_FRAME_HEADER_LONG 128
#define RL_FRAME_FLITS_SHORT 5
#define RL_FRAME_FLITS_MAX 32
/** Most links a packet may cross: the sideband has seven bits for them. */
#define RL_HOPS_MAX 127
#define RL_FRAME_BYTES_MAX                                                     \
	(RL_FRAME_HEADER_LONG + RL_FRAME_FLITS_MAX * RL_FLIT_BYTES)

enum rl_frame_type {
	RL_FRAME_DATA = 1,    /**< flits; always carries ACK and credits */
	RL_FRAME_IDLE = 2,    /**< no flits: lone ACK, credits, keepalive */
	RL_FRAME_INIT = 3,    /**< opens an epoch: nonce, and echo if known */
	RL_FRAME_RETRAIN = 4, /**< probe for the peer; state is kept */
	RL_FRAME_CLOSE = 5,   /**< sender has declared this epoch dead */
};

#define RL_FRF_NAK 0x01	   /**< resend from the acknowledged number on */
#define RL_FRF_RETRY 0x02  /**< flits are a replay */
#define RL_FRF_ECHO 0x04   /**< init: the echo field is valid; else: an answer */
#define RL_FRF_ACKREQ 0x08 /**< answer at once; init: the sender still trains */
#define RL_FRF_SPENT 0x10  /**< the credit fields say what the sender spent */
#define RL_FRF_DRAIN 0x20  /**< planned removal of the link: send nothing new */
#define RL_FRF_DRAINED 0x40 /**< and all that the sender sent has arrived */
#define RL_FRF_WANTED 0x80 /**< init: packets wait for this link alone */

/** A link header in registers. */
struct rl_frame_hdr {
	uint8_t type;
	uint8_t nflits;
	uint8_t flags;
	uint8_t tx_epoch;
	uint8_t rx_epoch;
	uint16_t seq;
	uint16_t ack;
	uint16_t credit[RL_VCS];
	uint16_t bytes; /**< without flits: of the frame; 0: only its header */
	uint64_t stamp; /**< 56 bits */
	uint32_t stamp_echo;
};

/** Bytes of a device's name in an INIT frame. */
#define RL_FRAME_NAME_BYTES 22

/**
 * Place of a port, to find out what is plugged in at the other end of its
 * cable.
 */
struct rl_frame_place {
	uint32_t link; /**< from 1; 0: not told */
	uint16_t port; /**< at its device */
	uint8_t end;   /**< of the link, 0 or 1 */
	char dev[RL_FRAME_NAME_BYTES + 1];
};

/** Further contents of an INIT frame. */
struct rl_frame_init {
	uint64_t nonce;
	uint64_t nonce_echo;
	uint64_t incarnation;
	uint64_t digest;
	uint8_t flits;
	bool keyed;
	struct rl_frame_place place;
};

/** Why a frame was refused, in the order of the checks. */
enum rl_frame_error {
	RL_FRAME_OK = 0,
	RL_FRAME_TRUNCATED,   /**< shorter than its header, or than it states */
	RL_FRAME_ETHERTYPE_ERR, /**< not reflit's: left to others */
	RL_FRAME_VERSION_ERR,
	RL_FRAME_COUNT_ERR,   /**< flit count doesn't fit the length */
	RL_FRAME_CHECK_ERR,   /**< header check failed */
	RL_FRAME_TYPE_ERR,    /**< unknown type */
	RL_FRAME_ERRORS
};

/** Bits of a stamp on the wire. */
#define RL_FRAME_STAMP_BITS 56

/** Whether stamp @p a was given after @p b, by the same sender. */
static inline bool
rl_frame_stamp_after(uint64_t a, uint64_t b)
{
	return (int64_t)((a - b) << (64 - RL_FRAME_STAMP_BITS)) > 0;
}

/** Any thread. Bytes of the header before the first of @p nflits flits. */
static inline uint32_t
rl_frame_header_bytes(unsigned int nflits)
{
	return nflits <= RL_FRAME_FLITS_SHORT ? RL_FRAME_HEADER_SHORT
					      : RL_FRAME_HEADER_LONG;
}

/** Any thread. Bytes of a frame of @p nflits flits. */
static inline uint32_t
rl_frame_bytes(unsigned int nflits)
{
	return rl_frame_header_bytes(nflits) + nflits * RL_FLIT_BYTES;
}

/** Any thread. Bytes of a frame with this header. */
static inline uint32_t
rl_frame_length(const struct rl_frame_hdr *h)
{
	const uint32_t least = h->type == RL_FRAME_INIT
				       ? RL_FRAME_HEADER_LONG
				       : rl_frame_bytes(h->nflits);

	return h->nflits == 0 && h->bytes > least ? h->bytes : least;
}

/** Any thread. Most flits that fit into @p frame_bytes, at most 32. */
static inline unsigned int
rl_frame_fit(uint32_t frame_bytes)
{
	uint32_t n;

	if (frame_bytes < RL_FRAME_HEADER_SHORT + RL_FLIT_BYTES)
		return 0;
	n = (frame_bytes - RL_FRAME_HEADER_SHORT) / RL_FLIT_BYTES;
	if (n <= RL_FRAME_FLITS_SHORT)
		return n;
	n = (frame_bytes - RL_FRAME_HEADER_LONG) / RL_FLIT_BYTES;
	if (n < RL_FRAME_FLITS_SHORT)
		return RL_FRAME_FLITS_SHORT;
	return n < RL_FRAME_FLITS_MAX ? n : RL_FRAME_FLITS_MAX;
}

/** Flags of a flit that travel in the sideband, in the order of its bits. */
#define RL_SIDEBAND_FLAGS                                                      \
	(RL_FF_SOP | RL_FF_EOP | RL_FF_LOOPED | RL_FF_REFLECTED)
#define RL_SIDEBAND_VC(s) ((s) & 7u)
#define RL_SIDEBAND_MARK_SHIFT 7
#define RL_SIDEBAND_MARK(s) ((s) >> RL_SIDEBAND_MARK_SHIFT & 3u)
#define RL_SIDEBAND_SOP 0x08u
#define RL_SIDEBAND_EOP 0x10u
#define RL_SIDEBAND_LOOPED 0x20u
/** SOP, EOP and mark: none is set for a good flit in a packet's middle. */
#define RL_SIDEBAND_SPECIAL 0x198u
/** Of SPECIAL, the bits set for a good packet of one flit: SOP and EOP. */
#define RL_SIDEBAND_SINGLE 0x18u

static_assert(offsetof(struct rl_flit, vc) == offsetof(struct rl_flit, state) &&
		      offsetof(struct rl_flit, mark) ==
			       offsetof(struct rl_flit, state) + 3 &&
		      offsetof(struct rl_flit, hops) ==
			       offsetof(struct rl_flit, state) + 4 &&
		      offsetof(struct rl_flit, flags) ==
			       offsetof(struct rl_flit, state) + 6,
	      "where rl_sideband_state() puts them");
static_assert(RL_SIDEBAND_FLAGS == 0xf && RL_FF_EOP << 3 == RL_SIDEBAND_EOP &&
		      RL_FF_LOOPED << 3 == RL_SIDEBAND_LOOPED,
	      "flags lie in the sideband as they lie in memory");

/** Packs a flit's sideband. */
static inline uint16_t
rl_sideband_pack(const struct rl_flit *f)
{
	return (uint16_t)((f->vc & 7) | (f->flags & RL_SIDEBAND_FLAGS) << 3 |
			  (f->mark & 3) << 7 | (f->hops & 127) << 9);
}

/** Unpacks a sideband into a flit's fields vc, flags, mark, hops. */
static inline void
rl_sideband_unpack(uint16_t s, struct rl_flit *f)
{
	f->vc = s & 7;
	f->flags = s >> 3 & RL_SIDEBAND_FLAGS;
	f->mark = s >> 7 & 3;
	f->hops = (uint8_t)(s >> 9);
}

/** The same as rl_flit.state: VC, flags, mark and hops; all else is zero. */
static inline uint64_t
rl_sideband_state(uint16_t s)
{
	return (s & 7u) | (uint64_t)(s >> 7 & 3) << 24 |
	       (uint64_t)(s >> 9) << 32 |
	       (uint64_t)(s >> 3 & RL_SIDEBAND_FLAGS) << 48;
}

/** Bits of a state: those that rl_sideband_state() sets, and all flags. */
#define RL_SIDEBAND_STATE UINT64_C(0x000f00ffff0000ff)
#define RL_STATE_FLAGS UINT64_C(0x00ff000000000000)

/** The rl_sideband_pack() of a flit with this state. */
static inline uint16_t
rl_state_sideband(uint64_t state)
{
	return (uint16_t)((state & 7) |
			  (state >> 48 & RL_SIDEBAND_FLAGS) << 3 |
			  (state >> 24 & 3) << 7 | (state >> 32 & 127) << 9);
}

/**
 * Owner of @p frame. Writes the Ethernet and link header of a frame whose
 * sideband bytes are already in place at RL_FRAME_SIDEBAND_OFF (unused ones are
 * zeroed here), or whose INIT part is; and its padding, if h->bytes asks for
 * some. @p mac: 12 bytes, destination and source. @p hw: whether the CPU has
 * SSE4.2.
 */
void rl_frame_seal(uint8_t *frame, const struct rl_frame_hdr *h,
		   const uint8_t *mac, bool hw);

/**
 * Owner of @p frame. The same with sidebands from elsewhere: two bytes a flit
 * at @p sideband, readable in groups of four after the first (2, 10, 18 bytes,
 * and so on). The flits may be copied before or after.
 */
void rl_frame_seal_from(uint8_t *frame, const struct rl_frame_hdr *h,
			const uint8_t *sideband, const uint8_t *mac, bool hw);

/**
 * Fields shared by the headers of a burst: all except the number, the flits,
 * the stamp and the sidebands.
 */
struct rl_frame_like {
	uint64_t word[7];
};

/** Any thread. Headers of data like @p h. @p mac as in rl_frame_seal() */
void rl_frame_like(struct rl_frame_like *like, const struct rl_frame_hdr *h,
		   const uint8_t *mac);

/**
 * Owner of @p frame. rl_frame_seal_from() for a header like that of the burst,
 * with @p nflits flits, at least 1.
 */
void rl_frame_seal_like(uint8_t *frame, const struct rl_frame_like *like,
			uint32_t nflits, uint16_t seq, uint64_t stamp,
			const uint8_t *sideband, bool hw);

/** Owner of @p frame. Writes the INIT part, before the frame is sealed. */
void rl_frame_init_put(uint8_t *frame, const struct rl_frame_init *init);

/**
 * Any thread. Reads and checks the header of a frame of @p len bytes; frames
 * may be longer than their content (Ethernet padding) but not shorter.
 *
 * @return RL_FRAME_OK with @p h filled, or the reason for refusal
 */
enum rl_frame_error rl_frame_open(const uint8_t *frame, uint32_t len,
				  struct rl_frame_hdr *h, bool hw);

/**
 * Any thread. The same for a frame that may be like the valid data frame at @p
 * before, of the same burst. Only number, stamp, flits and sidebands may
 * differ.
 *
 * @return its flits, with *@p seq and *@p stamp; 0: use rl_frame_open()
 */
uint32_t rl_frame_open_like(const uint8_t *frame, uint32_t len,
			    const uint8_t *before, uint16_t *seq,
			    uint64_t *stamp, bool hw);

/** Any thread. Reads the INIT part of an opened INIT frame. */
void rl_frame_init_get(const uint8_t *frame, struct rl_frame_init *init);

/**
 * Any thread. The version of a frame that rl_frame_open() refuses only for its
 * version: a valid INIT frame, which has this form in all versions.
 * @return 0: it is none
 */
uint8_t rl_frame_init_version(const uint8_t *frame, uint32_t len);

RL_PUBLIC_END

#endif /* RL_FRAME_H */
