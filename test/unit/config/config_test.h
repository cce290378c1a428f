/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_TEST_H
#define CONFIG_TEST_H

/* Shared by the tests of this folder. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../figure1.h"
#include "rl_config.h"

#define ERR_MAX (RL_ERR_MAX + 512)

/* Figure 1 as a minimal file; lines 1 to 6. */
#define FIGURE_1 FIGURE1_FABRIC

static inline struct rl_config *
config_new(void)
{
	struct rl_config *cfg = calloc(1, sizeof(*cfg));

	assert_non_null(cfg);
	return cfg;
}

/* Reads a text that must be valid. */
static inline struct rl_config *
config_take(const char *text)
{
	struct rl_config *cfg = config_new();
	char err[ERR_MAX] = "";

	if (rl_config_read_text("t.cfg", text, strlen(text), cfg, err,
				sizeof(err)) != 0)
		fail_msg("refused: %s", err);
	return cfg;
}

static inline void
config_drop(struct rl_config *cfg)
{
	rl_config_free(cfg);
	free(cfg);
}

/*
 * Compares two structures of a group key by key, because padding is undefined.
 */
static inline void
check_same(const char *group, const void *a, const void *b)
{
	const struct rl_config_key *key;
	size_t n;

	key = rl_config_keys(&n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(key[i].group, group) == 0 &&
		    memcmp((const char *)a + key[i].offset,
			   (const char *)b + key[i].offset, key[i].size) != 0)
			fail_msg("%s.%s differs", group, key[i].name);
}

/* An error must be one line: "reason; what to do". */
static inline void
check_error_line(const char *err)
{
	if (strstr(err, "; ") == NULL)
		fail_msg("does not say what to do: %s", err);
	if (strchr(err, '\n') != NULL || strlen(err) >= ERR_MAX - 1)
		fail_msg("not one whole line: %s", err);
}

/* Refused content must also have the prefix "FILE:LINE: ". */
static inline void
check_error_form(const char *err)
{
	const char *p = strchr(err, ':');

	assert_non_null(p);
	p++;
	if (*p < '0' || *p > '9')
		fail_msg("no line number: %s", err);
	p += strspn(p, "0123456789");
	if (p[0] != ':' || p[1] != ' ')
		fail_msg("no line number: %s", err);
	check_error_line(p);
}

/* Reads a text that must be refused at `line` with these words. */
static inline void
config_refuse(const char *text, size_t len, int ret, int line, const char *why)
{
	struct rl_config *cfg = config_new();
	static const struct rl_config nothing;
	char err[ERR_MAX] = "", begin[32];
	const int got = rl_config_read_text("t.cfg", text, len, cfg, err,
					    sizeof(err));

	if (got != ret)
		fail_msg("returned %d, not %d: %s\n%s", got, ret, err, text);
	check_error_form(err);
	snprintf(begin, sizeof(begin), "t.cfg:%d: ", line);
	if (strncmp(err, begin, strlen(begin)) != 0)
		fail_msg("not at line %d: %s\n%s", line, err, text);
	if (strstr(err, why) == NULL)
		fail_msg("does not say '%s': %s", why, err);
	assert_memory_equal(cfg, &nothing, sizeof(nothing));
	free(cfg);
}

#endif /* CONFIG_TEST_H */
