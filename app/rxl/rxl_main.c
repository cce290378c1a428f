/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `reflit-sim rxl`: a Python program (driver/) makes tables and pictures, and
 * asks this one for points (points.c).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rl_base.h"
#include "rl_rxl_app.h"

/* Paths of the driver, relative to the folder of the program: in the build and
   when installed. */
static const char *const places[] = { "rxl", RXL_INSTALLED };

/* Finds the path of this program and of the driver. */
static int
find_driver(char program[PATH_MAX], char driver[PATH_MAX])
{
	const ssize_t n = readlink("/proc/self/exe", program, PATH_MAX - 1);
	int folder;

	if (n < 0)
		return -errno;
	program[n] = '\0';
	folder = (int)(strrchr(program, '/') - program);
	for (size_t i = 0; i < RL_ARRAY_SIZE(places); i++)
		if (snprintf(driver, PATH_MAX, "%.*s/%s/rxl.py", folder,
			     program, places[i]) < PATH_MAX &&
		    access(driver, R_OK) == 0)
			return 0;
	fprintf(stderr, "reflit-sim rxl: there is no rxl.py in %.*s/%s\n",
		folder, program, RXL_INSTALLED);
	return -ENOENT;
}

int
rl_rxl_main(int argc, char **argv)
{
	static char python[] = "python3", plain[] = "-B", version[] = RL_VERSION;
	char program[PATH_MAX], driver[PATH_MAX];
	char **args;

	if (find_driver(program, driver) != 0)
		return 2;
	args = calloc((size_t)argc + 5, sizeof(*args));
	if (args == NULL) {
		fprintf(stderr, "reflit-sim rxl: out of memory\n");
		return 2;
	}
	args[0] = python;
	args[1] = plain; /* no .pyc files beside the driver */
	args[2] = driver;
	args[3] = program;
	args[4] = version;
	memcpy(args + 5, argv + 1, ((size_t)argc - 1) * sizeof(*args));
	execvp("python3", args);
	if (errno == ENOENT)
		fprintf(stderr, "reflit-sim rxl: it needs python3, which is "
				"not installed\n");
	else
		fprintf(stderr, "reflit-sim rxl: python3: %s\n",
			strerror(errno));
	free(args);
	return 2;
}
