/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tel_client.h"
#include "clock_ns.h"

#define HELLO_BYTES 1024
#define ANSWER_BYTES_DEFAULT 16384
#define ANSWER_BYTES_MAX (1 << 20)
#define SILENT_NS 10000000000ull
/* Limit of a list, whatever total a source announces. */
#define PAGES_MAX 65536
#define LIST_BYTES_MAX (32u << 20)

void
tel_open(struct tel *t)
{
	pthread_mutex_init(&t->lock, NULL);
	for (unsigned int i = 0; i < TEL_SOURCES_MAX; i++) {
		pthread_mutex_init(&t->source[i].lock, NULL);
		t->source[i].fd = -1;
	}
}

static struct tel_source *
find_path(struct tel *t, const char *path)
{
	for (unsigned int i = 0; i < TEL_SOURCES_MAX; i++)
		if (strcmp(t->source[i].path, path) == 0)
			return &t->source[i];
	return NULL;
}

static bool
is_known(struct tel *t, const char *path)
{
	bool known;

	pthread_mutex_lock(&t->lock);
	known = find_path(t, path) != NULL;
	pthread_mutex_unlock(&t->lock);
	return known;
}

int
tel_add(struct tel *t, const char *path)
{
	struct tel_source *s;

	if (strlen(path) >= TEL_PATH_MAX)
		return -ENAMETOOLONG;
	pthread_mutex_lock(&t->lock);
	s = find_path(t, path);
	if (s == NULL)
		s = find_path(t, "");
	if (s != NULL)
		snprintf(s->path, sizeof(s->path), "%s", path);
	pthread_mutex_unlock(&t->lock);
	return s != NULL ? 0 : -E2BIG;
}

