/* SPDX-License-Identifier: BSD-3-Clause */
#include "rl_flit_run.h"
#include "rl_role.h"

/*
 * Which drops bring a notice to the source. Losses of the related art (loopback
 * "none" and "unacked-only") bring none: they are what is measured. Packets
 * that init_action discards would be discarded again if resent at once, and so
 * would packets that gave way while new tables are expected: with end-to-end
 * retry, the probe timer resends them, with backoff.
 */
static bool
is_told(enum rl_drop_reason why, bool e2e_retry)
{
	switch (why) {
	case RL_DROP_INIT:
	case RL_DROP_NO_ROOM:
		return !e2e_retry;
	case RL_DROP_LOOPBACK_NONE:
	case RL_DROP_FRAGMENT:
	case RL_DROP_DUPLICATE: /* not a loss */
	case RL_DROP_REASON_COUNT:
		return false;
	case RL_DROP_POLICY:
	case RL_DROP_NO_PATH:
	case RL_DROP_WATCHDOG:
	case RL_DROP_HOPS:
	case RL_DROP_MISROUTE:
	case RL_DROP_TOO_LONG:
	case RL_DROP_UNCORRECTABLE:
	case RL_DROP_MARKED:
	case RL_DROP_ASTRAY:
	case RL_DROP_ADDRESS:
		break;
	}
	return true;
}

/** An altered flit may name any address: use it only if both ends exist. */
static bool
is_named(const struct rl_flit *f, uint32_t nep)
{
	return rl_flit_src(f->wire) < nep && rl_flit_dst(f->wire) < nep;
}

static enum rl_ep_drop
drop_of(enum rl_drop_reason why)
{
	if (why == RL_DROP_ASTRAY)
		return RL_EP_DROP_ASTRAY;
	return why == RL_DROP_NO_PATH || why == RL_DROP_WATCHDOG
		       ? RL_EP_DROP_NO_PATH
		       : RL_EP_DROP_LOST;
}

bool
rl_drop_notice(const struct rl_flit *pkt, enum rl_drop_reason why,
	       bool e2e_retry, uint32_t nep, struct rl_ep_notice *n)
{
	struct rl_flit *flit[RL_PACKET_FLITS_HELD];
	uint32_t flits, i = 0;

	if (rl_is_token(pkt) || !is_told(why, e2e_retry))
		return false;
	flits = rl_packet_flits(pkt, flit);
	while (i < flits && !is_named(flit[i], nep))
		i++;
	if (i == flits)
		return false;
	/* the head's destination is the one without a path */
	rl_ep_notice_of(flit[i], i == 0 ? drop_of(why) : RL_EP_DROP_LOST, n);
	if (n->pos >= RL_EP_POS_SKIPPED || n->pos < i)
		return true;
	n->pos = (uint16_t)(n->pos - i);
	n->flits = (uint16_t)flits;
	return true;
}
