/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `wire` [PHY-4]: a port with a full replay buffer sends all of it again
 * and again through an ethdev, for a second at a time. Beside it, in the same
 * run on the same ethdev: dpdk-testpmd that only sends, frames of the same
 * length, on one core; and frames of that length sent by this program without
 * a port. And the same port once more with a key: what it costs that every
 * frame ends in a tag. All in wall time: a wire may have to wait for its other
 * end.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_ethdev.h>

#include "bench.h"
#include "bench_host.h"
#include "replay_rig.h"
#include "rl_hush.h"
#include "rl_iface.h"
#include "rl_wire_dev.h"
#include "rl_xdp.h"
#include "say_error.h"

#define ROUND_NS (RL_NS_PER_S / 2)
#define QUICK_NS (RL_NS_PER_S / 20)
#define LINE 512
#define XDP_BUFFER 3776u /* with its headers within a page */

/*
 * What each repetition yields: frames or flits a second. KEYED: replay, where
 * frames end in a tag. TAG_NS: to make the tag of a frame, or check it.
 */
enum series { BARE, REPLAY, FLITS, KEYED, KEYED_FLITS, TAG_NS, SERIES };

struct figures {
	double testpmd; /* frames a second; 0: it could not be run */
	double median[SERIES];
};

/*
 * dpdk-testpmd in txonly on the same ethdev, which is ours no more. It says
 * what it sends once a second; the first second is its start.
 */
static double
testpmd(const char *port, uint32_t frame_bytes, bool quick)
{
	char cmd[2 * LINE], line[LINE];
	double best = 0;
	FILE *f;

	snprintf(cmd, sizeof(cmd),
		 "timeout -s INT %d dpdk-testpmd -l 0,1 --no-huge -m 256 "
		 "--no-pci --no-shconf --no-telemetry --log-level=error "
		 "--vdev='%s' -- --forward-mode=txonly --txpkts=%u "
		 "--mbuf-size=%u --total-num-mbufs=16384 --auto-start "
		 "--stats-period=1 2>/dev/null </dev/null",
		 quick ? 3 : 5, port, frame_bytes,
		 rl_driver_is(port, "net_af_xdp")
			 ? XDP_BUFFER
			 : RTE_MAX(frame_bytes + 256, 4352u));
	f = popen(cmd, "r");
	if (f == NULL)
		return 0;
	while (fgets(line, sizeof(line), f) != NULL) {
		const char *at = strstr(line, "Tx-pps:");

		if (at != NULL && strtod(at + 7, NULL) > best)
			best = strtod(at + 7, NULL);
	}
	(void)pclose(f);
	return best;
}

/* Frames of one length, as fast as the ethdev takes them. */
static double
bare(struct rl_phy_eth *phy, uint32_t bytes, uint64_t for_ns)
{
	const uint64_t t0 = bench_now_ns(), n0 = phy->c.tx_frames;
	uint64_t now_ns = t0;
	struct rl_phy_frame f[RL_PHY_BURST];

	while (now_ns - t0 < for_ns) {
		const unsigned int n = rl_phy_eth_ops.tx_alloc(
			phy, f, RL_PHY_BURST, now_ns);

		for (unsigned int i = 0; i < n; i++)
			f[i].len = bytes;
		if (n != 0)
			rl_phy_eth_ops.tx(phy, f, n, now_ns);
		now_ns = bench_now_ns();
	}
	return (double)(phy->c.tx_frames - n0) * 1e9 / (double)(now_ns - t0);
}

/* Replays in a row: the timer is always due. Frames and flits a second. */
static int
replays(struct replay_rig *g, struct rl_phy_eth *phy, uint64_t for_ns,
	double *frames_per_s, double *flits_per_s)
{
	const uint64_t t0 = bench_now_ns(), n0 = phy->c.tx_frames;
	uint64_t virtual_ns = g->now_ns, flits = 0, now_ns = t0;

	while (now_ns - t0 < for_ns) {
		virtual_ns += REPLAY_EVERY_NS;
		flits += replay_once(g, phy, virtual_ns);
		now_ns = bench_now_ns();
	}
	g->now_ns = virtual_ns;
	if (flits == 0)
		return -EIO;
	*frames_per_s = (double)(phy->c.tx_frames - n0) * 1e9 /
			(double)(now_ns - t0);
	*flits_per_s = (double)flits * 1e9 / (double)(now_ns - t0);
	return 0;
}

