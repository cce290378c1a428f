/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The round trip and the replay timer. Every frame carries the sender's clock
 * (its stamp, in nanoseconds) and returns 32 bits of the peer's newest stamp, moved forward
 * by the time it lay here, so that a sample holds the two ways and nothing of
 * the peer's leisure. The timer is Slingshot's rule: three round trips and a
 * margin, plus the delay the peer may take over a lone ACK, within limits.
 *
 * When the timer expires, the peer is asked what has come (port_retry.c), which
 * costs a frame. So the timer follows the mean, and a lost tail waits no longer. A
 * wire that a kernel serves has round trips of microseconds and sometimes one of
 * milliseconds, which the mean does not show: the longest of the last few seconds
 * passes before a missing answer is held against the peer.
 *
 * An echo also tells when, by the clock here, the peer ran. That tells the answer
 * to an ask from the answer to an earlier one.
 */

#include "port_priv.h"

/*
 * Time since the frame that `echo` is of was sent, UINT32_MAX if that cannot
 * be. The lowest bit of an echo is always set, so on a wire without delay it
 * may be a nanosecond ahead.
 */
static inline uint32_t
rtt_since(uint32_t echo, uint64_t now_ns)
{
	const uint32_t rtt = (uint32_t)now_ns - echo;

	if (rtt == UINT32_MAX)
		return 0;
	/* from before a pause, or before time began */
	return rtt > RL_NS_PER_S || rtt > now_ns ? UINT32_MAX : rtt;
}

/* The longest round trip is known for one to two of these. */
#define PEAK_WINDOW_NS (4 * RL_NS_PER_S)

static void
rtt_set_timer(struct rl_port *port)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	uint64_t t;

	if (cfg->replay_timer_ns != 0) {
		port->rtt.timer_ns = cfg->replay_timer_ns;
		return;
	}
	t = 3 * port->rtt.srtt_ns + 500 + 2 * cfg->ack_delay_ns;
	t = rl_max_u64(t, cfg->replay_timer_min_ns);
	/* a timer below the round trip would always expire */
	port->rtt.timer_ns =
		rl_min_u64(t, rl_max_u64(cfg->replay_timer_max_ns,
					 2 * port->rtt.srtt_ns));
}

uint64_t
port_rtt_longest(const struct rl_port *port)
{
	const struct port_rtt *r = &port->rtt;

	return rl_max_u64(r->open_ns,
			  rl_max_u32(r->peak_ns[0], r->peak_ns[1]));
}

void
port_rtt_reset(struct rl_port *port)
{
	port->rtt.recent = 0;
	port->rtt.recent_ns = 0;
	port->rtt.echo = 0;
	port->rtt.seen_ns = 0;
	port->rtt.open_ns = 0;
	rtt_set_timer(port);
}

/* @return whether the longest has changed */
static bool
note_peak(struct port_rtt *r, uint32_t rtt_ns, uint64_t now_ns)
{
	const uint64_t age_ns = now_ns - r->peak_since_ns;
	const bool over = age_ns >= PEAK_WINDOW_NS;

	if (over) {
		r->peak_ns[1] = age_ns < 2 * PEAK_WINDOW_NS ? r->peak_ns[0] : 0;
		r->peak_ns[0] = 0;
		r->peak_since_ns = now_ns;
	}
	if (rtt_ns <= r->peak_ns[0])
		return over;
	r->peak_ns[0] = rtt_ns;
	return true;
}

/* The mean learns of another sample. @return whether it has changed */
static inline bool
rtt_mean(struct port_rtt *r, uint32_t rtt_ns)
{
	const uint64_t was_ns = r->srtt_ns;

	if (was_ns == 0)
		r->srtt_ns = rtt_ns;
	else
		r->srtt_ns += ((int64_t)rtt_ns - (int64_t)was_ns) / 8;
	return r->srtt_ns != was_ns;
}

void
port_rtt_sample(struct rl_port *port, const struct rl_frame_hdr *h,
		uint64_t now_ns)
{
	/* of frames of one burst only the mean learns more than once */
	const bool same = port->rtt.recent_ns == now_ns &&
			  port->rtt.echo == h->stamp_echo;
	bool peak = false;

	port->rtt.recent = (uint32_t)h->stamp | 1; /* 0 means none */
	port->rtt.recent_ns = now_ns;
	port->rtt.echo = h->stamp_echo;
	if (h->stamp_echo == 0)
		return;

	const uint32_t rtt = rtt_since(h->stamp_echo, now_ns);

	if (rtt == UINT32_MAX)
		return;
	if (!same) {
		port->rtt.seen_ns = rl_max_u64(port->rtt.seen_ns,
					       now_ns - rtt);
		peak = note_peak(&port->rtt, rtt, now_ns);
	}
	if (rtt_mean(&port->rtt, rtt) || peak)
		rtt_set_timer(port);
}

void
port_rtt_again(struct rl_port *port, uint64_t stamp, uint64_t now_ns)
{
	const uint32_t rtt = rtt_since(port->rtt.echo, now_ns);

	port->rtt.recent = (uint32_t)stamp | 1;
	if (port->rtt.echo != 0 && rtt != UINT32_MAX &&
	    rtt_mean(&port->rtt, rtt))
		rtt_set_timer(port);
}

/*
 * INIT frames of the handshake are as long as data frames, both ways, so they tell
 * the round trip of data before there is any.
 */
void
port_rtt_init(struct rl_port *port, const struct rl_frame_hdr *h, bool echo,
	      uint64_t now_ns)
{
	struct rl_frame_hdr heard = *h;

	const uint32_t rtt = rtt_since(h->stamp_echo, now_ns);

	if (!echo)
		heard.stamp_echo = 0;
	else if (h->stamp_echo != 0 && rtt != UINT32_MAX)
		port->rtt.open_ns = rtt;
	port_rtt_sample(port, &heard, now_ns);
}

uint32_t
port_rtt_echo(const struct rl_port *port, uint64_t now_ns)
{
	if (port->rtt.recent == 0)
		return 0;
	return port->rtt.recent + (uint32_t)(now_ns - port->rtt.recent_ns);
}
