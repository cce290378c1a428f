/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake_etcd.h"
#include "oob_etcd.h"

#define KEYS_MAX 256
#define CONNS_MAX 64
#define PAST_MAX 8192

struct fake_kv {
	char *key; /* NULL: none */
	char *value;
	uint64_t created;
	uint64_t lease;
};

struct fake_conn {
	struct fake_etcd *f;
	pthread_t thread;
	int fd;
	bool on;
	bool watches;
	bool mute;
};

/* What was told of a revision. */
struct fake_past {
	uint64_t revision;
	char *line;
};

struct fake_etcd {
	pthread_mutex_t lock;
	pthread_t thread;
	int fd;
	char url[64];
	enum fake_mood mood;
	enum fake_refusal refusal;
	unsigned int token; /* the one that is valid */
	uint64_t revision;
	uint64_t leases;
	bool dead[1024]; /* leases that have ended */
	unsigned int requests;
	struct fake_kv kv[KEYS_MAX];
	struct fake_past past[PAST_MAX];
	unsigned int npast;
	struct fake_conn conn[CONNS_MAX];
};

static uint64_t
num(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_string(v) ? strtoull(json_string_value(v), NULL, 10)
				 : (uint64_t)json_integer_value(v);
}

/* A text in base64; "" where there is none. */
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
static void
tell(struct fake_etcd *f, json_t *events)
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

static bool
within(const char *key, const char *from, const char *to)
{
	return to[0] == '\0' ? strcmp(key, from) == 0
			     : strcmp(key, from) >= 0 && strcmp(key, to) < 0;
}

