/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `floor`: the least that a hop can cost. Five devices stand in a ring
 * of wires (net_ring), and hand frames round. They do only what no design of a
 * hop can leave out, and as if all flits of a frame were one object:
 *
 *   wire     frames are taken, as many are sent, mbufs come and go
 *   headers  each header is opened, and a new one is built and sealed
 *   check    FEC is checked while the flits are copied, into one body
 *   store    a descriptor looks the way up, is kept until a frame comes back
 *            that acknowledges it, and the body is copied into the new frame
 *
 * There are no VCs, credits, packets, timers, states nor statistics. Each part
 * is measured with those before it. As many flits go in a turn as a port's poll
 * sends. The bare work is measured in turn with them.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mempool.h>

#include "bench.h"
#include "bench_host.h"
#include "frame_work.h"
#include "stop_signal.h"

#define STAGES 5
#define BURST 8
#define TURN_FRAMES 32
#define TURN_BYTES (64 * RL_FLIT_BYTES)
#define WIRE_FRAMES 128
#define POOL_FRAMES (STAGES * 2 * (WIRE_FRAMES + 64))
#define SEGMENTS 512
#define DESTINATIONS 64

enum floor_part { PART_WIRE, PART_HEADERS, PART_CHECK, PART_STORE, PARTS };

static const char *const part_name[PARTS] = { "wire", "headers", "check",
					      "store" };

/* Flits that came in one frame. */
struct segment {
	struct frame_body body;
	uint32_t seq;
	uint16_t port;
};

struct stage {
	struct rl_phy_eth in, out;
	struct segment *held[SEGMENTS]; /* sent, and not acknowledged */
	uint32_t base, tail;
	uint64_t stamp;
	bool in_open, out_open;
};

struct floor_ring {
	struct stage stage[STAGES];
	struct rl_wires wires;
	bool wires_open;
	struct rte_mempool *pool;
	struct rl_codec *codec;
	struct segment segment[SEGMENTS];
	struct segment *spare[SEGMENTS];
	uint8_t *body;
	uint32_t nspare;
	uint32_t nflits; /* a frame */
	uint32_t nframes; /* a turn */
	uint16_t way[DESTINATIONS];
	enum floor_part part;
	uint64_t bad;
	bool hw;
};

/* Every frame of the pool has good flits in it, wherever it is used. */
static void
fill_frame(struct rte_mempool *pool, void *ctx, void *obj, unsigned int i)
{
	const struct floor_ring *r = ctx;
	uint8_t *const data =
		(uint8_t *)rte_mbuf_to_baddr(obj) + RTE_PKTMBUF_HEADROOM;

	(void)pool;
	frame_work_fill(r->codec, data + rl_frame_header_bytes(r->nflits),
			r->nflits, i % DESTINATIONS);
}

static void
ring_close(struct floor_ring *r)
{
	for (unsigned int i = 0; i < STAGES; i++) {
		if (r->stage[i].in_open)
			rl_phy_eth_close(&r->stage[i].in);
		if (r->stage[i].out_open)
			rl_phy_eth_close(&r->stage[i].out);
	}
	if (r->wires_open)
		rl_wires_close(&r->wires);
	rte_mempool_free(r->pool);
	free(r->body);
	free(r->codec);
	free(r);
}

/* Stage i sends by end 0 of wire i, which end 1 takes to the next. */
static int
ring_wires(struct floor_ring *r)
{
	struct rl_phy_eth_params p = { .frame_bytes = RL_FRAME_BYTES_MAX,
				       .pool = r->pool };
	char err[RL_ERR_MAX] = "";
	int ret = rl_wires_open(&r->wires, STAGES, NULL, WIRE_FRAMES, 0,
				r->pool, err, sizeof(err));

	if (ret != 0)
		fprintf(stderr, "reflit-bench: %s\n", err);
	r->wires_open = ret == 0;
	for (unsigned int i = 0; i < STAGES && ret == 0; i++) {
		struct stage *const to = &r->stage[(i + 1) % STAGES];

		p.port_id = r->wires.end[2 * i].port_id;
		p.queue = r->wires.end[2 * i].queue;
		ret = rl_phy_eth_open(&r->stage[i].out, &p);
		r->stage[i].out_open = ret == 0;
		p.port_id = r->wires.end[2 * i + 1].port_id;
		p.queue = r->wires.end[2 * i + 1].queue;
		if (ret == 0)
			ret = rl_phy_eth_open(&to->in, &p);
		to->in_open = ret == 0;
	}
	return ret;
}

