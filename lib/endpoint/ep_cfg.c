/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rl_ep_cfg.h"
#include "rl_flit.h"
#include "rl_seq.h"

/* Bounds on the memory of one endpoint; nothing else depends on them. */
#define MAX_FLOWS 65536u
#define MAX_BUFFER_FLITS (1u << 24)
#define MAX_RETRY_LIMIT 1000000u

/* Fills a link over the round trip of ten hops, or of 500 m of fibre. */
#define WINDOW_FLITS 4095u

enum rl_isn_kind
rl_ep_cfg_isn(enum rl_crc_kind crc)
{
	return crc == RL_CRC_BCH    ? RL_ISN_WIDE19
	       : crc == RL_CRC_ECMA ? RL_ISN_WIDE
				    : RL_ISN_XOR10;
}

/* Whether ten bits of number are not all. */
static bool
long_numbers(const struct rl_ep_cfg *c)
{
	return c->isn == RL_ISN_WIDE19 && c->profile <= RL_PROFILE_RXL_COMPACT;
}

uint32_t
rl_ep_cfg_window(const struct rl_ep_cfg *c)
{
	return long_numbers(c) && c->retry ? WINDOW_FLITS : RL_E2E_WINDOW_MAX;
}

void
rl_ep_cfg_set_retry(struct rl_ep_cfg *c, bool on)
{
	const bool usual = c->window_flits == rl_ep_cfg_window(c);

	c->retry = on;
	if (usual)
		c->window_flits = rl_ep_cfg_window(c);
}

void
rl_ep_cfg_defaults(struct rl_ep_cfg *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->profile = RL_PROFILE_RXL;
	cfg->crc = RL_CRC_BCH;
	cfg->isn = rl_ep_cfg_isn(cfg->crc);
	cfg->retry = true;
	cfg->retry_mode = RL_RETRY_SELECTIVE;
	cfg->window_flits = rl_ep_cfg_window(cfg);
	cfg->congestion = RL_CONGESTION_DELAY;
	cfg->max_packet_flits = 16;
	cfg->max_flows = 1024;
	cfg->tx_buffer_flits = 4096;
	cfg->rx_buffer_flits = 4096;
	cfg->ack_coalesce_flits = 32;
	cfg->ack_delay_ns = 5 * RL_NS_PER_US;
	cfg->nak_delay_ns = 50 * RL_NS_PER_US;
	cfg->retry_timer_ns = 0;
	cfg->retry_timer_min_ns = 1 * RL_NS_PER_MS;
	cfg->retry_timer_max_ns = 100 * RL_NS_PER_MS;
	cfg->retry_limit = 0;
	cfg->give_up_ns = 1 * RL_NS_PER_S;
	cfg->probe_ns = 50 * RL_NS_PER_US;
	cfg->gap_skip_ns = 10 * RL_NS_PER_MS;
}

/** A number with its bounds. */
struct range {
	const char *key;
	uint64_t val;
	uint64_t min;
	uint64_t max;
};

static int
check_ranges(const struct range *r, size_t n, char *err, size_t errlen,
	     const char **key)
{
	for (size_t i = 0; i < n; i++) {
		if (r[i].val >= r[i].min && r[i].val <= r[i].max)
			continue;
		*key = r[i].key;
		snprintf(err, errlen,
			 "%s: %" PRIu64 " is out of range; use %" PRIu64
			 " to %" PRIu64,
			 r[i].key, r[i].val, r[i].min, r[i].max);
		return -EINVAL;
	}
	return 0;
}

static int
refuse(char *err, size_t errlen, const char **key, const char *k,
       const char *why)
{
	*key = k;
	snprintf(err, errlen, "%s: %s", k, why);
	return -EINVAL;
}