static void
put(struct fake_etcd *f, const char *key, const char *value, uint64_t lease,
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

static void
drop(struct fake_etcd *f, int i, json_t *events)
{
	json_array_append_new(events,
			      json_pack("{s:s, s:o}", "type", "DELETE", "kv",
					kv_json(&f->kv[i], true)));
	free(f->kv[i].key);
	free(f->kv[i].value);
	f->kv[i] = (struct fake_kv){ 0 };
}

static void
end_lease(struct fake_etcd *f, uint64_t lease)
{
	json_t *events = json_array();

	f->dead[lease % 1024] = true;
	f->revision++;
	for (int i = 0; i < KEYS_MAX; i++)
		if (f->kv[i].key != NULL && f->kv[i].lease == lease)
			drop(f, i, events);
	tell(f, events);
}

/* All keys of a comparison were created by that revision; none: by 0. */
static bool
holds(const struct fake_etcd *f, const json_t *cmp)
{
	char *from = text(cmp, "key"), *to = text(cmp, "range_end");
	const uint64_t want = num(cmp, "create_revision");
	bool any = false, good = true;

	for (int i = 0; i < KEYS_MAX; i++)
		if (f->kv[i].key != NULL && within(f->kv[i].key, from, to)) {
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
		put(f, from, value, num(p, "lease"), events);
	for (int i = 0; d != NULL && i < KEYS_MAX; i++)
		if (f->kv[i].key != NULL && within(f->kv[i].key, from, to))
			drop(f, i, events);
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
	tell(f, events);
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
		if (f->kv[i].key != NULL && within(f->kv[i].key, from, to))
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
		end_lease(f, id);
		return json_pack("{s:o}", "header", header(f));
	}
	return json_pack("{s:{s:o, s:I, s:I}}", "result", "header", header(f),
			 "ID", (json_int_t)id, "TTL",
			 (json_int_t)(f->dead[id % 1024] ? 0 : 3));
}

/* Whether a request bears the valid token. */
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
	if (f->mood == FAKE_ERRS)
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

static void
begin_watch(struct fake_conn *c, uint64_t from)
{
	const struct fake_etcd *f = c->f;

	c->watches = true;
	dprintf(c->fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
		       "\r\n");
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

/* Answers one request. Under the lock. @return whether the connection stays */
static bool
answer(struct fake_conn *c, const char *path, const char *head,
       const char *body)
{
	struct fake_etcd *f = c->f;
	json_t *in, *out;
	char *s;

	if (f->mood == FAKE_CLOSES)
		return false;
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

/* Reads one request. @return its body's beginning, or NULL: it is over */
static char *
read_request(int fd, char *buf, size_t room)
{
	size_t n = 0, want = SIZE_MAX;
	char *body = NULL;

	while (n < want && n + 1 < room) {
		const ssize_t k = read(fd, buf + n, room - 1 - n);
		const char *len;

		if (k <= 0)
			return NULL;
		n += (size_t)k;
		buf[n] = '\0';
		if (body == NULL && (body = strstr(buf, "\r\n\r\n")) != NULL) {
			body += 4;
			len = strcasestr(buf, "content-length:");
			want = (size_t)(body - buf) +
			       (len == NULL ? 0 : strtoul(len + 15, NULL, 10));
			if (strcasestr(buf, "expect: 100") != NULL)
				dprintf(fd, "HTTP/1.1 100 Continue\r\n\r\n");
		}
	}
	return body;
}

static void *
serve(void *ctx)
{
	struct fake_conn *c = ctx;
	struct fake_etcd *f = c->f;
	char *buf = malloc(1 << 20);
	char *body, path[64];
	bool stays = true;

	while (stays && (body = read_request(c->fd, buf, 1 << 20)) != NULL) {
		pthread_mutex_lock(&f->lock);
		stays = sscanf(buf, "POST %63s", path) == 1 &&
			answer(c, path, buf, body);
		pthread_mutex_unlock(&f->lock);
	}
	free(buf);
	pthread_mutex_lock(&f->lock);
	close(c->fd);
	c->on = c->watches = false;
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

static void *
listener(void *ctx)
{
	struct fake_etcd *f = ctx;
	int fd;

	while ((fd = accept(f->fd, NULL, NULL)) >= 0) {
		struct fake_conn *c = NULL;

		pthread_mutex_lock(&f->lock);
		for (int i = 0; i < CONNS_MAX && c == NULL; i++)
			if (!f->conn[i].on)
				c = &f->conn[i];
		*c = (struct fake_conn){ .f = f, .fd = fd, .on = true };
		pthread_mutex_unlock(&f->lock);
		pthread_create(&c->thread, NULL, serve, c);
		pthread_detach(c->thread);
	}
	return NULL;
}

struct fake_etcd *
fake_start(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	struct fake_etcd *f = calloc(1, sizeof(*f));

	signal(SIGPIPE, SIG_IGN); /* whoever asks may be gone */
	f->revision = 1;
	pthread_mutex_init(&f->lock, NULL);
	f->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(f->fd, (struct sockaddr *)&a, sizeof(a)) != 0 ||
	    listen(f->fd, 16) != 0 ||
	    getsockname(f->fd, (struct sockaddr *)&a, &len) != 0)
		abort();
	snprintf(f->url, sizeof(f->url), "http://127.0.0.1:%u",
		 ntohs(a.sin_port));
	pthread_create(&f->thread, NULL, listener, f);
	return f;
}

/* Connections end; who serves them notices. */
static void
cut(struct fake_etcd *f, bool watches_only)
{
	for (int i = 0; i < CONNS_MAX; i++)
		if (f->conn[i].on && (f->conn[i].watches || !watches_only))
			shutdown(f->conn[i].fd, SHUT_RDWR);
}

static bool
quiet(struct fake_etcd *f)
{
	bool any = false;

	pthread_mutex_lock(&f->lock);
	for (int i = 0; i < CONNS_MAX; i++)
		any = any || f->conn[i].on;
	pthread_mutex_unlock(&f->lock);
	return !any;
}

void
fake_stop(struct fake_etcd *f)
{
	shutdown(f->fd, SHUT_RDWR);
	pthread_join(f->thread, NULL);
	close(f->fd);
	pthread_mutex_lock(&f->lock);
	cut(f, false);
	pthread_mutex_unlock(&f->lock);
	while (!quiet(f))
		usleep(1000);
	fake_wipe(f);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

const char *
fake_url(const struct fake_etcd *f)
{
	return f->url;
}

void
fake_mood(struct fake_etcd *f, enum fake_mood mood)
{
	pthread_mutex_lock(&f->lock);
	f->mood = mood;
	if (mood == FAKE_CLOSES)
		cut(f, false);
	pthread_mutex_unlock(&f->lock);
}

bool
fake_expire(struct fake_etcd *f, const char *key)
{
	bool done = false;

	pthread_mutex_lock(&f->lock);
	for (int i = 0; i < KEYS_MAX && !done; i++)
		if (f->kv[i].key != NULL && strcmp(f->kv[i].key, key) == 0 &&
		    f->kv[i].lease != 0) {
			end_lease(f, f->kv[i].lease);
			done = true;
		}
	pthread_mutex_unlock(&f->lock);
	return done;
}

void
fake_mute_watches(struct fake_etcd *f)
{
	pthread_mutex_lock(&f->lock);
	for (int i = 0; i < CONNS_MAX; i++)
		f->conn[i].mute = f->conn[i].watches;
	pthread_mutex_unlock(&f->lock);
}

void
fake_cut_watches(struct fake_etcd *f)
{
	pthread_mutex_lock(&f->lock);
	cut(f, true);
	pthread_mutex_unlock(&f->lock);
}

void
fake_wipe(struct fake_etcd *f)
{
	pthread_mutex_lock(&f->lock);
	for (int i = 0; i < KEYS_MAX; i++) {
		free(f->kv[i].key);
		free(f->kv[i].value);
		f->kv[i] = (struct fake_kv){ 0 };
	}
	for (unsigned int i = 0; i < f->npast; i++)
		free(f->past[i].line);
	f->npast = 0;
	memset(f->dead, 1, sizeof(f->dead));
	f->revision = 1;
	cut(f, false);
	pthread_mutex_unlock(&f->lock);
}

void
fake_new_tokens(struct fake_etcd *f, enum fake_refusal how)
{
	pthread_mutex_lock(&f->lock);
	f->refusal = how;
	f->token++;
	pthread_mutex_unlock(&f->lock);
}

void
fake_put(struct fake_etcd *f, const char *key, const char *value,
	 uint64_t lease)
{
	json_t *events = json_array();

	pthread_mutex_lock(&f->lock);
	f->revision++;
	put(f, key, value, lease, events);
	tell(f, events);
	pthread_mutex_unlock(&f->lock);
}

void
fake_delete(struct fake_etcd *f, const char *key)
{
	json_t *events = json_array();

	pthread_mutex_lock(&f->lock);
	f->revision++;
	for (int i = 0; i < KEYS_MAX; i++)
		if (f->kv[i].key != NULL && strcmp(f->kv[i].key, key) == 0)
			drop(f, i, events);
	tell(f, events);
	pthread_mutex_unlock(&f->lock);
}

char *
fake_get(struct fake_etcd *f, const char *key)
{
	char *v = NULL;

	pthread_mutex_lock(&f->lock);
	for (int i = 0; i < KEYS_MAX && v == NULL; i++)
		if (f->kv[i].key != NULL && strcmp(f->kv[i].key, key) == 0)
			v = strdup(f->kv[i].value);
	pthread_mutex_unlock(&f->lock);
	return v;
}

unsigned int
fake_count(struct fake_etcd *f, const char *prefix)
{
	unsigned int n = 0;

	pthread_mutex_lock(&f->lock);
	for (int i = 0; i < KEYS_MAX; i++)
		n += f->kv[i].key != NULL &&
		     strncmp(f->kv[i].key, prefix, strlen(prefix)) == 0;
	pthread_mutex_unlock(&f->lock);
	return n;
}

unsigned int
fake_requests(struct fake_etcd *f)
{
	unsigned int n;

	pthread_mutex_lock(&f->lock);
	n = f->requests;
	pthread_mutex_unlock(&f->lock);
	return n;
}
