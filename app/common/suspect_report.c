/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>

#include "suspect_report.h"

static json_t *
suspect_json(const struct rl_suspect *s, const struct rl_topo *t)
{
	char name[2 * RL_NAME_MAX + 8];

	return json_pack("{s:s, s:s, s:I, s:I, s:i}", "part",
			 rl_suspect_name(s, t, name, sizeof(name)), "kind",
			 s->is_link ? "link" : "device", "count",
			 (json_int_t)s->altered, "looked_flits",
			 (json_int_t)s->looked, "confidence_percent",
			 (int)s->confidence_percent);
}

json_t *
suspects_json(const struct rl_fabric *f)
{
	struct rl_suspect *s = calloc(rl_suspects_max(f->topo), sizeof(*s));
	const uint32_t n = s == NULL ? 0 : rl_suspects_of(s, f);
	json_t *a = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(a, suspect_json(&s[i], f->topo));
	free(s);
	return a;
}
