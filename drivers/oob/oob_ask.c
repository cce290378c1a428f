/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oob_priv.h"

/* One request to the server of the moment, or to the others. */
static int
post(struct rl_oob *o, const char *path, const char *body)
{
	const uint32_t n = o->p.channel->nurl;
	int ret = -EHOSTUNREACH;

	for (uint32_t i = 0; i < n && ret != 0; i++) {
		ret = oob_http_post(&o->http, path, body, OOB_ASK_NS);
		if (ret != 0)
			oob_http_next(&o->http);
	}
	if (ret != 0)
		oob_why(o, o->http.why);
	return ret;
}

/* What came instead, for the eye. */
static void
say_strange(struct rl_oob *o, char *why, size_t len)
{
	char start[48];
	size_t n = 0;

	for (; n < sizeof(start) - 1 && n < o->http.answer.len; n++) {
		const char c = o->http.answer.at[n];

		start[n] = c < ' ' || c > '~' ? ' ' : c;
	}
	start[n] = '\0';
	snprintf(why, len, "%s: its answer is not one of an etcd: %s",
		 o->p.channel->url[o->http.server], start);
}

static int
read_answer(struct rl_oob *o, struct oob_answer *a, oob_kv_fn fn, void *ctx)
{
	char why[256];
	const int ret = oob_answer_read(o->http.answer.at, o->http.answer.len,
					a, fn, ctx);

	if (ret == 0)
		return 0;
	if (ret == -EREMOTEIO)
		snprintf(why, sizeof(why), "%s: %s",
			 o->p.channel->url[o->http.server], a->error);
	else
		say_strange(o, why, sizeof(why));
	oob_why(o, why);
	return ret;
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
		ret = read_answer(o, &a, NULL, NULL);
	if (ret == 0)
		ret = oob_http_token(&o->http, a.token);
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
		ret = read_answer(o, a, fn, ctx);
	/* a token lives for some minutes; "user name is empty": it had none */
	if (ret == -EREMOTEIO && user &&
	    (a->denied || strstr(a->error, "user name is empty") != NULL)) {
		ret = authenticate(o);
		if (ret == 0)
			ret = post(o, path, body);
		if (ret == 0)
			ret = read_answer(o, a, fn, ctx);
	}
	free(body);
	if (ret == 0 || ret == -EHOSTUNREACH)
		oob_away(o, ret != 0);
	return ret;
}

int
oob_ask_txn(struct rl_oob *o, struct oob_txn *t, struct oob_answer *a)
{
	return oob_ask(o, "/v3/kv/txn", oob_txn_end(t), a, NULL, NULL);
}
