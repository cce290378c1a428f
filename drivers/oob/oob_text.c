/* SPDX-License-Identifier: BSD-3-Clause */
/* Members and office as JSON, and helpers of all readers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "oob_text_priv.h"

json_t *
oob_text_load(const char *text, size_t len)
{
	json_error_t err;
	json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &err);
	uint64_t version;

	if (j != NULL && oob_text_number(j, "version", UINT32_MAX, &version) ==
				 0 && version == RL_OOB_VERSION)
		return j;
	json_decref(j);
	return NULL;
}

char *
oob_text_dump(json_t *j)
{
	char *text = j == NULL ? NULL : json_dumps(j, JSON_COMPACT);

	json_decref(j);
	return text;
}

int
oob_text_number(const json_t *j, const char *key, uint64_t max, uint64_t *v)
{
	const json_t *n = json_object_get(j, key);

	*v = 0;
	if (n == NULL)
		return 0;
	if (!json_is_integer(n) || json_integer_value(n) < 0 ||
	    (uint64_t)json_integer_value(n) > max)
		return -EINVAL;
	*v = (uint64_t)json_integer_value(n);
	return 0;
}

int
oob_text_hex(const json_t *j, const char *key, uint64_t *v)
{
	const char *s = json_string_value(json_object_get(j, key));
	char *end;

	if (s == NULL || strlen(s) != 16 ||
	    strspn(s, "0123456789abcdef") != 16)
		return -EINVAL;
	*v = strtoull(s, &end, 16);
	return *end == '\0' ? 0 : -EINVAL;
}

json_t *
oob_text_of_hex(uint64_t v)
{
	char s[17];

	snprintf(s, sizeof(s), "%016llx", (unsigned long long)v);
	return json_string(s);
}

/* A string that fits. @return 0 or -EINVAL */
static int
oob_text_string(const json_t *j, const char *key, char *s, size_t len)
{
	const json_t *v = json_object_get(j, key);

	if (!json_is_string(v) || json_string_length(v) >= len ||
	    strlen(json_string_value(v)) != json_string_length(v))
		return -EINVAL;
	memcpy(s, json_string_value(v), json_string_length(v) + 1);
	return 0;
}

char *
rl_oob_member_text(const struct rl_oob_member *m)
{
	return oob_text_dump(json_pack(
		"{s:i, s:o, s:I, s:s, s:s, s:I, s:I}", "version",
		RL_OOB_VERSION, "digest", oob_text_of_hex(m->digest), "floor",
		(json_int_t)m->floor, "host", m->host, "boot", m->boot, "pid",
		(json_int_t)m->pid, "start", (json_int_t)m->start));
}

int
rl_oob_member_read(const char *text, size_t len, struct rl_oob_member *m)
{
	json_t *j = oob_text_load(text, len);
	uint64_t pid = 0;
	int ret = -EINVAL;

	memset(m, 0, sizeof(*m));
	if (j == NULL)
		return ret;
	if (oob_text_hex(j, "digest", &m->digest) == 0 &&
	    oob_text_number(j, "floor", INT64_MAX, &m->floor) == 0 &&
	    oob_text_string(j, "host", m->host, sizeof(m->host)) == 0 &&
	    oob_text_string(j, "boot", m->boot, sizeof(m->boot)) == 0 &&
	    oob_text_number(j, "pid", INT32_MAX, &pid) == 0 &&
	    oob_text_number(j, "start", INT64_MAX, &m->start) == 0)
		ret = 0;
	m->pid = (uint32_t)pid;
	json_decref(j);
	return ret;
}

char *
rl_oob_office_text(const struct rl_oob_office *o)
{
	return oob_text_dump(json_pack("{s:i, s:s, s:I}", "version",
				       RL_OOB_VERSION, "process", o->process,
				       "member", (json_int_t)o->member));
}

int
rl_oob_office_read(const char *text, size_t len, struct rl_oob_office *o)
{
	json_t *j = oob_text_load(text, len);
	int ret = -EINVAL;

	memset(o, 0, sizeof(*o));
	if (j == NULL)
		return ret;
	if (oob_text_string(j, "process", o->process, sizeof(o->process)) ==
		    0 &&
	    oob_text_number(j, "member", INT64_MAX, &o->member) == 0)
		ret = 0;
	json_decref(j);
	return ret;
}
