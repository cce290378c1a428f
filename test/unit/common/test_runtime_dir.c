/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime directory of an ordinary user, whom no environment names one:
 * any number of programs begin and end beside each other, and the last one
 * leaves nothing.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime_dir.h"

enum { PROGRAMS = 6, RUNS = 150, NOBODY = 65534 };

/* A run, as far as the directory is concerned: EAL makes what is missing of it,
   telemetry puts its socket there and takes it away at exit. */
static void
run_once(void)
{
	struct runtime_dir d;
	const char *tmp;
	char path[128];
	int fd;

	runtime_dir_make(&d);
	tmp = getenv("XDG_RUNTIME_DIR");
	if (tmp == NULL)
		tmp = "/tmp";
	snprintf(path, sizeof(path), "%s/dpdk", tmp);
	(void)mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/dpdk/rte", tmp);
	(void)mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/dpdk/rte/socket.%d", tmp,
		 (int)getpid());
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0) {
		perror(path);
		_exit(1);
	}
	close(fd);
	(void)unlink(path);
	runtime_dir_remove(&d);
	exit(0); /* NOLINT: what is registered for the exit is the test */
}

/* A user who is not root, with a private /tmp if possible. */
static int
begin(void **state)
{
	(void)state;
	unsetenv("XDG_RUNTIME_DIR");
	if (geteuid() != 0)
		return 0;
	if (unshare(CLONE_NEWNS) == 0 &&
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		(void)mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777");
	return setgid(NOBODY) != 0 || setuid(NOBODY) != 0 ? -1 : 0;
}

static void
programs_begin_and_end_beside_each_other(void **state)
{
	int failed = 0, status;

	(void)state;
	for (int i = 0; i < PROGRAMS; i++) {
		if (fork() != 0)
			continue;
		for (int run = 0; run < RUNS && failed == 0; run++) {
			const pid_t pid = fork();

			if (pid == 0)
				run_once();
			failed = waitpid(pid, &status, 0) != pid ||
				 status != 0;
		}
		_exit(failed);
	}
	while (wait(&status) > 0)
		failed += status != 0;
	assert_int_equal(failed, 0);
}

/* If it is there, another program of this user has it, or has just made it. */
static void
the_last_one_leaves_nothing(void **state)
{
	int fd, had = 0;

	(void)state;
	for (int i = 0; i < 200 && had == 0; i++) {
		fd = open("/tmp/dpdk", O_RDONLY | O_DIRECTORY);
		if (fd < 0)
			return;
		had = flock(fd, LOCK_EX | LOCK_NB);
		close(fd);
		usleep(10000);
	}
	assert_int_equal(had, -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_begin_and_end_beside_each_other),
		cmocka_unit_test(the_last_one_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
