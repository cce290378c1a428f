/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_PORT_H
#define RL_PORT_H

/**
 * @file
 * Port logic: one end of a link [LINK-1..5, DRL-1, DRL-3]. A transmit replay
 * buffer, receive logic, the link's state machine and the loopback.
 *
 * A port is pure: it takes frames, packets and the time, and gives frames,
 * packets and a deadline. It belongs to one lcore; no other touches it,
 * except for the counters in struct rl_port_shared.
 *
 *              packets from the core          packets to the core
 *                      |                              ^
 *              rl_port_submit()               port->rx_out (a queue)
 *                      v                              |
 *             egress queue per VC            packet assembly per VC
 *                      v                              ^
 *               replay buffer  --- loopback --->  rl_port_loop()
 *                      v                              ^
 *              rl_port_tx_next()               rl_port_rx_burst()
 *                      v                              |
 *                  PHY: frames out               frames in
 *
 * Call order of a poll: rl_port_rx_burst() for what arrived, then
 * rl_port_tick(), then rl_port_tx_next() while it gives frames: timers judge
 * silence only after everything that arrived has been heard.
 */

#include "rl_base.h"
#include "rl_codec.h"
#include "rl_flit_cache.h"
#include "rl_frame.h"
#include "rl_link_auth.h"
#include "rl_link_cfg.h"
#include "rl_port_counters.h"
#include "rl_prng.h"
#include "rl_shared.h"
#include "rl_topo.h"

RL_PUBLIC_BEGIN

#define RL_PORT_EVENTS 32 /* power of two */
#define RL_PORT_ROW 64	  /* packets, see struct rl_port_row */

/** States of a link. One function writes them: port_set_state(). */
#define RL_LINK_STATES(X)                                                      \
	X(OFF)	    /* by command; nothing is sent or taken */               \
	X(INIT)	    /* handshake of a new epoch */                           \
	X(UP)	    /* flits flow (also while replaying) */                  \
	X(RETRAIN)  /* probing; buffer and numbers are kept */               \
	X(LOOPBACK) /* dead; everything flows back into the switch core */   \
	X(DAMPED)   /* dead and drained; waits before it trains again */

enum rl_link_state {
#define RL_LINK_ENUM(name) RL_LINK_##name,
	RL_LINK_STATES(RL_LINK_ENUM)
#undef RL_LINK_ENUM
};

/** What a PHY says of its link. */
enum rl_phy_status {
	RL_PHY_DOWN,
	RL_PHY_UP,
	RL_PHY_REMOVED, /**< its device is gone */
};

/** What declares a link dead [LINK-5]. X(name, word in reports). */
#define RL_DETECTORS(X)                                                        \
	X(NONE, "none")                                                        \
	X(PHY, "phy")                                                          \
	X(REMOVED, "removed") /* the device that was the wire's end */         \
	X(KEEPALIVE, "keepalive")                                              \
	X(RETRAIN, "retrain")                                                  \
	X(ERROR_RATE, "error-rate")                                            \
	X(PEER, "peer")                                                        \
	X(COMMAND, "command")

enum rl_detector {
#define RL_DET_ENUM(name, word) RL_DET_##name,
	RL_DETECTORS(RL_DET_ENUM)
#undef RL_DET_ENUM
	RL_DET_COUNT
};

/** What a port tells its host, in order. */
enum rl_port_event_type {
	RL_PEV_UP,	   /**< trained: epoch */
	RL_PEV_DEAD,	   /**< detector, loop_id, epoch, planned */
	RL_PEV_DRAINED,	   /**< loop_id, looped_*, planned */
	RL_PEV_REROUTED,   /**< loop_id of another port: its first flit left */
	RL_PEV_RETRAIN,	   /**< entered retraining */
	RL_PEV_DEGRADED,   /**< error rate over half of its limit */
	RL_PEV_EMPTY,	   /**< drained before it goes down: nothing is held */
	RL_PEV_REFUSED,	   /**< the link does not train: refused */
};

