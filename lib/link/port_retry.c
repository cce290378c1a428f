/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Acknowledgements, credits and the replay timer [LINK-2, LINK-3].
 *
 * Replay is go-back-N: `next` moves back to `acked`, and everything is sent
 * again, in fresh frames, before anything new. The bodies in the buffer never
 * change.
 */

#include "port_priv.h"

void
port_arm_replay(struct rl_port *port, uint64_t now_ns)
{
	/* what is numbered but was never sent cannot be late */
	port->replay_due_ns = RL_NEVER;
	if (rl_seq_before(port->replay.acked, port->replay.sent_max))
		port->replay_due_ns = rl_deadline(now_ns, port->timer_ns);
}

/*
 * Starts a replay, or retrains where replays have led nowhere. A replay is
 * only one more where the peer acknowledged nothing since the last.
 */
static void
tx_replay(struct rl_port *port, uint64_t now_ns)
{
	const uint32_t limit = port->p.cfg->replay_limit;

	if (limit != 255 && port->replays >= limit) {
		port_retrain(port, now_ns);
		return;
	}
	PORT_COUNT(port, tx_replays);
	port->replays++;
	port_soft_errors(port);
	rl_replay_rewind(&port->replay);
	port->replaying = true;
	port->replay_due_ns = rl_deadline(now_ns, port->timer_ns);
	if (RL_PLANTED(CREDIT_DOUBLE))
		port->consumed[0] = (uint16_t)(port->consumed[0] +
			rl_replay_outstanding(&port->replay));
}

/* Forward progress: the only thing that restarts the timer. */
static void
tx_progress(struct rl_port *port, uint64_t now_ns)
{
	port->replays = 0;
	port->retrains = 0;
	if (port->replay.next == port->replay.tail)
		port->replaying = false;
	port_arm_replay(port, now_ns);
	if (RL_PLANTED(ACK_STOPS_TIMER))
		port->replay_due_ns = RL_NEVER;
	port_fence_check(port);
	if (port->state == RL_LINK_RETRAIN)
		port_retrained(port, now_ns);
}

static void
tx_credits(struct rl_port *port, const struct rl_frame_hdr *h)
{
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		/* cyclic: only a limit that lies ahead is news */
		if ((int16_t)(h->credit[vc] - port->limit[vc]) > 0)
			port->limit[vc] = h->credit[vc];
	}
}

void
port_rx_ack(struct rl_port *port, const struct rl_frame_hdr *h,
	    uint64_t now_ns)
{
	struct rl_replay *r = &port->replay;
	uint32_t ack = rl_seq_widen(r->acked, h->ack, RL_LINK_SEQ_BITS);
	bool progress = false;

	if (!(h->flags & RL_FRF_SPENT))
		tx_credits(port, h);
	if (!port->p.cfg->retry)
		return; /* sent is done */
	if (rl_seq_before(ack, r->acked) || rl_seq_before(r->sent_max, ack)) {
		PORT_COUNT(port, rx_ack_seq_error);
		if (!RL_PLANTED(STALE_ACK))
			return;
		ack = r->sent_max;
	}
	if (ack != r->acked) {
		PORT_COUNT(port, rx_ack);
		rl_replay_ack(r, ack, port->p.cache, port->done);
		progress = true;
	}
	if (progress)
		tx_progress(port, now_ns);
	if (h->flags & RL_FRF_NAK) {
		PORT_COUNT(port, rx_nak);
		if (port->state == RL_LINK_UP &&
		    rl_replay_outstanding(r) != 0)
			tx_replay(port, now_ns);
	}
}

void
port_tx_tick(struct rl_port *port, uint64_t now_ns)
{
	if (port->state != RL_LINK_UP || !port->phy_up ||
	    now_ns < port->replay_due_ns)
		return;
	if (RL_PLANTED(TAIL_NOT_RETRIED))
		return;
	/* held while a replay is still going out */
	if (port->replaying && port->replay.next != port->replay.tail)
		return;
	if (rl_replay_outstanding(&port->replay) == 0) {
		port->replay_due_ns = RL_NEVER;
		return;
	}
	PORT_COUNT(port, tx_replay_timeout);
	tx_replay(port, now_ns);
}

void
rl_port_tick(struct rl_port *port, uint64_t now_ns)
{
	port_state_tick(port, now_ns);
	port_rx_tick(port, now_ns);
	port_tx_tick(port, now_ns);
}
