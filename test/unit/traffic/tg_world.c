/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tg_world.h"

struct world w;

void *
aligned(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) & ~(size_t)63);

	assert_non_null(p);
	memset(p, 0x77, bytes);
	return p;
}

static void
on_report(void *ctx, const struct rl_ep_report *r, uint64_t now_ns)
{
	(void)now_ns;
	rl_tg_report(ctx, r);
}

void
tg_cfg(struct rl_tg_cfg *c)
{
	*c = (struct rl_tg_cfg){
		.pattern = &w.pattern,
		.ncos = 2,
		.min_flits = 1,
		.max_flits = 6,
		.seed = 42,
		.slot_ns = 10,
		.packets = 300,
		.max_flows = 64,
		.max_ranges = 4096,
	};
}

void
open_world(enum rl_pattern_kind kind, bool retry, const struct rl_tg_cfg *tcfg)
{
	const struct rl_pattern_cfg pc = { .kind = kind, .nep = EPS, .seed = 1 };

	memset(&w, 0, sizeof(w));
	rl_prng_seed(&w.prng, 99);
	w.cut_off = EPS;
	w.cut_cos = 16;
	assert_int_equal(rl_pattern_init(&w.pattern, &pc, w.pattern_mem), 0);
	rl_ep_cfg_defaults(&w.cfg);
	w.cfg.retry = retry;
	w.cfg.retry_limit = 3;
	w.cfg.gap_skip_ns = 3000;
	w.codec = aligned(rl_codec_memsize());
	assert_int_equal(rl_codec_init(w.codec, w.cfg.crc, w.cfg.isn,
				       rl_codec_best_isa(512)), 0);
	w.arena = aligned(FLITS * sizeof(struct rl_flit));
	w.cache.slot = calloc(FLITS, sizeof(void *));
	w.cache.cap = FLITS;
	for (unsigned int i = 0; i < FLITS; i++)
		rl_flit_put(&w.cache, &w.arena[i]);
	for (unsigned int i = 0; i < EPS; i++) {
		struct rl_ep_params p = {
			.cfg = &w.cfg,
			.codec = w.codec,
			.cache = &w.cache,
			.ep_id = (uint16_t)i,
			.npeers = EPS,
			.report = on_report,
		};
		struct rl_tg_cfg c = *tcfg;

		c.ep_id = (uint16_t)i;
		w.tg[i] = rl_tg_init(aligned(rl_tg_memsize(&c)), &c, &w.cache);
		assert_non_null(w.tg[i]);
		p.report_ctx = w.tg[i];
		w.ep[i] = rl_ep_init(aligned(rl_ep_memsize(&w.cfg, EPS)), &p);
		rl_tg_start(w.tg[i], w.now);
	}
}

void
close_world(void)
{
	for (unsigned int i = 0; i < EPS; i++) {
		rl_ep_flush(w.ep[i]);
		free(w.ep[i]);
		free(w.tg[i]);
	}
	assert_int_equal(w.cache.count, w.cache.cap);
	free(w.cache.slot);
	free(w.arena);
	free(w.codec);
}

void
carry(struct rl_pktq *q)
{
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(q)) != NULL) {
		if (rl_prng_below(&w.prng, 1024) < w.drop ||
		    pkt->src == w.cut_off || pkt->dst == w.cut_off ||
		    pkt->wire[6] >> 4 == w.cut_cos)
			rl_packet_put(&w.cache, pkt);
		else
			rl_ep_rx(w.ep[pkt->dst], w.now, &pkt, 1);
	}
}

void
run_until(uint64_t end_ns)
{
	for (unsigned int steps = 0;; steps++) {
		uint64_t t = RL_NEVER;

		assert_true(steps < 2000000);
		for (unsigned int i = 0; i < EPS; i++) {
			struct rl_pktq q = { 0 };

			rl_tg_poll(w.tg[i], w.ep[i], w.now);
			rl_ep_poll(w.ep[i], w.now, &q, 64);
			carry(&q);
		}
		for (unsigned int i = 0; i < EPS; i++) {
			rl_tg_poll(w.tg[i], w.ep[i], w.now);
			t = rl_min_u64(t, rl_ep_deadline(w.ep[i]));
			t = rl_min_u64(t, rl_tg_deadline(w.tg[i]));
		}
		if (t >= end_ns || w.now >= end_ns)
			return;
		w.now = rl_max_u64(w.now + 10, t);
	}
}

struct rl_ledger
books(void)
{
	struct rl_ledger_look look;
	struct rl_ledger l;

	rl_ledger_close(&l, w.tg, EPS);
	if (!ledger_balanced(&l))
		return l;
	/* [DRL-7] at rest, a look at running clients gives the same totals */
	rl_ledger_look(&look, w.tg, EPS);
	assert_int_equal(look.sent_packets, l.sent_packets);
	assert_int_equal(look.delivered_packets, l.delivered_packets);
	assert_int_equal(look.reported_packets, l.reported_packets);
	assert_int_equal(look.under_way_packets, l.lost_packets);
	return l;
}
