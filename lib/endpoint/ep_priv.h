/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EP_PRIV_H
#define EP_PRIV_H

/**
 * @file Shared by the endpoint's files. A file calls only files below it:
 *
 *   ep.c          memory, beginning and end    ep_info.c  what `show` asks for
 *   ep_poll.c     a poll: timers, output
 *   ep_rx.c       bursts of flits verified and sorted by flow
 *   ep_send.c     client's packets into numbered flits
 *   ep_ctrl_rx.c  stand-alone flits received
 *   ep_rto.c      the probe timer, and giving up
 *   ep_reach.c    peers without a path to them
 *   ep_inc.c      lives of endpoints: which are new, and which are gone
 *   ep_peer.c     holding all flows with a peer
 *   ep_flush.c    whether flits sent before a hold have arrived
 *   ep_tx.c       sends retries and new packets
 *   ep_ctrl.c     stand-alone flits sent: ACK, NAK, sync, probe
 *   ep_fail.c     a flow that is given up
 *   ep_order.c    the receiver's order: window, gaps, NAKs
 *   ep_late.c     without retry: packets that come after they were skipped
 *   ep_spread.c   one flow over many paths: how long a gap may last
 *   ep_ack.c      ACKs, NAKs and echoes at the sender
 *   ep_ask.c      probes: which sent flits are missing?
 *   ep_due.c      when a flow asks, and when it gives up
 *   ep_congest.c  how much a flow may have in flight
 *   ep_tell.c     events
 *   ep_profile.c  differences between protocol profiles
 *   ep_ackout.c   when a receiver acknowledges
 *   ep_client.c   packets to the client
 *   ep_reasm.c    flits in order into the client's packets
 *   ep_place.c    which flow a full receiver serves next
 *   ep_enc.c      flits encoded in bursts
 *   ep_txbuf.c    room in the retry buffer
 *   ep_timer.c    one timer a flow, in a heap
 *   ep_flow.c     flows, peers, lists
 */

#include "ep_spread.h"
#include "ep_win.h"
#include "rl_endpoint.h"
#include "rl_plant.h"
#include "rl_seq.h"

#define EP_BURST 32 /* flits verified or encoded at once */

/** Lists a flow may be on; also the bits of ep_flow.flags that say so. */
enum ep_list_id {
	EP_LIST_TX,   /**< has data flits to send */
	EP_LIST_CTRL, /**< owes a stand-alone flit */
	EP_LISTS,
};

#define EPF_ON_LIST(id) (1u << (id))
#define EPF_ACK_NOW 0x04   /**< an ACK is due */
#define EPF_NAK_NOW 0x08   /**< a NAK is due */
#define EPF_SYNC_NOW 0x10  /**< a sync is due */
#define EPF_RTT_RUNS 0x20  /**< rtt_seq is being timed */
#define EPF_RX_SEEN 0x40   /**< something was received */
#define EPF_HINT 0x80	   /**< a corrupt flit looked like this flow's */
#define EPF_PROBE_NOW 0x100 /**< a probe is due */
#define EPF_ECHO_NOW 0x200 /**< the answer to one is due */
#define EPF_TURNED 0x400   /**< refused: it is in ep->refused */
#define EPF_BUSY_NOW 0x800 /**< tell the peer of EPF_TURNED, or its end */
#define EPF_TX_BUSY 0x1000 /**< the peer's client is slow */
#define EPF_LOST_NOW 0x2000 /**< tell the peer of lost_lo .. lost_hi-1 */
#define EPF_HELLO_NOW 0x4000 /**< tell the peer who we are */
#define EPF_RX_SYNCED 0x8000 /**< the receiver knows where it begins */
#define EPF_SYNC_ACK_NOW 0x10000 /**< a lone ACK is due, for a sync */
#define EPF_LATE_NOW 0x20000 /**< tell the peer what came too late */
#define EPF_STALLED 0x100000 /**< its flits count in tx_stalled */
#define EPF_ASK 0x40000 /**< probe once all retransmissions have left */
#define EPF_OVERLOADED 0x80000 /**< its peer answers, but it makes no progress */
#define EPF_RTT_PROBE 0x200000 /**< probe rtt_seq is being timed */
/* 0x400000 to 0x1000000: ep_congest.h */
#define EPF_ECHO_LATE 0x2000000 /**< an answer waits for what may be late */
#define EPF_OWES                                                               \
	(EPF_ACK_NOW | EPF_NAK_NOW | EPF_SYNC_NOW | EPF_PROBE_NOW |            \
	 EPF_ECHO_NOW | EPF_BUSY_NOW | EPF_LOST_NOW | EPF_HELLO_NOW |          \
	 EPF_SYNC_ACK_NOW | EPF_LATE_NOW)

