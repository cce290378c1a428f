/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SIM_LOAD_PRIV_H
#define RL_SIM_LOAD_PRIV_H

#include <stdatomic.h>

/**
 * @file
 * The inside of the traffic: load.c is the host of sources (rl_source.h),
 * load_deal.c deals the number of packets to them, load_judge.c judges packets,
 * load_window.c counts them, and load_trace.c has those of a trace.
 */

#include "rl_seen.h"
#include "rl_sim_load.h"
#include "rl_source.h"

/* Times at which outstanding packets were made: a ring. */
struct load_times {
	uint64_t *ns;
	uint32_t mask;
	uint32_t first; /* number of the packet of the oldest */
	uint32_t next;
};

/* What each packet of a flow touches: one cache line. */
struct load_flow {
	_Atomic uint32_t sent; /* packets accepted by the endpoint: written by
				  its source, read by its destination */
	uint32_t tag0;	   /* tag that the endpoint gave number 0, or would have
			      given it in this life of the source */
	struct rl_seen seen; /* by its destination */
	uint32_t life;	   /* of its source: how often that has crashed */
	uint32_t first;	   /* number of the first packet of this life */
	uint64_t last_ns;  /* time of the last arrival */
	uint64_t sent_ns;  /* when the oldest packet that may be outstanding was
			      first offered to its endpoint */
	uint64_t taken_ns; /* when its endpoint accepted it, or the first one
			      after a report */
	uint64_t told_ns;  /* time of the last report */
};

_Static_assert(sizeof(struct load_flow) == RL_CACHE_LINE, "one line");

/* The rest of a flow. */
struct load_rare {
	struct rl_ranges reported; /* given up; in the pool of the load */
	uint32_t excused; /* below this number, missing packets died in a
			     crash */
	uint32_t tag0_before; /* tag0 of the previous life */
	uint64_t last;	  /* latency of the last packet, for rl_delay_add() */
	struct rl_owed owed; /* responses, by its source */
};

/* Deliveries in the window to the clients of one part, by source. */
struct load_window {
	struct rl_hist latency;
	struct load_count {
		uint64_t packets;
		uint64_t flits;
	} of[];
};

/* Totals of the clients of one part. */
struct load_part {
	struct rl_range_pool missing; /* of the flows to them; it grows */
	struct load_window *window; /* NULL: nothing is counted */
	struct rl_sim_load_stats st;
	uint64_t error_ns; /* time and place of st.first_error */
	uint16_t error_ep;
	struct rl_delay delay[]; /* [RL_VCS], if requested */
};

/* A client. */
struct load_src {
	struct rl_source source; /* first: load_offer() knows it by this */
	struct rl_sim_load *load;
	struct load_part *part;
	struct rl_flit_cache *cache;
	uint64_t takes_ns; /* accepts packets from then on */
	bool took;	   /* since takes_ns */
	bool dead; /* its endpoint has crashed and not restarted */
	struct load_times times; /* only with a trace: its frames have no room
				    for the time, and go to one destination */
};

struct rl_sim_load {
	struct rl_sim_load_cfg cfg;
	struct load_src *src;
	struct rl_pattern pattern;
	void *pattern_mem;
	void *flow_mem;
	struct load_flow *flow; /* [cos][src][dst], by whole cache lines */
	struct load_rare *rare; /* the same */
	struct rl_source_cfg drawn;
	struct rl_range_pool reported; /* of all flows; it grows */
	struct load_part *part[RL_SIM_THREADS_MAX];
	unsigned int nparts;
};

/* load_trace.c */
/** As rl_source_give(), but with a frame of the trace; sets s->len_bytes. */
int load_give_frame(const struct rl_sim_trace *trace, struct rl_ep *ep,
		    struct rl_stamp *s, uint64_t now_ns, uint32_t *tag);
/** Whether every byte is that of the trace. */
bool load_same_frame(const struct rl_sim_trace *trace,
		     const struct rl_flit *pkt, uint32_t number);

/** Stores the time at which a packet was made; taken once. */
void load_time_put(struct load_times *t, uint64_t made_ns);
uint64_t load_time_take(struct load_times *t, uint32_t number);

/* load_deal.c */
/** Deals `packets` to the sources. @return 0 or -ENOMEM */
int load_deal(struct rl_sim_load *load);

/* load_window.c */
/** @return NULL: no memory */
struct load_window *load_window_new(const struct rl_sim_load_cfg *c);

/** @return where deliveries from @p src are counted now; NULL: nowhere */
static inline struct load_window *
load_window_at(const struct rl_sim_load *load, const struct load_part *part,
	       uint16_t src, uint64_t now_ns)
{
	const struct rl_sim_window *const w = &load->cfg.window;

	if (rl_likely(now_ns < w->from_ns || now_ns >= w->to_ns) ||
	    (w->source != NULL && !w->source[src]))
		return NULL;
	return part->window;
}

/* load_judge.c */
void load_judge(struct rl_sim_load *load, uint16_t at, struct rl_flit *pkt,
		uint64_t now_ns);

/* Numbers only grow, so a reader with an old value sees too few packets. */
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

static inline struct load_rare *
load_rare(const struct rl_sim_load *load, const struct load_flow *flow)
{
	return &load->rare[flow - load->flow];
}

/* The ends of a flow. */
static inline uint16_t
load_flow_src(const struct rl_sim_load *load, const struct load_flow *flow)
{
	return (uint16_t)((size_t)(flow - load->flow) / load->cfg.nep %
			  load->cfg.nep);
}

static inline uint16_t
load_flow_dst(const struct rl_sim_load *load, const struct load_flow *flow)
{
	return (uint16_t)((size_t)(flow - load->flow) % load->cfg.nep);
}

/* Where the missing packets of a flow are kept. */
static inline struct rl_range_pool *
load_missing(const struct rl_sim_load *load, const struct load_flow *flow)
{
	return &load->src[load_flow_dst(load, flow)].part->missing;
}

#endif /* RL_SIM_LOAD_PRIV_H */
