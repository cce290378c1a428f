/* SPDX-License-Identifier: BSD-3-Clause */
/* Which planted bug the library has now: named by the environment. */

#include <stdlib.h>
#include <string.h>

#include "rl_plant.h"

unsigned int rl_plant;

__attribute__((constructor)) static void
plant_from_env(void)
{
	static const char *const name[] = {
		"NONE",
#define PLANT_NAME(n, what) #n,
		RL_PLANT_LIST(PLANT_NAME)
#undef PLANT_NAME
	};
	const char *want = getenv("RL_PLANT_NAME");

	for (unsigned int i = 0; want != NULL && i < RL_PLANT_COUNT; i++)
		if (strcmp(name[i], want) == 0)
			rl_plant = i;
	if (want != NULL && rl_plant == 0)
		abort();
}
