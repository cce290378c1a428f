/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SIM_LOAD_PRIV_H
#define RL_SIM_LOAD_PRIV_H

#include <stdatomic.h>

/**
 * @file
 * The inside of the traffic: load.c makes packets, load_deal.c says who makes how
 * many, load_answer.c makes the responses among them, load_judge.c judges them,
 * load_data.c knows what they hold.
 */

#include "rl_sim_load.h"

/* Numbers that are missing, or reported: in no order, with holes allowed. */
struct load_set {
	uint32_t *tag;
	uint32_t n;
	uint32_t cap;
};

/* What is out of order in a flow; most flows have none. */
struct load_odd {
	struct load_set missing;
	struct load_set reported;
};

/* Times of making of packets that are under way: a ring. */
struct load_times {
	uint64_t *ns;
	uint32_t mask;
	uint32_t first; /* number of the packet that the oldest is of */
	uint32_t next;
};

/* A packet that waits for a destination that is held. */
struct load_later {
	uint64_t made_ns;
	uint16_t dst;
	uint8_t cos;
	bool response;
};

#define LOAD_LATER 64

struct load_flow {
	_Atomic uint32_t sent; /* packets accepted by the endpoint: its source
				  writes it, and its destination reads it */
	uint32_t tag0;	   /* what its endpoint called the first of them */
	uint32_t expected; /* number of the next packet to arrive */
	uint64_t last_ns;  /* when one last arrived */
	uint64_t sent_ns;  /* when the oldest that may be under way was made */
	uint64_t taken_ns; /* ... and when its endpoint took it, or the first
			      after a report */
	uint64_t told_ns;  /* when one was last reported */
	uint32_t excused;  /* before this, what is missing has died */
	uint32_t life;	   /* of its source: numbers begin anew with each */
	uint32_t tag0_before; /* as tag0, of the life before */
	uint32_t before;   /* next to arrive of the life before */
	uint64_t died;	   /* of lives before */
	uint64_t last;	   /* its latency, for rl_delay_add() */
	uint32_t owed;	   /* responses due to its destination */
	uint32_t owed_next; /* 1 + the flow after it on its source's list */
	uint64_t owed_ns;  /* since when the oldest of them could have gone */
	struct load_odd *odd;
	struct load_times *times; /* with a trace, which has no room for them */
};

/* What the clients of one part have come to. */
struct load_part {
	struct rl_sim_load_stats st;
	uint64_t error_ns; /* of st.first_error, and where */
	uint16_t error_ep;
	struct rl_delay delay[]; /* [RL_VCS], where they are wanted */
};

/* A source. */
struct load_src {
	struct rl_sim_load *load;
	struct load_part *part; /* its client's */
	struct rl_flit_cache *cache;
	struct rl_prng prng;
	uint64_t next_ns; /* the next packet comes into being; RL_NEVER: none */
	uint64_t takes_ns; /* it takes packets from then on */
	bool took;	   /* since takes_ns */
	uint64_t left; /* packets that it may still make, of `packets` */
	uint16_t id;
	uint16_t dst; /* of the packet at next_ns */
	uint8_t cos;
	uint32_t owed_first; /* 1 + the flow that answers next; 0: none does */
	uint32_t owed_last;
	bool dead; /* its endpoint has crashed, and is not back */
	uint16_t nlater;
	struct load_later later[LOAD_LATER];
};

struct rl_sim_load {
	struct rl_sim_load_cfg cfg;
	struct load_src *src;
	struct rl_pattern pattern;
	void *pattern_mem;
	struct load_flow *flow; /* [cos][src][dst] */
	uint64_t stop_ns;
	struct load_part *part[RL_SIM_THREADS_MAX];
	unsigned int nparts;
};

/* What a packet is. */
struct load_packet {
	uint64_t key;
	uint64_t made_ns;
	const uint8_t *bytes; /* of a trace; else NULL */
	uint32_t len_bytes;
	uint8_t class;
};

/* load_data.c */
void load_packet_of(const struct rl_sim_load *load, uint16_t src, uint16_t dst,
		    uint8_t cos, uint32_t tag, uint32_t life,
		    struct load_packet *p);
/** An rl_ep_fill_fn; ctx is a struct load_packet. */
void load_fill(void *ctx, uint8_t *to, uint32_t off, uint32_t len);
bool load_same(const struct load_packet *p, const uint8_t *data, uint32_t off,
	       uint32_t len);

/** With a trace: notes when a packet was made, and gives it back once. */
void load_time_put(struct load_flow *flow, uint64_t made_ns);
uint64_t load_time_take(struct load_flow *flow, uint32_t tag);

/* load_deal.c */
/** Who makes how many of `packets`. @return 0 or -ENOMEM */
int load_deal(struct rl_sim_load *load);

/* load.c */
/** Draws the packet after one that came into being at @p from_ns. */
void load_next(struct load_src *src, uint64_t from_ns);
/**
 * Offers a packet to the endpoint of @p src.
 * @return 0; -EHOSTUNREACH: refused, it was never sent; -EBUSY: its flow has
 *   to wait; -EAGAIN: all have to
 */
int load_offer(struct load_src *src, struct rl_ep *ep,
	       const struct load_later *l, uint64_t now_ns);

/* load_answer.c */
/** A request of @p peer has reached endpoint @p at. */
void load_owe(struct rl_sim_load *load, uint16_t at, uint16_t peer,
	      uint8_t cos, uint64_t now_ns);
/** Sends what responses it can. @return how many */
unsigned int load_answer(struct load_src *src, struct rl_ep *ep,
			 uint64_t now_ns);
/** The source crashed: nobody will answer. */
void load_owe_nothing(struct load_src *src);

/* load_judge.c */
void load_judge(struct rl_sim_load *load, uint16_t at, struct rl_flit *pkt,
		uint64_t now_ns);

/* Numbers grow by one: who reads an older one knows of less. */
static inline uint32_t
load_sent(const struct load_flow *flow)
{
	return atomic_load_explicit(&flow->sent, memory_order_relaxed);
}

static inline void
load_set_sent(struct load_flow *flow, uint32_t n)
{
	atomic_store_explicit(&flow->sent, n, memory_order_relaxed);
}

static inline struct load_flow *
load_flow(const struct rl_sim_load *load, uint16_t src, uint16_t dst,
	  uint8_t cos)
{
	const size_t n = load->cfg.nep;

	return &load->flow[(cos * n + src) * n + dst];
}

#endif /* RL_SIM_LOAD_PRIV_H */
