/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SECRET_H
#define RL_SECRET_H

/**
 * @file
 * Files that hold a secret: the key of a link, the password of a user. As ssh
 * has it, they belong to the user that runs the program, or to root, and to
 * nobody else.
 */

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/**
 * Any thread. What may be wrong with such a file before a byte is read.
 *
 * @param err  @p len bytes: on failure what is wrong and what to do, to stand
 *   behind the file's name
 * @return 0; -EINVAL: no plain file; -EACCES: others may use it
 */
static inline int
rl_secret_check(const struct stat *st, char *err, size_t len)
{
	if (!S_ISREG(st->st_mode)) {
		snprintf(err, len, "is no plain file; make one: openssl rand "
				   "-hex 32");
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
