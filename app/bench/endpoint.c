/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `endpoint`: two endpoints back to back, without any fabric between.
 * Transmit is what a client pays for a packet until its flits are encoded: its
 * bytes are copied into flits, and these are kept for retry and copied again.
 * Receive is what it takes until the client has the packet; it looks at no byte
 * of it. The bare work is what no endpoint can do without, over as many flits:
 * the copy of a client's bytes and the encoding into another flit (CRC and FEC),
 * and the check of both.
 *
 * All are measured in turn, a batch of flits each, so that what slows the
 * machine down slows all. Each figure is the median of a repetition's batches:
 * those in which the thread was away say nothing.
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
#define ROUNDS 1000  /* turns of a repetition */
#define REPS_MAX 64

struct pair {
	struct rl_codec *codec;
	struct rl_ep_cfg cfg;
	struct rl_flit_cache cache;
	struct rl_flit *flits;
	struct rl_flit *bare; /* a batch and its copies */
	struct rl_ep *ep[2];
	void *mem[2];
	uint64_t now_ns;
};

/* What is measured, of each batch: in ns a flit. */
enum what {
	TX,
	RX,
	ACKS,
	BARE_COPY,   /* a client's bytes into a flit */
	BARE_ENCODE, /* CRC and FEC, into another flit */
	BARE_CHECK,
	WHATS,
	RATIO_TX = WHATS, /* to copy and encoding */
	RATIO_RX,	  /* to check */
	STATS,
};