/* Why nothing is sent to a peer. */
#define EPB_HELD 0x01	     /**< nothing new, by order */
#define EPB_UNREACHABLE 0x02 /**< nothing at all but probes */

/** Both halves of the flows with one (peer, cos). */
struct ep_flow {
	uint16_t peer;
	uint8_t cos;
	uint8_t state;	/**< enum rl_ep_flow_state; ep_flow_set_state() */
	uint8_t blocked; /**< EPB_*, of its peer */
	bool doubt;	 /**< it gave up, and has had no answer since */
	uint8_t backoff; /**< doublings of the retry timer */
	bool flushed;	 /**< held, and nothing it sent is under way */
	uint32_t flags;	 /**< EPF_* */
	uint16_t unacked; /**< flits received since the last ACK */
	uint16_t window; /**< flits that may wait for an ACK; ep_congest.c */
	struct ep_flow *link[EP_LISTS];
	uint64_t turn[EP_LISTS]; /**< when it was put on the list */
	uint64_t asked_ns; /**< of the first unanswered probe or sync; 0: none */
	uint32_t heap_pos; /**< 1 + index in the heap; 0: not in it */

	/* sender: una <= sent <= next */
	uint32_t una;	  /**< first number not acknowledged */
	uint32_t sent;	  /**< first number never sent */
	uint32_t next;	  /**< next number to assign */
	uint32_t tx_tag;  /**< number of the next packet */
	uint32_t resend;  /**< bits set in tx_win */
	uint32_t retries; /**< timeouts without an answer */
	uint32_t rtt_seq; /**< flit or probe whose round trip is timed */
	union {
		uint32_t gbn_seq;  /**< where the last go-back-N began ... */
		uint32_t told_tag; /**< without retry: newest reported packet */
	};
	uint32_t sync_tag; /**< packet that begins at una, while not OPEN */
	struct ep_win *tx_win; /**< NULL if una == next */
	union {
		uint32_t hidden; /**< cxl: last number hidden by an ACK */
		uint32_t echo_by; /**< ns, low bits: EPF_ECHO_LATE until then */
	};
	uint32_t ask;	 /**< first probe without an answer; 0: none */
	union {
		uint64_t gbn_ns; /**< ... and when */
		uint64_t told;	 /**< and those up to it, a bit each; 0: none */
	};
	uint64_t rtt_t0_ns;
	uint64_t srtt_ns;
	uint64_t rttvar_ns;
	uint64_t rto_at_ns;
	uint64_t alive_ns; /**< when it last made progress, or began */

	/* receiver */
	struct ep_win *rx_win; /**< NULL if nothing is held */
	struct rl_flit *part;  /**< packet being put together */
	uint32_t expect;       /**< next number expected */
	uint32_t rx_tag;       /**< ... and the packet and ... */
	uint16_t rx_pos;       /**< ... position it should have */
	uint16_t held;	       /**< flits in rx_win */
	uint32_t high;	       /**< 1 + highest number held, if held > 0 */
	uint32_t nak_lo;       /**< numbers nak_lo .. nak_hi-1: the NAK due */
	uint32_t nak_hi;       /**< all gaps before have been asked for */
	uint32_t shown;	       /**< cxl: 1 + last number that was shown */
	uint32_t sure;	       /**< cxl: ep->hurt when nothing was missing */
	union {
		uint32_t hint_seq; /**< number that EPF_HINT is about */
		uint32_t hurt; /**< without retry: corrupt flits that no gap
				    has shown yet */
	};
	union {
		uint32_t lost_lo; /**< without retry: packets skipped for lack
				       of room ... */
		uint32_t echo_end; /**< with retry: the probe's sender has sent
					all numbers before this one */
	};
	union {
		uint32_t lost_hi; /**< ... that the peer must be told of */
		uint32_t place; /**< with retry: room kept for it, in flits */
	};
	uint32_t echo;	       /**< number of the probe to answer */
	uint32_t pred;	       /**< prediction within a burst, and which */
	uint32_t pred_burst;
	uint32_t ack_by;       /**< ns, low bits: until then a due ACK waits for
				    data; 0: it does not yet */
	uint32_t resent;       /**< newest probe at the last retransmission */
	uint64_t ack_at_ns;
	uint64_t gap_at_ns;
} RL_ALIGNED(RL_CACHE_LINE);

