/* SPDX-License-Identifier: BSD-3-Clause */
/* Group `fabric`: from its keys to a graph. */
#include <stdlib.h>
#include <string.h>

#include "config_impl.h"
#include "rl_ibnet.h"
#include "rl_torus_conf.h"

/* The lists of a description, as long as the file makes them. */
struct fabric_lists {
	struct rl_topo_ref *switches;
	struct rl_topo_ref *endpoints;
	struct rl_topo_ref *links;
	struct rl_topo_ref *fail;
	struct rl_ibnet net;	    /* of ibnetdiscover with torus_conf */
	struct rl_torus_conf *conf; /* NULL: none */
	uint32_t conf_file;
};

const char *
rl_config_topology_name(enum rl_topo_kind kind)
{
	return cfg_key_find("fabric", "topology")->words[kind];
}

/* Rejects keys of other topologies, and demands those of this one. */
static int
check_keys_of_kind(struct cfg_ctx *c, const config_setting_t *fabric,
		   enum rl_topo_kind kind)
{
	const struct rl_config_key *key;
	size_t n;

	key = rl_config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		const bool ours = key[i].kinds >> kind & 1;
		const config_setting_t *s;

		if (strcmp(key[i].group, "fabric") != 0)
			continue;
		s = config_setting_get_member(fabric, key[i].name);
		if (s != NULL && !ours)
			return cfg_error_at(c, s,
					    "fabric.%s is not a key of "
					    "topology \"%s\"; remove it",
					    key[i].name,
					    rl_config_topology_name(kind));
		if (s == NULL && ours && strcmp(key[i].def, "required") == 0)
			return cfg_error_at(c, fabric,
					    "a fabric of topology \"%s\" has "
					    "no key %s; add it (%s)",
					    rl_config_topology_name(kind), key[i].name,
					    key[i].meaning);
	}
	return 0;
}

static int
read_dims(struct cfg_ctx *c, const config_setting_t *fabric,
	  struct rl_topo_spec *spec)
{
	const config_setting_t *s = config_setting_get_member(fabric, "dims");
	const int n = cfg_length(s);

	if (n < 1 || n > RL_DIMS_MAX)
		return cfg_error_at(c, s,
				    "fabric.dims has %d numbers; a grid has 1 "
				    "to %d dimensions", n, RL_DIMS_MAX);
	spec->ndims = (unsigned int)n;
	for (unsigned int d = 0; d < spec->ndims; d++)
		spec->dims[d] = (uint16_t)cfg_element(s, d);
	return 0;
}

static int
read_wrap(struct cfg_ctx *c, const config_setting_t *fabric,
	  struct rl_topo_spec *spec)
{
	const config_setting_t *s = config_setting_get_member(fabric, "wrap");

	if (s == NULL)
		return 0;
	if (config_setting_length(s) != (int)spec->ndims)
		return cfg_error_at(c, s,
				    "fabric.wrap has %d values, dims has %u; "
				    "give one for each dimension",
				    config_setting_length(s), spec->ndims);
	for (unsigned int d = 0; d < spec->ndims; d++)
		spec->wrap[d] =
			config_setting_get_bool(config_setting_get_elem(s, d));
	return 0;
}

static int
read_links_per_edge(struct cfg_ctx *c, const config_setting_t *fabric,
		    struct rl_topo_spec *spec)
{
	const config_setting_t *s =
		config_setting_get_member(fabric, "links_per_edge");
	const bool tree = spec->kind == RL_TOPO_FAT_TREE;
	const unsigned int want = tree		      ? spec->levels :
				  spec->ndims != 0 ? spec->ndims : 1;

	if (s == NULL)
		return 0;
	if (config_setting_is_aggregate(s) &&
	    config_setting_length(s) != (int)want)
		return cfg_error_at(c, s,
				    "fabric.links_per_edge has %d numbers; "
				    "give one, or here %u in brackets",
				    config_setting_length(s), want);
	for (unsigned int d = 0; d < (tree ? want : RL_DIMS_MAX); d++)
		*(tree ? &spec->tree_links[d] : &spec->links_per_edge[d]) =
			(uint16_t)cfg_element(s, d % want);
	return 0;
}

