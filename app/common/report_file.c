/* SPDX-License-Identifier: BSD-3-Clause */

#include "report_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new file needs a folder that takes one. @return 0 or errno */
static int
check_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	const size_t len = slash == NULL ? 0 : (size_t)(slash - path);
	char dir[PATH_MAX];

	if (len >= sizeof(dir))
		return ENAMETOOLONG;
	if (slash == NULL)
		snprintf(dir, sizeof(dir), ".");
	else /* the root's own slash stays */
		snprintf(dir, sizeof(dir), "%.*s", len == 0 ? 1 : (int)len,
			 path);
	return access(dir, W_OK | X_OK) == 0 ? 0 : errno;
}

int
report_check(const char *program, const char *path)
{
	struct stat st;
	int err;

	if (path == NULL)
		return 0;
	if (path[0] == '\0')
		err = ENOENT;
	else if (stat(path, &st) != 0)
		err = errno == ENOENT ? check_folder(path) : errno;
	else if (S_ISDIR(st.st_mode))
		err = EISDIR;
	else
		err = access(path, W_OK) == 0 ? 0 : errno;
	if (err != 0)
		fprintf(stderr, "%s: cannot write %s: %s\n", program, path,
			strerror(err));
	return -err;
}

int
report_save(const char *program, const json_t *report, const char *path)
{
	errno = 0;
	if (report != NULL &&
	    json_dump_file(report, path, JSON_INDENT(2)) == 0)
		return 0;
	fprintf(stderr, "%s: cannot write %s: %s\n", program, path,
		errno != 0 ? strerror(errno) : "no memory");
	return -EIO;
}
