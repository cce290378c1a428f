/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_priv.h"
#include "oob_etcd.h"

static uint64_t
num(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_string(v) ? strtoull(json_string_value(v), NULL, 10)
				 : (uint64_t)json_integer_value(v);
}

/* A text decoded from base64, or "". */
static char *
text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	size_t len;

	return oob_unbase64(s == NULL ? "" : s, &len);
}

static json_t *
header(const struct fake_etcd *f)
{
	return json_pack("{s:I}", "revision", (json_int_t)f->revision);
}

static json_t *
kv_json(const struct fake_kv *kv, bool gone)
{
	char *k = oob_base64(kv->key, strlen(kv->key));
	char *v = oob_base64(kv->value, strlen(kv->value));
	json_t *j = gone ? json_pack("{s:s}", "key", k)
			 : json_pack("{s:s, s:s, s:I, s:I}", "key", k, "value",
				     v, "create_revision",
				     (json_int_t)kv->created, "lease",
				     (json_int_t)kv->lease);

	free(k);
	free(v);
	return j;
}

/* Sends one line to all watches. Under the lock. */
void
fake_tell(struct fake_etcd *f, json_t *events)
{
	json_t *line = json_pack("{s:{s:o, s:o}}", "result", "header",
				 header(f), "events", events);
	char *s = json_dumps(line, JSON_COMPACT);

	for (int i = 0; i < CONNS_MAX; i++) {
		const struct fake_conn *c = &f->conn[i];

		if (c->on && c->watches && !c->mute)
			dprintf(c->fd, "%zx\r\n%s\n\r\n", strlen(s) + 1, s);
	}
	if (f->npast == PAST_MAX)
		abort();
	f->past[f->npast++] = (struct fake_past){ f->revision, s };
	json_decref(line);
}

bool
fake_within(const char *key, const char *from, const char *to)
{
	return to[0] == '\0' ? strcmp(key, from) == 0
			     : strcmp(key, from) >= 0 && strcmp(key, to) < 0;
}

void
fake_set(struct fake_etcd *f, const char *key, const char *value, uint64_t lease,
    json_t *events)
{
	struct fake_kv *kv = NULL;

	for (int i = 0; i < KEYS_MAX && kv == NULL; i++)
		if (f->kv[i].key != NULL && strcmp(f->kv[i].key, key) == 0)
			kv = &f->kv[i];
	for (int i = 0; i < KEYS_MAX && kv == NULL; i++)
		if (f->kv[i].key == NULL)
			kv = &f->kv[i];
	if (kv->key == NULL) {
		kv->key = strdup(key);
		kv->created = f->revision;
	}
	free(kv->value);
	kv->value = strdup(value);
	kv->lease = lease;
	json_array_append_new(events, json_pack("{s:o}", "kv",
						kv_json(kv, false)));
}

void
fake_drop(struct fake_etcd *f, int i, json_t *events)
{
	json_array_append_new(events,
			      json_pack("{s:s, s:o}", "type", "DELETE", "kv",
					kv_json(&f->kv[i], true)));
	free(f->kv[i].key);
	free(f->kv[i].value);
	f->kv[i] = (struct fake_kv){ 0 };
}

void
fake_end_lease(struct fake_etcd *f, uint64_t lease)
{
	json_t *events = json_array();

	f->dead[lease % LEASES_MAX] = true;
	f->revision++;
	for (int i = 0; i < KEYS_MAX; i++)
		if (f->kv[i].key != NULL && f->kv[i].lease == lease)
			fake_drop(f, i, events);
	fake_tell(f, events);
}

/*
 * Whether all keys of a comparison have that creation revision; 0: no key
 * exists.
 */
static bool
holds(const struct fake_etcd *f, const json_t *cmp)
{
	char *from = text(cmp, "key"), *to = text(cmp, "range_end");
	const uint64_t want = num(cmp, "create_revision");
	bool any = false, good = true;

	for (int i = 0; i < KEYS_MAX; i++)
		if (f->kv[i].key != NULL && fake_within(f->kv[i].key, from, to)) {
			any = true;
			good = good && f->kv[i].created == want;
		}
	free(from);
	free(to);
	return any ? good : want == 0;
}

static void
carry_out(struct fake_etcd *f, const json_t *op, json_t *events)
{
	const json_t *p = json_object_get(op, "request_put");
	const json_t *d = json_object_get(op, "request_delete_range");
	char *from = text(p == NULL ? d : p, "key");
	char *to = text(d, "range_end"), *value = text(p, "value");

	if (p != NULL)
		fake_set(f, from, value, num(p, "lease"), events);
	for (int i = 0; d != NULL && i < KEYS_MAX; i++)
		if (f->kv[i].key != NULL && fake_within(f->kv[i].key, from, to))
			fake_drop(f, i, events);
	free(from);
	free(to);
	free(value);
}

static json_t *
do_txn(struct fake_etcd *f, const json_t *in)
{
	json_t *events = json_array();
	bool good = true;
	json_t *e;
	size_t i;

	json_array_foreach(json_object_get(in, "compare"), i, e)
		good = good && holds(f, e);
	f->revision += good;
	json_array_foreach(json_object_get(in, "success"), i, e)
		if (good)
			carry_out(f, e, events);
	fake_tell(f, events);
	return json_pack("{s:o, s:b}", "header", header(f), "succeeded", good);
}

static int
by_key(const void *a, const void *b)
{
	const struct fake_kv *const *x = a, *const *y = b;

	return strcmp((*x)->key, (*y)->key);
}