static int
ring_open(struct floor_ring **ring, uint32_t nflits)
{
	struct floor_ring *r = *ring = calloc(1, sizeof(*r));

	if (r == NULL)
		return -ENOMEM;
	r->nflits = nflits;
	while (r->nframes < TURN_FRAMES &&
	       r->nframes * nflits * RL_FLIT_BYTES < TURN_BYTES)
		r->nframes += BURST;
	r->body = bench_alloc((size_t)SEGMENTS * nflits * RL_FLIT_BYTES);
	r->codec = bench_alloc(rl_codec_memsize());
	r->pool = rl_frame_pool("floor", POOL_FRAMES, RL_FRAME_BYTES_MAX);
	if (r->body == NULL || r->codec == NULL || r->pool == NULL)
		return -ENOMEM;
	rl_codec_init(r->codec, RL_CRC_BCH, RL_ISN_WIDE,
		      rl_codec_best_isa(512));
	r->hw = rl_codec_isa(r->codec) != RL_ISA_SCALAR;
	rte_mempool_obj_iter(r->pool, fill_frame, r);
	for (uint32_t i = 0; i < SEGMENTS; i++) {
		r->segment[i].body.data =
			r->body + (size_t)i * nflits * RL_FLIT_BYTES;
		r->spare[r->nspare++] = &r->segment[i];
	}
	return ring_wires(r);
}

/* A frame without flits comes back for all that came in a turn. */
static void
acknowledge(struct floor_ring *r, struct stage *s, uint32_t seq)
{
	struct rl_frame_hdr h = { .type = RL_FRAME_IDLE,
				  .ack = (uint16_t)seq };
	struct rl_phy_frame f;

	if (rl_phy_eth_ops.tx_alloc(&s->in, &f, 1, 1) != 1) {
		r->bad++;
		return;
	}
	h.stamp = ++s->stamp;
	rl_frame_seal(f.data, &h, frame_work_mac, r->hw);
	f.len = rl_frame_length(&h);
	rl_phy_eth_ops.tx(&s->in, &f, 1, 1);
}

static void
acknowledged(struct floor_ring *r, struct stage *s)
{
	struct rl_phy_frame f[BURST];
	const unsigned int n = rl_phy_eth_ops.rx(&s->out, f, BURST, 1);
	struct rl_frame_hdr h;

	for (unsigned int i = 0; i < n; i++) {
		if (rl_frame_open(f[i].data, f[i].len, &h, r->hw) !=
		    RL_FRAME_OK) {
			r->bad++;
			continue;
		}
		for (; (uint16_t)s->base != h.ack && s->base != s->tail;
		     s->base++)
			r->spare[r->nspare++] = s->held[s->base % SEGMENTS];
	}
	if (n != 0)
		rl_phy_eth_ops.rx_free(&s->out, f, n);
}

/* @return the frame's flits as one object; NULL: this part makes none */
static struct segment *
take(struct floor_ring *r, const struct rl_phy_frame *f)
{
	struct rl_frame_hdr h;
	struct segment *g;

	if (r->part < PART_HEADERS)
		return NULL;
	if (rl_frame_open(f->data, f->len, &h, r->hw) != RL_FRAME_OK ||
	    h.nflits != r->nflits || r->nspare == 0) {
		r->bad++;
		return NULL;
	}
	if (r->part < PART_CHECK)
		return NULL;
	g = r->spare[--r->nspare];
	r->bad += frame_work_take(r->codec, f->data, h.nflits, &g->body);
	g->seq = h.seq;
	g->port = r->way[rl_flit_dst(g->body.data) % DESTINATIONS];
	return g;
}

