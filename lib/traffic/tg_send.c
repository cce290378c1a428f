/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "tg_priv.h"

#define SHARED 8		    /* places aside, shared by the classes */
#define WAIT_NS (10 * RL_NS_PER_US) /* retry of packets that wait */

/** An rl_source_cfg.offer. */
static int
tg_offer(struct rl_source *src, struct rl_ep *ep,
	 const struct rl_source_packet *p, uint64_t now_ns)
{
	struct rl_tg *tg = (struct rl_tg *)(void *)src;
	struct rl_tg_flow *flow = tg_flow_get(tg, p->dst, p->cos);
	struct rl_stamp s;
	uint32_t tag = 0;
	int rc;

	if (flow == NULL)
		return -EBUSY;
	s = rl_source_draw(src, p, flow->sent, 0, flow->sent);
	rc = rl_source_give(ep, &s, now_ns, &tag);
	if (rc == -EHOSTUNREACH) {
		tg->count.unreachable_packets++;
		return rc;
	}
	if (rc != 0) {
		/* a packet that can never be sent is a configuration error */
		RL_ASSERT(rc == -EAGAIN || rc == -EBUSY || rc == -ENOBUFS);
		tg->count.refused++;
		return rc;
	}
	if (flow->sent == 0 || flow->anew) {
		flow->tag0 = tag - flow->sent;
		flow->anew = false;
	}
	if (tag - flow->tag0 != flow->sent)
		tg->count.inexact++; /* another client uses this flow */
	flow->sent++;
	tg->count.sent_requests += s.class == RL_CLASS_REQ_NONPOSTED;
	tg->count.sent_responses += p->response;
	tg->count.sent_packets++;
	tg->count.sent_flits += rl_ep_flits_of(s.len_bytes);
	tg->count.sent_bytes += s.len_bytes;
	return 0;
}

void
tg_source(struct rl_tg *tg)
{
	const struct rl_tg_cfg *c = &tg->cfg;
	/* responses are owed, not drawn */
	const uint32_t ndraw =
		!c->by_kind ? c->ncos
			    : c->requests_ppm % RL_SOURCE_PPM == 0 ? 1 : 2;

	tg->drawn = (struct rl_source_cfg){
		.pattern = c->pattern,
		.seed = c->seed,
		.load = c->load,
		.slot_ps = (uint32_t)(c->slot_ns * 1000),
		.min_flits = c->min_flits,
		.max_flits = c->max_flits,
		.requests_ppm = c->requests_ppm,
		.ncos = c->ncos,
		.by_kind = c->by_kind,
		.share = ndraw < SHARED ? SHARED / ndraw : 1,
		.offer = tg_offer,
	};
	tg->source.cfg = &tg->drawn;
	rl_source_stop(&tg->source);
}

unsigned int
tg_send(struct rl_tg *tg, struct rl_ep *ep, uint64_t now_ns)
{
	struct rl_source *const src = &tg->source;
	unsigned int n = 0;

	if (src->owed > 0 && (tg->running || !RL_PLANTED(ASK_STOPPED)))
		n = rl_source_answer(src, ep, now_ns);
	if (tg->running) {
		n += rl_source_send(src, ep, now_ns);
		tg->count.redirected_packets = src->redirected;
		tg->running = !rl_source_done(src);
	}
	tg->retry_ns = now_ns + WAIT_NS;
	return n;
}

uint64_t
rl_tg_deadline(void *ctx)
{
	const struct rl_tg *tg = ctx;
	const struct rl_source *const src = &tg->source;

	if (src->owed > 0 || src->naside > 0 || src->tried)
		return rl_min_u64(tg->retry_ns,
				  src->tried ? RL_NEVER : src->next_ns);
	return src->next_ns;
}
