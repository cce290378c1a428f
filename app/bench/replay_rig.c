/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "bench.h"
#include "replay_rig.h"

static int
make_ports(struct replay_rig *g, uint32_t flits_per_frame, uint32_t frame_bytes,
	   uint64_t replay_ns)
{
	const struct rl_link_auth *auth[2] = { NULL, NULL };

	rl_link_cfg_defaults(&g->cfg);
	g->cfg.credits_flits = 4096;
	g->cfg.replay_limit = 255;
	g->cfg.replay_timer_ns = replay_ns;
	g->cfg.keepalive_ns = g->cfg.keepalive_dead_ns = 0;
	g->cfg.error_window_ns = 0; /* replays are no errors here */
	g->cfg.flits_per_frame = flits_per_frame;
	g->cfg.queue_flits = 1024;
	g->codec = bench_alloc(rl_codec_memsize());
	g->flits = bench_alloc(2048 * sizeof(struct rl_flit));
	g->cache.slot = bench_alloc(2048 * sizeof(struct rl_flit *));
	g->cache.cap = 2048;
	g->frame = bench_alloc(RL_FRAME_BYTES_MAX);
	if (g->codec == NULL || g->flits == NULL || g->cache.slot == NULL ||
	    g->frame == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < 2048; i++)
		rl_flit_put(&g->cache, &g->flits[i]);
	rl_codec_init(g->codec, RL_CRC_BCH, RL_ISN_WIDE,
		      rl_codec_best_isa(512));
	for (unsigned int i = 0; i < 2; i++) {
		if (g->auth[i] != NULL)
			auth[i] = rl_auth_link(g->auth[i]);
		const struct rl_port_params p = {
			.cfg = &g->cfg,
			.codec = g->codec,
			.cache = &g->cache,
			.shared = &g->shared[i],
			.seed = i + 1,
			.uid = i + 1,
			.index = (uint16_t)i,
			.frame_bytes = frame_bytes,
			.auth = auth[i],
			/* so that a cable that leads back does not train */
			.place = { .link = 1, .end = (uint8_t)i },
		};
		void *mem = bench_alloc(rl_port_memsize(&g->cfg));

		g->port[i] = mem == NULL ? NULL : rl_port_init(mem, &p);
		if (g->port[i] == NULL)
			return -ENOMEM;
	}
	return 0;
}

/* Both ends shake hands; then the first one's window is filled. */
static int
rig_fill(struct replay_rig *g)
{
	struct rl_port_info info;
	uint64_t now_ns = 1000;
	uint32_t len;

	rl_port_start(g->port[0], now_ns);
	rl_port_start(g->port[1], now_ns);
	for (unsigned int i = 0; i < 20; i++, now_ns += 1000)
		while ((len = rl_port_tx_frame(g->port[i & 1], g->frame,
					       now_ns)) != 0)
			rl_port_rx_frame(g->port[!(i & 1)], g->frame, len,
					 now_ns);
	for (uint32_t i = 0; i < g->cfg.window_flits; i++) {
		struct rl_flit *f = rl_flit_get(&g->cache);

		rl_packet_start(f);
		f->flags = RL_FF_SOP | RL_FF_EOP;
		f->vc = 0;
		rl_port_submit(g->port[0], f, now_ns);
	}
	while (rl_port_tx_frame(g->port[0], g->frame, now_ns) != 0)
		;
	rl_port_info(g->port[0], &info);
	g->now_ns = 1000000;
	if (info.state != RL_LINK_UP ||
	    info.outstanding_flits != g->cfg.window_flits)
		return -EIO;
	return 0;
}

int
replay_rig_ports(struct replay_rig *g, uint32_t flits_per_frame,
		 uint32_t frame_bytes, uint64_t replay_ns, bool keyed)
{
	struct rl_auth_root root;

	memset(g, 0, sizeof(*g));
	rl_auth_root_make(&root, "bench", 5);
	for (unsigned int i = 0; i < 2 && keyed; i++) {
		g->auth[i] = rl_auth_open(&root, "s0-s1#0", i);
		if (g->auth[i] == NULL)
			return -ENOMEM;
	}
	return make_ports(g, flits_per_frame, frame_bytes, replay_ns);
}

int
replay_rig_open(struct replay_rig *g, uint32_t flits_per_frame,
		uint32_t frame_bytes, bool keyed)
{
	const int ret = replay_rig_ports(g, flits_per_frame, frame_bytes,
					 REPLAY_EVERY_NS, keyed);

	return ret == 0 ? rig_fill(g) : ret;
}

void
replay_rig_close(struct replay_rig *g)
{
	for (unsigned int i = 0; i < 2; i++) {
		if (g->port[i] != NULL)
			rl_port_flush(g->port[i]);
		free(g->port[i]);
		rl_auth_close(g->auth[i]);
	}
	free(g->codec);
	free(g->flits);
	free(g->cache.slot);
	free(g->frame);
}

/* The peer answers a frame without flits: it has got nothing. */
static void
peer_answers(struct replay_rig *g, uint8_t *frame, uint32_t len,
	     uint64_t now_ns)
{
	rl_port_rx_frame(g->port[1], frame, len, now_ns);
	while ((len = rl_port_tx_frame(g->port[1], g->frame, now_ns)) != 0)
		rl_port_rx_frame(g->port[0], g->frame, len, now_ns);
}

unsigned int
replay_throw_away(struct rl_phy_eth *phy, uint64_t now_ns)
{
	struct rl_phy_frame f[RL_PHY_BURST];
	const unsigned int n = rl_phy_eth_ops.rx(phy, f, RL_PHY_BURST, now_ns);

	rl_phy_eth_ops.rx_free(phy, f, n);
	return n;
}

/* @return flits of the frames that were sent */
static uint32_t
send_burst(struct replay_rig *g, struct rl_phy_eth *phy, uint64_t now_ns,
	   struct rl_phy_frame f[], unsigned int n)
{
	uint32_t flits = 0;

	for (unsigned int i = 0; i < n; i++) {
		f[i].len = rl_port_tx_frame(g->port[0], f[i].data, now_ns);
		if (f[i].len != 0 && f[i].data[15] == 0)
			peer_answers(g, f[i].data, f[i].len, now_ns);
		flits += f[i].len == 0 ? 0 : f[i].data[15];
	}
	rl_phy_eth_ops.tx(phy, f, n, now_ns);
	return flits;
}

uint32_t
replay_once(struct replay_rig *g, struct rl_phy_eth *phy, uint64_t now_ns)
{
	struct rl_phy_frame f[RL_PHY_BURST];
	uint64_t moved = rte_rdtsc();
	uint32_t flits = 0;

	rl_port_tick(g->port[0], now_ns);
	while (rl_port_tx_ready(g->port[0], now_ns)) {
		const uint64_t sent = phy->c.tx_frames, from = rte_rdtsc();
		const unsigned int heard =
			g->hears ? replay_throw_away(phy, now_ns) : 0;
		const unsigned int n =
			rl_phy_eth_ops.tx_alloc(phy, f, RL_PHY_BURST, now_ns);

		flits += send_burst(g, phy, now_ns, f, n);
		if (n != 0 || heard != 0 || phy->c.tx_frames != sent)
			moved = from;
		else
			g->wait_cycles += rte_rdtsc() - from;
		if (from - moved > rte_get_tsc_hz())
			break;
	}
	return flits;
}
