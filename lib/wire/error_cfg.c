/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rl_error.h"
#include "rl_refuse.h"

void
rl_error_cfg_defaults(struct rl_error_cfg *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->lanes = 1;
	cfg->burst_min_bytes = 1;
	cfg->burst_max_bytes = 1;
	cfg->span_bytes = RL_ERROR_SPAN_MAX;
}

static int
refuse(char *err, size_t errlen, const char *what)
{
	return rl_refuse(err, errlen, -EINVAL, "%s", what);
}

/* written so that NaN fails, too */
static bool
is_rate(double p)
{
	return p >= 0.0 && p <= 1.0;
}

int
rl_error_cfg_check(const struct rl_error_cfg *c, char *err, size_t errlen)
{
	if (!is_rate(c->bit_rate))
		return refuse(err, errlen, "bit_rate: use 0 to 1");
	if (!is_rate(c->propagate) || c->propagate == 1.0)
		return refuse(err, errlen,
			      "propagate: use 0 to less than 1; at 1 a burst "
			      "never ends");
	if (c->lanes == 0 || c->lanes > RL_ERROR_LANES_MAX ||
	    (c->lanes & (c->lanes - 1)) != 0)
		return refuse(err, errlen, "lanes: use 1, 2, 4, 8 or 16");
	if (!is_rate(c->burst_rate))
		return refuse(err, errlen, "burst_rate: use 0 to 1");
	if (!is_rate(c->drop_rate))
		return refuse(err, errlen, "drop_rate: use 0 to 1");
	if (c->span_bytes == 0 || c->span_bytes > RL_ERROR_SPAN_MAX ||
	    c->span_bytes % c->lanes != 0)
		return refuse(err, errlen,
			      "span_bytes: use 1 to 256, a multiple of lanes");
	if (c->burst_min_bytes == 0 ||
	    c->burst_min_bytes > c->burst_max_bytes ||
	    c->burst_max_bytes > c->span_bytes)
		return refuse(err, errlen,
			      "burst_min_bytes, burst_max_bytes: use 1 to "
			      "span_bytes, the lesser first");
	return 0;
}
