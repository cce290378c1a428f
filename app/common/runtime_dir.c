/* SPDX-License-Identifier: BSD-3-Clause */

#include "runtime_dir.h"

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMON_DIR "/tmp/dpdk"

/* Nobody has it, or this user does, and nobody else writes there. */
static bool
common_is_free(void)
{
	struct stat st;

	if (lstat(COMMON_DIR, &st) != 0)
		return true;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       (st.st_mode & 022) == 0;
}

/* Telemetry takes its socket away at exit, later than runtime_dir_remove(). */
static void
common_leave(void)
{
	if (rmdir(COMMON_DIR "/rte") == 0)
		(void)rmdir(COMMON_DIR);
}

void
runtime_dir_make(struct runtime_dir *d)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");

	d->path[0] = '\0';
	if (geteuid() == 0 || (dir != NULL && access(dir, W_OK | X_OK) == 0))
		return;
	if (common_is_free()) {
		unsetenv("XDG_RUNTIME_DIR");
		/* what is registered before EAL's comes after it */
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
remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void
runtime_dir_remove(struct runtime_dir *d)
{
	if (d->path[0] != '\0')
		(void)nftw(d->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	d->path[0] = '\0';
}
