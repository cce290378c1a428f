/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_FLIT_H
#define RL_FLIT_H

/**
 * @file The 256-byte flit on the wire [FLIT-1, FLIT-2] and its buffer in
 * memory. The layout is defined only here; docs/protocol.md shows the same as a
 * table, bit by bit. All integers are little-endian.
 *
 * | bytes    | what                                                      |
 * |----------|-----------------------------------------------------------|
 * | 0-1      | bits 0-9 FSN, bits 10-11 ReplayCmd, bits 12-15 bits 10-13 |
 * |          | of an ACK that rides on data in profile rxl, else 0        |
 * | 2-241    | payload, 240 B                                            |
 * | 2-17     |   transaction header, 16 B (below)                        |
 * | 18-241   |   data, 224 B                                             |
 * | 242-249  | CRC-64 over bytes 0-241 with the ISN mixed in             |
 * | 250-255  | FEC check bytes C1 C2 C0 P1 P2 P0                         |
 *
 * Transaction header, immutable from end to end (offsets within the flit):
 *
 * | bytes | what                                                         |
 * |-------|--------------------------------------------------------------|
 * | 2-3   | destination endpoint                                         |
 * | 4-5   | source endpoint                                              |
 * | 6     | bits 0-3 SL, bits 4-7 class of service of the flow           |
 * | 7     | bits 0-1 packet class, bits 2-3 flit type, bit 4 asks for an |
 * |       | ACK at once, bit 6 SOP, bit 7 EOP                            |
 * | 8     | count of valid data bytes, 0-224                             |
 * | 9     | bits 14-21 of an ACK that rides on data in rxl, else 0       |
 * | 10-13 | tag: number of the packet within its flow, free-running      |
 * | 14-15 | position of this flit in the packet, from 0                  |
 * | 16-17 | length of the packet in flits                                |
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rl_base.h"

#define RL_FLIT_BYTES 256
#define RL_FLIT_PAYLOAD_OFF 2
#define RL_FLIT_PAYLOAD_BYTES 240
#define RL_FLIT_TXN_BYTES 16
#define RL_FLIT_DATA_OFF 18
#define RL_FLIT_DATA_BYTES 224
#define RL_FLIT_CRC_OFF 242
#define RL_FLIT_FEC_OFF 250
#define RL_FLIT_FEC_BYTES 6
/** Longest packet any configuration may ask for, in flits. */
#define RL_PACKET_FLITS_MAX 255
/**
 * Longest packet held anywhere: one more flit, which shows that it is too long.
 */
#define RL_PACKET_FLITS_HELD (RL_PACKET_FLITS_MAX + 1)

/** ReplayCmd, the two bits beside the FSN (paper section 3, PCIe 6). */
enum rl_replay_cmd {
	RL_CMD_SEQ = 0,	    /**< FSN is an explicit sequence number, or unused */
	RL_CMD_ACK = 1,	    /**< FSN acknowledges all up to and including it */
	RL_CMD_NAK_GBN = 2, /**< resend all after FSN (go-back-N) */
	RL_CMD_NAK_ONE = 3, /**< resend the one flit after FSN */
};

/** Packet class [DRL-6]: bit 0 response, bit 1 non-posted. */
enum rl_class {
	RL_CLASS_REQ_POSTED = 0,
	RL_CLASS_RSP = 1,
	RL_CLASS_REQ_NONPOSTED = 2,
	RL_CLASS_CTRL = 3, /**< endpoint control: stand-alone ACK and NAK */
};
#define RL_CLASSES 4

/** What a flit is to its endpoints. */
enum rl_flit_type {
	RL_FLIT_DATA = 0, /**< carries a part of a packet; numbered */
	RL_FLIT_CTRL = 1, /**< stand-alone ACK or NAK; not numbered: ISN 0 */
};

/** The transaction header in registers. */
struct rl_txn {
	uint16_t dst;
	uint16_t src;
	uint8_t sl;
	uint8_t cos;
	uint8_t RL_CLASS_FIELD; /**< enum rl_class */
	uint8_t type;  /**< enum rl_flit_type */
	bool sop;
	bool eop;
	uint8_t valid_bytes;
	uint32_t tag;
	uint16_t pos;
	uint16_t len_flits;
};

/** Condition of a flit that travels beside it [LCB-2]. */
enum rl_mark {
	RL_MARK_OK = 0,
	RL_MARK_TRANSMIT_ERROR = 1, /**< corrupted on the last link */
	RL_MARK_SOFT_ERROR = 2,	    /**< corrupted in a switch; never retried */
	RL_MARK_POISON = 3,	    /**< declared bad by its source */
};

/** In byte 7 of a packet's last flit: its sender's window is full. */
#define RL_FLIT_ASKS_ACK 0x10

#define RL_PORT_NONE 0xffffu

