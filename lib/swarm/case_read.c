/* SPDX-License-Identifier: BSD-3-Clause */

/* A plan from a fault file with `run` lines. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "rl_infile.h"
#include "rl_swarm_case.h"

#define FILE_MAX_BYTES (16u << 20)

struct reading {
	struct rl_swarm_plan *plan;
	bool *run; /* there was a line */
};

static void
begin(void *ctx)
{
	const struct reading *r = ctx;

	if (!*r->run)
		rl_swarm_settings_defaults(r->plan);
	*r->run = true;
}

static int
take(void *ctx, const char *key, const char *value)
{
	const struct reading *r = ctx;

	return rl_swarm_setting_take(r->plan, key, value);
}

static int
check(void *ctx, char *err)
{
	const struct reading *r = ctx;

	return rl_swarm_settings_check(r->plan, err);
}

int
rl_swarm_case_text(const char *name, const char *text, size_t len,
		   struct rl_swarm_plan *plan, bool *run, char *err,
		   size_t errlen)
{
	struct reading r = { plan, run };
	const struct rl_fault_run_lines lines = { &r, begin, take, check };

	*run = false;
	return rl_sim_faults_text(name, text, len, &plan->cfg.topo, &lines,
				  &plan->faults, err, errlen);
}

int
rl_swarm_case_read(const char *path, struct rl_swarm_plan *plan, bool *run,
		 char *err, size_t errlen)
{
	char *text = NULL;
	size_t len = 0;
	int ret = rl_infile_read(path, RL_INFILE_ANY, FILE_MAX_BYTES, &text,
				 &len);

	if (ret != 0)
		snprintf(err, errlen, "%s: %s",
			 path[0] == '\0' ? "a file without a name" : path,
			 ret == -EFBIG ? "more than 16 MiB"
				       : rl_infile_error(ret));
	else
		ret = rl_swarm_case_text(path, text, len, plan, run, err,
				       errlen);
	free(text);
	return ret;
}
