/* SPDX-License-Identifier: BSD-3-Clause */

#include "runtime_dir.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void
runtime_dir_make(struct runtime_dir *d)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");

	d->path[0] = '\0';
	if (geteuid() == 0 || (dir != NULL && access(dir, W_OK | X_OK) == 0))
		return;
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
