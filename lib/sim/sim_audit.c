/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Invariants of a fabric, whatever it carries: every flit has one owner, no
 * sender exceeds its credits, and after the traffic ended nothing is left and
 * every credit is returned.
 */

#include <errno.h>
#include <stdio.h>

#include "sim_priv.h"

#define SAY(err, ...)                                                          \
	((err) == NULL ? 0 : snprintf((err), RL_ERR_MAX, __VA_ARGS__))

static uint64_t
pipe_flits(const struct sim_pipe *sp)
{
	uint64_t n = 0;

	for (uint32_t i = sp->head; i != sp->tail; i++) {
		const struct rl_flit *f = sp->slot[i & sp->mask].obj;

		if (rl_pipe_is_mark(f) == RL_MARK_NONE)
			n += f->pkt_flits;
	}
	return n;
}

static int
audit_flits(const struct rl_sim *s, char *err)
{
	const uint64_t held = rl_fabric_flits(&s->fabric);
	uint64_t piped = 0;

	for (uint32_t i = 0; i < s->npipe; i++)
		piped += pipe_flits(&s->pipe[i]);
	if (held + piped == sim_flits_used(s))
		return 0;
	SAY(err,
	    "flits: %llu are in use, but %llu held and %llu in pipes",
	    (unsigned long long)sim_flits_used(s), (unsigned long long)held,
	    (unsigned long long)piped);
	return -EUCLEAN;
}

/*
 * Without link retry, lost flits take their credits with them until a starving
 * sender asks for them [LCB-4]. Without keepalives, so may a lost frame that
 * returned credits.
 */
static bool
credits_back(const struct rl_link_cfg *cfg, uint32_t credits)
{
	return credits == cfg->credits_flits || !cfg->retry ||
	       cfg->keepalive_ns == 0;
}

static int
audit_port(const struct rl_sim *s, uint32_t dev, uint16_t p, bool settled,
	   char *err)
{
	const struct rl_port *port = s->fabric.dev[dev].port[p].port;
	const struct rl_link_cfg *cfg = &s->p.cfg->link;
	/* a cut link that is not dead yet loses what is sent on it */
	const bool whole =
		sim_link_whole(s, s->fabric.topo->dev[dev].port[p].link);
	const uint64_t overruns = rl_port_counters(port)[RL_PC_rx_overrun];
	const char *name = s->fabric.topo->dev[dev].name;
	struct rl_port_info info;

	if (overruns != 0) {
		SAY(err, "port %u of %s: %llu flits beyond the credits given",
		    p, name, (unsigned long long)overruns);
		return -EUCLEAN;
	}
	rl_port_info(port, &info);
	if (info.outstanding_flits > info.held_flits ||
	    info.held_flits > info.window) {
		SAY(err, "port %u of %s: %u held, %u outstanding, window %u",
		    p, name, info.held_flits, info.outstanding_flits,
		    info.window);
		return -EUCLEAN;
	}
	for (unsigned int vc = 0; vc < cfg->vcs; vc++) {
		if (info.state != RL_LINK_UP)
			continue;
		if (info.credits[vc] <= cfg->credits_flits &&
		    (!settled || !whole || credits_back(cfg, info.credits[vc])))
			continue;
		SAY(err, "port %u of %s: %u credits on VC %u of %u%s", p, name,
		    info.credits[vc], vc, cfg->credits_flits,
		    settled ? " at rest" : "");
		return -EUCLEAN;
	}
	return 0;
}

/*
 * What one end of a link has sent in this epoch, and reserved for the rest of a
 * packet, must fit the room at the other end now [LCB-3]. The sender may know
 * of less room, never of more.
 */
