/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metrics as text [APP-8]: which line each sample becomes, where it stands, what
 * has room, and what is left where there is no memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "family.h"

/* What a label of one letter may hold: LABELS_MAX less what must stand behind. */
#define VALUE_MAX (LABELS_MAX - 6)

static unsigned int calls, fails_at; /* of realloc(); 0: none fails */

void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);

void *
__wrap_realloc(void *p, size_t n)
{
	return ++calls == fails_at ? NULL : __real_realloc(p, n);
}

static const struct {
	const char *value, *text;
} escapes[] = {
	{ "", "a=\"\"" },	   { "x", "a=\"x\"" },
	{ "\\", "a=\"\\\\\"" },	   { "\"q\"", "a=\"\\\"q\\\"\"" },
	{ "1\n2", "a=\"1\\n2\"" },
};

static void
a_label_is_escaped_and_follows_others_behind_a_comma(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		struct labels l = { 0 };
		char two[64] = "b=\"y\",";

		label(&l, "a", escapes[i].value);
		assert_string_equal(l.text, escapes[i].text);
		assert_int_equal(l.len, strlen(l.text));
		l = (struct labels){ 0 };
		label(&l, "b", "y");
		label(&l, "a", escapes[i].value);
		assert_string_equal(l.text, strcat(two, escapes[i].text));
		assert_int_equal(l.len, strlen(l.text));
	}
}

static void
a_label_without_room_is_left_out_whole(void **state)
{
	char value[LABELS_MAX + 2];

	(void)state;
	for (size_t n = VALUE_MAX - 2; n < LABELS_MAX + 2; n++) {
		struct labels l = { 0 }, named = { 0 };
		const size_t kept = n <= VALUE_MAX ? n + 4 : 0;

		memset(value, 'v', n);
		value[n] = '\0';
		label(&l, "a", value);
		assert_int_equal(l.len, kept);
		assert_int_equal(strlen(l.text), kept);
		/* the same room for a long name */
		label(&named, value, "");
		assert_int_equal(named.len, n < VALUE_MAX + 2 ? n + 3 : 0);
		/* and what was there stays */
		label(&l, "bb", value);
		assert_int_equal(l.len, kept);
		assert_int_equal(strlen(l.text), kept);
	}
}

/* The text of some families that come by turns. */
static char *
some(struct families *m, size_t *len)
{
	struct labels l = { 0 };

	label(&l, "p", "0");
	for (unsigned int i = 0; i < 2; i++) {
		sample_count(m, FAMILY_COUNTER, "tx_flits", "Flits.", &l,
			     UINT64_MAX - i);
		sample(m, FAMILY_GAUGE, "rtt_seconds", "Time.", &l, 0.5 + i);
		sample_count(m, FAMILY_GAUGE, "up", "Whether.", &l, i);
		sample(m, FAMILY_COUNTER, "x_y", "X.", &l, 1e9);
		sample_part(m, "late_bits", "Late.", "_bucket", &l, 7 + i);
		sample_count(m, FAMILY_INFO, "is_flitsy", "What.", &l, 1);
		/* of another type: it would not stand there rightly */
		sample_count(m, FAMILY_GAUGE, "x_y", "X.", &l, 3);
	}
	return families_text(m, len);
}

static const char all[] =
	"# TYPE tx_flits counter\n# UNIT tx_flits flits\n"
	"# HELP tx_flits Flits.\n"
	"tx_flits_total{p=\"0\"} 18446744073709551615\n"
	"tx_flits_total{p=\"0\"} 18446744073709551614\n"
	"# TYPE rtt_seconds gauge\n# UNIT rtt_seconds seconds\n"
	"# HELP rtt_seconds Time.\n"
	"rtt_seconds{p=\"0\"} 0.5\nrtt_seconds{p=\"0\"} 1.5\n"
	"# TYPE up gauge\n# HELP up Whether.\n"
	"up{p=\"0\"} 0\nup{p=\"0\"} 1\n"
	"# TYPE x_y counter\n# HELP x_y X.\n"
	"x_y_total{p=\"0\"} 1e+09\nx_y_total{p=\"0\"} 1e+09\n"
	"# TYPE late_bits histogram\n# UNIT late_bits bits\n"
	"# HELP late_bits Late.\n"
	"late_bits_bucket{p=\"0\"} 7\nlate_bits_bucket{p=\"0\"} 8\n"
	"# TYPE is_flitsy info\n# HELP is_flitsy What.\n"
	"is_flitsy_info{p=\"0\"} 1\nis_flitsy_info{p=\"0\"} 1\n"
	"# EOF\n";

