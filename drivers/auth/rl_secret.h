/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SECRET_H
#define RL_SECRET_H

/**
 * @file Files with a secret: the key of a link, the password of a user. As with
 * ssh, only the user that runs the program, or root, may own and use them.
 */

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/**
 * Any thread. Checks such a file before a byte is read.
 *
 * @param err  @p len bytes: on failure what is wrong and what to do, to follow
 *   the file's name
 * @return 0; -EINVAL: no plain file; -EACCES: others may use it
 */
static inline int
rl_secret_check(const struct stat *st, char *err, size_t len)
{
	if (!S_ISREG(st->st_mode)) {
		snprintf(err, len, "is not a plain file; make one: openssl "
				   "rand -hex 32");
		return -EINVAL;
	}
	if (st->st_uid != geteuid() && st->st_uid != 0) {
		snprintf(err, len, "belongs to another user (uid %u), who may "
				   "change it; chown it", st->st_uid);
		return -EACCES;
	}
	if ((st->st_mode & (S_IRWXG | S_IRWXO)) == 0)
		return 0;
	snprintf(err, len, "others than its owner may use it (mode %03o); "
			   "chmod 600", (unsigned int)st->st_mode & 0777);
	return -EACCES;
}

#endif /* RL_SECRET_H */
