/* SPDX-License-Identifier: BSD-3-Clause */
#include "core_bench.h"

void
cb_cfg(struct core_bench *c)
{
	memset(c, 0, sizeof(*c));
	bench_cfg(&c->cfg);
	c->cfg.resume_delay_ns = 20 * RL_NS_PER_US;
	c->cfg.restore_delay_ns = 50 * RL_NS_PER_US;
	c->cfg.watchdog_ns = 10 * RL_NS_PER_MS;
	c->cfg.no_path_ns = 5 * RL_NS_PER_MS;
	c->fwd.nplanes = 1;
	for (uint16_t i = 0; i < CB_PORTS; i++)
		c->beside[i] = i;
	for (unsigned int p = 0; p < CB_PLANES; p++)
		for (unsigned int d = 0; d < CB_DSTS; d++)
			cb_route(c, p, (uint16_t)d, NULL, 0);
}

void
cb_route(struct core_bench *c, unsigned int plane, uint16_t dst,
	 const uint16_t ports[], unsigned int n)
{
	for (unsigned int i = 0; i < RL_FWD_ALTS; i++)
		c->entry[plane][dst].hop[i] = (struct rl_fwd_hop){
			.port = (uint16_t)((i < n ? ports[i]
						  : RL_FWD_PORT_NONE) &
					   0x1fff),
			.plane = (uint8_t)(plane & 7),
		};
}

static void
cb_drop(void *ctx, const struct rl_flit *pkt, enum rl_drop_reason why,
	uint64_t now_ns)
{
	struct core_bench *c = ctx;

	(void)now_ns;
	assert_true(c->ndrops < CB_DROPS);
	c->drop[c->ndrops++] = (struct bench_dropped){
		.why = why,
		.tag = rl_flit_tag(pkt->wire),
		.flits = pkt->pkt_flits,
	};
}

void
cb_open(struct core_bench *c, int ep)
{
	struct rl_core_params p = {
		.cfg = &c->cfg, .fwd = &c->fwd, .cache = &c->pool.cache,
		.shared = c->shared, .drop = cb_drop, .drop_ctx = c,
		.nports = CB_PORTS, .endpoint = ep >= 0,
		.ep_id = (uint16_t)(ep >= 0 ? ep : 0),
	};

	for (unsigned int i = 0; i < CB_PORTS; i++)
		if (c->beside[i] != i)
			p.beside = c->beside;
	bench_pool_open(&c->pool, 4096);
	c->fwd.ndst = CB_DSTS;
	c->fwd.nports = CB_PORTS;
	c->fwd.nvls = RL_VCS;
	rl_fwd_entries(&c->fwd, &c->entry[0][0]);
	c->fwd.sl2vl = c->sl2vl;
	for (unsigned int i = 0; i < sizeof(c->sl2vl); i++)
		c->sl2vl[i] = i % RL_SLS % RL_VCS;
	for (unsigned int i = 0; i < CB_PORTS; i++) {
		c->shared[i] = aligned_alloc(64, sizeof(*c->shared[i]));
		memset(c->shared[i], 0, sizeof(*c->shared[i]));
	}
	c->mem = aligned_alloc(64, rl_core_memsize(&c->cfg, CB_PORTS));
	memset(c->mem, 0xa5, rl_core_memsize(&c->cfg, CB_PORTS));
	c->core = rl_core_init(c->mem, &p);
	c->now_ns = 1000;
	rl_core_tick(c->core, c->now_ns);
}

void
cb_close(struct core_bench *c)
{
	rl_core_flush(c->core);
	assert_int_equal(rl_core_flits(c->core), 0);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		cb_ack(c, i);
	bench_pool_check(&c->pool);
	for (unsigned int i = 0; i < CB_PORTS; i++)
		free(c->shared[i]);
	free(c->mem);
	bench_pool_close(&c->pool);
}

void
cb_mark(struct core_bench *c, uint16_t port, enum rl_pipe_mark m)
{
	struct rl_flit *const item = rl_pipe_mark(m);

	rl_core_loop(c->core, port, &item, 1, c->now_ns);
}

