/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every instruction set against the plain reference, on the same vectors
 * [FLIT-4, FLIT-5, FLIT-8].
 */

#include <errno.h>
#include <string.h>

#include "codec_test.h"
#ifdef RL_HAVE_ISAL
#include <isa-l/crc64.h>
#endif

#define BURST_MAX 70
/* Flits lie at any alignment, with guard bytes around them. */
#define SLOT 384
#define GUARD 0xa5

static const unsigned int burst_sizes[] = { 0,	1,  2,	3,  4,	5,  6,	7,
					    8,	9,  15, 16, 17, 23, 24, 25,
					    31, 32, 33, 39, 40, 41, 63, 64, 70 };

/** A burst of flits to work on, and the same for the reference. */
struct arena {
	uint8_t bytes[BURST_MAX * SLOT];
	uint8_t expected[BURST_MAX * SLOT];
	uint8_t *flit[BURST_MAX];
	uint8_t *want[BURST_MAX];
	uint32_t seq[BURST_MAX];
};

/** What a test runs with, for each supported combination. */
struct setup {
	struct rl_codec *codec;
	enum rl_crc_kind crc;
	enum rl_isn_kind isn;
	struct rl_prng prng;
};

typedef void (*setup_fn)(struct setup *s);

static void
for_each_codec(setup_fn fn)
{
	for (int isa = 0; isa < RL_ISA_COUNT; isa++) {
		bool made = false;

		for (int crc = 0; crc < CRC_KINDS; crc++)
			for (int isn = 0; isn < ISN_KINDS; isn++) {
				struct setup s = { NULL, crc, isn, { { 0 } } };

				rl_prng_seed(&s.prng, 7);
				s.codec = codec_new(crc, isn, isa);
				if (s.codec == NULL)
					continue;
				assert_int_equal(rl_codec_isa(s.codec), isa);
				made = true;
				fn(&s);
				free(s.codec);
			}
		if (!made)
			print_message("skipped: this CPU lacks %s\n",
				      rl_isa_name(isa));
	}
}

/** Lays out @p n random flits with numbers of a random pattern. */
static void
arena_fill(struct setup *s, struct arena *a, unsigned int n)
{
	const bool aligned = rl_prng_below(&s->prng, 2);
	const unsigned int pattern = rl_prng_below(&s->prng, 4);
	uint32_t first = (uint32_t)rl_prng_u64(&s->prng);

	if (pattern == 1) /* wraps within the burst */
		first = (first & ~0x3ffu) - 1 - rl_prng_below(&s->prng, 12);
	memset(a->bytes, GUARD, sizeof(a->bytes));
	for (unsigned int i = 0; i < n; i++) {
		const size_t off =
			SLOT * i + (aligned ? 64 : rl_prng_below(&s->prng, 128));

		a->flit[i] = a->bytes + off;
		a->want[i] = a->expected + off;
		random_bytes(&s->prng, a->flit[i], RL_FLIT_BYTES);
		a->seq[i] = pattern == 2 ? (uint32_t)rl_prng_u64(&s->prng)
					 : first + i;
		if (pattern == 3 && rl_prng_below(&s->prng, 8) == 0)
			first += 5; /* a gap in the burst */
	}
	memcpy(a->expected, a->bytes, sizeof(a->bytes));
}

/** Flits that the reference encoded, in both halves of the arena. */
static void
arena_encode(struct setup *s, struct arena *a, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		rl_ref_tx(s->crc, s->isn, a->flit[i], a->seq[i]);
		memcpy(a->want[i], a->flit[i], RL_FLIT_BYTES);
	}
}

/** Damages flit @p i in one of several ways, in both halves. */
static void
arena_hurt(struct setup *s, struct arena *a, unsigned int i)
{
	const unsigned int kind = rl_prng_below(&s->prng, 8);
	const unsigned int len = kind < 3 ? 1 : kind < 6 ? kind - 1 : 2;
	uint8_t *f = a->flit[i];

	if (kind == 0)
		return;
	for (unsigned int k = 0, at = rl_prng_below(&s->prng, 256 - len);
	     k < len; k++)
		f[at + k] ^= random_change(&s->prng);
	if (kind >= 6) {
		const uint8_t change = random_change(&s->prng);

		f[rl_prng_below(&s->prng, 256)] ^= change;
	}
	memcpy(a->want[i], f, RL_FLIT_BYTES);
}

