/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OOB_ETCD_H
#define OOB_ETCD_H

/**
 * @file Requests to etcd's JSON gateway and its answers, as text: no network
 * here. Keys and values travel in base64, 64-bit numbers as strings. Allocates;
 * any thread. A peer's data is not trusted: an answer with an error in any
 * field that we read is refused.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The caller's, to free(); ended by a zero. NULL: no memory */
char *oob_base64(const char *data, size_t len);
/** The inverse. @return NULL: no memory, or not base64 */
char *oob_unbase64(const char *text, size_t *len);

/** A transaction under construction. */
struct oob_txn {
	json_t *compare;
	json_t *success;
	json_t *failure;
};

void oob_txn_begin(struct oob_txn *t);
/** If @p key was created by that revision; 0: if it does not exist. */
void oob_txn_if_created(struct oob_txn *t, const char *key, uint64_t revision);
/** If no key has that prefix. */
void oob_txn_if_none(struct oob_txn *t, const char *prefix);
/** @param lease  0: the key outlives us */
void oob_txn_put(struct oob_txn *t, const char *key, const char *value,
		 uint64_t lease);
void oob_txn_delete_prefix(struct oob_txn *t, const char *prefix);
void oob_txn_delete(struct oob_txn *t, const char *key);
/** Keys from @p from on, before @p to. */
void oob_txn_delete_range(struct oob_txn *t, const char *from, const char *to);
/** Ends it. @return the request's body, the caller's; NULL: no memory */
char *oob_txn_end(struct oob_txn *t);

/** Bodies of the other requests; the caller's. NULL: no memory */
char *oob_range_body(const char *prefix);
char *oob_watch_body(const char *prefix, uint64_t from_revision);
char *oob_grant_body(uint64_t ttl_s);
/** For keepalive and revoke. */
char *oob_lease_body(uint64_t id);
char *oob_auth_body(const char *user, const char *password);

/** A key in an answer or a watch. */
struct oob_kv {
	const char *key;
	const char *value; /**< NULL: it is gone */
	size_t len;
	uint64_t created;  /**< revision */
	uint64_t lease;
};

typedef void (*oob_kv_fn)(void *ctx, const struct oob_kv *kv);

/** The fields of an answer besides keys; 0 and "" if absent. */
struct oob_answer {
	uint64_t revision;
	uint64_t id;	   /**< of a lease */
	uint64_t ttl_s;
	bool succeeded;	   /**< of a transaction */
	bool canceled;	   /**< a watch ends: start again with a range */
	bool denied;	   /**< the token may not be valid (any more) */
	char token[512];
	char error[160];   /**< the server's message; "": none */
};

/**
 * Reads one answer, or one line of a watch.
 * @param fn  called for each key in it, in order; NULL: ignore keys
 * @return 0; -EINVAL: no JSON, or not etcd's format; -EREMOTEIO: `error`
 */
int oob_answer_read(const char *text, size_t len, struct oob_answer *a,
		    oob_kv_fn fn, void *ctx);

#endif /* OOB_ETCD_H */