static int
read_required(struct cfg_ctx *c, const config_setting_t *fabric,
	      const char *name, uint64_t max, uint16_t *v)
{
	struct rl_config_key key = *cfg_key_find("fabric", name);
	const config_setting_t *s = config_setting_get_member(fabric, name);
	uint64_t n = 0;
	int ret;

	if (s == NULL)
		return cfg_error_at(c, fabric,
				    "a fabric of this topology has no key %s; "
				    "add it (%s)", name, key.meaning);
	key.max = max;
	ret = cfg_number(c, s, &key, &n);
	*v = (uint16_t)n;
	return ret;
}

/* `m` or `w`: one number for each level. */
static int
read_levels(struct cfg_ctx *c, const config_setting_t *fabric,
	    const char *name, uint16_t *v, uint16_t *levels)
{
	const config_setting_t *s = config_setting_get_member(fabric, name);
	const int n = s != NULL ? cfg_length(s) : 0;

	if (s == NULL)
		return cfg_error_at(c, fabric,
				    "a fat tree has no key %s; give k and n, "
				    "or m and w", name);
	if (n < 1 || n > RL_TREE_LEVELS_MAX || (*levels != 0 && n != *levels))
		return cfg_error_at(c, s,
				    "fabric.%s has %d numbers; m and w have "
				    "one for each of 1 to %d levels", name, n,
				    RL_TREE_LEVELS_MAX);
	*levels = (uint16_t)n;
	for (unsigned int l = 0; l < *levels; l++)
		v[l] = (uint16_t)cfg_element(s, l);
	return 0;
}

/* A k-ary n-tree, or the numbers of each level. */
static int
read_tree(struct cfg_ctx *c, const config_setting_t *fabric,
	  struct rl_topo_spec *spec)
{
	const bool kn = config_setting_get_member(fabric, "k") != NULL ||
			config_setting_get_member(fabric, "n") != NULL;
	const config_setting_t *m = config_setting_get_member(fabric, "m");
	const config_setting_t *w = config_setting_get_member(fabric, "w");
	uint16_t k = 0;
	int ret;

	if (kn && (m != NULL || w != NULL))
		return cfg_error_at(c, m != NULL ? m : w,
				    "a fat tree has k and n, or m and w; not "
				    "both");
	if (!kn) {
		ret = read_levels(c, fabric, "m", spec->m, &spec->levels);
		return ret != 0 ? ret :
				  read_levels(c, fabric, "w", spec->w,
					      &spec->levels);
	}
	ret = read_required(c, fabric, "k", UINT16_MAX, &k);
	if (ret == 0)
		ret = read_required(c, fabric, "n", RL_TREE_LEVELS_MAX,
				    &spec->levels);
	for (unsigned int l = 0; l < spec->levels && ret == 0; l++) {
		spec->m[l] = k;
		spec->w[l] = l == 0 ? 1 : k;
	}
	return ret;
}

/* Keys of the shape that are more than one number. */
static int
read_shape(struct cfg_ctx *c, const config_setting_t *f,
	   struct rl_topo_spec *spec)
{
	int ret;

	switch (spec->kind) {
	case RL_TOPO_TORUS:
	case RL_TOPO_MESH:
		ret = read_dims(c, f, spec);
		return ret != 0 ? ret : read_wrap(c, f, spec);
	case RL_TOPO_FAT_TREE:
		return read_tree(c, f, spec);
	case RL_TOPO_RANDOM:
		return read_required(c, f, "n", UINT16_MAX, &spec->n);
	case RL_TOPO_BOARDS:
	case RL_TOPO_BOARD:
	case RL_TOPO_CUSTOM:
	case RL_TOPO_DRAGONFLY:
	case RL_TOPO_SLIM_FLY:
	case RL_TOPO_IBNET:
		return 0;
	}
	return 0;
}

/* torus_conf: the grid of the fabric. */
static int
read_torus_conf(struct cfg_ctx *c, const config_setting_t *s,
		struct fabric_lists *l)
{
	char why[RL_ERR_MAX];
	char *text = NULL;
	size_t len = 0;
	int line = 0;
	int ret;

	if (s == NULL)
		return 0;
	ret = cfg_text_other(c, s, &text, &len, &l->conf_file);
	if (ret != 0)
		return ret;
	l->conf = calloc(1, sizeof(*l->conf));
	if (l->conf == NULL) {
		free(text);
		return cfg_error_mem(c);
	}
	ret = rl_torus_conf_read(text, len, l->conf, why, &line);
	free(text);
	return ret == 0 ? 0 :
			  cfg_error(c, l->conf_file, (uint32_t)line, "%s", why);
}