static uint32_t
give(struct floor_ring *r, struct stage *s, struct segment *g, uint8_t *frame)
{
	static const uint16_t none[RL_FRAME_FLITS_MAX + 4];
	const struct rl_frame_hdr h = {
		.type = RL_FRAME_DATA,
		.nflits = (uint8_t)r->nflits,
		.seq = (uint16_t)s->tail,
		.stamp = ++s->stamp,
	};
	const uint16_t *const sideband = g == NULL ? none : g->body.sideband;

	if (g != NULL && r->part == PART_STORE) {
		s->held[s->tail++ % SEGMENTS] = g;
		return frame_work_give(r->codec, &h, &g->body, frame, r->hw);
	}
	if (r->part >= PART_HEADERS)
		rl_frame_seal_from(frame, &h, (const uint8_t *)sideband,
				   frame_work_mac, r->hw);
	if (g != NULL)
		r->spare[r->nspare++] = g;
	return rl_frame_length(&h);
}

/* @p n frames are sent; of what came in by the others of @p g. */
static void
send(struct floor_ring *r, struct stage *s, struct segment *g[],
     unsigned int n)
{
	struct rl_phy_frame f[BURST];

	for (unsigned int at = 0; at < n;) {
		const unsigned int got = rl_phy_eth_ops.tx_alloc(
			&s->out, f, rl_min_u32(BURST, n - at), 1);

		if (got == 0) {
			r->bad++;
			return;
		}
		for (unsigned int i = 0; i < got; i++)
			f[i].len = give(r, s, g[at + i], f[i].data);
		rl_phy_eth_ops.tx(&s->out, f, got, 1);
		at += got;
	}
}

static void
turn(struct floor_ring *r, struct stage *s)
{
	struct rl_phy_frame f[TURN_FRAMES];
	struct segment *g[TURN_FRAMES];
	unsigned int n;

	if (r->part == PART_STORE)
		acknowledged(r, s);
	n = rl_phy_eth_ops.rx(&s->in, f, TURN_FRAMES, 1);
	for (unsigned int i = 0; i < n; i++) {
		if (i + 1 < n)
			__builtin_prefetch(f[i + 1].data);
		g[i] = take(r, &f[i]);
	}
	if (r->part == PART_STORE && n != 0)
		acknowledge(r, s, g[n - 1] == NULL ? 0 : g[n - 1]->seq + 1);
	rl_phy_eth_ops.rx_free(&s->in, f, n);
	if (n != r->nframes)
		r->bad++;
	send(r, s, g, n);
}

/* Nothing is under way; then a turn's worth of good frames. */
static void
ring_fill(struct floor_ring *r, enum floor_part part)
{
	struct segment *g[TURN_FRAMES] = { NULL };
	struct rl_phy_frame f[TURN_FRAMES];
	unsigned int n;

	for (unsigned int i = 0; i < STAGES; i++) {
		struct stage *s = &r->stage[i];

		while ((n = rl_phy_eth_ops.rx(&s->in, f, TURN_FRAMES, 1)) != 0)
			rl_phy_eth_ops.rx_free(&s->in, f, n);
		while ((n = rl_phy_eth_ops.rx(&s->out, f, TURN_FRAMES, 1)) != 0)
			rl_phy_eth_ops.rx_free(&s->out, f, n);
		for (; s->base != s->tail; s->base++)
			r->spare[r->nspare++] = s->held[s->base % SEGMENTS];
		s->base = s->tail = 0;
	}
	r->part = PART_HEADERS;
	send(r, &r->stage[STAGES - 1], g, r->nframes);
	r->part = part;
}

