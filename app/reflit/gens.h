/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GENS_H
#define GENS_H

/**
 * @file
 * The generators: one at every endpoint that has no other client. All share
 * one set of parameters, set by options and the prompt; changes take effect
 * when they start.
 */

#include "client_gen.h"
#include "host.h"
#include "rl_ledger.h"

/** What generated traffic looks like. */
struct gens_plan {
	enum rl_pattern_kind pattern;
	double load;	      /**< flits per us and endpoint; 0: no limit */
	uint64_t packets;     /**< of each endpoint; 0: no limit */
	uint32_t min_flits;
	uint32_t max_flits;   /**< 0: 8, or what the fabric file allows */
	double requests;      /**< share of packets that ask for a response */
	uint8_t classes;      /**< of service, drawn from at random */
	bool by_kind;	      /**< or one for each kind of packet */
};

struct gens_pattern;

struct gens {
	struct host *host;
	struct client_gen *gen; /**< [nep] */
	struct rl_tg **tg;	/**< [nep]; NULL: has another client */
	uint32_t ngens;
	struct gens_plan plan;
	bool all;		/**< every endpoint has one */
	struct gens_pattern *patterns; /**< all ever used; the first is current */
};

/**
 * Control thread, after host_open() and the attached ports. Makes generators
 * of the endpoints for which @p taken says false.
 *
 * @param err  HOST_ERR_MAX bytes, one line on failure
 * @return 0 or -errno; gens_close() is due in either case
 */
int gens_open(struct gens *g, struct host *h, const struct gens_plan *plan,
	      bool (*taken)(const void *ctx, uint32_t dev), const void *ctx,
	      char *err);

/**
 * Control thread, also before EAL. Whether gens_pattern() would take a pattern
 * on this fabric. @return as gens_pattern()
 */
int gens_pattern_fits(const struct rl_config *cfg, enum rl_pattern_kind kind,
		      uint64_t seed);

/**
 * Control thread. Sets another pattern, from the next start on.
 * @return 0; -EINVAL where it does not suit the fabric; -ENOTSUP where ports
 *   are attached and it is not UNIFORM; -ENOMEM; nothing changed on failure
 */
int gens_pattern(struct gens *g, enum rl_pattern_kind kind);

/** Control thread. The generator of an endpoint's device, or NULL. */
struct client_gen *gens_find(struct gens *g, uint32_t dev);

/**
 * Control thread. Starts or stops one generator. Waits until its last order is
 * taken, except at a crashed endpoint, which takes the order when it restarts.
 * @return 0; -ETIME: an lcore does not answer
 */
int gens_order(struct gens *g, struct client_gen *gen, bool on);

/** Control thread. The same for all; each gets its order. */
int gens_order_all(struct gens *g, bool on);

/** Control thread. Whether all finite generators have sent everything. */
bool gens_finished(const struct gens *g);

void gens_close(struct gens *g);

#endif /* GENS_H */
