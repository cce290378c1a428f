/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ep_fixture.h"
#include "rl_prng.h"

void
fx_cfg(struct rl_ep_cfg *cfg)
{
	rl_ep_cfg_defaults(cfg);
	cfg->congestion = RL_CONGESTION_NONE; /* has a test of its own */
	cfg->window_flits = 256;
	cfg->max_flows = 8;
	cfg->ack_coalesce_flits = 4;
	cfg->ack_delay_ns = 100;
	cfg->nak_delay_ns = 50;
	cfg->retry_timer_ns = 10000;
	cfg->retry_timer_min_ns = 1000;
	cfg->retry_timer_max_ns = 100000;
	cfg->gap_skip_ns = 500;
}

static void
on_report(void *ctx, const struct rl_ep_report *r, uint64_t now_ns)
{
	struct fx *fx = ctx;

	(void)now_ns;
	assert_true(fx->nreports < FX_REPORTS);
	fx->report[fx->nreports++] = *r;
}

static void
on_event(void *ctx, const struct rl_ep_event *ev)
{
	struct fx *fx = ctx;

	assert_true(fx->nevents < FX_EVENTS);
	fx->event[fx->nevents++] = *ev;
}

static void *
aligned(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) & ~(size_t)63);

	assert_non_null(p);
	return p;
}

void
fx_open(struct fx *fx, const struct rl_ep_cfg *cfg, unsigned int neps,
	uint32_t nflits)
{
	fx_open_levels(fx, cfg, neps, nflits, 1);
}

static void
make(struct fx *fx, unsigned int i, uint8_t levels)
{
	const struct rl_ep_params p = {
		.cfg = &fx->cfg,
		.codec = fx->codec,
		.cache = &fx->cache,
		.keep = fx->kept == NULL ? NULL : &fx->keep,
		.ep_id = (uint16_t)i,
		.npeers = (uint16_t)fx->neps,
		.levels = levels,
		.incarnation = fx->inc[i],
		.report = on_report,
		.report_ctx = fx,
		.event = on_event,
		.event_ctx = fx,
	};

	/* memory may contain anything */
	memset(fx->ep[i], 0x5a, rl_ep_memsize(&fx->cfg, (uint16_t)fx->neps));
	fx->ep[i] = rl_ep_init(fx->ep[i], &p);
}

static struct rl_flit *
stock(struct rl_flit_cache *c, uint32_t nflits)
{
	struct rl_flit *arena = aligned(nflits * sizeof(struct rl_flit));

	memset(arena, 0xa5, nflits * sizeof(struct rl_flit));
	c->slot = calloc(nflits, sizeof(struct rl_flit *));
	c->cap = nflits;
	for (uint32_t i = 0; i < nflits; i++)
		rl_flit_put(c, &arena[i]);
	return arena;
}

void
fx_open_levels(struct fx *fx, const struct rl_ep_cfg *cfg, unsigned int neps,
	       uint32_t nflits, uint8_t levels)
{
	const char *key = NULL;
	char err[256] = "";

	memset(fx, 0, sizeof(*fx));
	fx->cfg = *cfg;
	fx->neps = neps;
	if (rl_ep_cfg_check(cfg, err, sizeof(err), &key) != 0)
		fail_msg("%s", err);
	fx->codec = aligned(rl_codec_memsize());
	assert_int_equal(rl_codec_init(fx->codec, cfg->crc, cfg->isn,
				       rl_codec_best_isa(512)), 0);
	fx->arena = stock(&fx->cache, nflits);
	for (unsigned int i = 0; i < neps; i++) {
		const size_t bytes = rl_ep_memsize(cfg, (uint16_t)neps);

		fx->ep[i] = aligned(bytes);
		make(fx, i, levels);
	}
}

void
fx_open_default(struct fx *fx, unsigned int neps)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	fx_open(fx, &cfg, neps, 4000);
}

