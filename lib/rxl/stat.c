/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "rl_rxl_stat.h"

/** 97.5 % point of the normal distribution. */
#define Z 1.959963984540054

struct rl_rxl_rate
rl_rxl_rate(uint64_t hits, uint64_t of)
{
	struct rl_rxl_rate r = { hits, of, 0, 0, 1 };
	const double n = (double)of;
	double p, mid, half;

	RL_ASSERT(hits <= of);
	if (of == 0)
		return r;
	p = (double)hits / n;
	mid = (p + Z * Z / (2 * n)) / (1 + Z * Z / n);
	half = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) /
	       (1 + Z * Z / n);
	r.rate = p;
	/* at the ends the formula is exact but for rounding */
	r.lo = hits == 0 ? 0 : mid - half;
	r.hi = hits == of ? 1 : mid + half;
	return r;
}

bool
rl_rxl_rate_holds(const struct rl_rxl_rate *r, double computed)
{
	return computed >= r->lo && computed <= r->hi;
}
