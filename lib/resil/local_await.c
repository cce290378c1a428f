/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * After a death, packets wait for new tables only while a controller makes them
 * [DRL-11]. So the death is reported repeatedly until the tables arrive, and
 * the answer says whether they are being made. If they are not, or if no
 * controller answers, the wait ends. If none answered, the next death starts no
 * wait.
 */

#include "local_priv.h"

/* Shares of answer_ns: without an answer for the first, there is no
   controller; the second is the interval between questions whether tables
   are being made. */
#define ALONE_SHARE 2
#define POLL_SHARE 8

void
local_await(struct rl_local *l, uint16_t port, uint64_t t_ns)
{
	if (l->alone)
		return;
	l->awaits = true;
	l->await_port = port;
	l->await_until_ns = rl_deadline(t_ns, l->p.cfg->await_ns);
	l->poll_ns = 0;
}

bool
rl_local_alone(const struct rl_local *l)
{
	return l->alone;
}

void
local_no_wait(struct rl_local *l, bool none)
{
	l->none_owed = none && (l->awaits || l->none_owed);
	l->awaits = false;
}

void
local_acked(struct rl_local *l, const struct rl_resil_msg *m, uint64_t now_ns)
{
	struct local_port *lp = &l->port[m->port];

	port_set(l, lp, lp->ver, lp->ver);
	if (l->unknown != 0)
		return;
	l->poll_ns = now_ns + l->p.cfg->answer_ns / POLL_SHARE;
	if (m->flags & RL_RESIL_IDLE)
		local_no_wait(l, true);
}

void
local_await_tick(struct rl_local *l, uint64_t now_ns)
{
	struct local_port *lp = &l->port[l->await_port];

	if (now_ns >= l->await_until_ns) {
		local_no_wait(l, false); /* the core ends the wait itself */
	} else if (l->unknown == 0 && now_ns >= l->poll_ns) {
		port_set(l, lp, lp->ver, 0);
		lp->sent = 0;
		l->poll_ns = now_ns;
	} else if (l->unknown != 0 && l->poll_ns != 0 &&
		   now_ns - l->poll_ns >= l->p.cfg->answer_ns / ALONE_SHARE) {
		l->alone = true;
		local_no_wait(l, true);
	}
}

uint64_t
local_await_due(const struct rl_local *l)
{
	uint64_t t = l->poll_ns;

	if (l->unknown != 0)
		t += l->p.cfg->answer_ns / ALONE_SHARE;
	return rl_min_u64(l->poll_ns == 0 ? RL_NEVER : t, l->await_until_ns);
}
