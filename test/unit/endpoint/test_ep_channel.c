/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two endpoints joined by a channel that loses, reorders, duplicates and
 * corrupts what it carries, in virtual time and from a seed [EP-1..EP-4,
 * FLIT-5, FLIT-6, DRL-5]. Each seed draws its own configuration and which
 * faults there are at all; some faults last to the end, in some seeds traffic
 * stops while they go on. The oracle: every packet exactly once, in order,
 * bit for bit; both endpoints run idle; no flit leaks.
 *
 * RL_SEEDS=N runs N seeds instead of the usual ones (a quarter of them without
 * RL_FULL), RL_SEED=S only seed S;
 * RL_VERBOSE=1 prints how often what happened.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../few.h"
#include "ep_fixture.h"
#include "rl_prng.h"

#define FLIGHT_MAX 8192
#define LATENCY_NS 200

struct flight {
	uint64_t t_ns;
	struct rl_flit *pkt;
};

/** What a seed decides. Rates in 1/1024 a packet (or flit, where said). */
struct plan {
	uint32_t drop;
	uint32_t cut; /**< a flit out of a packet */
	uint32_t dup;
	uint32_t late; /**< of the duplicates: very late ones */
	uint32_t corrupt;
	uint32_t reorder;
	uint32_t packets[2];
	uint64_t heal_ns; /**< faults end */
	uint64_t out_from_ns; /**< nothing arrives, by out_mask's bits */
	uint64_t out_to_ns;
	uint32_t out_mask; /**< bit per destination */
	uint64_t gap_ns;  /**< between two packets of the client */
};

struct chan {
	struct fx fx;
	struct plan plan;
	struct rl_prng prng;
	struct flight flight[FLIGHT_MAX];
	unsigned int nflight;
	uint64_t next_send_ns[2];
	uint32_t left[2];
	bool stuck[2]; /**< the last poll found no free flits */
	uint64_t got;
};

/** Sums over all seeds: what the campaign has really tried. */
static uint64_t total[RL_EP_COUNTER_COUNT];

static bool
roll(struct chan *c, uint32_t rate)
{
	return c->fx.now < c->plan.heal_ns && rl_prng_below(&c->prng, 1024) < rate;
}

static void
launch(struct chan *c, struct rl_flit *pkt, uint64_t delay_ns)
{
	const uint64_t t = c->fx.now + delay_ns;
	unsigned int i;

	assert_true(c->nflight < FLIGHT_MAX);
	for (i = c->nflight++; i > 0 && c->flight[i - 1].t_ns > t; i--)
		c->flight[i] = c->flight[i - 1];
	c->flight[i] = (struct flight){ t, pkt };
}

static void
enter(struct chan *c, struct rl_flit *pkt)
{
	struct rl_flit *f[RL_PACKET_FLITS_MAX];
	uint64_t delay = LATENCY_NS;
	uint32_t flits;

	if (roll(c, c->plan.dup)) {
		uint64_t more = rl_prng_range(&c->prng, 0, 2000);

		if (roll(c, c->plan.late))
			more = rl_prng_range(&c->prng, 0, 400000);
		if (c->fx.cache.count > 600)
			launch(c, fx_copy(&c->fx, pkt), LATENCY_NS + more);
	}
	if (roll(c, c->plan.drop) ||
	    (c->fx.now >= c->plan.out_from_ns &&
	     c->fx.now < c->plan.out_to_ns &&
	     (c->plan.out_mask >> pkt->dst & 1))) {
		fx_drop(&c->fx, pkt);
		return;
	}
	if (pkt->pkt_flits > 1 && roll(c, c->plan.cut))
		pkt = fx_cut(&c->fx, pkt,
			     rl_prng_below(&c->prng, pkt->pkt_flits));
	flits = rl_packet_flits(pkt, f);
	for (uint32_t i = 0; i < flits; i++)
		if (roll(c, c->plan.corrupt)) {
			const uint32_t salt = (uint32_t)rl_prng_u64(&c->prng);

			if (salt >> 30 == 0) /* FEC heals it */
				f[i]->wire[salt & 0xff] ^= 0x41;
			else
				fx_corrupt(f[i], salt);
		}
	if (roll(c, c->plan.reorder))
		delay += rl_prng_range(&c->prng, 0, 3000);
	launch(c, pkt, delay);
}