_Static_assert(sizeof(struct ep_flow) <= 4 * RL_CACHE_LINE,
	       "a thousand endpoints have a thousand flows each");

#define EP_TOLD 64 /* bits of ep_flow.told */
#define EP_PAST 4 /* past incarnations remembered per peer */

/** What an endpoint knows of another one. */
struct ep_peer {
	uint8_t blocked;  /**< EPB_* */
	uint8_t lead_cos; /**< whose flow carries the probes */
	bool absent;	  /**< its share of a full receiver ended unused */
	uint32_t probe;	  /**< number of the last one */
	uint32_t probe_first; /**< and of the first of this outage */
	uint64_t probe_at_ns;
	uint64_t since_ns; /**< unreachable since */
	uint64_t pace_ns;  /**< probes are paced from this time on */
	uint32_t inc;	   /**< its incarnation; 0: not met yet */
	uint32_t past_i;   /**< slot for the next of ... */
	uint32_t past[EP_PAST]; /**< incarnations that ended, and ... */
	uint64_t past_ns[EP_PAST]; /**< ... when we learned that */
	uint64_t hello_ns; /**< when we last told it who we are */
};

#define EP_LATE 32 /* skipped gaps remembered, of all flows */
#define EP_LATE_RANGE 512 /* packets told at once: a sender refuses far more */

/** Packets lo .. hi-1 of a flow; NULL: none. */
struct ep_gap {
	struct ep_flow *flow;
	uint32_t lo;
	uint32_t hi;
};

/** Without retry: packets that were skipped, and may come late. */
struct ep_late {
	struct ep_gap gap[EP_LATE]; /**< skipped; newest evicts oldest */
	uint32_t gap_i;
	struct ep_gap owed[EP_LATE]; /**< came, and the peer must be told */
	uint32_t nowed;
};

/** A place in the heap. It holds the time, so that flows need not be read. */
struct ep_timer {
	uint64_t at_ns;
	struct ep_flow *flow;
};

struct ep_ctrl;

struct ep_list {
	struct ep_flow *head;
	struct ep_flow *tail;
	uint64_t turn; /**< of the head */
};

struct rl_ep {
	struct rl_ep_cfg cfg;
	const struct rl_codec *codec;
	struct rl_flit_cache *cache;
	struct rl_flit_cache *keep; /**< for unacknowledged flits */
	const uint8_t *path_sl;
	uint8_t levels;
	uint8_t cos_level[16]; /**< level of each class of service ... */
	uint8_t cos_sl[16];    /**< ... and what that adds to the path's SL */
	rl_ep_report_fn report;
	void *report_ctx;
	uint16_t id;
	uint16_t npeers;
	bool quiesced;
	bool held; /**< nothing new goes anywhere */
	bool data_waits;   /**< stand-alone flits took a packet's room */
	uint64_t ctrl_first; /**< turns on EP_LIST_CTRL below go before data */
	bool isn;	   /**< numbers are implicit */
	uint8_t seq_bits;  /**< of a number on (or beside) the wire */

	/* by service level: a blocked level must not stop the others */
	struct ep_list list[EP_LISTS][RL_SLS];
	uint32_t list_mask[EP_LISTS]; /**< bit per level with flows */
	uint64_t turn;		      /**< the next to be given */
	struct rl_pktq ready; /**< packets for the client */
	uint32_t outstanding; /**< flits accepted, not acknowledged */
	uint32_t tx_held;     /**< flits in retry buffers */
	/*
	 * Of these by level, the part of the buffer reserved for each level,
	 * and what levels have taken of the common rest.
	 */
	uint32_t tx_level[RL_SLS];
	uint32_t tx_own;
	uint32_t tx_common;
	uint32_t tx_flows[RL_SLS]; /**< by level: flows with flits there */
	uint32_t tx_stalled;  /**< flits of flows with EPF_STALLED */
	uint64_t moved_ns[RL_SLS]; /**< when a level last sent anything */
	uint64_t srtt_ns; /**< round trips of all flows, smoothed; 0: none */
	uint64_t longest_ns[2], period_ns; /**< round trips (ep_due.c) */
	uint64_t jitter_ns; /**< of the host (ep_congest.c) */
	uint64_t said_ns; /**< when OVERLOADED was last reported; 0: never */
	uint64_t late_ns; /**< until then flits may overtake others */
	uint32_t rx_held;     /**< flits in reorder windows */
	uint32_t rx_part;     /**< flits of packets being put together */
	uint64_t paced_ns;    /**< when the client last blocked packets */
	uint32_t nrefused;    /**< flows in `refused`, a ring of indices */
	uint32_t refused_first, *refused;
	uint32_t placed;      /**< room kept for flows, in flits */
	uint64_t place_end_ns; /**< until then, if others wait */
	uint8_t place_late;   /**< how often the wait for shares was doubled */
	bool place_ended;     /**< shares ended, and no sender was late so far */
	uint32_t burst_id;
	uint32_t hurt; /**< corrupt flits of unknown flows */
	uint32_t witness;