/* CPU time of one tag in ns, without waiting for a wire. */
static double
tags(const struct replay_rig *g, uint32_t bytes, uint64_t for_ns)
{
	const struct rl_link_auth *a = rl_auth_link(g->auth[0]);
	uint8_t *frame = calloc(1, bytes), tag[RL_AUTH_TAG_BYTES];
	const uint64_t t0 = bench_cpu_ns();
	uint64_t n = 0, now_ns = t0;

	while (frame != NULL && now_ns - t0 < for_ns) {
		for (unsigned int i = 0; i < 64; i++)
			a->ops->seal(a->ctx, RL_AUTH_EPOCH, ++n, frame, bytes,
				     tag);
		now_ns = bench_cpu_ns();
	}
	free(frame);
	return n == 0 ? 0 : (double)(now_ns - t0) / (double)n;
}

/* One repetition: v[series * reps]. */
static int
measure_once(struct replay_rig g[2], struct rl_phy_eth *phy, uint32_t flits,
	     uint64_t for_ns, double *v, unsigned int reps)
{
	int ret;

	v[BARE * reps] = bare(phy, rl_frame_bytes(flits), for_ns);
	ret = replays(&g[0], phy, for_ns, &v[REPLAY * reps], &v[FLITS * reps]);
	if (ret == 0)
		ret = replays(&g[1], phy, for_ns, &v[KEYED * reps],
			      &v[KEYED_FLITS * reps]);
	v[TAG_NS * reps] = tags(&g[1], rl_frame_bytes(flits), for_ns / 4);
	return ret;
}

static int
measure(const struct bench_opts *o, struct rl_wire_dev *w, struct figures *fig)
{
	const uint64_t for_ns = o->quick ? QUICK_NS : ROUND_NS;
	const uint32_t flits = rl_frame_fit(w->frame_bytes);
	double *v = calloc(SERIES * (size_t)o->reps, sizeof(*v));
	const struct rl_phy_eth_params p = {
		.port_id = w->dev.port_id,
		.rx_queues = w->dev.queues,
		.frame_bytes = w->frame_bytes,
		.pool = w->pool,
	};
	struct replay_rig g[2];
	struct rl_phy_eth phy;
	int ret = v == NULL ? -ENOMEM : rl_phy_eth_open(&phy, &p);

	for (unsigned int k = 0; k < 2 && ret == 0; k++)
		ret = replay_rig_open(&g[k], flits, w->frame_bytes, k == 1);
	for (unsigned int r = 0; r < o->reps && ret == 0; r++)
		ret = measure_once(g, &phy, flits, for_ns, v + r, o->reps);
	if (ret == 0) {
		for (unsigned int k = 0; k < SERIES; k++)
			fig->median[k] = bench_median(v + k * o->reps, o->reps);
		replay_rig_close(&g[0]);
		replay_rig_close(&g[1]);
		rl_phy_eth_close(&phy);
	}
	free(v);
	return ret;
}

