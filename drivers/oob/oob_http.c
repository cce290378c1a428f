/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oob_http.h"
#include "rl_refuse.h"

#define CONNECT_MS 800L
#define TCP_KEEPALIVE_S 2L

static bool
append(struct oob_text *t, const char *data, size_t n)
{
	if (t->len + n > OOB_ANSWER_MAX)
		return false;
	if (t->len + n + 1 > t->cap) {
		const size_t cap = 2 * (t->len + n) + 4096;
		char *more = realloc(t->at, cap);

		if (more == NULL)
			return false;
		t->at = more;
		t->cap = cap;
	}
	memcpy(t->at + t->len, data, n);
	t->len += n;
	t->at[t->len] = '\0';
	return true;
}

static size_t
on_answer(char *data, size_t one, size_t n, void *ctx)
{
	struct oob_http *h = ctx;

	return append(&h->answer, data, one * n) ? one * n : 0;
}

/* Passes on whole lines; the rest waits for more. */
static size_t
on_watch(char *data, size_t one, size_t n, void *ctx)
{
	struct oob_http *h = ctx;
	size_t from = 0;
	const char *end;

	h->heard = true;
	if (!append(&h->lines, data, one * n))
		return 0;
	while ((end = memchr(h->lines.at + from, '\n',
			     h->lines.len - from)) != NULL) {
		const size_t len = (size_t)(end - h->lines.at) - from;

		if (len != 0)
			h->line(h->ctx, h->lines.at + from, len);
		from += len + 1;
	}
	memmove(h->lines.at, h->lines.at + from, h->lines.len - from);
	h->lines.len -= from;
	return one * n;
}

static void
set_tls(CURL *c, const struct rl_channel *ch)
{
	if (ch->ca_file[0] != '\0')
		curl_easy_setopt(c, CURLOPT_CAINFO, ch->ca_file);
	if (ch->cert_file[0] != '\0') {
		curl_easy_setopt(c, CURLOPT_SSLCERT, ch->cert_file);
		curl_easy_setopt(c, CURLOPT_SSLKEY, ch->key_file);
	}
}

static CURL *
make(const struct oob_http *h)
{
	CURL *c = curl_easy_init();

	if (c == NULL)
		return NULL;
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_PROXY, "");
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(c, CURLOPT_TCP_KEEPIDLE, TCP_KEEPALIVE_S);
	curl_easy_setopt(c, CURLOPT_TCP_KEEPINTVL, TCP_KEEPALIVE_S);
	set_tls(c, h->channel);
	return c;
}

int
oob_http_token(struct oob_http *h, const char *token)
{
	char line[600];
	struct curl_slist *l =
		curl_slist_append(NULL, "Content-Type: application/json");
	struct curl_slist *more = l;

	if (l != NULL && token[0] != '\0') {
		snprintf(line, sizeof(line), "Authorization: %s", token);
		more = curl_slist_append(l, line);
	}
	if (more == NULL) {
		curl_slist_free_all(l);
		return -ENOMEM;
	}
	curl_slist_free_all(h->headers);
	h->headers = more;
	return 0;
}

int
oob_http_open(struct oob_http *h, const struct rl_channel *channel,
	      oob_line_fn line, void *ctx)
{
	memset(h, 0, sizeof(*h));
	h->channel = channel;
	h->line = line;
	h->ctx = ctx;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
		return -ENOMEM;
	h->rest = make(h);
	h->multi = curl_multi_init();
	if (h->rest == NULL || h->multi == NULL)
		return -ENOMEM;
	return oob_http_token(h, "");
}

void
oob_http_close(struct oob_http *h)
{
	oob_http_watch_end(h);
	curl_easy_cleanup(h->rest);
	curl_multi_cleanup(h->multi);
	curl_slist_free_all(h->headers);
	free(h->answer.at);
	free(h->lines.at);
	memset(h, 0, sizeof(*h));
	curl_global_cleanup();
}

static void
set_request(struct oob_http *h, CURL *c, const char *path, const char *body)
{
	char url[256];

	snprintf(url, sizeof(url), "%s%s", h->channel->url[h->server], path);
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, h->headers);
}

/* A peer that has closed is an error, and must not end the program. */
static CURLcode
perform(CURL *c)
{
	const struct timespec at_once = { 0 };
	sigset_t pipe, before, pending;
	CURLcode code;
	bool was;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	was = sigismember(&pending, SIGPIPE) == 1;
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	code = curl_easy_perform(c);
	sigpending(&pending);
	if (!was && sigismember(&pending, SIGPIPE) == 1)
		sigtimedwait(&pipe, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

int
oob_http_post(struct oob_http *h, const char *path, const char *body,
	      uint64_t limit_ns)
{
	char why[CURL_ERROR_SIZE] = "";
	CURLcode code;

	h->answer.len = 0;
	set_request(h, h->rest, path, body);
	curl_easy_setopt(h->rest, CURLOPT_WRITEFUNCTION, on_answer);
	curl_easy_setopt(h->rest, CURLOPT_WRITEDATA, h);
	curl_easy_setopt(h->rest, CURLOPT_ERRORBUFFER, why);
	curl_easy_setopt(h->rest, CURLOPT_TIMEOUT_MS,
			 (long)(limit_ns / RL_NS_PER_MS + 1));
	code = perform(h->rest);
	h->late = code == CURLE_OPERATION_TIMEDOUT;
	curl_easy_setopt(h->rest, CURLOPT_ERRORBUFFER, NULL);
	h->status = 0;
	curl_easy_getinfo(h->rest, CURLINFO_RESPONSE_CODE, &h->status);
	if (code == CURLE_OK && h->answer.len != 0)
		return 0;
	return rl_refuse(h->why, sizeof(h->why), -EHOSTUNREACH, "%s: %s",
			 h->channel->url[h->server],
			 code == CURLE_OK ? "an empty answer"
			 : why[0] != '\0' ? why
					  : curl_easy_strerror(code));
}

void
oob_http_next(struct oob_http *h)
{
	h->server = (h->server + 1) % h->channel->nurl;
}

int
oob_http_watch(struct oob_http *h, char *body)
{
	oob_http_watch_end(h);
	h->watch = make(h);
	h->watch_body = body;
	h->heard = false;
	if (h->watch == NULL || body == NULL)
		return -ENOMEM;
	set_request(h, h->watch, "/v3/watch", body);
	curl_easy_setopt(h->watch, CURLOPT_WRITEFUNCTION, on_watch);
	curl_easy_setopt(h->watch, CURLOPT_WRITEDATA, h);
	curl_multi_add_handle(h->multi, h->watch);
	return 0;
}

void
oob_http_watch_end(struct oob_http *h)
{
	if (h->watch != NULL) {
		curl_multi_remove_handle(h->multi, h->watch);
		curl_easy_cleanup(h->watch);
	}
	free(h->watch_body);
	h->watch = NULL;
	h->watch_body = NULL;
	h->lines.len = 0;
}

bool
oob_http_wait(struct oob_http *h, int timeout_ms)
{
	int running = 0;

	curl_multi_perform(h->multi, &running);
	curl_multi_poll(h->multi, NULL, 0, timeout_ms, NULL);
	curl_multi_perform(h->multi, &running);
	return h->watch != NULL && running != 0;
}

void
oob_http_wake(struct oob_http *h)
{
	curl_multi_wakeup(h->multi);
}
