/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rl_check_mix.h"

int
rl_flows_init(struct rl_flows *f, uint32_t nep)
{
	memset(f, 0, sizeof(*f));
	f->nep = nep;
	f->words = (nep + 63) / 64;
	f->bit = calloc((size_t)nep * f->words + 1, sizeof(*f->bit));
	return f->bit != NULL ? 0 : -ENOMEM;
}

void
rl_flows_free(struct rl_flows *f)
{
	free(f->bit);
	memset(f, 0, sizeof(*f));
}

void
rl_flows_add(struct rl_flows *f, uint32_t src, uint32_t dst)
{
	RL_ASSERT(src < f->nep && dst < f->nep);
	if (rl_flows_has(f, src, dst))
		return;
	f->bit[(size_t)src * f->words + dst / 64] |= 1ull << (dst % 64);
	f->count++;
}

void
rl_flows_remove(struct rl_flows *f, uint32_t src, uint32_t dst)
{
	RL_ASSERT(src < f->nep && dst < f->nep);
	if (!rl_flows_has(f, src, dst))
		return;
	f->bit[(size_t)src * f->words + dst / 64] &= ~(1ull << (dst % 64));
	f->count--;
}
