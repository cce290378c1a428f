/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_PORT_PRIV_H
#define RL_PORT_PRIV_H

/**
 * @file
 * The inside of a port, shared by the files port_*.c and nobody else.
 *
 * Each part of a port is written by one file alone, or by the inline functions
 * below that bear its name; every file may read them all. Files call those of
 * lines below only:
 *
 *   port.c        the doors: frames, timers, the core, show
 *   port_state.c  the one that acts
 *   port_tx.c     port_shake.c  port_detect.c  port_drain.c  port_loop.c
 *   port_auth.c   port_hand.c
 *   port_queue.c  port_rx.c
 *   port_witness.c
 *   port_retry.c  port_packet.c  port_rtt.c
 *
 * and all of them port_event.c. port_credits.h and port_stamp.h, port_queue.h,
 * port_retry.h and port_packet.h are inline parts of port_rx.c, port_queue.c,
 * port_retry.c and port_packet.c. A part below port_state.c never ends a link nor
 * retrains it: it returns a verdict, and port_act() carries it out.
 */

#include <stdatomic.h>

#include "port_detect.h"
#include "replay.h"
#include "rl_plant.h"
#include "rl_port.h"
#include "rl_seq.h"
#include "rl_shared.h"

struct port_train;

/** What a part asks of the state machine. */
enum port_wish {
	PORT_NOTHING,
	PORT_OPEN,     /* the handshake is done */
	PORT_PROGRESS, /* the peer acknowledged something new */
	PORT_ANSWERED, /* the peer answered a probe */
	PORT_STUCK,    /* replays lead nowhere */
	PORT_DEAD,     /* by the detector `why` */
};

struct port_verdict {
	enum port_wish wish;
	enum rl_detector why;
};

#define PORT_VERDICT(wish) ((struct port_verdict){ wish, RL_DET_NONE })
#define PORT_DEAD_BY(why) ((struct port_verdict){ PORT_DEAD, why })

/**
 * What a port owes: the code that finds something to report sets the bit, the
 * code that reports it clears the bit.
 */
enum port_debt {
	/* to the core (rl_port_loop), in this order */
	OWE_LINK_UP = 1u << 0,
	OWE_LINK_DRAIN = 1u << 1,
	OWE_LOOP_BEGIN = 1u << 2,
	OWE_FENCE_DONE = 1u << 3,
	/* to the peer (rl_port_tx_frame) */
	OWE_CLOSE = 1u << 4,  /* this end has declared the link dead */
	OWE_INIT = 1u << 5,   /* an INIT frame at once */
	OWE_PROBE = 1u << 6,  /* a RETRAIN frame at once */
	OWE_ANSWER = 1u << 7, /* the answer to one of the peer's */
	OWE_NAK = 1u << 8,
	OWE_ACK = 1u << 9,    /* an ACK, or credits, at once */
	OWE_DRAIN = 1u << 10, /* the peer should hear of the drain at once */
	OWE_ECHO = 1u << 11,  /* the peer asked what has come */
};
#define OWE_CORE                                                               \
	(OWE_LINK_UP | OWE_LINK_DRAIN | OWE_LOOP_BEGIN | OWE_FENCE_DONE)
/* paid by any frame */
#define OWE_IDLE (OWE_NAK | OWE_ACK | OWE_DRAIN | OWE_ECHO)

/** The state of the link (port_state.c). */
struct port_link {
	_Atomic enum rl_link_state state; /* read by any thread; clang 14
					     wants a cast to switch by it */
	enum rl_detector detector; /* of the last death */
	bool started;	   /* it may train, unless admin_down */
	bool admin_down, phy_up, planned; /* it went down empty, by command */
	uint32_t epochs, retrains; /* trainings so far; without progress */
	uint32_t flaps;
	uint32_t loop_id;  /* of the last death */
	uint64_t opened_ns; /* when it was trained */
	uint64_t dead_ns;
	uint64_t damp_until_ns;
	uint64_t ill_ns;       /* how long its errors keep it out; 0: none */
	uint64_t ill_until_ns; /* until then they do not end it again */
	uint64_t phy_lost_ns; /* RL_NEVER while the PHY is up */
};

