/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ports and an attacker between them [APP-4]. Frames in both directions are
 * lost, delayed, duplicated and recorded; recorded frames are sent again with
 * other contents, with plausible epochs, numbers and stamps, truncated, and
 * always with a valid header check, to get past it.
 *
 * In any case:
 *   - nothing breaks (assertions, sanitizers), no flit is lost from the pool;
 *   - a core gets parts in order: a start, then the parts that belong to it;
 *   - a port never sends without end;
 *   - after the attack, the link carries packets again in both directions, once,
 *     in order, byte for byte.
 *
 * fuzz_switch.c checks that other traffic is not affected.
 *
 *   fuzz_port COUNT FIRST_SEED     COUNT runs
 * A failure prints its seed, which reproduces it.
 */

#include "../unit/link/bench.h"
#include "fuzz_repair.h"
#include "fuzz_seeds.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS
#define KEPT 32
#define FLITS 4096
#define ROUNDS 60 /* of packets until the link must work again */

struct kept {
	uint8_t *byte;
	uint32_t len;
};

struct attack {
	struct bench b;
	struct rl_prng prng;
	struct kept kept[2][KEPT]; /* for each wire */
	uint32_t nkept[2];
	uint8_t *frame; /* under construction */
	uint32_t harm;  /* one frame in this many is attacked on its way */
	uint64_t forged;
};

static struct attack a;

static uint32_t
below(uint32_t n)
{
	return rl_prng_below(&a.prng, n);
}

/* --- on the wires ---------------------------------------------------------- */

static enum bench_act
on_wire(void *ctx, struct bench_frame *f)
{
	static const enum bench_act acts[] = { BENCH_DROP, BENCH_TWICE };
	const unsigned int way = ctx == &a.nkept[1];

	if (below(3) == 0) {
		const uint32_t i = a.nkept[way] < KEPT ? a.nkept[way]++
						       : below(KEPT);

		a.kept[way][i].len = f->len;
		memcpy(a.kept[way][i].byte, f->data, f->len);
	}
	if (a.harm == 0 || below(a.harm) != 0)
		return BENCH_PASS;
	if (below(2) == 0) {
		f->due_ns += 1 + below(200 * US); /* may be overtaken */
		return BENCH_PASS;
	}
	return acts[below(2)];
}

/* --- forged frames ---------------------------------------------------------- */

/* A number equal to @p right, close to it, or far from it. */
static uint16_t
near(uint32_t right)
{
	switch (below(4)) {
	case 0:
		return (uint16_t)right;
	case 1:
		return (uint16_t)rl_prng_u64(&a.prng);
	default:
		return (uint16_t)(right + below(80) - 40);
	}
}

static void
forge_numbers(uint8_t *f, const struct rl_port_info *to)
{
	if (below(8) != 0) {
		f[18] = to->rx_epoch;
		f[19] = to->tx_epoch;
	}
	if (below(2))
		f[16] = (uint8_t)rl_prng_u64(&a.prng);
	if (below(2))
		rl_put16(f + 20, near(to->replay_tail));
	if (below(2))
		rl_put16(f + 22, near(to->replay_acked));
	if (below(3) == 0)
		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			rl_put16(f + 24 + 2 * vc, near(to->consumed[vc] + 64));
	if (below(4) != 0) {
		const uint64_t soon = a.b.now_ns + below(20);

		fuzz_put_stamp(f, soon + (below(60) ? 0 : below(1200) * MS));
	}
	if (below(200) == 0)
		fuzz_put_stamp(f, rl_prng_u64(&a.prng));
	if (below(8) == 0)
		rl_put32(f + 46, (uint32_t)rl_prng_u64(&a.prng));
}

static void
forge_init(uint8_t *f, uint32_t *len)
{
	struct rl_frame_init init;

	if (*len < RL_FRAME_HEADER_LONG) {
		memset(f + *len, 0, RL_FRAME_HEADER_LONG - *len);
		*len = RL_FRAME_HEADER_LONG;
	}
	rl_frame_init_get(f, &init);
	switch (below(7)) {
	case 0:
		init.nonce = rl_prng_u64(&a.prng);
		break;
	case 1:
		init.nonce_echo = rl_prng_u64(&a.prng);
		break;
	case 2:
		init.incarnation += below(3);
		break;
	case 3:
		init.digest = below(3);
		break;
	case 4:
		init.flits = (uint8_t)below(256);
		break;
	case 5:
		init.place.link = below(3);
		init.place.end = below(2) != 0;
		break;
	default:
		break;
	}
	rl_frame_init_put(f, &init);
}

