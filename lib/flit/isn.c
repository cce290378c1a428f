/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From a syndrome to the number of an intact flit [FLIT-6].
 *
 * The CRC is linear, so the syndrome of an intact flit is L(number XOR
 * expected), and L is injective: a window of consecutive syndrome bits, as many
 * as the number has, determines the difference. A table inverts the window, the
 * difference is mixed again, and all 64 bits must agree. Of all syndromes that
 * corruption can leave, 1023 in 2^64 pass for a slip (2^19 in 2^64 with
 * wide19).
 */

#include "codec_priv.h"
#include "rl_seq.h"

struct rl_isn_result
rl_isn_decode(const struct rl_codec *c, uint64_t syndrome, uint32_t eseq)
{
	struct rl_isn_result r = { RL_ISN_OK, 0 };
	uint64_t window;
	uint32_t diff;

	if (rl_likely(syndrome == 0))
		return r;
	window = syndrome >> c->inv_shift;
	diff = c->inv[window % RL_MIX_LOW];
	diff ^= c->inv_high[window / RL_MIX_LOW % RL_MIX_HIGH];
	if (rl_mix(c, diff) != syndrome) {
		r.verdict = RL_ISN_CORRUPT;
		return r;
	}
	r.slip = rl_seq_diff_bits(eseq ^ diff, eseq, c->isn_bits);
	r.verdict = r.slip < 0 ? RL_ISN_BEHIND : RL_ISN_AHEAD;
	return r;
}
