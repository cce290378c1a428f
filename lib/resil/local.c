/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A local controller. It keeps what it has to report as state, and repeats it
 * until it is confirmed: the newest event of each port, with a growing number,
 * and of itself that it exists (HELLO). Orders are states, too: it keeps the
 * newest one, ignores older ones, and turns the difference from the present
 * state into actions.
 *
 * Lease. A device that holds is told so repeatedly. If it hears nothing for a
 * lease, the controller is gone and the device releases. It must then not take
 * the tables it held for, because they could meet packets that they were not
 * proven with. So a device that does not hold refuses an order to install while
 * holding. Switches hold no traffic, only that state, and release after half a
 * lease: no switch takes tables after a source went on, as long as no order is
 * delayed by half a lease.
 *
 * Late. A device answers an order only when it is done. If it is asked again
 * before that, it says that it is alive, with a STATUS that answers no order
 * [RES-8].
 *
 * At rest. If endpoints do not retry, packets must stay in order on the way,
 * and tables change only while all traffic is held. A device that is released
 * before it took its tables keeps the old ones and says so, and the next
 * recovery brings the new ones.
 */

#include <string.h>

#include "local_priv.h"
#include "rl_plant.h"

/*
 * All links of a starting fabric must be up this many train_ns after the first,
 * or after the first order: perhaps none ever comes up.
 */
#define TRAIN_SHARE 4

size_t
rl_local_memsize(uint16_t nports)
{
	const size_t n = sizeof(struct rl_local) +
			 (nports + 1u) * sizeof(struct local_port);

	return (n + RL_CACHE_LINE - 1) & ~(size_t)(RL_CACHE_LINE - 1);
}

struct rl_local *
rl_local_init(void *mem, const struct rl_local_params *p, uint64_t now_ns)
{
	struct rl_local *l = mem;

	memset(mem, 0, rl_local_memsize(p->nports));
	l->p = *p;
	l->waits = p->waits;
	l->train_by_ns = RL_NEVER;
	l->hello_owed = true;
	l->resend_ns = now_ns;
	return l;
}

static void
local_train(struct rl_local *l, uint64_t now_ns)
{
	if (l->trains || l->p.waits)
		return;
	l->trains = true;
	l->train_by_ns = rl_deadline(now_ns, TRAIN_SHARE * l->p.cfg->train_ns);
}

/* Once all ports have come up or died, none is waited for. */
static void
local_trained(struct rl_local *l)
{
	for (uint16_t i = 0; i < l->p.nports; i++)
		if (l->port[i].state == RL_RESIL_LINK_UNKNOWN)
			return;
	l->train_by_ns = RL_NEVER;
}

void
rl_local_link(struct rl_local *l, uint16_t port, enum rl_resil_link state,
	      uint8_t detector, uint64_t t_ns)
{
	struct local_port *lp = &l->port[port];

	RL_ASSERT(port < l->p.nports);
	if (lp->ver != 0 && lp->state == state)
		return;
	if (state == RL_RESIL_LINK_UP && lp->ver == 0)
		local_train(l, t_ns);
	lp->state = (uint8_t)state;
	local_trained(l);
	/* links count as up until reported otherwise */
	if (lp->ver == 0 && state == RL_RESIL_LINK_UP && !l->p.waits)
		return;
	lp->detector = detector;
	lp->t_ns = t_ns;
	port_set(l, lp, lp->ver + 1, lp->known);
	if (state == RL_RESIL_LINK_UP && port == l->await_port)
		l->awaits = false;
	if (state == RL_RESIL_LINK_DEAD)
		local_await(l, port, t_ns);
}

void
rl_local_gave_up(struct rl_local *l, uint64_t t_ns)
{
	struct local_port *core = &l->port[l->p.nports];

	if (l->gave_up)
		return;
	l->gave_up = true;
	core->t_ns = t_ns;
	port_set(l, core, core->ver + 1, core->known);
}

/* Repeats all reports for a controller that does not know them. */
static void
local_tell_all(struct rl_local *l)
{
	for (uint16_t i = 0; i < l->p.nports; i++) {
		port_set(l, &l->port[i], l->port[i].ver, 0);
		l->port[i].sent = 0;
	}
	if (l->gave_up) {
		struct local_port *core = &l->port[l->p.nports];

		port_set(l, core, core->ver, 0);
		core->sent = 0;
	}
	l->hello_owed = true;
}

/*
 * Compares the sender with the known controller. @return false if it is
 * outdated.
 */
