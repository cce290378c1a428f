/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SUSPECT_H
#define RL_SUSPECT_H

/**
 * @file
 * Suspects: parts of a fabric that altered flits, as the witness counted them
 * (port_witness.c). A device altered what came into it intact and left it
 * altered, or what its own endpoint then could not use. A link altered what left
 * the device at one end intact and came in altered at the other; so to the
 * witness a link begins and ends where frames are made and read.
 */

#include "rl_fabric.h"

struct rl_suspect {
	bool is_link;	 /**< index is one of a link, else of a device */
	uint32_t index;
	uint64_t altered; /**< flits */
	uint64_t looked;  /**< flits that were looked at there */
	/** The chance that the next altered flit is this part's, if all parts go
	    on as so far: (altered + 1) / (altered by all + 2), by Laplace's
	    rule of succession. */
	uint32_t confidence_percent;
};

/** Any thread. Suspects of a fabric at most. */
static inline uint32_t
rl_suspects_max(const struct rl_topo *t)
{
	return t->ndev + t->nlink;
}

/**
 * Any thread. All parts, innocent so far.
 *
 * @param s  rl_suspects_max() of them
 */
void rl_suspects_begin(struct rl_suspect *s, const struct rl_topo *t);

/** Any thread. Adds what a port has counted, or an endpoint. */
void rl_suspects_port(struct rl_suspect *s, const struct rl_topo *t,
		      uint32_t dev, uint16_t port,
		      const uint64_t c[RL_PORT_COUNTER_COUNT]);
void rl_suspects_ep(struct rl_suspect *s, uint32_t dev,
		    const uint64_t c[RL_EP_COUNTER_COUNT]);

/**
 * Any thread. Moves the guilty to the front, the worst first, and says how sure
 * that is. @return how many
 */
uint32_t rl_suspects_rank(struct rl_suspect *s, const struct rl_topo *t);

/**
 * Any thread that tolerates slightly old values. All three, by the counters of
 * a fabric. @return as rl_suspects_rank()
 */
uint32_t rl_suspects_of(struct rl_suspect *s, const struct rl_fabric *f);

/** Any thread. The part's name in the fabric file. Returns buf. */
char *rl_suspect_name(const struct rl_suspect *s, const struct rl_topo *t,
		      char *buf, size_t len);

#endif /* RL_SUSPECT_H */
