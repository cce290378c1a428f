/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to etcd's JSON gateway, and its answers. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oob_etcd.h"

/*
 * gRPC codes in the gateway's errors when etcd refuses a token. Our requests
 * are well formed, so an invalid argument means the token, too: "revision of
 * auth store is old", "user name is empty".
 */
#define CODE_INVALID_ARGUMENT 3
#define CODE_PERMISSION 7
#define CODE_UNAUTHENTICATED 16

static json_t *
text64(const char *s)
{
	char *text = oob_base64(s, strlen(s));
	json_t *j = text == NULL ? NULL : json_string(text);

	free(text);
	return j;
}

/*
 * The end of the range of all keys that begin with @p prefix, which ends in
 * '/'.
 */
static json_t *
after64(const char *prefix)
{
	char end[256];
	const int n = snprintf(end, sizeof(end), "%s", prefix);

	if (n <= 0 || (size_t)n >= sizeof(end))
		return NULL;
	end[n - 1]++;
	return text64(end);
}

static json_t *
number(uint64_t v)
{
	char s[24];

	snprintf(s, sizeof(s), "%" PRIu64, v);
	return json_string(s);
}

static char *
dump(json_t *j)
{
	char *text = j == NULL ? NULL : json_dumps(j, JSON_COMPACT);

	json_decref(j);
	return text;
}

void
oob_txn_begin(struct oob_txn *t)
{
	*t = (struct oob_txn){ .compare = json_array(),
			       .success = json_array(),
			       .failure = json_array() };
}

void
oob_txn_if_created(struct oob_txn *t, const char *key, uint64_t revision)
{
	json_array_append_new(
		t->compare,
		json_pack("{s:s, s:s, s:o, s:o}", "target", "CREATE", "result",
			  "EQUAL", "key", text64(key), "create_revision",
			  number(revision)));
}

void
oob_txn_if_none(struct oob_txn *t, const char *prefix)
{
	json_array_append_new(
		t->compare,
		json_pack("{s:s, s:s, s:o, s:o, s:o}", "target", "CREATE",
			  "result", "EQUAL", "key", text64(prefix),
			  "range_end", after64(prefix), "create_revision",
			  number(0)));
}

void
oob_txn_put(struct oob_txn *t, const char *key, const char *value,
	    uint64_t lease)
{
	json_array_append_new(
		t->success,
		json_pack("{s:{s:o, s:o, s:o}}", "request_put", "key",
			  text64(key), "value", text64(value), "lease",
			  number(lease)));
}

/* One key, or those before @p end; takes it. */
static void
delete(struct oob_txn *t, const char *from, json_t *end)
{
	json_array_append_new(t->success,
			      json_pack("{s:{s:o, s:o*}}",
					"request_delete_range", "key",
					text64(from), "range_end", end));
}

void
oob_txn_delete_prefix(struct oob_txn *t, const char *prefix)
{
	delete(t, prefix, after64(prefix));
}

void
oob_txn_delete(struct oob_txn *t, const char *key)
{
	delete(t, key, NULL);
}

void
oob_txn_delete_range(struct oob_txn *t, const char *from, const char *to)
{
	delete(t, from, text64(to));
}

char *
oob_txn_end(struct oob_txn *t)
{
	json_t *j = json_pack("{s:o, s:o, s:o}", "compare", t->compare,
			      "success", t->success, "failure", t->failure);

	memset(t, 0, sizeof(*t));
	return dump(j);
}

char *
oob_range_body(const char *prefix)
{
	return dump(json_pack("{s:o, s:o}", "key", text64(prefix), "range_end",
			      after64(prefix)));
}

char *
oob_watch_body(const char *prefix, uint64_t from_revision)
{
	return dump(json_pack("{s:{s:o, s:o, s:o}}", "create_request", "key",
			      text64(prefix), "range_end", after64(prefix),
			      "start_revision", number(from_revision)));
}

char *
oob_grant_body(uint64_t ttl_s)
{
	return dump(json_pack("{s:o}", "TTL", number(ttl_s)));
}

char *
oob_lease_body(uint64_t id)
{
	return dump(json_pack("{s:o}", "ID", number(id)));
}

char *
oob_auth_body(const char *user, const char *password)
{
	return dump(json_pack("{s:s, s:s}", "name", user, "password",
			      password));
}

