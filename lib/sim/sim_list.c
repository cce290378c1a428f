/* SPDX-License-Identifier: BSD-3-Clause */

/* Lists of faults, sorted by time. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rl_grow.h"
#include "rl_sim_fault.h"

int
rl_sim_fault_add(struct rl_sim_faults *list, const struct rl_fault *f)
{
	uint32_t i;

	if (!rl_grow(&list->f, list->n, &list->cap, sizeof(*f)))
		return -ENOMEM;
	for (i = list->n; i > 0 && list->f[i - 1].t_ns > f->t_ns; i--)
		;
	memmove(&list->f[i + 1], &list->f[i],
		(list->n - i) * sizeof(list->f[0]));
	list->f[i] = *f;
	list->n++;
	return 0;
}

int
rl_sim_fault_push(struct rl_sim_faults *list, const struct rl_fault *f)
{
	if (!rl_grow(&list->f, list->n, &list->cap, sizeof(*f)))
		return -ENOMEM;
	list->f[list->n++] = *f;
	return 0;
}

/* Sort key: by time, then by position, so that the sort is stable. */
struct list_place {
	uint64_t t_ns;
	uint32_t at;
};

static int
place_compare(const void *va, const void *vb)
{
	const struct list_place *a = va, *b = vb;

	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

int
rl_sim_faults_sort(struct rl_sim_faults *list)
{
	struct list_place *place = malloc((list->n + 1u) * sizeof(*place));
	struct rl_fault *f = malloc((list->n + 1u) * sizeof(*f));

	if (place == NULL || f == NULL) {
		free(place);
		free(f);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < list->n; i++)
		place[i] = (struct list_place){ list->f[i].t_ns, i };
	qsort(place, list->n, sizeof(*place), place_compare);
	for (uint32_t i = 0; i < list->n; i++)
		f[i] = list->f[place[i].at];
	free(place);
	free(list->f);
	list->f = f;
	list->cap = list->n + 1;
	return 0;
}

bool
rl_sim_faults_crash(const struct rl_sim_faults *list,
		    const struct rl_topo *topo)
{
	for (uint32_t i = 0; i < list->n; i++)
		if ((list->f[i].kind == RL_FAULT_CRASH ||
		     list->f[i].kind == RL_FAULT_RESTART) &&
		    topo->dev[list->f[i].dev].kind == RL_DEV_ENDPOINT)
			return true;
	return false;
}

bool
rl_sim_faults_soft(const struct rl_sim_faults *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->f[i].kind == RL_FAULT_NOISE &&
		    (list->f[i].noise.soft_ppb |
		     list->f[i].noise.poison_ppb) != 0)
			return true;
	return false;
}

void
rl_sim_faults_free(struct rl_sim_faults *list)
{
	free(list->f);
	*list = (struct rl_sim_faults){ 0 };
}

static int
list_take(void *list, const struct rl_fault *f)
{
	return rl_sim_fault_push(list, f);
}

int
rl_sim_faults_text(const char *name, const char *text, size_t len,
		   const struct rl_topo *topo,
		   const struct rl_fault_run_lines *run,
		   struct rl_sim_faults *list, char *err, size_t errlen)
{
	struct rl_sim_faults more = { 0 };
	int ret = rl_fault_file(name, text, len, topo, run, list_take, &more,
				err, errlen);

	for (uint32_t i = 0; ret == 0 && i < more.n; i++)
		ret = rl_sim_fault_push(list, &more.f[i]);
	if (ret == 0)
		ret = rl_sim_faults_sort(list);
	rl_sim_faults_free(&more);
	if (ret == -ENOMEM)
		snprintf(err, errlen, "%s: out of memory", name);
	return ret;
}
