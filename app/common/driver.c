/* SPDX-License-Identifier: BSD-3-Clause */

#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rl_base.h"
#include "stop_signal.h"

/* Else the next files that are opened are standard ones. */
static void
open_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0) /* what is printed fails as before */
			(void)open("/dev/null", fd == STDERR_FILENO ? O_WRONLY
								    : O_RDONLY);
}

char **
driver_args(const char *who, const char *built, const char *installed,
	    const char *file, int room, int *n)
{
	/* the system's, which starts faster than one that looks for itself */
	static char python[] = "/usr/bin/python3", other[] = "python3";
	static char plain[] = "-B";
	static char program[PATH_MAX], driver[PATH_MAX];
	const char *const places[] = { built, installed };
	const ssize_t len = readlink("/proc/self/exe", program, PATH_MAX - 1);
	char **args = calloc((size_t)room + 5, sizeof(*args));
	int folder;

	open_standard();
	if (len < 0 || args == NULL) {
		fprintf(stderr, "%s: %s\n", who, strerror(errno));
		free(args);
		return NULL;
	}
	program[len] = '\0';
	folder = (int)(strrchr(program, '/') - program);
	args[0] = access(python, X_OK) == 0 ? python : other;
	args[1] = plain; /* no .pyc files beside it */
	args[2] = driver;
	args[3] = program;
	*n = 4;
	for (size_t i = 0; i < RL_ARRAY_SIZE(places); i++)
		if (snprintf(driver, PATH_MAX, "%.*s/%s/%s", folder, program,
			     places[i], file) < PATH_MAX &&
		    access(driver, R_OK) == 0)
			return args;
	fprintf(stderr, "%s: there is no %s in %.*s/%s\n", who, file, folder,
		program, installed);
	free(args);
	return NULL;
}

void
driver_failed(const char *who)
{
	if (errno == ENOENT)
		fprintf(stderr, "%s: it needs python3, which is not installed\n",
			who);
	else
		fprintf(stderr, "%s: python3: %s\n", who, strerror(errno));
}

/* A signal for this process is one for the driver. @return its exit status */
static int
wait_for(const char *who, pid_t child)
{
	int status = -1; /* of none that has ended */

	stop_interrupts(true);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		kill(child, SIGTERM);
	stop_interrupts(false);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (stop_asked() == 0)
		fprintf(stderr, "%s: python3 ended before its answer\n", who);
	return -1;
}

static int
run(const char *who, char **args)
{
	pid_t child;

	fflush(NULL);
	/* ignored by what started this program, it would take the status */
	signal(SIGCHLD, SIG_DFL);
	child = fork();
	if (child > 0)
		return wait_for(who, child);
	if (child == 0) {
		/* Ctrl-C reaches it through this process, once */
		(void)setpgid(0, 0);
		(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
		execvp(args[0], args);
		driver_failed(who);
		_exit(2);
	}
	fprintf(stderr, "%s: %s\n", who, strerror(errno));
	return -1;
}

int
driver_ask(const char *who, const char *built, const char *installed,
	   const char *file, char *const words[], int n_words,
	   const json_t *question, json_t **answer)
{
	int n, status = -1;
	char **args = driver_args(who, built, installed, file, 2 + n_words,
				  &n);
	const int in = memfd_create("question", 0);
	const int out = memfd_create("answer", 0);
	char question_path[32], answer_path[32];

	*answer = NULL;
	snprintf(question_path, sizeof(question_path), "/proc/self/fd/%d", in);
	snprintf(answer_path, sizeof(answer_path), "/proc/self/fd/%d", out);
	if (args != NULL && in >= 0 && out >= 0 &&
	    json_dumpfd(question, in, 0) == 0) {
		args[n] = question_path;
		args[n + 1] = answer_path;
		for (int i = 0; i < n_words; i++)
			args[n + 2 + i] = words[i];
		status = run(who, args);
		*answer = json_loadfd(out, 0, NULL);
		/* Python's status of an error is that of a broken promise */
		if (*answer == NULL && status <= 1)
			status = -1;
	} else if (args != NULL) {
		fprintf(stderr, "%s: %s could not be asked\n", who, file);
	}
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	free(args);
	return status;
}