static bool
local_knows(struct rl_local *l, const struct rl_resil_msg *m)
{
	if (m->ctl_inc < l->ctl_inc)
		return RL_PLANTED(RESIL_OLD_CTL);
	if (m->ctl_inc > l->ctl_inc) {
		l->ctl_inc = m->ctl_inc;
		l->seq = 0;
		l->greeted = false;
		for (uint16_t i = 0; i < l->p.nports; i++)
			l->port[i].order_ver = 0;
		local_tell_all(l);
	}
	return true;
}

static void
local_hold(struct rl_local *l, enum rl_resil_hold hold, uint32_t epoch)
{
	if (l->hold == hold &&
	    (hold == RL_RESIL_HOLD_NONE || l->hold_epoch == epoch))
		return;
	l->hold = hold;
	l->hold_epoch = epoch;
	l->hold_owed = true;
}

/*
 * Tables by tokens [RES-5]. Every message carries the order to change while the
 * change lasts. A message without it that holds nothing ends the change: the
 * tables that it names are the new ones or, after an abort, the old ones.
 */
static void
local_stage(struct rl_local *l, const struct rl_resil_msg *m)
{
	const bool stages = m->flags & RL_RESIL_STAGE;

	if (l->waits)
		return; /* it has no tables to change from */
	if (l->stage_epoch != 0 &&
	    (stages ? l->stage_epoch != m->hold_epoch
		    : m->hold == RL_RESIL_HOLD_NONE ||
			      m->table_epoch > l->want_epoch)) {
		l->stage_epoch = 0;
		l->stage_owed = l->pass_owed = l->passes = false;
		l->install_owed = !RL_PLANTED(RESIL_STAGE_KEPT);
	}
	if (!stages)
		return;
	if (l->stage_epoch == 0 && m->hold_epoch > l->want_epoch) {
		l->stage_epoch = m->hold_epoch;
		l->stage_owed = true;
	}
	if (m->flags & RL_RESIL_PASS && l->stage_epoch != 0 && !l->passes)
		l->passes = l->pass_owed = true;
}

/*
 * Whether tables come too late: packets flow again and could overtake each
 * other.
 */
static bool
local_too_late(struct rl_local *l, const struct rl_resil_msg *m)
{
	if (!l->p.at_rest || l->waits || l->stage_epoch != 0 ||
	    m->hold == RL_RESIL_HOLD_ALL || RL_PLANTED(RESIL_RESTLESS))
		return false;
	if (l->install_owed) {
		l->install_owed = false;
		l->want_epoch = l->table_epoch;
	}
	return true;
}

static void
local_order(struct rl_local *l, const struct rl_resil_msg *m, uint64_t now_ns)
{
	bool late;

	if (m->seq < l->seq && !RL_PLANTED(RESIL_STALE_ORDER))
		return;
	l->late_owed = m->seq == l->seq && l->asked;
	l->seq = m->seq;
	l->heard_ns = now_ns;
	l->greeted = true;
	l->hello_owed = false;
	l->asked = true;
	local_train(l, now_ns);
	/*
	 * the tables are for a fabric at rest, but this device released by
	 * itself
	 */
	if (m->hold != RL_RESIL_HOLD_NONE && l->hold == RL_RESIL_HOLD_NONE &&
	    m->table_epoch > l->want_epoch && !l->waits)
		return;
	late = local_too_late(l, m);
	local_hold(l, m->hold, m->hold_epoch);
	local_stage(l, m);
	if (m->table_epoch > l->want_epoch && !late) {
		l->want_epoch = m->table_epoch;
		l->install_owed = true;
	}
	if (m->flags & RL_RESIL_START && l->waits) {
		l->waits = false;
		l->start_owed = true;
	}
}

static void
local_port_order(struct rl_local *l, const struct rl_resil_msg *m)
{
	struct local_port *lp = &l->port[m->port];

	lp->done_owed = true;
	if (m->ver <= lp->order_ver)
		return;
	lp->order_ver = m->ver;
	lp->order = m->link;
}

void
rl_local_rx(struct rl_local *l, const struct rl_resil_msg *m, uint64_t now_ns)
{
	if (m->version != RL_RESIL_VERSION || m->dev != l->p.dev ||
	    !local_knows(l, m))
		return;
	/* meant for an earlier incarnation */
	if (m->local_inc != 0 && m->local_inc != l->p.incarnation)
		return;
	l->alone = false;
	switch ((enum rl_resil_msg_type)m->type) {
	case RL_RESIL_CALL:
		local_tell_all(l);
		return;
	case RL_RESIL_ORDER:
		local_order(l, m, now_ns);
		return;
	case RL_RESIL_LINK_ACK:
		if (m->port <= l->p.nports &&
		    (m->ver == l->port[m->port].ver ||
		     RL_PLANTED(RESIL_ACK_ANY)))
			local_acked(l, m, now_ns);
		return;
	case RL_RESIL_PORT:
		if (m->port < l->p.nports)
			local_port_order(l, m);
		return;
	case RL_RESIL_HELLO:
	case RL_RESIL_LINK:
	case RL_RESIL_STATUS:
	case RL_RESIL_GAVE_UP:
	case RL_RESIL_PORT_DONE:
		return; /* not meant for a local controller */
	}
}

