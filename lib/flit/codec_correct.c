/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The rare path: a flit whose FEC syndrome is not zero.
 *
 * Each group can explain its two syndromes by one wrong byte of its own:
 *   sc = 0: the parity byte P;   sp = 0: the check byte C;
 *   else the data byte of column k with a^(84-k) = sc / sp.
 * A quotient that names a missing column (k < 0, or the 84th column of the two
 * shorter groups) is a detected error, and one group that can't be explained
 * makes the flit uncorrectable: it stays unchanged.
 */

#include "codec_priv.h"

/* Byte of the FEC word that holds C and P of each group. */
static const uint8_t c_byte[3] = { 4, 2, 3 };
static const uint8_t p_byte[3] = { 7, 5, 6 };

/** Offset of the wrong byte of group @p g and its change; -1: none fits. */
static int
locate(const struct rl_codec *c, int g, uint64_t word, uint8_t *change)
{
	const uint8_t sc = (uint8_t)(word >> (8 * c_byte[g]));
	const uint8_t sp = (uint8_t)(word >> (8 * p_byte[g]));
	int column, offset;

	*change = sp;
	if (sc == 0)
		return RL_FEC_WORD_OFF + p_byte[g]; /* change may be 0 */
	if (sp == 0) {
		*change = sc;
		return RL_FEC_WORD_OFF + c_byte[g];
	}
	column = c->fec_log[sc] - c->fec_log[sp];
	if (column < 0)
		column += 255;
	column = 84 - column;
	offset = 3 * column + g;
	return column < 0 || offset >= RL_FLIT_FEC_OFF ? -1 : offset;
}

enum rl_fec_status
rl_fec_judge(const struct rl_codec *c, uint64_t word)
{
	uint8_t change;

	if (word == 0)
		return RL_FEC_CLEAN;
	for (int g = 0; g < 3; g++)
		if (locate(c, g, word, &change) < 0)
			return RL_FEC_BAD;
	return RL_FEC_CORRECTED;
}

enum rl_fec_status
rl_fec_correct(const struct rl_codec *c, uint8_t *flit, uint64_t word)
{
	uint8_t change[3];
	int offset[3];

	for (int g = 0; g < 3; g++) {
		offset[g] = locate(c, g, word, &change[g]);
		if (offset[g] < 0)
			return RL_FEC_BAD;
	}
	for (int g = 0; g < 3; g++)
		flit[offset[g]] ^= change[g];
	return RL_FEC_CORRECTED;
}
