/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CORE_PRIV_H
#define RL_CORE_PRIV_H

/** @file The inside of a switch core, for core*.c only. */

#include <stdatomic.h>

#include "rl_core.h"
#include "rl_fwd_pass.h"
#include "rl_plant.h"
#include "rl_seq.h"
#include "rl_wait.h"

/** Packets remembered per port by the duplicate filter, power of two. */
#define CORE_RECENT 256

/** A restore may take this part of the watchdog's time. */
#define CORE_RESTORE_SHARE 8

/** Flows per port that have their own records in the waiting room. */
#define CORE_FLOWS_PORT 256
#define CORE_FLOWS_MAX 4096

/** Queues of a core that share their egress among senders at the same time. */
#define CORE_FAIR_QUEUES 16

/** Whether a packet may be older than packets that already wait, see wait.c. */
enum core_age {
	CORE_NEW, /**< just in: younger than all of its flow */
	CORE_OLD, /**< looped, held, or without a path until now */
};

/** What a lookup found, the best first. */
enum core_verdict { CORE_GO, CORE_HOLD, CORE_STRAND, CORE_NO_PATH };

/** What happens to the rest of an open packet (cut-through). */
enum core_stream_state {
	CORE_STREAM_NONE,   /* no packet is open */
	CORE_STREAM_QUEUED, /* fragments grow in the queue of an egress */
	CORE_STREAM_WAIT,   /* fragments grow in the waiting room */
	CORE_STREAM_BEGUN,  /* its first fragments went to an egress */
	CORE_STREAM_LOCAL,  /* for the endpoint */
	CORE_STREAM_DROP,
};

/** The open packet of an input port and VC, see core_stream.c. */
struct core_stream {
	enum core_stream_state state;
	uint16_t port; /* BEGUN */
	uint8_t vl;    /* BEGUN */
	struct rl_flit *pkt; /* QUEUED, WAIT: its fragments so far */
	struct rl_pktq *q;   /* QUEUED: in this queue */
};

/** The packet that an egress VC has begun but not finished. */
struct core_begun {
	bool on;
	uint16_t in_port;
	uint8_t in_vc;
	struct rl_pktq rest; /* its fragments, in order */
};

/*
 * Where packets of a VC that come in by a port have gone, see core_turn.c.
 * Unused if key is 0.
 */
struct core_way {
	uint32_t key;
	uint32_t vl;  /* the VL that they leave by */
	uint64_t way; /* the same with their plane, as state */
	struct core_port *egress;
};

/* The first line holds what every poll of the core reads, the second what a
   packet that bypasses the queues needs. */
struct core_port {
	_Atomic enum rl_egress_state state; /* read by any thread; clang 14
					       wants a cast to switch on it */
	uint32_t qmask;	      /* bit per VC with something queued */
	uint8_t turn;	      /* VC whose turn it is */
	bool loop_fence_owed; /* LOOP_FENCE is to be sent */
	bool fence_out;	      /* a FENCE is under way */
	/* LEAVE: LOOP_FENCE was sent; DRAIN: that was so, and nothing has
	   looped, so it is no failover yet */
	bool left;
	uint32_t fence_gen;   /* RESTORE: fences of this generation */
	uint32_t fence_want;  /* generation wanted of this port */
	uint32_t fence_sent;  /* generation under way */
	uint32_t fence_done;  /* generation answered */
	struct rl_port_shared *shared;
	uint64_t due_ns;   /* deadline of the state; RL_NEVER: none */
	uint64_t bound_ns; /* bound on the length of the state */
	struct rl_port *near; /* on this lcore: rl_core_join(); or NULL */
	uint32_t ways_seen;   /* last seen rl_core.ways */
	uint32_t ended[RL_VCS]; /* packets handed to the port in full */
	struct core_way way[RL_VCS];
	uint32_t sent[RL_VCS]; /* flits put into the port's queue, by VC */
	struct rl_pktq q[RL_VCS];
	uint8_t fair[RL_VCS]; /* 1 + index of its core_fair; 0: it has none */
	uint32_t fence_at[RL_VCS];
	struct core_begun begun[RL_VCS];
	uint64_t *recent; /* CORE_RECENT keys, or NULL */
	uint32_t recent_n;
} RL_ALIGNED(RL_CACHE_LINE);

/* State of a port during the change. */
struct core_pass_port {
	uint8_t got;  /* bit per VL: its token has come in */
	uint8_t sent; /* ... has left, or is queued ahead of new packets */
	bool dead;    /* its link has died: no token will come */
	struct rl_pktq ahead[RL_VCS]; /* by the new tables, behind tokens */
};

