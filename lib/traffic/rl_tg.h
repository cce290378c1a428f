/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_TG_H
#define RL_TG_H

/**
 * @file The traffic client of an endpoint: a generator that stamps packets and
 * a checker of arrivals [EP-1]. One per endpoint, on its lcore; it owns only
 * its counts. rl_ledger.h combines the counts of all clients of a fabric at the
 * end.
 *
 * When packets are made, and what they are, is told in rl_source.h.
 *
 * Pure: time is a parameter, and the same seed sends the same packets.
 */

#include "rl_delay.h"
#include "rl_seen.h"
#include "rl_silence.h"
#include "rl_source.h"

struct rl_tg_cfg {
	const struct rl_pattern *pattern; /**< NULL: checks only */
	uint16_t ep_id;
	uint32_t requests_ppm;	/**< these as in struct rl_source_cfg */
	uint8_t ncos;
	bool by_kind;
	uint32_t min_flits;	/**< length of packets, 1.. */
	uint32_t max_flits;	/**< ..max_packet_flits of the endpoint */
	bool hist_by_vc;	/**< histograms for each VC of arrival */
	uint64_t seed;		/**< the same for all clients of a fabric */
	double load;		/**< flits per slot; 0: as fast as possible */
	uint64_t slot_ns;	/**< time of one flit */
	uint64_t packets;	/**< how many to send; 0: no limit */
	uint64_t duration_ns;	/**< how long to send; 0: no limit */
	uint32_t max_flows;	/**< as the endpoint's */
	uint32_t max_ranges;	/**< ranges of missing or reported packets */
};

struct rl_tg_counts {
	uint64_t sent_packets;	/**< accepted by the endpoint */
	uint64_t sent_flits;
	uint64_t sent_bytes;
	uint64_t refused;	/**< attempts refused by backpressure */
	uint64_t sent_requests;	    /**< of the packets sent */
	uint64_t sent_responses;    /**< the same */
	uint64_t delivered_requests;
	uint64_t delivered_responses;
	uint64_t unreachable_packets; /**< refused for good, and not sent: there
					   was no path to their destination */
	uint64_t redirected_packets; /**< sent to another destination: their
					  flow made no progress, and they would
					  have held up others */
	uint64_t delivered_packets; /**< first copies, whatever their order */
	uint64_t delivered_flits;
	uint64_t delivered_bytes;
	uint64_t delivered_vc_flits[RL_VCS]; /**< by the VC of arrival */
	uint64_t duplicated_packets;
	uint64_t reordered_packets; /**< after a later one of their flow */
	uint64_t corrupted_packets; /**< any byte altered */
	uint64_t foreign_packets;   /**< of these: without a valid stamp */
	uint64_t inexact;	    /**< events not recorded, because of
					 max_flows or max_ranges */
};

/** A client's record of both directions of one (peer, cos). */
struct rl_tg_flow {
	uint16_t peer;
	uint8_t cos;
	uint32_t sent;		/**< packets sent to peer */
	uint32_t tag0;		/**< the endpoint's tag of the first of them */
	bool anew;		/**< tags start over with the next one */
	struct rl_ranges reported; /**< of those sent */
	struct rl_owed owed;	/**< responses due to peer */
	struct rl_seen seen;	/**< of those from peer */
	uint64_t last;		/**< latency of the last, for rl_delay_add() */
	struct rl_silence silence; /**< of packets from peer */
};

struct rl_tg;

/** Any thread. Bytes of a client, 64-byte aligned. */
size_t rl_tg_memsize(const struct rl_tg_cfg *cfg);

/**
 * Control thread. Makes a client in @p mem (the caller's, need not be
 * cleared), stopped. Received packets are given back to @p cache.
 *
 * @return the client (== mem); NULL if the configuration is invalid (lengths,
 *   ncos, slot_ns with a load)
 */
struct rl_tg *rl_tg_init(void *mem, const struct rl_tg_cfg *cfg,
			 struct rl_flit_cache *cache);

/**
 * Owner. Begins to send (again): limits and the schedule count from @p now_ns,
 * packet numbers go on. Receiving needs no start.
 */
void rl_tg_start(struct rl_tg *tg, uint64_t now_ns);

/** Owner. Changes load, limit or pattern; takes effect with rl_tg_start(). */
void rl_tg_set(struct rl_tg *tg, const struct rl_pattern *pattern, double load,
	       uint64_t packets, uint64_t duration_ns);

/** Owner. Sends nothing more; drops packets that wait aside. */
void rl_tg_stop(struct rl_tg *tg);

/**
 * Owner. Takes and checks all arrivals, then sends what is due. The signature
 * is that of a role's client.
 * @return packets moved
 */
unsigned int rl_tg_poll(void *tg, struct rl_ep *ep, uint64_t now_ns);

/**
 * Owner. When rl_tg_poll() next wants to send: 0 if at once, RL_NEVER if not by
 * itself.
 */
uint64_t rl_tg_deadline(void *tg);

/** Owner. A report of the endpoint; wire it to rl_ep_params.report. */
void rl_tg_report(struct rl_tg *tg, const struct rl_ep_report *report);

/**
 * Owner, or any thread that tolerates a torn number. Responses that are due and
 * not yet accepted by the endpoint. They are sent even while it is stopped.
 */
uint64_t rl_tg_owed(const struct rl_tg *tg);

/**
 * Owner. Marks all packets to @p peer that have not arrived as reported: the
 * peer crashed, with packets that it had acknowledged and not yet delivered.
 */
void rl_tg_excuse(struct rl_tg *tg, uint16_t peer);

/**
 * Owner. This client's endpoint crashed, and all it held is gone: the same for
 * all peers. Its tags start over.
 */
void rl_tg_crashed(struct rl_tg *tg);

/**
 * Owner. Whether it is stopped, or has reached its limit with nothing waiting
 * aside.
 */
bool rl_tg_done(const struct rl_tg *tg);

/** Owner, or any thread that tolerates torn numbers. */
const struct rl_tg_counts *rl_tg_counts(const struct rl_tg *tg);

/**
 * Owner, or any thread that tolerates torn numbers. Latency in ns, from
 * scheduled send time to arrival at the client, and jitter of packets that came
 * by @p vc; without hist_by_vc all are in VC 0's. NULL: no such VC.
 */
const struct rl_delay *rl_tg_delay(const struct rl_tg *tg, unsigned int vc);

/** Owner. The number of its flows, and one of them. */
uint32_t rl_tg_flow_count(const struct rl_tg *tg);
const struct rl_tg_flow *rl_tg_flow(const struct rl_tg *tg, uint32_t i);

/** Owner. The flow with a peer, or NULL. */
const struct rl_tg_flow *rl_tg_flow_find(const struct rl_tg *tg, uint16_t peer,
					 uint8_t cos);

/** Owner. The pool of the flows' ranges. */
const struct rl_range_pool *rl_tg_ranges(const struct rl_tg *tg);

/** Owner. Its endpoint id. */
uint16_t rl_tg_ep_id(const struct rl_tg *tg);

#endif /* RL_TG_H */
