/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "case.h"
#include "clock_ns.h"
#include "rl_seq.h"

/** Slots before counting starts, and most slots to come to rest. */
#define RUN_IN_SLOTS 4000
#define SETTLE_SLOTS 2000000

/** Bytes that a key may have, with its zero. */
#define KEY_MAX 192

static const char *const retry_name[] = {
	[RL_RETRY_GBN] = "go-back-n",
	[RL_RETRY_SELECTIVE] = "selective",
};
static const char *const crc_name[] = {
	[RL_CRC_ECMA] = "crc64-ecma",
	[RL_CRC_BCH] = "crc64-bch",
	[RL_CRC_PCIE6_RS] = "pcie6-rs",
};
static const char *const isn_name[] = {
	[RL_ISN_XOR10] = "xor10",
	[RL_ISN_WIDE] = "wide",
	[RL_ISN_WIDE19] = "wide19",
};

/** @return the index of a name, or -ENOENT */
static int
find(const char *const names[], size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return -ENOENT;
}

int
rxl_profile_find(const char *name, enum rl_profile *p)
{
	for (int i = RL_PROFILE_RXL; i <= RL_PROFILE_CXL_SEP_ACK; i++)
		if (strcmp(name, rl_profile_name((enum rl_profile)i)) == 0) {
			*p = (enum rl_profile)i;
			return 0;
		}
	return -ENOENT;
}

int
rxl_retry_find(const char *name, enum rl_e2e_retry *r)
{
	const int i = find(retry_name, RL_ARRAY_SIZE(retry_name), name);

	*r = i < 0 ? RL_RETRY_GBN : (enum rl_e2e_retry)i;
	return i < 0 ? i : 0;
}

int
rxl_codec_find(const char *crc, const char *isn, enum rl_crc_kind *c,
	       enum rl_isn_kind *i)
{
	const int a = find(crc_name, RL_ARRAY_SIZE(crc_name), crc);
	const int b = find(isn_name, RL_ARRAY_SIZE(isn_name), isn);

	if (a < 0 || b < 0)
		return -ENOENT;
	*c = (enum rl_crc_kind)a;
	*i = (enum rl_isn_kind)b;
	return 0;
}

static void
key_of(const struct rxl_case *c, char key[KEY_MAX])
{
	snprintf(key, KEY_MAX,
		 "%s %s %s %s %s k%u c%u b%u e%g p%g l%u y%g d%g i%g r%d "
		 "n%" PRIu64 " s%" PRIu64,
		 c->kind == RXL_TRIAL ? "trial" : "path",
		 rl_profile_name(c->profile), retry_name[c->retry],
		 crc_name[c->crc], isn_name[c->isn], c->levels, c->coalesce,
		 c->burst_slots, c->ber, c->propagate, c->lanes,
		 c->byte_bursts, c->lost, c->inside, c->reports, c->flits,
		 c->seed);
}

static void *
take(size_t bytes)
{
	const size_t line = RL_CACHE_LINE;

	return aligned_alloc(line, (bytes + line - 1) / line * line);
}

/**
 * Each case has its own random numbers: with the same seed for all, an error
 * rate would only stretch the same sequence of gaps.
 */
static uint64_t
seed_of(const struct rxl_case *c)
{
	char key[KEY_MAX];
	uint64_t h = 0xcbf29ce484222325ull; /* FNV-1a */

	key_of(c, key);
	for (const char *p = key; *p != '\0'; p++)
		h = (h ^ (uint8_t)*p) * 0x100000001b3ull;
	return h;
}

static void
set_way(const struct rxl_case *c, struct rl_rxl_trial_cfg *way)
{
	memset(way, 0, sizeof(*way));
	way->levels = c->levels;
	way->seed = seed_of(c);
	rl_error_cfg_defaults(&way->wire);
	rl_error_cfg_defaults(&way->inside);
	way->wire.bit_rate = c->ber;
	way->wire.propagate = c->propagate;
	way->wire.lanes = c->lanes;
	way->wire.burst_rate = c->byte_bursts;
	way->wire.burst_max_bytes = 8;
	way->wire.drop_rate = c->lost;
	way->inside.span_bytes = RL_FLIT_FEC_OFF;
	way->inside.burst_rate = c->inside;
	way->inside.burst_max_bytes = 8;
}

uint32_t
rxl_case_latency_slots(const struct rxl_case *c)
{
	/* a burst waits half its length at each end */
	const uint32_t half = RXL_RETRY_NS / RXL_SLOT_NS / 2;
	const uint32_t waits = c->burst_slots / 2;

	return half > waits ? half - waits : 1;
}