	uint64_t *peer_known; /**< a bit per peer: peer[] is filled in */
	struct ep_peer *peer; /**< npeers */
	uint32_t nunreachable;
	rl_ep_event_fn event;
	void *event_ctx;
	uint32_t incarnation;
	uint64_t born_ns; /**< when it was first polled; 0: not yet */

	uint32_t nflows;
	struct ep_flow *flow;	/**< cfg.max_flows */
	struct ep_cc *cc;	/**< one for each of them */
	uint32_t hash_mask;
	uint32_t *hash;		/**< 1 + index into flow; 0: free */
	uint32_t nheap;
	struct ep_timer *heap;	/**< cfg.max_flows */
	struct ep_win_pool win[EP_WINS]; /**< small windows, large ones */

	struct ep_late late;
	struct ep_spread spread;

	uint32_t enc_n;		/**< flits to be encoded */
	const uint8_t *enc_src[EP_BURST]; /**< where they lie in the clear */
	uint8_t *enc_wire[EP_BURST];
	uint32_t enc_seq[EP_BURST];

	uint64_t ctr[RL_EP_COUNTER_COUNT];
};

/**
 * A loopback, or a change of paths: flits of a flow may overtake each other for
 * a while, as long as a detour takes.
 */
static inline void
ep_late_possible(struct rl_ep *ep, uint64_t now_ns)
{
	ep->late_ns = rl_deadline(now_ns, 64 * ep->cfg.nak_delay_ns);
}

#define EP_COUNT(ep, name) ((ep)->ctr[RL_EPC_##name]++)
#define EP_COUNT_N(ep, name, n) ((ep)->ctr[RL_EPC_##name] += (n))

static inline uint8_t
ep_sl(const struct rl_ep *ep, uint16_t dst, uint8_t cos)
{
	const uint8_t sl = ep->path_sl != NULL ? ep->path_sl[dst] & 0xf : 0;

	return (uint8_t)(sl + ep->cos_sl[cos & 15]);
}

/* ep_flow.c */
struct ep_flow *ep_flow_find(const struct rl_ep *ep, uint16_t peer,
			     uint8_t cos);
/** Finds or makes it; NULL if max_flows are in use. */
struct ep_flow *ep_flow_get(struct rl_ep *ep, uint16_t peer, uint8_t cos);
/** The number of a flow's first packet: different in each life. */
uint32_t ep_first_tag(const struct rl_ep *ep, uint16_t peer, uint8_t cos);
void ep_flow_set_state(struct ep_flow *flow, enum rl_ep_flow_state state);
/** What is known of a peer, for writing. */
struct ep_peer *ep_peer_get(struct rl_ep *ep, uint16_t peer);
/** EPB_* of a peer. */
uint8_t ep_peer_blocked(const struct rl_ep *ep, uint16_t peer);
/** When the flow must probe its peer; RL_NEVER: not its task. */
uint64_t ep_probe_at_ns(const struct rl_ep *ep, const struct ep_flow *flow);
struct ep_win *ep_win_take(struct rl_ep *ep);
void ep_win_give(struct rl_ep *ep, struct ep_win *w);
/** A larger window for what *w has from..to-1. @return false: none is left */
bool ep_win_grow(struct rl_ep *ep, struct ep_win **w, uint32_t from,
		 uint32_t to);
