/* SPDX-License-Identifier: BSD-3-Clause */

/* The codec with SSE4.2 and PCLMULQDQ; codec_pclmul.h explains it. */

#include "codec_pclmul.h"

static inline struct fec_sums
fec_sum(const struct rl_codec *c, const uint8_t *f)
{
	struct fec_sums s = { _mm_setzero_si128(), _mm_setzero_si128() };

#pragma GCC unroll 16
	for (int i = 0; i < 16; i++) {
		const __m128i x =
			_mm_loadu_si128((const __m128i_u *)(f + 15 * i));

		s.p = _mm_xor_si128(s.p, x);
		s.c = _mm_xor_si128(s.c, times(x, c->fec_nibble[i]));
	}
	return s;
}

static void
sse42_tx(const struct rl_codec *c, uint8_t *const f[], const uint32_t seq[],
      unsigned int n)
{
	tx_burst(c, f, seq, n, fec_sum, false);
}

static void
sse42_tx_rs(const struct rl_codec *c, uint8_t *const f[], const uint32_t seq[],
	 unsigned int n)
{
	tx_burst(c, f, seq, n, fec_sum, true);
}

static unsigned int
sse42_rx(const struct rl_codec *c, uint8_t *const f[], const uint32_t eseq[],
      unsigned int n, uint64_t syndrome[], uint8_t fec[])
{
	return rx_burst(c, f, eseq, n, syndrome, fec, fec_sum, false);
}

static unsigned int
sse42_rx_rs(const struct rl_codec *c, uint8_t *const f[], const uint32_t eseq[],
	 unsigned int n, uint64_t syndrome[], uint8_t fec[])
{
	return rx_burst(c, f, eseq, n, syndrome, fec, fec_sum, true);
}

static unsigned int
sse42_hop(const struct rl_codec *c, const uint8_t *const src[],
       uint8_t *const dst[], unsigned int n, uint8_t fec[])
{
	return hop_burst(c, src, dst, n, fec, fec_sum);
}

static unsigned int
sse42_receive(const struct rl_codec *c, const uint8_t *const src[],
	struct rl_flit *const f[], unsigned int n, uint8_t fec[])
{
	return receive_burst(c, src, f, n, fec, fec_sum);
}

static unsigned int
sse42_check(const struct rl_codec *c, const uint8_t *const f[], unsigned int n,
	 uint8_t fec[])
{
	return check_burst(c, f, n, fec, fec_sum);
}

static void
sse42_copy(uint8_t *to, const uint8_t *const flit[], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++, to += RL_FLIT_BYTES)
		memcpy(to, flit[i], RL_FLIT_BYTES);
}

const struct rl_codec_ops rl_ops_sse42 = {
	.tx = sse42_tx,
	.rx = sse42_rx,
	.hop = sse42_hop,
	.receive = sse42_receive,
	.check = sse42_check,
	.copy = sse42_copy,
};

const struct rl_codec_ops rl_ops_sse42_rs = {
	.tx = sse42_tx_rs,
	.rx = sse42_rx_rs,
	.hop = sse42_hop,
	.receive = sse42_receive,
	.check = sse42_check,
	.copy = sse42_copy,
};
