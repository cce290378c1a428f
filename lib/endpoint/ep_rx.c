/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"
#include "rl_witness.h"

/*
 * Verification, in bursts [EP-4]. Checking a flit's CRC requires its expected
 * number, but its flow is only named in the flit itself, unverified. So the
 * header is only a hint for a prediction: flits of one flow in one burst are
 * assumed to be consecutive. If the prediction holds, the syndrome is 0 and the
 * flit is done. If not - a gap earlier in the burst, a corrected header, a new
 * flow - the syndrome still gives the distance to the true number, which
 * counts. Flows are only made for verified headers.
 *
 * Most packets arrive as they were sent: whole, next in their flow, in a burst
 * without a corrupt flit. Such a packet, or a part of it with cut-through, is
 * checked as one (run_of()): the syndromes must confirm the predicted numbers,
 * and headers must equal the first one's except for the position. All others go
 * flit by flit.
 */

#define EP_RX_BURST 64 /* flits verified at once */

struct burst {
	uint32_t n;
	uint64_t heads; /**< a bit each: a link-level packet begins there */
	struct rl_flit *flit[EP_RX_BURST];
	struct ep_flow *flow[EP_RX_BURST]; /**< named by the header, or NULL */
	uint8_t *wire[EP_RX_BURST];
	uint32_t eseq[EP_RX_BURST];
	uint64_t syndrome[EP_RX_BURST];
	uint8_t fec[EP_RX_BURST];
};

static void
drop(struct rl_ep *ep, struct rl_flit *f, enum rl_ep_counter why)
{
	ep->ctr[why]++;
	rl_flit_put(ep->cache, f);
}

static uint32_t
seq_mask(const struct rl_ep *ep)
{
	return (1u << ep->seq_bits) - 1;
}

/**
 * The flow that an unverified header names, if it exists. Flits of one flow
 * come together, so the previous flit's flow is tried first.
 */
static struct ep_flow *
guess_flow(const struct rl_ep *ep, const uint8_t *wire, struct ep_flow *last)
{
	const uint16_t src = rl_flit_src(wire);
	const uint8_t cos = wire[6] >> 4;

	if ((wire[7] >> 2 & 3) != RL_FLIT_DATA)
		return NULL;
	if (last != NULL && last->peer == src && last->cos == cos)
		return last;
	return ep_flow_find(ep, src, cos);
}

static uint32_t
predict(const struct rl_ep *ep, struct ep_flow *flow)
{
	if (!ep->isn || flow == NULL)
		return 0;
	if (flow->pred_burst != ep->burst_id) {
		flow->pred_burst = ep->burst_id;
		flow->pred = flow->expect;
	}
	return flow->pred++ & seq_mask(ep);
}

/** Whether an endpoint of this fabric may have written this header. */
static bool
header_ok(const struct rl_ep *ep, const struct rl_txn *t)
{
	return t->src < ep->npeers && t->src != ep->id &&
	       t->type <= RL_FLIT_CTRL && t->valid_bytes <= RL_FLIT_DATA_BYTES &&
	       t->len_flits >= 1 && t->len_flits <= ep->cfg.max_packet_flits &&
	       t->pos < t->len_flits && t->sop == (t->pos == 0) &&
	       t->eop == (t->pos + 1 == t->len_flits);
}

/** An ACK that rode on a data flit. */
static void
piggybacked(struct rl_ep *ep, struct ep_flow *flow, uint32_t n, uint64_t now_ns)
{
	const unsigned int bits = ep->cfg.profile == RL_PROFILE_RXL
					  ? RL_FLIT_ACK_BITS
					  : RL_E2E_SEQ_BITS;

	if (flow->state == RL_EP_FLOW_OPEN)
		ep_on_ack(ep, flow, rl_seq_widen(flow->una - 1, n, bits),
			  now_ns);
}

