/* SPDX-License-Identifier: BSD-3-Clause */

/* Lists of faults, sorted by time. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rl_sim.h"

static int
list_grow(struct rl_sim_faults *list)
{
	const uint32_t cap = list->cap == 0 ? 16 : 2 * list->cap;
	struct rl_sim_fault *more;

	if (list->n < list->cap)
		return 0;
	more = realloc(list->f, cap * sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	list->f = more;
	list->cap = cap;
	return 0;
}

int
rl_sim_fault_add(struct rl_sim_faults *list, const struct rl_sim_fault *f)
{
	uint32_t i;

	if (list_grow(list) != 0)
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
rl_sim_fault_push(struct rl_sim_faults *list, const struct rl_sim_fault *f)
{
	if (list_grow(list) != 0)
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
	struct rl_sim_fault *f = malloc((list->n + 1u) * sizeof(*f));

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
		if ((list->f[i].kind == RL_SIM_CRASH ||
		     list->f[i].kind == RL_SIM_RESTART) &&
		    topo->dev[list->f[i].dev].kind == RL_DEV_ENDPOINT)
			return true;
	return false;
}

bool
rl_sim_faults_soft(const struct rl_sim_faults *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->f[i].kind == RL_SIM_NOISE &&
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

RL_NAMES(rl_sim_fault_name, enum rl_sim_fault_kind, RL_SIM_FAULTS(RL_WORD))

/* "A-B#k", or with an arrow in the direction of a one-way fault. */
static void
place_text(const struct rl_sim_fault *f, const struct rl_topo *topo, char *buf,
	   size_t len)
{
	const struct rl_topo_link *l = &topo->link[f->link];
	const bool turned = f->dirs == RL_SIM_DIR_BA ||
			    (f->dirs == RL_SIM_DIR_BOTH && f->counts);

	snprintf(buf, len, "%s%c%s#%u", topo->dev[l->dev[turned]].name,
		 f->dirs == RL_SIM_DIR_BOTH ? '-' : '>',
		 topo->dev[l->dev[!turned]].name, l->k);
}

/* Options that are at their defaults are left out. */
static void
noise_text(const struct rl_sim_noise *n, char *buf, size_t len)
{
	static const char *const hurt[] = {
		"any",	  "header",	   "body",	  "header+body",
		"length", "header+length", "body+length",
	};
	const struct {
		const char *key;
		double value;
	} rates[] = {
		{ "loss", n->loss_ppb / 1e9 },
		{ "corrupt", n->corrupt_ppb / 1e9 },
		{ "dup", n->dup_ppb / 1e9 },
		{ "jitter", n->jitter_ppb / 1e9 },
		{ "soft", n->soft_ppb / 1e9 },
		{ "poison", n->poison_ppb / 1e9 },
		{ "propagate", n->propagate },
	};
	size_t at = 0;

#define ADD(...)                                                               \
	(at += at >= len ? 0 : (size_t)snprintf(buf + at, len - at, __VA_ARGS__))
	for (size_t i = 0; i < RL_ARRAY_SIZE(rates); i++)
		if (rates[i].value != 0)
			ADD(" %s=%.9g", rates[i].key, rates[i].value);
	if (n->bit_rate != 0)
		ADD(" ber=%.17g", n->bit_rate);
	if (n->burst_bytes != 0 && n->burst_bytes != 8)
		ADD(" bytes=%u", n->burst_bytes);
	if (n->where != 0 && n->where < RL_ARRAY_SIZE(hurt))
		ADD(" hurt=%s", hurt[n->where]);
	if (n->jitter_ns != 0 && n->jitter_ppb != 0)
		ADD(" within=%lluns", (unsigned long long)n->jitter_ns);
	if (n->delay_ns != 0)
		ADD(" delay=%lluns", (unsigned long long)n->delay_ns);
	if (n->lanes > 1)
		ADD(" lanes=%u", n->lanes);
#undef ADD
}

/* Options of a fault that may wait for a frame. */
static void
counted_text(const struct rl_sim_fault *f, char *buf, size_t len)
{
	static const char *const flight[] = { "", " arrive", " late" };
	int n = 0;

	if (f->nth != 0)
		n = snprintf(buf, len, " %s=%u", f->nth_flit ? "flit" : "frame",
			     f->nth);
	if (f->kind == RL_SIM_DROP)
		snprintf(buf + n, len - (size_t)n, " count=%u",
			 f->count == 0 ? 1 : f->count);
	else if (f->kind == RL_SIM_CORRUPT)
		snprintf(buf + n, len - (size_t)n, " bytes=%u",
			 f->noise.burst_bytes == 0 ? 8 : f->noise.burst_bytes);
	else
		snprintf(buf + n, len - (size_t)n, "%s%s",
			 f->silent ? " silent" : "", flight[f->flight]);
}

char *
rl_sim_fault_text(const struct rl_sim_fault *f, const struct rl_topo *topo,
		  char *buf, size_t len)
{
	char place[2 * RL_NAME_MAX + 16], more[320] = "";

	if (f->kind >= RL_SIM_CTL_CRASH)
		place[0] = '\0';
	else if (f->is_dev)
		snprintf(place, sizeof(place), "%s", topo->dev[f->dev].name);
	else
		place_text(f, topo, place, sizeof(place));
	switch (f->kind) {
	case RL_SIM_CUT:
	case RL_SIM_DROP:
	case RL_SIM_CORRUPT:
		counted_text(f, more, sizeof(more));
		break;
	case RL_SIM_STALL:
	case RL_SIM_LATE:
	case RL_SIM_CTL_LATE:
		snprintf(more, sizeof(more), " for=%lluns",
			 (unsigned long long)f->for_ns);
		break;
	case RL_SIM_NOISE:
		noise_text(&f->noise, more, sizeof(more));
		break;
	case RL_SIM_HEAL:
	case RL_SIM_DOWN:
	case RL_SIM_DRAIN:
	case RL_SIM_UP:
	case RL_SIM_REMOVE:
	case RL_SIM_ADD:
		break;
	case RL_SIM_CRASH:
	case RL_SIM_RESTART:
	case RL_SIM_CTL_CRASH:
	case RL_SIM_CTL_RESTART:
	case RL_SIM_FAULT_KINDS:
		break;
	}
	snprintf(buf, len, "%lluns %s %s%s%s", (unsigned long long)f->t_ns,
		 rl_sim_fault_name(f->kind), place, more,
		 f->lasting ? " lasting" : "");
	return buf;
}
