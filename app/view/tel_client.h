/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEL_CLIENT_H
#define TEL_CLIENT_H

/**
 * @file
 * A client of DPDK telemetry sockets. A source is one socket, that is, one
 * process; it is connected when it is first asked, and again after it failed.
 * One thread at a time.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define TEL_SOURCES_MAX 32
#define TEL_PATH_MAX 108 /* of a Unix socket's address */

struct tel_source {
	char path[TEL_PATH_MAX];
	int fd; /**< -1: not connected */
	size_t max_bytes; /**< of an answer, as the socket says */
};

struct tel {
	struct tel_source source[TEL_SOURCES_MAX];
	unsigned int nsources;
	bool search; /**< tel_find() looks for sockets */
};

/** Adds a socket. @return 0; -ENAMETOOLONG, -E2BIG */
int tel_add(struct tel *t, const char *path);

/**
 * Where `search` is set: looks for sockets where DPDK puts them for this user,
 * adds new ones and forgets those that are gone.
 */
void tel_find(struct tel *t);

/**
 * Asks one source. @p cmd: "/reflit/links,0".
 * @return the answer's value, the caller's (json null included); NULL: no
 *   answer, or none that is JSON
 */
json_t *tel_ask(struct tel_source *s, const char *cmd);

/** Closes all connections. */
void tel_close(struct tel *t);

#endif /* TEL_CLIENT_H */