void
fx_open_lives(struct fx *fx, const struct rl_ep_cfg *cfg, unsigned int neps,
	      uint32_t nflits)
{
	fx_open(fx, cfg, neps, nflits);
	for (unsigned int i = 0; i < neps; i++) {
		fx->inc[i] = 100 + i;
		make(fx, i, 1);
	}
}

void
fx_open_kept(struct fx *fx, const struct rl_ep_cfg *cfg, unsigned int neps,
	     uint32_t nflits, uint32_t kept)
{
	fx_open(fx, cfg, neps, nflits);
	fx->kept = stock(&fx->keep, kept);
	for (unsigned int i = 0; i < neps; i++)
		make(fx, i, 1);
}

void
fx_restart(struct fx *fx, unsigned int ep, uint32_t inc)
{
	rl_ep_flush(fx->ep[ep]);
	fx->inc[ep] = inc;
	make(fx, ep, 1);
	memset(fx->sent[ep], 0, sizeof(fx->sent[ep]));
	for (unsigned int i = 0; i < fx->neps; i++)
		memset(fx->got[ep][i], 0, sizeof(fx->got[ep][i]));
}

void
fx_close(struct fx *fx)
{
	for (unsigned int i = 0; i < fx->neps; i++) {
		rl_ep_flush(fx->ep[i]);
		free(fx->ep[i]);
	}
	assert_int_equal(fx->cache.count, fx->cache.cap);
	assert_int_equal(fx->keep.count, fx->keep.cap);
	free(fx->cache.slot);
	free(fx->keep.slot);
	free(fx->arena);
	free(fx->kept);
	free(fx->codec);
}

/** Byte @p off of a packet: a function that differs between packets. */
static uint8_t
content(unsigned int src, unsigned int dst, uint8_t cos, uint32_t tag,
	uint32_t off)
{
	uint64_t x = (uint64_t)tag << 32 | off << 12 | src << 8 | dst << 4 |
		     cos;

	return (uint8_t)rl_splitmix64(&x);
}

int
fx_send(struct fx *fx, unsigned int src, unsigned int dst, uint8_t cos,
	uint32_t len)
{
	const struct rl_ep_msg msg = {
		.dst = (uint16_t)dst,
		.cos = cos,
		.class = RL_CLASS_REQ_POSTED,
		.len_bytes = len,
	};
	const uint32_t number = fx->sent[src][dst][cos];
	uint32_t tag = ~0u;
	uint8_t *buf = malloc(len + 4);
	int rc;

	assert_true(len >= 4);
	memcpy(buf, &len, 4);
	for (uint32_t i = 4; i < len; i++)
		buf[i] = content(src, dst, cos, number, i);
	rc = rl_ep_send(fx->ep[src], fx->now, &msg, buf, &tag);
	free(buf);
	if (rc == 0) {
		if (number == 0)
			fx->tag0[src][dst][cos] = tag;
		assert_int_equal(tag - fx->tag0[src][dst][cos], number);
		fx->sent[src][dst][cos]++;
	}
	return rc;
}

int
fx_send_raw(struct fx *fx, uint16_t dst, uint8_t cos, uint8_t class,
	    uint32_t len)
{
	static const uint8_t data[RL_PACKET_FLITS_MAX * RL_FLIT_DATA_BYTES];
	const struct rl_ep_msg msg = { dst, cos, class, len };

	return rl_ep_send(fx->ep[0], fx->now, &msg, data, NULL);
}

struct rl_pktq
fx_poll(struct fx *fx, unsigned int ep)
{
	struct rl_pktq q = { 0 };

	rl_ep_poll(fx->ep[ep], fx->now, &q, 100000);
	for (struct rl_flit *p = q.head; p != NULL; p = p->next_pkt)
		rl_packet_open(p); /* tests access flits, and cut packets */
	return q;
}

void
fx_rx(struct fx *fx, unsigned int ep, struct rl_flit *pkt)
{
	rl_ep_rx(fx->ep[ep], fx->now, &pkt, 1);
}

