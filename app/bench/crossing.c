/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `crossing`: the least that a wire between two lcores can cost. Two ends
 * of a wire (net_ring) send back what they get. They do what suite `floor` says
 * that no hop can leave out, its last part: headers are opened and sealed, FEC
 * is checked while flits are copied into one body, which is kept until the
 * other end has acknowledged it, and copied into a frame. Acknowledgements ride
 * on the frames that go the other way.
 *
 * Both ends run on one lcore, then each on its own. What a flit costs more then
 * is the wire's crossing: bodies, mbufs and ring slots come out of the other
 * CPU's cache. Turns that find nothing are counted, and their time is left out.
 * How far that cache is differs by ten times from machine to machine, and on
 * virtual ones from minute to minute. So the time that one line takes is told.
 */

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mempool.h>
#include <rte_pause.h>

#include "bench.h"
#include "bench_host.h"
#include "frame_work.h"
#include "stop_signal.h"

#define ENDS 2
#define BURST 8
#define TURN_FRAMES 32
#define RING_FRAMES 1024
#define POOL_FRAMES (4 * RING_FRAMES)
#define SEGMENTS 1024
#define UNDER_WAY_FLITS 256 /* each way at first: 512 at most, as a link has */
#define LINE_PASSES 20000
#define WARM_NS (2 * RL_NS_PER_MS)

struct end {
	struct rl_phy_eth phy;
	struct frame_body body[SEGMENTS];
	struct frame_body *spare[SEGMENTS];
	struct frame_body *held[SEGMENTS]; /* sent, and not acknowledged */
	uint32_t nspare;
	uint32_t base, tail;
	uint16_t next; /* number of the next frame that comes */
	uint32_t nflits;
	uint32_t turn_frames;
	struct rl_codec *codec;
	bool hw, open;
	uint64_t stamp, bad;
	uint64_t flits, busy_ns, turns, vain; /* since they were cleared */
} RL_ALIGNED(2 * RL_CACHE_LINE);

struct wire_rig {
	struct end end[ENDS];
	struct rl_wires wires;
	bool wires_open;
	struct rte_mempool *pool;
	uint8_t *data;
	uint32_t nflits;
	uint64_t slice_ns;	   /* of a measurement */
	uint64_t start_ns, end_ns; /* of this one, when all are there */
	_Atomic unsigned int absent;
	_Atomic bool go;
};

static void
rig_close(struct wire_rig *r)
{
	for (unsigned int i = 0; i < ENDS; i++) {
		if (r->end[i].open)
			rl_phy_eth_close(&r->end[i].phy);
		free(r->end[i].codec);
	}
	if (r->wires_open)
		rl_wires_close(&r->wires);
	rte_mempool_free(r->pool);
	free(r->data);
	free(r);
}

static int
end_open(struct wire_rig *r, struct end *e, const struct rl_wire_end *at)
{
	const struct rl_phy_eth_params p = {
		.frame_bytes = RL_FRAME_BYTES_MAX,
		.pool = r->pool,
		.port_id = at->port_id,
		.queue = at->queue,
	};
	uint8_t *const data = r->data + (size_t)(e - r->end) * SEGMENTS *
						r->nflits * RL_FLIT_BYTES;
	int ret;

	e->nflits = r->nflits;
	while (e->turn_frames < TURN_FRAMES &&
	       e->turn_frames * r->nflits < 64)
		e->turn_frames += BURST;
	e->codec = bench_alloc(rl_codec_memsize());
	if (e->codec == NULL)
		return -ENOMEM;
	rl_codec_init(e->codec, RL_CRC_BCH, RL_ISN_WIDE,
		      rl_codec_best_isa(512));
	e->hw = rl_codec_isa(e->codec) != RL_ISA_SCALAR;
	for (uint32_t i = 0; i < SEGMENTS; i++) {
		e->body[i].data = data + (size_t)i * r->nflits * RL_FLIT_BYTES;
		e->spare[e->nspare++] = &e->body[i];
	}
	ret = rl_phy_eth_open(&e->phy, &p);
	e->open = ret == 0;
	return ret;
}

