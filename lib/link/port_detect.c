/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Detectors that judge an open link by what is heard of it [LINK-5]: the rate
 * of errors, and silence. The PHY's status, the limits of retraining and the
 * peer's word are judged where they are met.
 */

#include "port_priv.h"

/*
 * Errors are judged by their rate, bad flits per received flit, so load, speed
 * and time play no part. Each bad flit adds one to a score; each received flit
 * subtracts what the limit allows. The score of a link above its limit grows, that
 * of a link below it stays near 0, and a link that carries less because of its
 * errors subtracts less.
 *
 * Each kind of error has two scores, by its limit and by half of it, so that
 * degraded is always said before dead. A few errors are no rate: a score must
 * reach these numbers of flits.
 */
#define HURT_DEGRADED 64
#define HURT_DEAD 128
#define WHOLE 1000000ull /* a flit: limits are flits in a million */

/* Flits taken, frames of any kind, and flits that the peer acknowledged. */
static uint32_t
flits_judged(const struct rl_port *port)
{
	return (uint32_t)(port->c[RL_PC_rx_ok] + port->c[RL_PC_rx_frames]) +
	       port->retry.replay.acked;
}

static uint32_t
hurt_max(const struct rl_link_cfg *cfg, enum port_hurt kind)
{
	const uint32_t max[PORT_HURTS] = {
		[PORT_HURT_CORRECTED] = cfg->error_corrected_max,
		[PORT_HURT_BAD] = cfg->error_uncorrectable_max,
		[PORT_HURT_LOST] = cfg->error_replay_max,
	};

	return max[kind];
}

void
port_detect_start(struct rl_port *port, uint64_t now_ns)
{
	port->detect = (struct port_detect){ .last_tick_ns = now_ns };
}

/* @return the new score, at most what means death */
static uint64_t
score_next(uint64_t score, uint32_t hurt, uint64_t allowed)
{
	score -= rl_min_u64(score, allowed);
	return rl_min_u64(score + hurt * WHOLE, HURT_DEAD * WHOLE);
}

/* Brings the scores up to date. @return whether the link is dead by one */
static bool
errors_judge(struct rl_port *port, bool *ill)
{
	struct port_detect *d = &port->detect;
	const uint32_t judged = flits_judged(port);
	const uint64_t n = (uint32_t)(judged - d->judged);
	bool dead = false;

	d->judged = judged;
	d->errors = d->degraded;
	for (unsigned int i = 0; i < PORT_HURTS; i++) {
		const uint64_t max = hurt_max(port->p.cfg, i);
		struct port_score *const s = &d->score[i];

		if (max != 0) {
			s->half = score_next(s->half, d->hurt[i], n * max / 2);
			s->full = score_next(s->full, d->hurt[i], n * max);
		}
		d->hurt[i] = 0;
		d->errors |= s->half != 0;
		*ill |= s->half >= HURT_DEGRADED * WHOLE;
		dead |= s->full >= HURT_DEAD * WHOLE;
	}
	return dead;
}

static struct port_verdict
error_rate_tick(struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	struct port_detect *d = &port->detect;
	bool ill = false, dead;

	if (rl_likely(!d->errors) || cfg->error_window_ns == 0)
		return PORT_VERDICT(PORT_NOTHING);
	dead = errors_judge(port, &ill);
	if (ill) {
		d->ill_ns = now_ns;
		port_detect_degraded(port, now_ns);
	} else if (d->degraded && now_ns - d->ill_ns >= cfg->error_window_ns) {
		d->degraded = false;
	}
	return dead ? PORT_DEAD_BY(RL_DET_ERROR_RATE)
		    : PORT_VERDICT(PORT_NOTHING);
}

void
port_detect_degraded(struct rl_port *port, uint64_t now_ns)
{
	if (port->detect.degraded)
		return;
	port->detect.degraded = port->detect.errors = true;
	port->detect.ill_ns = now_ns;
	PORT_COUNT(port, degraded);
	port_event(port, RL_PEV_DEGRADED, now_ns);
}

uint32_t
port_detect_share(const struct rl_port *port, enum port_hurt kind)
{
	return (uint32_t)(port->detect.score[kind].full /
			  (HURT_DEAD * WHOLE / 100));
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

/*
 * A peer that was late may be late again: one that is silent for no longer than
 * round trips took lately is slow, not dead. What one frame says of that is
 * limited, for a single stamp may be wrong; the handshake's is proven.
 */
#define LATE_MOST 8 /* times keepalive_dead_ns */

static uint64_t
silence_dead_ns(const struct rl_port *port)
{
	const uint64_t dead_ns = port->p.cfg->keepalive_dead_ns;
	const uint64_t late_ns = rl_min_u64(2 * port_rtt_longest(port),
					    LATE_MOST * dead_ns);

	return rl_max_u64(rl_max_u64(dead_ns, late_ns),
			  2 * port->rtt.open_ns);
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
	if (d->silent_ns >= silence_dead_ns(port))
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
	return !port->detect.errors;
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
		const uint64_t dead_ns = silence_dead_ns(port);
		const uint64_t left =
			d->heard ? dead_ns
				 : dead_ns - rl_min_u64(dead_ns, d->silent_ns);

		t = rl_deadline(d->last_tick_ns,
				rl_min_u64(left, silence_step_ns(cfg)));
	}
	if (d->degraded && cfg->error_window_ns != 0)
		t = rl_min_u64(t, rl_deadline(d->ill_ns, cfg->error_window_ns));
	return t;
}
