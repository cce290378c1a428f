/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Two ports that one core polls in turn. Each sends packets of one flit as
 * fast as its wire and the other's ACKs allow.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "replay_rig.h"
#include "say_error.h"
#include "stop_signal.h"
#include "wire_pair.h"

#define TRAIN_NS (5 * RL_NS_PER_S)
#define REPLAY_NS (10 * RL_NS_PER_MS)
#define WARM_NS (RL_NS_PER_S / 50)
/* Flits that a port holds: its window, and what follows. */
#define HELD_FLITS 640u

/* What each repetition yields. */
enum series { A_TO_B, B_TO_A, CPU_NS, SERIES };

struct pair {
	struct replay_rig g; /* the flits are of its cache */
	struct wire_port *port;
	uint64_t delivered[2]; /* flits that end i took */
};

/* @return frames that arrived */
static unsigned int
hear(struct pair *p, unsigned int i, uint64_t now_ns)
{
	struct rl_port *port = p->g.port[i];
	struct rl_pktq *q = rl_port_rx_out(port);
	struct rl_phy_frame f[RL_PHY_BURST];
	uint8_t *data[RL_PHY_BURST];
	uint32_t len[RL_PHY_BURST];
	struct rl_flit *pkt;
	const unsigned int n =
		rl_phy_eth_ops.rx(&p->port[i].phy, f, RL_PHY_BURST, now_ns);

	for (unsigned int k = 0; k < n; k++) {
		data[k] = f[k].data;
		len[k] = f[k].len;
	}
	rl_port_rx_burst(port, data, len, n, now_ns);
	rl_phy_eth_ops.rx_free(&p->port[i].phy, f, n);
	if (n == RL_PHY_BURST)
		rl_port_rx_more(port);
	while ((pkt = rl_pktq_pop(q)) != NULL) {
		p->delivered[i]++;
		rl_shared_add(&p->g.shared[i].freed[pkt->in_vc], 1);
		rl_packet_put(&p->g.cache, pkt);
	}
	return n;
}

static void
feed(struct pair *p, unsigned int i, uint64_t now_ns)
{
	struct rl_port *port = p->g.port[i];
	uint32_t held = rl_port_flits(port);

	if (rl_port_state(port) != RL_LINK_UP)
		return;
	for (; held < HELD_FLITS; held++) {
		struct rl_flit *f = rl_flit_get(&p->g.cache);

		if (f == NULL)
			return;
		rl_packet_start(f);
		f->flags = RL_FF_SOP | RL_FF_EOP;
		f->vc = 0;
		rl_port_submit(port, f, now_ns);
	}
}

/* One burst. @return frames that left */
static unsigned int
say_burst(struct pair *p, unsigned int i, uint64_t now_ns)
{
	struct rl_phy_eth *phy = &p->port[i].phy;
	struct rl_port_burst burst = { 0 };
	struct rl_phy_frame f[RL_PHY_BURST];
	const uint64_t before = phy->c.tx_frames;
	const unsigned int n =
		rl_phy_eth_ops.tx_alloc(phy, f, RL_PHY_BURST, now_ns);

	for (unsigned int k = 0; k < n; k++) {
		f[k].len = k != 0 && f[k - 1].len == 0
				   ? 0
				   : rl_port_tx_next(p->g.port[i], f[k].data,
						     &burst, now_ns);
	}
	rl_phy_eth_ops.tx(phy, f, n, now_ns);
	return (unsigned int)(phy->c.tx_frames - before);
}

/* A turn of both ends. @return work done */
static unsigned int
turn(struct pair *p, uint64_t now_ns)
{
	unsigned int work = 0;

	for (unsigned int i = 0; i < 2; i++) {
		work += hear(p, i, now_ns);
		feed(p, i, now_ns);
		rl_port_tick(p->g.port[i], now_ns);
		work += say_burst(p, i, now_ns);
	}
	return work;
}

static void
run_for(struct pair *p, uint64_t for_ns)
{
	const uint64_t end = bench_now_ns() + for_ns;
	uint64_t now_ns;

	while ((now_ns = bench_now_ns()) < end) {
		const uint64_t from = rte_rdtsc();

		if (turn(p, now_ns) == 0)
			p->g.wait_cycles += rte_rdtsc() - from;
	}
}

static bool
is_up(const struct pair *p)
{
	return rl_port_state(p->g.port[0]) == RL_LINK_UP &&
	       rl_port_state(p->g.port[1]) == RL_LINK_UP;
}

static int
train(struct pair *p)
{
	const uint64_t end = bench_now_ns() + TRAIN_NS;
	uint64_t now_ns;

	for (unsigned int i = 0; i < 2; i++)
		rl_port_start(p->g.port[i], bench_now_ns());
	while (!is_up(p) && (now_ns = bench_now_ns()) < end &&
	       stop_asked() == 0)
		(void)turn(p, now_ns);
	if (is_up(p))
		return 0;
	return say_error(-EINVAL,
			 "reflit-bench: --port %s: no link to %s "
			 "comes up; join the two by a cable\n",
			 p->port[0].arg, p->port[1].arg);
}

