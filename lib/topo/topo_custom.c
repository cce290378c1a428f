/* SPDX-License-Identifier: BSD-3-Clause */
/* Free-form fabrics: lists of switches, endpoints and links [ROUTE-1]. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo_impl.h"

int
topo_size_custom(struct topo_build *b, struct topo_size *size)
{
	const struct rl_topo_spec *spec = b->spec;

	size->switches = spec->nswitches;
	size->endpoints = spec->nendpoints;
	for (uint32_t i = 0; i < spec->nlinks; i++) {
		const struct rl_topo_ref *l = &spec->links[i];

		if (l->count == 0)
			return topo_error(b, l->line,
					  "link %s-%s: count is 0; the least "
					  "is 1", l->a, l->b);
		size->links += l->count;
	}
	return 0;
}

static int
custom_add_devs(struct topo_build *b, enum rl_dev_kind kind,
		const struct rl_topo_ref *ref, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!rl_topo_name_ok(ref[i].a))
			return topo_error(b, ref[i].line,
					  "bad name '%s'; a name is a letter, "
					  "then letters, digits, '.' and '_', "
					  "%d at most",
					  ref[i].a, RL_NAME_MAX - 1);
		topo_add_dev(b, kind, "%s", ref[i].a);
	}
	return 0;
}

int
topo_fill_custom_devs(struct topo_build *b)
{
	const struct rl_topo_spec *spec = b->spec;
	int ret = custom_add_devs(b, RL_DEV_SWITCH, spec->switches,
				  spec->nswitches);

	return ret != 0 ? ret :
			  custom_add_devs(b, RL_DEV_ENDPOINT, spec->endpoints,
					  spec->nendpoints);
}

static int
custom_check_linked(struct topo_build *b)
{
	const struct rl_topo_spec *spec = b->spec;
	const struct rl_topo *t = b->t;
	bool *linked = calloc(t->ndev, sizeof(*linked));
	int ret = 0;

	if (linked == NULL) {
		topo_error(b, 0, "no memory for %u devices; make the fabric "
				 "smaller", t->ndev);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < t->nlink; i++)
		linked[t->link[i].dev[0]] = linked[t->link[i].dev[1]] = true;
	for (uint32_t i = 0; i < t->ndev && ret == 0; i++) {
		const bool sw = i < spec->nswitches;

		if (linked[i])
			continue;
		ret = topo_error(b,
				 sw ? spec->switches[i].line :
				      spec->endpoints[i - spec->nswitches].line,
				 "%s %s has no link; add one to `links` or "
				 "remove it",
				 sw ? "switch" : "endpoint", t->dev[i].name);
	}
	free(linked);
	return ret;
}

int
topo_fill_custom_links(struct topo_build *b)
{
	const struct rl_topo_spec *spec = b->spec;

	for (uint32_t i = 0; i < spec->nlinks; i++) {
		const struct rl_topo_ref *l = &spec->links[i];
		const int32_t d0 = rl_topo_find_dev(b->t, l->a);
		const int32_t d1 = rl_topo_find_dev(b->t, l->b);

		if (d0 < 0 || d1 < 0)
			return topo_error(b, l->line,
					  "link %s-%s: no device is called "
					  "'%s'; add it to `switches` or "
					  "`endpoints`",
					  l->a, l->b, d0 < 0 ? l->a : l->b);
		if (d0 == d1)
			return topo_error(b, l->line,
					  "link %s-%s joins a device to "
					  "itself; its ends must differ",
					  l->a, l->b);
		topo_add_links(b, (uint32_t)d0, (uint32_t)d1, -1, l->count);
		for (unsigned int k = 1; k <= l->count; k++)
			b->t->link[b->t->nlink - k].mbps = l->mbps;
	}
	/* a grid from a tool's output may have places without a switch */
	return spec->kind == RL_TOPO_IBNET ? 0 : custom_check_linked(b);
}
