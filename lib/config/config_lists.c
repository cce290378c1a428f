/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists `attach` and `lcores.place`. */
#include <string.h>

#include "config_impl.h"

static int
check_endpoint(struct cfg_ctx *c, const config_setting_t *e, const char *key,
	       const struct rl_topo *t, const char *name)
{
	const config_setting_t *s = config_setting_get_member(e, key);
	const int32_t dev = rl_topo_find_dev(t, name);

	if (dev < 0)
		return cfg_error_at(c, s,
				    "attach.%s: there is no endpoint %s; the "
				    "first one is %s", key, name,
				    t->dev[t->ep_dev[0]].name);
	if (t->dev[dev].kind != RL_DEV_ENDPOINT)
		return cfg_error_at(c, s,
				    "attach.%s: %s is a switch; name an "
				    "endpoint", key, name);
	return 0;
}

/* Ethdevs have the same names in every process. */
static bool
same_process(const struct rl_config *cfg, const struct rl_attach *a,
	     const struct rl_attach *b)
{
	const struct rl_topo *t = &cfg->topo;

	return cfg->dev_process == NULL ||
	       cfg->dev_process[rl_topo_find_dev(t, a->endpoint)] ==
		       cfg->dev_process[rl_topo_find_dev(t, b->endpoint)];
}

static int
read_attach(struct cfg_ctx *c, const config_setting_t *e, uint32_t i,
	    struct rl_config *cfg)
{
	const struct rl_topo *t = &cfg->topo;
	struct rl_attach *a = &cfg->attach[i];
	int ret = cfg_group(c, e, "attach", a);

	cfg_note(c, e, &a->line, &a->file);
	if (ret == 0)
		ret = check_endpoint(c, e, "endpoint", t, a->endpoint);
	if (ret == 0 && a->dst[0] != '\0')
		ret = check_endpoint(c, e, "dst", t, a->dst);
	if (ret != 0)
		return ret;
	if (a->dst[0] == '\0' && t->nep == 2) {
		const uint16_t ep =
			t->dev[rl_topo_find_dev(t, a->endpoint)].ep_id;

		memcpy(a->dst, t->dev[t->ep_dev[!ep]].name, sizeof(a->dst));
	}
	if (strcmp(a->endpoint, a->dst) == 0)
		return cfg_error_at(c, e,
				    "attach: the frames of %s would go to "
				    "itself; name another endpoint as dst",
				    a->endpoint);
	for (const struct rl_attach *b = cfg->attach; b < a; b++) {
		if (strcmp(a->endpoint, b->endpoint) == 0)
			return cfg_error_at(c, e,
					    "attach: endpoint %s has a port "
					    "already, in line %u; attach one "
					    "port to it", a->endpoint, b->line);
		if (strcmp(a->port, b->port) == 0 && same_process(cfg, a, b))
			return cfg_error_at(c, e,
					    "attach: port %s is attached "
					    "already, in line %u; attach it to "
					    "one endpoint", a->port, b->line);
	}
	return 0;
}

int
cfg_attach(struct cfg_ctx *c, const config_setting_t *s, struct rl_config *cfg)
{
	return cfg_entries(c, s, "attach", RL_ATTACH_MAX, read_attach, cfg,
			   &cfg->nattach);
}

/* Roles are named after a device, DEVICE, and its ports, DEVICE/PORT. */
static bool
begins_a_role(const struct rl_topo *t, const char *beginning)
{
	const size_t len = strlen(beginning);
	char name[RL_NAME_MAX + 8];

	for (uint32_t d = 0; d < t->ndev; d++) {
		if (strncmp(t->dev[d].name, beginning, len) == 0)
			return true;
		for (uint16_t p = 0; p < t->dev[d].nports; p++) {
			snprintf(name, sizeof(name), "%s/%u", t->dev[d].name,
				 p);
			if (strncmp(name, beginning, len) == 0)
				return true;
		}
	}
	return false;
}

static int
read_place(struct cfg_ctx *c, const config_setting_t *e, uint32_t i,
	   struct rl_config *cfg)
{
	struct rl_place *p = &cfg->place[i];
	int ret = cfg_group(c, e, "lcores.place", p);

	cfg_note(c, e, &p->line, &p->file);
	if (ret == 0 && !begins_a_role(&cfg->topo, p->role))
		ret = cfg_error_at(c, e,
				   "lcores.place: no role's name begins "
				   "with %s; roles are called DEVICE and "
				   "DEVICE/PORT",
				   p->role);
	for (const struct rl_place *q = cfg->place; q < p && ret == 0; q++)
		if (strcmp(p->role, q->role) == 0)
			ret = cfg_error_at(c, e,
					   "lcores.place: role %s is placed "
					   "already, in line %u; place it once",
					   p->role, q->line);
	return ret;
}

int
cfg_lcores(struct cfg_ctx *c, const config_setting_t *s, struct rl_config *cfg)
{
	const int ret = s == NULL ? 0 : cfg_group(c, s, "lcores", cfg);

	if (s == NULL || ret != 0)
		return ret;
	return cfg_entries(c, config_setting_get_member(s, "place"),
			   "lcores.place", RL_PLACE_MAX, read_place, cfg,
			   &cfg->nplace);
}
