/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The witness [SW-5]: looks at the CRCs of flits where they come in, after FEC,
 * and where they leave, just before they are copied into a frame. A flit is
 * looked at whatever its number (rl_witness.h), and what was altered once gets
 * a mark, so that only the first witness counts it:
 *
 *  - it came in intact and leaves altered: this device altered it. That goes
 *    for flits of its endpoint, too, which it has encoded itself;
 *  - it left its device intact and comes in altered: the link altered it, in a
 *    way that FEC took for none, or for another.
 *
 * The bytes as they came say whether the witness of the device before has looked,
 * too. Where FEC has made another header of them, by which this flit would be
 * looked at from here on, it gets its mark, but nobody is blamed.
 *
 * The destination drops what has the mark [LCB-2]. With LCRC [LINK-7] a flit
 * that comes in altered is not taken, but sent again.
 */

#include "port_retry.h"
#include "port_witness.h"
#include "rl_witness.h"

static bool
same_header(const uint8_t *a, const uint8_t *b)
{
	return ((rl_get64(a + 2) ^ rl_get64(b + 2)) |
		(rl_get64(a + 10) ^ rl_get64(b + 10))) == 0;
}

/* @return the flits before the first that must be sent again */
static uint32_t
witness_in(struct rl_port *port, const uint8_t *const raw[],
	   struct rl_flit *const f[], uint8_t *sideband, uint32_t n)
{
	const struct rl_link_cfg *const cfg = port->p.cfg;
	uint8_t *wire[RL_WITNESS_BURST], says[RL_WITNESS_BURST];
	uint32_t at[RL_WITNESS_BURST], m = 0, picked = 0;

	for (uint32_t i = 0; i < n; i++) {
		const bool picks = rl_witness_picks(cfg->witness, raw[i]);

		if (RL_SIDEBAND_MARK(rl_get16(sideband + 2 * i)) != RL_MARK_OK)
			continue;
		wire[m] = f[i]->wire;
		at[m] = i;
		picked += picks;
		/* FEC may have made a header that is picked from here on */
		m += picks || cfg->lcrc ||
		     (rl_unlikely(!same_header(raw[i], wire[m])) &&
		      rl_witness_picks(cfg->witness, wire[m]));
	}
	PORT_COUNT_N(port, rx_witnessed, picked); /* not those for LCRC alone */
	if (m == 0 ||
	    rl_likely(rl_codec_witness(port->p.codec, wire, m, says) == 0))
		return n;
	for (uint32_t i = 0; i < m; i++) {
		uint8_t *const sb = sideband + 2 * at[i];

		if (says[i] != RL_WITNESS_ALTERED)
			continue;
		PORT_COUNT_N(port, rx_altered,
			     rl_witness_picks(cfg->witness, raw[at[i]]));
		if (cfg->lcrc) {
			PORT_COUNT(port, rx_lcrc_bad);
			port_detect_hurt(port, PORT_HURT_BAD, 1);
			return at[i];
		}
		rl_put16(sb, (uint16_t)(rl_get16(sb) |
					RL_MARK_SOFT_ERROR
						<< RL_SIDEBAND_MARK_SHIFT));
	}
	return n;
}

uint32_t
port_witness_in(struct rl_port *port, const uint8_t *const raw[],
		struct rl_flit *const f[], uint8_t *sideband, uint32_t n)
{
	uint32_t good = 0, step, took;

	do {
		step = rl_min_u32(n - good, RL_WITNESS_BURST);
		took = witness_in(port, raw + good, f + good,
				  sideband + 2 * good, step);
		good += took;
	} while (took == step && good < n);
	return good;
}

void
port_witness_out(struct rl_port *port, uint32_t n)
{
	const struct rl_replay *r = &port->retry.replay;
	uint8_t *wire[RL_FRAME_FLITS_MAX], says[RL_FRAME_FLITS_MAX];
	uint32_t seq[RL_FRAME_FLITS_MAX], m = 0;

	for (uint32_t s = r->next; s != r->next + n; s++) {
		wire[m] = r->wire[s & r->mask];
		seq[m] = s;
		m += rl_replay_mark(r, s) == RL_MARK_OK &&
		     rl_witness_picks(port->p.cfg->witness, wire[m]);
	}
	PORT_COUNT_N(port, tx_witnessed, m);
	if (m == 0 ||
	    rl_likely(rl_codec_witness(port->p.codec, wire, m, says) == 0))
		return;
	for (uint32_t i = 0; i < m; i++) {
		if (says[i] == RL_WITNESS_INTACT)
			continue;
		PORT_COUNT(port, tx_altered);
		if (says[i] == RL_WITNESS_ALTERED)
			port_retry_mark(port, seq[i]);
	}
}