/** Why an end does not train with its peer [LINK-8]. */
enum rl_refusal {
	RL_REFUSED_NONE,
	RL_REFUSED_VERSION, /**< another version of reflit sends it: version */
	RL_REFUSED_FABRIC,  /**< its fabric is another: digest, peer */
	RL_REFUSED_KEY,	    /**< its key is another */
	RL_REFUSED_NO_KEY,  /**< it has no key, and this end has one */
	RL_REFUSED_OUR_KEY, /**< it has a key, and this end has none */
	RL_REFUSED_PLACE,   /**< it belongs to another place: peer */
	RL_REFUSED_SELF,    /**< the cable leads back to this end */
};

/** What an end said that this one does not train with. */
struct rl_refused {
	enum rl_refusal why;
	uint8_t version;
	uint64_t digest; /**< of its configuration */
	struct rl_frame_place peer;
};

struct rl_port_event {
	uint64_t t_ns;
	enum rl_port_event_type type;
	enum rl_detector detector;
	bool planned; /**< it was drained first: no failover */
	uint32_t loop_id;
	uint32_t epoch;
	uint32_t looped_packets;
	uint32_t looped_flits;
	uint32_t looped_acked_flits;
	struct rl_refused refused;
};

/** Why a packet was given up; reported, never silent [DRL-7]. */
#define RL_DROP_REASONS(X)                                                     \
	X(POLICY, "policy")   /* class or link type is not replayed [DRL-6] */ \
	X(LOOPBACK_NONE, "loopback-none") /* counted as lost, not reported */  \
	X(NO_PATH, "no-path")                                                  \
	X(WATCHDOG, "watchdog")                                                \
	X(HOPS, "hop-limit")                                                   \
	X(MISROUTE, "misroute") /* a second misroute [DRL-10] */               \
	X(TOO_LONG, "too-long")                                                \
	X(FRAGMENT, "fragment") /* not whole: loopback "unacked-only" */       \
	X(DUPLICATE, "duplicate") /* by tag: not a loss */                     \
	X(UNCORRECTABLE, "uncorrectable") /* link retry off [LCB-4] */         \
	X(MARKED, "error-mark") /* corrupt in a switch, or poisoned [LCB-2] */ \
	X(INIT, "init") /* its link is not trained, and init_action says so */ \
	X(ASTRAY, "astray") /* new tables lead back where it came from */      \
	X(NO_ROOM, "no-room") /* to wait for new tables, which may come */     \
	X(ADDRESS, "address") /* nobody has it: its header was altered [EP-8] */

enum rl_drop_reason {
#define RL_DROP_ENUM(name, word) RL_DROP_##name,
	RL_DROP_REASONS(RL_DROP_ENUM)
#undef RL_DROP_ENUM
	RL_DROP_REASON_COUNT
};

/**
 * Called on the owner's lcore for each packet given up; @p pkt is freed by the
 * caller afterwards.
 */
typedef void (*rl_drop_fn)(void *ctx, const struct rl_flit *pkt,
			   enum rl_drop_reason why, uint64_t now_ns);

/**
 * What passes between a port and its core besides packets. A pipe carries
 * `struct rl_flit *`; flits are 64-byte aligned, so small numbers are free to
 * be marks.
 */
enum rl_pipe_mark {
	RL_MARK_NONE = 0,
	/* port to core, in this order over a link's life: */
	RL_MARK_LINK_UP = 1,	/**< trained; the egress may be used */
	RL_MARK_LOOP_BEGIN = 2, /**< dead; looped packets follow */
	RL_MARK_LOOP_END = 3,	/**< drained */
	RL_MARK_FENCE_DONE = 4, /**< answer to RL_MARK_FENCE */
	RL_MARK_LINK_DRAIN = 7, /**< will go down: let it run empty */
	/* core to port: */
	RL_MARK_LOOP_FENCE = 5, /**< nothing more until LINK_UP */
	RL_MARK_FENCE = 6,	/**< answer once all before is acknowledged */
};

static inline struct rl_flit *
rl_pipe_mark(enum rl_pipe_mark m)
{
	return (struct rl_flit *)(uintptr_t)m;
}

/** RL_MARK_NONE for a packet. */
static inline enum rl_pipe_mark
rl_pipe_is_mark(const struct rl_flit *f)
{
	return (uintptr_t)f < RL_CACHE_LINE
		       ? (enum rl_pipe_mark)(uintptr_t)f
		       : RL_MARK_NONE;
}