/* End of the lease; see above. */
static uint64_t
local_lease_end(const struct rl_local *l)
{
	const uint64_t lease = l->p.cfg->lease_ns;

	if (l->hold == RL_RESIL_HOLD_NONE || RL_PLANTED(RESIL_NO_LEASE))
		return RL_NEVER;
	return rl_deadline(l->heard_ns, l->p.endpoint ? lease : lease / 2);
}

/* Reports links as dead that have not come up since the start: ports do not. */
static void
local_untrained(struct rl_local *l, uint64_t now_ns)
{
	l->train_by_ns = RL_NEVER;
	for (uint16_t i = 0; i < l->p.nports; i++)
		if (l->port[i].state == RL_RESIL_LINK_UNKNOWN)
			rl_local_link(l, i, RL_RESIL_LINK_DEAD, 0, now_ns);
}

bool
rl_local_trains(const struct rl_local *l)
{
	return l->train_by_ns != RL_NEVER;
}

void
rl_local_late(struct rl_local *l, uint64_t now_ns)
{
	if (rl_local_trains(l))
		l->train_by_ns = rl_max_u64(
			l->train_by_ns,
			rl_deadline(now_ns, l->p.cfg->train_ns));
}

void
rl_local_tick(struct rl_local *l, uint64_t now_ns)
{
	if (now_ns >= l->train_by_ns && !RL_PLANTED(RESIL_NEVER_UP))
		local_untrained(l, now_ns);
	if (l->awaits)
		local_await_tick(l, now_ns);
	if (now_ns >= local_lease_end(l)) {
		l->lease_ends++;
		local_hold(l, RL_RESIL_HOLD_NONE, l->hold_epoch);
	}
	if (now_ns < l->resend_ns)
		return;
	l->resend_ns = now_ns + l->p.cfg->resend_ns;
	if (!l->greeted)
		l->hello_owed = true;
	if (l->unknown != 0 && !RL_PLANTED(RESIL_REPORT_ONCE))
		for (uint16_t i = 0; i <= l->p.nports; i++)
			l->port[i].sent = 0;
}

bool
rl_local_action(struct rl_local *l, struct rl_local_action *a)
{
	*a = (struct rl_local_action){ 0 };
	/* hold before an install, and release only after it */
	if (l->hold_owed && (l->hold != RL_RESIL_HOLD_NONE ||
			     RL_PLANTED(RESIL_RELEASE_FIRST) ||
			     (!l->install_owed && !l->installing))) {
		l->hold_owed = false;
		a->type = l->hold == RL_RESIL_HOLD_NONE ? RL_LOCAL_RELEASE
							: RL_LOCAL_HOLD;
		a->hold = RL_PLANTED(BYSTAND_HELD) &&
					  l->hold == RL_RESIL_HOLD_FLOWS
				  ? RL_RESIL_HOLD_ALL
				  : l->hold;
		a->epoch = l->hold_epoch;
		return true;
	}
	if (l->install_owed) {
		l->install_owed = false;
		l->installing = true;
		l->gave_up = false;
		local_no_wait(l, false);
		a->type = RL_LOCAL_INSTALL;
		a->epoch = l->want_epoch;
		return true;
	}
	if (l->stage_owed && !l->installing) {
		l->stage_owed = false;
		l->staging = true;
		a->type = RL_LOCAL_STAGE;
		a->epoch = l->stage_epoch;
		return true;
	}
	if (l->pass_owed && !l->staging) {
		l->pass_owed = false;
		a->type = RL_LOCAL_PASS;
		a->epoch = l->stage_epoch;
		return true;
	}
	if (l->none_owed) {
		l->none_owed = false;
		a->type = RL_LOCAL_NO_TABLES;
		return true;
	}
	if (l->start_owed && !l->installing) {
		l->start_owed = false;
		a->type = RL_LOCAL_START;
		return true;
	}
	for (uint16_t i = 0; i < l->p.nports; i++) {
		if (l->port[i].order == RL_LOCAL_PORT_NONE)
			continue;
		a->type = RL_LOCAL_PORT;
		a->order = l->port[i].order;
		a->port = i;
		l->port[i].order = RL_LOCAL_PORT_NONE;
		return true;
	}
	return false;
}

void
rl_local_installed(struct rl_local *l, uint32_t epoch)
{
	l->table_epoch = epoch;
	if (epoch == l->want_epoch)
		l->installing = false;
}