/** Checks that relate two keys. */
static int
check_relations(const struct rl_ep_cfg *c, char *err, size_t errlen,
		const char **key)
{
	if (c->isn != RL_ISN_XOR10 && c->crc == RL_CRC_PCIE6_RS)
		return refuse(err, errlen, key, "isn",
			      "the wide mixings need crc64-bch or crc64-ecma; "
			      "set isn = \"xor10\" or another crc");
	if (c->isn == RL_ISN_WIDE19 && c->crc != RL_CRC_BCH)
		return refuse(err, errlen, key, "isn",
			      "wide19 needs crc64-bch; set isn = \"wide\" or "
			      "crc = \"crc64-bch\"");
	if (c->order == RL_ORDER_ENDPOINT &&
	    (!c->retry || c->retry_mode != RL_RETRY_SELECTIVE))
		return refuse(err, errlen, key, "order",
			      "\"endpoint\" needs end-to-end retry of single "
			      "flits; set retry = true and retry_mode = "
			      "\"selective\", or order = \"path\"");
	if (c->order == RL_ORDER_ENDPOINT && c->profile != RL_PROFILE_RXL &&
	    c->profile != RL_PROFILE_RXL_COMPACT)
		return refuse(err, errlen, key, "order",
			      "\"endpoint\" needs the number in the CRC; set "
			      "profile = \"rxl\" or \"rxl-compact\"");
	if (c->window_flits > RL_E2E_WINDOW_MAX && !long_numbers(c))
		return refuse(err, errlen, key, "window_flits",
			      "above 511 it needs isn = \"wide19\" and profile "
			      "rxl or rxl-compact; set these or lower it");
	if (c->max_packet_flits > c->window_flits)
		return refuse(err, errlen, key, "window_flits",
			      "smaller than the longest packet; raise it or "
			      "lower link.max_packet_flits");
	if (c->max_packet_flits > c->tx_buffer_flits)
		return refuse(err, errlen, key, "tx_buffer_flits",
			      "smaller than the longest packet; raise it");
	if (c->max_packet_flits > c->rx_buffer_flits)
		return refuse(err, errlen, key, "rx_buffer_flits",
			      "smaller than the longest packet; raise it");
	if (c->retry_timer_ns != 0 && c->retry_timer_ns <= c->ack_delay_ns)
		return refuse(err, errlen, key, "retry_timer_ns",
			      "not above ack_delay_ns, so that it would expire "
			      "before any ACK; raise it, or 0 to have it "
			      "measured");
	if (c->retry_timer_min_ns > c->retry_timer_max_ns)
		return refuse(err, errlen, key, "retry_timer_min_ns",
			      "above retry_timer_max_ns; lower it");
	return 0;
}

int
rl_ep_cfg_check(const struct rl_ep_cfg *c, char *err, size_t errlen,
		const char **key)
{
	const uint64_t day_ns = 86400 * RL_NS_PER_S;
	const struct range ranges[] = {
		{ "profile", (uint64_t)c->profile, 0, RL_PROFILE_CXL_SEP_ACK },
		{ "crc", (uint64_t)c->crc, 0, RL_CRC_PCIE6_RS },
		{ "isn", (uint64_t)c->isn, 0, RL_ISN_WIDE19 },
		{ "retry_mode", (uint64_t)c->retry_mode, 0,
		  RL_RETRY_SELECTIVE },
		{ "order", (uint64_t)c->order, 0, RL_ORDER_ENDPOINT },
		{ "congestion", (uint64_t)c->congestion, 0,
		  RL_CONGESTION_NONE },
		{ "window_flits", c->window_flits, 1,
		  RL_E2E_WIDE_WINDOW_MAX },
		{ "max_packet_flits", c->max_packet_flits, 1,
		  RL_PACKET_FLITS_MAX },
		{ "max_flows", c->max_flows, 1, MAX_FLOWS },
		{ "tx_buffer_flits", c->tx_buffer_flits, 1, MAX_BUFFER_FLITS },
		{ "rx_buffer_flits", c->rx_buffer_flits, 1, MAX_BUFFER_FLITS },
		{ "ack_coalesce_flits", c->ack_coalesce_flits, 1,
		  RL_E2E_WINDOW_MAX },
		{ "ack_delay_ns", c->ack_delay_ns, 0, day_ns },
		{ "nak_delay_ns", c->nak_delay_ns, 0, day_ns },
		{ "retry_timer_ns", c->retry_timer_ns, 0, day_ns },
		{ "retry_timer_min_ns", c->retry_timer_min_ns, 1, day_ns },
		{ "retry_timer_max_ns", c->retry_timer_max_ns, 1, day_ns },
		{ "retry_limit", c->retry_limit, 0, MAX_RETRY_LIMIT },
		{ "give_up_ns", c->give_up_ns, 0, day_ns },
		{ "probe_ns", c->probe_ns, 1, day_ns },
		{ "gap_skip_ns", c->gap_skip_ns, 1, day_ns },
	};
	int rc;

	rc = check_ranges(ranges, RL_ARRAY_SIZE(ranges), err, errlen, key);
	if (rc != 0)
		return rc;
	return check_relations(c, err, errlen, key);
}