static void
check_tx(struct setup *s)
{
	static struct arena a;

	for (size_t k = 0; k < RL_ARRAY_SIZE(burst_sizes); k++) {
		const unsigned int n = burst_sizes[k];

		arena_fill(s, &a, n);
		for (unsigned int i = 0; i < n; i++)
			rl_ref_tx(s->crc, s->isn, a.want[i], a.seq[i]);
		rl_codec_tx(s->codec, a.flit, a.seq, n);
		assert_memory_equal(a.bytes, a.expected, sizeof(a.bytes));
	}
}

/* From elsewhere, one in four from its own place. */
static void
check_tx_from(struct setup *s)
{
	static struct arena a;
	static uint8_t clear[BURST_MAX][RL_FLIT_BYTES];
	const uint8_t *src[BURST_MAX];

	for (size_t k = 0; k < RL_ARRAY_SIZE(burst_sizes); k++) {
		const unsigned int n = burst_sizes[k];

		arena_fill(s, &a, n);
		for (unsigned int i = 0; i < n; i++) {
			memcpy(clear[i], a.flit[i], RL_FLIT_BYTES);
			rl_ref_tx(s->crc, s->isn, a.want[i], a.seq[i]);
			src[i] = i % 4 == 1 ? a.flit[i] : clear[i];
			if (src[i] == clear[i])
				random_bytes(&s->prng, a.flit[i],
					     RL_FLIT_BYTES);
		}
		rl_codec_tx_from(s->codec, src, a.flit, a.seq, n);
		assert_memory_equal(a.bytes, a.expected, sizeof(a.bytes));
		for (unsigned int i = 0; i < n; i++) /* as it was */
			assert_memory_equal(clear[i], a.want[i],
					    RL_FLIT_CRC_OFF);
	}
}

static void
tx_from_elsewhere_writes_the_same_and_leaves_that(void **state)
{
	(void)state;
	for_each_codec(check_tx_from);
}

static void
tx_writes_what_the_reference_writes_and_no_byte_beside_it(void **state)
{
	(void)state;
	for_each_codec(check_tx);
}

static void
check_rx(struct setup *s)
{
	static struct arena a;
	uint64_t syndrome[BURST_MAX + 1], want_syndrome;
	uint8_t fec[BURST_MAX + 1];

	for (size_t k = 0; k < 4 * RL_ARRAY_SIZE(burst_sizes); k++) {
		const unsigned int n =
			burst_sizes[k % RL_ARRAY_SIZE(burst_sizes)];
		unsigned int bad = 0;

		arena_fill(s, &a, n);
		arena_encode(s, &a, n);
		for (unsigned int i = 0; i < n && k % 2; i++)
			arena_hurt(s, &a, i);
		for (unsigned int i = 0; i < n && k % 4 >= 2; i++)
			a.seq[i] += rl_prng_below(&s->prng, 3); /* slips */
		memset(fec, GUARD, sizeof(fec));
		memset(syndrome, GUARD, sizeof(syndrome));
		const unsigned int got = rl_codec_rx(s->codec, a.flit, a.seq,
						     n, syndrome, fec);

		for (unsigned int i = 0; i < n; i++) {
			const enum rl_fec_status want =
				rl_ref_rx(s->crc, s->isn, a.want[i], a.seq[i],
					  &want_syndrome);

			assert_int_equal(fec[i], want);
			if (want != RL_FEC_BAD)
				assert_int_equal(syndrome[i], want_syndrome);
			bad += want == RL_FEC_BAD || want_syndrome != 0;
		}
		assert_int_equal(got, bad);
		assert_int_equal(fec[n], GUARD);
		assert_int_equal(syndrome[n], 0x0101010101010101ull * GUARD);
		assert_memory_equal(a.bytes, a.expected, sizeof(a.bytes));
	}
}

static void
rx_corrects_and_judges_as_the_reference_does(void **state)
{
	(void)state;
	for_each_codec(check_rx);
}

