/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The codec with tables and no vector instruction.
 *
 * CRC: slicing by 8. It serves the Reed-Solomon code of PCIe 6 as well: that
 * code's shift register, eight bytes held as one little-endian integer, moves
 * and feeds back byte by byte just like a reflected binary CRC; only the table
 * differs.
 *
 * FEC: Horner's rule with multiplication by a, in four segments of 21 columns
 * (63 bytes) times three groups: twelve independent chains.
 */

#include "codec_priv.h"

#define SEGMENTS 4
#define SEGMENT_COLUMNS 21
#define SEGMENT_BYTES 63
/* Flits to prefetch ahead: at 60 ns and more each, a few are enough. */
#define AHEAD 4

uint64_t
rl_scalar_crc(const struct rl_codec *c, const uint8_t *flit)
{
	const uint64_t(*t)[256] = c->slice;
	uint64_t r = 0;
	int i;

	for (i = 0; i + 8 <= RL_FLIT_CRC_OFF; i += 8) {
		r ^= rl_get64(flit + i);
		r = t[7][r & 0xff] ^ t[6][r >> 8 & 0xff] ^
		    t[5][r >> 16 & 0xff] ^ t[4][r >> 24 & 0xff] ^
		    t[3][r >> 32 & 0xff] ^ t[2][r >> 40 & 0xff] ^
		    t[1][r >> 48 & 0xff] ^ t[0][r >> 56];
	}
	for (; i < RL_FLIT_CRC_OFF; i++)
		r = (r >> 8) ^ t[0][(r ^ flit[i]) & 0xff];
	return r ^ c->crc_zero;
}

static uint32_t
fec_checks(const struct rl_codec *c, const uint8_t *flit)
{
	uint8_t acc[SEGMENTS][3] = { 0 };
	uint32_t checks = 0;

	/* the last segment lacks columns 82.. of some groups: zeros */
	for (int k = 0; k < SEGMENT_COLUMNS; k++)
		for (int s = 0; s < SEGMENTS; s++)
			for (int g = 0; g < 3; g++) {
				const int i = SEGMENT_BYTES * s + 3 * k + g;

				acc[s][g] = c->fec_mul1[acc[s][g]];
				if (i < RL_FLIT_FEC_OFF)
					acc[s][g] ^= flit[i];
			}
	for (int g = 0; g < 3; g++) {
		const uint8_t sum =
			c->fec_mul63[acc[0][g]] ^ c->fec_mul42[acc[1][g]] ^
			c->fec_mul21[acc[2][g]] ^ acc[3][g];

		checks |= (uint32_t)c->fec_mul1[sum] << (8 * g);
	}
	return checks;
}

static uint32_t
fec_parities(const uint8_t *flit)
{
	uint64_t sum[3] = { 0 };
	uint8_t bytes[24], p[4] = { 0 };

	/* 24 bytes are a multiple of both a word and a column */
	for (int i = 0; i < 240; i += 24)
		for (int w = 0; w < 3; w++)
			sum[w] ^= rl_get64(flit + i + 8 * w);
	memcpy(bytes, sum, sizeof(bytes));
	for (int i = 0; i < 24; i++)
		p[i % 3] ^= bytes[i];
	for (int i = 240; i < RL_FLIT_FEC_OFF; i++)
		p[i % 3] ^= flit[i];
	return rl_get32(p);
}

uint64_t
rl_scalar_fec(const struct rl_codec *c, const uint8_t *flit)
{
	const uint64_t ck = fec_checks(c, flit), p = fec_parities(flit);

	/* wire order C1 C2 C0 P1 P2 P0 from byte 250 on */
	return (ck >> 8) << 16 | (ck & 0xff) << 32 | (p >> 8) << 40 |
	       (p & 0xff) << 56;
}

static void
scalar_tx(const struct rl_codec *c, uint8_t *const flit[],
	  const uint32_t seq[], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (i + AHEAD < n)
			rl_prefetch_flit(flit[i + AHEAD]);
		rl_put64(flit[i] + RL_FLIT_CRC_OFF,
			 rl_scalar_crc(c, flit[i]) ^ rl_mix(c, seq[i]));
		rl_fec_word_put(flit[i], rl_scalar_fec(c, flit[i]));
	}
}

static unsigned int
scalar_rx(const struct rl_codec *c, uint8_t *const flit[],
	  const uint32_t eseq[], unsigned int n, uint64_t syndrome[],
	  uint8_t fec[])
{
	unsigned int bad = 0;

	for (unsigned int i = 0; i < n; i++) {
		const uint64_t word =
			rl_scalar_fec(c, flit[i]) ^ rl_fec_word(flit[i]);

		if (i + AHEAD < n)
			rl_prefetch_flit(flit[i + AHEAD]);
		fec[i] = word ? rl_fec_correct(c, flit[i], word) : RL_FEC_CLEAN;
		syndrome[i] = rl_scalar_crc(c, flit[i]) ^ rl_mix(c, eseq[i]) ^
			      rl_get64(flit[i] + RL_FLIT_CRC_OFF);
		bad += fec[i] == RL_FEC_BAD || syndrome[i] != 0;
	}
	return bad;
}

static unsigned int
scalar_hop(const struct rl_codec *c, const uint8_t *const src[],
	   uint8_t *const dst[], unsigned int n, uint8_t fec[])
{
	unsigned int dirty = 0;

	for (unsigned int i = 0; i < n; i++) {
		const uint64_t word =
			rl_scalar_fec(c, src[i]) ^ rl_fec_word(src[i]);

		if (i + AHEAD < n)
			rl_prefetch_flit(src[i + AHEAD]);
		memcpy(dst[i], src[i], RL_FLIT_BYTES);
		fec[i] = word ? rl_fec_correct(c, dst[i], word) : RL_FEC_CLEAN;
		dirty += word != 0;
	}
	return dirty;
}

static unsigned int
scalar_check(const struct rl_codec *c, const uint8_t *const flit[],
	     unsigned int n, uint8_t fec[])
{
	unsigned int dirty = 0;

	for (unsigned int i = 0; i < n; i++) {
		const uint64_t word =
			rl_scalar_fec(c, flit[i]) ^ rl_fec_word(flit[i]);

		if (i + AHEAD < n)
			rl_prefetch_flit(flit[i + AHEAD]);
		fec[i] = rl_fec_judge(c, word);
		dirty += word != 0;
	}
	return dirty;
}

void
rl_scalar_copy(uint8_t *to, const uint8_t *const flit[], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++, to += RL_FLIT_BYTES)
		memcpy(to, flit[i], RL_FLIT_BYTES);
}

const struct rl_codec_ops rl_ops_scalar = {
	.tx = scalar_tx,
	.rx = scalar_rx,
	.hop = scalar_hop,
	.check = scalar_check,
	.copy = rl_scalar_copy,
};
