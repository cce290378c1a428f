/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OOB_PRIV_H
#define OOB_PRIV_H

/**
 * @file The inside of the channel:
 *
 *   oob.c       calls of the control thread, and queues between the threads
 *   oob_loop.c  the thread: signs of life, election, writing, watching
 *   oob_view.c  interprets watched keys
 *   oob_join.c  becoming a member, and leaving
 *   oob_ask.c   a request and its answer, from any server
 *
 * Fields under `lock` are shared; the rest is the thread's once it runs.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "oob_etcd.h"
#include "oob_http.h"
#include "rl_oob.h"

#define OOB_ASK_NS (1000 * RL_NS_PER_MS)
#define OOB_KEY_MAX 160
/** Incarnations that one start of a process, or one controller, may assign. */
#define INCARNATIONS (1ull << 20)
/** Messages that wait to be written, or read; more are dropped. */
#define OOB_OUT_MAX 16384u
#define OOB_IN_MAX 65536u
/**
 * Recipes that stay in the store: for processes that join late, or take over.
 */
#define OOB_RECIPES 16u

struct oob_item {
	struct oob_item *next;
	struct rl_oob_event ev;
};

/** A recipe as the store has it, or had it before it lost its data. */
struct oob_kept {
	char *text; /**< NULL: none */
	uint32_t epoch;
	bool there; /**< in the store */
};

struct oob_out {
	struct rl_resil_msg *msg;
	uint32_t n;
	uint32_t cap;
};

struct rl_oob {
	struct rl_oob_params p;
	pthread_t thread;
	bool thread_on;
	_Atomic uint32_t ready; /**< events wait */
	/** until when the office is certainly ours, CLOCK_MONOTONIC; 0: it is
	    not */
	_Atomic uint64_t office_until_ns;
	bool told_office; /**< the control thread's: its last notification */

	pthread_mutex_t lock;
	struct oob_item *head;
	struct oob_item **tail;
	uint32_t queued;
	struct oob_out up;
	struct oob_out down;
	char *store; /**< text of a recipe to store; NULL: none */
	uint32_t store_epoch;
	uint32_t stored_epoch; /**< our newest epoch in the store */
	bool stand;
	bool quit;
	struct rl_oob_info info;
	uint64_t away_since_ns; /**< of the present outage */
	uint64_t floor; /**< highest incarnation that we have heard of */

	/* the thread's; before it runs, rl_oob_open()'s */
	struct oob_http http;
	bool late; /**< no answer to the last request came in time */
	struct rl_oob_member me;
	uint64_t incarnation; /* of our start: constant */
	bool others;	      /* were there at our start: constant */
	bool joined;
	bool lost_watch;
	struct oob_kept kept[OOB_RECIPES]; /* of an epoch, modulo that */
	bool ranging;	   /* between oob_view_begin() and _end() */
	char *ranged_office; /* its value in the range; NULL: none */
	uint64_t ranged_rev;
	uint64_t ranged_lease;
	uint64_t lease;
	uint64_t member_rev;
	uint64_t office_rev; /**< 0: it is free */
	uint64_t evict_rev;  /**< of an office that no process holds; or 0 */
	bool mine;
	uint64_t ttl_ns;
	uint64_t keep_ns;  /**< when to renew the lease */
	uint64_t until_ns; /**< the lease is certainly valid until then */
	uint64_t retry_ns; /**< after a failure: when to retry */
	uint64_t campaign_ns;
	uint64_t watch_ns; /**< until then the watch must have an answer */
	char password[256];
};

/** CLOCK_MONOTONIC. */
uint64_t oob_now(void);

/** The key "PREFIX/what/name"; @p name may be "". Returns buf. */
char *oob_key(const struct rl_oob *o, char *buf, const char *what,
	      const char *name);

/* oob.c: both threads. */
void oob_push(struct rl_oob *o, const struct rl_oob_event *ev);
/** Sets the error of the info. */
void oob_why(struct rl_oob *o, const char *why);
/** Sets whether the store is unusable: it does not answer, or @p refuses. */
void oob_away(struct rl_oob *o, bool away, bool refuses);

/* oob_ask.c */
/**
 * Sends @p body (taken over, NULL: no memory) to the servers in turn, until one
 * answers. Authenticates if required.
 * @return 0; -EHOSTUNREACH: none answers; -EREMOTEIO, -EINVAL: an error, and
 *   o->info.why; -ENOMEM
 */
int oob_ask(struct rl_oob *o, const char *path, char *body,
	    struct oob_answer *a, oob_kv_fn fn, void *ctx);
/**
 * Deletes a key without a process, if revision @p rev still is the one that
 * created it. @return as oob_ask()
 */
int oob_evict(struct rl_oob *o, const char *key, uint64_t rev);
/** Ends and sends a transaction. */
int oob_ask_txn(struct rl_oob *o, struct oob_txn *t, struct oob_answer *a);

/* oob_join.c */
/** Our identity: host, boot, pid. */
void oob_me(struct rl_oob_member *m);
/** Becomes a member. @param start  wait for a killed process of our name */
int oob_join(struct rl_oob *o, bool start, char *err);
void oob_leave(struct rl_oob *o);

/* oob_view.c */
/** A key from a range or a watch; ctx is the rl_oob. */
void oob_on_kv(void *ctx, const struct oob_kv *kv);
/**
 * Around a range of all keys: keys that it does not name do not exist. It names
 * them in the order of their names, so the office is checked at the end.
 */
void oob_view_begin(struct rl_oob *o);
void oob_view_end(struct rl_oob *o);
/** We no longer have the office, whatever the keys say. */
void oob_view_depose(struct rl_oob *o);

/* oob_loop.c */
void *oob_loop(void *ctx);

#endif /* OOB_PRIV_H */
