/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "rl_source.h"

/* Packets that one poll may accept, so that other roles get their turn. */
#define SEND_BURST 16
/* How often a poll draws another destination for packets that are held up. */
#define TURNS 4

/* ln(x) for x in (0, 1], to a few parts in 10^6; identical on every machine. */
static double
log_unit(double x)
{
	double y, z, sum = 0, term;
	int halvings = 0;

	while (x < 0.70710678118654752440) {
		x *= 2;
		halvings++;
	}
	y = (x - 1) / (x + 1);
	z = y * y;
	term = y;
	for (int k = 1; k < 14; k += 2) {
		sum += term / k;
		term *= z;
	}
	return 2 * sum - halvings * 0.69314718055994530942;
}

static uint64_t
mix(uint64_t x)
{
	return rl_splitmix64(&x);
}

static uint8_t
class_of(const struct rl_source_cfg *c, uint64_t key, uint8_t cos)
{
	static const uint8_t of_kind[] = {
		[RL_KIND_POSTED] = RL_CLASS_REQ_POSTED,
		[RL_KIND_REQUEST] = RL_CLASS_REQ_NONPOSTED,
		[RL_KIND_RESPONSE] = RL_CLASS_RSP,
	};

	if (c->by_kind)
		return of_kind[cos];
	return (uint32_t)(key >> 33) % RL_SOURCE_PPM < c->requests_ppm
		       ? RL_CLASS_REQ_NONPOSTED
		       : RL_CLASS_REQ_POSTED;
}

struct rl_stamp
rl_source_draw(const struct rl_source *src, const struct rl_source_packet *p,
	       uint32_t number, uint32_t life, uint32_t nth)
{
	const struct rl_source_cfg *c = src->cfg;
	const uint64_t name = (uint64_t)src->id << 48 |
			      (uint64_t)p->dst << 32 | nth;
	const uint64_t key =
		mix(mix(c->seed + p->cos + ((uint64_t)life << 32)) ^ name);
	const uint32_t spread = c->max_flits - c->min_flits + 1;
	const uint32_t flits = c->min_flits +
			       (uint32_t)(key & 0xffffff) % spread;
	struct rl_stamp s = {
		.src = src->id,
		.dst = p->dst,
		.cos = p->cos,
		.class = p->response ? RL_CLASS_RSP : class_of(c, key, p->cos),
		.number = number,
		.len_bytes = flits * RL_FLIT_DATA_BYTES,
		.t_ns = p->made_ns,
		.seed = c->seed,
	};

	/* the last flit is often not full */
	if (key >> 24 & 1)
		s.len_bytes = rl_max_u32(
			s.len_bytes - (uint32_t)(key >> 25 & 0xff) %
					      RL_FLIT_DATA_BYTES,
			RL_STAMP_BYTES);
	return s;
}

int
rl_source_give(struct rl_ep *ep, const struct rl_stamp *s, uint64_t now_ns,
	       uint32_t *tag)
{
	const struct rl_ep_msg msg = { s->dst, s->cos, s->class, s->len_bytes };
	struct rl_stamp_writer w;

	rl_stamp_begin(&w, s);
	return rl_ep_send_fill(ep, now_ns, &msg, rl_stamp_fill, &w, tag);
}

/* Whether no packet of a class of service finds a place aside. */
static bool
full(const struct rl_source *src, uint8_t cos)
{
	return src->naside == RL_SOURCE_ASIDE ||
	       src->waits[cos] >= src->cfg->share;
}

/* @return @p cos, or the next class drawn that has room, if one has */
static uint8_t
with_room(const struct rl_source *src, uint8_t cos)
{
	const struct rl_source_cfg *c = src->cfg;
	const uint32_t first = c->by_kind && c->requests_ppm == RL_SOURCE_PPM;
	const uint32_t n = !c->by_kind				   ? c->ncos
			   : c->requests_ppm % RL_SOURCE_PPM == 0 ? 1
								   : 2;

	for (uint32_t i = 0; i < n && full(src, cos); i++)
		cos = (uint8_t)(first + (cos - first + 1) % n);
	return cos;
}

static uint8_t
pick_cos(struct rl_source *src)
{
	const struct rl_source_cfg *c = src->cfg;

	if (!c->by_kind)
		return (uint8_t)rl_prng_below(&src->prng, c->ncos);
	return rl_prng_below(&src->prng, RL_SOURCE_PPM) < c->requests_ppm
		       ? RL_KIND_REQUEST
		       : RL_KIND_POSTED;
}

/* Picks a flow that may send another packet. @return false: none was found */
static bool
pick_flow(struct rl_source *src)
{
	const struct rl_source_cfg *c = src->cfg;

	for (unsigned int tries = 0; tries < 16; tries++) {
		const uint32_t dst =
			rl_pattern_dst(c->pattern, src->id, &src->prng);

		if (dst == RL_PATTERN_NONE)
			return false; /* incast: the target itself sends
					 nothing */
		src->dst = (uint16_t)dst;
		src->cos = with_room(src, pick_cos(src));
		if (c->may == NULL || c->may(src, src->dst, src->cos))
			return true;
	}
	return false;
}