struct rl_port;

/** What a port is made of; pointers stay the caller's and must outlive it. */
struct rl_port_params {
	const struct rl_link_cfg *cfg;
	const struct rl_codec *codec;
	struct rl_flit_cache *cache;
	struct rl_port_shared *shared;
	rl_drop_fn drop;
	void *drop_ctx;
	uint64_t seed;		/**< of the nonces, with the incarnation */
	uint64_t incarnation;	/**< of this process, from entropy; 0: none */
	uint64_t digest;	/**< of the fabric's configuration; 0: none */
	uint32_t uid;		/**< unique in the fabric, < 2^20 */
	uint16_t index;		/**< port number at its device */
	enum rl_link_kind kind; /**< for the policies */
	uint32_t frame_bytes;	/**< largest frame of the PHY */
	const struct rl_link_auth *auth; /**< NULL: any sender is trusted */
	uint8_t mac[12];	/**< destination and source of its frames */
	struct rl_frame_place place; /**< what INIT frames say of it */
};

/** Any thread. Bytes of a port, 64-byte aligned. */
size_t rl_port_memsize(const struct rl_link_cfg *cfg);

/**
 * Control thread. Builds a port in @p mem, state OFF.
 * @return the port (== mem), or NULL where frame_bytes is too small for one
 *   flit
 */
struct rl_port *rl_port_init(void *mem, const struct rl_port_params *p);

/** Owner. Gives back every flit the port holds (end of a run). */
void rl_port_flush(struct rl_port *port);

/**
 * Owner. Lets the port train: at once if it is OFF, or at rl_port_up() if it is
 * down by command. A port of a device that waits for tables is not started.
 */
void rl_port_start(struct rl_port *port, uint64_t now_ns);

/**
 * Owner. Takes a link down by command: dead (detector COMMAND), and OFF once
 * drained. @return 0; -EALREADY where it is down by command already
 */
int rl_port_down(struct rl_port *port, uint64_t now_ns);

/**
 * Owner. The same without loss of time: nothing new is taken, at either end,
 * and only when all that was sent is acknowledged does the link go down
 * (port_drain.c). rl_port_down() meanwhile does not wait, rl_port_up() makes
 * it train again afterwards. Where the link is not up it goes down at once.
 * @return 0; -EALREADY where it is down, or drains, by command already
 */
int rl_port_drain_down(struct rl_port *port, uint64_t now_ns);

/**
 * Owner. Undoes rl_port_down() and rl_port_drain_down(), and ends the time for
 * which its errors keep the link out. A port that was not started trains only
 * when it is.
 * @return 0; -EALREADY where it is not down
 */
int rl_port_up(struct rl_port *port, uint64_t now_ns);

/**
 * Owner. The PHY's status, at each change. A link whose PHY is removed dies at
 * once, also if detect_phy is off.
 */
void rl_port_phy_status(struct rl_port *port, enum rl_phy_status status,
			uint64_t now_ns);

/**
 * Owner. Frames off the wire in the order in which they came, each of len[i]
 * bytes; they stay the caller's and may be changed. Whole packets are appended
 * to rl_port_rx_out(). Flits of frames that follow each other are checked and
 * taken together, so a poll gives all that it has at once.
 */
void rl_port_rx_burst(struct rl_port *port, uint8_t *const frame[],
		      const uint32_t len[], unsigned int n, uint64_t now_ns);

/** Owner. The same for one. */
void rl_port_rx_frame(struct rl_port *port, uint8_t *frame, uint32_t len,
		      uint64_t now_ns);

/**
 * Owner, between rl_port_rx_burst() and rl_port_tick(). The PHY may hold more
 * frames than were taken: the peer's silence is not judged in this poll.
 */
void rl_port_rx_more(struct rl_port *port);

/**
 * Owner. What the next call of rl_port_tx_next() may write at most.
 *
 * @param frames  frames after which there is nothing more to send at this time,
 *                if nothing comes in, and nobody else calls; UINT_MAX: unknown
 * @return bytes of a frame
 */
uint32_t rl_port_tx_most(const struct rl_port *port, unsigned int *frames);

/**
 * Owner. Brings near what a poll of the port looks at: for hosts of more ports
 * than a cache has room for, a poll ahead.
 */
