/* SPDX-License-Identifier: BSD-3-Clause */
#include "rl_path.h"

struct rl_path
rl_path_begin(const struct rl_topo *t, const struct rl_fwd *fwd, uint16_t src,
	      uint16_t dst)
{
	const struct rl_fwd *f = &fwd[t->ep_dev[src]];

	return (struct rl_path){
		.dev = t->ep_dev[src],
		.in_port = f->nports,
		.sl = f->path_sl != NULL ? f->path_sl[dst] & (RL_SLS - 1) : 0,
	};
}

const struct rl_topo_port *
rl_path_step(const struct rl_topo *t, const struct rl_fwd *fwd,
	     struct rl_path *at, uint16_t dst)
{
	const struct rl_fwd *f = &fwd[at->dev];
	const unsigned int plane = at->in_port == f->nports
					   ? f->inject_plane[at->sl]
					   : f->plane_of[at->vl][at->sl];
	const struct rl_fwd_hop hop = rl_fwd_lookup(f, plane, dst).hop[0];
	const struct rl_topo_port *port;

	if (hop.port >= f->nports)
		return NULL;
	port = &t->dev[at->dev].port[hop.port];
	at->vl = rl_fwd_vl(f, hop.plane, at->in_port, hop.port, at->sl);
	at->in_port = port->peer_port;
	at->dev = port->peer_dev;
	return port;
}
