/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Detectors that judge an open link by what is heard of it [LINK-5]: the rate
 * of errors, and silence. The PHY's status, the limits of retraining and the
 * peer's word are judged where they are met.
 */

#include "port_priv.h"

void
port_detect_start(struct rl_port *port, uint64_t now_ns)
{
	struct port_detect *d = &port->detect;

	d->last_rx_ns = now_ns;
	d->last_tick_ns = now_ns;
	d->window_end_ns = rl_deadline(now_ns, port->p.cfg->error_window_ns);
	d->corrected = d->bad = 0;
	d->degraded = false;
}

/*
 * Corrected and uncorrectable flits per window. Degraded is said before dead,
 * always; a window below half of the limits ends it.
 */
static struct port_verdict
error_rate_tick(struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	struct port_detect *d = &port->detect;
	bool half;

	if (cfg->error_window_ns == 0)
		return PORT_VERDICT(PORT_NOTHING);
	half = d->corrected > cfg->error_corrected_max / 2 ||
	       d->bad > cfg->error_uncorrectable_max / 2;
	if (half && !d->degraded) {
		d->degraded = true;
		PORT_COUNT(port, degraded);
		port_event(port, RL_PEV_DEGRADED, now_ns);
	}
	if (d->corrected > cfg->error_corrected_max ||
	    d->bad > cfg->error_uncorrectable_max)
		return PORT_DEAD_BY(RL_DET_ERROR_RATE);
	if (now_ns >= d->window_end_ns) {
		d->degraded = half;
		d->corrected = d->bad = 0;
		d->window_end_ns = rl_deadline(now_ns, cfg->error_window_ns);
	}
	return PORT_VERDICT(PORT_NOTHING);
}

/*
 * Silence is only held against the peer for as long as this end listened: an
 * lcore that was itself stopped for a while has heard nothing of anybody.
 */
static struct port_verdict
silence_tick(struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	struct port_detect *d = &port->detect;
	const uint64_t pause = now_ns - d->last_tick_ns;

	d->last_tick_ns = now_ns;
	if (cfg->keepalive_dead_ns == 0 || !port->link.phy_up)
		return PORT_VERDICT(PORT_NOTHING);
	if (pause > cfg->keepalive_dead_ns / 2 + cfg->keepalive_ns)
		d->last_rx_ns = rl_min_u64(now_ns, d->last_rx_ns + pause);
	if (now_ns - d->last_rx_ns >= cfg->keepalive_dead_ns)
		return PORT_DEAD_BY(RL_DET_KEEPALIVE);
	return PORT_VERDICT(PORT_NOTHING);
}

struct port_verdict
port_detect_tick(struct rl_port *port, uint64_t now_ns)
{
	const struct port_verdict v = silence_tick(port, now_ns);

	return v.wish != PORT_NOTHING ? v : error_rate_tick(port, now_ns);
}

uint64_t
port_detect_deadline(const struct rl_port *port)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	uint64_t t = RL_NEVER;

	if (cfg->keepalive_dead_ns != 0)
		t = rl_deadline(port->detect.last_rx_ns,
				cfg->keepalive_dead_ns);
	if (cfg->error_window_ns != 0)
		t = rl_min_u64(t, port->detect.window_end_ns);
	return t;
}
