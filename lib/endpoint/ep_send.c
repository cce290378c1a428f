/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "ep_congest.h"

/*
 * Accepting a packet cuts it into flits that go straight into the flow's retry
 * buffer, in the clear: neither FSN nor CRC is known yet. Each transmission,
 * first or later, copies a flit, puts the latest acknowledgment on it and
 * encodes it. So the window is also the send queue; there is no other.
 */

/** A sync that is lost this often is not lost by chance. */
#define DOUBT_ASKED 2

static bool
is_request(uint8_t class)
{
	return class == RL_CLASS_REQ_POSTED || class == RL_CLASS_REQ_NONPOSTED;
}

static int
check_msg(const struct rl_ep *ep, const struct rl_ep_msg *msg)
{
	if (msg->dst >= ep->npeers || msg->dst == ep->id || msg->cos > 15 ||
	    msg->class >= RL_CLASS_CTRL)
		return -EINVAL;
	if (msg->len_bytes > rl_ep_max_bytes(&ep->cfg))
		return -EMSGSIZE;
	return 0;
}

/** Counts why a packet has to wait, and returns the error. */
static int
refuse(struct rl_ep *ep, enum rl_ep_counter why, int err)
{
	ep->ctr[why]++;
	return err;
}

static int
find_room(struct rl_ep *ep, const struct rl_ep_msg *msg, uint32_t nflits,
	  struct ep_flow **flowp)
{
	/* an accepted packet also needs flits for its transmission */
	const uint32_t need = ep->cfg.retry ? 2 * nflits : nflits;
	struct ep_flow *flow;
	uint8_t blocked;
	int err;

	if (ep->quiesced &&
	    (is_request(msg->class) || RL_PLANTED(FLOW_HOLD_ANSWERS)))
		return refuse(ep, RL_EPC_tx_refused_quiesce, -EBUSY);
	blocked = ep_peer_blocked(ep, msg->dst);
	if (blocked & EPB_UNREACHABLE)
		return refuse(ep, RL_EPC_tx_refused_unreachable,
			      -EHOSTUNREACH);
	if (blocked & EPB_HELD)
		return refuse(ep, RL_EPC_tx_refused_quiesce, -EBUSY);
	if (!ep_tx_room(ep, msg->cos, nflits))
		return refuse(ep, RL_EPC_tx_refused_buffer, -EAGAIN);
	if (ep->cache->count < need || ep->keep->count < nflits)
		return refuse(ep, RL_EPC_tx_refused_cache, -EAGAIN);
	flow = ep_flow_get(ep, msg->dst, msg->cos);
	if (flow == NULL)
		return refuse(ep, RL_EPC_tx_refused_flows, -EAGAIN);
	/* accepted packets already ask whether the peer is there */
	if (flow->doubt && flow->retries >= DOUBT_ASKED)
		return refuse(ep, RL_EPC_tx_refused_unreachable,
			      -EHOSTUNREACH);
	err = flow->flags & EPF_STALLED ? -ENOBUFS : -EBUSY;
	if (flow->next - flow->una + nflits > flow->window) {
		flow->flags |= EPF_FULL;
		return refuse(ep, RL_EPC_tx_refused_window, err);
	}
	if (!ep_tx_share(ep, flow, nflits))
		return refuse(ep, RL_EPC_tx_refused_share, err);
	if (flow->tx_win != NULL &&
	    flow->next - flow->una + nflits > flow->tx_win->mask + 1 &&
	    !ep_win_grow(ep, &flow->tx_win, flow->una, flow->next))
		return refuse(ep, RL_EPC_tx_refused_window, err);
	*flowp = flow;
	return 0;
}

/** The header of a packet's first flit, as if it were full and not the last. */
static struct rl_txn_words
first_header(const struct rl_ep *ep, const struct ep_flow *flow,
	     const struct rl_ep_msg *msg, uint32_t nflits)
{
	const struct rl_txn txn = {
		.dst = msg->dst,
		.src = ep->id,
		.cos = msg->cos,
		.class = msg->class,
		.type = RL_FLIT_DATA,
		.sop = true,
		.valid_bytes = RL_FLIT_DATA_BYTES,
		.tag = flow->tx_tag,
		.len_flits = (uint16_t)nflits,
	};

	return rl_txn_pack(&txn);
}

