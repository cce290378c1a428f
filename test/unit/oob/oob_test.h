/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OOB_TEST_H
#define OOB_TEST_H

/* Shared by the tests of this folder. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../figure1.h"
#include "rl_config.h"
#include "rl_local.h"
#include "rl_oob.h"

/* Two processes: l runs e0 and s0, r the rest. Links are cables. */
#define OOB_FABRIC                                                             \
	FIGURE1_FABRIC                                                         \
	"processes = ( { name = \"l\"; devices = [\"e0\", \"s0\"]; },\n"       \
	"  { name = \"r\"; devices = [\"s1\", \"e1\"]; } );\n"                 \
	"wires = ( { link = \"s0-s1#0\"; a = \"x0\"; b = \"x0\"; },\n"         \
	"  { link = \"s0-s1#1\"; a = \"x1\"; b = \"x1\"; } );\n"

static inline struct rl_config *
oob_config(const char *more)
{
	struct rl_config *cfg = calloc(1, sizeof(*cfg));
	char err[RL_ERR_MAX + 512] = "";
	char text[2048];

	assert_non_null(cfg);
	snprintf(text, sizeof(text), "%s%s", OOB_FABRIC, more);
	if (rl_config_read_text("t.cfg", text, strlen(text), cfg, err,
				sizeof(err)) != 0)
		fail_msg("refused: %s", err);
	return cfg;
}

static inline void
oob_config_drop(struct rl_config *cfg)
{
	rl_config_free(cfg);
	free(cfg);
}

#endif /* OOB_TEST_H */
