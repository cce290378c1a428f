/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where documents go [APP-4]: which path is refused before a run, which are one
 * file, what stands in them, and what becomes of a file that is replaced.
 */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "report_file.h"
#include "rl_base.h"
#include "said.h"

static char top[] = "/tmp/reflit-test-XXXXXX";
static struct said said;

static void
make(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* In the test's folder: file, link to it, hard link, folder and one in it. */
static int
setup(void **state)
{
	(void)state;
	if (mkdtemp(top) == NULL || chdir(top) != 0)
		return -1;
	make("file", "x");
	make("two", "x");
	return symlink("file", "soft") == 0 && link("file", "hard") == 0 &&
			       symlink("nothing", "dangling") == 0 &&
			       mkdir("sub", 0755) == 0 &&
			       symlink("sub", "there") == 0
		       ? 0
		       : -1;
}

static int
teardown(void **state)
{
	char cmd[100];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", top);
	return chdir("/") == 0 && system(cmd) == 0 ? 0 : -1;
}

static const struct {
	const char *path;
	int err;
	const char *said; /* after "p: cannot write "; NULL: the path */
} paths[] = {
	{ NULL, 0, NULL },
	{ "-", 0, NULL },
	{ "file", 0, NULL },
	{ "soft", 0, NULL },
	{ "new", 0, NULL },
	{ "sub/new", 0, NULL },
	{ "/new", 0, NULL },
	{ "/dev/null", 0, NULL },
	{ "--", 0, NULL },
	{ "", ENOENT, "to a file without a name" },
	{ "sub", EISDIR, NULL },
	{ "none/new", ENOENT, NULL },
	{ "file/new", ENOTDIR, NULL },
	{ "/proc/none/new", ENOENT, NULL },
};

static void
a_path_that_cannot_be_written_is_said_before_anything_starts(void **state)
{
	char want[PATH_MAX + 200], longest[PATH_MAX + 2];
	int ret;

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(paths); i++) {
		const char *path = paths[i].path;

		if (path != NULL && strcmp(path, "/new") == 0 &&
		    access("/", W_OK) != 0)
			continue;
		said_begin(&said);
		ret = report_check("p", path);
		said_end(&said);
		assert_int_equal(ret, -paths[i].err);
		if (ret == 0)
			want[0] = '\0';
		else
			snprintf(want, sizeof(want), "p: cannot write %s: %s\n",
				 paths[i].said != NULL ? paths[i].said : path,
				 strerror(paths[i].err));
		assert_string_equal(said.err, want);
		assert_string_equal(said.out, "");
	}
	memset(longest, '/', sizeof(longest));
	longest[PATH_MAX + 1] = '\0';
	said_begin(&said);
	ret = report_check("p", longest);
	said_end(&said);
	assert_int_equal(ret, -ENAMETOOLONG);
}

/* Of an ordinary user: in a process of its own. */
static void
what_a_user_may_not_write_is_refused(void **state)
{
	int status = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(chmod("file", 0444), 0);
	assert_int_equal(mkdir("shut", 0555), 0);
	assert_int_equal(mkdir("open", 0777), 0);
	assert_int_equal(chmod("open", 0777), 0);
	assert_int_equal(chmod(top, 0755), 0);
	said_begin(&said);
	pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && setuid(65534) != 0)
			_exit(4);
		if (report_check("p", "file") != -EACCES)
			_exit(1);
		if (report_check("p", "shut/new") != -EACCES)
			_exit(2);
		_exit(report_check("p", "open/new") != 0 ? 3 : 0);
	}
	waitpid(pid, &status, 0);
	said_end(&said);
	assert_true(pid > 0);
	assert_int_equal(status, 0);
	assert_string_equal(said.err,
			    "p: cannot write file: Permission denied\n"
			    "p: cannot write shut/new: Permission denied\n");
	assert_int_equal(chmod("file", 0644), 0);
}

#define NOT_READ "it is read, too"
#define NOT_TWICE "another document goes there"

static const struct {
	const char *a, *b;
	bool one;
} pairs[] = {
	{ "file", "file", true },
	{ "file", "./file", true },
	{ "file", "soft", true },
	{ "hard", "soft", true },
	{ "file", "two", false },
	{ "file", "new", false },
	{ "new", "new", true },
	{ "new", "./new", true },
	{ "new", "other", false },
	{ "sub/new", "there/new", true },
	{ "sub/new", "new", false },
	{ "sub/new", "sub/../new", false },
	{ "none/new", "none/new", false },
	{ "new", "none/new", false },
	{ "/dev/null", "/dev/null", false },
	{ "-", "-", false },
	{ NULL, "file", false },
	{ NULL, NULL, false },
	{ "file", "-", false },
};