static int
read_ibnet(struct cfg_ctx *c, const config_setting_t *f,
	   struct rl_topo_spec *spec, struct fabric_lists *l)
{
	const config_setting_t *s = config_setting_get_member(f, "file");
	char why[RL_ERR_MAX];
	uint32_t file = 0;
	char *text = NULL;
	size_t len = 0;
	int line = 0;
	int ret = cfg_text_other(c, s, &text, &len, &file);

	if (ret != 0)
		return ret;
	ret = rl_ibnet_read(text, len, &l->net, why, &line);
	free(text);
	if (ret != 0) {
		cfg_error(c, file, (uint32_t)line, "%s", why);
		return ret;
	}
	ret = rl_ibnet_spec(&l->net, spec);
	l->switches = spec->switches;
	l->endpoints = spec->endpoints;
	l->links = spec->links;
	if (ret != 0)
		return cfg_error_mem(c);
	return read_torus_conf(c, config_setting_get_member(f, "torus_conf"),
			       l);
}

/* Room for the elements of a list, which may be absent. */
static int
list_alloc(struct cfg_ctx *c, const config_setting_t *s,
	   struct rl_topo_ref **ref, uint32_t *n)
{
	*n = s != NULL ? (uint32_t)config_setting_length(s) : 0;
	*ref = calloc(*n + 1, sizeof(**ref));
	return *ref == NULL ? cfg_error_mem(c) : 0;
}

static int
read_devices(struct cfg_ctx *c, const config_setting_t *s, const char *group,
	     struct rl_topo_ref **ref, uint32_t *n)
{
	int ret = list_alloc(c, s, ref, n);

	for (uint32_t i = 0; i < *n && ret == 0; i++) {
		config_setting_t *e = config_setting_get_elem(s, i);
		const char *name;

		ret = cfg_group(c, e, group, NULL);
		if (ret != 0)
			break;
		name = config_setting_get_string(
			config_setting_get_member(e, "name"));
		snprintf((*ref)[i].a, sizeof((*ref)[i].a), "%s", name);
		(*ref)[i].line = config_setting_source_line(e);
	}
	return ret;
}

static int
read_links(struct cfg_ctx *c, const config_setting_t *s,
	   struct rl_topo_ref **ref, uint32_t *n)
{
	int ret = list_alloc(c, s, ref, n);

	for (uint32_t i = 0; i < *n && ret == 0; i++) {
		const config_setting_t *e = config_setting_get_elem(s, i);

		(*ref)[i].count = 1;
		(*ref)[i].k = -1;
		(*ref)[i].line = config_setting_source_line(e);
		ret = cfg_group(c, e, "fabric.links", &(*ref)[i]);
	}
	return ret;
}

static int
read_lists(struct cfg_ctx *c, const config_setting_t *f,
	   struct rl_topo_spec *spec, struct fabric_lists *l)
{
	int ret = read_devices(c, config_setting_get_member(f, "switches"),
			       "fabric.switches", &l->switches,
			       &spec->nswitches);

	if (ret == 0)
		ret = read_devices(c, config_setting_get_member(f, "endpoints"),
				   "fabric.endpoints", &l->endpoints,
				   &spec->nendpoints);
	if (ret == 0)
		ret = read_links(c, config_setting_get_member(f, "links"),
				 &l->links, &spec->nlinks);
	spec->switches = l->switches;
	spec->endpoints = l->endpoints;
	spec->links = l->links;
	return ret;
}

static int
read_fail(struct cfg_ctx *c, const config_setting_t *s,
	  struct rl_topo_ref **ref, uint32_t *n)
{
	int ret = list_alloc(c, s, ref, n);

	for (uint32_t i = 0; i < *n && ret == 0; i++) {
		const config_setting_t *e = config_setting_get_elem(s, i);
		const char *name = config_setting_get_string(e);

		(*ref)[i].line = config_setting_source_line(e);
		if (rl_topo_ref_parse(name, &(*ref)[i]) != 0)
			ret = cfg_error_at(c, e,
					   "fabric.fail: \"%.80s\" names no "
					   "link or switch; write A-B, A-B#k "
					   "or A", name);
	}
	return ret;
}

static int
read_spec(struct cfg_ctx *c, const config_setting_t *f,
	  struct rl_topo_spec *spec, struct fabric_lists *l)
{
	struct rl_topo_spec probe;
	int ret;

