/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "rl_codec.h"
#include "rl_prng.h"

uint64_t
bench_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * RL_NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t
bench_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * RL_NS_PER_S + (uint64_t)t.tv_nsec;
}

static int
cmp_double(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
bench_sort(double v[], unsigned int n)
{
	qsort(v, n, sizeof(v[0]), cmp_double);
}

double
bench_quantile(const double v[], unsigned int n, double q)
{
	unsigned int i = (unsigned int)(q * n);

	if (n == 0)
		return 0;
	return v[i >= n ? n - 1 : i];
}

double
bench_median(double v[], unsigned int n)
{
	bench_sort(v, n);
	return bench_quantile(v, n, 0.5);
}

/* 1024 flits each way: 512 KiB, beyond L1 and within L2 of a server core. */
#define BARE_FLITS 1024
#define BARE_BURST 32
#define BARE_ROUNDS 200

static double
bare(unsigned int reps, bool check)
{
	uint8_t *mem = aligned_alloc(64, 2 * BARE_FLITS * RL_FLIT_BYTES);
	struct rl_codec *codec = aligned_alloc(64, (rl_codec_memsize() + 63) &
							   ~(size_t)63);
	const uint8_t *src[BARE_FLITS];
	uint8_t *dst[BARE_FLITS];
	uint8_t fec[BARE_BURST];
	double *ns = calloc(reps, sizeof(*ns));
	const uint32_t zero = 0;
	struct rl_prng p;
	double median;

	rl_prng_seed(&p, 1);
	rl_codec_init(codec, RL_CRC_BCH, RL_ISN_WIDE, rl_codec_best_isa(512));
	for (unsigned int i = 0; i < BARE_FLITS; i++) {
		uint8_t *f = mem + i * RL_FLIT_BYTES;

		for (unsigned int j = 0; j < 240; j += 8)
			rl_put64(f + j, rl_prng_u64(&p));
		rl_codec_tx(codec, &f, &zero, 1);
		src[i] = f;
		dst[i] = f + BARE_FLITS * RL_FLIT_BYTES;
	}
	for (unsigned int r = 0; r < reps; r++) {
		const uint64_t t0 = bench_cpu_ns();

		for (unsigned int k = 0; k < BARE_ROUNDS; k++)
			for (unsigned int i = 0; i < BARE_FLITS;
			     i += BARE_BURST) {
				if (check) {
					rl_codec_hop(codec, src + i, dst + i,
						     BARE_BURST, fec);
					continue;
				}
				for (unsigned int j = i; j < i + BARE_BURST;
				     j++)
					memcpy(dst[j], src[j], RL_FLIT_BYTES);
				__asm__ volatile("" ::: "memory");
			}
		ns[r] = (double)(bench_cpu_ns() - t0) /
			((double)BARE_ROUNDS * BARE_FLITS);
	}
	median = bench_median(ns, reps);
	free(ns);
	free(codec);
	free(mem);
	return median;
}

double
bench_bare_hop_ns(unsigned int reps)
{
	return bare(reps, true);
}

double
bench_copy_ns(unsigned int reps)
{
	return bare(reps, false);
}
