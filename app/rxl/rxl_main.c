/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `reflit-sim rxl`: a Python program (driver/) makes tables and pictures, and
 * asks this one for points (points.c).
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"
#include "rl_rxl_app.h"

#define WHO "reflit-sim rxl"

int
rl_rxl_main(int argc, char **argv)
{
	static char version[] = RL_VERSION;
	int n;
	char **args = driver_args(WHO, "rxl", RXL_INSTALLED, "rxl.py", argc, &n);

	if (args == NULL)
		return 2;
	args[n] = version;
	memcpy(args + n + 1, argv + 1, ((size_t)argc - 1) * sizeof(*args));
	execvp(args[0], args);
	driver_failed(WHO);
	free(args);
	return 2;
}