/** Queues it behind all others, unless it is on the list already. */
void ep_list_push(struct rl_ep *ep, enum ep_list_id id, struct ep_flow *flow);
/** The level of @p mask (not 0, of levels with flows) whose turn it is. */
unsigned int ep_list_level(const struct rl_ep *ep, enum ep_list_id id,
			   uint32_t mask);
/** Takes the first flow of a level that has one. */
void ep_list_pop(struct rl_ep *ep, enum ep_list_id id, unsigned int level);
/** The flow owes a NAK or the like: it does not wait for data. */
void ep_ctrl_now(struct rl_ep *ep, struct ep_flow *flow);

/* ep_timer.c */
/** Wakes the flow at @p at_ns (or earlier). */
void ep_timer_arm(struct rl_ep *ep, struct ep_flow *flow, uint64_t at_ns);
/** Takes the flow with the next timer; there is one. */
struct ep_flow *ep_timer_pop(struct rl_ep *ep);

/* ep_txbuf.c */
/** Whether the flow has anything that may leave now. */
bool ep_tx_wants(const struct ep_flow *flow);
/** Queues it to send if it has. */
void ep_tx_ready(struct rl_ep *ep, struct ep_flow *flow);
/** Whether the retry buffer has room for @p n more flits of a class. */
bool ep_tx_room(const struct rl_ep *ep, uint8_t cos, uint32_t n);
/** Whether a flow's share of it has room for them. */
bool ep_tx_share(const struct rl_ep *ep, const struct ep_flow *flow,
		 uint32_t n);
/** Whether flows without progress hold more than their share. */
bool ep_tx_crowded(const struct rl_ep *ep);
/** The flow makes no progress, or may make some again. */
void ep_tx_stall(struct rl_ep *ep, struct ep_flow *flow, bool on);
/** @p n new flits of a flow enter the retry buffer. */
void ep_tx_hold(struct rl_ep *ep, struct ep_flow *flow, uint32_t n);
/** Flits una .. upto-1 have left the retry buffer: progress. */
void ep_tx_gone(struct rl_ep *ep, struct ep_flow *flow, uint32_t upto);
/** Releases una .. upto-1 from the retry buffer. */
void ep_tx_release(struct rl_ep *ep, struct ep_flow *flow, uint32_t upto);

/* ep_enc.c */
/** Fills the fields of a packet's head that switches read. */
void ep_fill_meta(const struct rl_ep *ep, struct rl_flit *f, uint16_t dst,
		  uint64_t state, uint64_t now_ns);
/**
 * Adds a flit to the burst that is encoded before the poll ends: it lies at @p
 * src, which may be @p wire, and does not change until then.
 */
void ep_enc_add(struct rl_ep *ep, const uint8_t *src, uint8_t *wire,
		uint32_t number);
void ep_enc_flush(struct rl_ep *ep);

/* ep_ack.c */
/** Flit number @p seq, which is under way, must be sent again. */
void ep_mark(struct ep_flow *flow, uint32_t seq);
void ep_mark_all(struct ep_flow *flow);
void ep_on_ack(struct rl_ep *ep, struct ep_flow *flow, uint32_t n,
	       uint64_t now_ns);
void ep_on_nak_gbn(struct rl_ep *ep, struct ep_flow *flow, uint32_t n,
		   uint64_t now_ns);
void ep_on_nak_one(struct rl_ep *ep, struct ep_flow *flow, uint32_t n);
/** The peer says that its client is slow, or no longer so. */
void ep_on_busy(struct rl_ep *ep, struct ep_flow *flow, bool busy,
		uint64_t now_ns);
void ep_on_sync_ack(struct rl_ep *ep, struct ep_flow *flow, uint32_t n,
		    uint64_t now_ns);

/* ep_due.c */
uint64_t ep_rto_ns(const struct rl_ep *ep, const struct ep_flow *flow);
void ep_rtt_sample(struct rl_ep *ep, struct ep_flow *flow, uint64_t t0_ns,
		   uint64_t now_ns);
/** How long unanswered, or blocked, packets are kept. */
uint64_t ep_patience_ns(const struct rl_ep *ep, const struct ep_flow *flow);
uint64_t ep_give_up_at_ns(const struct rl_ep *ep, const struct ep_flow *flow);
/** Starts the probe timer, if there is anything to wait for. */
void ep_rto_start(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns);
/** The peer answered: how long its oldest ask took counts as a round trip. */
void ep_ask_over(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns);
/** The flow made progress, or may: restart its give-up and probe timers. */
void ep_alive(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns);