	/* once for the kind, which decides the defaults, and once more */
	rl_topo_spec_defaults(&probe, RL_TOPO_CUSTOM);
	ret = cfg_group(c, f, "fabric", &probe);
	if (ret == 0)
		ret = check_keys_of_kind(c, f, probe.kind);
	if (ret != 0)
		return ret;
	rl_topo_spec_defaults(spec, probe.kind);
	ret = cfg_group(c, f, "fabric", spec);
	if (ret == 0)
		ret = read_shape(c, f, spec);
	if (ret == 0)
		ret = read_links_per_edge(c, f, spec);
	if (ret == 0)
		ret = spec->kind == RL_TOPO_IBNET ? read_ibnet(c, f, spec, l) :
						    read_lists(c, f, spec, l);
	if (ret == 0)
		ret = read_fail(c, config_setting_get_member(f, "fail"),
				&l->fail, &spec->nfail);
	spec->fail = l->fail;
	return ret;
}

/* The line that sets the size of the fabric. */
static uint32_t
size_line(const config_setting_t *f, enum rl_topo_kind kind)
{
	static const char *const key[] = {
		[RL_TOPO_TORUS] = "dims", [RL_TOPO_MESH] = "dims",
		[RL_TOPO_BOARDS] = "boards",
		[RL_TOPO_BOARD] = "switches_per_endpoint",
		[RL_TOPO_CUSTOM] = "links",
		[RL_TOPO_FAT_TREE] = "m",
		[RL_TOPO_DRAGONFLY] = "groups",
		[RL_TOPO_SLIM_FLY] = "q",
		[RL_TOPO_RANDOM] = "degree",
		[RL_TOPO_IBNET] = "file",
	};
	const config_setting_t *s = config_setting_get_member(f, key[kind]);

	if (s == NULL && kind == RL_TOPO_FAT_TREE)
		s = config_setting_get_member(f, "n");
	if (s == NULL && kind == RL_TOPO_DRAGONFLY)
		s = config_setting_get_member(f, "a");

	return config_setting_source_line(s != NULL ? s : f);
}

static int
build_torus(struct cfg_ctx *c, const config_setting_t *f,
	    const struct rl_topo_spec *spec, const struct fabric_lists *l,
	    struct rl_topo *topo)
{
	char why[RL_ERR_MAX];
	bool in_fail;
	int line = 0;
	const int ret = rl_torus_build(&l->net, l->conf, spec->fail,
				       spec->nfail, topo, why, &line, &in_fail);

	if (ret != 0 && in_fail)
		cfg_error_line(c, (uint32_t)line, "%s", why);
	else if (ret != 0 && line != 0)
		cfg_error(c, l->conf_file, (uint32_t)line, "%s", why);
	else if (ret != 0)
		cfg_error_at(c, config_setting_get_member(f, "torus_conf"),
			     "%s", why);
	return ret;
}

static int
build(struct cfg_ctx *c, const config_setting_t *f,
      const struct rl_topo_spec *spec, const struct fabric_lists *l,
      struct rl_topo *topo)
{
	const uint32_t size = size_line(f, spec->kind);
	char why[RL_ERR_MAX];
	int line = 0;
	int ret;

	ret = l->conf != NULL ? build_torus(c, f, spec, l, topo) :
				rl_topo_build(spec, topo, why, &line);
	if (ret != 0 && l->conf == NULL)
		cfg_error_line(c, line != 0 ? (uint32_t)line : size, "%s", why);
	if (ret != 0)
		return ret;
	if (topo->nep < 2) {
		ret = cfg_error_line(c, size, "the fabric has one endpoint; it "
					      "takes two to send anything");
		goto err_free;
	}
	ret = c->parts ? 0 : rl_topo_reach(topo, RL_REACH_PRISTINE, why);
	if (ret != 0) {
		cfg_error_line(c, size, "%s; add links between the parts, or "
			       "route each by itself: reflit-route --parts", why);
		goto err_free;
	}
	return 0;

err_free:
	rl_topo_free(topo);
	return ret;
}

int
cfg_fabric(struct cfg_ctx *c, const config_setting_t *fabric,
	   struct rl_topo *topo)
{
	struct fabric_lists lists = {0};
	struct rl_topo_spec spec;
	int ret = read_spec(c, fabric, &spec, &lists);

	if (ret == 0)
		ret = build(c, fabric, &spec, &lists, topo);
	free(lists.switches);
	free(lists.endpoints);
	free(lists.links);
	free(lists.fail);
	free(lists.conf);
	rl_ibnet_free(&lists.net);
	return ret;
}
