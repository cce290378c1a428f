/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The door for strangers: where a link has a key, every frame ends in a tag
 * (rl_link_auth.h). What is not proven is counted and dropped before anything
 * is believed of it. It is no error of the link's, either: who could make a
 * detector count could end the link.
 */

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

bool
port_auth_ok(struct rl_port *port, const uint8_t *frame, uint32_t bytes,
	     const struct rl_frame_hdr *h)
{
	const struct rl_link_auth *a = port->p.auth;
	const uint32_t len = rl_frame_length(h);

	/* behind the tag a wire may have padded */
	if (bytes >= len + RL_AUTH_TAG_BYTES &&
	    a->ops->check(a->ctx, auth_use(h), h->stamp,
			  frame + RL_FRAME_LINK_OFF, len - RL_FRAME_LINK_OFF,
			  frame + len))
		return true;
	PORT_COUNT(port, rx_auth_error);
	return false;
}
