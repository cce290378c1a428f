/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "rl_auth.h"
#include "rl_secret.h"

/* True for a file of zeros: created, but never filled. */
static bool
is_zero(const uint8_t *text, size_t n)
{
	size_t zeros = 0;

	while (zeros < n && (text[zeros] == 0 || text[zeros] == '0'))
		zeros++;
	return zeros == n;
}

static int
read_secret(struct rl_auth_root *root, int fd, char *err, size_t len)
{
	uint8_t text[RL_AUTH_FILE_MAX + 1];
	size_t n = 0;
	ssize_t got = 1;
	int ret = 0;

	while (n < sizeof(text) &&
	       (got = read(fd, text + n, sizeof(text) - n)) > 0)
		n += (size_t)got;
	while (got == 0 && n > 0 && isspace(text[n - 1]))
		n--; /* a final newline is not part of a key */
	if (got < 0) {
		ret = -errno;
		snprintf(err, len, "%s", strerror(errno));
	} else if (n < RL_AUTH_FILE_MIN || n > RL_AUTH_FILE_MAX) {
		ret = -EINVAL;
		snprintf(err, len, "holds %s%zu bytes; a key has %u to %u: "
				   "openssl rand -hex 32",
			 n > RL_AUTH_FILE_MAX ? "more than " : "",
			 n > RL_AUTH_FILE_MAX ? RL_AUTH_FILE_MAX : n,
			 RL_AUTH_FILE_MIN, RL_AUTH_FILE_MAX);
	} else if (is_zero(text, n)) {
		ret = -EINVAL;
		snprintf(err, len, "holds only zeros; a key is random: openssl "
				   "rand -hex 32");
	} else {
		rl_auth_root_make(root, text, n);
	}
	OPENSSL_cleanse(text, sizeof(text));
	return ret;
}

int
rl_auth_root_read(struct rl_auth_root *root, const char *path, char *err,
		  size_t len)
{
	/* does not block on a FIFO without a writer */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int ret;

	if (fd < 0 || fstat(fd, &st) != 0) {
		ret = -errno;
		snprintf(err, len, "%s", strerror(errno));
	} else {
		ret = rl_secret_check(&st, err, len);
	}
	if (ret == 0)
		ret = read_secret(root, fd, err, len);
	if (fd >= 0)
		close(fd);
	return ret;
}
