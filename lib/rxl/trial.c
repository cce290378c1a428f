/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "hop.h"

/** Flits of random content that are sent in turn. */
#define POOL 64

struct rl_rxl_trial {
	struct rxl_hops hops;
	struct rl_rxl_trial_tally tally;
	uint32_t turn;
	uint8_t pool[POOL][RL_FLIT_BYTES] RL_ALIGNED(RL_CACHE_LINE);
};

size_t
rl_rxl_trial_memsize(void)
{
	return sizeof(struct rl_rxl_trial);
}

/** Number of the flit in a slot of the pool; spread over all ten bits. */
static uint32_t
number_of(uint32_t slot)
{
	return slot * 37 & 1023;
}

struct rl_rxl_trial *
rl_rxl_trial_init(void *mem, const struct rl_rxl_trial_cfg *cfg,
		  const struct rl_codec *codec)
{
	struct rl_rxl_trial *t = mem;
	struct rl_prng prng;

	memset(t, 0, sizeof(*t));
	rxl_hops_init(&t->hops, cfg, codec);
	rl_prng_seed(&prng, cfg->seed ^ 0x706f6f6c);
	for (uint32_t i = 0; i < POOL; i++) {
		uint8_t *flit[1] = { t->pool[i] };
		const uint32_t seq = number_of(i);

		for (int k = 0; k < RL_FLIT_BYTES; k += 8)
			rl_put64(flit[0] + k, rl_prng_u64(&prng));
		rl_codec_tx(codec, flit, &seq, 1);
	}
	return t;
}

/** The destination's verdict on a flit that something has touched. */
static void
arrive(struct rl_rxl_trial *t, uint8_t *wire, uint32_t slot)
{
	struct rl_rxl_trial_tally *c = &t->tally;
	uint8_t *flit[1] = { wire };
	const uint32_t eseq = number_of(slot);
	uint64_t syndrome;
	uint8_t status;
	bool altered;

	rl_codec_rx(t->hops.codec, flit, &eseq, 1, &syndrome, &status);
	altered = memcmp(wire, t->pool[slot], RL_FLIT_FEC_OFF) != 0;
	if (status == RL_FEC_BAD)
		c->fec_bad++;
	else if (syndrome == 0 && altered)
		c->undetected++;
	else if (syndrome == 0)
		c->arrived_ok++;
	else if (rl_isn_decode(t->hops.codec, syndrome, eseq).verdict ==
		 RL_ISN_CORRUPT)
		c->crc_bad++;
	else
		c->slipped++;
}

static void
touched(struct rl_rxl_trial *t)
{
	uint8_t wire[RL_FLIT_BYTES] RL_ALIGNED(RL_CACHE_LINE);
	const uint32_t slot = t->turn++ % POOL;
	unsigned int where;

	memcpy(wire, t->pool[slot], sizeof(wire));
	t->tally.touched++;
	switch (rxl_hops_cross(&t->hops, wire, &where)) {
	case RXL_DROPPED:
	case RXL_LOST:
		t->tally.dropped++;
		break;
	case RXL_INTACT:
	case RXL_RIGHT:
	case RXL_WRONG:
		arrive(t, wire, slot);
		break;
	}
}

void
rl_rxl_trial_run(struct rl_rxl_trial *t, uint64_t flits)
{
	t->tally.flits += flits;
	while (flits > 0) {
		const uint64_t run = rl_min_u64(rxl_hops_clean_run(&t->hops),
						flits);

		rxl_hops_skip(&t->hops, run);
		t->tally.arrived_ok += run;
		flits -= run;
		if (flits > 0) {
			touched(t);
			flits--;
		}
	}
	memcpy(t->tally.link, t->hops.link, sizeof(t->tally.link));
	t->tally.hurt_inside = t->hops.hurt_inside;
}

const struct rl_rxl_trial_tally *
rl_rxl_trial_tally(const struct rl_rxl_trial *t)
{
	return &t->tally;
}
