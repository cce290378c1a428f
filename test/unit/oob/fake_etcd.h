/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_ETCD_H
#define FAKE_ETCD_H

/**
 * @file
 * A small etcd for tests: the subset that drivers/oob uses, in memory, on a
 * loopback port. A test controls it: ends leases, cuts or mutes watches, makes
 * requests fail.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How requests are treated. */
enum fake_mood {
	FAKE_WELL,
	FAKE_CLOSES,  /**< connections are closed without an answer */
	FAKE_ERRS,    /**< "no leader" */
	FAKE_RAVES,   /**< an answer that is not JSON */
	FAKE_ERRS_NEW, /**< "no leader" in the form of newer gateways, HTTP
			    503 */
	FAKE_EMPTY,   /**< HTTP 200 and an empty object */
	FAKE_GATEWAY, /**< HTTP 502 with an answer that looks valid */
	FAKE_ECHO,    /**< the request comes back */
	FAKE_SILENT,  /**< connections stay, and nothing is answered */
};

/** How a request with an expired token is refused. */
enum fake_refusal {
	FAKE_NO_AUTH, /**< no token is needed */
	FAKE_OLD,     /**< code 3, "revision of auth store is old" */
	FAKE_DENIED,  /**< code 7 */
	FAKE_INVALID, /**< code 16 */
	FAKE_401,     /**< HTTP 401 without JSON, as from a proxy */
};

struct fake_etcd;

struct fake_etcd *fake_start(void);
void fake_stop(struct fake_etcd *f);

/** http://127.0.0.1:PORT */
const char *fake_url(const struct fake_etcd *f);

void fake_mood(struct fake_etcd *f, enum fake_mood mood);

/** Requests of @p path fail as with FAKE_ERRS, until it is NULL. */
void fake_refuse(struct fake_etcd *f, const char *path);

/** Requests of @p path are taken and never answered, until it is NULL. */
void fake_lose(struct fake_etcd *f, const char *path);

/** @return number of leases that have not ended */
unsigned int fake_leases(struct fake_etcd *f);

/** Forgets what it did: a watch begins no earlier than now. */
void fake_forget(struct fake_etcd *f);

/**
 * Ends the lease of a key, and deletes all keys of that lease. @return whether
 * there was one
 */
bool fake_expire(struct fake_etcd *f, const char *key);

/** Present watches get no more events; new ones do. */
void fake_mute_watches(struct fake_etcd *f);

/** Ends watches; they may restart. */
void fake_cut_watches(struct fake_etcd *f);

/** Deletes all data, and restarts revisions. */
void fake_wipe(struct fake_etcd *f);

/**
 * From now on requests need a token; earlier tokens are refused as @p how says.
 */
void fake_new_tokens(struct fake_etcd *f, enum fake_refusal how);

/** Stores a key as a foreign client. @param lease  0: no lease */
void fake_put(struct fake_etcd *f, const char *key, const char *value,
	      uint64_t lease);

/** Deletes a key as a foreign client. */
void fake_delete(struct fake_etcd *f, const char *key);

/** @return a copy of a value, for free(); NULL: no such key */
char *fake_get(struct fake_etcd *f, const char *key);

/** @return number of keys with that prefix */
unsigned int fake_count(struct fake_etcd *f, const char *prefix);

/** @return number of watches that go on */
unsigned int fake_watches(struct fake_etcd *f);

/** @return number of requests answered so far */
unsigned int fake_requests(struct fake_etcd *f);

#endif /* FAKE_ETCD_H */