static void
samples_of_a_family_stand_together_below_its_head(void **state)
{
	struct families m = { 0 };
	size_t len = 0;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) { /* it is empty afterwards */
		char *text = some(&m, &len);

		assert_non_null(text);
		assert_string_equal(text, all);
		assert_int_equal(len, sizeof(all) - 1);
		assert_null(m.f);
		free(text);
	}
	free(families_text(&m, &len));
	assert_int_equal(len, strlen("# EOF\n"));
}

static void
each_of_many_families_has_its_own_samples_in_either_order(void **state)
{
	struct families m = { 0 };
	struct labels l = { 0 };
	char name[FAMILY_NAME_MAX], line[64], *text;
	size_t len = 0;

	(void)state;
	for (unsigned int i = 0; i < 120; i++) {
		const unsigned int k = i / 40 == 1 ? 79 - i : i % 40;

		snprintf(name, sizeof(name), "f%u", k);
		sample_count(&m, FAMILY_GAUGE, name, "F.", &l, i);
	}
	assert_int_equal(m.n, 40);
	text = families_text(&m, &len);
	assert_non_null(text);
	for (unsigned int k = 0; k < 40; k++) {
		snprintf(line, sizeof(line),
			 "f%u F.\nf%u{} %u\nf%u{} %u\nf%u{} %u\n#", k, k, k, k,
			 79 - k, k, 80 + k);
		assert_non_null(strstr(text, line));
	}
	free(text);
}

static void
text_of_any_length_has_room_for_its_end(void **state)
{
	(void)state;
	for (size_t n = 1; n < 300; n++) {
		struct families m = { 0 };
		struct labels l = { 0 };
		char value[300], *text;
		size_t len = 0;

		memset(value, 'v', n);
		value[n] = '\0';
		label(&l, "a", value);
		for (unsigned int i = 0; i < 64; i++) {
			sample_count(&m, FAMILY_GAUGE, "g", "G.", &l, 1);
			assert_true(m.f[0].len < m.f[0].cap);
		}
		assert_int_equal(m.f[0].len,
				 64 * (n + strlen("g{a=\"\"} 1\n")));
		text = families_text(&m, &len);
		assert_non_null(text);
		free(text);
	}
}

static void
without_memory_there_is_no_text_rather_than_half_of_one(void **state)
{
	unsigned int n;

	(void)state;
	for (n = 1;; n++) {
		struct families m = { 0 };
		size_t len = 0;
		char *text;

		calls = 0;
		fails_at = n;
		text = some(&m, &len);
		if (calls < n) { /* it was not asked that often */
			assert_non_null(text);
			free(text);
			break;
		}
		assert_null(text);
		assert_null(m.f);
		assert_false(m.failed);
	}
	fails_at = 0;
	assert_true(n > 7); /* the list asked, and each family */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_label_is_escaped_and_follows_others_behind_a_comma),
		cmocka_unit_test(a_label_without_room_is_left_out_whole),
		cmocka_unit_test(
			samples_of_a_family_stand_together_below_its_head),
		cmocka_unit_test(
			each_of_many_families_has_its_own_samples_in_either_order),
		cmocka_unit_test(text_of_any_length_has_room_for_its_end),
		cmocka_unit_test(
			without_memory_there_is_no_text_rather_than_half_of_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
