/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `codec`: ns per flit of each operation, implementation and working
 * set [FLIT-8].
 *
 * All that is compared is measured in turn within each repetition, so that a
 * slow moment of the machine hurts all of it. The peers run over the same
 * flits in the same order: a bare copy of 256 bytes with the widest registers
 * the CPU has, and ISA-L's CRC-64 over the 242 bytes that the CRC protects
 * (the CRC alone: no sequence number, no FEC).
 *
 * The numbers of a burst follow each other. TX leaves flits that RX and the hop
 * then accept; they say so. From memory a burst's first flits come too late for
 * any prefetch, so the length of the burst counts: the 64 MiB are measured in
 * bursts of 1024, which shows the prefetch, and of 64, which shows a poll loop.
 *
 * Times are of this thread's CPU clock: what else runs on the machine then
 * hurts only through caches and memory.
 *
 * "paths" has an object for each path: isa, crc, isn, op, set, burst_flits,
 * ns_per_flit, copy_ns, isal_crc_ns, ratio_vs_isal, ratio_vs_copy; null for what
 * was not measured. -EBADMSG: an implementation did not accept its own flits.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#ifdef RL_HAVE_ISAL
#include <isa-l/crc64.h>
#endif

#include "bench.h"
#include "rl_codec.h"
#include "rl_prng.h"
#include "stop_signal.h"

#define BURST_MAX 1024
#define SET_FLITS_MAX (64u * 1024 * 1024 / RL_FLIT_BYTES)
#define REPS_MAX 201
/* Flits of one sample; CRCs by table are 20 to 30 times slower. */
#define SAMPLE_FLITS SET_FLITS_MAX
#define SAMPLE_FLITS_SLOW (SET_FLITS_MAX / 16)
#define HUGE_PAGE (2ul * 1024 * 1024)
/* Away from the sources by no multiple of 4 KiB: no false dependencies. */
#define DST_SHIFT 1088

enum op {
	OP_TX,
	OP_RX,
	OP_HOP,
	OP_CHECK,
	OP_COUNT
};

static const char *const op_names[OP_COUNT] = { "tx", "rx", "hop", "check" };

struct working_set {
	const char *name;
	unsigned int flits; /**< a multiple of the burst */
	unsigned int burst;
	bool shuffled;
};

enum { SET_L1, SET_L2, SET_SEQUENTIAL };

static const struct working_set sets[] = {
	[SET_L1] = { "l1", 64, 64, false },
	[SET_L2] = { "l2", 1024, 64, false },
	[SET_SEQUENTIAL] = { "64mib-sequential", SET_FLITS_MAX, 1024, false },
	{ "64mib-shuffled", SET_FLITS_MAX, 1024, true },
	{ "64mib-sequential-bursts-of-64", SET_FLITS_MAX, 64, false },
	{ "64mib-shuffled-bursts-of-64", SET_FLITS_MAX, 64, true },
};

struct coding {
	enum rl_crc_kind crc;
	enum rl_isn_kind isn;
	const char *crc_name;
	const char *isn_name;
};

/* ECMA runs the same code as BCH with other constants. */
static const struct coding codings[] = {
	{ RL_CRC_BCH, RL_ISN_WIDE, "crc64-bch", "wide" },
	{ RL_CRC_PCIE6_RS, RL_ISN_XOR10, "pcie6-rs", "xor10" },
};

/** One implementation with its samples of the current working set. */
struct path {
	enum rl_isa isa;
	const struct coding *coding;
	struct rl_codec *codec;
	double ns[OP_COUNT][REPS_MAX];
};

#define PATHS_MAX (RL_ISA_COUNT * RL_ARRAY_SIZE(codings))