static const char *
credit_fault(const struct rl_link_cfg *cfg, const struct rl_port_credits *tx,
	     const struct rl_port_credits *rx, unsigned int vc)
{
	const int16_t left = (int16_t)(rx->granted[vc] - tx->consumed[vc]);

	/*
	 * If a packet is cut off on a link that continues, a closing flit takes
	 * room that was already granted, until it has left.
	 */
	if (left + (int64_t)rx->own[vc] < tx->begun[vc])
		return "more under way than there is room for";
	if (left > 0 && (uint32_t)left > cfg->credits_flits)
		return "more credits than there is room";
	/*
	 * the same for the end of a packet cut off by a death, in the next
	 * epoch
	 */
	if (cfg->retry &&
	    rx->buffered[vc] > cfg->credits_flits + 1 + rx->own[vc])
		return "more received than there is room for";
	return NULL;
}

static void
credit_check(struct rl_sim *s, uint32_t dev, uint16_t port)
{
	const struct rl_topo_port *tp = &s->fabric.topo->dev[dev].port[port];
	const struct rl_device *far = &s->fabric.dev[tp->peer_dev];
	struct rl_port_credits a, b;

	rl_port_credits(s->fabric.dev[dev].port[port].port, &a);
	if (a.state != RL_LINK_UP || s->broken[0] != '\0')
		return;
	if (s->dead[tp->peer_dev] || s->dead[dev])
		return;
	rl_port_credits(far->port[tp->peer_port].port, &b);
	if (b.state != RL_LINK_UP || a.tx_epoch != b.rx_epoch ||
	    a.rx_epoch != b.tx_epoch)
		return;
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		const char *why =
			credit_fault(&s->p.cfg->link, &a, &b, vc);

		if (why == NULL)
			continue;
		snprintf(s->broken, sizeof(s->broken),
			 "at %llu ns port %u of %s, VC %u: %s",
			 (unsigned long long)s->now_ns, port,
			 s->fabric.topo->dev[dev].name, vc, why);
	}
}

void
sim_credit_check(struct rl_sim *s, struct sim_role *r)
{
	const struct rl_topo_port *tp =
		&s->fabric.topo->dev[r->dev].port[r->port];
	const uint64_t *c = rl_port_counters(r->rp->port);

	if (c[RL_PC_tx_flits] != r->end->sent) {
		r->end->sent = c[RL_PC_tx_flits];
		credit_check(s, r->dev, (uint16_t)r->port);
	}
	if (c[RL_PC_rx_ok] != r->end->got) {
		r->end->got = c[RL_PC_rx_ok];
		credit_check(s, tp->peer_dev, tp->peer_port);
	}
}

int
rl_sim_audit(const struct rl_sim *sim, bool settled, char *err)
{
	const struct rl_fabric *f = &sim->fabric;
	int ret = audit_flits(sim, err);

	if (ret == 0 && sim->broken[0] != '\0') {
		SAY(err, "%s", sim->broken);
		ret = -EUCLEAN;
	}
	for (uint32_t d = 0; ret == 0 && d < f->ndev; d++)
		for (uint16_t p = 0; ret == 0 && !sim->dead[d] &&
				     p < f->dev[d].nports; p++)
			ret = audit_port(sim, d, p, settled, err);
	return ret;
}

/*
 * A degraded link is taken out of use before it dies, until it is added: by at
 * least one end. The other end may have died first, and wait for it.
 */
static bool
left_alone(const struct rl_sim *s, uint32_t dev, uint16_t p)
{
	const struct rl_topo_port *tp = &s->fabric.topo->dev[dev].port[p];
	const struct rl_port *near = s->fabric.dev[dev].port[p].port;
	const struct rl_port *far =
		s->fabric.dev[tp->peer_dev].port[tp->peer_port].port;

	return s->ctl != NULL && s->degraded[tp->link] &&
	       (rl_port_state(near) == RL_LINK_OFF ||
		rl_port_state(far) == RL_LINK_OFF);
}

