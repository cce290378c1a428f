/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EP_FIXTURE_H
#define EP_FIXTURE_H

/**
 * @file
 * Endpoints without a fabric: the test polls them, inspects their packets, and
 * delivers them or not. All flits are from one arena, so that leaks are
 * detected.
 */

#include "rl_endpoint.h"

#define FX_EPS 4
#define FX_REPORTS 4096
#define FX_EVENTS 256
#define FX_SEEN 4096 /* packets of a flow whose delivery is tracked */

struct fx {
	struct rl_ep_cfg cfg;
	struct rl_codec *codec;
	struct rl_flit_cache cache;
	struct rl_flit *arena;
	struct rl_flit_cache keep; /**< fx_open_kept() */
	struct rl_flit *kept;
	struct rl_ep *ep[FX_EPS];
	unsigned int neps;
	uint64_t now;
	struct rl_ep_report report[FX_REPORTS];
	unsigned int nreports;
	struct rl_ep_event event[FX_EVENTS];
	unsigned int nevents;
	uint32_t inc[FX_EPS]; /**< incarnations; 0: none */
	uint32_t tag0[FX_EPS][FX_EPS][16]; /**< tag of the first packet */
	uint32_t sent[FX_EPS][FX_EPS][16]; /**< packets, by src, dst, cos */
	uint32_t got[FX_EPS][FX_EPS][16];  /**< next packet expected */
	uint64_t seen[FX_EPS][FX_EPS][16][FX_SEEN / 64]; /**< delivered */
};

/** Defaults with short times, for tests that set the clock. */
void fx_cfg(struct rl_ep_cfg *cfg);

/** Checks the configuration and builds @p neps endpoints, ids from 0. */
void fx_open(struct fx *fx, const struct rl_ep_cfg *cfg, unsigned int neps,
	     uint32_t nflits);

/** The same with several service levels. */
void fx_open_levels(struct fx *fx, const struct rl_ep_cfg *cfg,
		    unsigned int neps, uint32_t nflits, uint8_t levels);

/** The same, with default settings and plenty of flits. */
void fx_open_default(struct fx *fx, unsigned int neps);

/** The same, with incarnations from 100 on. */
void fx_open_lives(struct fx *fx, const struct rl_ep_cfg *cfg,
		   unsigned int neps, uint32_t nflits);

/** The same, with a separate cache for packets kept to be retransmitted. */
void fx_open_kept(struct fx *fx, const struct rl_ep_cfg *cfg,
		  unsigned int neps, uint32_t nflits, uint32_t kept);

/** Restarts endpoint @p ep without state, with incarnation @p inc. */
void fx_restart(struct fx *fx, unsigned int ep, uint32_t inc);

/** Flushes everything, and asserts that every flit was returned. */
void fx_close(struct fx *fx);

/**
 * Sends packet number fx->sent of a flow, with @p len bytes that depend on it.
 */
int fx_send(struct fx *fx, unsigned int src, unsigned int dst, uint8_t cos,
	    uint32_t len);

/** Sends @p len bytes from endpoint 0 like a client, without counting them. */
int fx_send_raw(struct fx *fx, uint16_t dst, uint8_t cos, uint8_t class,
		uint32_t len);

/** Polls one endpoint with a large budget. @return the packets */
struct rl_pktq fx_poll(struct fx *fx, unsigned int ep);

/** Delivers one packet to an endpoint. */
void fx_rx(struct fx *fx, unsigned int ep, struct rl_flit *pkt);

/** Delivers all packets to an endpoint in one burst. */
void fx_rx_all(struct fx *fx, unsigned int ep, struct rl_pktq *q);

/**
 * Takes every packet that arrived at @p ep, and asserts that each is the next
 * of its flow (or, with @p gaps, a later one) with exactly the bytes sent.
 * @return number of packets
 */
unsigned int fx_take(struct fx *fx, unsigned int ep, bool gaps);

/** Drops a packet or a whole queue, like a faulty fabric. */
void fx_drop(struct fx *fx, struct rl_flit *pkt);
void fx_drop_all(struct fx *fx, struct rl_pktq *q);

/** Notifies the sender that the fabric dropped a flit; keeps the flit. */
void fx_notice(struct fx *fx, const struct rl_flit *f, enum rl_ep_drop why);

/** @return a copy of a packet, as made by a network that duplicates */
struct rl_flit *fx_copy(struct fx *fx, struct rl_flit *pkt);

/** Removes the @p i-th flit from a packet and frees it. */
struct rl_flit *fx_cut(struct fx *fx, struct rl_flit *pkt, unsigned int i);

/** Corrupts a flit beyond FEC correction, detectably for FEC or CRC. */
void fx_corrupt(struct rl_flit *f, uint32_t salt);

/** Delivers packets in both directions until nothing moves at this time. */
void fx_settle(struct fx *fx);

/** A slow fabric: each packet takes @p delay_ns. */
struct fx_way {
	struct {
		struct rl_flit *pkt;
		uint64_t at_ns;
	} slot[1024];
	unsigned int head, tail;
	uint64_t delay_ns;
};

/** All endpoints send, the clock advances, and what is due arrives. */
void fx_way_step(struct fx *fx, struct fx_way *way, uint64_t step_ns);

/** Drops what is under way. */
void fx_way_drop(struct fx *fx, struct fx_way *way);

/** Moves the clock to the earliest deadline and settles, at most n times. */
void fx_run(struct fx *fx, unsigned int n);

/** Sends @p n packets of one flit from 0 to 1 until acknowledged. */
void fx_advance(struct fx *fx, uint32_t n);

/** Sends one packet of @p nflits flits from 0 to 1. @return the packet */
struct rl_flit *fx_emit(struct fx *fx, uint32_t nflits);

/** Polls endpoint @p ep, which must return exactly one packet. */
struct rl_flit *fx_poll_one(struct fx *fx, unsigned int ep);

/** Encodes a changed flit again; @p number is mixed into the CRC. */
void fx_encode(struct fx *fx, struct rl_flit *f, uint32_t number);

/** @return command of a stand-alone flit; -1: data flit */
int fx_ctrl_cmd(const struct rl_flit *f);

/** @return number n of a stand-alone flit */
uint32_t fx_ctrl_n(const struct rl_flit *f);

static inline bool
fx_seen(const struct fx *fx, unsigned int src, unsigned int dst, uint8_t cos,
	uint32_t tag)
{
	return fx->seen[src][dst][cos][tag / 64] >> (tag % 64) & 1;
}

static inline uint64_t
fx_ctr(const struct fx *fx, unsigned int ep, enum rl_ep_counter c)
{
	return rl_ep_counters(fx->ep[ep])[c];
}

#endif /* EP_FIXTURE_H */