struct core_pass {
	const struct rl_fwd_pass *to;
	bool go;      /* its local endpoint, if any, uses the new tables */
	bool begun;   /* tokens are under way */
	bool stopped; /* no packet waits for tokens: core_pass_still() */
	uint64_t again_ns;
	uint64_t now_ns; /* of the last tick */
	uint8_t wire[RL_FLIT_BYTES]; /* of a token */
	struct core_pass_port port[];
};

struct rl_core {
	struct rl_core_params p;
	const struct rl_fwd *fwd;
	uint32_t unsettled;	/* ports not ALIVE and not DEAD */
	uint32_t ways;		/* changes when a next hop may have changed */
	uint32_t fence_gen;
	bool fence_owed;	/* once all has been looked at: for restores */
	bool begun;		/* rl_core_tick() was called */
	bool wants;		/* every dead port knows that it is wanted */
	bool wanted;		/* some port was told so */
	bool still;		/* rl_core_still() */
	bool swapped;		/* ... and there are new tables since */
	bool fresh;		/* some waiting packets have not tried the
				   tables */
	bool passing;		/* two tables, see core_pass.c */
	uint8_t adapt_vl;	/* of the adaptive plane; RL_VCS: none */
	uint64_t adapt_again_ns; /* packets that wait for its room look again */
	struct core_pass *pass;
	struct core_fair *fair; /* [CORE_FAIR_QUEUES] */
	unsigned int fair_shift; /* core_fair_quantum() */
	uint64_t await_ns;	/* see rl_core_await_routes() */
	uint32_t kept;		/* packets that wait and keep their credit */
	struct rl_wait *wait;	/* the waiting room */
	uint32_t own_flits[RL_SLS]; /* injected and still queued here */
	uint64_t freed;		/* ports whose credits were given back */
	uint64_t given;		/* ports that got something to send */
	struct rl_pktq local;
	struct rl_pktq local_held; /* older than `local`, by VC */
	uint32_t hold_vcs;	/* VCs that the endpoint does not take now */
	struct core_stream *stream; /* [nports][RL_VCS]; NULL: whole packets */
	uint64_t next_due_ns;	/* earliest of all deadlines */
	uint32_t ev_head;
	uint32_t ev_tail;
	uint64_t c[RL_CORE_COUNTER_COUNT];
	struct rl_core_event ev[RL_CORE_EVENTS];
	struct core_port port[];
};

#define CORE_COUNT(core, name) ((core)->c[RL_CC_##name]++)
#define CORE_COUNT_N(core, name, n) ((core)->c[RL_CC_##name] += (n))
#define CORE_NO_PORT UINT16_MAX

/* core_base.c */
void core_free_credit(struct rl_core *core, struct rl_flit *pkt);
/** The room's budget holds the packet from now on. */
void core_charge(struct rl_core *core, struct rl_flit *pkt);
/** The same, if it has a credit. */
void core_lend(struct rl_core *core, struct rl_flit *pkt);
void core_rest_lend(struct rl_core *core, struct rl_flit *pkt);
void core_event(struct rl_core *core, enum rl_core_event_type type,
		uint16_t port, uint32_t packets, uint64_t now_ns);
void core_arm(struct rl_core *core, uint64_t due_ns);

/* core_send.c */
enum core_verdict core_lookup(const struct rl_core *core,
			      const struct rl_flit *pkt, uint16_t looped_from,
			      struct rl_fwd_hop *hop, bool *rerouted);
void core_send(struct rl_core *core, struct rl_flit *pkt, struct rl_fwd_hop hop,
	       bool rerouted);
/** There is no path to its destination, or no endpoint has its address. */
void core_drop_no_path(struct rl_core *core, struct rl_flit *pkt,
		       uint64_t now_ns);
void core_drop(struct rl_core *core, struct rl_flit *pkt,
	       enum rl_drop_reason why, uint64_t now_ns);

/* core_fence.c */
void core_set_due(struct rl_core *core, struct core_port *cp, uint64_t due_ns);
/** Restores wait for new fences, once all has been looked at. */
void core_fence_again(struct rl_core *core, uint64_t now_ns);
void core_fence_all(struct rl_core *core, uint64_t now_ns);
bool core_fences_done(const struct rl_core *core, uint32_t gen);
/** Whether traffic of a dead port is still being rerouted. */
bool core_drains(const struct rl_core *core);

