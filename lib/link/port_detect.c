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

	d->last_tick_ns = now_ns;
	d->silent_ns = 0;
	d->heard = false;
	d->window_end_ns = RL_NEVER;
	d->corrected = d->bad = 0;
	d->degraded = false;
}

/*
 * Corrected and uncorrectable flits per window. Degraded is said before dead,
 * always; a window below half of the limits ends it. A window begins with an
 * error, so that a clean link has none to look after.
 */
static struct port_verdict
error_rate_tick(struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	struct port_detect *d = &port->detect;
	bool half;

	if (cfg->error_window_ns == 0 ||
	    rl_likely(d->corrected + d->bad == 0 && !d->degraded))
		return PORT_VERDICT(PORT_NOTHING);
	if (d->window_end_ns == RL_NEVER)
		d->window_end_ns = rl_deadline(now_ns, cfg->error_window_ns);
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
		d->window_end_ns =
			half ? rl_deadline(now_ns, cfg->error_window_ns)
			     : RL_NEVER;
	}
	return PORT_VERDICT(PORT_NOTHING);
}

/*
 * Silence is held against the peer for as long as this end listened, not for as
 * long as the clock ran: an lcore that was stopped for a while, or is seldom
 * let run, has heard nothing of anybody, and what came meanwhile lies in the
 * PHY. So between two polls no more counts than this; a death needs several.
 */
static uint64_t
silence_step_ns(const struct rl_link_cfg *cfg)
{
	return rl_max_u64(cfg->keepalive_ns, cfg->keepalive_dead_ns / 8);
}

static struct port_verdict
silence_tick(struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	struct port_detect *d = &port->detect;
	const uint64_t since_ns = now_ns - d->last_tick_ns;

	d->last_tick_ns = now_ns;
	if (d->heard) {
		d->heard = false;
		d->silent_ns = 0;
		return PORT_VERDICT(PORT_NOTHING);
	}
	if (cfg->keepalive_dead_ns == 0 || !port->link.phy_up)
		return PORT_VERDICT(PORT_NOTHING);
	d->silent_ns += rl_min_u64(since_ns, silence_step_ns(cfg));
	if (d->silent_ns >= cfg->keepalive_dead_ns)
		return PORT_DEAD_BY(RL_DET_KEEPALIVE);
	return PORT_VERDICT(PORT_NOTHING);
}

void
rl_port_rx_more(struct rl_port *port)
{
	port_detect_heard(port);
}

struct port_verdict
port_detect_tick(struct rl_port *port, uint64_t now_ns)
{
	const struct port_verdict v = silence_tick(port, now_ns);

	return v.wish != PORT_NOTHING ? v : error_rate_tick(port, now_ns);
}

bool
port_detect_rests(const struct rl_port *port)
{
	return port->detect.window_end_ns == RL_NEVER &&
	       !port->detect.degraded &&
	       port->detect.corrected + port->detect.bad == 0;
}

/* The peer's next word comes after a keepalive and a frame's time. Between two
   polls, and until the next one, a step of silence may be counted each. */
bool
port_detect_hears(const struct rl_port *port, uint64_t frame_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	const struct port_detect *d = &port->detect;
	const uint64_t silent_ns = d->heard ? 0 : d->silent_ns;

	return cfg->keepalive_dead_ns == 0 ||
	       silent_ns + 2 * silence_step_ns(cfg) + cfg->keepalive_ns +
			       frame_ns <
		       cfg->keepalive_dead_ns;
}

void
port_detect_rested(struct rl_port *port, uint64_t now_ns)
{
	port->detect.last_tick_ns = now_ns;
	port_detect_heard(port);
}

uint64_t
port_detect_deadline(const struct rl_port *port)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	const struct port_detect *d = &port->detect;
	uint64_t t = RL_NEVER;

	if (cfg->keepalive_dead_ns != 0) {
		const uint64_t left =
			d->heard ? cfg->keepalive_dead_ns
				 : cfg->keepalive_dead_ns - d->silent_ns;

		t = rl_deadline(d->last_tick_ns,
				rl_min_u64(left, silence_step_ns(cfg)));
	}
	if (cfg->error_window_ns != 0)
		t = rl_min_u64(t, d->window_end_ns);
	return t;
}