static void
arrive(struct chan *c)
{
	struct rl_flit *burst[2][64];
	unsigned int n[2] = { 0, 0 };
	unsigned int k = 0;

	while (k < c->nflight && k < 64 && c->flight[k].t_ns <= c->fx.now) {
		struct rl_flit *pkt = c->flight[k++].pkt;

		burst[pkt->dst][n[pkt->dst]++] = pkt;
	}
	memmove(c->flight, c->flight + k,
		(c->nflight - k) * sizeof(c->flight[0]));
	c->nflight -= k;
	for (unsigned int i = 0; i < 2; i++)
		rl_ep_rx(c->fx.ep[i], c->fx.now, burst[i], n[i]);
}

static void
client(struct chan *c, unsigned int me)
{
	const uint32_t max = rl_ep_max_bytes(&c->fx.cfg);

	while (c->left[me] > 0 && c->next_send_ns[me] <= c->fx.now) {
		uint32_t len = 4 + rl_prng_below(&c->prng, max - 3);

		if (rl_prng_below(&c->prng, 2))
			len = 4 + rl_prng_below(&c->prng, 300);
		if (len > max)
			len = max;
		if (fx_send(&c->fx, me, 1 - me,
			    (uint8_t)rl_prng_below(&c->prng, 2), len) != 0) {
			c->next_send_ns[me] = c->fx.now + 100;
			return;
		}
		c->left[me]--;
		c->next_send_ns[me] += rl_prng_range(&c->prng, 0,
						     2 * c->plan.gap_ns);
	}
}

static uint64_t
next_event(const struct chan *c)
{
	uint64_t t = c->nflight > 0 ? c->flight[0].t_ns : RL_NEVER;

	for (unsigned int i = 0; i < 2; i++) {
		const uint64_t due = rl_ep_deadline(c->fx.ep[i]);

		t = rl_min_u64(t, c->stuck[i] && due == 0 ? c->fx.now + 100
							  : due);
		if (c->left[i] > 0)
			t = rl_min_u64(t, c->next_send_ns[i]);
	}
	return t;
}

static void
run(struct chan *c, bool gaps)
{
	uint64_t steps = 0;

	for (;;) {
		const uint64_t t = next_event(c);

		if (t == RL_NEVER && !rl_ep_recv_pending(c->fx.ep[0]) &&
		    !rl_ep_recv_pending(c->fx.ep[1]))
			break;
		if (++steps > 2000000)
			fail_msg("no end at %lu ns", (unsigned long)c->fx.now);
		if (t != RL_NEVER)
			c->fx.now = rl_max_u64(c->fx.now, t);
		arrive(c);
		for (unsigned int i = 0; i < 2; i++) {
			struct rl_pktq q = { 0 };

			client(c, i);
			c->stuck[i] = rl_ep_poll(
				c->fx.ep[i], c->fx.now, &q,
				c->fx.cfg.max_packet_flits +
					rl_prng_below(&c->prng, 64) + 3) == 0;
			while (!rl_pktq_empty(&q))
				enter(c, rl_pktq_pop(&q));
			assert_true(rl_ep_flits(c->fx.ep[i]) <=
				    rl_ep_flits_max(&c->fx.cfg));
			/* a client need not be fast */
			if (rl_prng_below(&c->prng, 4) || t % 7 == 0)
				c->got += fx_take(&c->fx, i, gaps);
		}
	}
}

static void
draw_cfg(struct chan *c, struct rl_ep_cfg *cfg, bool retry)
{
	static const uint32_t windows[] = { 1, 2, 7, 64, 256, 511 };
	struct rl_prng *p = &c->prng;

	fx_cfg(cfg);
	cfg->retry = retry;
	cfg->profile = rl_prng_below(p, 4) ? RL_PROFILE_RXL
					   : RL_PROFILE_RXL_COMPACT;
	cfg->isn = (enum rl_isn_kind)rl_prng_below(p, 2);
	cfg->retry_mode = (enum rl_e2e_retry)rl_prng_below(p, 2);
	cfg->window_flits = windows[rl_prng_below(p, 6)];
	cfg->max_packet_flits = 1 + rl_prng_below(p, rl_min_u32(
						cfg->window_flits, 20));
	cfg->ack_coalesce_flits = 1 + rl_prng_below(p, rl_min_u32(
						cfg->window_flits, 16));
	cfg->retry_limit = 0;
	cfg->nak_delay_ns = rl_prng_below(p, 3) ? rl_prng_range(p, 0, 4000) : 0;
	cfg->retry_timer_ns = rl_prng_below(p, 2) ? 10000 : 0;
	cfg->rx_buffer_flits = 40 + rl_prng_below(p, 400);
	cfg->tx_buffer_flits = 40 + rl_prng_below(p, 1000);
	cfg->gap_skip_ns = rl_prng_range(p, 4000, 9000);
}