/** Epochs and how they are agreed (port_shake.c). */
struct port_shake {
	uint8_t tx_epoch;
	uint8_t rx_epoch; /* the peer's; valid where peer_known */
	bool peer_known;
	bool peer_heard; /* a frame of its, as long as data will be */
	bool ask;	  /* the next INIT frame asks for an echo alone */
	uint32_t flits;	  /* a frame may carry, by both ends' word */
	struct rl_prng prng;
	uint64_t nonce;
	uint64_t peer_nonce;
	uint64_t stamp;	    /* newest of INIT frames with peer_nonce */
	uint64_t challenge; /* fresh nonce for an unknown process; 0: none */
	uint64_t peer_incarnation;
	uint64_t old_incarnation; /* of the peer that was UP last; 0: none */
	uint32_t said;	     /* of this training: bit per reason told */
	uint64_t refused_ns; /* when this was said: */
	struct rl_refused refused;
};

/** Egress queues and the peer's credits (port_queue.c). */
struct port_queue {
	struct rl_pktq q[RL_VCS];
	uint32_t mask;		   /* bit per VC with something queued */
	uint8_t turn;		   /* VC whose turn it is */
	uint8_t weighed;	   /* VC that has got its weight in this turn */
	int16_t due[RL_VCS];	   /* flits it may still send, or sent too many */
	bool starved;		   /* a packet waits for credits */
	bool fence_wanted;
	bool begun[RL_VCS];	   /* a packet without its end went out */
	uint16_t left[RL_VCS];	   /* room reserved for the rest of it */
	uint16_t consumed[RL_VCS]; /* flits sent in this epoch */
	uint16_t limit[RL_VCS];	   /* flits the peer allows in all */
	uint32_t queued[RL_VCS];   /* flits submitted, for fences */
	uint32_t fence_at[RL_VCS];
};

/** What was sent and is not acknowledged (port_retry.c). */
struct port_retry {
	struct rl_replay replay;
	uint64_t due_ns;       /* ask the peer then; RL_NEVER: not armed */
	uint64_t asked_ns;     /* first ask without an answer */
	uint32_t asks;	       /* without an answer */
	uint32_t replays;      /* without progress */
	uint32_t wrong;	       /* impossible ACKs, one after the other */
	bool replaying;
	bool nak_seen;	       /* a NAK was answered by a replay: */
	uint32_t nak_at;       /* the one for the flit of this number */
	uint32_t done[RL_VCS]; /* flits acknowledged, for fences */
};

/** Frames out (port_tx.c). */
struct port_tx {
	uint64_t last_ns;      /* when the last frame went */
	uint64_t stamp;	       /* of the last frame */
	uint64_t ask_due_ns;   /* when to ask for credits */
	uint64_t shake_due_ns; /* next INIT, or next probe of a retraining */
	uint32_t probes;       /* unanswered, of this retraining */
	uint32_t last_loop_id; /* of the last rerouted flit seen */
	uint16_t credit_told[RL_VCS]; /* highest limit told to the peer */
};

/** The round trip (port_rtt.c). */
struct port_rtt {
	uint64_t srtt_ns;
	uint64_t timer_ns;
	uint64_t open_ns;	/* of the handshake, by frames as long as data */
	uint64_t peak_since_ns; /* when peak_ns[0] was begun */
	uint32_t peak_ns[2];	/* longest of this window, and of the last */
	uint64_t seen_ns;	/* the peer is known to have run at that time */
	uint64_t recent_ns;
	uint32_t recent; /* the peer's newest stamp */
	uint32_t echo;	 /* of this end's, beside it */
};

/** Order of what arrives, and the input buffer's credits (port_rx.c). */
struct port_rx {
	uint64_t newest;     /* stamp of the newest frame heard of the peer */
	uint64_t data_stamp; /* of the last frame whose flits were taken */
	uint64_t open_stamp; /* of the frame by which the link opened, */
	uint64_t open_ns;    /* and when that was */
	uint32_t expected;
	uint32_t ack_owed; /* flits taken since the last ACK */
	uint64_t ack_due_ns;
	bool nak_sent;	   /* silent until the expected flit arrives */
	bool replays; /* the last frame with flits was of a replay, */
	uint32_t replayed; /* to this number */
	uint32_t taken[RL_VCS]; /* flits accepted, all epochs */
	uint32_t freed[RL_VCS]; /* of them discarded here */
	uint32_t own[RL_VCS];	/* of them made here, in this epoch */
	uint32_t base[RL_VCS];	/* `taken` when the epoch began */
	uint32_t sure; /* so much more any VC may take: no need to ask each */

