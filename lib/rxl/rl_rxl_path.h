/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_RXL_PATH_H
#define RL_RXL_PATH_H

/**
 * @file
 * Two endpoints joined by links and switches, in virtual time. Time is cut
 * into slots, one flit each; both directions may be full of data. The
 * endpoints are the ones that ship [EP-1..EP-4]: they number, encode, verify,
 * acknowledge and retry. The switches do what a hop without link retry does
 * [LCB-4]: FEC only, and what it can't correct is dropped, and reported to
 * the originator where that is asked for [RXL-4].
 *
 *   client <-> endpoint 0 ==> link, switch, ..., link ==> endpoint 1 <-> client
 *                         <==                          <==
 *
 * What is simulated flit by flit: everything but the FEC check of an intact
 * flit at a switch, whose outcome is known (`every_hop` runs it, too).
 *
 * A side without a client of its own gets a meter: it sends packets of one
 * flit, as the paper counts in flits, each with its number and bytes that
 * follow from it, and holds what it receives against that. So order failures,
 * duplicates and altered data are seen from outside, as an application would
 * see them.
 */

#include "rl_endpoint.h"
#include "rl_rxl_trial.h"

/** Endpoints, their ids, and the directions that begin at them. */
#define RL_RXL_SIDES 2

/** Who uses an endpoint: sends and receives what it can, once a burst. */
struct rl_rxl_client {
	void *ctx;
	void (*poll)(void *ctx, struct rl_ep *ep, uint64_t now_ns);
};

/** What happens to a flit. */
enum rl_rxl_step {
	RL_RXL_SENT,	/**< put on its first link */
	RL_RXL_DROPPED, /**< by a switch, a wire, or the script */
	RL_RXL_ARRIVED, /**< handed to the endpoint */
};

/** Watches the wire, and may interfere; for ladder diagrams. */
struct rl_rxl_script {
	void *ctx;
	/** Called for each step of each flit; @p f is the path's. */
	void (*watch)(void *ctx, unsigned int from, enum rl_rxl_step step,
		      const struct rl_flit *f, uint64_t slot);
	/** Whether a flit that was just sent is to be dropped. */
	bool (*drop)(void *ctx, unsigned int from, const struct rl_flit *f,
		     uint64_t slot);
};

struct rl_rxl_path_cfg {
	struct rl_ep_cfg ep;	/**< both endpoints */
	struct rl_rxl_trial_cfg way; /**< links and switches; its seed */
	uint32_t latency_slots; /**< one way, whole; 1 or more */
	uint32_t burst_slots;	/**< slots handled at once, 1 to 64 */
	uint32_t slot_ns;
	bool drop_reports;	/**< the originator hears of drops */
	bool every_hop;		/**< FEC check of intact flits, too */
	bool sends[RL_RXL_SIDES]; /**< whether a meter sends data */
	struct rl_rxl_client client[RL_RXL_SIDES]; /**< poll NULL: a meter */
	struct rl_rxl_script script; /**< functions may be NULL */
};

/** Seen on the way from one side, and by the meter at the other. */
struct rl_rxl_dir_tally {
	/* on the wire */
	uint64_t slots;	    /**< of time */
	uint64_t fresh;	    /**< data flits, sent first */
	uint64_t again;	    /**< data flits, sent again */
	uint64_t control;   /**< stand-alone ACKs, NAKs */
	uint64_t with_ack;  /**< fresh ones whose FSN is an AckNum */
	uint64_t dropped;   /**< by a switch */
	uint64_t lost;	    /**< by a wire */
	uint64_t wrong;	    /**< arrived altered beyond correction */
	uint64_t reports;   /**< of drops, that reached the originator */
	/*
	 * While all before has arrived in order: what equation 7 speaks of.
	 * A flit that comes while the receiver waits for a retry is no chance
	 * of a failure.
	 */
	uint64_t chances; /**< fresh flits that were next in order */
	uint64_t drops;	  /**< of them dropped or lost on the way */
	/* at the receiver's client */
	uint64_t delivered;	 /**< packets */
	uint64_t order_failures; /**< of them ahead of their turn */
	uint64_t late;		 /**< passed over before, now come */
	uint64_t duplicates;	 /**< delivered before */
	uint64_t altered;	 /**< of content that was never sent */
	uint64_t hurt_inside;	 /**< by a switch */
	struct rl_rxl_link_tally link[RL_RXL_LEVELS_MAX + 1];
};

struct rl_rxl_path;

/** Any thread. Bytes of a path, 64-byte aligned. */
size_t rl_rxl_path_memsize(const struct rl_rxl_path_cfg *cfg);

/**
 * Any thread. Builds a path in @p mem (the caller's). cfg->ep has passed
 * rl_ep_cfg_check(); the codec is of its crc and isn and outlives the path.
 */
struct rl_rxl_path *rl_rxl_path_init(void *mem,
				     const struct rl_rxl_path_cfg *cfg,
				     const struct rl_codec *codec);

/** Owner. Lets @p slots slots go by (rounded up to whole bursts). */
void rl_rxl_path_run(struct rl_rxl_path *p, uint64_t slots);

/**
 * Owner. Meters stop sending; what is on its way arrives or is retried.
 * @return whether both endpoints ran idle within @p slots slots
 */
bool rl_rxl_path_drain(struct rl_rxl_path *p, uint64_t slots);

/** Owner. What happened on the way from @p side, since the last reset. */
const struct rl_rxl_dir_tally *rl_rxl_path_tally(struct rl_rxl_path *p,
						 unsigned int side);

/** Owner. Resets all counters, after a warm-up; the path keeps its state. */
void rl_rxl_path_reset(struct rl_rxl_path *p);

/** Owner. Packets of @p side's meter that the other has not got (yet). */
uint64_t rl_rxl_path_missing(const struct rl_rxl_path *p, unsigned int side);

/** Owner. The endpoint of @p side, for its counters. */
const struct rl_ep *rl_rxl_path_ep(const struct rl_rxl_path *p,
				   unsigned int side);

/** Owner. Free flits: clients give back there what they received. */
struct rl_flit_cache *rl_rxl_path_cache(struct rl_rxl_path *p);

/** Owner. The next slot. */
uint64_t rl_rxl_path_slot(const struct rl_rxl_path *p);

/** Owner. Gives back all flits. @return whether none is missing */
bool rl_rxl_path_close(struct rl_rxl_path *p);

/** Any thread. Adds @p from to @p to. */
void rl_rxl_dir_add(struct rl_rxl_dir_tally *to,
		    const struct rl_rxl_dir_tally *from);

#endif /* RL_RXL_PATH_H */
