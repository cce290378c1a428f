/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LOCAL_PRIV_H
#define LOCAL_PRIV_H

/**
 * @file
 * The inside of a local controller: local.c, and local_await.c for packets that
 * wait for new tables.
 */

#include "rl_local.h"

struct local_port {
	uint32_t ver;	/* of what is told last; 0: nothing */
	uint32_t known; /* by the controller */
	uint32_t sent;	/* ver that was sent last */
	uint32_t order_ver; /* newest order to the port */
	uint8_t state;
	uint8_t detector;
	uint8_t order;	 /* action owed; enum rl_local_port_order */
	bool done_owed; /* the order is to be confirmed */
	uint64_t t_ns;
};

struct rl_local {
	struct rl_local_params p;
	uint64_t ctl_inc; /* newest controller heard of */
	uint64_t seq;	  /* newest order of it */
	uint64_t heard_ns; /* when an order came last */
	uint64_t resend_ns; /* when what was not answered goes again */
	uint32_t table_epoch;
	uint32_t want_epoch;
	uint32_t hold_epoch;
	uint32_t stage_epoch; /* tables to change to by tokens; 0: none */
	enum rl_resil_hold hold;
	uint32_t lease_ends;
	uint32_t unknown;  /* of them, with something not known to the controller */
	uint16_t next_port; /* where the search for one goes on */
	bool greeted;	/* the controller knows us */
	bool hello_owed;
	bool asked;	 /* an order waits to be answered... */
	bool answer_owed; /* and here it is */
	bool late_owed;	 /* asked again: it is there, and not done yet */
	bool installing; /* given to the host, not done yet */
	bool install_owed;
	bool staging;	 /* given to the host, not done yet */
	bool stage_owed;
	bool passes;	 /* was told that all are prepared */
	bool pass_owed;
	bool hold_owed;
	bool start_owed;
	bool waits;
	bool alone;	 /* no controller answered last */
	bool awaits;	 /* packets wait for new tables */
	bool none_owed;	 /* there will be none */
	uint16_t await_port; /* that died last */
	uint64_t await_until_ns;
	uint64_t poll_ns; /* when to ask, or since when; 0: not yet asked */
	bool gave_up;	 /* said, or to be said, of these tables */
	bool trains;	 /* the first of its links has come up */
	uint64_t train_by_ns; /* the others must have by then; RL_NEVER */
	struct rl_local_view view;
	struct local_port port[]; /* the last one is the core */
};

static inline bool
port_unknown(const struct local_port *lp)
{
	return lp->ver != lp->known;
}

/* The one writer of a port's report. */
static inline void
port_set(struct rl_local *l, struct local_port *lp, uint32_t ver,
	 uint32_t known)
{
	const bool before = port_unknown(lp);

	lp->ver = ver;
	lp->known = known;
	if (before && !port_unknown(lp))
		l->unknown--;
	if (!before && port_unknown(lp))
		l->unknown++;
}

/* local_await.c */
/** A link has died: packets without a way wait for new tables. */
void local_await(struct rl_local *l, uint16_t port, uint64_t t_ns);
/** Tables are awaited no longer: they are here, or @p none will come. */
void local_no_wait(struct rl_local *l, bool none);
/** The controller knows the newest report of a port. */
void local_acked(struct rl_local *l, const struct rl_resil_msg *m,
		 uint64_t now_ns);
/** Packets wait for tables: is anybody making them? */
void local_await_tick(struct rl_local *l, uint64_t now_ns);
/** When that is to be looked at next. */
uint64_t local_await_due(const struct rl_local *l);

#endif /* LOCAL_PRIV_H */
