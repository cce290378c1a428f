/* SPDX-License-Identifier: BSD-3-Clause */
#include "duo.h"

void
duo_cfg(struct duo *d, unsigned int links)
{
	memset(d, 0, sizeof(*d));
	bench_cfg(&d->cfg);
	d->cfg.dup_filter = true;
	d->cfg.resume_delay_ns = 20 * RL_NS_PER_US;
	d->cfg.restore_delay_ns = 20 * RL_NS_PER_US;
	d->cfg.watchdog_ns = 100 * RL_NS_PER_MS;
	d->cfg.no_path_ns = 100 * RL_NS_PER_MS;
	d->links = links;
	d->pool_flits = 512;
}

static void
duo_drop(void *ctx, const struct rl_flit *pkt, enum rl_drop_reason why,
	 uint64_t now_ns)
{
	struct duo_dev *dev = ctx;

	(void)pkt;
	(void)now_ns;
	dev->drops[why]++;
}

/*
 * The endpoint is the only destination; each flow has a plane with its own list
 * of ports.
 */
static void
dev_routes(struct duo *d, struct duo_dev *dev, uint16_t nports, bool ep)
{
	struct rl_fwd *f = &dev->fwd;

	f->ndst = DUO_EP + 1;
	f->nports = nports;
	f->nplanes = DUO_FLOWS;
	f->nvls = RL_VCS;
	f->grouped = true;
	dev->entry = calloc(DUO_FLOWS * f->ndst, sizeof(*dev->entry));
	dev->sl2vl = calloc(DUO_FLOWS * (nports + 1u) * nports, RL_SLS);
	rl_fwd_entries(f, dev->entry);
	f->sl2vl = dev->sl2vl;
	for (unsigned int sl = 0; sl < RL_SLS; sl++) {
		f->inject_plane[sl] = (uint8_t)(sl % DUO_FLOWS);
		for (unsigned int vl = 0; vl < RL_VCS; vl++)
			f->plane_of[vl][sl] = (uint8_t)(sl % DUO_FLOWS);
	}
	for (unsigned int i = 0;
	     i < DUO_FLOWS * (nports + 1u) * nports * RL_SLS; i++)
		dev->sl2vl[i] = (uint8_t)(i % RL_SLS % RL_VCS);
	for (unsigned int n = 0; n < DUO_FLOWS * f->ndst; n++)
		for (unsigned int i = 0; i < RL_FWD_ALTS; i++)
			dev->entry[n].hop[i] = (struct rl_fwd_hop){
				.port = (uint16_t)(ep || i >= d->links
					? RL_FWD_PORT_NONE
					: 1 + (n / f->ndst + i) % d->links) &
					0x1fff,
				.plane = (uint8_t)(n / f->ndst) & 7,
			};
}

static void
dev_open(struct duo *d, struct duo_dev *dev, bool ep)
{
	const uint16_t nports = (uint16_t)(d->links + !ep);
	struct rl_core_params p = {
		.cfg = &d->cfg, .fwd = &dev->fwd, .cache = &d->pool.cache,
		.shared = dev->shared, .drop = duo_drop, .drop_ctx = dev,
		.nports = nports, .endpoint = ep, .ep_id = DUO_EP,
		.beside = dev->beside,
	};

	dev->first = ep ? 0 : 1;
	for (unsigned int i = 0; i < d->links; i++) {
		const struct bench_end_params ep_params = {
			.cfg = &d->cfg, .pool = &d->pool,
			.in = &d->wire[i][!ep], .out = &d->wire[i][ep],
			.uid = 1 + 2 * i + ep,
			.index = (uint16_t)(dev->first + i),
			.kind = RL_LINK_ISL,
		};

		bench_end_open(&dev->end[i], &ep_params);
		dev->end[i].no_core = true; /* this device has a real one */
		dev->shared[dev->first + i] = dev->end[i].shared;
		dev->beside[dev->first + i] =
			(uint16_t)(dev->first + (i + 1) % d->links);
	}
	if (!ep) {
		dev->shared[0] = aligned_alloc(64, sizeof(*dev->shared[0]));
		memset(dev->shared[0], 0, sizeof(*dev->shared[0]));
	}
	dev_routes(d, dev, nports, ep);
	dev->mem = aligned_alloc(64, rl_core_memsize(&d->cfg, nports));
	dev->core = rl_core_init(dev->mem, &p);
	for (unsigned int i = 0; i < d->links; i++)
		rl_core_join(dev->core, (uint16_t)(dev->first + i),
			     dev->end[i].port);
}