/* core.c */
void core_forward(struct rl_core *core, struct rl_flit *pkt, enum core_age age,
		  uint16_t looped_from, uint64_t now_ns);

/** A packet from a port. */
void core_rx_one(struct rl_core *core, uint16_t port, struct rl_flit *pkt,
		 uint64_t now_ns);

/* core_wait.c */
/**
 * Waits at @p place. @return false: the packets that it was to join have been
 * given up for it, and it has to look for a path of its own
 */
bool core_wait(struct rl_core *core, struct rl_flit *pkt, uint16_t place,
	       enum core_age age, uint64_t now_ns);
/** The same, unless it is to be discarded. */
bool core_wait_or_drop(struct rl_core *core, struct rl_flit *pkt,
		       uint16_t place, enum core_age age, uint64_t now_ns);
/** The only way out of the room, except for packets released with it. */
struct rl_flit *core_wait_pop(struct rl_core *core, struct rl_wait_flow *f,
			      bool *more);
/** Gives up the oldest packet of a flow. @return whether more of it waits */
bool core_wait_give_up(struct rl_core *core, struct rl_wait_flow *f,
		       enum rl_drop_reason why, uint64_t now_ns);
bool core_wait_probe(const struct rl_core *core, const struct rl_flit *pkt,
		     uint16_t place);
void core_wait_settle(struct rl_core *core, struct rl_wait_flow *f,
		      uint16_t place, uint64_t now_ns);
void core_wait_want_none(struct rl_core *core);

/* core_look.c */
/** The same as rl_core_set_fwd() with these tables, without reading them. */
void core_set_ways(struct rl_core *core, const struct rl_fwd *fwd);
/** Whether all that waits stays, wherever it goes. */
bool core_all_stay(const struct rl_core *core);
void core_look(struct rl_core *core, uint64_t now_ns);
void core_watchdog(struct rl_core *core, uint64_t now_ns);

/* core_fair.c */
size_t core_fair_bytes(void);
unsigned int core_fair_quantum(const struct rl_link_cfg *cfg);
/** Queues a packet behind those that may leave before it. */
void core_fair_push(struct rl_core *core, struct core_port *cp, unsigned int vl,
		    struct rl_flit *pkt);
/** A packet leaves by the adaptive plane of @p cp: it counts for its sender. */
void core_fair_charge(struct rl_core *core, const struct core_port *cp,
		      const struct rl_flit *pkt);
/** The first packet of a queue that has rounds, @p pkt, was taken. */
void core_fair_taken(struct rl_core *core, struct core_port *cp,
		     unsigned int vl, const struct rl_flit *pkt);
/** Nothing passes what is queued now, and any of it may be taken out. */
void core_fair_level(struct rl_core *core, struct core_port *cp,
		     unsigned int vl);
void core_fair_level_queue(struct rl_core *core, const struct rl_pktq *q);

/* core_adapt.c */
/** Takes a packet of the adaptive plane on, if it has room. @return whether */
bool core_adapt(struct rl_core *core, struct rl_flit *pkt);

enum core_adapt_state {
	CORE_ADAPT_NONE, /**< not on the plane, or no port of it is alive */
	CORE_ADAPT_FULL, /**< no port has room now; the core looks again soon */
	CORE_ADAPT_ROOM, /**< core_adapt() would take it on */
};
/** What the plane has for a packet that waits. */
enum core_adapt_state core_adapt_look(struct rl_core *core,
				      const struct rl_flit *pkt,
				      uint64_t now_ns);

/* core_pass.c */
size_t core_pass_bytes(uint16_t nports);
/** core_forward() while there are two tables. @return as core_wait() */
bool core_pass_forward(struct rl_core *core, struct rl_flit *pkt,
		       enum core_age age, uint16_t looped_from,
		       uint64_t now_ns);
/** @return whether it was a token, which is then consumed */
bool core_pass_token(struct rl_core *core, struct rl_flit *pkt,
		     enum core_age age);
/** Packets that waited for a token follow it. */
void core_pass_follow(struct rl_core *core, uint16_t port, unsigned int vl);
/** Those of @p port wait for a path instead. */
void core_pass_wait(struct rl_core *core, uint16_t port, uint64_t now_ns);
/** All are held: packets that wait for a token now wait for a path. */
void core_pass_still(struct rl_core *core);
/** From now on the tables @p fwd are the only ones. */
void core_pass_end(struct rl_core *core, const struct rl_fwd *fwd);
/** Flits of packets that wait for tokens. */
uint32_t core_pass_flits(const struct rl_core *core);