	/* port_rx_limits(), as it was, and what it was computed from */
	uint16_t limit[RL_VCS];
	uint16_t ground[RL_VCS]; /* the limits, had the core freed nothing */
	uint64_t freed_seen[RL_SHARED_WORDS];
	bool limit_stale; /* one of the above has changed since */
	bool limit_look;  /* what the core freed may have */
};

/** Assembly of packets from flits (port_packet.c). */
struct port_packet {
	struct rl_flit *part[RL_VCS]; /* packet in assembly */
	uint64_t part_due_ns;	      /* when to look for rests that are late */
	uint64_t since_ns[RL_VCS];    /* the last flit of an open packet came */
	uint16_t open_flits[RL_VCS];  /* cut-through: flits passed on of a packet
					 without its end; 0: none is open */
	uint32_t close_mask;	      /* VCs whose open packet must be closed */
	uint32_t close_tell;	      /* of them: those not reported yet */
	struct rl_pktq out;
};

/** The same, what is seldom looked at (port_packet.c). */
struct port_told {
	uint8_t open_txn[RL_VCS][RL_FLIT_TXN_BYTES]; /* of the open packet */
	bool told[RL_VCS];   /* a packet was reported in part: */
	uint64_t name[RL_VCS]; /* of the rest no word is needed */
};

/** How far a drain is. */
enum port_drain_phase {
	DRAIN_NONE,
	DRAIN_CORE,  /* the core was told, and still sends */
	DRAIN_OUT,   /* its fence has come: nothing more will follow */
	DRAIN_EMPTY, /* and all is acknowledged */
};

/** What comes after it. */
enum port_drain_then {
	DRAIN_FOLLOW, /* the peer asked for it, and goes down */
	DRAIN_DOWN,   /* by command: down */
	DRAIN_TRAIN,  /* by command: down, and up again */
};

/** A drain, and how far it is (port_drain.c). */
struct port_drain {
	enum port_drain_phase phase;
	enum port_drain_then then;
	bool peer_empty;
	uint64_t begun_ns;
};

/** What a dead link held (port_loop.c). */
struct port_loop {
	struct rl_pktq q;
	struct rl_flit *open[RL_VCS]; /* its end has not come yet */
	struct rl_replay_drained drained;
	bool fence; /* the core's fence has come */
};

/** Events for the host (port_event.c). */
struct port_events {
	uint32_t head;
	uint32_t tail;
	uint64_t lost;
	struct rl_port_event ev[RL_PORT_EVENTS];
};

struct rl_port {
	/* what never changes */
	struct rl_port_params p;
	uint32_t frame_flits;  /* flits that a frame of the PHY may carry */
	uint32_t ack_coalesce; /* flits; a quarter of the window at most */
	bool hw_crc;

	uint32_t owed; /* enum port_debt */
	struct port_link link;
	struct port_shake shake;
	struct port_detect detect;
	struct port_tx tx;
	struct port_rtt rtt;
	struct port_retry retry;
	struct port_rx rx;
	struct port_packet packet;
	struct port_drain drain;
	struct port_queue queue;
	uint64_t c[RL_PORT_COUNTER_COUNT];

	/* what is seldom looked at; rl_port_prefetch() leaves it out */
	struct port_told told;
	struct port_loop loop;
	struct port_events events;
};

#define PORT_COUNT(port, name) ((port)->c[RL_PC_##name]++)
#define PORT_COUNT_N(port, name, n) ((port)->c[RL_PC_##name] += (n))

/* --- debts -------------------------------------------------------------- */

static inline void
port_owe(struct rl_port *port, uint32_t debt)
{
	port->owed |= debt;
}

static inline void
port_forget(struct rl_port *port, uint32_t debts)
{
	port->owed &= ~debts;
}

static inline bool
port_owes(const struct rl_port *port, uint32_t debts)
{
	return port->owed & debts;
}

