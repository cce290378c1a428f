/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_PORT_PRIV_H
#define RL_PORT_PRIV_H

/**
 * @file
 * The inside of a port, shared by the files port_*.c and nobody else.
 */

#include "replay.h"
#include "rl_plant.h"
#include "rl_port.h"
#include "rl_seq.h"
#include "rl_shared.h"

struct rl_port {
	/* what never changes */
	struct rl_port_params p;
	uint32_t frame_flits; /* flits a frame may carry */
	uint32_t ack_coalesce; /* flits; a quarter of the window at most */
	bool hw_crc;

	/* state machine (port_state.c) */
	enum rl_link_state state;
	enum rl_detector detector; /* of the last death */
	bool admin_down;
	bool phy_up;
	bool up_mark;	   /* LINK_UP is owed to the core */
	bool close_owed;   /* CLOSE is owed to the peer */
	uint8_t tx_epoch;
	uint8_t rx_epoch;  /* the peer's; valid where peer_known */
	uint32_t epochs;   /* trainings so far */
	uint64_t state_ns; /* when it was entered */
	uint64_t opened_ns; /* when it was trained */

	/* handshake */
	struct rl_prng prng;
	uint32_t nonce;
	uint32_t peer_nonce;
	bool peer_known;
	bool echo_ok;
	bool init_now;	   /* send an init frame at once */
	bool retrain_now;
	bool retrain_echo; /* a probe waits for its answer */
	uint64_t init_due_ns;
	uint32_t probes;   /* unanswered retrain probes */
	uint32_t retrains; /* without progress */

	/* transmit (port_tx.c) */
	struct rl_replay replay;
	struct rl_pktq txq[RL_VCS];
	uint32_t txq_mask;	     /* bit per VC with something queued */
	uint8_t txq_turn;	     /* VC whose turn it is */
	uint16_t consumed[RL_VCS];   /* flits sent in this epoch */
	uint16_t limit[RL_VCS];	     /* flits the peer allows in all */
	bool starved;		     /* a packet waits for credits */
	uint64_t ask_due_ns;	     /* when to ask for them */
	bool replaying;
	uint32_t replays;	     /* without progress */
	uint64_t replay_due_ns;	     /* RL_NEVER: not armed */
	uint64_t last_tx_ns;
	uint32_t last_loop_id;	     /* of the last rerouted flit seen */
	uint32_t done[RL_VCS];	     /* flits acknowledged, for fences */
	uint32_t queued[RL_VCS];     /* flits submitted, for fences */
	uint32_t fence_at[RL_VCS];
	bool fence_wanted;
	bool tx_begun[RL_VCS];	     /* a packet without its end went out */
	uint16_t tx_left[RL_VCS];    /* room reserved for the rest of it */

	/* round trip (port_rtt.c) */
	uint64_t srtt_ns;
	uint64_t timer_ns;
	uint32_t ts_recent;
	uint64_t ts_recent_ns;

	/* receive (port_rx.c) */
	uint32_t expected;
	bool nak_sent;	 /* silent until the expected flit arrives */
	bool nak_owed;
	uint32_t ack_owed; /* flits taken since the last ACK */
	bool ack_now;
	uint64_t ack_due_ns;
	uint64_t last_rx_ns;
	uint64_t last_tick_ns;
	struct rl_flit *part[RL_VCS]; /* packet in assembly */
	uint64_t part_due_ns;	      /* without link retry: its rest is lost */
	uint16_t open_flits[RL_VCS];  /* cut-through: flits passed on of a packet
					 without its end; 0: none is open */
	uint32_t close_mask;	      /* VCs whose open packet must be closed */
	uint32_t close_tell;	      /* of them: those not reported yet */
	uint32_t rx_taken[RL_VCS];    /* flits accepted, all epochs */
	uint32_t rx_freed[RL_VCS];    /* of them discarded here */
	uint32_t rx_own[RL_VCS];      /* of them made here, in this epoch */
	uint32_t credit_base[RL_VCS]; /* rx_taken when the epoch began */
	uint16_t credit_told[RL_VCS]; /* limit last told to the peer */
	struct rl_pktq rx_out;

	/* error-rate detector */
	uint64_t error_window_end_ns;
	uint32_t error_corrected;
	uint32_t error_bad;
	bool degraded;

	/* loopback (port_loop.c) */
	struct rl_pktq loopq;
	bool loop_begin; /* BEGIN mark is owed */
	bool loop_fence; /* the core's fence has come */
	bool fence_done; /* FENCE_DONE mark is owed */
	uint32_t loop_id;
	uint64_t dead_ns;
	struct rl_replay_drained drained;