struct bench {
	uint8_t *raw;	 /**< the mapping */
	uint8_t *memory; /**< its first huge page */
	size_t raw_bytes;
	uint8_t **src;
	uint8_t **dst;
	uint32_t numbers[1024 + BURST_MAX];
	uint64_t syndrome[BURST_MAX];
	uint8_t fec[BURST_MAX];
	struct path path[PATHS_MAX];
	unsigned int npaths;
	unsigned int reps;
	double copy_ns[REPS_MAX];
	double isal_ns[REPS_MAX];
	unsigned int refused; /**< flits that RX did not accept */
	uint64_t sink;	      /**< keeps results alive */
	/* medians by path, operation and set, for the targets */
	double ns[PATHS_MAX][OP_COUNT][RL_ARRAY_SIZE(sets)];
	double copy[RL_ARRAY_SIZE(sets)];
	double isal[RL_ARRAY_SIZE(sets)];
};

/** Flits first..first + n - 1 through one operation; peers need no path. */
typedef void (*burst_fn)(struct bench *b, const struct path *p,
			 unsigned int first, unsigned int n);

static void
burst_tx(struct bench *b, const struct path *p, unsigned int first,
	 unsigned int n)
{
	rl_codec_tx(p->codec, b->src + first, b->numbers + first % 1024, n);
}

static void
burst_rx(struct bench *b, const struct path *p, unsigned int first,
	 unsigned int n)
{
	b->refused += rl_codec_rx(p->codec, b->src + first,
				  b->numbers + first % 1024, n, b->syndrome, b->fec);
}

static void
burst_hop(struct bench *b, const struct path *p, unsigned int first,
	  unsigned int n)
{
	b->refused += rl_codec_hop(p->codec,
				   (const uint8_t *const *)b->src + first,
				   b->dst + first, n, b->fec);
}

static void
burst_check(struct bench *b, const struct path *p, unsigned int first,
	    unsigned int n)
{
	b->refused += rl_codec_fec_check(
		p->codec, (const uint8_t *const *)b->src + first, n, b->fec);
}

static const burst_fn burst_fns[OP_COUNT] = { burst_tx, burst_rx, burst_hop,
					      burst_check };

#if defined(__x86_64__)

/* All loads first: else the pointers are read again after each store. */
__attribute__((target("avx512f"))) static void
copy_512(uint8_t *const *src, uint8_t *const *dst, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *s = src[i];
		uint8_t *d = dst[i];
		__m512i z[4];

#pragma GCC unroll 4
		for (int k = 0; k < 4; k++)
			z[k] = _mm512_loadu_si512(s + 64 * k);
#pragma GCC unroll 4
		for (int k = 0; k < 4; k++)
			_mm512_storeu_si512(d + 64 * k, z[k]);
	}
}

__attribute__((target("avx"))) static void
copy_256(uint8_t *const *src, uint8_t *const *dst, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *s = src[i];
		uint8_t *d = dst[i];
		__m256i y[8];

#pragma GCC unroll 8
		for (int k = 0; k < 8; k++)
			y[k] = _mm256_loadu_si256(
				(const __m256i_u *)(s + 32 * k));
#pragma GCC unroll 8
		for (int k = 0; k < 8; k++)
			_mm256_storeu_si256((__m256i_u *)(d + 32 * k), y[k]);
	}
}

#endif

static void
burst_copy(struct bench *b, RL_UNUSED const struct path *p, unsigned int first,
	   unsigned int n)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f")) {
		copy_512(b->src + first, b->dst + first, n);
		return;
	}
	if (__builtin_cpu_supports("avx")) {
		copy_256(b->src + first, b->dst + first, n);
		return;
	}
#endif
	for (unsigned int i = first; i < first + n; i++)
		memcpy(b->dst[i], b->src[i], RL_FLIT_BYTES);
}

#ifdef RL_HAVE_ISAL
static void
burst_isal(struct bench *b, RL_UNUSED const struct path *p, unsigned int first,
	   unsigned int n)
{
	for (unsigned int i = first; i < first + n; i++)
		b->sink += crc64_ecma_refl(0, b->src[i], RL_FLIT_CRC_OFF);
}
#endif

/**
 * ns per flit of @p fn over @p total flits of the set, from @p start on, as
 * often around as it takes.
 */
static double
sample(struct bench *b, const struct path *p, burst_fn fn,
       const struct working_set *w, unsigned int start, unsigned int total)
{
	unsigned int at = start;
	const double t0 = (double)bench_cpu_ns();

	for (unsigned int done = 0; done < total; done += w->burst) {
		fn(b, p, at, w->burst);
		at += w->burst;
		if (at == w->flits)
			at = 0;
	}
	return ((double)bench_cpu_ns() - t0) / total;
}

