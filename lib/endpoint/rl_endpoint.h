/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_ENDPOINT_H
#define RL_ENDPOINT_H

/**
 * @file An endpoint [EP-1..EP-4]: turns its client's packets into numbered,
 * checked flits and back, and makes sure that each packet is delivered exactly
 * once, in order, bit for bit - or reported.
 *
 *      client                                            client
 *        | rl_ep_send()                                     ^ rl_ep_recv()
 *        v                                                  |
 *   segmentation                                       reassembly
 *        v                                                  ^
 *   retry buffer  <---- ACK, NAK ----+                 reorder window
 *        v                           |                      ^
 *   number, CRC, FEC                 +------ verification: FEC, CRC, ISN
 *        | rl_ep_poll()                                     ^ rl_ep_rx()
 *        v                                                  |
 *                     the switch core of this device
 *
 * Packets stay in order within a *flow*: (source, destination, class of
 * service). The SL is not part of it: the return path may use another one.
 * Every flow has one sequence of flits. In profile `rxl` the wire carries no
 * number: it is mixed into the CRC, and the syndrome tells the receiver whether
 * a flit is the expected one, a duplicate, or ahead [FLIT-5, FLIT-6].
 * ep_order.c says how each of these is answered.
 *
 * An endpoint sees no links. It exchanges *link-level packets* with the core:
 * chains of flits whose first has RL_FF_SOP and whose last has RL_FF_EOP in
 * `flags`. Switches store and forward these. A packet of the client is first
 * sent as one of them; retransmissions travel as packets of their own, so their
 * flits may say "position 5 of 10" and yet be the whole link-level packet.
 *
 * The endpoint is pure: time is a parameter, flit buffers come from the lcore's
 * cache, and nothing is allocated after rl_ep_init(). It belongs to one lcore.
 * Only its owner may call its functions unless they say otherwise.
 */

#include "rl_base.h"
#include "rl_codec.h"
#include "rl_ep_cfg.h"
#include "rl_ep_counters.h"
#include "rl_flit_cache.h"

RL_PUBLIC_BEGIN

struct rl_ep;

/** Why a packet is reported instead of acknowledged. */
#define RL_EP_REASONS(X)                                                       \
	X(RETRY_LIMIT, "retry-limit") /* no answer from the destination */     \
	X(DROPPED, "dropped") /* the fabric dropped it, and retry is off */    \
	X(GIVE_UP, "give-up") /* no progress for give_up_ns */                 \
	X(UNREACHABLE, "unreachable") /* the same, and there is no path */     \
	X(RESTARTED, "restarted") /* the destination lost its state */

enum rl_ep_reason {
#define RL_EP_REASON_ENUM(name, word) RL_EP_##name,
	RL_EP_REASONS(RL_EP_REASON_ENUM)
#undef RL_EP_REASON_ENUM
	RL_EP_REASON_COUNT
};

/**
 * A packet given up openly. It may still have arrived, with only its
 * acknowledgment missing.
 */
struct rl_ep_report {
	uint16_t src;
	uint16_t dst;
	uint8_t cos;
	uint32_t tag; /**< number of the packet in its flow */
	enum rl_ep_reason reason;
};

/** Called by rl_ep_poll() and rl_ep_dropped(), once for each packet. */
typedef void (*rl_ep_report_fn)(void *ctx, const struct rl_ep_report *report,
				uint64_t now_ns);

/** All destinations, if a function takes one. */
#define RL_EP_ALL 0xffffu

/** Events of an endpoint that its client may want to know. */
#define RL_EP_EVENTS(X)                                                        \
	X(UNREACHABLE, "unreachable") /* no way to `peer`: it is probed, and   \
					 new packets for it are refused */     \
	X(REACHABLE, "reachable")     /* a probe was answered */               \
	X(RESTARTED, "restarted")     /* `peer` restarted [EP-7] */            \
	X(OVERLOADED, "overloaded")   /* `peer` answers, but takes nothing new \
					 for give_up_ns [EP-8] */              \
	X(HELD, "held")		      /* nothing new goes to `peer` */         \
	X(RELEASED, "released")                                                \
	X(QUIESCED, "quiesced")	      /* requests are refused */               \
	X(UNQUIESCED, "unquiesced")