/** The number of an intact flit, as far as the wire shows it. */
static uint32_t
number_of(const struct rl_ep *ep, const struct ep_flow *flow,
	  const uint8_t *wire, uint32_t implicit)
{
	if (ep->isn)
		return rl_seq_widen(flow->expect, implicit, ep->seq_bits);
	/* the hole: if the FSN carries an ACK, any flit is taken as the next */
	if (!ep_profile_shows(ep, wire))
		return flow->expect;
	return rl_seq_widen(flow->expect, rl_flit_fsn(wire), ep->seq_bits);
}

/**
 * A flit whose CRC is right for number @p implicit; @p flow is the guess, valid
 * only if FEC has not changed the header since.
 */
static void
intact(struct rl_ep *ep, struct rl_flit *f, struct ep_flow *flow,
       uint32_t implicit, uint64_t now_ns)
{
	const bool acks = rl_flit_cmd(f->wire) == RL_CMD_ACK;
	const uint32_t ack = rl_flit_ack(f->wire);
	struct rl_txn txn;
	uint32_t seq;

	rl_txn_get(f->wire, &txn);
	if (txn.dst != ep->id) {
		drop(ep, f, RL_EPC_rx_misrouted);
		return;
	}
	if (!header_ok(ep, &txn)) {
		drop(ep, f, RL_EPC_rx_malformed);
		return;
	}
	if (txn.type == RL_FLIT_CTRL) {
		if (implicit == 0)
			ep_ctrl_rx(ep, f, now_ns);
		else
			EP_COUNT(ep, rx_malformed);
		rl_flit_put(ep->cache, f);
		return;
	}
	if (flow == NULL || flow->peer != txn.src || flow->cos != txn.cos)
		flow = ep_flow_get(ep, txn.src, txn.cos);
	if (flow == NULL) {
		drop(ep, f, RL_EPC_rx_no_flow);
		return;
	}
	if (rl_unlikely(!(flow->flags & EPF_RX_SYNCED))) {
		drop(ep, f, RL_EPC_rx_stranger);
		ep_inc_stranger(ep, flow, now_ns);
		return;
	}
	seq = number_of(ep, flow, f->wire, implicit);
	if (ep->cfg.order == RL_ORDER_ENDPOINT)
		ep_spread_came(ep, flow, seq, now_ns);
	/* an ACK on a duplicate may be as old as the duplicate */
	if (!ep_order_flit(ep, flow, f, seq, ep_profile_shows(ep, f->wire),
			   now_ns))
		return;
	if (acks && ep_profile_has_header(ep) && ep->cfg.retry)
		piggybacked(ep, flow, ack, now_ns);
}

static void
hurt(struct rl_ep *ep, struct rl_flit *f, struct ep_flow *flow,
     enum rl_ep_counter why, uint64_t now_ns)
{
	ep->hurt++;
	if (flow != NULL && rl_flit_dst(f->wire) == ep->id) {
		ep_order_hint(ep, flow, now_ns);
		if (!ep->cfg.retry)
			ep_late_hurt(flow);
	}
	drop(ep, f, why);
}

/* A flit without a mark came in intact, if a witness looked at it [SW-5]. */
static void
altered_here(struct rl_ep *ep, const uint8_t *wire)
{
	ep->ctr[RL_EPC_rx_altered] += rl_witness_picks(ep->witness, wire);
}

static void
judge(struct rl_ep *ep, const struct burst *b, uint32_t i, uint64_t now_ns)
{
	struct rl_isn_result r = { RL_ISN_OK, 0 };

	if (rl_unlikely(b->fec[i] != RL_FEC_CLEAN))
		altered_here(ep, b->wire[i]);
	if (b->fec[i] == RL_FEC_BAD) {
		hurt(ep, b->flit[i], b->flow[i], RL_EPC_rx_uncorrectable,
		     now_ns);
		return;
	}
	if (b->fec[i] == RL_FEC_CORRECTED)
		EP_COUNT(ep, rx_fec_corrected);
	if (b->syndrome[i] != 0) {
		r.verdict = RL_ISN_CORRUPT;
		if (ep->isn)
			r = rl_isn_decode(ep->codec, b->syndrome[i],
					  b->eseq[i]);
		if (r.verdict == RL_ISN_CORRUPT) {
			if (b->fec[i] == RL_FEC_CLEAN)
				altered_here(ep, b->wire[i]);
			hurt(ep, b->flit[i], b->flow[i], RL_EPC_rx_corrupt,
			     now_ns);
			return;
		}
	}
	intact(ep, b->flit[i], b->flow[i],
	       (b->eseq[i] + (uint32_t)r.slip) & seq_mask(ep), now_ns);
}

