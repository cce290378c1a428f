/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

void
ep_enc_flush(struct rl_ep *ep)
{
	if (ep->enc_n > 0)
		rl_codec_tx_from(ep->codec, ep->enc_src, ep->enc_wire,
				 ep->enc_seq, ep->enc_n);
	ep->enc_n = 0;
}

void
ep_enc_add(struct rl_ep *ep, const uint8_t *src, uint8_t *wire, uint32_t number)
{
	ep->enc_src[ep->enc_n] = src;
	ep->enc_wire[ep->enc_n] = wire;
	ep->enc_seq[ep->enc_n] = number;
	if (++ep->enc_n == EP_BURST)
		ep_enc_flush(ep);
}

void
ep_fill_meta(const struct rl_ep *ep, struct rl_flit *f, uint16_t dst,
	     uint64_t state, uint64_t now_ns)
{
	f->in_port = RL_PORT_NONE;
	f->dst = dst;
	f->src = ep->id;
	f->state = state;
	f->t_ns = now_ns;
}