static bool
port_settled(const struct rl_sim *s, uint32_t dev, uint16_t p, bool links,
	     char *why)
{
	const struct rl_device *d = &s->fabric.dev[dev];
	const struct rl_port *port = d->port[p].port;
	const char *name = s->fabric.topo->dev[dev].name;
	struct rl_port_info info;

	rl_port_info(port, &info);
	if (!rl_port_idle(port)) {
		SAY(why, "port %u of %s (%s) holds %u flits", p, name,
		    rl_link_state_name(info.state), rl_port_flits(port));
		return false;
	}
	if (!links || !sim_link_whole(s, s->fabric.topo->dev[dev].port[p].link))
		return true;
	if (info.state != RL_LINK_UP && left_alone(s, dev, p))
		return true;
	if (info.state != RL_LINK_UP && sim_ctl_left_out(s, dev, p))
		return true;
	if (info.state != RL_LINK_UP) {
		SAY(why, "port %u of %s is %s", p, name,
		    rl_link_state_name(info.state));
		return false;
	}
	if (rl_core_egress_state(d->core.core, p) != RL_EGRESS_ALIVE) {
		SAY(why, "egress %u of %s is %s", p, name,
		    rl_egress_state_name(
			    rl_core_egress_state(d->core.core, p)));
		return false;
	}
	for (unsigned int vc = 0; vc < s->p.cfg->link.vcs; vc++)
		if (!credits_back(&s->p.cfg->link, info.credits[vc])) {
			SAY(why, "port %u of %s: %u credits on VC %u of %u", p,
			    name, info.credits[vc], vc,
			    s->p.cfg->link.credits_flits);
			return false;
		}
	return true;
}

/*
 * Probes, one flit each, to endpoints that are gone: they never end, and the
 * next may come while the last one waits.
 */
static uint32_t
probes(const struct rl_sim *s)
{
	const struct rl_ep_cfg *e = &s->p.cfg->endpoint;
	const uint64_t each = 1 + s->p.cfg->link.no_path_ns /
					  rl_max_u64(e->retry_timer_max_ns,
						     e->probe_ns);
	uint64_t n = 0;

	for (uint32_t d = 0; d < s->fabric.ndev; d++)
		if (!s->dead[d] && s->fabric.dev[d].core.ep != NULL)
			n += rl_ep_unreachable_count(s->fabric.dev[d].core.ep);
	return (uint32_t)(n * each);
}

/* Whether a core is empty except for probes that wait for a path. */
static bool
core_settled(const struct rl_core *core, uint32_t nprobes, bool links)
{
	if (nprobes != 0 && rl_core_flits(core) != 0)
		return rl_core_flits(core) <= nprobes &&
		       rl_core_transit(core) == 0;
	return rl_core_flits(core) == 0 &&
	       (!links || nprobes != 0 || rl_core_idle(core));
}

bool
rl_sim_settled(const struct rl_sim *sim, unsigned int flags, char *why)
{
	const bool links = flags & RL_SIM_LINKS;
	const struct rl_fabric *f = &sim->fabric;
	const uint32_t away = probes(sim);

	if (sim->notice_head != sim->notice_tail) {
		SAY(why, "a drop notice is on its way");
		return false;
	}
	for (uint32_t i = 0; i < sim->npipe; i++)
		if (sim->pipe[i].head != sim->pipe[i].tail) {
			SAY(why, "a pipe of role %u is not empty",
			    sim->pipe[i].consumer);
			return false;
		}
	for (uint32_t d = 0; d < f->ndev; d++) {
		const struct rl_role_core *rc = &f->dev[d].core;
		const char *name = f->topo->dev[d].name;

		if (sim->dead[d])
			continue;
		if (!core_settled(rc->core, away, links)) {
			SAY(why, "the core of %s holds %u flits", name,
			    rl_core_flits(rc->core));
			return false;
		}
		if (rc->ep != NULL &&
		    (!rl_ep_idle(rc->ep) || rl_ep_recv_pending(rc->ep) ||
		     (rl_ep_flits(rc->ep) != 0 && !(flags & RL_SIM_PARTS_OK)))) {
			SAY(why, "endpoint %s holds %u flits", name,
			    rl_ep_flits(rc->ep));
			return false;
		}
		for (uint16_t p = 0; p < f->dev[d].nports; p++)
			if (!port_settled(sim, d, p, links, why))
				return false;
	}
	return true;
}
