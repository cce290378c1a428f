/* SPDX-License-Identifier: BSD-3-Clause */

#include "driver.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rl_base.h"

char **
driver_args(const char *who, const char *built, const char *installed,
	    const char *file, int room, int *n)
{
	static char python[] = "python3", plain[] = "-B";
	static char program[PATH_MAX], driver[PATH_MAX];
	const char *const places[] = { built, installed };
	const ssize_t len = readlink("/proc/self/exe", program, PATH_MAX - 1);
	char **args = calloc((size_t)room + 5, sizeof(*args));
	int folder;

	if (len < 0 || args == NULL) {
		fprintf(stderr, "%s: %s\n", who, strerror(errno));
		free(args);
		return NULL;
	}
	program[len] = '\0';
	folder = (int)(strrchr(program, '/') - program);
	args[0] = python;
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
