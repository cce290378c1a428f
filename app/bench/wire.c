/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `wire` [PHY-4]: a port with a full replay buffer sends all of it again
 * and again through an ethdev, for a second at a time. Beside it, in the same
 * run on the same ethdev: dpdk-testpmd that only sends, frames of the same
 * length, on one core; and frames of that length sent by this program without
 * a port. And the same port once more with a key: what it costs that every
 * frame ends in a tag. Rates are wall time: a wire may have to wait for its
 * other end. What a flit takes of a core leaves such waits out.
 *
 * With two ports: a link between them (wire_pair.c).
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "bench.h"
#include "bench_host.h"
#include "replay_rig.h"
#include "say_error.h"
#include "wire_pair.h"

#define ROUND_NS (RL_NS_PER_S / 2)
#define QUICK_NS (RL_NS_PER_S / 20)

/*
 * What each repetition yields: frames or flits a second. KEYED: replay, where
 * frames end in a tag. HEARD: frames that came in meanwhile. CPU_NS: of a flit.
 * TAG_NS: to make the tag of a frame, or check it.
 */
enum series {
	BARE,
	REPLAY,
	FLITS,
	HEARD,
	CPU_NS,
	KEYED,
	KEYED_FLITS,
	KEYED_HEARD,
	KEYED_CPU_NS,
	TAG_NS,
	SERIES
};

struct figures {
	double testpmd; /* frames a second; 0: it could not be run */
	double median[SERIES];
};

/* Frames of one length, as fast as the ethdev takes them. */
static double
bare(struct rl_phy_eth *phy, uint32_t bytes, uint64_t for_ns)
{
	const uint64_t t0 = bench_now_ns(), n0 = phy->c.tx_frames;
	uint64_t now_ns = t0;
	struct rl_phy_frame f[RL_PHY_BURST];

	while (now_ns - t0 < for_ns) {
		const unsigned int n =
			rl_phy_eth_ops.tx_alloc(phy, f, RL_PHY_BURST, now_ns);

		(void)replay_throw_away(phy, now_ns);
		for (unsigned int i = 0; i < n; i++)
			f[i].len = bytes;
		if (n != 0)
			rl_phy_eth_ops.tx(phy, f, n, now_ns);
		now_ns = bench_now_ns();
	}
	return (double)(phy->c.tx_frames - n0) * 1e9 / (double)(now_ns - t0);
}

/* Replays in a row: the timer is always due. Four series, from @p v on. */
static int
replays(struct replay_rig *g, struct rl_phy_eth *phy, uint64_t for_ns,
	double *v, unsigned int reps)
{
	const uint64_t cpu0 = bench_cpu_ns(), c0 = rte_rdtsc();
	const uint64_t t0 = bench_now_ns(), n0 = phy->c.tx_frames;
	const uint64_t heard = phy->c.rx_frames;
	uint64_t flits = 0, now_ns = t0;
	double s, busy;

	g->wait_cycles = 0;
	while (now_ns - t0 < for_ns) {
		const uint32_t n =
			replay_once(g, phy, g->now_ns += REPLAY_EVERY_NS);

		if (n == 0)
			return -EPIPE;
		flits += n;
		now_ns = bench_now_ns();
	}
	s = (double)(now_ns - t0) / 1e9;
	busy = 1 - (double)g->wait_cycles / (double)(rte_rdtsc() - c0);
	v[0] = (double)(phy->c.tx_frames - n0) / s;
	v[reps] = (double)flits / s;
	v[2 * reps] = (double)(phy->c.rx_frames - heard) / s;
	v[3 * reps] = (double)(bench_cpu_ns() - cpu0) * busy / (double)flits;
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
	ret = replays(&g[0], phy, for_ns, &v[REPLAY * reps], reps);
	if (ret == 0)
		ret = replays(&g[1], phy, for_ns, &v[KEYED * reps], reps);
	v[TAG_NS * reps] = tags(&g[1], rl_frame_bytes(flits), for_ns / 4);
	return ret;
}

static int
measure(const struct bench_opts *o, struct wire_port *p, struct figures *fig)
{
	const uint64_t for_ns = o->quick ? QUICK_NS : ROUND_NS;
	const uint32_t flits = rl_frame_fit(p->w.frame_bytes);
	double *v = calloc(SERIES * (size_t)o->reps, sizeof(*v));
	struct replay_rig g[2] = { 0 };
	int ret = v == NULL ? -ENOMEM : 0;

	for (unsigned int k = 0; k < 2 && ret == 0; k++) {
		ret = replay_rig_open(&g[k], flits, p->w.frame_bytes, k == 1);
		g[k].hears = true;
	}
	for (unsigned int r = 0; r < o->reps && ret == 0; r++)
		ret = measure_once(g, &p->phy, flits, for_ns, v + r, o->reps);
	for (unsigned int k = 0; k < SERIES && ret == 0; k++)
		fig->median[k] = bench_median(v + k * o->reps, o->reps);
	replay_rig_close(&g[0]);
	replay_rig_close(&g[1]);
	free(v);
	if (ret == -EPIPE)
		return say_error(-EINVAL,
				 "reflit-bench: --port %s: it takes "
				 "no more frames; nobody reads them\n",
				 p->arg);
	return ret;
}

