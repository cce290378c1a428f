/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One destination, packet by packet: states are (device, input port, plane, SL
 * class), all that a packet's future depends on (rl_fwd.h). A search from all
 * sources by all working next hops finds the states that packets reach, the
 * highest rank by which they come in, and the lowest by which they leave. Then
 * each source is followed by first next hops.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_parts.h"
#include "check_ranks.h"

#define HOPS_NEW 0
#define HOPS_OPEN 0xfffe
#define HOPS_LOST 0xffff

struct exact_state {
	uint32_t in;	/* 1 + highest rank by which packets come; 0: none */
	uint32_t out;	/* lowest by which they leave */
	uint32_t in_channel;
	uint32_t out_channel;
	uint16_t hops;	/* to the destination by first next hops */
	uint8_t foreign; /* other endpoints on that path, after this */
	uint8_t seen;
};

struct ranks_exact {
	struct exact_state *state;
	uint32_t *queue; /* states found */
	uint32_t nqueue;
	const char *why; /* why the last lost packet was lost */
};

struct exact_at {
	uint32_t dev;
	uint16_t in_port; /* the device's nports: injected */
	uint8_t plane;
	uint8_t slc;
};

static size_t
exact_id(const struct ranks_map *m, const struct exact_at *at)
{
	const size_t way = (size_t)m->port0[at->dev] + at->dev + at->in_port;

	return (way * m->nplanes + at->plane) * m->nslc + at->slc;
}

static int
exact_init(struct ranks_run *r)
{
	const struct ranks_map *m = &r->map;
	const size_t n = ((size_t)m->nports + m->topo->ndev) * m->nplanes *
			 m->nslc;

	if (r->exact != NULL)
		return 0;
	if (n >= UINT32_MAX)
		return -ENOMEM;
	r->exact = calloc(1, sizeof(*r->exact));
	if (r->exact == NULL)
		return -ENOMEM;
	r->exact->state = calloc(n + 1, sizeof(*r->exact->state));
	/* found states, and behind them room for a path */
	r->exact->queue = malloc((2 * n + 1) * sizeof(*r->exact->queue));
	return r->exact->state != NULL && r->exact->queue != NULL ? 0 :
								     -ENOMEM;
}

void
check_ranks_exact_free(struct ranks_run *r)
{
	if (r->exact == NULL)
		return;
	free(r->exact->state);
	free(r->exact->queue);
	free(r->exact);
}

/*
 * The target of next hop h of a packet: sets *to, and returns the channel, or
 * RANKS_NONE if it may not go there.
 */
static uint32_t
exact_move(const struct ranks_map *m, const struct exact_at *at,
	   struct rl_fwd_hop h, struct exact_at *to)
{
	const struct rl_fwd *f = &m->in->fwd[at->dev];
	const struct ranks_port *p;
	unsigned int vl, plane;
	const uint8_t sl = m->sl_of[at->slc];

	if (h.port >= f->nports || h.plane >= f->nplanes)
		return RANKS_NONE;
	if (h.port == at->in_port &&
	    (at->dev >= m->nsw || h.plane == at->plane))
		return RANKS_NONE;
	p = &m->port[m->port0[at->dev] + h.port];
	if (p->dirlink == RANKS_NONE)
		return RANKS_NONE;
	vl = rl_fwd_vl(f, h.plane, at->in_port, h.port, sl) & (RL_VCS - 1);
	plane = m->in->fwd[p->dev].plane_of[vl][sl];
	to->dev = p->dev;
	to->in_port = p->in_port;
	to->plane = plane < m->in->fwd[p->dev].nplanes ? (uint8_t)plane : 0;
	to->slc = at->slc;
	return p->dirlink * RL_VCS + vl;
}

static struct exact_at
exact_source(const struct ranks_map *m, uint32_t src, uint32_t dst,
	     unsigned int level)
{
	const struct rl_fwd *f = &m->in->fwd[m->nsw + src];
	const unsigned int sl = ranks_sl(m, f, dst, level);
	const unsigned int p = f->inject_plane[sl];

	return (struct exact_at){.dev = m->nsw + src, .in_port = f->nports,
				 .plane = p < f->nplanes ? (uint8_t)p : 0,
				 .slc = m->slc_of[sl]};
}

static struct exact_at
exact_apart(const struct ranks_map *m, uint32_t id)
{
	struct exact_at at = {.slc = (uint8_t)(id % m->nslc)};
	uint32_t lo = 0, hi = m->topo->ndev;

	id /= m->nslc;
	at.plane = (uint8_t)(id % m->nplanes);
	id /= m->nplanes;
	while (hi - lo > 1) {
		const uint32_t mid = lo + (hi - lo) / 2;

		if (m->port0[mid] + mid <= id)
			lo = mid;
		else
			hi = mid;
	}
	at.dev = lo;
	at.in_port = (uint16_t)(id - m->port0[lo] - lo);
	return at;
}

static void
exact_enter(struct ranks_run *r, const struct exact_at *at, uint32_t chan)
{
	struct ranks_exact *x = r->exact;
	const size_t id = exact_id(&r->map, at);
	struct exact_state *s = &x->state[id];
	const uint32_t rank = chan == RANKS_NONE ? 0 :
						   r->map.in->rank[chan] + 1;

	if (!s->seen) {
		*s = (struct exact_state){.seen = 1, .out = UINT32_MAX,
					  .in_channel = chan,
					  .out_channel = RANKS_NONE};
		x->queue[x->nqueue++] = (uint32_t)id;
	}
	if (rank > s->in) {
		s->in = rank;
		s->in_channel = chan;
	}
}

