/* SPDX-License-Identifier: BSD-3-Clause */
#include "parts.h"

struct rl_flit *
parts_cut(struct rl_flit **pkt, unsigned int n)
{
	struct rl_flit *head = *pkt, *f = head, *rest;

	assert_non_null(head);
	assert_in_range(n, 1, head->pkt_flits);
	for (unsigned int i = 1; i < n; i++)
		f = f->next;
	rest = f->next;
	if (rest != NULL) {
		rest->last = head->last;
		rest->pkt_flits = (uint16_t)(head->pkt_flits - n);
		rest->vc = head->vc;
		rest->in_vc = head->in_vc;
		head->last = f;
		head->pkt_flits = (uint16_t)n;
		f->next = NULL;
	}
	*pkt = rest;
	return head;
}

void
parts_take(struct parts *p, struct rl_flit *part)
{
	struct rl_flit **open = &p->open[part->in_vc];
	struct rl_flit *pkt;

	p->taken++;
	if ((*open == NULL) != ((part->flags & RL_FF_SOP) != 0))
		p->disorder++;
	if (*open == NULL)
		*open = part;
	else
		rl_packet_join(*open, part);
	pkt = *open;
	if (!rl_packet_ends(pkt))
		return;
	*open = NULL;
	rl_pktq_push(pkt->last->mark == RL_MARK_TRANSMIT_ERROR ? &p->closed
							       : &p->whole,
		     pkt);
}

void
parts_accept(struct parts *p, struct bench_end *e)
{
	struct rl_flit *part;

	while ((part = rl_pktq_pop(&e->kept)) != NULL) {
		assert_true(part->flags & RL_FF_CREDIT);
		rl_shared_add(&e->shared->freed[part->in_vc],
			      part->pkt_flits);
		parts_take(p, part);
	}
}

void
parts_finish(struct parts *p, struct bench_pool *pool, struct bench_sink *sink)
{
	struct rl_flit *pkt;

	assert_int_equal(p->disorder, 0);
	while ((pkt = rl_pktq_pop(&p->whole)) != NULL) {
		bench_sink_take(sink, pkt);
		rl_packet_put(&pool->cache, pkt);
	}
	while ((pkt = rl_pktq_pop(&p->closed)) != NULL)
		rl_packet_put(&pool->cache, pkt);
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		if (p->open[vc] != NULL)
			rl_packet_put(&pool->cache, p->open[vc]);
		p->open[vc] = NULL;
	}
}