static int
rig_open(struct wire_rig **rig, uint32_t nflits)
{
	struct wire_rig *r = *rig = bench_alloc(sizeof(*r));
	char err[RL_ERR_MAX] = "";
	int ret;

	if (r == NULL)
		return -ENOMEM;
	r->nflits = nflits;
	r->data = bench_alloc((size_t)ENDS * SEGMENTS * nflits *
			      RL_FLIT_BYTES);
	r->pool = rl_frame_pool("crossing", POOL_FRAMES, RL_FRAME_BYTES_MAX);
	if (r->data == NULL || r->pool == NULL)
		return -ENOMEM;
	ret = rl_wires_open(&r->wires, 1, NULL, RING_FRAMES, 0, r->pool, err,
			    sizeof(err));
	if (ret != 0)
		fprintf(stderr, "reflit-bench: %s\n", err);
	r->wires_open = ret == 0;
	for (unsigned int i = 0; i < ENDS && ret == 0; i++)
		ret = end_open(r, &r->end[i], &r->wires.end[i]);
	return ret;
}

/* @return its flits as one object; NULL: it is none of ours */
static struct frame_body *
take(struct end *e, const struct rl_phy_frame *f)
{
	struct rl_frame_hdr h;
	struct frame_body *b;

	if (rl_frame_open(f->data, f->len, &h, e->hw) != RL_FRAME_OK ||
	    h.nflits != e->nflits || h.seq != e->next || e->nspare == 0) {
		e->bad++;
		return NULL;
	}
	e->next++;
	for (; (uint16_t)e->base != h.ack && e->base != e->tail; e->base++)
		e->spare[e->nspare++] = e->held[e->base % SEGMENTS];
	b = e->spare[--e->nspare];
	e->bad += frame_work_take(e->codec, f->data, h.nflits, b);
	return b;
}

static uint32_t
give(struct end *e, struct frame_body *b, uint8_t *frame)
{
	const struct rl_frame_hdr h = {
		.type = RL_FRAME_DATA,
		.nflits = (uint8_t)e->nflits,
		.seq = (uint16_t)e->tail,
		.ack = e->next,
		.stamp = ++e->stamp,
	};

	e->held[e->tail++ % SEGMENTS] = b;
	return frame_work_give(e->codec, &h, b, frame, e->hw);
}

static void
give_all(struct end *e, struct frame_body *b[], unsigned int n)
{
	struct rl_phy_frame f[BURST];

	for (unsigned int at = 0; at < n;) {
		const unsigned int got = rl_phy_eth_ops.tx_alloc(
			&e->phy, f, rl_min_u32(BURST, n - at), 1);

		if (got == 0) {
			e->bad++;
			return;
		}
		for (unsigned int i = 0; i < got; i++)
			f[i].len = give(e, b[at + i], f[i].data);
		rl_phy_eth_ops.tx(&e->phy, f, got, 1);
		at += got;
	}
}

/* What has come goes back. @return frames */
static unsigned int
turn(struct end *e)
{
	struct rl_phy_frame f[TURN_FRAMES];
	struct frame_body *b[TURN_FRAMES];
	const unsigned int n =
		rl_phy_eth_ops.rx(&e->phy, f, e->turn_frames, 1);
	unsigned int good = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (i + 1 < n)
			__builtin_prefetch(f[i + 1].data);
		b[good] = take(e, &f[i]);
		good += b[good] != NULL;
	}
	if (n == 0)
		return 0;
	rl_phy_eth_ops.rx_free(&e->phy, f, n);
	give_all(e, b, good);
	return good;
}

/* Both ends send what the other will send back: good flits of their own. */
static void
launch(struct end *e)
{
	for (uint32_t n = 0; n < UNDER_WAY_FLITS / e->nflits; n++) {
		struct frame_body *b = e->spare[--e->nspare];

		frame_work_fill(e->codec, b->data, e->nflits, n);
		give_all(e, &b, 1);
	}
}

static void
count(struct end *e, unsigned int frames, uint64_t ns)
{
	e->turns++;
	if (frames == 0) {
		e->vain++;
		return;
	}
	e->flits += frames * e->nflits;
	e->busy_ns += ns;
}

