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

#include "fake_priv.h"

/* Reads one request. @return its body, or NULL at the end */
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
			fake_answer(c, path, buf, body);
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

	signal(SIGPIPE, SIG_IGN); /* the client may have left */
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

/* Ends connections; their threads notice. */
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

void
fake_refuse(struct fake_etcd *f, const char *path)
{
	pthread_mutex_lock(&f->lock);
	f->refused = path;
	pthread_mutex_unlock(&f->lock);
}

void
fake_lose(struct fake_etcd *f, const char *path)
{
	pthread_mutex_lock(&f->lock);
	f->lost = path;
	pthread_mutex_unlock(&f->lock);
}

unsigned int
fake_leases(struct fake_etcd *f)
{
	unsigned int n = 0;

	pthread_mutex_lock(&f->lock);
	if (f->leases >= LEASES_MAX)
		abort();
	for (uint64_t id = 1; id <= f->leases; id++)
		n += !f->dead[id];
	pthread_mutex_unlock(&f->lock);
	return n;
}

/* Under the lock. */
static void
forget(struct fake_etcd *f)
{
	for (unsigned int i = 0; i < f->npast; i++)
		free(f->past[i].line);
	f->npast = 0;
}

void
fake_forget(struct fake_etcd *f)
{
	pthread_mutex_lock(&f->lock);
	forget(f);
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
			fake_end_lease(f, f->kv[i].lease);
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

unsigned int
fake_watches(struct fake_etcd *f)
{
	unsigned int n = 0;

	pthread_mutex_lock(&f->lock);
	for (int i = 0; i < CONNS_MAX; i++)
		n += f->conn[i].on && f->conn[i].watches;
	pthread_mutex_unlock(&f->lock);
	return n;
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
	forget(f);
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
	fake_set(f, key, value, lease, events);
	fake_tell(f, events);
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
			fake_drop(f, i, events);
	fake_tell(f, events);
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
