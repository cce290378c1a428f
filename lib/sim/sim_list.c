/* SPDX-License-Identifier: BSD-3-Clause */

/* Lists of faults, in the order of their times. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rl_sim.h"

int
rl_sim_fault_add(struct rl_sim_faults *list, const struct rl_sim_fault *f)
{
	uint32_t i;

	if (list->n == list->cap) {
		const uint32_t cap = list->cap == 0 ? 16 : 2 * list->cap;
		struct rl_sim_fault *more =
			realloc(list->f, cap * sizeof(*more));

		if (more == NULL)
			return -ENOMEM;
		list->f = more;
		list->cap = cap;
	}
	for (i = list->n; i > 0 && list->f[i - 1].t_ns > f->t_ns; i--)
		;
	memmove(&list->f[i + 1], &list->f[i],
		(list->n - i) * sizeof(list->f[0]));
	list->f[i] = *f;
	list->n++;
	return 0;
}

void
rl_sim_faults_free(struct rl_sim_faults *list)
{
	free(list->f);
	*list = (struct rl_sim_faults){ 0 };
}

const char *
rl_sim_fault_name(enum rl_sim_fault_kind k)
{
	static const char *const names[] = {
#define SIM_FAULT_NAME(name, word) word,
		RL_SIM_FAULTS(SIM_FAULT_NAME)
#undef SIM_FAULT_NAME
	};

	return k < RL_SIM_FAULT_KINDS ? names[k] : "?";
}
