/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "family.h"
#include "rl_grow.h"

void
label(struct labels *l, const char *name, const char *value)
{
	struct labels more = *l;
	int n = snprintf(more.text + more.len, sizeof(more.text) - more.len,
			 "%s%s=\"", more.len == 0 ? "" : ",", name);

	if (n < 0 || more.len + (size_t)n + 3 > sizeof(more.text))
		return;
	more.len += (size_t)n;
	for (; *value != '\0'; value++) {
		if (more.len + 4 > sizeof(more.text))
			return;
		if (*value == '\\' || *value == '"' || *value == '\n')
			more.text[more.len++] = '\\';
		more.text[more.len++] = *value == '\n' ? 'n' : *value;
	}
	more.text[more.len++] = '"';
	more.text[more.len] = '\0';
	*l = more;
}

static struct family *
find(struct families *m, const char *name)
{
	for (unsigned int i = 0; i < m->n; i++) {
		const unsigned int at = (m->last + 1 + i) % m->n;

		if (strcmp(m->f[at].name, name) == 0) {
			m->last = at;
			return &m->f[at];
		}
	}
	return NULL;
}

static struct family *
family(struct families *m, enum family_type type, const char *name,
       const char *help)
{
	struct family *f = find(m, name);

	if (f != NULL)
		return f->type == type ? f : NULL;
	if (!rl_grow(&m->f, m->n, &m->cap, sizeof(*f))) {
		m->failed = true;
		return NULL;
	}
	m->last = m->n;
	f = &m->f[m->n++];
	*f = (struct family){ .type = type };
	snprintf(f->name, sizeof(f->name), "%s", name);
	snprintf(f->help, sizeof(f->help), "%s", help);
	return f;
}

__attribute__((format(printf, 3, 4))) static void
add(struct families *m, struct family *f, const char *format, ...)
{
	char line[LABELS_MAX + FAMILY_NAME_MAX + 64];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(line))
		return;
	if (f->len + (size_t)n + 1 > f->cap) {
		const size_t cap = 2 * f->cap + 2048;
		char *text = realloc(f->text, cap);

		if (text == NULL) {
			m->failed = true;
			return;
		}
		f->text = text;
		f->cap = cap;
	}
	memcpy(f->text + f->len, line, (size_t)n + 1);
	f->len += (size_t)n;
}

void
sample_count(struct families *m, enum family_type type, const char *name,
	     const char *help, const struct labels *l, uint64_t v)
{
	static const char *const suffix[] = {
		[FAMILY_GAUGE] = "", [FAMILY_COUNTER] = "_total",
		[FAMILY_HISTOGRAM] = "", [FAMILY_INFO] = "_info"
	};
	struct family *f = family(m, type, name, help);

	if (f != NULL)
		add(m, f, "%s%s{%s} %" PRIu64 "\n", name, suffix[type],
		    l->text, v);
}

void
sample(struct families *m, enum family_type type, const char *name,
       const char *help, const struct labels *l, double v)
{
	struct family *f = family(m, type, name, help);

	if (f != NULL)
		add(m, f, "%s%s{%s} %.9g\n", name,
		    type == FAMILY_COUNTER ? "_total" : "", l->text, v);
}

void
sample_part(struct families *m, const char *name, const char *help,
	    const char *suffix, const struct labels *l, uint64_t v)
{
	struct family *f = family(m, FAMILY_HISTOGRAM, name, help);

	if (f != NULL)
		add(m, f, "%s%s{%s} %" PRIu64 "\n", name, suffix, l->text, v);
}

/* "flits" of reflit_port_tx_flits; "": its last word is no unit. */
static const char *
unit_of(const char *name)
{
	static const char *const units[] = { "flits",	"packets", "frames",
					     "bytes",	"bits",	   "messages",
					     "seconds", NULL };
	const char *last = strrchr(name, '_');

	for (unsigned int i = 0; last != NULL && units[i] != NULL; i++)
		if (strcmp(last + 1, units[i]) == 0)
			return units[i];
	return "";
}

static void
print_family(FILE *out, const struct family *f)
{
	static const char *const types[] = {
		[FAMILY_GAUGE] = "gauge", [FAMILY_COUNTER] = "counter",
		[FAMILY_HISTOGRAM] = "histogram", [FAMILY_INFO] = "info"
	};

	fprintf(out, "# TYPE %s %s\n", f->name, types[f->type]);
	if (unit_of(f->name)[0] != '\0')
		fprintf(out, "# UNIT %s %s\n", f->name, unit_of(f->name));
	fprintf(out, "# HELP %s %s\n", f->name, f->help);
	if (f->len > 0)
		fwrite(f->text, 1, f->len, out);
}

char *
families_text(struct families *m, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);
	bool good = out != NULL && !m->failed;

	for (unsigned int i = 0; i < m->n; i++) {
		if (good)
			print_family(out, &m->f[i]);
		free(m->f[i].text);
	}
	free(m->f);
	*m = (struct families){ 0 };
	if (out != NULL) {
		fputs("# EOF\n", out);
		good &= fclose(out) == 0;
	}
	if (!good) {
		free(text);
		return NULL;
	}
	return text;
}
