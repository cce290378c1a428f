/* SPDX-License-Identifier: BSD-3-Clause */
/* A fabric file from its text to a checked configuration. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_impl.h"

#if defined(__SANITIZE_ADDRESS__)
#define CONFIG_LSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CONFIG_LSAN 1
#endif
#endif

#ifdef CONFIG_LSAN
/*
 * libconfig 1.5 leaks a few bytes if a syntax error follows a string, and
 * libxdp, which DPDK's af_xdp driver uses, leaks its description of a socket's
 * memory. We cannot free these, and they must not fail a test that wants
 * another exit status.
 */
RL_PUBLIC_BEGIN /* the sanitizer looks it up by name */
const char *__lsan_default_suppressions(void);
RL_PUBLIC_END

const char *
__lsan_default_suppressions(void)
{
	return "leak:libconfig.so.\nleak:xsk_umem__create\n";
}
#endif

/* The plane is proven anew after each change: in tenths of a second so far. */
#define ADAPTIVE_SWITCHES 256

/* libconfig's error, with what it leaves out. */
static int
parse_error(struct cfg_ctx *c, const config_t *lc)
{
	static const struct {
		const char *text;
		const char *what;
	} more[] = {
		{"syntax error", "look for a missing bracket, quote or ';' "
				 "here and in the line above"},
		{"duplicate setting name", "a key stands once in its group"},
		{"mismatched element type in array",
		 "all between [ and ] is of one type"},
	};
	const char *text = config_error_text(lc);
	const char *what = "see docs/configuration.md for the format";

	for (size_t i = 0; i < RL_ARRAY_SIZE(more); i++)
		if (text != NULL && strcmp(text, more[i].text) == 0)
			what = more[i].what;
	return cfg_error_line(c, (uint32_t)config_error_line(lc), "%s; %s",
			      text != NULL ? text : "unreadable", what);
}

static size_t
same_beginning(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] != '\0' && a[n] == b[n])
		n++;
	return n;
}

/*
 * An error in a library's check of a whole group is reported at the line of the
 * key that it names. If that key has its default, another key that the file
 * sets must agree with it: one that the error mentions, or whose name begins
 * alike (keepalive_ns, keepalive_dead_ns).
 */
static const config_setting_t *
find_culprit(const config_setting_t *group, const char *key, const char *why)
{
	const config_setting_t *best = config_setting_get_member(group, key);
	size_t most = 7;

	for (int i = 0; best == NULL && i < config_setting_length(group); i++) {
		const config_setting_t *e =
			config_setting_get_elem(group, (unsigned int)i);

		if (strstr(why, config_setting_name(e)) != NULL)
			best = e;
	}
	if (best != NULL)
		return best;
	for (int i = 0; i < config_setting_length(group); i++) {
		const config_setting_t *e =
			config_setting_get_elem(group, (unsigned int)i);
		const size_t n = same_beginning(key, config_setting_name(e));

		if (n > most) {
			most = n;
			best = e;
		}
	}
	return best != NULL ? best : group;
}

static int
group_error(struct cfg_ctx *c, const config_setting_t *root,
	    const config_setting_t *group, const char *name, const char *key,
	    const char *why)
{
	return cfg_error_at(c,
			    group != NULL ? find_culprit(group, key, why) :
					    root,
			    "%s.%s", name, why);
}

/* A weight for each VC in use, or one for all of them. */
static int
read_weights(struct cfg_ctx *c, const config_setting_t *link,
	     struct rl_link_cfg *cfg)
{
	const config_setting_t *s =
		config_setting_get_member(link, "vc_weights");

	if (s == NULL)
		return 0;
	if (config_setting_is_aggregate(s) &&
	    (uint32_t)config_setting_length(s) != cfg->vcs)
		return cfg_error_at(c, s,
				    "link.vc_weights has %d numbers; give %u, "
				    "one for each VC in use (link.vcs), or a "
				    "single one",
				    config_setting_length(s), cfg->vcs);
	for (unsigned int vc = 0; vc < rl_min_u32(cfg->vcs, RL_VCS); vc++)
		cfg->vc_weights[vc] = (uint8_t)cfg_element(s, vc);
	return 0;
}

