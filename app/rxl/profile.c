/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "profile.h"
#include "rl_endpoint.h"

int
rxl_profile_find(const char *name, enum rl_profile *p)
{
	for (int i = RL_PROFILE_RXL; i <= RL_PROFILE_CXL_SEP_ACK; i++)
		if (strcmp(name, rl_profile_name((enum rl_profile)i)) == 0) {
			*p = (enum rl_profile)i;
			return 0;
		}
	return -ENOENT;
}
