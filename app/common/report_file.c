/* SPDX-License-Identifier: BSD-3-Clause */

#include "report_file.h"
#include "say_error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NEW_MAX (PATH_MAX + 8)

/* The head of every report. One for the process, as its arguments are. */
static json_t *head;
/* Standard output as it was, once a document has claimed it. */
static int stdout_fd = -1;

static int
is_stdout(const char *path)
{
	return path != NULL && strcmp(path, "-") == 0;
}

void
report_begin(const char *program, int argc, char *const argv[])
{
	json_t *args = json_array();
	const time_t now = time(NULL);
	struct tm tm;
	char date[32];

	for (int i = 1; i < argc; i++) {
		/* a file's name may be anything; JSON is UTF-8 */
		json_t *s = json_string(argv[i]);

		json_array_append_new(args, s != NULL ? s : json_string("?"));
	}
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ",
		 gmtime_r(&now, &tm));
	json_decref(head);
	head = json_pack("{s:s, s:s, s:o, s:s}", "program", program, "version",
			 RL_VERSION, "arguments", args, "date", date);
}

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

	if (path == NULL || is_stdout(path))
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
		fprintf(stderr, "%s: cannot write %s: %s\n", program,
			path[0] == '\0' ? "to a file without a name" : path,
			strerror(err));
	return -err;
}

/* Whether two files that are not there yet would be one. */
static bool
same_place(const char *a, const char *b)
{
	const char *const path[2] = { a, b };
	const char *name[2];
	struct stat dir[2];

	for (int i = 0; i < 2; i++) {
		const char *slash = strrchr(path[i], '/');
		char folder[PATH_MAX];

		name[i] = slash == NULL ? path[i] : slash + 1;
		if ((size_t)(name[i] - path[i]) >= sizeof(folder))
			return false;
		snprintf(folder, sizeof(folder), "%.*s",
			 (int)(name[i] - path[i]), path[i]);
		if (stat(slash == NULL ? "." : folder, &dir[i]) != 0)
			return false;
	}
	return strcmp(name[0], name[1]) == 0 &&
	       dir[0].st_dev == dir[1].st_dev && dir[0].st_ino == dir[1].st_ino;
}

