/* SPDX-License-Identifier: BSD-3-Clause */

#include "frame_work.h"
#include "rl_prng.h"

const uint8_t frame_work_mac[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };

void
frame_work_fill(const struct rl_codec *codec, uint8_t *data, uint32_t n,
		uint32_t seed)
{
	const uint32_t zero = 0;
	struct rl_prng p;

	rl_prng_seed(&p, seed);
	for (uint32_t k = 0; k < n; k++) {
		uint8_t *f = data + k * RL_FLIT_BYTES;

		for (unsigned int j = 0; j < 240; j += 8)
			rl_put64(f + j, rl_prng_u64(&p));
		rl_put16(f + RL_FLIT_PAYLOAD_OFF, (uint16_t)seed);
		rl_codec_tx(codec, &f, &zero, 1);
	}
}
