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
#include "replay_rig.h"
#include "stop_signal.h"

/* A rig, and where its frames go. */
struct null_rig {
	struct replay_rig rig;
	struct rte_mempool *pool;
	struct rl_phy_eth phy;
	uint16_t eth;
	bool eth_open, phy_open;
};

static int
rig_phy(struct null_rig *g)
{
	struct rl_phy_eth_params p = { .frame_bytes = RL_FRAME_BYTES_MAX };
	const char *what;
	int ret = rte_vdev_init("net_null_replay", "copy=0");

	if (ret != 0)
		return ret;
	rte_eth_dev_get_port_by_name("net_null_replay", &g->eth);
	g->eth_open = true;
	g->pool = rl_frame_pool("replay", 2048, RL_FRAME_BYTES_MAX, false);
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

static void
rig_close(struct null_rig *g)
{
	if (g->phy_open)
		rl_phy_eth_close(&g->phy);
	if (g->eth_open) {
		(void)rte_eth_dev_stop(g->eth);
		(void)rte_vdev_uninit("net_null_replay");
	}
	rte_mempool_free(g->pool);
	replay_rig_close(&g->rig);
	free(g);
}

/* ns a flit, and that of a plain copy before and after */
static int
measure_once(struct null_rig *g, struct bench_bare *bare, bool quick,
	     uint64_t *now_ns, double *ns, double *ratio)
{
	const unsigned int rounds = quick ? 100 : 1000;
	double copy = bench_bare_copy_ns(bare);
	uint64_t flits = 0, t0;

	for (unsigned int i = 0; i < 10; i++) /* into the cache */
		replay_once(&g->rig, &g->phy,
				     *now_ns += REPLAY_EVERY_NS);
	t0 = bench_cpu_ns();
	for (unsigned int i = 0; i < rounds; i++)
		flits += replay_once(&g->rig, &g->phy,
				     *now_ns += REPLAY_EVERY_NS);
	*ns = (double)(bench_cpu_ns() - t0) / (double)flits;
	copy = (copy + bench_bare_copy_ns(bare)) / 2;
	*ratio = *ns / copy;
	return flits == (uint64_t)rounds * g->rig.cfg.window_flits
		       ? 0
		       : -EBADMSG;
}

static int
measure(const struct bench_opts *o, uint32_t flits_per_frame,
	struct bench_bare *bare, struct bench_stat *ns,
	struct bench_stat *ratio)
{
	struct null_rig *g = calloc(1, sizeof(*g));
	const unsigned int most = (o->quick ? 1 : 3) * o->reps;
	double *v = calloc(most, sizeof(*v)), *w = calloc(most, sizeof(*w));
	uint64_t now_ns = 1000000;
	int ret = g == NULL || v == NULL || w == NULL
			  ? -ENOMEM
			  : replay_rig_open(&g->rig, flits_per_frame,
					    RL_FRAME_BYTES_MAX, false);

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
