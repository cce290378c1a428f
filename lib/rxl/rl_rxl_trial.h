/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_RXL_TRIAL_H
#define RL_RXL_TRIAL_H

/**
 * @file
 * Flits through a path of links and switches, and what FEC, CRC and ISN say of
 * each: the codec alone, without endpoints and time. Every flit that an error
 * touches goes through the codec that ships, hop by hop [LCB-4]; flits that
 * nothing touches are only counted - a whole stretch of them at once - since
 * the codec's verdict on an intact flit is known. So a trial at a bit error
 * rate of 1e-6 costs a nanosecond a flit, and needs no extrapolation.
 *
 *    originator --link 0--> switch 1 --link 1--> ... --link k--> destination
 *    CRC + ISN + FEC        FEC                                  FEC, CRC, ISN
 */

#include "rl_codec.h"
#include "rl_error.h"

/** Most switches on a path. */
#define RL_RXL_LEVELS_MAX 8

struct rl_rxl_trial_cfg {
	unsigned int levels;	    /**< switches; 0 is a direct link */
	struct rl_error_cfg wire;   /**< each link */
	struct rl_error_cfg inside; /**< each switch, between its two FECs */
	uint64_t seed;
};

/** What a link and the FEC behind it did. */
struct rl_rxl_link_tally {
	uint64_t flits;	    /**< that were sent on it */
	uint64_t lost;	    /**< whole, by the wire */
	uint64_t hit;	    /**< with at least one wrong bit */
	uint64_t corrected; /**< to what was sent on the link */
	uint64_t detected;  /**< uncorrectable, and noticed */
	uint64_t missed;    /**< uncorrectable, and not noticed */
};

struct rl_rxl_trial_tally {
	uint64_t flits;	   /**< sent by the originator */
	uint64_t touched;  /**< of them simulated; the others met no error */
	struct rl_rxl_link_tally link[RL_RXL_LEVELS_MAX + 1];
	uint64_t hurt_inside; /**< inside a switch */
	uint64_t dropped;     /**< by a switch, or a wire */
	uint64_t arrived_ok;  /**< as they were sent, and accepted */
	uint64_t fec_bad;     /**< at the destination: FEC gives up */
	uint64_t crc_bad;     /**< at the destination: no number fits */
	uint64_t slipped;     /**< altered, yet taken for another number */
	uint64_t undetected;  /**< altered, and accepted */
};

struct rl_rxl_trial;

/** Any thread. Bytes of a trial, 64-byte aligned. */
size_t rl_rxl_trial_memsize(void);

/**
 * Any thread. Makes a trial in @p mem (the caller's). The codec must outlive
 * it. levels <= RL_RXL_LEVELS_MAX; inside.span_bytes is at most 250: the FEC
 * is computed anew behind it.
 */
struct rl_rxl_trial *rl_rxl_trial_init(void *mem,
				       const struct rl_rxl_trial_cfg *cfg,
				       const struct rl_codec *codec);

/** Owner. Sends @p flits more. */
void rl_rxl_trial_run(struct rl_rxl_trial *t, uint64_t flits);

/** Owner. What has happened so far. */
const struct rl_rxl_trial_tally *
rl_rxl_trial_tally(const struct rl_rxl_trial *t);

#endif /* RL_RXL_TRIAL_H */