static void
mark(struct rl_core *core, uint16_t port, enum rl_pipe_mark m, uint64_t now_ns)
{
	struct rl_flit *const item = rl_pipe_mark(m);

	rl_core_loop(core, port, &item, 1, now_ns);
}

void
duo_open(struct duo *d)
{
	const uint32_t frame_bytes = rl_frame_bytes(d->cfg.flits_per_frame);

	d->now_ns = 1000;
	bench_pool_open(&d->pool, d->pool_flits);
	for (unsigned int i = 0; i < d->links; i++)
		for (unsigned int w = 0; w < 2; w++) {
			bench_wire_open(&d->wire[i][w], frame_bytes);
			d->wire[i][w].delay_ns = 2 * RL_NS_PER_US;
			d->wire[i][w].slot_ns = RL_NS_PER_US;
		}
	dev_open(d, &d->a, false);
	dev_open(d, &d->b, true);
	mark(d->a.core, 0, RL_MARK_LINK_UP, d->now_ns);
	for (unsigned int i = 0; i < d->links; i++) {
		rl_port_start(d->a.end[i].port, d->now_ns);
		rl_port_start(d->b.end[i].port, d->now_ns);
	}
	duo_run(d, 60 * RL_NS_PER_US);
	for (unsigned int i = 0; i < d->links; i++) {
		assert_int_equal(bench_state(&d->a.end[i]), RL_LINK_UP);
		assert_int_equal(bench_state(&d->b.end[i]), RL_LINK_UP);
	}
}

/*
 * An endpoint that takes parts: it takes each flit that is the next of its
 * flow. An earlier one is a duplicate: the start of a packet that was cut off,
 * in its second copy.
 */
static void
duo_take_flits(struct duo *d, const struct rl_flit *part)
{
	for (const struct rl_flit *f = part; f != NULL; f = f->next) {
		uint32_t *tag, *pos;
		struct rl_txn t;

		assert_int_equal(f->mark, RL_MARK_OK);
		rl_txn_get(f->wire, &t);
		tag = &d->sink.next_tag[t.sl & (RL_SLS - 1)];
		pos = &d->next_pos[t.sl % DUO_FLOWS];
		d->sink.corrupt += !bench_flit_intact(f);
		if (t.tag < *tag || (t.tag == *tag && t.pos < *pos)) {
			d->again_flits++;
			continue;
		}
		d->sink.disorder += t.tag != *tag || t.pos != *pos;
		d->sink.flits++;
		if (++*pos == t.len_flits) {
			d->sink.packets++;
			(*tag)++;
			*pos = 0;
		}
	}
}

static void
dev_poll(struct duo *d, struct duo_dev *dev)
{
	struct rl_flit *pkt, *out[8];
	unsigned int n;

	for (unsigned int i = 0; i < d->links; i++) {
		struct bench_end *e = &dev->end[i];
		const uint16_t port = (uint16_t)(dev->first + i);

		bench_end_port(e, d->now_ns);
		bench_end_core(e, d->now_ns); /* events */
		e->nevents = e->nevents < BENCH_EVENTS / 2 ? e->nevents : 0;
		while ((pkt = rl_port_loop(e->port, d->now_ns)) != NULL)
			rl_core_loop(dev->core, port, &pkt, 1, d->now_ns);
		rl_core_rx_queue(dev->core, port, rl_port_rx_out(e->port),
				 d->now_ns);
	}
	while ((pkt = rl_core_local(dev->core)) != NULL) {
		if (d->cfg.switching == RL_CUT_THROUGH)
			duo_take_flits(d, pkt);
		else
			bench_sink_take(&d->sink, pkt);
		rl_packet_put(&d->pool.cache, pkt);
	}
	rl_core_tick(dev->core, d->now_ns);
	for (unsigned int i = 0; i < d->links; i++)
		while ((n = rl_core_tx(dev->core, (uint16_t)(dev->first + i),
				       out, 8)) != 0)
			for (unsigned int k = 0; k < n; k++)
				rl_port_submit(dev->end[i].port, out[k],
					       d->now_ns);
	if (dev->first == 1) /* the ingress port answers its fences */
		while ((n = rl_core_tx(dev->core, 0, out, 8)) != 0)
			for (unsigned int k = 0; k < n; k++) {
				assert_int_equal(rl_pipe_is_mark(out[k]),
						 RL_MARK_FENCE);
				mark(dev->core, 0, RL_MARK_FENCE_DONE,
				     d->now_ns);
			}
}