/* Whether it was owed; now it is paid. */
static inline bool
port_pay(struct rl_port *port, uint32_t debt)
{
	const bool owed = port->owed & debt;

	port->owed &= ~debt;
	return owed;
}

/* --- port_state.c ------------------------------------------------------- */

void port_state_init(struct rl_port *port);
void port_act_on(struct rl_port *port, struct port_verdict v, uint64_t now_ns);
/* Carries a verdict out. The one way to a state's change from below. */
static inline void
port_act(struct rl_port *port, struct port_verdict v, uint64_t now_ns)
{
	if (rl_unlikely(v.wish != PORT_NOTHING))
		port_act_on(port, v, now_ns);
}
/* The loopback has given everything back. */
void port_drained(struct rl_port *port, uint64_t now_ns);
/* An INIT frame, in whatever state. */
void port_rx_init(struct rl_port *port, const struct rl_frame_hdr *h,
		  const struct rl_frame_init *init, uint64_t now_ns);
/* A frame for a link that this end has closed, or never opened */
void port_rx_closed(struct rl_port *port, const struct rl_frame_hdr *h);
void port_state_tick(struct rl_port *port, uint64_t now_ns);

/* Frames may pass only in these states. */
static inline bool
port_link_open(const struct rl_port *port)
{
	return port->link.state == RL_LINK_UP ||
	       port->link.state == RL_LINK_RETRAIN;
}

/* --- port_shake.c ------------------------------------------------------- */

void port_shake_init(struct rl_port *port);
void port_shake_learn(struct rl_port *port, const struct rl_frame_hdr *h);
void port_shake_start(struct rl_port *port);
struct port_verdict port_shake_rx(struct rl_port *port,
				  const struct rl_frame_hdr *h,
				  const struct rl_frame_init *init,
				  uint64_t now_ns);
/* Whether an INIT frame is of the epoch that the peer is known by. */
bool port_shake_same(const struct rl_port *port, const struct rl_frame_hdr *h,
		     const struct rl_frame_init *init);
/* Whether it says nothing new, for it is older than what was heard since. */
bool port_shake_stale(const struct rl_port *port, const struct rl_frame_hdr *h,
		      const struct rl_frame_init *init);
/* Its epoch opens: @return whether the peer's process is another than was. */
bool port_shake_open(struct rl_port *port);
void port_shake_header(struct rl_port *port, struct rl_frame_hdr *h,
		       struct rl_frame_init *init);

/* For an UP end with a key that hears an unknown process, perhaps a recording:
   asks it with a fresh nonce. @return whether @p init echoes that nonce */
bool port_shake_lives(struct rl_port *port, const struct rl_frame_hdr *h,
		      const struct rl_frame_init *init);
bool port_shake_strange(const struct rl_port *p, const struct rl_frame_init *i);
void port_shake_refuse(struct rl_port *port, enum rl_refusal why,
		       const struct rl_frame_init *init, uint64_t now_ns);

/* --- port_auth.c -------------------------------------------------------- */

/* Room that frames need behind what the protocol writes. */
uint32_t port_auth_bytes(const struct rl_port_params *p);
void port_auth_open(struct rl_port *port);
/* A frame is complete. Where there is a key. */
void port_auth_seal(struct rl_port *port, uint8_t *frame,
		    const struct rl_frame_hdr *h);
/* With a key: whether a frame of @p bytes is the peer's. Mends its flits. */
bool port_auth_ok(struct rl_port *port, uint8_t *frame, uint32_t bytes,
		  const struct rl_frame_hdr *h);

/* --- port_detect.c ------------------------------------------------------ */

void port_detect_start(struct rl_port *port, uint64_t now_ns);
void port_detect_degraded(struct rl_port *port, uint64_t now_ns);
/* The score of an error rate, in percent of what means death. */
uint32_t port_detect_share(const struct rl_port *port, enum port_hurt kind);
struct port_verdict port_detect_tick(struct rl_port *port, uint64_t now_ns);
uint64_t port_detect_deadline(const struct rl_port *port);
/* rl_port_rests(), rl_port_rested() */
bool port_detect_rests(const struct rl_port *port);
/* Whether a peer that lives is heard in time, if frames take so long. */
bool port_detect_hears(const struct rl_port *port, uint64_t frame_ns);
void port_detect_rested(struct rl_port *port, uint64_t now_ns);

