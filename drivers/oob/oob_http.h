/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OOB_HTTP_H
#define OOB_HTTP_H

/**
 * @file HTTP to one of several servers: blocking requests, and one endless
 * answer, line by line (a watch). Belongs to one thread, except
 * oob_http_wake().
 */

#include <curl/curl.h>
#include <stdbool.h>

#include "rl_channel.h"

/** Longest answer, and longest line of a watch, accepted. */
#define OOB_ANSWER_MAX (16u << 20)

struct oob_text {
	char *at;
	size_t len;
	size_t cap;
};

/** A line of the watch. */
typedef void (*oob_line_fn)(void *ctx, const char *line, size_t len);

struct oob_http {
	const struct rl_channel *channel;
	uint32_t server; /**< of channel->url, in use */
	CURL *rest;
	CURLM *multi;
	CURL *watch;	 /**< NULL: none active */
	char *watch_body;
	struct curl_slist *headers;
	struct oob_text answer;
	long status; /**< of HTTP, of the answer */
	bool heard;  /**< something on the active watch */
	struct oob_text lines; /**< of the watch, not yet a whole line */
	oob_line_fn line;
	void *ctx;
	char why[CURL_ERROR_SIZE + 192]; /**< the last error */
	bool late; /**< the last request had no answer in time */
};

/** @return 0 or -ENOMEM; oob_http_close() is due in either case */
int oob_http_open(struct oob_http *h, const struct rl_channel *channel,
		  oob_line_fn line, void *ctx);
void oob_http_close(struct oob_http *h);

/** The token of requests from now on; "": none. @return 0 or -ENOMEM */
int oob_http_token(struct oob_http *h, const char *token);

/**
 * Sends a request and waits for its answer, which is h->answer and h->status
 * then.
 * @return 0: it answered, perhaps with an error; -EHOSTUNREACH: h->why
 */
int oob_http_post(struct oob_http *h, const char *path, const char *body,
		  uint64_t limit_ns);

/** Uses the next server from now on. */
void oob_http_next(struct oob_http *h);

/** Begins a watch; takes @p body over. @return 0 or -ENOMEM */
int oob_http_watch(struct oob_http *h, char *body);
void oob_http_watch_end(struct oob_http *h);

/**
 * Waits for lines of the watch, or a wake-up, for at most @p timeout_ms.
 * @return whether the watch goes on
 */
bool oob_http_wait(struct oob_http *h, int timeout_ms);

/** Any thread. */
void oob_http_wake(struct oob_http *h);

#endif /* OOB_HTTP_H */