/* ep_fail.c */
/** Reports all that the flow holds. */
void ep_fail(struct rl_ep *ep, struct ep_flow *flow, enum rl_ep_reason reason,
	     uint64_t now_ns);

/* ep_tell.c */
void ep_tell(struct rl_ep *ep, enum rl_ep_event_kind kind, uint16_t peer,
	     uint64_t since_ns, uint64_t now_ns);
void ep_tell_restarted(struct rl_ep *ep, uint16_t peer, uint32_t tag,
		       uint64_t now_ns);

/* ep_flush.c */
/** The flow is held: asks whether flits it sent are still under way. */
void ep_flush_begin(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns);
/** Released: asks for flits lost meanwhile. */
void ep_flush_end(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns);
/** Asks again. @return when it is next due; RL_NEVER: all is known */
uint64_t ep_flush_timer(struct rl_ep *ep, struct ep_flow *flow,
			uint64_t now_ns);
/** The probe of a held flow has been answered. */
void ep_flush_done(struct ep_flow *flow);

/* ep_ask.c */
/** The number of the next probe of a peer. */
uint32_t ep_probe_next(struct ep_peer *peer);
/** Probes behind all that the flow has sent, and will retransmit. */
void ep_ask(struct rl_ep *ep, struct ep_flow *flow);
/** Probes at once: only whether the peer answers matters. */
void ep_ask_now(struct rl_ep *ep, struct ep_flow *flow);
/** A probe of the flow, or its sync, has just left. */
void ep_asked(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns);
/** Whether @p probe is an unanswered one of the flow. */
bool ep_is_asked(const struct rl_ep *ep, const struct ep_flow *flow,
		 uint32_t probe);
/** The answer to a probe: measures the round trip, if it is the timed one. */
void ep_time_echo(struct rl_ep *ep, struct ep_flow *flow, uint32_t probe,
		  uint64_t now_ns);
/** The peer has said something that it can only know from this flow. */
void ep_answered(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns);

/* ep_inc.c */
/**
 * A stand-alone flit of a peer, of the flow with @p cos. If the peer has begun
 * a new life, all that the old one had fails.
 * @return whether the flit is of this life of the peer, and for this one here
 */
bool ep_inc_heard(struct rl_ep *ep, uint16_t peer, uint8_t cos,
		  const struct ep_ctrl *c, uint64_t now_ns);
/** A flit of a flow that never said where it begins. */
void ep_inc_stranger(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns);

/* ep_reach.c */
/** The timer of a flow to an unreachable peer. @return when it is next due */
uint64_t ep_reach_timer(struct rl_ep *ep, struct ep_flow *flow,
			uint64_t now_ns);
/** A probe's answer. @return whether it shows that there is a path again */
bool ep_reach_echo(struct rl_ep *ep, const struct ep_flow *flow, uint32_t probe,
		   uint64_t now_ns);
/** Without retry: the peer did not wait for packets lo .. hi-1. */
void ep_on_lost(struct rl_ep *ep, struct ep_flow *flow, uint32_t lo,
		uint32_t hi, uint64_t now_ns);

/* ep_rto.c */
void ep_on_rto(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns);

/* ep_tx.c */
/** New packets and retries, within @p budget and @p room_sl. */
uint32_t ep_poll_data(struct rl_ep *ep, struct rl_pktq *out, uint32_t budget,
		      uint32_t room_sl[RL_SLS], uint64_t now_ns);

/* ep_ctrl.c */
/**
 * Lets flows that have been on the list since before @p turn send what they
 * owe, within @p budget and, by service level, @p room_sl.
 */
uint32_t ep_poll_ctrl(struct rl_ep *ep, struct rl_pktq *out, uint64_t turn,
		      uint32_t budget, uint32_t room_sl[RL_SLS],
		      uint64_t now_ns);

/* ep_ctrl_rx.c */
/** A stand-alone flit, verified; the caller keeps it. */
void ep_ctrl_rx(struct rl_ep *ep, const struct rl_flit *f, uint64_t now_ns);

/* ep_client.c */
/** Whether the reorder room has a place for one more flit of a flow. */
bool ep_rx_share(const struct rl_ep *ep, const struct ep_flow *flow);

