/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SIM_LOAD_H
#define RL_SIM_LOAD_H

/**
 * @file
 * Traffic of a simulated run, with a judge that sees both ends. What a packet
 * holds (length, class, every byte but the time of its making) follows from
 * the seed and from its name (source, destination, class of service, number),
 * so the judge needs no record of what was sent: it makes each packet again
 * when it arrives, and keeps only what is out of order.
 *
 * Clients may be called by several threads (struct rl_sim_seat). What a client writes is
 * its own: its source, the flows that leave it and how far those have come that
 * lead to it, and the sums of its part.
 *
 * The generator is an open loop: packets come into being by the clock, also
 * while the endpoint takes none, and their latency counts from that moment.
 */

#include "rl_delay.h"
#include "rl_endpoint.h"
#include "rl_kind.h"
#include "rl_pattern.h"
#include "rl_prng.h"
#include "rl_role.h"
#include "rl_sim.h"

/** Captured frames: what packets hold instead of made-up bytes. */
struct rl_sim_trace {
	const uint8_t *data;
	const uint64_t *off;	/**< where each begins in data, [n + 1] */
	uint32_t n;
};

/** What a flow got, of all classes of service. */
struct rl_sim_flow {
	uint64_t packets; /**< delivered */
	uint64_t max_ns;  /**< longest that one took, from its making on */
};

struct rl_sim_load_cfg {
	struct rl_pattern_cfg pattern; /**< nep, seed are set from below */
	double load;		/**< flits per slot and source, > 0 */
	uint32_t slot_ps;	/**< time of a flit on the wire */
	uint32_t min_flits;	/**< of a packet */
	uint32_t max_flits;
	uint32_t cos;		/**< classes of service in use, 1..16 */
	uint32_t requests_ppm;	/**< share of packets that are non-posted
				     requests: each is answered by a response of
				     its own; the others are posted */
	bool by_kind;		/**< a class of service for each kind of packet:
				     enum rl_kind; cos is RL_KINDS */
	uint64_t packets;	/**< of all sources together; 0: no end */
	uint32_t flow_packets;	/**< of one flow; 0: no end */
	uint64_t start_ns;
	uint64_t stop_ns;	/**< RL_NEVER: `packets` decides */
	uint64_t pause_ns;	/**< bursts: each source sends for so long, and */
	uint64_t burst_ns;	/**< is silent for so long; 0: steady */
	uint64_t slow_ns;	/**< slow clients: each takes nothing for so */
	uint64_t take_ns;	/**< long, then all for so long; 0: at once */
	uint64_t seed;
	uint16_t nep;
	unsigned int threads; /**< that call clients; 0: one */
	bool delays;	      /**< rl_sim_load_delay() is wanted */
	/** NULL, or [nep][nep] (source, destination), zeroed; the caller's */
	struct rl_sim_flow *flow;
	/** NULL, or the frames that each source sends in turn, again and
	    again; needs a pattern of one destination each */
	const struct rl_sim_trace *trace;
	/** since when two endpoints have been connected, RL_NEVER: they are
	    not: silence has a reason then. NULL: always */
	uint64_t (*connected)(void *ctx, uint16_t src, uint16_t dst);
	void *connected_ctx;
};

/** Totals. lost = sent - delivered - reported without being delivered. */
struct rl_sim_load_stats {
	uint64_t sent;
	uint64_t sent_flits;
	uint64_t delivered;	/**< packets, each counted once */
	uint64_t duplicated;
	uint64_t reordered;
	uint64_t corrupted;	/**< wrong bytes, or never sent at all */
	uint64_t reported;	/**< given up openly, whether delivered or not */
	uint64_t reported_delivered; /**< of them delivered after all */
	uint64_t refused;	/**< not sent: their destination was unreachable */
	uint64_t sent_requests; /**< of those sent, and so on */
	uint64_t sent_responses;
	uint64_t delivered_requests;
	uint64_t delivered_responses;
	uint64_t refused_responses; /**< of those refused */
	uint64_t died;		/**< with an endpoint that held them, or was to
				     get them, when it crashed */
	uint64_t lost;		/**< see above; final when all is at rest */
	struct rl_hist latency;
	uint64_t outage_ns;	/**< longest silence of a flow that had something
				     to send, its ends connected all the while */
	uint64_t outage_at_ns;	/**< when it ended, and whose it was */
	uint16_t outage_src, outage_dst;
	char first_error[160];	/**< what went wrong first; "" */
};

struct rl_sim_load;

/**
 * Control thread.
 * @return the load, the caller's; NULL: no memory, or a pattern that makes no
 *   sense for this fabric
 */
struct rl_sim_load *rl_sim_load_new(const struct rl_sim_load_cfg *cfg);
void rl_sim_load_free(struct rl_sim_load *load);

/** Owner. The client of endpoint @p ep, which is called there. */
void rl_sim_load_client(struct rl_sim_load *load, uint16_t ep,
			const struct rl_sim_seat *seat,
			struct rl_client *client);

/**
 * Owner, as all that follows: while no client is called. To be called for each
 * report of an endpoint.
 */
void rl_sim_load_report(struct rl_sim_load *load, const struct rl_ep_report *r,
			uint64_t now_ns);

/**
 * Owner. Endpoint @p ep crashes: what it had sent, or was to get, and has not
 * been delivered, has died with it, unless it comes or is reported after all.
 */
void rl_sim_load_crash(struct rl_sim_load *load, uint16_t ep);

/**
 * Owner. The longest silence now going on of a flow that has something under
 * way, its ends connected all the while; 0: none. Only of clients of one part.
 */
uint64_t rl_sim_load_silence(const struct rl_sim_load *load, uint64_t now_ns,
			     uint16_t *src, uint16_t *dst);

/**
 * Owner. The longest time that a flow has now had something under way without a
 * word of it: neither delivered nor reported, whether its ends are connected or
 * not; 0: none.
 */
uint64_t rl_sim_load_unheard(const struct rl_sim_load *load, uint64_t now_ns,
			     uint16_t *src, uint16_t *dst);

/** Owner. No source makes anything after @p now_ns but responses. */
void rl_sim_load_stop(struct rl_sim_load *load, uint64_t now_ns);

/**
 * Owner. Everything that came into being was accepted by its endpoint, and
 * every request that arrived has been answered.
 */
bool rl_sim_load_done(const struct rl_sim_load *load);

/** Owner. */
void rl_sim_load_stats(const struct rl_sim_load *load,
		       struct rl_sim_load_stats *st);

/**
 * Owner, of a load with `delays`. Latency and jitter of the packets that arrived
 * by @p vc. @p to is reset first.
 */
void rl_sim_load_delay(const struct rl_sim_load *load, unsigned int vc,
		       struct rl_delay *to);

#endif /* RL_SIM_LOAD_H */
