/* SPDX-License-Identifier: BSD-3-Clause */
/* Recipes of tables as JSON: names of failed parts, flows as pairs of names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "oob_text_priv.h"

static json_t *
parts_json(const struct rl_topo *topo, const uint8_t *out, bool links)
{
	char name[2 * RL_NAME_MAX + 8];
	json_t *list = json_array();

	for (uint32_t i = 0; i < (links ? topo->nlink : topo->ndev); i++)
		if (out[i])
			json_array_append_new(
				list,
				json_string(links ? rl_topo_link_name(
							    topo, i, name,
							    sizeof(name))
						  : topo->dev[i].name));
	return list;
}

/* {"e0": ["e1", "e2"]}: the held destinations of each source. */
static json_t *
flows_json(const struct rl_topo *topo, const struct rl_flows *f)
{
	json_t *all = json_object();

	for (uint32_t s = 0; f != NULL && s < f->nep; s++) {
		json_t *list = NULL;

		for (uint32_t d = 0; d < f->nep; d++) {
			if (!rl_flows_has(f, s, d))
				continue;
			if (list == NULL)
				list = json_array();
			json_array_append_new(
				list,
				json_string(topo->dev[topo->ep_dev[d]].name));
		}
		if (list != NULL)
			json_object_set_new(
				all, topo->dev[topo->ep_dev[s]].name, list);
	}
	return all;
}

/*
 * How tables change by tokens: from which tables, and a digest of their ranks.
 */
static json_t *
tokens_json(const struct rl_tables_recipe *r)
{
	return !r->tokens ? NULL
			  : json_pack("{s:I, s:o}", "from", (json_int_t)r->from,
				      "ranks", oob_text_of_hex(r->ranks));
}

char *
rl_oob_recipe_text(const struct rl_topo *topo, const struct rl_tables_recipe *r)
{
	return oob_text_dump(json_pack(
		"{s:i, s:I, s:o, s:o, s:o, s:o, s:o*}", "version", RL_OOB_VERSION,
		"epoch", (json_int_t)r->epoch, "digest",
		oob_text_of_hex(r->digest), "links",
		parts_json(topo, r->link_out, true), "devices",
		parts_json(topo, r->dev_out, false), "flows",
		flows_json(topo, r->flows), "tokens", tokens_json(r)));
}

static int
read_parts(const struct rl_topo *topo, const json_t *list, uint8_t *out,
	   bool links)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));
		unsigned int n = 1;
		const int64_t part =
			name == NULL ? -1
			: links	     ? rl_topo_find_link(topo, name, &n)
				     : rl_topo_find_dev(topo, name);

		if (part < 0 || n != 1)
			return -EINVAL;
		out[part] = 1;
	}
	return json_is_array(list) ? 0 : -EINVAL;
}

/* Endpoint number of a name; -1: none */
static int32_t
endpoint(const struct rl_topo *topo, const char *name)
{
	const int32_t dev = name == NULL ? -1 : rl_topo_find_dev(topo, name);

	return dev < 0 || topo->dev[dev].kind != RL_DEV_ENDPOINT
		       ? -1
		       : topo->dev[dev].ep_id;
}

static int
read_flows(const struct rl_topo *topo, json_t *all, struct rl_flows *f)
{
	const char *name;
	json_t *list;
	int ret;

	if (!json_is_object(all))
		return -EINVAL;
	if (json_object_size(all) == 0)
		return 0;
	ret = rl_flows_init(f, topo->nep);
	if (ret != 0)
		return ret;
	json_object_foreach(all, name, list) {
		const int32_t src = endpoint(topo, name);

		if (src < 0 || !json_is_array(list))
			return -EINVAL;
		for (size_t i = 0; i < json_array_size(list); i++) {
			const int32_t dst = endpoint(
				topo,
				json_string_value(json_array_get(list, i)));

			if (dst < 0)
				return -EINVAL;
			if (!rl_flows_has(f, (uint32_t)src, (uint32_t)dst))
				rl_flows_add(f, (uint32_t)src, (uint32_t)dst);
		}
	}
	return 0;
}

static int
read_tokens(const json_t *j, struct rl_tables_recipe *r)
{
	uint64_t from;

	if (j == NULL)
		return 0;
	if (!json_is_object(j) || json_object_get(j, "from") == NULL ||
	    oob_text_number(j, "from", UINT32_MAX, &from) != 0 ||
	    oob_text_hex(j, "ranks", &r->ranks) != 0)
		return -EINVAL;
	r->from = (uint32_t)from;
	r->tokens = true;
	return 0;
}

int
rl_oob_recipe_read(const struct rl_topo *topo, const char *text, size_t len,
		   struct rl_oob_recipe *out)
{
	json_t *j = oob_text_load(text, len);
	uint64_t epoch = 0;
	int ret = -EINVAL;

	memset(out, 0, sizeof(*out));
	if (j == NULL)
		return ret;
	out->link_out = calloc(topo->nlink + 1u, 1);
	out->dev_out = calloc(topo->ndev, 1);
	if (out->link_out == NULL || out->dev_out == NULL)
		ret = -ENOMEM;
	else if (oob_text_number(j, "epoch", UINT32_MAX, &epoch) == 0 &&
		 epoch != 0 && oob_text_hex(j, "digest", &out->r.digest) == 0)
		ret = read_parts(topo, json_object_get(j, "links"),
				 out->link_out, true);
	if (ret == 0)
		ret = read_parts(topo, json_object_get(j, "devices"),
				 out->dev_out, false);
	if (ret == 0)
		ret = read_flows(topo, json_object_get(j, "flows"),
				 &out->flows);
	if (ret == 0)
		ret = read_tokens(json_object_get(j, "tokens"), &out->r);
	json_decref(j);
	out->r.epoch = (uint32_t)epoch;
	out->r.link_out = out->link_out;
	out->r.dev_out = out->dev_out;
	out->r.flows = out->flows.count != 0 ? &out->flows : NULL;
	if (ret != 0)
		rl_oob_recipe_free(out);
	return ret;
}

void
rl_oob_recipe_free(struct rl_oob_recipe *r)
{
	free(r->link_out);
	free(r->dev_out);
	rl_flows_free(&r->flows);
	memset(r, 0, sizeof(*r));
}