static void
forge_flits(uint8_t *f, uint32_t len)
{
	const uint32_t head = rl_frame_header_bytes(f[15]);

	for (unsigned int i = 0; i < f[15]; i++) {
		uint8_t *sb = f + RL_FRAME_SIDEBAND_OFF + 2 * i;
		uint8_t *flit = f + head + i * RL_FLIT_BYTES;

		if (below(3) == 0) {
			const uint8_t bit = (uint8_t)(1u << below(8));

			sb[below(2)] ^= bit;
		}
		if (below(4) != 0 || flit + RL_FLIT_BYTES > f + len)
			continue;
		for (uint32_t k = 1 + below(8); k > 0; k--) {
			uint8_t *at = flit + below(RL_FLIT_BYTES);

			*at = (uint8_t)rl_prng_u64(&a.prng);
		}
		if (below(2))
			rl_codec_fec_encode(a.b.pool.codec, flit);
	}
}

/* A frame for end @p to, made from a recorded one of either direction. */
static void
forge(unsigned int to)
{
	const unsigned int way = below(8) ? !to : to;
	const struct rl_port_info info = bench_info(&a.b.end[to]);
	uint8_t *f = a.frame;
	uint32_t len;

	if (a.nkept[way] == 0)
		return;
	const struct kept *k = &a.kept[way][below(a.nkept[way])];

	len = k->len;
	memcpy(f, k->byte, len);
	if (below(6) == 0) { /* another type, with or without flits */
		f[14] = (uint8_t)((f[14] & 0xf0) | (1 + below(6)));
		if ((f[14] & 15) != RL_FRAME_DATA)
			f[15] = 0;
	}
	if (below(5) != 0)
		forge_numbers(f, &info);
	if ((f[14] & 15) == RL_FRAME_INIT)
		forge_init(f, &len);
	else if (below(2))
		forge_flits(f, len);
	if (below(10) == 0)
		len = 1 + below(len);
	if (len >= RL_FRAME_HEADER_SHORT && fuzz_header_bytes(f) <= len)
		fuzz_repair_check(f);
	/* exact size, so that a sanitizer detects reads beyond the end */
	f = aligned_alloc(RL_CACHE_LINE, (len + 63) & ~63u);
	assert_non_null(f);
	memcpy(f, a.frame, len);
	rl_port_rx_frame(a.b.end[to].port, f, len, a.b.now_ns);
	free(f);
	a.forged++;
}

/* --- a run ------------------------------------------------------------------- */

static void
draw_cfg(struct rl_link_cfg *cfg)
{
	bench_cfg(cfg);
	cfg->switching = below(2) ? RL_CUT_THROUGH : RL_STORE_AND_FORWARD;
	cfg->retry = below(4) != 0;
	cfg->flits_per_frame = 1 + below(8);
	cfg->vcs = 1 + below(RL_VCS);
	cfg->max_packet_flits = 4 + below(13);
	cfg->window_flits = 16 + below(100);
	cfg->credits_flits = 16 + below(100);
	cfg->replay_limit = below(5) ? 1 + below(8) : 255;
	cfg->retrain_limit = 1 + below(4);
	cfg->retrain_interval_ns = 100 * US;
	cfg->keepalive_ns = 200 * US;
	cfg->keepalive_dead_ns = 4 * MS;
	cfg->watchdog_ns = 10 * MS;
	cfg->flap_damping_ns = below(2) ? 0 : 50 * US;
	cfg->flap_damping_max_ns = MS;
	cfg->error_window_ns = below(2) ? 0 : MS;
	cfg->error_corrected_max = 100;
	cfg->error_uncorrectable_max = 20;
}

/* Frees what the bench recorded: not used here. */
static void
forget(struct bench_end *e)
{
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(&e->looped)) != NULL)
		rl_packet_put(&e->pool->cache, pkt);
	e->nmarks = e->nevents = e->ndrops = 0;
}

