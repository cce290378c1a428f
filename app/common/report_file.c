/* SPDX-License-Identifier: BSD-3-Clause */

#include "report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
		fprintf(stderr, "%s: cannot write %s: %s\n", program, path[i],
			why);
		return -EINVAL;
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
	if (claims > 1) {
		fprintf(stderr, "%s: only one document can go to standard "
				"output (-)\n",
			program);
		return -EINVAL;
	}
	fflush(stdout);
	stdout_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (stdout_fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		fprintf(stderr, "%s: standard output: %s\n", program,
			strerror(errno));
		return -EIO;
	}
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

int
report_save(const char *program, const json_t *report, const char *path)
{
	json_t *whole = NULL;
	FILE *f = NULL;
	int ret = -EIO;

	errno = 0;
	if (json_is_object(report) && head != NULL) {
		whole = json_copy(head);
		if (whole != NULL)
			(void)json_object_update(
				whole, (json_t *)(uintptr_t)report);
	} else if (report != NULL) {
		whole = json_incref((json_t *)(uintptr_t)report);
	}
	if (whole != NULL)
		f = report_open(path);
	if (f != NULL) {
		const int bad = json_dumpf(whole, f, JSON_INDENT(2)) != 0 ||
				fputc('\n', f) == EOF;

		ret = report_close(f) == 0 && !bad ? 0 : -EIO;
	}
	if (ret != 0)
		fprintf(stderr, "%s: cannot write %s: %s\n", program,
			is_stdout(path) ? "standard output" : path,
			errno != 0 ? strerror(errno) : "no memory");
	json_decref(whole);
	return ret;
}

int
report_flush(const char *program)
{
	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return 0;
	fprintf(stderr, "%s: standard output could not be written\n", program);
	return -EIO;
}