/* ep_place.c */
/** Whether nothing new of a flow is taken now; without retry all is. */
bool ep_client_full(const struct rl_ep *ep, const struct ep_flow *flow);
/** Turns a flit away: its sender is told, and waits. */
void ep_turn_back(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *f);
uint64_t ep_place_deadline(const struct rl_ep *ep);
/** Tells flows that were refused to go on, as far as there is room. */
void ep_place_poll(struct rl_ep *ep, uint64_t now_ns);
/** A packet of @p n flits of a flow is complete. */
void ep_place_taken(struct rl_ep *ep, struct ep_flow *flow, uint32_t n);
/** A probe: the flow needs room for no number from @p upto on. */
void ep_place_asked(struct rl_ep *ep, struct ep_flow *flow, uint32_t upto);
/** The flow starts over: it leaves the queue and returns its share. */
void ep_place_leave(struct rl_ep *ep, struct ep_flow *flow);

/* ep_order.c */
/**
 * Takes an intact flit; false if it was a duplicate. @p shown: its number @p
 * seq is not a guess.
 */
bool ep_order_flit(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *f,
		   uint32_t seq, bool shown, uint64_t now_ns);
/**
 * The same for consecutive flits of one client's packet that come next, while
 * the flow holds nothing.
 */
void ep_order_run(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *head,
		  uint64_t now_ns);
void ep_order_hint(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns);
void ep_order_sync(struct rl_ep *ep, struct ep_flow *flow, uint32_t expect,
		   uint32_t tag);
void ep_on_gap_timer(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns);
/** An ACK is due at once. */
void ep_ack_soon(struct rl_ep *ep, struct ep_flow *flow);
/**
 * A sync must be answered, even without retry, and only by a stand-alone ACK:
 * the sender of an ACK on data may not have seen the sync.
 */
void ep_ack_sync(struct rl_ep *ep, struct ep_flow *flow);
/** More flits arrived that must be acknowledged. */
void ep_ack_count(struct rl_ep *ep, struct ep_flow *flow, uint32_t n,
		  uint64_t now_ns);

/* ep_late.c */
/** A flit arrived corrupt; its header, if not wrong, names this flow. */
void ep_late_hurt(struct ep_flow *flow);
/** Packets lo .. hi-1 were skipped. */
void ep_late_skipped(struct rl_ep *ep, struct ep_flow *flow, uint32_t lo,
		     uint32_t hi);
/** The peer is told of packets lo .. hi-1, whether they come or not. */
void ep_late_told(struct rl_ep *ep, const struct ep_flow *flow, uint32_t lo,
		  uint32_t hi);
/** The flow starts over. */
void ep_late_forget(struct rl_ep *ep, const struct ep_flow *flow);
/**
 * A flit came behind the expected one. @return whether its packet was skipped;
 * then the peer will be told. False: it is a duplicate.
 */
bool ep_late_came(struct rl_ep *ep, struct ep_flow *flow, uint32_t tag);
/** Packets lo .. hi-1 that the peer must be told of now; false: no more. */
bool ep_late_next(struct rl_ep *ep, struct ep_flow *flow, uint32_t *lo,
		  uint32_t *hi);

/* ep_reasm.c */
void ep_reasm_flit(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *f);
void ep_reasm_drop(struct rl_ep *ep, struct ep_flow *flow);
/** Consecutive flits that continue the packet. @return whether they end it */
bool ep_reasm_run(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *head);

/* ep_profile.c */
/** Writes FSN and ReplayCmd of @p n flits of the retry buffer. */
void ep_profile_stamp(struct rl_ep *ep, struct ep_flow *flow, uint32_t from,
		      uint32_t n, bool again);
/** The number in the CRC of flit number @p seq. */
uint32_t ep_profile_number(const struct rl_ep *ep, uint32_t seq);
bool ep_profile_has_header(const struct rl_ep *ep);
/** Whether an intact flit shows its number, in the FSN or in its CRC. */
bool ep_profile_shows(const struct rl_ep *ep, const uint8_t *wire);
/** The number in an ACK, or a go-back-N NAK, of this flow. */
uint32_t ep_ack_number(const struct rl_ep *ep, const struct ep_flow *flow);
/** Whether the next data flit of this flow would carry a due ACK. */
bool ep_profile_ack_rides(const struct rl_ep *ep, const struct ep_flow *flow);
/** An ACK of this flow has just been put on a flit. */
void ep_ack_carried(struct rl_ep *ep, struct ep_flow *flow);

#endif /* EP_PRIV_H */
