/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_EP_CFG_H
#define RL_EP_CFG_H

/**
 * @file Settings of an endpoint: the `endpoint` group of a fabric file, one
 * field for each key of the same name. Times in nanoseconds, sizes in flits.
 */

#include <stddef.h>
#include <stdint.h>

#include "rl_base.h"
#include "rl_codec.h"

RL_PUBLIC_BEGIN

/** Protocol profiles [EP-3]. */
enum rl_profile {
	RL_PROFILE_RXL,		/**< ISN; FSN carries ACKs */
	RL_PROFILE_RXL_COMPACT, /**< ISN; no FSN/ReplayCmd, ACKs alone */
	RL_PROFILE_CXL,		/**< explicit shared FSN: the paper's hole */
	RL_PROFILE_CXL_SEP_ACK, /**< explicit FSN, ACKs alone */
};

/** What a NAK asks for. */
enum rl_e2e_retry {
	RL_RETRY_GBN,	    /**< go-back-N */
	RL_RETRY_SELECTIVE, /**< exactly what is missing */
};

/** What keeps the order of a flow [EP-10]. */
enum rl_ep_order {
	RL_ORDER_PATH,	   /**< the fabric: a flow has one path */
	RL_ORDER_ENDPOINT, /**< the receiver: a flow may have many */
};

/** What bounds a flow's window below window_flits [EP-9]. */
enum rl_congestion {
	RL_CONGESTION_DELAY, /**< how long its round trips are */
	RL_CONGESTION_NONE,
};

struct rl_ep_cfg {
	enum rl_profile profile;
	enum rl_crc_kind crc;
	enum rl_isn_kind isn;
	bool retry;		     /**< end-to-end retry */
	enum rl_e2e_retry retry_mode;
	enum rl_ep_order order;
	uint32_t window_flits;	     /**< per flow, 1..RL_E2E_WINDOW_MAX, or
					  with RL_ISN_WIDE19
					  ..RL_E2E_WIDE_WINDOW_MAX */
	enum rl_congestion congestion;
	uint32_t max_packet_flits;   /**< set from the link group */
	uint32_t max_flows;	     /**< flows an endpoint can have, each way */
	uint32_t tx_buffer_flits;    /**< retry buffers of all flows together */
	uint32_t rx_buffer_flits;    /**< held out of order, and, counted
					  separately, not yet taken by the
					  client */
	uint32_t ack_coalesce_flits; /**< a stand-alone ACK after so many flits;
					  half the window at most */
	uint64_t ack_delay_ns;
	uint64_t nak_delay_ns;	/**< how long a gap may last before a NAK while
				     paths change: reordering by a detour is not
				     a loss. At other times there is no delay.
				     RL_ORDER_ENDPOINT: always, at least */
	uint64_t retry_timer_ns; /**< 0: from the measured round trip */
	uint64_t retry_timer_min_ns;
	uint64_t retry_timer_max_ns;
	uint32_t retry_limit;	/**< timeouts without progress until the flow's
				     packets are reported; 0: no limit */
	uint64_t give_up_ns;	/**< time without an answer until the same,
				     longer in slow fabrics; 0: no limit */
	uint64_t probe_ns;	/**< first probe of an unreachable peer; later
				     ones wait a quarter of the time it has been
				     unreachable, retry_timer_max_ns at most */
	uint64_t gap_skip_ns;	/**< retry off: a gap this old is a loss */
};

/** Any thread. Defaults for software links between lcores. */
void rl_ep_cfg_defaults(struct rl_ep_cfg *cfg);

/** Any thread. @return the default of isn: the longest number a CRC can carry */
enum rl_isn_kind rl_ep_cfg_isn(enum rl_crc_kind crc);

/**
 * Any thread. @return the default of window_flits: 4095; 511 if the numbers of
 * @p cfg (profile, isn) cannot tell more flits apart, or without retry, where no
 * flit waits for an ACK
 */
uint32_t rl_ep_cfg_window(const struct rl_ep_cfg *cfg);

/** Any thread. Sets retry; a default of window_flits becomes the other one. */
void rl_ep_cfg_set_retry(struct rl_ep_cfg *cfg, bool on);

/**
 * Any thread. Checks ranges and relations.
 *
 * @param err  at least 160 bytes: "key: reason and what to do"
 * @param key  set to the name of the wrong key, a static string
 * @return 0 or -EINVAL
 */
int rl_ep_cfg_check(const struct rl_ep_cfg *cfg, char *err, size_t errlen,
		    const char **key);

RL_PUBLIC_END

#endif /* RL_EP_CFG_H */
