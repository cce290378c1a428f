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
	uint32_t ver;	/* number of the newest report; 0: none */
	uint32_t known; /* newest report confirmed */
	uint32_t sent;	/* newest report sent */
	uint32_t order_ver; /* newest order to the port */
	uint8_t state;
	uint8_t detector;
	uint8_t order;	 /* action owed; enum rl_local_port_order */
	bool done_owed; /* the order must be confirmed */
	uint64_t t_ns;
};

struct rl_local {
	struct rl_local_params p;
	uint64_t ctl_inc; /* newest known controller */
	uint64_t seq;	  /* newest order from it */
	uint64_t heard_ns; /* when the last order arrived */
	uint64_t resend_ns; /* when to repeat what is not answered */
	uint32_t table_epoch;
	uint32_t want_epoch;
	uint32_t hold_epoch;
	uint32_t stage_epoch; /* tables to change to by tokens; 0: none */
	enum rl_resil_hold hold;
	uint32_t lease_ends;
	uint32_t unknown;  /* number of ports with an unconfirmed report */
	uint16_t next_port; /* where the search for one continues */
	bool greeted;	/* the controller knows this device */
	bool hello_owed;
	bool asked;	 /* an order waits for its answer */
	bool answer_owed; /* the answer is ready to be sent */
	bool late_owed;	 /* asked again: say that it is not done yet */
	bool installing; /* given to the host, not done yet */
	bool install_owed;
	bool staging;	 /* given to the host, not done yet */
	bool stage_owed;
	bool passes;	 /* knows that all devices are prepared */
	bool pass_owed;
	bool hold_owed;
	bool start_owed;
	bool waits;
	bool alone;	 /* the last report got no answer */
	bool awaits;	 /* packets wait for new tables */
	bool none_owed;	 /* no tables will come */
	uint16_t await_port; /* whose link died last */
	uint64_t await_until_ns;
	uint64_t poll_ns; /* next question, or time of the last; 0: not asked */
	bool gave_up;	 /* reported, or to be reported, for these tables */
	bool trains;	 /* its first link has come up */
	uint64_t train_by_ns; /* when the others must be up; RL_NEVER */
	struct rl_local_view view;
	struct local_port port[]; /* the last one stands for the core */
};

static inline bool
port_unknown(const struct local_port *lp)
{
	return lp->ver != lp->known;
}

/* The only writer of the report of a port. */
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
/** A link has died: packets without a path wait for new tables. */
void local_await(struct rl_local *l, uint16_t port, uint64_t t_ns);
/** Stops waiting: the tables arrived, or @p none will come. */
void local_no_wait(struct rl_local *l, bool none);
/** The controller confirmed the newest report of a port. */
void local_acked(struct rl_local *l, const struct rl_resil_msg *m,
		 uint64_t now_ns);
/** While packets wait for tables: asks whether they are being made. */
void local_await_tick(struct rl_local *l, uint64_t now_ns);
/** @return when local_await_tick() is due next */
uint64_t local_await_due(const struct rl_local *l);

#endif /* LOCAL_PRIV_H */