/* The name of a file, relative to the one that names it. */
static int
read_key_file(struct cfg_ctx *c, const config_setting_t *link,
	      struct rl_config *cfg)
{
	const config_setting_t *s = config_setting_get_member(link, "key_file");
	char path[4096];

	if (s == NULL)
		return 0;
	cfg_note(c, s, &cfg->key_file_line, &cfg->key_file_file);
	if (!cfg_path_beside(cfg->key_file_file, config_setting_get_string(s),
			     strlen(config_setting_get_string(s)), path))
		return cfg_error_at(c, s, "link.key_file: the name is too long");
	cfg->key_file = strdup(path);
	return cfg->key_file == NULL ? -ENOMEM : 0;
}

/* Two defaults follow what other keys say: how long numbers can be. */
static int
read_endpoint(struct cfg_ctx *c, const config_setting_t *ep,
	      struct rl_ep_cfg *cfg)
{
	int ret = ep == NULL ? 0 : cfg_group(c, ep, "endpoint", cfg);

	if (ret != 0)
		return ret;
	if (ep == NULL || config_setting_get_member(ep, "isn") == NULL)
		cfg->isn = rl_ep_cfg_isn(cfg->crc);
	if (ep == NULL || config_setting_get_member(ep, "window_flits") == NULL)
		cfg->window_flits = rl_ep_cfg_window(cfg);
	return 0;
}

static int
read_protocol(struct cfg_ctx *c, const config_setting_t *root,
	      struct rl_config *cfg)
{
	const config_setting_t *link = config_setting_get_member(root, "link");
	const config_setting_t *sw = config_setting_get_member(root, "switch");
	const config_setting_t *ep =
		config_setting_get_member(root, "endpoint");
	const char *key = NULL;
	char why[RL_ERR_MAX];
	int ret = 0;

	rl_link_cfg_defaults(&cfg->link);
	rl_ep_cfg_defaults(&cfg->endpoint);
	if (link != NULL)
		ret = cfg_group(c, link, "link", &cfg->link);
	if (ret == 0 && sw != NULL)
		ret = cfg_group(c, sw, "switch", &cfg->link);
	if (ret == 0 && link != NULL)
		ret = read_weights(c, link, &cfg->link);
	if (ret == 0 && link != NULL)
		ret = read_key_file(c, link, cfg);
	if (ret == 0 && rl_link_cfg_check(&cfg->link, why, sizeof(why), &key))
		ret = group_error(c, root, link, "link", key, why);
	if (ret == 0)
		ret = read_endpoint(c, ep, &cfg->endpoint);
	if (ret == 0 && cfg->link.lcrc && cfg->endpoint.isn == RL_ISN_XOR10)
		ret = group_error(c, root, link, "link", "lcrc",
				  "lcrc: with endpoint.isn xor10 the CRC misses "
				  "what alters only the 10 bits of the number; "
				  "use wide or wide19");
	if (ret != 0)
		return ret;
	cfg->endpoint.max_packet_flits = cfg->link.max_packet_flits;
	if (rl_ep_cfg_check(&cfg->endpoint, why, sizeof(why), &key) == 0)
		return 0;
	/* group `link` sets the longest packet, also if it does not fit */
	if (link != NULL && strstr(why, "longest packet") != NULL &&
	    (ep == NULL || config_setting_get_member(ep, key) == NULL) &&
	    config_setting_get_member(link, "max_packet_flits") != NULL)
		return cfg_error_at(c, config_setting_get_member(
					       link, "max_packet_flits"),
				    "endpoint.%s", why);
	return group_error(c, root, ep, "endpoint", key, why);
}

static int
read_controller(struct cfg_ctx *c, const config_setting_t *root,
		struct rl_config *cfg)
{
	const config_setting_t *s =
		config_setting_get_member(root, "controller");
	const char *key = NULL;
	struct rl_resil_cfg checked;
	char why[RL_ERR_MAX];
	int ret = 0;