enum rl_ep_event_kind {
#define RL_EP_EVENT_ENUM(name, word) RL_EP_EV_##name,
	RL_EP_EVENTS(RL_EP_EVENT_ENUM)
#undef RL_EP_EVENT_ENUM
	RL_EP_EVENT_COUNT
};

struct rl_ep_event {
	uint64_t t_ns;
	uint64_t since_ns; /**< REACHABLE: when it became unreachable;
				OVERLOADED: when it last took something */
	uint32_t tag;	   /**< RESTARTED: the first packet, in the lowest class
				that has a flow, for the new life; packets
				accepted before went to the old life, or are
				reported */
	uint16_t ep;	   /**< this endpoint */
	uint16_t peer;	   /**< or RL_EP_ALL */
	enum rl_ep_event_kind kind;
};

/** Called by the endpoint function that detects the event. */
typedef void (*rl_ep_event_fn)(void *ctx, const struct rl_ep_event *event);

/** Instead of a position: a stand-alone flit. */
#define RL_EP_POS_CTRL 0xffffu

/** The same: a stand-alone flit that named skipped packets. */
#define RL_EP_POS_SKIPPED 0xfffeu

/** Why the fabric dropped a packet, as far as its source is concerned. */
enum rl_ep_drop {
	RL_EP_DROP_LOST,    /**< worth sending again at once */
	RL_EP_DROP_NO_PATH, /**< there was no path to the destination */
	RL_EP_DROP_ASTRAY,  /**< none at the moment: treated as LOST */
};

/** Notice of a flit that the fabric dropped; see rl_ep_notice_of(). */
struct rl_ep_notice {
	uint32_t tag;   /**< packet, first packet, or number of a probe */
	uint32_t end;   /**< RL_EP_POS_SKIPPED: the first packet behind those */
	uint16_t whose; /**< endpoint to be told, according to the flit */
	uint16_t peer;  /**< other end of its flow */
	uint16_t pos;   /**< flit of the packet, or an RL_EP_POS_ */
	uint16_t flits; /**< how many from pos on; 0: as 1 */
	uint8_t cos;
	uint8_t why; /**< enum rl_ep_drop */
};

/**
 * Parameters of an endpoint; pointers stay the caller's, and must outlive it.
 */
struct rl_ep_params {
	const struct rl_ep_cfg *cfg; /**< checked by rl_ep_cfg_check() */
	const struct rl_codec *codec; /**< of cfg->crc and cfg->isn */
	struct rl_flit_cache *cache; /**< of the owner's lcore */
	/** of the retry buffer, if there is one; NULL: as `cache`. Flits there
	    are cold after a round trip, and kept apart from the others */
	struct rl_flit_cache *keep;
	const uint8_t *path_sl; /**< SL by destination; NULL: 0 */
	uint8_t levels; /**< service levels, see rl_fwd; 0, 1: only one. Flows
			     of class of service c are of level c % levels */
	/** how much longer a round trip may be although nothing queues, as
	    the host polls late; 0: it never does */
	uint64_t jitter_ns;
	uint16_t ep_id;
	uint16_t npeers;	/**< endpoints of the fabric */
	uint32_t witness; /**< of its device's ports: rl_link_cfg.h */
	/** The life of the endpoint: a different random number each time it
	    starts [EP-7]. 0: neither it nor its peers ever restart; flows begin
	    without asking */
	uint32_t incarnation;
	rl_ep_report_fn report; /**< may be NULL: counted only */
	void *report_ctx;
	rl_ep_event_fn event; /**< may be NULL */
	void *event_ctx;
};

/** A packet's parameters from the client. */
struct rl_ep_msg {
	uint16_t dst;
	uint8_t cos;   /**< 0..15 */
	uint8_t RL_CLASS_FIELD; /**< enum rl_class, but not RL_CLASS_CTRL */
	uint32_t len_bytes;
};

/**
 * Writes bytes off .. off+len-1 of a packet to @p to. Called in order, once
 * for each flit (len <= RL_FLIT_DATA_BYTES), within rl_ep_send_fill().
 */
typedef void (*rl_ep_fill_fn)(void *ctx, uint8_t *to, uint32_t off,
			      uint32_t len);

