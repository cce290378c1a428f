/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oob_priv.h"

/*
 * One request to the current server, or to the others. If none answers, the
 * reason is that of each.
 */
static int
post(struct rl_oob *o, const char *path, const char *body)
{
	const uint32_t n = o->p.channel->nurl;
	char why[sizeof(o->info.why)];
	int ret = -EHOSTUNREACH;
	size_t len = 0;

	o->late = false;
	for (uint32_t i = 0; i < n && ret != 0; i++) {
		ret = oob_http_post(&o->http, path, body, OOB_ASK_NS);
		if (ret == 0)
			break;
		o->late = o->late || o->http.late;
		if (len < sizeof(why))
			len += (size_t)snprintf(why + len, sizeof(why) - len,
						"%s%s", i == 0 ? "" : "; ",
						o->http.why);
		oob_http_next(&o->http);
	}
	if (ret != 0)
		oob_why(o, why);
	return ret;
}

/*
 * The beginning of an unexpected answer, for a person to read, unless the
 * request had a password, which some servers send back.
 */
static void
say_strange(struct rl_oob *o, bool secret, char *why, size_t len)
{
	char start[48];
	size_t n = 0;

	for (; !secret && n < sizeof(start) - 1 && n < o->http.answer.len;
	     n++) {
		const char c = o->http.answer.at[n];

		start[n] = c < ' ' || c > '~' ? ' ' : c;
	}
	start[n] = '\0';
	snprintf(why, len, "%s: its answer (HTTP %ld) is not one of an etcd%s%s",
		 o->p.channel->url[o->http.server], o->http.status,
		 n == 0 ? "" : ": ", start);
}

/* Anything but the expected answer is an error. */
static int
read_answer(struct rl_oob *o, bool secret, struct oob_answer *a, oob_kv_fn fn,
	    void *ctx)
{
	const bool good = o->http.status == 200;
	char why[256];
	int ret = oob_answer_read(o->http.answer.at, o->http.answer.len, a,
				  good ? fn : NULL, ctx);

	if (ret == 0 && good)
		return 0;
	if (ret == -EREMOTEIO && !secret)
		snprintf(why, sizeof(why), "%s: %s",
			 o->p.channel->url[o->http.server], a->error);
	else if (ret == -EREMOTEIO)
		snprintf(why, sizeof(why), "%s: etcd_user and its password: %s",
			 o->p.channel->url[o->http.server],
			 strstr(a->error, o->password) != NULL ? "refused" :
								 a->error);
	else
		say_strange(o, secret, why, sizeof(why));
	a->denied = a->denied || o->http.status == 401 ||
		    o->http.status == 403;
	oob_why(o, why);
	return ret == 0 ? -EINVAL : ret;
}

static int
authenticate(struct rl_oob *o)
{
	char *body = oob_auth_body(o->p.channel->user, o->password);
	struct oob_answer a;
	int ret;

	if (body == NULL)
		return -ENOMEM;
	ret = oob_http_token(&o->http, "");
	if (ret == 0)
		ret = post(o, "/v3/auth/authenticate", body);
	if (ret == 0)
		ret = read_answer(o, true, &a, NULL, NULL);
	if (ret == 0 && a.token[0] == '\0') {
		oob_why(o, "a token was asked for, and the answer has none");
		ret = -EINVAL;
	}
	if (ret == 0)
		ret = oob_http_token(&o->http, a.token);
	memset(body, 0, strlen(body));
	free(body);
	return ret;
}

int
oob_ask(struct rl_oob *o, const char *path, char *body, struct oob_answer *a,
	oob_kv_fn fn, void *ctx)
{
	const bool user = o->p.channel->user[0] != '\0';
	int ret;

	memset(a, 0, sizeof(*a));
	if (body == NULL)
		return -ENOMEM;
	ret = post(o, path, body);
	if (ret == 0)
		ret = read_answer(o, false, a, fn, ctx);
	/* a token lives for some minutes, or until a user is added */
	if ((ret == -EREMOTEIO || ret == -EINVAL) && user && a->denied) {
		ret = authenticate(o);
		if (ret == 0)
			ret = post(o, path, body);
		if (ret == 0)
			ret = read_answer(o, false, a, fn, ctx);
	}
	free(body);
	oob_away(o, ret != 0, ret != -EHOSTUNREACH);
	return ret;
}

int
oob_ask_txn(struct rl_oob *o, struct oob_txn *t, struct oob_answer *a)
{
	return oob_ask(o, "/v3/kv/txn", oob_txn_end(t), a, NULL, NULL);
}

int
oob_evict(struct rl_oob *o, const char *key, uint64_t rev)
{
	struct oob_answer a;
	struct oob_txn t;
	char why[OOB_KEY_MAX + 80];

	snprintf(why, sizeof(why), "%s in etcd is not from a process; it is "
		 "deleted", key);
	oob_why(o, why);
	oob_txn_begin(&t);
	oob_txn_if_created(&t, key, rev);
	oob_txn_delete(&t, key);
	return oob_ask_txn(o, &t, &a);
}