	/* once for the types, and again over the channel's defaults */
	rl_resil_cfg_defaults(&checked);
	if (s != NULL)
		ret = cfg_group(c, s, "controller", &checked);
	if (ret == 0)
		ret = cfg_channel(c, s, &cfg->channel);
	if (cfg->channel.kind == RL_CHANNEL_ETCD)
		rl_resil_cfg_defaults_store(&cfg->controller);
	else
		rl_resil_cfg_defaults(&cfg->controller);
	if (ret == 0 && s != NULL)
		ret = cfg_group(c, s, "controller", &cfg->controller);
	if (ret == 0 && rl_resil_cfg_check(&cfg->controller, why, sizeof(why),
					   &key) != 0)
		ret = group_error(c, root, s, "controller", key, why);
	return ret;
}

static int
read_routing(struct cfg_ctx *c, const config_setting_t *root,
	     struct rl_config *cfg)
{
	const config_setting_t *s = config_setting_get_member(root, "routing");
	const config_setting_t *engine;
	int ret;

	cfg->vls = RL_VCS;
	cfg->levels = 1;
	if (s == NULL)
		return 0;
	ret = cfg_group(c, s, "routing", cfg);
	if (ret == 0 && (cfg->levels & (cfg->levels - 1)) != 0)
		ret = cfg_error_at(c, config_setting_get_member(s, "levels"),
				   "routing.levels: %u service levels; use 1, "
				   "2, 4 or 8", cfg->levels);
	engine = config_setting_get_member(s, "engine");
	if (ret == 0 && engine != NULL)
		cfg_note(c, engine, &cfg->engine_line, &cfg->engine_file);
	return ret;
}

/* Why an adaptive plane does not go with the rest, or NULL. @p buf: RL_ERR_MAX
   bytes. */
static const char *
adaptive_refused(const struct rl_config *cfg, char *buf)
{
	struct rl_ep_cfg ep = cfg->endpoint;
	const char *key;

	if (cfg->order_given && ep.order != RL_ORDER_ENDPOINT)
		return "a flow's packets take many paths; set endpoint.order = "
		       "\"endpoint\"";
	if (cfg->link.switching == RL_CUT_THROUGH)
		return "a packet must be here as a whole before it may leave "
		       "the plane; set link.switching = \"store-and-forward\"";
	if (cfg->levels > 1)
		return "there is one service level; set routing.levels = 1";
	if (rl_min_u32(cfg->vls, cfg->link.vcs) < 2)
		return "the plane needs a VL of its own; raise routing.vls or "
		       "link.vcs";
	ep.order = RL_ORDER_ENDPOINT;
	return rl_ep_cfg_check(&ep, buf, RL_ERR_MAX, &key) != 0 ? buf : NULL;
}

/* Whether an adaptive plane carries more than the tables, whatever the traffic:
   all that is long are rings, at least two of them (docs/load.md). */
static bool
adaptive_serves(const struct rl_config *cfg)
{
	const struct rl_topo_spec *s = &cfg->topo.spec;
	unsigned int rings = 0;

	if ((s->kind != RL_TOPO_TORUS && s->kind != RL_TOPO_MESH) ||
	    cfg->topo.ndev - cfg->topo.nep > ADAPTIVE_SWITCHES ||
	    cfg->engine[0] != '\0' || cfg->order_given || !cfg->link.retry ||
	    rl_min_u32(cfg->vls, cfg->link.vcs) < RL_VCS)
		return false;
	for (unsigned int d = 0; d < s->ndims; d++) {
		if (s->dims[d] > 2 && !s->wrap[d])
			return false;
		rings += s->wrap[d];
	}
	return rings > 1;
}

void
rl_config_choose_paths(struct rl_config *cfg)
{
	char buf[RL_ERR_MAX];

	if (!cfg->adaptive_given)
		cfg->adaptive = adaptive_serves(cfg) &&
				adaptive_refused(cfg, buf) == NULL;
	if (!cfg->order_given)
		cfg->endpoint.order = cfg->adaptive ? RL_ORDER_ENDPOINT
						    : RL_ORDER_PATH;
}

/* A key as the file has it, or NULL. */
static const config_setting_t *
given(const config_setting_t *root, const char *group, const char *name)
{
	const config_setting_t *s = config_setting_get_member(root, group);

	return s == NULL ? NULL : config_setting_get_member(s, name);
}