/**
 * Any thread. Bytes of an endpoint. Most of it stays untouched until flows need
 * it, so allocate it from memory that is free until touched. It need not be
 * cleared.
 */
size_t rl_ep_memsize(const struct rl_ep_cfg *cfg, uint16_t npeers);

/**
 * Control thread. Builds an endpoint in @p mem (64-byte aligned,
 * rl_ep_memsize() bytes, the caller's). Returns it (== mem).
 */
struct rl_ep *rl_ep_init(void *mem, const struct rl_ep_params *p);

/** Gives back every flit the endpoint holds (end of a run). */
void rl_ep_flush(struct rl_ep *ep);

/** Other paths: used from the next transmission on, including retries. */
void rl_ep_set_path_sl(struct rl_ep *ep, const uint8_t *path_sl);

/**
 * Quiesce [RES-1]: while @p on, requests are refused with -EBUSY. Responses,
 * and packets accepted before, go on. An event tells the client. Idempotent.
 */
void rl_ep_quiesce(struct rl_ep *ep, uint64_t now_ns, bool on);

/**
 * Partial quiesce [RES-6]: while @p on, no data goes to @p dst (RL_EP_ALL: to
 * any endpoint). Packets of any class are refused with -EBUSY; accepted packets
 * stay, and sent ones are not sent again. Acknowledgments and NAKs go on, both
 * ways, and so do probes, which find out when no sent flit is under way any
 * more: rl_ep_quiescent(). Lost flits are retransmitted once released. A
 * destination is held while it, or all, are held. An event tells the client.
 * Idempotent.
 *
 * @return 0; -EINVAL: no such destination
 */
int rl_ep_hold(struct rl_ep *ep, uint64_t now_ns, uint16_t dst, bool on);

/**
 * Whether nothing of this endpoint is under way to @p dst (RL_EP_ALL: to any
 * endpoint): all sent flits are acknowledged, or reported; or the flow is held,
 * and a probe sent behind them has been answered or dropped. Packets that wait
 * in a switch without a path are not under way (rl_core_still()). Packets that
 * are held back, or have not left for lack of room, do not count. With
 * end-to-end retry off an endpoint does not know what is under way: the cores
 * do.
 */
bool rl_ep_quiescent(const struct rl_ep *ep, uint16_t dst);

/**
 * Whether @p peer is unreachable: packets for it are refused.
 * @param since_ns  if not NULL: set to when that was found out
 */
bool rl_ep_unreachable(const struct rl_ep *ep, uint16_t peer,
		       uint64_t *since_ns);

/** Owner, or any thread that tolerates a torn number: unreachable peers. */
uint32_t rl_ep_unreachable_count(const struct rl_ep *ep);

/**
 * The endpoint's lcore. Paths may have changed, such as after a link of the
 * fabric has come up. The probes of unreachable peers restart, the next after
 * probe_ns at the latest; those of other flows start again without backoff; and
 * for a while a gap may be due to a detour (nak_delay_ns). It may be called as
 * often as needed.
 */
void rl_ep_probe_again(struct rl_ep *ep, uint64_t now_ns);

/**
 * Accepts one packet of msg->len_bytes bytes (0 is one empty flit), all or
 * nothing. The data are copied; the endpoint keeps no reference to them. It
 * leaves with a later rl_ep_poll().
 *
 * @param tag  if not NULL: set to the packet's number in its flow, as used in
 *   reports
 * @return 0; -EAGAIN: no room now (buffers, flows), try again after a later
 *   poll; -EBUSY: this flow has to wait (its window or its share of the buffers
 *   is full, it is held, or requests are), others need not; -ENOBUFS: the same,
 *   and the flow has stalled for an unknown time, so a client with packets for
 *   others should drop this one rather than wait; -EHOSTUNREACH: there is no
 *   path to the destination (an event says when there is), or the flow has
 *   given up and the peer has not answered since; -EMSGSIZE: longer than
 *   max_packet_flits; -EINVAL: destination unknown or this endpoint, cos or
 *   class out of range
 */
int rl_ep_send(struct rl_ep *ep, uint64_t now_ns, const struct rl_ep_msg *msg,
	       const void *data, uint32_t *tag);

