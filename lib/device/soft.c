/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Injected faults: a device that alters what it holds, as a bad memory does
 * [SW-2], or marks it as bad. It does so to packets as they come into the core, out of a port or
 * out of the device's endpoint, after the check at ingress and before the one at
 * egress. Headers stay intact, because they name the packet's flow.
 */

#include <stdatomic.h>

#include "rl_flit_run.h"
#include "rl_role.h"
#include "role_soft.h"

#define SOFT_BYTES 8 /* at most, in a row */

static void
alter(struct rl_prng *prng, struct rl_flit *pkt)
{
	const uint32_t n = 1 + rl_prng_below(prng, SOFT_BYTES);
	const uint32_t at = RL_FLIT_DATA_OFF +
			    rl_prng_below(prng, RL_FLIT_DATA_BYTES - n + 1);
	struct rl_flit *f = pkt;

	rl_packet_open(pkt);
	for (uint32_t i = rl_prng_below(prng, pkt->pkt_flits); i > 0; i--)
		f = f->next;
	for (uint32_t i = 0; i < n; i++)
		f->wire[at + i] ^= (uint8_t)(1 + rl_prng_below(prng, 255));
}

void
role_soft_alter(struct rl_role_core *r, struct rl_flit *pkt)
{
	const uint32_t soft =
		atomic_load_explicit(&r->soft_ppb, memory_order_relaxed);
	const uint32_t poison =
		atomic_load_explicit(&r->poison_ppb, memory_order_relaxed);

	if (rl_is_token(pkt))
		return;
	if (rl_prng_below(&r->soft_prng, ROLE_SOFT_ALL) < soft)
		alter(&r->soft_prng, pkt);
	if (poison != 0 && pkt->mark == RL_MARK_OK &&
	    rl_prng_below(&r->soft_prng, ROLE_SOFT_ALL) < poison)
		pkt->mark = RL_MARK_POISON;
}

void
role_soft_queue(struct rl_role_core *r, struct rl_pktq *q)
{
	for (struct rl_flit *pkt = q->head; pkt != NULL; pkt = pkt->next_pkt)
		role_soft_alter(r, pkt);
}

void
rl_role_core_poison(struct rl_role_core *r, uint32_t ppb)
{
	atomic_store_explicit(&r->poison_ppb, ppb, memory_order_relaxed);
}

void
rl_role_core_soft(struct rl_role_core *r, uint32_t ppb)
{
	atomic_store_explicit(&r->soft_ppb, ppb, memory_order_relaxed);
}
