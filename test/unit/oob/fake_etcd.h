/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_ETCD_H
#define FAKE_ETCD_H

/**
 * @file
 * A small etcd for tests: what drivers/oob asks of one, kept in memory, on a
 * port of the loopback. It does what it is told: leases end when a test says
 * so, watches are cut or go mute, requests fail.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How requests are treated. */
enum fake_mood {
	FAKE_WELL,
	FAKE_CLOSES,  /**< connections are closed without an answer */
	FAKE_ERRS,    /**< "no leader" */
	FAKE_RAVES,   /**< an answer that is no JSON */
	FAKE_ERRS_NEW, /**< "no leader" as newer gateways say it, HTTP 503 */
	FAKE_EMPTY,   /**< HTTP 200 and an object with nothing in it */
	FAKE_GATEWAY, /**< HTTP 502 around an answer that looks well */
	FAKE_ECHO,    /**< what was asked comes back */
};

/** How a request with a token that is not valid any more is refused. */
enum fake_refusal {
	FAKE_NO_AUTH, /**< tokens are not asked for */
	FAKE_OLD,     /**< code 3, "revision of auth store is old" */
	FAKE_DENIED,  /**< code 7 */
	FAKE_INVALID, /**< code 16 */
	FAKE_401,     /**< HTTP 401 and no JSON, as a proxy does */
};

struct fake_etcd;

struct fake_etcd *fake_start(void);
void fake_stop(struct fake_etcd *f);

/** http://127.0.0.1:PORT */
const char *fake_url(const struct fake_etcd *f);

void fake_mood(struct fake_etcd *f, enum fake_mood mood);

/** The lease of a key ends, with all keys that it has. @return whether one did */
bool fake_expire(struct fake_etcd *f, const char *key);

/** Watches that are there hear nothing more; new ones do. */
void fake_mute_watches(struct fake_etcd *f);

/** Watches end; they may restart. */
void fake_cut_watches(struct fake_etcd *f);

/** All data are gone, and revisions start again. */
void fake_wipe(struct fake_etcd *f);

/** From now on requests need a token; those given out before are refused so. */
void fake_new_tokens(struct fake_etcd *f, enum fake_refusal how);

/** By a foreign client. @param lease  0: the key stays for ever */
void fake_put(struct fake_etcd *f, const char *key, const char *value,
	      uint64_t lease);

/** The key is deleted, by a foreign client. */
void fake_delete(struct fake_etcd *f, const char *key);

/** A copy of a value, for free(); NULL: no such key. */
char *fake_get(struct fake_etcd *f, const char *key);

/** Keys that begin with that. */
unsigned int fake_count(struct fake_etcd *f, const char *prefix);

/** Requests that were answered so far. */
unsigned int fake_requests(struct fake_etcd *f);

#endif /* FAKE_ETCD_H */