void
fx_rx_all(struct fx *fx, unsigned int ep, struct rl_pktq *q)
{
	struct rl_flit *pkt[1024];
	unsigned int n = 0;

	while (n < 1024 && !rl_pktq_empty(q))
		pkt[n++] = rl_pktq_pop(q);
	rl_ep_rx(fx->ep[ep], fx->now, pkt, n);
	if (!rl_pktq_empty(q))
		fx_rx_all(fx, ep, q);
}

unsigned int
fx_take(struct fx *fx, unsigned int ep, bool gaps)
{
	static uint8_t buf[RL_PACKET_FLITS_MAX * RL_FLIT_DATA_BYTES];
	unsigned int n = 0;
	struct rl_flit *pkt;

	while ((pkt = rl_ep_recv(fx->ep[ep])) != NULL) {
		const uint32_t len = rl_ep_len_bytes(pkt);
		const uint8_t cos = pkt->wire[6] >> 4;
		const uint32_t tag = rl_flit_tag(pkt->wire) -
				     fx->tag0[pkt->src][ep][cos];
		uint32_t *next = &fx->got[pkt->src][ep][cos];

		assert_int_equal(rl_ep_copy_out(pkt, buf, sizeof(buf)), len);
		if (gaps)
			assert_true(tag >= *next);
		else
			assert_int_equal(tag, *next);
		assert_true(tag < fx->sent[pkt->src][ep][cos]);
		*next = tag + 1;
		if (tag < FX_SEEN)
			fx->seen[pkt->src][ep][cos][tag / 64] |=
				1ull << (tag % 64);
		assert_memory_equal(buf, &len, 4);
		for (uint32_t i = 4; i < len; i++)
			if (buf[i] != content(pkt->src, ep, cos, tag, i))
				fail_msg("packet %u: byte %u altered", tag, i);
		rl_packet_put(&fx->cache, pkt);
		n++;
	}
	return n;
}

void
fx_drop(struct fx *fx, struct rl_flit *pkt)
{
	rl_packet_put(&fx->cache, pkt);
}

void
fx_drop_all(struct fx *fx, struct rl_pktq *q)
{
	while (!rl_pktq_empty(q))
		fx_drop(fx, rl_pktq_pop(q));
}

void
fx_notice(struct fx *fx, const struct rl_flit *f, enum rl_ep_drop why)
{
	struct rl_ep_notice n;

	rl_ep_notice_of(f, why, &n);
	rl_ep_notice(fx->ep[n.whose], fx->now, &n);
}

struct rl_flit *
fx_copy(struct fx *fx, struct rl_flit *pkt)
{
	struct rl_flit *head = NULL;

	rl_packet_open(pkt);
	for (unsigned int n = pkt->pkt_flits; n > 0; n--, pkt = pkt->next) {
		struct rl_flit *f = rl_flit_get(&fx->cache);

		assert_non_null(f);
		*f = *pkt;
		if (head == NULL) {
			head = f;
			rl_packet_start(f);
		} else {
			rl_packet_append(head, f);
		}
	}
	return head;
}

struct rl_flit *
fx_cut(struct fx *fx, struct rl_flit *pkt, unsigned int i)
{
	const uint16_t dst = pkt->dst, src = pkt->src;
	struct rl_flit *head = NULL, *next;

	rl_packet_open(pkt);
	for (unsigned int k = 0, n = pkt->pkt_flits; k < n; k++, pkt = next) {
		next = pkt->next;
		if (k == i) {
			rl_flit_put(&fx->cache, pkt);
		} else if (head == NULL) {
			head = pkt;
			rl_packet_start(pkt);
			pkt->dst = dst; /* only valid in the head */
			pkt->src = src;
		} else {
			rl_packet_append(head, pkt);
		}
	}
	return head;
}