static void
disconnect(struct tel_source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* @return a connected socket, or -errno; never waits */
static int
dial(const char *path, int type)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	/* a socket with a full connection queue would block */
	const int fd =
		socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int ret = -errno;

	if (fd < 0)
		return ret;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (connect(fd, (const struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

/*
 * A process that was killed leaves its socket. The kernel says so to a socket of
 * another type, without a connection: a program of DPDK's has ten.
 */
static bool
nobody_listens(const char *path)
{
	const int fd = dial(path, SOCK_DGRAM);

	if (fd >= 0)
		close(fd);
	return fd == -ECONNREFUSED || fd == -ENOENT;
}

/*
 * Forgets sources whose process is gone; a source in use is left for a later
 * call.
 */
static void
forget_gone(struct tel *t)
{
	pthread_mutex_lock(&t->lock);
	for (unsigned int i = 0; i < TEL_SOURCES_MAX; i++) {
		struct tel_source *s = &t->source[i];

		if (s->path[0] == '\0' || pthread_mutex_trylock(&s->lock) != 0)
			continue;
		if (s->fd >= 0 ? access(s->path, F_OK) != 0
			       : nobody_listens(s->path)) {
			disconnect(s);
			s->silent_ns = 0;
			s->path[0] = '\0';
		}
		pthread_mutex_unlock(&s->lock);
	}
	pthread_mutex_unlock(&t->lock);
}

/* Owned by this user or root, and writable by no other. */
static bool
is_trusted(const char *dir)
{
	struct stat st;

	return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) &&
	       (st.st_uid == geteuid() || st.st_uid == 0) &&
	       (st.st_mode & 022) == 0;
}

void
tel_find(struct tel *t)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	char dir[200], pattern[256];
	glob_t g;

	if (!t->search)
		return;
	if (geteuid() == 0)
		base = "/var/run";
	else if (base == NULL)
		base = "/tmp";
	forget_gone(t);
	snprintf(dir, sizeof(dir), "%s/dpdk", base);
	snprintf(pattern, sizeof(pattern), "%s/*/dpdk_telemetry.v2*", dir);
	if (!is_trusted(dir) || glob(pattern, 0, NULL, &g) != 0)
		return;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		char *name = strrchr(g.gl_pathv[i], '/');
		bool good;

		*name = '\0';
		good = is_trusted(g.gl_pathv[i]);
		*name = '/';
		if (good && !is_known(t, g.gl_pathv[i]) &&
		    !nobody_listens(g.gl_pathv[i]))
			(void)tel_add(t, g.gl_pathv[i]);
	}
	globfree(&g);
}

bool
tel_path(struct tel *t, unsigned int i, char path[TEL_PATH_MAX])
{
	path[0] = '\0';
	if (i >= TEL_SOURCES_MAX)
		return false;
	pthread_mutex_lock(&t->lock);
	memcpy(path, t->source[i].path, TEL_PATH_MAX);
	pthread_mutex_unlock(&t->lock);
	return path[0] != '\0';
}

/* A socket that the user did not name must be the user's own, or root's. */
static bool
peer_is_trusted(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

/* @return bytes received; 0 or less: none, and a limit makes it silent */
static ssize_t
receive(struct tel_source *s, void *buf, size_t len, unsigned int limit_s)
{
	const struct timeval limit = { .tv_sec = limit_s };
	ssize_t n;

	setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	n = recv(s->fd, buf, len, 0);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		s->silent_ns = clock_ns(CLOCK_MONOTONIC) + SILENT_NS;
	return n;
}

/* The socket greets with its version and its largest answer. */
static int
connect_to(struct tel_source *s, const char *path, bool found,
	   unsigned int limit_s)
{
	char hello[HELLO_BYTES + 1];
	json_t *o = NULL;
	ssize_t n;

	s->fd = dial(path, SOCK_SEQPACKET);
	if (s->fd < 0 || fcntl(s->fd, F_SETFL, 0) != 0 ||
	    (found && !peer_is_trusted(s->fd))) {
		disconnect(s);
		return -ECONNREFUSED;
	}
	n = receive(s, hello, HELLO_BYTES, limit_s);
	if (n > 0)
		o = json_loadb(hello, (size_t)n, 0, NULL);
	if (o == NULL) {
		disconnect(s);
		return -EPROTO;
	}
	n = (ssize_t)json_integer_value(json_object_get(o, "max_output_len"));
	s->max_bytes = n > 0 && n <= ANSWER_BYTES_MAX ? (size_t)n :
							ANSWER_BYTES_DEFAULT;
	json_decref(o);
	return 0;
}

/* With the source's lock held. */
static json_t *
ask(struct tel_source *s, const char *cmd, unsigned int limit_s, size_t *bytes)
{
	json_t *o = NULL, *v = NULL;
	ssize_t n = -1;
	char *buf = malloc(s->max_bytes);

	if (buf == NULL)
		return NULL;
	if (send(s->fd, cmd, strlen(cmd), MSG_NOSIGNAL) ==
	    (ssize_t)strlen(cmd))
		n = receive(s, buf, s->max_bytes, limit_s);
	if (n > 0)
		o = json_loadb(buf, (size_t)n, 0, NULL);
	else
		disconnect(s);
	if (n > 0 && bytes != NULL)
		*bytes += (size_t)n;
	free(buf);
	if (json_is_object(o) && json_object_size(o) == 1)
		v = json_incref(json_object_iter_value(json_object_iter(o)));
	json_decref(o);
	return v;
}

json_t *
tel_ask(struct tel *t, unsigned int i, const char *cmd, unsigned int limit_s,
	size_t *bytes)
{
	char path[TEL_PATH_MAX];
	struct tel_source *s;
	json_t *v = NULL;

	if (!tel_path(t, i, path))
		return NULL;
	s = &t->source[i];
	pthread_mutex_lock(&s->lock);
	if ((limit_s == TEL_ORDER_S || clock_ns(CLOCK_MONOTONIC) >= s->silent_ns) &&
	    (s->fd >= 0 || connect_to(s, path, t->search, limit_s) == 0))
		v = ask(s, cmd, limit_s, bytes);
	pthread_mutex_unlock(&s->lock);
	return v;
}

/* Appends the columns of one page to those of the pages before. */
static void
join(json_t *all, json_t *page)
{
	const char *key;
	json_t *v;

	json_object_foreach(page, key, v) {
		json_t *column = json_object_get(all, key);

		if (json_is_array(v) && json_is_array(column))
			json_array_extend(column, v);
		else if (json_is_array(v))
			json_object_set(all, key, v);
	}
}

json_t *
tel_list(struct tel *t, unsigned int i, const char *cmd)
{
	json_int_t at = 0, total = 1;
	size_t bytes = 0;
	json_t *all = json_object();
	char page_cmd[TEL_CMD_MAX + 24];

	for (unsigned int n = 0; n < PAGES_MAX && at < total &&
				 bytes < LIST_BYTES_MAX; n++) {
		json_t *page, *count;

		snprintf(page_cmd, sizeof(page_cmd), "%s,%lld", cmd,
			 (long long)at);
		page = tel_ask(t, i, page_cmd, TEL_ASK_S, &bytes);
		count = json_object_get(page, "count");
		if (json_integer_value(count) <= 0) {
			json_decref(page);
			break;
		}
		total = json_integer_value(json_object_get(page, "total"));
		at += json_integer_value(count);
		join(all, page);
		json_decref(page);
	}
	json_object_set_new(all, "total", json_integer(at));
	return all;
}

void
tel_close(struct tel *t)
{
	for (unsigned int i = 0; i < TEL_SOURCES_MAX; i++) {
		disconnect(&t->source[i]);
		pthread_mutex_destroy(&t->source[i].lock);
	}
	pthread_mutex_destroy(&t->lock);
}