/* Something of the peer's was heard. */
static inline void
port_detect_heard(struct rl_port *port)
{
	port->detect.heard = true;
}

/* Counts corrupt or lost flits, or frames. */
static inline void
port_detect_hurt(struct rl_port *port, enum port_hurt kind, uint32_t n)
{
	port->detect.hurt[kind] += n;
	port->detect.errors = true;
}

/*
 * A frame cannot be read. With a key it may be a stranger's, which is no error of
 * the link's: that is known if a proven frame shows that some are missing.
 */
static inline void
port_detect_bad(struct rl_port *port)
{
	if (port->p.auth == NULL)
		port_detect_hurt(port, PORT_HURT_BAD, 1);
	else
		port->detect.doubt = true;
}

/* Flits are missing. */
static inline void
port_detect_gap(struct rl_port *port)
{
	port_detect_hurt(port, PORT_HURT_LOST, 1);
	if (port->detect.doubt)
		port_detect_hurt(port, PORT_HURT_BAD, 1);
	port->detect.doubt = false;
}

/* --- port_event.c ------------------------------------------------------- */

struct rl_port_event *port_event(struct rl_port *port,
				 enum rl_port_event_type type, uint64_t now_ns);

/* --- port_tx.c ---------------------------------------------------------- */

void port_tx_reset(struct rl_port *port, uint64_t now_ns);
void port_tx_probe(struct rl_port *port, uint64_t now_ns);
bool port_tx_rests(const struct rl_port *port, uint64_t now_ns);
uint64_t port_tx_rested(struct rl_port *port, uint64_t now_ns);
uint64_t port_tx_called(struct rl_port *port, uint64_t now_ns);

/* --- port_queue.c ------------------------------------------------------- */

void port_queue_reset(struct rl_port *port);
void port_queue_push(struct rl_port *port, struct rl_flit *pkt);
/* The core asks for FENCE_DONE once all it sent so far is acknowledged. */
void port_queue_want_fence(struct rl_port *port, bool open);
/* The link is dead: there is nothing left to wait for. */
void port_queue_drop_fence(struct rl_port *port);
/* All flits queued before a fence are acknowledged: the core may know. */
void port_queue_fence(struct rl_port *port);
void port_queue_credits(struct rl_port *port, const uint16_t limit[RL_VCS]);
/* Fills the replay buffer with what the next frame can carry. */
void port_queue_fill(struct rl_port *port);
/* Takes the next packet that waits on @p vc; for the loopback. */
struct rl_flit *port_queue_pop(struct rl_port *port, unsigned int vc);

/* --- port_retry.c ------------------------------------------------------- */

void port_retry_reset(struct rl_port *port);
/* A packet or fragment is numbered; the buffer owns it. */
void port_retry_push(struct rl_port *port, struct rl_flit *head,
		     const struct rl_flit *follower);
void port_retry_reserve(struct rl_port *port, int32_t n);
/*
 * Everything not acknowledged is sent again, though no timer is due; @p
 * answered: the peer is there, so replays count anew.
 */
void port_retry_again(struct rl_port *port, bool answered, uint64_t now_ns);
/* The timer rests while the link retrains. */
void port_retry_freeze(struct rl_port *port);
/* *ok: whether the number can be one of this link's now. */
struct port_verdict port_retry_ack(struct rl_port *port, uint16_t ack,
				   uint64_t now_ns, bool *ok);
struct port_verdict port_retry_nak(struct rl_port *port, uint64_t now_ns);
/* Expired: the next frame must ask; it has asked; the answer has come. */
bool port_retry_ask_due(const struct rl_port *port, uint64_t now_ns);
void port_retry_asked(struct rl_port *port, uint64_t now_ns);
struct port_verdict port_retry_answered(struct rl_port *port, uint64_t now_ns);
/* Whether ACKs come before replays lead nowhere, if frames take so long. */
bool port_retry_heeded(const struct rl_port *port, uint64_t frame_ns);
struct port_verdict port_retry_tick(struct rl_port *port, uint64_t now_ns);
/* @p n flits of the buffer go out. */
void port_retry_sent(struct rl_port *port, uint32_t n, uint64_t now_ns);
/* Empties the buffer, for the loopback: rl_replay_drain(). */
struct rl_replay_drained port_retry_drain(struct rl_port *port,
					  struct rl_pktq *out,
					  struct rl_flit *open[RL_VCS]);