static void
check_hop(struct setup *s)
{
	static struct arena a;
	static uint8_t out[BURST_MAX * SLOT], original[BURST_MAX * SLOT];
	uint8_t *dst[BURST_MAX], fec[BURST_MAX + 1], fec2[BURST_MAX + 1];

	for (size_t k = 0; k < 2 * RL_ARRAY_SIZE(burst_sizes); k++) {
		const unsigned int n =
			burst_sizes[k % RL_ARRAY_SIZE(burst_sizes)];
		unsigned int dirty = 0;

		arena_fill(s, &a, n);
		arena_encode(s, &a, n);
		for (unsigned int i = 0; i < n && k % 2; i++)
			arena_hurt(s, &a, i);
		memset(out, GUARD, sizeof(out));
		memset(fec, GUARD, sizeof(fec));
		memset(fec2, GUARD, sizeof(fec2));
		memcpy(original, a.bytes, sizeof(original));
		for (unsigned int i = 0; i < n; i++)
			dst[i] = out + (a.flit[i] - a.bytes);
		const unsigned int got =
			rl_codec_hop(s->codec, (const uint8_t *const *)a.flit,
				     dst, n, fec);
		const unsigned int checked = rl_codec_fec_check(
			s->codec, (const uint8_t *const *)a.flit, n, fec2);

		for (unsigned int i = 0; i < n; i++) {
			const enum rl_fec_status want =
				rl_ref_fec_decode(a.want[i]);

			assert_int_equal(fec[i], want);
			assert_int_equal(fec2[i], want);
			dirty += want != RL_FEC_CLEAN;
		}
		assert_int_equal(got, dirty);
		assert_int_equal(checked, dirty);
		assert_int_equal(fec[n], GUARD);
		assert_int_equal(fec2[n], GUARD);
		assert_memory_equal(out, a.expected, sizeof(out));
		assert_memory_equal(a.bytes, original, sizeof(original));
	}
}

static void
a_hop_copies_checks_and_corrects_the_copy_alone(void **state)
{
	(void)state;
	for_each_codec(check_hop);
}

/* The same of a frame's flits, which lie in a row, into flits of memory. */
static void
check_receive(struct setup *s)
{
	static struct rl_flit mem[BURST_MAX], *f[BURST_MAX];
	static uint8_t body[BURST_MAX * RL_FLIT_BYTES];
	static struct arena a;
	uint8_t *src[BURST_MAX], *dst[BURST_MAX];
	uint8_t fec[BURST_MAX + 1], want[BURST_MAX + 1];

	for (size_t k = 0; k < 2 * RL_ARRAY_SIZE(burst_sizes); k++) {
		const unsigned int n =
			burst_sizes[k % RL_ARRAY_SIZE(burst_sizes)];
		unsigned int dirty;

		arena_fill(s, &a, n);
		arena_encode(s, &a, n);
		for (unsigned int i = 0; i < n && k % 2; i++)
			arena_hurt(s, &a, i);
		memset(mem, GUARD, sizeof(mem));
		memset(fec, GUARD, sizeof(fec));
		for (unsigned int i = 0; i < n; i++) {
			f[i] = &mem[n - 1 - i];
			src[i] = body + i * RL_FLIT_BYTES;
			memcpy(src[i], a.flit[i], RL_FLIT_BYTES);
			dst[i] = a.want[i];
		}
		dirty = rl_codec_hop(s->codec, (const uint8_t *const *)src, dst,
				     n, want);
		assert_int_equal(rl_codec_receive(s->codec,
						  (const uint8_t *const *)src,
						  f, n, fec),
				 dirty);
		assert_int_equal(fec[n], GUARD);
		assert_memory_equal(fec, want, n);
		for (unsigned int i = 0; i < n; i++) {
			assert_memory_equal(f[i]->wire, dst[i], RL_FLIT_BYTES);
			assert_memory_equal(src[i], a.flit[i], RL_FLIT_BYTES);
			assert_int_equal(f[i]->flags, GUARD);
		}
	}
}

static void
a_frame_is_received_as_by_a_hop_of_each_flit(void **state)
{
	(void)state;
	for_each_codec(check_receive);
}

