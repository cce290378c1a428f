/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

#define CELL_MAX 64

void
rxl_table_init(struct rxl_table *t, const char *name, const char *title)
{
	memset(t, 0, sizeof(*t));
	t->name = name;
	t->title = title;
}

void
rxl_table_free(struct rxl_table *t)
{
	for (size_t i = 0; i < t->nrows * t->ncols; i++)
		free(t->cell[i].text);
	for (unsigned int i = 0; i < t->nnotes; i++)
		free(t->note[i]);
	free(t->cell);
	memset(t, 0, sizeof(*t));
}

void
rxl_table_col(struct rxl_table *t, const char *name, const char *format)
{
	RL_ASSERT(t->ncols < RXL_COLS_MAX && t->nrows == 0);
	t->col[t->ncols] = name;
	t->format[t->ncols] = format;
	t->ncols++;
}

static struct rxl_cell *
next_cell(struct rxl_table *t)
{
	if (t->at == t->ncols || t->nrows == 0) {
		RL_ASSERT(t->nrows == 0 || t->at == t->ncols);
		if (t->nrows == t->cap) {
			t->cap = t->cap == 0 ? 16 : 2 * t->cap;
			t->cell = realloc(t->cell, t->cap * t->ncols *
							   sizeof(*t->cell));
			RL_ASSERT(t->cell != NULL);
		}
		memset(&t->cell[t->nrows * t->ncols], 0,
		       t->ncols * sizeof(*t->cell));
		t->nrows++;
		t->at = 0;
	}
	return &t->cell[(t->nrows - 1) * t->ncols + t->at++];
}

void
rxl_cell_number(struct rxl_table *t, double v)
{
	struct rxl_cell *c = next_cell(t);

	c->kind = isfinite(v) ? RXL_NUMBER : RXL_NONE;
	c->number = v;
}

void
rxl_cell_text(struct rxl_table *t, const char *text)
{
	struct rxl_cell *c = next_cell(t);

	c->kind = RXL_TEXT;
	c->text = strdup(text);
	RL_ASSERT(c->text != NULL);
}

void
rxl_cell_bool(struct rxl_table *t, bool v)
{
	struct rxl_cell *c = next_cell(t);

	c->kind = RXL_BOOL;
	c->number = v;
}

void
rxl_cell_none(struct rxl_table *t)
{
	next_cell(t)->kind = RXL_NONE;
}

void
rxl_table_note(struct rxl_table *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	RL_ASSERT(t->nnotes < RXL_NOTES_MAX);
	va_start(ap, fmt);
	n = vasprintf(&t->note[t->nnotes], fmt, ap);
	va_end(ap);
	RL_ASSERT(n >= 0);
	t->nnotes++;
}

static const struct rxl_cell *
cell(const struct rxl_table *t, size_t row, unsigned int col)
{
	return &t->cell[row * t->ncols + col];
}

/** A cell as people read it. */
static void
show(const struct rxl_table *t, size_t row, unsigned int col,
     char buf[CELL_MAX])
{
	const struct rxl_cell *c = cell(t, row, col);

	switch (c->kind) {
	case RXL_NONE:
		snprintf(buf, CELL_MAX, "-");
		return;
	case RXL_NUMBER:
		/* the format is one of the table's own, never input */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(buf, CELL_MAX, t->format[col], c->number);
#pragma GCC diagnostic pop
		return;
	case RXL_TEXT:
		snprintf(buf, CELL_MAX, "%s", c->text);
		return;
	case RXL_BOOL:
		snprintf(buf, CELL_MAX, "%s", c->number != 0 ? "yes" : "NO");
		return;
	}
}

void
rxl_table_print(const struct rxl_table *t, FILE *out)
{
	int width[RXL_COLS_MAX];
	char buf[CELL_MAX];

	fprintf(out, "\n%s\n", t->title);
	for (unsigned int c = 0; c < t->ncols; c++) {
		width[c] = (int)strlen(t->col[c]);
		for (size_t r = 0; r < t->nrows; r++) {
			show(t, r, c, buf);
			if ((int)strlen(buf) > width[c])
				width[c] = (int)strlen(buf);
		}
	}
	for (unsigned int c = 0; c < t->ncols; c++)
		fprintf(out, "%s%*s", c == 0 ? "  " : "  ", width[c],
			t->col[c]);
	fprintf(out, "\n");
	for (size_t r = 0; r < t->nrows; r++) {
		for (unsigned int c = 0; c < t->ncols; c++) {
			const bool text = cell(t, r, c)->kind == RXL_TEXT;

			show(t, r, c, buf);
			fprintf(out, "  %*s", text ? -width[c] : width[c], buf);
		}
		fprintf(out, "\n");
	}
	for (unsigned int i = 0; i < t->nnotes; i++)
		fprintf(out, "  * %s\n", t->note[i]);
}

/** Text in CSV: in quotes, quotes doubled. */
static void
csv_text(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s != '\0'; s++) {
		if (*s == '"')
			fputc('"', f);
		fputc(*s, f);
	}
	fputc('"', f);
}

int
rxl_table_csv(const struct rxl_table *t, const char *path)
{
	FILE *f = fopen(path, "w");
	int ret = 0;

	if (f == NULL)
		return -errno;
	for (unsigned int c = 0; c < t->ncols; c++)
		fprintf(f, "%s%s", c == 0 ? "" : ",", t->col[c]);
	fputc('\n', f);
	for (size_t r = 0; r < t->nrows; r++) {
		for (unsigned int c = 0; c < t->ncols; c++) {
			const struct rxl_cell *x = cell(t, r, c);

			if (c > 0)
				fputc(',', f);
			if (x->kind == RXL_TEXT)
				csv_text(f, x->text);
			else if (x->kind != RXL_NONE)
				fprintf(f, "%.9g", x->number);
		}
		fputc('\n', f);
	}
	if (ferror(f))
		ret = -EIO;
	if (fclose(f) != 0 && ret == 0)
		ret = -errno;
	return ret;
}

static json_t *
cell_json(const struct rxl_cell *c)
{
	switch (c->kind) {
	case RXL_NONE:
		break;
	case RXL_NUMBER:
		return json_real(c->number);
	case RXL_TEXT:
		return json_string(c->text);
	case RXL_BOOL:
		return json_boolean(c->number != 0);
	}
	return json_null();
}

json_t *
rxl_table_json(const struct rxl_table *t)
{
	json_t *o = json_object(), *rows = json_array(), *notes = json_array();

	json_object_set_new(o, "title", json_string(t->title));
	for (size_t r = 0; r < t->nrows; r++) {
		json_t *row = json_object();

		for (unsigned int c = 0; c < t->ncols; c++)
			json_object_set_new(row, t->col[c],
					    cell_json(cell(t, r, c)));
		json_array_append_new(rows, row);
	}
	for (unsigned int i = 0; i < t->nnotes; i++)
		json_array_append_new(notes, json_string(t->note[i]));
	json_object_set_new(o, "rows", rows);
	json_object_set_new(o, "notes", notes);
	return o;
}