/**
 * A flit in memory: one line of hop-by-hop state, then the wire image. Owned
 * by exactly one object at a time (a cache, a packet chain in a queue, a
 * replay buffer, a retry buffer); ownership passes with the pointer. The
 * wire image of a flit that a replay buffer holds is never written.
 *
 * A packet (or a fragment of one) is a chain: the head flit's `last` and
 * `pkt_flits` describe it, `next` joins its flits, `next_pkt` joins heads in a
 * queue. Flits of its middle may be in runs (rl_flit_run.h): then only the
 * first of a run has a state and is in the chain.
 */
struct rl_flit {
	union {
		__extension__ struct {
			struct rl_flit *next;
			union {
				__extension__ struct { /* of a head */
					struct rl_flit *next_pkt;
					struct rl_flit *last;
					uint16_t pkt_flits;
					/** it came in by; RL_PORT_NONE: local */
					uint16_t in_port;
					/** copies of the transaction header's
					    fields */
					uint16_t dst;
					uint16_t src;
				};
				/** of a run's first flit, see rl_flit_run.h */
				struct rl_flit *mate[3];
			};
			union {
				__extension__ struct {
					/** VC of the link it leaves (or left)
					    by */
					uint8_t vc;
					/** VC it came in by: whose credit it
					    holds */
					uint8_t in_vc;
					uint8_t sl;
					uint8_t mark;  /**< enum rl_mark */
					uint8_t hops;  /**< links crossed so far */
					uint8_t RL_CLASS_FIELD; /**< enum
							 rl_class */
					uint8_t flags; /**< RL_FF_* */
					uint8_t plane; /**< see rl_fwd.h */
				};
				/** all of these, written and compared at once */
				uint64_t state;
			};
			uint64_t t_ns; /**< arrival at this device, for statistics */
			/** loopback it came out of at this device; 0: none */
			uint32_t loop_id;
			uint32_t spare;
			uint64_t run; /**< see rl_flit_run.h; 0: no run */
		};
		/** for a flit within a run, instead of all this */
		struct rl_flit *row[8];
	};
	uint8_t wire[RL_FLIT_BYTES] RL_ALIGNED(RL_CACHE_LINE);
};

#define RL_FF_SOP 0x01	     /**< first flit of a link-level packet */
#define RL_FF_EOP 0x02	     /**< last flit of a link-level packet */
#define RL_FF_LOOPED 0x04    /**< came out of a dead port's replay buffer */
#define RL_FF_REFLECTED 0x08 /**< misrouted and sent out again once */
#define RL_FF_CREDIT 0x10    /**< holds a credit of in_port/in_vc */
#define RL_FF_LENT 0x20	     /**< charged to its core's waiting room */
#define RL_FF_NEXT 0x40	     /**< goes by new tables, see rl_core_stage() */
#define RL_FF_TABLES 0x80    /**< keeps off the adaptive plane at its source */

static_assert(sizeof(struct rl_flit) == RL_FLIT_BYTES + RL_CACHE_LINE,
	      "a flit is one line of state and its wire image");

/** rl_flit.state of a flit at the start of its path. */
static inline uint64_t
rl_flit_state(uint8_t sl, uint8_t cls, uint8_t flags)
{
	static_assert(offsetof(struct rl_flit, sl) ==
				      offsetof(struct rl_flit, state) + 2 &&
			      offsetof(struct rl_flit, RL_CLASS_FIELD) ==
				      offsetof(struct rl_flit, state) + 5 &&
			      offsetof(struct rl_flit, flags) ==
				      offsetof(struct rl_flit, state) + 6,
		      "where it puts them");
	return (uint64_t)sl << 16 | (uint64_t)cls << 40 |
	       (uint64_t)flags << 48;
}

/**
 * Destination and source of a token [RES-5]: no endpoint has this id. A token
 * goes no further than the device at the other end of its link.
 */
#define RL_EP_TOKEN 0xffffu

/** Whether a packet's head is a token. */
static inline bool
rl_is_token(const struct rl_flit *head)
{
	return head->dst == RL_EP_TOKEN && head->src == RL_EP_TOKEN;
}

/** Where a stand-alone flit says what it is, and a probe [EP-8]. */
#define RL_FLIT_CMD_OFF 18
#define RL_FLIT_CMD_PROBE 4

/** The flit that a wire image belongs to. */
static inline struct rl_flit *
rl_flit_of(uint8_t *wire)
{
	return (struct rl_flit *)(void *)(wire -
					  offsetof(struct rl_flit, wire));
}

static inline uint16_t
rl_get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t
rl_get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t
rl_get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void
rl_put16(uint8_t *p, uint16_t v)
{
	memcpy(p, &v, sizeof(v));
}

static inline void
rl_put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

static inline void
rl_put64(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
}

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	      "the wire is little-endian and read as it lies");

static inline uint16_t
rl_flit_fsn(const uint8_t *wire)
{
	return rl_get16(wire) & 0x3ff;
}

static inline enum rl_replay_cmd
rl_flit_cmd(const uint8_t *wire)
{
	return (enum rl_replay_cmd)(rl_get16(wire) >> 10 & 3);
}

