/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TALLY_H
#define TALLY_H

/**
 * @file
 * Counters since a moment. The counters themselves belong to the lcores and
 * only grow; `clear counters` and rates keep earlier values.
 *
 * Control thread. Counters are read while the lcores run: each is correct, but
 * they are of slightly different moments.
 */

#include "counter_report.h"
#include "host.h"

/** Earlier values of all counters. Zeroed: those at the start. */
struct tally {
	uint64_t *port; /**< [2 * nlink][RL_PORT_COUNTER_COUNT] */
	uint64_t *core; /**< [ndev][RL_CORE_COUNTER_COUNT] */
	uint64_t *ep;	/**< [ndev][RL_EP_COUNTER_COUNT] */
};

/** Stores the present values. @return 0; -ENOMEM: unchanged */
int tally_take(struct tally *t, const struct host *h);
void tally_free(struct tally *t);

/** A crashed device is about to restart with counters of 0: growth goes on. */
void tally_restarts(struct tally *t, const struct host *h, uint32_t dev);

/** The counters of one port, core or endpoint. */
struct tally_part {
	const struct counter_kind *kind;
	/** Of a port "LINK DEVICE": the fabric file may number it otherwise. */
	char name[3 * RL_NAME_MAX + 9];
	const uint64_t *now;
	uint64_t *then;
};

typedef void (*tally_fn)(void *ctx, const struct tally_part *p);

/** Calls @p fn for each part of a device. tally_take() comes before. */
void tally_device(const struct tally *t, const struct host *h, uint32_t dev,
		  tally_fn fn, void *ctx);

/** Growth of a port's counters since then. */
void tally_port(const struct tally *t, const struct host *h, uint32_t dev,
		uint16_t port, uint64_t c[RL_PORT_COUNTER_COUNT]);
void tally_core(const struct tally *t, const struct host *h, uint32_t dev,
		uint64_t c[RL_CORE_COUNTER_COUNT]);
/** The same for an endpoint. */
void tally_ep(const struct tally *t, const struct host *h, uint32_t dev,
	      uint64_t c[RL_EP_COUNTER_COUNT]);

/** Load of one direction of a link, as counts or per second. */
struct rate {
	double frames;
	double flits; /**< sent for the first time */
	double bytes; /**< of whole frames */
	double replayed_flits;
};

struct rate_sample {
	uint64_t frames, flits, bytes, replayed_flits;
};

/** The start of a period. Zeroed: the start of the links. */
struct rates {
	uint64_t t_ns; /**< 0: never set */
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