/* A sanitizer's matter: arrays on the heap, of just the length needed. */
static void
check_array_ends(struct setup *s)
{
	for (size_t k = 0; k < RL_ARRAY_SIZE(burst_sizes); k++) {
		const unsigned int n = burst_sizes[k];
		uint8_t *bytes = malloc(2 * n * RL_FLIT_BYTES + 1);
		uint8_t **src = malloc(n * sizeof(*src) + 1);
		uint8_t **dst = malloc(n * sizeof(*dst) + 1);
		uint32_t *seq = malloc(n * sizeof(*seq) + 1);
		uint64_t *syndrome = malloc(n * sizeof(*syndrome) + 1);
		uint8_t *fec = malloc(n + 1);

		for (unsigned int i = 0; i < n; i++) {
			src[i] = bytes + i * RL_FLIT_BYTES;
			dst[i] = bytes + (n + i) * RL_FLIT_BYTES;
			seq[i] = i;
			memset(src[i], (int)i, RL_FLIT_BYTES);
		}
		const uint8_t *const *in = (const uint8_t *const *)src;

		rl_codec_tx(s->codec, src, seq, n);
		assert_int_equal(
			rl_codec_rx(s->codec, src, seq, n, syndrome, fec), 0);
		assert_int_equal(rl_codec_hop(s->codec, in, dst, n, fec), 0);
		assert_int_equal(rl_codec_fec_check(s->codec, in, n, fec), 0);
		free(bytes);
		free(src);
		free(dst);
		free(seq);
		free(syndrome);
		free(fec);
	}
}

static void
nothing_beyond_a_burst_is_touched(void **state)
{
	(void)state;
	for_each_codec(check_array_ends);
}

static void
check_edges(struct setup *s)
{
	uint8_t f[RL_FLIT_BYTES], want[RL_FLIT_BYTES], *fp = f;

	for (unsigned int bit = 0; bit < 8 * RL_FLIT_BYTES + 2; bit++) {
		const uint32_t seq = bit % 3 ? bit * 2654435761u : 0;

		memset(f, bit == 8 * RL_FLIT_BYTES ? 0xff : 0, sizeof(f));
		if (bit < 8 * RL_FLIT_BYTES)
			f[bit / 8] = (uint8_t)(1 << bit % 8);
		memcpy(want, f, sizeof(f));
		rl_codec_tx(s->codec, &fp, &seq, 1);
		rl_ref_tx(s->crc, s->isn, want, seq);
		assert_memory_equal(f, want, sizeof(f));
	}
}

static void
all_zero_all_one_and_single_bit_flits_encode_as_by_the_reference(void **state)
{
	(void)state;
	for_each_codec(check_edges);
}

static void
check_single_bytes(struct setup *s)
{
	uint8_t f[8][RL_FLIT_BYTES], good[RL_FLIT_BYTES], *fp[8], fec[8];
	uint32_t seq[8];
	uint64_t syndrome[8];

	random_bytes(&s->prng, good, sizeof(good));
	rl_ref_tx(s->crc, s->isn, good, 77);
	for (unsigned int at = 0; at < RL_FLIT_BYTES; at++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			const unsigned int who = at % 8;

			for (int i = 0; i < 8; i++) {
				memcpy(f[i], good, sizeof(good));
				fp[i] = f[i];
				seq[i] = 77;
			}
			f[who][at] ^= (uint8_t)(random_change(&s->prng) |
						1u << bit);
			assert_int_equal(rl_codec_rx(s->codec, fp, seq, 8,
						     syndrome, fec),
					 0);
			for (unsigned int i = 0; i < 8; i++) {
				assert_int_equal(fec[i],
						 i == who ? RL_FEC_CORRECTED
							  : RL_FEC_CLEAN);
				assert_memory_equal(f[i], good, sizeof(good));
			}
		}
}

static void
one_wrong_byte_at_any_position_is_corrected(void **state)
{
	(void)state;
	for_each_codec(check_single_bytes);
}

static void
crcs_of_a_fixed_flit_are_those_of_an_independent_program(void **state)
{
	uint8_t f[RL_FLIT_BYTES];

	(void)state;
	for (int i = 0; i < RL_FLIT_BYTES; i++)
		f[i] = (uint8_t)(7 * i + 3);
	assert_int_equal(rl_ref_crc(RL_CRC_ECMA, f), 0xeb9822dad4a8c5acull);
	assert_int_equal(rl_ref_crc(RL_CRC_BCH, f), 0x7f9bc309a6479e0aull);
	assert_int_equal(rl_ref_crc(RL_CRC_PCIE6_RS, f), 0x3b3d5f27b805cde3ull);
	rl_ref_tx(RL_CRC_BCH, RL_ISN_WIDE, f, 0x155);
	assert_int_equal(rl_get64(f + RL_FLIT_CRC_OFF), 0xd509b5f0df8ca35eull);
	assert_int_equal(rl_get64(f + 248), 0xa518c354bf9ed509ull);
#ifdef RL_HAVE_ISAL
	assert_int_equal(rl_ref_crc(RL_CRC_ECMA, f),
			 crc64_ecma_refl(0, f, RL_FLIT_CRC_OFF));
#endif
}

