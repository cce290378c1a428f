/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_TABLE_H
#define RXL_TABLE_H

/**
 * @file
 * A table that is filled row by row, and then printed, written as CSV, and put
 * into a JSON report. Main thread only; memory is taken for granted.
 */

#include <stdio.h>

#include <jansson.h>

#include "rl_base.h"

#define RXL_COLS_MAX 20
#define RXL_NOTES_MAX 12

enum rxl_cell_kind { RXL_NONE, RXL_NUMBER, RXL_TEXT, RXL_BOOL };

struct rxl_cell {
	enum rxl_cell_kind kind;
	double number;
	char *text;
};

struct rxl_table {
	const char *name;  /**< of its files: a word */
	const char *title;
	unsigned int ncols;
	const char *col[RXL_COLS_MAX];
	const char *format[RXL_COLS_MAX]; /**< of a number when printed */
	size_t nrows;
	size_t cap;
	unsigned int at; /**< cells of the last row filled so far */
	struct rxl_cell *cell;
	unsigned int nnotes;
	char *note[RXL_NOTES_MAX];
};

/** Begins a table without rows; the strings stay the caller's. */
void rxl_table_init(struct rxl_table *t, const char *name, const char *title);
void rxl_table_free(struct rxl_table *t);

/** A column; @p format is for numbers, such as "%.3g". Before any row. */
void rxl_table_col(struct rxl_table *t, const char *name, const char *format);

/** The next cell of the row; a row is full after ncols of them. */
void rxl_cell_number(struct rxl_table *t, double v);
void rxl_cell_text(struct rxl_table *t, const char *text);
void rxl_cell_bool(struct rxl_table *t, bool v);
void rxl_cell_none(struct rxl_table *t);

/** A sentence under the table, printf-like. */
void rxl_table_note(struct rxl_table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

void rxl_table_print(const struct rxl_table *t, FILE *out);

/** @return 0 or -errno */
int rxl_table_csv(const struct rxl_table *t, const char *path);

/** A new object: title, rows as objects, notes. */
json_t *rxl_table_json(const struct rxl_table *t);

#endif /* RXL_TABLE_H */
