/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a group of a parsed file key by key, by the table of keys. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "config_impl.h"
#include "rl_near.h"

/* Room for the range of a key in words. */
#define RANGE_MAX 256

int
cfg_unknown_key(struct cfg_ctx *c, const config_setting_t *s, const char *group)
{
	const char *name = config_setting_name(s);
	const char *dot = group[0] != '\0' ? "." : "";
	const char *best = NULL;
	unsigned int least = RL_NEAR_FAR;
	const struct rl_config_key *key;
	size_t n;

	key = rl_config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		unsigned int d;

		if (strcmp(key[i].group, group) != 0)
			continue;
		d = rl_name_distance(name, key[i].name);
		if (d < least) {
			least = d;
			best = key[i].name;
		}
	}
	if (best != NULL)
		return cfg_error_at(c, s,
				    "there is no key %s%s%.64s; did you mean "
				    "%s?", group, dot, name, best);
	return cfg_error_at(c, s,
			    "there is no key %s%s%.64s; see "
			    "docs/configuration.md for those that are", group,
			    dot, name);
}

static const char *
type_name(const config_setting_t *s)
{
	switch (config_setting_type(s)) {
	case CONFIG_TYPE_GROUP:
		return "a group";
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		return "a number";
	case CONFIG_TYPE_FLOAT:
		return "a number with a fraction";
	case CONFIG_TYPE_STRING:
		return "a string";
	case CONFIG_TYPE_BOOL:
		return "true or false";
	case CONFIG_TYPE_ARRAY:
		return "an array";
	case CONFIG_TYPE_LIST:
		return "a list";
	default:
		return "nothing";
	}
}

static int
wrong_type(struct cfg_ctx *c, const config_setting_t *s,
	   const struct rl_config_key *key)
{
	static const char *const takes[] = {
		[RL_KEY_BOOL] = "true or false",
		[RL_KEY_NUMBER] = "a whole number,",
		[RL_KEY_WORD] = "one of",
		[RL_KEY_WORDS] = "a list in brackets of",
		[RL_KEY_TEXT] = "a string of",
		[RL_KEY_NUMBERS] = "whole numbers in brackets,",
		[RL_KEY_BOOLS] = "a list in brackets of",
		[RL_KEY_NAMES] = "a list in brackets of",
		[RL_KEY_GROUP] = "a group",
		[RL_KEY_GROUPS] = "a list of groups",
	};
	char range[RANGE_MAX];

	rl_config_key_range(key, range, sizeof(range));
	return cfg_error_at(c, s, "%s%s%s is %s; it takes %s %s", key->group,
			    key->group[0] != '\0' ? "." : "", key->name,
			    type_name(s), takes[key->type],
			    key->type == RL_KEY_BOOL ? "" : range);
}

int
cfg_number(struct cfg_ctx *c, const config_setting_t *s,
	   const struct rl_config_key *key, uint64_t *v)
{
	const int type = config_setting_type(s);
	long long n;

	if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64)
		return wrong_type(c, s, key);
	n = type == CONFIG_TYPE_INT ? config_setting_get_int(s) :
				      config_setting_get_int64(s);
	if (n < 0 || (uint64_t)n < key->min || (uint64_t)n > key->max)
		return cfg_error_at(c, s,
				    "%s.%s: %lld is out of range; use %" PRIu64
				    " to %" PRIu64 " (%s)",
				    key->group, key->name, n, key->min,
				    key->max, key->meaning);
	*v = (uint64_t)n;
	return 0;
}

int
cfg_length(const config_setting_t *s)
{
	return config_setting_is_aggregate(s) ? config_setting_length(s) : 1;
}

uint64_t
cfg_element(const config_setting_t *s, unsigned int i)
{
	return (uint64_t)config_setting_get_int64(
		config_setting_is_aggregate(s) ? config_setting_get_elem(s, i)
					       : s);
}

int
cfg_entries(struct cfg_ctx *c, const config_setting_t *s, const char *name,
	    uint32_t most, cfg_entry_fn fn, struct rl_config *cfg, uint32_t *n)
{
	const uint32_t have =
		s != NULL ? (uint32_t)config_setting_length(s) : 0;
	int ret = 0;

	if (have > most)
		return cfg_error_at(c, s,
				    "%s has %u entries; at most %u are "
				    "possible", name, have, most);
	for (*n = 0; *n < have && ret == 0; ++*n)
		ret = fn(c, config_setting_get_elem(s, *n), *n, cfg);
	return ret;
}

static int
cfg_word(struct cfg_ctx *c, const config_setting_t *s,
	 const struct rl_config_key *key, uint64_t *v)
{
	char range[RANGE_MAX];
	const char *word;

	if (config_setting_type(s) != CONFIG_TYPE_STRING)
		return wrong_type(c, s, key);
	word = config_setting_get_string(s);
	for (unsigned int i = 0; key->words[i] != NULL; i++) {
		if (strcmp(word, key->words[i]) == 0) {
			*v = i;
			return 0;
		}
	}
	rl_config_key_range(key, range, sizeof(range));
	return cfg_error_at(c, s, "%s.%s: there is no \"%.64s\"; use %s%s",
			    key->group, key->name, word,
			    key->type == RL_KEY_WORDS ? "some of " : "one of ",
			    range);
}