static void
fec_encode_alone_writes_the_six_bytes(void **state)
{
	struct rl_codec *c = codec_best(RL_CRC_BCH, RL_ISN_WIDE);
	uint8_t f[RL_FLIT_BYTES], want[RL_FLIT_BYTES];
	struct rl_prng p;

	(void)state;
	rl_prng_seed(&p, 3);
	for (int i = 0; i < 200; i++) {
		random_bytes(&p, f, sizeof(f));
		memcpy(want, f, sizeof(f));
		rl_codec_fec_encode(c, f);
		rl_ref_fec_encode(want);
		assert_memory_equal(f, want, sizeof(f));
	}
	free(c);
}

static void
init_refuses_what_cannot_work(void **state)
{
	struct rl_codec *c = codec_best(RL_CRC_BCH, RL_ISN_WIDE);

	(void)state;
	assert_int_equal(rl_codec_init(c, RL_CRC_PCIE6_RS, RL_ISN_WIDE,
				       RL_ISA_SCALAR), -EINVAL);
	assert_int_equal(rl_codec_init(c, RL_CRC_PCIE6_RS, RL_ISN_WIDE19,
				       RL_ISA_SCALAR), -EINVAL);
	assert_int_equal(rl_codec_init(c, RL_CRC_ECMA, RL_ISN_WIDE19,
				       RL_ISA_SCALAR), -EINVAL);
	assert_int_equal(rl_codec_init(c, (enum rl_crc_kind)9, RL_ISN_XOR10,
				       RL_ISA_SCALAR), -EINVAL);
	assert_int_equal(rl_codec_init(c, RL_CRC_BCH, (enum rl_isn_kind)9,
				       RL_ISA_SCALAR), -EINVAL);
	assert_int_equal(rl_codec_init(c, RL_CRC_BCH, RL_ISN_WIDE,
				       RL_ISA_COUNT), -ENOTSUP);
	free(c);
}

static void
the_instruction_set_stays_within_the_width_asked_for(void **state)
{
	(void)state;
	assert_int_equal(rl_codec_best_isa(0), RL_ISA_SCALAR);
	assert_int_equal(rl_codec_best_isa(64), RL_ISA_SCALAR);
	assert_int_not_equal(rl_codec_best_isa(128), RL_ISA_AVX2);
	assert_int_not_equal(rl_codec_best_isa(128), RL_ISA_AVX512);
	assert_int_not_equal(rl_codec_best_isa(256), RL_ISA_AVX512);
	assert_true(rl_codec_best_isa(256) <= rl_codec_best_isa(512));
	assert_string_equal(rl_isa_name(RL_ISA_SCALAR), "scalar");
	assert_string_equal(rl_isa_name(RL_ISA_SSE42), "sse42");
	assert_string_equal(rl_isa_name(RL_ISA_AVX2), "avx2");
	assert_string_equal(rl_isa_name(RL_ISA_AVX512), "avx512");
	assert_string_equal(rl_isa_name(RL_ISA_NEON), "neon");
	assert_string_equal(rl_isa_name(RL_ISA_COUNT), "unknown");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			tx_writes_what_the_reference_writes_and_no_byte_beside_it),
		cmocka_unit_test(
			tx_from_elsewhere_writes_the_same_and_leaves_that),
		cmocka_unit_test(rx_corrects_and_judges_as_the_reference_does),
		cmocka_unit_test(
			a_hop_copies_checks_and_corrects_the_copy_alone),
		cmocka_unit_test(a_frame_is_received_as_by_a_hop_of_each_flit),
		cmocka_unit_test(nothing_beyond_a_burst_is_touched),
		cmocka_unit_test(
			all_zero_all_one_and_single_bit_flits_encode_as_by_the_reference),
		cmocka_unit_test(one_wrong_byte_at_any_position_is_corrected),
		cmocka_unit_test(
			crcs_of_a_fixed_flit_are_those_of_an_independent_program),
		cmocka_unit_test(fec_encode_alone_writes_the_six_bytes),
		cmocka_unit_test(init_refuses_what_cannot_work),
		cmocka_unit_test(
			the_instruction_set_stays_within_the_width_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
