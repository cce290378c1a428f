/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TALLY_H
#define TALLY_H

/**
 * @file
 * Counters since a moment. The counters themselves belong to the lcores and
 * only grow; `clear counters` and rates remember how they stood.
 *
 * Control thread. Numbers are read while the lcores go on: each is right, all
 * together are a blurred picture.
 */

#include "host.h"

/** How all counters stood. Zeroed: at the start, when all of them were 0. */
struct tally {
	uint64_t *port; /**< [2 * nlink][RL_PORT_COUNTER_COUNT] */
	uint64_t *core; /**< [ndev][RL_CORE_COUNTER_COUNT] */
	uint64_t *ep;	/**< [ndev][RL_EP_COUNTER_COUNT] */
};

/** Remembers how they stand now. @return 0; -ENOMEM: as it was */
int tally_take(struct tally *t, const struct host *h);
void tally_free(struct tally *t);

/** What the counters of a port have grown by since then. */
void tally_port(const struct tally *t, const struct host *h, uint32_t dev,
		uint16_t port, uint64_t c[RL_PORT_COUNTER_COUNT]);
void tally_core(const struct tally *t, const struct host *h, uint32_t dev,
		uint64_t c[RL_CORE_COUNTER_COUNT]);
/** The device has to be an endpoint. */
void tally_ep(const struct tally *t, const struct host *h, uint32_t dev,
	      uint64_t c[RL_EP_COUNTER_COUNT]);

/** What one direction of a link carries, as counts or by the second. */
struct rate {
	double frames;
	double flits; /**< sent for the first time */
	double bytes; /**< of whole frames */
	double replayed_flits;
};

struct rate_sample {
	uint64_t frames, flits, bytes, replayed_flits;
};

/** A place to look back from. Zeroed: the start of the links. */
struct rates {
	uint64_t t_ns; /**< 0: never looked */
	struct rate_sample *dir; /**< [2 * link + end], at t_ns */
};

/**
 * Rates of all directions since the last call, or since @p start_ns.
 *
 * @param rate  [2 * nlink] by 2 * link + end, of frames that leave that end
 * @return seconds since then; -ENOMEM
 */
double rates_take(struct rates *r, const struct host *h, uint64_t start_ns,
		  struct rate *rate);
void rates_free(struct rates *r);

#endif /* TALLY_H */