static void
step(uint64_t ns)
{
	bench_run(&a.b, ns);
	for (unsigned int i = 0; i < 2; i++)
		forget(&a.b.end[i]);
}

static void
traffic(unsigned int packets)
{
	for (; packets > 0; packets--) {
		const unsigned int from = below(2);
		const unsigned int vc = below(a.b.cfg.vcs);
		const unsigned int n = 1 + below(a.b.cfg.max_packet_flits);

		if (bench_info(&a.b.end[from]).queued_flits + n <=
			    a.b.cfg.queue_flits &&
		    a.b.pool.cache.count > FLITS / 4)
			bench_send(&a.b, from, vc, n, 1);
	}
}

static void
under_attack(void)
{
	const uint32_t rate = 1 + below(30);

	a.harm = below(3) ? 4 + below(60) : 0;
	for (unsigned int n = 200 + below(2000); n > 0; n--) {
		step(US);
		if (below(10) == 0)
			traffic(1 + below(4));
		if (below(rate) == 0)
			forge(below(2));
	}
	a.harm = 0;
}

/*
 * Sends one round of packets both ways. @return whether all arrived intact and
 * once
 */
static bool
carries(void)
{
	struct bench *b = &a.b;
	bool good = true;

	for (unsigned int i = 0; i < 2; i++) {
		struct bench_sink *s = &b->end[!i].sink;

		memset(s, 0, sizeof(*s));
		memcpy(s->next_tag, b->end[i].next_tag,
		       sizeof(b->end[i].next_tag));
		for (unsigned int vc = 0; vc < b->cfg.vcs; vc++)
			bench_send(b, i, vc, 1 + vc % 4, 2);
	}
	for (unsigned int n = 0; n < 300; n++)
		step(10 * US);
	for (unsigned int i = 0; i < 2; i++) {
		const struct bench_sink *s = &b->end[i].sink;

		good &= s->packets == 2 * b->cfg.vcs;
		good &= s->duplicates + s->disorder + s->corrupt == 0;
	}
	return good;
}

static void
run(uint64_t seed)
{
	struct rl_link_cfg cfg;
	unsigned int n = 0;

	rl_prng_seed(&a.prng, seed);
	memset(&a.b, 0, sizeof(a.b));
	draw_cfg(&cfg);
	a.b.pool_flits = FLITS;
	bench_open(&a.b, &cfg);
	for (unsigned int i = 0; i < 2; i++) {
		a.nkept[i] = 0;
		a.b.wire[i].delay_ns = 1 + below(4 * US);
		a.b.wire[i].slot_ns = 200;
		a.b.wire[i].hook = on_wire;
		a.b.wire[i].ctx = &a.nkept[i];
		rl_port_start(a.b.end[i].port, a.b.now_ns);
	}
	for (unsigned int rounds = 1 + below(3); rounds > 0; rounds--) {
		step(below(400) * US);
		under_attack();
	}
	/* two rounds, because a forged drain may take down a working link */
	for (unsigned int good = 0; good < 2; good = carries() ? good + 1 : 0)
		if (n++ == ROUNDS)
			fail_msg("after the attack the link carries nothing: "
				 "%s and %s",
				 rl_link_state_name(bench_state(&a.b.end[0])),
				 rl_link_state_name(bench_state(&a.b.end[1])));
	bench_close(&a.b);
}

int
main(int argc, char **argv)
{
	int status;

	a.frame = aligned_alloc(RL_CACHE_LINE, 2 * RL_FRAME_BYTES_MAX);
	if (a.frame == NULL)
		return 2;
	for (unsigned int i = 0; i < 2 * KEPT; i++) {
		a.kept[i / KEPT][i % KEPT].byte = malloc(RL_FRAME_BYTES_MAX);
		if (a.kept[i / KEPT][i % KEPT].byte == NULL)
			return 2;
	}
	status = fuzz_seeds(argc, argv, run, &a.forged, "frames forged");
	for (unsigned int i = 0; i < 2 * KEPT; i++)
		free(a.kept[i / KEPT][i % KEPT].byte);
	free(a.frame);
	return status;
}
