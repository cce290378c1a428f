/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `endpoint`: two endpoints back to back, without any fabric between.
 * Transmit is what a client pays for a packet until its flits are encoded;
 * receive is what it takes until the client has the packet. The bare work is
 * the codec alone, over as many flits of the same cache footprint.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "rl_endpoint.h"
#include "rl_prng.h"
#include "stop_signal.h"

#define EP_POOL 8192
#define EP_BATCH 256 /* flits per turn: well within the window */

struct pair {
	struct rl_codec *codec;
	struct rl_ep_cfg cfg;
	struct rl_flit_cache cache;
	struct rl_flit *flits;
	struct rl_ep *ep[2];
	void *mem[2];
};

struct sums {
	uint64_t tx_ns;
	uint64_t rx_ns;
	uint64_t ack_ns;
	uint64_t flits;
};

static void *
zalloc(size_t n)
{
	void *p = aligned_alloc(64, (n + 63) & ~(size_t)63);

	if (p != NULL)
		memset(p, 0, n);
	return p;
}

static int
pair_init(struct pair *p)
{
	memset(p, 0, sizeof(*p));
	rl_ep_cfg_defaults(&p->cfg);
	p->cfg.max_packet_flits = 32;
	p->cfg.max_flows = 4;
	p->codec = zalloc(rl_codec_memsize());
	p->flits = zalloc(EP_POOL * sizeof(struct rl_flit));
	p->cache.slot = calloc(EP_POOL, sizeof(struct rl_flit *));
	p->mem[0] = zalloc(rl_ep_memsize(&p->cfg, 2));
	p->mem[1] = zalloc(rl_ep_memsize(&p->cfg, 2));
	if (p->codec == NULL || p->flits == NULL || p->cache.slot == NULL ||
	    p->mem[0] == NULL || p->mem[1] == NULL)
		return -ENOMEM;
	p->cache.cap = EP_POOL;
	for (unsigned int i = 0; i < EP_POOL; i++)
		rl_flit_put(&p->cache, &p->flits[i]);
	rl_codec_init(p->codec, p->cfg.crc, p->cfg.isn,
		      rl_codec_best_isa(512));
	for (unsigned int i = 0; i < 2; i++) {
		const struct rl_ep_params ep = {
			.cfg = &p->cfg,
			.codec = p->codec,
			.cache = &p->cache,
			.ep_id = (uint16_t)i,
			.npeers = 2,
		};

		p->ep[i] = rl_ep_init(p->mem[i], &ep);
	}
	return 0;
}

static void
pair_free(struct pair *p)
{
	free(p->codec);
	free(p->flits);
	free(p->cache.slot);
	free(p->mem[0]);
	free(p->mem[1]);
}

/* Hands over everything `from` has to send; returns flits moved. */
static unsigned int
pair_move(struct pair *p, unsigned int from, uint64_t now_ns)
{
	struct rl_flit *pkt[EP_BATCH + 1];
	struct rl_pktq q = { 0 };
	unsigned int n = 0, flits;

	flits = rl_ep_poll(p->ep[from], now_ns, &q, EP_BATCH + 64);
	while (n < EP_BATCH + 1 && (pkt[n] = rl_pktq_pop(&q)) != NULL)
		n++;
	rl_ep_rx(p->ep[!from], now_ns, pkt, n);
	return flits;
}

static int
pair_turn(struct pair *p, const struct rl_ep_msg *msg, const void *data,
	  uint64_t now_ns, struct sums *s)
{
	struct rl_flit *pkt[EP_BATCH + 1], *got;
	struct rl_pktq q = { 0 };
	const unsigned int packets = EP_BATCH / rl_ep_flits_of(msg->len_bytes);
	unsigned int n = 0, received = 0;
	uint64_t t0 = bench_now_ns(), t1;

	for (unsigned int i = 0; i < packets; i++)
		if (rl_ep_send(p->ep[0], now_ns, msg, data, NULL) != 0)
			return -EIO;
	s->flits += rl_ep_poll(p->ep[0], now_ns, &q, EP_BATCH + 64);
	while (n < EP_BATCH + 1 && (pkt[n] = rl_pktq_pop(&q)) != NULL)
		n++;
	t1 = bench_now_ns();
	s->tx_ns += t1 - t0;
	rl_ep_rx(p->ep[1], now_ns, pkt, n);
	while ((got = rl_ep_recv(p->ep[1])) != NULL) {
		received++;
		rl_packet_put(&p->cache, got);
	}
	t0 = bench_now_ns();
	s->rx_ns += t0 - t1;
	pair_move(p, 1, now_ns + p->cfg.ack_delay_ns + 1);
	s->ack_ns += bench_now_ns() - t0;
	return received == packets ? 0 : -EIO;
}