/* When a packet is made that follows one made at @p t. */
static uint64_t
after(struct rl_source *src, uint64_t t)
{
	const struct rl_source_cfg *c = src->cfg;
	const double flits = (c->min_flits + c->max_flits) / 2.0;

	if (c->load > 0) {
		const double mean_ns = flits * c->slot_ps / 1000.0 / c->load;
		const double gap =
			-log_unit(1.0 - rl_prng_double(&src->prng)) * mean_ns;

		t += (uint64_t)((gap < 1e18 ? gap : 1e18) + 0.5);
	}
	if (c->burst_ns != 0) {
		const uint64_t period = c->burst_ns + c->pause_ns;
		const uint64_t phase = (t + src->id * 7919u) % period;

		if (phase >= c->burst_ns) /* in a pause: wait for the next
					     burst */
			t += period - phase;
	}
	return t;
}

void
rl_source_next(struct rl_source *src, uint64_t from_ns)
{
	const uint64_t t = after(src, from_ns);

	src->next_ns = RL_NEVER;
	src->tried = false;
	if (t >= src->end_ns || src->left == 0 || !pick_flow(src))
		return;
	src->left--;
	src->sends = true;
	src->next_ns = t;
}

void
rl_source_stop(struct rl_source *src)
{
	src->next_ns = RL_NEVER;
	src->tried = false;
	src->naside = 0;
	memset(src->waits, 0, sizeof(src->waits));
}

/*
 * Redirects a packet whose flow makes no progress, once all places that it
 * could have are taken: it would hold up those for other destinations.
 * @return false: it waits
 */
static bool
redirect(struct rl_source *src, struct rl_source_packet *p, int ret)
{
	const struct rl_source_cfg *c = src->cfg;
	uint16_t dst;

	if (ret != -ENOBUFS || !full(src, p->cos) ||
	    !rl_pattern_spreads(c->pattern, src->id))
		return false;
	dst = (uint16_t)rl_pattern_dst(c->pattern, src->id, &src->prng);
	if (c->may != NULL && !c->may(src, dst, p->cos))
		return false;
	src->redirected += dst != p->dst;
	p->dst = dst;
	return true;
}

/* Whether one of the first @p n packets aside is of this flow. */
static bool
flow_waits(const struct rl_source *src, uint16_t n, uint16_t dst, uint8_t cos)
{
	for (uint16_t i = 0; i < n; i++)
		if (src->aside[i].dst == dst && src->aside[i].cos == cos)
			return true;
	return false;
}

/* Offers the packets set aside, in order within each flow. */
static unsigned int
send_aside(struct rl_source *src, struct rl_ep *ep, uint64_t now_ns)
{
	uint16_t kept = 0;
	unsigned int n = 0;
	bool stop = false;

	for (uint16_t i = 0; i < src->naside; i++) {
		struct rl_source_packet *const p = &src->aside[i];
		int ret = -EBUSY;

		if (!flow_waits(src, kept, p->dst, p->cos)) {
			if (!stop)
				ret = src->cfg->offer(src, ep, p, now_ns);
			stop = stop || ret == -EAGAIN;
			n += ret == 0;
			if (ret == 0 || ret == -EHOSTUNREACH) {
				src->waits[p->cos]--;
				continue;
			}
			redirect(src, p, ret);
		}
		src->aside[kept++] = *p;
	}
	src->naside = kept;
	return n;
}

unsigned int
rl_source_send(struct rl_source *src, struct rl_ep *ep, uint64_t now_ns)
{
	unsigned int n = src->naside == 0 ? 0 : send_aside(src, ep, now_ns);
	unsigned int turns = 0;

	/* as fast as possible: a packet is made when it is first offered */
	if (src->cfg->load == 0 && src->next_ns < now_ns && !src->tried)
		src->next_ns = now_ns < src->end_ns ? now_ns : RL_NEVER;
	if (src->tried) /* other classes may have room by now */
		src->cos = with_room(src, src->cos);
	while (n < SEND_BURST && src->next_ns <= now_ns) {
		struct rl_source_packet p = { .made_ns = src->next_ns,
					      .dst = src->dst,
					      .cos = src->cos };
		int ret = -EBUSY;

		if (!flow_waits(src, src->naside, p.dst, p.cos))
			ret = src->cfg->offer(src, ep, &p, now_ns);
		if ((ret == -EBUSY || ret == -ENOBUFS) && !full(src, p.cos)) {
			/* a blocked flow must not block others */
			src->waits[p.cos]++;
			src->aside[src->naside++] = p;
		} else if (ret != 0 && ret != -EHOSTUNREACH) {
			src->tried = turns++ == TURNS || !redirect(src, &p, ret);
			if (src->tried)
				break;
			src->dst = p.dst;
			continue;
		}
		n++;
		rl_source_next(src,
			       src->cfg->load == 0 ? now_ns : src->next_ns);
		if (src->cfg->warm != NULL)
			src->cfg->warm(src);
		rl_ep_prefetch(ep, src->dst, src->cos);
	}
	return n;
}