static json_t *
known(double v)
{
	return v == 0 ? json_null() : json_real(v);
}

static void
write_figures(const struct wire_port *p, const struct figures *fig, json_t *out)
{
	const uint32_t flits = rl_frame_fit(p->w.frame_bytes);
	const double line = wire_port_line_flits(p, flits);
	const double *v = fig->median;
	json_t *o = json_pack(
		"{s:s, s:s, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
		"s:f, s:f, s:f, s:f, s:o, s:o, s:o}",
		"port", p->name, "driver", p->w.dev.driver, "frame_bytes",
		(int)rl_frame_bytes(flits), "flits_per_frame", (int)flits,
		"link_mbps", (int)p->link_mbps, "replay_frames_per_s",
		v[REPLAY], "mflits_per_s", v[FLITS] / 1e6,
		"received_frames_per_s", v[HEARD], "cpu_ns_per_flit", v[CPU_NS],
		"mflits_per_core_s", 1e3 / v[CPU_NS], "bare_frames_per_s",
		v[BARE], "keyed_frames_per_s", v[KEYED], "keyed_mflits_per_s",
		v[KEYED_FLITS] / 1e6, "keyed_share", v[KEYED_FLITS] / v[FLITS],
		"tag_ns", v[TAG_NS], "share_of_bare", v[REPLAY] / v[BARE],
		"testpmd_frames_per_s", known(fig->testpmd), "share_of_testpmd",
		known(fig->testpmd == 0 ? 0 : v[REPLAY] / fig->testpmd),
		"share_of_line", known(line == 0 ? 0 : v[FLITS] / line));

	(void)json_object_update(out, o);
	json_decref(o);
}

static void
say(const struct wire_port *p, const struct figures *fig, FILE *human)
{
	const uint32_t flits = rl_frame_fit(p->w.frame_bytes);
	const double line = wire_port_line_flits(p, flits);
	const double *v = fig->median;

	fprintf(human,
		"wire: %s, frames of %u bytes, %u flits\n"
		"  replay      %8.3f Mframe/s, %6.2f Mflit/s",
		p->name, rl_frame_bytes(flits), flits, v[REPLAY] / 1e6,
		v[FLITS] / 1e6);
	if (line == 0)
		fprintf(human, "; its driver knows no speed\n");
	else
		fprintf(human, ", %3.0f %% of the line rate of %g Gbit/s\n",
			100 * v[FLITS] / line, p->link_mbps / 1e3);
	fprintf(human,
		"  a flit      %8.1f ns of a core, %6.2f Mflit/s a core\n"
		"  received    %8.3f Mframe/s\n"
		"  with a key  %8.3f Mframe/s, %6.2f Mflit/s, %3.0f %% of it; a "
		"tag takes %.0f ns\n"
		"  bare frames %8.3f Mframe/s; replay is %3.0f %% of it\n",
		v[CPU_NS], 1e3 / v[CPU_NS], v[HEARD] / 1e6, v[KEYED] / 1e6,
		v[KEYED_FLITS] / 1e6, 100 * v[KEYED_FLITS] / v[FLITS],
		v[TAG_NS], v[BARE] / 1e6, 100 * v[REPLAY] / v[BARE]);
	if (fig->testpmd != 0)
		fprintf(human,
			"  testpmd     %8.3f Mframe/s; replay is %3.0f %% of "
			"it\n",
			fig->testpmd / 1e6, 100 * v[REPLAY] / fig->testpmd);
	else
		fprintf(human, "  testpmd     could not be run here\n");
}

static int
one_port(const struct bench_opts *o, struct wire_port *p, json_t *out,
	 FILE *human)
{
	struct figures fig = { 0 };
	const int ret = measure(o, p, &fig);
	const struct wire_port was = *p;

	if (ret != 0)
		return ret;
	wire_port_close(p); /* an ethdev is testpmd's alone */
	fig.testpmd = wire_port_testpmd(
		&was, rl_frame_bytes(rl_frame_fit(was.w.frame_bytes)),
		o->quick);
	write_figures(&was, &fig, out);
	say(&was, &fig, human);
	return 0;
}

int
bench_wire(const struct bench_opts *o, json_t *out, FILE *human)
{
	const unsigned int n = RTE_MAX(o->nports, 1u);
	struct wire_port port[BENCH_PORTS] = { 0 };
	int ret = bench_eal();

	for (unsigned int i = 0; i < n && ret == 0; i++)
		ret = wire_port_open(&port[i], o->nports != 0
						       ? o->port[i]
						       : "net_null9,no-rx=1");
	for (unsigned int i = 0; i < n && ret == 0; i++)
		ret = wire_port_wait(&port[i]);
	if (ret == 0)
		ret = o->nports == 2 ? wire_pair(o, port, out, human)
				     : one_port(o, &port[0], out, human);
	for (unsigned int i = 0; i < BENCH_PORTS; i++)
		wire_port_close(&port[i]);
	return ret;
}