/** Owner. Prefetches a flow that will be used soon. */
void rl_ep_prefetch(const struct rl_ep *ep, uint16_t peer, uint8_t cos);

/** rl_ep_send() without a buffer: @p fill writes straight into the flits. */
int rl_ep_send_fill(struct rl_ep *ep, uint64_t now_ns,
		    const struct rl_ep_msg *msg, rl_ep_fill_fn fill, void *ctx,
		    uint32_t *tag);

/**
 * Most flits that an endpoint can ever hold, for sizing a pool: unacknowledged
 * flits, flits out of order, packets that wait for the client, and packets not
 * yet whole. Flits on their way through a core are the core's. Any thread.
 */
static inline uint64_t
rl_ep_flits_max(const struct rl_ep_cfg *cfg)
{
	return cfg->tx_buffer_flits + 2 * (uint64_t)cfg->rx_buffer_flits +
	       (uint64_t)cfg->max_flows * cfg->max_packet_flits;
}

/** Longest packet of a configuration, in bytes. Any thread. */
static inline uint32_t
rl_ep_max_bytes(const struct rl_ep_cfg *cfg)
{
	return cfg->max_packet_flits * RL_FLIT_DATA_BYTES;
}

/** Flits that a packet of @p len_bytes needs. Any thread. */
static inline uint32_t
rl_ep_flits_of(uint32_t len_bytes)
{
	return len_bytes == 0 ? 1
			      : (len_bytes + RL_FLIT_DATA_BYTES - 1) /
					RL_FLIT_DATA_BYTES;
}

/**
 * Whether rl_ep_rx() has room for another packet. Always true with end-to-end
 * retry: flits that the client is too slow for are turned away, and their
 * sender is told to wait. Without retry, flits come only once: while this is
 * false packets must stay where they are, and block those behind them.
 */
bool rl_ep_rx_ready(struct rl_ep *ep, uint64_t now_ns);

/**
 * Takes @p n link-level packets from the core; the endpoint owns them. Verifies
 * them in bursts across packets, so hand over all there are.
 */
void rl_ep_rx(struct rl_ep *ep, uint64_t now_ns, struct rl_flit *const pkts[],
	      unsigned int n);

/**
 * Runs timers and appends link-level packets of at most @p budget_flits flits
 * in total to @p out, whose owner then owns them: retransmissions, new packets,
 * and acknowledgments that found no data to ride on. A new packet is never
 * split, so the budget must reach max_packet_flits + 3 now and then, or the
 * endpoint waits.
 *
 * @return flits appended
 */
unsigned int rl_ep_poll(struct rl_ep *ep, uint64_t now_ns, struct rl_pktq *out,
			unsigned int budget_flits);

/**
 * The same, with at most @p room_sl[level] flits of each service level, which
 * are subtracted there. A level without room is skipped: it does not block the
 * others.
 */
unsigned int rl_ep_poll_levels(struct rl_ep *ep, uint64_t now_ns,
			       struct rl_pktq *out, unsigned int budget_flits,
			       uint32_t room_sl[RL_SLS]);

/**
 * When rl_ep_poll() next has something to do, if nothing else happens: 0 if it
 * has now (given budget and free flits), RL_NEVER if it waits for nothing.
 */
uint64_t rl_ep_deadline(const struct rl_ep *ep);

/**
 * Takes the next packet that arrived; the caller owns it and gives it back
 * with rl_packet_put(). Its flits are verified and in order; the head's src,
 * dst, sl and class are set, and rl_ep_len_bytes(), rl_ep_copy_out() read it.
 *
 * @return NULL if there is none
 */
struct rl_flit *rl_ep_recv(struct rl_ep *ep);

/** Whether rl_ep_recv() would return a packet: timers may release some, too. */
bool rl_ep_recv_pending(const struct rl_ep *ep);

/** Any owner of a received packet. Bytes of data in it. */
uint32_t rl_ep_len_bytes(const struct rl_flit *head);

/**
 * Any owner of a received packet. Copies its data to @p buf.
 * @return bytes copied: the smaller of @p size and the packet's length
 */
uint32_t rl_ep_copy_out(const struct rl_flit *head, void *buf, uint32_t size);

