/* SPDX-License-Identifier: BSD-3-Clause */

#include <sched.h>

#include "cpus.h"

unsigned int
cpus_allowed(void)
{
	cpu_set_t set;
	int n;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	n = CPU_COUNT(&set);
	return n < 1 ? 1 : (unsigned int)n;
}