/* A 64-bit number: a string, or a plain number. 0 if it is left out. */
static int
read_number(const json_t *j, const char *key, uint64_t *v)
{
	const json_t *n = json_object_get(j, key);
	const char *s = json_string_value(n);
	char *end;

	*v = 0;
	if (n == NULL)
		return 0;
	if (json_is_integer(n) && json_integer_value(n) >= 0) {
		*v = (uint64_t)json_integer_value(n);
		return 0;
	}
	if (s == NULL || s[0] < '0' || s[0] > '9')
		return -EINVAL;
	errno = 0;
	*v = strtoull(s, &end, 10);
	return *end == '\0' && errno == 0 ? 0 : -EINVAL;
}

/* Our texts have no zero bytes within keys or values: they end there. */
static int
read_kv(const json_t *j, bool gone, oob_kv_fn fn, void *ctx)
{
	const char *key64 = json_string_value(json_object_get(j, "key"));
	const char *value64 = json_string_value(json_object_get(j, "value"));
	struct oob_kv kv = { 0 };
	char *key, *value;
	size_t len;
	int ret = -EINVAL;

	if (key64 == NULL)
		return ret;
	key = oob_unbase64(key64, &len);
	/* an empty value is left out */
	value = oob_unbase64(value64 == NULL ? "" : value64, &kv.len);
	kv.key = key;
	kv.value = gone ? NULL : value;
	if (key != NULL && value != NULL &&
	    read_number(j, "create_revision", &kv.created) == 0 &&
	    read_number(j, "lease", &kv.lease) == 0) {
		ret = 0;
		if (fn != NULL)
			fn(ctx, &kv);
	}
	free(key);
	free(value);
	return ret;
}

static int
read_keys(const json_t *r, oob_kv_fn fn, void *ctx)
{
	const json_t *kvs = json_object_get(r, "kvs");
	const json_t *events = json_object_get(r, "events");
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < json_array_size(kvs); i++)
		ret = read_kv(json_array_get(kvs, i), false, fn, ctx);
	for (size_t i = 0; ret == 0 && i < json_array_size(events); i++) {
		const json_t *e = json_array_get(events, i);
		const char *type =
			json_string_value(json_object_get(e, "type"));

		ret = read_kv(json_object_get(e, "kv"),
			      type != NULL && strcmp(type, "DELETE") == 0, fn,
			      ctx);
	}
	return ret;
}

/*
 * {"error": ...}: a string, or an object with a message. Newer gateways omit
 * it: {"code": ..., "message": ...}.
 */
static int
read_error(const json_t *j, struct oob_answer *a)
{
	const json_t *e = json_object_get(j, "error");
	const char *s = json_string_value(e);
	json_int_t code = json_integer_value(json_object_get(j, "code"));

	if (e == NULL && code == 0 && json_object_get(j, "message") == NULL)
		return 0;
	if (s == NULL)
		s = json_string_value(json_object_get(j, "message"));
	if (json_is_object(e)) {
		s = json_string_value(json_object_get(e, "message"));
		code = json_integer_value(json_object_get(e, "grpc_code"));
	}
	snprintf(a->error, sizeof(a->error), "%s",
		 s == NULL || s[0] == '\0' ? "an error without a message" : s);
	for (char *p = a->error; *p != '\0'; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	a->denied = code == CODE_UNAUTHENTICATED || code == CODE_PERMISSION ||
		    code == CODE_INVALID_ARGUMENT;
	return -EREMOTEIO;
}

static int
read_fields(const json_t *r, struct oob_answer *a)
{
	const char *token = json_string_value(json_object_get(r, "token"));

	/* every answer of etcd has one, except that with a token */
	if (token == NULL && !json_is_object(json_object_get(r, "header")))
		return -EINVAL;
	if (read_number(json_object_get(r, "header"), "revision",
			&a->revision) != 0 ||
	    read_number(r, "ID", &a->id) != 0 ||
	    read_number(r, "TTL", &a->ttl_s) != 0)
		return -EINVAL;
	a->succeeded = json_is_true(json_object_get(r, "succeeded"));
	a->canceled = json_is_true(json_object_get(r, "canceled"));
	if (token != NULL && strlen(token) < sizeof(a->token) &&
	    token[strcspn(token, "\r\n")] == '\0')
		snprintf(a->token, sizeof(a->token), "%s", token);
	return 0;
}

int
oob_answer_read(const char *text, size_t len, struct oob_answer *a,
		oob_kv_fn fn, void *ctx)
{
	json_error_t err;
	json_t *j = json_loadb(text, len, 0, &err);
	const json_t *r = json_object_get(j, "result");
	int ret = -EINVAL;

	memset(a, 0, sizeof(*a));
	if (json_is_object(j)) {
		ret = read_error(j, a);
		r = r == NULL ? j : r;
		if (ret == 0)
			ret = read_fields(r, a);
		if (ret == 0)
			ret = read_keys(r, fn, ctx);
	}
	json_decref(j);
	return ret;
}