/** One repetition: everything once, in turn. */
static void
repetition(struct bench *b, const struct working_set *w, unsigned int rep)
{
	b->copy_ns[rep] = sample(b, NULL, burst_copy, w, 0, SAMPLE_FLITS);
#ifdef RL_HAVE_ISAL
	b->isal_ns[rep] = sample(b, NULL, burst_isal, w, 0, SAMPLE_FLITS);
#endif
	for (unsigned int i = 0; i < b->npaths; i++) {
		struct path *p = &b->path[i];
		const bool slow = p->isa == RL_ISA_SCALAR ||
				  (p->coding->crc == RL_CRC_PCIE6_RS &&
				   p->isa != RL_ISA_AVX512);
		const unsigned int total =
			slow ? SAMPLE_FLITS_SLOW : SAMPLE_FLITS;
		/* slow ones see a different part of the set each time */
		const unsigned int start = rep * total % w->flits;

		for (int op = 0; op < OP_COUNT; op++)
			p->ns[op][rep] = sample(b, p, burst_fns[op], w, start,
						total);
	}
}

/** Lays the flits of @p w out in order, or shuffled. */
static void
arrange(struct bench *b, const struct working_set *w)
{
	uint8_t *dst = b->memory + (size_t)SET_FLITS_MAX * RL_FLIT_BYTES +
		       DST_SHIFT;
	struct rl_prng prng;

	rl_prng_seed(&prng, 1);
	for (unsigned int i = 0; i < w->flits; i++) {
		b->src[i] = b->memory + (size_t)i * RL_FLIT_BYTES;
		b->dst[i] = dst + (size_t)i * RL_FLIT_BYTES;
	}
	for (unsigned int i = w->flits - 1; w->shuffled && i > 0; i--) {
		const unsigned int j = rl_prng_below(&prng, i + 1);
		uint8_t *swap = b->src[i];

		b->src[i] = b->src[j];
		b->src[j] = swap;
	}
}

static void
report_path(struct bench *b, json_t *paths, unsigned int set, unsigned int i,
	    FILE *human)
{
	struct path *p = &b->path[i];

	fprintf(human, "  %-7s %-10s", rl_isa_name(p->isa),
		p->coding->crc_name);
	for (int op = 0; op < OP_COUNT; op++) {
		const double ns = bench_median(p->ns[op], b->reps);
		json_t *o = json_pack(
			"{s:s, s:s, s:s, s:s, s:s, s:i, s:f, s:f, s:f}", "isa",
			rl_isa_name(p->isa), "crc", p->coding->crc_name, "isn",
			p->coding->isn_name, "op", op_names[op], "set",
			sets[set].name, "burst_flits", (int)sets[set].burst,
			"ns_per_flit", ns, "copy_ns",
			b->copy[set], "ratio_vs_copy", ns / b->copy[set]);

		b->ns[i][op][set] = ns;
#ifdef RL_HAVE_ISAL
		json_object_set_new(o, "isal_crc_ns", json_real(b->isal[set]));
		json_object_set_new(o, "ratio_vs_isal",
				    json_real(b->isal[set] / ns));
#else
		json_object_set_new(o, "isal_crc_ns", json_null());
		json_object_set_new(o, "ratio_vs_isal", json_null());
#endif
		json_array_append_new(paths, o);
		fprintf(human, " %8.2f", ns);
	}
#ifdef RL_HAVE_ISAL
	fprintf(human, " %7.2fx %7.2fx", b->isal[set] / b->ns[i][OP_TX][set],
		b->isal[set] / b->ns[i][OP_RX][set]);
#endif
	fprintf(human, "\n");
}

