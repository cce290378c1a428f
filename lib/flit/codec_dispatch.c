/* SPDX-License-Identifier: BSD-3-Clause */

/* The public interface of the codec: selects an implementation [FLIT-8]. */

#include <errno.h>
#include <string.h>

#include "codec_priv.h"
#include "rl_codec_ref.h"

#if defined(RL_CODEC_VECTORS) && defined(__aarch64__)

#include <sys/auxv.h>

/** Frame headers are checked by the crc32 instruction where flits are so. */
static const struct rl_codec_ops *
vector_ops(enum rl_isa isa)
{
	const unsigned long need = HWCAP_ASIMD | HWCAP_PMULL | HWCAP_CRC32;

	return isa == RL_ISA_NEON && (getauxval(AT_HWCAP) & need) == need
		       ? &rl_ops_vec16
		       : NULL;
}

#elif defined(RL_CODEC_VECTORS)

#define HAS(feature) __builtin_cpu_supports(feature)

static const struct rl_codec_ops *
vector_ops(enum rl_isa isa)
{
	if (isa == RL_ISA_SSE42 && HAS("sse4.2") && HAS("pclmul"))
		return &rl_ops_vec16;
	if (isa == RL_ISA_AVX2 && HAS("avx2") && HAS("pclmul"))
		return &rl_ops_avx2;
	if (isa == RL_ISA_AVX512 && HAS("avx512f") && HAS("avx512bw") &&
	    HAS("avx512vl") && HAS("avx512dq") && HAS("avx512vbmi") &&
	    HAS("vpclmulqdq") && HAS("gfni"))
		return &rl_ops_avx512;
	return NULL;
}

#else

static const struct rl_codec_ops *
vector_ops(RL_UNUSED enum rl_isa isa)
{
	return NULL;
}

#endif

/** NULL: this CPU lacks @p isa. */
static const struct rl_codec_ops *
ops_of(enum rl_isa isa)
{
	return isa == RL_ISA_SCALAR ? &rl_ops_scalar : vector_ops(isa);
}

size_t
rl_codec_memsize(void)
{
	return sizeof(struct rl_codec);
}

int
rl_codec_init(struct rl_codec *mem, enum rl_crc_kind crc, enum rl_isn_kind isn,
	      enum rl_isa isa)
{
	const struct rl_codec_ops *const ops = ops_of(isa);

	if (!rl_ref_supported(crc, isn))
		return -EINVAL;
	if (ops == NULL)
		return -ENOTSUP;
	RL_ASSERT((uintptr_t)mem % RL_CACHE_LINE == 0);
	mem->ops = *ops;
	mem->crc = (uint8_t)crc;
	mem->isn = (uint8_t)isn;
	mem->isa = (uint8_t)isa;
	rl_codec_tables(mem, crc, isn);
	return 0;
}

enum rl_isa
rl_codec_best_isa(unsigned int max_simd_bits)
{
	static const unsigned int bits[RL_ISA_COUNT] = {
		[RL_ISA_SCALAR] = 0,
		[RL_ISA_SSE42] = 128,
		[RL_ISA_AVX2] = 256,
		[RL_ISA_AVX512] = 512,
		[RL_ISA_NEON] = 128,
	};
	unsigned int isa = RL_ISA_COUNT - 1;

	while (bits[isa] > max_simd_bits || ops_of(isa) == NULL)
		isa--;
	return (enum rl_isa)isa;
}

const char *
rl_isa_name(enum rl_isa isa)
{
	static const char *const names[RL_ISA_COUNT] = {
		[RL_ISA_SCALAR] = "scalar", [RL_ISA_SSE42] = "sse42",
		[RL_ISA_AVX2] = "avx2",	    [RL_ISA_AVX512] = "avx512",
		[RL_ISA_NEON] = "neon",
	};

	return isa < RL_ISA_COUNT ? names[isa] : "unknown";
}

enum rl_isa
rl_codec_isa(const struct rl_codec *c)
{
	return (enum rl_isa)c->isa;
}

void
rl_codec_tx(const struct rl_codec *c, uint8_t *const flit[],
	    const uint32_t seq[], unsigned int n)
{
	c->ops.tx(c, flit, seq, n);
}

void
rl_codec_tx_from(const struct rl_codec *c, const uint8_t *const src[],
		 uint8_t *const flit[], const uint32_t seq[], unsigned int n)
{
	if (rl_likely(c->ops.tx_from != NULL)) {
		c->ops.tx_from(c, src, flit, seq, n);
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		if (src[i] != flit[i])
			memcpy(flit[i], src[i], RL_FLIT_CRC_OFF);
	c->ops.tx(c, flit, seq, n);
}

unsigned int
rl_codec_rx(const struct rl_codec *c, uint8_t *const flit[],
	    const uint32_t eseq[], unsigned int n, uint64_t syndrome[],
	    uint8_t fec[])
{
	return c->ops.rx(c, flit, eseq, n, syndrome, fec);
}

unsigned int
rl_codec_hop(const struct rl_codec *c, const uint8_t *const src[],
	     uint8_t *const dst[], unsigned int n, uint8_t fec[])
{
	return c->ops.hop(c, src, dst, n, fec);
}

#define RECEIVE_BURST 32

unsigned int
rl_codec_receive(const struct rl_codec *c, const uint8_t *const src[],
		 struct rl_flit *const f[], unsigned int n, uint8_t fec[])
{
	unsigned int dirty = 0, burst;

	if (rl_likely(c->ops.receive != NULL))
		return c->ops.receive(c, src, f, n, fec);
	for (unsigned int i = 0; i < n; i += burst) {
		uint8_t *dst[RECEIVE_BURST];

		burst = n - i < RECEIVE_BURST ? n - i : RECEIVE_BURST;
		for (unsigned int k = 0; k < burst; k++)
			dst[k] = f[i + k]->wire;
		dirty += c->ops.hop(c, src + i, dst, burst, fec + i);
	}
	return dirty;
}

unsigned int
rl_codec_fec_check(const struct rl_codec *c, const uint8_t *const flit[],
		   unsigned int n, uint8_t fec[])
{
	return c->ops.check(c, flit, n, fec);
}

void
rl_codec_copy(const struct rl_codec *c, uint8_t *to,
	      const uint8_t *const flit[], unsigned int n)
{
	c->ops.copy(to, flit, n);
}

void
rl_codec_fec_encode(const struct rl_codec *c, uint8_t *flit)
{
	rl_fec_word_put(flit, rl_scalar_fec(c, flit));
}