static uint32_t
draw_rate(struct rl_prng *p)
{
	static const uint32_t rates[] = { 0, 0, 1, 10, 50, 150, 300 };

	return rates[rl_prng_below(p, RL_ARRAY_SIZE(rates))];
}

static void
draw_plan(struct chan *c)
{
	struct rl_prng *p = &c->prng;
	struct plan *pl = &c->plan;

	pl->drop = draw_rate(p);
	pl->cut = draw_rate(p);
	pl->dup = draw_rate(p);
	pl->late = draw_rate(p);
	pl->corrupt = draw_rate(p);
	pl->reorder = draw_rate(p);
	pl->packets[0] = 1 + rl_prng_below(p, 200);
	pl->packets[1] = rl_prng_below(p, 2) ? rl_prng_below(p, 200) : 0;
	if (rl_prng_below(p, 50) == 0)
		pl->packets[0] = 2500; /* wraps 1024 several times */
	pl->heal_ns = rl_prng_below(p, 2) ? RL_NEVER
					  : rl_prng_range(p, 0, 200000);
	pl->gap_ns = rl_prng_range(p, 0, 300);
	c->left[0] = pl->packets[0];
	c->left[1] = pl->packets[1];
}

/** What kind of run a seed is for. */
enum kind { RETRY, NO_RETRY, OUTAGE };

/** Sent = delivered + reported and not delivered, packet by packet. */
static void
check_reports(const struct chan *c, uint64_t sent)
{
	static uint64_t counted[2][2][FX_SEEN / 64];
	uint64_t undelivered = 0;

	memset(counted, 0, sizeof(counted));
	for (unsigned int i = 0; i < c->fx.nreports; i++) {
		const struct rl_ep_report *r = &c->fx.report[i];
		uint64_t *word = &counted[r->src][r->cos][r->tag / 64];

		assert_true(r->tag < FX_SEEN && r->dst == 1 - r->src);
		/* with retry a packet is reported once at most */
		assert_false(*word >> (r->tag % 64) & 1);
		*word |= 1ull << (r->tag % 64);
		if (!fx_seen(&c->fx, r->src, r->dst, r->cos, r->tag))
			undelivered++;
	}
	assert_int_equal(c->got + undelivered, sent);
}

static void
draw_outage(struct chan *c, struct rl_ep_cfg *cfg)
{
	cfg->retry_limit = 1 + rl_prng_below(&c->prng, 4);
	c->plan.out_from_ns = rl_prng_range(&c->prng, 0, 30000);
	c->plan.out_to_ns = c->plan.out_from_ns +
			    rl_prng_range(&c->prng, 0, 300000);
	c->plan.out_mask = 1 + rl_prng_below(&c->prng, 3);
}

static void
run_seed(uint64_t seed, enum kind kind)
{
	static struct chan chan;
	struct chan *c = &chan;
	const struct plan *pl = &c->plan;
	struct rl_ep_cfg cfg;
	uint64_t sent;

	memset(c, 0, sizeof(*c));
	rl_prng_seed(&c->prng, seed);
	draw_cfg(c, &cfg, kind != NO_RETRY);
	draw_plan(c);
	if (kind == OUTAGE)
		draw_outage(c, &cfg);
	fx_open(&c->fx, &cfg, 2, 8000);
	sent = c->left[0] + (uint64_t)c->left[1];
	run(c, kind != RETRY);
	assert_true(rl_ep_idle(c->fx.ep[0]) && rl_ep_idle(c->fx.ep[1]));
	if (kind == RETRY)
		assert_int_equal(c->got, sent);
	if (kind == NO_RETRY &&
	    (pl->heal_ns == 0 ||
	     (pl->drop | pl->cut | pl->corrupt | pl->reorder) == 0))
		assert_int_equal(c->got, sent);
	if (kind != NO_RETRY)
		check_reports(c, sent);
	if (kind == RETRY) /* else the start of a lost packet may remain */
		assert_int_equal(rl_ep_flits(c->fx.ep[0]) +
				 rl_ep_flits(c->fx.ep[1]), 0);
	for (unsigned int i = 0; i < 2; i++) {
		/* nothing that an honest peer sends may look forged */
		assert_int_equal(fx_ctr(&c->fx, i, RL_EPC_rx_inconsistent), 0);
		assert_int_equal(fx_ctr(&c->fx, i, RL_EPC_rx_malformed), 0);
		assert_int_equal(fx_ctr(&c->fx, i, RL_EPC_ack_invalid), 0);
		for (unsigned int k = 0; k < RL_EP_COUNTER_COUNT; k++)
			total[k] += rl_ep_counters(c->fx.ep[i])[k];
	}
	fx_close(&c->fx);
}