/** Whether all flits are in order, and FEC has changed none. */
static bool
all_clean(const struct burst *b)
{
	uint32_t fec = 0;

	for (uint32_t i = 0; i < b->n; i++)
		fec |= b->fec[i];
	return fec == RL_FEC_CLEAN;
}

/* In a first header word: fields that a receiver cannot predict. */
#define ANY_SL (UINT64_C(0xf) << 32)
#define ANY_CLASS (UINT64_C(3) << 40)
#define ANY_ASK ((uint64_t)RL_FLIT_ASKS_ACK << 40)
#define SPARE (UINT64_C(0x20) << 40) /* a bit that is never read */
#define ANY_ACK (UINT64_C(0xff) << 56)
#define UNKNOWN                                                                \
	(ANY_SL | ANY_CLASS | ANY_ASK | SPARE | RL_TXN_VALID | ANY_ACK)

/** Whether a flow takes whole runs. */
static bool
takes_runs(const struct rl_ep *ep, const struct ep_flow *flow)
{
	const uint32_t begun = flow->part == NULL ? 0 : flow->part->pkt_flits;

	return flow->held == 0 && flow->rx_pos == begun &&
	       (flow->flags & EPF_RX_SYNCED) && !ep_client_full(ep, flow);
}

/** Whether @p w is the header of the next flit. */
static bool
is_next(const struct rl_ep *ep, const struct ep_flow *flow,
	struct rl_txn_words w)
{
	const uint32_t pos = flow->rx_pos, len = RL_TXN_LEN(w);
	const uint64_t lo = ep->id | (uint64_t)flow->peer << 16 |
			    (uint64_t)flow->cos << 36 |
			    (pos == 0 ? RL_TXN_SOP : 0) |
			    (pos + 1 == len ? RL_TXN_EOP : 0);

	_Static_assert(RL_FLIT_DATA == 0, "no bit of it is set");
	return ((w.lo ^ lo) & ~UNKNOWN) == 0 &&
	       (w.hi << 16) == ((uint64_t)pos << 48 |
				(uint64_t)flow->rx_tag << 16) &&
	       len <= ep->cfg.max_packet_flits;
}

static bool
bytes_ok(struct rl_txn_words w)
{
	return (w.lo >> RL_TXN_VALID_SHIFT & 0xff) <= RL_FLIT_DATA_BYTES;
}

/**
 * How many flits from @p i on, in a clean burst, came in a row and are the next
 * ones of a client's packet: all of it, or with cut-through a part. 0: each
 * must be checked alone.
 */
static uint32_t
run_of(const struct rl_ep *ep, const struct burst *b, uint32_t i)
{
	const struct ep_flow *flow = b->flow[i];
	const struct rl_flit *head = b->flit[i];
	const uint16_t fsn = rl_get16(head->wire);
	const uint32_t n = head->pkt_flits;
	struct rl_txn_words w = rl_txn_words_get(head->wire);
	uint32_t left;

	if (!(b->heads >> i & 1) || n > b->n - i || flow == NULL ||
	    b->eseq[i] != (flow->expect & seq_mask(ep)) ||
	    !takes_runs(ep, flow) || !is_next(ep, flow, w) || !bytes_ok(w))
		return 0;
	left = RL_TXN_LEN(w) - flow->rx_pos;
	if (n > left)
		return 0;
	w.lo &= ~RL_TXN_SOP;
	for (uint32_t k = 1; k < n; k++) {
		const uint8_t *wire = b->wire[i + k];
		const struct rl_txn_words v = rl_txn_words_get(wire);

		w.hi += RL_TXN_NEXT_POS;
		if (k + 1 == left)
			w.lo |= RL_TXN_EOP;
		if (((v.lo ^ w.lo) & ~(RL_TXN_VALID | ANY_ASK)) != 0 || v.hi != w.hi ||
		    !bytes_ok(v) || rl_get16(wire) != fsn ||
		    b->eseq[i + k] != ((b->eseq[i] + k) & seq_mask(ep)))
			return 0;
	}
	return n;
}

