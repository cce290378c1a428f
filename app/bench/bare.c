/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a hop is measured against: the check of a flit's FEC while it is copied,
 * and the copy alone. 1024 flits each way: 512 KiB, beyond L1 and within the
 * second-level cache of a server core, in huge pages where there are any.
 */

#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "rl_codec.h"
#include "rl_prng.h"

#define BARE_FLITS 1024
#define BARE_BURST 32
#define BARE_ROUNDS 40

/* and one to warm up */
_Static_assert(BENCH_BARE_FLITS == (BARE_ROUNDS + 1) * BARE_FLITS, "bench.h");

struct bench_bare {
	uint8_t *mem;
	struct rl_codec *codec;
	const uint8_t *src[BARE_FLITS];
	uint8_t *dst[BARE_FLITS];
};

struct bench_bare *
bench_bare_new(void)
{
	struct bench_bare *b = calloc(1, sizeof(*b));
	const uint32_t zero = 0;
	struct rl_prng p;

	if (b == NULL)
		return NULL;
	b->mem = bench_alloc(2 * BARE_FLITS * RL_FLIT_BYTES);
	b->codec = bench_alloc(rl_codec_memsize());
	if (b->mem == NULL || b->codec == NULL) {
		bench_bare_free(b);
		return NULL;
	}
	rl_prng_seed(&p, 1);
	rl_codec_init(b->codec, RL_CRC_BCH, RL_ISN_WIDE,
		      rl_codec_best_isa(512));
	for (unsigned int i = 0; i < BARE_FLITS; i++) {
		uint8_t *f = b->mem + i * RL_FLIT_BYTES;

		for (unsigned int j = 0; j < 240; j += 8)
			rl_put64(f + j, rl_prng_u64(&p));
		rl_codec_tx(b->codec, &f, &zero, 1);
		b->src[i] = f;
		b->dst[i] = f + BARE_FLITS * RL_FLIT_BYTES;
	}
	return b;
}

void
bench_bare_free(struct bench_bare *b)
{
	if (b == NULL)
		return;
	free(b->codec);
	free(b->mem);
	free(b);
}

static void
pass(struct bench_bare *b, bool check)
{
	uint8_t fec[BARE_BURST];

	for (unsigned int i = 0; i < BARE_FLITS; i += BARE_BURST) {
		if (check) {
			rl_codec_hop(b->codec, b->src + i, b->dst + i,
				     BARE_BURST, fec);
			continue;
		}
		for (unsigned int j = i; j < i + BARE_BURST; j++)
			memcpy(b->dst[j], b->src[j], RL_FLIT_BYTES);
		__asm__ volatile("" ::: "memory");
	}
}

static double
measure(struct bench_bare *b, bool check)
{
	uint64_t t0;

	pass(b, check); /* whatever ran before, the flits are in L2 now */
	t0 = bench_cpu_ns();
	for (unsigned int k = 0; k < BARE_ROUNDS; k++)
		pass(b, check);
	return (double)(bench_cpu_ns() - t0) /
	       ((double)BARE_ROUNDS * BARE_FLITS);
}

double
bench_bare_ns(struct bench_bare *b)
{
	return measure(b, true);
}

double
bench_bare_copy_ns(struct bench_bare *b)
{
	return measure(b, false);
}
