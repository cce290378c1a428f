/* SPDX-License-Identifier: BSD-3-Clause */
/* The fabric files of the project: each is right, and is what it is called. */
#include <dirent.h>
#include <stdio.h>

#include "config_test.h"

static void
every_file_of_the_folder_is_right(void **state)
{
	static const struct {
		const char *name;
		uint32_t switches, endpoints, links;
	} c[] = {
		{"figure1.cfg", 2, 2, 4},
		{"card.cfg", 2, 2, 4},
		{"chain-3.cfg", 3, 2, 6},
		{"torus-4x4.cfg", 16, 16, 48},
		{"torus-6x6.cfg", 36, 36, 108},
		{"torus-5x5x5.cfg", 125, 125, 500},
		{"torus-10x10x10.cfg", 1000, 1000, 4000},
		{"mesh-8x8.cfg", 64, 64, 64 + 112},
		/* Figures 2 and 3 [DRL-10] */
		{"boards-figure2.cfg", 6, 12, 24 + 3 + 6},
		{"board-figure3.cfg", 12, 32, 384},
		{"incast-8.cfg", 1, 9, 9},
		/* fat trees and low-diameter graphs [ROUTE-8] */
		{"fat-tree-4x3.cfg", 48, 64, 192},
		{"fat-tree-tapered.cfg", 11, 96, 96 + 48},
		{"dragonfly-9x4.cfg", 36, 72, 72 + 54 + 36},
		{"slim-fly-5.cfg", 50, 50, 50 + 175},
		{"random-64x6.cfg", 64, 64, 64 + 192},
		{"cluster-example.cfg", 6, 9, 16 + 8 + 2},
		{"torus-example.cfg", 20, 20, 20 + 40},
		{"reference.cfg", 16, 16, 48},
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct rl_config *cfg = config_new();
		char path[64], err[ERR_MAX];

		snprintf(path, sizeof(path), "config/%s", c[i].name);
		if (rl_config_read(path, cfg, err, sizeof(err)) != 0)
			fail_msg("%s", err);
		assert_int_equal(cfg->topo.nep, c[i].endpoints);
		assert_int_equal(cfg->topo.ndev,
				 c[i].switches + c[i].endpoints);
		assert_int_equal(cfg->topo.nlink, c[i].links);
		config_drop(cfg);
	}
}

/* Files that others add are read too; what is in them is theirs to test. */
static void
no_file_of_the_folder_is_wrong(void **state)
{
	DIR *dir = opendir("config");
	const struct dirent *e;
	unsigned int n = 0;

	(void)state;
	assert_non_null(dir);
	while ((e = readdir(dir)) != NULL) {
		const char *dot = strrchr(e->d_name, '.');
		struct rl_config *cfg;
		char path[300], err[ERR_MAX];

		if (dot == NULL || strcmp(dot, ".cfg") != 0)
			continue;
		cfg = config_new();
		snprintf(path, sizeof(path), "config/%s", e->d_name);
		if (rl_config_read(path, cfg, err, sizeof(err)) != 0)
			fail_msg("%s", err);
		config_drop(cfg);
		n++;
	}
	closedir(dir);
	assert_true(n >= 11);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_of_the_folder_is_right),
		cmocka_unit_test(no_file_of_the_folder_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