static void
configure(const struct rxl_case *c, struct rl_ep_cfg *ep)
{
	rl_ep_cfg_defaults(ep);
	ep->profile = c->profile;
	ep->crc = c->crc;
	ep->isn = c->isn;
	ep->retry_mode = c->retry;
	/* ten round trips, so that the window is no limit */
	ep->window_flits = RL_E2E_WINDOW_MAX;
	ep->max_packet_flits = 1;
	ep->max_flows = 2;
	ep->tx_buffer_flits = RL_E2E_WINDOW_MAX;
	ep->rx_buffer_flits = 2 * RL_E2E_WINDOW_MAX;
	ep->ack_coalesce_flits = c->coalesce;
	/* acknowledge by count, or by time if nothing more arrives */
	ep->ack_delay_ns = 3ull * c->coalesce * RXL_SLOT_NS + 20;
	ep->nak_delay_ns = 0;
	ep->retry_timer_ns = 0;
	ep->retry_timer_min_ns = 2 * RXL_RETRY_NS;
	ep->retry_timer_max_ns = 200 * RXL_RETRY_NS;
	ep->retry_limit = 0;
}

static int
run_trial(const struct rxl_case *c, const struct rl_codec *codec,
	  struct rxl_outcome *out)
{
	void *mem = take(rl_rxl_trial_memsize());
	struct rl_rxl_trial_cfg cfg;
	struct rl_rxl_trial *t;

	if (mem == NULL)
		return -ENOMEM;
	set_way(c, &cfg);
	t = rl_rxl_trial_init(mem, &cfg, codec);
	rl_rxl_trial_run(t, c->flits);
	out->trial = *rl_rxl_trial_tally(t);
	free(mem);
	return 0;
}

static void
collect(struct rl_rxl_path *p, struct rxl_outcome *out)
{
	for (unsigned int i = 0; i < RL_RXL_SIDES; i++) {
		const uint64_t *ctr = rl_ep_counters(rl_rxl_path_ep(p, i));

		rl_rxl_dir_add(&out->path, rl_rxl_path_tally(p, i));
		out->naks += ctr[RL_EPC_nak_received];
		out->timeouts += ctr[RL_EPC_timeouts];
		out->header_bits += ctr[RL_EPC_header_bits];
	}
}

static int
run_path(const struct rxl_case *c, const struct rl_codec *codec,
	 struct rxl_outcome *out)
{
	struct rl_rxl_path_cfg cfg = {
		.latency_slots = rxl_case_latency_slots(c),
		.burst_slots = c->burst_slots,
		.slot_ns = RXL_SLOT_NS,
		.drop_reports = c->reports,
		.sends = { true, true },
	};
	struct rl_rxl_path *p;
	void *mem;

	configure(c, &cfg.ep);
	set_way(c, &cfg.way);
	mem = take(rl_rxl_path_memsize(&cfg));
	if (mem == NULL)
		return -ENOMEM;
	p = rl_rxl_path_init(mem, &cfg, codec);
	rl_rxl_path_run(p, RUN_IN_SLOTS);
	rl_rxl_path_reset(p);
	rl_rxl_path_run(p, c->flits / RL_RXL_SIDES);
	collect(p, out);
	out->unsettled = !rl_rxl_path_drain(p, SETTLE_SLOTS);
	/* the last arrivals are still at the endpoint */
	rl_rxl_path_run(p, 2ull * cfg.latency_slots + cfg.burst_slots);
	out->missing = rl_rxl_path_missing(p, 0) + rl_rxl_path_missing(p, 1);
	out->leaked = !rl_rxl_path_close(p);
	free(mem);
	return 0;
}

int
rxl_case_run(const struct rxl_case *c, struct rxl_outcome *out)
{
	struct rl_codec *codec = take(rl_codec_memsize());
	const uint64_t t0 = clock_ns(CLOCK_MONOTONIC);
	int ret;

	memset(out, 0, sizeof(*out));
	if (codec == NULL)
		return -ENOMEM;
	ret = rl_codec_init(codec, c->crc, c->isn, rl_codec_best_isa(512));
	if (ret == 0)
		ret = c->kind == RXL_TRIAL ? run_trial(c, codec, out)
					   : run_path(c, codec, out);
	free(codec);
	out->wall_ns = clock_ns(CLOCK_MONOTONIC) - t0;
	return ret;
}