/* Who comes last says when it begins: an lcore may be late by a time slice. */
static void
meet(struct wire_rig *r)
{
	if (--r->absent == 0) {
		r->start_ns = bench_now_ns() + WARM_NS;
		r->end_ns = r->start_ns + r->slice_ns;
		r->go = true;
	}
	while (!r->go)
		sched_yield();
}

/* The ends from @p e on, in turn, until the measurement ends. */
static void
work(struct wire_rig *r, struct end *e, unsigned int n)
{
	uint64_t now;
	bool warm = false;

	meet(r);
	now = bench_now_ns();
	while (now < r->end_ns) {
		if (!warm && now >= r->start_ns) {
			warm = true;
			for (unsigned int i = 0; i < n; i++)
				e[i].flits = e[i].busy_ns = e[i].turns =
					e[i].vain = 0;
		}
		for (unsigned int i = 0; i < n; i++) {
			const unsigned int frames = turn(&e[i]);
			const uint64_t then = now;

			now = bench_now_ns();
			count(&e[i], frames, now - then);
		}
	}
}

static struct wire_rig *the_rig;

static int
end_main(void *arg)
{
	work(the_rig, arg, 1);
	return 0;
}

/* What a way to run both ends comes to. */
struct price {
	double ns;   /* a flit, of the lcore that it goes through */
	double rate; /* Mflit/s, of both ends together */
	double vain; /* part of the turns that found nothing */
};

/* 0 where the machine gave nobody a turn */
static double
ratio(uint64_t a, uint64_t b)
{
	return b != 0 ? (double)a / (double)b : 0;
}

/* A line that goes to and fro, and nothing else. */
static struct line {
	_Atomic uint32_t passes;
	char pad[2 * RL_CACHE_LINE - sizeof(uint32_t)];
	uint64_t ns; /* for all of it */
} the_line RL_ALIGNED(2 * RL_CACHE_LINE);

static int
line_main(void *arg)
{
	const uint32_t odd = arg != NULL;
	uint64_t t0;

	meet(the_rig);
	t0 = bench_now_ns();
	for (uint32_t i = odd; i < LINE_PASSES; i += 2) {
		while (the_line.passes != i)
			rte_pause();
		the_line.passes = i + 1;
	}
	if (odd)
		the_line.ns = bench_now_ns() - t0;
	return 0;
}

/* ns from a store until the other CPU has seen it */
static double
line_ns(struct wire_rig *r)
{
	static int odd;
	unsigned int id, n = 0;

	r->absent = ENDS;
	r->go = false;
	the_rig = r;
	the_line.passes = 0;
	RTE_LCORE_FOREACH_WORKER(id)
		if (n < ENDS)
			rte_eal_remote_launch(line_main,
					      n++ == 0 ? NULL : &odd, id);
	usleep(LINE_PASSES);
	rte_eal_mp_wait_lcore();
	return ratio(the_line.ns, LINE_PASSES);
}

static int
measure_way(struct wire_rig *r, unsigned int lcores, uint64_t slice_ns,
	    struct price *p)
{
	uint64_t flits = 0, busy = 0, turns = 0, vain = 0;
	unsigned int id, n = 0;

	r->slice_ns = slice_ns;
	r->absent = lcores;
	r->go = false;
	the_rig = r;
	if (lcores == 1)
		work(r, r->end, ENDS);
	else
		RTE_LCORE_FOREACH_WORKER(id)
			if (n < ENDS)
				rte_eal_remote_launch(end_main, &r->end[n++],
						      id);
	if (lcores > 1) /* EAL waits by polling, on a CPU of theirs */
		usleep((unsigned int)((WARM_NS + slice_ns) / RL_NS_PER_US));
	rte_eal_mp_wait_lcore();
	for (unsigned int i = 0; i < ENDS; i++) {
		flits += r->end[i].flits;
		busy += r->end[i].busy_ns;
		turns += r->end[i].turns;
		vain += r->end[i].vain;
		if (r->end[i].bad != 0)
			return -EBADMSG;
	}
	p->ns = ratio(busy, flits);
	p->rate = 1e3 * ratio(flits, slice_ns);
	p->vain = ratio(vain, turns);
	return 0;
}