static bool
is_listing(const config_setting_t *s)
{
	return config_setting_is_array(s) || config_setting_is_list(s);
}

static int
cfg_words(struct cfg_ctx *c, const config_setting_t *s,
	  const struct rl_config_key *key, uint64_t *mask)
{
	*mask = 0;
	if (!is_listing(s))
		return wrong_type(c, s, key);
	for (int i = 0; i < config_setting_length(s); i++) {
		uint64_t bit = 0;
		const int ret = cfg_word(c, config_setting_get_elem(
						    s, (unsigned int)i),
					 key, &bit);

		if (ret != 0)
			return ret;
		*mask |= 1ull << bit;
	}
	return 0;
}

static int
cfg_text(struct cfg_ctx *c, const config_setting_t *s,
	 const struct rl_config_key *key, char *dst)
{
	const char *text;
	size_t len;

	if (config_setting_type(s) != CONFIG_TYPE_STRING)
		return wrong_type(c, s, key);
	text = config_setting_get_string(s);
	len = strlen(text);
	if (len < key->min || len > key->max)
		return cfg_error_at(c, s,
				    "%s.%s has %zu characters; use %" PRIu64
				    " to %" PRIu64, key->group, key->name, len,
				    key->min, key->max);
	if (dst != NULL)
		memcpy(dst, text, len + 1);
	return 0;
}

static int
check_listing(struct cfg_ctx *c, const config_setting_t *s,
	      const struct rl_config_key *key)
{
	const bool single = key->type == RL_KEY_NUMBERS;
	const int want = key->type == RL_KEY_BOOLS  ? CONFIG_TYPE_BOOL :
			 key->type == RL_KEY_GROUPS ? CONFIG_TYPE_GROUP :
						      CONFIG_TYPE_STRING;
	uint64_t v;
	int ret = 0;

	if (single && !config_setting_is_aggregate(s))
		return cfg_number(c, s, key, &v);
	if (!(key->type == RL_KEY_GROUPS ? config_setting_is_list(s) :
					   is_listing(s)))
		return wrong_type(c, s, key);
	for (int i = 0; i < config_setting_length(s) && ret == 0; i++) {
		const config_setting_t *e =
			config_setting_get_elem(s, (unsigned int)i);

		if (key->type == RL_KEY_NUMBERS)
			ret = cfg_number(c, e, key, &v);
		else if (config_setting_type(e) != want)
			ret = wrong_type(c, e, key);
	}
	return ret;
}

int
cfg_take(struct cfg_ctx *c, const config_setting_t *s,
	 const struct rl_config_key *key, void *base)
{
	char *dst = key->size != 0 ? (char *)base + key->offset : NULL;
	uint64_t v = 0;
	int ret = -EINVAL;

	switch (key->type) {
	case RL_KEY_BOOL:
		if (config_setting_type(s) != CONFIG_TYPE_BOOL)
			return wrong_type(c, s, key);
		v = config_setting_get_bool(s) != 0;
		ret = 0;
		break;
	case RL_KEY_NUMBER:
		ret = key->words != NULL &&
				      config_setting_type(s) ==
					      CONFIG_TYPE_STRING
			      ? cfg_word(c, s, key, &v)
			      : cfg_number(c, s, key, &v);
		break;
	case RL_KEY_WORD:
		ret = cfg_word(c, s, key, &v);
		break;
	case RL_KEY_WORDS:
		ret = cfg_words(c, s, key, &v);
		break;
	case RL_KEY_TEXT:
		return cfg_text(c, s, key, dst);
	case RL_KEY_GROUP:
		return config_setting_is_group(s) ? 0 : wrong_type(c, s, key);
	case RL_KEY_NUMBERS:
	case RL_KEY_BOOLS:
	case RL_KEY_NAMES:
	case RL_KEY_GROUPS:
		return check_listing(c, s, key);
	}
	if (ret == 0 && dst != NULL)
		memcpy(dst, &v, key->size); /* little-endian, see rl_flit.h */
	return ret;
}

int
cfg_group(struct cfg_ctx *c, const config_setting_t *s, const char *group,
	  void *base)
{
	const struct rl_config_key *key;
	size_t n;

	RL_ASSERT(config_setting_is_group(s));
	for (int i = 0; i < config_setting_length(s); i++) {
		const config_setting_t *e =
			config_setting_get_elem(s, (unsigned int)i);
		int ret;

		key = cfg_key_find(group, config_setting_name(e));
		ret = key == NULL ? cfg_unknown_key(c, e, group) :
				    cfg_take(c, e, key, base);
		if (ret != 0)
			return ret;
	}
	key = rl_config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		const bool missing = strcmp(key[i].group, group) == 0 &&
				     key[i].kinds == CFG_IN_ALL &&
				     key[i].def != NULL &&
				     strcmp(key[i].def, "required") == 0 &&
				     !config_setting_get_member(s, key[i].name);

		if (missing)
			return cfg_error_at(c, s,
					    "%s has no key %s; add it (%s)",
					    group[0] != '\0' ? group :
							       "the file",
					    key[i].name, key[i].meaning);
	}
	return 0;
}
