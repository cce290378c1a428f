/* SPDX-License-Identifier: BSD-3-Clause */

#include "codec_priv.h"
#include "rl_witness.h"

/* Whether this is what some number adds to the CRC; see isn.c. */
static bool
is_number(const struct rl_codec *c, uint64_t syndrome)
{
	const uint64_t window = syndrome >> c->inv_shift;
	const uint32_t number =
		c->inv[window % RL_MIX_LOW] ^
		c->inv_high[window / RL_MIX_LOW % RL_MIX_HIGH];

	return rl_mix(c, number) == syndrome;
}

static bool
is_token(const uint8_t *flit)
{
	return rl_flit_dst(flit) == RL_EP_TOKEN &&
	       rl_flit_src(flit) == RL_EP_TOKEN;
}

static enum rl_witness
say(const struct rl_codec *c, const uint8_t *flit, uint64_t syndrome,
    uint8_t fec)
{
	if (fec == RL_FEC_BAD ||
	    (!is_number(c, syndrome) && !is_token(flit)))
		return RL_WITNESS_ALTERED;
	return fec == RL_FEC_CLEAN ? RL_WITNESS_INTACT : RL_WITNESS_MENDED;
}

unsigned int
rl_codec_witness(const struct rl_codec *c, uint8_t *const flit[],
		 unsigned int n, uint8_t says[])
{
	static const uint32_t none[RL_WITNESS_BURST]; /* of number 0, all */
	uint64_t syndrome[RL_WITNESS_BURST];
	unsigned int wrong = 0;

	RL_DASSERT(n <= RL_WITNESS_BURST);
	c->ops.rx(c, flit, none, n, syndrome, says);
	for (unsigned int i = 0; i < n; i++) {
		says[i] = (uint8_t)say(c, flit[i], syndrome[i], says[i]);
		wrong += says[i] != RL_WITNESS_INTACT;
	}
	return wrong;
}