void rl_port_prefetch(const struct rl_port *port);

/** Owner. The same of what it points to, when the port itself has come near. */
void rl_port_prefetch_far(const struct rl_port *port);

/**
 * Owner. The time that polls are told has left out @p ns for good, as nobody
 * was run meanwhile. The peer's, on another machine, may have gone on: that its
 * stamps are ahead by so much is no error.
 */
void rl_port_left_out(struct rl_port *port, uint64_t ns);

/** Owner. Packets for the core; the caller pops and owns them. */
struct rl_pktq *rl_port_rx_out(struct rl_port *port);

/**
 * Owner. A packet, or a mark (LOOP_FENCE, FENCE), from the core; the port
 * owns the packet. The core keeps within cfg->queue_flits a VC.
 */
void rl_port_submit(struct rl_port *port, struct rl_flit *pkt, uint64_t now_ns);

/**
 * Owner, for a core that is polled by the same lcore. Flits of packets that may
 * go past the queue, by rl_port_hand(), until anything else is called: 0 where
 * something waits there, or all must.
 */
uint32_t rl_port_hand_room(const struct rl_port *port);

/**
 * Owner. Takes a whole packet past the queue, within rl_port_hand_room(): it is
 * numbered, and leaves by the VC that stands in @p state, which becomes its
 * state. It takes no room of the queue.
 *
 * @param follower  packet that may come next, or NULL: its lines are asked for
 * @return whether it was taken; where the peer has no room for it, it is to go
 *   by rl_port_submit()
 */
bool rl_port_hand(struct rl_port *port, struct rl_flit *pkt, uint64_t state,
		  const struct rl_flit *follower);

/** A row of packets of one flit that go past the queue, see rl_port_hand_row(). */
struct rl_port_row {
	uint32_t n;
	uint32_t by_vc[RL_VCS];	/**< how many of them leave by each VC */
	struct rl_flit *pkt[RL_PORT_ROW];
	uint16_t sideband[RL_PORT_ROW];
};

/**
 * Owner, as rl_port_hand_room(), which gave @p room. Flits of packets that may
 * go there whatever their VCs are: for all of these the peer has room.
 */
uint32_t rl_port_hand_sure(const struct rl_port *port, uint32_t room);

/**
 * Owner. rl_port_hand() for packets of one flit, within rl_port_hand_sure().
 * Their states are those that they leave with, and so are their sidebands; none
 * of them has looped.
 */
void rl_port_hand_row(struct rl_port *port, const struct rl_port_row *row);

/** Owner. Timers. */
void rl_port_tick(struct rl_port *port, uint64_t now_ns);

/** Owner. Whether rl_port_tx_frame() would give a frame now. */
bool rl_port_tx_ready(struct rl_port *port, uint64_t now_ns);

/**
 * Owner. Writes the next frame into @p frame (64-byte aligned, of the PHY's
 * frame size). @return its length, 0 where there is nothing to send
 */
uint32_t rl_port_tx_frame(struct rl_port *port, uint8_t *frame,
			  uint64_t now_ns);

/** What frames of a burst say that went before; zeroed: none did. */
struct rl_port_burst {
	bool again; /**< one with flits: the next says the same of all else */
	struct rl_frame_like like;
};

/**
 * Owner. The same for a burst, in which nothing else is called.
 *
 * @param burst  the caller's; its `again` is false before the first frame
 */
uint32_t rl_port_tx_next(struct rl_port *port, uint8_t *frame,
			 struct rl_port_burst *burst, uint64_t now_ns);

/**
 * Owner. Takes the next mark or looped packet for the core; the caller owns
 * the packet. @return NULL where there is none
 */
struct rl_flit *rl_port_loop(struct rl_port *port, uint64_t now_ns);

/** Owner. When rl_port_tick() or _tx_frame() next has something to do. */
uint64_t rl_port_deadline(const struct rl_port *port, uint64_t now_ns);

/**
 * Owner of both, for hosts in virtual time. Whether keepalives are all that this
 * port would say from now on, and nothing in them news to its peer. Where that
 * is so both ways, on a wire that loses nothing, neither has to be polled until
 * something happens.
 */
