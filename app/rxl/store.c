/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "store.h"

/** Changes whenever the meaning of a case or of its numbers does. */
#define FORMAT 2

void
rxl_store_build(char *build)
{
	FILE *f = fopen("/proc/self/exe", "rb");
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a, by eight bytes */
	uint64_t word[512];
	size_t n;

	snprintf(build, 20, "unknown");
	if (f == NULL)
		return;
	while ((n = fread(word, 1, sizeof(word), f)) != 0) {
		if (n < sizeof(word))
			memset((char *)word + n, 0, sizeof(word) - n);
		for (size_t i = 0; i < (n + 7) / 8; i++)
			h = (h ^ word[i]) * 0x100000001b3u;
	}
	if (!ferror(f))
		snprintf(build, 20, "%016" PRIx64, h);
	fclose(f);
}

static int
remember(struct rxl_store *s, const char *key, const struct rxl_outcome *o)
{
	struct rxl_stored *i;

	if (s->n == s->cap) {
		const size_t cap = s->cap == 0 ? 64 : 2 * s->cap;
		struct rxl_stored *more =
			realloc(s->item, cap * sizeof(*more));

		if (more == NULL)
			return -ENOMEM;
		s->item = more;
		s->cap = cap;
	}
	i = &s->item[s->n++];
	snprintf(i->key, sizeof(i->key), "%s", key);
	i->outcome = *o;
	return 0;
}

/** One line; anything that is not one of ours is passed over. */
static int
read_line(struct rxl_store *s, const char *line)
{
	json_t *o = json_loads(line, 0, NULL);
	const json_t *values = json_object_get(o, "v");
	const char *key = json_string_value(json_object_get(o, "key"));
	struct rxl_outcome out;
	const char *build = json_string_value(json_object_get(o, "build"));
	uint64_t *number = (uint64_t *)(void *)&out;
	int ret = 0;

	if (key != NULL && (build == NULL || strcmp(build, s->build) != 0))
		s->foreign++;
	else if (key != NULL && strlen(key) < RXL_KEY_MAX &&
	    json_integer_value(json_object_get(o, "format")) == FORMAT &&
	    json_array_size(values) == RXL_OUTCOME_NUMBERS) {
		for (size_t i = 0; i < RXL_OUTCOME_NUMBERS; i++)
			number[i] = (uint64_t)json_integer_value(
				json_array_get(values, i));
		ret = remember(s, key, &out);
	}
	json_decref(o);
	return ret;
}

static int
read_all(struct rxl_store *s, const char *path)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	if (f == NULL)
		return errno == ENOENT ? 0 : -errno;
	while (ret == 0 && getline(&line, &size, f) > 0)
		ret = read_line(s, line);
	free(line);
	fclose(f);
	return ret;
}

int
rxl_store_open(struct rxl_store *s, const char *path, const char *build,
	       bool fresh)
{
	int ret;

	memset(s, 0, sizeof(*s));
	snprintf(s->build, sizeof(s->build), "%s", build);
	if (path == NULL)
		return 0;
	if (!fresh) {
		ret = read_all(s, path);
		if (ret != 0)
			return ret;
	}
	s->file = fopen(path, fresh ? "w" : "a");
	if (s->file != NULL)
		return 0;
	ret = -errno;
	rxl_store_close(s);
	return ret;
}

void
rxl_store_close(struct rxl_store *s)
{
	if (s->file != NULL)
		fclose(s->file);
	free(s->item);
	memset(s, 0, sizeof(*s));
}

const struct rxl_outcome *
rxl_store_find(const struct rxl_store *s, const char *key)
{
	/* the last one counts; some hundreds of them, looked up once each */
	for (size_t i = s->n; i > 0; i--)
		if (strcmp(s->item[i - 1].key, key) == 0)
			return &s->item[i - 1].outcome;
	return NULL;
}

int
rxl_store_add(struct rxl_store *s, const char *key, const struct rxl_outcome *o)
{
	const uint64_t *number = (const uint64_t *)(const void *)o;
	json_t *line, *values;
	char *text;
	int ret = remember(s, key, o);

	if (ret != 0 || s->file == NULL)
		return ret;
	values = json_array();
	for (size_t i = 0; i < RXL_OUTCOME_NUMBERS; i++)
		json_array_append_new(values,
				      json_integer((json_int_t)number[i]));
	line = json_pack("{s:s, s:i, s:s, s:o}", "key", key, "format", FORMAT,
			 "build", s->build, "v", values);
	text = json_dumps(line, JSON_COMPACT);
	json_decref(line);
	/* a line is whole or, after a crash, the last one and unreadable */
	if (text == NULL || fprintf(s->file, "%s\n", text) < 0 ||
	    fflush(s->file) != 0)
		ret = -EIO;
	free(text);
	return ret;
}
