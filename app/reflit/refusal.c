/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>

#include "refusal.h"

/*
 * "s1/2": the name in the fabric file if it is of this fabric, else the name
 * that it claims.
 */
static const char *
place_name(const struct rl_topo *t, const struct rl_frame_place *p, bool ours,
	   char buf[HOST_ROLE_NAME])
{
	const struct rl_topo_link *l;

	if (!ours || p->link > t->nlink) {
		snprintf(buf, HOST_ROLE_NAME, "%s/%u", p->dev, p->port);
		return buf;
	}
	l = &t->link[p->link - 1];
	return host_role_name(t, l->dev[p->end & 1], l->port[p->end & 1], buf);
}

/* "here is s1/2 of link s0-s1#1, link s0-s1#0 belongs here" */
static void
place_text(const struct rl_topo *t, uint32_t dev, uint16_t port,
	   const struct rl_refused *r, char buf[REFUSAL_TEXT_MAX])
{
	const struct rl_topo_port *own = &t->dev[dev].port[port];
	char who[HOST_ROLE_NAME], here[2 * RL_NAME_MAX + 8];
	char other[2 * RL_NAME_MAX + 8] = "?";

	rl_topo_link_name(t, own->link, here, sizeof(here));
	place_name(t, &r->peer, true, who);
	if (r->why == RL_REFUSED_SELF) {
		snprintf(buf, REFUSAL_TEXT_MAX, "here is %s itself, link %s to "
						"%s belongs here",
			 who, here, t->dev[own->peer_dev].name);
		return;
	}
	if (r->peer.link == own->link + 1) {
		snprintf(buf, REFUSAL_TEXT_MAX, "here is another %s, link %s "
						"to %s belongs here",
			 who, here, t->dev[own->peer_dev].name);
		return;
	}
	if (r->peer.link <= t->nlink)
		rl_topo_link_name(t, r->peer.link - 1, other, sizeof(other));
	snprintf(buf, REFUSAL_TEXT_MAX,
		 "here is %s of link %s, link %s belongs here", who, other,
		 here);
}

static void
fabric_text(const struct host *h, const struct rl_refused *r,
	    char buf[REFUSAL_TEXT_MAX])
{
	char parts[96], who[HOST_ROLE_NAME];

	rl_config_digest_diff(rl_config_digest(h->p.cfg), r->digest, parts,
			      sizeof(parts));
	if (r->peer.link == 0)
		snprintf(buf, REFUSAL_TEXT_MAX,
			 "the fabric file of the other end differs in %s",
			 parts);
	else
		snprintf(buf, REFUSAL_TEXT_MAX,
			 "the fabric file of the other end differs in %s; here "
			 "is its %s", parts,
			 place_name(h->fabric.topo, &r->peer, false, who));
}

const char *
refusal_text(const struct host *h, uint32_t dev, uint16_t port,
	     const struct rl_refused *r, char buf[REFUSAL_TEXT_MAX])
{
	const char *text = "";

	buf[0] = '\0';
	switch (r->why) {
	case RL_REFUSED_NONE:
		break;
	case RL_REFUSED_VERSION:
		snprintf(buf, REFUSAL_TEXT_MAX,
			 "the other end sends frames of version %u, this "
			 "reflit sends version %d: use the same release",
			 r->version, RL_FRAME_VERSION);
		return buf;
	case RL_REFUSED_FABRIC:
		fabric_text(h, r, buf);
		return buf;
	case RL_REFUSED_PLACE:
	case RL_REFUSED_SELF:
		place_text(h->fabric.topo, dev, port, r, buf);
		return buf;
	case RL_REFUSED_KEY:
		text = "the other end has another key (link.key_file)";
		break;
	case RL_REFUSED_NO_KEY:
		text = "the other end has no key, and this one has "
		       "(link.key_file)";
		break;
	case RL_REFUSED_OUR_KEY:
		text = "the other end has a key, and this one has none "
		       "(link.key_file)";
		break;
	}
	snprintf(buf, REFUSAL_TEXT_MAX, "%s", text);
	return buf;
}

static struct rl_refused
refused_now(const struct host *h, uint32_t dev, uint16_t port)
{
	struct rl_port_info i;

	rl_port_info(h->fabric.dev[dev].port[port].port, &i);
	if (i.state != RL_LINK_INIT)
		i.refused.why = RL_REFUSED_NONE;
	return i.refused;
}

const char *
refusal_now(const struct host *h, uint32_t dev, uint16_t port,
	    char buf[REFUSAL_TEXT_MAX])
{
	const struct rl_refused r = refused_now(h, dev, port);

	return refusal_text(h, dev, port, &r, buf);
}

bool
refusal_miscabled(const struct host *h)
{
	for (uint32_t d = 0; d < h->fabric.ndev; d++)
		for (uint16_t p = 0; p < h->fabric.dev[d].nports; p++) {
			const enum rl_refusal why = refused_now(h, d, p).why;

			if (why == RL_REFUSED_PLACE || why == RL_REFUSED_SELF)
				return true;
		}
	return false;
}
