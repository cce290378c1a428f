/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The boards of the DRL patent's Figures 2 and 3 [DRL-10]. A board is a row of
 * switches and an array of compute elements (CEs), each linked to several of
 * the switches, so that a failed link leaves other paths to the same CE.
 *
 *   Figure 2 (BOARDS)                    Figure 3 (BOARD)
 *   b0.c0 b0.c1 ...    b1.c0 b1.c1 ...   c0.0 ... c0.7    row 0
 *     |  X  |            |  X  |         c1.0 ... c1.7    row 1
 *   b0.s0--b0.s1       b1.s0--b1.s1      ...
 *     |      |___________|______|        each linked to s0, s1 ... s11
 *     |__________________|
 *
 * Switch k of a board is linked to switch k of each other board. If such a link
 * fails, a packet may go by a third board, or by another switch of the same
 * board: that is why switches of a board are linked. Figure 3 has no such
 * links: there a CE that gets a packet for another one sends it on to another
 * switch.
 *
 * CE i is linked to switches i, i+1, ... (modulo S). With fewer than S of them,
 * neighbouring CEs share all but one of their switches, and any two CEs share
 * at least one if twice their number is more than S.
 */
#include "topo_impl.h"

static unsigned int
board_ports_of_ce(const struct rl_topo_spec *spec)
{
	return spec->switches_per_endpoint != 0 ? spec->switches_per_endpoint :
						  spec->switches_per_board;
}

int
topo_size_boards(struct topo_build *b, struct topo_size *size)
{
	struct rl_topo_spec *spec = &b->t->spec;
	const bool one = spec->kind == RL_TOPO_BOARD;
	uint64_t sw = spec->switches_per_board, ce = spec->endpoints_per_board;
	uint64_t boards;

	if (one)
		spec->boards = 1;
	boards = spec->boards;
	if (boards == 0 || sw == 0 || ce == 0)
		return topo_error(b, 0, "a board of nothing; boards, "
					"switches_per_board and "
					"endpoints_per_board are at least 1");
	if (spec->links_per_edge[0] == 0)
		return topo_error(b, 0, "links_per_edge is 0; the least is 1");
	if (spec->switches_per_endpoint > sw)
		return topo_error(b, 0, "switches_per_endpoint is %u; a "
					"board has %u switches",
				  spec->switches_per_endpoint,
				  spec->switches_per_board);
	if (one && board_ports_of_ce(spec) < 2)
		return topo_error(b, 0, "a broken link would cut a compute "
					"element off; switches_per_endpoint "
					"is at least 2 here");
	spec->switches_per_endpoint = (uint16_t)board_ports_of_ce(spec);
	size->switches = boards * sw;
	size->endpoints = boards * ce;
	size->links = size->endpoints * spec->switches_per_endpoint +
		      boards * (sw * (sw - 1) / 2) * spec->intra_board_links;
	/* This may wrap round, but only if there are too many devices. */
	size->links += sw * (boards * (boards - 1) / 2) *
		       spec->links_per_edge[0];
	return 0;
}

static void
boards_add_devs(struct topo_build *b)
{
	const struct rl_topo_spec *spec = &b->t->spec;
	const bool one = spec->kind == RL_TOPO_BOARD;
	struct rl_topo_dev *dev;

	for (unsigned int i = 0; i < spec->boards; i++) {
		for (unsigned int k = 0; k < spec->switches_per_board; k++) {
			dev = one ? topo_add_dev(b, RL_DEV_SWITCH, "s%u", k) :
				    topo_add_dev(b, RL_DEV_SWITCH, "b%u.s%u",
						 i, k);
			dev->coord[0] = (uint16_t)i;
			dev->coord[1] = (uint16_t)k;
		}
	}
	for (unsigned int i = 0; i < spec->boards; i++) {
		for (unsigned int k = 0; k < spec->endpoints_per_board; k++) {
			const unsigned int major = one ? k / RL_BOARD_ROW : i;
			const unsigned int minor = one ? k % RL_BOARD_ROW : k;

			dev = topo_add_dev(b, RL_DEV_ENDPOINT,
					   one ? "c%u.%u" : "b%u.c%u", major,
					   minor);
			dev->coord[0] = (uint16_t)major;
			dev->coord[1] = (uint16_t)minor;
		}
	}
}

void
topo_fill_boards(struct topo_build *b)
{
	const struct rl_topo_spec *spec = &b->t->spec;
	const uint32_t sw = spec->switches_per_board;
	const uint32_t ce = spec->endpoints_per_board;

	boards_add_devs(b);
	for (uint32_t e = 0; e < b->t->nep; e++) {
		const uint32_t board = e / ce, i = e % ce;

		for (uint32_t j = 0; j < spec->switches_per_endpoint; j++)
			topo_add_links(b, b->t->ep_dev[e],
				       board * sw + (i + j) % sw, -1, 1);
	}
	for (uint32_t board = 0; board < spec->boards; board++)
		for (uint32_t i = 0; i < sw; i++)
			for (uint32_t j = i + 1; j < sw; j++)
				topo_add_links(b, board * sw + i,
					       board * sw + j, -1,
					       spec->intra_board_links);
	for (uint32_t i = 0; i < spec->boards; i++)
		for (uint32_t j = i + 1; j < spec->boards; j++)
			for (uint32_t k = 0; k < sw; k++)
				topo_add_links(b, i * sw + k, j * sw + k, -1,
					       spec->links_per_edge[0]);
}