static void
say(const struct rl_wire_dev *w, const struct figures *fig, json_t *out,
    FILE *human)
{
	const uint32_t flits = rl_frame_fit(w->frame_bytes);
	const double *v = fig->median;
	const bool peer = fig->testpmd != 0;
	json_t *o = json_pack(
		"{s:s, s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
		"s:o, s:o}",
		"port", w->dev.name, "driver", w->dev.driver, "frame_bytes",
		(int)rl_frame_bytes(flits), "flits_per_frame", (int)flits,
		"replay_frames_per_s", v[REPLAY], "mflits_per_s",
		v[FLITS] / 1e6, "bare_frames_per_s", v[BARE],
		"keyed_frames_per_s", v[KEYED], "keyed_mflits_per_s",
		v[KEYED_FLITS] / 1e6, "keyed_share", v[KEYED_FLITS] / v[FLITS],
		"tag_ns", v[TAG_NS], "share_of_bare", v[REPLAY] / v[BARE],
		"testpmd_frames_per_s",
		peer ? json_real(fig->testpmd) : json_null(),
		"share_of_testpmd",
		peer ? json_real(v[REPLAY] / fig->testpmd) : json_null());

	(void)json_object_update(out, o);
	json_decref(o);
	fprintf(human,
		"wire: %s, frames of %u bytes, %u flits\n"
		"  replay      %8.3f Mframe/s, %6.2f Mflit/s\n"
		"  with a key  %8.3f Mframe/s, %6.2f Mflit/s, %3.0f %% of it; a "
		"tag takes %.0f ns\n"
		"  bare frames %8.3f Mframe/s; replay is %3.0f %% of it\n",
		w->dev.name, rl_frame_bytes(flits), flits, v[REPLAY] / 1e6,
		v[FLITS] / 1e6, v[KEYED] / 1e6, v[KEYED_FLITS] / 1e6,
		100 * v[KEYED_FLITS] / v[FLITS], v[TAG_NS], v[BARE] / 1e6,
		100 * v[REPLAY] / v[BARE]);
	if (peer)
		fprintf(human,
			"  testpmd     %8.3f Mframe/s; replay is %3.0f %% of "
			"it\n", fig->testpmd / 1e6,
			100 * v[REPLAY] / fig->testpmd);
	else
		fprintf(human, "  testpmd     could not be run here\n");
}

/* Before the driver opens it: it would say less, and undo more. */
static int
check_port(const char *port, char err[LINE])
{
	char iface[RL_IFNAME];
	int ret = rl_iface_claim(port, err, LINE);

	if (ret == 0 && rl_driver_is(port, "net_af_xdp") &&
	    rl_devarg(port, "iface", iface, sizeof(iface)))
		ret = rl_xdp_port_check(iface, 0, err);
	return ret;
}

static int
open_port(const char *port, struct rl_wire_dev *w, char name[64])
{
	const char *args = strchr(port, ',');
	char err[LINE], said[RL_HUSH_LINE];
	struct rl_hush hush;
	int ret;

	snprintf(name, 64, "%.*s", (int)strcspn(port, ","), port);
	ret = check_port(port, err);
	if (ret != 0)
		return say_error(-EINVAL, "reflit-bench: --port %s: %s\n", port,
				 err);
	rl_hush_begin(&hush);
	ret = rte_vdev_init(name, args == NULL ? "" : args + 1);
	(void)rl_hush_end(&hush, said);
	if (ret != 0)
		return say_error(-EINVAL, "reflit-bench: --port %s: there is "
				 "no such driver, or it refuses that%s\n", port,
				 said);
	ret = rl_wire_dev_open(w, name, 0, 0, err, sizeof(err));
	if (ret != 0)
		fprintf(stderr, "reflit-bench: --port: %s\n", err);
	return ret == 0 ? 0 : -EINVAL;
}

static void
close_port(struct rl_wire_dev *w, const char *name)
{
	rl_wire_dev_close(w);
	(void)rte_vdev_uninit(name);
}

int
bench_wire(const struct bench_opts *o, json_t *out, FILE *human)
{
	const char *port = o->port != NULL ? o->port : "net_null9";
	struct rl_wire_dev w = { 0 }, frames;
	struct figures fig = { 0 };
	char name[64];
	int ret = bench_eal();

	if (ret != 0)
		return ret;
	ret = open_port(port, &w, name);
	if (ret == 0)
		ret = measure(o, &w, &fig);
	frames = w;
	close_port(&w, name);
	if (ret != 0)
		return ret;
	/* an ethdev is its alone */
	fig.testpmd = testpmd(port,
			      rl_frame_bytes(rl_frame_fit(frames.frame_bytes)),
			      o->quick);
	say(&frames, &fig, out, human);
	return 0;
}