	/* drain before down (port_drain.c) */
	bool drain;	   /* no more packets: let it run empty */
	bool drain_down;   /* and then it goes down here */
	bool drain_up;	   /* and up again */
	bool drain_mark;   /* LINK_DRAIN is owed to the core */
	bool drain_now;	   /* the peer should hear at once */
	bool drain_told;   /* that it is empty was said */
	bool drain_fenced; /* the core's fence has come */
	bool drain_peer;   /* the peer is empty */
	uint64_t drain_ns;

	/* flap damping */
	uint32_t flaps;
	uint64_t damp_until_ns;

	/* events and counters */
	uint32_t ev_head;
	uint32_t ev_tail;
	uint64_t ev_lost;
	uint64_t phy_lost_ns; /* RL_NEVER while the PHY is up */
	uint64_t c[RL_PORT_COUNTER_COUNT];

	/* what is seldom looked at; rl_port_prefetch() leaves it out */
	uint8_t open_txn[RL_VCS][RL_FLIT_TXN_BYTES]; /* of the open packet */
	bool told[RL_VCS];	    /* a packet was reported in part: */
	uint64_t told_name[RL_VCS]; /* of the rest no word is needed */
	struct rl_flit *loop_open[RL_VCS]; /* its end has not come yet */
	struct rl_port_event ev[RL_PORT_EVENTS];
};

#define PORT_COUNT(port, name) ((port)->c[RL_PC_##name]++)
#define PORT_COUNT_N(port, name, n) ((port)->c[RL_PC_##name] += (n))

/* port_state.c */
void port_dead(struct rl_port *port, enum rl_detector why, uint64_t now_ns);
void port_drained(struct rl_port *port, uint64_t now_ns);
void port_retrain(struct rl_port *port, uint64_t now_ns);
void port_retrained(struct rl_port *port, uint64_t now_ns);
void port_rx_init(struct rl_port *port, const struct rl_frame_hdr *h,
		  uint64_t now_ns);
struct rl_port_event *port_event(struct rl_port *port,
				 enum rl_port_event_type type, uint64_t now_ns);
void port_state_tick(struct rl_port *port, uint64_t now_ns);

/* port_tx.c */
void port_tx_reset(struct rl_port *port);

/* port_queue.c */
void port_fence_check(struct rl_port *port);
void port_tx_fill(struct rl_port *port);
void port_soft_errors(struct rl_port *port);

/* port_retry.c */
void port_rx_ack(struct rl_port *port, const struct rl_frame_hdr *h,
		 uint64_t now_ns);
void port_tx_tick(struct rl_port *port, uint64_t now_ns);
void port_arm_replay(struct rl_port *port, uint64_t now_ns);

/* port_rx.c */
void port_rx_reset(struct rl_port *port);
void port_rx_tick(struct rl_port *port, uint64_t now_ns);

/* port_packet.c */
void port_rx_abandon(struct rl_port *port, uint64_t now_ns);
void port_rx_close(struct rl_port *port, uint64_t now_ns);
void port_packet_lost(struct rl_port *port, unsigned int vc, uint64_t now_ns);
void port_assemble(struct rl_port *port, struct rl_flit *f, uint64_t now_ns);
uint32_t port_join(struct rl_port *port, unsigned int vc,
		   struct rl_flit *const f[], const uint8_t *sideband,
		   uint32_t n);
void port_pass_fragments(struct rl_port *port);

/* port_rtt.c */
void port_rtt_reset(struct rl_port *port);
void port_rtt_sample(struct rl_port *port, const struct rl_frame_hdr *h,
		     uint64_t now_ns);

/* port_drain.c */
void port_drain_reset(struct rl_port *port);
bool port_drained_out(const struct rl_port *port);
uint64_t port_drain_end_ns(const struct rl_port *port);
void port_rx_drain(struct rl_port *port, const struct rl_frame_hdr *h,
		   uint64_t now_ns);
void port_drain_tick(struct rl_port *port, uint64_t now_ns);

/* port_loop.c */
void port_loop_start(struct rl_port *port, uint64_t now_ns);

/* Frames may pass only in these states. */
static inline bool
port_link_open(const struct rl_port *port)
{
	return port->state == RL_LINK_UP || port->state == RL_LINK_RETRAIN;
}

/*
 * The number of flits the peer may have sent on a VC in this epoch. What the
 * core still holds of earlier epochs takes its room: credit_base counts it
 * as taken, and it is not yet freed. What this end made itself (rx_own) gives
 * the peer nothing when it is freed.
 */
static inline uint16_t
port_credit_limit(const struct rl_port *port, unsigned int vc)
{
	const uint32_t freed = rl_shared_read(&port->p.shared->freed[vc]) +
			       port->rx_freed[vc];

	return (uint16_t)(port->p.cfg->credits_flits + freed -
			  port->credit_base[vc] - port->rx_own[vc]);
}

#endif /* RL_PORT_PRIV_H */
