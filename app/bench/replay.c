/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `replay` [PHY-4]: a port with a full replay buffer is asked again and
 * again to send all of it, into net_null, which takes everything at once. What
 * remains is the port's own work: header, check, and a copy of each flit into
 * a fresh frame. The bound is the plain copy of a flit out of L2, measured in
 * turn with it. The window lies in huge pages: in small ones, chance would say
 * which of its lines share a set of L2.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_ethdev.h>

#include "bench.h"
#include "bench_host.h"
#include "stop_signal.h"

#define REPLAY_EVERY_NS 1000

struct replay_rig {
	struct rl_link_cfg cfg;
	struct rl_codec *codec;
	struct rl_flit_cache cache;
	struct rl_flit *flits;
	struct rl_port_shared shared[2];
	struct rl_port *port[2];
	struct rte_mempool *pool;
	struct rl_phy_eth phy;
	uint16_t eth;
	bool eth_open, phy_open;
	uint8_t *frame; /* of the handshake */
};

static int
rig_ports(struct replay_rig *g, uint32_t flits_per_frame)
{
	rl_link_cfg_defaults(&g->cfg);
	g->cfg.credits_flits = 4096;
	g->cfg.replay_limit = 255;
	g->cfg.replay_timer_ns = REPLAY_EVERY_NS;
	g->cfg.keepalive_ns = g->cfg.keepalive_dead_ns = 0; /* silent peer */
	g->cfg.flits_per_frame = flits_per_frame;
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
		const struct rl_port_params p = {
			.cfg = &g->cfg,
			.codec = g->codec,
			.cache = &g->cache,
			.shared = &g->shared[i],
			.seed = i + 1,
			.uid = i + 1,
			.index = (uint16_t)i,
			.frame_bytes = RL_FRAME_BYTES_MAX,
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
	if (info.state != RL_LINK_UP ||
	    info.outstanding_flits != g->cfg.window_flits)
		return -EIO;
	return 0;
}

static int
rig_phy(struct replay_rig *g)
{
	struct rl_phy_eth_params p = { .frame_bytes = RL_FRAME_BYTES_MAX };
	const char *what;
	int ret;

	ret = rte_vdev_init("net_null_replay", "copy=0");
	if (ret != 0)
		return ret;
	rte_eth_dev_get_port_by_name("net_null_replay", &g->eth);
	g->eth_open = true;
	g->pool = rl_frame_pool("replay", 2048, RL_FRAME_BYTES_MAX);
	if (g->pool == NULL)
		return -ENOMEM;
	ret = rl_ethdev_start(g->eth, 1, g->pool, 0, &what);
	if (ret != 0)
		return ret;
	p.port_id = g->eth;
	p.pool = g->pool;
	ret = rl_phy_eth_open(&g->phy, &p);
	g->phy_open = ret == 0;
	return ret;
}

/* The timer is due: one replay of the whole window; returns flits sent. */
static uint32_t
replay_once(struct replay_rig *g, uint64_t now_ns)
{
	struct rl_phy_frame f[8];
	uint32_t flits = 0;

	rl_port_tick(g->port[0], now_ns);
	while (rl_port_tx_ready(g->port[0], now_ns)) {
		const unsigned int n =
			rl_phy_eth_ops.tx_alloc(&g->phy, f, 8, now_ns);

		for (unsigned int i = 0; i < n; i++) {
			f[i].len = rl_port_tx_frame(g->port[0], f[i].data,
						    now_ns);
			flits += f[i].len == 0 ? 0 : f[i].data[15];
		}
		rl_phy_eth_ops.tx(&g->phy, f, n, now_ns);
	}
	return flits;
}

static void
rig_close(struct replay_rig *g)
{
	if (g->phy_open)
		rl_phy_eth_close(&g->phy);
	if (g->eth_open) {
		(void)rte_eth_dev_stop(g->eth);
		(void)rte_vdev_uninit("net_null_replay");
	}
	rte_mempool_free(g->pool);
	for (unsigned int i = 0; i < 2; i++) {
		if (g->port[i] != NULL)
			rl_port_flush(g->port[i]);
		free(g->port[i]);
	}
	free(g->codec);
	free(g->flits);
	free(g->cache.slot);
	free(g->frame);
	free(g);
}

/* ns a flit, and that of a plain copy before and after */
static int
measure_once(struct replay_rig *g, struct bench_bare *bare, bool quick,
	     uint64_t *now_ns, double *ns, double *ratio)
{
	const unsigned int rounds = quick ? 100 : 1000;
	double copy = bench_bare_copy_ns(bare);
	uint64_t flits = 0, t0;

	for (unsigned int i = 0; i < 10; i++) /* into the cache */
		replay_once(g, *now_ns += REPLAY_EVERY_NS);
	t0 = bench_cpu_ns();
	for (unsigned int i = 0; i < rounds; i++)
		flits += replay_once(g, *now_ns += REPLAY_EVERY_NS);
	*ns = (double)(bench_cpu_ns() - t0) / (double)flits;
	copy = (copy + bench_bare_copy_ns(bare)) / 2;
	*ratio = *ns / copy;
	return flits == (uint64_t)rounds * g->cfg.window_flits ? 0 : -EBADMSG;
}

static int
measure(const struct bench_opts *o, uint32_t flits_per_frame,
	struct bench_bare *bare, struct bench_stat *ns,
	struct bench_stat *ratio)
{
	struct replay_rig *g = calloc(1, sizeof(*g));
	const unsigned int most = (o->quick ? 1 : 3) * o->reps;
	double *v = calloc(most, sizeof(*v)), *w = calloc(most, sizeof(*w));
	uint64_t now_ns = 1000000;
	int ret = g == NULL || v == NULL || w == NULL
			  ? -ENOMEM
			  : rig_ports(g, flits_per_frame);

	if (ret == 0)
		ret = rig_fill(g);
	if (ret == 0)
		ret = rig_phy(g);
	for (unsigned int n = 0; n < most && ret == 0; n++) {
		ret = measure_once(g, bare, o->quick, &now_ns, &v[n], &w[n]);
		if (ret != 0 || ((n + 1) % o->reps != 0 && stop_asked() == 0))
			continue;
		bench_stat(v, n + 1, ns);
		bench_stat(w, n + 1, ratio);
		if (!ratio->noisy || stop_asked() != 0)
			break;
	}
	if (g != NULL)
		rig_close(g);
	free(v);
	free(w);
	return ret;
}

static int
run_size(const struct bench_opts *o, uint32_t flits_per_frame,
	 struct bench_bare *bare, json_t *runs, FILE *human)
{
	struct bench_stat ns, ratio;
	const int ret = measure(o, flits_per_frame, bare, &ns, &ratio);

	if (ret != 0)
		return ret;
	json_array_append_new(runs, json_pack(
		"{s:i,s:f,s:f,s:f,s:f,s:f,s:b}", "flits_per_frame",
		(int)flits_per_frame, "ns_per_flit", ns.median, "mflits_per_s",
		1e3 / ns.median, "share_of_copy_limit", 1 / ratio.median,
		"ratio_vs_copy", ratio.median, "spread", ratio.spread, "noisy",
		ratio.noisy));
	fprintf(human,
		"  %2u flits a frame: %5.1f ns/flit, %6.1f Mflit/s "
		"(%6.1f Gbit/s), %3.0f %% of the copy limit, spread %.0f %%%s\n",
		flits_per_frame, ns.median, 1e3 / ns.median,
		256 * 8 / ns.median, 100 / ratio.median, 100 * ratio.spread,
		ratio.noisy ? " ?" : "");
	fflush(human);
	return 0;
}

int
bench_replay(const struct bench_opts *o, json_t *out, FILE *human)
{
	static const uint32_t sizes[] = { 1, 5, 16, 32 };
	struct bench_bare *bare = bench_bare_new();
	json_t *runs = json_array();
	int ret = bare == NULL ? -ENOMEM : bench_eal();
	const double copy = ret == 0 ? bench_bare_copy_ns(bare) : 0;

	fprintf(human, "replay: a window of 512 flits into net_null; plain "
		       "copy %.2f ns\n"
		       "(medians; spread: the middle half of all; ? : too busy "
		       "a machine to say)\n",
		copy);
	for (size_t i = 0; i < RL_ARRAY_SIZE(sizes) && ret == 0 &&
			   stop_asked() == 0; i++)
		ret = run_size(o, sizes[i], bare, runs, human);
	json_object_set_new(out, "copy_ns", json_real(copy));
	json_object_set_new(out, "runs", runs);
	bench_bare_free(bare);
	return ret;
}