/* Whether both names lead to one file; a device takes any number. */
static bool
same_file(const char *a, const char *b)
{
	struct stat sa, sb;
	bool no_a, no_b;

	if (a == NULL || b == NULL || is_stdout(a) || is_stdout(b))
		return false;
	no_a = stat(a, &sa) != 0;
	no_b = stat(b, &sb) != 0;
	if (no_a || no_b)
		return no_a && no_b && same_place(a, b);
	return S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

const char *
report_clash(const char *path, const char *const out[], unsigned int n,
	     const char *const in[], unsigned int nin)
{
	for (unsigned int k = 0; k < nin; k++)
		if (same_file(path, in[k]))
			return "it is read, too";
	for (unsigned int k = 0; k < n; k++)
		if (same_file(path, out[k]))
			return "another document goes there";
	return NULL;
}

int
report_apart(const char *program, const char *const path[], unsigned int n,
	     const char *const in[], unsigned int nin)
{
	for (unsigned int i = 0; i < n; i++) {
		const char *why = report_clash(path[i], path, i, in, nin);

		if (why == NULL)
			continue;
		return say_error(-EINVAL, "%s: cannot write %s: %s\n", program,
				 path[i], why);
	}
	return 0;
}

int
report_claim_stdout(const char *program, const char *const path[],
		    unsigned int n)
{
	unsigned int claims = 0;

	for (unsigned int i = 0; i < n; i++)
		claims += is_stdout(path[i]) != 0;
	if (claims == 0 || stdout_fd >= 0)
		return 0;
	if (claims > 1)
		return say_error(-EINVAL, "%s: only one document can go to "
				 "standard output (-)\n", program);
	fflush(stdout);
	stdout_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (stdout_fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return say_error(-EIO, "%s: standard output: %s\n", program,
				 strerror(errno));
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* in step with the errors */
	return 0;
}

FILE *
report_open(const char *path)
{
	int fd;

	if (!is_stdout(path))
		return fopen(path, "w");
	fflush(stdout);
	fd = fcntl(stdout_fd >= 0 ? stdout_fd : STDOUT_FILENO, F_DUPFD_CLOEXEC,
		   STDERR_FILENO + 1);
	return fd < 0 ? NULL : fdopen(fd, "w");
}

int
report_close(FILE *f)
{
	const int bad = ferror(f);
	const int why = errno; /* of the write that failed */

	if (fclose(f) == 0 && bad == 0)
		return 0;
	if (bad != 0)
		errno = why;
	return -EIO;
}

/* A new reference: the report behind the head. NULL: no memory */
static json_t *
with_head(const json_t *report)
{
	json_t *whole;

	errno = 0;
	if (!json_is_object(report) || head == NULL)
		return json_incref((json_t *)(uintptr_t)report);
	whole = json_copy(head);
	if (whole != NULL)
		(void)json_object_update(whole, (json_t *)(uintptr_t)report);
	return whole;
}

static bool
is_put(const json_t *whole, FILE *f)
{
	return json_dumpf(whole, f, JSON_INDENT(2)) == 0 &&
	       fputc('\n', f) != EOF;
}

static void
not_written(const char *program, const char *path)
{
	if (path == NULL || is_stdout(path))
		path = "standard output";
	fprintf(stderr, "%s: cannot write %s: %s\n", program, path,
		errno != 0 ? strerror(errno) : "no memory");
}

int
report_save(const char *program, const json_t *report, const char *path)
{
	json_t *whole = with_head(report);
	FILE *f = whole == NULL ? NULL : report_open(path);
	bool good = false;

	if (f != NULL) {
		good = is_put(whole, f);
		good = report_close(f) == 0 && good;
	}
	if (!good)
		not_written(program, path);
	json_decref(whole);
	return good ? 0 : -EIO;
}

/*
 * The file itself, if links lead to it, and what it is. One that is not there
 * is made for a moment: its permissions are then those that umask gives.
 */
static bool
is_found(const char *path, char real[PATH_MAX], struct stat *st)
{
	const bool is_new = access(path, F_OK) != 0;
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	const bool found = fd >= 0 && fstat(fd, st) == 0 &&
			   realpath(path, real) != NULL;

	if (found && is_new)
		unlink(real);
	if (fd >= 0)
		close(fd);
	return found;
}

/* A file in the same folder, with the same owner and permissions. */
static FILE *
open_beside(const char *real, const struct stat *st, char new[NEW_MAX])
{
	FILE *f;
	int fd;

	snprintf(new, NEW_MAX, "%s.XXXXXX", real);
	fd = mkstemp(new);
	if (fd < 0)
		return NULL;
	/* only root may give files away */
	if ((fchown(fd, st->st_uid, st->st_gid) != 0 && errno != EPERM) ||
	    fchmod(fd, st->st_mode & 0777) != 0 ||
	    (f = fdopen(fd, "w")) == NULL) {
		close(fd);
		unlink(new);
		return NULL;
	}
	return f;
}

int
report_replace(const char *program, const json_t *report, const char *path)
{
	char real[PATH_MAX], new[NEW_MAX];
	json_t *whole = with_head(report);
	struct stat st;
	FILE *f = whole != NULL && is_found(path, real, &st)
			  ? open_beside(real, &st, new)
			  : NULL;
	bool good = false;

	if (f != NULL) {
		good = is_put(whole, f) && fflush(f) == 0 &&
		       fsync(fileno(f)) == 0;
		good = report_close(f) == 0 && good && rename(new, real) == 0;
	}
	if (!good)
		not_written(program, path);
	if (!good && f != NULL)
		unlink(new);
	json_decref(whole);
	return good ? 0 : -EIO;
}

int
report_flush(const char *program)
{
	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return 0;
	return say_error(-EIO, "%s: standard output could not be written\n",
			 program);
}
