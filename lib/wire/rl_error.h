/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_ERROR_H
#define RL_ERROR_H

/**
 * @file Errors on a wire or inside a switch, as a seeded process over a
 * sequence of flits: independent bit errors, bursts like those of a decision
 * feedback equalizer (DFE), bursts of bytes, and lost flits. One object is one
 * wire in one direction, or the inside of one switch; it may combine several of
 * these.
 *
 * There is no draw per bit or flit, only for the distance to the next event
 * (geometric skipping), so a flit that passes costs one comparison, and n flits
 * that pass cost one subtraction:
 *
 *     flits   . . . . . . . . . X . . . . X . . .
 *               ^ now           ^ next
 *               |<- clean run ->|
 *
 * The object is pure: same configuration and seed, same sequence. Its owner
 * keeps it by value; nothing is allocated. All functions are the owner's.
 */

#include <math.h>

#include "rl_base.h"
#include "rl_prng.h"

/** Longest flit, and most lanes that a flit can be striped over. */
#define RL_ERROR_SPAN_MAX 256
#define RL_ERROR_LANES_MAX 16

/** Rates are probabilities; 0 turns a process off. */
struct rl_error_cfg {
	/** First bit errors, per bit. */
	double bit_rate;
	/**
	 * DFE: probability below 1 that the bit after a wrong one on the same
	 * lane is wrong too. Bursts have 1 / (1 - propagate) wrong bits on average, so
	 * that the bit error rate is bit_rate / (1 - propagate).
	 */
	double propagate;
	/** Lanes over which bytes are striped: 1, 2, 4, 8 or 16; they divide
	    span_bytes. */
	uint32_t lanes;
	/** Bursts of neighbouring bytes, every one of them wrong; per flit. */
	double burst_rate;
	uint32_t burst_min_bytes;
	uint32_t burst_max_bytes;
	/** Flits lost whole, per flit. */
	double drop_rate;
	/** Bytes of a flit that can be hit, 1..256: less inside a switch. */
	uint32_t span_bytes;
};

/** Effect on a flit that did not pass untouched. */
struct rl_error_hit {
	bool dropped;
	uint32_t bits;	/**< wrong bits; 0 if dropped */
	uint32_t bytes; /**< wrong bytes */
};

struct rl_error {
	struct rl_error_cfg cfg;
	struct rl_prng prng;
	uint64_t now;	     /**< flits that have passed */
	uint64_t next;	     /**< the next flit with an event */
	uint64_t bit_next;   /**< bit that the next first error hits */
	uint64_t burst_next; /**< flit of the next byte burst */
	uint64_t drop_next;  /**< flit that is lost next */
	double bit_log;	     /**< log(1 - rate) of each process */
	double prop_log;
	double burst_log;
	double drop_log;
	uint32_t carried;    /**< lanes whose burst goes on */
	uint32_t carry[RL_ERROR_LANES_MAX]; /**< bits of it */
};

/** Any thread. Everything off, one lane, all 256 bytes. */
void rl_error_cfg_defaults(struct rl_error_cfg *cfg);

/** Owner. Starts the process at its first flit; @p cfg is copied. */
void rl_error_init(struct rl_error *e, const struct rl_error_cfg *cfg,
		   uint64_t seed);

/** Owner. Flits that pass untouched from here on; UINT64_MAX: all. */
static inline uint64_t
rl_error_clean_run(const struct rl_error *e)
{
	return e->next == UINT64_MAX ? UINT64_MAX : e->next - e->now;
}

/** Owner. Lets @p n flits pass; n is at most the clean run. */
static inline void
rl_error_skip(struct rl_error *e, uint64_t n)
{
	RL_DASSERT(n <= e->next - e->now);
	e->now += n;
}

/**
 * Owner. Lets one flit pass, if it is untouched. If not, nothing has happened
 * yet: rl_error_strike() must take it.
 */
static inline bool
rl_error_pass(struct rl_error *e)
{
	if (rl_unlikely(e->now >= e->next))
		return false;
	e->now++;
	return true;
}

/**
 * Owner. The flit that rl_error_pass() refused: its bytes are XORed with the
 * errors, at least one bit, unless it is dropped.
 *
 * @param wire  cfg.span_bytes bytes, the caller's; unchanged if dropped
 */
struct rl_error_hit rl_error_strike(struct rl_error *e, uint8_t *wire);

#endif /* RL_ERROR_H */