/* ns a flit and stage, of what is done up to @p part */
static double
measure_part(struct floor_ring *r, enum floor_part part, uint32_t rounds)
{
	uint64_t t0 = 0;

	ring_fill(r, part);
	for (uint32_t k = 0; k < rounds + rounds / 4; k++) {
		if (k == rounds / 4) /* warm by now */
			t0 = bench_cpu_ns();
		for (unsigned int i = 0; i < STAGES; i++)
			turn(r, &r->stage[i]);
	}
	return (double)(bench_cpu_ns() - t0) /
	       ((double)rounds * STAGES * r->nframes * r->nflits);
}

/* What the suite says of a size of frames. */
struct floor_price {
	struct bench_stat ns[PARTS];
	struct bench_stat ratio; /* of all of it to the bare work */
};

static int
measure(const struct bench_opts *o, struct floor_ring *r,
	struct bench_bare *bare, struct floor_price *p)
{
	const uint32_t rounds = (o->quick ? 20000u : 400000u) /
				(STAGES * r->nframes * r->nflits);
	double *v = calloc((size_t)o->reps * (PARTS + 1), sizeof(*v));
	double *const ratio = v + (size_t)PARTS * o->reps;

	if (v == NULL)
		return -ENOMEM;
	for (unsigned int n = 0; n < o->reps; n++) {
		double work = bench_bare_ns(bare), ns = 0;

		for (unsigned int i = 0; i < PARTS; i++) {
			ns = measure_part(r, (enum floor_part)i, rounds);
			v[i * o->reps + n] = ns;
		}
		work = (work + bench_bare_ns(bare)) / 2;
		ratio[n] = ns / work;
	}
	for (unsigned int i = 0; i < PARTS; i++)
		bench_stat(v + (size_t)i * o->reps, o->reps, &p->ns[i]);
	bench_stat(ratio, o->reps, &p->ratio);
	free(v);
	return r->bad == 0 ? 0 : -EBADMSG;
}

static void
report(const struct floor_ring *r, const struct floor_price *p, json_t *runs,
       FILE *human)
{
	json_t *const run = json_pack(
		"{s:i,s:f,s:f,s:b}", "flits_per_frame", (int)r->nflits,
		"ratio_vs_bare", p->ratio.median, "spread", p->ratio.spread,
		"noisy", p->ratio.noisy);

	fprintf(human, "  %4u", r->nflits);
	for (unsigned int i = 0; i < PARTS; i++) {
		json_object_set_new(run, part_name[i],
				    json_real(p->ns[i].median));
		fprintf(human, " %8.1f", p->ns[i].median);
	}
	fprintf(human, "  %6.1f   %3.0f %%%s\n", p->ratio.median,
		100 * p->ratio.spread, p->ratio.noisy ? " ?" : "");
	fflush(human);
	json_array_append_new(runs, run);
}

int
bench_floor(const struct bench_opts *o, json_t *out, FILE *human)
{
	static const uint32_t sizes[] = { 1, 2, 5, 10, 16, 32 };
	struct bench_bare *bare = bench_bare_new();
	json_t *runs = json_array();
	int ret = bare == NULL ? -ENOMEM : bench_eal();

	fprintf(human,
		"floor: what no hop can leave out, ns a flit, each column with "
		"those before it\n"
		"(medians; ? : too busy a machine to say)\n"
		"  flits     wire  headers    check    store   times\n"
		"  frame                                        bare spread\n");
	for (size_t i = 0; i < RL_ARRAY_SIZE(sizes) && ret == 0 &&
			   stop_asked() == 0; i++) {
		struct floor_price p;
		struct floor_ring *r;

		ret = ring_open(&r, sizes[i]);
		if (ret == 0)
			ret = measure(o, r, bare, &p);
		if (ret == 0)
			report(r, &p, runs, human);
		if (r != NULL)
			ring_close(r);
	}
	json_object_set_new(out, "runs", runs);
	bench_bare_free(bare);
	return ret;
}
