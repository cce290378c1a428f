/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_OOB_H
#define RL_OOB_H

/**
 * @file The out-of-band channel between processes [RES-1]: an etcd. A separate
 * thread talks to it, through the JSON gateway; neither an lcore nor the
 * control thread ever waits for it. Keys, below the prefix of the fabric file:
 *
 * | key | who writes it | lives as long as |
 * |---|---|---|
 * | `members/NAME` | process NAME, when it begins | its lease: a sign of life |
 * | `office` | the elected process, if there is none | the same lease |
 * | `up/NAME` | NAME's local controllers, to the controller | the same lease |
 * | `down/NAME` | the controller, to NAME's devices | the controller's lease |
 * | `tables/EPOCH` | the controller: a recipe | the fabric |
 *
 * Every write is a transaction: `up` if the process is still a member, `down`
 * and `tables` if the controller still has the office. So a deposed controller
 * that does not know it yet can order nothing. All processes watch all keys, in
 * the order of their revisions: a process that learns that it has the office
 * has seen all writes of its predecessor. A member puts back a recipe that it has
 * read, if the store has none of that epoch any more.
 *
 * Messages may be lost, as lib/resil expects: unwritten ones are dropped, and
 * their senders repeat them.
 *
 * Calls are for the control thread.
 */

#include "rl_channel.h"
#include "rl_oob_text.h"

/** Room for the line that explains why there is no channel. */
#define RL_OOB_ERR_MAX (RL_ERR_MAX + 512)

struct rl_oob_params {
	const struct rl_channel *channel; /**< these four outlive the channel */
	const struct rl_topo *topo;
	/** [ndev] index of the process that runs a device; NULL: all are 0 */
	const uint8_t *dev_process;
	const char *const *name; /**< [nprocess] */
	uint32_t nprocess;
	uint32_t process; /**< which of them this is */
	uint64_t digest;  /**< of the fabric file */
	/** words for the difference of two digests, see
	    rl_config_digest_diff() */
	char *(*diff)(uint64_t a, uint64_t b, char *buf, size_t len);
};

enum rl_oob_event_type {
	RL_OOB_MSG,	/**< `msg`; of RL_RESIL_LINK t_ns is an age */
	RL_OOB_RECIPE,	/**< `recipe`: the caller's, for rl_oob_drop() */
	RL_OOB_STORED,	/**< the store has our recipe of `epoch`; `recipe` */
	RL_OOB_OFFICE,	/**< we are the controller now; its `incarnation` */
	RL_OOB_DEPOSED, /**< not any more: must not order anything */
};

struct rl_oob_event {
	enum rl_oob_event_type type;
	struct rl_resil_msg msg;
	struct rl_oob_recipe *recipe;
	uint32_t epoch;
	uint64_t incarnation;
};

/** State of the channel, for `show controller` and messages. */
struct rl_oob_info {
	bool away;	  /**< the store does not answer, or refuses */
	bool refuses;	  /**< it answers with errors */
	bool member;	  /**< this process is a member */
	bool here;	  /**< the controller is this process's */
	char office[RL_NAME_MAX]; /**< process of the controller; "": none */
	uint64_t members; /**< a bit for each present process */
	char why[256];	  /**< the last error; "" */
	uint64_t sent;	  /**< messages written to the store */
	uint64_t received;
	uint64_t lost;	  /**< messages dropped */
	uint64_t outages; /**< outages of the store */
	uint64_t away_ns; /**< total length of outages, to this moment */
};

struct rl_oob;

/**
 * Joins: takes a lease and becomes a member. Waits for the store, at most some
 * seconds; if a process of our name was killed on another host, until its lease
 * has ended.
 *
 * @param err  RL_OOB_ERR_MAX bytes: one line on failure
 * @return 0; -EHOSTUNREACH: no server answers; -EPERM: not this fabric, or not
 *   allowed; -EADDRINUSE: a process of this name lives; -EINVAL: a file in the
 *   settings; -ENOMEM. Leaves nothing behind on failure.
 */
int rl_oob_open(const struct rl_oob_params *p, struct rl_oob **out, char *err);

/** Leaves: removes all our keys, and the last process those of the fabric. */
void rl_oob_close(struct rl_oob *o);

/** Whether other members existed when we joined: the fabric already runs. */
bool rl_oob_joined_others(const struct rl_oob *o);

/** Lower bound of our devices' incarnations. Grows with every start. */
uint64_t rl_oob_incarnation(const struct rl_oob *o);

/** Any thread; cheap. Whether rl_oob_event() has something. */
bool rl_oob_ready(struct rl_oob *o);

/** @return whether @p ev was filled */
bool rl_oob_event(struct rl_oob *o, struct rl_oob_event *ev);

/** Frees the recipe of an event. */
void rl_oob_drop(struct rl_oob_recipe *r);

/** A local controller's message to the controller, in any process. */
void rl_oob_send_up(struct rl_oob *o, const struct rl_resil_msg *m);

/** The controller's message to a device of another process. */
void rl_oob_send_down(struct rl_oob *o, const struct rl_resil_msg *m);

/**
 * The controller's: stores a recipe; RL_OOB_STORED tells when it is there. Only
 * then may a device get its tables. @return 0 or -ENOMEM
 */
int rl_oob_store(struct rl_oob *o, const struct rl_tables_recipe *r);

/**
 * Whether we stand for election; true at first. False gives up an office that
 * we have.
 */
void rl_oob_stand(struct rl_oob *o, bool stand);

void rl_oob_info(struct rl_oob *o, struct rl_oob_info *info);

#endif /* RL_OOB_H */
