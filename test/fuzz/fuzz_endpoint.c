/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a peer may send to an endpoint [APP-4]. Endpoints 0 and 1 talk to each
 * other; endpoint 2 talks to both, and an attacker uses its name: it sends
 * control flits and earlier data flits of endpoint 2, modified at random, with
 * valid CRC and FEC. In any case,
 *   - nothing breaks, and every flit returns to the pool;
 *   - 0 and 1 get each other's packets once, in order, byte for byte.
 * Traffic of endpoint 2 has no guarantee.
 *
 *   fuzz_endpoint COUNT FIRST_SEED
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_seeds.h"
#include "rl_endpoint.h"
#include "rl_prng.h"

#define EPS 3
#define FLITS 20000
#define PACKETS 60
#define RECORDED 64
#define END_NS (2000 * RL_NS_PER_MS)

static struct {
	struct rl_ep_cfg cfg;
	struct rl_codec *codec;
	struct rl_flit_cache cache;
	struct rl_flit *arena;
	struct rl_ep *ep[EPS];
	void *mem[EPS];
	struct rl_prng prng;
	uint64_t now_ns;
	uint64_t forged;
	uint8_t wire[RECORDED][RL_FLIT_BYTES];
	uint32_t nrecorded;
	uint32_t sent[2], got[2];
} w;


static uint32_t
below(uint32_t n)
{
	return rl_prng_below(&w.prng, n);
}

static void *
aligned(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) & ~(size_t)63);

	RL_ASSERT(p != NULL);
	memset(p, 0, bytes);
	return p;
}

static void
open_world(void)
{
	w.now_ns = 1000;
	w.nrecorded = 0;
	rl_ep_cfg_defaults(&w.cfg);
	w.cfg.give_up_ns = 0;
	w.cfg.retry_mode = below(2) ? RL_RETRY_GBN : w.cfg.retry_mode;
	w.codec = aligned(rl_codec_memsize());
	RL_ASSERT(rl_codec_init(w.codec, w.cfg.crc, w.cfg.isn,
				RL_ISA_SCALAR) == 0);
	w.arena = aligned(FLITS * sizeof(struct rl_flit));
	w.cache = (struct rl_flit_cache){ .cap = FLITS };
	w.cache.slot = calloc(FLITS, sizeof(*w.cache.slot));
	RL_ASSERT(w.cache.slot != NULL);
	for (unsigned int i = 0; i < FLITS; i++)
		rl_flit_put(&w.cache, &w.arena[i]);
	for (unsigned int i = 0; i < EPS; i++) {
		const struct rl_ep_params p = {
			.cfg = &w.cfg, .codec = w.codec, .cache = &w.cache,
			.ep_id = (uint16_t)i, .npeers = EPS,
			.incarnation = 7 + i,
		};

		w.mem[i] = aligned(rl_ep_memsize(&w.cfg, EPS));
		w.ep[i] = rl_ep_init(w.mem[i], &p);
	}
	memset(w.sent, 0, sizeof(w.sent));
	memset(w.got, 0, sizeof(w.got));
}

static void
close_world(void)
{
	for (unsigned int i = 0; i < EPS; i++) {
		rl_ep_flush(w.ep[i]);
		free(w.mem[i]);
	}
	RL_ASSERT(w.cache.count == w.cache.cap);
	free(w.cache.slot);
	free(w.arena);
	free(w.codec);
}

