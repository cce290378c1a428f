/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The duplicate filter of a switch [DRL-5]. When a link dies, the far end may
 * have taken a packet whose acknowledgment never came back; the near end loops
 * it out and it arrives a second time, by another port. The endpoint drops it
 * by its number; a switch with the filter on drops it earlier and saves the
 * bandwidth of the remaining hops.
 *
 * A packet may also come back legitimately: it passed here, looped out of a
 * port further on, and its detour leads through here again. It has then crossed
 * more links than the first time, while a duplicate that the neighbour sends by
 * a parallel link has crossed as many. So the key includes the number of links
 * crossed. A duplicate that takes a longer path is not recognised; the endpoint
 * drops it.
 *
 * Only packets that arrived whole are recorded. The start of a cut-through
 * packet does not show whether its end will arrive, and control flits all have
 * the same numbers.
 *
 * State is bounded: each port remembers the last CORE_RECENT packets that it
 * delivered, more than its credits allow to be under way. Only packets marked
 * as looped are looked up, and only in ports whose link is not alive.
 */

#include "core_priv.h"

/*
 * Key of a link-level packet at this point of its path: flow, tag, position and
 * number of flits, links crossed.
 */
static uint64_t
dup_key(const struct rl_flit *pkt)
{
	uint64_t k = rl_get32(pkt->wire + 2); /* destination and source */

	k = k << 32 | rl_flit_tag(pkt->wire);
	k ^= (uint64_t)(pkt->wire[6] >> 4) << 60; /* class of service */
	k *= 0x9e3779b97f4a7c15ull;
	k ^= (uint64_t)rl_get16(pkt->wire + 14) << 16 | pkt->pkt_flits;
	if (!RL_PLANTED(DUP_NO_HOPS))
		k ^= (uint64_t)pkt->hops << 32;
	return k == 0 ? 1 : k;
}

bool
core_is_duplicate(struct rl_core *core, const struct rl_flit *pkt,
		  uint16_t port)
{
	const uint64_t key = dup_key(pkt);
	struct core_port *in = &core->port[port];

	if (pkt->class == RL_CLASS_CTRL || !rl_packet_ends(pkt) ||
	    pkt->last->mark != RL_MARK_OK)
		return false;
	if (pkt->flags & RL_FF_LOOPED) {
		for (uint16_t i = 0; i < core->p.nports; i++) {
			const struct core_port *cp = &core->port[i];

			if (i == port || cp->state == RL_EGRESS_ALIVE)
				continue;
			for (unsigned int j = 0; j < CORE_RECENT; j++)
				if (cp->recent[j] == key)
					return true;
		}
	}
	in->recent[in->recent_n++ % CORE_RECENT] = key;
	return false;
}