static void
two_names_of_one_file_are_seen(void **state)
{
	char want[200], here[PATH_MAX];
	int ret;

	(void)state;
	for (size_t i = 0; i < 2 * RL_ARRAY_SIZE(pairs); i++) {
		const bool turned = i % 2, one = pairs[i / 2].one;
		const char *a = turned ? pairs[i / 2].b : pairs[i / 2].a;
		const char *b = turned ? pairs[i / 2].a : pairs[i / 2].b;
		const char *two[] = { NULL, a, "two", b };
		const char *why;

		why = report_clash(a, &b, 1, NULL, 0);
		assert_true((why != NULL) == one);
		if (one)
			assert_string_equal(why, NOT_TWICE);
		why = report_clash(a, NULL, 0, two + 2, 2);
		assert_true((why != NULL) ==
			    (one || (a != NULL && strcmp(a, "two") == 0)));
		if (one)
			assert_string_equal(why, NOT_READ);
		assert_null(report_clash(a, &b, 0, &b, 0));
		/* the last of several */
		if ((a != NULL && strcmp(a, "two") == 0) ||
		    (b != NULL && strcmp(b, "two") == 0))
			continue;
		said_begin(&said);
		ret = report_apart("p", two, 4, NULL, 0);
		said_end(&said);
		assert_int_equal(ret, one ? -EINVAL : 0);
		snprintf(want, sizeof(want),
			 "p: cannot write %s: " NOT_TWICE "\n", b);
		assert_string_equal(said.err, one ? want : "");
		said_begin(&said);
		ret = report_apart("p", two, 2, &b, 1);
		said_end(&said);
		assert_int_equal(ret, one ? -EINVAL : 0);
	}
	assert_non_null(getcwd(here, sizeof(here) - 5));
	strcat(here, "/new");
	assert_string_equal(
		report_clash("new", (const char *const[]){ here }, 1, NULL, 0),
		NOT_TWICE);
}

static json_t *
load(const char *path)
{
	json_error_t e;
	json_t *j = json_load_file(path, 0, &e);

	if (j == NULL)
		fail_msg("%s: %s", path, e.text);
	return j;
}

static void
a_report_begins_with_what_made_it(void **state)
{
	char *argv[] = { (char *)(uintptr_t) "prog", (char *)(uintptr_t) "a b",
			 (char *)(uintptr_t) "\xff", (char *)(uintptr_t) "-x" };
	json_t *doc = json_pack("{s:i, s:s}", "n", 7, "date", "mine");
	json_t *list = json_pack("[i]", 3), *got, *want;
	char text[40] = "";
	FILE *f;

	(void)state;
	/* without a head, the document alone */
	assert_int_equal(report_save("p", doc, "new"), 0);
	got = load("new");
	assert_true(json_equal(got, doc));
	json_decref(got);
	report_begin("prog", 4, argv);
	json_object_del(doc, "date");
	assert_int_equal(report_save("p", doc, "new"), 0);
	got = load("new");
	want = json_pack("{s:s, s:s, s:[s, s, s], s:O, s:i}", "program", "prog",
			 "version", RL_VERSION, "arguments", "a b", "?", "-x",
			 "date", json_object_get(got, "date"), "n", 7);
	assert_true(json_equal(got, want));
	assert_int_equal(
		strlen(json_string_value(json_object_get(got, "date"))),
		strlen("2026-11-29T07:00:00Z"));
	json_decref(got);
	json_decref(want);
	assert_int_equal(json_object_size(doc), 1); /* it stays the caller's */
	/* a list has none; the file ends with its line */
	assert_int_equal(report_save("p", list, "new"), 0);
	f = fopen("new", "r");
	assert_non_null(f);
	assert_int_equal(fread(text, 1, sizeof(text) - 1, f), 8);
	assert_string_equal(text, "[\n  3\n]\n");
	fclose(f);
	assert_int_equal(unlink("new"), 0);
	json_decref(doc);
	json_decref(list);
}

static void
what_was_not_written_is_said(void **state)
{
	json_t *doc = json_pack("{s:i}", "n", 7);
	int ret;

	(void)state;
	said_begin(&said);
	ret = report_save("p", doc, "/dev/full");
	said_end(&said);
	assert_int_equal(ret, -EIO);
	assert_string_equal(said.err,
			    "p: cannot write /dev/full: No space left "
			    "on device\n");
	said_begin(&said);
	ret = report_save("p", doc, "none/x");
	said_end(&said);
	assert_int_equal(ret, -EIO);
	assert_string_equal(said.err, "p: cannot write none/x: No such file or "
				      "directory\n");
	errno = EDOM; /* of something else */
	said_begin(&said);
	ret = report_save("p", NULL, "new");
	said_end(&said);
	assert_int_equal(ret, -EIO);
	assert_string_equal(said.err, "p: cannot write new: no memory\n");
	said_begin(&said);
	ret = report_replace("p", doc, "none/x");
	said_end(&said);
	assert_int_equal(ret, -EIO);
	assert_string_equal(said.err, "p: cannot write none/x: No such file or "
				      "directory\n");
	json_decref(doc);
}

