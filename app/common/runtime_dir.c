/* SPDX-License-Identifier: BSD-3-Clause */

#include "runtime_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rl_base.h"

#define COMMON_DIR "/tmp/dpdk"

/* Owned by this user, and writable by no other. */
static bool
is_ours(const struct stat *st)
{
	return S_ISDIR(st->st_mode) && st->st_uid == geteuid() &&
	       (st->st_mode & 022) == 0;
}

/* Whether @p fd still has this name, and was not removed meanwhile. */
static bool
is_common(int fd)
{
	struct stat st, named;

	return fstat(fd, &st) == 0 && lstat(COMMON_DIR, &named) == 0 &&
	       st.st_dev == named.st_dev && st.st_ino == named.st_ino;
}

/* Each running program shares a lock on the folder; the last one removes it. */
static int common_fd = -1;

/* @return whether the common folder is free or this user's, and stays */
static bool
common_join(void)
{
	struct stat st;
	int fd;

	for (;;) {
		if (mkdir(COMMON_DIR, S_IRWXU) != 0 && errno != EEXIST)
			return false;
		fd = open(COMMON_DIR,
			  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			continue; /* the last program has just removed it */
		if (fd < 0 || fstat(fd, &st) != 0 || !is_ours(&st) ||
		    flock(fd, LOCK_SH) != 0)
			break;
		if (is_common(fd)) {
			common_fd = fd;
			return true;
		}
		close(fd);
	}
	if (fd >= 0)
		close(fd);
	return false;
}

/* Telemetry takes its socket away at exit, later than runtime_dir_remove(). */
static void
common_leave(void)
{
	if (flock(common_fd, LOCK_EX | LOCK_NB) == 0 && is_common(common_fd) &&
	    rmdir(COMMON_DIR "/rte") == 0)
		(void)rmdir(COMMON_DIR);
	close(common_fd);
	common_fd = -1;
}

void
runtime_dir_make(struct runtime_dir *d)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");

	d->path[0] = '\0';
	if (geteuid() == 0 || (dir != NULL && access(dir, W_OK | X_OK) == 0))
		return;
	if (common_fd >= 0)
		return;
	if (common_join()) {
		unsetenv("XDG_RUNTIME_DIR");
		/* handlers registered before EAL's run after it */
		(void)atexit(common_leave);
		return;
	}
	snprintf(d->path, sizeof(d->path), "/tmp/reflit-XXXXXX");
	if (mkdtemp(d->path) == NULL)
		d->path[0] = '\0';
	else
		setenv("XDG_RUNTIME_DIR", d->path, 1);
}

static int
remove_one(const char *path, RL_UNUSED const struct stat *st,
	   RL_UNUSED int flag, RL_UNUSED struct FTW *ftw)
{
	return remove(path);
}

void
runtime_dir_remove(struct runtime_dir *d)
{
	if (d->path[0] != '\0')
		(void)nftw(d->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	d->path[0] = '\0';
}