static void
measure_set(struct bench *b, json_t *paths, unsigned int set, FILE *human)
{
	const struct working_set *w = &sets[set];

	arrange(b, w);
	for (unsigned int r = 0; r < b->reps; r++)
		repetition(b, w, r);
	b->copy[set] = bench_median(b->copy_ns, b->reps);
	fprintf(human, "%s: %u flits in bursts of %u; copy %.2f ns", w->name,
		w->flits, w->burst, b->copy[set]);
#ifdef RL_HAVE_ISAL
	b->isal[set] = bench_median(b->isal_ns, b->reps);
	fprintf(human, ", ISA-L's CRC-64 %.2f ns", b->isal[set]);
#endif
	fprintf(human,
		"\n  %-7s %-10s %8s %8s %8s %8s  TX and RX against ISA-L\n",
		"isa", "crc", "tx ns", "rx ns", "hop ns", "check ns");
	for (unsigned int i = 0; i < b->npaths; i++)
		report_path(b, paths, set, i, human);
	fflush(human);
}

static int
map_flits(struct bench *b)
{
	const size_t half = (size_t)SET_FLITS_MAX * RL_FLIT_BYTES;
	struct rl_prng prng;

	b->raw_bytes = 2 * half + 2 * HUGE_PAGE;
	b->raw = mmap(NULL, b->raw_bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->raw == MAP_FAILED) {
		b->raw = NULL;
		return -ENOMEM;
	}
	madvise(b->raw, b->raw_bytes, MADV_HUGEPAGE); /* a wish */
	b->memory = (uint8_t *)(((uintptr_t)b->raw + HUGE_PAGE - 1) &
				~(HUGE_PAGE - 1));
	rl_prng_seed(&prng, 2);
	for (size_t i = 0; i < half; i += 8)
		rl_put64(b->memory + i, rl_prng_u64(&prng));
	memset(b->memory + half, 1, half + DST_SHIFT);
	return 0;
}

static int
make_codecs(struct bench *b)
{
	const size_t size = (rl_codec_memsize() + RL_CACHE_LINE - 1) /
			    RL_CACHE_LINE * RL_CACHE_LINE;

	for (int isa = 0; isa < RL_ISA_COUNT; isa++)
		for (size_t i = 0; i < RL_ARRAY_SIZE(codings); i++) {
			struct path *p = &b->path[b->npaths];

			p->isa = (enum rl_isa)isa;
			p->coding = &codings[i];
			p->codec = aligned_alloc(RL_CACHE_LINE, size);
			if (p->codec == NULL)
				return -ENOMEM;
			if (rl_codec_init(p->codec, p->coding->crc,
					  p->coding->isn, p->isa) == 0)
				b->npaths++;
			else
				free(p->codec); /* this CPU lacks it */
		}
	return 0;
}

static void
bench_close(struct bench *b)
{
	for (unsigned int i = 0; i < b->npaths; i++)
		free(b->path[i].codec);
	if (b->raw != NULL)
		munmap(b->raw, b->raw_bytes);
	free(b->src);
	free(b->dst);
	free(b);
}

static int
bench_open(struct bench **out, unsigned int reps)
{
	struct bench *b = calloc(1, sizeof(*b));
	int rc;

	if (b == NULL)
		return -ENOMEM;
	b->reps = rl_min_u32(reps, REPS_MAX);
	b->src = calloc(SET_FLITS_MAX, sizeof(b->src[0]));
	b->dst = calloc(SET_FLITS_MAX, sizeof(b->dst[0]));
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(b->numbers); i++)
		b->numbers[i] = i;
	rc = b->src == NULL || b->dst == NULL ? -ENOMEM : map_flits(b);
	if (rc == 0)
		rc = make_codecs(b);
	if (rc != 0) {
		bench_close(b);
		return rc;
	}
	*out = b;
	return 0;
}

int
bench_codec(const struct bench_opts *o, json_t *out, FILE *human)
{
	json_t *paths = json_array();
	struct bench *b;
	int rc;

	json_object_set_new(out, "paths", paths);
	rc = bench_open(&b, o->reps);
	if (rc != 0)
		return rc;
	json_object_set_new(out, "reps", json_integer(b->reps));
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(sets) && stop_asked() == 0;
	     i++)
		measure_set(b, paths, i, human);
	rc = b->refused == 0 ? 0 : -EBADMSG;
	bench_close(b);
	return rc;
}