/** A campaign that never met a case has proven nothing about it. */
static void
check_coverage(const enum rl_ep_counter *met, size_t n)
{
	if (getenv("RL_VERBOSE") != NULL)
		for (unsigned int k = 0; k < RL_EP_COUNTER_COUNT; k++)
			fprintf(stderr, "%-20s %lu\n",
				rl_ep_counter_name((enum rl_ep_counter)k),
				(unsigned long)total[k]);
	for (size_t i = 0; i < n && getenv("RL_SEED") == NULL; i++)
		if (total[met[i]] == 0)
			fail_msg("%s never happened",
				 rl_ep_counter_name(met[i]));
	memset(total, 0, sizeof(total));
}

static void
campaign(enum kind kind, uint64_t usual)
{
	const char *seeds = getenv("RL_SEEDS");
	const char *one = getenv("RL_SEED");
	const uint64_t n = seeds ? strtoull(seeds, NULL, 0)
				 : usual / SOME(4);

	memset(total, 0, sizeof(total));
	if (one != NULL) {
		run_seed(strtoull(one, NULL, 0), kind);
		return;
	}
	for (uint64_t s = 1; s <= n; s++) {
		/* the last seed printed is the one that fails */
		fprintf(stderr, "\rseed %lu ", (unsigned long)s);
		run_seed(s, kind);
	}
	fprintf(stderr, "\r");
}

static void
with_retry_every_packet_arrives_exactly_once_in_order_bit_for_bit(void **state)
{
	static const enum rl_ep_counter met[] = {
		RL_EPC_tx_refused_window, RL_EPC_tx_refused_buffer,
		RL_EPC_retransmitted_runs, RL_EPC_ack_alone_sent,
		RL_EPC_nak_sent, RL_EPC_timeouts, RL_EPC_probes,
		RL_EPC_ack_stale, RL_EPC_nak_ignored, RL_EPC_rx_ahead,
		RL_EPC_rx_duplicate, RL_EPC_rx_corrupt,
		RL_EPC_rx_uncorrectable, RL_EPC_rx_late_alias,
	};

	(void)state;
	campaign(RETRY, 2000);
	check_coverage(met, RL_ARRAY_SIZE(met));
}

static void
without_retry_what_arrives_is_in_order_unaltered_and_never_twice(void **state)
{
	static const enum rl_ep_counter met[] = {
		RL_EPC_rx_ahead, RL_EPC_rx_duplicate, RL_EPC_rx_corrupt,
		RL_EPC_rx_late_alias, RL_EPC_rx_partial_dropped,
		RL_EPC_rx_lost_flits, RL_EPC_rx_orphan_flits,
	};

	(void)state;
	campaign(NO_RETRY, 1000);
	check_coverage(met, RL_ARRAY_SIZE(met));
}

static void
through_outages_every_packet_is_delivered_once_or_reported(void **state)
{
	static const enum rl_ep_counter met[] = {
		RL_EPC_flow_failures, RL_EPC_reported_packets,
		RL_EPC_sync_sent,     RL_EPC_rx_lost_flits,
		RL_EPC_rx_partial_dropped,
	};

	(void)state;
	campaign(OUTAGE, 2000);
	check_coverage(met, RL_ARRAY_SIZE(met));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_retry_every_packet_arrives_exactly_once_in_order_bit_for_bit),
		cmocka_unit_test(without_retry_what_arrives_is_in_order_unaltered_and_never_twice),
		cmocka_unit_test(through_outages_every_packet_is_delivered_once_or_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