/** The last flit: the CRC covers the unused bytes, too. */
static struct rl_txn_words
shorten(struct rl_txn_words w, uint8_t *wire, uint32_t n)
{
	if (n < RL_FLIT_DATA_BYTES)
		memset(wire + RL_FLIT_DATA_OFF + n, 0, RL_FLIT_DATA_BYTES - n);
	w.lo = (w.lo & ~RL_TXN_VALID) | (uint64_t)n << RL_TXN_VALID_SHIFT |
	       RL_TXN_EOP;
	return w;
}

/** The packet's flits, all but FSN, SL, CRC and FEC. */
static inline void
make_flits(struct rl_ep *ep, const struct ep_flow *flow,
	   const struct rl_ep_msg *msg, uint32_t nflits, rl_ep_fill_fn fill,
	   void *ctx)
{
	struct ep_win *const win = flow->tx_win;
	struct rl_txn_words w = first_header(ep, flow, msg, nflits);
	uint32_t off = 0;

	for (uint32_t s = flow->next; s != flow->next + nflits; s++) {
		struct rl_flit *f = rl_flit_get(ep->keep);
		uint32_t n = RL_FLIT_DATA_BYTES;

		RL_ASSERT(f != NULL);
		ep_win_put(win, s, f);
		if (s + 1 == flow->next + nflits) {
			n = msg->len_bytes - off;
			w = shorten(w, f->wire, n);
		}
		rl_txn_words_put(f->wire, w);
		if (n > 0)
			fill(ctx, f->wire + RL_FLIT_DATA_OFF, off, n);
		w.lo &= ~RL_TXN_SOP;
		w.hi += RL_TXN_NEXT_POS;
		off += RL_FLIT_DATA_BYTES;
	}
}

/** The flow was idle: its age counts from now. */
static void
start(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	flow->alive_ns = now_ns;
	flow->asked_ns = 0;
	if (flow->state == RL_EP_FLOW_FAILED ||
	    flow->state == RL_EP_FLOW_NEW) {
		ep_flow_set_state(flow, RL_EP_FLOW_SYNC);
		flow->flags |= EPF_SYNC_NOW;
		ep_ctrl_now(ep, flow);
	}
}

/* Inline, so that a known fill function is not called indirectly. */
static inline int
send_fill(struct rl_ep *ep, uint64_t now_ns, const struct rl_ep_msg *msg,
	  rl_ep_fill_fn fill, void *ctx, uint32_t *tag)
{
	const uint32_t nflits = rl_ep_flits_of(msg->len_bytes);
	struct ep_flow *flow = NULL;
	bool first;
	int rc;

	rc = check_msg(ep, msg);
	if (rc == 0)
		rc = find_room(ep, msg, nflits, &flow);
	if (rc != 0)
		return rc;
	first = flow->una == flow->next;
	if (first)
		start(ep, flow, now_ns);
	if (flow->tx_win == NULL)
		flow->tx_win = ep_win_take(ep);
	make_flits(ep, flow, msg, nflits, fill, ctx);
	if (tag != NULL)
		*tag = flow->tx_tag;
	flow->tx_tag++;
	ep->outstanding += nflits;
	ep_tx_hold(ep, flow, nflits);
	EP_COUNT(ep, tx_packets);
	EP_COUNT_N(ep, tx_bytes, msg->len_bytes);
	if (first)
		ep_rto_start(ep, flow, now_ns);
	ep_tx_ready(ep, flow);
	return 0;
}

int
rl_ep_send_fill(struct rl_ep *ep, uint64_t now_ns,
		const struct rl_ep_msg *msg, rl_ep_fill_fn fill, void *ctx,
		uint32_t *tag)
{
	return send_fill(ep, now_ns, msg, fill, ctx, tag);
}

static inline void
fill_from_buffer(void *ctx, uint8_t *to, uint32_t off, uint32_t len)
{
	const uint8_t *const *data = ctx;

	if (rl_likely(len == RL_FLIT_DATA_BYTES))
		memcpy(to, *data + off, RL_FLIT_DATA_BYTES);
	else
		memcpy(to, *data + off, len);
}

int
rl_ep_send(struct rl_ep *ep, uint64_t now_ns, const struct rl_ep_msg *msg,
	   const void *data, uint32_t *tag)
{
	const uint8_t *bytes = data;

	return send_fill(ep, now_ns, msg, fill_from_buffer, &bytes, tag);
}
