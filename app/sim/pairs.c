/* SPDX-License-Identifier: BSD-3-Clause */

/* --traffic pairs:FILE, lines SOURCE DESTINATION [uncounted]. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rl_infile.h"
#include "rl_refuse.h"
#include "sim_app.h"

#define FILE_MAX_BYTES (16u << 20)
#define SPACE " \t\r"

static int32_t
endpoint_of(const struct rl_topo *topo, const char *name)
{
	const int32_t dev = rl_topo_find_dev(topo, name);

	return dev < 0 || topo->dev[dev].kind != RL_DEV_ENDPOINT
		       ? -1
		       : topo->dev[dev].ep_id;
}

/* @return 0; -EINVAL with the reason in @p why */
static int
read_line(struct setup *s, char *line, uint32_t *n, char *why)
{
	const struct rl_topo *topo = &s->plan.cfg.topo;
	char *save = NULL, *word[4];
	int32_t ep[2];

	for (unsigned int i = 0; i < RL_ARRAY_SIZE(word); i++)
		word[i] = strtok_r(i == 0 ? line : NULL, SPACE, &save);
	if (word[0] == NULL)
		return 0;
	if (word[1] == NULL || word[3] != NULL ||
	    (word[2] != NULL && strcmp(word[2], "uncounted") != 0))
		return rl_refuse(why, RL_ERR_MAX, -EINVAL, "a line is SOURCE "
				 "DESTINATION [uncounted]");
	for (unsigned int i = 0; i < 2; i++) {
		ep[i] = endpoint_of(topo, word[i]);
		if (ep[i] >= 0)
			continue;
		return rl_refuse(why, RL_ERR_MAX, -EINVAL, "there is no "
				 "endpoint %.40s", word[i]);
	}
	if (ep[0] == ep[1])
		return rl_refuse(why, RL_ERR_MAX, -EINVAL, "%s can't send to "
				 "itself", word[0]);
	s->counted[ep[0]] = word[2] == NULL;
	s->pairs[(*n)++] = (struct rl_pattern_pair){ (uint16_t)ep[0],
						     (uint16_t)ep[1] };
	return 0;
}

static int
read_lines(struct setup *s, char *text, size_t len, uint32_t *line, char *why)
{
	struct rl_pattern_cfg *c = &s->plan.load.pattern;
	size_t lines = 1;
	char *end;
	int ret = 0;

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	c->npairs = 0;
	c->pair = s->pairs = calloc(lines, sizeof(*s->pairs));
	s->counted = calloc(s->plan.cfg.topo.nep, sizeof(*s->counted));
	if (s->pairs == NULL || s->counted == NULL)
		return rl_refuse(why, RL_ERR_MAX, -ENOMEM, "out of memory");
	for (char *at = text; ret == 0 && at < text + len; at = end + 1) {
		++*line;
		end = memchr(at, '\n', len - (size_t)(at - text));
		if (end == NULL)
			end = text + len;
		*end = '\0';
		if (memchr(at, '\0', (size_t)(end - at)) != NULL)
			return rl_refuse(why, RL_ERR_MAX, -EINVAL,
					 "a zero byte");
		at[strcspn(at, "#")] = '\0';
		ret = read_line(s, at, &c->npairs, why);
	}
	if (ret == 0 && c->npairs == 0) {
		snprintf(why, RL_ERR_MAX, "no line names a pair");
		ret = -EINVAL;
	}
	return ret;
}

int
pairs_read(struct setup *s, const char *path, char *err, size_t errlen)
{
	char *text = NULL, why[RL_ERR_MAX];
	uint32_t line = 0;
	size_t len;
	int ret = rl_infile_read(path, RL_INFILE_ANY, FILE_MAX_BYTES, &text,
				 &len);

	if (ret != 0)
		return rl_refuse(err, errlen, ret, "%s: %s", path,
				 ret == -EFBIG ? "more than 16 MiB"
					       : rl_infile_error(ret));
	ret = read_lines(s, text, len, &line, why);
	free(text);
	if (ret == 0)
		return 0;
	for (char *p = why; *p != '\0'; p++)
		if (iscntrl((unsigned char)*p))
			*p = '?'; /* it would reach a terminal */
	return rl_refuse(err, errlen, ret, "%s:%u: %s", path,
			 line == 0 ? 1 : line, why);
}