static json_t *
do_range(struct fake_etcd *f, const json_t *in)
{
	char *from = text(in, "key"), *to = text(in, "range_end");
	const struct fake_kv *found[KEYS_MAX];
	json_t *list = json_array();
	size_t n = 0;

	for (int i = 0; i < KEYS_MAX; i++)
		if (f->kv[i].key != NULL && fake_within(f->kv[i].key, from, to))
			found[n++] = &f->kv[i];
	qsort(found, n, sizeof(found[0]), by_key);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, kv_json(found[i], false));
	free(from);
	free(to);
	return json_pack("{s:o, s:o}", "header", header(f), "kvs", list);
}

static json_t *
do_lease(struct fake_etcd *f, const char *what, const json_t *in)
{
	const uint64_t id = num(in, "ID");

	if (strcmp(what, "grant") == 0)
		return json_pack("{s:o, s:I, s:I}", "header", header(f), "ID",
				 (json_int_t)++f->leases, "TTL",
				 (json_int_t)num(in, "TTL"));
	if (strcmp(what, "revoke") == 0) {
		fake_end_lease(f, id);
		return json_pack("{s:o}", "header", header(f));
	}
	return json_pack("{s:{s:o, s:I, s:I}}", "result", "header", header(f),
			 "ID", (json_int_t)id, "TTL",
			 (json_int_t)(f->dead[id % LEASES_MAX] ? 0 : 3));
}

/* Whether a request has the valid token. */
static bool
has_token(const struct fake_etcd *f, const char *head)
{
	char line[64];

	snprintf(line, sizeof(line), "Authorization: t%u\r\n", f->token);
	return f->refusal == FAKE_NO_AUTH || strstr(head, line) != NULL;
}

static json_t *
refuse_token(const struct fake_etcd *f)
{
	static const struct {
		const char *why;
		int code;
	} refusal[] = {
		[FAKE_OLD] = { "etcdserver: revision of auth store is old", 3 },
		[FAKE_DENIED] = { "etcdserver: permission denied", 7 },
		[FAKE_INVALID] = { "etcdserver: invalid auth token", 16 },
		[FAKE_401] = { "unauthorized", 16 },
	};

	return json_pack("{s:s, s:i}", "error", refusal[f->refusal].why, "code",
			 refusal[f->refusal].code);
}

static json_t *
do_authenticate(const struct fake_etcd *f)
{
	char token[24];

	snprintf(token, sizeof(token), "t%u", f->token);
	return json_pack("{s:o, s:s}", "header", header(f), "token", token);
}

static json_t *
do_request(struct fake_etcd *f, const char *path, const json_t *in,
	   const char *head)
{
	if (f->mood == FAKE_ERRS ||
	    (f->refused != NULL && strcmp(path, f->refused) == 0))
		return json_pack("{s:s, s:i}", "error",
				 "etcdserver: no leader", "code", 14);
	if (f->mood == FAKE_ERRS_NEW)
		return json_pack("{s:s, s:i}", "message",
				 "etcdserver: no leader", "code", 14);
	if (f->mood == FAKE_EMPTY)
		return json_object();
	if (strcmp(path, "/v3/auth/authenticate") == 0)
		return do_authenticate(f);
	if (!has_token(f, head))
		return refuse_token(f);
	if (strcmp(path, "/v3/kv/txn") == 0)
		return do_txn(f, in);
	if (strcmp(path, "/v3/kv/range") == 0)
		return do_range(f, in);
	if (strncmp(path, "/v3/lease/", 10) == 0)
		return do_lease(f, path + 10, in);
	return json_pack("{s:s, s:i}", "error", "not built here", "code", 12);
}

/* What a watch begins with. */
#define CREATED "{\"result\":{\"header\":{\"revision\":\"1\"},\"created\":true}}\n"

static void
begin_watch(struct fake_conn *c, uint64_t from)
{
	const struct fake_etcd *f = c->f;

	c->watches = true;
	dprintf(c->fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
		       "\r\n");
	dprintf(c->fd, "%zx\r\n%s\r\n", sizeof(CREATED) - 1, CREATED);
	for (unsigned int i = 0; i < f->npast; i++)
		if (f->past[i].revision >= from)
			dprintf(c->fd, "%zx\r\n%s\n\r\n",
				strlen(f->past[i].line) + 1, f->past[i].line);
}

static const char *
status_of(const struct fake_etcd *f, const char *path, const char *head)
{
	if (f->mood == FAKE_ERRS_NEW)
		return "503 Service Unavailable";
	if (f->mood == FAKE_GATEWAY)
		return "502 Bad Gateway";
	if (f->refusal == FAKE_401 && !has_token(f, head) &&
	    strcmp(path, "/v3/auth/authenticate") != 0)
		return "401 Unauthorized";
	return "200 OK";
}

/*
 * Answers one request. Under the lock. @return whether to keep the connection
 */
bool
fake_answer(struct fake_conn *c, const char *path, const char *head,
       const char *body)
{
	struct fake_etcd *f = c->f;
	json_t *in, *out;
	char *s;

	if (f->mood == FAKE_CLOSES || f->mood == FAKE_SILENT)
		return f->mood == FAKE_SILENT;
	if (f->lost != NULL && strcmp(path, f->lost) == 0)
		return true;
	in = json_loads(body, 0, NULL);
	if (strcmp(path, "/v3/watch") == 0) {
		begin_watch(c, num(json_object_get(in, "create_request"),
				   "start_revision"));
		json_decref(in);
		return true;
	}
	out = do_request(f, path, in, head);
	s = f->mood == FAKE_RAVES  ? strdup("<html>")
	    : f->mood == FAKE_ECHO ? strdup(body)
	    : strncmp(status_of(f, path, head), "401", 3) == 0
		    ? strdup("<html>log in first")
		    : json_dumps(out, 0);
	f->requests++;
	dprintf(c->fd, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s",
		status_of(f, path, head), strlen(s), s);
	free(s);
	json_decref(in);
	json_decref(out);
	return true;
}