static void
exact_expand(struct ranks_run *r, uint32_t id, uint32_t dst)
{
	const struct ranks_map *m = &r->map;
	const struct exact_at at = exact_apart(m, id);
	struct exact_state *s = &r->exact->state[id];
	uint64_t word;

	if (at.dev == m->nsw + dst)
		return;
	word = rl_fwd_word(&m->in->fwd[at.dev], at.plane, (uint16_t)dst);
	for (; ranks_more(word); word = ranks_next(word)) {
		struct exact_at to;
		const uint32_t chan =
			exact_move(m, &at, rl_fwd_word_hop(word), &to);

		if (chan == RANKS_NONE)
			continue;
		if (m->in->rank[chan] + 1 < s->out) {
			s->out = m->in->rank[chan] + 1;
			s->out_channel = chan;
		}
		exact_enter(r, &to, chan);
	}
}

/* The next step of a packet at `at` by the first working hop; false: none. */
static bool
exact_first(const struct ranks_map *m, uint32_t dst, struct exact_at *at)
{
	uint64_t word = rl_fwd_word(&m->in->fwd[at->dev], at->plane,
				    (uint16_t)dst);

	for (; ranks_more(word); word = ranks_next(word)) {
		struct exact_at to;

		if (exact_move(m, at, rl_fwd_word_hop(word), &to) ==
		    RANKS_NONE)
			continue;
		*at = to;
		return true;
	}
	return false;
}

static uint32_t
exact_follow(struct ranks_run *r, struct exact_at at, uint32_t dst)
{
	const struct ranks_map *m = &r->map;
	struct ranks_exact *x = r->exact;
	const uint32_t floor = x->nqueue;
	uint32_t depth = floor, hops = 0, foreign = 0;

	while (at.dev != m->nsw + dst) {
		const size_t id = exact_id(m, &at);
		struct exact_state *s = &x->state[id];

		if (s->hops != HOPS_NEW) {
			hops = s->hops == HOPS_OPEN ? HOPS_LOST : s->hops;
			if (s->hops == HOPS_OPEN)
				x->why = "goes round for ever";
			foreign = s->foreign;
			break;
		}
		s->hops = HOPS_OPEN;
		x->queue[depth++] = (uint32_t)id;
		if (!exact_first(m, dst, &at)) {
			x->why = "no next hop";
			hops = HOPS_LOST;
			break;
		}
	}
	while (depth > floor) {
		struct exact_state *s = &x->state[x->queue[--depth]];
		const struct exact_at here = exact_apart(m, x->queue[depth]);

		hops = rl_min_u32(hops + 1, HOPS_LOST);
		s->hops = (uint16_t)(hops >= HOPS_OPEN ? HOPS_LOST : hops);
		hops = s->hops;
		/* injected packets are at home */
		foreign += here.dev >= m->nsw &&
			   here.in_port < m->in->fwd[here.dev].nports;
		s->foreign = (uint8_t)rl_min_u32(foreign, 2);
	}
	if (hops != HOPS_LOST && foreign > 1) {
		x->why = "is misrouted twice";
		return HOPS_LOST;
	}
	if (hops != HOPS_LOST && hops > RL_CHECK_HOPS_MAX) {
		x->why = "does not arrive within 255 links";
		return HOPS_LOST;
	}
	return hops;
}

static int
exact_arrive(struct ranks_run *r, uint32_t dst)
{
	const struct ranks_map *m = &r->map;
	struct rl_ranks_report *rep = r->rep;
	int ret = 0;

	for (uint32_t s = 0; s < m->topo->nep; s++) {
		bool arrives = true;

		if (!m->live[s] || s == dst ||
		    (m->in->parts &&
		     !check_together(m->topo, r->part, s, dst)))
			continue;
		rep->pairs++;
		for (unsigned int q = 0; q < m->levels; q++) {
			const uint32_t hops = exact_follow(
				r, exact_source(m, s, dst, q), dst);

			arrives &= hops != HOPS_LOST;
			if (hops != HOPS_LOST && hops > rep->max_hops)
				rep->max_hops = hops;
		}
		rep->reachable += arrives;
		if (arrives)
			continue;
		ret = -EHOSTUNREACH;
		if (rep->lost_why != NULL)
			continue;
		rep->lost_src = s;
		rep->lost_dst = dst;
		rep->lost_why = r->exact->why != NULL ? r->exact->why :
							"no next hop";
	}
	return ret;
}

int
check_ranks_exact(struct ranks_run *r, uint32_t dst)
{
	const struct ranks_map *m = &r->map;
	struct ranks_exact *x;
	int ret = exact_init(r);

	if (ret != 0)
		return ret;
	x = r->exact;
	x->nqueue = 0;
	for (uint32_t s = 0; s < m->topo->nep; s++)
		for (unsigned int q = 0; q < m->levels; q++) {
			const struct exact_at at = exact_source(m, s, dst, q);

			if (m->live[s] && s != dst)
				exact_enter(r, &at, RANKS_NONE);
		}
	for (uint32_t i = 0; i < x->nqueue; i++)
		exact_expand(r, x->queue[i], dst);
	for (uint32_t i = 0; i < x->nqueue && ret == 0; i++) {
		const struct exact_state *s = &x->state[x->queue[i]];

		if (s->in < s->out)
			continue;
		r->rep->from = s->in_channel;
		r->rep->to = s->out_channel;
		r->rep->dst = dst;
		ret = -ELOOP;
	}
	if (ret == 0)
		ret = exact_arrive(r, dst);
	for (uint32_t i = 0; i < x->nqueue; i++)
		x->state[x->queue[i]].seen = 0;
	for (uint32_t i = 0; i < x->nqueue; i++)
		x->state[x->queue[i]].hops = HOPS_NEW;
	return ret;
}
