/* SPDX-License-Identifier: BSD-3-Clause */

/* What --what-if names: settings that differ from those of the fabric file. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "say_error.h"
#include "sim_app.h"

/* What each word may be, in the order of the values that it sets. */
static const struct {
	const char *key;
	const char *words[3];
} settings[] = {
	{ "loopback", { "whole-packets", "unacked-only", "none" } },
	{ "e2e", { "off", "on" } },
	{ "dup-filter", { "off", "on" } },
	{ "switching", { "store-and-forward", "cut-through" } },
};
_Static_assert(RL_LOOPBACK_WHOLE == 0 && RL_LOOPBACK_UNACKED == 1 &&
	       RL_LOOPBACK_NONE == 2 && RL_CUT_THROUGH == 1,
	       "the words are in the order of their enums");

static void
set(struct rl_config *cfg, size_t setting, unsigned int v)
{
	switch (setting) {
	case 0:
		cfg->link.loopback = (enum rl_loopback)v;
		break;
	case 1:
		rl_ep_cfg_set_retry(&cfg->endpoint, v != 0);
		break;
	case 2:
		cfg->link.dup_filter = v != 0;
		break;
	default:
		cfg->link.switching = (enum rl_switching)v;
	}
}

/* "KEY=VALUE" */
static int
set_word(struct rl_config *cfg, const char *word)
{
	const size_t key = strcspn(word, "=");

	for (size_t i = 0; i < RL_ARRAY_SIZE(settings); i++)
		for (unsigned int v = 0; v < 3 && settings[i].words[v] != NULL;
		     v++)
			if (strncmp(word, settings[i].key, key) == 0 &&
			    settings[i].key[key] == '\0' && word[key] == '=' &&
			    strcmp(word + key + 1, settings[i].words[v]) == 0) {
				set(cfg, i, v);
				return 0;
			}
	return -EINVAL;
}

int
policy_set(const char *text, struct rl_config *cfg)
{
	char *copy = strdup(text), *save = NULL, *word;
	int ret = copy == NULL ? -ENOMEM : -EINVAL;

	word = copy == NULL ? NULL : strtok_r(copy, ",", &save);
	for (; word != NULL; word = strtok_r(NULL, ",", &save)) {
		ret = set_word(cfg, word);
		if (ret != 0)
			break;
	}
	free(copy);
	if (ret == 0 && cfg->adaptive &&
	    cfg->link.switching == RL_CUT_THROUGH)
		return say_error(-EINVAL, "reflit-sim: switching=cut-through: a "
				 "packet must be here as a whole before it may "
				 "leave the adaptive plane; set "
				 "routing.adaptive = false\n");
	if (ret == 0)
		return 0;
	return say_error(ret, "reflit-sim: --what-if %s: not understood; use "
			 "loopback=whole-packets|unacked-only|none, e2e=on|off, "
			 "dup-filter=on|off, switching=store-and-forward|"
			 "cut-through, joined by commas\n", text);
}