void
rl_local_staged(struct rl_local *l, uint32_t epoch)
{
	if (epoch == l->stage_epoch || l->stage_epoch == 0)
		l->staging = false;
}

bool
rl_local_asked(const struct rl_local *l)
{
	/* an answer reports what is done, not what is planned */
	return l->asked && !l->hold_owed && !l->install_owed &&
	       !l->installing && !l->stage_owed && !l->staging &&
	       !l->pass_owed;
}

void
rl_local_answer(struct rl_local *l, const struct rl_local_view *view)
{
	RL_ASSERT(rl_local_asked(l));
	l->asked = false;
	l->answer_owed = true;
	l->view = *view;
}

static void
local_msg(const struct rl_local *l, struct rl_resil_msg *m,
	  enum rl_resil_msg_type type)
{
	*m = (struct rl_resil_msg){
		.version = RL_RESIL_VERSION,
		.type = (uint8_t)type,
		.dev = l->p.dev,
		.ctl_inc = l->ctl_inc,
		.local_inc = l->p.incarnation,
		.hold = (uint8_t)l->hold,
		.hold_epoch = l->hold_epoch,
		.table_epoch = l->table_epoch,
		.seq = l->seq,
		.flags = l->waits ? RL_RESIL_WAITS : 0,
	};
	if (l->stage_epoch != 0 && l->hold == RL_RESIL_HOLD_NONE) {
		m->flags |= RL_RESIL_STAGE;
		m->hold_epoch = l->stage_epoch;
	}
}

/* The next port, or the core, with something to report, in round-robin
   order. */
static bool
local_tx_port(struct rl_local *l, struct rl_resil_msg *m)
{
	const uint16_t all = (uint16_t)(l->p.nports + 1);

	for (uint16_t n = 0; n < all; n++) {
		const uint16_t i = (uint16_t)((l->next_port + n) % all);
		struct local_port *lp = &l->port[i];

		if (lp->done_owed) {
			lp->done_owed = false;
			local_msg(l, m, RL_RESIL_PORT_DONE);
			m->port = i;
			m->ver = lp->order_ver;
			return true;
		}
		if (!port_unknown(lp) || lp->sent == lp->ver)
			continue;
		lp->sent = lp->ver;
		local_msg(l, m, i == l->p.nports ? RL_RESIL_GAVE_UP
						 : RL_RESIL_LINK);
		m->port = i;
		m->ver = lp->ver;
		m->link = lp->state;
		m->detector = lp->detector;
		m->t_ns = lp->t_ns;
		l->next_port = (uint16_t)(i + 1);
		return true;
	}
	return false;
}

bool
rl_local_tx(struct rl_local *l, struct rl_resil_msg *m, uint64_t now_ns)
{
	if (l->hello_owed) {
		l->hello_owed = false;
		l->resend_ns = now_ns + l->p.cfg->resend_ns;
		local_msg(l, m, RL_RESIL_HELLO);
		return true;
	}
	if (l->answer_owed) {
		l->answer_owed = false;
		l->late_owed = false;
		local_msg(l, m, RL_RESIL_STATUS);
		m->activity = l->view.activity;
		if (l->view.quiet)
			m->flags |= RL_RESIL_QUIET;
		return true;
	}
	if (l->late_owed) {
		l->late_owed = false;
		local_msg(l, m, RL_RESIL_STATUS);
		m->seq = 0; /* answers no order */
		return true;
	}
	if (!local_tx_port(l, m))
		return false;
	if (l->poll_ns == 0)
		l->poll_ns = now_ns;
	if (l->unknown != 0 && l->resend_ns <= now_ns)
		l->resend_ns = now_ns + l->p.cfg->resend_ns;
	return true;
}

uint64_t
rl_local_deadline(const struct rl_local *l)
{
	uint64_t t = rl_min_u64(local_lease_end(l), l->train_by_ns);

	if (l->hello_owed || l->answer_owed || l->late_owed)
		return 0;
	if (l->awaits)
		t = rl_min_u64(t, local_await_due(l));
	if (!l->greeted || l->unknown != 0)
		t = rl_min_u64(t, l->resend_ns);
	return t;
}

void
rl_local_info(const struct rl_local *l, struct rl_local_info *info)
{
	*info = (struct rl_local_info){
		.table_epoch = l->table_epoch,
		.want_epoch = l->want_epoch,
		.hold = l->hold,
		.hold_epoch = l->hold_epoch,
		.stage_epoch = l->stage_epoch,
		.passes = l->passes,
		.reports = l->unknown,
		.lease_ends = l->lease_ends,
		.waits = l->waits,
	};
}
