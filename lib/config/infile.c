/* SPDX-License-Identifier: BSD-3-Clause */
#include "rl_infile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens it without waiting for a writer. */
static int
open_file(const char *path, enum rl_infile_kind kind, struct stat *st)
{
	int fd;

	if (path[0] == '\0')
		return -ENOENT;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, st) != 0 || S_ISDIR(st->st_mode) ||
	    (kind == RL_INFILE_PLAIN && !S_ISREG(st->st_mode))) {
		close(fd);
		return -EISDIR;
	}
	return fd;
}

/* Like read(), but waits for an existing writer. */
static ssize_t
read_some(int fd, char *to, size_t n)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		const ssize_t got = read(fd, to, n);

		if (got >= 0)
			return got;
		if (errno == EAGAIN)
			(void)poll(&p, 1, -1);
		else if (errno != EINTR)
			return -errno;
	}
}

static int
read_all(int fd, size_t max, char **text, size_t *len)
{
	size_t cap = 1u << 16, n = 0;
	char *buf = malloc(cap);
	ssize_t got = 1;

	while (buf != NULL && got > 0) {
		if (n + 1 >= cap) {
			char *more = realloc(buf, cap * 2);

			if (more == NULL)
				break;
			buf = more;
			cap *= 2;
		}
		got = read_some(fd, buf + n, cap - n - 1);
		n += got > 0 ? (size_t)got : 0;
		if (n > max)
			got = -EFBIG;
	}
	if (buf == NULL || got != 0) {
		free(buf);
		return buf == NULL || got > 0 ? -ENOMEM : (int)got;
	}
	buf[n] = '\0';
	*text = buf;
	*len = n;
	return 0;
}

int
rl_infile_read(const char *path, enum rl_infile_kind kind, size_t max,
	       char **text, size_t *len)
{
	struct stat st;
	const int fd = open_file(path, kind, &st);
	int ret;

	if (fd < 0)
		return fd;
	ret = read_all(fd, max, text, len);
	close(fd);
	if (ret == 0 && *len == 0 && S_ISFIFO(st.st_mode)) {
		free(*text);
		*text = NULL;
		return -EPIPE;
	}
	return ret;
}

const char *
rl_infile_error(int err)
{
	switch (err) {
	case -EISDIR:
		return "it is not a plain file";
	case -EPIPE:
		return "this pipe has no writer";
	default:
		return strerror(-err);
	}
}
