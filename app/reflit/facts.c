/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "rl_base.h"

/* How a form prints a fact. */
struct look {
	int width; /* negative: aligned to the left */
	int digits;
	double unit; /* divisor */
	bool power;
};

static struct look
look_of(const char *spec)
{
	struct look l = { .digits = 1, .unit = 1.0 };
	char *at;

	l.width = (int)strtol(spec, &at, 10);
	if (*at == '.')
		l.digits = (int)strtol(at + 1, &at, 10);
	l.power = *at == 'e';
	if (strncmp(at, "us", 2) == 0)
		l.unit = 1e3;
	else if (strncmp(at, "ms", 2) == 0)
		l.unit = 1e6;
	else if (*at == 's')
		l.unit = 1e9;
	return l;
}

static void
print_list(const json_t *list)
{
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v) {
		if (i > 0)
			putchar(' ');
		if (json_is_string(v))
			fputs(json_string_value(v), stdout);
		else
			printf("%" JSON_INTEGER_FORMAT, json_integer_value(v));
	}
}

static void
print_fact(const struct fact *f, const char *spec)
{
	const struct look l = look_of(spec);

	switch (f->type) {
	case FACT_TEXT:
		printf("%*s", l.width, f->text);
		break;
	case FACT_COUNT:
		if (l.unit > 1.0)
			printf("%*.*f", l.width, l.digits,
			       (double)f->count / l.unit);
		else
			printf("%*" PRIu64, l.width, f->count);
		break;
	case FACT_REAL:
		if (l.power)
			printf("%*.*e", l.width, l.digits, f->real);
		else
			printf("%*.*f", l.width, l.digits, f->real / l.unit);
		break;
	case FACT_FLAG:
		printf("%*s", l.width, f->count != 0 ? "yes" : "no");
		break;
	case FACT_LIST:
		print_list(f->list);
		break;
	}
}

static const struct fact *
find(const struct fact *row, const char *name, size_t len)
{
	for (; row->key != NULL; row++)
		if ((len == 1 && name[0] == '*' && row[1].key == NULL) ||
		    (strlen(row->key) == len &&
		     memcmp(row->key, name, len) == 0))
			return row;
	return NULL;
}

static void
print_row(const char *form, const struct fact *row)
{
	while (*form != '\0') {
		const size_t text = strcspn(form, "{");
		const struct fact *f;
		size_t name;

		printf("%.*s", (int)text, form);
		form += text;
		if (*form == '\0')
			return;
		form++;
		name = strcspn(form, ":}");
		f = find(row, form, name);
		RL_ASSERT(f != NULL);
		form += name;
		print_fact(f, *form == ':' ? form + 1 : "");
		form += strcspn(form, "}") + 1;
	}
}

static json_t *
value(const struct fact *f)
{
	switch (f->type) {
	case FACT_TEXT:
		return json_string(f->text);
	case FACT_COUNT:
		return json_integer((json_int_t)f->count);
	case FACT_REAL:
		return json_real(f->real);
	case FACT_FLAG:
		return json_boolean(f->count != 0);
	case FACT_LIST:
		break;
	}
	return json_incref(f->list);
}

/* Of a row: prints it, or adds its facts to @p to. */
static void
say(json_t *to, bool text, const char *form, const struct fact *row)
{
	if (text && form != NULL)
		print_row(form, row);
	for (; row->key != NULL; row++) {
		if (!text && !row->shown)
			json_object_set_new(to, row->key, value(row));
		if (row->type == FACT_LIST)
			json_decref(row->list);
	}
}

void
facts_begin(struct facts *f)
{
	*f = (struct facts){ .root = json_object() };
	f->row = f->root;
}

void
facts_end(struct facts *f, bool print)
{
	char *text = print && f->root != NULL
			     ? json_dumps(f->root, JSON_COMPACT)
			     : NULL;

	if (text != NULL)
		printf("%s\n", text);
	free(text);
	json_decref(f->root);
	*f = (struct facts){ 0 };
}

void
facts_list(struct facts *f, const char *key)
{
	if (f->root == NULL)
		return;
	if (json_object_get(f->root, key) == NULL)
		json_object_set_new(f->root, key, json_array());
	f->list = json_object_get(f->root, key);
}

void
facts_row(struct facts *f, const char *form, const struct fact *row)
{
	if (f->root != NULL) {
		json_t *o = json_object();

		/* what has no room is freed, and has no facts */
		f->row = json_array_append_new(f->list, o) == 0 ? o : NULL;
	}
	say(f->row, f->root == NULL, form, row);
}

void
facts_more(struct facts *f, const char *form, const struct fact *row)
{
	say(f->row, f->root == NULL, form, row);
}

void
facts_set(struct facts *f, const char *form, const struct fact *row)
{
	say(f->root, f->root == NULL, form, row);
}

void
facts_add(struct facts *f, const char *key, json_t *v)
{
	if (f->root != NULL)
		json_object_set_new(f->root, key, v);
	else
		json_decref(v);
}