void
duo_run(struct duo *d, uint64_t ns)
{
	const uint64_t end_ns = d->now_ns + ns;

	while (d->now_ns < end_ns) {
		dev_poll(d, &d->a);
		dev_poll(d, &d->b);
		d->now_ns += RL_NS_PER_US;
	}
}

static bool
duo_idle(const struct duo *d)
{
	if (rl_core_flits(d->a.core) + rl_core_flits(d->b.core) != 0)
		return false;
	for (unsigned int i = 0; i < d->links; i++)
		if (!rl_port_idle(d->a.end[i].port) ||
		    !rl_port_idle(d->b.end[i].port) ||
		    bench_wire_due(&d->wire[i][0]) != RL_NEVER)
			return false;
	return true;
}

void
duo_settle(struct duo *d, uint64_t max_ns)
{
	const uint64_t end_ns = d->now_ns + max_ns;

	do {
		duo_run(d, RL_NS_PER_US);
		if (d->now_ns > end_ns)
			fail_msg("not idle: %u flits in the switch's core",
				 rl_core_flits(d->a.core));
	} while (!duo_idle(d));
}

struct rl_flit *
duo_make(struct duo *d, unsigned int flow, unsigned int flits)
{
	const struct bench_packet k = {
		.src = (uint16_t)(10 + flow), .dst = DUO_EP,
		.sl = (uint8_t)flow,
		.flits = (uint16_t)flits, .tag = d->next_tag[flow]++,
	};
	struct rl_flit *pkt = bench_make(&d->pool, &k);

	for (struct rl_flit *f = pkt; f != NULL; f = f->next) {
		f->in_port = 0;
		f->in_vc = k.sl;
	}
	return pkt;
}

void
duo_give(struct duo *d, struct rl_flit *part)
{
	struct rl_pktq q = { 0 };

	rl_pktq_push(&q, part);
	rl_core_rx_queue(d->a.core, 0, &q, d->now_ns);
}

void
duo_send(struct duo *d, unsigned int flow, unsigned int flits)
{
	duo_give(d, duo_make(d, flow, flits));
}

static void
duo_phy(struct duo *d, unsigned int link, bool up)
{
	for (unsigned int w = 0; w < 2; w++) {
		d->wire[link][w].cut = !up;
		if (!up)
			bench_wire_clear(&d->wire[link][w]);
	}
	rl_port_phy_status(d->a.end[link].port, up, d->now_ns);
	rl_port_phy_status(d->b.end[link].port, up, d->now_ns);
}

void
duo_kill(struct duo *d, unsigned int link)
{
	duo_phy(d, link, false);
}

void
duo_heal(struct duo *d, unsigned int link)
{
	duo_phy(d, link, true);
}

void
duo_check(struct duo *d)
{
	assert_int_equal(d->sink.corrupt, 0);
	assert_int_equal(d->sink.duplicates, 0);
	assert_int_equal(d->sink.disorder, 0);
	for (unsigned int f = 0; f < DUO_FLOWS; f++)
		assert_int_equal(d->sink.next_tag[f], d->next_tag[f]);
}

static void
dev_close(struct duo *d, struct duo_dev *dev)
{
	rl_core_flush(dev->core);
	if (dev->first == 1)
		free(dev->shared[0]);
	for (unsigned int i = 0; i < d->links; i++)
		bench_end_close(&dev->end[i]);
	free(dev->mem);
	free(dev->entry);
	free(dev->sl2vl);
}

void
duo_close(struct duo *d)
{
	dev_close(d, &d->a);
	dev_close(d, &d->b);
	for (unsigned int i = 0; i < d->links; i++)
		for (unsigned int w = 0; w < 2; w++)
			bench_wire_close(&d->wire[i][w]);
	bench_pool_check(&d->pool);
	bench_pool_close(&d->pool);
}
