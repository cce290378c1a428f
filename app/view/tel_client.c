/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "tel_client.h"

#define HELLO_BYTES 1024
#define ANSWER_BYTES_DEFAULT 16384
#define ANSWER_BYTES_MAX (1 << 20)
#define TIMEOUT_S 6 /* an order may take five */

int
tel_add(struct tel *t, const char *path)
{
	struct tel_source *s = &t->source[t->nsources];

	if (strlen(path) >= TEL_PATH_MAX)
		return -ENAMETOOLONG;
	if (t->nsources == TEL_SOURCES_MAX)
		return -E2BIG;
	snprintf(s->path, sizeof(s->path), "%s", path);
	s->fd = -1;
	t->nsources++;
	return 0;
}

static void
disconnect(struct tel_source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static bool
known(const struct tel *t, const char *path)
{
	for (unsigned int i = 0; i < t->nsources; i++) {
		if (strcmp(t->source[i].path, path) == 0)
			return true;
	}
	return false;
}

void
tel_find(struct tel *t)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	char pattern[256];
	glob_t g;

	if (!t->search)
		return;
	if (geteuid() == 0)
		dir = "/var/run";
	else if (dir == NULL)
		dir = "/tmp";
	for (unsigned int i = 0; i < t->nsources;) {
		if (access(t->source[i].path, F_OK) == 0) {
			i++;
			continue;
		}
		disconnect(&t->source[i]);
		t->nsources--;
		memmove(&t->source[i], &t->source[i + 1],
			(t->nsources - i) * sizeof(t->source[0]));
	}
	snprintf(pattern, sizeof(pattern), "%s/dpdk/*/dpdk_telemetry.v2*",
		 dir);
	if (glob(pattern, 0, NULL, &g) != 0)
		return;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		if (!known(t, g.gl_pathv[i]))
			(void)tel_add(t, g.gl_pathv[i]);
	}
	globfree(&g);
}

/* The socket greets with its version and its largest answer. */
static int
connect_to(struct tel_source *s)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const struct timeval limit = { .tv_sec = TIMEOUT_S };
	char hello[HELLO_BYTES + 1];
	json_t *o = NULL;
	ssize_t n;

	s->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		return -errno;
	memcpy(a.sun_path, s->path, sizeof(a.sun_path));
	setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(s->fd, (const struct sockaddr *)&a, sizeof(a)) != 0) {
		disconnect(s);
		return -ECONNREFUSED;
	}
	n = recv(s->fd, hello, HELLO_BYTES, 0);
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

json_t *
tel_ask(struct tel_source *s, const char *cmd)
{
	json_t *o = NULL, *v = NULL;
	ssize_t n = -1;
	char *buf;

	if (s->fd < 0 && connect_to(s) != 0)
		return NULL;
	buf = malloc(s->max_bytes);
	if (buf == NULL)
		return NULL;
	if (send(s->fd, cmd, strlen(cmd), MSG_NOSIGNAL) ==
	    (ssize_t)strlen(cmd))
		n = recv(s->fd, buf, s->max_bytes, 0);
	if (n > 0)
		o = json_loadb(buf, (size_t)n, 0, NULL);
	else
		disconnect(s);
	free(buf);
	if (json_is_object(o) && json_object_size(o) == 1)
		v = json_incref(json_object_iter_value(json_object_iter(o)));
	json_decref(o);
	return v;
}

void
tel_close(struct tel *t)
{
	for (unsigned int i = 0; i < t->nsources; i++)
		disconnect(&t->source[i]);
}