static inline void
rl_flit_set_header(uint8_t *wire, uint16_t fsn, enum rl_replay_cmd cmd)
{
	rl_put16(wire, (uint16_t)((fsn & 0x3ff) | (unsigned int)cmd << 10));
}

/** Bits of the ACK number that rides on data in profile rxl. */
#define RL_FLIT_ACK_BITS 22

/** ACK of all up to @p n on a data flit: FSN, spare bits and byte 9. */
static inline void
rl_flit_set_ack(uint8_t *wire, uint32_t n)
{
	rl_put16(wire, (uint16_t)((n & 0x3ff) | RL_CMD_ACK << 10 |
				  (n >> 10 & 0xf) << 12));
	wire[9] = (uint8_t)(n >> 14);
}

/** What rl_flit_set_ack() wrote, RL_FLIT_ACK_BITS of it. */
static inline uint32_t
rl_flit_ack(const uint8_t *wire)
{
	return rl_flit_fsn(wire) | (uint32_t)(rl_get16(wire) >> 12) << 10 |
	       (uint32_t)wire[9] << 14;
}

static inline uint16_t
rl_flit_dst(const uint8_t *wire)
{
	return rl_get16(wire + 2);
}

static inline uint16_t
rl_flit_src(const uint8_t *wire)
{
	return rl_get16(wire + 4);
}

static inline uint8_t
rl_flit_sl(const uint8_t *wire)
{
	return wire[6] & 0xf;
}

static inline uint8_t
rl_flit_class(const uint8_t *wire)
{
	return wire[7] & 3;
}

static inline uint32_t
rl_flit_tag(const uint8_t *wire)
{
	return rl_get32(wire + 10);
}

/** The transaction header as stored: bytes 2-9 and 10-17, a word each. */
struct rl_txn_words {
	uint64_t lo;
	uint64_t hi;
};

#define RL_TXN_SOP (UINT64_C(0x40) << 40)
#define RL_TXN_EOP (UINT64_C(0x80) << 40)
#define RL_TXN_VALID_SHIFT 48
#define RL_TXN_VALID (UINT64_C(0xff) << RL_TXN_VALID_SHIFT)
/** Difference in .hi to the next flit of a packet. */
#define RL_TXN_NEXT_POS (UINT64_C(1) << 32)
/** Flits of the packet. */
#define RL_TXN_LEN(w) ((uint32_t)((w).hi >> 48))

static inline struct rl_txn_words
rl_txn_pack(const struct rl_txn *t)
{
	struct rl_txn_words w;

	w.lo = t->dst | (uint64_t)t->src << 16 |
	       (uint64_t)(t->sl & 0xf) << 32 | (uint64_t)(t->cos & 0xf) << 36 |
	       (uint64_t)(t->RL_CLASS_FIELD & 3) << 40 |
	       (uint64_t)(t->type & 3) << 42 | (t->sop ? RL_TXN_SOP : 0) |
	       (t->eop ? RL_TXN_EOP : 0) |
	       (uint64_t)t->valid_bytes << RL_TXN_VALID_SHIFT;
	w.hi = t->tag | (uint64_t)t->pos << 32 | (uint64_t)t->len_flits << 48;
	return w;
}

static inline void
rl_txn_words_put(uint8_t *wire, struct rl_txn_words w)
{
	rl_put64(wire + RL_FLIT_PAYLOAD_OFF, w.lo);
	rl_put64(wire + RL_FLIT_PAYLOAD_OFF + 8, w.hi);
}

static inline struct rl_txn_words
rl_txn_words_get(const uint8_t *wire)
{
	struct rl_txn_words w;

	w.lo = rl_get64(wire + RL_FLIT_PAYLOAD_OFF);
	w.hi = rl_get64(wire + RL_FLIT_PAYLOAD_OFF + 8);
	return w;
}

/** Writes @p t into bytes 2-17 of @p wire. */
static inline void
rl_txn_put(uint8_t *wire, const struct rl_txn *t)
{
	rl_txn_words_put(wire, rl_txn_pack(t));
}

/** Reads bytes 2-17 of @p wire into @p t. Any bytes give some header. */
static inline void
rl_txn_get(const uint8_t *wire, struct rl_txn *t)
{
	const struct rl_txn_words w = rl_txn_words_get(wire);

	t->dst = (uint16_t)w.lo;
	t->src = (uint16_t)(w.lo >> 16);
	t->sl = w.lo >> 32 & 0xf;
	t->cos = w.lo >> 36 & 0xf;
	t->RL_CLASS_FIELD = w.lo >> 40 & 3;
	t->type = w.lo >> 42 & 3;
	t->sop = w.lo & RL_TXN_SOP;
	t->eop = w.lo & RL_TXN_EOP;
	t->valid_bytes = (uint8_t)(w.lo >> RL_TXN_VALID_SHIFT);
	t->tag = (uint32_t)w.hi;
	t->pos = (uint16_t)(w.hi >> 32);
	t->len_flits = (uint16_t)(w.hi >> 48);
}

#endif /* RL_FLIT_H */
