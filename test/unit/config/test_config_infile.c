/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a file whole [APP-4]: whatever a name may stand for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "rl_infile.h"

static char dir[32];

static int
make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/infile-XXXXXX");
	return mkdtemp(dir) == NULL ? -1 : 0;
}

static int
remove_dir(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/x", dir);
	unlink(path);
	return rmdir(dir);
}

static const char *
in_dir(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/x", dir);
	return path;
}

static void
put(const char *text, size_t len)
{
	FILE *f = fopen(in_dir(), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void
a_file_is_read_whole_up_to_its_limit(void **state)
{
	char *big = malloc(200000), *text;
	size_t len;

	(void)state;
	memset(big, 'x', 200000);
	put(big, 200000);
	assert_int_equal(rl_infile_read(in_dir(), RL_INFILE_PLAIN, 200000,
					&text, &len), 0);
	assert_int_equal(len, 200000);
	assert_memory_equal(text, big, len);
	assert_int_equal(text[len], '\0');
	free(text);
	assert_int_equal(rl_infile_read(in_dir(), RL_INFILE_PLAIN, 199999,
					&text, &len), -EFBIG);
	put("", 0);
	assert_int_equal(rl_infile_read(in_dir(), RL_INFILE_ANY, 10, &text,
					&len), 0);
	assert_int_equal(len, 0);
	free(text);
	free(big);
}

static void
a_folder_and_no_name_are_no_files(void **state)
{
	char *text;
	size_t len;

	(void)state;
	for (int kind = RL_INFILE_ANY; kind <= (int)RL_INFILE_PLAIN; kind++) {
		assert_int_equal(rl_infile_read("/tmp",
						(enum rl_infile_kind)kind, 10,
						&text, &len), -EISDIR);
		assert_int_equal(rl_infile_read("", (enum rl_infile_kind)kind,
						10, &text, &len), -ENOENT);
	}
	assert_non_null(strstr(rl_infile_error(-EISDIR), "plain"));
}

static void
a_pipe_is_read_once_by_callers_that_take_pipes(void **state)
{
	char *text = NULL;
	size_t len;
	pid_t pid;

	(void)state;
	assert_int_equal(mkfifo(in_dir(), 0600), 0);
	/* a FIFO without a writer */
	assert_int_equal(rl_infile_read(in_dir(), RL_INFILE_ANY, 10, &text,
					&len), -EPIPE);
	assert_null(text);
	assert_int_equal(rl_infile_read(in_dir(), RL_INFILE_PLAIN, 10, &text,
					&len), -EISDIR);
	pid = fork();
	if (pid == 0) {
		FILE *f = fopen(in_dir(), "w"); /* waits for the reader */

		_exit(f == NULL || fputs("hello", f) < 0 || fclose(f) != 0);
	}
	assert_true(pid > 0);
	/* the writer may not be there yet */
	while (rl_infile_read(in_dir(), RL_INFILE_ANY, 10, &text, &len) ==
	       -EPIPE)
		usleep(1000);
	assert_int_equal(len, 5);
	assert_string_equal(text, "hello");
	free(text);
	waitpid(pid, NULL, 0);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)
	const struct CMUnitTest tests[] = {
		T(a_file_is_read_whole_up_to_its_limit),
		T(a_folder_and_no_name_are_no_files),
		T(a_pipe_is_read_once_by_callers_that_take_pipes),
	};

	return cmocka_run_group_tests_name("infile", tests, NULL, NULL);
}