static unsigned int
mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

static void
a_file_that_is_replaced_keeps_its_name_and_permissions(void **state)
{
	json_t *doc = json_pack("{s:i}", "n", 1), *got;
	struct stat before, after;
	const mode_t was = umask(027);
	char link_to[20] = "";

	(void)state;
	/* a new one, as umask gives */
	assert_int_equal(report_replace("p", doc, "sub/new"), 0);
	assert_int_equal(mode_of("sub/new"), 0640);
	assert_int_equal(chmod("sub/new", 0604), 0);
	assert_int_equal(symlink("sub/new", "way"), 0);
	assert_int_equal(stat("way", &before), 0);
	json_object_set_new(doc, "n", json_integer(2));
	assert_int_equal(report_replace("p", doc, "way"), 0);
	assert_int_equal(stat("way", &after), 0);
	assert_int_equal(after.st_mode, before.st_mode);
	assert_true(after.st_ino != before.st_ino); /* not written over */
	assert_int_equal(readlink("way", link_to, sizeof(link_to) - 1), 7);
	assert_string_equal(link_to, "sub/new");
	got = load("sub/new");
	assert_int_equal(json_integer_value(json_object_get(got, "n")), 2);
	json_decref(got);
	if (geteuid() == 0) { /* and its owner */
		assert_int_equal(chown("sub/new", 65534, 65533), 0);
		assert_int_equal(report_replace("p", doc, "way"), 0);
		assert_int_equal(stat("way", &after), 0);
		assert_int_equal(after.st_uid, 65534);
		assert_int_equal(after.st_gid, 65533);
	}
	/* a link to what is not there yet */
	assert_int_equal(report_replace("p", doc, "dangling"), 0);
	got = load("nothing");
	json_decref(got);
	assert_int_equal(unlink("nothing"), 0);
	assert_int_equal(unlink("way"), 0);
	assert_int_equal(unlink("sub/new"), 0);
	/* nothing is left beside it */
	assert_int_equal(rmdir("sub"), 0);
	assert_int_equal(mkdir("sub", 0755), 0);
	umask(was);
	json_decref(doc);
}

/* In a process of its own, as its standard output changes for good. */
static void
claimed(const char *const path[], unsigned int n, int ret)
{
	const pid_t pid = fork();
	json_t *doc;
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (report_claim_stdout("p", path, n) != ret)
			_exit(1);
		if (ret == 0 && report_claim_stdout("p", path, n) != 0)
			_exit(2);
		puts("a line");
		doc = json_pack("[i]", 5);
		if (ret == 0 && report_save("p", doc, "-") != 0)
			_exit(3);
		_exit(fflush(NULL) != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void
a_document_on_standard_output_is_alone_there(void **state)
{
	const char *const none[] = { NULL, "file" }, *const one[] = { "file",
								      "-" };
	const char *const two[] = { "-", NULL, "-" };

	(void)state;
	said_begin(&said);
	claimed(one, 2, 0);
	said_end(&said);
	assert_string_equal(said.out, "[\n  5\n]\n");
	assert_string_equal(said.err, "a line\n");
	said_begin(&said);
	claimed(none, 2, 0);
	said_end(&said);
	assert_string_equal(said.out, "a line\n[\n  5\n]\n");
	assert_string_equal(said.err, "");
	said_begin(&said);
	claimed(two, 3, -EINVAL);
	said_end(&said);
	assert_string_equal(said.out, "a line\n");
	assert_string_equal(said.err, "p: only one document can go to standard "
				      "output (-)\n");
	said_begin(&said);
	claimed(two, 2, 0);
	said_end(&said);
	assert_string_equal(said.err, "a line\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_path_that_cannot_be_written_is_said_before_anything_starts),
		cmocka_unit_test(what_a_user_may_not_write_is_refused),
		cmocka_unit_test(two_names_of_one_file_are_seen),
		cmocka_unit_test(a_report_begins_with_what_made_it),
		cmocka_unit_test(what_was_not_written_is_said),
		cmocka_unit_test(
			a_file_that_is_replaced_keeps_its_name_and_permissions),
		cmocka_unit_test(a_document_on_standard_output_is_alone_there),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
