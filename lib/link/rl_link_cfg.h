/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_LINK_CFG_H
#define RL_LINK_CFG_H

/**
 * @file
 * What can be set of a link: the `link` group of a fabric file, one field a
 * key of the same name. Times in nanoseconds, sizes in flits.
 */

#include <stdint.h>

#include "rl_base.h"

RL_PUBLIC_BEGIN

/** What a dead port does with what it holds [DRL-1, DRL-9]. */
enum rl_loopback {
	RL_LOOPBACK_WHOLE,   /**< "whole-packets": DRL */
	RL_LOOPBACK_UNACKED, /**< "unacked-only": the related art */
	RL_LOOPBACK_NONE,    /**< "none": lost, as in a plain switch */
};

/**
 * What becomes of a new packet for a link that is not trained [LINK-C3]. Of
 * what a link held when it died its loopback decides.
 */
enum rl_init_action {
	RL_INIT_BLOCK,	     /**< waits for the link's first training */
	RL_INIT_DISCARD,     /**< dropped where it had to wait */
	RL_INIT_BEST_EFFORT, /**< another way if there is one, else it waits */
};

/** When flits of a packet go on [LCB-1]. */
enum rl_switching { RL_STORE_AND_FORWARD, RL_CUT_THROUGH };

/** Largest wait_flits. */
#define RL_LINK_WAIT_MAX (1u << 20)

struct rl_link_cfg {
	bool retry;		  /**< link-level retry; off: RXL hop [LCB-4] */
	bool slow_wire; /**< a kernel or another process carries frames, and may
			     be late. No key: what carries them says it */
	enum rl_switching switching;
	uint32_t window_flits;	  /**< replay buffer, 1..RL_LINK_WINDOW_MAX */
	uint32_t credits_flits;	  /**< input buffer per VC, 1..32767 */
	uint32_t queue_flits;	  /**< egress queue of a port, per VC */
	uint32_t max_packet_flits; /**< 1..RL_PACKET_FLITS_MAX */
	uint32_t flits_per_frame; /**< 1..32; 0: as many as the MTU carries */
	uint32_t vcs;		  /**< VCs in use, 1..RL_VCS */
	uint8_t vc_weights[RL_VCS]; /**< flits that a VC in use may send in its
				     turn; all 0: a packet, whatever its length */

	uint32_t ack_coalesce_flits; /**< a lone ACK after so many flits */
	uint64_t ack_delay_ns;	     /**< or so long after the first of them */

	uint64_t replay_timer_ns;     /**< 0: from the measured round trip */
	uint64_t replay_timer_min_ns; /**< clamp of the measured timer */
	uint64_t replay_timer_max_ns;
	uint32_t replay_limit;	 /**< replays without progress, then retrain;
				      255: no limit */
	uint64_t retrain_interval_ns;
	uint32_t retrain_limit;	 /**< retrain probes unanswered, then dead */
	uint64_t init_interval_ns; /**< between init frames */
	enum rl_init_action init_action; /**< of packets for it meanwhile */

	uint64_t keepalive_ns;	    /**< idle frames; 0: none */
	uint64_t keepalive_dead_ns; /**< silence that means dead; 0: never */
	bool detect_phy;	    /**< PHY status declares dead; off: ignored */
	uint64_t phy_lost_ns;	    /**< how long the PHY may be lost */
	uint64_t error_window_ns; /**< error rates: time below half of all limits
				       until no longer degraded; 0: off */
	/** limits in a million received; 0: none. Corrected flits,
	    uncorrectable flits, replays */
	uint32_t error_corrected_max, error_uncorrectable_max, error_replay_max;

	enum rl_loopback loopback;
	uint8_t replay_isl;	 /**< bit per packet class: looped out on ISLs */
	uint8_t replay_endpoint; /**< the same on endpoint links */
	uint64_t resume_delay_ns;   /**< after the drain, before held traffic */
	uint64_t restore_delay_ns;  /**< after training, before traffic returns */
	uint64_t watchdog_ns;	    /**< bound of a loopback */
	uint32_t wait_flits;	    /**< a device lends so many, times its
					 ports, to packets that wait */
	uint64_t no_path_ns;	    /**< a packet waits so long without a way */
	uint64_t flap_damping_ns;   /**< first wait before training again; it
					 doubles with each flap, and ends at once
					 where nothing else leads on */
	uint64_t flap_damping_max_ns;
	uint64_t flap_forget_ns;    /**< up so long: the flap count is reset */
	bool soft_error_check;	    /**< FEC is checked before transmission too */
	bool dup_filter;	    /**< duplicates dropped in switches too */
	bool lcrc; /**< a flit whose CRC is no number's is sent again [LINK-7] */
	uint32_t witness; /**< CRCs are checked where flits come in and leave, of
			       one flit in so many; 0: of none. Key of the group
			       `switch` [SW-5] */
};

/** Any thread. Defaults that suit software links between lcores. */
void rl_link_cfg_defaults(struct rl_link_cfg *cfg);

/**
 * Any thread. Checks ranges and relations [LINK-C1].
 *
 * @param err  at least 160 bytes: "key: reason and what to do"
 * @param key  set to the name of the key at fault, a static string
 * @return 0 or -EINVAL
 */
int rl_link_cfg_check(const struct rl_link_cfg *cfg, char *err, size_t errlen,
		      const char **key);

RL_PUBLIC_END

#endif /* RL_LINK_CFG_H */
