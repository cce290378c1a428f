/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The checker alone (pkg-config reflit) checks tables from elsewhere: a
 * ring of four switches in which every packet goes clockwise. On one VL that is
 * a credit loop. If s3 moves packets to a second VL, there is none.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rl_check.h"

#define RING 4
#define PLANES 2 /* plane n is for packets on VL n */

/* a switch has three ports, and every path has SL 0 */
static struct rl_fwd_entry entries[2 * RING][PLANES * RING];
static uint8_t vls[2 * RING][PLANES * 4 * 3 * RL_SLS];
static const uint8_t path_sl[RING];

static uint16_t
port_to(const struct rl_topo_dev *d, uint32_t peer)
{
	for (uint16_t p = 0; p < d->nports; p++)
		if (d->port[p].peer_dev == peer)
			return p;
	return RL_FWD_PORT_NONE;
}

/* Makes the table of one device. */
static void
clockwise(const struct rl_topo *topo, uint32_t dev, bool dateline,
	  struct rl_fwd *fwd)
{
	const struct rl_topo_dev *d = &topo->dev[dev];
	struct rl_fwd_entry *entry = entries[dev];

	for (uint32_t i = 0; i < PLANES * RING; i++) {
		const uint32_t dst = i % RING, plane = i / RING;
		uint16_t out = port_to(d, topo->ep_dev[dst]);
		bool second = plane == 1;

		if (d->kind == RL_DEV_ENDPOINT) {
			out = d->ep_id == dst ? RL_FWD_PORT_NONE : 0;
		} else if (out == RL_FWD_PORT_NONE) { /* next in the ring */
			out = port_to(d, (dev + 1) % RING);
			second |= dateline && dev == RING - 1;
		}
		for (unsigned int a = 0; a < RL_FWD_ALTS; a++)
			entry[i].hop[a].port = RL_FWD_PORT_NONE;
		entry[i].hop[0].port = out & RL_FWD_PORT_NONE;
		entry[i].hop[0].plane = second;
	}
	*fwd = (struct rl_fwd){
		.ndst = RING, .nports = d->nports, .nplanes = PLANES,
		.nvls = PLANES, .sl2vl = vls[dev], .path_sl = path_sl };
	rl_fwd_entries(fwd, entry);
	memset(&vls[dev][(d->nports + 1) * d->nports * RL_SLS], 1,
	       (d->nports + 1) * d->nports * RL_SLS);
	for (unsigned int sl = 0; sl < RL_SLS; sl++)
		fwd->plane_of[1][sl] = 1;
}

/* @return number of links in the credit loop; 0: none */
static uint32_t
judge(const struct rl_topo *topo, bool dateline)
{
	struct rl_fwd fwd[2 * RING];
	const struct rl_check_in in = { .topo = topo, .fwd = fwd };
	static struct rl_check_report rep;
	char text[512] = "none";

	for (uint32_t dev = 0; dev < topo->ndev; dev++)
		clockwise(topo, dev, dateline, &fwd[dev]);
	if (rl_check(&in, &rep) == -ELOOP)
		rl_check_cycle_text(topo, &rep, text, sizeof(text));
	printf("%d VL(s): pairs %d/%d, credit loop: %s\n", dateline + 1,
	       (int)rep.reachable, (int)rep.pairs, text);
	return rep.reachable == rep.pairs ? rep.cycle_len : UINT32_MAX;
}

int
main(void)
{
	struct rl_topo_spec spec;
	struct rl_topo topo = { 0 };
	char err[RL_ERR_MAX];

	rl_topo_spec_defaults(&spec, RL_TOPO_TORUS);
	spec.ndims = 1;
	spec.dims[0] = RING;
	if (rl_topo_build(&spec, &topo, err, NULL) != 0 ||
	    judge(&topo, false) != RING || judge(&topo, true) != 0)
		return 1;
	rl_topo_free(&topo);
	return 0;
}