enum figure { ONE, TWO, CROSSING, SPEEDUP, VAIN, LINE, FIGURES };

static int
measure(const struct bench_opts *o, struct wire_rig *r,
	struct bench_stat stat[FIGURES])
{
	const uint64_t slice_ns = (o->quick ? 20 : 100) * RL_NS_PER_MS;
	double *v = calloc((size_t)FIGURES * o->reps, sizeof(*v));
	int ret = v == NULL ? -ENOMEM : 0;

	for (unsigned int n = 0; n < o->reps && ret == 0; n++) {
		struct price one, two;

		ret = measure_way(r, 1, slice_ns, &one);
		if (ret == 0)
			ret = measure_way(r, 2, slice_ns, &two);
		if (ret != 0)
			break;
		v[ONE * o->reps + n] = one.ns;
		v[TWO * o->reps + n] = two.ns;
		v[CROSSING * o->reps + n] = two.ns - one.ns;
		v[SPEEDUP * o->reps + n] = one.rate > 0 ? two.rate / one.rate
							: 0;
		v[VAIN * o->reps + n] = two.vain;
		v[LINE * o->reps + n] = line_ns(r);
	}
	for (unsigned int i = 0; i < FIGURES && ret == 0; i++)
		bench_stat(v + (size_t)i * o->reps, o->reps, &stat[i]);
	free(v);
	return ret;
}

static void
report(uint32_t nflits, const struct bench_stat s[FIGURES], json_t *runs,
       FILE *human)
{
	json_array_append_new(runs, json_pack(
		"{s:i,s:f,s:f,s:o,s:o,s:f,s:f}", "flits_per_frame", (int)nflits,
		"one", s[ONE].median, "two", s[TWO].median, "crossing",
		bench_stat_json(&s[CROSSING]), "speedup",
		bench_stat_json(&s[SPEEDUP]), "vain", s[VAIN].median, "line",
		s[LINE].median));
	fprintf(human, "  %4u  %8.1f %8.1f  %8.1f  %3.0f %%%c  %8.2f  %5.0f %%  %6.0f\n",
		nflits, s[ONE].median, s[TWO].median, s[CROSSING].median,
		100 * s[CROSSING].spread, s[CROSSING].noisy ? '?' : ' ',
		s[SPEEDUP].median, 100 * s[VAIN].median, s[LINE].median);
	fflush(human);
}

static int
measure_sizes(const struct bench_opts *o, json_t *runs, FILE *human)
{
	static const uint32_t sizes[] = { 1, 5, 16, 32 };
	int ret = 0;

	fprintf(human,
		"crossing: the least that a wire between two lcores can cost, "
		"ns a flit and end\n"
		"(medians; ? : too busy a machine to say; speed: of two lcores "
		"to one; in vain: turns of two\n"
		" that found nothing, whose time is in the speed alone; line: "
		"a cache line, one way)\n"
		"  flits      one      two\n"
		"  frame    lcore   lcores  crossing  spread    speed  in "
		"vain    line\n");
	for (size_t i = 0; i < RL_ARRAY_SIZE(sizes) && ret == 0 &&
			   stop_asked() == 0; i++) {
		struct bench_stat stat[FIGURES];
		struct wire_rig *r;

		ret = rig_open(&r, sizes[i]);
		for (unsigned int k = 0; k < ENDS && ret == 0; k++)
			launch(&r->end[k]);
		if (ret == 0)
			ret = measure(o, r, stat);
		if (ret == 0)
			report(sizes[i], stat, runs, human);
		if (r != NULL)
			rig_close(r);
	}
	return ret;
}

int
bench_crossing(const struct bench_opts *o, json_t *out, FILE *human)
{
	json_t *runs = json_array();
	int ret = bench_eal();

	json_object_set_new(out, "runs", runs);
	if (ret == 0 && rte_lcore_count() <= ENDS)
		fprintf(human, "crossing: needs two CPUs, and this process may "
			       "use one\n");
	else if (ret == 0)
		ret = measure_sizes(o, runs, human);
	return ret;
}
