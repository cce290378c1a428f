/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * docs/configuration.md and config/reference.cfg are held against the table of
 * keys: a row or a line that is missing is printed, to be pasted.
 */
#include <stdio.h>

#include "config_test.h"

static char *
slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text;
	long n;

	if (f == NULL)
		fail_msg("cannot open %s from the top of the tree", path);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	n = ftell(f);
	rewind(f);
	text = calloc(1, (size_t)n + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)n, f), n);
	fclose(f);
	return text;
}

/* The row of a key in the documentation. */
static void
doc_row(const struct rl_config_key *key, char *buf, size_t len)
{
	char range[256], def[160], value[176];

	rl_config_key_range(key, range, sizeof(range));
	rl_config_key_default(key, def, sizeof(def));
	snprintf(value, sizeof(value), key->def == NULL ? "`%s`" : "%s", def);
	snprintf(buf, len, "| `%s` | %s | %s | %s | %s |\n", key->name, range,
		 key->unit, value, key->meaning);
}

/* The beginning of a group's section: a heading that ends in its name. */
static char *
doc_section(char *doc, const char *group)
{
	char heading[80];
	char *at;

	snprintf(heading, sizeof(heading), "# `%s`\n",
		 group[0] != '\0' ? group : "FILE");
	at = strstr(doc, heading);
	if (at == NULL)
		fail_msg("docs/configuration.md has no heading %s", heading);
	return at + strlen(heading);
}

static void
every_key_has_its_row_in_the_documentation(void **state)
{
	char *doc = slurp("docs/configuration.md");
	const struct rl_config_key *key;
	unsigned int missing = 0, rows = 0;
	char row[600];
	size_t n;

	(void)state;
	key = rl_config_keys(&n);
	assert_true(n > 70);
	for (size_t i = 0; i < n; i++) {
		const char *from = doc_section(doc, key[i].group);
		const char *to = strstr(from, "\n#");
		const char *at;

		doc_row(&key[i], row, sizeof(row));
		at = strstr(from, row);
		if (at != NULL && (to == NULL || at < to))
			continue;
		missing++;
		print_error("docs/configuration.md, `%s`, lacks:\n%s",
			    key[i].group, row);
	}
	for (const char *p = doc; (p = strstr(p, "\n| `")) != NULL; p++)
		rows++;
	if (rows != n)
		print_error("%u rows for %zu keys\n", rows, n);
	assert_int_equal(missing, 0);
	assert_int_equal(rows, n);
	free(doc);
}

static void
the_reference_file_sets_every_key_to_its_default(void **state)
{
	char *text = slurp("config/reference.cfg");
	const struct rl_config_key *key;
	unsigned int missing = 0;
	char line[300], def[200];
	size_t n;

	(void)state;
	key = rl_config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		if (key[i].def != NULL)
			snprintf(line, sizeof(line), "%s%s", key[i].name,
				 strcmp(key[i].group, "") == 0 ? "" : " = ");
		else
			snprintf(line, sizeof(line), "\n\t%s = %s;",
				 key[i].name,
				 rl_config_key_default(&key[i], def,
						       sizeof(def)));
		if (strstr(text, line) != NULL)
			continue;
		missing++;
		print_error("config/reference.cfg, group %s, lacks:%s\n",
			    key[i].group, line);
	}
	assert_int_equal(missing, 0);
	free(text);
}

static void
the_reference_file_is_what_a_file_without_it_would_be(void **state)
{
	struct rl_config *ref = config_new();
	struct rl_config *plain = config_take(
		"fabric: { topology = \"torus\"; dims = [4, 4]; };"
		"routing: { adaptive = false; };");
	char err[ERR_MAX];

	(void)state;
	if (rl_config_read("config/reference.cfg", ref, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	check_same("link", &ref->link, &plain->link);
	check_same("endpoint", &ref->endpoint, &plain->endpoint);
	assert_int_equal(ref->vls, plain->vls);
	assert_int_equal(ref->topo.ndev, plain->topo.ndev);
	assert_int_equal(ref->topo.nlink, plain->topo.nlink);
	assert_int_equal(ref->nattach, 0);
	assert_int_equal(ref->nplace, 0);
	config_drop(ref);
	config_drop(plain);
}

/* The commented-out lines of the reference file are right, too. */
static void
what_the_reference_file_comments_out_can_be_used(void **state)
{
	char *text = slurp("config/reference.cfg");
	unsigned int blocks = 0;
	struct rl_config *cfg;
	char err[ERR_MAX];

	(void)state;
	for (char *p = text; (p = strstr(p, "\n#: ")) != NULL;) {
		char block[2000] = "";
		size_t n = 0;

		while (strncmp(p, "\n#: ", 4) == 0) {
			const size_t len = strcspn(p + 4, "\n");

			assert_true(n + len + 2 < sizeof(block));
			memcpy(block + n, p + 4, len);
			n += len;
			block[n++] = '\n';
			p += 4 + len;
		}
		blocks++;
		cfg = config_new();
		if (rl_config_read_text("config/block.cfg", block, n, cfg, err,
					sizeof(err)) != 0)
			fail_msg("%s:\n%s", err, block);
		config_drop(cfg);
	}
	assert_int_equal(blocks, 12);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_has_its_row_in_the_documentation),
		cmocka_unit_test(the_reference_file_sets_every_key_to_its_default),
		cmocka_unit_test(the_reference_file_is_what_a_file_without_it_would_be),
		cmocka_unit_test(what_the_reference_file_comments_out_can_be_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
