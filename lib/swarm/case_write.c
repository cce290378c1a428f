/* SPDX-License-Identifier: BSD-3-Clause */

/* A plan as a fabric file and a fault file. */

#include <stdlib.h>
#include <string.h>

#include "case_priv.h"

static void
write_numbers(struct case_text *to, const char *key, const uint16_t *v, unsigned int n)
{
	case_put(to, "  %s = [", key);
	for (unsigned int i = 0; i < n; i++)
		case_put(to, "%s%u", i == 0 ? "" : ", ", v[i]);
	case_put(to, "];\n");
}

static void
write_grid(struct case_text *to, const struct rl_topo_spec *s)
{
	case_put(to, "  topology = \"%s\";\n",
		s->kind == RL_TOPO_TORUS ? "torus" : "mesh");
	write_numbers(to, "dims", s->dims, s->ndims);
	case_put(to, "  wrap = [");
	for (unsigned int d = 0; d < s->ndims; d++)
		case_put(to, "%s%s", d == 0 ? "" : ", ",
			s->wrap[d] ? "true" : "false");
	case_put(to, "];\n");
	write_numbers(to, "links_per_edge", s->links_per_edge, s->ndims);
	case_put(to, "  hosts_per_switch = %u;\n", s->hosts_per_switch);
}

static void
write_devices(struct case_text *to, const struct rl_topo *t, enum rl_dev_kind kind)
{
	const char *sep = "";

	case_put(to, "  %s = (", kind == RL_DEV_SWITCH ? "switches"
						      : "endpoints");
	for (uint32_t d = 0; d < t->ndev; d++) {
		if (t->dev[d].kind != kind)
			continue;
		case_put(to, "%s { name = \"%s\"; }", sep, t->dev[d].name);
		sep = ",";
	}
	case_put(to, " );\n");
}

/* Their order is kept: it numbers ports. */
static void
write_links(struct case_text *to, const struct rl_topo *t)
{
	case_put(to, "  links = (");
	for (uint32_t l = 0; l < t->nlink; l++)
		case_put(to, "%s\n    { a = \"%s\"; b = \"%s\"; }",
			l == 0 ? "" : ",", t->dev[t->link[l].dev[0]].name,
			t->dev[t->link[l].dev[1]].name);
	case_put(to, " );\n");
}

static void
write_failed(struct case_text *to, const struct rl_topo *t)
{
	char name[2 * RL_NAME_MAX + 16];
	const char *sep = "  fail = [";

	for (uint32_t l = 0; l < t->nlink; l++) {
		if (!t->link[l].failed)
			continue;
		case_put(to, "%s\"%s\"", sep,
			rl_topo_link_name(t, l, name, sizeof(name)));
		sep = ", ";
	}
	for (uint32_t d = 0; d < t->ndev; d++) {
		if (!t->dev[d].failed)
			continue;
		case_put(to, "%s\"%s\"", sep, t->dev[d].name);
		sep = ", ";
	}
	if (sep[0] == ',')
		case_put(to, "];\n");
}

static void
write_topo(struct case_text *to, const struct rl_topo *t)
{
	case_put(to, "fabric: {\n");
	if (t->spec.kind == RL_TOPO_TORUS || t->spec.kind == RL_TOPO_MESH) {
		write_grid(to, &t->spec);
	} else {
		case_put(to, "  topology = \"custom\";\n");
		write_devices(to, t, RL_DEV_SWITCH);
		write_devices(to, t, RL_DEV_ENDPOINT);
		write_links(to, t);
	}
	write_failed(to, t);
	case_put(to, "};\n");
}

static void
write_weights(struct case_text *to, const struct rl_link_cfg *link)
{
	const char *sep = "  vc_weights = [";

	if (link->vc_weights[0] == 0)
		return;
	for (unsigned int vc = 0; vc < link->vcs; vc++) {
		case_put(to, "%s%u", sep, link->vc_weights[vc]);
		sep = ", ";
	}
	case_put(to, "];\n");
}

/* All keys of a group that are not at their defaults. */
static void
write_group(struct case_text *to, const char *group, const void *base)
{
	char value[256], def[256];
	size_t n;
	const struct rl_config_key *key = rl_config_keys(&n);

	for (size_t i = 0; i < n; i++, key++) {
		if (strcmp(key->group, group) != 0 || key->def != NULL)
			continue;
		rl_config_key_text(key, base, value, sizeof(value));
		rl_config_key_default(key, def, sizeof(def));
		if (strcmp(value, def) != 0)
			case_put(to, "  %s = %s;\n", key->name, value);
	}
}

static void
write_routing(struct case_text *to, const struct rl_config *cfg)
{
	case_put(to, "routing: {\n");
	if (cfg->engine[0] != '\0')
		case_put(to, "  engine = \"%s\";\n", cfg->engine);
	case_put(to, "  adaptive = %s;\n", cfg->adaptive ? "true" : "false");
	case_put(to, "  vls = %u;\n  levels = %u;\n};\n", cfg->vls,
		cfg->levels);
}

/* What was written, or NULL. */
static char *
finish(struct case_text *to)
{
	if (!to->bad)
		return to->text;
	free(to->text);
	return NULL;
}

char *
rl_swarm_case_fabric(const struct rl_swarm_plan *plan)
{
	struct case_text to = { 0 };

	write_topo(&to, &plan->cfg.topo);
	write_routing(&to, &plan->cfg);
	case_put(&to, "link: {\n");
	write_group(&to, "link", &plan->cfg.link);
	write_weights(&to, &plan->cfg.link);
	case_put(&to, "};\nendpoint: {\n");
	write_group(&to, "endpoint", &plan->cfg.endpoint);
	case_put(&to, "};\ncontroller: {\n");
	write_group(&to, "controller", &plan->cfg.controller);
	case_put(&to, "};\n");
	return finish(&to);
}

char *
rl_swarm_case_faults(const struct rl_swarm_plan *plan)
{
	struct case_text to = { 0 };
	char line[512];

	case_settings(&to, plan);
	for (uint32_t i = 0; i < plan->faults.n; i++)
		case_put(&to, "%s\n",
			 rl_fault_text(&plan->faults.f[i], &plan->cfg.topo,
					   line, sizeof(line)));
	return finish(&to);
}
