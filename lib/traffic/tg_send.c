/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "tg_priv.h"

#define SEND_BURST 32		   /* packets made in one poll */
#define WAIT_NS (10 * RL_NS_PER_US) /* retry of packets that wait aside */

/** Sets which classes of service are drawn, and the places aside of each. */
void
tg_draws(struct rl_tg *tg)
{
	const struct rl_tg_cfg *c = &tg->cfg;

	tg->cos0 = 0;
	tg->ndraw = c->ncos;
	if (c->by_kind) {
		tg->cos0 = c->requests_ppm == PPM ? RL_KIND_REQUEST
						  : RL_KIND_POSTED;
		tg->ndraw = c->requests_ppm % PPM == 0 ? 1 : 2;
	}
	tg->share = tg->ndraw < TG_SHARED ? TG_SHARED / tg->ndraw : 1;
}

/** A class with room: due() has checked that there is one. */
static uint8_t
with_room(const struct rl_tg *tg, uint32_t nth)
{
	while (tg->waits[tg->cos0 + nth] >= tg->share)
		nth = (nth + 1) % tg->ndraw;
	return (uint8_t)(tg->cos0 + nth);
}

/** Draws class of service and class. */
static void
draw_class(struct rl_tg *tg, struct tg_packet *p)
{
	const struct rl_tg_cfg *c = &tg->cfg;
	bool asks;

	if (!c->by_kind)
		p->cos = with_room(tg, rl_prng_below(&tg->prng, tg->ndraw));
	asks = c->requests_ppm != 0 &&
	       rl_prng_below(&tg->prng, PPM) < c->requests_ppm;
	if (c->by_kind) {
		p->cos = with_room(tg, tg->ndraw == 2 && asks ? 1 : 0);
		asks = p->cos == RL_KIND_REQUEST;
	}
	p->class = asks ? RL_CLASS_REQ_NONPOSTED : c->class;
}

/** Draws length and destination; false if this endpoint does not send. */
static bool
draw(struct rl_tg *tg, struct tg_packet *p)
{
	const struct rl_tg_cfg *c = &tg->cfg;
	const uint32_t dst = rl_pattern_dst(c->pattern, c->ep_id, &tg->prng);
	const uint32_t flits = (uint32_t)rl_prng_range(&tg->prng, c->min_flits,
						       c->max_flits);
	const uint32_t least = flits == 1 ? RL_STAMP_BYTES : 1;

	if (dst == RL_PATTERN_NONE)
		return false;
	p->dst = (uint16_t)dst;
	draw_class(tg, p);
	p->len_bytes = flits * RL_FLIT_DATA_BYTES -
		       rl_prng_below(&tg->prng, RL_FLIT_DATA_BYTES - least + 1);
	return true;
}

/** Sends one packet. @return as rl_ep_send() */
static int
send_one(struct rl_tg *tg, struct rl_ep *ep, const struct tg_packet *p,
	 uint64_t now_ns)
{
	const struct rl_ep_msg msg = { p->dst, p->cos, p->class,
				       p->len_bytes };
	struct rl_tg_flow *flow = tg_flow_get(tg, p->dst, p->cos);
	struct rl_stamp_writer w;
	uint32_t tag = 0;
	int rc;

	if (flow == NULL)
		return -EAGAIN;
	rl_stamp_begin(&w, &(struct rl_stamp){
				   .src = tg->cfg.ep_id,
				   .dst = p->dst,
				   .cos = p->cos,
				   .class = p->class,
				   .number = flow->sent,
				   .len_bytes = p->len_bytes,
				   .t_ns = p->t_ns,
				   .seed = tg->cfg.seed,
			   });
	rc = rl_ep_send_fill(ep, now_ns, &msg, rl_stamp_fill, &w, &tag);
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
	tg->count.sent_requests += p->class == RL_CLASS_REQ_NONPOSTED;
	tg->count.sent_packets++;
	tg->count.sent_flits += rl_ep_flits_of(p->len_bytes);
	tg->count.sent_bytes += p->len_bytes;
	return 0;
}

/**
 * Whether a waiting packet gives way to those of other flows: its flow makes no
 * progress, and all places of its class are taken.
 */
static bool
gives_way(struct rl_tg *tg, const struct tg_packet *p, int rc)
{
	if (rc != -ENOBUFS || tg->waits[p->cos] < tg->share ||
	    !rl_pattern_spreads(tg->cfg.pattern, tg->cfg.ep_id))
		return false;
	tg->count.stalled_packets++;
	return true;
}

/** Retries packets that wait aside. @return packets sent */
static unsigned int
send_waiting(struct rl_tg *tg, struct rl_ep *ep, uint64_t now_ns)
{
	uint32_t kept = 0;
	unsigned int n = 0;

	for (uint32_t i = 0; i < tg->nwaiting; i++) {
		const int rc = send_one(tg, ep, &tg->waiting[i], now_ns);

		if (rc == 0 || rc == -EHOSTUNREACH ||
		    gives_way(tg, &tg->waiting[i], rc)) {
			tg->waits[tg->waiting[i].cos]--;
			n++;
		} else {
			tg->waiting[kept++] = tg->waiting[i];
		}
	}
	tg->nwaiting = kept;
	return n;
}

