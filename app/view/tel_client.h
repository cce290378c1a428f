/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEL_CLIENT_H
#define TEL_CLIENT_H

/**
 * @file
 * A client of DPDK telemetry sockets. A source is one socket, that is, one
 * process; it is connected at the first request, and again after a failure.
 * Any thread may ask. Each source has a lock of its own, so a stopped source
 * does not block requests to others.
 */

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEL_SOURCES_MAX 32
#define TEL_CMD_MAX 200
#define TEL_PATH_MAX 108 /* of a Unix socket's address */

/** Longest wait for an answer: to a question, to an order. */
#define TEL_ASK_S 2u
#define TEL_ORDER_S 6u

struct tel_source {
	char path[TEL_PATH_MAX]; /**< "": a free place; the list's lock */
	pthread_mutex_t lock;	 /**< of all below */
	int fd;			 /**< -1: not connected */
	size_t max_bytes;	 /**< of an answer, as the socket says */
	uint64_t silent_ns;	 /**< not asked again until then */
};

struct tel {
	pthread_mutex_t lock; /**< of the list */
	struct tel_source source[TEL_SOURCES_MAX];
	bool search; /**< tel_find() looks for sockets */
};

/** Main thread, before any other call. */
void tel_open(struct tel *t);

/** Adds a socket. @return 0; -ENAMETOOLONG, -E2BIG */
int tel_add(struct tel *t, const char *path);

/**
 * If `search` is set: looks for sockets where DPDK puts them for this user,
 * adds new ones at which a process listens, and forgets those where none does.
 * Takes only sockets of processes of this user or root, in folders that no
 * other user can write to.
 */
void tel_find(struct tel *t);

/** Copies the path of source @p i; "": there is none. @return whether it is */
bool tel_path(struct tel *t, unsigned int i, char path[TEL_PATH_MAX]);

/**
 * Asks source @p i. @p cmd: "/reflit/links,0". A source that was silent for
 * @p limit_s is not asked again for some seconds, but with TEL_ORDER_S.
 *
 * @param bytes  added to: the length of the answer; NULL: not wanted
 * @return the answer's value, the caller's (json null included); NULL: no
 *   source, no answer, or none that is JSON
 */
json_t *tel_ask(struct tel *t, unsigned int i, const char *cmd,
		unsigned int limit_s, size_t *bytes);

/**
 * Asks source @p i for all pages of a list, as one. @p cmd: "/reflit/links".
 * @return an object of columns, the caller's; without columns if none came
 */
json_t *tel_list(struct tel *t, unsigned int i, const char *cmd);

/**
 * Main thread, after all others have stopped asking. Closes all connections.
 */
void tel_close(struct tel *t);

#endif /* TEL_CLIENT_H */