struct rl_flit *
cb_packet(struct core_bench *c, uint16_t in_port, uint16_t dst,
	  unsigned int flits)
{
	const struct bench_packet k = { .src = 9, .dst = dst,
					.sl = (uint8_t)(dst % 3),
					.flits = (uint16_t)flits,
					.tag = c->next_tag[dst]++ };
	struct rl_flit *pkt = bench_make(&c->pool, &k);

	for (struct rl_flit *f = pkt; f != NULL; f = f->next) {
		f->in_port = in_port;
		f->in_vc = k.sl;
		f->hops = 1;
		if (in_port != RL_PORT_NONE)
			f->flags |= RL_FF_CREDIT;
	}
	return pkt;
}

void
cb_give(struct core_bench *c, uint16_t in_port, struct rl_flit *pkt)
{
	struct rl_pktq q = { 0 };

	/* alternate between both interfaces */
	c->by_queue = !c->by_queue;
	if (!c->by_queue) {
		rl_core_rx(c->core, in_port, &pkt, 1, c->now_ns);
		return;
	}
	rl_pktq_push(&q, pkt);
	rl_core_rx_queue(c->core, in_port, &q, c->now_ns);
}

void
cb_rx(struct core_bench *c, uint16_t in_port, uint16_t dst, unsigned int flits)
{
	cb_give(c, in_port, cb_packet(c, in_port, dst, flits));
}

void
cb_tx(struct core_bench *c, uint16_t port)
{
	struct rl_flit *out[3];
	unsigned int n;

	while ((n = rl_core_tx(c->core, port, out, 3)) != 0) {
		for (unsigned int i = 0; i < n; i++) {
			switch (rl_pipe_is_mark(out[i])) {
			case RL_MARK_LOOP_FENCE:
				c->loop_fences[port]++;
				continue;
			case RL_MARK_FENCE:
				c->fences[port]++;
				continue;
			default:
				break;
			}
			assert_false(out[i]->flags & RL_FF_CREDIT);
			rl_pktq_push(&c->out[port], out[i]);
			if (!c->full[port])
				rl_shared_add(
					&c->shared[port]->taken[out[i]->vc],
					out[i]->pkt_flits);
		}
	}
}

void
cb_tx_all(struct core_bench *c)
{
	for (uint16_t i = 0; i < CB_PORTS; i++)
		cb_tx(c, i);
}

void
cb_loop(struct core_bench *c, uint16_t port, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct rl_flit *pkt = rl_pktq_pop(&c->out[port]);

		assert_non_null(pkt);
		for (struct rl_flit *f = pkt; f != NULL; f = f->next) {
			f->flags |= RL_FF_LOOPED;
			f->loop_id = port + 1u;
		}
		rl_core_loop(c->core, port, &pkt, 1, c->now_ns);
	}
}

void
cb_advance(struct core_bench *c, uint64_t ns)
{
	c->now_ns += ns;
	rl_core_tick(c->core, c->now_ns);
}

void
cb_ack(struct core_bench *c, uint16_t port)
{
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(&c->out[port])) != NULL)
		rl_packet_put(&c->pool.cache, pkt);
}

void
cb_expect(struct core_bench *c, uint16_t port, uint16_t dst, uint32_t from,
	  uint32_t to)
{
	uint32_t tag = from;

	for (const struct rl_flit *p = c->out[port].head; p != NULL;
	     p = p->next_pkt) {
		if (p->dst != dst)
			continue;
		assert_true(bench_intact(p));
		if (rl_flit_tag(p->wire) != tag)
			fail_msg("port %u gives packet %u to %u, not %u", port,
				 rl_flit_tag(p->wire), dst, tag);
		tag++;
	}
	assert_int_equal(tag, to + 1);
}

uint32_t
cb_freed(const struct core_bench *c, uint16_t port)
{
	uint32_t n = 0;

	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		n += rl_shared_read(&c->shared[port]->freed[vc]);
	return n;
}