/* After all groups that an adaptive plane must go with. */
static int
read_adaptive(struct cfg_ctx *c, const config_setting_t *root,
	      struct rl_config *cfg)
{
	const config_setting_t *s = given(root, "routing", "adaptive");
	const char *why = NULL;
	char buf[RL_ERR_MAX];

	cfg->adaptive_given = s != NULL;
	cfg->order_given = given(root, "endpoint", "order") != NULL;
	if (cfg->adaptive)
		why = adaptive_refused(cfg, buf);
	if (why != NULL)
		return cfg_error_at(c, s, "routing.adaptive: %s", why);
	rl_config_choose_paths(cfg);
	return 0;
}

/* All groups. The fabric comes before groups that name its endpoints. */
static int
read_groups(struct cfg_ctx *c, const config_setting_t *root,
	    struct rl_config *cfg)
{
	int ret = cfg_group(c, root, "", NULL);

	if (ret == 0)
		ret = cfg_fabric(c, config_setting_get_member(root, "fabric"),
				 &cfg->topo);
	if (ret == 0)
		ret = read_routing(c, root, cfg);
	if (ret == 0)
		ret = read_protocol(c, root, cfg);
	if (ret == 0)
		ret = cfg_links(
			c, config_setting_get_member(root, "link_settings"),
			cfg);
	if (ret == 0)
		ret = read_controller(c, root, cfg);
	if (ret == 0)
		ret = read_adaptive(c, root, cfg);
	if (ret == 0)
		ret = cfg_processes(
			c, config_setting_get_member(root, "processes"), cfg);
	if (ret == 0)
		ret = cfg_attach(c, config_setting_get_member(root, "attach"),
				 cfg);
	if (ret == 0)
		ret = cfg_parts(c, root, cfg);
	if (ret == 0)
		ret = cfg_patience(c, cfg);
	if (ret == 0)
		ret = cfg_lcores(c, config_setting_get_member(root, "lcores"),
				 cfg);
	return ret;
}

/* The text is gathered; parses and reads it, or leaves cfg empty. */
static int
read_gathered(struct cfg_ctx *c, int ret, struct rl_config *cfg)
{
	config_t lc;

	config_init(&lc);
	if (ret == 0 && config_read_string(&lc, c->text) != CONFIG_TRUE)
		ret = parse_error(c, &lc);
	if (ret == 0)
		ret = read_groups(c, config_root_setting(&lc), cfg);
	config_destroy(&lc);
	cfg_text_free(c);
	cfg->files = c->file;
	cfg->nfiles = c->nfile;
	if (ret == 0)
		snprintf(cfg->file, sizeof(cfg->file), "%s", c->file[0]);
	else
		rl_config_free(cfg);
	return ret;
}

static int
read_file(const char *path, bool parts, struct rl_config *cfg, char *err,
	  size_t errlen)
{
	struct cfg_ctx c = {.parts = parts, .err = err, .errlen = errlen};

	RL_ASSERT(errlen >= CFG_ERR_MAX);
	memset(cfg, 0, sizeof(*cfg));
	return read_gathered(&c, cfg_text_file(&c, path), cfg);
}

int
rl_config_read(const char *path, struct rl_config *cfg, char *err,
	       size_t errlen)
{
	return read_file(path, false, cfg, err, errlen);
}

int
rl_config_read_parts(const char *path, struct rl_config *cfg, char *err,
		     size_t errlen)
{
	return read_file(path, true, cfg, err, errlen);
}

int
rl_config_read_text(const char *name, const char *text, size_t len,
		    struct rl_config *cfg, char *err, size_t errlen)
{
	struct cfg_ctx c = {.err = err, .errlen = errlen};

	RL_ASSERT(errlen >= CFG_ERR_MAX);
	memset(cfg, 0, sizeof(*cfg));
	return read_gathered(&c, cfg_text_memory(&c, name, text, len), cfg);
}

void
rl_config_free(struct rl_config *cfg)
{
	rl_topo_free(&cfg->topo);
	for (uint32_t i = 0; i < cfg->nfiles; i++)
		free(cfg->files[i]);
	free(cfg->files);
	free(cfg->dev_process);
	free(cfg->key_file);
	free(cfg->ep_network);
	free(cfg->link_own);
	free(cfg->link_wire);
	memset(cfg, 0, sizeof(*cfg));
}