/* Flits a second that arrive, and what one takes to send and to receive. */
static void
measure_once(struct pair *p, uint64_t for_ns, double v[], unsigned int reps)
{
	const uint64_t before[2] = { p->delivered[0], p->delivered[1] };
	const uint64_t t0 = bench_now_ns(), c0 = rte_rdtsc();
	const uint64_t cpu0 = bench_cpu_ns();
	double s, cpu_ns;

	p->g.wait_cycles = 0;
	run_for(p, for_ns);
	cpu_ns = (double)(bench_cpu_ns() - cpu0) *
		 (1 - (double)p->g.wait_cycles / (double)(rte_rdtsc() - c0));
	s = (double)(bench_now_ns() - t0) / 1e9;
	v[A_TO_B * reps] = (double)(p->delivered[1] - before[1]) / s;
	v[B_TO_A * reps] = (double)(p->delivered[0] - before[0]) / s;
	v[CPU_NS * reps] = cpu_ns / ((v[A_TO_B * reps] + v[B_TO_A * reps]) * s);
}

static uint64_t
sent_again(const struct pair *p)
{
	return rl_port_counters(p->g.port[0])[RL_PC_tx_replay_flits] +
	       rl_port_counters(p->g.port[1])[RL_PC_tx_replay_flits];
}

static void
write_figures(const struct pair *p, const double m[SERIES], uint32_t flits,
	      json_t *out, FILE *human)
{
	static const char *const way[] = { "a_to_b", "b_to_a" };
	json_t *o = json_pack("{s:s, s:s, s:i, s:i, s:f, s:f, s:I}", "a",
			      p->port[0].name, "b", p->port[1].name,
			      "frame_bytes", (int)rl_frame_bytes(flits),
			      "flits_per_frame", (int)flits, "cpu_ns_per_flit",
			      m[CPU_NS], "mflits_per_core_s", 1e3 / m[CPU_NS],
			      "sent_again_flits", (json_int_t)sent_again(p));

	fprintf(human, "wire: a: %s, b: %s, frames of %u bytes, %u flits\n",
		p->port[0].name, p->port[1].name, rl_frame_bytes(flits), flits);
	for (unsigned int i = 0; i < 2; i++) {
		const double line = wire_port_line_flits(&p->port[i], flits);

		json_object_set_new(
			o, way[i],
			json_pack("{s:f, s:i, s:o}", "mflits_per_s", m[i] / 1e6,
				  "link_mbps", (int)p->port[i].link_mbps,
				  "share_of_line",
				  line == 0 ? json_null()
					    : json_real(m[i] / line)));
		fprintf(human, "  %s      %8.3f Mflit/s",
			i == 0 ? "a to b" : "b to a", m[i] / 1e6);
		if (line == 0)
			fprintf(human, "; its driver knows no speed\n");
		else
			fprintf(human,
				", %3.0f %% of the line rate of %g "
				"Gbit/s\n",
				100 * m[i] / line, p->port[i].link_mbps / 1e3);
	}
	fprintf(human,
		"  to send and receive a flit takes %.1f ns of a core: "
		"%.2f Mflit/s a core; %llu flits were sent again\n",
		m[CPU_NS], 1e3 / m[CPU_NS], (unsigned long long)sent_again(p));
	json_object_update(out, o);
	json_decref(o);
}

int
wire_pair(const struct bench_opts *o, struct wire_port port[2], json_t *out,
	  FILE *human)
{
	const uint64_t for_ns = o->quick ? RL_NS_PER_S / 20 : RL_NS_PER_S / 2;
	const uint32_t bytes =
		RTE_MIN(port[0].w.frame_bytes, port[1].w.frame_bytes);
	double *v = calloc(SERIES * (size_t)o->reps, sizeof(*v));
	double median[SERIES];
	struct pair p = { .port = port };
	int ret = v == NULL ? -ENOMEM
			    : replay_rig_ports(&p.g, rl_frame_fit(bytes), bytes,
					       REPLAY_NS, false);

	if (ret == 0)
		ret = train(&p);
	if (ret == 0)
		run_for(&p, WARM_NS);
	for (unsigned int r = 0; r < o->reps && ret == 0; r++)
		measure_once(&p, for_ns, v + r, o->reps);
	if (ret == 0 &&
	    (!is_up(&p) || p.delivered[0] == 0 || p.delivered[1] == 0))
		ret = say_error(-EINVAL,
				"reflit-bench: --port %s: its link "
				"to %s died\n",
				port[0].arg, port[1].arg);
	for (unsigned int k = 0; k < SERIES && ret == 0; k++)
		median[k] = bench_median(v + k * o->reps, o->reps);
	if (ret == 0)
		write_figures(&p, median, rl_frame_fit(bytes), out, human);
	replay_rig_close(&p.g);
	free(v);
	return ret;
}
