/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The door for strangers: where a link has a key, every frame ends in a tag
 * (rl_link_auth.h). What is not proven is counted and dropped before anything
 * is believed of it. It is no error of the link's, either: who could make a
 * detector count could end the link. Only proven frames count: the gap before
 * one, a NAK, and flits that FEC corrected in a frame newer than all before, as a
 * copy corrupted by a stranger arrives after the frame itself.
 *
 * A tag is of the flits as they left. So where it is wrong, FEC mends what the
 * cable did to them, and the tag is checked once more: what FEC made of them is
 * only believed if it is what was sent.
 */

#include <string.h>

#include "port_priv.h"

uint32_t
port_auth_bytes(const struct rl_port_params *p)
{
	return p->auth == NULL ? 0 : RL_AUTH_TAG_BYTES;
}

static enum rl_auth_use
auth_use(const struct rl_frame_hdr *h)
{
	return h->type == RL_FRAME_INIT ? RL_AUTH_INIT : RL_AUTH_EPOCH;
}

void
port_auth_open(struct rl_port *port)
{
	const struct rl_link_auth *a = port->p.auth;

	if (a != NULL)
		a->ops->epoch(a->ctx, port->shake.nonce,
			      port->shake.peer_nonce);
}

void
port_auth_seal(struct rl_port *port, uint8_t *frame,
	       const struct rl_frame_hdr *h)
{
	const struct rl_link_auth *a = port->p.auth;
	const uint32_t len = rl_frame_length(h);

	a->ops->seal(a->ctx, auth_use(h), h->stamp, frame + RL_FRAME_LINK_OFF,
		     len - RL_FRAME_LINK_OFF, frame + len);
}

static bool
auth_check(struct rl_port *port, const uint8_t *frame,
	   const struct rl_frame_hdr *h)
{
	const struct rl_link_auth *a = port->p.auth;
	const uint32_t len = rl_frame_length(h);

	return a->ops->check(a->ctx, auth_use(h), h->stamp,
			     frame + RL_FRAME_LINK_OFF,
			     len - RL_FRAME_LINK_OFF, frame + len);
}

/* @return how many flits of the frame FEC has mended; 0: it cannot help */
static uint32_t
auth_mend(struct rl_port *port, uint8_t *frame, const struct rl_frame_hdr *h)
{
	uint8_t *body = frame + rl_frame_header_bytes(h->nflits);
	uint8_t flit[RL_FLIT_BYTES] RL_ALIGNED(RL_CACHE_LINE);
	uint32_t mended = 0;

	for (uint32_t i = 0; i < h->nflits; i++, body += RL_FLIT_BYTES) {
		const uint8_t *const src = body;
		uint8_t *const dst = flit;
		uint8_t fec;

		if (rl_codec_hop(port->p.codec, &src, &dst, 1, &fec) == 0)
			continue;
		if (fec != RL_FEC_CORRECTED)
			return 0;
		memcpy(body, flit, sizeof(flit));
		mended++;
	}
	return mended;
}

bool
port_auth_ok(struct rl_port *port, uint8_t *frame, uint32_t bytes,
	     const struct rl_frame_hdr *h)
{
	uint32_t mended;

	/* behind the tag a wire may have padded */
	if (bytes >= rl_frame_length(h) + RL_AUTH_TAG_BYTES) {
		if (rl_likely(auth_check(port, frame, h)))
			return true;
		mended = auth_mend(port, frame, h);
		if (mended != 0 && auth_check(port, frame, h)) {
			PORT_COUNT_N(port, rx_corrected, mended);
			if (rl_frame_stamp_after(h->stamp, port->rx.newest))
				port_detect_hurt(port, PORT_HURT_CORRECTED,
						 mended);
			return true;
		}
	}
	PORT_COUNT(port, rx_auth_error);
	port_detect_bad(port);
	return false;
}
