/* SPDX-License-Identifier: BSD-3-Clause */
#include "parts.h"

#define US RL_NS_PER_US

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

struct rl_link_cfg
cut_cfg(void)
{
	struct rl_link_cfg cfg;

	bench_cfg(&cfg);
	cfg.switching = RL_CUT_THROUGH;
	cfg.max_packet_flits = 16;
	cfg.window_flits = 64;
	cfg.credits_flits = 32;
	cfg.ack_coalesce_flits = 1;
	return cfg;
}

void
cut_open(struct cut *g, const struct rl_link_cfg *cfg)
{
	memset(g, 0, sizeof(*g));
	g->b.pool_flits = 8192;
	bench_open(&g->b, cfg);
	for (unsigned int i = 0; i < 2; i++) {
		g->b.wire[i].delay_ns = 2 * US;
		g->b.wire[i].slot_ns = US;
	}
	g->b.end[1].hold_vcs = 0xff;
	bench_start(&g->b);
	bench_run(&g->b, 50 * US);
	g->b.end[0].nmarks = g->b.end[1].nmarks = 0;
}

void
cut_run(struct cut *g, unsigned int us)
{
	for (unsigned int i = 0; i < us; i++) {
		bench_run(&g->b, US);
		parts_accept(&g->in, &g->b.end[1]);
	}
}

struct rl_flit *
cut_make(struct cut *g, unsigned int vc, unsigned int flits)
{
	const struct bench_packet k = {
		.src = 1, .dst = 2, .sl = (uint8_t)vc, .vc = (uint8_t)vc,
		.flits = (uint16_t)flits, .tag = g->next_tag[vc]++,
	};

	return bench_make(&g->b.pool, &k);
}

void
cut_give(struct cut *g, struct rl_flit **pkt, unsigned int n)
{
	rl_port_submit(g->b.end[0].port, parts_cut(pkt, n), g->b.now_ns);
}

void
cut_at_rest(struct cut *g)
{
	const struct rl_port_info a = bench_info(&g->b.end[0]);

	assert_int_equal(a.reserved_flits, 0);
	assert_int_equal(a.held_flits, 0);
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		assert_int_equal(a.credits[vc], g->b.cfg.credits_flits);
}

void
cut_close(struct cut *g)
{
	bench_end_release(&g->b.end[1]);
	parts_finish(&g->in, &g->b.pool, &g->b.end[1].sink);
	assert_int_equal(g->b.end[1].sink.corrupt, 0);
	assert_int_equal(g->b.end[1].sink.disorder, 0);
	assert_int_equal(g->b.end[1].sink.duplicates, 0);
	bench_close(&g->b);
}

void
cut_kill(struct cut *g)
{
	bench_cut(&g->b, true);
	for (unsigned int i = 0; i < 2; i++)
		rl_port_phy_status(g->b.end[i].port, false, g->b.now_ns);
}