/**
 * Any thread. Writes to @p n the notice of flit @p f, which the fabric dropped
 * for reason @p why, and its addressee.
 *
 * That is the endpoint that sent the flit, with two exceptions: for the answer
 * to a probe it is the source of the probe, which learns that its probe had
 * arrived; for a flit that names skipped packets it is their source, which
 * learns what the flit would have told it.
 */
void rl_ep_notice_of(const struct rl_flit *f, enum rl_ep_drop why,
		     struct rl_ep_notice *n);

/**
 * Gives an endpoint, which @p n is addressed to, a notice of a dropped flit.
 */
void rl_ep_notice(struct rl_ep *ep, uint64_t now_ns,
		  const struct rl_ep_notice *n);

/**
 * The fabric dropped flit @p pos of packet @p tag of the flow to @p dst
 * [RXL-4], one flit; for a probe, or its answer, @p tag is the probe's number.
 * Without retry the packet is reported. With retry, if it is still
 * unacknowledged, it is sent again at once; or, if there was no path, the
 * destination is unreachable [EP-6].
 */
void rl_ep_dropped(struct rl_ep *ep, uint64_t now_ns, uint16_t dst,
		   uint8_t cos, uint32_t tag, uint16_t pos,
		   enum rl_ep_drop why);

/** Whether all accepted packets are acknowledged, or reported. */
bool rl_ep_idle(const struct rl_ep *ep);

/** Flits the endpoint holds anywhere, for leak checks. */
uint32_t rl_ep_flits(const struct rl_ep *ep);

/** Any thread; written by the owner. RL_EP_COUNTER_COUNT numbers. */
const uint64_t *rl_ep_counters(const struct rl_ep *ep);

const char *rl_ep_counter_name(enum rl_ep_counter c);
const char *rl_ep_reason_name(enum rl_ep_reason r);
const char *rl_ep_event_name(enum rl_ep_event_kind k);
const char *rl_profile_name(enum rl_profile p);

/** States of the sending half of a flow. */
#define RL_EP_FLOW_STATES(X)                                                   \
	X(OPEN, "open")                                                        \
	X(NEW, "new")	    /* its receiver does not know it yet */            \
	X(FAILED, "failed") /* packets were reported; nothing waits */         \
	X(SYNC, "sync") /* telling the receiver which number comes next */

enum rl_ep_flow_state {
#define RL_EP_FLOW_ENUM(name, word) RL_EP_FLOW_##name,
	RL_EP_FLOW_STATES(RL_EP_FLOW_ENUM)
#undef RL_EP_FLOW_ENUM
};

/** Both halves of the flows with one peer, as `show flow` sees them. */
struct rl_ep_flow_info {
	uint16_t peer;
	uint8_t cos;
	enum rl_ep_flow_state state;
	uint32_t tx_next;	 /**< next number to assign */
	uint32_t tx_sent;	 /**< next number to send first */
	uint32_t tx_acked;	 /**< all before are acknowledged */
	uint32_t tx_tag;	 /**< number of the next packet */
	uint32_t tx_window;	 /**< flits that may wait for an ACK */
	uint32_t tx_resend_flits; /**< waiting to be sent again */
	uint32_t retries;	 /**< timeouts since the last progress */
	uint64_t srtt_ns;	 /**< 0: not measured yet */
	uint64_t rto_ns;	 /**< retry timer, with backoff */
	uint64_t waits_ns;	 /**< its packets have waited for an ACK since
				      then; 0: none waits */
	uint32_t rx_expected;	 /**< next number expected */
	uint32_t rx_tag;	 /**< packet it belongs to */
	uint32_t rx_held_flits;	 /**< in the reorder window */
	uint32_t rx_unacked_flits; /**< received, not acknowledged yet */
};

/** Owner, or any thread that tolerates torn numbers (show). */
uint32_t rl_ep_flow_count(const struct rl_ep *ep);

/** As rl_ep_flow_count(); i < rl_ep_flow_count(). */
void rl_ep_flow_info(const struct rl_ep *ep, uint32_t i,
		     struct rl_ep_flow_info *info);

const char *rl_ep_flow_state_name(enum rl_ep_flow_state s);

RL_PUBLIC_END

#endif /* RL_ENDPOINT_H */