/* A packet of one flit that endpoint 2 did not send, or not in this form. */
static void
forge(void)
{
	const uint32_t seq = below(3) ? below(4) : below(1024);
	struct rl_flit *f;
	struct rl_txn t;
	uint8_t *wire;

	if (w.nrecorded == 0)
		return;
	f = rl_flit_get(&w.cache);
	RL_ASSERT(f != NULL);
	memcpy(f->wire, w.wire[below(w.nrecorded)], RL_FLIT_BYTES);
	wire = f->wire;
	for (uint32_t n = below(5); n > 0; n--) {
		uint8_t *at = wire + (below(3) ? 6 + below(40)
					       : below(RL_FLIT_CRC_OFF));

		*at = (uint8_t)rl_prng_u64(&w.prng);
	}
	rl_put16(wire + 2, (uint16_t)below(2)); /* to 0 or 1 */
	rl_put16(wire + 4, 2);			/* in the name of 2 */
	if (rl_flit_dst(wire) > 1 || rl_flit_src(wire) != 2) {
		rl_flit_put(&w.cache, f); /* the layout of the header has
					     changed */
		RL_ASSERT(!"the header lies elsewhere");
	}
	rl_codec_tx(w.codec, &wire, &seq, 1);
	rl_txn_get(wire, &t);
	f->src = t.src;
	f->dst = t.dst;
	f->sl = t.sl;
	f->class = t.class;
	f->flags = RL_FF_SOP | RL_FF_EOP;
	f->mark = RL_MARK_OK;
	f->hops = 1;
	rl_packet_start(f);
	rl_ep_rx(w.ep[t.dst], w.now_ns, &f, 1);
	w.forged++;
}

static void
carry(struct rl_pktq *q)
{
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(q)) != NULL) {
		if (pkt->src == 2) {
			const uint32_t slot = w.nrecorded < RECORDED
						      ? w.nrecorded++
						      : below(RECORDED);

			memcpy(w.wire[slot], pkt->wire, RL_FLIT_BYTES);
		}
		rl_ep_rx(w.ep[pkt->dst], w.now_ns, &pkt, 1);
	}
}

static uint32_t
length(uint32_t n)
{
	return 4 + n * 53 % 700;
}

static void
talk(uint32_t me)
{
	uint8_t buf[1024];
	struct rl_flit *pkt;

	if (me < 2 && w.sent[me] < PACKETS) {
		const struct rl_ep_msg msg = { .dst = (uint16_t)!me,
					       .len_bytes =
						       length(w.sent[me]) };

		memset(buf, (int)w.sent[me], sizeof(buf));
		memcpy(buf, &w.sent[me], 4);
		w.sent[me] += rl_ep_send(w.ep[me], w.now_ns, &msg, buf,
					 NULL) == 0;
	} else if (me == 2) {
		const struct rl_ep_msg msg = { .dst = (uint16_t)below(2),
					       .len_bytes = 8 };

		(void)rl_ep_send(w.ep[2], w.now_ns, &msg, "attacker", NULL);
	}
	while ((pkt = rl_ep_recv(w.ep[me])) != NULL) {
		const uint32_t len = rl_ep_copy_out(pkt, buf, sizeof(buf));
		uint32_t n = 0;

		memcpy(&n, buf, 4);
		if (me < 2 && pkt->src != 2) {
			RL_ASSERT(pkt->src == !me && n == w.got[me]);
			RL_ASSERT(len == length(n));
			for (uint32_t i = 4; i < len; i++)
				RL_ASSERT(buf[i] == (uint8_t)n);
			w.got[me]++;
		}
		rl_packet_put(&w.cache, pkt);
	}
}

static void
step(void)
{
	for (uint32_t i = 0; i < EPS; i++) {
		struct rl_pktq q = { 0 };

		talk(i);
		rl_ep_poll(w.ep[i], w.now_ns, &q, 64);
		carry(&q);
	}
}

static void
run(uint64_t seed)
{
	const uint64_t attack_ns = 2 * RL_NS_PER_MS;

	rl_prng_seed(&w.prng, seed);
	open_world();
	while (w.got[0] < PACKETS || w.got[1] < PACKETS) {
		RL_ASSERT(w.now_ns < END_NS);
		w.now_ns += 500 + below(3000);
		step();
		if (w.now_ns < attack_ns && below(2) == 0)
			forge();
	}
	close_world();
}

int
main(int argc, char **argv)
{
	return fuzz_seeds(argc, argv, run, &w.forged, "flits forged");
}