/* The codec alone over EP_BATCH flits, spread like the endpoint's. */
static void
bare_codec(struct pair *p, unsigned int rounds, double *tx, double *rx)
{
	uint8_t *flit[EP_BATCH], fec[EP_BATCH];
	uint32_t seq[EP_BATCH];
	uint64_t syndrome[EP_BATCH], t0, t1 = 0, t2 = 0;

	for (unsigned int i = 0; i < EP_BATCH; i++) {
		flit[i] = p->flits[i].wire;
		seq[i] = i;
	}
	for (unsigned int r = 0; r < rounds; r++) {
		t0 = bench_now_ns();
		rl_codec_tx(p->codec, flit, seq, EP_BATCH);
		t1 += bench_now_ns() - t0;
		t0 = bench_now_ns();
		rl_codec_rx(p->codec, flit, seq, EP_BATCH, syndrome, fec);
		t2 += bench_now_ns() - t0;
	}
	*tx = (double)t1 / ((double)rounds * EP_BATCH);
	*rx = (double)t2 / ((double)rounds * EP_BATCH);
}

static int
measure(const struct bench_opts *o, unsigned int packet_flits, json_t *out,
	FILE *human)
{
	const unsigned int rounds = o->quick ? 200 : 4000;
	uint8_t data[32 * RL_FLIT_DATA_BYTES];
	const struct rl_ep_msg msg = {
		.dst = 1,
		.len_bytes = packet_flits * RL_FLIT_DATA_BYTES,
	};
	double tx[64], rx[64], ack[64], btx[64], brx[64];
	const unsigned int reps = o->reps > 64 ? 64 : o->reps;
	struct pair p;
	uint64_t now_ns = 1;
	int ret = pair_init(&p);

	memset(data, 0x5a, sizeof(data));
	for (unsigned int r = 0; r < reps && ret == 0; r++) {
		struct sums s = { 0 };

		for (unsigned int i = 0; i < rounds && ret == 0; i++) {
			now_ns += RL_NS_PER_MS;
			ret = pair_turn(&p, &msg, data, now_ns, &s);
		}
		tx[r] = (double)s.tx_ns / (double)s.flits;
		rx[r] = (double)s.rx_ns / (double)s.flits;
		ack[r] = (double)s.ack_ns / (double)s.flits;
	}
	for (unsigned int r = 0; r < reps && ret == 0; r++)
		bare_codec(&p, rounds, &btx[r], &brx[r]);
	if (ret == 0) {
		const double t = bench_median(tx, reps),
			     x = bench_median(rx, reps),
			     a = bench_median(ack, reps),
			     bt = bench_median(btx, reps),
			     bx = bench_median(brx, reps);

		json_array_append_new(out, json_pack(
			"{s:i,s:f,s:f,s:f,s:f,s:f,s:f,s:f}",
			"packet_flits", (int)packet_flits,
			"tx_ns_per_flit", t, "rx_ns_per_flit", x,
			"ack_ns_per_flit", a, "bare_tx_ns", bt,
			"bare_rx_ns", bx, "ratio_tx", t / bt,
			"ratio_rx", x / bx));
		fprintf(human,
			"  %2u flits a packet: tx %6.1f ns/flit (%4.1f x codec), "
			"rx %6.1f ns/flit (%4.1f x codec), acks %.1f\n",
			packet_flits, t, t / bt, x, x / bx, a);
	}
	pair_free(&p);
	return ret;
}

int
bench_endpoint(const struct bench_opts *o, json_t *out, FILE *human)
{
	static const unsigned int sizes[] = { 1, 4, 16, 32 };
	json_t *runs = json_array();
	int ret = 0;

	fprintf(human, "endpoint: profile rxl, one flow\n");
	for (size_t i = 0; i < RL_ARRAY_SIZE(sizes) && ret == 0 &&
			   stop_asked() == 0; i++)
		ret = measure(o, sizes[i], runs, human);
	json_object_set_new(out, "runs", runs);
	return ret;
}
