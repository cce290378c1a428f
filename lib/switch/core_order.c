/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The order of what waits.
 *
 * One failure at a time keeps flows in order by itself: what loops goes on at
 * once, what is new is held behind it. When a second port dies before the
 * first has settled, old packets meet younger ones of their flow that wait
 * already: packets 1-3 went round by Y, 6 and 7 are held for X; Y dies, and 1-3
 * come back to wait for X, too. Two rules keep the order:
 *
 * - All of a flow that waits, waits in one place: at the first egress of its
 *   list that is not dead, or with the stranded where all are. Whenever a dead
 *   egress begins to return, what waits elsewhere is looked at again.
 * - In that place it is kept in the order of the flow, by the tags of its
 *   packets.
 */

#include "core_priv.h"

/* Whether @p a comes before @p b in the same flow. */
static bool
core_older(const struct rl_flit *a, const struct rl_flit *b)
{
	int32_t d;

	if (rl_get32(a->wire + 2) != rl_get32(b->wire + 2) ||
	    (a->wire[6] ^ b->wire[6]) >> 4 != 0 || a->class == RL_CLASS_CTRL ||
	    b->class == RL_CLASS_CTRL)
		return false; /* another flow, or not numbered */
	d = rl_seq_diff(rl_flit_tag(a->wire), rl_flit_tag(b->wire));
	return d < 0 || (d == 0 && rl_get16(a->wire + 14) <
					   rl_get16(b->wire + 14));
}

/*
 * Appends a packet to those that wait; one that is not new goes before the
 * first that is younger of its flow. That looks through the queue, but what is
 * not new waits only when failures overlap.
 */
void
core_wait(struct rl_pktq *q, struct rl_flit *pkt, enum core_age age)
{
	struct rl_flit **at = &q->head;

	if (age == CORE_OLD)
		while (*at != NULL && !core_older(pkt, *at))
			at = &(*at)->next_pkt;
	if (age == CORE_NEW || *at == NULL) {
		rl_pktq_push(q, pkt);
		return;
	}
	pkt->next_pkt = *at;
	*at = pkt;
	q->flits += pkt->pkt_flits;
	q->packets++;
}