void
fx_advance(struct fx *fx, uint32_t n)
{
	if (n == 0)
		return;
	while (n > 0) {
		while (n > 0 && fx_send(fx, 0, 1, 0, 100) == 0)
			n--;
		fx_run(fx, 2);
		fx_take(fx, 1, false);
	}
	assert_true(rl_ep_idle(fx->ep[0]));
}

struct rl_flit *
fx_emit(struct fx *fx, uint32_t nflits)
{
	assert_int_equal(fx_send(fx, 0, 1, 0, nflits * RL_FLIT_DATA_BYTES), 0);
	return fx_poll_one(fx, 0);
}

struct rl_flit *
fx_poll_one(struct fx *fx, unsigned int ep)
{
	struct rl_pktq q = fx_poll(fx, ep);

	assert_int_equal(q.packets, 1);
	return rl_pktq_pop(&q);
}

void
fx_encode(struct fx *fx, struct rl_flit *f, uint32_t number)
{
	uint8_t *wire = f->wire;

	rl_codec_tx(fx->codec, &wire, &number, 1);
}

int
fx_ctrl_cmd(const struct rl_flit *f)
{
	return (f->wire[7] >> 2 & 3) == RL_FLIT_CTRL ? f->wire[18] : -1;
}

uint32_t
fx_ctrl_n(const struct rl_flit *f)
{
	assert_true(fx_ctrl_cmd(f) >= 0);
	return rl_get32(f->wire + 20);
}

void
fx_corrupt(struct rl_flit *f, uint32_t salt)
{
	/* three spots in one FEC code: detected, or miscorrected */
	f->wire[20 + salt % 60] ^= (uint8_t)(1 + salt % 255);
	f->wire[20 + salt % 60 + 90] ^= (uint8_t)(1 + salt / 7 % 255);
	f->wire[20 + salt % 60 + 120] ^= (uint8_t)(1 + salt / 49 % 255);
}

/** @return whether any endpoint sent something */
static bool
carry(struct fx *fx)
{
	bool moved = false;

	for (unsigned int i = 0; i < fx->neps; i++) {
		struct rl_pktq q = fx_poll(fx, i);

		while (!rl_pktq_empty(&q)) {
			struct rl_flit *pkt = rl_pktq_pop(&q);

			moved = true;
			fx_rx(fx, pkt->dst, pkt);
		}
	}
	return moved;
}

void
fx_settle(struct fx *fx)
{
	while (carry(fx))
		;
}

void
fx_way_step(struct fx *fx, struct fx_way *way, uint64_t step_ns)
{
	const unsigned int n = RL_ARRAY_SIZE(way->slot);

	for (unsigned int e = 0; e < fx->neps; e++) {
		struct rl_pktq q = fx_poll(fx, e);

		for (struct rl_flit *f; (f = rl_pktq_pop(&q)) != NULL;) {
			assert_true(way->tail - way->head < n);
			way->slot[way->tail % n].pkt = f;
			way->slot[way->tail++ % n].at_ns =
				fx->now + way->delay_ns;
		}
	}
	fx->now += step_ns;
	for (; way->head != way->tail &&
	       way->slot[way->head % n].at_ns <= fx->now; way->head++) {
		struct rl_flit *f = way->slot[way->head % n].pkt;

		fx_rx(fx, f->dst, f);
	}
}

void
fx_way_drop(struct fx *fx, struct fx_way *way)
{
	for (; way->head != way->tail; way->head++)
		fx_drop(fx, way->slot[way->head %
				      RL_ARRAY_SIZE(way->slot)].pkt);
}

void
fx_run(struct fx *fx, unsigned int n)
{
	fx_settle(fx);
	while (n-- > 0) {
		uint64_t t = RL_NEVER;

		for (unsigned int i = 0; i < fx->neps; i++)
			t = rl_min_u64(t, rl_ep_deadline(fx->ep[i]));
		if (t == RL_NEVER)
			return;
		fx->now = rl_max_u64(fx->now, t);
		fx_settle(fx);
	}
}
