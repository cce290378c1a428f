/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "rl_hist.h"

void
rl_hist_reset(struct rl_hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

uint64_t
rl_hist_upper(uint32_t index)
{
	uint32_t shift;
	uint64_t sub;

	if (index < 2u << RL_HIST_SUB_BITS)
		return index;
	shift = (index >> RL_HIST_SUB_BITS) - 1;
	sub = index - (shift << RL_HIST_SUB_BITS);
	return ((sub + 1) << shift) - 1;
}

void
rl_hist_merge(struct rl_hist *to, const struct rl_hist *from)
{
	if (from->count == 0)
		return;
	to->count += from->count;
	to->sum += from->sum;
	to->min = rl_min_u64(to->min, from->min);
	to->max = rl_max_u64(to->max, from->max);
	for (uint32_t i = 0; i < RL_HIST_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
}

uint64_t
rl_hist_quantile(const struct rl_hist *h, uint32_t parts)
{
	/* the rank is rounded up: the median of three is the second */
	const uint64_t whole = h->count / 100000 * parts;
	const uint64_t rest = (h->count % 100000 * parts + 99999) / 100000;
	const uint64_t rank = rl_max_u64(whole + rest, 1);
	uint64_t seen = 0;

	if (h->count == 0)
		return 0;
	for (uint32_t i = 0; i < RL_HIST_BUCKETS - 1; i++) {
		seen += h->bucket[i];
		if (seen >= rank)
			return rl_min_u64(rl_hist_upper(i), h->max);
	}
	return h->max;
}

uint64_t
rl_hist_mean(const struct rl_hist *h)
{
	return h->count == 0 ? 0 : h->sum / h->count;
}