/** Takes the run that run_of() found. */
static void
take_run(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *head,
	 bool asks, uint64_t now_ns)
{
	const bool acks = rl_flit_cmd(head->wire) == RL_CMD_ACK;
	const uint32_t ack = rl_flit_ack(head->wire);

	ep_spread_arrived(ep, flow, head->pkt_flits, asks);
	ep_order_run(ep, flow, head, now_ns);
	if (asks)
		ep_ack_soon(ep, flow);
	if (acks && ep_profile_has_header(ep) && ep->cfg.retry)
		piggybacked(ep, flow, ack, now_ns);
}

static void
burst_predict(struct rl_ep *ep, struct burst *b)
{
	struct ep_flow *flow = NULL;

	ep->burst_id++;
	for (uint32_t i = 0; i < b->n; i++) {
		flow = guess_flow(ep, b->wire[i], flow);
		b->flow[i] = flow;
		b->eseq[i] = predict(ep, flow);
	}
}

static void
burst_run(struct rl_ep *ep, struct burst *b, uint64_t now_ns)
{
	uint32_t n;
	bool clean;

	if (b->n == 0)
		return;
	burst_predict(ep, b);
	clean = rl_codec_rx(ep->codec, b->wire, b->eseq, b->n, b->syndrome,
			    b->fec) == 0 &&
		ep->isn && all_clean(b);
	for (uint32_t i = 0; i < b->n; i += n) {
		n = clean ? run_of(ep, b, i) : 0;
		if (rl_likely(n != 0)) {
			take_run(ep, b->flow[i], b->flit[i],
				 b->wire[i + n - 1][7] & RL_FLIT_ASKS_ACK,
				 now_ns);
			continue;
		}
		judge(ep, b, i, now_ns);
		n = 1;
	}
	b->n = 0;
	b->heads = 0;
}

/** Adds a packet's flits to the burst; all at once while there is room. */
static void
burst_add(struct rl_ep *ep, struct burst *b, struct rl_flit *f, uint64_t now_ns)
{
	const uint32_t n = f->pkt_flits;

	if (b->n + n > EP_RX_BURST && n <= EP_RX_BURST)
		burst_run(ep, b, now_ns);
	b->heads |= UINT64_C(1) << b->n;
	if (rl_unlikely(f->flags & RL_FF_LOOPED))
		ep_late_possible(ep, now_ns);
	rl_packet_open(f);
	for (uint32_t k = 0; k < n; k++) {
		struct rl_flit *next = f->next;

		if (rl_unlikely(f->mark != RL_MARK_OK)) {
			b->heads = 0; /* some are no longer in a row */
			drop(ep, f, RL_EPC_rx_marked);
		} else {
			b->flit[b->n] = f;
			b->wire[b->n] = f->wire;
			if (++b->n == EP_RX_BURST)
				burst_run(ep, b, now_ns);
		}
		f = next;
	}
}

void
rl_ep_rx(struct rl_ep *ep, uint64_t now_ns, struct rl_flit *const pkts[],
	 unsigned int n)
{
	struct burst b;

	b.n = 0;
	b.heads = 0;
	for (unsigned int i = 0; i < n; i++)
		burst_add(ep, &b, pkts[i], now_ns);
	burst_run(ep, &b, now_ns);
}