/* core_token.c */
/** An egress is gone as a path: its link has died, or is being removed. */
void core_pass_leave(struct rl_core *core, uint16_t port, uint64_t now_ns);
void core_pass_tick(struct rl_core *core, uint64_t now_ns);

/* core_stream.c */
/** Open packets of a queue have moved to another one. */
void core_stream_moved(struct rl_core *core, const struct rl_pktq *from,
		       struct rl_pktq *to);
void core_stream_queued(struct rl_core *core, struct rl_pktq *q,
			struct rl_flit *pkt);
void core_stream_wait(struct rl_core *core, struct rl_flit *pkt);
void core_rests_wait(struct rl_core *core, uint16_t port);
void core_fragment(struct rl_core *core, struct rl_flit *pkt, uint64_t now_ns);
void core_local(struct rl_core *core, struct rl_flit *pkt, uint64_t now_ns);
void core_excise(struct rl_core *core, struct rl_flit *pkt);
void core_begin(struct rl_core *core, uint16_t port, unsigned int vl,
		const struct rl_flit *pkt);
void core_begun_end(struct rl_core *core, uint16_t port, unsigned int vl);
void core_looped_open(struct rl_core *core, uint16_t port, struct rl_flit *pkt);
void core_begun_abort(struct rl_core *core, uint16_t port, uint64_t now_ns);
void core_stream_dropped(struct rl_core *core, const struct rl_flit *pkt);

/* core_dup.c */
bool core_is_duplicate(struct rl_core *core, const struct rl_flit *pkt,
		       uint16_t port);

/* Cut off by the death of a link, and closed with an error mark [DRL-3]. */
static inline bool
core_closed(const struct rl_flit *pkt)
{
	return pkt->last->mark == RL_MARK_TRANSMIT_ERROR &&
	       rl_packet_ends(pkt);
}

/* Whether packets for this egress wait rather than take another path. */
static inline bool
core_holds(enum rl_egress_state s)
{
	return s != RL_EGRESS_ALIVE && s != RL_EGRESS_DEAD;
}

/*
 * Whether a packet has come on the adaptive plane. If it leaves that here, it
 * goes on as if it were injected here.
 */
static inline bool
core_joins(const struct rl_core *core, const struct rl_flit *pkt)
{
	return pkt->in_vc == core->adapt_vl;
}

/* A bit for each VL that has tokens. */
static inline uint8_t
core_pass_vls(const struct core_pass *ps)
{
	return (uint8_t)((1u << ps->to->vls) - 1);
}

/* Whether tokens are under way. */
static inline bool
core_pass_stays(const struct rl_core *core)
{
	return core->passing && core->pass->begun;
}

/* Sets the plane on which a packet travels, by the present tables. */
static inline void
core_set_plane(const struct rl_core *core, struct rl_flit *pkt)
{
	const unsigned int sl = pkt->sl & (RL_SLS - 1);

	pkt->plane = pkt->in_port == RL_PORT_NONE
			     ? core->fwd->inject_plane[sl]
			     : core->fwd->plane_of[pkt->in_vc][sl];
}

/* Queues a packet for an egress, at its sender's turn. */
static inline void
core_enqueue(struct rl_core *core, struct core_port *cp, unsigned int vl,
	     struct rl_flit *pkt)
{
	struct rl_pktq *const q = &cp->q[vl];

	if (q->head == NULL || (rl_likely(cp->fair[vl] == 0) &&
				q->tail->in_port == pkt->in_port))
		rl_pktq_push(q, pkt);
	else
		core_fair_push(core, cp, vl, pkt);
	cp->qmask |= 1u << vl;
}

/* Queues a packet for an egress on the VL that the table gives. */
static inline void
core_queue(struct rl_core *core, struct rl_flit *pkt, unsigned int port,
	   unsigned int plane)
{
	struct core_port *cp = &core->port[port];
	const bool in_here = pkt->in_port >= core->p.nports ||
			     core_joins(core, pkt);
	const uint16_t in = in_here ? core->p.nports : pkt->in_port;
	const uint8_t vl =
		rl_fwd_vl(core->fwd, plane, in, (uint16_t)port, pkt->sl);

	RL_DASSERT(vl < RL_VCS);
	pkt->vc = vl;
	core_enqueue(core, cp, vl, pkt);
	core_stream_queued(core, &cp->q[vl], pkt);
}

#endif /* RL_CORE_PRIV_H */