struct load {
	struct rl_ep_msg msg;
	unsigned int packets; /* a batch */
	uint8_t data[32 * RL_FLIT_DATA_BYTES];
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
	p->cfg.congestion = RL_CONGESTION_NONE; /* a batch leaves at once */
	p->cfg.max_packet_flits = 32;
	p->cfg.max_flows = 4;
	p->codec = zalloc(rl_codec_memsize());
	p->flits = zalloc(EP_POOL * sizeof(struct rl_flit));
	p->bare = zalloc(2 * EP_BATCH * sizeof(struct rl_flit));
	p->cache.slot = calloc(EP_POOL, sizeof(struct rl_flit *));
	p->mem[0] = zalloc(rl_ep_memsize(&p->cfg, 2));
	p->mem[1] = zalloc(rl_ep_memsize(&p->cfg, 2));
	if (p->codec == NULL || p->flits == NULL || p->bare == NULL ||
	    p->cache.slot == NULL || p->mem[0] == NULL || p->mem[1] == NULL)
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
	free(p->bare);
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

static void
took(double ns[WHATS], enum what what, uint64_t since_ns)
{
	ns[what] = (double)(bench_now_ns() - since_ns) / EP_BATCH;
}

static int
pair_turn(struct pair *p, const struct load *l, uint64_t now_ns,
	  double ns[WHATS])
{
	struct rl_flit *pkt[EP_BATCH + 1], *got;
	struct rl_pktq q = { 0 };
	unsigned int n = 0, received = 0;
	uint64_t t0 = bench_now_ns();

	for (unsigned int i = 0; i < l->packets; i++)
		if (rl_ep_send(p->ep[0], now_ns, &l->msg, l->data, NULL) != 0)
			return -EIO;
	rl_ep_poll(p->ep[0], now_ns, &q, EP_BATCH + 64);
	while (n < EP_BATCH + 1 && (pkt[n] = rl_pktq_pop(&q)) != NULL)
		n++;
	took(ns, TX, t0);
	t0 = bench_now_ns();
	rl_ep_rx(p->ep[1], now_ns, pkt, n);
	while ((got = rl_ep_recv(p->ep[1])) != NULL) {
		received++;
		rl_packet_put(&p->cache, got);
	}
	took(ns, RX, t0);
	t0 = bench_now_ns();
	pair_move(p, 1, now_ns + p->cfg.ack_delay_ns + 1);
	took(ns, ACKS, t0);
	return received == l->packets ? 0 : -EIO;
}

/* The same over EP_BATCH flits and their copies, without any endpoint. */
static void
bare_turn(struct pair *p, const struct load *l, double ns[WHATS])
{
	uint8_t *clear[EP_BATCH], *flit[EP_BATCH], fec[EP_BATCH];
	uint32_t seq[EP_BATCH];
	uint64_t syndrome[EP_BATCH], t0;

	for (unsigned int i = 0; i < EP_BATCH; i++) {
		clear[i] = p->bare[i].wire;
		flit[i] = p->bare[EP_BATCH + i].wire;
		seq[i] = i;
	}
	t0 = bench_now_ns();
	for (unsigned int i = 0; i < EP_BATCH; i++)
		memcpy(clear[i] + RL_FLIT_DATA_OFF,
		       l->data + i % 32 * RL_FLIT_DATA_BYTES,
		       RL_FLIT_DATA_BYTES);
	took(ns, BARE_COPY, t0);
	t0 = bench_now_ns();
	rl_codec_tx_from(p->codec, (const uint8_t *const *)clear, flit, seq,
			 EP_BATCH);
	took(ns, BARE_ENCODE, t0);
	t0 = bench_now_ns();
	rl_codec_rx(p->codec, flit, seq, EP_BATCH, syndrome, fec);
	took(ns, BARE_CHECK, t0);
}

/* One repetition: the medians of its batches. */
static int
measure_once(struct pair *p, const struct load *l, const struct bench_opts *o,
	     double v[STATS])
{
	static double batch[WHATS][ROUNDS];
	const unsigned int rounds = o->quick ? ROUNDS / 20 : ROUNDS;
	int ret = 0;

	for (unsigned int i = 0; i < rounds && ret == 0; i++) {
		double ns[WHATS];

		p->now_ns += RL_NS_PER_MS;
		ret = pair_turn(p, l, p->now_ns, ns);
		bare_turn(p, l, ns);
		for (unsigned int k = 0; k < WHATS && ret == 0; k++)
			batch[k][i] = ns[k];
	}
	for (unsigned int k = 0; k < WHATS && ret == 0; k++)
		v[k] = bench_median(batch[k], rounds);
	v[RATIO_TX] = v[TX] / (v[BARE_COPY] + v[BARE_ENCODE]);
	v[RATIO_RX] = v[RX] / v[BARE_CHECK];
	return ret;
}

static json_t *
run_json(unsigned int packet_flits, const struct bench_stat s[STATS])
{
	return json_pack("{s:i,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:b}",
			 "packet_flits", (int)packet_flits, "tx_ns_per_flit",
			 s[TX].median, "rx_ns_per_flit", s[RX].median,
			 "ack_ns_per_flit", s[ACKS].median, "bare_copy_ns",
			 s[BARE_COPY].median, "bare_encode_ns",
			 s[BARE_ENCODE].median, "bare_check_ns",
			 s[BARE_CHECK].median, "ratio_tx", s[RATIO_TX].median,
			 "ratio_rx", s[RATIO_RX].median, "noisy",
			 s[RATIO_TX].noisy || s[RATIO_RX].noisy);
}

static int
measure(const struct bench_opts *o, unsigned int packet_flits, json_t *out,
	FILE *human)
{
	const unsigned int reps = o->reps > REPS_MAX ? REPS_MAX : o->reps;
	struct load l = {
		.msg = { .dst = 1,
			 .len_bytes = packet_flits * RL_FLIT_DATA_BYTES },
		.packets = EP_BATCH / packet_flits,
	};
	double v[STATS][REPS_MAX], one[STATS];
	struct bench_stat s[STATS];
	struct pair p;
	int ret = pair_init(&p);

	memset(l.data, 0x5a, sizeof(l.data));
	for (unsigned int r = 0; r < reps && ret == 0; r++) {
		ret = measure_once(&p, &l, o, one);
		for (unsigned int k = 0; k < STATS; k++)
			v[k][r] = one[k];
	}
	pair_free(&p);
	if (ret != 0)
		return ret;
	for (unsigned int k = 0; k < STATS; k++)
		bench_stat(v[k], reps, &s[k]);
	json_array_append_new(out, run_json(packet_flits, s));
	fprintf(human, "  %6u   %6.1f %5.1f%c  %6.1f %5.1f%c  %5.1f   %6.1f "
		"%6.1f %6.1f\n", packet_flits, s[TX].median,
		s[RATIO_TX].median, s[RATIO_TX].noisy ? '?' : ' ',
		s[RX].median, s[RATIO_RX].median,
		s[RATIO_RX].noisy ? '?' : ' ', s[ACKS].median,
		s[BARE_COPY].median, s[BARE_ENCODE].median,
		s[BARE_CHECK].median);
	fflush(human);
	return 0;
}

int
bench_endpoint(const struct bench_opts *o, json_t *out, FILE *human)
{
	static const unsigned int sizes[] = { 1, 4, 16, 32 };
	json_t *runs = json_array();
	int ret = 0;

	fprintf(human,
		"endpoint: profile rxl, one flow; ns a flit (medians; ? : too "
		"busy a machine to say)\n"
		"   flits       sent       received                "
		"bare work\n"
		"  packet       ns times       ns times   ACKs     copy "
		"encode  check\n");
	for (size_t i = 0; i < RL_ARRAY_SIZE(sizes) && ret == 0 &&
			   stop_asked() == 0; i++)
		ret = measure(o, sizes[i], runs, human);
	json_object_set_new(out, "runs", runs);
	return ret;
}