/**
 * Advances the schedule by one packet: the time of its flits at the given load,
 * times a random factor between 0 and 2, so that endpoints do not synchronise.
 */
static void
plan_next(struct rl_tg *tg, uint32_t len_bytes)
{
	const uint64_t mean = tg->flit_fp * rl_ep_flits_of(len_bytes);
	const uint64_t t = rl_prng_range(&tg->prng, 0, 2 * mean) +
			   tg->next_frac;

	tg->next_ns += t >> 16;
	tg->next_frac = t & 0xffff;
}

/** Whether to make another packet now. */
static bool
due(const struct rl_tg *tg, uint64_t now_ns)
{
	if (tg->left == 0 || tg->nwaiting == tg->share * tg->ndraw)
		return false;
	return tg->cfg.load == 0 ? now_ns < tg->end_ns
				 : tg->next_ns <= now_ns &&
					   tg->next_ns < tg->end_ns;
}

/** Whether no packet will ever be made again. */
static bool
over(const struct rl_tg *tg, uint64_t now_ns)
{
	if (tg->nwaiting > 0)
		return false;
	return tg->left == 0 || tg->end_ns <= now_ns ||
	       (tg->cfg.load > 0 && tg->next_ns >= tg->end_ns);
}

/*
 * Flows take turns. The number of due responses is bounded by what peers may
 * have under way, and they need no memory, so requests are taken whatever is
 * owed: if they stayed in the endpoint, so would the responses behind them, and
 * two clients could wait for each other for ever.
 *
 * @return packets sent
 */
static unsigned int
send_owed(struct rl_tg *tg, struct rl_ep *ep, uint64_t now_ns)
{
	unsigned int n = 0, refused = 0;

	while (tg->owed > 0 && n < SEND_BURST && refused < tg->nflows) {
		struct rl_tg_flow *flow = &tg->flow[tg->owed_next++ %
						    tg->nflows];
		const struct tg_packet p = {
			.dst = flow->peer,
			.cos = tg->cfg.by_kind ? RL_KIND_RESPONSE : flow->cos,
			.class = RL_CLASS_RSP,
			.len_bytes = tg->cfg.min_flits * RL_FLIT_DATA_BYTES,
			.t_ns = now_ns,
		};
		int rc = -EAGAIN;

		if (flow->owed > 0)
			rc = send_one(tg, ep, &p, now_ns);
		if (rc != 0 && rc != -EHOSTUNREACH &&
		    !(flow->owed > 0 && RL_PLANTED(ASK_FORGOTTEN))) {
			refused++;
			continue;
		}
		refused = 0;
		flow->owed--;
		tg->owed--;
		tg->count.sent_responses += rc == 0;
		n++;
	}
	return n;
}

unsigned int
tg_send(struct rl_tg *tg, struct rl_ep *ep, uint64_t now_ns)
{
	unsigned int n = 0;

	if (tg->owed > 0 && (tg->running || !RL_PLANTED(ASK_STOPPED))) {
		n = send_owed(tg, ep, now_ns);
		tg->retry_ns = now_ns + WAIT_NS;
	}
	if (!tg->running)
		return n;
	if (tg->nwaiting > 0)
		n += send_waiting(tg, ep, now_ns);
	for (unsigned int i = 0; i < SEND_BURST && due(tg, now_ns); i++) {
		struct tg_packet p;
		int rc;

		if (!draw(tg, &p)) {
			rl_tg_stop(tg); /* this source is not in the pattern */
			return n;
		}
		p.t_ns = tg->cfg.load == 0 ? now_ns : tg->next_ns;
		tg->left--;
		if (tg->cfg.load > 0)
			plan_next(tg, p.len_bytes);
		rc = send_one(tg, ep, &p, now_ns);
		if (rc == 0 || rc == -EHOSTUNREACH) {
			n++;
			continue;
		}
		tg->waits[p.cos]++;
		tg->waiting[tg->nwaiting++] = p;
	}
	tg->retry_ns = now_ns + WAIT_NS;
	if (over(tg, now_ns))
		rl_tg_stop(tg);
	return n;
}

uint64_t
rl_tg_deadline(void *ctx)
{
	const struct rl_tg *tg = ctx;
	uint64_t t = RL_NEVER;

	if (tg->owed > 0)
		t = tg->retry_ns;
	if (!tg->running)
		return t;
	if (tg->nwaiting > 0)
		t = tg->retry_ns;
	if (tg->left > 0 && tg->nwaiting < tg->share * tg->ndraw)
		t = rl_min_u64(t, tg->cfg.load > 0 ? tg->next_ns : 0);
	return t;
}
