/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `link_settings`: settings of links that differ from the group `link`, by type
 * of link or by name. Entries apply in order; a later one overrides an earlier
 * one. Only settings of a single port can differ: those that a device or an
 * endpoint shares among its links belong to the fabric.
 *
 * If a kernel carries a link's frames, its timers have longer defaults: a
 * process at the other end, or a kernel worker in between, gets its CPU back in
 * milliseconds, not in microseconds. Settings other than the default stay. The
 * digest of the fabric does not include them: two processes may reach the same
 * link by different drivers.
 */
#include <stdlib.h>
#include <string.h>

#include "config_impl.h"

static const char *const own_keys[] = {
	"window_flits", "credits_flits", "flits_per_frame",
	"ack_coalesce_flits", "ack_delay_ns", "replay_timer_ns",
	"replay_timer_min_ns", "replay_timer_max_ns", "replay_limit",
	"retrain_interval_ns", "retrain_limit", "init_interval_ns",
	"keepalive_ns", "keepalive_dead_ns", "detect_phy", "phy_lost_ns",
	"error_window_ns", "error_corrected_max", "error_uncorrectable_max",
	"error_replay_max",
	"flap_damping_ns", "flap_damping_max_ns", "flap_forget_ns",
	"soft_error_check", NULL,
};

static bool
is_own(const char *name)
{
	size_t i = 0;

	while (own_keys[i] != NULL && strcmp(name, own_keys[i]) != 0)
		i++;
	return own_keys[i] != NULL;
}

/* Finds the links that an entry refers to; sets mark[nlink]. */
static int
mark_links(struct cfg_ctx *c, const config_setting_t *e,
	   const struct rl_topo *t, uint8_t *mark)
{
	const config_setting_t *s = config_setting_get_member(e, "links");
	const char *name = s != NULL ? config_setting_get_string(s) : NULL;
	const bool isl = name != NULL && strcmp(name, "isl") == 0;
	unsigned int n = 0;
	int64_t link;

	if (name == NULL)
		return cfg_error_at(c, s != NULL ? s : e,
				    "link_settings has no text `links`; write "
				    "\"isl\", \"endpoint\", or a link's name");
	memset(mark, 0, t->nlink);
	if (isl || strcmp(name, "endpoint") == 0) {
		for (uint32_t i = 0; i < t->nlink; i++)
			mark[i] = (t->link[i].kind == RL_LINK_ISL) == isl;
		return 0;
	}
	link = rl_topo_find_link(t, name, &n);
	if (link < 0)
		return cfg_error_at(c, s,
				    "link_settings.links: the fabric has no "
				    "link %.64s; write \"isl\", \"endpoint\", "
				    "or a name as links have them", name);
	if (strchr(name, '#') != NULL) {
		mark[link] = 1;
		return 0;
	}
	for (unsigned int k = 0; k < n; k++) {
		link = rl_topo_link_between(t, t->link[link].dev[0],
					    t->link[link].dev[1], k);
		mark[link] = 1;
	}
	return 0;
}