bool rl_port_rests(const struct rl_port *port, const struct rl_port *peer,
		   uint64_t now_ns);

/**
 * Owner, for the same hosts. Whether the port's link is up, and will stay up
 * while the wire is whole, the peer's is up too, and no frame takes longer than
 * @p frame_ns: no drain, no error that a detector looks at, and the peer is heard
 * from before silence, or an ACK that is missing, could be held against it.
 */
bool rl_port_steady(const struct rl_port *port, uint64_t frame_ns);

/**
 * As rl_port_rests(), of a wire that carries nothing away: whether all that this port would
 * say is that it wants to train. What comes in ends that rest.
 */
bool rl_port_calls(const struct rl_port *port);

/**
 * Owner, before anything else is called after such a rest. What the port would
 * have said is as if it had been said at its times, and keepalives heard, too.
 */
void rl_port_rested(struct rl_port *port, uint64_t now_ns);

/** Owner. @return whether @p ev was filled with the oldest event */
bool rl_port_event_pop(struct rl_port *port, struct rl_port_event *ev);

/** A port as `show port` sees it. */
struct rl_port_info {
	enum rl_link_state state;
	enum rl_detector last_detector;
	struct rl_refused refused;  /**< why it does not train */
	uint8_t tx_epoch;
	uint8_t rx_epoch;
	uint32_t window;
	uint32_t held_flits;	    /**< in the replay buffer */
	uint32_t outstanding_flits; /**< of them not acknowledged */
	uint32_t reserved_flits;    /**< room kept for packets begun */
	uint32_t queued_flits;	    /**< waiting in the egress queues */
	uint32_t flits_per_frame;   /**< at most, by both ends' word */
	uint64_t srtt_ns;
	uint64_t replay_timer_ns;
	uint32_t flaps;
	bool degraded;		     /**< error rate over half of its limit */
	/** score of each error rate, in percent of what ends the link */
	uint32_t corrected_percent, uncorrectable_percent, replay_percent;
	uint32_t credits[RL_VCS]; /**< flits that may be sent, by VC */
	uint16_t consumed[RL_VCS]; /**< flits sent in this epoch, cyclic */
	uint16_t begun[RL_VCS];	  /**< and kept for the rest of a packet */
	uint16_t granted[RL_VCS]; /**< limit for the peer now, cyclic */
	uint32_t buffered[RL_VCS]; /**< flits from the peer not yet let go */
	uint32_t replay_base;	  /**< the four pointers, free-running */
	uint32_t replay_acked;
	uint32_t replay_next;
	uint32_t replay_tail;
	uint64_t events_lost;	  /**< not taken in time */
};

/** Any thread. Where the link stands: what others may decide by. */
enum rl_link_state rl_port_state(const struct rl_port *port);

/** Owner, or any thread that can stand torn numbers (show). */
void rl_port_info(const struct rl_port *port, struct rl_port_info *info);

/** What rl_port_info() says of credits, and no more. */
struct rl_port_credits {
	enum rl_link_state state;
	uint8_t tx_epoch;
	uint8_t rx_epoch;
	uint16_t consumed[RL_VCS];
	uint16_t begun[RL_VCS];
	uint16_t granted[RL_VCS];
	uint32_t buffered[RL_VCS];
	uint32_t own[RL_VCS]; /**< of what came in this epoch, made here: ends
				   of packets, in room that was given away */
};

/** Owner. For hosts that look after every poll. */
void rl_port_credits(const struct rl_port *port, struct rl_port_credits *c);

/** Any thread; written by the owner. RL_PORT_COUNTER_COUNT numbers. */
const uint64_t *rl_port_counters(const struct rl_port *port);

const char *rl_port_counter_name(enum rl_port_counter c);
const char *rl_link_state_name(enum rl_link_state s);
const char *rl_detector_name(enum rl_detector d);
const char *rl_drop_reason_name(enum rl_drop_reason r);

/** Owner. Nothing queued, nothing to acknowledge, no partial packet. */
bool rl_port_idle(const struct rl_port *port);

/** Owner. Flits the port holds anywhere, for leak checks. */
uint32_t rl_port_flits(const struct rl_port *port);

RL_PUBLIC_END

#endif /* RL_PORT_H */