/* --- port_rx.c ---------------------------------------------------------- */

void port_rx_reset(struct rl_port *port);
void port_rx_data(struct rl_port *port, uint8_t *frame,
		  const struct rl_frame_hdr *h, uint64_t now_ns);
/* Whether it has nothing to look at: port_rx_train() may take its flits. */
bool port_rx_expected(const struct rl_port *port, const struct rl_frame_hdr *h);
/*
 * With link retry: flits of frames newer than all, the first of which is
 * expected. None is left in the train (port_train.h).
 */
void port_rx_train(struct rl_port *port, struct port_train *t, uint64_t now_ns);
/* A frame without flits: does its number show a lost tail? */
void port_rx_idle(struct rl_port *port, const struct rl_frame_hdr *h,
		  uint64_t now_ns);

/* The peer is told of all that was taken. */
static inline uint32_t
port_rx_acked(struct rl_port *port)
{
	const uint32_t n = port->rx.ack_owed;

	port->rx.ack_owed = 0;
	return n;
}

/* --- port_packet.c ------------------------------------------------------ */

void port_packet_reset(struct rl_port *port);
void port_packet_flush(struct rl_port *port);
/* The link is dead: packets cut off by it are not whole and never will be. */
void port_packet_abandon(struct rl_port *port, uint64_t now_ns);
void port_packet_close(struct rl_port *port, uint64_t now_ns);
/* A flit of the packet begun on @p vc is lost for good. */
void port_packet_lost(struct rl_port *port, unsigned int vc, uint64_t now_ns);
void port_packet_add(struct rl_port *port, struct rl_flit *f, uint64_t now_ns);
/* Flits that are alike, in the middle of a packet; @return how many. */
uint32_t port_packet_join(struct rl_port *port, struct rl_flit *const f[],
			  const uint8_t *sideband, uint32_t n, uint64_t state,
			  uint64_t now_ns);
void port_packet_pass(struct rl_port *port);
void port_packet_tick(struct rl_port *port, uint64_t now_ns);
/* rl_port_rests() */
bool port_packet_rests(const struct rl_port *port);

/* --- port_rtt.c --------------------------------------------------------- */

void port_rtt_reset(struct rl_port *port);
void port_rtt_sample(struct rl_port *port, const struct rl_frame_hdr *h,
		     uint64_t now_ns);
/* The same for a frame of the same time with the same echo: a burst's. */
void port_rtt_again(struct rl_port *port, uint64_t stamp, uint64_t now_ns);
void port_rtt_init(struct rl_port *port, const struct rl_frame_hdr *h,
		   bool echo, uint64_t now_ns);
uint64_t port_rtt_longest(const struct rl_port *port);
/* The peer's newest stamp, moved on by the time it lay here; 0: none. */
uint32_t port_rtt_echo(const struct rl_port *port, uint64_t now_ns);

/* --- port_drain.c ------------------------------------------------------- */

void port_drain_reset(struct rl_port *port);
bool port_drain_done(const struct rl_port *port, enum rl_detector why);
uint64_t port_drain_end_ns(const struct rl_port *port);
void port_drain_start(struct rl_port *port, uint64_t now_ns);
void port_drain_then(struct rl_port *port, enum port_drain_then then);
/* The core's fence: nothing more will come. */
void port_drain_fence(struct rl_port *port);
void port_drain_rx(struct rl_port *port, const struct rl_frame_hdr *h,
		   uint64_t now_ns);
struct port_verdict port_drain_tick(struct rl_port *port, uint64_t now_ns);

/* --- port_loop.c -------------------------------------------------------- */

void port_loop_start(struct rl_port *port, uint64_t now_ns);
void port_loop_fence(struct rl_port *port);
/* Next looped packet; NULL: none yet. *@p end: everything is out. */
struct rl_flit *port_loop_next(struct rl_port *port, bool *end,
			       uint64_t now_ns);
void port_loop_flush(struct rl_port *port);

#endif /* RL_PORT_PRIV_H */