/* Checks the keys of an entry, and stores them in @p to. */
static int
take_keys(struct cfg_ctx *c, const config_setting_t *e, struct rl_link_cfg *to)
{
	for (int i = 0; i < config_setting_length(e); i++) {
		const config_setting_t *s =
			config_setting_get_elem(e, (unsigned int)i);
		const char *name = config_setting_name(s);
		const struct rl_config_key *key = cfg_key_find("link", name);
		int ret;

		if (strcmp(name, "links") == 0)
			continue;
		if (key == NULL)
			return cfg_unknown_key(c, s, "link");
		if (!is_own(name))
			return cfg_error_at(c, s,
					    "link_settings.%s: all links share "
					    "it; set it in the group link",
					    name);
		ret = cfg_take(c, s, key, to);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int
read_entry(struct cfg_ctx *c, const config_setting_t *e, struct rl_config *cfg,
	   uint8_t *mark)
{
	const char *key = NULL;
	char why[RL_ERR_MAX];
	int ret = mark_links(c, e, &cfg->topo, mark);

	for (uint32_t i = 0; i < cfg->topo.nlink && ret == 0; i++) {
		if (mark[i] == 0)
			continue;
		ret = take_keys(c, e, &cfg->link_own[i]);
		if (ret == 0 &&
		    rl_link_cfg_check(&cfg->link_own[i], why, sizeof(why),
				      &key) != 0) {
			const config_setting_t *s =
				config_setting_get_member(e, key);

			ret = cfg_error_at(c, s != NULL ? s : e,
					   "link_settings.%s", why);
		}
	}
	return ret;
}

int
cfg_links(struct cfg_ctx *c, const config_setting_t *s, struct rl_config *cfg)
{
	const int n = s != NULL ? config_setting_length(s) : 0;
	uint8_t *mark;
	int ret = 0;

	if (n == 0)
		return 0;
	mark = malloc(cfg->topo.nlink);
	cfg->link_own = malloc(cfg->topo.nlink * sizeof(*cfg->link_own));
	if (mark == NULL || cfg->link_own == NULL) {
		free(mark);
		return cfg_error_mem(c);
	}
	for (uint32_t i = 0; i < cfg->topo.nlink; i++)
		cfg->link_own[i] = cfg->link;
	for (int i = 0; i < n && ret == 0; i++)
		ret = read_entry(c,
				 config_setting_get_elem(s, (unsigned int)i),
				 cfg, mark);
	free(mark);
	return ret;
}

/* Drivers whose frames pass through a kernel, or through another process. */
static bool
is_slow(const char *port)
{
	static const char *const name[] = { "af_packet", "af_xdp", "tap",
					    "memif", "vhost", "virtio_user" };

	if (strncmp(port, "net_", 4) == 0 || strncmp(port, "eth_", 4) == 0)
		port += 4; /* a driver has two names */
	for (size_t i = 0; i < RL_ARRAY_SIZE(name); i++)
		if (strncmp(port, name[i], strlen(name[i])) == 0)
			return true;
	return false;
}

static void
set_unset(uint64_t *v, uint64_t by_default, uint64_t to)
{
	if (*v == by_default)
		*v = to;
}

/* Unless the settings allow for none. */
static void
make_patient(struct rl_link_cfg *link)
{
	struct rl_link_cfg p = *link, d;
	const char *key;
	char why[RL_ERR_MAX];

	rl_link_cfg_defaults(&d);
	set_unset(&p.replay_timer_min_ns, d.replay_timer_min_ns, 10 * RL_NS_PER_MS);
	p.slow_wire = true;
	set_unset(&p.replay_timer_max_ns, d.replay_timer_max_ns,
	      100 * RL_NS_PER_MS);
	set_unset(&p.retrain_interval_ns, d.retrain_interval_ns, 10 * RL_NS_PER_MS);
	set_unset(&p.init_interval_ns, d.init_interval_ns, 1 * RL_NS_PER_MS);
	set_unset(&p.keepalive_ns, d.keepalive_ns, 2 * RL_NS_PER_MS);
	set_unset(&p.keepalive_dead_ns, d.keepalive_dead_ns, 100 * RL_NS_PER_MS);
	if (rl_link_cfg_check(&p, why, sizeof(why), &key) == 0)
		*link = p;
}

int
cfg_patience(struct cfg_ctx *c, struct rl_config *cfg)
{
	struct rl_link_cfg *all;

	for (uint32_t i = 0; i < cfg->nwire; i++) {
		if (!is_slow(cfg->wire[i].a) && !is_slow(cfg->wire[i].b))
			continue;
		if (cfg->link_wire == NULL) {
			all = malloc(cfg->topo.nlink * sizeof(*all));
			if (all == NULL)
				return cfg_error_mem(c);
			for (uint32_t l = 0; l < cfg->topo.nlink; l++)
				all[l] = *rl_config_link(cfg, l);
			cfg->link_wire = all;
		}
		make_patient(&cfg->link_wire[cfg->wire[i].index]);
	}
	return 0;
}
